"""The worst cases of the literature: their sizes, their winners, and others' games."""

import dataclasses
import functools
import json
from pathlib import Path

import colour_refinement
import numpy as np
import pytest

from jaxgames import generate
from jaxgames.io import pgsolver
from jaxgames.parity import reference
from jaxgames.parity._game import compress

FILES = Path(__file__).parents[3] / "shared/data/public/hard-parity"

lanes = functools.partial(generate.fearnley, gadgets=False)

SIZES = {
    generate.counter_dp: lambda n: (4 * n + 4, 7 * n + 5),
    generate.counter_rr: lambda n: (4 * n, 8 * n),
    generate.counter_m: lambda n: (3 * n + 3, 6 * n + 3),
    generate.counter_core: lambda n: (6 * n + 3, 12 * n + 4),
    generate.counter_rob: lambda n: (3 * n**2 + 8 * n + 3, 10 * n**2 + 18 * n + 4),
    generate.counter_qpt: lambda n: (2 * n, 3 * n - 1),
    generate.counter_ortl: lambda n: (5 * n + 1, 8 * n + 1),
    generate.counter_symsi: lambda n: (10 * n + 2, 22 * n + 4),
    generate.dull: lambda n: (3 * n, 4 * n),
    generate.two_counters: lambda n: (3 * n**2 + 5 * n, 7 * n**2 + 4 * n),
    generate.two_counters_plus: lambda n: (
        n**3 + n**2 + 6 * n,
        2 * n**3 + 3 * n**2 + 5 * n,
    ),
    generate.friedmann: lambda n: (14 * n + 7, 34 * n + 7),
    generate.fearnley: lambda n: (
        (3 * n**2 + 27 * n + 10) // 2,
        (13 * n**2 + 57 * n + 12) // 2,
    ),
    lanes: lambda n: (13 * n + 5, (7 * n**2 + 59 * n + 12) // 2),
}

WINNERS = {
    generate.counter_dp: lambda n: n % 2,
    generate.counter_m: lambda n: 1 - n % 2,
    generate.friedmann: lambda n: 1,
    generate.fearnley: lambda n: 1,
    lanes: lambda n: 1,
}
"""Who wins everywhere, if it is not always player 0."""

TWO = generate.two_counters, generate.two_counters_plus
"""Where each player wins something."""

NAMES = {
    "dp": generate.counter_dp,
    "rr": generate.counter_rr,
    "m": generate.counter_m,
    "core": generate.counter_core,
    "rob": generate.counter_rob,
    "qpt": generate.counter_qpt,
    "ortl": generate.counter_ortl,
    "symsi": generate.counter_symsi,
    "dull": generate.dull,
    "tc": generate.two_counters,
    "tcp": generate.two_counters_plus,
    "fried": generate.friedmann,
    "fearn": generate.fearnley,
    "friedl": lanes,
    "ladder": generate.recursive_ladder,
}
"""What the families are called in the files."""


@pytest.mark.parametrize("family", SIZES)
def test_sizes_of_docstrings(family):
    for n in (2, 3, 6, 11):
        assert family(n).validate().shape == SIZES[family](n)


@pytest.mark.parametrize("family", [f for f in SIZES if f not in TWO])
def test_winners_of_docstrings(family):
    who = WINNERS.get(family, lambda n: 0)
    for n in (2, 3, 4, 5):
        assert np.all(reference.solve(family(n)).winner == who(n))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_who_wins_the_two_counters(n):
    for family in TWO:
        arena = family(n)
        size = arena.shape[0]
        half = np.arange(size) >= size // 2
        leaves = np.zeros(size, bool)
        leaves[arena.src[half[arena.src] != half[arena.dst]]] = True
        expected = half ^ (leaves & (arena.owner != half))
        np.testing.assert_array_equal(reference.solve(arena).winner, expected)


def files() -> list[str]:
    if not FILES.is_dir():
        return []
    games = json.loads((FILES / "parity.json").read_text())
    return [name for name, game in games.items() if game["family"] in NAMES]


@pytest.mark.skipif(not FILES.is_dir(), reason="the games of others are not there")
@pytest.mark.parametrize("name", files())
def test_same_game_as_made_elsewhere(name):
    family, _, n = name.partition("_")
    own, other = (
        dataclasses.replace(arena, priority=compress(arena.priority))
        for arena in (NAMES[family](int(n)), pgsolver.load(FILES / f"{name}.pg.gz"))
    )
    np.testing.assert_array_equal(
        colour_refinement.fingerprint(own), colour_refinement.fingerprint(other)
    )
