"""Priority promotion by the published rule."""

from jaxgames.parity.reference._game import Answer, Game
from jaxgames.parity.reference._sets import Board, Moves, Stopped


def solve_promotion(game: Game, max_steps: int, stop) -> Answer:
    """Solves a game; at most so many vertices are attracted."""
    board = Board(game, max_steps, stop)
    board.stats["promotions"] = 0
    try:
        while board.left:
            player, dominion, moves = _dominion(board)
            won, more = board.attract(player, dominion, board.left)
            board.win(player, won, moves | more)
    except Stopped:
        pass
    return board.answer()


def _dominion(board: Board) -> tuple[int, set[int], Moves]:
    """A set in which a player wins and that his rival cannot leave.

    Each vertex has a region, which is a priority: its own one, until it is attracted to
    another.
    """
    region = {v: board.priority[v] for v in board.left}
    moves: Moves = {}
    p = max(region.values())
    while True:
        player = p % 2
        subgame = {v for v in board.left if region[v] <= p}
        base = {v for v in subgame if region[v] == p}
        here, more = board.attract(player, base, subgame)
        moves |= more
        is_open = False
        for v in here:
            if board.owner[v] != player:
                is_open |= not board.successors(v, subgame) <= here
            elif v not in moves:
                edge = board.move(v, here)
                is_open |= edge is None
                if edge is not None:
                    moves[v] = edge
        rivals = [v for v in here if board.owner[v] != player]
        escapes = set().union(*(board.successors(v, board.left) - here for v in rivals))
        if is_open:
            region |= dict.fromkeys(here, p)
            p = max(region[v] for v in subgame - here)
        elif escapes:
            board.stats["promotions"] += 1
            p = min(region[v] for v in escapes)
            region |= dict.fromkeys(here, p)
            for v in board.left:
                if region[v] < p:
                    region[v] = board.priority[v]
                    moves.pop(v, None)
        else:
            return player, here, moves
