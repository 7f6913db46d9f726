"""Right solutions of parity games, ways to spoil them, and who is right about them."""

import dataclasses

import numpy as np

from jaxgames.parity import Reason


@dataclasses.dataclass
class Claim:
    """What a solution claims: numpy arrays of real vertices, and measures or None."""

    winner: np.ndarray
    strategy: np.ndarray
    words: np.ndarray
    cut: np.ndarray

    def copy(self) -> "Claim":
        return Claim(*(x.copy() for x in dataclasses.astuple(self)))


TOP = 2**31 - 1


# ---- spoiling ------------------------------------------------------------------


def any_edge(arena, vertex, rng) -> int:
    return int(rng.integers(arena.row_ptr[vertex], arena.row_ptr[vertex + 1]))


def give(arena, claim, vertices, rng) -> None:
    """Gives vertices to their losers, who take any edge of theirs."""
    claim.winner[vertices] ^= 1
    for v in vertices:
        wins = claim.winner[v] == arena.owner[v]
        claim.strategy[v] = any_edge(arena, v, rng) if wins else -1


def winner_only(arena, claim, rng):
    claim.winner[rng.integers(len(claim.winner))] ^= 1


def nobody_wins(arena, claim, rng):
    claim.winner[rng.integers(len(claim.winner))] = rng.choice([-1, 2, 127])


def vertex(arena, claim, rng):
    give(arena, claim, [rng.integers(len(claim.winner))], rng)


def some_vertices(arena, claim, rng):
    give(arena, claim, np.flatnonzero(rng.random(len(claim.winner)) < 0.4), rng)


def region(arena, claim, rng):
    give(arena, claim, np.flatnonzero(claim.winner == rng.integers(2)), rng)


def everything(arena, claim, rng):
    give(arena, claim, np.arange(len(claim.winner)), rng)


def dominion(arena, claim, rng):
    """What can be reached from a vertex."""
    inside = {int(rng.integers(len(claim.winner)))}
    todo = list(inside)
    while todo:
        new = set(arena.successors(todo.pop()).tolist()) - inside
        inside |= new
        todo += new
    give(arena, claim, sorted(inside), rng)


def moving(claim) -> np.ndarray:
    return np.flatnonzero(claim.strategy >= 0)


def another_edge(arena, claim, rng):
    if len(moving(claim)):
        v = rng.choice(moving(claim))
        claim.strategy[v] = any_edge(arena, v, rng)


def all_edges(arena, claim, rng):
    for v in moving(claim):
        claim.strategy[v] = any_edge(arena, v, rng)


def edge_of_another(arena, claim, rng):
    if len(moving(claim)):
        claim.strategy[rng.choice(moving(claim))] = rng.integers(arena.shape[1])


def out_of_range(arena, claim, rng):
    if len(moving(claim)):
        beyond = [-2, -(2**31), arena.shape[1], 2**31 - 1]
        claim.strategy[rng.choice(moving(claim))] = rng.choice(beyond)


def no_move(arena, claim, rng):
    if len(moving(claim)):
        claim.strategy[rng.choice(moving(claim))] = -1


def move_of_loser(arena, claim, rng):
    v = rng.integers(len(claim.winner))
    claim.strategy[v] = any_edge(arena, v, rng)


def one_unit(arena, claim, rng):
    index = tuple(rng.integers(claim.words.shape))
    claim.words[index] += rng.choice([-1, 1])


def one_bit(arena, claim, rng):
    claim.words[tuple(rng.integers(claim.words.shape))] ^= 1 << rng.integers(31)


def top(arena, claim, rng):
    claim.words[rng.integers(2), 0, rng.integers(len(claim.winner))] = TOP


def all_top(arena, claim, rng):
    claim.words[:] = TOP


def zero(arena, claim, rng):
    claim.words[:, :, rng.integers(len(claim.winner))] = 0


def swapped_players(arena, claim, rng):
    claim.words = claim.words[::-1].copy()


def another_cut(arena, claim, rng):
    claim.cut[tuple(rng.integers(claim.cut.shape))] += rng.choice([-31, -1, 1, 31])


def cut_of_nothing(arena, claim, rng):
    claim.cut[rng.integers(2)] = 0


def rising_cut(arena, claim, rng):
    claim.cut = claim.cut[:, ::-1].copy()


def short_cut(arena, claim, rng):
    claim.cut[:, -1:] = 0


OF_SOLUTION = (
    winner_only,
    nobody_wins,
    vertex,
    some_vertices,
    region,
    everything,
    dominion,
    another_edge,
    another_edge,
    all_edges,
    edge_of_another,
    out_of_range,
    no_move,
    move_of_loser,
)
OF_MEASURES = (
    one_unit,
    one_unit,
    one_bit,
    top,
    all_top,
    zero,
    swapped_players,
    another_cut,
    cut_of_nothing,
    rising_cut,
    short_cut,
)


def stretched(claim: Claim, times: int) -> Claim:
    """The same measures with every bit repeated, so that they fill more words."""
    _, words, size = claim.words.shape
    out = np.zeros((2, words * times, size), np.int32)
    for player in range(2):
        for v in range(size):
            bits = f"{big(claim.words[player, :, v]):0{31 * words}b}"
            value = int("".join(bit * times for bit in bits), 2)
            for word in reversed(range(words * times)):
                out[player, word, v] = value & TOP
                value >>= 31
    return dataclasses.replace(claim, words=out, cut=claim.cut * times)


# ---- who is right ---------------------------------------------------------------


def edge_priorities(arena) -> np.ndarray:
    if arena.edge_priority is not None:
        return arena.edge_priority
    return arena.priority[arena.src]


def kept_edges(arena, claim: Claim) -> list[int]:
    """Edges left when the winners' strategies are fixed."""
    return [
        e
        for e, v in enumerate(arena.src)
        if claim.winner[v] != arena.owner[v] or claim.strategy[v] == e
    ]


def fault_of_a_vertex(arena, claim: Claim) -> Reason:
    """The first reason that shows at a single vertex."""
    faults = set()
    for v, (owner, winner, move) in enumerate(
        zip(arena.owner, claim.winner, claim.strategy, strict=True)
    ):
        row = range(arena.row_ptr[v], arena.row_ptr[v + 1])
        if winner not in (0, 1):
            faults.add(Reason.UNDECIDED)
        elif owner != winner:
            if move != -1:
                faults.add(Reason.STRATEGY_OF_LOSER)
            if any(claim.winner[arena.dst[e]] != winner for e in row):
                faults.add(Reason.OPPONENT_ESCAPES)
        elif move == -1:
            faults.add(Reason.STRATEGY_MISSING)
        elif move not in row:
            faults.add(Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX)
        elif claim.winner[arena.dst[move]] != winner:
            faults.add(Reason.STRATEGY_LEAVES_REGION)
    return min(faults, default=Reason.OK)


def lost_cycles(arena, claim: Claim) -> bool:
    """Whether the loser of some kept edge wins a cycle through it: by closures."""
    priority, kept = edge_priorities(arena), kept_edges(arena, claim)
    for p in {int(priority[e]) for e in kept}:
        reach = np.eye(len(arena.owner), dtype=bool)
        for e in kept:
            if priority[e] <= p:
                reach[arena.src[e], arena.dst[e]] = True
        for _ in range(len(reach).bit_length()):
            reach = reach @ reach
        for e in kept:
            u, w = arena.src[e], arena.dst[e]
            if priority[e] == p and p % 2 != claim.winner[u] and reach[w, u]:
                return True
    return False


def reason(arena, claim: Claim) -> Reason:
    """What is wrong with winners and strategies."""
    fault = fault_of_a_vertex(arena, claim)
    if fault == Reason.OK and lost_cycles(arena, claim):
        return Reason.CYCLE_WON_BY_OPPONENT
    return fault


def big(words) -> int:
    """A measure as one number."""
    value = 0
    for word in words:
        value = (value << 31) | int(word)
    return value


def reason_by_measures(arena, claim: Claim, compressed: np.ndarray) -> Reason:
    """The same by the measures alone; `compressed` are the edges' priorities."""
    fault = fault_of_a_vertex(arena, claim)
    if fault != Reason.OK:
        return fault
    bits = 31 * claim.words.shape[1]
    cuts = claim.cut.tolist()
    for row in cuts:
        if row != sorted(row, reverse=True) or row[0] > bits or row[-1] < 0:
            return Reason.CUT_OUT_OF_ORDER
    for v, a in enumerate(claim.winner):
        words = claim.words[a, :, v]
        if words[0] == TOP or (words < 0).any():
            return Reason.MEASURE_RISES
    for e in kept_edges(arena, claim):
        u, w, p = arena.src[e], arena.dst[e], int(compressed[e])
        a = int(claim.winner[u])
        dropped = bits - cuts[a][min(p, len(cuts[a]) - 1)]
        here = big(claim.words[a, :, u]) >> dropped
        there = big(claim.words[a, :, w]) >> dropped
        if here < there or (here == there and p % 2 != a):
            return Reason.MEASURE_RISES
    return Reason.OK
