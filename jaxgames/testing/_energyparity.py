"""Energy parity games: solvers, mean payoffs, batches and verification."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxgames import energyparity, solve_many
from jaxgames.arena import Arena
from jaxgames.energyparity import Solution, reference
from jaxgames.later import jax
from jaxgames.solution import UNDECIDED, Status
from jaxgames.testing import _games
from jaxgames.testing._energy import show
from jaxgames.testing._labelled import Labelled, labelled, smaller
from jaxgames.testing._subject import (
    Cases,
    Complaint,
    Subject,
    apart,
    each,
    first,
)

BATCH, SIZE = 32, 6

ROUNDS = 1 << 14
"""Rounds of traced games."""

MOST_STATES = 400
"""Of what the modes of a game may remember, where they are played."""


def _expected(cases: Cases) -> list[Solution]:
    """By a parity game with the energy in its vertices."""
    return [reference.solve(arena) for arena in cases.once(_games.arenas)]


def _wrong(arena: Arena, answer: Solution, expected: Solution) -> Complaint:
    if different := _games.differs("winner", answer.winner, expected.winner):
        return different
    if np.any(answer.credit < expected.credit):
        v = int(np.argmax(answer.credit < expected.credit))
        return f"credit {answer.credit[v]} at {v}, less than {expected.credit[v]}"
    return _games.rejected(energyparity.verify(arena, answer))


_of = functools.partial(_games.compared, wrong=_wrong, expected=_expected)
of_place = _games.one_by_one(energyparity, _of)


@functools.cache
def _traced() -> Any:
    return jax.jit(jax.vmap(functools.partial(energyparity.solve, max_steps=ROUNDS)))


def _stacked(cases: Cases) -> list[Complaint]:
    """All at once, under `vmap`: the least credits; those of few rounds."""
    arenas = cases.once(_games.arenas)
    vertices, edges = np.max([arena.shape for arena in arenas], axis=0)
    room = 1 << int(vertices).bit_length()
    # Each vertex that is added takes an edge.
    links = 1 << int(edges + room).bit_length()
    padded = [arena.pad(room, links) for arena in arenas]
    more = padded[:1] * (BATCH - len(padded))
    stack = jax.tree.map(lambda *xs: np.stack(xs), *padded, *more)
    found = jax.tree.map(np.asarray, _traced()(stack))
    said: list[Complaint] = []
    for index, expected in enumerate(cases.once(_expected)):
        size, ended = len(expected.winner), int(found.status[index])
        winner, credit = found.winner[index, :size], found.credit[index, :size]
        wrong = None
        if ended == Status.MAX_STEPS:
            if np.any(winner != UNDECIDED):
                wrong = "it is decided, though it has not come to its end"
        elif ended != Status.SOLVED:
            wrong = f"status {Status(ended).name}"
        else:
            wrong = _games.differs("winner", winner, expected.winner)
            wrong = wrong or _games.differs("credit", credit, expected.credit)
        said.append(wrong)
    return said


def _played(case: Labelled) -> Iterator[Complaint]:
    """Both strategies are followed, whatever the rival does."""
    found = energyparity.solve(case.arena, "host")
    if max([0, *found.modes.level.tolist()]) > MOST_STATES:
        return
    if not reference.verify(case.arena, found):
        yield "its strategies lose when they are played"


def _decided(case: Labelled) -> Iterator[Complaint]:
    """A mean payoff of at least a threshold, against the energy parity game of it."""
    arena = case.arena
    for threshold in (0, (1, 2)):
        game = energyparity.from_mean_payoff_parity(arena, threshold)
        if np.abs(game.weight).max(initial=0) > 40:
            continue
        found = energyparity.decide(arena, threshold, "host")
        expected = reference.solve(game).winner
        yield _games.differs(f"winner at {threshold}", found.winner, expected)


def spoilt(arena: Arena, right: Solution, rng: np.random.Generator) -> Solution:
    """The solution with another winner, move, credit, or number in its modes."""
    winner, strategy, credit = (
        np.array(x) for x in (right.winner, right.strategy, right.credit)
    )
    v = int(rng.integers(len(winner)))
    modes = right.modes
    match rng.integers(5):
        case 0:
            winner[v] = 1 - winner[v]
        case 1:
            strategy[v] = _games.any_edges(arena, rng)[v]
        case 2:
            credit[v] += rng.choice([-1, 1])
        case _:
            names = [x.name for x in dataclasses.fields(modes)]
            name = names[int(rng.integers(len(names)))]
            array: Any = np.array(getattr(modes, name))
            if array.size:
                at = int(rng.integers(array.size))
                if array.dtype == bool:
                    array[at] = ~array[at]
                else:
                    array[at] += rng.choice([-1, 1, -2, 2])
            modes = dataclasses.replace(modes, **{name: array})
    return dataclasses.replace(
        right, winner=winner, strategy=strategy, credit=credit, modes=modes
    )


def _spoilt(case: Labelled) -> Iterator[Complaint]:
    """What is accepted is right; and what is right but for its modes is accepted."""
    arena = case.arena
    right = energyparity.solve(arena, "host")
    if max([0, *right.modes.level.tolist()]) > MOST_STATES:
        return
    rng = np.random.default_rng([case.size, len(case.src)])
    for _ in range(4):
        claim = spoilt(arena, right, rng)
        if energyparity.verify(arena, claim) and not reference.verify(arena, claim):
            text = f"{claim.winner.tolist()}, {claim.strategy.tolist()}"
            yield f"{text} with {vars(claim.modes)} is wrong, but accepted"


def _draw(rng: np.random.Generator, index: int, size: int) -> Labelled:
    arena = _games.weighted(rng, index, size).arena
    most = int(rng.integers(4))
    priority = rng.integers(0, int(rng.integers(1, 7)), arena.shape[0])
    labels = {"owner": arena.owner, "priority": priority}
    weight = {"weight": np.clip(arena.weight, -most, most)}
    return labelled(arena.src, arena.dst, arena.shape[0], labels, weight)


def subject() -> Subject:
    return Subject(
        name="energyparity",
        draw=_draw,
        checks={
            "host": of_place("host"),
            "auto": of_place("auto"),
            "play": each(_played),
            "decide": each(_decided),
            "verify": each(_spoilt),
            "many": _of(functools.partial(solve_many, energyparity)),
            "traced": apart(_stacked),
            "fvi": first(of_place("fvi"), 1),
        },
        smaller=smaller,
        show=functools.partial(show, "energyparity"),
        size=SIZE,
        batch=BATCH,
    )
