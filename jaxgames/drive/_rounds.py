"""Solving a stack in rounds: when most games are over, the others are packed again.

A stack of games advances in lockstep, and takes as long as its slowest one. So it runs
until few are left; the answers of all are written down, and those that are not over
move to a smaller stack. The sizes of stacks are powers of a small number, so that they
are compiled once.
"""

import dataclasses
import functools
import time
from collections.abc import Hashable
from typing import Any, NamedTuple

from jaxgames import fixpoint, memory, ops, states
from jaxgames.drive._problem import Problem
from jaxgames.later import jax, jnp
from jaxgames.progress import Progress, Report
from jaxgames.solution import Status
from jaxgames.solver import Solver
from jaxgames.states import Origin, check_class, check_games, described, register
from jaxgames.tuning import here
from jaxgames.tuning.drive import CELLS_WORTH_IT, SHRINK


@register
class Stand(NamedTuple):
    """Where the games of a stack are."""

    states: Any  # of the solver, one for each game
    rounds: jax.Array  # int32 [N]: rounds that each game took
    active: jax.Array  # bool [N]: not over


@register
class Written(NamedTuple):
    """What is known of all games of the first stack."""

    answer: Any
    status: jax.Array  # int32 [N]
    rounds: jax.Array  # int32 [N]


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Standing:
    """What a batch goes on from.

    Attributes:
        ids: int32 `[n]`, which games are in the present stack; N where none is.
        carry: where these are.
        written: what is known of all N.
        origin: which N games these are, and their solver.
    """

    ids: Any
    carry: fixpoint.Carry
    written: Written
    origin: Origin


@dataclasses.dataclass(frozen=True)
class Stacked(Solver):
    """A solver on many games in lockstep, until few of them are left.

    Attributes:
        solver: the solver of each.
        few: so many may be left.
    """

    solver: Any = None
    few: int = 0

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.solver.name

    def init(self, game: Any) -> Stand:
        states = jax.vmap(self.solver.init)(game)
        over = self._over(game, states)
        return Stand(states, jnp.zeros(over.shape, jnp.int32), ~over)

    def step(self, game: Any, state: Stand) -> Stand:
        """A round of all; games that are over stay as they are."""
        states = jax.vmap(self.solver.step)(game, state.states)
        return Stand(
            states,
            state.rounds + state.active.astype(jnp.int32),
            state.active & ~self._over(game, states),
        )

    def _over(self, game: Any, states: Any) -> jax.Array:
        def over(game, state):
            return self.solver.done(game, state) | self.solver.overflow(state)

        return jax.vmap(over)(game, states)

    def done(self, game: Any, state: Stand) -> jax.Array:
        """Few games are left."""
        return jnp.sum(state.active, dtype=jnp.int32) <= self.few

    def answer(self, game: Any, state: Stand) -> jax.Array:
        """How many are left."""
        return jnp.sum(state.active, dtype=jnp.int32)


@dataclasses.dataclass(frozen=True)
class Run:
    """How the games of a stack are solved; all of it is static.

    Attributes:
        problem: what they are.
        solver: the solver.
        facts: what the problem says of the stack.
    """

    problem: Problem
    solver: Solver
    facts: Hashable

    def stacked(self, few: int) -> Stacked:
        """The solver of the stack."""
        sweeps = self.solver.sweeps_per_check
        return Stacked(solver=self.solver, few=few, sweeps_per_check=sweeps)


def next_room(games: int, cells: int) -> int:
    """The size of the stack after one of so many games and cells; 0 if it is the last.

    Examples:
        >>> next_room(1_000_000, 100_000_000), next_room(50, 5_000)
        (262144, 0)
    """
    if cells <= here(CELLS_WORTH_IT):
        return 0
    room = 1
    while room * SHRINK * 2 <= games:
        room *= SHRINK
    return room if room * 2 <= games else 0


def advance(
    run: Run,
    arena: Any,
    standing: Standing | None,
    *,
    max_steps: int | None,
    meter: "Games",
    of: Any = None,
) -> tuple[Standing, Status]:
    """Goes on until every game is over; says where they are then, and why it ended.

    Rounds of `standing` count in. Where these games follow from others, a state is a
    state `of` those.
    """
    total, size, edges = run.problem.form.shape(arena)
    of = arena if of is None else of
    now: Standing
    if standing is None:
        _check_room(run, arena)
        game, now = begin(run, arena, of)
    else:
        check_class(standing, Standing)
        check_games(origin(run, of), standing.origin)
        now, rows = standing, arena
        if len(now.ids) < total:
            # Places without a game hold the last one, and are not active.
            rows = _rows(arena, jnp.minimum(now.ids, total - 1))
        game = _games(run, rows)
    try:
        while True:
            games = len(now.ids)
            room = next_room(games, games * edges)
            outcome = fixpoint.run(
                run.stacked(room),
                game,
                now.carry,
                max_steps=max_steps,
                progress=meter,
            )
            left = int(outcome.answer)
            meter.finished(total - left)
            now = dataclasses.replace(now, carry=outcome.carry)
            if outcome.status != Status.SOLVED or left == 0:
                break
            while left <= next_room(room, room * edges):
                room = next_room(room, room * edges)
            spread = ops.current_spread()
            with ops.programs_for(spread and spread.mesh):
                game, now = _packed(run, game, now, room, size)
        status = outcome.status
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return dataclasses.replace(now, written=_write(run, game, now, size)), status


def _check_room(run: Run, arena: Any) -> None:
    games, size, edges = run.problem.form.shape(arena)
    if games * (size + edges) <= memory.UNCHECKED:
        return

    leaves, tree = jax.tree.flatten(arena)
    shapes = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in leaves)
    needs = functools.partial(_needs, run, shapes, tree)
    memory.check_needs(f"solver={run.solver.name!r} on {games:,} games", needs)


@functools.lru_cache(256)
def _needs(run: Run, shapes, tree) -> memory.Needs:
    """What a stack takes: kept, as tracing takes longer than rounds do."""
    arena = jax.tree.unflatten(tree, shapes)
    game, now = jax.eval_shape(functools.partial(begin, run), arena, arena)
    state = memory.STATES * memory.bytes_of(now.carry)
    state += memory.bytes_of(now.written)
    return memory.Needs(memory.bytes_of((arena, game)), state, 0)


@functools.partial(jax.jit, static_argnums=0)
def begin(run: Run, arena: Any, of: Any) -> tuple[Any, Standing]:
    """All games of a stack before the first round, and room for what they will say.

    Their state is a state `of` these or others.
    """
    games, size, _ = run.problem.form.shape(arena)
    game = _games(run, arena)
    carry = fixpoint.initial(run.stacked(0), game)
    written = jax.eval_shape(
        functools.partial(_answers, run, size=size), game, carry.state
    )
    return game, Standing(
        ids=jnp.arange(games, dtype=jnp.int32),
        carry=carry,
        written=jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), written),
        origin=origin(run, of),
    )


@functools.partial(jax.jit, static_argnums=0)
def origin(run: Run, arena: Any) -> Origin:
    """Which games a stack has, and their solver (pure)."""
    words = jax.vmap(states.fingerprint)(arena)
    return Origin(words, described(run.solver), states.version())


@functools.partial(jax.jit, static_argnums=0)
def _games(run: Run, arena: Any) -> Any:
    """What the solver works on, for all games of a stack."""

    def game(arena):
        return run.problem.game(arena, run.solver, run.facts)

    return jax.vmap(game)(arena)


@functools.partial(jax.jit, static_argnums=0, static_argnames="size")
def _answers(run: Run, game: Any, stand: Stand, size: int) -> Written:
    """What the games of a stack say, in its order."""
    solver = run.solver

    def one(game, state):
        status = jnp.where(solver.done(game, state), Status.SOLVED, Status.MAX_STEPS)
        status = jnp.where(solver.overflow(state), Status.OVERFLOW, status)
        answer = run.problem.answer(solver, game, state, size)
        return answer, status.astype(jnp.int32)

    return Written(*jax.vmap(one)(game, stand.states), stand.rounds)


@functools.partial(jax.jit, static_argnums=(0, 3))
def _write(run: Run, game: Any, standing: Standing, size: int) -> Written:
    """What is known of all games, with what those of the present stack say."""
    fresh = _answers(run, game, standing.carry.state, size=size)
    if len(standing.ids) == len(standing.written.status):
        return fresh
    return jax.tree.map(
        lambda old, new: ops.put(old, standing.ids, new), standing.written, fresh
    )


@functools.partial(jax.jit, static_argnums=0)
def finished(run: Run, arena: Any, written: Written) -> Written:
    """What is known of all games, with what no round finds."""
    finish = run.problem.finish
    assert finish is not None
    answer = jax.vmap(functools.partial(finish, run.solver))(arena, written.answer)
    return written._replace(answer=answer)


@jax.jit
def _rows(tree: Any, index: jax.Array) -> Any:
    return jax.tree.map(lambda x: ops.take(x, index), tree)


@functools.partial(jax.jit, static_argnums=(0, 3, 4))
def _packed(run: Run, game: Any, standing: Standing, room: int, size: int):
    """Writes down what games say, and packs those that are not over.

    They are dealt out again, if there are several devices.
    """
    ids, stand = standing.ids, standing.carry.state
    found = ops.compact(stand.active, room)
    filled = found < len(ids)
    # Some game is over, since the stack gets smaller: it fills up the places left.
    rows = jnp.where(filled, found, jnp.argmin(stand.active).astype(jnp.int32))
    written = _write(run, game, standing, size)
    ids = jnp.where(filled, ops.take(ids, rows), len(standing.written.status))
    game, stand, ids, written = jax.tree.map(
        ops.deal, (_rows(game, rows), _rows(stand, rows), ids, written)
    )
    carry = standing.carry._replace(state=stand)
    standing = dataclasses.replace(standing, ids=ids, carry=carry, written=written)
    return game, standing


class Games:
    """Tells a progress meter how many games are over, and not which round it is."""

    def __init__(self, progress: Progress):
        self._progress = progress
        self._began = time.perf_counter()
        self._before = self._now = 0

    def __call__(self, report: Report) -> Status | None:
        seconds = time.perf_counter() - self._began
        done = self._before + self._now
        return self._progress(Report(report.solver, done, seconds, "games"))

    def finished(self, games: int) -> None:
        """So many games of the present stack are over."""
        self._now = games

    def next_stack(self, before: int) -> None:
        """Another stack begins, after so many games."""
        self._before, self._now = before, 0

    def close(self) -> None:
        """One of several runs is over: nothing yet."""
