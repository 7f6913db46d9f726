"""The one loop that drives every solver: the only file with `lax.while_loop`.

[`iterate`][jaxgames.fixpoint.iterate] is pure and runs inside a user's `jit` and
`vmap`. [`run`][jaxgames.fixpoint.run] drives it from the host in chunks that grow, so
that a long solve reports progress, can be interrupted and can be resumed.
"""

import atexit
import contextvars
import dataclasses
import functools
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from jaxgames import arguments, host, limits, ops, states
from jaxgames.arena import eager, is_traced
from jaxgames.kept import kept
from jaxgames.later import backend, jax, jnp
from jaxgames.progress import Meter, Progress, Report, as_progress
from jaxgames.solution import Status
from jaxgames.solver import Solver
from jaxgames.tuning.base import (
    CHUNK_SECONDS,
    EDGES_OF_A_ROUND,
    FEWEST_ROUNDS,
    FIRST_CHUNK,
    MOST_ROUNDS,
    READ_BY_NUMPY,
    SELDOM,
    WRITTEN_OUT,
)
from jaxgames.tuning.base import SENT_WITH_EVERY_CHUNK as SMALL

T = TypeVar("T")

MAX_ROUNDS = 2**31 - 2**16
"""Rounds that the counter holds: the limit where none is given."""

_GO_ON = -1
"""Where no status is, between processes."""


@states.register
class Carry(NamedTuple):
    """What a loop carries: the solver's state and the rounds done; and what it is of.

    A carry whose origin is None is taken as it is.
    """

    state: Any
    rounds: jax.Array
    origin: states.Origin | None = None


class Outcome(NamedTuple):
    """What a run ends with."""

    answer: Any
    status: Any
    rounds: Any
    carry: Carry


def start(solver: Solver, game: Any) -> Carry:
    """The carry before the first round (pure)."""
    subject = solver.subject(game)
    fingerprint = _fingerprint_on(subject)
    words = _whole(_parts(subject, fingerprint), fingerprint)
    return Carry(solver.init(game), jnp.int32(0), _origin(solver, words))


def iterate(solver: Solver, game: Any, carry: Carry, limit) -> Carry:
    """Runs a solver until it is done or has made `limit` rounds in all (pure)."""
    origin, carry = carry.origin, carry._replace(origin=None)
    made = solver.advance(game, carry, limit)
    if made is None:
        made = _stepwise(solver, game, carry, limit)
    return made._replace(origin=origin)


def _stepwise(solver: Solver, game: Any, carry: Carry, limit) -> Carry:
    sweeps = solver.sweeps_per_check or default_sweeps(game)

    def steps(count: int, carry: Carry) -> Carry:
        state = repeat(count, functools.partial(solver.step, game), carry.state)
        return Carry(state, carry.rounds + count)

    def open_for(count: int, carry: Carry):
        stop = solver.done(game, carry.state) | solver.overflow(carry.state)
        return ~stop & (carry.rounds <= limit - count)

    for count in dict.fromkeys((sweeps, 1)):
        carry = jax.lax.while_loop(
            functools.partial(open_for, count), functools.partial(steps, count), carry
        )
    return carry


def default_sweeps(game: Any) -> int:
    """Sweeps between two tests: enough that the test costs little beside them.

    On a GPU a test costs some 20 microseconds, the time in which a sweep reads about
    a million edges; on a CPU it costs nothing that matters.
    """
    if backend() == "cpu":
        return 1
    return max(2, min(16, (1 << 23) // max(ops.num_cells(game), 1)))


def repeat(count: int, step: Callable[[Any], Any], state: Any) -> Any:
    """Makes so many steps, without a test between them (pure).

    Some of them are written out, which costs compilation and saves launches; a barrier
    keeps each to itself. Else XLA makes kernels of several steps, which take many
    times as long to compile, and each of them computes again what another one has.
    """
    if count < 2:
        return step(state) if count else state
    some = next(size for size in WRITTEN_OUT if count % size == 0)

    def steps(_, state: Any) -> Any:
        for _ in range(some):
            state = jax.lax.optimization_barrier(step(state))
        return state

    if count == some:
        return steps(0, state)
    return jax.lax.fori_loop(0, count // some, steps, state)


def until(done: Callable[[Any], Any], step: Callable[[Any], Any], state: Any) -> Any:
    """Steps until a state is done: a loop of a part that is no solver (pure).

    Args:
        done: whether a state is the last one: bool scalar.
        step: the next state.
        state: the first one; it may be done.
    """
    return jax.lax.while_loop(lambda state: ~done(state), step, state)


def change_if(
    game: Any, condition: jax.Array, change: Callable[[Any], Any], values: Any
) -> Any:
    """Changes values, a pytree, if a condition holds (pure).

    By a loop of one round at most, which changes them in place: for `jax.lax.cond` XLA
    copies some of them whether it holds or not, in each step of a solver.

    They stay where the game has what they are about: left alone XLA gathers all that
    comes out of it on all devices.

    Args:
        game: as for `ops.everywhere`.
        condition: bool scalar.
        change: gives the changed values.
        values: as for `ops.in_its_shares`.
    """

    def once(due: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        return jnp.array(False), ops.in_its_shares(game, change(due[1]))

    first = condition, ops.in_its_shares(game, values)
    return until(lambda due: ~due[0], once, first)[1]


def settled(step: Callable[[Any], tuple[Any, Any]], state: Any, sweeps: int = 1) -> Any:
    """The state in which steps change nothing any more (pure).

    Args:
        step: gives the next state, and whether that is the same: bool scalar.
        state: the first one.
        sweeps: steps between two looks whether it is over.
    """
    return settled_within(step, state, MAX_ROUNDS, sweeps)[0]


def settled_within(
    step: Callable[[Any], tuple[Any, Any]], state: Any, most: Any, sweeps: int = 1
) -> tuple[Any, jax.Array]:
    """The same, or the state after about so many steps; and whether it is settled."""

    def steps(now: tuple) -> tuple:
        state, over = repeat(sweeps, lambda now: step(now[0]), now[:2])
        return state, over, now[2] + sweeps

    first = state, jnp.array(False), jnp.int32(0)
    return until(lambda now: now[1] | (now[2] >= most), steps, first)[:2]


def finish(solver: Solver, game: Any, carry: Carry) -> Outcome:
    """The outcome of a carry (pure)."""
    status = jnp.where(
        solver.done(game, carry.state), jnp.int32(Status.SOLVED), Status.MAX_STEPS
    )
    status = jnp.where(solver.overflow(carry.state), Status.OVERFLOW, status)
    return Outcome(solver.answer(game, carry.state), status, carry.rounds, carry)


def checked_steps(max_steps: Any) -> Any:
    """A limit of rounds as an int from 0 on; None, and what is traced, stay.

    No loop comes to `MAX_ROUNDS`, so a larger limit is this one: it fits any counter.

    Raises:
        ValueError: it is none: rounds never come to 1.5, and a loop would wait for it.
    """
    if max_steps is None:
        return None
    if not is_traced(max_steps):
        return arguments.steps(max_steps, MAX_ROUNDS)
    kind, shape = jnp.result_type(max_steps), jnp.shape(max_steps)
    if shape or not jnp.issubdtype(kind, jnp.integer):
        raise ValueError(
            f"max_steps must be an integer, got a traced {kind}{list(shape)}"
        )
    return max_steps


def traced(
    solver: Solver, game: Any, carry: Carry | None = None, max_steps: Any = None
) -> Outcome:
    """Solves inside somebody's `jit` or `vmap` (pure).

    Args:
        solver: the solver.
        game: what it works on.
        carry: where to go on; None to start. If it is of another game no round is made,
            nothing is decided, and the status is `INVALID`.
        max_steps: rounds to make at most, those of `carry` counted in; None: no limit.

    Raises:
        ValueError: the carry is of another solver, or has other shapes.
    """
    max_steps = checked_steps(max_steps)
    limit = MAX_ROUNDS if max_steps is None else max_steps
    own, begin = None, start(solver, game)
    if carry is not None:
        own = belongs(carry, begin)
        # Of what is not known to be of this game nothing is said.
        carry = carry._replace(origin=begin.origin)
        begin = jax.tree.map(lambda x, y: jnp.where(own, x, y), carry, begin)
        limit = jnp.where(own, limit, -1)
    outcome = finish(solver, game, iterate(solver, game, begin, limit))
    if own is None:
        return outcome
    return outcome._replace(status=jnp.where(own, outcome.status, Status.INVALID))


def belongs(carry: Carry, begin: Carry) -> jax.Array:
    """Whether a carry is of the same game as that of its beginning: bool (pure).

    Raises:
        ValueError: it is of another solver, or has other shapes.
    """
    states.check_class(carry, Carry)
    assert begin.origin is not None
    if carry.origin is not None and (why := states.differs(begin.origin, carry.origin)):
        raise ValueError(f"state is not of this solve: {why}")
    if _form(carry) != _form(begin):
        raise ValueError(
            "state is not of this solve: its arrays have other shapes or types. Pass "
            "solution.state of an earlier call with the same problem and solver, that "
            "was made under jit if this one is"
        )
    if carry.origin is None:
        return jnp.array(True)
    (first, second), words = carry.origin.problem, begin.origin.problem
    return jnp.asarray((first == words[0]) & (second == words[1]))


def _form(carry: Carry) -> tuple:
    """The structure of a state, the shapes and types of its arrays."""
    leaves, tree = jax.tree.flatten(carry.state)
    return tree, [(jnp.shape(x), jnp.result_type(x)) for x in leaves]


def adopted(solver: Solver, carry: Carry, state: Any) -> Carry:
    """A state that another solver goes on from, on the game of a carry."""
    origin = carry.origin
    if origin is not None:
        origin = dataclasses.replace(origin, solver=states.described(solver))
    return carry._replace(state=state, origin=origin)


def origin(solver: Solver, game: Any) -> states.Origin:
    """What a carry of a solver on a concrete game is of.

    The fingerprint of a layout is kept with it, so that this costs a launch, or less;
    and for small ones in the host's memory nothing is compiled before there are many.
    """
    subject = solver.subject(game)
    parts = _parts(
        subject,
        lambda part: kept(
            part,
            "fingerprint",
            lambda: _words(part, states.fingerprint, _fingerprint),
        ),
    )
    if isinstance(parts, _Part):
        return _origin(solver, parts.words)
    whole = functools.partial(_whole_jit, fingerprint=_fingerprint_on(subject))
    return _origin(solver, _words(parts, states.fingerprint, whole))


def _words(
    values: Any,
    by_numpy: Callable[[Any], states.Words],
    by_program: Callable[[Any], states.Words],
) -> states.Words:
    """A fingerprint by numpy where that is read sooner than a program is compiled."""
    leaves = jax.tree.leaves(values)
    if sum(map(np.size, leaves)) > READ_BY_NUMPY:
        return by_program(values)
    if next(_met(tuple(map(np.shape, leaves)))) >= SELDOM:
        return by_program(values)
    near = all(
        not isinstance(x, jax.Array)
        or (x.is_fully_addressable and next(iter(x.devices())).platform == "cpu")
        for x in leaves
    )
    return by_numpy(jax.device_get(values)) if near else by_program(values)


@functools.lru_cache(1024)
def _met(form: tuple) -> Iterator[int]:
    """Counts the games of a form."""
    return itertools.count()


def _origin(solver: Solver, words: states.Words) -> states.Origin:
    return states.Origin(words, states.described(solver), states.version())


class _Part(NamedTuple):
    """The fingerprint of a layout, in its place."""

    words: states.Words


def _parts(game: Any, fingerprint: Callable[[Any], states.Words]) -> Any:
    """A game with fingerprints in the place of layouts."""
    return jax.tree.map(
        lambda x: _Part(fingerprint(x)) if ops.is_layout(x) else x,
        game,
        is_leaf=ops.is_layout,
    )


def _whole(parts: Any, fingerprint: Callable[[Any], states.Words]) -> states.Words:
    """The fingerprint of a game, from its parts (pure)."""
    return parts.words if isinstance(parts, _Part) else fingerprint(parts)


_whole_jit = jax.jit(_whole, static_argnames="fingerprint")


@jax.jit
def _fingerprint(part: Any) -> states.Words:
    return ops.on_all(part, _fingerprint_on(part)(part))


def _fingerprint_on(game: Any) -> Callable[[Any], states.Words]:
    """A fingerprint whose arrays stay apart where a game is on several devices."""
    return states.fingerprint if ops.mesh_of(game) is None else _apart


_apart = functools.partial(states.fingerprint, apart=True)


def check(solver: Solver, game: Any, carry: Any) -> None:
    """Checks that a concrete carry is of a solver on a game.

    Raises:
        ValueError: it is of another solve, saying which differs.
    """
    states.check_class(carry, Carry)
    if carry.origin is not None:
        states.check(origin(solver, game), carry.origin)
        if _form(carry) != _form(jax.eval_shape(initial, solver, game)):
            raise ValueError("state is damaged: its arrays have other shapes or types")


def first(solver: Solver, game: Any) -> Carry:
    """The carry before the first round on a concrete game, compiled.

    On a GPU by one program: a launch takes longer there than to find a fingerprint.
    """
    if _launches(game):
        return _start(solver, game)
    return initial(solver, game)._replace(origin=origin(solver, game))


def _launches(game: Any) -> bool:
    """Whether programs on a game are launched, by an accelerator that is alone."""
    return backend() != "cpu" and ops.mesh_of(game) is None


_start = jax.jit(start, static_argnums=0)


@functools.partial(jax.jit, static_argnums=0)
def initial(solver: Solver, game: Any) -> Carry:
    """The carry before the first round, for whoever hands it to nobody: of no game."""

    def begin(game: Any) -> Carry:
        return Carry(solver.init(game), jnp.int32(0))

    return ops.for_devices(begin)(game)


def _to_host(game: Any, x: jax.Array) -> jax.Array:
    """Writes a result straight into the host's memory, where one device has it.

    A transfer that the host asks for afterwards is a second wait.
    """
    if ops.mesh_of(game) is not None:
        return ops.on_all(game, x)
    return jax.device_put(x, jax.memory.Space.Host)


@functools.partial(jax.jit, static_argnums=0)
def _chunk(solver: Solver, game: Any, carry: Carry, limit):
    def advance(game, carry, limit):
        return finish(solver, game, iterate(solver, game, carry, limit))

    outcome = ops.everywhere(advance, game, carry, limit)
    summary = jnp.stack([outcome.status, outcome.rounds])
    outcome = outcome._replace(
        answer=ops.on_all(game, outcome.answer),
        carry=ops.in_its_shares(game, outcome.carry),
    )
    return outcome, _to_host(game, summary)


def placed(game: Any, given: T) -> T:
    """A carry, or something else, whose arrays are tied to the device of a game.

    Those of each chunk are.

    JAX compiles apart for arrays that it may still move, and for those of numpy, as a
    file has them: the first chunk would have a program of its own.
    """
    if ops.mesh_of(game) is not None or all(
        getattr(x, "committed", False) for x in jax.tree.leaves(given)
    ):
        return given
    return jax.device_put(given, _sharding(game))


def _sharding(game: Any) -> jax.sharding.Sharding:
    """Where the arrays of a game on one device are."""
    there = (x for x in jax.tree.leaves(game) if isinstance(x, jax.Array))
    first = next(there, None)
    return (jax.device_put(np.int8(0)) if first is None else first).sharding


@functools.lru_cache
def scalar(number: int) -> jax.Array:
    """An int32 scalar on the device, sent there once."""
    with eager():
        return jnp.int32(number)


def compile_ahead(solver: Solver, game: Any) -> None:
    """Begins to compile what `run` needs on a game of a new form, beside other work.

    Otherwise JAX compiles programs one after the other, each when it is called first.

    Args:
        solver: the solver.
        game: what it will work on, or what has that form and lies on the same device.
    """
    _compiled(solver, game, "beginning")
    _compiled(solver, game, "rounds")


def _compiled(solver: Solver, game: Any, which: str) -> Callable[[], Any]:
    """Begins to compile a program for games of this form, if nobody has begun that.

    On a CPU nothing is done: there programs are small, and cores are few.

    Returns:
        What waits for it: a call would not, and compile it again. What fails is told
        by the call.
    """
    if not _launches(game):
        return _nothing
    leaves, tree = jax.tree.flatten(game)
    form = tuple((np.shape(x), jnp.result_type(x)) for x in leaves)
    begun = _begun((solver, tree, form))
    if which in begun:
        return begun[which].wait

    def work() -> None:
        try:
            if which == "beginning":
                _start.lower(solver, game).compile()
            else:
                carry, where = jax.eval_shape(initial, solver, game), _sharding(game)
                carry = jax.tree.map(
                    lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=where),
                    carry,
                )
                _chunk.lower(solver, game, carry, scalar(0)).compile()
        finally:
            _compiling.discard(over)
            over.set()

    over = begun[which] = threading.Event()
    _compiling.add(over)
    limits.in_another_thread(work)
    return over.wait


_compiling: set[threading.Event] = set()


def is_compiling() -> bool:
    """Whether a program is being compiled ahead."""
    return bool(_compiling)


@atexit.register
def _wait() -> None:
    """Waits for what is being compiled: Python could not end meanwhile."""
    for over in tuple(_compiling):
        over.wait()


@functools.lru_cache(1024)
def _begun(form: tuple) -> dict[str, threading.Event]:
    """For programs whose compilation has begun: whether it is over."""
    return {}


def _nothing() -> None:
    """Waits for nothing."""


def run(
    solver: Solver,
    game: Any,
    carry: Carry | None = None,
    *,
    max_steps: int | None = None,
    progress: Progress | Meter | bool | None = None,
    first_chunk: int | None = None,
    partial: bool = True,
) -> Outcome:
    """Drives a solver on a concrete game from the host.

    Args:
        solver: the solver.
        game: what it works on: a game, laid out.
        carry: where to go on; None to start.
        max_steps: rounds to make at most, those of `carry` counted in.
        progress: told after each chunk; may end the run (see
            [`progress`][jaxgames.progress]).
        first_chunk: rounds of the first chunk; None: `FIRST_CHUNK`.
        partial: whether Ctrl-C ends the run with what is known by then.

    Returns:
        The outcome; its status is a `Status`, its rounds an `int`.

    Raises:
        ValueError: `carry` is of another game or solver.
        KeyboardInterrupt: on Ctrl-C, unless `partial`.
    """
    meter = as_progress(progress)
    max_steps = checked_steps(max_steps)
    limit = MAX_ROUNDS if max_steps is None else max_steps
    if carry is not None:
        check(solver, game, carry)
    rounds = 0 if carry is None else int(carry.rounds)
    limits.say("compiling")  # or not, where that was done before
    if carry is None:
        rounds_are_ready = _compiled(solver, game, "rounds")
        _compiled(solver, game, "beginning")()
        carry = first(solver, game)
        rounds_are_ready()
    # What it is of has no part in the rounds.
    whose, current = carry.origin, carry._replace(origin=None)
    current = placed(game, ops.in_its_shares(game, current))
    began, chunk = time.perf_counter(), first_chunk or FIRST_CHUNK

    def advance(carry: Carry, rounds: int) -> tuple[Outcome, Status, int]:
        outcome, summary = _chunk(solver, game, carry, scalar(rounds))
        answer = jax.tree.leaves(outcome.answer)
        if sum(x.size for x in answer) <= SMALL:
            # The caller will want it on the host as well: one wait for all of it.
            for x in answer:
                x.copy_to_host_async()
        status, rounds = np.asarray(summary).tolist()
        return outcome, Status(status), rounds

    try:
        chunk_began = began
        while True:
            outcome, status, rounds = advance(current, min(limit, rounds + chunk))
            current, now = outcome.carry, time.perf_counter()
            if chunk_began == began:
                limits.say(f"solving by {solver.name}")
            if status != Status.MAX_STEPS or rounds >= limit:
                break
            stop = meter(Report(solver.name, rounds, now - began))
            stop = ops.agreed(game, _GO_ON if stop is None else stop)
            if stop != _GO_ON:
                status = Status(stop)
                break
            if ops.agreed(game, now - chunk_began < CHUNK_SECONDS):
                chunk *= 2
            chunk_began = time.perf_counter()
    except KeyboardInterrupt:
        if not partial:
            raise
        outcome, _, rounds = advance(current, 0)
        status = Status.INTERRUPTED
    finally:
        meter.close()
    carry = outcome.carry._replace(origin=whose)
    return outcome._replace(status=status, rounds=rounds, carry=carry)


def completed(solver: Solver, game: Any) -> Any:
    """The last state of a solver that is a part of something else, and has to end.

    On a traced game it is a loop (pure); on a concrete one the host drives it.

    Raises:
        LimitError: a meter asked for an end, or a limit was reached: what is known by
            then is no answer.
        KeyboardInterrupt: on Ctrl-C.
        TooDeepError: it takes more rounds than `in_few_rounds` allows.
    """
    if is_traced(game):
        return iterate(solver, game, start(solver, game), MAX_ROUNDS).state
    most = _most_rounds.get()
    outcome = run(solver, game, initial(solver, game), max_steps=most, partial=False)
    if outcome.status == Status.MAX_STEPS and most is not None:
        raise TooDeepError
    if outcome.status != Status.SOLVED:
        limits.fail(outcome.status, f"solving by {solver.name}")
    return outcome.carry.state


class TooDeepError(Exception):
    """What a device looks for takes it so many rounds that the host is sooner."""


def in_few_rounds(
    edges: int, there: Callable[[], T], here: Callable[[], T] | None
) -> T:
    """What a device finds, or the host if that takes the device very many rounds.

    A round of a search is a level of it: a device makes some in the time in which the
    host looks at all edges once, and has that to do wherever one is deep.

    Args:
        edges: how many the host would look at.
        there: asks the device, by `completed`, or says `TooDeepError` by itself.
        here: asks the host; None where it is not to be asked: without a compiler it is
            not sooner.
    """
    if here is None or not host.can_compile():
        return there()
    before = _most_rounds.set(rounds_worth(edges))
    try:
        return there()
    except TooDeepError:
        pass
    finally:
        _most_rounds.reset(before)
    return here()


def rounds_left() -> int:
    """Rounds that `in_few_rounds` allows, for what is a loop and no solver."""
    return _most_rounds.get() or MAX_ROUNDS


def rounds_worth(edges: int) -> int:
    """Rounds that a device makes in about the time in which a host reads all edges."""
    return min(max(edges >> EDGES_OF_A_ROUND, FEWEST_ROUNDS), MOST_ROUNDS)


_most_rounds: contextvars.ContextVar[int | None] = contextvars.ContextVar(
    "most_rounds", default=None
)
