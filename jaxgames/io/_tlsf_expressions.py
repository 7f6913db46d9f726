"""The expressions of TLSF files, as trees."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from jaxgames.io._files import FilePath
from jaxgames.io._tlsf_tokens import Token, Tokens

MAX_NESTED = 100
"""How deeply expressions may be nested."""

LEVELS: list[tuple[tuple[str, ...], str]] = [
    (("R",), "left"),
    (("U",), "right"),
    (("W",), "right"),
    (("->", "<->"), "right"),
    (("||",), "chain"),
    (("&&",), "chain"),
    (("unary",), ""),
    (("<-",), "left"),
    (("==", "!=", "<", "<=", ">", ">="), "left"),
    (("(+)",), "left"),
    (("(*)",), "left"),
    (("(-)",), "right"),
    (("+", "-"), "left"),
    (("/", "%"), "right"),
    (("*",), "left"),
]
"""Binary operators, from weakest to strongest, and the level of `!`."""

_LEVEL_OF = {x: i for i, (texts, side) in enumerate(LEVELS) for x in texts if side}

_UNARY = next(i for i, (_, side) in enumerate(LEVELS) if not side)


class Node(NamedTuple):
    """An expression: its kind, its parts, and its position."""

    kind: str
    parts: tuple
    place: int


class Function(NamedTuple):
    """A definition: parameters, and pairs of a guard (None: any) and a value."""

    parameters: tuple[str, ...]
    cases: tuple[tuple[Node | None, Node], ...]


class Expressions(Tokens):
    """Reads expressions; `scope` is what is defined so far, by name."""

    def __init__(self, path: FilePath, text: str):
        super().__init__(path, text)
        self.scope: dict[str, Any] = {}
        self._depth = 0

    def name(self, what: str) -> Token:
        if self.next.kind != "name":
            self.fail(what)
        return self.take()

    def braced(self) -> Iterator[None]:
        """Takes a pair of braces, and goes on as long as there is more in between."""
        self.expect("{")
        while self.next.text != "}":
            yield
        self.take()

    def expression(self, least: int = 0) -> Node:
        """An expression whose operators bind at least as tightly as some level."""
        found = self._operand()
        while _LEVEL_OF.get(self.next.text, -1) >= least:
            token, level = self.next, _LEVEL_OF[self.next.text]
            side = LEVELS[level][1]
            parts = [found]
            while self.next.text == token.text and (side == "chain" or len(parts) < 2):
                self.take()
                parts.append(self.expression(level + (side != "right")))
            found = Node(token.text, tuple(parts), token.place)
        if least == 0 and self.next.text == "~":
            self.refuse("patterns are not supported", self.next)
        return found

    def _nested(self, rule: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > MAX_NESTED:
            self.refuse(f"more than {MAX_NESTED} expressions nested", self.next)
        found = rule()
        self._depth -= 1
        return found

    def _operand(self) -> Node:
        """What stands between operators; a sign before it takes what binds tighter."""
        token = self.next
        follows = self._tokens[min(self._at + 1, len(self._tokens) - 1)].text

        def inner() -> Node:
            return self._nested(lambda: self.expression(_UNARY))

        if token.text == "!":
            self.take()
            return Node("!", (inner(),), token.place)
        if token.kind == "name" and token.text in ("X", "F", "G"):
            self.take()
            if follows != "[":
                return Node(token.text, (inner(),), token.place)
            self.take()
            if self.next.text == "!" and self._is_strong(token):
                return Node("X[!]", (inner(),), token.place)
            bounds = [self.expression()]
            if self.next.text == ":":
                self.take()
                bounds.append(self.expression())
            self.expect("]")
            if (len(bounds) == 1) != (token.text == "X"):
                self.refuse("expected X[n], F[m:n] or G[m:n]", token)
            return Node(f"{token.text}[]", (*bounds, inner()), token.place)
        if token.text in ("&&", "||") and follows == "[":
            return self._over_ranges(token, inner)
        return self._primary()

    def _is_strong(self, token: Token) -> bool:
        """Takes the rest of the sign `X[!]`, if this is what was begun."""
        if token.text != "X" or self._tokens[self._at + 1].text != "]":
            return False
        self._at += 2
        return True

    def _over_ranges(self, token: Token, inner: Callable[[], Node]) -> Node:
        self.take()
        self.expect("[")
        ranges = [self._range()]
        while self.next.text == ",":
            self.take()
            ranges.append(self._range())
        self.expect("]")
        return Node(f"{token.text}[]", (tuple(ranges), inner()), token.place)

    def _range(self) -> tuple:
        above = _LEVEL_OF["=="] + 1
        first = self.expression(above)
        if self.next.text == "<-":
            self.take()
            if first.kind != "name":
                self.refuse("expected a name before IN", first)
            return first.parts[0], self.expression(above), None, None
        low = self.take()
        name = self.name("the name of an index")
        high = self.take()
        if low.text not in ("<", "<=") or high.text not in ("<", "<="):
            self.refuse("expected a range such as 0 <= i < n", low)
        last = self.expression(above)
        return name.text, (first, last), low.text == "<", high.text == "<"

    def _primary(self) -> Node:
        token = self.take()
        if token.kind == "number":
            if len(token.text) > 9:
                self.refuse("the number is too large", token)
            return Node("number", (int(token.text),), token.place)
        if token.text in ("true", "false"):
            return Node(token.text, (), token.place)
        if token.text == "(":
            found = self._nested(self.expression)
            self.expect(")")
            return found
        if token.text == "{":
            return self._set(token)
        if token.text in ("+", "*", "(+)", "(*)") and self.next.text == "[":
            self._at -= 1
            return self._over_ranges(token, lambda: self._nested(self._primary))
        if token.text == "-":
            return Node("negative", (self._nested(self._primary),), token.place)
        if token.text == "|":
            found = self._nested(self.expression)
            self.expect("|")
            return Node("SIZE", (found,), token.place)
        if token.text in ("SIZEOF", "SIZE", "MIN", "MAX"):
            return Node(token.text, (self._nested(self._primary),), token.place)
        if token.text in ("SUM", "PROD") and self.next.text == "[":
            self._at -= 1
            sign = Token("sign", "+" if token.text == "SUM" else "*", token.place)
            return self._over_ranges(sign, lambda: self._nested(self._primary))
        if token.kind != "name" or token.text in ("U", "R", "W"):
            self.fail("an expression", token)
        found = Node("name", (token.text,), token.place)
        is_function = isinstance(self.scope.get(token.text), Function)
        behind = self.next.place == token.place + len(token.text)
        if self.next.text == "(" and (is_function or behind):
            found = self._call(token)
        while self.next.text == "[":
            self.take()
            index = self._nested(self.expression)
            self.expect("]")
            found = Node("bit", (found, index), token.place)
        return found

    def _call(self, token: Token) -> Node:
        self.take()
        arguments = []
        while self.next.text != ")":
            arguments.append(self._nested(self.expression))
            if self.next.text != ")":
                self.expect(",")
        self.take()
        return Node("call", (token.text, tuple(arguments)), token.place)

    def _set(self, token: Token) -> Node:
        members: list[Node] = []
        rest: tuple[Node, ...] = ()
        while self.next.text != "}":
            members.append(self._nested(self.expression))
            if self.next.text == "..":
                self.take()
                rest = (self._nested(self.expression),)
            elif self.next.text != "}":
                self.expect(",")
        self.take()
        return Node("set", (tuple(members), rest), token.place)
