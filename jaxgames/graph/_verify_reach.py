"""Checks what is reached, and attractors, without trusting who found them."""

from typing import Any, ClassVar, Unpack

import numpy as np

from jaxgames import limits, verdict
from jaxgames.arena import Arena, is_traced
from jaxgames.arguments import as_array, check_array
from jaxgames.graph._input import read, vertex_mask
from jaxgames.graph._solution import NO_RANK, Attractor
from jaxgames.host import linear
from jaxgames.limits import Bounds, limited
from jaxgames.solution import NO_EDGE


class ReachReason(verdict.Reason):
    """What is wrong with what is reached, in the order in which it is looked for.

    Examples:
        >>> ReachReason.MISSED.message
        'it is part of the answer, and was not found'
    """

    OK = "nothing is wrong"
    MISSED = "it is part of the answer, and was not found"
    TOO_MUCH = "it was found, and is no part of the answer"
    WRONG_RANK = "its rank is not how many moves it takes at most"
    WRONG_STRATEGY = "its strategy is no edge of it to a vertex of the next rank"
    STRATEGY_OF_OTHERS = "it has a strategy, and nothing is to be chosen there"


class ReachVerdict(verdict.Verdict):
    """What a check of reachable vertices or of an attractor found.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`ReachReason`][jaxgames.graph.ReachReason], and whose `vertex` is a vertex where it
    holds.
    """

    reasons: ClassVar = ReachReason


@limited()
def verify_reachable(
    graph: Any,
    found: Any,
    sources: Any,
    *,
    backward: bool = False,
    **bounds: Unpack[Bounds],
) -> ReachVerdict:
    """Checks what [`reachable`][jaxgames.graph.reachable] found (host only).

    A search with a stack is made anew: O(V + E), and O(E log E) backward.

    Args:
        graph: as for `reachable`.
        found: bool `[V]`.
        sources: as for `reachable`.
        backward: likewise.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument is wrong, or traced.

    Examples:
        >>> from jaxgames import graph
        >>> chain = ([0, 1, 2, 2], [1, 2])
        >>> print(graph.verify_reachable(chain, [False, True, True], [1]))
        valid
        >>> print(graph.verify_reachable(chain, [True, True, True], [1]))
        vertex 0: it was found, and is no part of the answer
    """
    arena, _ = read(graph)
    if is_traced((arena, found, sources)):
        raise ValueError("verify_reachable runs on the host, not under tracing by jax")
    found = _mask(found, arena)
    size, edges = arena.shape[0], int(arena.num_edges)
    src, dst = np.asarray(arena.src)[:edges], np.asarray(arena.dst)[:edges]
    if backward:
        order = np.argsort(dst, kind="stable")
        src, dst = dst[order], src[order]
    row = np.searchsorted(src, np.arange(size + 1))
    inside = np.arange(size) < int(arena.num_vertices)
    reached = np.asarray(vertex_mask("sources", arena, sources)) & inside
    limits.tick("verifying")
    _go_on(row, dst, reached)
    faults = ~found & reached, found & ~reached
    return ReachVerdict.first_of(*faults, *[False] * 3)


@linear
def _go_on(row, dst, reached):
    """Adds all that is reached, depth first."""
    size = len(reached)
    waiting, count = np.empty(size, np.int32), 0
    for v in range(size):
        if reached[v]:
            waiting[count] = v
            count += 1
    while count > 0:
        count -= 1
        v = waiting[count]
        for e in range(row[v], row[v + 1]):
            w = dst[e]
            if not reached[w]:
                reached[w] = True
                waiting[count] = w
                count += 1


@limited()
def verify_attractor(
    arena: Arena,
    found: Attractor,
    target: Any,
    player: int,
    **bounds: Unpack[Bounds],
) -> ReachVerdict:
    """Checks what [`attractor`][jaxgames.graph.attractor] found (host only).

    Ranks must be 0 in the target and nowhere else. Elsewhere the rank of a vertex of
    the player must be one more than the least of its successors, that of a vertex of
    his opponent one more than the largest, where those outside have an infinite one.
    Only the ranks of the attractor are so: from a finite rank a visit can be forced in
    as many moves, and outside nobody can be made to come nearer. A strategy must lead
    to the next rank. Each edge is looked at once, and nothing is searched: O(V + E).

    Args:
        arena: the arena.
        found: an [`Attractor`][jaxgames.graph.Attractor].
        target: as for `attractor`.
        player: 0 or 1.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument is wrong, or traced.

    Examples:
        >>> from jaxgames import Arena, graph
        >>> arena = Arena.from_edges([0, 0, 1, 2], [1, 2, 1, 2], owner=[0, 1, 1])
        >>> won = graph.attractor(arena, [2], 0)
        >>> print(graph.verify_attractor(arena, won, [2], 0))
        valid
        >>> print(graph.verify_attractor(arena, won, [1], 0))
        vertex 1: it is part of the answer, and was not found
    """
    if is_traced((arena, found, target, player)):
        raise ValueError("verify_attractor runs on the host, not under tracing by jax")
    if not isinstance(arena, Arena):
        raise ValueError(f"expected an Arena, got {type(arena).__name__}")
    if player not in (0, 1):
        raise ValueError(f"player must be 0 or 1, got {player!r}")
    if not isinstance(found, Attractor):
        raise ValueError(
            "found must be an Attractor, what graph.attractor returns, got "
            f"{type(found).__name__}"
        )
    size = arena.shape[0]
    mask, goal = _mask(found.mask, arena), vertex_mask("target", arena, target)
    rank = as_array("rank", found.rank)
    strategy = as_array("strategy", found.strategy)
    for name, array in (("rank", rank), ("strategy", strategy)):
        check_array(name, array, (size,), "i")
    real = int(arena.num_edges)
    src, dst = np.asarray(arena.src)[:real], np.asarray(arena.dst)[:real]
    own = np.asarray(arena.owner) == player
    far = size  # no finite rank is so large
    height = np.where(mask & (rank >= 0) & (rank < size), rank, far).astype(np.int64)
    least, most = np.full(size, far, np.int64), np.full(size, -1, np.int64)
    np.minimum.at(least, src, height[dst])
    np.maximum.at(most, src, height[dst])
    most[most < 0] = far  # a play that ends there visits nothing
    due = np.where(goal, 0, np.minimum(np.where(own, least, most) + 1, far))
    due = np.where(np.arange(size) < int(arena.num_vertices), due, far)
    chooses = mask & own & ~goal
    takes = strategy != NO_EDGE
    edge = np.clip(strategy, 0, max(real - 1, 0))
    leads = np.zeros(size, bool)
    if real:
        leads = takes & (strategy >= 0) & (strategy < real)
        leads &= (src[edge] == np.arange(size)) & (height[dst[edge]] + 1 == height)
    return ReachVerdict.first_of(
        ~mask & (due < far),
        mask & (due == far),
        np.where(mask, rank != due, rank != NO_RANK),
        chooses & ~leads,
        ~chooses & takes,
    )


def _mask(found: Any, arena: Arena) -> np.ndarray:
    found = as_array("found", found)
    check_array("found", found, arena.shape[:1], "b")
    return found
