"""Many energy parity games at once: side by side, where their numbers fit."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from jaxgames import drive
from jaxgames.arena import Arena
from jaxgames.energyparity import host
from jaxgames.energyparity.host import Region
from jaxgames.progress import as_progress
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status
from jaxgames.tuning.energy import SIDE_BY_SIDE


def solve(
    problem: Any, arenas: list[Arena], solver, *, progress, strategies
) -> list[Any]:
    """The solution of each game, as it is alone.

    What no edge connects is decided by itself in the recursion of one game, too, in as
    many steps as the longest of all takes. So games are put side by side. A step costs
    much more than a small game.
    """
    plain = [arena.unpad() for arena in arenas]
    found: list[Any] = [None] * len(arenas)
    meter, stop = as_progress(progress), Status.SOLVED
    for members in _groups(plain):
        some = [plain[index] for index in members]
        if stop != Status.SOLVED:
            answers = [_undecided(problem, one, stop, strategies) for one in some]
        elif len(some) == 1:
            how = {"progress": meter, "throw": False, "strategies": strategies}
            answers = [drive.solve(problem, some[0], solver, **how)]
        else:
            inner = host.Inner(solver, meter, None)
            answers = _together(problem, some, inner, strategies)
        for index, one in zip(members, answers, strict=True):
            stop = max(stop, Status(int(one.status)))
            found[index] = problem.padded(one, arenas[index].shape[0])
    meter.close()
    return found


def _undecided(problem: Any, arena: Arena, status: Status, strategies: bool) -> Any:
    size = arena.shape[0]
    winner, move = np.full(size, UNDECIDED, np.int8), np.full(size, NO_EDGE, np.int32)
    region = Region(winner, move, [])
    return problem.found(arena, region, status, Stats(solver="none"), strategies)


def _together(
    problem: Any, arenas: list[Arena], inner: host.Inner, strategies: bool
) -> list[Any]:
    whole, first = drive.union(arenas)
    game = np.repeat(np.arange(len(arenas)), np.diff(first[:, 0]))
    region, status = host.solve(whole, inner, game)
    pieces = host.parted(region.pieces, first) if strategies else {}
    stats = Stats(solver="+".join(sorted(inner.names)), rounds=inner.rounds)
    found = []
    for at, (arena, (start, end)) in enumerate(
        zip(arenas, pairwise(first), strict=True)
    ):
        own = slice(start[0], end[0])
        move = region.move[own]
        move = np.where(move == NO_EDGE, NO_EDGE, move - start[1]).astype(np.int32)
        winner = region.winner[own]
        known = (winner != UNDECIDED).all()
        found.append(
            problem.found(
                arena,
                Region(winner, move, pieces.get(at, [])),
                Status.SOLVED if known else status,
                stats,
                strategies,
            )
        )
    return found


def _groups(arenas: list[Arena]) -> Iterator[list[int]]:
    """Games to put side by side: as many as numbers fit, those of a size together."""
    there = [index for index, arena in enumerate(arenas) if len(arena.owner)]
    fits = [index for index in there if arenas[index].weight.dtype != object]
    alone = [[index] for index in sorted({*range(len(arenas))} - {*fits})]
    bits = dict(zip(fits, _bits([arenas[index] for index in fits]), strict=True))
    members: list[int] = []
    vertices = edges = 0
    for index in sorted(fits, key=bits.__getitem__):
        size, more = arenas[index].shape
        vertices, edges = vertices + size, edges + more
        if not _is_word(bits[index], vertices) or edges > SIDE_BY_SIDE:
            if members:
                yield members
            members, vertices, edges = [], size, more
        members.append(index)
    if members:
        yield members
    yield from alone


def _is_word(bits: float, vertices: int) -> bool:
    """Whether energy games of these numbers take a word, see `Inner.good`."""
    return bits + 2 * np.log2(vertices + 1) < np.log2(host.WORD) - 1


def _bits(arenas: list[Arena]) -> list[float]:
    """What the numbers of the energy games take at most, in bits: see `host.scaled`."""
    if not arenas:
        return []
    game = np.repeat(np.arange(len(arenas)), [arena.shape[0] for arena in arenas])
    priority = np.concatenate([arena.priority for arena in arenas])
    order = np.lexsort((priority, game))
    new = np.diff(game[order], prepend=-1) != 0
    new |= np.diff(priority[order], prepend=-1) != 0
    begin = np.flatnonzero(new)
    count = np.diff(np.append(begin, len(game)))
    product = np.bincount(game[order][begin], np.log2(count + 1.0))
    widest = [float(np.abs(arena.weight.astype(float)).max()) for arena in arenas]
    return (product + np.log2(np.array(widest) + 1)).tolist()
