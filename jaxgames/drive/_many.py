"""The front door: many games of one kind."""

import dataclasses
import functools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jaxgames import fixpoint, host, ops, validity
from jaxgames.arena import bucket, eager, is_traced
from jaxgames.drive import _costs, _rounds, _then
from jaxgames.drive._each import by_host
from jaxgames.drive._problem import HOST, Problem, problem_of
from jaxgames.drive._rounds import Games, Run, Written
from jaxgames.drive._solve import is_host, refuse_limits, solve
from jaxgames.drive._stack import grouped, merged, states_of
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.limits import limited
from jaxgames.progress import Meter, Progress, as_progress
from jaxgames.solution import Solution, SolveError, Stats, Status
from jaxgames.solver import Solver
from jaxgames.states import (
    Origin,
    OtherGameError,
    check_class,
    check_games,
    check_number,
    described,
    register,
    version,
)
from jaxgames.tuning.drive import BLOCK

MOST_NAMED = 10
"""Games that an error names."""


SHOWN = 8
"""Solutions that are shown one by one."""


@jax.tree_util.register_pytree_node_class
class Solutions(list[Any]):
    """The solutions of a list of games, in their order: a list, and a pytree.

    Attributes:
        state: what a later call needs to go on; None if all are solved, or if the host
            has answered.
    """

    def __init__(self, solutions: Iterable[Any], state: Any):
        super().__init__(solutions)
        self.state = None if self.status == Status.SOLVED else state

    def __repr__(self) -> str:
        if len(self) <= SHOWN:
            return super().__repr__()
        first = ", ".join(map(repr, self[:2]))
        return f"[{first}, ...: {len(self):,} solutions]"

    @property
    def status(self) -> Any:
        """`Status.SOLVED` if all games are; else that of the first that is not."""
        if is_traced([solution.status for solution in self]):
            each = jnp.stack([jnp.asarray(solution.status) for solution in self])
            return each[jnp.argmax(each != Status.SOLVED)]
        statuses = (Status(int(solution.status)) for solution in self)
        return next((x for x in statuses if x != Status.SOLVED), Status.SOLVED)

    def tree_flatten(self) -> tuple[tuple[list[Any], Any], None]:
        """The solutions and the state are children."""
        return (list(self), self.state), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> "Solutions":
        """The inverse of `tree_flatten`: whatever the children are."""
        found = cls.__new__(cls)
        found.extend(children[0])
        found.state = children[1]
        return found


@limited()
def solve_many(
    problem: Any,
    arenas: Sequence[Any] | Any,
    solver: str | Solver = "auto",
    *,
    max_steps: int | None = None,
    state: Any = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    strategies: bool = True,
    deadline: float | None = None,
    memory: int | None = None,
) -> Any:
    """Solves many games of one kind: by the host, or on the device and in rounds.

    `"auto"` leaves them to the engine of the host, one after the other, where that
    takes no longer than the device needs to compile and to solve. On the device games
    of about one size are padded and stacked. All games of a stack advance together;
    when most of them are over, the others are packed into a smaller stack, so that a
    few slow games do not keep many waiting. Each answer is the same, bit by bit, as
    that of the same solver for the game alone.

    A stack takes, beside the arenas, about 20 bytes for each of its vertices and one to
    four for each cell of its rows; the first compaction adds an eighth of that or less.

    Mean-payoff games, whose thresholds the host chooses, games of several energies, and
    on the host energy parity games, discounted games and stochastic games are put side
    by side instead, and solved as one; only lists of these are taken.

    Args:
        problem: a package, such as [`parity`][jaxgames.parity], or the name of what is
            asked: `"parity"`, `"energy"`, `"meanpayoff"`, `"multienergy"`, `"scc"`,
            `"mec"`, `"buchi"` for Büchi games, `"accepting_cycle"`,
            `"meanpayoff_threshold"`, `"meanpayoff_parity"`, `"reach_probability"`,
            `"stochastic_game"`, or `"bisimulation"`; or `"energyparity"`,
            `"emersonlei"` and `"discounted"`.
        arenas: the games: a list of concrete arenas of any sizes, or what the problem
            has in place of arenas; or one whose arrays have one axis more in front,
            with all games of one size.
        solver: a name of a solver of the device; a solver with options of its own;
            `"host"` for its engine, which has no state to go on from; or `"auto"`,
            which is what does best in batches: `stats` says what it was.
        max_steps: rounds of a stack at most, those of `state` counted in. None: no
            limit.
        state: `state` of an earlier call with the same arenas and solver, to go on
            where it stopped.
        throw: whether to raise where not every game was solved.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then; its unit is games, where
            they are stacked.
        strategies: whether strategies are wanted; without them some solvers are
            faster, and solutions have none.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        For a list a list of solutions, one for each game and with arrays of its size.
        For a stack one solution, whose arrays have an axis in front, `status` (int32)
        and `stats["rounds"]` too. Both have a `state` to go on from.

    Raises:
        ValueError: a game is none of that kind, or an argument is wrong.
        SolveError: some games are not solved, and `throw` is set. It names them, and
            its `solution` holds what was found until then.

    Examples:
        >>> from jaxgames import generate, parity
        >>> games = [generate.random_game(seed, 5 + seed) for seed in range(3)]
        >>> solve_many(parity, games)[2]
        Solution(player 0 wins 7, player 1 wins 0)
    """
    max_steps = fixpoint.checked_steps(max_steps)
    problem = problem_of(problem)
    if is_traced((arenas, state, max_steps)):
        raise ValueError(
            "solve_many drives its rounds from the host: inside jax.jit solve a stack "
            "by jax.vmap"
        )
    with eager(), ops.on_own_devices():
        found = _found(problem, arenas, solver, max_steps, state, progress, strategies)
    status = np.asarray(
        [x.status for x in found] if isinstance(found, list) else found.status
    )
    unsolved = np.flatnonzero(status != Status.SOLVED)
    if throw and len(unsolved):
        first = Status(int(status[unsolved[0]]))
        raise SolveError(first, found, f" Not solved: {_named(unsolved)}.")
    return found


def _found(problem, arenas, solver, max_steps, state, progress, strategies) -> Any:
    if problem.beside is not None:
        if not isinstance(arenas, Sequence):
            raise ValueError(
                f"games of {problem.name} are solved side by side: arenas must be a "
                f"list of them, got {type(arenas).__name__}"
            )
        return _beside(
            problem, list(arenas), solver, state,
            max_steps=max_steps, progress=progress, strategies=strategies,
        )  # fmt: skip
    if not is_host(problem, solver):
        problem.solvers.resolve(solver)  # or says what is wrong, whatever the arenas
    elif max_steps is not None or state is not None:
        refuse_limits(solver)
    many = _Many(problem, solver, strategies, max_steps, progress)
    if isinstance(arenas, problem.form.kind):
        return many.solve_stack(arenas, state)
    if not isinstance(arenas, Iterable):
        raise ValueError(
            f"arenas must be a list of them, or a stack, got {type(arenas).__name__}"
        )
    return many.solve_list(list(arenas), state)


@register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Groups:
    """What a list of games goes on from.

    Attributes:
        groups: where each group of games is.
        games: how many games there are.
        origin: which games these are; None where the groups say so.
    """

    groups: tuple[Any, ...]
    games: int = dataclasses.field(metadata={"static": True})
    origin: Origin | None = None


def _beside(problem: Problem, games: list[Any], solver, state, **how: Any) -> Solutions:
    """Solves games as one, or as a few."""
    groups = None
    for index, game in enumerate(games):
        with validity.about_game(index):
            games[index] = problem.read(game)[0]
    if state is not None:
        check_class(state, Groups)
        check_number(state.games, len(games))
        check_games(_origin(problem, games, solver), state.origin)
        groups = state.groups
    assert problem.beside is not None
    found, groups = problem.beside(games, solver, state=groups, **how)
    solutions = Solutions(found, groups)
    if solutions.state is not None:
        origin = _origin(problem, games, solver)
        solutions.state = Groups(groups, len(games), origin)
    return solutions


def _origin(problem: Problem, games: list[Any], solver) -> Origin:
    words = np.array([problem.words(game) for game in games], np.uint32).reshape(-1, 2)
    name = solver if isinstance(solver, str) else described(solver)
    return Origin((words[:, 0], words[:, 1]), f"{problem.name} by {name}", version())


def _named(games: np.ndarray) -> str:
    shown = ", ".join(map(str, games[:MOST_NAMED].tolist()))
    more = len(games) - MOST_NAMED
    kind = "game" if len(games) == 1 else "games"
    return f"{kind} {shown}" + (f" and {more} others" if more > 0 else "")


@dataclasses.dataclass
class _Many:
    """What stays the same from stack to stack."""

    problem: Problem
    solver: str | Solver
    strategies: bool
    max_steps: int | None
    progress: Progress | Meter | bool | None

    def __post_init__(self):
        self._meter = as_progress(self.progress)
        self._games = Games(self._meter)

    def solve_stack(self, arena: Any, state: Any) -> Solution:
        form = self.problem.form
        if not form.is_stack(arena):
            raise ValueError(
                f"arenas must be a list of {form.what}s, or an {form.what} whose "
                f"arrays have one axis more in front, got {arena!r}"
            )
        self.problem.check(arena)
        (bits,) = self.problem.bits([arena])
        key = _costs.key_of(self.problem, form.shape(arena), bits)
        if form.shape(arena)[0] and self._begins_on_host(state):
            found = self._by_host(_Unstacked(arena), [key])
            if found is not None:
                return _stacked(found)
        began = time.perf_counter()
        try:
            name, written, state, stop = self._advance(arena, state, bits)
        finally:
            self._meter.close()
        self._learn(key, began, written)
        status = written.status
        if stop != Status.SOLVED:
            status = jax.numpy.where(status == Status.MAX_STEPS, stop, status)
        found = self.problem.solution(
            written.answer,
            status=status,
            stats=Stats(solver=name, rounds=written.rounds),
            state=state,
        )
        left = np.asarray(status) == Status.MAX_STEPS
        if left.any() and self._together(arena) is not None:
            games, left = _Unstacked(arena), np.flatnonzero(left)
            alone = [self._alone(games[index]) for index in left]
            found = _replaced(found, left, alone, ("status", *written.answer._fields))
        return found

    def solve_list(self, arenas: list[Any], state: Any) -> Solutions:
        form = self.problem.form
        for index, arena in enumerate(arenas):
            with validity.about_game(index):
                self.problem.check(arena)
                if form.is_stack(arena):
                    raise ValueError(f"expected one {form.what}, got a stack of them")
        keys = zip(self.problem.bits(arenas), map(form.size, arenas), strict=True)
        groups = list(merged(grouped(keys), form.join).items())
        costs = [
            _costs.key_of(self.problem, size, bits, bucket(len(members)))
            for (bits, size), members in groups
        ]
        if self._begins_on_host(state):
            answered = self._by_host(arenas, costs)
            if answered is not None:
                return Solutions(answered, None)
        if state is not None:
            check_class(state, Groups)
            check_number(state.games, len(arenas))
        states = states_of(groups, state and state.groups)
        found: list[Any] = [None] * len(arenas)
        stop, done = Status.SOLVED, 0
        try:
            for at, ((bits, size), members) in enumerate(groups):
                began = time.perf_counter()
                games = form.stack(_filled(arenas, members), size)
                self._games.next_stack(done)
                done += len(members)
                if stop not in (Status.SOLVED, Status.MAX_STEPS):
                    self.max_steps = 0  # all that is left is to say so
                try:
                    name, written, states[at], over = self._advance(
                        games, states[at], bits
                    )
                except OtherGameError as error:
                    raise error.of(members) from None
                if stop in (Status.SOLVED, Status.MAX_STEPS):
                    stop = max(stop, over)
                self._split(arenas, members, name, written, stop, found)
                if self._together(games) is not None:
                    for index in members:
                        if found[index].status == Status.MAX_STEPS:
                            found[index] = self._alone(arenas[index])
                self._learn(costs[at], began, written)
        finally:
            self._meter.close()
        return Solutions(found, Groups(tuple(states), len(arenas)))

    def _begins_on_host(self, state: Any) -> bool:
        """Whether the host answers, at least as long as nobody is sooner."""
        if is_host(self.problem, self.solver):
            return True
        free = self.max_steps is None and state is None and self.solver == "auto"
        alone = ops.current_spread() is None and host.can_compile()
        return free and alone and HOST in self.problem.solvers.places

    def _by_host(self, games: Sequence[Any], costs: list) -> list[Solution] | None:
        questions = _Asked(games, self.problem.form.question)
        named = is_host(self.problem, self.solver)
        sizes, engine = (None, str(self.solver)) if named else (costs, HOST)
        how = self._games, self.strategies, sizes, engine
        try:
            return by_host(self.problem, questions, *how)
        finally:
            self._meter.close()

    def _learn(self, key: Any, began: float, written: Written) -> None:
        """Notes how long the device took for all of a size."""
        if self.solver == "auto" and self.max_steps is None:
            jax.block_until_ready(written)
            _costs.learn(key, time.perf_counter() - began)

    def _advance(self, arena: Any, state: Any, bits: int):
        """The solver's name, what is known, where it stands, and why it stopped."""
        if bits == 32:
            return self._rounds(arena, state)
        with jax.enable_x64(True):
            name, written, state, stop = self._rounds(arena, state)
            # Outside, JAX would cut what is left on the device to 32 bits.
            return name, *to_numpy((written, state)), stop

    def _rounds(self, arena: Any, state: Any) -> tuple[str, Written, Any, Status]:
        arena = jax.device_put(ops.dealt(arena))
        solver = self._solver_for(arena)
        run = Run(self.problem, solver, self.problem.facts(arena, solver))
        limit = self._together(arena) or self.max_steps
        how: dict[str, Any] = {"max_steps": limit, "meter": self._games}
        then = self.problem.then
        second = None if then is None else then.solver(solver)
        if then is None or second is None:
            standing, stop = _rounds.advance(run, arena, state, **how)
            written = standing.written
            if self.problem.finish is not None:
                written = _rounds.finished(run, arena, written)
            return solver.name, written, standing, stop
        if state is not None:
            check_class(state, tuple)
        first, later = (None, None) if state is None else state
        first, stop = _rounds.advance(run, arena, first, **how)
        games = _then.marked(self.problem, arena, first.written)
        run = Run(then.problem, second, run.facts)
        if stop != Status.SOLVED:
            if later is None:
                later = _then.unstarted(run, games, arena)
            return solver.name, _then.unfinished(first.written), (first, later), stop
        if self.max_steps is not None:
            how["max_steps"] = max(self.max_steps - int(first.carry.rounds), 0)
        begun = None if later is None or not len(later.ids) else later
        later, stop = _rounds.advance(run, games, begun, of=arena, **how)
        written = _then.merged(self.problem, first.written, later.written)
        return solver.name, written, (first, later), stop

    def _together(self, stack: Any) -> int | None:
        """Rounds after which what is left is solved alone; None: a limit is before."""
        found = self.problem.rounds_together(stack) if self.solver == "auto" else None
        if found is None or (self.max_steps is not None and self.max_steps <= found):
            return None
        return found

    def _solver_for(self, stack: Any) -> Solver:
        auto = self.solver == "auto"
        problem = self.problem
        found = problem.auto(stack) if auto else problem.solvers.resolve(self.solver)
        return found if self.strategies else replace(found, strategies=False)

    def _split(self, arenas, members, name, written: Written, stop, found) -> None:
        """The solutions of a stack, one by one."""
        answer, statuses, rounds = to_numpy(written)
        leaves, tree = jax.tree.flatten(answer)
        cut, solution = self.problem.form.cut, self.problem.solution
        each = zip(members, statuses.tolist(), rounds.tolist(), *leaves)  # noqa: B905
        for index, number, count, *own in each:
            status = _STATUSES[number]
            if status == Status.MAX_STEPS and stop != Status.SOLVED:
                status = stop
            if status == Status.OVERFLOW and self.problem.holds_all:
                found[index] = self._alone(arenas[index])
                continue
            found[index] = solution(
                cut(jax.tree.unflatten(tree, own), arenas[index]),
                status=status,
                stats=Stats(solver=name, rounds=count),
            )

    def _alone(self, arena: Any) -> Solution:
        """A game that is hard, or whose numbers did not fit."""
        how = {"max_steps": self.max_steps, "strategies": self.strategies}
        found = solve(self.problem, arena, self.solver, throw=False, **how)
        return replace(found, state=None)


class _Asked(Sequence[Any]):
    """Games, as the questions that they are alone."""

    def __init__(self, games: Sequence[Any], question: Callable[[Any], Any]):
        self._games, self._question = games, question

    def __len__(self) -> int:
        return len(self._games)

    def __getitem__(self, at: Any) -> Any:
        return self._question(self._games[at])


class _Unstacked(Sequence[Any]):
    """The games of a stack, as numpy arrays; none comes before it is asked for."""

    def __init__(self, stack: Any):
        self._stack, self._first, self._block = stack, 0, None
        arrays = jax.tree.leaves(stack)
        self._count = len(arrays[0])
        # Nothing of numpy has to come, and a program would cut what has 64 bits.
        narrow = all(isinstance(x, jax.Array) and x.itemsize <= 4 for x in arrays)
        self._size = min(self._count, BLOCK) if narrow else self._count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: Any) -> Any:
        if self._block is None or not 0 <= at - self._first < self._size:
            self._first = min(at, self._count - self._size)
            part = self._size < self._count
            block = _block(self._stack, self._first, BLOCK) if part else self._stack
            self._block = to_numpy(block)
        return jax.tree.map(lambda x: x[at - self._first], self._block)


@functools.partial(jax.jit, static_argnums=2)
def _block(stack: Any, first: Any, size: int) -> Any:
    return jax.tree.map(lambda x: jax.lax.dynamic_slice_in_dim(x, first, size), stack)


def _stacked(found: list[Solution]) -> Solution:
    """Solutions of the host as one, as arrays of the device where these are so wide."""

    def put(*each: Any) -> Any:
        x = np.stack(each)
        return x if x.dtype.itemsize > 4 else jax.device_put(x)

    stats = Stats(solver=str(found[0].stats["solver"]))
    return jax.tree.map(
        put, *(replace(one, status=np.int32(one.status), stats=stats) for one in found)
    )


def _replaced(
    stack: Solution, games: np.ndarray, found: list[Solution], fields: Iterable[str]
) -> Solution:
    """The solution of a stack, with what some games have been found to be."""

    def put(name: str) -> Any:
        x = getattr(stack, name)
        if x is None:
            return None
        rows = np.stack([np.asarray(getattr(one, name), x.dtype) for one in found])
        return x.at[games].set(rows)

    return replace(stack, **{name: put(name) for name in fields})


_STATUSES = {int(status): status for status in Status}


def _filled(arenas: list[Any], members: list[int]) -> list[Any]:
    """Games of a stack; their number is one of few, so the first may be there again."""
    spread = ops.current_spread()
    devices = 1 if spread is None else spread.mesh.size
    more = -(-bucket(len(members)) // devices) * devices - len(members)
    return [arenas[index] for index in [*members, *members[:1] * more]]
