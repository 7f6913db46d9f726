"""Sweeps and turns over a graph that loses its links on the way, as one program."""

import dataclasses
from typing import Any, NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.graph._compress import room_for
from jaxgames.graph._solver import NONE, ComponentMachine, Subgraph
from jaxgames.later import jax, jnp
from jaxgames.ops import PairLinks
from jaxgames.solver import Solver
from jaxgames.states import register
from jaxgames.tuning.graph import READ, SHRUNK_LIST, SHRUNK_SLICES, STAY
from jaxgames.tuning.graph import TURN_SWEEPS as SWEEPS


@register
class Course(NamedTuple):
    """Where the sweeps and turns are.

    Attributes:
        graph: what is left of the graph.
        state: the solver's.
        rows: int32, what `ops.count_rows` says of the vertices without a root, where
            the links should move.
        moves: bool, the links should move to a smaller layout. The state is settled.
        limit: int32, rounds at most.
        rounds: int32, rounds made.
    """

    graph: Subgraph
    state: Any
    rows: jax.Array
    moves: jax.Array
    limit: jax.Array
    rounds: jax.Array


@dataclasses.dataclass(frozen=True)
class Turns(Solver):
    """The turns of a solver, up to one after which a smaller layout pays.

    Links that are not needed any more are cut, and leave empty places. How many are
    left is counted at a turn.

    Attributes:
        solver: whose turns.
    """

    solver: Any = None
    sweeps_per_check: int | None = dataclasses.field(default=1, kw_only=True)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The solver's."""
        return self.solver.name

    def init(self, game: Subgraph) -> Course:
        """The solver's state to start from."""
        return begin(game, self.solver.begin(game))

    def step(self, game: Subgraph, course: Course) -> Course:
        """Sweeps until they change nothing, or some of them; then a turn."""
        graph, solver = course.graph, self.solver
        end = jnp.minimum(course.limit, course.rounds + sweeps_of_step(graph))
        state, rounds = fixpoint.until(
            lambda x: x[0].stable | (x[1] >= end),
            lambda x: (solver.sweep_some(graph, x[0]), x[1] + 1),
            (course.state, course.rounds),
        )
        course = course._replace(state=state, rounds=rounds)
        return fixpoint.change_if(graph, state.stable, self._turn, course)

    def done(self, game: Subgraph, course: Course) -> jax.Array:
        """Nothing is left, or the links should move, or the limit is reached."""
        over = (course.state.left == 0) | (course.rounds >= course.limit)
        return over | course.moves

    def answer(self, game: Subgraph, course: Course) -> jax.Array:
        """What the host wants to know: vertices left, whether to move, and rows."""
        few = (course.state.left, course.moves.astype(jnp.int32))
        return jnp.concatenate([jnp.stack(few), course.rows])

    def _turn(self, course: Course) -> Course:
        """Settles the state, and starts again with what is left."""
        graph, solver = course.graph, self.solver
        state = solver.settle(graph, course.state)
        rows = ops.count_rows(graph.out, graph.alive & (state.root == NONE))
        links = ops.cells_of_rows(graph.out, rows)
        moves = (
            (state.left > 0) & (links < self._room(graph)) & solver.can_shrink(state)
        )
        course = course._replace(state=state, rows=rows, moves=moves)
        over = moves | (state.left == 0)
        again = _cut if solver.cuts else _go_on

        def go(course: Course) -> Course:
            graph, state = again(solver, course.graph, course.state)
            return course._replace(graph=graph, state=state)

        return fixpoint.change_if(graph, ~over, go, course)

    @staticmethod
    def _room(graph: Subgraph) -> int:
        """With fewer links than this left they move."""
        cells, listed = ops.num_cells(graph.out), isinstance(graph.out, PairLinks)
        if listed and cells <= STAY:
            return 0
        share = cells // (SHRUNK_LIST if listed else SHRUNK_SLICES)
        rooms = {room_for(1 << bits) for bits in range(31)}
        return max((room for room in rooms if room <= share), default=-1) + 1


def sweeps_of_step(graph: Subgraph) -> int:
    """How many sweeps a step makes at most."""
    cells = max(ops.num_cells((graph.out, graph.into)), 1)
    return max(1, min(SWEEPS, READ // cells))


def begin(graph: Subgraph, state: Any, rounds: Any = 0) -> Course:
    """The course of a solver's state (pure)."""
    rows = ops.count_rows(graph.out, graph.alive)
    return Course(
        graph,
        state,
        rows=jnp.zeros_like(rows),
        moves=jnp.array(False),
        limit=jnp.int32(fixpoint.MAX_ROUNDS),
        rounds=jnp.asarray(rounds, jnp.int32),
    )


def _go_on(solver: ComponentMachine, game: Subgraph, state: Any):
    """The next state over the same links (pure)."""
    return game, solver.restart(game, state)


def _cut(solver: ComponentMachine, game: Subgraph, state: Any):
    """Only the links that a settled state needs, and the next state (pure).

    Vertices without any are trimmed.
    """
    out, into = solver.live(game, state)
    out, into = ops.keep_links(game.out, out), ops.keep_links(game.into, into)
    game, state = trim(Subgraph(out, into, game.alive), state)
    return game, solver.restart(game, state)


def trim(game: Subgraph, state: Any):
    """Vertices without links of one direction are components of their own (pure)."""

    def linked(links):
        return ops.links_any(links, tuple(x >= 0 for x in ops.link_targets(links)))

    own = jnp.arange(len(game.alive), dtype=jnp.int32)
    alive = game.alive & (state.root == NONE)
    lone = alive & ~(linked(game.out) & linked(game.into))
    alive &= ~lone
    return cut_dead(game._replace(alive=alive)), state._replace(
        root=jnp.where(lone, own, state.root), left=jnp.sum(alive, dtype=jnp.int32)
    )


def cut_dead(game: Subgraph) -> Subgraph:
    """The graph without the links of dead vertices (pure)."""

    def kept(links):
        ends = zip(
            ops.at_rows(links, game.alive),
            ops.at_targets(links, game.alive),
            strict=True,
        )
        return ops.keep_links(links, tuple(x & y for x, y in ends))

    return Subgraph(kept(game.out), kept(game.into), game.alive)
