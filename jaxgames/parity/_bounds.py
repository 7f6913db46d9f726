"""How far the counters of measures go, and the part of solvers that packs them."""

import dataclasses
from typing import Literal, TypeAlias

import numpy as np

from jaxgames import ops, validity
from jaxgames.arena import Arena, bucket
from jaxgames.graph.host import closing
from jaxgames.host import compiled
from jaxgames.kept import kept
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.ops import Game
from jaxgames.parity import _measures
from jaxgames.parity._measures import Packing, Places
from jaxgames.solver import Solver, check_positive

Bounds: TypeAlias = Literal["count", "path"] | tuple[tuple[int, ...], tuple[int, ...]]


@dataclasses.dataclass(frozen=True)
class MeasureSolver(Solver):
    """Base of the solvers that lift progress measures.

    Attributes:
        words: words of a measure. None: as many as the game needs, which for a traced
            game is the most that any game of its size could need.
        digits: counters of a measure at most; None: as many as the game needs, for a
            traced game half the number of its vertices, or of its edges where those
            have the priorities.
        bounds: how far the counters go. `"count"`: the number of vertices of the
            priority. `"path"`: how many of them a path can meet that meets nothing more
            important, see `path_bounds`; it is found on the host, O(d (V + E)) for `d`
            priorities, and each game compiles anew, for which it takes fewer rounds to
            count to the top. Or the bounds themselves, for both players.
    """

    words: int | None = None
    digits: int | None = None
    bounds: Bounds = "count"

    def __post_init__(self):
        super().__post_init__()
        check_positive(words=self.words, digits=self.digits)
        if isinstance(self.bounds, str) and self.bounds not in ("count", "path"):
            raise ValueError(f"bounds must be 'count' or 'path', got {self.bounds!r}")

    def fit(self, arena: Arena) -> "MeasureSolver":
        """Finds the counters, bounds and words that a concrete arena needs."""
        priority = arena.priority if arena.priority is not None else arena.edge_priority
        digits = self.digits or bucket((int(priority.max(initial=0)) + 3) // 2)
        bounds = self.bounds
        if bounds == "path":
            bounds = tuple(
                tuple(path_bounds(arena, player, 2 * digits).tolist())
                for player in (0, 1)
            )
        words = self.words or max(
            _measures.words_needed(
                count_bounds(arena, player, 2 * digits)
                if bounds == "count"
                else np.array(bounds[player])
            )
            for player in (0, 1)
        )
        return dataclasses.replace(self, words=words, digits=digits, bounds=bounds)

    def pack(
        self, game: Game
    ) -> tuple[tuple[Packing, Packing], tuple[Places, Places], jax.Array]:
        """Both players' packing, what each vertex or edge compares, and overflow."""
        size = ops.num_slots(game)
        bad = size if game.edge_priority is None else ops.num_cells(game)
        digits = self.digits or bad // 2 + 1
        words = self.words or _most_words(digits, bad)
        priority = ops.edge_priority(game)
        overflow = jnp.array(False)
        for piece in priority:
            overflow |= jnp.any(piece >= 2 * digits)
        packings, compared = [], []
        for player in (0, 1):
            if isinstance(self.bounds, str):
                bound = _measures.counts(game, player, 2 * digits)
            else:
                bound = jnp.array(self.bounds[player], jnp.int32)
            packing, beyond = _measures.pack(bound, words)
            overflow |= beyond
            packings.append(packing)
            compared.append(_measures.places(game, packing, player))
        return tuple(packings), tuple(compared), overflow


def _most_words(digits: int, total: int) -> int:
    """Words for so many counters, whatever their bounds that sum up to `total`.

    A bound `b` takes `b.bit_length()` bits, which lies under a concave curve that has
    `k + 1` at `2**k`: equal bounds take most.
    """
    digits = min(digits, total)
    k = (total // digits).bit_length() - 1
    bits = digits * k + -(-total // 2**k)
    # Two neighbouring words hold more than 31 bits, the bit of the top among them.
    return (bits + 1) // 16 + 1


# ---- bounds of a concrete arena -----------------------------------------------


def count_bounds(arena: Arena, player: int, length: int) -> np.ndarray:
    """How many vertices have each bad priority, on some edge at least: int64 `[P]`."""
    number = _numbers(arena)[:length]
    bound = np.pad(number, (0, length - len(number)))
    return np.where(np.arange(length) % 2 != player, bound, 0)


def _numbers(arena: Arena) -> np.ndarray:
    """How many vertices have each priority, on some edge at least; kept with it."""

    def find() -> np.ndarray:
        real = to_numpy(arena.unpad())
        priority = real.priority
        if priority is None:
            # One number for each pair: pairs take many times as long to sort.
            many = np.int64(real.edge_priority.max(initial=0)) + 1
            priority = np.unique(real.src * many + real.edge_priority) % many
        return np.bincount(priority)

    return kept(arena, "parity numbers", find)


def path_bounds(arena: Arena, player: int, length: int) -> np.ndarray:
    """How many edges of each bad priority a path can take under a winning strategy.

    Let `p` be bad for the player, and look at the subgraph of the edges that are at
    most as important. What a play takes between two edges more important than `p` is a
    path in it. If the player wins it by a memoryless strategy, no edge of priority `p`
    is taken twice from one vertex: the cycle between would be won by the other player.
    The path goes through strongly connected components one after the other, and never
    back. So it takes at most as many edges of priority `p` as the heaviest path in the
    graph of components, each as heavy as it has vertices with such an edge.

    The measure that gives each vertex that the player wins the greatest tuple of these
    numbers over its plays satisfies all inequalities, within the bounds: so the least
    measure within the bounds is below the top there. Elsewhere it is the top, as any
    measure below the top is a certificate, whatever its bounds.
    O(d (V + E)) time for `d` bad priorities.

    Returns:
        Integers `[P]`, 0 for good priorities.
    """
    arena = validity.checked(arena)[0].unpad()
    priority = arena.edge_priority
    if priority is None:
        priority = arena.priority[arena.src]
    row_ptr, dst, priority = map(np.asarray, (arena.row_ptr, arena.dst, priority))
    bound = np.zeros(length, np.int64)
    for p in range(1 - player, min(length, int(priority.max(initial=0)) + 1), 2):
        bound[p] = _heaviest_path(row_ptr, dst, priority, p, priority <= p)
    return bound


@compiled
def _heaviest_path(row_ptr, dst, priority, top, within):
    """The heaviest path between components, along edges of priority at most `top`.

    These are the edges `within`. A component is closed after all that it leads to.
    """
    weight = np.full(len(row_ptr) - 1, -1, np.int64)  # of paths from a closed one on
    _, members, begins = closing(row_ptr, dst, None, within)
    heaviest = 0
    for c in range(len(begins) - 1):
        part = members[begins[c] : begins[c + 1]]
        total = _weigh(row_ptr, dst, priority, top, part, weight)
        for u in part:
            weight[u] = total
        heaviest = max(heaviest, total)
    return heaviest


@compiled
def _weigh(row_ptr, dst, priority, top, members, weight):
    """The heaviest path from a component that leads to closed ones only."""
    own, after = 0, 0
    for u in members:
        has = 0
        for e in range(row_ptr[u], row_ptr[u + 1]):
            if priority[e] == top:
                has = 1
            if priority[e] <= top:
                after = max(after, weight[dst[e]])
        own += has
    return own + after
