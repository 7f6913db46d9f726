"""The sequential engines, which can be raced and interrupted, and checks."""

import numpy as np

from jaxgames import drive, ops
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._packing import EMPTY, NARROW, WIDE, Packing
from jaxgames.multienergy._solution import Fronts
from jaxgames.multienergy.host import _levels, _shared, _words, _worklist
from jaxgames.multienergy.host._certificate import Ranks as Ranks
from jaxgames.multienergy.host._certificate import not_won as not_won
from jaxgames.multienergy.host._certificate import ranks as ranks
from jaxgames.multienergy.host._verify import verify as verify
from jaxgames.solution import Stats, Status
from jaxgames.value import freeze

HOST = "host"

_STATUS = {
    _worklist.SOLVED: Status.SOLVED,
    _worklist.STOPPED: Status.INTERRUPTED,
    _worklist.TOO_LARGE: Status.OVERFLOW,
}


def is_ready(game: Game) -> bool:
    """Whether the loops for a game were compiled, or read from the disk, before."""
    loops = _shared.run if _words.fits(game.cap) else _worklist.run
    return loops.ready


def run_host(game: Game, track: drive.Track | None = None) -> Fronts:
    """Runs the engine in this thread, until `track` says that it should stop."""
    stop = None if track is None else track.stop
    if _words.fits(game.cap):
        found = _shared.fronts(game, stop) or _levels.fronts(game, stop)
        status, visits, words = found
        return Fronts(
            status=_STATUS[status],
            words=freeze(split(words, Packing.of(game))),
            packing=Packing.of(game),
            stats=Stats(solver=HOST, visits=visits),
        )
    offsets, targets = np.asarray(game.offsets), np.asarray(game.targets)
    kept = targets[: offsets[-1]]  # what is beyond is padding
    back, sources = ops.transpose(offsets, kept, game.num_positions)
    status, visits, offsets, points = _worklist.fronts(game, back, sources, stop)
    return fronts_of(
        game, offsets, points, _STATUS[status], Stats(solver=HOST, visits=visits)
    )


def split(words: np.ndarray, packing: Packing) -> tuple[np.ndarray, ...]:
    """Budgets of one wide word each, as a packing has them."""
    if packing.num_words == 1 and words.dtype == np.int32:
        return (words,)
    empty = words == np.iinfo(words.dtype).max
    dimensions, width = packing.dimensions, packing.bits + 1
    found = []
    for word in range(packing.num_words):
        energies = [i for i in range(dimensions) if packing.place(i)[0] == word]
        below = (dimensions - 1 - energies[-1]) * width
        part = (words >> below) & ((1 << len(energies) * width) - 1)
        found.append(np.where(empty, EMPTY, part.astype(np.int32)))
    return tuple(found)


def fronts_of(game: Game, offsets, points, status: Status, stats: Stats) -> Fronts:
    """The solution of some budgets.

    Args:
        game: the game.
        offsets: integers `[V + 1]`, where the budgets of each position start.
        points: integers `[P, D]`, the budgets, sorted in each position.
        status: why the solve ended.
        stats: facts about it.
    """
    packing = Packing.of(game, NARROW)
    if packing.open and points.max(initial=0) >= packing.limit:
        packing = Packing.of(game, WIDE)
    counts = np.diff(offsets)
    capacity = 1 << int(counts.max(initial=1) - 1).bit_length()
    owner = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(points)) - offsets[owner]
    words = [np.full((capacity, len(counts)), EMPTY) for _ in range(packing.num_words)]
    packed = [np.zeros(len(points), np.int32) for _ in words]
    for energy in range(packing.dimensions):
        word, shift = packing.place(energy)
        packed[word] |= points[:, energy] << shift
    for word, values in zip(words, packed, strict=True):
        word[place, owner] = values
    found = freeze(tuple(words))
    return Fronts(status=status, words=found, packing=packing, stats=stats)
