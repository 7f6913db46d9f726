"""The games that are measured, by name and group."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxgames import Arena, generate, io

SMALL_FILE = 3000
"""Bytes up to which a file holds a small game."""

SMALL_CORPUS = 2
"""Games of each folder for a quick look."""


class Game(NamedTuple):
    """A game, not made yet."""

    name: str
    group: str
    make: Callable[[], Arena]
    generated: bool = True


THESIS: tuple[Game, ...] = tuple(
    Game(name, "thesis", make)
    for name, make in {
        "jurdz5_10": lambda: generate.jurdzinski(5, 10),
        "prop50_1k": lambda: generate.propagation(50, 1000),
        "tprop21": lambda: generate.propagation_tree(22, 2),
        "hanoi12": lambda: generate.hanoi(12),
        "elev7f": lambda: generate.elevator(7, fair=True),
        "elev7u": lambda: generate.elevator(7, fair=False),
    }.items()
)
"""Games of Table 8.1 of the thesis that can be generated, under its names."""


def _random(power: int, priorities: int | None, max_degree: int) -> Game:
    size = 10**power
    count, shown = (size, "n") if priorities is None else (priorities, priorities)

    def make() -> Arena:
        return generate.random_game(
            power, size, num_priorities=count, max_degree=max_degree
        )

    name = f"random 1e{power} p={shown} d=1-{max_degree}"
    return Game(name, "random", make)


RANDOM: tuple[Game, ...] = tuple(
    _random(power, priorities, degree)
    for power in (5, 6, 7)
    for priorities in (4, 16, None)
    for degree in (4, 2)
)
"""Random games, by vertices, priorities (n: as many as vertices) and out-degree."""

FAMILIES: tuple[Game, ...] = (
    Game("ladder 1e5", "ladder", lambda: generate.ladder(10**5)),
    Game("recursive ladder 1000", "ladder", lambda: generate.recursive_ladder(10**3)),
    Game(
        "model checker ladder 1000",
        "ladder",
        lambda: generate.model_checker_ladder(10**3),
    ),
    Game("jurdzinski 50x100", "jurdzinski", lambda: generate.jurdzinski(50, 100)),
    Game("jurdzinski 100x500", "jurdzinski", lambda: generate.jurdzinski(100, 500)),
)
"""Families that are hard for one algorithm or another."""

SMALL: tuple[Game, ...] = (
    Game("jurdzinski 2x2", "thesis", lambda: generate.jurdzinski(2, 2)),
    Game("hanoi 3", "thesis", lambda: generate.hanoi(3)),
)
"""Games for a quick look that everything runs."""


def from_data(folder: Path | None, *, small: bool = False) -> list[Game]:
    """The games of the thesis in a folder: `NAME.npz`, their priorities min-parity."""
    return [
        Game(path.stem, "thesis", lambda path=path: _load_min_parity(path), False)
        for path in _files(folder, "*.npz", small)
        if not path.stem.endswith(".sol")
    ]


def from_corpus(folder: Path | None, *, small: bool = False) -> dict[str, list[Path]]:
    """The files of a folder of folders in PGSolver's format, gzipped, by folder."""
    found: dict[str, list[Path]] = {}
    for path in _files(folder, "*/*.gz", small):
        found.setdefault(path.parent.name, []).append(path)
    if small:
        return {name: files[:SMALL_CORPUS] for name, files in found.items()}
    return found


def thesis(folder: Path | None, *, small: bool = False) -> list[Game]:
    """The games of the thesis that can be generated, and those in a folder."""
    return [*(SMALL if small else THESIS), *from_data(folder, small=small)]


def all_games(folder: Path | None, *, small: bool = False) -> list[Game]:
    """All games but those of the corpus."""
    return thesis(folder, small=small) + ([] if small else [*RANDOM, *FAMILIES])


def load_text(path: Path) -> Arena:
    """A game of the corpus; not every file has a suffix that tells the format."""
    return io.pgsolver.load(path)


def _files(folder: Path | None, pattern: str, small: bool) -> Iterator[Path]:
    if folder is None:
        return
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    for path in sorted(folder.glob(pattern)):
        if not small or path.stat().st_size <= SMALL_FILE:
            yield path


def _load_min_parity(path: Path) -> Arena:
    with np.load(path) as file:
        return Arena.from_csr(
            file["offsets"],
            file["targets"],
            owner=file["owner"],
            priority=file["priority"],
            condition="min even",
        )
