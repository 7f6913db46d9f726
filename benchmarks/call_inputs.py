"""What the suite `calls` gives to each call: plain numpy arrays, by name and group."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import games, graphs, models, mutual, products
from benchmarks.run import Options
from jaxgames import Arena, generate, systems
from jaxgames.generate import protocols
from jaxgames.mdp import MDP

PARITY, COMPONENTS, END_COMPONENTS, CYCLES, ENERGY = GROUPS = (
    "parity", "components", "end components", "accepting cycles", "energy",
)  # fmt: skip

Arrays = Mapping[str, Any]
"""What a user has in memory: arrays by the names of arguments."""


class Input(NamedTuple):
    """What is solved, not made yet.

    Attributes:
        name: the same for all solvers and peers.
        group: one of `GROUPS`.
        make: makes it from a seed.
        large: whether it is for an accelerator.
        varies: whether other seeds make other inputs of the same size.
    """

    name: str
    group: str
    make: Callable[[int], Arrays]
    large: bool = False
    varies: bool = False


# ---- as arrays -------------------------------------------------------------------


def of_arena(arena: Arena, *labels: str) -> Arrays:
    """Rows, and what vertices and edges have, as copies that nothing is known of."""
    names = {
        "indptr": "row_ptr",
        "indices": "dst",
        **dict(zip(labels, labels, strict=True)),
    }
    return {key: np.array(getattr(arena, name)) for key, name in names.items()}


def of_model(model: MDP) -> Arrays:
    """The rows of a model."""
    names = ("row_group_offsets", "row_offsets", "columns", "probs")
    arrays = {name: getattr(model, name) for name in names}
    return {name: None if x is None else np.array(x) for name, x in arrays.items()}


def of_product(product: systems.Product) -> Arrays:
    """The rows of a product, and what is asked of it."""
    automaton = product.automaton
    edges = np.stack([automaton.sources, automaton.targets], axis=1)
    return {
        "indptr": np.array(product.offsets),
        "indices": np.array(product.targets),
        "accepting": np.array(product.accepting),
        "initial": np.array(product.initial),
        "states": np.array(product.automaton_state),
        "edges": edges.astype(np.int32),
    }


# ---- all of them -----------------------------------------------------------------


def _game(name: str, make: Callable[[int], Arena], **how: bool) -> Input:
    return Input(
        name, PARITY, lambda seed: of_arena(make(seed), "owner", "priority"), **how
    )


def _random_game(size: int, priorities: int, max_degree: int = 4, **how: bool) -> Input:
    def make(seed: int) -> Arena:
        return generate.random_game(
            seed, size, num_priorities=priorities, max_degree=max_degree
        )

    rows = "" if max_degree == 4 else f" d=1-{max_degree}"
    return _game(f"random {size:,} p={priorities}{rows}", make, varies=True, **how)


def _graph(name: str, make: Callable[[int], Arena], **how: bool) -> Input:
    return Input(name, COMPONENTS, lambda seed: of_arena(make(seed)), **how)


def _random_graph(size: int, degree: float, local: bool, **how: bool) -> Input:
    def make(seed: int) -> Arena:
        return graphs.random(seed, size, degree, local=local)

    kind = "local" if local else "random"
    return _graph(f"{kind} {size:,} d={degree:g}", make, varies=True, **how)


def _model(name: str, make: Callable[[int], MDP], **how: bool) -> Input:
    return Input(name, END_COMPONENTS, lambda seed: of_model(make(seed)), **how)


def _product(instance: products.Instance, **how: bool) -> Input:
    (wanted,) = instance.properties

    def make(seed: int) -> Arrays:
        del seed
        space = instance.model.state_space()
        ((_, product),) = instance.products(space)
        return of_product(product)

    return Input(f"{instance.name}.{wanted}", CYCLES, make, **how)


def _energy(name: str, make: Callable[[int], Arena], **how: bool) -> Input:
    return Input(
        name, ENERGY, lambda seed: of_arena(make(seed), "owner", "weight"), **how
    )


def _random_energy(size: int, **how: bool) -> Input:
    return _energy(
        f"random {size:,} W=100",
        lambda seed: generate.random_energy_game(seed, size),
        varies=True,
        **how,
    )


def _protocol(name: str, wanted: str) -> Input:
    """A product that the suite `ltl` reads from a file."""
    make = functools.partial(protocols.named, name)
    return _product(products.Instance(name, make, (wanted,)), large=True)


def _instance(name: str, wanted: str) -> products.Instance:
    """A model that the suite `ltl` has too, with one of its properties."""
    (found,) = [x for x in products.INSTANCES if x.name == name]
    return products.Instance(found.name, found.make, (wanted,), found.group)


LARGE = {"large": True}

INPUTS: tuple[Input, ...] = (
    _random_game(100_000, 4),
    _random_game(100_000, 16),
    _game("elevator 5 unfair", lambda _: generate.elevator(5, fair=False)),
    _game("propagation tree 16", lambda _: generate.propagation_tree(17, 2)),
    _game("hanoi 9", lambda _: generate.hanoi(9)),
    _random_game(1_000_000, 4, **LARGE),
    _random_game(1_000_000, 16, **LARGE),
    _random_game(1_000_000, 4, 2, **LARGE),
    _random_game(1_000_000, 16, 2, **LARGE),
    _random_game(10_000_000, 4, **LARGE),
    _random_game(10_000_000, 16, **LARGE),
    _random_game(10_000_000, 4, 2, **LARGE),
    _random_game(10_000_000, 16, 2, **LARGE),
    _game("elevator 7 unfair", lambda _: generate.elevator(7, fair=False), **LARGE),
    _game("elevator 7 fair", lambda _: generate.elevator(7), **LARGE),
    _game("tprop21", lambda _: generate.propagation_tree(22, 2), **LARGE),
    _game("hanoi 12", lambda _: generate.hanoi(12), **LARGE),
    _random_graph(100_000, 3, False),
    _random_graph(100_000, 6, True),
    _graph("rmat 14", lambda seed: graphs.rmat(seed, 14)),
    _graph("mesh 40^3", lambda seed: graphs.mesh(seed, 40)),
    _graph("path 100,000", lambda _: graphs.path(100_000)),
    _graph("torus 300x300", lambda _: graphs.grid(300)),
    _graph("roads 300x300", lambda seed: graphs.roads(seed, 300)),
    *(
        _random_graph(10**6, degree, local, **LARGE)
        for degree in (1.5, 3, 6)
        for local in (False, True)
    ),
    _random_graph(10_000_000, 3, False, **LARGE),
    _random_graph(10_000_000, 6, False, **LARGE),
    _random_graph(10_000_000, 3, True, **LARGE),
    _random_graph(10_000_000, 6, True, **LARGE),
    _graph("rmat 22", lambda seed: graphs.rmat(seed, 22), **LARGE),
    _graph("mesh 200^3", lambda seed: graphs.mesh(seed, 200), **LARGE),
    _graph("path 1,000,000", lambda _: graphs.path(1_000_000), **LARGE),
    _graph("cycle 1,000,000", lambda _: graphs.cycle(10**6), **LARGE),
    _graph("walk 1,000,000", lambda _: graphs.walk(10**6), **LARGE),
    _graph("torus 1000x1000", lambda _: graphs.grid(1000), **LARGE),
    _graph("roads 3000x3000", lambda seed: graphs.roads(seed, 3000), **LARGE),
    _graph("graph of mutual 6", lambda _: mutual.mutual(6).graph(), **LARGE),
    _model("mutual 4", lambda _: mutual.mutual(4)),
    _model("random model 30,000", lambda seed: models.random_mdp(seed, 30_000, 4, 3)),
    _model("torus model 200x200", lambda _: generate.torus_mdp(200, 200)),
    _model("mutual 5", lambda _: mutual.mutual(5), **LARGE),
    _model("mutual 6", lambda _: mutual.mutual(6), **LARGE),
    _model(
        "random model 1,000,000",
        lambda seed: models.random_mdp(seed, 10**6, 4, 3),
        **LARGE,
    ),
    _product(_instance("bakery-3-max8", "resp0")),
    _product(products.SMALL[1]),
    _protocol("anderson-4-last", "fair"),
    _protocol("phils-11-left", "anyeat"),
    _protocol("leader-5", "elect"),
    *(
        _product(dataclasses.replace(each, properties=(wanted,)), **LARGE)
        for each in products.INSTANCES
        if each.name != "bakery-3-max8"
        for wanted in each.properties
    ),
    _random_energy(30_000),
    _energy("torus 100x100", lambda seed: generate.torus_energy_game(seed, 100, 100)),
    _random_energy(1_000_000, **LARGE),
    _random_energy(10_000_000, **LARGE),
    _energy("hanoi 13", lambda _: generate.hanoi_energy_game(13), **LARGE),
)
"""Inputs that are made here, the small ones of each group first."""

SMALL: tuple[Input, ...] = (
    _game("tiny game", lambda seed: generate.random_game(seed, 40), varies=True),
    _graph("tiny graph", lambda seed: graphs.random(seed, 60, 1.5)),
    _model("tiny model", lambda _: mutual.mutual(2)),
    _product(products.SMALL[0]),
    _energy("tiny energy game", lambda seed: generate.random_energy_game(seed, 30)),
)
"""For a quick look."""


def from_data(data: Path | None, *, small: bool = False) -> list[Input]:
    """What the files of a folder hold: models, their graphs, and games."""
    found: list[Input] = []
    for model in models.from_files(data, small=small):
        found += _model_and_graph(model)
    for game in _games(data, small):
        found.append(_game(game.name, lambda _, game=game: game.make(), **LARGE))
    return found


def _model_and_graph(model: models.Model) -> list[Input]:
    return [
        _model(model.name, lambda _: model.make()[0], **LARGE),
        _graph(f"graph of {model.name}", lambda _: model.make()[0].graph(), **LARGE),
    ]


def _games(data: Path | None, small: bool) -> list[games.Game]:
    """Games in a folder, whose other files hold something else."""
    if data is None:
        return []
    return [x for x in games.from_data(data, small=small) if _holds_game(data, x.name)]


def _holds_game(data: Path, name: str) -> bool:
    with np.load(data / f"{name}.npz") as arrays:
        return {"offsets", "targets", "owner", "priority"} <= set(arrays.files)


def _named(options: Options, name: str) -> bool:
    return bool(options.chosen) and options.wants_game(name, "")


def chosen(options: Options, on_cpu: bool) -> list[Input]:
    """Those that were chosen; without an accelerator large ones by name only."""
    made = SMALL if options.small else INPUTS
    return [
        each
        for each in (*made, *from_data(options.data, small=options.small))
        if options.wants_game(each.name, each.group)
        and not (each.large and on_cpu and not _named(options, each.name))
    ]
