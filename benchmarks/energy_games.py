"""The energy games that are measured: random ones, families, and those of a folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxgames import Arena, energy, generate

RANDOM, FAMILY, PAPER = GROUPS = ("random", "family", "paper")

LARGEST_UNASKED = 2_000_000
"""Vertices of the largest game that a machine without an accelerator gets unasked."""


class Game(NamedTuple):
    """A game, not made yet.

    Attributes:
        name: its name in the results.
        group: one of `GROUPS`.
        vertices: about how many it has; None: not known before.
        make: makes it.
    """

    name: str
    group: str
    vertices: int | None
    make: Callable[[], Arena]


def _random(power: int, weight: int) -> Game:
    size = 10**power

    def make() -> Arena:
        return generate.random_energy_game(
            7, size, min_weight=-weight, max_weight=weight
        )

    return Game(f"random 1e{power} W={weight}", RANDOM, size, make)


GENERATED: tuple[Game, ...] = (
    *(_random(power, weight) for power in (4, 5, 6, 7) for weight in (10, 100, 10_000)),
    *(
        Game(
            f"hanoi {disks}",
            FAMILY,
            3**disks + 2,
            lambda disks=disks: generate.hanoi_energy_game(disks),
        )
        for disks in (12, 13)
    ),
    *(
        Game(
            f"ring 1e{power}",
            FAMILY,
            10**power,
            lambda power=power: generate.ring_energy_game(7, 10**power),
        )
        for power in (4, 5)
    ),
    *(
        Game(
            f"torus {side}x{side}",
            FAMILY,
            side**2,
            lambda side=side: generate.torus_energy_game(7, side, side),
        )
        for side in (100, 1000)
    ),
)
"""Random games of out-degree 2 to 4, and the families that are easy and hard."""

SMALL: tuple[Game, ...] = (
    _random(2, 10),
    Game("hanoi 3", FAMILY, 29, lambda: generate.hanoi_energy_game(3)),
)
"""Games for a quick look that everything runs."""


def from_data(folder: Path | None) -> Iterator[Game]:
    """The games of a folder: `NAME.npz` with weights, or with min-parity priorities.

    The latter become energy games as in the paper, with one weight for each priority,
    and are left out where these weights do not fit.

    Raises:
        ValueError: there is no such folder.
    """
    if folder is None:
        return
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            is_game = "owner" in file and ({"weights", "priority"} & set(file))
        if is_game:
            yield Game(path.stem, PAPER, None, lambda path=path: load(path))


def load(path: Path) -> Arena:
    """Reads a game of a folder.

    Raises:
        ValueError: the weights of a parity game do not fit.
    """
    with np.load(path) as file:
        arrays = dict(file)
    shape = (arrays["offsets"], arrays["targets"])
    if "weights" in arrays:
        return Arena.from_csr(*shape, owner=arrays["owner"], weight=arrays["weights"])
    game = Arena.from_csr(
        *shape,
        owner=arrays["owner"],
        priority=arrays["priority"],
        condition="min even",
    )
    return energy.from_parity(game, by_component=False)
