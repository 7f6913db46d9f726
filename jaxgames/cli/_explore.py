"""`jaxgames explore`."""

import argparse
from typing import Any

import numpy as np

from jaxgames import io, limits
from jaxgames.cli import _models, _options, _outputs, _report
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import sizes, start_jax
from jaxgames.cli._phases import Phases
from jaxgames.io._formats import of_output
from jaxgames.quoting import clipped

EXAMPLE = "explore lock.py:successors -o lock.npz"

ABOUT = """\
FUNCTION says which states follow a state. Its argument is an array of states, int32
[N, K]. It returns a pair: integers [N, A, K], the state that each of A actions leads
to; and booleans [N, A], which of these actions are possible. It must treat each row
by itself. With numpy it runs on the host; if it works with jax.numpy, also on a
device. states.__array_namespace__() is the module to use in a call.

The file may also assign
  initial       the initial state, integers [K], or several, [N, K]
  ranges        for each component how many values it has, or a pair of its least
                and its largest
  components    what the components of a state are called
  propositions  a dictionary of functions from states, int32 [N, K], to booleans [N]

The file is run as Python: explore only files that you trust.
"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.description = f"{parser.description}\n\n{ABOUT}"
    parser.add_argument(
        "file", metavar=_models.SYNTAX, help="a Python file, and a function in it"
    )
    parser.set_defaults(brief=False)
    add_initial(parser)
    parser.add_argument(
        "--max-states",
        type=_options.natural,
        metavar="N",
        help="stop if there are more states",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the system: .npz or .kripke; - is standard output, as .kripke",
    )
    _options.add_force(parser)
    _options.add_common(parser)


def add_initial(parser: argparse.ArgumentParser) -> None:
    """Where a model in Python begins."""
    parser.add_argument(
        "--initial",
        type=states,
        metavar="N,N[;N,N...]",
        help="the initial states, each as its components (default: those of the file)",
    )


def run(args: argparse.Namespace) -> Exit:
    form = None
    if args.output:
        form = "kripke" if args.output == "/dev/stdout" else None
        of_output(args.output, form)
    args.file, name = args.file.rpartition(":")[0] or args.file, args.file
    _outputs.check(args, output=args.output)
    start_jax(args)
    phase = Phases(args)
    with phase("explore") as notes:
        system = _models.explore(name, args.initial, args.max_states)
        notes.append(sizes(system))
    deadlocks = np.flatnonzero(np.diff(system.offsets) == 0)
    facts: dict[str, Any] = {
        "status": "solved",
        "seconds": dict(phase.seconds),
        "states": system.num_states,
        "transitions": system.num_transitions,
        "propositions": {
            name: int(system.labels[:, i].sum())
            for i, name in enumerate(system.propositions)
        },
        "initial": len(system.initial),
        "depth": system.space.depth,
        "deadlocks": len(deadlocks),
    }
    if args.json:
        _report.show(args, facts)
    elif not args.quiet:
        _tell(args, facts, system, deadlocks)
    if args.output:
        limits.tick("writing")
        io.save(args.output, system, format=form)
    return Exit.DONE


def states(text: str) -> list[list[int]]:
    """Type of an option that takes states: `0,1;2,-3`."""
    try:
        return [[int(x) for x in state.split(",")] for state in text.split(";")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected states as integers with commas between, as in 0,1 or 0,1;2,-3, "
            f"got {clipped(text)}"
        ) from None


def _tell(args: argparse.Namespace, facts: dict, system: Any, deadlocks: Any) -> None:
    print(f"{args.file}: {sizes(system)}, depth {facts['depth']:,}")
    for name, count in facts["propositions"].items():
        print(f"  {name:11} holds in {count:,}")
    if len(deadlocks):
        first = system.names[int(deadlocks[0])]
        print(f"  deadlocks   {len(deadlocks):,}, such as {first}")
