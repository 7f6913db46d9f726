"""Games with something wrong in them, of one shape so that they compile once."""

import dataclasses

import jax
import numpy as np

from jaxgames import Arena


def sound() -> Arena:
    """Three vertices and five edges, padded to five and eight; every label."""
    arena = Arena.from_edges(
        [0, 0, 1, 1, 2],
        [1, 2, 0, 2, 0],
        owner=[0, 1, 0],
        priority=[1, 2, 3],
        weight=[1, -2, 3, -1, 0],
        accepting=[0, 1, 0],
    )
    return arena.pad(5, 8)


def changed(arena: Arena, name: str, place: int | None, value: int) -> Arena:
    """The arena with another entry in a field, as a new object."""
    values = np.array(getattr(arena, name))
    values[() if place is None else place] = value
    return dataclasses.replace(arena, **{name: values})


DEAD_END = dataclasses.replace(  # vertex 1 has given its edges to vertex 0
    sound(),
    row_ptr=np.array([0, 4, 4, 5, 6, 8], np.int32),
    src=np.array([0, 0, 0, 0, 2, 3, 4, 4], np.int32),
)
"""Of a graph nothing is wrong with it."""

BY_VALUE = {
    "dst-negative": (changed(sound(), "dst", 2, -1), r"dst\[2\] is -1"),
    "dst-too-large": (changed(sound(), "dst", 2, 5), r"dst\[2\] is 5"),
    "dst-far-out": (changed(sound(), "dst", 2, 2**31 - 1), r"dst\[2\] is 2147483647"),
    "dst-into-padding": (changed(sound(), "dst", 2, 3), r"dst\[2\] is 3 .*padding"),
    "padding-leaves": (changed(sound(), "dst", 6, 3), r"dst\[6\] is 3 .*padding"),
    "padding-comes-back": (changed(sound(), "dst", 6, 0), r"dst\[6\] is 0 .*padding"),
    "src-unsorted": (changed(sound(), "src", 1, 2), r"src must ascend"),
    "src-of-another": (
        changed(sound(), "src", 1, 1),
        "src does not agree with row_ptr",
    ),
    "src-negative": (changed(sound(), "src", 0, -1), "src does not agree with row_ptr"),
    "src-too-large": (changed(sound(), "src", 7, 9), "src does not agree with row_ptr"),
    "rows-begin-late": (changed(sound(), "row_ptr", 0, 1), r"row_ptr\[0\] is 1"),
    "rows-fall": (changed(sound(), "row_ptr", 1, 5), r"row_ptr\[2\] is 4"),
    "rows-end-early": (changed(sound(), "row_ptr", 5, 7), r"row_ptr\[5\] is 7"),
    "rows-end-late": (changed(sound(), "row_ptr", 5, 99), r"row_ptr\[5\] is 99"),
    "rows-shifted": (changed(sound(), "row_ptr", 1, 1), "src does not agree with row_"),
    "vertices-negative": (changed(sound(), "num_vertices", None, -1), "num_vertices"),
    "vertices-too-many": (changed(sound(), "num_vertices", None, 6), "num_vertices"),
    "edges-too-many": (changed(sound(), "num_edges", None, 9), "num_edges"),
    "edges-do-not-fit": (changed(sound(), "num_edges", None, 4), "num_edges is 4"),
}
"""What only values tell, in every kind of arena, and what is said of it."""

PRIORITIES = {
    "priority-negative": (changed(sound(), "priority", 1, -1), r"priority\[1\] is -1"),
    "priority-too-large": (
        changed(sound(), "priority", 1, 2**31 - 1),
        r"priority\[1\] is 2147483647",
    ),
}

DEAD_ENDS = {"dead-end": (DEAD_END, "vertex 1 has no successor")}

BY_SHAPE = {
    "priority-of-one": ({"priority": np.array([1], np.int32)}, "priority must have sh"),
    "priority-float": ({"priority": np.ones(5, np.float32)}, "priority must hold int"),
    "rows-too-short": ({"row_ptr": np.arange(5, dtype=np.int32)}, "row_ptr must have"),
    "rows-float": ({"row_ptr": np.zeros(6, np.float32)}, "row_ptr must hold integers"),
    "src-too-short": ({"src": np.zeros(7, np.int32)}, "src must have shape"),
    "dst-too-short": ({"dst": np.zeros(7, np.int32)}, "must have shape"),
    "dst-float": ({"dst": np.zeros(8, np.float32)}, "dst must hold integers"),
    "owner-of-integers": ({"owner": np.zeros(5, np.int32)}, "owner must hold booleans"),
    "owner-of-two-axes": ({"owner": np.zeros((2, 5), bool)}, "not a batch"),
    "weight-too-short": ({"weight": np.zeros(7, np.int32)}, "weight must have shape"),
    "weight-float": ({"weight": np.zeros(8, np.float32)}, "weight must hold integers"),
    "accepting-too-short": ({"accepting": np.zeros(4, bool)}, "accepting must have"),
    "no-count": ({"num_vertices": None}, "num_vertices must be an array, got NoneType"),
    "counts": ({"num_edges": np.zeros(2, np.int32)}, "num_edges must have shape"),
    "more-vertices-than-edges": (
        {
            "row_ptr": np.array([0, 1, 2, 3, 4, 4], np.int32),
            "src": np.arange(4, dtype=np.int32),
            "dst": np.arange(4, dtype=np.int32),
            "num_vertices": np.int32(5),
            "num_edges": np.int32(4),
            "weight": None,
        },
        "no successor|cannot give a successor",
    ),
}
"""What shapes and types tell."""


def stack_of(faults: dict) -> Arena:
    """The sound arena, and after it all that are not."""
    return stack([sound(), *(arena for arena, _ in faults.values())])


def stack(arenas: list[Arena]) -> Arena:
    """Arenas of one shape along a new axis, whatever is in them."""
    return jax.tree.map(lambda *rows: np.stack(rows), *arenas)


def sound_games(count: int) -> list[Arena]:
    """Some games that are right, of a few sizes."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 5, count)
    return [
        Arena.from_edges(
            np.arange(n),
            rng.integers(0, n, n),
            owner=rng.integers(0, 2, n),
            priority=rng.integers(0, 4, n),
            weight=rng.integers(-2, 3, n),
            accepting=rng.integers(0, 2, n),
        )
        for n in sizes
    ]
