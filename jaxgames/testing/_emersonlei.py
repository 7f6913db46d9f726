"""Games of Emerson and Lei: solvers, batches and verification."""

import dataclasses
import functools
from collections.abc import Iterator

import numpy as np

from jaxgames import emersonlei, solve_many
from jaxgames.acceptance import Acceptance, both, either, fin, inf
from jaxgames.arena import Arena
from jaxgames.emersonlei import Game, Solution, reference
from jaxgames.testing import _games
from jaxgames.testing._arenas import SHAPES, odd_arena
from jaxgames.testing._labelled import Labelled, labelled, smaller
from jaxgames.testing._subject import (
    Cases,
    Complaint,
    Subject,
    each,
    first,
)

BATCH, SIZE, MARKS = 32, 6, 4


def condition(rng: np.random.Generator, marks: int, depth: int = 2) -> Acceptance:
    """A random condition: a formula, or pairs of Rabin or Streett."""
    kind = rng.integers(4)
    if depth == 2 and kind < 2 and marks >= 2:
        join, inner = (either, both) if kind else (both, either)
        pairs = range(0, marks - 1, 2)
        return join(inner([fin(k), inf(k + 1)]) for k in pairs)
    if depth == 0 or rng.random() < 0.2:
        mark = int(rng.integers(marks))
        return inf(mark) if rng.random() < 0.5 else fin(mark)
    join = both if rng.random() < 0.5 else either
    return join(condition(rng, marks, depth - 1) for _ in range(rng.integers(2, 4)))


def game_of(case: Labelled) -> Game:
    """The game of a case: its condition is drawn from the seed that it carries."""
    seed = int(case.vertex["condition"].max(initial=0))
    rng = np.random.default_rng(seed)
    marks = int(rng.integers(1, MARKS + 1))
    arena = Arena.from_edges(case.src, case.dst, owner=case.vertex["owner"])
    of_vertices, of_edges = case.vertex["marks"], case.edge["marks"]
    return Game.of(
        arena,
        condition(rng, marks),
        vertex_marks=of_vertices % (1 << marks),
        edge_marks=of_edges % (1 << marks) if of_edges.any() else None,
    )


def _all(cases: Cases) -> list[Game]:
    return [game_of(case) for case in cases]


def _expected(cases: Cases) -> list[np.ndarray]:
    """By records of which marks were met last."""
    return [reference.solve(game).winner for game in cases.once(_all)]


def _wrong(game: Game, answer: Solution, expected: np.ndarray) -> Complaint:
    return _games.differs("winner", answer.winner, expected) or _games.rejected(
        emersonlei.verify(game, answer)
    )


_of = functools.partial(_games.compared, wrong=_wrong, expected=_expected, games=_all)

of_place = _games.one_by_one(emersonlei, _of)


def is_right(game: Game, claim: Solution, expected: np.ndarray) -> bool:
    """Whether a claim has the winners, and moves that win: each player's are fixed.

    Where the moves are fixed what is left is a game over nodes, whose winners are those
    of the records.
    """
    winner, machine = claim.winner, claim.machine
    if (winner != expected).any():
        return False
    vertex = machine.vertex
    nodes = np.arange(len(vertex))
    source = np.repeat(nodes, np.diff(machine.row_ptr))
    edge = np.arange(len(source)) - machine.row_ptr[source]
    edge += game.arena.row_ptr[vertex][source]
    owner = game.arena.owner[vertex]
    for player in (0, 1):
        fixed = (owner == player) & (winner[vertex] == player)
        keep = ~fixed[source] | (machine.move[source] == edge)
        if len(np.unique(source[keep])) < len(nodes):
            return False
        arena = Arena.from_edges(source[keep], machine.target[keep], owner=owner)
        left = Game.of(arena, game.condition, edge_marks=game.marks()[edge[keep]])
        alone = dataclasses.replace(left, arena=arena)
        if (reference.solve(alone).winner[machine.start] != winner).any():
            return False
    return True


def _spoilt(case: Labelled) -> Iterator[Complaint]:
    """What is accepted is right."""
    game = game_of(case)
    right = emersonlei.solve(game, "host")
    expected = reference.solve(game).winner
    rng = np.random.default_rng([case.size, len(case.src)])
    for _ in range(3):
        winner, move = np.array(right.winner), np.array(right.machine.move)
        v, node = int(rng.integers(len(winner))), int(rng.integers(len(move)))
        if rng.random() < 0.2:
            winner[v] = 1 - winner[v]
        if rng.random() < 0.8:
            of = int(right.machine.vertex[node])
            move[node] = rng.integers(*game.arena.row_ptr[of : of + 2])
        machine = dataclasses.replace(right.machine, move=move)
        claim = dataclasses.replace(right, winner=winner, machine=machine)
        verdict = emersonlei.verify(game, claim)
        if verdict and not is_right(game, claim, expected):
            yield f"{winner.tolist()} with moves {move.tolist()} is wrong but accepted"
        untouched = (winner == right.winner).all() and (
            move == right.machine.move
        ).all()
        if untouched and not verdict:
            yield f"the answer is right, but rejected: {verdict}"


def _draw(rng: np.random.Generator, index: int, size: int) -> Labelled:
    arena = odd_arena(SHAPES[index % len(SHAPES)], rng, size)
    vertices, edges = arena.shape
    marks = 1 << MARKS
    on_edges = rng.integers(0, marks, edges) if rng.random() < 0.4 else 0
    return labelled(
        arena.src,
        arena.dst,
        vertices,
        {
            "owner": arena.owner,
            "marks": rng.integers(0, marks, vertices)
            & rng.integers(0, marks, vertices),
            "condition": np.full(vertices, int(rng.integers(1 << 16))),
        },
        {"marks": np.zeros(edges, int) + on_edges},
    )


def _show(case: Labelled) -> str:
    game = game_of(case)
    arena = game.arena
    text = [
        f"arena = Arena.from_edges({arena.src.tolist()}, {arena.dst.tolist()}, "
        f"owner={arena.owner.tolist()})",
        f"# {game.condition}",
        f"# marks along edges: {game.marks().tolist()}",
    ]
    return "\n".join(text)


def subject() -> Subject:
    return Subject(
        name="emersonlei",
        draw=_draw,
        checks={
            "host": of_place("host"),
            "auto": of_place("auto"),
            "recursion": of_place("recursion"),
            "verify": each(_spoilt),
            "many": _of(functools.partial(solve_many, emersonlei)),
            "promotion": first(of_place("promotion"), 1),
        },
        smaller=smaller,
        show=_show,
        size=SIZE,
        batch=BATCH,
    )
