"""Büchi games: player 0 wants to visit accepting vertices for ever."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxgames import fixpoint, host, memory, ops, race, solution, validity
from jaxgames.arena import Arena, is_traced
from jaxgames.buchi import _links, reference
from jaxgames.buchi._attractors import Attractors, Problem, Regions
from jaxgames.graph import _links as of_graph
from jaxgames.limits import limited
from jaxgames.progress import Meter, Progress, as_progress
from jaxgames.race import Track
from jaxgames.solution import NO_EDGE, UNDECIDED, SolveError, Stats, Status
from jaxgames.solver import Registry, Solver

HOST, DEVICE, RACE = "host", "device", "race"
PLACES = (HOST, RACE)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Solution(solution.Solution):
    """Who wins from each vertex of a Büchi game, and how.

    Attributes:
        winner: int8 `[V]`: 0 or 1, or -1 where undecided, or padding.
        strategy: int32 `[V]`: for a vertex that its owner wins, the index of the edge
            to take; -1 elsewhere.
    """

    winner: Any = None
    strategy: Any = None

    def successor(self, arena: Arena) -> Any:
        """The strategy as vertices: int32 `[V]`, -1 where there is no move."""
        return solution.successor_of(arena, self.strategy)

    def __repr__(self) -> str:
        """One line: how many vertices each player wins."""
        if isinstance(self.winner, Tracer) or self.winner.ndim != 1:
            return f"Solution(winner {self.winner.shape})"
        won = [int((self.winner == player).sum()) for player in (0, 1)]
        return f"Solution(player 0 wins {won[0]}, player 1 wins {won[1]})"


def undecided(status: Status, arena: Arena, *_, state: Any = None, **__) -> Solution:
    """The solution that knows nothing, for the arguments of `solve`."""
    size = np.shape(arena.owner)
    return Solution(
        winner=np.full(size, UNDECIDED, np.int8),
        strategy=np.full(size, NO_EDGE, np.int32),
        status=status,
        stats=Stats(solver="none", rounds=0),
        state=state,
    )


GAME_SOLVERS = Registry("Büchi game", Attractors, places=PLACES)
"""The solvers of Büchi games that are array programs, by name."""


@limited(undecided)
def solve(
    arena: Arena,
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    state: fixpoint.Carry | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> Solution:
    """Decides who wins a Büchi game from each vertex, and how.

    Player 0 wins a play that visits accepting vertices infinitely often, player 1 any
    other. Works inside `jax.jit` and `jax.vmap` on a traced arena.

    Args:
        arena: a game with accepting vertices; every vertex has a successor.
        solver: a name from `GAME_SOLVERS`; a solver with options of its own; `"host"`
            for the sequential engine, which wants numba to be fast; `"race"` for both
            at once; or `"auto"`, which chooses.
        max_steps: rounds on the device at most, those of `state` counted in. None: no
            limit.
        state: `solution.state` of an earlier call with the same arena and solver, to
            go on where it stopped.
        throw: whether to raise where not every vertex was decided. Under tracing
            nothing is raised: look at `solution.status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then. Not under tracing.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        Winners and strategies: [`Solution`][jaxgames.buchi.Solution]; the same from
        every solver.

    Raises:
        ValueError: the arena has no accepting vertices, a vertex lacks successors, or
            an argument is wrong.
        SolveError: the solve stopped early and `throw` is set.

    Examples:
        >>> from jaxgames import Arena, buchi
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1, 2], [0, 1, 2, 2], owner=[0, 1, 0], accepting=[1, 0, 0]
        ... )
        >>> found = buchi.solve(arena)
        >>> found
        Solution(player 0 wins 1, player 1 wins 2)
        >>> found.strategy
        array([ 0,  2, -1], dtype=int32)
    """
    arena, fault = validity.checked(arena)
    if arena.accepting is None:
        raise ValueError("a Büchi game needs accepting vertices: accepting is None")
    on_host = isinstance(solver, str) and solver in PLACES
    machine = None if on_host else GAME_SOLVERS.resolve(solver)
    if max_steps is not None and not is_traced(max_steps) and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    limited = max_steps is not None or state is not None
    if is_traced((arena, state, max_steps)):
        if machine is None:
            raise ValueError(
                f"solver={solver!r} runs on the host, where a traced game cannot be: "
                f"name a solver of the device, {', '.join(GAME_SOLVERS)}"
            )
        return validity.withdrawn(fault, _traced(arena, machine, max_steps, state))
    if machine is None and limited:
        raise ValueError(
            f"max_steps and state are the device's: solver={solver!r} takes neither"
        )
    with ops.at_once():  # a constant of somebody's jit is still one
        meter = as_progress(progress)
        place = _place_for(arena, solver, limited)
        noted = host.told_if_slow(solver, arena.shape[1])
        machine = machine or Attractors()
        track = Track()
        engines = {}
        if place != HOST:
            own = meter if place == DEVICE else track.meter
            engines[DEVICE] = lambda: _device(arena, machine, max_steps, state, own)
        if place != DEVICE:
            engines[HOST] = lambda: _on_host(arena, track)
        if place == DEVICE:
            found = engines[DEVICE]()
        else:
            found = race.first(track, engines, progress=meter, prefer=DEVICE)
        found = noted(found)
    if throw and found.status != Status.SOLVED:
        raise SolveError(found.status, found)
    return found


def _place_for(arena: Arena, solver: Any, limited: bool) -> str:
    if isinstance(solver, str) and solver in PLACES:
        return solver
    if solver != "auto" or limited or not host.can_compile():
        return DEVICE
    if ops.current_spread() is not None:
        return DEVICE
    if jax.default_backend() == "cpu" or arena.shape[1] < ops.SLICE_FROM:
        return HOST
    return RACE


def _on_host(arena: Arena, track: Track) -> Solution:
    found = reference.solve(arena, np.asarray(arena.accepting), track.stop)
    if found is None:
        nothing = np.full(arena.shape[0], -1, np.int32)
        winner = nothing.astype(np.int8)
        return Solution(Status.INTERRUPTED, winner=winner, strategy=nothing)
    winner, strategy, rounds = found
    return Solution(
        Status.SOLVED,
        winner=winner,
        strategy=strategy,
        stats=Stats(solver=HOST, outer=rounds),
    )


def _device(arena: Arena, solver: Any, max_steps, state, meter) -> Solution:
    size, edges = arena.shape
    masks = [memory.mask(size)] * 3
    memory.check(
        solver,
        lambda: Problem(memory.shape_of_links(size, edges, size), *masks),
        size,
        edges,
    )
    more = (0, _links.num_rows(arena) - size)
    masks = (arena.owner, arena.accepting, of_graph.inside(arena))
    game = Problem(
        _links.successors(arena),
        *(jnp.asarray(np.pad(np.asarray(x), more)) for x in masks),
    )
    outcome = fixpoint.run(solver, game, state, max_steps=max_steps, progress=meter)
    regions = [np.asarray(x)[:size] for x in outcome.answer]
    return Solution(
        outcome.status,
        winner=regions[0],
        strategy=reference.descent(arena, *regions),
        stats=_stats(solver, game, outcome),
        state=outcome.carry,
    )


def _stats(solver: Any, game: Problem, outcome: fixpoint.Outcome) -> Stats:
    facts = solver.stats(game, outcome.carry.state)
    return Stats(solver=solver.name, rounds=outcome.rounds, **facts)


def _traced(arena: Arena, solver: Any, max_steps, state) -> Solution:
    inside = of_graph.inside(arena)
    owner, accepting = jnp.asarray(arena.owner), jnp.asarray(arena.accepting)
    game = Problem(of_graph.traced(arena).out, owner, accepting, jnp.asarray(inside))
    outcome = fixpoint.traced(solver, game, state, max_steps)
    return Solution(
        outcome.status,
        winner=outcome.answer.winner,
        strategy=_descent(arena, outcome.answer),
        stats=_stats(solver, game, outcome),
        state=outcome.carry,
    )


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
    moves = (regions.winner == jnp.asarray(arena.owner)) & (least == 0)
    return ops.edge_of(arena, jnp.where(moves, move, NO_EDGE))
