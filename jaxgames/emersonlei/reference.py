"""The textbook: the order in which marks were met last, and then a parity game.

Plain, to read, and to compare with on small games. Another memory than the solver's:
all orders of the marks, however simple the condition.
"""

from jaxgames.arena import Arena
from jaxgames.emersonlei._game import Game
from jaxgames.emersonlei._solution import Solution
from jaxgames.parity import reference as parity
from jaxgames.solution import Stats, Status


def solve(game: Game) -> Solution:
    """Who wins from each vertex.

    A latest appearance record [1] is a list of all marks. The marks of an edge go to
    the front of it, in some order. The largest place from which one of them came, again
    and again, bounds those in front of it: they are the marks that are met infinitely
    often. So the priority is twice that place, and one more if the condition does not
    hold of the marks up to it. `k!` records for `k` marks.

    Args:
        game: a game without padding; every vertex has a successor.

    References:
        [1] Gurevich and Harrington, Trees, automata, and games, STOC 1982,
        doi:10.1145/800070.802177.

    Examples:
        >>> arena = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[1, 0])
        >>> solve(Game.streett(arena, [([0], [1])])).winner
        array([1, 1], dtype=int8)
    """
    arena, met = game.arena, game.marks()
    number: dict[tuple[int, tuple[int, ...]], int] = {}
    todo: list[tuple[int, tuple[int, ...]]] = []
    src, dst, priority = [], [], []

    def of(vertex: int, record: tuple[int, ...]) -> int:
        if (vertex, record) not in number:
            number[vertex, record] = len(number)
            todo.append((vertex, record))
        return number[vertex, record]

    for v in range(arena.shape[0]):
        of(v, game.condition.marks)
    while todo:
        v, record = todo.pop()
        for e in range(arena.row_ptr[v], arena.row_ptr[v + 1]):
            new = [mark for mark in record if met[e] >> mark & 1]
            after = (*new, *(mark for mark in record if mark not in new))
            place = max((record.index(mark) + 1 for mark in new), default=0)
            held = game.condition.holds(sum(1 << mark for mark in after[:place]))
            src.append(number[v, record])
            dst.append(of(int(arena.dst[e]), after))
            priority.append(2 * place + (not held))
    records = Arena.from_edges(
        src, dst, owner=[arena.owner[v] for v, _ in number], edge_priority=priority
    )
    winner = parity.solve(records).winner[: arena.shape[0]]
    return Solution(
        winner=winner, status=Status.SOLVED, stats=Stats(solver="reference")
    )
