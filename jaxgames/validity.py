"""Whether what is passed is a game at all: said once, for arrays of numpy and of jax.

On a concrete arena whatever is wrong is a ValueError that says where, and it is looked
at once for each arena: what our own constructors have checked carries a mark. Under
tracing shapes and types raise too; what only values tell becomes a traced bool, beside
an arena that is harmless where it holds, so that no loop runs on what is no game.
"""

import contextlib
import contextvars
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from jaxgames.arena import (
    DEAD_END,
    LABELS,
    MAX_PRIORITY,
    MAX_SIZE,
    NO_DEAD_END,
    Arena,
    is_traced,
    refuse_cut,
)
from jaxgames.arguments import fields, refuse_masked
from jaxgames.kept import is_kept, kept
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.solution import Solution, Stats, Status

T = TypeVar("T")


class Fault(NamedTuple):
    """Where something is wrong: bools `[..., n]`; and what to say of a place."""

    wrong: Any
    says: Callable[[int], str]


class Rules(NamedTuple):
    """When a value of some class is sound; for those that are no arenas.

    Attributes:
        shapes: raises ValueError for a wrong shape or type, from a value and the shape
            of a stack, `()` for a single one.
        faults: what values tell, from numpy or jax.numpy and a value, or a stack.
        harmless: fields in place of those of a value that is none; they fit its shape.
        concrete: raises ValueError for what only numpy looks at.
    """

    shapes: Callable[[Any, tuple[int, ...]], None]
    faults: Callable[[Any, Any], list[Fault]]
    harmless: Callable[[Any], dict[str, Any]]
    concrete: Callable[[Any], None] = lambda _: None


_checks = contextvars.ContextVar("checks", default=True)


@contextlib.contextmanager
def unchecked() -> Iterator[None]:
    """Within this context the values of traced games are not looked at.

    By default a game that is traced by `jax.jit` or `jax.vmap` is checked by what is
    compiled, which takes about as long as a round of a solver. Leave it out where games
    come from [`Arena.from_edges`][jaxgames.Arena.from_edges] or from a generator of
    yours that you trust: of what is no game the answer then is anything, and it may
    never come. It acts while a function is traced, so it belongs inside the function;
    concrete games are checked all the same, which costs nothing after the first time.

    Examples:
        >>> import jax, jaxgames
        >>> from jaxgames import Arena, parity
        >>> @jax.jit
        ... def winners(arena):
        ...     with jaxgames.unchecked():
        ...         return parity.solve(arena, "fpi").winner
        >>> winners(Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[1, 2]))
        Array([0, 0], dtype=int8)
    """
    token = _checks.set(False)
    try:
        yield
    finally:
        _checks.reset(token)


def checked(arena: Arena, *, total: bool = True) -> tuple[Arena, Any]:
    """Refuses what is no arena, or no game, in which every vertex has a successor.

    Returns:
        The arena, and False. Under tracing a harmless arena where its values are wrong,
        and whether they are, a traced bool: give the answer to `withdrawn` with it.

    Raises:
        ValueError: it is no arena, is a stack of them, or has a field of a wrong shape
            or type; or, where it is concrete, a wrong value, or a dead end in a game.

    Examples:
        >>> import dataclasses
        >>> arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[1, 2])
        >>> checked(dataclasses.replace(arena, dst=np.array([1, 5], np.int32)))
        Traceback (most recent call last):
        ValueError: dst[1] is 5 (an edge of vertex 1), expected a vertex from 0 to 1
    """
    _check_type(arena)
    # What is traced is a new object, and nothing is kept with it.
    if not is_kept(arena, DEAD_END) and is_traced(arena):
        _check_shapes(arena, (), total)
        refuse_cut(arena)
        if not _checks.get():
            return arena, False
        fault = wrong_at_once(arena, total)
        return _harmless_where(fault, arena), fault
    dead = kept(arena, DEAD_END, lambda: _first_dead_end(arena))
    if total and dead != NO_DEAD_END:
        raise ValueError(_says_dead_end(dead))
    return arena, False


def also(fault: Any, wrong: Any) -> Any:
    """What `checked` has said, or that something else that is traced is wrong."""
    return fault | wrong if _checks.get() else fault


def sound(value: T, rules: Rules) -> tuple[T, Any]:
    """As `checked`, for one value of another class, with rules of its own."""
    if is_traced(value):
        rules.shapes(value, ())
        if not _checks.get():
            return value, False
        fault = _any(jnp, rules.faults(jnp, value))
        instead = {
            name: jnp.where(fault, other, getattr(value, name))
            for name, other in rules.harmless(value).items()
        }
        return dataclasses.replace(value, **instead), fault  # type: ignore

    def look() -> bool:
        rules.shapes(value, ())
        host = to_numpy(value)
        _raise(rules.faults(np, host))
        rules.concrete(host)
        return True

    kept(value, "sound", look)
    return value, False


def known(value: Any) -> None:
    """Notes that nothing is wrong with a value that was just built."""
    kept(value, "sound", lambda: True)


def check_stack(stack: Any, games: int, rules: Rules) -> None:
    """As `check_each`, for a concrete stack of so many values of another class."""
    rules.shapes(stack, (games,))
    host = to_numpy(stack)
    wrong = _any(np, rules.faults(np, host))
    if np.any(wrong):
        which = int(np.argmax(wrong))
        with about_game(which):
            sound(jax.tree.map(lambda x: x[which], host), rules)


def check_each(arena: Arena, *, total: bool = True) -> None:
    """Refuses a concrete arena, or a stack one of whose games is none and is named.

    What lies on a device is looked at there. Errors are those of `checked`.
    """
    _check_type(arena)
    if np.ndim(arena.row_ptr) != 2:
        checked(arena, total=total)
        return
    which = kept(arena, ("bad game", total), lambda: _first_bad_game(arena, total))
    if which is None:
        return
    with about_game(which):
        checked(jax.tree.map(lambda x: np.asarray(x[which]), arena), total=total)


@contextlib.contextmanager
def about_game(number: int) -> Iterator[None]:
    """Within this context ValueErrors say which game of a batch they are about.

    Examples:
        >>> with about_game(3):
        ...     raise ValueError("priority is None")
        Traceback (most recent call last):
        ValueError: game 3: priority is None
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(f"game {number}: {error}") from None


def withdrawn(fault: Any, answer: T, **nothing: int) -> T:
    """An answer without anything in it, where the question was none (pure).

    Numbers become -1, which stands for undecided, for no edge and for no reason, and
    bools False; a solution's status becomes `Status.INVALID`. Whether it was none,
    `checked` has said. What stands for nothing in fields of a solution may be told.
    """
    if fault is False:
        return answer
    if not isinstance(answer, Solution):
        return jax.tree.map(lambda x: _where(fault, -1, x), answer)
    bare = dataclasses.replace(answer, stats=Stats(), state=None)
    kept_as_they_are = {"stats": answer.stats, "state": answer.state}
    instead = {
        name: jax.tree.map(
            functools.partial(_where, fault, value), getattr(answer, name)
        )
        for name, value in (nothing | {"status": int(Status.INVALID)}).items()
    }
    return dataclasses.replace(
        jax.tree.map(lambda x: _where(fault, -1, x), bare),
        **kept_as_they_are,
        **instead,
    )


def _where(fault: Any, nothing: int, x: Any) -> Any:
    x = jnp.asarray(x)
    nothing = 0 if x.dtype == bool else nothing
    return jnp.where(fault, np.array(nothing).astype(x.dtype), x)


def check_answer(
    name: str, values: Any, shape: tuple[int, ...], *, wide: bool = False
) -> None:
    """Refuses an array of a solution that holds no integers, or not one for each place.

    It may hold Python's integers if it is `wide`.

    Raises:
        ValueError: saying what is wrong.

    Examples:
        >>> check_answer("winner", np.zeros(2, np.int8), (3,))
        Traceback (most recent call last):
        ValueError: solution.winner must have the arena's shape (3,), got (2,)
    """
    if values is None:
        raise ValueError(
            f"solution.{name} is None: there is nothing to verify; solve with "
            "strategies"
        )
    found = np.shape(values)
    if found != shape:
        raise ValueError(
            f"solution.{name} must have the arena's shape {shape}, got {found}"
        )
    refuse_masked(f"solution.{name}", values)
    dtype = values.dtype if hasattr(values, "dtype") else np.asarray(values).dtype
    if wide and dtype.kind == "O" and all(type(x) is int for x in values.tolist()):
        return
    if dtype.kind not in "iu" or dtype == np.uint64:
        raise ValueError(f"solution.{name} must hold integers, got {dtype}")


def count_of(components: Any) -> Any:
    """The count of an answer: an int where it is concrete, and never -1.

    Raises:
        ValueError: it is no integer.
    """
    (count,) = fields("components", components, "count")
    kind = getattr(getattr(count, "dtype", None), "kind", "")
    if np.shape(count) or not (type(count) is int or kind == "i"):
        raise ValueError(
            f"components.count must be an integer, got {type(count).__name__}"
        )
    if is_traced(count):  # -1 says elsewhere that nobody has counted
        return jnp.where(count == -1, count - 1, count)
    count = min(max(int(count), -2), MAX_SIZE)
    return -2 if count == -1 else count


# ---- what shapes tell ----------------------------------------------------------


def _check_type(arena: Any) -> None:
    if not isinstance(arena, Arena):
        shown = repr(arena) if isinstance(arena, str) else type(arena).__name__
        raise ValueError(
            f"expected an Arena, got {shown}: Arena.from_edges builds one, and "
            "jaxgames.io.load(path) reads one from a file"
        )


def _check_shapes(arena: Arena, batch: tuple[int, ...], total: bool) -> None:
    """Raises ValueError unless the fields fit one another, in shape and in kind."""
    owner, dst = np.shape(arena.owner), np.shape(arena.dst)
    if not batch and len(owner) == 2:
        raise ValueError(
            f"one game at a time, not a batch: arena.owner has shape {owner}; take "
            "jaxgames.solve_many, or jax.vmap of a function that solves one"
        )
    depth = len(batch)
    for name, shape in (("owner", owner), ("dst", dst)):
        if len(shape) != depth + 1:
            raise ValueError(f"{name} must have {depth + 1} axes, got shape {shape}")
    size, edges = owner[-1], dst[-1]
    wanted = {
        "row_ptr": (size + 1, "i", "one more than there are vertices"),
        "src": (edges, "i", "one for each edge, as dst has"),
        "dst": (edges, "i", "one for each edge"),
        "owner": (size, "b", "one for each vertex"),
        "priority": (size, "iu", "one for each vertex"),
        "edge_priority": (edges, "iu", "one for each edge"),
        "weight": (edges, "i", "one for each edge"),
        "accepting": (size, "b", "one for each vertex"),
        "num_vertices": (None, "i", "an integer"),
        "num_edges": (None, "i", "an integer"),
    }
    for name, (length, kinds, words) in wanted.items():
        values: Any = getattr(arena, name)
        if values is None and name in LABELS:
            continue
        if not isinstance(values, int) and not hasattr(values, "dtype"):
            raise ValueError(f"{name} must be an array, got {type(values).__name__}")
        own = batch if length is None else (*batch, length)
        shape: tuple[int, ...] = getattr(values, "shape", ())
        dtype: Any = getattr(values, "dtype", np.dtype(np.int32))
        if name == "weight" and dtype.kind == "O":
            continue  # Python's integers, for whoever takes them
        if (shape[: depth + 1] if name == "weight" else shape) != own:
            raise ValueError(f"{name} must have shape {own}, {words}, got {shape}")
        if dtype.kind not in kinds:
            expected = "booleans" if kinds == "b" else "integers"
            raise ValueError(f"{name} must hold {expected}, got {dtype}")
    if edges and not size:
        raise ValueError(f"there are {edges} edges, but no vertices")
    if total and edges < size:
        raise ValueError(
            f"{edges} edges cannot give a successor to each of {size} vertices: games "
            "are total; build the arena with dead_ends='lose' if its owner loses there"
        )


# ---- what values tell ----------------------------------------------------------


def _faults(xp: Any, arena: Arena, total: bool) -> list[Fault]:
    """All that may be wrong with arenas of the right shapes: one, or a stack.

    Compares entries with their neighbours and with bounds, and gathers a few times for
    each vertex. A later fault is only told right where there is none before it.
    """
    names = "row_ptr", "src", "dst", "num_vertices", "num_edges"
    arrays = [xp.asarray(getattr(arena, name)) for name in names]
    index = np.result_type(np.int32, *(x.dtype for x in arrays))
    row_ptr, src, dst, real, real_edges = (x.astype(index) for x in arrays)
    real, real_edges = real[..., None], real_edges[..., None]
    size, edges = arena.shape
    vertex, edge = xp.arange(size, dtype=index), xp.arange(edges, dtype=index)
    first, end = row_ptr[..., :-1], row_ptr[..., 1:]

    def at(values: Any, place: Any) -> Any:
        last = values.shape[-1] - 1
        return xp.take_along_axis(values, xp.clip(place, 0, last), -1)

    def of(place: int) -> str:
        return f"(an edge of vertex {src[place]})"

    found = [
        Fault(row_ptr[..., :1] != 0, lambda _: _says("row_ptr", 0, row_ptr, "0")),
        Fault(
            first > end,
            lambda v: _says("row_ptr", v + 1, row_ptr, f"no less than {row_ptr[v]}"),
        ),
        Fault(
            row_ptr[..., -1:] != edges,
            lambda _: _says("row_ptr", size, row_ptr, f"the number of edges, {edges}"),
        ),
        Fault(
            (real < 0) | (real > size),
            lambda _: f"num_vertices must be between 0 and {size}, got {real[0]}",
        ),
        Fault(
            (real_edges < 0) | (real_edges > edges),
            lambda _: f"num_edges must be between 0 and {edges}, got {real_edges[0]}",
        ),
    ]
    if edges:
        # Ascending, and right where each row begins and ends: so right in between.
        holds = first < end
        wrong = (at(src, first) != vertex) | (at(src, end - 1) != vertex)
        found += [
            Fault(
                src[..., 1:] < src[..., :-1],
                lambda e: (
                    f"src must ascend, but src[{e + 1}] is {src[e + 1]} after {src[e]}"
                ),
            ),
            Fault(
                holds & wrong,
                lambda v: (
                    f"src does not agree with row_ptr: edges {first[v]} to "
                    f"{end[v] - 1} are those of vertex {v}, but src has "
                    f"{src[first[v]]} to {src[end[v] - 1]} there"
                ),
            ),
            Fault(
                (dst < 0) | (dst >= size),
                lambda e: (
                    f"dst[{e}] is {dst[e]} {of(e)}, expected a vertex from 0 to "
                    f"{size - 1}"
                ),
            ),
            Fault(
                at(row_ptr, real) != real_edges,
                lambda _: (
                    f"the {real[0]} vertices that are no padding have "
                    f"{row_ptr[real[0]]} edges, but num_edges is {real_edges[0]}"
                ),
            ),
            Fault(
                (edge < real_edges) & (dst >= real),
                lambda e: f"dst[{e}] is {dst[e]} {of(e)}: it leads into the padding",
            ),
            Fault(
                (edge >= real_edges) & (dst != src),
                lambda e: (
                    f"dst[{e}] is {dst[e]} {of(e)}, which is padding: expected an edge "
                    "to itself"
                ),
            ),
        ]
    for name in ("priority", "edge_priority"):
        if getattr(arena, name) is not None:
            found.append(_priority_fault(xp, name, getattr(arena, name)))
    if total:
        found.append(Fault(first >= end, _says_dead_end))
    return found


def _priority_fault(xp: Any, name: str, values: Any) -> Fault:
    values = xp.asarray(values)
    wrong = _unsigned(values) > min(np.iinfo(values.dtype).max, MAX_PRIORITY)
    most = f"a value from 0 to {MAX_PRIORITY}"
    return Fault(wrong, lambda at: _says(name, at, values, most))


def _unsigned(values: Any) -> Any:
    """The same bits: negative numbers are the largest, and one comparison does."""
    return values.astype(f"uint{8 * values.dtype.itemsize}")


def _says(name: str, place: int, values: Any, expected: str) -> str:
    return f"{name}[{place}] is {values[place]}, expected {expected}"


def _says_dead_end(vertex: int | None) -> str:
    return (
        f"vertex {vertex} has no successor: games are total; build the arena with "
        "dead_ends='lose' if its owner loses there"
    )


def _first_dead_end(arena: Arena) -> int:
    """The first dead end of a concrete arena; ValueError if it is none."""
    from jaxgames import on_device

    _check_shapes(arena, (), False)
    if on_device.lie_there(arena.row_ptr, arena.src, arena.dst, arena.owner):
        dead = on_device.first_dead_end(arena)
        if dead is not None:
            return dead
    arena = to_numpy(arena)
    _raise(_faults(np, arena, False))
    dead = arena.row_ptr[1:] == arena.row_ptr[:-1]
    return int(np.argmax(dead)) if dead.any() else NO_DEAD_END


def _first_bad_game(stack: Arena, total: bool) -> int | None:
    """The first game of a concrete stack that is none."""
    _check_shapes(stack, np.shape(stack.row_ptr)[:1], total)
    if isinstance(stack.row_ptr, jax.Array):
        wrong = np.asarray(_wrong_on_device(stack, total))
    else:
        wrong = _any(np, _faults(np, to_numpy(stack), total))
    return int(np.argmax(wrong)) if wrong.any() else None


def wrong_at_once(arena: Arena, total: bool) -> Any:
    """Whether there is any of the `_faults`, in one pass over vertices and over edges.

    Which of them it is need not be told, so that few comparisons do for all. A bool,
    traced or on the device.
    """
    names = "row_ptr", "src", "dst", "num_vertices", "num_edges"
    arrays = [jnp.asarray(getattr(arena, name)) for name in names]
    index = np.result_type(np.int32, *(x.dtype for x in arrays))
    row_ptr, src, dst, real, real_edges = (x.astype(index) for x in arrays)
    size, edges = arena.shape

    def at(values: Any, place: Any) -> Any:
        return values.at[jnp.clip(place, 0, edges - 1)].get(mode="promise_in_bounds")

    def leads_astray(start: int, stop: int) -> Any:
        head, tail = dst[start:stop], src[start:stop]
        padding = jnp.arange(start, stop, dtype=index) >= real_edges
        least = jnp.where(padding, tail, 0)
        more = jnp.where(padding, 0, real - 1)
        return _unsigned(head - least) > _unsigned(more)

    first, end = row_ptr[:-1], row_ptr[1:]
    wrong = (row_ptr[0] != 0) | (row_ptr[-1] != edges)
    wrong |= (real < 0) | (real > size) | (real_edges < 0) | (real_edges > edges)
    of_vertices = (first >= end) if total else (first > end)
    if edges:
        vertex = jnp.arange(size, dtype=index)
        differs = (at(src, first) != vertex) | (at(src, end - 1) != vertex)
        of_vertices |= differs if total else (first < end) & differs
        wrong |= row_ptr[jnp.clip(real, 0, size)] != real_edges
        # All edges but the first are compared with the one before.
        wrong |= leads_astray(0, 1)[0]
        falls = src[1:] < src[:-1]
        wrong |= jnp.any(falls | leads_astray(1, edges))
    if arena.priority is not None:
        of_vertices |= _priority_fault(jnp, "priority", arena.priority).wrong
    wrong |= jnp.any(of_vertices)
    if arena.edge_priority is not None:
        fault = _priority_fault(jnp, "edge_priority", arena.edge_priority)
        wrong |= jnp.any(fault.wrong)
    return wrong


def _any(xp: Any, faults: list[Fault]) -> Any:
    """Whether there is any, for each game of a stack."""
    by_length: dict[int, Any] = {}  # a reduction for each: they would not be fused
    for fault in faults:
        length = fault.wrong.shape[-1]
        by_length[length] = by_length.get(length, False) | fault.wrong
    wrong = False
    for some in by_length.values():
        wrong = wrong | xp.any(some, axis=-1)
    return wrong


def _raise(faults: list[Fault]) -> None:
    for fault in faults:
        if fault.wrong.any():
            raise ValueError(fault.says(int(np.argmax(fault.wrong))))


@functools.partial(jax.jit, static_argnums=1)
def _wrong_on_device(stack: Arena, total: bool) -> jax.Array:
    """Which arenas of a stack are wrong: bool `[N]`."""
    return jax.vmap(lambda arena: wrong_at_once(arena, total))(stack)


def _harmless_where(fault: Any, arena: Arena) -> Arena:
    """The arena, or one of its shape in which every play stays where it begins."""
    size, edges = arena.shape
    end = jnp.where(jnp.arange(size + 1) == size, edges, jnp.arange(size + 1))
    own = jnp.minimum(jnp.arange(edges), max(size - 1, 0))
    harmless = {
        "row_ptr": jnp.minimum(end, edges),
        "src": own,
        "dst": own,
        "num_vertices": size,
        "num_edges": edges,
    }

    def instead(name: str) -> Any:
        values = getattr(arena, name)
        if values is None:
            return None
        values = jnp.asarray(values)
        other = jnp.asarray(harmless.get(name, 0)).astype(values.dtype)
        return jnp.where(fault, other, values)

    return Arena(**{x.name: instead(x.name) for x in dataclasses.fields(arena)})
