"""Markov decision processes as PRISM's explicit files: `.tra` and what lies beside.

The transitions are a table. PRISM starts it with the numbers of states, choices and
transitions; then come the state, the number of the choice among the state's, the
target, the probability and perhaps the action. Lines that begin with `#` are comments:

    # Transitions (MDP)
    2 3 4
    0 0 0 0.5
    0 0 1 0.5
    0 1 1 1 go
    1 0 1 1

A Markov chain has no choices: its header is `states transitions`, its lines leave the
choice out. In an interval model `[0.4,0.6]` stands for a probability. Storm's header is
the word `mdp` or `dtmc`, and the size is what occurs.

Beside it, in a file with the suffix `.lab`, lie the labels of the states; those with
the label `init` are the initial ones. PRISM declares names by numbers, Storm by a list:

    0="init" 1="deadlock"          #DECLARATION
    0: 0                           init deadlock
    1: 1                           #END
                                   0 init
                                   1 deadlock

In a third, with the suffix `.sta`, PRISM lists the values of variables in each state.
In others are the rewards, those of states in `.srew`, those of transitions in `.trew`;
if there are several reward structures, their files are numbered, as in `robot1.srew`:

    # Reward structure "energy"    # Reward structure "energy"
    # State rewards                # Transition rewards
    2 1                            2 3 2
    0 2.5                          0 0 0 1
                                   0 0 1 1

Storm's files of rewards have neither comments nor headers, and no names.

Rewards of transitions are read as rewards of choices where they are the same for all
branches of each choice; PRISM itself reads no others, but for chains. All that a model
holds is kept, but for what a warning tells. Where both choices and branches have
rewards by one name, their sum is written.

References:
    PRISM manual, appendix *Explicit Model Files*.
    http://www.prismmodelchecker.org/manual/Appendices/ExplicitModelFiles
"""

import os
from typing import Literal

import numpy as np

from jaxgames.io import _limits, _lines, _models, _prism_rewards
from jaxgames.io._files import FilePath, FormatError, written_together
from jaxgames.io._prism_states import (
    beside,
    load_labels,
    save_labels,
    save_values,
    state_lines,
    values,
)
from jaxgames.io._prism_table import Table, read
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted

HOLDS = MDP
"""What `load` returns and `save` takes."""

RATES = (
    "; if they are rates of a chain in continuous time: these are read from .drn, .umb "
    "and programs that begin with ctmc"
)
"""What the numbers in a table without choices may be, where they are not chances."""


def load(path: FilePath) -> MDP:
    r"""Reads a model, with the labels, values and rewards in files beside it.

    Args:
        path: the `.tra` file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        The model; `initial` and `labels` are None where there are no labels.

    Raises:
        FormatError: a file does not hold what it should.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.tra")
        >>> _ = path.write_text("mdp\n0 0 0 0.5\n0 0 1 0.5\n0 1 1 1\n1 0 1 1\n")
        >>> load(path)
        MDP(2 states, 3 choices, 4 branches)
    """
    table = read(path)
    size = _num_states(path, table)
    _limits.check_vertices(path, size)
    table, rows, groups = table.by_choices(path, size)
    first = rows[:-1]
    labels, initial = load_labels(path, size)
    names = [[name] if name else [] for name in table.names]
    shape = _prism_rewards.Shape(
        groups, rows, table.target, table.tells_choices, table.num_states is None
    )
    return _models.build(
        path,
        groups,
        rows,
        table.target,
        None if table.intervals else table.lower,
        table.line,
        lower=table.lower if table.intervals else None,
        upper=table.upper if table.intervals else None,
        initial=initial,
        labels=labels,
        choice_labels=_models.named_sets(path, table.action[first], names) or None,
        valuations=_values(path, size),
        hint="" if table.tells_choices else RATES,
        **_prism_rewards.load(path, shape),
    )


def save(
    path: FilePath, model: MDP, *, style: Literal["prism", "storm"] = "prism"
) -> None:
    """Writes a model, and what belongs to it beside it; padding is left out.

    Labels go to a `.lab` file, values of variables to a `.sta` file, rewards to `.srew`
    and `.trew` files, which are numbered if there are several reward models.

    Args:
        path: the `.tra` file, replaced when all is written; compressed if it ends in
            `.gz`, `.bz2` or `.xz`, and the others with it.
        model: what to write.
        style: for which of these programs. Storm's files know neither intervals nor
            names of rewards, and names of labels without blanks only.

    Raises:
        ValueError: the model has no probabilities, a choice has several labels, a name
            is one that the files cannot hold; or a file lies beside that would be read
            with the model, and does not belong to it.
        OSError: a file cannot be written.

    Warns:
        UserWarning: something is left out; says what.
    """
    if style not in ("prism", "storm"):
        raise ValueError(f"style must be 'prism' or 'storm', got {style!r}")
    _models.check_untimed(model)
    model = _models.without_padding(model)
    if style == "storm" or model.lower is None:
        _models.check_probabilities(model, ".tra")
    action, names = _models.actions(model, ".tra")
    _models.check_names(names[1:], ".tra", "")
    structures = _prism_rewards.structures(model)
    if style == "storm":
        _models.check_names(model.labels or (), ".lab", '"')
        unsaid = _prism_rewards.unsaid(structures)
        _models.say_left_out(path, unsaid, "Storm's files cannot hold it; .umb can")
    else:
        _models.check_quotable(model.labels or (), ".lab")
        _prism_rewards.check_names(structures)
    nowhere = [
        f"label {quoted(name)} of choices, which holds nowhere"
        for name, members in (model.choice_labels or {}).items()
        if not members.any()
    ]
    _models.say_left_out(path, nowhere, ".tra files cannot hold it; .umb can")
    valuations = _writable(path, model)
    rewards = _prism_rewards.plan(path, structures, style)
    _refuse_stale(path, {file.path for file in rewards}, bool(valuations))
    with written_together():
        save_labels(path, model, style)
        if valuations:
            save_values(path, valuations)
        for file in rewards:
            _prism_rewards.save(file, model, style)
        _save_transitions(path, model, style, action, names)


def _save_transitions(
    path: FilePath, model: MDP, style: str, action: np.ndarray, names: list[str]
) -> None:
    """Writes the `.tra` file."""
    owner, place, of = _models.places(model)
    chain = _models.is_chain(model)
    sizes = f"{model.num_states} {model.num_choices} {model.num_branches}"
    if chain:
        sizes = f"{model.num_states} {model.num_branches}"
    kind = "DTMC" if chain else "MDP"
    head = f"{kind.lower()}\n"
    if style != "storm":
        intervals = "" if model.lower is None else "I"
        head = f"# Transitions ({intervals}{kind})\n{sizes}\n"
    marks = np.array([f" {name}".rstrip().encode() for name in names])
    numbers: tuple[_lines.Column, ...]
    if model.lower is None:
        numbers = (_lines.reals(model.probs),)
    else:
        ends = _lines.reals(model.lower), _lines.reals(model.upper)
        numbers = (b"[", ends[0], b",", ends[1], b"]")
    _lines.write(
        path,
        head,
        _lines.decimals(owner[of]),
        b" ",
        *(() if chain else (_lines.decimals(place[of]), b" ")),
        _lines.decimals(model.columns),
        b" ",
        *numbers,
        marks[action[of]],
        b"\n",
    )


def companions(path: FilePath) -> list[str]:
    r"""The files that lie beside a `.tra` file and are read with it.

    Args:
        path: the `.tra` file, which need not be there.

    Examples:
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "small.lab").write_text('0="init"\n0: 0\n')
        >>> [pathlib.Path(file).name for file in companions(folder / "small.tra")]
        ['small.lab']
    """
    found = [beside(path, suffix) for suffix in (".lab", ".sta")]
    for _, *pair in _prism_rewards.files(path):
        found += pair
    return [file for file in found if file]


def valuations(path: FilePath) -> dict[str, np.ndarray]:
    r"""Reads the values of PRISM's variables in each state.

    Args:
        path: the `.sta` file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        For each variable an array `[S]`, int64, bool, or float64 where some state has
        a number that is no integer.

    Raises:
        FormatError: the file is something else.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.sta")
        >>> _ = path.write_text("(x,done)\n0:(3,false)\n1:(-1,true)\n")
        >>> valuations(path)
        {'x': array([ 3, -1]), 'done': array([False,  True])}
    """
    return values(path)


def _values(path: FilePath, size: int) -> dict[str, np.ndarray] | None:
    """The values of variables in the states, None where there is no file of them."""
    states = beside(path, ".sta")
    if states is None:
        return None
    found = values(states)
    for column in found.values():
        if len(column) != size:
            raise FormatError(
                states,
                None,
                f"expected the values of {size} states as in the model, found "
                f"{len(column)}",
            )
    return found


def _writable(path: FilePath, model: MDP) -> dict[str, np.ndarray]:
    """The values of variables that a `.sta` file can hold; tells of others."""
    found, left_out = {}, []
    for name, column in (model.valuations or {}).items():
        bad = not name or any(c in "(),:" or c.isspace() or ord(c) < 32 for c in name)
        if bad or not np.isfinite(column).all():
            left_out.append(f"variable {quoted(name)}")
        else:
            found[name] = column
    why = ".sta files cannot hold its name or its values; .umb can"
    _models.say_left_out(path, left_out, why)
    return found


def _refuse_stale(path: FilePath, written: set[str], has_values: bool) -> None:
    """Refuses to write beside files that would be read with the model."""
    states = None if has_values else beside(path, ".sta")
    found = states or _prism_rewards.stale(path, written)
    if found:
        raise ValueError(
            f"{found} exists and would be read together with {os.fspath(path)}, but "
            "this model has no data for it: remove it, or write to another name"
        )


def _num_states(path: FilePath, table: Table) -> int:
    """How many states there are: as the header or the states' file says, or occur."""
    occur = 1 + int(max(table.state.max(initial=-1), table.target.max(initial=-1)))
    size, states = table.num_states, beside(path, ".sta")
    if size is None and states is not None:
        size = len(state_lines(states)[1])
    if size is not None and occur > size:
        raise FormatError(
            path, None, f"state {occur - 1} is larger than the last state, {size - 1}"
        )
    return occur if size is None else size
