"""Parity games of a few vertices, solved by trying all positional strategies."""

import itertools


def strategies(arena, player):
    """Every choice of one edge for each vertex of a player."""
    rows = [
        range(arena.row_ptr[v], arena.row_ptr[v + 1])
        for v in range(len(arena.owner))
        if arena.owner[v] == player
    ]
    return list(itertools.product(*rows))


def play_winners(arena, edges):
    """Who wins the only play from each vertex when one edge of each is taken."""
    move = {int(arena.src[e]): int(arena.dst[e]) for e in edges}
    winners = []
    for v in move:
        for _ in move:
            v = move[v]  # in a cycle now
        cycle = [v]
        while move[cycle[-1]] != v:
            cycle.append(move[cycle[-1]])
        winners.append(max(int(arena.priority[u]) for u in cycle) % 2)
    return dict(zip(move, winners, strict=True))


def winners(arena):
    """Who wins from each vertex; both players must be able to show it."""
    mine, yours = strategies(arena, 0), strategies(arena, 1)
    table = [[play_winners(arena, (*s, *t)) for t in yours] for s in mine]
    answer = []
    for v in range(len(arena.owner)):
        wins_0 = any(all(play[v] == 0 for play in row) for row in table)
        wins_1 = any(all(row[t][v] == 1 for row in table) for t in range(len(yours)))
        assert wins_0 != wins_1, "parity games are determined"
        answer.append(int(wins_1))
    return answer


def wins(arena, player, winner, strategy):
    """Whether a player's strategy wins from every vertex that he is said to win.

    Outside of these vertices he takes first edges.
    """
    mine = [
        int(strategy[v]) if winner[v] == player else int(arena.row_ptr[v])
        for v in range(len(arena.owner))
        if arena.owner[v] == player
    ]
    return all(
        play[v] == player
        for rival in strategies(arena, 1 - player)
        for play in [play_winners(arena, (*mine, *rival))]
        for v in play
        if winner[v] == player
    )
