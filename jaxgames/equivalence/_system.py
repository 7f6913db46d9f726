"""Transition systems as sorted rows on the host, their quotients and enabled labels."""

import dataclasses
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from jaxgames.arguments import integer
from jaxgames.kept import keeps
from jaxgames.limits import Bounds, limited
from jaxgames.value import Value, freeze

if TYPE_CHECKING:
    from jaxgames.io import LTS


class Enabled(NamedTuple):
    """Which labels the states enable: `C` different sets."""

    of: np.ndarray
    """int32 `[V]`, the set of each state, numbered in the order of their first ones."""
    offsets: np.ndarray
    """int32 `[C + 1]`, where the labels of each set start."""
    labels: np.ndarray
    """int32, the labels of each set, ascending."""

    def includes(self) -> np.ndarray:
        """Whether the row's set includes the column's: bool `[C, C]`."""
        count, sizes = len(self.offsets) - 1, np.diff(self.offsets)
        width = int(self.labels.max(initial=-1)) + 1
        has = np.zeros((count, width), np.float32)
        has[np.repeat(np.arange(count), sizes), self.labels] = 1
        return has @ has.T == sizes

    def masks(self) -> np.ndarray:
        """The labels of each set as bits: int64 `[C, W]`, 63 of them in a word."""
        count, sizes = len(self.offsets) - 1, np.diff(self.offsets)
        words = int(self.labels.max(initial=0)) // 63 + 1
        found = np.zeros((count, words), np.int64)
        word, bit = np.divmod(self.labels, 63)
        which = np.repeat(np.arange(count), sizes), word
        np.bitwise_or.at(found, which, np.left_shift(np.int64(1), bit.astype(np.int64)))
        return found


@dataclasses.dataclass(frozen=True)
class System(Value):
    """The transitions of `V` states, on the host.

    Attributes:
        offsets: int32 `[V + 1]`, where the transitions of each state start.
        label: int32 `[E]`, ascending for each state.
        target: int32 `[E]`, ascending for each state and label.
        num_labels: how many labels there are.
    """

    offsets: np.ndarray
    label: np.ndarray
    target: np.ndarray
    num_labels: int

    @classmethod
    def of(cls, lts: "LTS") -> "System":
        """The transitions of a labelled transition system, each once."""
        arena = lts.arena
        count = int(arena.num_edges)
        src, dst = np.asarray(arena.src)[:count], np.asarray(arena.dst)[:count]
        states = int(arena.num_vertices)
        label = np.asarray(lts.label)[:count]
        return cls.sorted(src, label, dst, states, len(lts.names))

    @classmethod
    def sorted(cls, source, label, target, states: int, labels: int, *, merge=True):
        """Sorts transitions; `merge` leaves out those that repeat another."""
        low = max(states - 1, 0).bit_length()
        front = low + max(labels - 1, 0).bit_length()
        if front + low < 64:
            # One number tells all of a transition, and sorts faster.
            key = (source.astype(np.int64) << front) | (label.astype(np.int64) << low)
            key |= target
            key.sort()
            fresh = key[1:] != key[:-1]
            if merge and not fresh.all():
                key = key[np.append(True, fresh)]
            source, target = key >> front, (key & ((1 << low) - 1)).astype(np.int32)
            label = ((key & ((1 << front) - 1)) >> low).astype(np.int32)
        else:
            order = np.lexsort((target, label, source))
            rows = np.stack([source[order], label[order], target[order]])
            if merge and rows.shape[1]:
                rows = rows[:, np.append(True, (rows[:, 1:] != rows[:, :-1]).any(0))]
            source, (label, target) = rows[0], rows[1:].astype(np.int32)
        offsets = np.zeros(states + 1, np.int32)
        np.cumsum(np.bincount(source, minlength=states), out=offsets[1:])
        return cls(freeze(offsets), freeze(label), freeze(target), labels)

    @property
    def num_states(self) -> int:
        """How many states there are."""
        return len(self.offsets) - 1

    @property
    def source(self) -> np.ndarray:
        """Where each transition starts: int32 `[E]`."""
        states = np.arange(self.num_states, dtype=np.int32)
        return np.repeat(states, np.diff(self.offsets))

    def row(self, state: int) -> list[tuple[int, int]]:
        """Label and target of each transition of a state."""
        part = slice(self.offsets[state], self.offsets[state + 1])
        label, target = self.label[part].tolist(), self.target[part].tolist()
        return list(zip(label, target, strict=True))

    def quotient(self, classes: np.ndarray, *, merge: bool = True) -> "System":
        """The system of classes of bisimilar states, numbered by their first ones.

        Args:
            classes: the class of each state.
            merge: whether transitions of a class to one class by one label become one;
                else the class has those of its first state.
        """
        most = np.maximum.accumulate(classes)
        first = np.flatnonzero(np.diff(most, prepend=-1))
        source = self.source
        keep = np.zeros(self.num_states, bool)
        keep[first] = True
        keep = keep[source]
        return System.sorted(
            classes[source[keep]],
            self.label[keep],
            classes[self.target[keep]],
            len(first),
            self.num_labels,
            merge=merge,
        )

    def enabled(self) -> Enabled:
        """The sets of labels that the states enable."""
        return self._enabled

    @keeps
    def _enabled(self) -> Enabled:
        source, label = self.source, self.label
        fresh = np.ones(len(label), bool)
        same = (source[1:] == source[:-1]) & (label[1:] == label[:-1])
        fresh[1:] = ~same
        label = label[fresh]
        sizes = np.bincount(source[fresh], minlength=self.num_states)
        ends = np.cumsum(sizes)
        numbers: dict[bytes, int] = {}
        of = np.empty(self.num_states, np.int32)
        text, width = label.tobytes(), label.itemsize
        bounds = zip((ends - sizes).tolist(), ends.tolist(), strict=True)
        for state, (start, stop) in enumerate(bounds):
            key = text[start * width : stop * width]
            of[state] = numbers.setdefault(key, len(numbers))
        sizes = [len(key) // width for key in numbers]
        offsets = np.append(0, np.cumsum(sizes)).astype(np.int32)
        return Enabled(of, offsets, np.frombuffer(b"".join(numbers), np.int32))


@limited()
def union(systems: list["LTS"], **bounds: Unpack[Bounds]) -> tuple["LTS", np.ndarray]:
    """Systems side by side as one, and the number of each one's first state.

    Labels of one name are one label.

    Args:
        systems: the systems.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].
    """
    from jaxgames.io import LTS

    names: dict[str, int] = {}
    first = np.append(0, np.cumsum([lts.num_states for lts in systems])).astype(int)
    src, label, dst = [], [], []
    for start, lts in zip(first, systems, strict=False):
        count = int(lts.arena.num_edges)
        number = [names.setdefault(name, len(names)) for name in lts.names]
        label.append(np.asarray(number, np.int64)[np.asarray(lts.label)[:count]])
        src.append(np.asarray(lts.arena.src, np.int64)[:count] + start)
        dst.append(np.asarray(lts.arena.dst, np.int64)[:count] + start)
    source, label, target = (
        np.concatenate(x) if x else np.empty(0, np.int64) for x in (src, label, dst)
    )
    joined = LTS.from_arrays(source, label, target, names, int(first[-1]))
    return joined, first[:-1]


def check_process(lts: "LTS", **processes: int) -> None:
    """Raises ValueError unless each process is a state."""
    for name, process in processes.items():
        integer(f"process {name}", process, 0, lts.num_states - 1)
