"""From moves that depend on the way one came to moves that do not."""

import numpy as np

from jaxgames.arena import Arena
from jaxgames.parity import host
from jaxgames.parity._edges import extend, split
from jaxgames.parity._solution import Solution
from jaxgames.parity.preprocess._reduced import Answer, translate
from jaxgames.solution import NO_EDGE, UNDECIDED, Status


def positional(arena: Arena, winner, strategy, allowed: np.ndarray) -> Answer:
    """Strategies without memory, from what is known of strategies with memory.

    If a player wins his region by strategies that use certain edges only, those that
    are allowed, then he also wins the game in which he has no others, and as parity
    games are positionally determined he does so by a strategy without memory: a
    solution of that game. As most of his vertices have one edge left, this is simpler
    than the original. It is solved only if there are alternatives at all, and the
    strategy that was proposed, int32 `[V]`, fails a check.

    Where some vertices are undecided (their winner, int8 `[V]`, is -1) nothing is
    trusted: those where the allowed edges do not suffice become undecided too. Where no
    strategy is known at all, none is looked for.
    """
    strategy = np.where(winner == arena.owner, strategy, NO_EDGE).astype(np.int32)
    if (strategy == NO_EDGE).all():
        return winner, strategy
    sources = arena.src[allowed]
    sources = sources[winner[sources] == arena.owner[sources]]
    alternatives = np.bincount(sources, minlength=1).max() > 1
    if not alternatives and not (winner == UNDECIDED).any():
        return winner, strategy
    game = split(arena)
    ends, moves = extend(game, winner, strategy)
    if host.verify(game, Solution(Status.SOLVED, winner=ends, strategy=moves)):
        return winner, strategy
    usable = np.zeros(game.shape[1], bool)
    usable[allowed] = True
    usable[arena.shape[1] :] = True
    won, moves = np.full_like(ends, UNDECIDED), np.full_like(moves, NO_EDGE)
    for player in (0, 1):
        _solve_region(game, player, ends == player, usable, won, moves)
    size = arena.shape[0]
    return won[:size], moves[:size]


def _solve_region(game: Arena, player, region, usable, winner, strategy) -> None:
    """Solves a player's region with his usable edges; who leaves it makes him lose."""
    mine = region & (game.owner == player)
    inside = region[game.dst]
    kept = region[game.src] & (~mine[game.src] | (usable & inside))
    edges = np.flatnonzero(kept)
    stuck = mine.copy()
    stuck[game.src[edges]] = False
    vertices, stuck = np.flatnonzero(region), np.flatnonzero(stuck)
    place, outside = np.cumsum(region) - 1, len(vertices)

    def new(v, is_inside=True):
        return np.where(is_inside, place[v], outside)

    src = np.concatenate([new(game.src[edges]), new(stuck), [outside]])
    dst = np.concatenate(
        [new(game.dst[edges], inside[edges]), np.full(len(stuck) + 1, outside)]
    )
    order = np.argsort(src, kind="stable")
    sub = Arena.from_edges(
        src[order],
        dst[order],
        owner=np.append(game.owner[vertices], False),
        priority=np.append(game.priority[vertices], 1 - player),
    )
    solution = host.run(host.prepare(sub))
    old = np.append(edges, np.full(len(stuck) + 1, NO_EDGE))[order]
    keeps = solution.winner[:-1] == player
    winner[vertices[keeps]] = player
    moves = np.asarray(solution.strategy)[:-1]
    strategy[vertices[keeps]] = translate(moves, old)[keeps]
