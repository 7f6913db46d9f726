"""Values of Markov decision processes and stochastic games, against all schedulers."""

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

from jaxgames import mdp
from jaxgames.mdp._model import owner_of
from jaxgames.mdp._stochastic_game import part, taken
from jaxgames.mdp.host import _sequence
from jaxgames.testing import _fronts, _games
from jaxgames.testing._labelled import Labelled, labelled, smaller
from jaxgames.testing._mdp import _draw, _show, in_order, model_of
from jaxgames.testing._subject import Check, Complaint, Subject, each, first

SIZE = 4
"""States of a model at most."""

QUESTIONS: dict[str, dict[str, Any]] = {
    'P{}=? [ "way" U "goal" ]': {"kind": "reach", "states": True},
    'P{}=? [ G F "goal" ]': {"kind": "buchi"},
    'R{}=? [ F "goal" ]': {"kind": "until", "reward": True},
    "R{}=? [ C ]": {"kind": "total", "reward": True},
    "R{}=? [ LRA ]": {"kind": "average", "reward": True},
    "R{}=? [ Cdiscount=3/4 ]": {
        "kind": "total",
        "reward": True,
        "discount": Fraction(3, 4),
    },
    'P{}=? [ "way" U[1,3] "goal" ]': {
        "kind": "reach",
        "states": True,
        "steps": 3,
        "first": 1,
    },
    "R{}=? [ C<=3 ]": {"kind": "total", "reward": True, "steps": 3},
}
"""Properties, and what they are to the reference."""


def _draw_paid(rng: np.random.Generator, index: int, size: int) -> Labelled:
    """A model whose choices earn something, and whose states have owners."""
    case = _draw(rng, index, size)
    pay = rng.integers(0, 3, len(case.src)) * (rng.random(len(case.src)) < 0.6)
    vertex = {**case.vertex, "owner": rng.integers(0, 2, case.size)}
    vertex["priority"] = rng.integers(0, rng.integers(1, 6), case.size)
    return labelled(
        case.src, case.dst, case.size, vertex, {**case.edge, "pay": pay.astype(int)}
    )


def _paid(case: Labelled) -> mdp.MDP:
    """The model, with labels, and with rewards of choices."""
    model = model_of(case)
    order, rows, _ = in_order(case)
    pay = case.edge["pay"][order][rows[:-1]].astype(float)
    labels = {"goal": case.vertex["target"] > 0, "way": case.vertex["there"] > 0}
    return dataclasses.replace(model, labels=labels, choice_rewards={"": pay})


def _expected(model: mdp.MDP, how: dict[str, Any], optimum: Any) -> list:
    labels = model.labels or {}
    given: dict[str, Any] = {**how, "target": labels["goal"]}
    if given.pop("states", False):
        given["states"] = labels["way"]
    if given.pop("reward", False):
        given["reward"] = (model.choice_rewards or {})[""]
    return mdp.reference.values(model, given.pop("kind"), optimum, **given)


def _off(text: str, found: Any, expected: list) -> Complaint:
    """What is wrong with bounds."""
    for s, value in enumerate(expected):
        low, high = float(found.lower[s]), float(found.upper[s])
        endless = value == float("inf")
        holds = low == high == value if endless else low <= value <= high
        if not holds:
            return f"{text}: {low} to {high} at state {s}, where it is {float(value)}"
        if not endless and high - low > 1e-6 * abs(value):
            return f"{text}: {low} to {high} at state {s} are too far apart"
    return None


def of_solver(solver: str) -> Check:
    """All properties by one solver."""
    return each(lambda case: _asked(case, solver))


def _asked(case: Labelled, solver: str) -> Iterator[Complaint]:
    model = _paid(case)
    for text, how in QUESTIONS.items():
        for optimum in ("min", "max"):
            asked = text.format(optimum)
            found = mdp.check(model, asked, solver)
            yield _off(asked, found, _expected(model, how, optimum))


def _in_sequence(case: Labelled) -> Iterator[Complaint]:
    """All properties by sweeps in one order of all states, as of large models."""
    with mock.patch.multiple(_sequence, SEQUENCE_FROM=0, KNOTTED_UP_TO=1.0):
        yield from _asked(case, "host")


def _verified(case: Labelled) -> Iterator[Complaint]:
    """Right bounds are accepted, and wrong ones are not."""
    model = _paid(case)
    rng = np.random.default_rng([case.size, len(case.src)])
    for text, how in QUESTIONS.items():
        for optimum in ("min", "max"):
            asked = text.format(optimum)
            found = mdp.check(model, asked)
            expected = _expected(model, how, optimum)
            for spoils in range(3):
                lower, upper = found.lower.copy(), found.upper.copy()
                if spoils:
                    bound = lower if spoils == 1 else upper
                    state = rng.integers(case.size)
                    bound[state] += 0.25 if spoils == 1 else -0.25
                    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
                claim = dataclasses.replace(found, lower=lower, upper=upper)
                right = all(
                    a <= x <= b for a, x, b in zip(lower, expected, upper, strict=True)
                )
                verdict = mdp.verify_values(model, asked, claim)
                if verdict and not right:
                    yield f"{asked}: wrong bounds {lower} to {upper} are accepted"
                if right and not spoils and not verdict:
                    yield f"{asked}: right bounds are rejected: {verdict}"


def _game(case: Labelled) -> Iterator[Complaint]:
    """A stochastic game, by all pairs of strategies; and its verification."""
    model = _paid(case)
    labels, owner = model.labels or {}, case.vertex["owner"]
    target, passed = labels["goal"], labels["way"]
    game = mdp.Game(model, owner.astype(np.int8))
    expected = mdp.reference.game_values(game, target, states=passed)
    found = mdp.solve_game(game, target, states=passed)
    yield _off("solve_game", found, expected)
    yield _games.rejected(mdp.verify_game(game, target, found, states=passed))


STEPPED: dict[str, dict[str, Any]] = {
    'P{}=? [ "way" U[1,3] "goal" ]': {"kind": "reach", "steps": 3, "first": 1},
    "R{}=? [ C<=3 ]": {"kind": "total", "steps": 3},
    "R{}=? [ C<=2 discount=3/4 ]": {
        "kind": "total",
        "steps": 2,
        "discount": Fraction(3, 4),
    },
}
"""Properties of a number of steps of a game, and what they are to the reference."""


def _played(case: Labelled) -> Iterator[Complaint]:
    """What a coalition secures in some steps, and with a formula; and verification."""
    model, priority = _paid(case), case.vertex["priority"] % 2
    labels, owner = dict(model.labels or {}), case.vertex["owner"].astype(np.int8)
    labels["even"] = priority == 0
    game = mdp.Game(dataclasses.replace(model, labels=labels), owner)
    for text, how in STEPPED.items():
        given = dict(how)
        if given["kind"] == "reach":
            given |= {"target": labels["goal"], "states": labels["way"]}
        else:
            given["reward"] = (model.choice_rewards or {})[""]
        for player in (0, 1):
            # Who wants the least leaves the most to the other one.
            asked = f"<<{player}>>" + text.format("max" if player else "min")
            expected = mdp.reference.game_steps(game, maximizer=1, **given)
            found = mdp.check(game, asked)
            yield _off(asked, found, expected)
            verdict = mdp.verify_values(game, asked, found)
            if not verdict:
                yield f"{asked}: right bounds are rejected: {verdict}"
            found.lower[0] = found.upper[0] = float(expected[0]) + 1e-3
            if mdp.verify_values(game, asked, found):
                yield f"{asked}: wrong bounds are accepted"
    asked = '<<0>>Pmax=? [ F G "even" ]'
    expected = mdp.reference.parity_game_values(game, priority)
    yield _off(asked, mdp.check(game, asked), expected)


def _spoilt_game(case: Labelled) -> Iterator[Complaint]:
    """What is accepted of a game is right: its bounds are what strategies secure."""
    model = _paid(case)
    labels, owner = model.labels or {}, case.vertex["owner"]
    target, passed = labels["goal"], labels["way"]
    game = mdp.Game(model, owner.astype(np.int8))
    right = mdp.solve_game(game, target, states=passed)
    groups = np.asarray(model.row_group_offsets)
    asked: Any = {"target": target, "states": passed}
    rng = np.random.default_rng([case.size, len(case.src)])
    for kind in range(4):
        lower, upper = _spoilt_bounds(kind, right, rng)
        strategy = right.strategy.copy()
        if kind > 1:
            moves = strategy >= 0
            moves &= rng.random(case.size) < 0.7
            strategy[moves] = rng.integers(groups[:-1][moves], groups[1:][moves])
        if kind == 3:  # what these two come to, as if none could do better
            here = np.where(strategy >= 0, strategy, groups[:-1])
            chain, _ = part(model, taken(here, owner >= 0, owner_of(model)))
            exact = mdp.reference.values(chain, "reach", **asked)
            lower, upper = (
                np.clip([float(x) + e for x in exact], 0, 1) for e in (-1e-9, 1e-9)
            )
        claim = dataclasses.replace(right, lower=lower, upper=upper, strategy=strategy)
        if not mdp.verify_game(game, target, claim, states=passed):
            continue
        for player, bound in enumerate((lower, upper)):
            small, _ = part(model, taken(strategy, owner == player, owner_of(model)))
            optimum = "max" if player else "min"
            secured = mdp.reference.values(small, "reach", optimum, **asked)
            yield _unsecured(player, bound, secured, strategy)


def _spoilt_bounds(kind: int, right: Any, rng: np.random.Generator) -> tuple:
    """Bounds, of which the lower, or the upper one, of some state is moved."""
    lower, upper = right.lower.copy(), right.upper.copy()
    state, step = int(rng.integers(len(lower))), float(rng.choice([1e-3, 0.25, 1.0]))
    if kind == 0:
        lower[state] += step
        upper[state] = max(upper[state], lower[state])
    elif kind == 1:
        upper[state] -= step
        lower[state] = min(upper[state], lower[state])
    return lower, upper


def _unsecured(player: int, bound, secured, strategy: np.ndarray) -> Complaint:
    """Where a bound that was accepted is not what the player's strategy secures."""
    for s, (x, value) in enumerate(zip(bound, secured, strict=True)):
        if (x > value) if player == 0 else (x < value):
            return (
                f"bound {x} of player {player} at {s} is accepted, but "
                f"{strategy.tolist()} secures {value}"
            )
    return None


def _parity_game(case: Labelled) -> Iterator[Complaint]:
    """A stochastic parity game, by all pairs of strategies; and its verification."""
    owner, priority = case.vertex["owner"], case.vertex["priority"]
    game = mdp.Game(_paid(case), owner.astype(np.int8))
    expected = mdp.reference.parity_game_values(game, priority)
    found = mdp.solve_parity_game(game, priority)
    yield _off("solve_parity_game", found, expected)
    yield _games.rejected(mdp.verify_parity_game(game, priority, found))


def _spoilt_parity_game(case: Labelled) -> Iterator[Complaint]:
    """What is accepted of a parity game is right: strategies secure its bounds."""
    owner, priority = case.vertex["owner"], case.vertex["priority"]
    model = _paid(case)
    game = mdp.Game(model, owner.astype(np.int8))
    right = mdp.solve_parity_game(game, priority)
    groups = np.asarray(model.row_group_offsets)
    rng = np.random.default_rng([case.size, len(case.src)])
    for kind in range(3):
        lower, upper = _spoilt_bounds(kind, right, rng)
        strategy = right.strategy.copy()
        if kind > 1:
            moves = rng.random(case.size) < 0.7
            strategy[moves] = rng.integers(groups[:-1][moves], groups[1:][moves])
        claim = dataclasses.replace(right, lower=lower, upper=upper, strategy=strategy)
        if not mdp.verify_parity_game(game, priority, claim):
            continue
        for player, bound in ((0, lower), (1, upper)):
            small, _ = part(model, taken(strategy, owner == player, owner_of(model)))
            left = mdp.Game(small, game.player)
            secured = mdp.reference.parity_game_values(left, priority)
            yield _unsecured(player, bound, secured, strategy)


def subject() -> Subject:
    """What properties come to, and values of stochastic games."""
    return Subject(
        name="values",
        draw=lambda rng, index, size: _draw_paid(rng, index, min(size, SIZE)),
        checks={
            "host": of_solver("host"),
            "host.sequence": each(_in_sequence),
            "values": first(of_solver("values"), 2),
            "verify": each(_verified),
            "game": each(_game),
            "played": each(_played),
            "spoilt": each(_spoilt_game),
            "parity": each(_parity_game),
            "spoilt-parity": each(_spoilt_parity_game),
            "front": each(lambda case: _fronts.checked(case, _paid(case))),
        },
        smaller=smaller,
        show=lambda case: _show(case, f"# rewards {case.edge['pay'].tolist()}"),
        size=SIZE,
        batch=8,
    )
