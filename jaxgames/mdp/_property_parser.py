"""The parser of properties: recursive descent, one token of foresight."""

import dataclasses
import re
from collections.abc import Callable, Container
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from jaxgames.mdp._property import (
    BINARY_PATHS,
    FILTERS,
    FUNCTIONS,
    UNARY_PATHS,
    Bound,
    Constant,
    Cumulative,
    Earned,
    Filter,
    Instantaneous,
    Label,
    LongRun,
    Multi,
    Name,
    Operation,
    Place,
    Property,
    PropertyError,
    Query,
    Temporal,
    is_path,
)
from jaxgames.quoting import guess, quoted

MAX_DEPTH = 40
"""How deeply parentheses, operators and brackets may be nested."""

_IN_A_ROW = 64
"""Parts of a conjunction or disjunction that are joined from left to right."""

_PAST_FORMULAS = frozenset([")", "]", "}", ";", ":", ",", "->", "..", ""])
"""What follows a formula and is no part of it; nothing stands for the end."""

_PAST_SUMS = _PAST_FORMULAS | {"=", "!=", "<", "<=", ">", ">=", "&", "|", "=>", "<=>"}

MOST_DIGITS = 1000
"""Digits of a number, before a power of ten or by it."""

_TOKEN = re.compile(
    r"(?P<space>(?:\s|//[^\n]*|/\*.*?\*/)+)"
    r"|(?P<number>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*'?)"
    r'|(?P<quoted>"[^"\n]*")'
    r"|(?P<sign><=>|=>|<=|>=|!=|->|\.\.|\|\||<<|>>|[-+*/^()\[\]{}<>=!&|?:;,])",
    re.DOTALL,
)
OPERATOR = re.compile(r"(P|R|S|LRA|T)((?:min|max){0,2})")
WORDS = {
    *(*UNARY_PATHS, *BINARY_PATHS, "P", "R", "S", "LRA", "C", "I", "A", "E"),
    *("true", "false", "filter", "multi", "const", "label", "formula"),
    *FUNCTIONS,
}
"""What is no name of a variable."""

_REFUSED = {
    "A": "properties of all paths: ask for P>=1",
    "E": "properties of some path: ask for P>0",
    "formula": "formulas of a model",
}
_RELATIONS = ("<", "<=", ">", ">=")


class Token(NamedTuple):
    kind: str
    """`number`, `word`, `quoted`, `sign` or `end`."""
    text: str
    line: int
    column: int

    @property
    def place(self) -> Place:
        return Place(self.line, self.column)


def parse(text: str) -> tuple[Property, ...]:
    """Reads properties: see [`Property`][jaxgames.mdp.Property].

    Raises:
        PropertyError: telling line and column, what was expected and what was found.
    """
    return Parser(text).read(Parser.properties)


def _cut(text: str) -> list[Token]:
    """The tokens of a text, the last one first."""
    found, at, line, start = [], 0, 1, 0
    for match in _TOKEN.finditer(text):
        if match.start() != at:
            break
        kind, word = match.lastgroup, match[0]
        if kind != "space":
            if word == "/" and text.startswith("/*", at):
                break
            found.append(Token(kind or "", word, line, at - start + 1))
        elif "\n" in word:  # which stands nowhere else
            line += word.count("\n")
            start = at + word.rindex("\n") + 1
        at = match.end()
    place = Place(line, at - start + 1)
    if text.startswith("/*", at):
        raise PropertyError(place, "a comment has no end")
    if text.startswith('"', at):
        raise PropertyError(place, "a name in quotes has no end on its line")
    if at < len(text):
        raise PropertyError(place, f"unexpected character {quoted(text[at])}")
    found.append(Token("end", "", *place))
    return found[::-1]


def _joined(sign: str, parts: list[Any], places: list[Place]) -> Any:
    """Parts with one operator between them, which groups as it likes.

    Many parts become a tree that is not deep.
    """
    if len(parts) <= _IN_A_ROW or sign not in "&|":
        found = parts[0]
        for part, place in zip(parts[1:], places, strict=True):
            found = Operation(sign, (found, part), place=place)
        return found
    half = len(parts) // 2
    first = _joined(sign, parts[:half], places[: half - 1])
    second = _joined(sign, parts[half:], places[half:])
    return Operation(sign, (first, second), place=places[half - 1])


class Parser:
    """What each method reads, it names; operators that bind weakest come first."""

    def __init__(self, text: str):
        if not isinstance(text, str):
            raise ValueError(f"a property is a text, got {quoted(text)}")
        self._tokens = _cut(text)
        self._next = self._tokens[-1]
        self._depth = 0
        self._in_path = False
        self._in_bound = False
        self._numbers: dict[str, Fraction] = {}  # by their texts

    def read(self, what: Callable[[Any], Any]) -> Any:
        """All of the text, by one of the methods."""
        try:
            return what(self)
        except RecursionError:
            place = self.place
            raise PropertyError(place, "operators are nested too deeply") from None

    # ---- tokens ------------------------------------------------------------------

    @property
    def place(self) -> Place:
        return self._next.place

    def _after(self) -> Token:
        """The token behind the next."""
        return self._tokens[-2] if len(self._tokens) > 1 else self._tokens[-1]

    def _take(self) -> Token:
        token = self._next
        if len(self._tokens) > 1:
            self._tokens.pop()
            self._next = self._tokens[-1]
        return token

    def _is(self, *texts: str) -> bool:
        """Whether the next token is one of these signs or words."""
        return self._next.text in texts

    def _is_alone(self, past: Container[str]) -> bool:
        """Whether the next token is a number or name, and no operator follows it."""
        token = self._next
        is_one = token.kind == "number" or (
            # Else it may begin an operator such as `Pmin`, behind which all may follow.
            token.kind == "word" and token.text[0] not in "PRSTL"
        )
        return is_one and self._after().text in past

    def _took(self, *texts: str) -> Token | None:
        """The next token, taken if it is one of these."""
        return self._take() if self._is(*texts) else None

    def _expect(self, text: str) -> Token:
        if not self._is(text):
            self._fail(repr(text))
        return self._take()

    def _fail(self, expected: str, taken: Container[str] = ()) -> NoReturn:
        """Tells what was expected here; words that are `taken` are no names."""
        token = self._next
        found = "the end" if token.kind == "end" else quoted(token.text)
        if token.kind == "word" and token.text in taken:
            found += ", a word of the language"
        raise PropertyError(token.place, f"expected {expected}, found {found}")

    def _refuse(self, place: Place, what: str) -> NoReturn:
        raise PropertyError(place, f"this is not supported: {what}")

    # ---- properties ----------------------------------------------------------------

    def properties(self) -> tuple[Property, ...]:
        constants: dict[str, Any] = {}
        labels: dict[str, Any] = {}
        others: dict[str, Any] = {}
        found = []
        while self._next.kind != "end":
            if self._took(";"):
                continue
            if self._is("const"):
                self._constant(constants)
                continue
            if self._is("label"):
                self._label(labels)
                continue
            name, place = None, self._next.place
            if self._next.kind == "quoted" and self._after().text == ":":
                name = self._take().text[1:-1]
                self._take()
            formula = self._formula()
            if is_path(formula):
                raise PropertyError(
                    place,
                    f"{quoted(str(formula))} is a property of paths, which needs an "
                    "operator around it, such as Pmax=? [ ... ]",
                )
            if name is not None:
                if name in others:
                    raise PropertyError(place, f"{quoted(name)} is given twice")
                others[name] = formula
            found.append(Property(formula, name, constants, labels, others))
            if self._next.kind == "sign" and not self._is(";"):
                self._fail("an operator, ';' or the end")
        return tuple(found)

    def _constant(self, constants: dict[str, Any]) -> None:
        self._take()
        if self._is("int", "double", "bool"):
            self._take()
        name = self._name("a constant")
        constants[name] = self._formula() if self._took("=") else None
        self._expect(";")

    def _label(self, labels: dict[str, Any]) -> None:
        self._take()
        name = self._quoted("the name of a label in quotes")
        self._expect("=")
        labels[name] = self._formula()
        self._expect(";")

    def _quoted(self, what: str) -> str:
        if self._next.kind != "quoted":
            self._fail(what)
        return self._take().text[1:-1]

    def _deeper(self, place: Place | None = None) -> None:
        """One level of nesting more, told of by the next place by default."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise PropertyError(
                place or self.place, f"nested more than {MAX_DEPTH} times"
            )

    def _name(self, what: str) -> str:
        if self._next.kind != "word" or self._next.text in WORDS:
            self._fail(f"the name of {what}", WORDS)
        return self._take().text

    # ---- operators, the weakest first ------------------------------------------------

    def _formula(self) -> Any:
        """A formula: until and its kin, then all that binds more tightly."""
        self._deeper()
        found = self._unary_path()
        token = self._next
        if self._in_path and self._is(*BINARY_PATHS):
            self._take()
            bound = self._bound()
            operands = (found, self._unary_path())
            found = Temporal(token.text, operands, bound, place=token.place)
            if self._is(*BINARY_PATHS):
                self._fail("parentheses around one of two operators")
        self._depth -= 1
        return found

    def _unary_path(self) -> Any:
        """Next, eventually, always: all that follows is theirs but for until."""
        token = self._next
        if not (self._in_path and self._is(*UNARY_PATHS)):
            return self._conditional()
        self._deeper(token.place)
        self._take()
        bound = self._bound()
        if bound is not None and token.text == "X":
            raise PropertyError(bound.place, "X takes no bound")
        found = Temporal(token.text, (self._unary_path(),), bound, place=token.place)
        self._depth -= 1
        return found

    def _bound(self) -> Bound | None:
        """Behind a temporal operator: when, in steps or by what has been earned."""
        place = self._next.place
        braces = self._took("^") is not None
        if braces:
            self._expect("{")
        short = self._is("{") and self._after().kind == "quoted"
        if not (short or self._is("rew") and (braces or self._after().text == "{")):
            if braces or self._is("{"):
                self._refuse(place, 'bounds other than ^{rew{"name"}<=5}')
            return self._range(None)
        earned = self._earned(short)
        found = self._range(earned)
        if found is None:
            self._fail("a bound, such as <=5")
        if self._is(",") and braces:
            self._refuse(self._next.place, "several bounds of one operator")
        if braces:
            self._expect("}")
        return found

    def _earned(self, short: bool) -> Earned:
        """Rewards by their name, with or without a word before it."""
        place = self._next.place
        if not short:
            self._take()
        return Earned(self._reward() if self._is("{") else None, place=place)

    def _range(self, earned: Earned | None) -> Bound | None:
        """From where to where; None where there is no bound."""
        token = self._next
        how: dict[str, Any] = {"earned": earned, "place": token.place}
        if self._took("["):
            first = self._sum()
            self._expect(",")
            last = self._sum()
            self._expect("]")
            return Bound(first, last, **how)
        if self._is("=", *_RELATIONS):
            self._take()
            value = self._bounding()
            if token.text == "=":
                return Bound(value, value, **how)
            if token.text in ("<", "<="):
                return Bound(None, value, (False, token.text == "<"), **how)
            return Bound(value, None, (token.text == ">", False), **how)
        return None

    def _bounding(self) -> Any:
        """A sum of numbers, names and what stands in parentheses, such as `T*3600`.

        What stands behind it may begin with a parenthesis: `F<=T (x=1)`.
        """
        token = self._next
        is_name = token.kind == "word" and (
            token.text not in WORDS or token.text in FUNCTIONS
        )
        if not (token.kind == "number" or is_name or self._is("(", "-")):
            self._fail("a number of steps: a number, a name, or an expression")
        outside, self._in_bound = self._in_bound, True
        found = self._sum()
        self._in_bound = outside
        return found

    def _conditional(self) -> Any:
        if self._is_alone(_PAST_FORMULAS):
            return self._atom()
        found = self._chain("=>", "right", self._equivalent)
        token = self._next
        if not self._took("?"):
            return found
        yes = self._conditional()
        self._expect(":")
        return Operation("?", (found, yes, self._conditional()), place=token.place)

    def _equivalent(self) -> Any:
        return self._chain("<=>", "left", self._or)

    def _or(self) -> Any:
        return self._chain("|", "left", self._and)

    def _and(self) -> Any:
        return self._chain("&", "left", self._not)

    def _chain(self, sign: str, groups: str, operand: Any) -> Any:
        parts, places = [operand()], []
        while self._is(sign):
            token = self._take()
            if self._in_path and self._is(*UNARY_PATHS):
                found = _joined(sign, parts, places)
                return Operation(sign, (found, self._last_path()), place=token.place)
            if groups == "right":
                rest = self._chain(sign, groups, operand)
                return Operation(sign, (parts[0], rest), place=token.place)
            parts.append(operand())
            places.append(token.place)
        return _joined(sign, parts, places)

    def _last_path(self) -> Any:
        """A temporal operator behind another, as Storm takes it: if nothing follows."""
        token = self._next
        found = self._unary_path()
        if not self._is(")", "]", "||"):
            raise PropertyError(
                token.place, f"{token.text} needs parentheses around it here"
            )
        return found

    def _not(self) -> Any:
        token = self._next
        if not self._took("!"):
            return self._equal()
        if self._in_path and self._is(*UNARY_PATHS):
            return Operation("!", (self._last_path(),), place=token.place)
        self._deeper(token.place)
        found = Operation("!", (self._not(),), place=token.place)
        self._depth -= 1
        return found

    def _equal(self) -> Any:
        return self._compared(("=", "!="), self._ordered)

    def _ordered(self) -> Any:
        return self._compared(_RELATIONS, self._sum)

    def _compared(self, signs: tuple[str, ...], operand: Any) -> Any:
        found = operand()
        while self._is(*signs):
            token = self._take()
            found = Operation(token.text, (found, operand()), place=token.place)
        return found

    def _sum(self) -> Any:
        if self._is_alone(_PAST_SUMS):
            return self._atom()
        return self._compared(("+", "-"), self._product)

    def _product(self) -> Any:
        return self._compared(("*", "/"), self._power)

    def _power(self) -> Any:
        found = self._negative()
        token = self._next
        if self._took("^"):
            return Operation("^", (found, self._power()), place=token.place)
        return found

    def _negative(self) -> Any:
        token = self._next
        if self._took("-"):
            return Operation("negative", (self._negative(),), place=token.place)
        return self._atom()

    # ---- atoms -----------------------------------------------------------------------

    def _atom(self) -> Any:
        token = self._next
        if token.kind == "number":
            self._take()
            return Constant(self._number(token), place=token.place)
        if token.kind == "quoted":
            self._take()
            return Label(token.text[1:-1], place=token.place)
        if self._took("("):
            found = self._formula()
            self._expect(")")
            return found
        if self._is("<<"):
            return self._played()
        if token.kind != "word":
            self._fail("an expression")
        return self._word()

    def _number(self, token: Token) -> Fraction:
        """The value of a number, which is mostly one that was there before.

        Raises:
            PropertyError: it would take very many digits.
        """
        found = self._numbers.get(token.text)
        if found is None:
            found = self._numbers[token.text] = self._value_of(token)
        return found

    def _value_of(self, token: Token) -> Fraction:
        digits, _, exponent = token.text.lower().partition("e")
        if len(digits) + len(exponent) > MOST_DIGITS or (
            exponent and abs(int(exponent)) > MOST_DIGITS
        ):
            raise PropertyError(token.place, f"{quoted(token.text)} is too long")
        return Fraction(int(digits) if token.text.isdigit() else token.text)

    def _word(self) -> Any:
        token = self._next
        word = token.text
        if word in ("true", "false"):
            self._take()
            return Constant(word == "true", place=token.place)
        if word == "filter":
            return self._filter()
        if word == "multi":
            return self._multi()
        if OPERATOR.fullmatch(word) and (word[0] != "T" or self._asks()):
            return self._query()
        if word == "func" and self._after().text == "(":  # an old way to call one
            self._take()
            self._expect("(")
            function = self._take()
            self._expect(",")
            return self._called(function)
        if word in FUNCTIONS and self._after().text == "(":
            self._take()
            self._expect("(")
            return self._called(token)
        if word in _REFUSED:
            self._refuse(token.place, _REFUSED[word])
        if word in WORDS:
            self._fail("an expression")
        self._take()
        if not self._in_bound and self._took("("):
            return self._called(token)
        return Name(word, place=token.place)

    def _called(self, token: Token) -> Operation:
        """A function of what follows, up to the parenthesis that ends it."""
        if token.text not in FUNCTIONS:
            meant = guess(token.text, FUNCTIONS)
            raise PropertyError(
                token.place, f"there is no function {quoted(token.text)}{meant}"
            )
        operands = [self._formula()]
        while self._took(","):
            operands.append(self._formula())
        self._expect(")")
        wanted = FUNCTIONS[token.text]
        if wanted is not None and len(operands) != wanted:
            raise PropertyError(
                token.place,
                f"{token.text} takes {wanted} argument{'s' * (wanted > 1)}, got "
                f"{len(operands)}",
            )
        return Operation(token.text, tuple(operands), place=token.place)

    def _filter(self) -> Filter:
        token = self._take()
        self._expect("(")
        kind = self._next
        names = {"&": "forall", "|": "exists", "+": "sum"}
        operator = names.get(kind.text, kind.text)
        if operator not in FILTERS:
            meant = guess(kind.text, FILTERS)
            self._fail(f"a kind of filter{meant}: {', '.join(FILTERS)}")
        self._take()
        self._expect(",")
        outside, self._in_path = self._in_path, False
        operand = self._formula()
        states = self._formula() if self._took(",") else None
        self._in_path = outside
        self._expect(")")
        return Filter(operator, operand, states, place=token.place)

    def _multi(self) -> Multi:
        token = self._take()
        self._expect("(")
        objectives = [self._objective()]
        while self._took(","):
            objectives.append(self._objective())
        self._expect(")")
        return Multi(tuple(objectives), place=token.place)

    def _asks(self) -> bool:
        """Whether `=?` follows: Storm's T may be a variable, too."""
        return [token.text for token in self._tokens[-3:-1]] == ["?", "="]

    def _objective(self) -> Query:
        return self._queried("an objective: P or R")

    def _queried(self, what: str) -> Query:
        if self._next.kind != "word" or not OPERATOR.fullmatch(self._next.text):
            self._fail(what)
        return self._query()

    def _played(self) -> Query:
        """What a coalition of players wants."""
        token = self._take()
        numbers = []
        while not self._is(">>"):
            if numbers and not self._took(","):
                self._fail("',' or '>>'")
            number = self._next
            if number.kind != "number" or not number.text.isdigit():
                self._fail("the number of a player, from 0 on")
            numbers.append(int(self._number(self._take())))
        self._take()
        query = self._queried("P or R, of what the players want")
        who = tuple(sorted(set(numbers)))
        return dataclasses.replace(query, coalition=who, place=token.place)

    # ---- P, R, S ---------------------------------------------------------------------

    def _query(self) -> Query:
        token = self._take()
        match = OPERATOR.fullmatch(token.text)
        assert match is not None
        operator, optimum = match[1], match[2]
        operator = "LRA" if operator == "S" else operator
        reward = self._reward() if operator == "R" and self._is("{") else None
        while re.fullmatch("(min|max){1,2}", self._next.text) and not (
            len(optimum) >= 6
        ):
            optimum += self._take().text
        optima = tuple(re.findall("min|max", optimum))
        relation = threshold = None
        if self._took("="):
            self._expect("?")
        elif self._is(*_RELATIONS):
            relation = self._take().text
            outside, self._in_path = self._in_path, False
            threshold = self._sum()
            self._in_path = outside
        else:
            self._fail("'=?' or a bound, such as >=0.5")
        self._expect("[")
        outside, self._in_path = self._in_path, True
        path, condition = self._body(operator)
        self._in_path = outside
        self._expect("]")
        how = {"reward": reward, "condition": condition, "place": token.place}
        how["word"] = match[1]
        return Query(operator, path, optima, relation, threshold, **how)

    def _reward(self) -> str:
        self._take()
        token = self._next
        if token.kind not in ("quoted", "number"):
            self._fail("the name of rewards in quotes, or their number")
        self._take()
        if self._is("/"):
            self._refuse(self._next.place, "ratios of rewards")
        self._expect("}")
        return token.text.strip('"')

    def _body(self, operator: str) -> tuple[Any, Any]:
        """What stands in brackets, and behind `||`."""
        token = self._next
        if operator == "T" and not self._is("F"):
            self._fail("F, before which time is counted")
        if operator in ("T", "R"):
            return self._rewarded(), None
        path = self._formula()
        if operator == "LRA":
            if is_path(path):
                raise PropertyError(
                    token.place, "expected a property of states, found one of paths"
                )
            return path, None
        if not is_path(path):
            raise PropertyError(
                token.place,
                f"{quoted(str(path))} is a property of states: expected one of paths, "
                "such as F, G, X or U",
            )
        if not self._took("||"):
            return path, None
        return path, self._formula()

    def _rewarded(self) -> Any:
        """What is asked of rewards."""
        token = self._next
        place = token.place
        if self._is("C", "Cdiscount"):
            return self._cumulative()
        if self._took("I"):
            self._expect("=")
            return Instantaneous(self._sum(), place=place)
        if self._took("S", "LRA"):
            return LongRun(token.text, place=place)
        if self._is("Fc", "F0"):
            self._refuse(place, f"{token.text}: F is the reward that never comes")
        if not self._is("F"):
            self._fail("F, C, I= or LRA")
        path = self._formula()
        if not isinstance(path, Temporal) or is_path(path.operands[0]):
            self._refuse(place, "rewards of paths: only F of a property of states")
        if path.bound is not None:
            self._refuse(path.bound.place, "rewards before a target with a bound")
        return path

    def _cumulative(self) -> Cumulative:
        token = self._take()
        steps = discount = None
        if token.text == "Cdiscount":
            self._expect("=")
            return Cumulative(None, self._sum(), place=token.place)
        if self._is("<=", "<"):
            strict = self._take().text == "<"
            steps = self._sum()
            if strict:
                one = Constant(Fraction(1), place=token.place)
                steps = Operation("-", (steps, one), place=token.place)
        if self._took("discount"):
            self._expect("=")
            discount = self._sum()
        return Cumulative(steps, discount, place=token.place)
