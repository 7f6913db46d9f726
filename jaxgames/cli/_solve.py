"""`jaxgames solve`."""

import argparse
import functools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from jaxgames import io, parity
from jaxgames.arena import Arena
from jaxgames.cli import _checkpoint, _oink, _options, _parts, _pictures, _report
from jaxgames.cli._exit import Exit, complain
from jaxgames.cli._games import (
    counts,
    load_parity,
    num_priorities,
    start_jax,
)
from jaxgames.cli._phases import Phases
from jaxgames.quoting import counted, guess, quoted
from jaxgames.solution import UNDECIDED, SolveError, Status

EXAMPLE = "solve game.pg.gz --verify -o game.sol"

BATCH_EDGES, MOST_IN_BATCH = 1 << 22, 4096
"""Edges, and games, from which a batch for the device is solved before more is read."""


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_game(parser, many=True)
    parser.set_defaults(
        beside=("output", ".sol"), check=_check_options, each=in_batches
    )
    parser.add_argument(
        "-s",
        "--solver",
        type=_oink.solver,
        default="auto",
        help="which solver, see jaxgames solvers (default: auto)",
    )
    _oink.add_solvers(parser)
    parser.add_argument(
        "--preprocess",
        type=_names_of_reductions,
        default=(),
        metavar="NAMES",
        help="reductions before the solve, such as compress,contract; see "
        "jaxgames solvers",
    )
    _options.add_strategies(parser)
    _options.add_verify(parser)
    parser.add_argument(
        "-p",
        "--print",
        dest="listed",
        action="store_true",
        help="print the vertices that each player wins",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="SOL",
        help="write a PGSolver solution; - is standard output; for several games it "
        "is a folder of them",
    )
    _pictures.add(parser)
    _options.add_force(parser)
    _options.add_json(parser)
    _options.add_all(parser, "--winners")
    _options.add_stats(parser)
    _options.add_limits(parser)
    _options.add_max_steps(parser)
    _options.add_checkpoint(parser)
    _options.add_quiet(parser)
    _options.add_jax(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    return _solved(args, *_parts.begin(args, load_parity))


def in_batches(some: Iterable[argparse.Namespace]) -> Iterator[tuple[Any, Any]]:
    """Solves games on the host one by one, those for a device in batches.

    Yields the arguments for each, and what tells of it and returns an exit code.
    """
    pending: list[_Loaded] = []
    for args in some:
        start_jax(args)
        pending.append(_Loaded(args))
        size = sum(game.cost for game in pending)
        if not size or size > BATCH_EDGES or len(pending) == MOST_IN_BATCH:
            yield from _batch(pending)
            pending = []
    yield from _batch(pending)


class _Loaded:
    """A game that was read, or the error why there is no game or no answer.

    Attributes:
        solution: of a batch, or None.
        cost: edges that wait for a batch.
    """

    def __init__(self, args: argparse.Namespace):
        self.args = args
        self.phase = Phases(args)
        self.arena: Arena | None = None
        self.solution: parity.Solution | None = None
        self.cost = 0
        self.error: Exception | None = None
        try:
            with self.phase("load"):
                self.arena = load_parity(args)
            place = parity.place_for(self.arena, args.solver)
            alone = place == "host" or args.solver == "race" or args.preprocess
            if not alone:
                self.cost = int(self.arena.num_edges) + 1
        except Exception as error:  # is told of when it is this game's turn
            self.error = error

    def tell(self) -> Exit:
        """Prints and writes what was found; solves the game, if no batch did."""
        if self.error is not None:
            raise self.error
        assert self.arena is not None
        if self.solution is None:
            return _solved(self.args, self.phase, self.arena)
        return _told(self.args, self.phase, self.arena, self.solution)


def _batch(games: list[_Loaded]) -> Iterator[tuple[argparse.Namespace, Any]]:
    """Solves some games, and gives them away: nothing of them is kept."""
    waiting = [game for game in games if game.cost]
    if len(waiting) > 1:
        from jaxgames import solve_many  # few need it

        args = waiting[0].args
        phase = Phases(args, silent=True)
        try:
            with phase("solve"):
                found = solve_many(
                    parity,
                    [game.arena for game in waiting],
                    args.solver,
                    max_steps=args.max_steps,
                    throw=False,
                    strategies=args.strategies,
                )
        except SolveError as error:
            for game in waiting:
                game.error = error
        else:
            for game, solution in zip(waiting, found, strict=True):
                game.solution = solution
                game.phase.seconds["batch"] = phase.seconds["solve"]
    games.reverse()
    while games:
        game = games.pop()
        yield game.args, game.tell


def _solved(args: argparse.Namespace, phase: Phases, arena: Arena) -> Exit:
    """Solves a game by itself."""
    limited = args.max_steps is not None or bool(args.checkpoint)
    place = "device" if limited else parity.place_for(arena, args.solver)
    with phase("prepare"):
        # In a race each engine prepares for itself: the other one does not wait.
        if place == "host" and not args.preprocess:
            parity.prepare_host(arena)
        if place == "device" and not args.preprocess:
            parity.prepare(arena)
    how = {
        "solver": args.solver,
        "throw": False,
        "strategies": args.strategies,
        "preprocess": args.preprocess,
    }
    begun = None
    if place == "device":
        with phase("compile") as notes:
            # A solve of no steps compiles all; the one that goes on from it is pure.
            begun = parity.solve(arena, max_steps=0, **how)
            notes.append(_name(begun))
        if begun.status == Status.INTERRUPTED:
            raise KeyboardInterrupt
    with phase("solve") as notes:
        if args.checkpoint:
            kept = {name: how[name] for name in how if name != "throw"}
            again = functools.partial(parity.solve, arena, **kept)
            solution = _checkpoint.solve(args, again, begun)
        else:
            solution = parity.solve(
                arena,
                max_steps=args.max_steps,
                state=None if begun is None else begun.state,
                **how,
            )
        _parts.lift_unless_solved(solution)
        if place != "device":
            notes.append(_name(solution))
        notes.append(_rounds(solution))
    return _told(args, phase, arena, solution)


def _told(
    args: argparse.Namespace, phase: Phases, arena: Arena, solution: parity.Solution
) -> Exit:
    """Checks a solution, and prints and writes what was asked for."""
    verdict = _parts.verdict_on(args, phase, parity.verify, arena, solution)
    won = _won(solution)
    facts = _facts(args, arena, solution, verdict, phase.seconds)
    if not (args.json or args.quiet):
        _parts.tell_stats(args, facts)
        counts = [f"player {player} wins {won[player]:,}" for player in (0, 1)]
        if won[UNDECIDED]:
            counts.append(f"{won[UNDECIDED]:,} are undecided")
        print(f"{args.file}: {', '.join(counts)}", flush=True)
    if args.listed and not args.json:
        _list(args, arena, solution)
    if args.json:
        _report.show(args, facts)
    if verdict is not None and not verdict:
        complain(f"{args.file}: the answer is wrong, nothing is written: {verdict}")
        return Exit.UNVERIFIED
    if solution.status != Status.SOLVED:
        more = _checkpoint.how_to_go_on(args, Status(solution.status))
        complain(f"{args.file}: not solved: {_why(args, solution)}{more}")
    _write(args, arena, solution)
    if solution.status == Status.INTERRUPTED:
        return Exit.INTERRUPTED
    return Exit.DONE if solution.status == Status.SOLVED else Exit.UNSOLVED


# ---- what is asked for ---------------------------------------------------------


def _names_of_reductions(text: str) -> tuple[str, ...]:
    """The names in a list with commas, each checked."""
    names = tuple(filter(None, text.split(",")))
    for name in names:
        if name not in parity.preprocess.REDUCTIONS:
            raise argparse.ArgumentTypeError(
                f"no reduction is called {quoted(name)}"
                f"{guess(name, parity.preprocess.REDUCTIONS)}; there are "
                + ", ".join(parity.preprocess.REDUCTIONS)
            )
    return names


def _check_options(args: argparse.Namespace) -> None:
    parity.check_solver(args.solver)
    if not args.strategies and (args.verify or args.output):
        option = "--verify" if args.verify else "-o"
        raise ValueError(
            f"{option} needs the strategies that --no-strategies leaves out"
        )
    _parts.check_all(args)
    _pictures.check(args)
    _checkpoint.check(args)


# ---- what is told --------------------------------------------------------------


def _won(solution: parity.Solution) -> dict[int, int]:
    """How many vertices each player wins, and how many are undecided."""
    winner = np.asarray(solution.winner)
    return {who: int((winner == who).sum()) for who in (0, 1, UNDECIDED)}


def _list(args: argparse.Namespace, arena: Arena, solution: parity.Solution) -> None:
    """Prints the vertices that each player wins, by their names if they have some."""
    winner = np.asarray(solution.winner)[: int(arena.num_vertices)]
    names = _names(args, arena) or [None] * len(winner)
    for player in (0, 1):
        won = np.flatnonzero(winner == player).tolist()
        if won:
            shown = (str(v) if names[v] is None else str(names[v]) for v in won)
            print(f"won by {player}:", *shown)


def _name(solution: parity.Solution) -> str:
    """Who solved the game."""
    layout = solution.stats.get("layout")
    return str(solution.stats["solver"]) + (f", layout {layout}" if layout else "")


def _rounds(solution: parity.Solution) -> str:
    """How long it took, in rounds of a device or steps of the host engine."""
    what = "round" if "rounds" in solution.stats else "step"
    return counted(int(solution.stats[f"{what}s"]), what)


def _facts(args, arena: Arena, solution: parity.Solution, verdict, seconds) -> dict:
    won, stats = _won(solution), solution.stats
    facts = {
        **counts(arena),
        "priorities": num_priorities(arena),
        "layout": stats.get("layout"),
        **{
            name: int(stats[name]) if name in stats else None
            for name in ("cells", "rounds", "steps")
        },
        **_parts.solve_facts(solution, seconds, verdict),
        "won": [won[0], won[1]],
        "undecided": won[UNDECIDED],
    }
    if args.all:
        facts["winner"] = np.asarray(solution.winner).tolist()
        if args.strategies:
            facts["successor"] = np.asarray(solution.successor(arena)).tolist()
    return facts


def _why(args: argparse.Namespace, solution: parity.Solution) -> str:
    """Why the solve stopped, in terms of the command line."""
    status, rounds = Status(solution.status), _rounds(solution)
    if status == Status.MAX_STEPS and args.max_steps is not None:
        return f"the limit of {rounds} was reached; try other solvers (-s)"
    if status == Status.TIMEOUT:
        limit = f"{args.timeout:g} s was reached after {rounds}"
        return f"the limit of {limit}; try other solvers (-s)"
    if status == Status.INTERRUPTED:
        return f"interrupted after {rounds}"
    return status.message


# ---- what is written -----------------------------------------------------------


def _write(args: argparse.Namespace, arena: Arena, solution: parity.Solution) -> None:
    """Writes files. Of a solve that stopped early, what is decided; it says so."""
    if args.output:
        won = _won(solution)
        if won[0] + won[1] == 0:
            complain(f"{args.output}: not written, no vertex is decided")
        else:
            io.save_solution(args.output, arena, solution)
            if won[UNDECIDED]:
                complain(
                    f"{args.output}: incomplete, without "
                    + counted(won[UNDECIDED], "undecided vertex")
                )
    _pictures.write(args, arena, solution, lambda: _names(args, arena))


def _names(args: argparse.Namespace, arena: Arena) -> list[str | None] | None:
    """The names of the vertices, if the file's format has names."""
    return io.names(args.file, arena, format=args.format)
