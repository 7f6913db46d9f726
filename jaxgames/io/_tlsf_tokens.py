"""The tokens of TLSF files."""

import re
from typing import Any, NamedTuple, NoReturn

from jaxgames.io._files import FilePath, FormatError
from jaxgames.quoting import quoted

SECTIONS = {
    "INITIALLY": "initially",
    "PRESET": "preset",
    "REQUIRE": "require",
    "REQUIREMENTS": "require",
    "ASSUME": "assume",
    "ASSUMPTIONS": "assume",
    "ASSERT": "assert",
    "INVARIANTS": "assert",
    "GUARANTEE": "guarantee",
    "GUARANTEES": "guarantee",
}

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<string>"[^"]*")
    |(?P<number>[0-9]+)
    |(?P<name>[A-Za-z_@][A-Za-z0-9_@']*)
    |(?P<sign><->|->|&&|\|\||==|!=|/=|<=|>=|<-|\.\.|\(\+\)|\(-\)|\(\\\)|\(\*\)|\+\+
    |[-+*/%!<>=~:;,.(){}\[\]|])""",
    re.VERBOSE | re.DOTALL,
)

NAME = re.compile(r"[A-Za-z_@][A-Za-z0-9_@']*")

_WORDS = {
    "NOT": "!",
    "AND": "&&",
    "FORALL": "&&",
    "OR": "||",
    "EXISTS": "||",
    "IMPLIES": "->",
    "EQUIV": "<->",
    "EQ": "==",
    "NEQ": "!=",
    "LE": "<",
    "LEQ": "<=",
    "GE": ">",
    "GEQ": ">=",
    "ELEM": "<-",
    "IN": "<-",
    "MUL": "*",
    "DIV": "/",
    "MOD": "%",
    "PLUS": "+",
    "MINUS": "-",
    "CUP": "(+)",
    "CAP": "(*)",
    "SETMINUS": "(-)",
    "/=": "!=",
    "(\\)": "(-)",
}
"""Other spellings."""

RESERVED = {"X", "F", "G", "U", "R", "W", "true", "false", "otherwise", "enum"}
RESERVED |= {*_WORDS, "SIZEOF", "SIZE", "MIN", "MAX", "SUM", "PROD", *SECTIONS}


class Token(NamedTuple):
    kind: str
    text: str
    place: int


class Tokens:
    """The tokens of a text, one after the other."""

    def __init__(self, path: FilePath, text: str):
        self._path = path
        self._text = text
        self._tokens = self._cut()
        self._at = 0

    def _cut(self) -> list[Token]:
        found, at = [], 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if not match:
                self.refuse(
                    f"expected a token, found {quoted(self._text[at])}",
                    Token("", "", at),
                )
            kind, text = match.lastgroup or "", match[0]
            if kind != "space":
                found.append(Token(kind, _WORDS.get(text, text), at))
            at = match.end()
        return [*found, Token("end", "", at)]

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    def take(self) -> Token:
        token = self._tokens[self._at]
        if token.kind == "end":
            self.fail("more")
        self._at += 1
        return token

    def expect(self, text: str) -> Token:
        if self.next.text != text:
            self.fail(f"'{text}'")
        return self.take()

    def fail(self, expected: str, token: Token | None = None) -> NoReturn:
        token = token or self.next
        found = quoted(token.text) if token.text else "the end"
        self.refuse(f"expected {expected}, found {found}", token)

    def refuse(self, message: str, at: Any) -> NoReturn:
        before = self._text[: at.place]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise FormatError(self._path, line, f"column {column}: {message}")
