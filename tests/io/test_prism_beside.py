"""Labels and values beside a `.tra` file: whole arrays read what line by line says."""

import gzip
from unittest import mock

import numpy as np
import pytest

from jaxgames import io, mdp
from jaxgames.io import FormatError, _lines, _pieces, _prism_states

LABELS = [
    '0="init" 1="done"\n0: 0\n1: 1\n3: 0 1\n',
    '# Labels\n0="init" 1="a b"\n\n # none\n2:1 0\n 1 : 0\n',
    "#DECLARATION\ninit dead\nlock\n#END\n0 init\n1 dead lock\n# end\n3 init dead\n",
    '0="init"\n0: 0\n0: 0\n3:\n2\n',
    '0="same" 1="same"\n0: 0 1\n1: 1\n',
    *('0="init"\n:\n', '0="init"\n9: 0\n', '0="init"\n0: 1\n', '0="init"\n0:0\n'),
    *('0="init"\n\u00b2: 0\n', '0="init"\n0\u00a0: 0\n', '0="init"\n1: 0\n0: 0 0:\n'),
    *('0="init"', "#DECLARATION\na:b a b\n#END\n0 a:b\n1 a\n", "#DECLARATION\na\n#END"),
    *("#DECLARATION\na\n#END\n0 a\n#END\n", '0="init"\n00000000000000000000001: 0\n'),
    *(
        '0="init"\n+1: 0\n',
        '0="init"\n0 : 0\n',
        '0="init"\n0:: 0\n',
        '0="i"\n0\x1c: 0\n',
    ),
]

VALUES = [
    "(x,done)\n0:(3,false)\n1:(-1,true)\n2:(+7,true)\n",
    "# States\n(x)\n\n0:(1)\n# more\n1:(2.5)\n2:(-9223372036854775808)\n",
    *(
        "(x)\n",
        "()\n0:()\n",
        "(x,x)\n0:(1,2)\n",
        "(x)\n0:(1)\n2:(1)\n",
        "(x)\n00:(1)\n",
    ),
    *("(x)\n0:(1,2)\n", "(x,y)\n0:(1)\n", "(x,y)\n0:(1,)\n", "(x)\n0:(true)\n1:(1)\n"),
    *(
        "(x)\n0:1)\n",
        "(x)\n0(:1)\n",
        "(x)\n0:((1)\n",
        "(x)\n0:(1))\n",
        "( x )\n0: (1)\n",
    ),
    *("(x)\n0:(nan)\n", "(x)\n0:(1e5)\n1:(1/4)\n", "(x)\n0:(99999999999999999999)\n"),
    *("(x)\n0:(\u00b2)\n", "(x)\n0:(1)1\n", "(x)\n0:(1,2)\n1:()\n", "x\n0:(1)\n", ""),
    *(
        "(x)\n#END\n0:(1)\n",
        "(x)\n0:()\n",
        "(x)\n" + "".join(f"{k}:({k})\n" for k in range(12)),
    ),
]


def by(way: str, stretch: int, read, *arguments):
    """What is read, or what is said."""
    code = mock.patch.object(_pieces, "pays", return_value=way == "code")
    cut = mock.patch.object(_lines, "_STRETCH_BYTES", stretch)
    slow = mock.patch.multiple(
        _prism_states,
        _sets_by_arrays=lambda *_: None,
        _values_by_arrays=lambda *_: None,
    )
    with code, cut, slow if way == "lines" else mock.MagicMock():
        try:
            found = read(*arguments)
        except FormatError as error:
            return str(error)
    return {name: (x.dtype, x.tolist()) for name, x in found.items()}


@pytest.mark.parametrize("text", LABELS)
def test_labels(tmp_path, text):
    path = tmp_path / "a.lab"
    path.write_text(text)
    expected = by("lines", 1 << 20, _prism_states._read_labels, path, 4)
    for way in ("arrays", "code"):
        for stretch in (1 << 20, 8):
            found = by(way, stretch, _prism_states._read_labels, path, 4)
            if isinstance(found, dict):  # one mark after the other, not line by line
                found = {name: (kind, sorted(x)) for name, (kind, x) in found.items()}
                assert found == {n: (k, sorted(x)) for n, (k, x) in expected.items()}
            else:
                assert found == expected


@pytest.mark.parametrize("text", VALUES)
def test_values(tmp_path, text):
    path = tmp_path / "a.sta"
    path.write_text(text)
    expected = by("lines", 1 << 20, _prism_states.values, path)
    for way in ("arrays", "code"):
        for stretch in (1 << 20, 8):
            assert by(way, stretch, _prism_states.values, path) == expected


def test_plain_files_are_read_by_arrays(tmp_path):
    """Otherwise they would be read right, but ten times slower."""
    path = tmp_path / "a.lab"
    names = {"0": "a", "1": "b", "init": "c", "dead": "d", "lock": "e"}
    for text, head in ((LABELS[0], 1), (LABELS[2], 4), (LABELS[3], 1), (LABELS[4], 1)):
        path.write_text(text)
        assert _prism_states._sets_by_arrays(path, head, names, 4) is not None
    for text in (*VALUES[:2], VALUES[-1]):
        path.write_text(text)
        assert _prism_states._values_by_arrays(path) is not None
    assert np.array_equal(_prism_states.values(path)["x"], np.arange(12))


@pytest.mark.parametrize("suffix", [".lab", ".sta", ".srew", ".trew", ".trew.gz"])
def test_files_beside_a_model_are_no_models(tmp_path, suffix):
    """Rewards of transitions start as transitions do."""
    model = mdp.MDP.from_arrays(
        [0, 1], [0, 1], [0], [1.0],
        labels={"a": [1]}, valuations={"x": [1]}, state_rewards={"r": [1.0]},
        branch_rewards={"r": [2.0]},
    )  # fmt: skip
    io.save(tmp_path / "model.tra", model)
    path = tmp_path / f"model{suffix}"
    if suffix.endswith(".gz"):
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    assert path.exists()
    with pytest.raises(FormatError, match=r"read with it: name the \.tra file"):
        io.load(path)
    with pytest.raises(FormatError, match=r"read with it: name the \.tra file"):
        io.format_of(path)
