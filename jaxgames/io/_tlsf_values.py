"""What the expressions of TLSF files mean."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from jaxgames import limits
from jaxgames.io._tlsf_expressions import Function, Node
from jaxgames.io._tlsf_formulas import (
    FALSE,
    TRUE,
    both,
    either,
    joined,
    later,
    matching,
    strongly_next,
)
from jaxgames.ltl import Formula
from jaxgames.quoting import quoted

MAX_NODES = 1_000_000
"""Formulas that a specification may come to."""

MAX_RANGE = 100_000
"""Members that ranges may have together."""

MAX_CALLS = 150
"""Functions that may be called within one another."""

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Bus(NamedTuple):
    """Signals of one name; `enum` names the type, if there is one."""

    name: str
    size: int
    enum: str


class Constant(NamedTuple):
    """A value of an enumeration: what its bits may be."""

    enum: str
    patterns: tuple[str, ...]


class Values:
    """Finds out what expressions mean.

    Attributes:
        finite: whether words are finite, so that `X` is not the strong `X[!]`.
    """

    def __init__(
        self, scope: Mapping[str, Any], refuse: Callable[[str, Any], NoReturn]
    ):
        """Begins with what is defined, and with what is told what is wrong."""
        self._scope = scope
        self._refuse = refuse
        self.finite = False
        self._calls = 0
        self._count = 0

    def value(self, node: Node, own: dict[str, Any]) -> Any:
        """A number, a set, a truth value, a formula, or a bus."""
        kind, parts = node.kind, node.parts
        self._count += 1
        limits.tick("reading", self._count, "formulas")
        if self._count > MAX_NODES:
            self._refuse(
                f"the specification expands to more than {MAX_NODES} formulas", node
            )
        match kind:
            case "number":
                return parts[0]
            case "true" | "false":
                return kind == "true"
            case "name":
                return self._look_up(parts[0], own, node)
            case "call":
                return self._called(node, own)
            case "bit":
                return self._bit(node, own)
            case "set":
                return self._members(node, own)
            case "negative":
                return -self.number(self.value(parts[0], own), node)
            case "SIZEOF":
                bus = self.value(parts[0], own)
                if not isinstance(bus, Bus):
                    self._refuse("SIZEOF takes a bus", node)
                return bus.size
            case "SIZE" | "MIN" | "MAX":
                found = self.value(parts[0], own)
                if not isinstance(found, frozenset) or (kind != "SIZE" and not found):
                    self._refuse(f"{kind} takes a set that is not empty", node)
                return {"SIZE": len, "MIN": min, "MAX": max}[kind](found)
        if kind.endswith("[]"):
            return self._ranged(node, own)
        values = [self.value(part, own) for part in parts]
        if kind in ("+", "-", "*", "/", "%"):
            one, other = (self.number(value, node) for value in values)
            if kind in "/%" and other == 0:
                self._refuse("division by zero", node)
            return {
                "+": operator.add,
                "-": operator.sub,
                "*": operator.mul,
                "/": operator.floordiv,
                "%": operator.mod,
            }[kind](one, other)
        if kind in ("(+)", "(*)", "(-)"):
            if not all(isinstance(x, frozenset) for x in values):
                self._refuse(f"{kind} takes two sets", node)
            one, other = values
            return {"(+)": one | other, "(*)": one & other, "(-)": one - other}[kind]
        if kind == "<-":
            if not isinstance(values[1], frozenset):
                self._refuse("IN takes a set", node)
            return values[0] in values[1]
        if kind in _COMPARED:
            return self._compared(kind, values, node)
        if all(isinstance(x, bool) for x in values) and kind in "! && || -> <->":
            return _of_truths(kind, values)
        formulas = [self.formula(value, node) for value in values]
        return strongly_next(*formulas) if kind == "X[!]" else joined(kind, formulas)

    def _look_up(self, name: str, own: dict[str, Any], node: Node) -> Any:
        if name in own:
            return own[name]
        if name not in self._scope:
            self._refuse(f"nothing is called {quoted(name)}", node)
        found = self._scope[name]
        if isinstance(found, Function):
            return self._applied(found, (), node)
        return found

    def _called(self, node: Node, own: dict[str, Any]) -> Any:
        name, arguments = node.parts
        found = self._scope.get(name)
        if not isinstance(found, Function):
            self._refuse(f"there is no function {quoted(name)}", node)
        values = tuple(self.value(x, own) for x in arguments)
        return self._applied(found, values, node)

    def _applied(self, function: Function, values: tuple, node: Node) -> Any:
        if len(values) != len(function.parameters):
            self._refuse(
                f"expected {len(function.parameters)} arguments, found {len(values)}",
                node,
            )
        self._calls += 1
        if self._calls > MAX_CALLS:
            self._refuse(f"more than {MAX_CALLS} functions call one another", node)
        own = dict(zip(function.parameters, values, strict=True))
        chosen = None
        for guard, value in function.cases:
            holds = True if guard is None else self.value(guard, own)
            if not isinstance(holds, bool):
                self._refuse("a guard must be true or false", guard)
            if holds:
                chosen = value
                break
        if chosen is None:
            self._refuse("no alternative of the function applies", node)
        found = self.value(chosen, own)
        self._calls -= 1
        return found

    def _bit(self, node: Node, own: dict[str, Any]) -> Formula:
        bus = self.value(node.parts[0], own)
        if not isinstance(bus, Bus):
            self._refuse("only a bus has an index", node)
        index = self.number(self.value(node.parts[1], own), node)
        if not 0 <= index < bus.size:
            self._refuse(
                f"there is no signal {index} in {quoted(bus.name)}, which has "
                f"{bus.size}",
                node,
            )
        return Formula("name", name=f"{bus.name}_{index}")

    def _members(self, node: Node, own: dict[str, Any]) -> frozenset:
        members, rest = node.parts
        values = [self.value(x, own) for x in members]
        if rest:
            last = self.number(self.value(rest[0], own), node)
            numbers = [self.number(x, node) for x in values[-2:]]
            step = numbers[1] - numbers[0] if len(numbers) == 2 else 1
            if step <= 0 or (last - numbers[-1]) // step > MAX_RANGE:
                self._refuse("expected a range such as {0, 1 .. n}", node)
            # The second number tells the step: it may itself be past the last.
            values[-2:] = range(numbers[0], last + 1, step)
        return frozenset(values)

    def _ranged(self, node: Node, own: dict[str, Any]) -> Any:
        kind = node.kind[:-2]
        if kind in ("X", "F", "G"):
            if self.finite:
                self._refuse(
                    "X[n], F[m:n] and G[m:n] are not supported on finite words", node
                )
            *bounds, inner = node.parts
            numbers = [self.number(self.value(x, own), node) for x in bounds]
            formula = self.formula(self.value(inner, own), node)
            if min(numbers) < 0 or max(numbers) > 1000:
                self._refuse("a bound must be from 0 to 1000", node)
            if kind == "X":
                return later(formula, numbers[0])
            # From the last round back, so that what is shared is written once.
            low, high = numbers
            found = FALSE if kind == "F" else TRUE
            join = either if kind == "F" else both
            for _ in range(low, high + 1):
                found = join([formula, later(found, 1)])
            return later(found, low)
        ranges, inner = node.parts
        values = [self.value(inner, x) for x in self._bindings(ranges, own, node)]
        if kind in ("+", "*"):
            numbers = [self.number(x, node) for x in values]
            total = 0 if kind == "+" else 1
            for number in numbers:
                total = total + number if kind == "+" else total * number
            return total
        if kind in ("(+)", "(*)"):
            if not values or not all(isinstance(x, frozenset) for x in values):
                self._refuse(f"{kind} over a range takes sets", node)
            join = frozenset.union if kind == "(+)" else frozenset.intersection
            return join(*values)
        if all(isinstance(x, bool) for x in values):
            return all(values) if kind == "&&" else any(values)
        formulas = [self.formula(x, node) for x in values]
        return both(formulas) if kind == "&&" else either(formulas)

    def _bindings(self, ranges: tuple, own: dict[str, Any], node: Node):
        """The scopes in which what stands behind ranges is meant."""
        scopes = [own]
        for name, bounds, after, before in ranges:
            wider = []
            for scope in scopes:
                if after is None:
                    members = self.value(bounds, scope)
                    if not isinstance(members, frozenset):
                        self._refuse("IN takes a set", node)
                    members = sorted(members, key=str)
                else:
                    low, high = (
                        self.number(self.value(x, scope), node) for x in bounds
                    )
                    members = range(low + after, high + (not before))
                if len(wider) + len(members) > MAX_RANGE:
                    self._refuse(f"ranges have more than {MAX_RANGE} members", node)
                wider += [{**scope, name: member} for member in members]
            scopes = wider
        return scopes

    def _compared(self, kind: str, values: list, node: Node) -> Any:
        one, other = values
        if isinstance(one, Constant):
            one, other = other, one
        if isinstance(other, Constant) and kind in ("==", "!="):
            if not isinstance(one, Bus) or one.enum != other.enum:
                self._refuse(
                    "only a signal of that enumeration can have this value", node
                )
            found = either(matching(one.name, x) for x in other.patterns)
            return found if kind == "==" else Formula("!", (found,))
        if isinstance(one, frozenset) and isinstance(other, frozenset):
            return _COMPARED[kind](one, other)
        if isinstance(one, bool) and isinstance(other, bool):
            return _COMPARED[kind](one, other)
        return _COMPARED[kind](self.number(one, node), self.number(other, node))

    def number(self, value: Any, at: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            self._refuse("expected a number", at)
        if abs(value) > 1 << 62:
            self._refuse("the number is too large", at)
        return value

    def formula(self, value: Any, at: Any) -> Formula:
        if isinstance(value, bool):
            return TRUE if value else FALSE
        if not isinstance(value, Formula):
            self._refuse("expected a formula", at)
        return value


def _of_truths(kind: str, values: list[bool]) -> bool:
    match kind:
        case "!":
            return not values[0]
        case "&&":
            return all(values)
        case "||":
            return any(values)
        case "->":
            return not values[0] or values[1]
    return values[0] == values[1]
