"""Games made to be hard: whole calls, with the winners that other solvers found."""

import json
from pathlib import Path

import numpy as np
import pytest

from jaxgames import Arena, generate, host, parity
from jaxgames.io import pgsolver
from jaxgames.parity import host as engine
from jaxgames.parity import reference
from jaxgames.solution import Status

FILES = Path(__file__).parents[3] / "shared/data/public/hard-parity"


def games() -> dict:
    if not FILES.is_dir():
        return {}
    return json.loads((FILES / "parity.json").read_text())


@pytest.mark.skipif(not FILES.is_dir(), reason="the games of others are not there")
@pytest.mark.parametrize("name", games())
def test_winners_are_those_of_others(name):
    game = games()[name]
    arena = pgsolver.load(FILES / game["file"])
    assert arena.shape == (game["vertices"], game["edges"])
    solution = parity.solve(arena, "host")
    assert "".join(map(str, solution.winner)) == game["winner"]
    assert parity.verify(arena, solution, "components")


def tied(rng, parts: list[Arena], more: int) -> tuple[Arena, np.ndarray]:
    """Games as one, linked from vertices that their owners win; and the winners.

    Who wins somewhere need not take a new edge, and who loses has none.
    """
    first = np.cumsum([0, *(len(part.owner) for part in parts)])
    winner = np.concatenate([reference.solve(part).winner for part in parts])
    owner, priority = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("owner", "priority")
    )
    src, dst = (
        np.concatenate(
            [getattr(part, name) + v for part, v in zip(parts, first, strict=False)]
        )
        for name in ("src", "dst")
    )
    ties = rng.choice(np.flatnonzero(owner == winner), more)
    ends = rng.integers(0, len(owner), more)
    whole = Arena.from_edges(
        np.append(src, ties), np.append(dst, ends), owner=owner, priority=priority
    )
    return whole, winner


def other_roles(arena: Arena) -> Arena:
    """The game in which the players have changed their roles."""
    return Arena.from_edges(
        arena.src, arena.dst, owner=~arena.owner, priority=arena.priority + 1
    )


@pytest.mark.parametrize("seed", range(4))
def test_tied_games(seed):
    rng = np.random.default_rng([50, seed])
    parts = [
        generate.counter_rr(8),
        generate.two_counters(4),
        generate.counter_ortl(6),
        generate.two_counters_plus(3),
        generate.friedmann(3),
    ]
    parts += [other_roles(part) for part in parts]
    rng.shuffle(parts)
    whole, winner = tied(rng, parts, more=60)
    for solver in ("host", "host-tangles"):
        solution = parity.solve(whole, solver)
        np.testing.assert_array_equal(solution.winner, winner)
        assert parity.verify(whole, solution, "components")


def linked(rng, parts: list[Arena], more: int) -> Arena:
    """Games as one, with some edges by lot."""
    first = np.cumsum([0, *(len(part.owner) for part in parts)])
    links = rng.integers(0, first[-1], (2, more))
    src, dst = (
        np.concatenate(
            [getattr(part, name) + v for part, v in zip(parts, first, strict=False)]
            + [ends]
        )
        for name, ends in zip(("src", "dst"), links, strict=True)
    )
    owner, priority = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("owner", "priority")
    )
    return Arena.from_edges(src, dst, owner=owner, priority=priority)


COMPILED = pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")


@COMPILED
@pytest.mark.parametrize("seed", [2, 3])
def test_a_counter_against_promotion_with_one_against_tangles(seed):
    """Neither engine alone is good for both parts, and no edge parts them.

    Promotion that attracts tangles decides there, in a quarter of the steps or less.
    """
    parts = [generate.counter_m(832), generate.two_counters_plus(13)]
    arena = linked(np.random.default_rng([7, seed]), parts, more=6)
    prepared = engine.prepare(arena)
    others = [leg for leg in engine.LEGS if leg != "mixed"]
    without = engine.run(prepared, others, max_steps=300_000_000)
    solution = parity.solve(arena, "host")
    assert solution.stats["engine"] == "mixed"
    assert 4 * solution.stats["steps"] < without.stats["steps"]
    assert parity.verify(arena, solution, "components")


@COMPILED
def test_promotion_with_tangles_is_quadratic_on_both_kinds():
    """Steps at most V (V + E), where those of one of the two are exponential."""
    games = ["dp", "rr", "m", "core", "ortl"]
    arenas = [getattr(generate, f"counter_{name}")(300) for name in games]
    for arena in (*arenas, generate.two_counters_plus(12)):
        size, edges = arena.shape
        most = size * (size + edges)
        assert engine.run(engine.prepare(arena), ("mixed",), max_steps=most).finished


@COMPILED
def test_a_dense_part_is_no_reason_to_search_the_rest_for_longer():
    """Work is for each edge, but tangle learning reads those of a clique once."""
    parts = [generate.two_counters_plus(13), generate.clique(2000)]
    arena = linked(np.random.default_rng(5), parts, more=6)
    outcome = engine.run(engine.prepare(arena))
    assert outcome.stats["engine"] == "afresh"
    assert outcome.stats["steps"] < 130_000_000
    claim = parity.Solution(
        Status.SOLVED, winner=outcome.winner, strategy=outcome.strategy
    )
    assert parity.verify(arena, claim, "components")


def reversed_edges(arena: Arena) -> Arena:
    """The game in which all edges lead back; what nothing led to gets a loop."""
    size = arena.shape[0]
    dead = np.setdiff1d(np.arange(size), arena.dst)
    return Arena.from_edges(
        np.append(arena.dst, dead),
        np.append(arena.src, dead),
        owner=arena.owner,
        priority=arena.priority,
    )


@COMPILED
@pytest.mark.parametrize("n", [121, 235])
def test_a_dense_game_that_promotion_wins_at_once_is_left_to_it(n):
    """It was given up too soon, for thousands of times as many steps of others."""
    arena = reversed_edges(generate.fearnley(n, gadgets=False))
    assert arena.shape[1] > 30 * arena.shape[0]
    solution = parity.solve(arena, "host")
    assert solution.stats["engine"] == "promotion"
    assert solution.stats["steps"] < 2 * arena.shape[0]
    assert parity.verify(arena, solution, "components")


@COMPILED
@pytest.mark.parametrize("width", [826, 998])
def test_a_long_line_is_won_by_promotion_with_more_turns(width):
    """Neither a short first turn nor much tangle learning is enough for it."""
    arena = generate.jurdzinski(1, width)
    solution = parity.solve(arena, "host")
    assert solution.stats["steps"] < 2_500_000
    assert parity.verify(arena, solution, "components")


@COMPILED
def test_a_dense_game_is_won_by_the_recursion():
    """No other wins it soon: there are hundreds of levels, but none is solved again."""
    size, degree = 3000, 60
    v = np.arange(size)
    far = 17 * v[:, None] + 1995 * np.arange(degree)
    arena = Arena.from_edges(
        np.append(v, np.repeat(v, degree)),
        np.append(v + 1, far) % size,
        owner=v % 2 == 1,
        priority=size - 1 - v,
    )
    solution = parity.solve(arena, "host")
    assert parity.verify(arena, solution, "components")
    assert solution.stats["engine"] == "zielonka"
    assert solution.stats["steps"] < 4 * arena.shape[1]
