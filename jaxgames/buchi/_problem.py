"""What Büchi games are to the driver."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, memory, ops, solution, validity
from jaxgames.arena import Arena, is_traced
from jaxgames.buchi import _links, host
from jaxgames.buchi._attractors import Attractors, Problem, Regions
from jaxgames.graph import _links as of_graph
from jaxgames.later import jax, jnp
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status
from jaxgames.solver import Registry, Solver

GAME_SOLVERS = Registry(
    "Büchi game", Attractors, places=(drive.HOST, drive.RACE), base=Attractors
)
"""The solvers of Büchi games that are array programs, by name."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Solution(solution.Winners):
    """Who wins from each vertex of a Büchi game, and how.

    Attributes:
        winner: int8 `[V]`: 0 or 1, or -1 where undecided, or padding.
        strategy: int32 `[V]`: for a vertex that its owner wins, the index of the edge
            to take; -1 elsewhere. None if `strategies=False` was asked for.
    """

    winner: Any = None
    strategy: Any = None


class Won(NamedTuple):
    """Who wins from each vertex, and how."""

    winner: Any  # int8 [V]
    strategy: Any  # int32 [V], or None


def check(arena: Any) -> None:
    """Raises ValueError unless it is an arena with accepting vertices, or a stack."""
    validity.check_each(arena, total=False)
    if arena.accepting is None:
        raise ValueError("there are no accepting vertices: accepting is None")


class Games(drive.Problem[Arena]):
    """Büchi games."""

    name = "buchi"
    solvers = GAME_SOLVERS
    solved = Solution

    # ---- one game --------------------------------------------------------------

    def read(self, question: Any) -> tuple[Arena, Any]:
        """Vertices are accepting or not, and have successors."""
        arena, fault = validity.checked(question)
        if arena.accepting is None:
            raise ValueError("a Büchi game needs accepting vertices: accepting is None")
        return arena, fault

    def undecided(self, question: Any) -> Won:
        size = np.shape(question.owner)
        return Won(np.full(size, UNDECIDED, np.int8), np.full(size, NO_EDGE, np.int32))

    def shapes(self, subject: Arena, solver: Solver) -> Problem:
        """Links, and three masks."""
        (size, edges), mask = subject.shape, memory.mask(subject.shape[0])
        return Problem(memory.shape_of_links(size, edges, size), mask, mask, mask)  # type: ignore

    def is_resident(self, subject: Arena, solver: Solver) -> bool:
        """Masks never are."""
        return False

    def prepare(self, subject: Arena, solver: Solver) -> Problem:
        """Links that are kept, and masks with padding."""
        more = (0, _links.num_rows(subject) - subject.shape[0])
        masks = (subject.owner, subject.accepting, of_graph.inside(subject))
        return Problem(
            _links.successors(subject),
            *(jnp.asarray(np.pad(np.asarray(x), more)) for x in masks),
        )

    def own(self, question: Arena, game: Problem, answer: Regions) -> Won:
        """With moves down in rank."""
        if is_traced(answer):
            return Won(answer.winner, _descent(question, answer))
        regions = [np.asarray(x)[: question.shape[0]] for x in answer]
        return Won(regions[0], host.descent(question, *regions))

    def layout(self, game: Problem) -> dict[str, Any]:
        return {"layout": ops.links_layout(game.links)}

    def on_host(
        self, question: Arena, *, strategies=True, track=None, max_steps=None
    ) -> Solution:
        """By [`reference.solve`][jaxgames.buchi.host.solve]."""
        stop = drive.Track().stop if track is None else track.stop
        found = host.solve(question, np.asarray(question.accepting), stop)
        status, stats = Status.SOLVED, Stats(solver=drive.HOST)
        if found is None:
            answer, status = self.undecided(question), Status.INTERRUPTED
        else:
            answer = Won(*found[:2])
            stats = Stats(solver=drive.HOST, outer=found[2])
        if not strategies:
            answer = answer._replace(strategy=None)
        return self.solution(answer, status=status, stats=stats)

    # ---- many ------------------------------------------------------------------

    def auto(self, stack: Any) -> Solver:
        """By single sweeps: finished attractors would keep all others waiting."""
        return Attractors(sweeps=1)

    def check(self, question: Any) -> None:
        """Every vertex has a successor."""
        check(question)
        validity.check_each(question)

    def game(self, question: Arena, solver: Any, facts: None = None) -> Problem:
        """Links and masks."""
        masks = (question.owner, question.accepting, of_graph.inside(question))
        return Problem(of_graph.traced(question).out, *map(jnp.asarray, masks))

    def finish(self, solver: Any, question: Arena, found: Regions) -> Won:
        """With moves."""
        moves = _descent(question, found) if solver.strategies else None
        return Won(found.winner, moves)


PROBLEM = drive.register(Games())
"""Büchi games, for [`solve_many`][jaxgames.solve_many]."""


def _descent(arena: Arena, regions: Regions) -> jax.Array:
    """The first edge of each winner down in rank, in a layer (pure)."""

    def misses(winner, layer, rank, there, its_layer, its_rank):
        same = (winner == there) & (layer == its_layer)
        free = (rank == 0) & (winner == 0)
        return (~(same & (free | (its_rank == jnp.maximum(rank - 1, 0))))).astype(
            jnp.int32
        )

    at_source = (ops.source(arena, x) for x in regions)
    at_target = (ops.target(arena, x) for x in regions)
    worst = ops.edgewise(misses, *at_source, *at_target)
    least, move = ops.out_argmin(arena, worst, bound=1)
    owner = jnp.asarray(arena.owner).astype(regions.winner.dtype)
    moves = (regions.winner == owner) & (least == 0)
    return ops.edge_of(arena, jnp.where(moves, move, NO_EDGE))
