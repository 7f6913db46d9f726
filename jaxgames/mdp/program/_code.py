"""The code of a program, for the machine that explores it."""

import collections
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames.mdp.program import _machine as m
from jaxgames.mdp.program._choices import SUM_TOLERANCE
from jaxgames.mdp.program._expressions import WIDEST
from jaxgames.mdp.program._nodes import Node
from jaxgames.mdp.program._resolved import Ready, Resolved
from jaxgames.tuning.prism import FEWEST_BY_CASES, MOST_CASES

MOST_WORDS = 1 << 22
"""Words of code: a program that takes more has more commands than it has states."""

ON_INTEGERS = {
    **{"+": m.ADD, "-": m.SUBTRACT, "*": m.TIMES, "mod": m.MODULO},
    **{"min": m.LEAST, "max": m.MOST, "power": m.POWER},
}
ON_REALS = {
    **{"+": m.REAL_ADD, "-": m.REAL_SUBTRACT, "*": m.REAL_TIMES, "/": m.REAL_DIVIDE},
    **{"min": m.REAL_LEAST, "max": m.REAL_MOST, "floor": m.FLOOR, "ceil": m.CEIL},
}
COMPARED = {
    **{("int", "<"): m.LESS, ("int", "="): m.EQUAL, ("double", "<"): m.REAL_LESS},
    **{("double", "<="): m.REAL_AT_MOST, ("double", "="): m.REAL_EQUAL},
}


class Code(NamedTuple):
    """What the machine is told of a program: see `_machine.run`."""

    code: np.ndarray
    variables: np.ndarray
    flags: np.ndarray
    ways: np.ndarray
    members: np.ndarray
    ints: np.ndarray
    reals: np.ndarray
    parts: int
    part_choices: int
    part_branches: int


def written(program: Resolved) -> Code | None:
    """The code of a program; None where it does what is left to numpy."""
    try:
        return _Writer(program).finished()
    except (Unwritable, OverflowError):  # a constant that no float is
        return None


class _Label:
    """A place in the code, to which what comes before it may lead."""

    def __init__(self):
        self.at: int | None = None
        self.asked: list[int] = []


class Unwritable(Exception):
    """A program does what is left to numpy."""


def _increase(node: Node, number: int) -> int | None:
    """By how much a variable becomes larger, if that is always the same."""
    if node.sign not in ("+", "-") or node.kind != "int":
        return None
    one, other = node.parts
    if node.sign == "+" and one.sign == "is":
        one, other = other, one
    if one.sign != "of" or one.parts[0] != number or other.sign != "is":
        return None
    return other.parts[0] if node.sign == "+" else -other.parts[0]


def _within(node: Node) -> tuple[Node, int, int] | None:
    """The integer that is compared with a constant, and between which values it is."""
    if node.sign not in ("<", "<=", "="):
        return None
    if any(part.kind != "int" for part in node.parts):
        return None
    one, other = node.parts
    low, high = -WIDEST, WIDEST
    if other.sign == "is":
        bound = other.parts[0]
        low = bound if node.sign == "=" else low
        high = bound - 1 if node.sign == "<" else bound
    elif one.sign == "is":
        one, bound = other, one.parts[0]
        high = bound if node.sign == "=" else high
        low = bound + 1 if node.sign == "<" else bound
    else:
        return None
    return one, low, high


class _Bounds(NamedTuple):
    """Between which values a variable is, and the tests that say no more than that."""

    low: int
    high: int
    tests: tuple[int, ...]


def _both(one: dict[int, _Bounds], other: dict[int, _Bounds]) -> dict[int, _Bounds]:
    """What holds where both hold."""
    found = {**one, **other}
    for k in one.keys() & other.keys():
        (a, b, these), (c, d, those) = one[k], other[k]
        found[k] = _Bounds(max(a, c), min(b, d), these + those)
    return found


class _Item(NamedTuple):
    """Something that may happen: where at most, and what writes it."""

    bounds: dict[int, _Bounds]
    write: Callable[[], None]


class _Writer:
    """The code as it grows."""

    def __init__(self, program: Resolved):
        self.program = program
        self._code: list[int] = []
        # Registers by what they hold: variables first, then what is the same always.
        self._ints: list[int] = [0] * len(program.packed.truths)
        self._reals = [0.0] * m.OWN_REALS
        self._constants: dict[tuple[str, Any], int] = {}
        # Tests that hold wherever the code gets to them, by what they are of.
        self._implied: frozenset[int] = frozenset()
        self._tables: list[tuple[_Label, list[_Label]]] = []
        self._found: dict[tuple[str, int], int] = {}
        self._free: dict[str, list[int]] = {"int": [], "double": []}
        self._used: dict[str, list[int]] = {"int": [], "double": []}

    # ---- the program as a whole --------------------------------------------------

    def finished(self) -> Code:
        program = self.program
        shared: dict[tuple[int, str], int] = {}
        for _, way in program.alternatives:
            if len(way) > 1:
                for part in way:
                    shared.setdefault(part, len(shared))
        commands = {part: program.commands[part[0]].get(part[1], ()) for part in shared}
        # Of each part: whether guards were looked at, whether one holds, whether
        # branches are there; and of each command whether its guard holds.
        first = len(self._ints)
        flags = {}
        for part in shared:
            flags[part] = len(self._ints)
            self._ints += [0] * (3 + len(commands[part]))
        last = len(self._ints)
        uses = collections.Counter(
            part for _, way in program.alternatives if len(way) > 1 for part in way
        )
        often = [part for part in shared if uses[part] > 1]
        guards = {part: _Label() for part in often}
        branches = {part: _Label() for part in often}
        ways, members = [0], []
        bounds_of = {part: self._bounds_of_part(commands[part]) for part in shared}
        items: list[_Item] = []

        def together(action: int, way: Sequence[tuple[int, str]]) -> None:
            after = _Label()
            for part in way:
                if part in guards:
                    self._emit(m.CALL, d=guards[part])
                    self._unless_flag(flags[part] + 1, after)
                elif len(commands[part]) == 1:
                    self._anew()
                    self._unless(commands[part][0].guard.node, after)
                else:
                    self._guards(commands[part], flags[part])
                    self._unless_flag(flags[part] + 1, after)
            for part in way:
                if part in branches:
                    self._emit(m.CALL, d=branches[part])
                else:
                    one = len(commands[part]) == 1
                    flag = None if one else flags[part] + 3
                    self._part(commands[part], flag, shared[part])
            self._emit(m.TOGETHER, action, len(ways) - 1)
            self._bind(after)
            members.extend(shared[part] for part in way)
            ways.append(len(members))

        for action, way in program.alternatives:
            if len(way) == 1:
                items += [
                    _Item(
                        self._bounds(command.guard.node),
                        functools.partial(self._alone, command, action),
                    )
                    for command in program.commands[way[0][0]].get(way[0][1], ())
                ]
            elif all(commands[part] for part in way):
                bounds = [bounds_of[part] for part in way]
                write = functools.partial(together, action, way)
                items.append(_Item(functools.reduce(_both, bounds), write))
        self._by_cases(items)
        self._emit(m.NEXT)
        for part in often:
            flag = flags[part]
            for label, done in ((guards[part], flag), (branches[part], flag + 2)):
                self._bind(label)
                first_time = _Label()
                self._unless_flag(done, first_time)
                self._emit(m.BACK)
                self._bind(first_time)
                self._set(done)
                if done == flag:
                    self._guards(commands[part], flag)
                else:
                    self._part(commands[part], flag + 3, shared[part])
                self._emit(m.BACK)
        for label, targets in self._tables:
            self._bind(label)
            self._code += [target.at or 0 for target in targets]
        packed = program.packed
        variables = [
            (
                packed.words[k],
                packed.sizes[k],
                packed.lows[k],
                packed.weights[k],
            )
            for k in reversed(range(len(packed.names)))
        ]
        return Code(
            np.array(self._code, np.uint32),
            np.array(variables, np.int64).reshape(-1, 4),
            np.array([first, last]),
            np.array(ways),
            np.array(members, np.int64),
            np.array(self._ints, np.int64),
            np.array(self._reals, np.float64),
            len(shared),
            sum(map(len, commands.values())),
            sum(len(x.outcomes) for some in commands.values() for x in some),
        )

    def _by_cases(self, items: Sequence["_Item"]) -> None:
        """What may happen, in order, without what a variable's value rules out.

        Of what follows each other and asks for values of the same variable, a table
        tells for each value what comes first, and after each what comes next.
        """
        packed, begin = self.program.packed, 0
        while begin < len(items):
            common, end = set(items[begin].bounds), begin
            common = {k for k in common if packed.sizes[k] <= MOST_CASES}
            while end < len(items):
                left = common & set(items[end].bounds)
                if not left or (end - begin) * MOST_CASES > MOST_WORDS >> 4:
                    break
                common, end = left, end + 1
            if end - begin < FEWEST_BY_CASES:
                end = max(end, begin + 1)
                for item in items[begin:end]:
                    item.write()
            else:
                self._table(items[begin:end], common)
            begin = end

    def _table(self, items: Sequence["_Item"], common: set[int]) -> None:
        packed = self.program.packed

        def kept(variable: int) -> float:
            """The share of its values that is not ruled out."""
            bounds = [item.bounds[variable] for item in items]
            return sum(x.high - x.low + 1 for x in bounds) / packed.sizes[variable]

        variable = min(sorted(common), key=kept)
        low, size = packed.lows[variable], packed.sizes[variable]
        starts = [_Label() for _ in range(len(items) + 1)]
        # For each value, last ones first: what is next where it is not ruled out.
        following = [starts[-1]] * size
        tables = [following]
        for item, start in zip(reversed(items), reversed(starts[:-1]), strict=True):
            bounds = item.bounds[variable]
            first, last = max(bounds.low - low, 0), min(bounds.high - low, size - 1)
            following = list(following)
            if first <= last:
                following[first : last + 1] = [start] * (last + 1 - first)
            tables.append(following)
        tables.reverse()

        def choose(number: int) -> None:
            label = _Label()
            self._tables.append((label, tables[number]))
            self._emit(m.CASES, variable, self._constant("int", low), d=label)

        choose(0)
        for number, item in enumerate(items):
            self._bind(starts[number])
            before = self._implied
            self._implied = before.union(item.bounds[variable].tests)
            item.write()
            self._implied = before
            if number < len(items) - 1:
                choose(number + 1)
        self._bind(starts[-1])

    def _bounds(self, node: Node) -> dict[int, "_Bounds"]:
        """Between which values variables are where it is true, as is seen at once."""
        if node.sign == "&":
            return _both(*map(self._bounds, node.parts))
        if node.sign == "of":
            return {node.parts[0]: _Bounds(1, 1, (id(node),))}
        if node.sign == "!" and node.parts[0].sign == "of":
            return {node.parts[0].parts[0]: _Bounds(0, 0, (id(node),))}
        within = _within(node)
        if within is None or within[0].sign != "of":
            return {}
        return {within[0].parts[0]: _Bounds(*within[1:], (id(node),))}

    def _bounds_of_part(self, commands: Sequence[Ready]) -> dict[int, "_Bounds"]:
        """Those where one of its commands can be done."""
        each = [self._bounds(command.guard.node) for command in commands]
        if len(each) < 2:
            return each[0] if each else {}
        found = {}
        for variable in set.intersection(*map(set, each)):
            bounds = [one[variable] for one in each]
            low, high = min(x.low for x in bounds), max(x.high for x in bounds)
            found[variable] = _Bounds(low, high, ())
        return found

    def _alone(self, command: Ready, action: int) -> None:
        """What a module does on its own."""
        after = _Label()
        self._anew()
        self._unless(command.guard.node, after)
        self._outcomes(command, m.BRANCH, m.CHOICE, action)
        self._bind(after)

    def _guards(self, commands: Sequence[Ready], flag: int) -> None:
        """Which commands of a part can be done."""

        def look(number: int, command: Ready) -> None:
            after = _Label()
            self._anew()
            self._unless(command.guard.node, after)
            self._set(flag + 1)
            self._set(flag + 3 + number)
            self._bind(after)

        self._each(commands, look)

    def _part(self, commands: Sequence[Ready], flag: int | None, part: int) -> None:
        """What a part does together with others, by the flags of its commands."""

        def end(number: int, command: Ready) -> None:
            after = _Label()
            if flag is not None:
                self._unless_flag(flag + number, after)
            self._outcomes(command, m.PART_BRANCH, m.PART_CHOICE, 0)
            self._bind(after)

        self._emit(m.PART, part)
        self._each(commands, end)
        self._emit(m.PART_DONE, part)

    def _each(
        self, commands: Sequence[Ready], write: Callable[[int, Ready], None]
    ) -> None:
        """Writes something of each command that guards do not rule out at once."""
        self._by_cases(
            [
                _Item(self._bounds(x.guard.node), functools.partial(write, k, x))
                for k, x in enumerate(commands)
            ]
        )

    def _outcomes(self, command: Ready, branch: int, choice: int, action: int) -> None:
        is_checked = self.program.kind != "ctmc"
        likely = [outcome.probability.value for outcome in command.outcomes]
        if None not in likely and is_checked:
            total = sum(map(float, likely))
            is_checked = False
            if not abs(total - 1) <= SUM_TOLERANCE:
                self._emit(m.LOOK_AT)
        for outcome in command.outcomes:
            known, after = outcome.probability.value, _Label()
            if known is not None and float(known) == 0:
                continue
            self._anew()
            register = self._real(outcome.probability.node)
            self._emit(m.LIKELY, register, int(known is None), d=after)
            for change in outcome.changes:
                value = change.value.node
                self._anew()
                by = _increase(value, change.number)
                if by is not None:
                    by = self._constant("int", by)
                    self._emit(m.CHANGE_BY, change.number, by)
                else:
                    self._emit(m.CHANGE, change.number, self._integer(value))
            self._emit(branch)
            self._bind(after)
        self._emit(choice, action, int(is_checked))

    # ---- instructions --------------------------------------------------------------

    def _emit(
        self, what: int, a: int = 0, b: int = 0, c: int = 0, d: _Label | None = None
    ) -> None:
        if len(self._code) > MOST_WORDS:
            raise Unwritable("it takes too many words")
        if d is not None:
            d.asked.append(len(self._code) + 4)
        self._code += [what, a, b, c, 0]

    def _bind(self, label: _Label) -> None:
        label.at = len(self._code)
        for place in label.asked:
            self._code[place] = len(self._code)
        label.asked = []

    def _set(self, flag: int) -> None:
        self._emit(m.COPY, flag, self._constant("int", 1))

    def _unless_flag(self, flag: int, label: _Label) -> None:
        one = self._constant("int", 1)
        self._emit(m.WITHIN, flag, one, one, label)

    # ---- registers -----------------------------------------------------------------

    def _constant(self, kind: str, value: Any) -> int:
        key = kind, value if kind == "int" else np.float64(value).tobytes()
        if key not in self._constants:
            to = self._ints if kind == "int" else self._reals
            to.append(value)
            self._constants[key] = len(to) - 1
        return self._constants[key]

    def _register(self, kind: str) -> int:
        """One to work with, until the next expression."""
        if not self._free[kind]:
            to = self._ints if kind == "int" else self._reals
            to.append(0)
            self._free[kind].append(len(to) - 1)
        self._used[kind].append(self._free[kind].pop())
        return self._used[kind][-1]

    def _anew(self) -> None:
        """Forgets what was computed."""
        self._found = {}
        for kind, used in self._used.items():
            self._free[kind] += used
            used.clear()

    # ---- expressions ---------------------------------------------------------------

    def _apart(self, write: Callable[[], Any]) -> Any:
        """Writes what may be left out: what it computes is not known after it."""
        before = dict(self._found)
        made = write()
        self._found = before
        return made

    def _integer(self, node: Node) -> int:
        """The register that an integer or a truth value is in."""
        if node.sign == "of":
            return node.parts[0]
        if node.sign == "is":
            return self._constant("int", int(node.parts[0]))
        key = "int", id(node)
        if key in self._found:
            return self._found[key]
        if node.sign == "?":
            to = self._chosen(node, "int", self._integer, m.COPY)
        elif node.kind == "bool":
            to = self._register("int")
            self._emit(m.COPY, to, self._constant("int", 0))
            after = _Label()
            self._apart(lambda: self._unless(node, after))
            self._emit(m.COPY, to, self._constant("int", 1))
            self._bind(after)
        elif node.sign == "integer":
            inner = self._real(node.parts[0])
            to = self._register("int")
            self._emit(m.TO_INTEGER, to, inner)
        else:
            one, other = (self._integer(part) for part in node.parts)
            to = self._register("int")
            self._emit(ON_INTEGERS[node.sign], to, one, other)
        self._found[key] = to
        return to

    def _real(self, node: Node) -> int:
        """The register that a number is in, as a float."""
        if node.sign == "is":
            return self._constant("double", float(node.parts[0]))
        key = "double", id(node)
        if key in self._found:
            return self._found[key]
        if node.kind != "double":
            inner = self._integer(node)
            to = self._register("double")
            self._emit(m.TO_REAL, to, inner)
        elif node.sign == "?":
            to = self._chosen(node, "double", self._real, m.REAL_COPY)
        else:
            if node.sign not in ON_REALS:
                raise Unwritable(node.sign)
            one = self._real(node.parts[0])
            other = self._real(node.parts[-1])  # itself where it is the only one
            to = self._register("double")
            self._emit(ON_REALS[node.sign], to, one, other)
            by = node.parts[-1]
            if node.sign == "/" and (by.kind == "int" or by.sign == "is"):
                self._code[-1] = 1  # what was an integer is no zero with a sign
        self._found[key] = to
        return to

    def _chosen(
        self, node: Node, kind: str, write: Callable[[Node], int], copy: int
    ) -> int:
        test, yes, no = node.parts
        to = self._register(kind)
        otherwise, after = _Label(), _Label()

        def first() -> None:
            self._unless(test, otherwise)
            self._emit(copy, to, write(yes))
            self._emit(m.JUMP, d=after)

        self._apart(first)
        self._bind(otherwise)
        self._apart(lambda: self._emit(copy, to, write(no)))
        self._bind(after)
        return to

    # ---- truth ---------------------------------------------------------------------

    def _unless(self, node: Node, label: _Label) -> None:
        """Goes there where it is false."""
        self._test(node, label, True)

    def _test(self, node: Node, label: _Label, wanted: bool) -> None:
        """Goes there unless it is as wanted.

        What was computed on the way is known where it is, and not there.
        """
        sign = node.sign
        if wanted and id(node) in self._implied:
            return
        if sign == "is":
            if node.parts[0] != wanted:
                self._emit(m.JUMP, d=label)
        elif sign == "!":
            self._test(node.parts[0], label, not wanted)
        elif sign == "of" or sign == "?":
            one = self._constant("int", 1)
            what = m.WITHIN if wanted else m.WITHOUT
            self._emit(what, self._integer(node), one, one, label)
        elif sign in ("&", "|"):
            one, other = node.parts
            if (sign == "&") == wanted:  # both are to be as wanted
                self._test(one, label, wanted)
                self._test(other, label, wanted)
                return
            decided = _Label()
            self._test(one, decided, not wanted)
            self._apart(lambda: self._test(other, label, wanted))
            self._bind(decided)
        elif not self._is_within(node, label, wanted):
            self._compared(node, label, wanted)

    def _compared(self, node: Node, label: _Label, wanted: bool) -> None:
        one, other = node.parts
        if "double" in (one.kind, other.kind):
            what = COMPARED["double", node.sign]
            given = self._real(one), self._real(other)
        elif node.sign == "<=":  # of integers: not the other way round
            what, wanted = m.LESS, not wanted
            given = self._integer(other), self._integer(one)
        else:
            what = COMPARED["int", node.sign]
            given = self._integer(one), self._integer(other)
        self._emit(what, *given, int(wanted), label)

    def _is_within(self, node: Node, label: _Label, wanted: bool) -> bool:
        """A comparison of an integer with a constant, which is most often asked for."""
        within = _within(node)
        if within is None:
            return False
        one, low, high = within
        first, last = self._constant("int", low), self._constant("int", high)
        what = m.WITHIN if wanted else m.WITHOUT
        self._emit(what, self._integer(one), first, last, label)
        return True
