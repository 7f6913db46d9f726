"""The front door of models in PRISM's language."""

import contextlib
import dataclasses
import functools
import itertools
import os
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Literal, Unpack, get_args

import numpy as np

from jaxgames import limits
from jaxgames.arena import MANY
from jaxgames.arguments import integer
from jaxgames.host import can_compile, compiled, on_all_cores
from jaxgames.kept import is_kept, kept
from jaxgames.later import backend, may_have_accelerator
from jaxgames.limits import Bounds, limited
from jaxgames.mdp._model import MDP
from jaxgames.mdp._property import (
    Constant,
    Place,
    Property,
    PropertyError,
    as_property,
)
from jaxgames.mdp.program import _on_device
from jaxgames.mdp.program._choices import check_defined
from jaxgames.mdp.program._collecting import many_objects_stay
from jaxgames.mdp.program._explored import MOST, Explored, explore
from jaxgames.mdp.program._expressions import Typed
from jaxgames.mdp.program._nodes import Node
from jaxgames.mdp.program._packed import Columns, Packed
from jaxgames.mdp.program._parser import parse
from jaxgames.mdp.program._resolved import Earned, Resolved, resolved
from jaxgames.mdp.program._tree import Source
from jaxgames.quoting import quoted
from jaxgames.tuning.prism import DEVICE_FROM, MOST_SUCCESSORS, STATES_AT_ONCE

SUFFIXES = (".prism", ".pm", ".nm", ".sm")
"""How files of programs end."""

Engine = Literal["auto", "host", "device"]


def _is_name(text: str) -> bool:
    """Whether a text is the name of a file: no program is a line without blanks."""
    is_word = "." in text and not any(map(str.isspace, text))
    return is_word or ("\n" not in text and text.lower().endswith(SUFFIXES))


class ProgramError(ValueError):
    """A text is no program, or one that means nothing.

    Attributes:
        file: the file it is from, or None.
        place: the line and the column where it goes wrong.
        message: what was expected and what was found.

    Examples:
        >>> str(ProgramError("coin.pm", Place(2, 5), "expected ']'"))
        "coin.pm:2: column 5: expected ']'"
    """

    def __init__(self, file: str | None, place: Place, message: str):
        super().__init__(file, place, message)
        self.file = file
        self.place = place
        self.message = message

    def __str__(self) -> str:
        line, column = self.place
        if self.file is None:
            return f"line {line}, column {column}: {self.message}"
        return f"{self.file}:{line}: column {column}: {self.message}"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Program:
    """A model in PRISM's language: modules with variables, and what they can do.

    Attributes:
        source: what the text declares.
        file: the file that it is from, or None.

    Examples:
        >>> from jaxgames import mdp
        >>> program = mdp.Program.parse('''
        ... dtmc
        ... const int N;
        ... module walk
        ...   x : [0..N] init 1;
        ...   [] 0<x & x<N -> 1/2 : (x'=x-1) + 1/2 : (x'=x+1);
        ... endmodule
        ... label "won" = x=N;
        ... ''')
        >>> program
        Program(dtmc, 1 module, constants N)
        >>> model = program.build(constants={"N": 4})
        >>> model, model.valuations["x"]
        (MDP(5 states, 5 choices, 8 branches), array([0, 1, 2, 3, 4]))
        >>> round(mdp.check(model, 'P=? [ F "won" ]').value, 9)
        0.25
    """

    source: Source
    file: str | None = None

    @staticmethod
    def parse(text: "str | os.PathLike[str]") -> "Program":
        """Reads a program.

        Args:
            text: the program; or the path of a file, or its name if that ends in
                `.prism`, `.pm`, `.nm` or `.sm`, or has a point and no blanks.

        Raises:
            ProgramError: it is none, or one that is not supported; tells file, line and
                column.
            OSError: the file cannot be read.
        """
        file = None
        if not isinstance(text, str) or _is_name(text):
            file = os.fspath(text)
            with open(file, encoding="utf-8", errors="replace") as opened:
                text = opened.read()
        return Program.from_text(text, file)

    @staticmethod
    def from_text(text: str, file: str | None = None) -> "Program":
        """Reads the text of a program.

        Args:
            text: the program.
            file: where it is from, for messages.

        Raises:
            ProgramError: as `parse`.
        """
        with _told_of(file), many_objects_stay():
            return Program(parse(text), file)

    @property
    def kind(self) -> str:
        """`"dtmc"`, `"mdp"` or `"ctmc"`."""
        return self.source.kind

    @property
    def constants(self) -> dict[str, str]:
        """The constants that it leaves open, with their types."""
        return {x.name: x.kind for x in self.source.constants if x.value is None}

    def declares(self, name: str) -> bool:
        """Whether a constant is of this program."""
        return any(constant.name == name for constant in self.source.constants)

    def values(self, constants: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The values of all constants: those that are passed, and what follows.

        What has none is left out. Properties may name them.

        Args:
            constants: as for `build`.

        Raises:
            ProgramError: a constant is defined by what means nothing.
            ValueError: a constant is not there, or has a value already.
        """
        found = self._resolved(constants).values
        return {name: value for name, value in found.items() if value is not None}

    def property(
        self, asked: "Property | str", constants: Mapping[str, Any] | None = None
    ) -> Property:
        """A property that may name formulas and constants of the program.

        Its own constants of the same name come first.

        Args:
            asked: a property, or its text.
            constants: as for `build`, with the same values.

        Raises:
            PropertyError: the text is no property.
            ProgramError: a constant is defined by what means nothing.
            ValueError: a constant is not there, or has a value already.

        Examples:
            >>> from jaxgames import mdp
            >>> program = mdp.Program.from_text(
            ...     "dtmc const int N; formula end = x = N; module walk x : [0..N]; "
            ...     "[] !end -> 0.5:(x'=x+1) + 0.5:(x'=0); [] end -> true; endmodule"
            ... )
            >>> model = program.build(constants={"N": 2})
            >>> asked = program.property("P=? [ F<=2 end & x = N ]", {"N": 2})
            >>> mdp.check(model, asked).value
            0.25
        """
        question = as_property(asked)
        named: dict[str, Any] = {
            name: Constant(bool(x) if isinstance(x, bool | np.bool_) else Fraction(x))
            for name, x in self.values(constants).items()
        }
        named |= self.source.formulas | question.constants
        return dataclasses.replace(question, constants=named)

    @limited()
    def build(
        self,
        *,
        constants: Mapping[str, Any] | None = None,
        engine: Engine = "auto",
        deadlocks: Literal["loop", "error"] = "loop",
        max_states: int | None = None,
        **bounds: Unpack[Bounds],
    ) -> MDP:
        """The model that the program describes: all states that can be reached.

        States are in the order of the values of their variables, the first variable
        first. Modules run side by side, and do actions of the same name together, or
        as `system ... endsystem` says. Choices that meet in a state of a Markov chain
        are equally likely, as PRISM and Storm have it; rates add up. Branches of a
        choice that lead to the same state are one. What is earned by choices of a chain
        is earned on average.

        On the host states are looked at one after the other by compiled code, once
        there are more than a few: O(S C) steps for S states and C commands, most often
        fewer, and a few random accesses for each branch. Elsewhere, and without a
        compiler, many states are looked at at once.

        Args:
            constants: numbers or truth values by name, for the constants that the
                program leaves open; an exact number may be a `Fraction`.
            engine: `"host"`, in the order of a queue; `"device"`, all in loops of JAX,
                for programs whose states have up to 256 successors; or
                `"auto"`: the host, and where that finds very many a GPU.
            deadlocks: what becomes of states where nothing can happen: `"loop"`, they
                stay as they are for ever, and have the label `deadlock`; or `"error"`.
            max_states: more states than these are an error.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Returns:
            A model with labels, rewards, and valuations, whose choices are labelled by
            actions if it is a decision process; its initial states are those of the
            program.

        Raises:
            ProgramError: a name is not known, an update leads out of range, or
                probabilities do not sum up to one; tells file, line, column and state.
            ValueError: an argument is wrong, or there are more states than
                `max_states`, or than int32 can index; or the program is none for a
                device.

        References:
            Kwiatkowska, Norman and Parker, PRISM 4.0: verification of probabilistic
            real-time systems, CAV 2011, doi:10.1007/978-3-642-22110-1_47.
        """
        if engine not in get_args(Engine):
            raise ValueError(
                f"engine must be 'auto', 'host' or 'device', got {engine!r}"
            )
        if deadlocks not in ("loop", "error"):
            raise ValueError(f"deadlocks must be 'loop' or 'error', got {deadlocks!r}")
        if max_states is not None:
            max_states = integer("max_states", max_states, 1)
        with many_objects_stay():
            return self._built(constants, engine, deadlocks, max_states)

    def _built(self, constants, engine, deadlocks, max_states) -> MDP:
        program = self._resolved(constants)
        with _told_of(self.file):
            found = _found(program, engine, min(max_states or MOST, MOST))
            if deadlocks == "error" and found.deadlocks.any():
                state = np.asarray(found.words[int(np.argmax(found.deadlocks))])
                raise PropertyError(
                    Place(),
                    f"nothing can happen in state {program.packed.told(state)}, and "
                    f"{int(found.deadlocks.sum()) - 1} others",
                )
            return _model(program, found)

    def _resolved(self, constants: Mapping[str, Any] | None) -> Resolved:
        given = dict(constants or {})

        def make() -> Resolved:
            with _told_of(self.file):
                return resolved(self.source, given)

        # True is 1 for a mapping, and is none for a program.
        key = "resolved", *((x, type(y), y) for x, y in sorted(given.items()))
        try:
            hash(key)
        except TypeError:  # some constant is no number
            return make()
        # What is compiled for a device goes with it.
        return kept(self, key, make)

    def __repr__(self) -> str:
        count = len(self.source.modules)
        parts = [self.kind, f"{count} module{'s' * (count > 1)}"]
        if self.constants:
            parts.append(f"constants {', '.join(self.constants)}")
        return f"Program({', '.join(parts)})"


@contextlib.contextmanager
def _told_of(file: str | None) -> Iterator[None]:
    """Faults of a program tell the file that it is from."""
    try:
        yield
    except PropertyError as error:
        raise ProgramError(file, error.place, error.message) from None
    except RecursionError:
        what = "an expression has too many operators in a row, or nested"
        raise ProgramError(file, Place(), what) from None


def _found(program: Resolved, engine: Engine, most: int) -> Explored:
    """All states, found by an engine."""
    found = None
    if engine == "device":
        if not _on_device.is_searchable(program):
            raise ValueError(
                "engine='device' takes programs with variables whose states have at "
                f"most {MOST_SUCCESSORS} successors, and no mod by what may be 0 or "
                "less"
            )
        found = _on_device.explore(_successors(program), most)
    elif engine == "auto" and may_have_accelerator():
        # What a device has found before is large, and compiled.
        known = is_kept(program, "successors")
        found = None if known else explore(program, most, DEVICE_FROM)
        if not found and backend() != "cpu" and _on_device.is_searchable(program):
            with contextlib.suppress(MemoryError):  # the host may have more
                found = _on_device.explore(_successors(program), most)
    found = found or explore(program, most)
    assert found is not None
    return found


def _successors(program: Resolved) -> Any:
    def make() -> Any:
        return _on_device.Successors(program, _asked(program))

    return kept(program, "successors", make)


def _asked(program: Resolved) -> list[tuple[Typed, type]]:
    """What a model is made of besides its choices."""
    found: list[tuple[Typed, type]] = [(x, np.bool_) for x in program.labels.values()]
    for item in itertools.chain.from_iterable(program.rewards.values()):
        found += [(item.guard, np.bool_), (item.value, np.float64)]
    return found + [_variable(k, x) for k, x in enumerate(program.packed.truths)]


def _model(program: Resolved, found: Explored) -> MDP:
    whole = _Whole(program.packed, found)
    for name, label in program.labels.items():
        whole.check(label, f"the label {quoted(name)}", Place())
    labels = {
        name: whole.everywhere(label, np.bool_)
        for name, label in program.labels.items()
    }
    if found.deadlocks.any() and "deadlock" not in labels:
        labels["deadlock"] = found.deadlocks
    state_rewards, choice_rewards = {}, {}
    earned = _split(program)
    # Rewards have numbers, and those of states come first: a structure before one of
    # states needs its place among these.
    with_states = [k for k, (x, y) in enumerate(earned.values()) if x or not y]
    last = max(with_states, default=-1)
    for number, (name, (of_states, of_choices)) in enumerate(earned.items()):
        if number <= last:
            state_rewards[name] = _added(of_states, whole)
        if of_choices:
            choice_rewards[name] = _of_choices(program, of_choices, whole, found)
    valuations = {
        name: whole.everywhere(*_variable(number, program.packed.truths[number]))
        for number, name in enumerate(program.packed.names)
    }
    actions = {}
    if found.action is not None:
        actions = {
            name: found.action == number
            for number, name in enumerate(program.actions)
            if name
        }
    return MDP.from_arrays(
        found.groups,
        found.rows,
        found.columns,
        found.probs,
        initial=found.initial,
        labels=labels or None,
        choice_labels=actions or None,
        state_rewards=state_rewards or None,
        choice_rewards=choice_rewards or None,
        valuations=valuations or None,
        exit_rates=found.exits,
    )


def _split(program: Resolved) -> dict[str, tuple[list[Earned], list[Earned]]]:
    """What is earned in states, and by choices, for each structure of rewards."""
    return {
        name: (
            [item for item in items if item.action is None],
            [item for item in items if item.action is not None],
        )
        for name, items in program.rewards.items()
    }


@functools.lru_cache(maxsize=1024)
def _variable(number: int, is_truth: bool) -> tuple[Typed, type]:
    """A variable as an expression, and its type."""
    kind = "bool" if is_truth else "int"
    typed = Typed(kind, tree=Node(kind, "of", number))
    return typed, np.bool_ if is_truth else np.int64


class _Whole:
    """Expressions in all states that were found."""

    def __init__(self, packed: Packed, found: Explored):
        self.packed = packed
        self.words = found.words
        self._size = len(found.groups) - 1
        self._known = found.values

    def __len__(self) -> int:
        return self._size

    def everywhere(self, typed: Typed, kind: type) -> np.ndarray:
        """The values of one: `[S]`."""
        if self._known is not None:
            return self._known[typed, kind]
        found = np.empty(len(self), kind)
        for begin in range(0, len(found), STATES_AT_ONCE):
            limits.tick("evaluating", begin, "states")
            part = slice(begin, begin + STATES_AT_ONCE)
            with np.errstate(all="ignore"):
                found[part] = typed.on(np, Columns(self.packed, self.words[part]))
        return found

    def check(self, typed: Typed, what: str, place: Place, asked: Any = None) -> None:
        """Refuses what means nothing in a state in which it is asked for."""
        if typed.undefined is None:
            return
        for begin in range(0, len(self), STATES_AT_ONCE):
            part = slice(begin, begin + STATES_AT_ONCE)
            here = Columns(self.packed, self.words[part])
            asked_here = True if asked is None else asked[part]
            with np.errstate(all="ignore"):
                check_defined(typed, self.packed, here, what, place, asked_here)

    def told(self, state: int) -> str:
        """A state as messages name it."""
        return self.packed.told(np.asarray(self.words[state]))


def _earned(item: Earned, whole: _Whole) -> np.ndarray:
    """What an item of rewards comes to in each state: zero where its guard is false."""
    whole.check(item.guard, "where something is earned", item.place)
    guard = whole.everywhere(item.guard, np.bool_)
    whole.check(item.value, "what is earned", item.place, guard)
    try:
        value = whole.everywhere(item.value, np.float64)
    except OverflowError:
        raise PropertyError(
            item.place, "what is earned is larger than any float64"
        ) from None
    found, wrong = np.empty(len(value)), np.zeros(1, np.bool_)
    if len(value) >= MANY and can_compile():
        on_all_cores(_earn, len(value), guard, value, found, wrong)
    else:
        found[:] = np.where(guard, value, 0.0)
        wrong[0] = not np.isfinite(found).all()
    if wrong[0]:
        at = int(np.argmin(np.isfinite(found)))
        where = whole.told(at)
        raise PropertyError(item.place, f"a reward is {found[at]:g} in state {where}")
    return found


@compiled
def _earn(guard, value, found, wrong, begin, end):
    finite = True
    for state in range(max(begin, 0), end):
        worth = value[state] if guard[state] else 0.0
        found[state] = worth
        finite &= worth - worth == 0.0  # as of no infinity, and of what is no number
    if not finite:
        wrong[0] = True


def _added(items: list[Earned], whole: _Whole) -> np.ndarray:
    if not items:
        return np.zeros(len(whole))
    found = _earned(items[0], whole)
    for item in items[1:]:
        found += _earned(item, whole)
    return found


def _of_choices(
    program: Resolved,
    items: list[Earned],
    whole: _Whole,
    found: Explored,
) -> np.ndarray:
    """What choices earn; in a chain, what the parts of its step earn on average."""
    owner = np.repeat(np.arange(len(whole)), np.diff(found.groups))
    earned = np.zeros(len(owner))
    for item in items:
        assert item.action is not None
        number = program.actions.index(item.action)
        worth = _earned(item, whole)
        if found.shares is None:
            # What is there for a deadlock has no name, and earns nothing.
            mine = (found.action == number) & ~found.deadlocks[owner]
            earned += np.where(mine, worth[owner], 0.0)
        else:
            row, action, share = found.shares
            mine = action == number
            earned += np.bincount(
                row[mine], share[mine] * worth[row[mine]], minlength=len(owner)
            )
    return earned
