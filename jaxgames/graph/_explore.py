"""State spaces: the graph that a vectorised transition function describes."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol, Unpack, get_args

import numpy as np

from jaxgames import host
from jaxgames.arguments import integer
from jaxgames.graph._explore_device import OnDevice
from jaxgames.graph._explore_host import OnHost
from jaxgames.graph._explore_rules import Rules, check_initial
from jaxgames.graph._packing import Packing
from jaxgames.graph._state_space import StateSpace, levels_of
from jaxgames.later import backend, imported, may_have_accelerator
from jaxgames.limits import Bounds, limited, tick
from jaxgames.progress import Meter, Progress, Report, as_progress
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.tuning.explore import FEW, PIECE, PIECE_GROWTH
from jaxgames.value import freeze

Engine = Literal["auto", "host", "device"]

NO_LIMIT = np.iinfo(np.int32).max


class Search(Protocol):
    """What finds states: on the host or on the device."""

    name: str
    head: int
    tail: int
    edges: int
    wrong: tuple[int, int] | None

    @property
    def done(self) -> bool:
        """Whether there is nothing left to expand."""
        ...

    def advance(self, until: int, most: int, seconds: float) -> None:
        """Expands states: some, or all before `until`, or until more than `most`.

        The time between two calls should not be much more than these seconds.
        """
        ...

    def rows(self, begin: int, end: int) -> tuple[np.ndarray, ...]:
        """What is known of some states that were expanded, one at least.

        Returns:
            Where the edges of each end, how many states were known then; where all
            these edges lead, and by which actions.
        """
        ...

    def words(self, begin: int, end: int) -> np.ndarray:
        """The words of some states."""
        ...

    def synchronise(self) -> None:
        """Waits for what is under way."""
        ...


@limited()
def explore(
    successors: Callable[[Any], tuple[Any, Any]],
    initial: Any,
    *,
    ranges: Sequence[Any] | None = None,
    engine: Engine = "auto",
    max_states: int | None = None,
    parallel_edges: bool = False,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> StateSpace:
    """Finds all states that can be reached, breadth first, and the edges between them.

    States are numbered in the order in which a queue finds them: first the initial ones
    as they are given, then the successors of state 0 by action, those of state 1, and
    so on. The result is the same from both engines.

    O(S A) time for S states with up to A successors each; besides the transition
    function a few random accesses for each edge. A state takes `4 W + 8` bytes for `W`
    words and 8 to 16 in a table of states (4 more on the host), and an edge 5, or 6 or
    8 with more than 256 or 65536 actions. Room grows by factors, by smaller ones where
    memory is short; a device begins with a small part of its memory. Turns on a device
    take `48 + 4 K + 8 W` bytes for each of 2 million successors, or an eighth of its
    memory if that is less.

    Args:
        successors: the transition function. From states, int32 `[N, K]`, it makes
            `(next, enabled)`: integers `[N, A, K]`, the state that each of A actions
            leads to, and bool `[N, A]`, which actions there are. It must treat each row
            alone. Written for JAX, it runs on both engines; written for numpy, on the
            host; `xp = states.__array_namespace__()` makes it work for both.
        initial: the initial state, integers `[K]`, or several, `[N, K]`.
        ranges: for each component how many values it has, from 0 on, or a pair of its
            least and its largest value. It is checked, and states become small. None:
            any int32.
        engine: `"host"`, one state after the other; `"device"`, many at once; or
            `"auto"`: the host for a function that JAX cannot compile, and on a CPU with
            numba for one that makes arrays of numpy from such. Few states are also
            found by the host where JAX would have to start for them.
        max_states: stop before a state whose successors would be more than this.
        parallel_edges: keep an edge for each action, even where several lead to the
            same state; else only the first.
        throw: raise if the search ends early; else return what was found until then.
        progress: told how many states were expanded; may end the search (see
            [`progress`][jaxgames.progress]).
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Raises:
        ValueError: the transition function returns arrays of wrong shapes or types, or
            a state out of range; there are more states than int32 can index; or an
            argument is wrong.
        MemoryError: there is no room for more; it says how many states were found.
        SolveError: the search ended early; its `solution` is the part that was found.

    Examples:
        >>> def successors(states):
        ...     xp = states.__array_namespace__()
        ...     after = xp.stack([states + 1, 2 * states], axis=1)
        ...     return after, after[:, :, 0] < 10
        >>> space = explore(successors, [1], ranges=[(0, 19)])
        >>> space
        StateSpace(9 states, 11 edges)
        >>> space.states[:, 0]
        array([1, 2, 3, 4, 6, 5, 8, 7, 9], dtype=int32)
        >>> space.deadlocks
        array([8], dtype=int32)
    """
    limit = NO_LIMIT
    if max_states is not None:
        limit = integer("max_states", max_states, 1)
    meter = as_progress(progress)
    given = successors, initial, ranges
    found = _of_few(*given, parallel_edges, limit) if engine == "auto" else None
    search, rules, starts = found or begin(*given, engine, parallel_edges)
    if starts > limit:
        raise ValueError(f"there are {starts} initial states, max_states is {limit}")
    began, status = time.perf_counter(), Status.SOLVED
    try:
        while not search.done and search.tail <= limit:
            search.advance(NO_LIMIT, limit, 0.25)
            seconds = time.perf_counter() - began
            stop = meter(Report("explore", search.head, seconds, "states"))
            if stop is not None:
                status = stop
                break
    except KeyboardInterrupt:
        search.synchronise()
        status = Status.INTERRUPTED
    finally:
        meter.close()
    check_range(search, rules)
    return _result(search, rules, starts, int(limit), status, throw)


def _of_few(
    successors: Any, initial: Any, ranges: Any, parallel_edges: bool, limit: int
) -> tuple[Search, Rules, int] | None:
    """A search that is over before a device could begin; None if there is none.

    An accelerator has to wake up, and where there is no numba JAX has to compile.

    What goes wrong goes wrong again where it is told.
    """
    if imported() or (host.can_compile() and not may_have_accelerator()):
        return None
    try:
        found = search, _, _ = begin(
            successors, initial, ranges, "host", parallel_edges
        )
        while not search.done and search.tail <= min(limit, FEW):
            search.advance(FEW, FEW, 0.25)
    except Exception:
        return None
    return found if search.done or search.tail > limit else None


def begin(
    successors: Any, initial: Any, ranges: Any, engine: str, parallel_edges: bool
) -> tuple[Search, Rules, int]:
    """A search that knows the initial states, and how many these are."""
    if engine not in get_args(Engine):
        raise ValueError(f"engine must be 'auto', 'host' or 'device', got {engine!r}")
    starts = check_initial(initial)
    packing = Packing.of(ranges, starts.shape[1])
    outside = packing.outside(starts)
    if outside.any():
        state = starts[np.argmax(outside)]
        raise ValueError(
            f"initial state {state.tolist()} is out of range: {packing.explain(state)}"
        )
    _, first = np.unique(starts, axis=0, return_index=True)
    starts = starts[np.sort(first)].astype(np.int32)
    rules = Rules.of(successors, starts, packing, parallel_edges)
    if engine == "device" and not rules.traceable:
        raise ValueError(
            "engine='device' needs a transition function that JAX can compile; this "
            "one works for arrays of numpy only"
        )
    on_host = engine == "host"
    if engine == "auto":
        on_host = (
            host.can_compile()
            and backend() == "cpu"
            # JAX's own operations, one by one, would compile for every size.
            and _is_numpys(rules, starts)
        ) or not rules.traceable
    search: Search = OnHost(rules, starts) if on_host else OnDevice(rules, starts)
    return search, rules, search.tail


def _is_numpys(rules: Rules, starts: np.ndarray) -> bool:
    """Whether the function has arrays of numpy for such."""
    try:
        return isinstance(rules.successors(starts[:1])[0], np.ndarray)
    except Exception:
        if rules.traceable:
            return False
        raise


def check_range(search: Search, rules: Rules) -> None:
    """Raises ValueError if a successor was out of range, naming where it was."""
    if search.wrong is None:
        return
    number, action = search.wrong
    words = search.words(number, number + 1)
    state = rules.packing.unpack(words)
    found = np.asarray(rules.successors(state)[0])[0, action]
    raise ValueError(
        f"successors of state {state[0].tolist()}: action {action} leads to "
        f"{found.tolist()}, which is out of range: {rules.packing.explain(found)}"
    )


def _result(
    search: Search, rules: Rules, starts: int, limit: int, status: Status, throw: bool
) -> StateSpace:
    expanded = search.head
    ends, known, targets, actions = search.rows(0, expanded)
    if search.tail > limit:
        # As if states had been expanded one by one until the next was too many.
        status = Status.MAX_STEPS
        expanded = int(np.searchsorted(known, limit, "right"))
    count = int(known[expanded - 1]) if expanded else starts
    offsets = np.zeros(count + 1, np.int32)
    offsets[1 : expanded + 1] = ends[:expanded]
    offsets[expanded + 1 :] = offsets[expanded]
    space = StateSpace(
        status=status,
        words=freeze(search.words(0, count)),
        packing=rules.packing,
        offsets=freeze(offsets),
        targets=freeze(targets[: offsets[-1]]),
        actions=freeze(actions[: offsets[-1]]),
        initial=np.arange(starts, dtype=np.int32),
        levels=levels_of(known[:expanded], starts),
        num_expanded=expanded,
        stats=Stats(solver=search.name, states=count, edges=int(offsets[-1])),
    )
    if throw and status != Status.SOLVED:
        error = SolveError(status, space)
        why = {
            Status.MAX_STEPS: f"there are more than max_states={limit} states",
            Status.TIMEOUT: "the time limit was reached",
            Status.INTERRUPTED: "the search was interrupted",
        }
        error.args = (
            f"{status.name}: {why.get(status, 'the search was stopped')}; {expanded} "
            f"of {count} that were found were expanded. Pass throw=False to get these.",
        )
        raise error
    return space


# ---- in pieces -------------------------------------------------------------------


class Expansion(NamedTuple):
    """The next states of a search, with all their edges.

    Attributes:
        states: int32 `[N, K]`.
        offsets: int32 `[N + 1]`, from 0; the edges of the `i`-th of these states are
            `offsets[i] .. offsets[i + 1] - 1`.
        targets: int32 `[M]`, states by their numbers.
        actions: integers `[M]`, the action of each edge.
    """

    states: np.ndarray
    offsets: np.ndarray
    targets: np.ndarray
    actions: np.ndarray


@limited()
def expansions(
    successors: Callable[[Any], tuple[Any, Any]],
    initial: Any,
    *,
    ranges: Sequence[Any] | None = None,
    engine: Engine = "auto",
    parallel_edges: bool = False,
    **bounds: Unpack[Bounds],
) -> Iterator[Expansion]:
    """Tells a state space piece by piece, while it is being found.

    The pieces together are what [`explore`][jaxgames.graph.explore] finds, in the same
    order; they grow with what has been found. No more is searched than is asked for.

    Args:
        successors: as for `explore`, like all that follow.
        initial: the initial state, or several.
        ranges: the range of each component.
        engine: `"host"`, `"device"` or `"auto"`.
        parallel_edges: keep edges that repeat others.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: as `explore`.

    Examples:
        >>> def successors(states):
        ...     return states[:, None] + 1, states < 3000
        >>> [len(piece.states) for piece in expansions(successors, [0])]
        [1024, 1024, 953]
    """
    search, rules, _ = begin(successors, initial, ranges, engine, parallel_edges)
    told = edges = 0
    while not search.done:
        until = told + max(PIECE, told // PIECE_GROWTH)
        while not search.done and search.head < until:
            tick("exploring", search.head, "states")
            search.advance(until, NO_LIMIT, 0.25)
        check_range(search, rules)
        ends, _, targets, actions = search.rows(told, search.head)
        words = search.words(told, search.head)
        offsets = np.append(np.int32(0), ends - np.int32(edges))
        told, edges = search.head, search.edges
        yield Expansion(rules.packing.unpack(words), offsets, targets, actions)
