"""`jaxgames mec`."""

import argparse
from typing import Any

import numpy as np

from jaxgames import io, mdp
from jaxgames.cli import _options, _parts, _rows
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts, read
from jaxgames.quoting import counted, quoted

EXAMPLE = "mec model.umb --output components.npz"


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_file(
        parser, "a Markov decision process: .umb, .drn or .tra", many=True
    )
    parser.set_defaults(beside=("output", ".npz"), check=_check_options)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write the component of each state, -1 for none: .npz (with the choices "
        "that stay), a folder of these for several files, or .txt with one on each "
        "line; - is standard output",
    )
    _options.add_force(parser)
    _options.add_all(parser)
    _options.add_decomposition(parser)
    _options.take_no_pictures(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, model = _parts.begin(args, load)
    with phase("prepare"):
        tiny = mdp.MDP.from_arrays([0, 1], [0, 1], [0])
        size = model.num_branches
        _parts.make_host_ready(args, size, lambda: mdp.mec(tiny, "host"))
    return _rows.answered(
        *(args, phase, mdp.mec, mdp.verify, model, counts(model)),
        facts=_facts,
        arrays=lambda found: {
            "state_label": np.asarray(found.state_label),
            "choice_kept": np.asarray(found.choice_kept),
        },
        tell=_tell,
        more=lambda found: {"count": np.asarray(found.count, np.int32)},
        write=_rows.write_labels,
    )


def _facts(found: mdp.EndComponents) -> dict[str, Any]:
    label = np.asarray(found.state_label)
    size = np.bincount(label[label >= 0], minlength=int(found.count))
    return {
        "components": int(found.count),
        "states_inside": int(size.sum()),
        "choices_kept": int(np.asarray(found.choice_kept).sum()),
        "largest": int(size.max(initial=0)),
        "sizes": _parts.histogram(size),
    }


def _check_options(args: argparse.Namespace) -> None:
    _rows.check(args, mdp.SOLVERS)


def load(args: argparse.Namespace, kinds: Any = mdp.MDP) -> Any:
    """Reads a model.

    Args:
        args: the options.
        kinds: what it may be.

    Raises:
        FormatError: the file holds something else.
    """
    model = read(args)
    if not isinstance(model, kinds):
        raise io.FormatError(
            args.file,
            None,
            f"expected a Markov decision process, found: {quoted(model)}",
        )
    return model


def _tell(args: argparse.Namespace, facts: dict) -> None:
    count, inside = facts["components"], facts["states_inside"]
    print(
        f"{args.file}: {counted(count, 'maximal end component')} of "
        f"{counted(inside, 'state')}{_parts.fraction(inside, facts['states'])} and "
        f"{counted(facts['choices_kept'], 'choice')}; the largest has "
        f"{counted(facts['largest'], 'state')}"
    )
    if not args.brief:
        _parts.told(facts["sizes"])
