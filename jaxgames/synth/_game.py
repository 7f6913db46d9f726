"""The parity game of a specification: states, and choices of the second to move.

References:
    Jacobs et al., The reactive synthesis competition (SYNTCOMP): 2018-2021, STTT 2024,
    doi:10.1007/s10009-024-00754-1.
    Perez, The extended HOA format for synthesis, arXiv:1912.05793.
"""

import functools
import itertools
import operator
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from jaxgames import limits
from jaxgames.arena import Arena
from jaxgames.ltl import ParityAutomaton, _guards
from jaxgames.ltl._guards import tabled
from jaxgames.tuning.ltl import TABLES_UP_TO

T = TypeVar("T")

Cube = tuple[int, int, int]
"""A condition on the propositions of who moves first, and what it allows: masks of the
propositions that must and must not hold, and of the ends that the second can go to."""

MAX_CHOICES = 1 << 22
"""Vertices that a game may have."""


class Game(NamedTuple):
    """The game of a specification.

    Attributes:
        arena: states, then choices.
        first: mask of the propositions that are set first.
        witness: for each state and each of its choices, how the first to move offers
            it: masks of the propositions that must and must not hold.
    """

    arena: Arena
    first: int
    witness: dict[tuple[int, int], tuple[int, int]]


def build(
    automaton: ParityAutomaton, controllable: Iterable[str], *, moore: bool
) -> Game:
    """Makes the game; the arguments are those of a specification."""
    graph = automaton.graph
    names = graph.propositions
    own = graph.letter(controllable)
    first = own if moore else (1 << len(names)) - 1 & ~own
    ends, end_of = _different(graph.targets, automaton.colour)
    of_edges, guards = graph.labels
    # Where the first has moved, a cube always leaves the second a letter.
    own_cubes = [{(must & first, never & first) for must, never in x} for x in guards]
    number: dict[tuple[int, ...], int] = {}
    witness: dict[tuple[int, int], tuple[int, int]] = {}
    tails, heads = [], []
    known: dict[tuple, list[tuple[list[int], tuple[int, int]]]] = {}
    size, offsets = graph.num_states, graph.offsets.tolist()
    for q in range(size):
        limits.tick("splitting labels", q, "states")
        edges = slice(offsets[q], offsets[q + 1])
        local: dict[int, int] = {}
        row = [local.setdefault(end, len(local)) for end in end_of[edges]]
        key = (*of_edges[edges], *row)
        offered = known.get(key)
        if offered is None:
            cubes = {
                (must, never, 1 << end)
                for label, end in zip(of_edges[edges], row, strict=True)
                for must, never in own_cubes[label]
            }
            offered = known[key] = [
                (_guards.indices(choice), how)
                for choice, how in choices(frozenset(cubes)).items()
            ]
        named = list(local)
        for choice, how in offered:
            members = tuple(sorted([named[i] for i in choice]))
            vertex = size + number.setdefault(members, len(number))
            witness[q, vertex] = how
            tails.append(q)
            heads.append(vertex)
        if len(number) > MAX_CHOICES:
            raise ValueError(f"the game has more than {MAX_CHOICES} choices")
    count = len(tails)
    degree = [len(choice) for choice in number]
    chosen = ends[list(itertools.chain(*number))]
    tails = np.append(tails, np.repeat(size + np.arange(len(number)), degree))
    heads = np.append(heads, chosen[:, 0])
    owner = np.zeros(size + len(number), bool)
    owner[:size] = not moore
    owner[size:] = moore
    arena = Arena.from_edges(
        tails.astype(np.int32),
        heads.astype(np.int32),
        owner=owner,
        edge_priority=np.append(np.zeros(count, np.int32), chosen[:, 1]),
    )
    return Game(arena, first, witness)


def _different(targets: np.ndarray, colour: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The different pairs of a target and a colour: `[N, 2]`; and that of each edge."""
    colours = int(colour.max(initial=0)) + 1
    codes, end_of = np.unique(
        targets.astype(np.int64) * colours + colour, return_inverse=True
    )
    return np.stack(np.divmod(codes, colours), axis=1), end_of.tolist()


def on_vertices(arena: Arena) -> Arena:
    """The same game with priorities of vertices: an edge with one goes by a vertex."""
    size = arena.shape[0]
    rows = [arena.successors(v) for v in range(size)]
    heads, colours = np.concatenate(rows), np.asarray(arena.edge_priority)
    tails = np.repeat(np.arange(size), [len(row) for row in rows])
    pairs = np.stack([heads, colours], axis=1)[colours > 0]
    ends, number = np.unique(pairs, axis=0, return_inverse=True)
    heads = heads.copy()
    heads[colours > 0] = size + number.reshape(-1)
    return Arena.from_edges(
        np.append(tails, size + np.arange(len(ends))),
        np.append(heads, ends[:, 0]),
        owner=np.append(arena.owner, np.zeros(len(ends), bool)),
        priority=np.append(np.zeros(size, np.int32), ends[:, 1]),
    )


def choices(cubes: frozenset[Cube]) -> dict[int, tuple[int, int]]:
    """The sets of ends, inclusion-minimal, that the second may be left to choose from.

    For each, a mask, how the first leaves it: propositions that must and must not hold.
    """
    support = functools.reduce(operator.or_, (a | b for a, b, _ in cubes), 0)
    if support.bit_count() <= TABLES_UP_TO:
        return _choices_by_tables(cubes, support)
    known: dict[frozenset[Cube], dict[int, tuple[int, int]]] = {
        frozenset(): {0: (0, 0)}
    }

    def split(cubes: frozenset[Cube]) -> dict[int, tuple[int, int]]:
        """For cubes each of which asks for something."""
        if cubes in known:
            return known[cubes]
        limits.tick("splitting labels", len(known), "cases")
        counts: dict[int, int] = {}
        for must, never, _ in cubes:
            rest = must | never
            while rest:
                low = rest & -rest
                counts[low] = counts.get(low, 0) + 1
                rest ^= low
        bit = max(counts, key=lambda x: (counts[x], x))
        found: dict[int, tuple[int, int]] = {}
        for value in (False, True):
            sure, less = settled(
                (must & ~bit, never & ~bit, end)
                for must, never, end in cubes
                if not (never if value else must) & bit
            )
            for choice, (must, never) in split(less).items():
                how = must | bit * value, never | bit * (not value)
                found.setdefault(choice | sure, how)
        known[cubes] = minimal(found)
        return known[cubes]

    sure, less = settled(cubes)
    return minimal({choice | sure: how for choice, how in split(less).items()})


def _choices_by_tables(
    cubes: frozenset[Cube], support: int
) -> dict[int, tuple[int, int]]:
    """The same, sooner where few propositions are asked for."""
    every, places, sets = tabled([cube[:2] for cube in cubes], support)
    allowed: dict[int, int] = {}
    for (*_, end), some in zip(cubes, sets, strict=True):
        allowed[end] = allowed.get(end, 0) | some
    # The letters that leave each set of ends.
    found = {0: every}
    for end, some in allowed.items():
        finer = {}
        for choice, letters in found.items():
            inside = letters & some
            if inside:
                finer[choice | end] = inside
            if inside != letters:
                finer[choice] = letters ^ inside
        found = finer
        limits.tick("splitting labels", len(found), "cases")
    return {x: _cube_inside(y, places) for x, y in minimal(found).items()}


def _cube_inside(letters: int, places: list[tuple[int, int, int]]) -> tuple[int, int]:
    """A cube of letters of a table, as large as it may be."""
    some = letters & -letters
    must = never = 0
    for bit, apart, own in places:
        other = some >> apart if some & own else some << apart
        if other & ~letters:
            must, never = (must | bit, never) if some & own else (must, never | bit)
        else:
            some |= other
    return must, never


def settled(cubes: Iterable[Cube]) -> tuple[int, frozenset[Cube]]:
    """The ends that are allowed whatever comes, and the cubes of others."""
    sure, less = 0, set()
    for must, never, end in cubes:
        if must | never:
            less.add((must, never, end))
        else:
            sure |= end
    return sure, frozenset(x for x in less if x[2] & ~sure)


def minimal(found: dict[int, T]) -> dict[int, T]:
    """The sets that include no other."""
    if len(found) < 2:
        return found
    kept: list[int] = []
    for choice in sorted(found, key=lambda x: (x.bit_count(), x)):
        if all(other & ~choice for other in kept):
            kept.append(choice)
    return {choice: found[choice] for choice in kept}
