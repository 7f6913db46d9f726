"""Formulas of linear temporal logic: objects, and a parser of the usual syntaxes."""

import dataclasses
import re
from collections.abc import Iterable
from typing import NamedTuple, NoReturn, Unpack

from jaxgames import limits
from jaxgames.kept import keeps
from jaxgames.limits import Bounds, limited
from jaxgames.quoting import MOST_QUOTED, quoted

MAX_DEPTH = 1000
"""How deeply operators and parentheses may be nested."""

UNARY = ("!", "X", "F", "G")
BINARY = ("<->", "->", "|", "&", "U", "R", "W", "M")
"""Operators of two operands, and of more."""

CHAINED = ("|", "&")
"""Operators of any number of operands; chains of the others group to the right."""

MAX_WRITTEN = 1 << 20
"""Characters up to which a formula is written out. One whose parts are shared may take
more of them than there are atoms."""

HEAD = 240
"""Characters that a formula begins with when written, known without writing it."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Formula:
    """A formula of linear temporal logic.

    Parts may be shared: a formula that is an operand twice takes no more memory and
    time than once, so that one of depth `n` may stand for a text of `2^n` characters.
    Formulas are put in order, compared, hashed, pickled and translated without that
    text. One that takes more than a million characters is abridged when printed.

    Attributes:
        operator: `"true"`, `"false"`, `"name"` (a proposition), one of `! X F G` with
            one operand, one of `-> <-> U R W M` with two, or one of `& |` with two or
            more.
        operands: formulas.
        name: what the proposition is called.

    Examples:
        >>> formula = Formula.parse("[](wait -> <> cs)")
        >>> formula
        Formula('G(wait -> F cs)')
        >>> formula.propositions
        ('cs', 'wait')
    """

    operator: str
    operands: tuple["Formula", ...] = ()
    name: str = ""

    @staticmethod
    def parse(text: str) -> "Formula":
        r"""Reads a formula.

        The syntaxes of SPIN, Spot, Wring and textbooks are understood:

        | meaning | written |
        |---|---|
        | constants | `true`, `1`; `false`, `0` |
        | negation | `!`, `~`, `¬`; `p=0` is `!p`, and `p=1` is `p` |
        | next, eventually, always | `X`, `()`, `○`; `F`, `<>`, `◇`; `G`, `[]`, `□` |
        | until, release | `U`; `R`, `V` |
        | weak until, strong release | `W`; `M` |
        | and, or | `&`, `&&`, `/\`, `*`, `∧`; `|`, `||`, `\/`, `+`, `∨` |
        | one or the other, not both | `^`, `xor`, `⊕` |
        | implies, equivalent | `->`, `-->`, `=>`, `→`; `<->`, `<-->`, `<=>`, `↔` |
        | `n` rounds later | `X[n]` |
        | in some of the rounds `m` to `n`; in all | `F[m:n]`; `G[m:n]` |

        Operators of one operand bind tightest, then `U R W M`, then `&`, `^`, `|`, `->`
        and `<->`; all but `&`, `^` and `|` group to the right. (SPIN gives `&& || ->`
        and `<->` one rank and groups to the left, Spot gives `-> <->` one rank: use
        parentheses in a formula for all.) A word of the letters X, F and G alone is a
        chain of operators, as in `GF p`; any other word is a proposition, as is all
        that is in double quotes.

        In brackets the present round is 0; `m:` and `m:$` mean all rounds from `m` on,
        and `:n` those up to `n`. A colon may be written `..`, `,` or `to`, and `$` also
        `inf`. A `!` before the closing bracket asks that there be such a round: there
        always is. What has brackets is read as what it stands for, so `F[1:2] p` as
        `X(p | X p)`: of `n` rounds it has so many parts. Rounds count as operators
        inside one another, of which there may be 1000.

        Args:
            text: the formula.

        Raises:
            ValueError: it is none; tells the column, and the line if there are more,
                what was expected and what was found.

        Examples:
            >>> Formula.parse('GF "door open" && p U !q')
            Formula('G F "door open" & (p U !q)')
            >>> Formula.parse("G(p -> )")
            Traceback (most recent call last):
            ValueError: column 8 of 'G(p -> )': expected a formula, found ')'
            >>> Formula.parse("G(r -> F[1:3] g)")
            Formula('G(r -> X(g | X(g | X g)))')
        """
        return _Parser(text).formula()

    @keeps
    def propositions(self) -> tuple[str, ...]:
        """The names in the formula, in alphabetical order."""
        return tuple(sorted({x.name for x in self.parts() if x.operator == "name"}))

    def parts(self) -> list["Formula"]:
        """The formula and its parts, each object once and behind its operands.

        Nothing recurses, so that formulas may be nested deeply.

        Examples:
            >>> Formula.parse("a U X b").parts()
            [Formula('a'), Formula('b'), Formula('X b'), Formula('a U X b')]
        """
        found: list[Formula] = []
        seen: set[int] = set()
        work: list[tuple[Formula, bool]] = [(self, False)]
        while work:
            node, ready = work.pop()
            if ready:
                found.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                work.append((node, True))
                work += [(x, False) for x in reversed(node.operands)]
        return found

    @limited()
    def holds_on(
        self,
        prefix: Iterable[Iterable[str]],
        cycle: Iterable[Iterable[str]],
        **bounds: Unpack[Bounds],
    ) -> bool:
        """Whether it holds on a word that runs through a cycle for ever.

        By the definitions of its operators, without an automaton: O(L) time for each of
        them and L letters.

        Args:
            prefix: letters, each the names of the propositions that hold.
            cycle: letters, one at least.
            bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

        Raises:
            ValueError: the cycle is empty.

        Examples:
            >>> Formula.parse("F G p").holds_on([[]], [["p"]])
            True
            >>> Formula.parse("G p").holds_on([[]], [["p"]])
            False
        """
        letters = [frozenset(names) for names in prefix]
        back = len(letters)
        letters += [frozenset(names) for names in cycle]
        if len(letters) == back:
            raise ValueError("the cycle of a word needs a letter")
        known: dict[Formula, list[bool]] = {}
        for part in self.parts():  # so that operands are known
            _holds_from(part, letters, back, known)
        return known[self][0]

    def __repr__(self) -> str:
        return f"Formula({str(self)!r})"

    def __str__(self) -> str:
        return self._text

    def __post_init__(self):
        """Finds what would take a walk through all of it, from its operands alone.

        Parts may be shared, so that there are exponentially many ways to walk.
        """
        operator, operands = self.operator, self.operands
        heads = [_braced(x, x.head) for x in operands]
        length = sum(
            x._length + 2 * (x.operator in BINARY)  # pyright: ignore
            for x in operands
        )
        if len(operands) == 1:
            length += len(operator) + _has_space(operator, heads[0])
        elif operands:
            length += (len(operator) + 2) * (len(operands) - 1)
        head = _written(self, heads)
        facts = {
            "_hash": hash((operator, operands, self.name)),
            "_depth": 1 + max((x.depth for x in operands), default=0),
            "_head": head[:HEAD],
            "_length": length if operands else len(head),
            "_operators": frozenset([operator]).union(*(x.operators for x in operands)),
        }
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    @property
    def depth(self) -> int:
        """How many formulas are inside one another, at most."""
        return self._depth  # pyright: ignore

    @property
    def operators(self) -> frozenset[str]:
        """The operators of the formula and of its parts."""
        return self._operators  # pyright: ignore

    @property
    def head(self) -> str:
        """The first characters of its text, as many as there are up to `HEAD`."""
        return self._head  # pyright: ignore

    def __lt__(self, other: "Formula") -> bool:
        """The order of the texts, as far as their first characters tell them apart.

        Beyond, the first operands decide that differ. It is the same in every process.
        """
        one, two = self, other
        while one.head == two.head:
            first, second = ((x.operator, x.name, len(x.operands)) for x in (one, two))
            if first != second:
                return first < second
            pairs = zip(one.operands, two.operands, strict=True)
            found = next(((x, y) for x, y in pairs if x != y), None)
            if found is None:
                return False
            one, two = found
        return one.head < two.head

    def __hash__(self) -> int:
        return self._hash  # pyright: ignore

    def __eq__(self, other: object) -> bool:
        """Whether both are written alike; nothing recurses."""
        if self is other:
            return True
        if not isinstance(other, Formula):
            return NotImplemented
        if hash(self) != hash(other):
            return False
        work: list[tuple[Formula, Formula]] = [(self, other)]
        seen: set[tuple[int, int]] = set()
        while work:
            one, two = work.pop()
            if one is two or (id(one), id(two)) in seen:
                continue
            if (
                hash(one) != hash(two)
                or (one.operator, one.name) != (two.operator, two.name)
                or len(one.operands) != len(two.operands)
            ):
                return False
            seen.add((id(one), id(two)))
            work += zip(one.operands, two.operands, strict=True)
        return True

    def __reduce__(self):
        # Hashes of texts are others in another process; and nothing recurses.
        parts = self.parts()
        number = {id(x): i for i, x in enumerate(parts)}
        rows = [
            (x.operator, [number[id(y)] for y in x.operands], x.name) for x in parts
        ]
        return _of_rows, (rows,)

    @keeps
    def _text(self) -> str:
        length: int = self._length  # pyright: ignore
        if length > MAX_WRITTEN:
            return f"{self.head}... ({length} characters)"
        known: dict[int, str] = {}
        for x in self.parts():
            parts = [_braced(y, known[id(y)]) for y in x.operands]
            known[id(x)] = _written(x, parts)
        return known[id(self)]


def _written(formula: Formula, parts: list[str]) -> str:
    """The text of a formula, given those of its operands."""
    operator = formula.operator
    if operator == "name":
        return formula.name if _is_plain(formula.name) else _quoted(formula.name)
    if not parts:
        return operator
    if len(parts) > 1:
        return f" {operator} ".join(parts)
    return f"{operator}{' ' * _has_space(operator, parts[0])}{parts[0]}"


def _braced(formula: Formula, text: str) -> str:
    """What an operand is written as, given its text, or how that begins."""
    return f"({text})" if formula.operator in BINARY else text


def _has_space(operator: str, operand: str) -> bool:
    return operator != "!" and not operand.startswith("(")


def _of_rows(rows: list[tuple[str, list[int], str]]) -> Formula:
    """The formula that comes last, of rows that name operands by their numbers."""
    made: list[Formula] = []
    for operator, operands, name in rows:
        made.append(Formula(operator, tuple(made[i] for i in operands), name))
    return made[-1]


def as_formula(formula: "Formula | str") -> Formula:
    """A formula, parsed if it is a text; else raises ValueError."""
    if isinstance(formula, str):
        return Formula.parse(formula)
    if not isinstance(formula, Formula):
        raise ValueError(f"expected a formula or its text, got {formula!r}")
    return formula


# ---- what holds on a word --------------------------------------------------------


def _holds_from(
    formula: Formula, letters: list[frozenset[str]], back: int, known: dict
) -> list[bool]:
    """Whether a formula holds from each letter on; behind the last one comes `back`."""
    if formula in known:
        return known[formula]
    limits.tick("verifying", len(known), "formulas")
    parts = [_holds_from(x, letters, back, known) for x in formula.operands]
    size = len(letters)

    def until(one: list[bool], other: list[bool]) -> list[bool]:
        found = [False] * size
        # Twice, since what holds where the cycle begins may depend on its end.
        for _ in range(2):
            after = found[back]
            for i in reversed(range(size)):
                found[i] = after = other[i] or (one[i] and after)
        return found

    def negated(values: list[bool]) -> list[bool]:
        return [not value for value in values]

    def both(one: list[bool], other: list[bool]) -> list[bool]:
        return [x and y for x, y in zip(one, other, strict=True)]

    always = [True] * size
    match formula.operator:
        case "true":
            found = always
        case "false":
            found = negated(always)
        case "name":
            found = [formula.name in letter for letter in letters]
        case "!":
            found = negated(parts[0])
        case "&":
            found = [all(values) for values in zip(*parts, strict=True)]
        case "|":
            found = [any(values) for values in zip(*parts, strict=True)]
        case "->":
            found = [not x or y for x, y in zip(*parts, strict=True)]
        case "<->":
            found = [x == y for x, y in zip(*parts, strict=True)]
        case "X":
            found = [*parts[0][1:], parts[0][back]]
        case "F":
            found = until(always, parts[0])
        case "G":
            found = negated(until(always, negated(parts[0])))
        case "U":
            found = until(*parts)
        case "M":
            found = until(parts[1], both(*parts))
        case "R":
            found = negated(until(*map(negated, parts)))
        case "W":
            one, other = parts
            never = until(negated(other), both(negated(one), negated(other)))
            found = negated(never)
        case _:
            raise AssertionError(formula.operator)
    known[formula] = found
    return found


# ---- words -----------------------------------------------------------------------


class _Rounds(NamedTuple):
    """For which rounds an operator with brackets speaks, 0 being the present one."""

    first: int
    last: int | None
    """None for all from the first on."""


class _Token(NamedTuple):
    kind: str
    """An operator in its own spelling, "(", ")", "name", "true", "false" or "end"."""
    text: str
    at: int
    """How many characters come before it."""
    rounds: _Rounds | None = None
    """What the brackets behind an operator say, if there are some."""


class _Waiting(NamedTuple):
    """What waits for an operand."""

    token: _Token
    """A sign, an operator or a parenthesis."""
    before: list[Formula]
    """The operands that an operator has already."""
    depth: int
    """How many operators it is inside of, and it itself."""


_SPELLINGS = {
    "!": "! ~ ¬",
    "X": "X () ○ ◯ Ⓧ",
    "F": "F <> ◇ ⋄ ♢",
    "G": "G [] □ ⬜ ◻",
    "U": "U",
    "R": "R V",
    "W": "W",
    "M": "M",
    "&": "& && /\\ * ∧ ∩",
    "^": "^ xor ⊕",
    "|": "| || \\/ + ∨ ∪",
    "->": "-> --> => → ⟶ ⇒ ⟹",
    "<->": "<-> <--> <=> ↔ ⇔",
    "(": "(",
    ")": ")",
    "true": "true 1",
    "false": "false 0",
}
_KINDS = {text: kind for kind, texts in _SPELLINGS.items() for text in texts.split()}
_SIGNS = sorted((x for x in _KINDS if not x.isalnum()), key=len, reverse=True)
_RANKS = ("<->", "->", "|", "^", "&", "U", "R", "W", "M")
"""What stands between operands, the weakest first; the last four bind alike."""

_GATHERED = (*CHAINED, "^")
"""Of which a chain is read as a whole."""

_WORD = r"[A-Za-z_][A-Za-z0-9_.]*"
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>\"(?:\\.|[^\"\\])*\")|(?P<word>[A-Za-z0-9_.]+)|(?P<sign>"
    + "|".join(map(re.escape, _SIGNS))
    + "))",
    re.DOTALL,
)
_VALUE = re.compile(r"\s*=([01])(?![A-Za-z0-9_.])")
_OPENED = re.compile(r"\s*\[(?!\])")
_BOUND = re.compile(
    r"\s*(?:(?P<number>[0-9]+)|(?P<to>\.\.|:|,|to)|(?P<all>\$|inf)|(?P<strong>!)"
    r"|(?P<end>\]))"
)
_NEXT_BOUNDS = {
    "": ("number", "strong"),
    "number": ("strong", "end"),
    "strong": ("end",),
}
"""What follows what in brackets behind `X`."""

_RANGE_BOUNDS = {
    "": ("number", "to"),
    "number": ("to",),
    "to": ("number", "all", "strong", "end"),
    "last": ("strong", "end"),
    "all": ("strong", "end"),
    "strong": ("end",),
}
"""And behind `F` and `G`."""

_BOUND_NAMES = {
    "number": "a number",
    "to": "':'",
    "all": "'$'",
    "strong": "'!'",
    "end": "']'",
}


def _is_plain(name: str) -> bool:
    operators = name in _KINDS or _is_constant(name) or not name.strip("FGX")
    return re.fullmatch(_WORD, name) is not None and not operators


def _is_constant(word: str) -> bool:
    return word.lower() in ("true", "false")


def _quoted(name: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'


class _Parser:
    """Operator precedence, with one token of foresight."""

    def __init__(self, text: str):
        self._text = text
        self._tokens = self._cut()

    def formula(self) -> Formula:
        # What waits for an operand: signs, operators with the operands before them, and
        # parentheses; nothing recurses, so that formulas may be nested deeply.
        waiting: list[_Waiting] = []
        while True:
            token = self._take()
            if token.kind in UNARY or token.kind == "(":
                self._wait(waiting, token, [])
                continue
            if token.kind in ("true", "false"):
                found = Formula(token.kind)
            elif token.kind == "name":
                found = Formula("name", name=token.text)
            else:
                self._tokens.append(token)
                self._fail("a formula")
            # What has its operand, and binds more tightly than what comes.
            while True:
                rank = _rank(self._next.kind)
                found = self._bound(found, waiting, rank)
                if rank >= 0 or not waiting:
                    break
                if self._next.kind != ")":
                    self._fail("an operator or ')'")
                self._take()
                waiting.pop()
            if rank < 0:
                if self._next.kind != "end":
                    self._fail("an operator or the end")
                return found
            token = self._take()
            kind = token.kind
            if waiting and waiting[-1].token.kind == kind and kind in _GATHERED:
                waiting[-1].before.append(found)
            else:
                self._wait(waiting, token, [found])

    def _wait(
        self, waiting: list[_Waiting], token: _Token, before: list[Formula]
    ) -> None:
        depth = waiting[-1].depth if waiting else 0
        first, last = token.rounds or (1, None)
        depth += max(first if last is None else last, 1)
        if depth > MAX_DEPTH:
            what = f"at most {MAX_DEPTH} nested operators"
            self._fail_at(what, token.at, token.text)
        waiting.append(_Waiting(token, before, depth))

    def _bound(self, found: Formula, waiting: list[_Waiting], rank: int) -> Formula:
        """The formula of what waits for this operand and binds tighter than a rank."""
        while waiting and waiting[-1].token.kind != "(":
            token, before, _ = waiting[-1]
            kind = token.kind
            own = len(_RANKS) if kind in UNARY else _rank(kind)
            # Chains are gone on with, and the others group to the right.
            if own < rank or own == rank:
                break
            waiting.pop()
            if token.rounds is not None:
                found = _within(kind, found, token.rounds)
            elif kind == "^":
                found = _one_or_the_other([*before, found])
            else:
                found = Formula(kind, (*before, found))
        return found

    @property
    def _next(self) -> _Token:
        return self._tokens[-1]

    def _take(self) -> _Token:
        return self._tokens.pop()

    def _cut(self) -> list[_Token]:
        """The tokens, the last one first."""
        tokens, at = [], 0
        while match := _TOKEN.match(self._text, at):
            group = match.lastgroup or ""
            text, start = match[group], match.start(group)
            at = match.end()
            if group == "quoted":
                name = re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
                tokens.append(_Token("name", name, start))
            elif text in _KINDS:
                tokens.append(_Token(_KINDS[text], text, start))
            elif _is_constant(text):
                tokens.append(_Token(text.lower(), text, start))
            elif not text.strip("FGX"):
                tokens += [_Token(x, x, start + i) for i, x in enumerate(text)]
            elif re.fullmatch(_WORD, text):
                tokens.append(_Token("name", text, start))
            else:
                self._fail_at("a name, an operator or 0 or 1", start, text)
            last = tokens[-1]
            if last.kind == "name" and (value := _VALUE.match(self._text, at)):
                # p=0 is !p, and p=1 is p.
                at = value.end()
                if value[1] == "0":
                    tokens.insert(-1, _Token("!", last.text, last.at))
            elif last.kind in "XFG" and last.text == last.kind:
                opened = _OPENED.match(self._text, at)
                if opened is not None:
                    tokens[-1], at = self._in_brackets(last, opened.end())
        rest = self._text[at:].lstrip()
        start = len(self._text) - len(rest)
        if rest:
            what = "a closing quote" if rest[0] == '"' else "a formula or an operator"
            self._fail_at(what, start, rest[0])
        tokens.append(_Token("end", "", start))
        return tokens[::-1]

    def _in_brackets(self, operator: _Token, at: int) -> tuple[_Token, int]:
        """An operator with the brackets behind it, and where they end.

        Whether there must be such a round, `!`, makes no difference: none is the last.
        """
        follows = _NEXT_BOUNDS if operator.kind == "X" else _RANGE_BOUNDS
        state, bounds = "", [1, None] if operator.kind == "X" else [0, None]
        while state != "end":
            match = _BOUND.match(self._text, at)
            kind = (match and match.lastgroup) or ""
            if match is None or kind not in follows[state]:
                names = " or ".join(_BOUND_NAMES[x] for x in follows[state])
                start = len(self._text) - len(self._text[at:].lstrip())
                self._fail_at(names, start, self._text[start : start + 1])
            if kind == "number":
                start, digits = match.start(kind), match[kind].lstrip("0") or "0"
                if len(digits) > 9 or int(digits) > MAX_DEPTH:
                    self._fail_at(f"a number up to {MAX_DEPTH}", start, match[kind])
                bounds[state == "to"] = int(digits)
                if state == "to":
                    if int(digits) < (bounds[0] or 0):
                        what = f"a number from {bounds[0]} on"
                        self._fail_at(what, start, match[kind])
                    kind = "last"
            state, at = kind, match.end()
        first, last = bounds
        rounds = _Rounds(first or 0, last)
        return operator._replace(rounds=rounds), at

    def _fail(self, expected: str) -> NoReturn:
        self._fail_at(expected, self._next.at, self._next.text)

    def _fail_at(self, expected: str, at: int, found: str) -> NoReturn:
        text, what = self._text, quoted(found) if found else "the end"
        before = text[:at].split("\n")
        where = f"column {len(before[-1]) + 1}"
        if "\n" in text.strip():
            where = f"line {len(before)}, {where}"
        if len(text) > MOST_QUOTED:
            begin = max(0, min(at - MOST_QUOTED // 2, len(text) - MOST_QUOTED))
            dots = [
                "..." if x else "" for x in (begin, begin + MOST_QUOTED < len(text))
            ]
            text = text[begin : begin + MOST_QUOTED].join(dots)
        raise ValueError(f"{where} of {text!r}: expected {expected}, found {what}")


def _within(kind: str, formula: Formula, rounds: _Rounds) -> Formula:
    """What `X[n]`, `F[m:n]` and `G[m:n]` stand for; its parts are shared."""
    first, last = rounds
    found = formula
    if kind != "X" and last is None:
        found = Formula(kind, (formula,))
    elif kind != "X":
        # From the last round back: f | X(f | X f).
        for _ in range(first, last or 0):
            sign = "|" if kind == "F" else "&"
            found = Formula(sign, (formula, Formula("X", (found,))))
    for _ in range(first):
        found = Formula("X", (found,))
    return found


def _one_or_the_other(parts: list[Formula]) -> Formula:
    """Whether an odd number of formulas holds; no deeper than need be."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [Formula("!", (Formula("<->", pair),)) for pair in pairs] + odd
    return parts[0]


def _rank(kind: str) -> int:
    """How tightly a binary operator binds; -1 for anything else."""
    return min(_RANKS.index(kind), _RANKS.index("U")) if kind in _RANKS else -1
