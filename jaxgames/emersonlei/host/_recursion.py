"""Zielonka's recursion over sets of marks, on the game itself: no product is made."""

import hashlib
from typing import NamedTuple

import numpy as np

from jaxgames import limits
from jaxgames.arena import Arena
from jaxgames.emersonlei._game import Game
from jaxgames.emersonlei._machine import Machine
from jaxgames.graph import host as graphs
from jaxgames.solution import NO_EDGE
from jaxgames.zielonka_tree import Subsets

PHASE = "solving subgames"


class Part(NamedTuple):
    """A subgame: an arena, what its vertices and edges are in the game, and marks.

    Attributes:
        arena: every vertex has a successor.
        vertices: integers `[V]`.
        edges: integers `[E]`.
        met: int64 `[E]`, the marks of the edges.
    """

    arena: Arena
    vertices: np.ndarray
    edges: np.ndarray
    met: np.ndarray

    def part(self, keep: np.ndarray, among: np.ndarray) -> "Part":
        """The subgame of some vertices (bool `[V]`), and of some edges between them."""
        arena = self.arena
        kept = np.flatnonzero(among & keep[arena.src] & keep[arena.dst])
        new = np.cumsum(keep) - 1
        part = Arena.from_edges(
            new[arena.src[kept]], new[arena.dst[kept]], owner=arena.owner[keep]
        )
        return Part(part, self.vertices[keep], self.edges[kept], self.met[kept])

    def attractor(
        self, player: int, target: np.ndarray, marked: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where a player forces a visit to vertices, or to edges, and his moves.

        Args:
            player: 0 or 1.
            target: bool `[V]`.
            marked: bool `[E]`.

        Returns:
            bool `[V]`; and edges of the game, where he has to move, else -1.
        """
        arena, size = self.arena, self.arena.shape[0]
        # Marked edges lead to one more vertex, and that to itself.
        more = Arena.from_csr(
            np.append(arena.row_ptr, arena.shape[1] + 1),
            np.append(np.where(marked, size, arena.dst), size),
            owner=np.append(arena.owner, False),
        )
        found = graphs.attractor(more, np.append(target, True), player)
        move = np.asarray(found.strategy)[:size]
        move = np.where(move == NO_EDGE, NO_EDGE, self.edges[np.maximum(move, 0)])
        return np.asarray(found.mask)[:size], move


class Turn(NamedTuple):
    """What the winner of a set does to meet a mark that is not in a subset.

    Attributes:
        label: the subset.
        move: edges by vertex, outside of the rest.
        rest: what he does where the rival can avoid such marks: he wins it, too.
    """

    label: int
    move: dict[int, int]
    rest: "Plan | None"


class Layer(NamedTuple):
    """Something that the rival wins: by a plan, or by moves to where there is one."""

    move: dict[int, int]
    plan: "Plan"


class Plan:
    """Who wins a subgame whose marks are in a set, and how.

    Attributes:
        player: for whom the set is good.
        winner: by vertex.
        turns: what this player does again and again, in turn, where he wins.
        move: where there are no turns, an edge by vertex: any is right.
        layers: what the rival wins, in the order in which it was won.
        layer: which of them a vertex is in.
        subgames: of the whole game, how many were solved.
    """

    def __init__(self, player: int):
        self.player = player
        self.winner: dict[int, int] = {}
        self.turns: list[Turn] = []
        self.move: dict[int, int] = {}
        self.layers: list[Layer] = []
        self.layer: dict[int, int] = {}
        self.subgames = 0

    def begin(self, vertex: int) -> tuple[int, ...]:
        """What is remembered where a play comes in at a vertex."""
        if self.winner[vertex] != self.player:
            plan = self.layers[self.layer[vertex]].plan
            return plan.begin(vertex) if self.is_core(vertex) else ()
        return self._turn(0, vertex) if self.turns else ()

    def is_core(self, vertex: int) -> bool:
        """Whether the rival wins a vertex by a plan, and not by going to one."""
        return vertex in self.layers[self.layer[vertex]].plan.winner and (
            vertex not in self.layers[self.layer[vertex]].move
        )

    def edge(self, vertex: int, memory: tuple[int, ...]) -> int:
        """The edge to take, for a vertex whose owner wins it."""
        if self.winner[vertex] != self.player:
            layer = self.layers[self.layer[vertex]]
            if self.is_core(vertex):
                return layer.plan.edge(vertex, memory)
            return layer.move[vertex]
        if not self.turns:
            return self.move[vertex]
        turn = self.turns[memory[0]]
        if turn.rest is not None and vertex in turn.rest.winner:
            return turn.rest.edge(vertex, memory[1:])
        return turn.move[vertex]

    def after(
        self, vertex: int, memory: tuple[int, ...], met: int, target: int
    ) -> tuple[int, ...]:
        """What is remembered after an edge that stays with the same winner."""
        if self.winner[vertex] != self.player:
            at = self.layer[vertex]
            both = self.is_core(vertex) and self.is_core(target)
            if at == self.layer[target] and both:
                return self.layers[at].plan.after(vertex, memory, met, target)
            return self.begin(target)
        if not self.turns:
            return ()
        at = memory[0]
        turn = self.turns[at]
        if met & ~turn.label:
            return self._turn((at + 1) % len(self.turns), target)
        inside = () if turn.rest is None else turn.rest.winner
        if vertex in inside and target in inside:
            assert turn.rest is not None
            return (at, *turn.rest.after(vertex, memory[1:], met, target))
        return self._turn(at, target)

    def _turn(self, at: int, vertex: int) -> tuple[int, ...]:
        rest = self.turns[at].rest
        if rest is not None and vertex in rest.winner:
            return (at, *rest.begin(vertex))
        return (at,)


def recurse(game: Game, subsets: Subsets) -> Plan:
    """Decides a game by recursion over the sets of its condition's Zielonka tree.

    Let the set of all marks be good for a player. For each of the largest subsets that
    are bad for him, he forces a mark that is not in it where he can; what is left is a
    subgame with the marks of the subset, where the rival is who it is good for. If the
    rival wins some of it, he wins that and what he can force into it, and the search
    starts again with the rest; if he wins nothing in any, the player wins all: he
    forces a mark outside of each subset in turn.

    References:
        McNaughton, Infinite games played on finite graphs, APAL 65 (1993),
        doi:10.1016/0168-0072(93)90036-D.
        Zielonka, Infinite games on finitely coloured graphs with applications to
        automata on infinite trees, TCS 200 (1998), doi:10.1016/S0304-3975(98)00009-7.
    """
    arena = game.arena
    vertices, edges = (np.arange(size, dtype=np.int32) for size in arena.shape)
    calls = _Recursion(subsets)
    plan = calls.plan(Part(arena, vertices, edges, game.marks()), None)
    plan.subgames = calls.count
    return plan


class _Recursion:
    """The calls, and what is known of subgames that were met before."""

    def __init__(self, subsets: Subsets):
        self._subsets = subsets
        self._known: dict[tuple[int, bytes], Plan] = {}
        self.count = 0

    def plan(self, part: Part, label: int | None) -> Plan:
        """Who wins a part whose marks are in a set; None for all that there are."""
        label = self._subsets.every if label is None else label
        # Marks are taken out in many orders, after which the same may be left.
        arrays = part.vertices.tobytes(), part.edges.tobytes()
        key = label, hashlib.sha256(b"".join(arrays)).digest()
        if key not in self._known:
            self._known[key] = self._solved(part, label)
        return self._known[key]

    def _solved(self, part: Part, label: int) -> Plan:
        player = 0 if self._subsets.accepts(label) else 1
        plan, below = Plan(player), self._subsets.below(label)
        turns: dict[int, Turn] = {}
        at = 0
        # All must be found good one after the other, in what is left.
        while len(part.vertices) and len(turns) < len(below):
            less = below[at]
            self.count += 1
            limits.tick(PHASE, self.count, "subgames")
            outside = (part.met & ~less) != 0
            none = np.zeros(len(part.vertices), bool)
            near, move = part.attractor(player, none, outside)
            rest = None
            if not near.all():
                rest = self.plan(part.part(~near, ~outside), less)
                lost = [v for v, who in rest.winner.items() if who != player]
                if lost:
                    part, turns = _lose(plan, part, rest, np.array(lost)), {}
                    continue
            turns[at] = Turn(less, _moves(part.vertices[near], move[near]), rest)
            at = (at + 1) % len(below)
        plan.turns = [turns[at] for at in sorted(turns)]
        plan.winner |= dict.fromkeys(part.vertices.tolist(), player)
        first = part.edges[part.arena.row_ptr[:-1]]
        plan.move = _moves(part.vertices, first)
        return plan


def _lose(plan: Plan, part: Part, rest: Plan, lost: np.ndarray) -> Part:
    """Enters what the rival wins, and returns what is left."""
    core = np.isin(part.vertices, lost)
    rival, none = 1 - plan.player, np.zeros(part.arena.shape[1], bool)
    near, move = part.attractor(rival, core, none)
    forced = near & ~core
    plan.layers.append(Layer(_moves(part.vertices[forced], move[forced]), rest))
    for v in part.vertices[near].tolist():
        plan.winner[v], plan.layer[v] = rival, len(plan.layers) - 1
    return part.part(~near, ~none)


def _moves(vertices: np.ndarray, edges: np.ndarray) -> dict[int, int]:
    return dict(zip(vertices.tolist(), edges.tolist(), strict=True))


def machine_of(game: Game, plan: Plan) -> Machine:
    """The machine of a plan: what is reached while winners keep to it.

    An edge that the winner of a vertex would not take leads to where a play begins.
    """
    arena, met = game.arena, game.marks().tolist()
    row_ptr, dst = arena.row_ptr.tolist(), arena.dst.tolist()
    owner = arena.owner.tolist()
    size = arena.shape[0]
    number: dict[tuple[int, tuple[int, ...]], int] = {}
    nodes: list[tuple[int, tuple[int, ...]]] = []
    memories: dict[tuple[int, ...], int] = {}

    def of(vertex: int, memory: tuple[int, ...]) -> int:
        key = vertex, memory
        if key not in number:
            number[key] = len(nodes)
            nodes.append(key)
            memories.setdefault(memory, len(memories))
        return number[key]

    start = [of(v, plan.begin(v)) for v in range(size)]
    target: list[int] = []
    move: list[int] = []
    at = 0
    while at < len(nodes):
        limits.tick("following strategies", at, "nodes")
        vertex, memory = nodes[at]
        who = plan.winner[vertex]
        mine = owner[vertex] == (who == 1)
        taken = plan.edge(vertex, memory) if mine else NO_EDGE
        move.append(taken)
        for e in range(row_ptr[vertex], row_ptr[vertex + 1]):
            u = dst[e]
            if (mine and e != taken) or plan.winner[u] != who:
                target.append(start[u])
            else:
                target.append(of(u, plan.after(vertex, memory, met[e], u)))
        at += 1
    vertex = np.array([v for v, _ in nodes], np.int32)
    degree = np.diff(arena.row_ptr)[vertex] if len(nodes) else vertex
    return Machine(
        vertex=vertex,
        memory=np.array([memories[x] for _, x in nodes], np.int32),
        start=np.array(start, np.int32),
        row_ptr=np.concatenate([[0], np.cumsum(degree)]).astype(np.int32),
        target=np.array(target, np.int32),
        move=np.array(move, np.int32),
    )


def winners(plan: Plan, size: int) -> np.ndarray:
    """Who wins each vertex: int8 `[V]`."""
    return np.array([plan.winner[v] for v in range(size)], np.int8)
