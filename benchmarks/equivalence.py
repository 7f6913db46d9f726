"""The suite `equivalence`: all notions on all processes of systems, step by step."""

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from benchmarks import equivalence_systems
from benchmarks.decompositions import HOST, timed
from benchmarks.equivalence_systems import System
from benchmarks.run import Options, phases
from benchmarks.schema import Results, Row
from jaxgames import Status, equivalence, multienergy
from jaxgames.equivalence._build import build, pairs_that_enable_the_same
from jaxgames.equivalence._energy import distinguished
from jaxgames.equivalence._game import MOVE_BYTES, POSITION_BYTES
from jaxgames.equivalence._problem import classes_of
from jaxgames.io import LTS

SUITE = "equivalence"

STEPS = ("reduce_s", "build_s", "fronts_s", "notions_s")
"""Steps of a solve, as a row calls them."""

VERIFIED_UP_TO = 10_000_000
"""Moves of a game up to which its budgets are verified by their certificate."""

ENGINES = {
    HOST: {"classes": "host", "build": "host", "solver": "host"},
    "device": {"classes": "refinement", "build": "device", "solver": "fronts"},
    "auto": {"classes": "auto", "build": "auto", "solver": "auto"},
}
"""What each solver of this suite takes for classes, the game and its budgets."""


class Solved(NamedTuple):
    """What the steps of a solve have found.

    Attributes:
        classes: the bisimilarity class of each process.
        pairs: the pairs of classes that are compared.
        game: the spectroscopy game.
        fronts: its budgets.
        apart: which notions tell each pair apart.
        seconds: of each step.
    """

    classes: np.ndarray
    pairs: np.ndarray
    game: equivalence.Spectroscopy
    fronts: multienergy.Fronts
    apart: np.ndarray
    seconds: tuple[float, ...]


def solved(lts: LTS, engines: dict[str, Any]) -> Solved:
    """Does what `equivalence.spectrum` does, and times each step."""
    seconds = []

    def step(make: Callable[[], Any], ready: Callable[[Any], Any]) -> Any:
        began = time.perf_counter()
        made = make()
        jax.block_until_ready(ready(made))
        seconds.append(time.perf_counter() - began)
        return made

    def reduced() -> tuple:
        system = equivalence.System.of(lts)
        classes = classes_of(system, engines["classes"])
        system = system.quotient(classes)
        return classes, system, pairs_that_enable_the_same(system)

    classes, system, pairs = step(reduced, lambda made: None)
    game = step(
        lambda: build(system, pairs, engine=engines["build"]),
        lambda made: tuple(made.arrays),
    )
    fronts = step(
        lambda: multienergy.solve(equivalence.energy_game(game), engines["solver"]),
        lambda made: made.words,
    )
    apart = step(
        lambda: distinguished(fronts, game.arrays.starts, equivalence.STRONG),
        lambda made: None,
    )
    return Solved(classes, pairs, game, fronts, apart, tuple(seconds))


class Judge:
    """Tells whether answers are right: by a certificate, or by another engine's.

    A game of few moves has its budgets verified; in others the answers of engines that
    share no code must be the same.
    """

    def __init__(self):
        self._answer: tuple[np.ndarray, ...] | None = None
        self._trusted = False
        self._rows: list[Row] = []

    def __call__(self, row: Row, found: Solved) -> None:
        """Writes into rows whether they are verified."""
        answer = found.classes, found.pairs, found.apart
        if self._answer is None:
            self._answer = answer
            if found.game.num_moves <= VERIFIED_UP_TO:
                verdict = multienergy.verify(
                    equivalence.energy_game(found.game), found.fronts
                )
                self._trusted = row.verified = bool(verdict)
                return
        elif not all(map(np.array_equal, answer, self._answer)):
            row.verified = False
            return
        self._rows.append(row)
        self._trusted |= len({each.engine for each in self._rows}) > 1
        for each in self._rows if self._trusted else ():
            each.verified = True


def run(options: Options, results: Results) -> None:
    """Adds a row for every system and solver."""
    systems = (
        equivalence_systems.SMALL if options.small else equivalence_systems.INSTANCES
    )
    for system in (*systems, *equivalence_systems.from_data(options.data)):
        # More than most machines can be asked for unasked.
        unasked = system.large and not options.chosen
        if not unasked and options.wants_game(system.name, system.group):
            _measure(system, options, results)
            options.keep(results)


def _measure(system: System, options: Options, results: Results) -> None:
    lts, load_s = timed(system.make)
    judge = Judge()
    for name, engines in ENGINES.items():
        if not options.wants(name):
            continue
        row = Row(
            game=system.name,
            vertices=0,
            edges=0,
            solver=name,
            load_s=load_s if system.group == equivalence_systems.FILES else None,
            generate_s=load_s if system.group == equivalence_systems.MADE else None,
            status="TOO_LARGE",
        )
        try:
            found = _timed(row, lts, engines, options)
        except equivalence.TooLargeError:
            found = None
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            row.status, found = "OUT_OF_MEMORY", None
        if found is not None:
            judge(row, found)
        print(f"{row.game}: {name}: {row.status}, {row.solve_s} s", flush=True)
        results.put([row])
        if row.verified is False:
            raise AssertionError(f"{row.game}: the answer of {name} is wrong")


def _timed(row: Row, lts: LTS, engines: dict[str, Any], options: Options) -> Solved:
    """Solves several times, and fills the row in."""
    cold = found = solved(lts, engines)
    runs: list[tuple[float, ...]] = []
    while len(runs) < options.runs:
        found = solved(lts, engines)
        runs.append(found.seconds)
        if sum(found.seconds) >= options.time_limit_s / 10:
            break
    row.solve_runs = [sum(each) for each in runs]
    row.solve_s = statistics.median(row.solve_runs)
    row.compile_s = max(0.0, sum(cold.seconds) - row.solve_s)
    for name, values in zip(STEPS, zip(*runs, strict=True), strict=True):
        setattr(row, name, statistics.median(values))
    game, stats = found.game, found.fronts.stats
    row.vertices, row.edges = game.num_positions, game.num_moves
    row.engine = stats.get("solver")
    row.rounds = None if "rounds" not in stats else int(stats["rounds"])
    row.status = Status(found.fronts.status).name
    row.phases = {
        **phases(stats),
        "states": lts.num_states,
        "classes": int(found.classes.max(initial=-1)) + 1,
        "pairs": len(found.pairs),
        "bytes": POSITION_BYTES * row.vertices + MOVE_BYTES * row.edges,
    }
    return found
