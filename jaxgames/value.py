"""What a value is: arrays that nobody changes.

An arena, a model, a system is a value. Its arrays of numpy are its own and read-only;
those of JAX cannot be changed and are shared.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from jaxgames.arguments import refuse_masked
from jaxgames.host import num_cores, together
from jaxgames.kept import SLOT
from jaxgames.later import jax
from jaxgames.tuning.base import COPIED_IN_PIECES_FROM as LARGE

T = TypeVar("T")


class Value:
    """Base of dataclasses that are values: they own their arrays.

    However one is made (by a constructor of its own, by hand, by
    `dataclasses.replace`), an array of numpy that somebody could still write to is
    copied, and so is one whose bytes are in an order that is not the machine's. One
    that is read-only is shared. Dictionaries become such as nobody can write to. What
    is not of numpy is left alone: arrays of JAX, tracers, whatever JAX puts into the
    leaves of a pytree.

    A copy, pickled or not, has the same fields, and nothing of what is kept with the
    value.

    Examples:
        >>> import dataclasses
        >>> @dataclasses.dataclass(frozen=True)
        ... class Path(Value):
        ...     vertices: np.ndarray
        >>> given = np.array([3, 1, 2])
        >>> path = Path(given)
        >>> given[0] = 7
        >>> path.vertices
        array([3, 1, 2])
        >>> path.vertices[0] = 7
        Traceback (most recent call last):
        ValueError: assignment destination is read-only
        >>> dataclasses.replace(path).vertices is path.vertices
        True
    """

    def __post_init__(self) -> None:
        """Makes the arrays its own."""
        for name, field in vars(self).items():
            if isinstance(field, np.ndarray):
                refuse_masked(name, field)
                told = field.base is None and not field.flags.writeable
                if told and field.dtype.isnative:
                    continue  # told fast: JAX makes many arenas while it traces
            elif not isinstance(field, (tuple, dict)):
                continue
            owned = own(field)
            if owned is not field:
                object.__setattr__(self, name, owned)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: the fields alone."""
        return {name: field for name, field in vars(self).items() if name != SLOT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrays come out of a pickle as ones that could be written to."""
        for name, field in state.items():
            object.__setattr__(self, name, own(freeze(field)))


def own(field: Any) -> Any:
    """A field, or tuple or dictionary, whose arrays of numpy nobody can write to."""
    if isinstance(field, np.ndarray):
        if not field.dtype.isnative:  # neither JAX nor machine code takes it
            field = field.astype(field.dtype.newbyteorder("="))
        elif is_settled(field):
            return field
        else:
            field = copied(field)
        field.setflags(write=False)
        return field
    if type(field) is dict:
        return ReadOnly({name: own(each) for name, each in field.items()})
    if type(field) is ReadOnly:
        owned = {name: own(each) for name, each in field.items()}
        same = all(owned[name] is each for name, each in field.items())
        return field if same else ReadOnly(owned)
    if type(field) is tuple:
        owned = tuple(map(own, field))
        same = all(x is y for x, y in zip(owned, field, strict=True))
        return field if same else owned
    return field


def copied(array: np.ndarray) -> np.ndarray:
    """A copy of an array; of a large one several threads make it."""
    if array.nbytes < LARGE or array.dtype == object or not array.flags.c_contiguous:
        return np.array(array)
    copy = np.empty_like(array, subok=False)
    parts = min(2 * num_cores(), array.nbytes // (LARGE // 4), len(array))
    pieces = np.array_split(copy, parts), np.array_split(array, parts)
    together(lambda pair: np.copyto(*pair), zip(*pieces, strict=True))
    return copy


def freeze(field: T) -> T:
    """Makes arrays read-only that were just made, with what they are a part of.

    So they need not be copied. Nobody else may want to write to them.
    """
    array = field
    while isinstance(array, np.ndarray):
        array.setflags(write=False)
        array = array.base
    if type(field) in (dict, ReadOnly, tuple):
        for each in field.values() if isinstance(field, dict) else field:  # type: ignore
            freeze(each)
    return field


def ours(array: np.ndarray, given: Any) -> np.ndarray:
    """Freezes what `np.asarray` made of a caller's data, unless it may be theirs."""
    made = array is not given and isinstance(given, (np.ndarray, list, tuple, range))
    if made and array.base is None:
        array.setflags(write=False)
    return array


def is_settled(array: Any) -> bool:
    """Whether nobody can write to an array, nor to what it is a part of."""
    while type(array) is np.ndarray:
        if array.flags.writeable:
            return False
        array = array.base
    if isinstance(array, memoryview):
        array = array.obj
    # No other owner, or one that does not change: JAX shows its memory as a capsule
    # or through one of its arrays.
    fixed = array is None or isinstance(array, (bytes, jax.Array))
    return fixed or type(array).__name__ == "PyCapsule"


def exportable(name: str) -> Callable[[type[T]], type[T]]:
    """Decorator: `jax.export` writes functions whose arguments have such a value.

    Args:
        name: what the class is called in the serialized function, now and later; its
            static fields are numbers, None, or tuples of such.
    """

    def register(cls: type[T]) -> type[T]:
        return jax.export.register_pytree_node_serialization(
            cls,
            serialized_name=name,
            serialize_auxdata=lambda static: json.dumps(static).encode(),
            deserialize_auxdata=lambda text: _as_tuple(json.loads(text)),
        )

    return register


@exportable("jaxgames.value.ReadOnly")
@jax.tree_util.register_pytree_with_keys_class
class ReadOnly(dict):
    """A dictionary that nobody can write to: what is derived from it is kept.

    To JAX it is a pytree, as other dictionaries are. A copy of it can be written to.

    Examples:
        >>> named = ReadOnly({"goal": 2})
        >>> named["goal"] = 3
        Traceback (most recent call last):
        TypeError: this dictionary is part of a value, and read-only: change a copy ...
        >>> named | {"trap": 5}
        {'goal': 2, 'trap': 5}
    """

    def _refuse(self, *args: Any, **named: Any) -> Any:
        del args, named
        raise TypeError(
            "this dictionary is part of a value, and read-only: change a copy of it, "
            "and make another value by dataclasses.replace"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = _refuse
    setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> Any:
        """Pickled and copied as a whole: entries cannot be added one by one."""
        return type(self), (dict(self),)

    def tree_flatten_with_keys(self) -> tuple[tuple, tuple]:
        """Entries are children, and have the keys that those of others have."""
        names = tuple(sorted(self))
        key = jax.tree_util.DictKey
        return tuple((key(name), self[name]) for name in names), names

    def tree_flatten(self) -> tuple[tuple, tuple]:
        """Names are structure, in their own order."""
        names = tuple(sorted(self))
        return tuple(self[name] for name in names), names

    @classmethod
    def tree_unflatten(cls, names: tuple, children: Any) -> "ReadOnly":
        """The inverse of `tree_flatten`."""
        return cls(zip(names, children, strict=True))


def _as_tuple(found: Any) -> Any:
    return tuple(map(_as_tuple, found)) if isinstance(found, list) else found
