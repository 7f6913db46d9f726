"""Solving component by component."""

from collections.abc import Callable
from typing import NamedTuple, Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.graph import host as graphs
from jaxgames.host import compiled
from jaxgames.limits import Bounds, limited
from jaxgames.parity._solution import Solution
from jaxgames.parity.preprocess._graph import graph_of, spread
from jaxgames.parity.preprocess._reduced import (
    Reduced,
    edge_priorities,
    identity,
    induced,
    reduction,
    translate,
)
from jaxgames.parity.preprocess._winning_cycles import controlled_cycles, controls
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status


@limited()
def by_components(
    arena: Arena, solve: Callable[[Arena], Solution], **bounds: Unpack[Bounds]
) -> Solution:
    """Solves the strongly connected components from the bottom up.

    What is decided attracts; a component is next when no edge leads out of what is left
    of it, to anything undecided. If it has one parity only, or if only one player has a
    choice in it, its winner is known at once, as winning cycles that a player controls
    are decided first. All the others that are next at one time are solved together, as
    the components of one game. So `solve` is called as often as such components lie
    above one another, and the rest takes O(V + E log d) time for d priorities.

    Args:
        arena: a game with vertex or edge priorities.
        solve: solves a game of the same kind of priorities. It may leave vertices
            undecided; then so are those that depend on them.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        Winners and strategies, the latter None if `solve` gave none. `status` is that
        of the first call that did not decide everything. `stats` has the number of
        `components`, of `calls`, and the vertices of the `largest` call.

    Raises:
        ValueError: the arena is no parity game.

    Examples:
        >>> from jaxgames.parity import reference
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[0, 1, 2]
        ... )
        >>> solution = by_components(arena, reference.solve)
        >>> solution
        Solution(player 0 wins 3, player 1 wins 0)
        >>> solution.stats["calls"]
        0
    """
    checked = _checked(arena)
    climb = _Climb(checked.arena)
    calls = largest = 0
    status, has_strategy = Status.SOLVED, True
    while len(vertices := climb.advance()):
        game, edges = induced(checked.arena, vertices, climb.place)
        solution = solve(game)
        calls, largest = calls + 1, max(largest, len(vertices))
        if status == Status.SOLVED:
            status = Status(int(solution.status))
        strategy = solution.strategy
        if strategy is None:
            has_strategy, strategy = False, np.full(len(vertices), NO_EDGE)
        climb.settle(vertices, solution.winner, translate(np.asarray(strategy), edges))
    winner, move = climb.state.winner, climb.state.move
    strategy = np.where(winner == checked.arena.owner, move, NO_EDGE)
    winner, strategy = checked.undo(winner, strategy)
    return Solution(
        status,
        winner=winner,
        strategy=strategy if has_strategy else None,
        stats=Stats(
            solver="components",
            components=climb.num_components,
            calls=calls,
            largest=largest,
        ),
    )


@reduction(edge_priorities=True)
def _checked(arena: Arena) -> Reduced:
    return identity(arena)


class _State(NamedTuple):
    """What is known while components are worked off; arrays change in place."""

    winner: np.ndarray  # int8 [V]
    move: np.ndarray  # int32 [V]
    exits: np.ndarray  # int32 [V]: edges not known to be lost for their owner
    queue: np.ndarray  # int32 [V]: all decided vertices, as they were decided
    ends: np.ndarray  # int32 [2]: how far the queue was worked off, and its end
    known: np.ndarray  # bool [V]: worked off
    component: np.ndarray  # int32 [V]: -1 where decided before components were found
    members: np.ndarray  # int32: vertices by component
    begins: np.ndarray  # int32 [C + 1]: where each component begins there
    waits: np.ndarray  # int32 [C]: edges between undecided vertices that leave it
    ready: np.ndarray  # int32 [C]: a stack of components that wait for nothing
    num_ready: np.ndarray  # int32 [1]


class _Climb:
    """The way from the bottom components to the top."""

    def __init__(self, arena: Arena):
        size = arena.shape[0]
        self.graph = graph_of(arena)
        self.odd = edge_priorities(arena) % 2 == 1
        self.controls = np.stack([controls(arena, player) for player in (0, 1)])
        self.place = np.full(size, -1, np.int32)
        winner, move = controlled_cycles(arena)
        seeds = np.flatnonzero(winner != UNDECIDED)
        queue, exits = np.empty(size, np.int32), np.diff(arena.row_ptr)
        queue[: len(seeds)] = seeds
        end = spread(self.graph, winner, move, exits, queue, 0, len(seeds))
        alive = winner == UNDECIDED
        component, members, begins = graphs.closing_order(arena, vertices=alive)
        self.num_components = len(begins) - 1
        leaves = alive[arena.src] & alive[arena.dst]
        leaves &= component[arena.src] != component[arena.dst]
        waits = np.bincount(
            component[arena.src[leaves]], minlength=self.num_components
        ).astype(np.int32)
        ready = np.empty(self.num_components, np.int32)
        bottom = np.flatnonzero(waits == 0)
        ready[: len(bottom)] = bottom
        self.state = _State(
            winner=winner,
            move=move,
            exits=exits,
            queue=queue,
            ends=np.array([end, end], np.int32),
            known=~alive,
            component=component,
            members=members,
            begins=begins,
            waits=waits,
            ready=ready,
            num_ready=np.array([len(bottom)], np.int32),
        )

    def advance(self) -> np.ndarray:
        """Decides what is easy; the vertices of the components to be solved next."""
        return _advance(self.graph, self.state, self.odd, self.controls)

    def settle(self, vertices, winner, move) -> None:
        """Notes the solution of what `advance` gave."""
        decided = np.asarray(winner) != UNDECIDED
        new = vertices[decided]
        self.state.winner[new] = np.asarray(winner)[decided]
        self.state.move[new] = move[decided]
        end = self.state.ends[1]
        self.state.queue[end : end + len(new)] = new
        self.state.ends[1] += len(new)


@compiled
def _advance(graph, state, odd, controls):
    """Attracts and works off easy components; the vertices of those that are not."""
    batch = np.empty(len(state.members), np.int32)
    size = 0
    _attract(graph, state)
    while state.num_ready[0] > 0:
        state.num_ready[0] -= 1
        c = state.ready[state.num_ready[0]]
        rest = size
        for k in range(state.begins[c], state.begins[c + 1]):
            if state.winner[state.members[k]] == UNDECIDED:
                batch[rest] = state.members[k]
                rest += 1
        if rest == size:
            continue
        player = _easy_winner(graph, state, odd, controls, batch[size:rest])
        if player == UNDECIDED:
            size = rest
            continue
        for v in batch[size:rest]:
            for e in range(graph.row_ptr[v], graph.row_ptr[v + 1]):
                if state.winner[graph.dst[e]] == UNDECIDED:
                    state.move[v] = e
                    break
        for v in batch[size:rest]:
            state.winner[v] = player
            state.queue[state.ends[1]] = v
            state.ends[1] += 1
        _attract(graph, state)
    return batch[:size]


@compiled
def _attract(graph, state):
    """Attracts to what is new in the queue, and finds components that wait no more."""
    begin = state.ends[0]
    end = spread(
        graph, state.winner, state.move, state.exits, state.queue, begin, state.ends[1]
    )
    for v in state.queue[begin:end]:
        state.known[v] = True
        for e in range(graph.row_ptr[v], graph.row_ptr[v + 1]):
            _let_go(state, v, graph.dst[e], state.component[v])
        for k in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            u = graph.src[graph.in_edge[k]]
            _let_go(state, v, u, state.component[u])
    state.ends[0] = state.ends[1] = end


@compiled
def _let_go(state, v, other, waiting):
    """An edge between `v` and `other` no longer keeps a component waiting."""
    if not state.known[other] and state.component[other] != state.component[v]:
        state.waits[waiting] -= 1
        if state.waits[waiting] == 0:
            state.ready[state.num_ready[0]] = waiting
            state.num_ready[0] += 1


@compiled
def _easy_winner(graph, state, odd, controls, vertices):
    """Who wins what is left of a component, if that is plain to see.

    If only one player has a choice and has no winning cycle, the other wins. If all
    priorities have one parity, its player wins. No edge leads to anything else that is
    undecided, so neither player has reason to leave.
    """
    chooses = np.ones(2, np.bool_)
    seen = np.zeros(2, np.bool_)
    for v in vertices:
        chooses[0] &= controls[0, v]
        chooses[1] &= controls[1, v]
        for e in range(graph.row_ptr[v], graph.row_ptr[v + 1]):
            if state.winner[graph.dst[e]] == UNDECIDED:
                seen[int(odd[e])] = True
    for player in range(2):
        if chooses[player] or not seen[player]:
            return 1 - player
    return UNDECIDED
