"""Expressions: names, arithmetic, comparisons, calls."""

import ast
import builtins
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxgames.native import _sort
from jaxgames.native._arrays import Arrays
from jaxgames.native._types import (
    BOOL,
    FLOAT,
    IN_MEMORY,
    INT,
    NONE,
    OBJECT,
    Array,
    Tuple,
    Untranslatable,
    Value,
    constant,
    has_arrays,
    joined,
    parts,
    returned,
    words,
)

DIVIDED_BY_ZERO = 2
"""How a call ends that divides by zero."""

ON_CONSTANTS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}

ON_INTEGERS: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.LShift: "shl",
    ast.RShift: "ashr",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.Lt: "icmp slt",
    ast.LtE: "icmp sle",
    ast.Gt: "icmp sgt",
    ast.GtE: "icmp sge",
    ast.Eq: "icmp eq",
    ast.NotEq: "icmp ne",
}

ON_FLOATS: dict[type, str] = {
    ast.Add: "fadd",
    ast.Sub: "fsub",
    ast.Mult: "fmul",
    ast.Div: "fdiv",
    ast.Lt: "fcmp olt",
    ast.LtE: "fcmp ole",
    ast.Gt: "fcmp ogt",
    ast.GtE: "fcmp oge",
    ast.Eq: "fcmp oeq",
    ast.NotEq: "fcmp une",
}

INTEGERS = (int, np.int64, np.intp, np.int32, np.int16, np.int8)


class Expressions(Arrays):
    """What has a value."""

    scope: dict[str, Any]

    def callee(self, function: Any, kinds: tuple) -> tuple[str, Any] | None:
        """The name of a translated function, and what it returns; None for others."""
        raise NotImplementedError

    def expression(self, node: ast.AST) -> Value:
        known = getattr(self, f"_{type(node).__name__.lower()}", None)
        if known is None or not isinstance(node, ast.expr):
            raise self.refuse(node)
        return known(node)

    def _constant(self, node: ast.Constant) -> Value:
        return constant(node.value)

    def _name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.variables:
            kind, places = self.variables[name]
            return self.kept(places, kind)
        if name in self.scope:
            return constant(self.scope[name])
        if hasattr(builtins, name):
            return constant(getattr(builtins, name))
        raise self.refuse(node, "read before it is assigned")

    def _tuple(self, node: ast.Tuple) -> Value:
        return joined([self.expression(part) for part in node.elts])

    def _attribute(self, node: ast.Attribute) -> Value:
        value = self.expression(node.value)
        found = None
        if value.type == OBJECT:
            return constant(getattr(value.known, node.attr))
        if isinstance(value.type, Tuple) and value.type.made is not None:
            fields = getattr(value.type.made, "_fields", ())
            if node.attr in fields:
                found = parts(value)[fields.index(node.attr)]
        if isinstance(value.type, Array):
            found = self.attribute(value, node.attr)
        if found is None:
            raise self.refuse(node)
        return found

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self.expression(node.value)
        if isinstance(value.type, Array):
            pointer, array = self.found(value, node.slice)
            return array if pointer is None else self.read(array, pointer)
        at = self.expression(node.slice)
        if not at.is_known or not isinstance(value.type, Tuple):
            raise self.refuse(node)
        return parts(value)[at.known]

    def _ifexp(self, node: ast.IfExp) -> Value:
        test = self.expression(node.test)
        if test.is_known:
            return self.expression(node.body if test.known else node.orelse)
        yes, no, kept, end = (self.label() for _ in range(4))
        self.branch(self.truth(test), yes, no)
        self.begin_unlinked(yes)
        one = self.expression(node.body)
        self.jump(kept)
        self.begin_unlinked(no)
        other = self.expression(node.orelse)
        kind = self.common(one.type, other.type)
        places = self.made(kind)
        self.keep(places, kind, other)
        self.jump(end)
        self.begin_unlinked(kept)
        self.keep(places, kind, one)
        self.begin(end)
        return self.kept(places, kind)

    # ---- truth -------------------------------------------------------------------

    def _boolop(self, node: ast.BoolOp) -> Value:
        tests = [functools.partial(self.expression, value) for value in node.values]
        return self._logic(isinstance(node.op, ast.And), tests)

    def _logic(self, both: bool, tests: list[Callable[[], Value]]) -> Value:
        """And, or or: what comes later is computed only where it is asked for."""
        test = tests[0]()
        if test.is_known:
            if len(tests) == 1 or bool(test.known) != both:
                return constant(bool(test.known))
            return self._logic(both, tests[1:])
        found = self.truth(test)
        if len(tests) == 1:
            return Value(BOOL, [found])
        place = self.place("i1")
        self.line(f"store i1 {found}, ptr {place}")
        more, end = self.label(), self.label()
        self.branch(found, *((more, end) if both else (end, more)))
        self.begin_unlinked(more)
        rest = self._logic(both, tests[1:])
        self.line(f"store i1 {self.truth(rest)}, ptr {place}")
        self.begin(end)
        return Value(BOOL, [self.word(f"load i1, ptr {place}")])

    def _compare(self, node: ast.Compare) -> Value:
        values: list[Value] = [self.expression(node.left)]

        def test(place: int) -> Value:
            values.append(self.expression(node.comparators[place]))
            return self.compared(node.ops[place], *values[-2:])

        tests = [functools.partial(test, place) for place in range(len(node.ops))]
        return tests[0]() if len(tests) == 1 else self._logic(True, tests)

    def compared(self, order: ast.cmpop, one: Value, other: Value) -> Value:
        """A comparison of two values."""
        if isinstance(order, ast.Is | ast.IsNot):
            if NONE not in (one.type, other.type):
                raise Untranslatable("identity of what is not None")
            return constant((one.type == other.type) == isinstance(order, ast.Is))
        if isinstance(order, ast.In | ast.NotIn):
            equal = [
                functools.partial(self.compared, ast.Eq(), one, part)
                for part in parts(other)
            ]
            found = self._logic(False, equal)
            return found if isinstance(order, ast.In) else self.negated(found)
        if one.is_known and other.is_known:
            return constant(ON_CONSTANTS[type(order)](one.known, other.known))
        if isinstance(one.type, Tuple) or isinstance(other.type, Tuple):
            return self._compared_parts(order, parts(one), parts(other))
        return self._computed(order, one, other, BOOL)

    def _compared_parts(
        self, order: ast.cmpop, one: list[Value], other: list[Value]
    ) -> Value:
        """Tuples are compared as words of a dictionary."""
        if len(one) != len(other):
            raise Untranslatable("tuples of different lengths")
        if len(one) == 1:
            return self.compared(order, one[0], other[0])
        if isinstance(order, ast.Eq | ast.NotEq):
            equal = [
                functools.partial(self.compared, ast.Eq(), *pair)
                for pair in zip(one, other, strict=True)
            ]
            found = self._logic(True, equal)
            return found if isinstance(order, ast.Eq) else self.negated(found)
        less = isinstance(order, ast.Lt | ast.LtE)
        first = self.compared(ast.Lt() if less else ast.Gt(), one[0], other[0])
        same = self.compared(ast.Eq(), one[0], other[0])
        rest = self._compared_parts(order, one[1:], other[1:])
        late = self.word(f"and i1 {self.truth(same)}, {self.truth(rest)}")
        return Value(BOOL, [self.word(f"or i1 {self.truth(first)}, {late}")])

    # ---- arithmetic ----------------------------------------------------------------

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.expression(node.operand)
        if value.is_known and value.type in (INT, BOOL, FLOAT, NONE):
            return constant(ON_CONSTANTS[type(node.op)](value.known))
        if isinstance(node.op, ast.Not):
            return self.negated(value)
        if isinstance(node.op, ast.USub) and value.type == FLOAT:
            return Value(FLOAT, [self.word(f"fneg double {value.words[0]}")])
        if isinstance(node.op, ast.USub):
            return Value(INT, [self.word(f"sub i64 0, {self.integer(value)}")])
        if isinstance(node.op, ast.Invert) and value.type == INT:
            return Value(INT, [self.word(f"xor i64 {self.integer(value)}, -1")])
        raise self.refuse(node)

    def _binop(self, node: ast.BinOp) -> Value:
        one, other = self.expression(node.left), self.expression(node.right)
        return self.combined(node.op, one, other)

    def combined(self, order: ast.operator, one: Value, other: Value) -> Value:
        """What an operator makes of two values."""
        numbers = {INT, BOOL, FLOAT}
        if one.is_known and other.is_known and {one.type, other.type} <= numbers:
            return constant(ON_CONSTANTS[type(order)](one.known, other.known))
        if isinstance(one.type, Tuple) and isinstance(order, ast.Add):
            return joined(parts(one) + parts(other))
        bitwise = isinstance(order, ast.BitAnd | ast.BitOr | ast.BitXor)
        if bitwise and one.type == other.type == BOOL:
            line = f"{ON_INTEGERS[type(order)]} i1 {one.words[0]}, {other.words[0]}"
            return Value(BOOL, [self.word(line)])
        if isinstance(order, ast.FloorDiv | ast.Mod):
            return self._divided(order, one, other)
        kind = FLOAT if isinstance(order, ast.Div) else INT
        return self._computed(order, one, other, kind)

    def _computed(self, order: ast.AST, one: Value, other: Value, kind: str) -> Value:
        """By one instruction of the machine, of floats where one of both is."""
        if FLOAT in (one.type, other.type, kind):
            if type(order) not in ON_FLOATS:
                raise Untranslatable(f"{type(order).__name__} of floats")
            first, second = (self.cast(x, FLOAT).words[0] for x in (one, other))
            kind = BOOL if kind == BOOL else FLOAT
            if isinstance(order, ast.Div):
                self.check(self.word(f"fcmp une double {second}, 0.0"), DIVIDED_BY_ZERO)
            line = f"{ON_FLOATS[type(order)]} double {first}, {second}"
        else:
            if type(order) not in ON_INTEGERS:
                raise Untranslatable(f"{type(order).__name__} of integers")
            first, second = self.integer(one), self.integer(other)
            line = f"{ON_INTEGERS[type(order)]} i64 {first}, {second}"
        return Value(kind, [self.word(line)])

    def _divided(self, order: ast.operator, one: Value, other: Value) -> Value:
        """Rounded down, as Python does."""
        first, second = self.integer(one), self.integer(other)
        divides = isinstance(order, ast.FloorDiv)
        if other.is_known and other.known > 0 and not other.known & (other.known - 1):
            line = f"ashr i64 {first}, {other.known.bit_length() - 1}"
            if not divides:
                line = f"and i64 {first}, {other.known - 1}"
            return Value(INT, [self.word(line)])
        if not other.is_known or other.known == 0:
            self.check(self.word(f"icmp ne i64 {second}, 0"), DIVIDED_BY_ZERO)
        ratio = self.word(f"sdiv i64 {first}, {second}")
        rest = self.word(f"srem i64 {first}, {second}")
        left = self.word(f"icmp ne i64 {rest}, 0")
        signs = self.word(f"xor i64 {rest}, {second}")
        below = self.word(f"icmp slt i64 {signs}, 0")
        wrong = self.word(f"and i1 {left}, {below}")
        if divides:
            less = self.word(f"sub i64 {ratio}, 1")
            return Value(INT, [self.chosen(wrong, less, ratio)])
        more = self.word(f"add i64 {rest}, {second}")
        return Value(INT, [self.chosen(wrong, more, rest)])

    # ---- calls -----------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            owner = self.expression(node.func.value)
            if isinstance(owner.type, Array) and not node.keywords:
                given = [self.expression(value) for value in node.args]
                found = self.method(owner, node.func.attr, given)
                if found is None:
                    raise self.refuse(node)
                return found
        function = self.expression(node.func)
        if function.type != OBJECT:
            raise self.refuse(node)
        given = [self.expression(value) for value in node.args]
        named = {str(x.arg): self.expression(x.value) for x in node.keywords}
        found = self._called(function.known, given, named)
        if found is None:
            raise self.refuse(node)
        return found

    def _called(
        self, function: Any, given: list[Value], named: dict[str, Value]
    ) -> Value | None:
        if isinstance(function, type) and hasattr(function, "_fields"):
            rest = getattr(function, "_fields")[len(given) :]  # noqa: B009
            return joined([*given, *(named[name] for name in rest)], function)
        if not named:
            found = self._translated(function, given) or self._built_in(function, given)
            if found:
                return found
        if getattr(function, "__module__", "numpy") != "numpy":
            return None
        # Of the functions of NumPy that are known a type comes second or third.
        arguments = {"first": given[0]} if given else {}
        for name, value in zip(("second", "third"), given[1:], strict=False):
            arguments["dtype" if value.type == OBJECT else name] = value
        return self.made_by(function, arguments | named)

    def sort(self, array: Value) -> None:
        self._translated(_sort.sort, [array])

    def _translated(self, function: Any, given: list[Value]) -> Value | None:
        """A call of another function that is translated."""
        kinds = tuple(value.type for value in given)
        found = None if OBJECT in kinds else self.callee(function, kinds)
        if found is None:
            return None
        name, kind = found
        room = self.room() if has_arrays(kind) else "%.caller"
        given_words = [
            f"{word} {value}"
            for argument in given
            for word, value in zip(words(argument.type), argument.words, strict=True)
        ]
        call = (
            f"call {returned(kind)} @{name}({', '.join([f'ptr {room}', *given_words])})"
        )
        if not words(kind):
            self.line(call)
            return constant(None) if kind == NONE else Value(kind, [])
        result = self.word(call)
        count = range(len(words(kind)))
        take = f"extractvalue {returned(kind)} {result}, "
        return Value(kind, [self.word(f"{take}{k}") for k in count])

    def _built_in(self, function: Any, given: list[Value]) -> Value | None:
        value = given[0] if given else constant(None)
        if function is len and isinstance(value.type, Array):
            return Value(INT, [value.words[1]])
        if function is len:
            return constant(len(parts(value)))
        if function in (min, max):
            many = parts(value) if len(given) == 1 else given
            return functools.reduce(functools.partial(self._better, function), many)
        if function in INTEGERS:
            return self._as_integer(function, value)
        if function in (bool, np.bool_):
            return value if value.type == BOOL else Value(BOOL, [self.truth(value)])
        if function is abs and value.type == INT:
            minus = self.word(f"sub i64 0, {value.words[0]}")
            negative = self.word(f"icmp slt i64 {value.words[0]}, 0")
            return Value(INT, [self.chosen(negative, minus, value.words[0])])
        return None

    def _better(self, function: Any, one: Value, other: Value) -> Value:
        if one.is_known and other.is_known:
            return constant(function(one.known, other.known))
        kind = FLOAT if FLOAT in (one.type, other.type) else INT
        one, other = self.cast(one, kind), self.cast(other, kind)
        order = ast.Lt() if function is min else ast.Gt()
        better = self.truth(self.compared(order, other, one))
        return Value(kind, [self.chosen(better, other.words[0], one.words[0], kind)])

    def _as_integer(self, function: Any, value: Value) -> Value:
        if value.is_known:
            return constant(int(function(value.known)))
        if value.type == FLOAT:
            line = f"fptosi double {value.words[0]} to i64"
            value = Value(INT, [self.word(line)])
        found = self.integer(value)
        narrow = "i64" if function is int else IN_MEMORY[np.dtype(function).name]
        if narrow != "i64":
            found = self.word(f"trunc i64 {found} to {narrow}")
            found = self.word(f"sext {narrow} {found} to i64")
        return Value(INT, [found])
