"""Transition systems of the suite `equivalence`: from files, and made here."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from jaxgames import equivalence
from jaxgames.io import LTS

MADE, FILES = "made", "files"
"""Groups of systems."""

SUFFIXES = (".csv", ".aut")
"""Files that are read."""

HUGE = ("vasy_18_73",)
"""Systems whose games have so many positions that they are measured only if named."""


class System(NamedTuple):
    """A transition system.

    Attributes:
        name: as it is called in the results.
        group: which it belongs to.
        make: reads or makes it.
        large: whether it must be asked for by name.
    """

    name: str
    group: str
    make: Callable[[], LTS]
    large: bool = False


def lossy_queue(places: int, values: int = 2) -> LTS:
    """A queue that may lose what is put into it: a state for each content."""
    contents = [
        content
        for length in range(places + 1)
        for content in itertools.product(range(values), repeat=length)
    ]
    number = {content: i for i, content in enumerate(contents)}
    steps = []
    for content, state in number.items():
        if content:
            steps.append((state, f"get {content[0]}", number[content[1:]]))
        for value in range(values):
            steps.append((state, f"put {value}", state))
            if len(content) < places:
                steps.append((state, f"put {value}", number[(*content, value)]))
    source, label, target = zip(*steps, strict=True)
    return LTS.from_edges(source, label, target, num_states=len(contents))


def queue(places: int) -> System:
    """A lossy queue by name."""
    return System(f"lossy queue {places}", MADE, lambda: lossy_queue(places))


SMALL = (queue(1), queue(2))
INSTANCES = (queue(3), queue(4))


def from_data(folder: Path | None) -> Iterator[System]:
    """The systems in the files of a folder.

    Raises:
        ValueError: there is no such folder.
    """
    if folder is None:
        return
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder")
    for path in sorted(folder.iterdir()):
        if path.suffix in SUFFIXES:

            def read(path: Path = path) -> LTS:
                return equivalence.load(path)

            yield System(path.stem, FILES, read, path.stem in HUGE)
