"""Writing one function of LLVM: lines, blocks, variables, and words made from words."""

import ast
from typing import Any

from jaxgames.native._types import (
    BOOL,
    FLOAT,
    INT,
    OBJECT,
    Type,
    Untranslatable,
    Value,
    joined,
    parts,
    words,
)
from jaxgames.native._types import Tuple as TupleType

ROOM_OR_CALLER = "%.nearest"
"""The function's own room if it has one, else its caller's: known in the end."""


class Emitter:
    """The text of a function as it grows.

    Variables are places on the stack, which LLVM turns into registers. What comes after
    a jump, up to the next label, is left out.
    """

    def __init__(self, name: str):
        self.function = name
        self.lines: list[str] = []
        self.places: list[str] = []  # lines that make room, where the function begins
        self.variables: dict[str, tuple[Type, list[str]]] = {}
        self.ended = False  # nothing gets here
        self.has_room = False  # whether it owns arrays
        self._count = 0

    def refuse(
        self, node: ast.AST | None, why: str = "not understood"
    ) -> Untranslatable:
        """What is raised to give up."""
        text = "" if node is None else ast.unparse(node)[:80]
        return Untranslatable(f"{self.function}: {text!r}: {why}")

    def fresh(self) -> str:
        """A name that no other word has."""
        self._count += 1
        return f"%.{self._count}w"

    def label(self) -> str:
        """A name for a block."""
        self._count += 1
        return f"b{self._count}"

    def line(self, text: str) -> None:
        if not self.ended:
            self.lines.append(f"  {text}")

    def word(self, text: str) -> str:
        """Adds a line that makes a word; its name."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def begin(self, label: str) -> None:
        """Begins a block, to which what is before it leads."""
        self.jump(label)
        self.lines.append(f"{label}:")
        self.ended = False

    def jump(self, label: str) -> None:
        """Goes on elsewhere."""
        self.line(f"br label %{label}")
        self.ended = True

    def branch(self, condition: str, yes: str, no: str) -> None:
        """Goes on in one of two blocks."""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}")
        self.ended = True

    # ---- variables -------------------------------------------------------------

    def place(self, word: str) -> str:
        """Room for a word."""
        name = self.fresh()
        self.places.append(f"  {name} = alloca {word}")
        return name

    def made(self, kind: Type) -> list[str]:
        """Room for a value."""
        return [self.place(word) for word in words(kind)]

    def keep(self, places: list[str], kind: Type, value: Value) -> None:
        """Writes a value, as one of that type, to its room."""
        found = self.cast(value, kind).words
        for word, place, name in zip(words(kind), places, found, strict=True):
            self.line(f"store {word} {name}, ptr {place}")

    def kept(self, places: list[str], kind: Type) -> Value:
        """Reads a value."""
        names = zip(words(kind), places, strict=True)
        found = [self.word(f"load {word}, ptr {place}") for word, place in names]
        value = Value(kind, found)
        if not found and not isinstance(kind, TupleType):
            value.known = None
        return value

    def bind(self, name: str, value: Value) -> None:
        """Assigns to a variable, which keeps the type that it got first."""
        if name not in self.variables:
            if value.type == OBJECT:
                raise self.refuse(None, f"{name} is neither a number nor an array")
            self.variables[name] = value.type, self.made(value.type)
        kind, places = self.variables[name]
        self.keep(places, kind, value)

    # ---- numbers ---------------------------------------------------------------

    def cast(self, value: Value, kind: Type) -> Value:
        """The value as one of another type, where nothing is lost."""
        if value.type == kind:
            return value
        if value.type == BOOL and kind == INT:
            return Value(INT, [self.word(f"zext i1 {value.words[0]} to i64")])
        if kind == FLOAT:
            return Value(
                FLOAT, [self.word(f"sitofp i64 {self.integer(value)} to double")]
            )
        if isinstance(value.type, TupleType) and isinstance(kind, TupleType):
            many = parts(value)
            if len(many) == len(kind.parts):
                pairs = zip(many, kind.parts, strict=True)
                found = joined([self.cast(part, to) for part, to in pairs])
                return Value(kind, found.words)
        raise self.refuse(None, f"{value.type} where {kind} was expected")

    def common(self, one: Type, other: Type) -> Type:
        """The type of what may be of either."""
        for kind in (INT, FLOAT):
            if one != other and {one, other} <= {BOOL, INT, kind}:
                return kind
        return one

    def integer(self, value: Value) -> str:
        """The word of an integer, or of a truth value as one."""
        return self.cast(value, INT).words[0]

    def truth(self, value: Value) -> str:
        """The bit that tells whether a number is not zero."""
        if value.type == BOOL:
            return value.words[0]
        if value.type == INT:
            return self.word(f"icmp ne i64 {value.words[0]}, 0")
        raise self.refuse(None, f"truth of {value.type}")

    def negated(self, value: Value) -> Value:
        return Value(BOOL, [self.word(f"xor i1 {self.truth(value)}, true")])

    def chosen(self, condition: str, one: str, other: str, kind: str = INT) -> str:
        """One of two numbers."""
        (word,) = words(kind)
        return self.word(f"select i1 {condition}, {word} {one}, {word} {other}")

    def check(self, condition: str, code: int) -> None:
        """Ends the call with that code if a condition does not hold."""
        bad, good = self.label(), self.label()
        self.branch(condition, good, bad)
        self.begin_unlinked(bad)
        self.line(f"call void @native.fail(ptr {ROOM_OR_CALLER}, i32 {code})")
        self.line("unreachable")
        self.ended = True
        self.begin(good)

    def begin_unlinked(self, label: str) -> None:
        """Begins a block to which a branch leads."""
        self.lines.append(f"{label}:")
        self.ended = False

    def room(self) -> str:
        """What owns the arrays that this function makes."""
        self.has_room = True
        return "%.room"

    def counted(self, begin: str, stop: str, step: int, body: Any) -> None:
        """A loop over integers, for which `body` writes what is done with each."""
        place = self.place("i64")
        self.line(f"store i64 {begin}, ptr {place}")
        top, inner, again, end = (self.label() for _ in range(4))
        self.begin(top)
        at = self.word(f"load i64, ptr {place}")
        order = "slt" if step > 0 else "sgt"
        self.branch(self.word(f"icmp {order} i64 {at}, {stop}"), inner, end)
        self.begin(inner)
        body(at, again, end)
        self.begin(again)
        # The loop's own count, whatever was done with its variable.
        at = self.word(f"load i64, ptr {place}")
        after = self.word(f"add nsw i64 {at}, {step}")
        self.line(f"store i64 {after}, ptr {place}")
        self.jump(top)
        self.begin(end)
