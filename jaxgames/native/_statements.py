"""Statements, and functions as a whole."""

import ast
import functools
import inspect
import textwrap
import types
from typing import Any

from jaxgames.native._emit import ROOM_OR_CALLER
from jaxgames.native._expressions import Expressions
from jaxgames.native._types import (
    INT,
    OBJECT,
    Array,
    Type,
    Untranslatable,
    Value,
    constant,
    parts,
    returned,
    words,
)


@functools.cache
def source(function: types.FunctionType) -> ast.FunctionDef:
    """What a function was written as."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        found = ast.parse(text).body[0]
    except (OSError, SyntaxError, IndentationError):
        raise Untranslatable(
            f"the source of {function.__name__} is not there"
        ) from None
    if not isinstance(found, ast.FunctionDef):
        raise Untranslatable(f"{function.__name__} is no plain function")
    return found


class Function(Expressions):
    """One function, for arguments of some types."""

    def __init__(
        self, name: str, function: types.FunctionType, kinds: tuple, callee: Any
    ):
        super().__init__(function.__name__)
        self.name, self.kinds, self.tree = name, kinds, source(function)
        self.scope, self.result = function.__globals__, None
        self.first_line = function.__code__.co_firstlineno - 1
        self._callee = callee
        self._loops: list[tuple[str, str]] = []
        self._left: set[str] = set()  # ends of loops that a break leads to

    def callee(self, function: Any, kinds: tuple) -> tuple[str, Any] | None:
        return self._callee(function, kinds)

    def text(self) -> str:
        """The function in LLVM's language."""
        arguments = self.tree.args
        names = [argument.arg for argument in arguments.args]
        others = (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs)
        if len(names) != len(self.kinds) or any(others):
            raise self.refuse(None, f"{len(self.kinds)} arguments")
        given = ["ptr %.caller"]
        for name, kind in zip(names, self.kinds, strict=True):
            many = [f"%{name}.{k}" for k in range(len(words(kind)))]
            pairs = zip(words(kind), many, strict=True)
            given += [f"{word} {value}" for word, value in pairs]
            self.bind(name, Value(kind, many))
        self.block(self.tree.body)
        if not self.ended:
            self.give(constant(None))
        assert self.result is not None
        if self.has_room:
            room = [
                "%.room = alloca [3 x ptr]",
                "call void @native.open(ptr %.room, ptr %.caller)",
            ]
            self.places = [*(f"  {line}" for line in room), *self.places]
        head = f"define internal {returned(self.result)} @{self.name}"
        head += f"({', '.join(given)}) nounwind {{"
        own = self.lines
        if not self.has_room:
            own = [line for line in own if "%.room" not in line]
        nearest = "%.room" if self.has_room else "%.caller"
        text = "\n".join([head, "entry:", *self.places, *own, "}", ""])
        return text.replace(ROOM_OR_CALLER, nearest)

    def give(self, value: Value) -> None:
        """Returns a value. Arrays of this function's own go to the caller."""
        if self.result is None:
            if value.type == OBJECT:
                raise self.refuse(None, "returns neither a number nor an array")
            self.result = value.type
        kind: Type = self.result
        value = self.cast(value, kind)
        pairs = list(zip(words(kind), value.words, strict=True))
        for word, name in pairs:
            if word == "ptr":
                self.line(f"call void @native.pass(ptr %.room, ptr {name})")
        self.line("call void @native.close(ptr %.room)")
        made = "undef"
        for place, (word, name) in enumerate(pairs):
            made = self.word(
                f"insertvalue {returned(kind)} {made}, {word} {name}, {place}"
            )
        self.line(f"ret {returned(kind)} {made}" if pairs else "ret void")
        self.ended = True

    # ---- statements ------------------------------------------------------------------

    def block(self, body: list[ast.stmt]) -> None:
        """One statement after the other; none after a jump."""
        for node in body:
            if self.ended:
                break
            known = getattr(self, f"_do_{type(node).__name__.lower()}", None)
            if known is None:
                raise self.refuse(node)
            known(node)

    def _do_pass(self, node: ast.Pass) -> None:
        pass

    def _do_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.expression(node.value)

    def _do_return(self, node: ast.Return) -> None:
        self.give(self.expression(node.value) if node.value else constant(None))

    def _do_assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value)

    def assign(self, target: ast.expr, value: Value) -> None:
        """Gives a variable, several, an item or a part of an array its value."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Tuple):
            if isinstance(value.type, Array):  # as many as there are names
                places = range(len(target.elts))
                many = [self.row(value, str(place)) for place in places]
            else:
                many = parts(value)
            if len(many) != len(target.elts):
                raise self.refuse(target, f"{len(many)} values")
            for part, one in zip(target.elts, many, strict=True):
                self.assign(part, one)
        elif isinstance(target, ast.Subscript):
            pointer, array = self._target(target)
            if pointer is None:
                self.fill(array, value)
            else:
                self.write(array, pointer, value)
        else:
            raise self.refuse(target)

    def _target(self, node: ast.Subscript) -> tuple[str | None, Value]:
        array = self.expression(node.value)
        if not isinstance(array.type, Array):
            raise self.refuse(node, "no array")
        return self.found(array, node.slice)

    def _do_augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            pointer, array = self._target(node.target)
            if pointer is None:
                raise self.refuse(node)
            old = self.read(array, pointer)
            new = self.combined(node.op, old, self.expression(node.value))
            self.write(array, pointer, new)
        else:
            old = self.expression(node.target)
            self.assign(
                node.target, self.combined(node.op, old, self.expression(node.value))
            )

    def _do_if(self, node: ast.If) -> None:
        test = self.expression(node.test)
        if test.is_known:
            self.block(node.body if test.known else node.orelse)
            return
        yes, no, end = (self.label() for _ in range(3))
        self.branch(self.truth(test), yes, no)
        reached = False
        for label, body in ((yes, node.body), (no, node.orelse)):
            self.begin_unlinked(label)
            self.block(body)
            reached |= not self.ended
            self.jump(end)
        if reached:
            self.begin_unlinked(end)

    # ---- loops -----------------------------------------------------------------------

    def _do_while(self, node: ast.While) -> None:
        if node.orelse:
            raise self.refuse(node)
        top, body, end = (self.label() for _ in range(3))
        self.begin(top)
        test = self.expression(node.test)
        if test.is_known and not test.known:
            return
        if not test.is_known:
            self.branch(self.truth(test), body, end)
            self._left.add(end)
        self.begin(body)
        self._inside(top, end, node.body)
        self.jump(top)
        if end in self._left:
            self.begin_unlinked(end)

    def _inside(self, again: str, end: str, body: list[ast.stmt]) -> None:
        """The body of a loop."""
        self._loops.append((again, end))
        self.block(body)
        self._loops.pop()

    def _do_break(self, node: ast.Break) -> None:
        self._left.add(self._loops[-1][1])
        self.jump(self._loops[-1][1])

    def _do_continue(self, node: ast.Continue) -> None:
        self.jump(self._loops[-1][0])

    def _do_for(self, node: ast.For) -> None:
        if node.orelse:
            raise self.refuse(node)
        over = node.iter
        if isinstance(over, ast.Call) and ast.unparse(over.func) == "range":
            self._for_range(node, [self.expression(x) for x in over.args])
            return
        value = self.expression(over)
        if isinstance(value.type, Array):

            def one(at: str, again: str, end: str) -> None:
                self.assign(node.target, self.row(value, at))
                self._inside(again, end, node.body)

            self.counted("0", value.words[1], 1, one)
            return
        end = self.label()
        for part in parts(value):
            if not self.ended:
                again = self.label()
                self.assign(node.target, Value(part.type, part.words))
                self._inside(again, end, node.body)
                self.begin(again)
        self.begin(end)

    def _for_range(self, node: ast.For, given: list[Value]) -> None:
        stop = given[0] if len(given) == 1 else given[1]
        begin = given[0] if len(given) > 1 else constant(0)
        by = given[2] if len(given) > 2 else constant(1)
        if not by.is_known or not by.known:
            raise self.refuse(node, "a step that is not known")

        def one(at: str, again: str, end: str) -> None:
            self.assign(node.target, Value(INT, [at]))
            self._inside(again, end, node.body)

        self.counted(self.integer(begin), self.integer(stop), by.known, one)
