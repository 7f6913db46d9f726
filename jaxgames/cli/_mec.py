"""`jaxgames mec`."""

import argparse
import json

import numpy as np

from jaxgames import io, mdp
from jaxgames.cli import _options
from jaxgames.cli._exit import Exit, complain
from jaxgames.cli._games import check_writable, sizes, start_jax
from jaxgames.cli._parts import (
    SUFFIXES,
    check_solver,
    check_suffix,
    fraction,
    histogram,
    meter,
    not_solved,
    solve_facts,
    solver_note,
    told,
    wants_host,
    write_arrays,
)
from jaxgames.cli._phases import Phases
from jaxgames.solution import Status

EXAMPLE = "mec model.umb --output components.npz"


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a Markov decision process: .umb, .drn or .tra, also .gz, .bz2, .xz",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write the component of each state, -1 for none: .npz (with the choices "
        "that stay), or .txt with one on each line",
    )
    _options.add_decomposition(parser)


def run(args: argparse.Namespace) -> Exit:
    """Finds the components, and prints and writes what was asked for."""
    if args.output:
        check_suffix("--output", args.output, SUFFIXES)
        check_writable(args.output)
    check_solver(mdp.SOLVERS, args.solver)
    start_jax(args)
    phase = Phases(args.json or args.quiet)
    with phase("load") as notes:
        model = load(args.file)
        notes.append(sizes(model))
    with phase("prepare"):
        if wants_host(args):  # what it compiles is kept
            mdp.reference.mec(mdp.MDP.from_arrays([0, 1], [0, 1], [0]))
    with phase("solve") as notes:
        found = mdp.mec(
            model,
            args.solver,
            max_steps=args.max_steps,
            throw=False,
            progress=meter(args),
        )
        label = np.asarray(found.state_label)
        kept = np.asarray(found.choice_kept)
        notes.append(solver_note(found))
    solved = found.status == Status.SOLVED
    verdict = None
    if args.verify and solved:
        with phase("verify") as notes:
            verdict = mdp.verify(model, found)
            notes.append("valid" if verdict else "WRONG")
    facts = {
        "file": args.file,
        "states": model.num_states,
        "choices": model.num_choices,
        "branches": model.num_branches,
        **solve_facts(found, phase.seconds, verdict),
    }
    if solved:
        size = np.bincount(label[label >= 0], minlength=int(found.count))
        facts |= {
            "components": int(found.count),
            "states_inside": int(size.sum()),
            "choices_kept": int(kept.sum()),
            "largest": int(size.max(initial=0)),
            "sizes": histogram(size),
        }
    if args.json:
        print(json.dumps(facts))
    elif not args.quiet and solved:
        _tell(args.file, facts)
    if verdict is not None and not verdict:
        complain(f"{args.file}: the answer is wrong, nothing is written: {verdict}")
        return Exit.UNVERIFIED
    if not solved:
        return not_solved(args, found)
    if args.output:
        count = np.int32(found.count)
        write_arrays(
            args.output, label, state_label=label, choice_kept=kept, count=count
        )
    return Exit.DONE


def load(file: str) -> mdp.MDP:
    """Reads a model.

    Raises:
        FormatError: the file holds something else.
    """
    model = io.load(file, dead_ends="allow")
    if not isinstance(model, mdp.MDP):
        raise io.FormatError(
            file, None, f"expected a Markov decision process, found an {model!r}"
        )
    return model


def _tell(file: str, facts: dict) -> None:
    count, inside = facts["components"], facts["states_inside"]
    print(
        f"{file}: {count:,} maximal end component{'' if count == 1 else 's'} of "
        f"{inside:,} states{fraction(inside, facts['states'])} and "
        f"{facts['choices_kept']:,} choices; the largest has {facts['largest']:,} "
        f"state{'' if facts['largest'] == 1 else 's'}"
    )
    told(facts["sizes"])
