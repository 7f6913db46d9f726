"""Small transition systems: textbook pairs, and random ones."""

import numpy as np

from jaxgames.io import LTS


def system(*lines: str, states: int | None = None) -> LTS:
    """A system from transitions like `"0 a 1"`."""
    words = [line.split() for line in lines]
    return LTS.from_edges(
        [int(p) for p, _, _ in words],
        [a for _, a, _ in words],
        [int(q) for _, _, q in words],
        num_states=states,
    )


COFFEE = system("0 coin 1", "1 tea 9", "1 coffee 9", "2 coin 3", "2 coin 4", "3 tea 9",
                "4 coffee 9", states=10)  # fmt: skip
"""a.(b + c) at 0, a.b + a.c at 2."""

HELD = {
    "traces": (COFFEE, 0, 2),
    # a.b + a.c + a.(b + c) and a.b + a.c: the middle is between the two.
    "failures": (
        system("0 a 1", "0 a 2", "0 a 3", "1 b 9", "2 c 9", "3 b 9", "3 c 9",
               "4 a 1", "4 a 2", states=10),
        0,
        4,
    ),
    "enabledness": (system("0 a 1", "2 a 3", "1 b 4"), 0, 2),
}  # fmt: skip
"""Pairs that are equivalent by a notion."""


def random_system(seed: int, *, states: int = 6, edges: int = 11, labels: int = 3):
    """A system of up to as many states, transitions and labels."""
    draw = np.random.default_rng(seed)
    size, count = int(draw.integers(2, states + 1)), int(draw.integers(1, edges + 1))
    names = "abcdefgh"[: int(draw.integers(1, labels + 1))]
    return LTS.from_edges(
        draw.integers(0, size, count),
        [names[i] for i in draw.integers(0, len(names), count)],
        draw.integers(0, size, count),
        num_states=size,
    )
