"""Both checks of a solution, on right ones and on spoilt ones."""

import dataclasses

import jax
import numpy as np
import pytest
from energy_games import odd_games, stacked

from jaxgames import Arena, Status, energy
from jaxgames.energy import Reason, _verify, reference

SIZE = (16, 64)


def spoilt(arena, solution, rng):
    """The solution with another credit, move or region."""
    credit, winner, strategy = (
        x.copy() for x in (solution.credit, solution.winner, solution.strategy)
    )
    v = rng.integers(len(credit))
    edge = rng.integers(arena.row_ptr[:-1], arena.row_ptr[1:])
    match rng.integers(5):
        case 0:
            credit[v] += rng.integers(-2, 3)
        case 1:
            strategy[v] = rng.integers(-1, len(arena.dst))
        case 2:
            strategy = np.where(strategy >= 0, edge, strategy)
        case 3:
            credit = np.where(rng.random(len(credit)) < 0.5, energy.TOP, credit)
            winner = (credit == energy.TOP).astype(np.int8)
            strategy = np.where(winner == arena.owner, edge, -1)
        case 4:
            winner[v] ^= 1
    return dataclasses.replace(
        solution, credit=credit, winner=winner, strategy=strategy.astype(np.int32)
    )


def batch_of(solutions):
    def stack(part, fill):
        rows = [getattr(x, part) for x in solutions]
        rows = [np.pad(x, (0, SIZE[0] - len(x)), constant_values=fill) for x in rows]
        return np.stack(rows)

    return energy.Solution(
        np.full(len(solutions), Status.SOLVED),
        credit=stack("credit", 0),
        winner=stack("winner", 0),
        strategy=stack("strategy", -1),
    )


def test_spoilt_solutions():
    """The checks of host and device agree, and each reason is met."""
    rng = np.random.default_rng(1)
    games = list(odd_games(300, seed=21))
    right = [reference.solve(game) for game in games]
    claims = [spoilt(*pair, rng) for pair in zip(games, right, strict=True)]
    check = jax.jit(jax.vmap(energy.verify))
    verdicts = jax.device_get(check(stacked(games, *SIZE), batch_of(claims)))
    seen = set()
    for index, (game, claim) in enumerate(zip(games, claims, strict=True)):
        on_host = energy.verify(game, claim, "host")
        assert bool(on_host) == bool(verdicts.valid[index]), str(on_host)
        if not on_host:
            assert 0 <= verdicts.vertex[index] < len(game.owner)
        seen |= {int(on_host.reason), int(verdicts.reason[index])}
        changed = any(
            np.any(getattr(claim, part) != getattr(right[index], part))
            for part in ("credit", "winner")
        )
        assert not (changed and on_host)
    assert seen == set(map(int, Reason)), "a reason was never met"


@pytest.mark.parametrize("method", ["host", "device"])
def test_a_cycle_that_loses_nothing(method):
    """Player 1 may not stay on a cycle of weight zero."""
    arena = Arena.from_edges([0, 0, 1], [1, 0, 0], owner=[1, 0], weight=[-1, -1, 1])
    right = reference.solve(arena)
    assert energy.verify(arena, right, method)
    wrong = dataclasses.replace(right, strategy=np.array([0, -1], np.int32))
    verdict = energy.verify(arena, wrong, method)
    assert verdict.reason == Reason.CYCLE_WON_BY_OPPONENT


@pytest.mark.parametrize("method", ["host", "device"])
def test_credits_round_a_zero_cycle(method):
    """They satisfy their equations, but less would do."""
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 0], weight=[2, -2])
    right = reference.solve(arena)
    wrong = dataclasses.replace(right, credit=right.credit + 1)
    assert energy.verify(arena, right, method)
    verdict = energy.verify(arena, wrong, method)
    assert verdict.reason == Reason.CREDIT_TOO_LARGE


@pytest.mark.parametrize("rounds", [1, 100])
def test_an_accelerator_is_the_first_to_look_at_a_large_game(rounds, monkeypatch):
    asked, on_host = [], _verify.checked_on_host

    def noted(*args):
        asked.append(args)
        return on_host(*args)

    monkeypatch.setattr(_verify, "CHECKED_THERE_FROM", 0)
    monkeypatch.setattr(_verify, "ROUNDS_THERE", rounds)
    monkeypatch.setattr(_verify, "checked_on_host", noted)
    monkeypatch.setattr(_verify.ops, "accelerated", lambda: True)
    arena = Arena.from_edges(
        [0, 1, 2, 3], [1, 2, 3, 3], owner=[0] * 4, weight=[-1, -1, -1, 0]
    )
    right = reference.solve(arena)
    assert right.credit.tolist() == [3, 2, 1, 0]
    assert energy.verify(arena, right)
    wrong = dataclasses.replace(right, credit=right.credit + [1, 0, 0, 0])
    verdict = energy.verify(arena, wrong)
    assert (verdict.reason, verdict.vertex) == (Reason.CREDIT_TOO_LARGE, 0)
    assert len(asked) == (2 if rounds == 1 else 0)
    monkeypatch.setattr(_verify.memory, "free", lambda devices=None: 100)
    assert energy.verify(arena, right)
    assert len(asked) == (3 if rounds == 1 else 1)  # there is no room


def test_wide_numbers():
    arena = Arena.from_edges(
        [0, 1, 1], [1, 0, 1], owner=[0, 1], weight=[2**40, -(2**40) - 1, 3]
    )
    solution = reference.solve(arena)
    for method in ("host", "device"):
        assert energy.verify(arena, solution, method)
    small = np.where(solution.credit > 0, solution.credit - 1, solution.credit)
    if np.any(small != solution.credit):
        wrong = dataclasses.replace(solution, credit=small)
        assert not energy.verify(arena, wrong, "device")


def test_what_cannot_be_verified():
    arena = Arena.from_edges([0], [0], owner=[0], weight=[1])
    solution = reference.solve(arena)
    with pytest.raises(ValueError, match="method must be one of"):
        energy.verify(arena, solution, "cycles")  # pyright: ignore
    with pytest.raises(ValueError, match="solution.strategy is None"):
        energy.verify(arena, dataclasses.replace(solution, strategy=None))
    with pytest.raises(ValueError, match="solution.credit must have the arena's shape"):
        energy.verify(arena, dataclasses.replace(solution, credit=np.zeros(2, int)))
    with pytest.raises(ValueError, match="must hold integers"):
        energy.verify(arena, dataclasses.replace(solution, credit=np.zeros(1)))
    with pytest.raises(ValueError, match="runs on the host"):
        jax.jit(lambda a: energy.verify(a, solution, "host"))(arena)
