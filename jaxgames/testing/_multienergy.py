"""Games of several energies: solvers, batches and verification."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxgames import multienergy, solve_many
from jaxgames.multienergy import Fronts, Game, reference
from jaxgames.testing import _games
from jaxgames.testing._labelled import Labelled, labelled, smaller
from jaxgames.testing._subject import (
    Cases,
    Check,
    Complaint,
    Subject,
    apart,
    each,
    first,
)

BATCH, SIZE = 16, 9

CAP = 3
"""Of all energies, where there is one; then energies are gained too."""

DIMENSIONS = 3

LEAST = 10
"""Entries of updates from here on are minima, of the energies whose bits are set."""


# ---- games -----------------------------------------------------------------------


def _capped(case: Labelled) -> bool:
    return bool(case.vertex["capped"].any())


def _entry(x: int, energy: int, capped: bool) -> Any:
    if x >= LEAST:
        others = [j for j in range(DIMENSIONS) if (x - LEAST) >> j & 1 and j != energy]
        return ("min", *others) if others else 0
    return min(x, CAP if capped else 0)


def arguments(case: Labelled) -> dict[str, Any]:
    """The arguments of `Game.from_arrays`, as lists."""
    capped, table = _capped(case), {}
    rows = [
        tuple(_entry(x, i, capped) for i, x in enumerate(row))
        for row in case.edge["update"].tolist()
    ]
    numbers = [table.setdefault(row, len(table)) for row in rows]
    updates = [list(row) for row in table] or [[0] * DIMENSIONS]
    return {
        "offsets": np.searchsorted(case.src, np.arange(case.size + 1)).tolist(),
        "targets": case.dst.tolist(),
        "update_id": numbers,
        "updates": updates,
        "defender": (case.vertex["defender"] > 0).tolist(),
        "cap": CAP if capped else None,
    }


def game_of(case: Labelled) -> Game:
    """The game whose updates are the labels of edges."""
    return Game.from_arrays(**arguments(case))


def _draw(rng: np.random.Generator, index: int, size: int) -> Labelled:
    """Moves, updates and owners by lot; self-loops and repeats occur."""
    size = int(rng.integers(1, size + 1))
    src = np.repeat(np.arange(size), rng.integers(0, 4, size))
    capped = index % 2 == 0
    update = -rng.integers(0, 3, (len(src), DIMENSIONS))
    gains = capped & (rng.random(update.shape) < 0.15)
    update = np.where(gains, rng.integers(1, 3, update.shape), update)
    minima = rng.random(update.shape) < 0.2
    update = np.where(minima, LEAST + rng.integers(1, 8, update.shape), update)
    vertex = {
        "defender": rng.random(size) < 0.5,
        "capped": np.full(size, capped),
    }
    dst = rng.integers(0, size, len(src))
    return labelled(src, dst, size, vertex, {"update": update}, total=False)


# ---- answers ---------------------------------------------------------------------


def _games_of(cases: Cases) -> list[Game]:
    return [game_of(case) for case in cases]


def _expected(cases: Cases) -> list[list[set]]:
    return [reference.solve(game) for game in cases.once(_games_of)]


def _wrong(game: Game, found: Fronts, expected: list[set]) -> Complaint:
    for v, budgets in enumerate(expected):
        got = [tuple(each) for each in found.budgets(v).tolist()]
        if got != sorted(budgets):
            return f"budgets {got} at {v}, where they must be {sorted(budgets)}"
    return _games.rejected(multienergy.verify(game, found))


_of = functools.partial(
    _games.compared, wrong=_wrong, expected=_expected, games=_games_of
)

of_place = _games.one_by_one(multienergy, _of)


def of_many(solver: str, capped: bool) -> Check:
    """`solve_many`, side by side: games with caps, or with and without."""

    def check(cases: Cases) -> list[Complaint]:
        chosen = [at for at, case in enumerate(cases) if _capped(case) or not capped]
        games = [cases.once(_games_of)[at] for at in chosen]
        said: list[Complaint] = [None] * len(cases)
        for at, found in zip(
            chosen, solve_many(multienergy, games, solver), strict=True
        ):
            game, expected = cases.once(_games_of)[at], cases.once(_expected)[at]
            said[at] = _games.unsolved(found) or _wrong(game, found, expected)
        return said

    return apart(check)


def _spoilt(case: Labelled) -> Iterator[Complaint]:
    """Budgets that are left out, more, dearer or cheaper."""
    game = game_of(case)
    fronts = [sorted(budgets) for budgets in reference.solve(game)]
    rng = np.random.default_rng([case.size, len(case.src)])
    for _ in range(4):
        claim = [list(front) for front in fronts]
        v = int(rng.integers(case.size))
        at = int(rng.integers(len(claim[v]))) if claim[v] else 0
        match rng.integers(4):
            case 0 if claim[v]:
                del claim[v][at]
            case 1:
                claim[v].append(tuple(rng.integers(0, CAP + 1, DIMENSIONS).tolist()))
            case _ if claim[v]:
                budget = list(claim[v][at])
                i = int(rng.integers(DIMENSIONS))
                budget[i] = max(0, budget[i] + int(rng.choice([-1, 1])))
                if not _capped(case) or budget[i] <= CAP:
                    claim[v][at] = tuple(budget)
        claim[v].sort()
        offsets = np.cumsum([0, *map(len, claim)])
        points = np.array([x for row in claim for x in row], np.int32)
        verdict = multienergy.verify(game, (offsets, points.reshape(-1, DIMENSIONS)))
        yield _games.judged(
            claim == fronts, {"playing": bool(verdict)}, f"budgets {claim}"
        )


def _show(case: Labelled) -> str:
    parts = (f"{name}={value}" for name, value in arguments(case).items())
    return (
        f"game = multienergy.Game.from_arrays({', '.join(parts)})\n"
        "multienergy.solve(game)"
    )


def subject() -> Subject:
    """Games of three energies, with and without caps."""
    return Subject(
        name="multienergy",
        draw=_draw,
        checks={
            "host": of_place("host"),
            "auto": of_place("auto"),
            "verify": each(_spoilt),
            "many": of_many("auto", capped=False),
            "fronts": of_many("fronts", capped=False),
            "bitmap": of_many("bitmap", capped=True),
            "fronts.alone": first(of_place("fronts"), 4),
        },
        smaller=smaller,
        show=_show,
        size=SIZE,
        batch=BATCH,
    )
