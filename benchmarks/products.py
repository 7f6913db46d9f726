"""The products of the suite `ltl`: from files, or of models that are explored anew."""

import dataclasses
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames import buchi, io, ltl, systems
from jaxgames.buchi._question import Question

FILES, MODELS, HUGE = "files", "models", "huge"
"""Groups: of files, of models, and of models that ask for an accelerator."""

SMALL_BYTES = 20_000
"""Largest file of a run of small products."""


@dataclasses.dataclass(frozen=True)
class Instance:
    """A model and its properties.

    Attributes:
        name: what the rows call it.
        make: builds the model.
        properties: those that are checked, by their names in the model.
        group: of these.
    """

    name: str
    make: Callable[[], Any]
    properties: tuple[str, ...]
    group: str = MODELS

    @functools.cached_property
    def model(self) -> Any:
        """The model."""
        return self.make()

    def system(self, space: Any, formula: str) -> systems.System:
        """A state space with the propositions of a formula."""
        names = ltl.Formula.parse(formula).propositions
        return systems.System.from_graph(
            space.graph,
            {name: space.evaluate(self.model.propositions[name]) for name in names},
            initial=space.initial,
        )

    def products(self, space: Any) -> Iterator[tuple[str, systems.Product]]:
        """The product with the negation of each property, by name."""
        for name in self.properties:
            formula = self.model.properties[name]
            automaton = ltl.translate(formula, negate=True)
            product = systems.product(self.system(space, formula), automaton)
            yield f"{self.name}.{name}", product


def from_files(folder: Path, small: bool = False) -> Iterator[tuple[str, Path]]:
    """Names and paths of the products in a folder, the smallest file first.

    Raises:
        ValueError: there is no such folder.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder")
    paths = sorted(folder.glob("*.npz"), key=lambda path: path.stat().st_size)
    for path in paths:
        with np.load(path) as archive:
            ours = {"offsets", "targets", "accepting"} <= set(archive.files)
        if ours and not (small and path.stat().st_size > SMALL_BYTES):
            yield path.stem, path


def read(path: Path) -> Question:
    """The product of a file."""
    product = io.npz.load_product(path)
    assert product is not None
    initial = np.array([0]) if product.initial is None else product.initial
    return buchi.prepare(product.arena, initial=initial, partition=product.partition)


def _protocol(name: str, *arguments: Any, **options: Any) -> Callable[[], Any]:
    def make() -> Any:
        from jaxgames.generate import protocols

        return getattr(protocols, name)(*arguments, **options)

    return make


SMALL = (
    Instance("phils-4", _protocol("phils", 4), ("anyeat",)),
    Instance("anderson-3", _protocol("anderson", 3), ("recur0",)),
)

INSTANCES = (
    Instance("bakery-3-max8", _protocol("bakery", 3, highest=8), ("resp0",)),
    Instance("phils-13-left", _protocol("phils", 13, left=True), ("anyeat",)),
    Instance("anderson-5", _protocol("anderson", 5), ("recur0",)),
    Instance("peterson-4", _protocol("peterson", 4), ("someone", "recur0")),
    Instance(
        "elevator-10-clever",
        _protocol("elevator", 10, control="clever"),
        ("pass1", "serve1"),
    ),
    # The instance 7 of leader_filters, the largest of that paper.
    Instance("leader-6", _protocol("leader", 6), ("elect",), HUGE),
)
"""The models of the paper on MAP, of sizes that are worth a device."""
