"""The check of a machine: the game with its moves, and what the rival can do there."""

import numpy as np

from jaxgames import limits
from jaxgames.acceptance import Acceptance, both
from jaxgames.arena import Arena
from jaxgames.emersonlei._game import Game
from jaxgames.emersonlei._machine import Machine
from jaxgames.emersonlei._verdict import Reason, Verdict
from jaxgames.graph import host as graphs
from jaxgames.solution import NO_EDGE

PHASE = "looking for plays of the rival"


def verify(game: Game, winner: np.ndarray, machine: Machine) -> Verdict:
    """As [`verify`][jaxgames.emersonlei.verify], of a game without padding."""
    wrong = (winner != 0) & (winner != 1)
    if wrong.any():
        return Verdict.at(Reason.UNDECIDED, int(np.argmax(wrong)))
    said = _form(game, machine)
    if said is not None:
        return said
    arena, vertex = game.arena, np.asarray(machine.vertex)
    row_ptr, move = np.asarray(machine.row_ptr), np.asarray(machine.move)
    owner, wins = np.asarray(arena.owner)[vertex], winner[vertex]
    nodes = np.arange(len(vertex))
    source = np.repeat(nodes, np.diff(row_ptr))
    edge = arena.row_ptr[vertex][source] + np.arange(len(source)) - row_ptr[source]
    moves = owner == (wins == 1)
    low, high = arena.row_ptr[vertex], arena.row_ptr[vertex + 1]
    goal = wins[np.asarray(machine.target)]
    taken = move[source] == edge
    # Only what is reached with the moves matters.
    left = ~moves[source] | taken
    graph = Arena.from_csr(
        row_ptr, machine.target, owner=np.zeros(len(vertex), bool), dead_ends="allow"
    )
    reached = graphs.reachable(graph, machine.start, edges=left)
    for reason, bad in (
        (Reason.MOVE_MISSING, reached & moves & (move == NO_EDGE)),
        (
            Reason.MOVE_NOT_AN_EDGE_OF_ITS_VERTEX,
            reached & moves & ((move < low) | (move >= high)),
        ),
        (Reason.MOVE_OF_LOSER, reached & ~moves & (move != NO_EDGE)),
    ):
        if bad.any():
            return Verdict.at(reason, int(vertex[np.argmax(bad)]))
    left &= reached[source]
    leaves = left & (goal != wins[source])
    for reason, bad in (
        (Reason.MOVE_LEAVES_REGION, leaves & moves[source]),
        (Reason.OPPONENT_ESCAPES, leaves & ~moves[source]),
    ):
        if bad.any():
            return Verdict.at(reason, int(vertex[source[np.argmax(bad)]]))
    met = game.marks()[edge]
    for player in (0, 1):
        condition = game.condition.negated() if player == 0 else game.condition
        node = accepting(graph, left & (wins[source] == player), met, condition)
        if node is not None:
            return Verdict.at(Reason.WON_BY_OPPONENT, int(vertex[node]))
    return Verdict.at(Reason.OK)


def _form(game: Game, machine: Machine) -> Verdict | None:
    """What is wrong with how the machine follows the game."""
    arena, broken = game.arena, Reason.MACHINE_BROKEN
    size = arena.shape[0]
    vertex, start = np.asarray(machine.vertex), np.asarray(machine.start)
    row_ptr, target = np.asarray(machine.row_ptr), np.asarray(machine.target)
    count = len(vertex)
    if ((vertex < 0) | (vertex >= size)).any():
        return Verdict.at(broken)
    if ((start < 0) | (start >= count)).any():
        return Verdict.at(broken)
    wrong = vertex[start] != np.arange(size)
    if wrong.any():
        return Verdict.at(broken, int(np.argmax(wrong)))
    degree = np.diff(arena.row_ptr)[vertex]
    if row_ptr[0] != 0 or row_ptr[-1] != len(target):
        return Verdict.at(broken)
    wrong = np.diff(row_ptr) != degree
    if wrong.any():
        return Verdict.at(broken, int(vertex[np.argmax(wrong)]))
    if ((target < 0) | (target >= count)).any():
        return Verdict.at(broken)
    source = np.repeat(np.arange(count), degree)
    edge = arena.row_ptr[vertex][source] + np.arange(len(source)) - row_ptr[source]
    wrong = vertex[target] != arena.dst[edge]
    if wrong.any():
        return Verdict.at(broken, int(vertex[source[np.argmax(wrong)]]))
    return None


def accepting(
    graph: Arena, edges: np.ndarray, met: np.ndarray, condition: Acceptance
) -> int | None:
    """A vertex of a strongly connected part of a graph whose marks a condition accepts.

    In a component the marks that are not there make the condition simpler. What must
    not be met then is taken out, and what is left is looked at again; where there is a
    choice, each part is tried. Polynomial for conditions of Rabin and of Streett.

    Args:
        graph: the graph.
        edges: bool `[E]`, those that there are.
        met: int64 `[E]`, their marks as bits.
        condition: on the marks that a play meets infinitely often.
    """
    work = [(np.flatnonzero(edges), condition)]
    while work:
        some, asked = work.pop()
        limits.tick(PHASE, len(work), "parts")
        some, begins = _components(graph, some)
        if not len(some):
            continue
        # Components with the same marks are looked at together, ...
        marks, which = np.unique(
            np.bitwise_or.reduceat(met[some], begins), return_inverse=True
        )
        which = np.repeat(which, np.diff(begins, append=len(some)))
        order = np.argsort(which, kind="stable")
        ends = np.cumsum(np.bincount(which))[:-1]
        further: dict[tuple[int, str], tuple[Acceptance, list[np.ndarray]]] = {}
        for there, found in zip(
            np.split(some[order], ends), marks.tolist(), strict=True
        ):
            left = asked.assuming(found)
            if left.holds(found):
                return int(graph.src[there[0]])
            for less, more in _choices(left):
                keep = there[met[there] & less == 0] if less else there
                kept = further.setdefault((less, str(more)), (more, []))
                kept[1].append(keep)
        # ... and so is what is left of them, if the same is asked: they stay apart.
        work += [(np.sort(np.concatenate(x)), more) for more, x in further.values()]
    return None


def _components(graph: Arena, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those edges that are inside strongly connected parts, part by part.

    Args:
        graph: the graph.
        edges: int `[N]`, ascending.

    Returns:
        Edges, and where each part begins.
    """
    if not len(edges):
        return edges, edges
    src, dst = graph.src[edges], graph.dst[edges]
    there = np.zeros(len(graph.owner), bool)
    there[src] = there[dst] = True
    number = np.cumsum(there, dtype=np.int32) - 1
    src, dst = number[src], number[dst]
    many = np.bincount(src, minlength=number[-1] + 1)
    row_ptr = np.append(0, np.cumsum(many)).astype(np.int32)
    _, label = graphs.scc((row_ptr, dst))
    inside = label[src] == label[dst]
    of = label[src[inside]]
    order = np.argsort(of, kind="stable")
    return edges[inside][order], np.flatnonzero(np.diff(of[order], prepend=-1))


def _choices(condition: Acceptance) -> list[tuple[int, Acceptance]]:
    """Marks to be taken out, and what is to be asked then; each where there are more.

    The condition does not hold of all marks that there are, all of which occur.
    """
    if condition.operator in ("true", "false", "inf"):
        return []
    if condition.operator == "fin":
        return [(1 << condition.mark, condition)]
    if condition.operator == "|":
        found: list[tuple[int, Acceptance]] = []
        for part in condition.operands:
            found += [(0, part)] if part.operator == "&" else _choices(part)
        return found
    forced = sum({1 << x.mark for x in condition.operands if x.operator == "fin"})
    if forced:
        return [(forced, condition)]
    some = next((x for x in condition.operands if x.operator == "|"), None)
    if some is None:
        return []
    rest = [x for x in condition.operands if x is not some]
    return [(0, both([part, *rest])) for part in some.operands]
