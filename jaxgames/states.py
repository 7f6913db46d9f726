"""What a state is a state of, and which classes make up states.

A state is what a solve goes on from. It makes sense for one problem and one solver
only: with others it would end in an answer that looks solved and is wrong. So it
carries an [`Origin`][jaxgames.states.Origin], which is compared when a solve goes on.
"""

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

import jaxgames
from jaxgames.kept import kept
from jaxgames.later import imported, jax, jnp, to_numpy
from jaxgames.tuning.base import JOINED_UP_TO

Words = tuple[Any, Any]
"""A fingerprint: two uint32 scalars, or two arrays of them, one for each game."""

_GOLDEN, _FIRST, _SECOND = 0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35
"""Odd numbers whose multiples are far apart modulo 2**32."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Origin:
    """What a state is a state of.

    Attributes:
        problem: the fingerprint of what the solver works on.
        solver: the solver and its options, as `described` says them.
        version: of this library, since what solvers carry changes with it.
    """

    problem: Words
    solver: str = dataclasses.field(metadata={"static": True})
    version: str = dataclasses.field(metadata={"static": True})


def version() -> str:
    """The version of this library."""
    return jaxgames.__version__


def described(solver: Any) -> str:
    """A solver and those of its options that are not as usual.

    How often it tests for the end is left out: that changes no state.

    Examples:
        >>> from jaxgames import parity
        >>> described(parity.SPM(words=2, sweeps_per_check=5))
        'SPM(words=2)'
    """
    options = []
    for field in dataclasses.fields(solver):
        if field.name == "sweeps_per_check" or field.metadata.get("transient"):
            continue
        told, usual = _told(getattr(solver, field.name)), field.default
        if usual is dataclasses.MISSING or told != _told(usual):
            options.append(f"{field.name}={told}")
    return f"{type(solver).__qualname__}({', '.join(options)})"


def _told(option: Any) -> str:
    if isinstance(option, np.ndarray | jax.Array):
        words = to_numpy(fingerprint(option))
        return "array" + "".join(f"{int(word):08x}" for word in words)
    if dataclasses.is_dataclass(option) and not isinstance(option, type):
        return described(option)
    return repr(option)


def differs(mine: Origin, found: Origin) -> str | None:
    """Why a state is not of this solve, as far as its structure tells; None if not."""
    if found.version != mine.version:
        return f"version {found.version} of jaxgames made it, this is {mine.version}"
    if found.solver != mine.solver:
        return f"its solver is {found.solver}, and this solve's is {mine.solver}"
    return None


def check(mine: Origin, found: Any) -> None:
    """Checks that a concrete state is of this solve.

    Args:
        mine: what a state of this solve is of.
        found: what it is of: its `origin`; None where nobody says.

    Raises:
        ValueError: it is of another one, saying which differs.
    """
    if found is None:
        return
    why = differs(mine, found)
    if why is None:
        words, wanted = to_numpy((found.problem, mine.problem))
        if all(np.array_equal(x, y) for x, y in zip(words, wanted, strict=True)):
            return
        why = "it was made for another problem of the same kind"
    raise ValueError(
        f"state is not of this solve: {why}. Pass solution.state of an earlier call "
        "with the same problem, solver and options"
    )


def check_games(mine: Origin, found: Origin) -> None:
    """Checks that the state of a stack, or of a list of games, is of these games.

    Args:
        mine: with the fingerprint of each game.
        found: that of the state.

    Raises:
        OtherGameError: it is of others.
        ValueError: it is of another number of games, or of another solver.
    """
    if why := differs(mine, found):
        raise ValueError(f"state is not of this solve: {why}")
    words, wanted = (np.stack(to_numpy(x.problem), axis=-1) for x in (found, mine))
    check_number(len(words), len(wanted))
    other = np.flatnonzero((words != wanted).any(axis=1))
    if len(other):
        sets = ({*map(tuple, x.tolist())} for x in (words, wanted))
        raise OtherGameError(int(other[0]), next(sets) == next(sets))


def check_number(count: int, passed: int) -> None:
    """Checks that a state is of as many games as were passed.

    Raises:
        ValueError: it is of `count` games.
    """
    if count != passed:
        raise ValueError(
            f"state is of {count} games, and {passed} were passed: pass the games of "
            "the call that it came from, in their order"
        )


class OtherGameError(ValueError):
    """The state of many games is of others.

    Attributes:
        game: the first place where another game is.
        reordered: whether they are the same games in another order.
    """

    def __init__(self, game: int, reordered: bool):
        why = "the same games are in another order" if reordered else "it is another"
        super().__init__(
            f"state is not of these games: game {game} is not the one that it is of, "
            f"{why}. Pass the games of the call that it came from, in their order"
        )
        self.game, self.reordered = game, reordered

    def of(self, members: Sequence[int]) -> "OtherGameError":
        """The same, where the games are some of a list: those with these numbers."""
        number = members[self.game] if self.game < len(members) else members[0]
        return OtherGameError(number, self.reordered)

    def __reduce__(self):
        return type(self), (self.game, self.reordered)


def words_of(value: Any) -> Words:
    """The fingerprint of a value whose arrays do not change; kept with it (host)."""
    return kept(value, "words", lambda: fingerprint(to_numpy(value)))


def check_class(state: Any, kind: type) -> None:
    """Checks that a state has the class that a solve hands out.

    Raises:
        ValueError: it has another one.
    """
    if not isinstance(state, kind):
        raise ValueError(
            "state must be solution.state of an earlier call with the same problem, "
            f"solver and options, which is a {kind.__name__}: got "
            f"{type(state).__name__}"
        )


# ---- fingerprints ----------------------------------------------------------------


def fingerprint(values: Any, *, apart: bool = False) -> Words:
    """64 bits that tell pytrees of arrays apart (pure).

    The same bits come from numpy and from jax, from any device or number of them, under
    `jit` and `vmap`, and from any integer type that holds the same values. It takes one
    pass. It is no defence against somebody who looks for two games with the same bits.

    Args:
        values: a pytree of arrays of booleans, integers or floats; of NumPy's, also of
            Python's integers. Names and shapes count too.
        apart: whether arrays of JAX stay apart, as those of several devices better do;
            the bits are the same.

    Returns:
        Two uint32 scalars, of numpy if all arrays are.

    Examples:
        >>> first, second = fingerprint({"x": np.arange(3)})
        >>> [f"{int(word):08x}" for word in (first, second)]
        ['05aeec7f', '94373cef']
        >>> bool(fingerprint({"x": jnp.arange(3)})[0] == first)
        True
    """
    leaves = list(_leaves(values))
    names, parts = hashlib.sha256(), []
    with np.errstate(over="ignore"):  # everything is modulo 2**32
        for path, x in leaves:
            # Numpy's stay numpy's: JAX would cut 64 bits to 32.
            xp = jnp if isinstance(x, jax.Array) else np
            x = xp.asarray(x)
            name = f"{path}{list(x.shape)}"
            names.update(f"{name};".encode())
            digest = hashlib.sha256(name.encode()).digest()
            parts.append(_placed(xp, x, np.frombuffer(digest[:4], "<u4")[0]))
        if not apart:
            parts = _joined(parts)
        found = np.frombuffer(names.digest()[:8], "<u4")
        first, second = found[0], found[1]
        for words, place in parts:
            one, other = _mixed(
                jnp if isinstance(words, jax.Array) else np, words, place
            )
            first, second = first + one, second + other
        return spread(first), spread(second)


def _joined(parts: list[Words]) -> list[Words]:
    """The same words in fewer arrays: JAX's, if they are not very many, in one.

    A reduction each takes long to compile where there are many.
    """
    there = [part for part in parts if isinstance(part[0], jax.Array)]
    if len(there) < 2 or sum(words.size for words, _ in there) > JOINED_UP_TO:
        return parts
    others = [part for part in parts if not isinstance(part[0], jax.Array)]
    flat = [[x.reshape(-1) for x in jnp.broadcast_arrays(*part)] for part in there]
    words, place = (jnp.concatenate(x) for x in zip(*flat, strict=True))
    return [*others, (words, place)]


def _leaves(values: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays of a pytree, and where they are, as JAX names it.

    Without JAX nothing but numpy's arrays, dataclasses and dictionaries is looked at.
    """
    if imported():
        for keys, leaf in jax.tree_util.tree_flatten_with_path(values)[0]:
            yield jax.tree_util.keystr(keys), leaf
    elif isinstance(values, dict):
        for key in sorted(values):
            yield from _leaves(values[key], f"{path}[{key!r}]")
    elif dataclasses.is_dataclass(values):
        for field in dataclasses.fields(values):
            if not field.metadata.get("static"):
                yield from _leaves(getattr(values, field.name), f"{path}.{field.name}")
    elif values is not None:
        yield path, values


def _placed(xp: Any, x: Any, seed: Any) -> Words:
    """Each entry as a word, and its place, from the seed on."""
    words, place = _words(xp, x), seed
    step = 1
    for axis in reversed(range(words.ndim)):
        count = xp.arange(words.shape[axis], dtype=xp.uint32)
        own = [1] * words.ndim
        own[axis] = words.shape[axis]
        place = place + (count * xp.uint32(step & 0xFFFFFFFF)).reshape(own)
        step *= words.shape[axis]
    return words, place


def _mixed(xp: Any, words: Any, place: Any) -> Words:
    """Two sums of what each word and its place make."""
    each = spread(words + place * xp.uint32(_GOLDEN))
    odd = place * xp.uint32(2) + xp.uint32(1)
    other = (each ^ (each >> xp.uint32(9))) * odd
    return xp.sum(each, dtype=xp.uint32), xp.sum(other, dtype=xp.uint32)


def spread(x: Any) -> Any:
    """Each bit of a uint32, spread over all of it; one to one, and zero stays zero.

    The finaliser of MurmurHash3, by Austin Appleby, who gave it to the public domain.
    It works for numpy and for JAX.
    """
    x = (x ^ (x >> np.uint32(16))) * np.uint32(_FIRST)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(_SECOND)
    return x ^ (x >> np.uint32(16))


def _words(xp: Any, x: Any) -> Any:
    """Entries as uint32; with one axis more where an entry takes two."""
    kind = np.dtype(x.dtype)
    if kind.kind == "b":
        return x.astype(xp.uint32)
    if kind.kind == "f" or (imported() and jnp.issubdtype(kind, jnp.floating)):
        if kind.itemsize < 4:
            x = x.astype(xp.float32)
        if xp is np:
            parts = () if x.dtype.itemsize == 4 else (2,)
            found = np.ascontiguousarray(x).reshape(-1).view(np.uint32)
            return found.reshape(*x.shape, *parts)
        return jax.lax.bitcast_convert_type(x, jnp.uint32)
    if kind.kind == "O":  # Python's integers, of any size
        try:
            return _words(xp, x.astype(np.int64))
        except OverflowError:
            text = ",".join(map(str, x.reshape(-1).tolist()))
            return np.frombuffer(text.encode(), np.uint8).astype(np.uint32)
    if kind.kind not in "iu":
        raise ValueError(f"arrays of {kind} have no fingerprint")
    if kind.itemsize < 4:
        return x.astype(xp.int32).astype(xp.uint32)
    low = x.astype(xp.uint32)
    if kind == np.int32:
        return low
    # What is beyond the 32 bits of a signed number; nothing where they hold it.
    sign = xp.uint32(0) - (low >> xp.uint32(31))
    high = xp.uint32(0)
    if kind.itemsize == 8:
        high = (x >> np.array(32, kind)).astype(xp.uint32)
    return low ^ spread(high ^ sign)


# ---- classes ---------------------------------------------------------------------


CLASSES: dict[str, type] = {}
"""The classes that states in files may have, by the names that files have for them."""

_Class = TypeVar("_Class", bound=type)


def register(kind: _Class) -> _Class:
    """Decorator of classes that states are made of: named tuples and dataclasses.

    Only these are built when a state is read from a file, with what it says they hold:
    nothing is looked up elsewhere. A solver of your own wants its state here.

    Examples:
        >>> from typing import NamedTuple
        >>> @register
        ... class Mine(NamedTuple):
        ...     measure: jax.Array
        >>> CLASSES[name_of(Mine)] is Mine
        True
    """
    CLASSES[name_of(kind)] = kind
    return kind


def name_of(kind: type) -> str:
    """The name that files have for a class."""
    return f"{kind.__module__}:{kind.__qualname__}"


register(Origin)
