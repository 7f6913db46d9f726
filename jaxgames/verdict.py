"""What a check of an answer finds."""

import dataclasses
import enum
from typing import Any, ClassVar, Self

import numpy as np

from jaxgames.later import has_values, jax, jnp
from jaxgames.solution import Status

NO_PROBLEM = -1
"""Reason of a verdict under tracing where what was passed is no game at all."""

NOWHERE = -1
"""Place of a verdict that finds nothing wrong, or something that has no place."""


class Reason(enum.IntEnum):
    """Base of the reasons of a slice: its members say what may be wrong.

    They are numbered from 0 in the order in which they are looked for. The first one
    says that nothing is wrong.
    """

    message: str
    """What holds where the check fails."""

    def __new__(cls, message: str):
        """The next member, with its message."""
        value = len(cls.__members__)
        self = int.__new__(cls, value)
        self._value_ = value
        self.message = message
        return self


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """What a check found: true if nothing is wrong.

    A slice has a subclass of its own that names its reasons.

    Attributes:
        valid: bool, whether the answer is right.
        reason: int32, one of the slice's reasons: the first one that holds somewhere,
            or `OK`.
        vertex: int32, a vertex where it holds, or -1.

    Examples:
        >>> from jaxgames.parity import Reason, Verdict
        >>> wrong = Verdict.at(Reason.STRATEGY_MISSING, 5)
        >>> bool(wrong)
        False
        >>> print(wrong)
        vertex 5: its owner wins it, but has no strategy there
    """

    valid: Any
    reason: Any
    vertex: Any

    reasons: ClassVar[type[Reason]]
    place: ClassVar[str] = "vertex"

    def __init_subclass__(cls):
        """Has JAX know the verdicts of a slice too: they are pytrees."""
        jax.tree_util.register_dataclass(cls)

    @classmethod
    def at(cls, reason: Reason, vertex: int = NOWHERE) -> Self:
        """The verdict for a concrete reason."""
        vertex = vertex if abs(vertex) < 2**31 else NOWHERE  # said, but not there
        return cls(np.bool_(reason == 0), np.int32(reason), np.int32(vertex))

    @classmethod
    def first_of(cls, *faults: Any) -> Self:
        """The verdict from where each reason holds (pure).

        Args:
            faults: for each reason but the first one bools, one for each place, or a
                bool where it has none.
        """
        xp = jnp if any(isinstance(fault, jax.Array) for fault in faults) else np
        reason, vertex = xp.int32(0), xp.int32(NOWHERE)
        found = list(zip(list(cls.reasons)[1:], faults, strict=True))
        for which, fault in reversed(found):
            holds, at = xp.asarray(fault).any(), xp.int32(NOWHERE)
            if xp.ndim(fault) and xp.size(fault):
                at = xp.argmax(fault).astype(xp.int32)
            reason = xp.where(holds, xp.int32(which), reason)
            vertex = xp.where(holds, at, vertex)
        return cls(reason == 0, reason, vertex)

    def __bool__(self) -> bool:
        """Whether the answer is right; an error where the verdict is traced."""
        return bool(self.valid)

    def __repr__(self) -> str:
        name = type(self).__name__
        if not self._is_one():
            shown = (self.valid, self.reason, self.vertex)
            return f"{name}(valid={shown[0]}, reason={shown[1]}, vertex={shown[2]})"
        reason = self.reasons(int(self.reason)).name
        where = int(self.vertex)
        return f"{name}(valid={bool(self)}, reason=Reason.{reason}, vertex={where})"

    def _is_one(self) -> bool:
        """Whether it is concrete, and not a stack."""
        shown = has_values(self.valid, self.reason, self.vertex)
        return shown and not np.ndim(self.valid)

    def __str__(self) -> str:
        """The reason and the vertex, in words."""
        if not self._is_one():
            return repr(self)
        if self:
            return "valid"
        if self.reason == NO_PROBLEM:
            return Status.INVALID.message
        message = self.reasons(int(self.reason)).message
        if self.vertex == NOWHERE:
            return message
        return f"{self.place} {self.vertex}: {message}"
