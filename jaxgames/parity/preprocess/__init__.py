"""Reductions of parity games: each makes a game easier, and is undone on its solution.

A reduction takes an arena and gives a
[`Reduced`][jaxgames.parity.preprocess.Reduced]: the new arena, and a function that
takes winners and strategy of the new game to those of the old one. They can follow one
another in any order; `apply` composes them by name.

Examples:
    >>> from jaxgames import generate
    >>> from jaxgames.parity import preprocess, reference
    >>> arena = generate.ladder(100)
    >>> reduced = preprocess.apply(arena, ["propagate", "compress", "single-parity"])
    >>> solution = reference.solve(reduced.arena)
    >>> winner, strategy = reduced.undo(solution.winner, solution.strategy)
"""

import functools
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Unpack

from jaxgames.arena import Arena
from jaxgames.limits import Bounds, limited
from jaxgames.parity.preprocess._chains import chains as chains
from jaxgames.parity.preprocess._components import by_components as by_components
from jaxgames.parity.preprocess._contract import contract as contract
from jaxgames.parity.preprocess._orders import reorder as reorder
from jaxgames.parity.preprocess._priorities import (
    compress_priorities as compress_priorities,
)
from jaxgames.parity.preprocess._priorities import (
    propagate_priorities as propagate_priorities,
)
from jaxgames.parity.preprocess._reduced import Reduced as Reduced
from jaxgames.parity.preprocess._reduced import Reduction as Reduction
from jaxgames.parity.preprocess._reduced import identity as identity
from jaxgames.parity.preprocess._self_loops import self_loops as self_loops
from jaxgames.parity.preprocess._shortcuts import shortcuts as shortcuts
from jaxgames.parity.preprocess._shortcuts import (
    to_edge_priorities as to_edge_priorities,
)
from jaxgames.parity.preprocess._single_parity import single_parity as single_parity
from jaxgames.parity.preprocess._winning_cycles import winning_cycles as winning_cycles

REDUCTIONS: Mapping[str, Reduction] = MappingProxyType(
    {
        "self-loops": self_loops,
        "compress": compress_priorities,
        "propagate": propagate_priorities,
        "single-parity": single_parity,
        "winning-cycles": winning_cycles,
        "contract": contract,
        "order-reversed": functools.partial(reorder, order="reversed"),
        "order-out-degree": functools.partial(reorder, order="out-degree"),
        "order-priority": functools.partial(reorder, order="priority"),
        "order-dfs": functools.partial(reorder, order="dfs"),
        "order-bfs": functools.partial(reorder, order="bfs"),
        "edge-priorities": to_edge_priorities,
        "shortcuts": shortcuts,
        "chains": chains,
    }
)
"""The reductions by name. `"shortcuts"` adds one level; say it again for more."""


@limited()
def apply(
    arena: Arena, reductions: Iterable[str | Reduction], **bounds: Unpack[Bounds]
) -> Reduced:
    """Applies reductions one after the other.

    Args:
        arena: a game with vertex or edge priorities.
        reductions: names from `REDUCTIONS`, or functions from an arena to a `Reduced`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The last game, with an `undo` that goes all the way back.

    Raises:
        ValueError: a name is unknown, or a reduction refuses what the one before gave:
            some read vertex priorities only, and `"edge-priorities"`, `"shortcuts"`
            and `"chains"` leave edge priorities.
    """
    if not isinstance(reductions, Iterable):
        raise ValueError(
            "reductions must be a list of names and functions, got "
            f"{type(reductions).__name__}"
        )
    reduced = identity(arena)
    for reduction in reductions:
        if isinstance(reduction, str):
            if reduction not in REDUCTIONS:
                raise ValueError(
                    f"reductions are {', '.join(REDUCTIONS)}; got {reduction!r}"
                )
            reduction = REDUCTIONS[reduction]
        elif not callable(reduction):
            raise ValueError(
                f"a reduction is a name or a function, got {reduction!r:.80}"
            )
        reduced = reduced.then(reduction)
    return reduced
