"""Recursive tangle learning."""

from collections.abc import Iterable

from jaxgames.parity.reference._game import Answer, Game
from jaxgames.parity.reference._sets import Board, Moves, Stopped, Tangle


def solve_tangles(game: Game, max_steps: int, stop) -> Answer:
    """Solves a game; at most so many vertices are attracted."""
    board = Board(game, max_steps, stop)
    board.stats |= {"tangles": 0, "passes": 0}
    tangles: list[Tangle] = []
    try:
        while board.left:
            board.stats["passes"] += 1
            found = _search(board, tangles)
            board.stats["tangles"] += sum(bool(t.escapes) for t in found)
            tangles += [t for t in found if t.escapes]
            for dominion in found:
                if not dominion.escapes and dominion.vertices <= board.left:
                    player = dominion.player
                    won, more = board.attract(player, dominion.vertices, board.left)
                    board.win(player, won, dominion.moves | more)
    except Stopped:
        pass
    return board.answer()


def _search(board: Board, tangles: Iterable[Tangle]) -> list[Tangle]:
    """New tangles, and dominions, which are tangles without an escape."""
    found: list[Tangle] = []
    boxes = [{*board.left}]
    while boxes:
        box = boxes.pop()
        if not box:
            continue
        player = max(board.priority[v] for v in box) % 2
        others = [board.priority[v] for v in box if board.priority[v] % 2 != player]
        heads = {v for v in box if board.priority[v] > max(others, default=-1)}
        here, moves = board.attract(player, heads, box, tangles)
        leaving = set()
        for v in heads:
            if board.owner[v] != player:
                stays = board.successors(v, box) <= here
            else:
                edge = board.move(v, here)
                stays = edge is not None
                if edge is not None:
                    moves[v] = edge
            if not stays:
                leaving.add(v)
        boxes.append(box - here)
        if leaving:
            out, _ = board.attract(1 - player, leaving, here, tangles)
            boxes.append(here - out)
        else:
            found += _parts(board, player, here, moves)
    return found


def _parts(board: Board, player: int, here: set[int], moves: Moves) -> list[Tangle]:
    """The bottom strongly connected components of a region that is not open."""
    after = {
        v: {board.dst[moves[v]]}
        if board.owner[v] == player
        else board.successors(v, here)
        for v in here
    }
    reaches = {v: _reached(after, v) for v in here}
    found = []
    for part in {frozenset(reaches[v]) for v in here}:
        # Whatever a bottom component reaches reaches all of it.
        if part and all(reaches[v] == part for v in part):
            rivals = [v for v in part if board.owner[v] != player]
            out = set().union(*(board.successors(v, board.left) for v in rivals))
            own = {v: moves[v] for v in part if board.owner[v] == player}
            found.append(Tangle(player, part, own, frozenset(out - part)))
    return found


def _reached(after: dict[int, set[int]], v: int) -> set[int]:
    """What a vertex reaches by at least one edge."""
    reached: set[int] = set()
    todo = [v]
    while todo:
        new = after[todo.pop()] - reached
        reached |= new
        todo += new
    return reached
