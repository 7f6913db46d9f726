"""Formulas at random, for tests of automata and of products."""

import numpy as np

from jaxgames.ltl import Formula

NAMES = ["p", "q"]


def random_formula(random: np.random.Generator, size: int, names=NAMES) -> Formula:
    if size <= 1:
        kind = random.integers(12)
        if kind == 0:
            return Formula(("true", "false")[random.integers(2)])
        return Formula("name", name=names[random.integers(len(names))])
    kinds = ["!", "X", "F", "G", "U", "R", "W", "M", "&", "|", "->", "<->", "&", "|"]
    kind = kinds[random.integers(len(kinds) if size > 2 else 4)]
    if kind in ("!", "X", "F", "G"):
        return Formula(kind, (random_formula(random, size - 1, names),))
    cuts = [size - 1]
    if kind in ("&", "|") and size > 4 and random.integers(3) == 0:
        cuts = [size - 3, 1]
    left = int(random.integers(1, max(cuts[0], 2)))
    sizes = [left, max(cuts[0] - left, 1), *cuts[1:]]
    return Formula(kind, tuple(random_formula(random, n, names) for n in sizes))


def random_formulas(seed: int, count: int, largest: int) -> list[Formula]:
    random = np.random.default_rng(seed)
    return [
        random_formula(random, int(random.integers(1, largest))) for _ in range(count)
    ]
