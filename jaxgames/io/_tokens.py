"""Text that is read token by token; errors tell the line and column."""

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from jaxgames.io._files import FilePath, FormatError, reading
from jaxgames.ltl import Formula
from jaxgames.quoting import quoted

PER_BYTE = 200
"""Bytes that tokens take for each byte of text, about."""

MAX_DEPTH = 100
"""How deeply expressions may be nested."""


class Token(NamedTuple):
    """A token.

    Attributes:
        kind: which group of the pattern it matched; "end" at the end.
        text: as it is written.
        position: where it starts.
    """

    kind: str
    text: str
    position: int


class Tokens:
    """The tokens of a text; `next` is in view, and `take` will return it."""

    def __init__(self, path: FilePath, text: str, pattern: re.Pattern, nested: bool):
        """Starts before the first token.

        The pattern has a named group for each kind of token. Comments are between
        slash-star and star-slash.
        """
        self._path = path
        self._text = text
        self._pattern = pattern
        self._nested = nested
        self._depth = 0
        self.next = Token("end", "", 0)
        self._advance(0)

    def go_to(self, place: int) -> None:
        """Goes on with what starts there."""
        self._depth = 0
        self._advance(place)

    def go_on(self, place: int) -> None:
        """Goes on with what starts there, within the same expression."""
        self._advance(place)

    def ahead(self, sign: str) -> str:
        """The text between the next token and a sign; nothing if there is no such."""
        start = self.next.position + len(self.next.text)
        end = self._text.find(sign, start)
        return self._text[start:end] if end >= 0 else ""

    def take(self, *texts: str, expected: str = "") -> Token:
        """Returns the next token and goes on; it must be one of the given, if any."""
        token = self.next
        if texts and token.text not in texts:
            self.fail(expected or " or ".join(map(repr, texts)))
        self._advance(token.position + len(token.text))
        return token

    def take_kind(self, kind: str, expected: str) -> Token:
        """Returns the next token and goes on; it must be of a kind."""
        if self.next.kind != kind:
            self.fail(expected)
        return self.take()

    def fail(self, expected: str, token: Token | None = None) -> NoReturn:
        """Raises a FormatError at a token: what was expected instead of it."""
        token = token or self.next
        found = quoted(token.text) if token.text else "the end"
        self.refuse(f"expected {expected}, found {found}", token)

    def refuse(self, message: str, token: Token) -> NoReturn:
        """Raises a FormatError at a token."""
        before = self._text[: token.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise FormatError(self._path, line, f"column {column}: {message}")

    def expression(
        self, atom: Callable[[], Formula], conjunction: str, disjunction: str
    ) -> Formula:
        """Reads a Boolean expression of `!`, two signs, parentheses and atoms."""

        def alternatives() -> Formula:
            return chain(disjunction, "|", lambda: chain(conjunction, "&", factor))

        def chain(sign: str, operator: str, part: Callable[[], Formula]) -> Formula:
            parts = [part()]
            while self.next.text == sign:
                self.take()
                parts.append(part())
            return parts[0] if len(parts) == 1 else Formula(operator, tuple(parts))

        def factor() -> Formula:
            if self.next.text not in ("!", "("):
                return atom()
            self._depth += 1
            if self._depth > MAX_DEPTH:
                self.fail(f"at most {MAX_DEPTH} nested operators")
            if self.take().text == "!":
                found = Formula("!", (factor(),))
            else:
                found = alternatives()
                self.take(")")
            self._depth -= 1
            return found

        return alternatives()

    def _advance(self, at: int) -> None:
        self.next = Token("", "", at)  # what is wrong from here on is not there
        at = self._skip(at)
        match = self._pattern.match(self._text, at)
        if match:
            self.next = Token(match.lastgroup or "", match[0], at)
        elif at == len(self._text):
            self.next = Token("end", "", at)
        else:
            what = {'"': "a closing quote"}.get(self._text[at], "a token")
            self.fail(what, Token("", self._text[at], at))

    def _skip(self, at: int) -> int:
        """Skips blanks and comments."""
        start, depth = at, 0
        while True:
            match = _BLANK.match(self._text, at)
            at = match.end() if match else at
            if depth == 0 and not self._text.startswith("/*", at):
                return at
            mark = _COMMENT.search(self._text, at)
            if not mark:
                self.refuse("the comment is not closed", Token("", "", start))
            if mark[0] == "/*":
                depth = depth + 1 if self._nested else 1
                start = mark.start() if depth == 1 else start
            else:
                depth -= 1
            at = mark.end()


_BLANK = re.compile(r"\s*")
_COMMENT = re.compile(r"/\*|\*/")


def read_text(path: FilePath) -> str:
    """The text of a file, decompressed where it is compressed."""
    with reading(path, PER_BYTE) as file:
        data = file.read()
    refuse_pointer(path, data[:64])
    return decoded(path, data)


def refuse_pointer(path: FilePath, start: bytes) -> None:
    """Refuses a file that is a Git LFS pointer."""
    if start.startswith(b"version https://git-lfs"):
        raise FormatError(
            path,
            1,
            "this is a Git LFS pointer, not the file itself: fetch the file with "
            "'git lfs pull'",
        )


def decoded(path: FilePath, data: bytes | memoryview) -> str:
    """Bytes of a file as text; else raises a FormatError that tells the line."""
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        line = bytes(data[: error.start]).count(b"\n") + 1
        raise FormatError(path, line, f"expected UTF-8 text: {error}") from None
