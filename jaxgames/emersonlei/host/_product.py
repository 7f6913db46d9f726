"""The parity game of a game and the Zielonka tree of its condition."""

from typing import Any, NamedTuple, Unpack

import numpy as np

from jaxgames import limits
from jaxgames.arena import MAX_SIZE, Arena
from jaxgames.emersonlei._game import Game
from jaxgames.emersonlei._machine import Machine
from jaxgames.emersonlei.host._explore import Leaves, explore
from jaxgames.limits import Bounds, limited
from jaxgames.solution import NO_EDGE
from jaxgames.tuning.emersonlei import (
    COPIES_AT_ONCE,
    COPIES_ROOM,
    EDGES_ROOM,
    NODES_ROOM,
    SETS_ROOM,
    TREE_ROOM,
)
from jaxgames.zielonka_tree import Subsets, ZielonkaTree

PHASE = "making a product"


class Product(NamedTuple):
    """A game and a memory, as a parity game.

    Attributes:
        arena: the parity game over nodes: pairs of a vertex and a leaf of the tree.
            With marks on vertices alone its priorities are on nodes, else on edges.
        machine: the same graph, and what the nodes are; without moves.
    """

    arena: Arena
    machine: Machine


@limited()
def product(game: Game, **bounds: Unpack[Bounds]) -> Product:
    """The parity game that each player wins where he wins a game (host).

    The memory is a leaf of the Zielonka tree of the condition, which is the least that
    a deterministic parity automaton for it can do with [1]. A play that meets marks
    climbs from the leaf to the first node that has them all, whose depth is the
    priority, and goes on to a leaf below the next child there. Only pairs that plays
    reach are made.

    Args:
        game: the game.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the tree of the condition, or the product, is too large.

    References:
        [1] Casares, Colcombet and Fijalkow, Optimal transformations of games and
        automata using Muller conditions, ICALP 2021,
        doi:10.4230/LIPIcs.ICALP.2021.123.

    Examples:
        >>> from jaxgames import Arena
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[1, 0])
        >>> made = product(Game.streett(arena, [([0], [1])]))
        >>> made.arena, made.arena.priority
        (Arena(2 vertices, 3 edges, priority), array([1, 2], dtype=int32))
    """
    found = _product(game.unpad(), ZielonkaTree(game.condition), MAX_SIZE)
    if found is None:
        raise ValueError(
            f"the product with the memory has more than {MAX_SIZE} nodes or edges"
        )
    return found


def small_product(game: Game, subsets: Subsets) -> Product | None:
    """The product where it is small: then it is sooner solved than the game itself."""
    game = game.unpad()
    try:
        tree = ZielonkaTree(
            game.condition, max_nodes=TREE_ROOM, max_sets=SETS_ROOM, subsets=subsets
        )
    except ValueError:
        return None
    size, edges = game.arena.shape
    copies, extent = max(COPIES_ROOM, NODES_ROOM // max(size, 1)), max(size, edges)
    most = min(copies * extent, max(EDGES_ROOM, COPIES_AT_ONCE * extent), MAX_SIZE)
    return _product(game, tree, most)


def _product(game: Game, tree: ZielonkaTree, most: int) -> Product | None:
    """The product; None where it has more nodes or edges than it may."""
    arena = game.arena
    found = explore(
        np.asarray(arena.row_ptr),
        np.asarray(arena.dst),
        game.marks(),
        Leaves(tree),
        lambda many: limits.tick(PHASE, many, "nodes"),
        most,
    )
    if found is None:
        return None
    labels: dict[str, Any] = {"edge_priority": found.colour}
    if game.edge_marks is None:
        labels = {"priority": found.colour[found.row_ptr[:-1]]}
    made = Arena.from_csr(
        found.row_ptr,
        found.target,
        owner=np.asarray(arena.owner)[found.vertex],
        **labels,
    )
    machine = Machine(
        vertex=found.vertex,
        memory=found.memory,
        start=found.start,
        row_ptr=np.asarray(made.row_ptr),
        target=np.asarray(made.dst),
        move=np.full(len(found.vertex), NO_EDGE, np.int32),
    )
    return Product(made, machine)
