"""The thesis suite: the experiments of a thesis on small progress measures.

P.J.A. Bootsma, *Speeding up the small progress measures algorithm for parity games
using the GPU*, master's thesis, TU Eindhoven, chapter 8. `EXPERIMENTS` names what each
part is for; `thesis_page.py` sets the results beside what the thesis says.
"""

import time
from collections.abc import Callable
from typing import NamedTuple, get_args

import numpy as np

from benchmarks import games
from benchmarks.entrants import Engine, Entrant, OnDevice, Sequential
from benchmarks.run import Options, facts, row_of
from benchmarks.schema import Results, Row
from jaxgames import Arena, Status, generate, parity
from jaxgames.parity import preprocess, reference
from jaxgames.parity.preprocess import REDUCTIONS

PERIODS = tuple(2**k for k in range(10))
"""Rounds between two queues."""

TRACE = 1000
"""Steps of a solve whose queue is watched."""


class Variant(NamedTuple):
    """One column of a figure: a solver, and reductions that go before it."""

    entrant: Callable[[], Entrant]
    reductions: tuple[str, ...] = ()


class Experiment(NamedTuple):
    """What is measured, on which games (None: all)."""

    variants: dict[str, Variant]
    games: tuple[str, ...] | None = None


def _sequential() -> dict[str, Variant]:
    """The strategies of one core."""
    return {
        name + (", alternating" if alternating else ""): Variant(
            lambda name=name, alternating=alternating: Sequential(
                name, alternating=alternating
            )
        )
        for alternating in (False, True)
        for name in get_args(reference.Lifting)
    }


def _explicit(every: int) -> Variant:
    return Variant(lambda: OnDevice(parity.SPM(queue="explicit", every=every)))


RACE = Variant(lambda: Engine("race"))
ALTERNATING = Variant(lambda: OnDevice(parity.Alternating()))
SEQUENTIAL = Variant(lambda: Sequential("queue", alternating=True))


def _reduced(**variants: Variant) -> dict[str, Variant]:
    """Shortcuts of some levels, and what goes beyond them."""
    chosen: dict[str, tuple[str, ...]] = {
        "no shortcuts": (),
        "1 level": ("shortcuts",),
        "2 levels": ("shortcuts", "shortcuts"),
        "chains": ("chains",),
        "contract": ("contract",),
    }
    return {
        f"{name}, {how}": Variant(variant.entrant, reductions)
        for name, variant in variants.items()
        for how, reductions in chosen.items()
    }


def _ordered(variants: dict[str, Variant]) -> dict[str, Variant]:
    """The orders of the vertices."""
    orders = [name for name in REDUCTIONS if name.startswith("order-")]
    return {
        f"{name}, {order}": Variant(variant.entrant, reductions)
        for name, variant in variants.items()
        for order, reductions in {"original": (), **{o: (o,) for o in orders}}.items()
    }


EXPERIMENTS: dict[str, Experiment] = {
    "cpu": Experiment(_sequential()),
    "period": Experiment(
        {f"every {every}": _explicit(every) for every in PERIODS},
        ("hanoi12", "ctlsbc8"),
    ),
    "queue": Experiment(
        {
            "spm": Variant(lambda: OnDevice(parity.SPM())),
            "spm implicit": Variant(lambda: OnDevice(parity.SPM(queue="implicit"))),
            "spm explicit": _explicit(32),
            "lock step": Variant(lambda: OnDevice(parity.Alternating(exchange=False))),
            "alternating": ALTERNATING,
        }
    ),
    "lengths": Experiment({"spm explicit": _explicit(32)}, ("nester5", "elev7f")),
    "race": Experiment(
        {
            "host": Variant(lambda: Engine("host")),
            "promotion": Variant(lambda: OnDevice("promotion")),
            "race": RACE,
        }
    ),
    "shortcuts": Experiment(_reduced(alternating=ALTERNATING, race=RACE)),
    "orders": Experiment(_ordered({"race": RACE, "queue, alternating": SEQUENTIAL})),
}
"""By name: `cpu` for Figures 8.3 to 8.5, `period` for 8.6, `queue` for 8.7, `lengths`
for 8.8, `race` for 8.9 and 8.10, `shortcuts` for 8.12 and 8.13, `orders` for 8.14. The
others, 8.11 (lifts), 8.15 (tools) and 8.16 (scalability), come from the same rows.
"""


def run(options: Options, results: Results) -> None:
    """Adds a row for every experiment, game and variant."""
    wanted = [name for name in EXPERIMENTS if options.wants_experiment(name)]
    for game in options.games(games.thesis(options.data, small=options.small)):
        parts = [
            name
            for name in wanted
            if options.small or game.name in (EXPERIMENTS[name].games or [game.name])
        ]
        if not parts:
            continue
        arena = game.make()
        about = facts(game.name, arena)
        winner = None
        for name in parts:
            for row, found in _rows(name, about, arena, options):
                print(
                    f"{game.name}: {row.solver}: {row.status}, {row.solve_s} s",
                    flush=True,
                )
                results.put([row])
                if found is not None:
                    winner = found if winner is None else winner
                    if not np.array_equal(found, winner):
                        raise AssertionError(f"{game.name}: our solvers do not agree")
                options.keep(results)


def _rows(name: str, about: dict, arena: Arena, options: Options):
    """The rows of an experiment on a game, with their winners."""
    about = {**about, "experiment": name}
    variants = EXPERIMENTS[name].variants
    if options.small:  # the first and the last show that all run
        variants = {key: variants[key] for key in [[*variants][i] for i in (0, -1)]}
    for key, variant in variants.items():
        if not options.wants(key):
            continue
        if name == "lengths":
            yield _watched(about, key, arena, options), None
            continue
        preprocess.apply(generate.ladder(2), variant.reductions)  # warms up
        began = time.perf_counter()
        try:
            reduced = preprocess.apply(arena, variant.reductions)
        except ValueError as error:  # too many edges for int32
            print(f"{about['game']}: {key}: {error}", flush=True)
            yield Row(**about, solver=key, status="TOO_LARGE"), None
            continue
        reduce_s = time.perf_counter() - began if variant.reductions else None
        row, winner = row_of(about, key, variant.entrant(), arena, options, reduced)
        row.reduce_s = reduce_s
        yield row, winner


def _watched(about: dict, name: str, arena: Arena, options: Options) -> Row:
    """A solve step by step, with the length of the queue at each."""
    solver = parity.SPM(queue="explicit")
    solution = parity.solve(arena, solver, max_steps=1, throw=False)
    trace, late = [[0, int(solution.stats["queued"])]], False
    began = time.perf_counter()
    for step in range(2, TRACE + 1):
        solution = parity.solve(
            arena, solver, max_steps=step, state=solution.state, throw=False
        )
        trace.append([(step - 1) * solver.every, int(solution.stats["queued"])])
        late = time.perf_counter() - began > options.time_limit_s
        if late or solution.status != Status.MAX_STEPS:
            break
    return Row(
        **about,
        solver=name,
        rounds=len(trace) * solver.every,
        trace=trace,
        status="TIMEOUT" if late else Status(solution.status).name,
    )
