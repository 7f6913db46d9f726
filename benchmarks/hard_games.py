"""Games of the suite `hard`: families that defeat solvers, and more than parity."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxgames import Arena, emersonlei, generate

FAMILIES, ENERGY, STREETT = "families", "energy parity", "streett"
"""The groups."""

RARE = 0.05
"""Vertices of energy parity games whose priority is not 0."""


class Game(NamedTuple):
    """A game, not made yet.

    Attributes:
        name: its name.
        group: what it is of.
        make: makes it.
        pairs: of a Streett game.
    """

    name: str
    group: str
    make: Callable[[], Any]
    pairs: int = 0


def _family(name: str, make: Callable[[int], Arena], *sizes: int) -> list[Game]:
    return [Game(f"{name} {n}", FAMILIES, functools.partial(make, n)) for n in sizes]


def with_priorities(arena: Arena, seed: int, kinds: int) -> Arena:
    """An energy game as an energy parity game, with priorities by lot."""
    rng, size = np.random.default_rng(seed), arena.shape[0]
    # Few vertices are good or bad: elsewhere energy decides.
    priority = np.where(rng.random(size) < RARE, rng.integers(1, kinds, size), 0)
    return Arena.from_csr(
        arena.row_ptr,
        arena.dst,
        owner=arena.owner,
        weight=arena.weight,
        priority=priority,
    )


def streett(seed: int, size: int, pairs: int) -> emersonlei.Game:
    """A random Streett game, requests on a tenth of the vertices, grants on fewer."""
    rng = np.random.default_rng(seed)
    src = np.repeat(np.arange(size), 3)
    dst, owner = rng.integers(0, size, 3 * size), rng.random(size) < 0.5
    sets = [
        tuple(np.flatnonzero(rng.random(size) < share) for share in (0.1, 0.05))
        for _ in range(pairs)
    ]
    return emersonlei.Game.streett(Arena.from_edges(src, dst, owner=owner), sets)


def _streett(size: int, pairs: int) -> Game:
    name = f"streett {size} {pairs} pairs"
    return Game(name, STREETT, functools.partial(streett, 1, size, pairs), pairs)


def _energy(name: str, make: Callable[[], Arena], kinds: int) -> Game:
    def made() -> Arena:
        return with_priorities(make(), 1, kinds)

    return Game(f"{name} p={kinds}", ENERGY, made)


def _torus(side: int) -> Game:
    def make() -> Arena:
        how = {"min_weight": -15, "both_ways": True}
        return generate.torus_energy_game(7, side, side, **how)

    return _energy(f"torus {side}x{side}", make, 5)


GAMES: tuple[Game, ...] = (
    *_family("counter_dp", generate.counter_dp, 40, 200, 1000),
    *_family("counter_rr", generate.counter_rr, 40, 200, 1000),
    *_family("counter_m", generate.counter_m, 40, 200, 1000),
    *_family("counter_core", generate.counter_core, 40, 200, 800),
    *_family("counter_rob", generate.counter_rob, 10, 20, 35),
    *_family("counter_ortl", generate.counter_ortl, 40, 200, 900),
    *_family("counter_symsi", generate.counter_symsi, 40, 200, 490),
    *_family("counter_qpt", generate.counter_qpt, 200, 2000),
    *_family("two_counters", generate.two_counters, 10, 20, 30, 40),
    *_family("two_counters_plus", generate.two_counters_plus, 8, 10, 12, 14, 16),
    *_family("friedmann", generate.friedmann, 10, 100, 350),
    *_family("fearnley", generate.fearnley, 10, 20, 45),
    *_family("dull", generate.dull, 200, 1500),
    *_family("jurdzinski 8 x", functools.partial(generate.jurdzinski, 8), 20, 100),
    *_family("recursive_ladder", generate.recursive_ladder, 40, 1000),
    _energy("random 1e4", lambda: generate.random_energy_game(1, 10**4), 5),
    _energy("random 1e5", lambda: generate.random_energy_game(1, 10**5), 5),
    _torus(50),
    _torus(150),
    *(_streett(1000, pairs) for pairs in (2, 4, 6, 8)),
    _streett(20_000, 4),
)
"""All games."""

WARM: tuple[Callable[[], Arena], ...] = (
    functools.partial(generate.counter_dp, 20),
    functools.partial(generate.two_counters_plus, 8),
)
"""Games that all engines of the host have a turn in."""

SMALL: tuple[Game, ...] = (
    *_family("counter_dp", generate.counter_dp, 3),
    _energy("torus 2x3", lambda: generate.torus_energy_game(7, 2, 3), 3),
    _streett(8, 2),
)
"""Games for a quick look that everything runs."""
