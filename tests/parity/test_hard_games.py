"""Games made to be hard: whole calls, with the winners that other solvers found."""

import json
from pathlib import Path

import numpy as np
import pytest

from jaxgames import Arena, generate, parity
from jaxgames.io import pgsolver
from jaxgames.parity import reference

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
