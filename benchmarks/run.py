"""Runs the benchmark suites on the machine it finds, beside the peers installed there.

    python -m benchmarks.run [--suite parity] [--games PATTERN ...] [--append]

Each suite is a module of this package with a function `run(options, results)`. Results
go to `benchmarks/results/` after every game, so that a run that is cut off loses at
most the game it was at; from there `python -m benchmarks.report` makes the pages. A
long run can be divided by games, solvers and experiments: `--append` adds to what is
there.
"""

import argparse
import dataclasses
import fnmatch
import functools
import importlib
import math
import os
import statistics
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from benchmarks import machine, schema
from benchmarks.energy_peers import ENERGY_PEERS, Program
from benchmarks.entrants import Entrant, OnDevice
from benchmarks.games import Game
from benchmarks.libraries import LIBRARIES, Library
from benchmarks.peers import PEERS, Oink, Peer
from benchmarks.traffic import bytes_per_round
from jaxgames import Arena, Status, parity
from jaxgames.buchi._question import Question
from jaxgames.mdp import MDP
from jaxgames.parity.preprocess import Reduced

LIFTING = "reference.spm"
"""The solver whose steps are lifts."""

COUNTED = ("solver", "layout", "rounds", "lifts", "cells")
"""Statistics that have a field of their own in a row, or are none of its rounds."""

SUITES = (
    "calls", "parity", "thesis", "layouts", "graph", "mdp", "ltl", "energy",
    "equivalence", "hard", "batch", "samples", "values", "devices", "load", "start",
)  # fmt: skip

JOBS = max(1, (os.cpu_count() or 1) // 2)
"""Models that are built at a time, where nothing else is said."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """How to run a suite.

    Attributes:
        small: small games only, to see that everything runs; nothing is saved.
        chosen: patterns for the names of games and groups; none: all.
        solvers: patterns for the names of our solvers; none: all.
        experiments: patterns for the names of experiments; none: all.
        data: a folder with games of the thesis, models, products, or systems.
        cache: a folder for models that are built from sources; None: none is built.
        jobs: how many are built at a time.
        corpus: a folder with folders of games in PGSolver's format.
        runs: warm runs of each solve.
        time_limit_s: seconds after which a solve is given up.
        peers: other programs, for games.
        libraries: Python packages, for graphs, models and products; programs for
            energy games.
        peer_runs: runs of each of their solvers.
        peer_time_limit_s: limit of each of those, reading the game included.
        scratch: a folder for files.
        results: a folder for results.
    """

    small: bool = False
    chosen: tuple[str, ...] = ()
    solvers: tuple[str, ...] = ()
    experiments: tuple[str, ...] = ()
    data: Path | None = None
    cache: Path | None = None
    jobs: int = JOBS
    corpus: Path | None = None
    runs: int = 7
    time_limit_s: float = 15.0
    peers: tuple[Peer, ...] = PEERS
    libraries: tuple[Library | Program, ...] = (*LIBRARIES, *ENERGY_PEERS)
    peer_runs: int = 3
    peer_time_limit_s: float = 15.0
    scratch: Path
    results: Path = schema.RESULTS

    def wants_game(self, name: str, group: str) -> bool:
        """Whether a game was chosen, by its name or its group."""
        return _chosen(name, self.chosen) or _chosen(group, self.chosen)

    def games(self, among: Iterable[Game]) -> list[Game]:
        """Those that were chosen."""
        return [game for game in among if self.wants_game(game.name, game.group)]

    def wants(self, solver: str) -> bool:
        """Whether one of our solvers was chosen."""
        return _chosen(solver, self.solvers)

    def wants_experiment(self, name: str) -> bool:
        """Whether an experiment was chosen."""
        return _chosen(name, self.experiments)

    def keep(self, results: schema.Results) -> None:
        """Saves the results so far, unless they are of small games."""
        if not self.small:
            results.save(self.results)


@dataclasses.dataclass
class Measured:
    """What the calls of one solve gave.

    Attributes:
        solution: of the last call.
        compile_s: see `schema.Row`, like the rest.
        prepare_s: likewise.
        runs: likewise.
    """

    solution: Any
    compile_s: float | None
    prepare_s: float | None
    runs: list[float]

    @property
    def solved(self) -> bool:
        """Whether every vertex was decided."""
        return self.solution.status == Status.SOLVED

    def fields(self) -> dict:
        """For a `schema.Row`."""
        stats = self.solution.stats
        engine = stats.get("solver")
        rounds = stats.get("rounds")
        lifts = stats.get("lifts", stats["steps"] if engine == LIFTING else None)
        return {
            "layout": stats.get("layout"),
            "engine": engine,
            "compile_s": self.compile_s,
            "prepare_s": self.prepare_s,
            "solve_s": statistics.median(self.runs) if self.solved else None,
            "solve_runs": self.runs,
            "rounds": None if rounds is None else int(rounds),
            "phases": phases(stats),
            "lifts": None if lifts is None else float(lifts),
            "status": Status(self.solution.status).name,
        }


def phases(stats: Mapping[str, Any]) -> dict[str, int]:
    """What a solver counted, but for what has a field of its own."""
    counts = {name: value for name, value in stats.items() if name not in COUNTED}
    return {
        name: int(value)
        for name, value in counts.items()
        if np.ndim(value) == 0 and np.issubdtype(np.asarray(value).dtype, np.integer)
    }


def measure(entrant: Entrant, arena: Any, options: Options) -> Measured:
    """Times a solve: the first call, one on a copy of the game, and warm ones.

    The first call compiles, and the copy has lost whatever was prepared for the game
    and kept with it; the differences are what compiling and preparing take. A call that
    reaches the time limit is not repeated, one that takes a tenth of it only once.
    """
    limit = options.time_limit_s
    cold = entrant.start(arena, limit)
    if cold.solution.status == Status.TIMEOUT:
        return Measured(cold.solution, None, None, [cold.seconds])
    first = entrant.run(arena, limit)
    compile_s = prepare_s = None
    if first.seconds < limit / 4:
        copy = entrant.start(_copy(arena), limit).seconds
        compile_s = max(0.0, cold.seconds - copy)
        prepare_s = max(0.0, copy - entrant.start(arena, limit).seconds)
    late = first.seconds >= limit / 10 and getattr(entrant, "starts_whole", False)
    if late or not first.solved:
        return Measured(first.solution, compile_s, prepare_s, [first.seconds])
    # The first run may have compiled what a start alone does not need.
    last = entrant.run(arena, math.inf)
    runs = [last.seconds]
    while len(runs) < options.runs and last.seconds < limit / 10:
        last = entrant.run(arena, math.inf)
        runs.append(last.seconds)
    return Measured(last.solution, compile_s, prepare_s, runs)


def solve_row(
    about: dict, solver: str, entrant: Entrant, game: Any, options: Options
) -> tuple[schema.Row, Measured | None]:
    """Measures a solver, without a check of its answer.

    Args:
        about: what is known of the row.
        solver: its name in the results.
        entrant: the solver.
        game: what it solves.
        options: how to measure.

    Returns:
        The row, and what was measured; None where nothing was.
    """
    row = functools.partial(schema.Row, **about, solver=solver)
    refusal = entrant.refuses(game)
    if refusal:
        return row(status=refusal), None
    try:
        found = measure(entrant, game, options)
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return row(status="OUT_OF_MEMORY"), None
    return row(**found.fields()), found


def row_of(
    about: dict,
    solver: str,
    entrant: Entrant,
    arena: Arena,
    options: Options,
    reduced: Reduced | None = None,
) -> tuple[schema.Row, np.ndarray | None]:
    """Measures a solver on a game, and checks its answer.

    Args:
        about: what is known of the row.
        solver: its name in the results.
        entrant: the solver.
        arena: the game.
        options: how to measure.
        reduced: an easier game to solve instead, its answer to be undone.

    Returns:
        The row, and the winners if there is a certificate that proves them. An answer
        that is wrong has a row that says so.
    """
    game = arena if reduced is None else reduced.arena
    done, found = solve_row(about, solver, entrant, game, options)
    if found is None:
        return done, None
    if isinstance(entrant, OnDevice):
        done.bytes_per_round = bytes_per_round(*entrant.prepared(game))
    if not found.solved:
        return done, None
    solution = found.solution
    winner, strategy = np.asarray(solution.winner), np.asarray(solution.strategy)
    if reduced is not None:
        winner, strategy = reduced.undo(winner, strategy)
    claim = parity.Solution(solution.status, winner=winner, strategy=strategy)
    verdict = parity.verify(arena, claim, "components")
    done.verified = bool(verdict)
    return done, winner if verdict else None


def facts(name: str, arena: Arena) -> dict:
    """What a `schema.Row` says of a game."""
    return {
        "game": name,
        "vertices": arena.shape[0],
        "edges": arena.shape[1],
        "priorities": len(np.unique(arena.priority)),
    }


def _copy(game: Any) -> Any:
    """The same without what was prepared for it, where something is kept with it."""
    if isinstance(game, Question):
        fresh = game.near._replace(arena=dataclasses.replace(game.arena))
        return dataclasses.replace(game, given=fresh)
    return dataclasses.replace(game) if isinstance(game, Arena | MDP) else game


def _chosen(name: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(name, each) for each in patterns)


def _options(args: argparse.Namespace, scratch: str) -> Options:
    fields = {field.name for field in dataclasses.fields(Options)}
    given = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(args).items()
        if name in fields
    }
    oink = Oink(tuple(args.peer_solvers)) if args.peer_solvers else Oink()

    def wanted(peers: Iterable) -> tuple:
        names = ("none",) if args.no_peers else tuple(args.peers)
        return tuple(peer for peer in peers if _chosen(peer.name, names))

    return Options(
        **{
            **given,
            "peers": wanted([oink]),
            "libraries": wanted([*LIBRARIES, *ENERGY_PEERS]),
            "scratch": Path(scratch),
        }
    )


def main(arguments: list[str] | None = None) -> None:
    """Runs the suites named on the command line, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--suite", choices=SUITES, action="append", dest="suites")
    add("--small", action="store_true", help="small games, not saved")
    several = {"nargs": "+", "default": [], "metavar": "PATTERN"}
    add("--games", **several, dest="chosen", help="names of games or groups")
    add("--solvers", **several, help="names of ours")
    add("--experiments", **several, help="parts of the suites thesis and batch")
    add("--data", type=Path, metavar="FOLDER", help="games, models, systems")
    add("--cache", type=Path, metavar="FOLDER", help="for models that Storm builds")
    add("--jobs", type=int, default=JOBS, help="models that are built at a time")
    add("--corpus", type=Path, metavar="FOLDER", help="folders of games")
    add("--runs", type=int, default=7)
    add("--time-limit", type=float, default=15.0, dest="time_limit_s")
    add("--no-peers", action="store_true")
    add("--peers", **several, help="names of other programs and packages")
    add("--peer-solvers", nargs="+", metavar="OPTIONS", help='such as "npp --no"')
    add("--peer-runs", type=int, default=3)
    add("--peer-time-limit", type=float, default=15.0, dest="peer_time_limit_s")
    add("--results", type=Path, default=schema.RESULTS, metavar="FOLDER")
    add("--append", action="store_true", help="keep the other results of this machine")
    args = parser.parse_args(arguments)
    found = machine.facts()
    bandwidth = None if args.small else machine.copy_bandwidth()
    for suite in args.suites or SUITES:
        results = fresh = schema.Results(
            suite=suite, machine=found, copy_bandwidth_gb_s=bandwidth
        )
        if args.append:
            results = schema.Results.begin(fresh, args.results)
            if results is not fresh:
                results.absorb(fresh)
        with tempfile.TemporaryDirectory() as scratch:
            options = _options(args, scratch)
            importlib.import_module(f"benchmarks.{suite}").run(options, results)
        options.keep(results)


if __name__ == "__main__":
    main()
