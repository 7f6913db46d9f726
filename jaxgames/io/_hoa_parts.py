"""What automata and games in the Hanoi format have in common."""

import re
from typing import ClassVar

from jaxgames.acceptance import FALSE, TRUE, Acceptance, both, either, fin, inf
from jaxgames.io._files import FilePath
from jaxgames.io._tokens import Tokens

MAX_INTEGER = 2**31 - 1

PATTERN = re.compile(
    r"""(?P<header>[A-Za-z_][0-9A-Za-z_-]*:)
    |(?P<mark>--(?:BODY|END|ABORT)--)
    |(?P<string>"(?:\\.|[^\\"])*")
    |(?P<integer>0(?![0-9])|[1-9][0-9]*)
    |(?P<boolean>[tf](?![0-9A-Za-z_-]))
    |(?P<identifier>[A-Za-z_][0-9A-Za-z_-]*)
    |(?P<alias>@[0-9A-Za-z_-]+)
    |(?P<sign>[!&|(){}\[\]])""",
    re.VERBOSE | re.DOTALL,
)
"""The tokens of the format, of automata and of games."""

_ATOM = re.compile(r"(Inf|Fin)\((0|[1-9][0-9]*)\)")
"""Whether a set is met infinitely often, as it is written mostly."""

_ATOMS = {"Inf": inf, "Fin": fin}


class Parts:
    """Reads numbers, sets of marks, and conditions."""

    complements: ClassVar[bool] = True
    """Whether the complement of an acceptance set may be named."""

    def __init__(self, path: FilePath, tokens: Tokens, text: str):
        self._path = path
        self._tokens = tokens
        self._text = text
        self._num_sets = 0

    def integer(self, what: str, most: int = MAX_INTEGER) -> int:
        """A number from 0 to `most`; `what` it is goes into what is told if not."""
        token = self._tokens.next
        if most < 0:
            self._tokens.refuse(f"{what} cannot be given, as there are none", token)
        if token.kind != "integer" or len(token.text) > 10 or int(token.text) > most:
            self._tokens.fail(f"{what}, from 0 to {most}")
        return int(self._tokens.take().text)

    def marks(self) -> int:
        """A list of acceptance sets in braces, as a mask; 0 where none begins."""
        marks = 0
        if self._tokens.next.text == "{":
            self._tokens.take()
            while self._tokens.next.text != "}":
                what = "'}' or the number of an acceptance set"
                marks |= 1 << self.integer(what, self._num_sets - 1)
            self._tokens.take()
        return marks

    def acceptance(self) -> Acceptance:
        """A condition, however deeply nested."""
        tokens = self._tokens
        # For each open parenthesis the alternatives before, and the factors of this.
        frames: list[tuple[list, list]] = [([], [])]
        while True:
            while tokens.next.text == "(":
                tokens.take()
                frames.append(([], []))
            frames[-1][1].append(self._atom())
            while tokens.next.text not in ("&", "|"):
                if len(frames) == 1:
                    return _closed(*frames.pop())
                tokens.take(")", expected="'&', '|' or ')'")
                inner = _closed(*frames.pop())
                frames[-1][1].append(inner)
            if tokens.take().text == "|":
                alternatives, factors = frames[-1]
                alternatives.append(both(factors))
                factors.clear()

    def _atom(self) -> Acceptance:
        """A constant, or whether edges of a set are taken infinitely often."""
        tokens, token = self._tokens, self._tokens.next
        if token.kind == "boolean":
            return TRUE if tokens.take().text == "t" else FALSE
        plain = _ATOM.match(self._text, token.position)
        if plain and len(plain[2]) < 6 and int(plain[2]) < self._num_sets:
            tokens.go_on(plain.end())
            return _ATOMS[plain[1]](int(plain[2]))
        tokens.take("Inf", "Fin", expected="'Inf', 'Fin', 't' or 'f'")
        tokens.take("(")
        negated = tokens.next.text == "!"
        if negated and not self.complements:
            tokens.refuse(
                "complements of acceptance sets are not supported in games", tokens.next
            )
        if negated:
            tokens.take()
        number = self.integer("the number of an acceptance set", self._num_sets - 1)
        tokens.take(")")
        # The edges that are not in a set are one by themselves.
        number += self._num_sets * negated
        return _ATOMS[token.text](number)


def _closed(alternatives: list[Acceptance], factors: list[Acceptance]) -> Acceptance:
    return either([*alternatives, both(factors)])


def plain_marks(text: str, num_sets: int) -> int | None:
    """The mask of numbers of acceptance sets; None if one is malformed."""
    marks = 0
    for word in text.split():
        if len(word) > 5 or word != str(int(word)) or int(word) >= num_sets:
            return None
        marks |= 1 << int(word)
    return marks
