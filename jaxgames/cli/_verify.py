"""`jaxgames verify`."""

import argparse
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from jaxgames import io, parity, synth
from jaxgames.cli import (
    _answers,
    _fair,
    _kinds,
    _meanpayoff,
    _options,
    _report,
    _synth,
)
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import load_parity, start_jax
from jaxgames.cli._phases import Phases
from jaxgames.io._formats import suffix_of
from jaxgames.ltl import Automaton
from jaxgames.synth import Circuit

EXAMPLE = "verify game.pg.gz game.sol"


_AS_FOR = {
    "--capacity": (
        *("N[,N...]", _options.naturals),
        "the capacity of energies, as for energy, or --cap of multienergy",
    ),
    "--discount": ("P/Q", _meanpayoff.ratio, "the discount factor, as for discounted"),
    "--threshold": (
        *("P/Q", _meanpayoff.ratio),
        "the mean payoff that was asked for, as for energyparity",
    ),
    "--accepting": ("VERTICES", str, "the accepting vertices, as for buchi"),
    "--to": (
        *("VERTICES", str),
        "the vertices to reach, as for reach, or the states, as for probability",
    ),
    "--player": (
        *("P", _options.natural),
        "the player who forces a visit, as for reach, or who wants to reach the target "
        "of a game, as for probability",
    ),
    "--through": (
        *("STATES", str),
        "states that a path may pass on its way, as for probability",
    ),
    "--notion": ("NAME", str, "the notion of equivalence, as for equiv"),
    "--initial": ("N[,N...]", _options.naturals, "where runs begin, as for check"),
}
"""What other commands were asked, by their options: words for it, kinds, and help."""


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_game(
        parser,
        what="what was solved: a game, a graph or a model, as its command reads it",
        many=True,
        none=True,
    )
    parser.set_defaults(beside=("solution", ".sol"), arrange=_arrange)
    parser.add_argument(
        "solution",
        metavar="ANSWER",
        help="what a command wrote: a PGSolver solution (.sol), arrays (.npz, or .txt "
        "if that says enough), an object (.json) of check -o or --json --all, or a "
        "controller (.aag, .aig, .ehoa, .hoa). It may be compressed (.gz, .bz2, "
        ".xz). - is standard input. If there are several files, it is the folder with "
        "their answers",
    )
    for name, (metavar, kind, help) in _AS_FOR.items():
        parser.add_argument(name, metavar=metavar, type=kind, help=help)
    parser.add_argument(
        "--from-parity",
        action="store_true",
        help="make weights of the priorities of a parity game, as for energy",
    )
    parser.add_argument(
        "--from",
        dest="begin",
        metavar="VERTICES",
        help="where paths begin, as for reach",
    )
    optimum = parser.add_mutually_exclusive_group()
    for name, what in (("max", "largest"), ("min", "smallest")):
        optimum.add_argument(
            f"--{name}",
            dest="optimum",
            action="store_const",
            const=name,
            help=f"the {what} probability, as for probability",
        )
    parser.add_argument(
        "--prop",
        action="append",
        default=[],
        metavar="PROPERTY",
        help="the property, as for mdp",
    )
    _options.add_constants(parser, "values of constants, as for mdp")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--ltl",
        metavar="FORMULA",
        help="the formula that a lasso violates, as for check, or that is to hold in a "
        "game, as for probability; or, with --ins or --outs and without FILE, what a "
        "controller is to do, as for synth",
    )
    what.add_argument(
        "--automaton",
        metavar="AUTOMATON",
        help="the automaton that accepts a lasso, as for check, or that is to accept "
        "the runs of a game, as for probability",
    )
    what.add_argument(
        "--priority",
        metavar="VARIABLE",
        help="the variable whose values are priorities, as for probability",
    )
    _synth.add_owners(parser, "with --ltl and without FILE")
    _fair.options(parser)
    parser.add_argument(
        "--deadlock",
        choices=("stutter", "error", "reject"),
        help="what a state without successor means, as for check",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=N",
        help="the value of a parameter of a .tlsf file, as for synth",
    )
    parser.add_argument(
        "--moore", action="store_true", help="the system moves first, as for synth"
    )
    parser.set_defaults(props=None, name=[])
    _options.add_common(parser)


def _arrange(args: argparse.Namespace) -> None:
    """A formula that a controller is made for is in the place of a file."""
    owners = args.ins is not None or args.outs is not None
    if not args.files and (args.ltl is None or not owners):
        raise ValueError(
            "verify takes FILE and ANSWER: what was solved, and what was found; or, "
            "for a controller, --ltl with --ins or --outs, and ANSWER"
        )
    if args.files and owners:
        raise ValueError(
            "--ins and --outs go with --ltl and without FILE: a file says by itself "
            "who sets what"
        )
    args.files = args.files or ["--ltl"]


def run(args: argparse.Namespace) -> Exit:
    """Checks an answer; prints what is wrong, if anything is."""
    _fair.check_question(args, args.ltl is not None or args.automaton is not None)
    start_jax(args)
    phase = Phases(args, silent=True)
    if suffix_of(args.solution) in (".aag", ".aig", ".ehoa", ".hoa"):
        kind, sizes, verdict = _controller(args, phase)
    else:
        with phase("load"):
            answer = _answers.read(_answer_of(args))
        if answer is None:
            kind, sizes, verdict = _parity(args, phase)
        elif answer.command == "synth":
            text = str(answer.arrays["aag"])
            kind, sizes, verdict = _controller(args, phase, text)
        else:
            with phase("verify"):
                kind, sizes, verdict = _kinds.check(args, answer)
    if args.json:
        facts = {
            "solution": args.solution,
            "answer": kind,
            **sizes,
            "status": "solved",
            "seconds": dict(phase.seconds),
            "verified": bool(verdict),
            "verdict": str(verdict),
        }
        _report.show(args, facts)
    elif not args.quiet:
        print(f"{args.solution}: {verdict}", flush=True)
    return Exit.DONE if verdict else Exit.WRONG


class _Said(NamedTuple):
    """What is said of a controller."""

    right: bool

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return "valid" if self.right else "wrong: a run does not do what is asked"


def _controller(
    args: argparse.Namespace, phase: Phases, text: str | None = None
) -> tuple[str, dict, _Said]:
    """What is said of a controller, or of the machine of the environment."""
    if args.ltl is not None and args.files != ["--ltl"]:
        raise ValueError(
            "--ltl is for a controller without FILE: a file says what it is to do"
        )
    with phase("load"):
        asked = _synth.question(args)
        machine, writes = _machine(args, text)
    sides = [True, False]
    if writes is not None:
        owners = (True, asked.outputs), (False, asked.inputs)
        sides = [side for side, own in owners if set(writes) <= set(own)]
        if not sides:
            raise io.FormatError(
                args.solution,
                None,
                f"the machine sets {' '.join(writes)}, the system "
                f"{' '.join(asked.outputs) or 'nothing'}, the environment "
                f"{' '.join(asked.inputs) or 'nothing'}",
            )
    with phase("verify"):
        try:
            won = next(
                (x for x in sides if synth.verify(asked, machine, realizable=x)), None
            )
        except ValueError as error:
            raise io.FormatError(args.solution, None, str(error)) from error
    right = won is not None
    if isinstance(machine, Circuit):
        sizes = {"latches": len(machine.following)}
    else:
        sizes = {"states": machine.num_states}
    return (
        "controller",
        sizes | {"realizable": won if right else sides[0]},
        _Said(right),
    )


def _machine(
    args: argparse.Namespace, text: str | None
) -> tuple[Circuit | Automaton, Iterable[str] | None]:
    """The machine in a file, or in a text; and what it sets, if that is said."""
    if text is not None:
        machine = io.aiger.parse(f"{args.solution}, in aag", text.encode())
    elif suffix_of(args.solution) in (".aag", ".aig"):
        machine = io.aiger.load_circuit(args.solution)
    else:
        return io.ehoa.load_machine(args.solution)
    return machine, machine.outputs


def _answer_of(args: argparse.Namespace) -> str:
    """The file with the answer; of several games it may be an archive."""
    stem = os.path.splitext(args.solution)[0]
    for path in (args.solution, f"{stem}.npz", f"{stem}.json"):
        if args.brief and os.path.exists(path):
            args.solution = path
            break
    return args.solution


def _parity(args: argparse.Namespace, phase: Phases) -> tuple[str, dict, Any]:
    with phase("load"):
        arena = load_parity(args)
        solution = io.load_solution(args.solution, arena)
    sizes = {"vertices": int(arena.num_vertices), "edges": int(arena.num_edges)}
    with phase("verify"):
        return "parity game", sizes, parity.verify(arena, solution)
