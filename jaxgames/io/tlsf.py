r"""Specifications in the temporal logic synthesis format, TLSF.

    INFO {
      TITLE:       "Two clients"
      DESCRIPTION: "An arbiter"
      SEMANTICS:   Mealy
      TARGET:      Mealy
    }
    GLOBAL { PARAMETERS { n = 2; } }
    MAIN {
      INPUTS { r[n]; }
      OUTPUTS { g[n]; }
      INVARIANTS { &&[0 <= i < n] (r[i] -> F g[i]); }
      GUARANTEES { G !(g[0] && g[1]); }
    }

What is read: all sections and their synonyms, strict semantics, parameters, functions
with alternatives, buses, sets, sums and products over ranges, bounded `X`, `F` and `G`,
and enumerations. Patterns (`~`) are refused. Bit `i` of a bus `r` is called `r_i`.

References:
    Jacobs, Klein and Schirmer, A high-level LTL synthesis format: TLSF v1.1, SYNT 2016,
    doi:10.4204/EPTCS.229.10.
"""

import itertools
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from jaxgames import limits
from jaxgames.io._files import FilePath, FormatError, writing
from jaxgames.io._tokens import read_text
from jaxgames.ltl import Formula
from jaxgames.quoting import quoted
from jaxgames.synth import Specification

HOLDS = Specification
"""What `load` returns and `save` takes."""

MAX_NODES = 1_000_000
"""Formulas that a specification may come to."""

MAX_RANGE = 100_000
"""Members that ranges may have together."""

MAX_CALLS = 150
"""Functions that may be called within one another."""

MAX_NESTED = 100
"""How deeply expressions may be nested."""

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

_NAME = re.compile(r"[A-Za-z_@][A-Za-z0-9_@']*")

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

_RESERVED = {"X", "F", "G", "U", "R", "W", "true", "false", "otherwise", "enum"}
_RESERVED |= {*_WORDS, "SIZEOF", "SIZE", "MIN", "MAX", "SUM", "PROD", *SECTIONS}

_LEVELS: list[tuple[tuple[str, ...], str]] = [
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
"""Operators of two operands, those that bind weakest first, and where `!` stands."""

_LEVEL_OF = {x: i for i, (texts, side) in enumerate(_LEVELS) for x in texts if side}

_UNARY = next(i for i, (_, side) in enumerate(_LEVELS) if not side)

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def load(
    path: FilePath, *, parameters: Mapping[str, int] | None = None
) -> Specification:
    """Reads the specification of a file, and makes its automaton.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.
        parameters: values in the place of those in the file.

    Raises:
        FormatError: the file is something else, or what it means is not read; tells the
            line and the column.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "echo.tlsf")
        >>> _ = path.write_text(
        ...     "INFO { SEMANTICS: Mealy TARGET: Mealy } MAIN { INPUTS { r; } "
        ...     "OUTPUTS { g; } GUARANTEES { G (r <-> g); } }"
        ... )
        >>> load(path)
        Specification(2 states, inputs r, outputs g)
    """
    text = parse(path, read_text(path), parameters=parameters)
    return Specification.from_ltl(
        text.formula, text.inputs, text.outputs, moore=text.moore
    )


def save(path: FilePath, specification: Specification) -> None:
    """Writes a specification that was made of a formula.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        specification: it.

    Raises:
        ValueError: it was not made of a formula, or a name is none in the format.
        OSError: the file cannot be written.
    """
    text = dumps(specification)
    with writing(path) as file:
        file.write(text.encode())


def dumps(specification: Specification) -> str:
    """The text of a specification that was made of a formula.

    Raises:
        ValueError: it was not, or a name is none in the format.
    """
    if specification.formula is None:
        raise ValueError(
            "a specification that is an automaton has no formula that a .tlsf file "
            "could hold: write an .ehoa file"
        )
    for name in (*specification.inputs, *specification.outputs):
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise ValueError(f"TLSF has no signal of the name {quoted(name)}")
    kind = "Moore" if specification.moore else "Mealy"
    return (
        f'INFO {{\n  TITLE: ""\n  DESCRIPTION: ""\n  SEMANTICS: {kind}\n'
        f"  TARGET: {kind}\n}}\nMAIN {{\n"
        f"  INPUTS {{ {' '.join(f'{x};' for x in specification.inputs)} }}\n"
        f"  OUTPUTS {{ {' '.join(f'{x};' for x in specification.outputs)} }}\n"
        f"  GUARANTEES {{ {_written(specification.formula)}; }}\n}}\n"
    )


def _written(formula: Formula) -> str:
    """A formula as the format has it, all in parentheses."""
    parts = [_written(x) for x in formula.operands]
    match formula.operator:
        case "true" | "false":
            return formula.operator
        case "name":
            return formula.name
        case "!" | "X" | "F" | "G":
            return f"({formula.operator} {parts[0]})"
        case "M":
            one, other = parts
            return f"({other} U ({one} && {other}))"
    sign = {"&": "&&", "|": "||"}.get(formula.operator, formula.operator)
    return f"({f' {sign} '.join(parts)})"


class Text(NamedTuple):
    """What a file says.

    Attributes:
        formula: what is asked.
        inputs: names of the propositions that the environment sets.
        outputs: names of those that the system sets.
        moore: whether the system goes first.
    """

    formula: Formula
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    moore: bool


def parse(
    path: FilePath, text: str, *, parameters: Mapping[str, int] | None = None
) -> Text:
    """Reads a text; makes no automaton.

    Raises:
        FormatError: as in `load`.

    Examples:
        >>> found = parse("x", '''INFO { SEMANTICS: Moore TARGET: Moore }
        ...   GLOBAL { PARAMETERS { n = 1; } } MAIN { INPUTS { r[n]; } OUTPUTS { g; }
        ...   ASSERT { r[0] -> X[2] g; } }''')
        >>> str(found.formula), found.inputs, found.moore
        ('G(r_0 -> X X g)', ('r_0',), True)
    """
    try:
        return _Reader(path, text).read(dict(parameters or {}))
    except RecursionError:
        message = "expressions or functions are nested too deeply"
        raise FormatError(path, None, message) from None


# ---- values --------------------------------------------------------------------


class _Token(NamedTuple):
    kind: str
    text: str
    place: int


class _Node(NamedTuple):
    """An expression: what it is, its parts, and where it stands."""

    kind: str
    parts: tuple
    place: int


class _Bus(NamedTuple):
    """Signals of one name; `enum` names the type, if there is one."""

    name: str
    size: int
    enum: str


class _Function(NamedTuple):
    """A definition: parameters, and pairs of a guard (None: any) and a value."""

    parameters: tuple[str, ...]
    cases: tuple[tuple[_Node | None, _Node], ...]


class _Constant(NamedTuple):
    """A value of an enumeration: what its bits may be."""

    enum: str
    patterns: tuple[str, ...]


TRUE, FALSE = Formula("true"), Formula("false")


class _Reader:
    """Reads a text from its first token to the last."""

    def __init__(self, path: FilePath, text: str):
        self._path = path
        self._text = text
        self._tokens = self._cut()
        self._at = 0
        self._depth = 0
        self._calls = 0
        self._count = 0
        self._scope: dict[str, Any] = {}
        self._enums: dict[str, int] = {}
        self._codes: dict[str, list[str]] = {}
        self._signals: dict[str, list[str]] = {"INPUTS": [], "OUTPUTS": []}
        self._buses: list[tuple[str, _Bus]] = []
        self._parts: dict[str, list[Formula]] = {x: [] for x in SECTIONS.values()}
        self._info: dict[str, str] = {}

    def read(self, parameters: dict[str, int]) -> Text:
        self._expect("INFO")
        self._read_info()
        if self._next.text == "GLOBAL":
            self._take()
            self._expect("{")
            while self._next.text != "}":
                section = self._take()
                if section.text == "PARAMETERS":
                    self._read_parameters(parameters)
                elif section.text == "DEFINITIONS":
                    self._read_definitions()
                else:
                    self._fail("PARAMETERS or DEFINITIONS", section)
            self._take()
        for name in parameters:
            raise FormatError(self._path, None, f"there is no parameter {quoted(name)}")
        self._expect("MAIN")
        self._expect("{")
        while self._next.text != "}":
            section = self._take()
            if section.text in self._signals:
                self._read_signals(section.text)
            elif section.text in SECTIONS:
                self._read_section(SECTIONS[section.text])
            else:
                self._fail("a section such as INPUTS or GUARANTEES", section)
        self._take()
        if self._next.kind != "end":
            self._fail("the end")
        return self._text_of()

    # ---- tokens

    def _cut(self) -> list[_Token]:
        found, at = [], 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if not match:
                self._refuse(
                    f"expected a token, found {quoted(self._text[at])}",
                    _Token("", "", at),
                )
            kind, text = match.lastgroup or "", match[0]
            if kind != "space":
                found.append(_Token(kind, _WORDS.get(text, text), at))
            at = match.end()
        return [*found, _Token("end", "", at)]

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._tokens[self._at]
        if token.kind == "end":
            self._fail("more")
        self._at += 1
        return token

    def _expect(self, text: str) -> _Token:
        if self._next.text != text:
            self._fail(f"'{text}'")
        return self._take()

    def _fail(self, expected: str, token: _Token | None = None) -> NoReturn:
        token = token or self._next
        found = quoted(token.text) if token.text else "the end"
        self._refuse(f"expected {expected}, found {found}", token)

    def _refuse(self, message: str, at: Any) -> NoReturn:
        before = self._text[: at.place]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise FormatError(self._path, line, f"column {column}: {message}")

    # ---- sections

    def _read_info(self) -> None:
        self._expect("{")
        while self._next.text != "}":
            name = self._take()
            self._expect(":")
            words = []
            while self._next.text != "}" and not (words and self._names_another()):
                words.append(self._take().text)
            self._info[name.text] = " ".join(words)
        self._take()
        words = self._info.get("SEMANTICS", "Mealy").replace(",", " ").lower().split()
        target = self._info.get("TARGET", "Mealy").replace(",", " ").lower().split()
        for found in (words, target):
            for word in found:
                if word not in ("mealy", "moore", "strict", "finite"):
                    self._refuse(f"there are no {quoted(word)} semantics", self._next)
        if "finite" in words:
            self._refuse("semantics of finite words are not read", self._next)
        if "strict" in target and "strict" not in words:
            self._refuse("a strict target needs strict semantics", self._next)
        self._strict, self._moore = "strict" in words, "moore" in words

    def _names_another(self) -> bool:
        """Whether a colon follows: what is next is a name, and no word of a value."""
        after = self._tokens[self._at + 1 : self._at + 2]
        return bool(after) and after[0].text == ":"

    def _read_parameters(self, given: dict[str, int]) -> None:
        self._expect("{")
        while self._next.text != "}":
            name = self._name("the name of a parameter")
            self._expect("=")
            value = self._number(self._value(self._expression(), {}), name)
            self._scope[name.text] = given.pop(name.text, value)
            self._semicolon()
        self._take()

    def _read_definitions(self) -> None:
        self._expect("{")
        while self._next.text != "}":
            if self._next.text == "enum":
                self._read_enum()
                continue
            name = self._name("the name of a definition")
            parameters = []
            if self._next.text == "(":
                self._take()
                while self._next.text != ")":
                    parameters.append(self._name("the name of a parameter").text)
                    if self._next.text != ")":
                        self._expect(",")
                self._take()
            self._expect("=")
            cases: list[tuple[_Node | None, _Node]] = []
            while self._next.text not in (";", "}"):
                guard = None
                if self._next.text == "otherwise":
                    self._take()
                    self._expect(":")
                    found = self._expression()
                else:
                    found = self._expression()
                    if self._next.text == ":":
                        self._take()
                        guard, found = found, self._expression()
                cases.append((guard, found))
            if not cases:
                self._fail("an expression")
            self._semicolon()
            self._scope[name.text] = _Function(tuple(parameters), tuple(cases))
        self._take()

    def _read_enum(self) -> None:
        self._take()
        name = self._name("the name of an enumeration")
        self._expect("=")
        self._codes[name.text] = []
        while self._next.kind == "name":
            value = self._take()
            self._expect(":")
            patterns = [self._pattern()]
            while self._next.text == ",":
                self._take()
                patterns.append(self._pattern())
            width = self._enums.setdefault(name.text, len(patterns[0]))
            if any(len(pattern) != width for pattern in patterns):
                self._refuse(f"the values of an enumeration have {width} bits", value)
            self._codes[name.text] += patterns
            self._scope[value.text] = _Constant(name.text, tuple(patterns))
        if name.text not in self._enums:
            self._fail("a value of the enumeration")
        self._semicolon()

    def _pattern(self) -> str:
        text = ""
        while self._next.kind == "number" or self._next.text == "*":
            text += self._take().text
        if not text or text.strip("01*"):
            self._fail("bits, such as 01*")
        return text

    def _read_signals(self, kind: str) -> None:
        self._expect("{")
        while self._next.text != "}":
            name, enum, size = self._name("the name of a signal"), "", None
            if self._next.kind == "name":
                enum = name.text
                if enum not in self._enums:
                    self._refuse(f"there is no enumeration {quoted(enum)}", name)
                name, size = self._take(), self._enums[enum]
            elif self._next.text == "[":
                self._take()
                size = self._number(self._value(self._expression(), {}), name)
                self._expect("]")
                if not 0 <= size <= 4096:
                    self._refuse(f"a bus of {size} signals", name)
            self._semicolon()
            if name.text in self._scope:
                self._refuse(f"{quoted(name.text)} is defined already", name)
            if size is None:
                names = [name.text]
                self._scope[name.text] = Formula("name", name=name.text)
            else:
                names = [f"{name.text}_{i}" for i in range(size)]
                bus = _Bus(name.text, size, enum)
                self._scope[name.text] = bus
                if enum:
                    self._buses.append((kind, bus))
            for signal in names:
                if signal in self._signals["INPUTS"] + self._signals["OUTPUTS"]:
                    self._refuse(f"there are two signals {quoted(signal)}", name)
            self._signals[kind] += names
        self._take()

    def _read_section(self, name: str) -> None:
        self._expect("{")
        while self._next.text != "}":
            node = self._expression()
            self._parts[name].append(self._formula(self._value(node, {}), node))
            self._semicolon()
        self._take()

    def _semicolon(self) -> None:
        """The last one of a section may be missing."""
        if self._next.text != "}":
            self._expect(";")

    def _text_of(self) -> Text:
        parts = {name: _both(found) for name, found in self._parts.items()}
        for kind, bus in self._buses:
            name = "require" if kind == "INPUTS" else "assert"
            used = _either(_matching(bus, p) for p in self._codes[bus.enum])
            parts[name] = _both([parts[name], used])
        require, always = parts["require"], parts["assert"]
        given = _both([_always(require), parts["assume"]])
        if self._strict:
            first = TRUE if always == TRUE else _until(always, require)
            goal = _both([first, _implies(given, parts["guarantee"])])
        else:
            goal = _implies(given, _both([_always(always), parts["guarantee"]]))
        formula = _implies(parts["initially"], _both([parts["preset"], goal]))
        inputs, outputs = self._signals["INPUTS"], self._signals["OUTPUTS"]
        return Text(formula, tuple(inputs), tuple(outputs), self._moore)

    # ---- expressions

    def _name(self, what: str) -> _Token:
        if self._next.kind != "name":
            self._fail(what)
        return self._take()

    def _expression(self, least: int = 0) -> _Node:
        """An expression whose operators bind at least as tightly as some level."""
        found = self._operand()
        while _LEVEL_OF.get(self._next.text, -1) >= least:
            token, level = self._next, _LEVEL_OF[self._next.text]
            side = _LEVELS[level][1]
            parts = [found]
            while self._next.text == token.text and (side == "chain" or len(parts) < 2):
                self._take()
                parts.append(self._expression(level + (side != "right")))
            found = _Node(token.text, tuple(parts), token.place)
        if least == 0 and self._next.text == "~":
            self._refuse("patterns are not read", self._next)
        return found

    def _nested(self, rule: Callable[[], _Node]) -> _Node:
        self._depth += 1
        if self._depth > MAX_NESTED:
            self._refuse(f"more than {MAX_NESTED} expressions nested", self._next)
        found = rule()
        self._depth -= 1
        return found

    def _operand(self) -> _Node:
        """What stands between operators; a sign before it takes what binds tighter."""
        token = self._next
        follows = self._tokens[min(self._at + 1, len(self._tokens) - 1)].text

        def inner() -> _Node:
            return self._nested(lambda: self._expression(_UNARY))

        if token.text == "!":
            self._take()
            return _Node("!", (inner(),), token.place)
        if token.kind == "name" and token.text in ("X", "F", "G"):
            self._take()
            if follows != "[":
                return _Node(token.text, (inner(),), token.place)
            self._take()
            bounds = [self._expression()]
            if self._next.text == ":":
                self._take()
                bounds.append(self._expression())
            self._expect("]")
            if (len(bounds) == 1) != (token.text == "X"):
                self._refuse("expected X[n], F[m:n] or G[m:n]", token)
            return _Node(f"{token.text}[]", (*bounds, inner()), token.place)
        if token.text in ("&&", "||") and follows == "[":
            return self._over_ranges(token, inner)
        return self._primary()

    def _over_ranges(self, token: _Token, inner: Callable[[], _Node]) -> _Node:
        self._take()
        self._expect("[")
        ranges = [self._range()]
        while self._next.text == ",":
            self._take()
            ranges.append(self._range())
        self._expect("]")
        return _Node(f"{token.text}[]", (tuple(ranges), inner()), token.place)

    def _range(self) -> tuple:
        above = _LEVEL_OF["=="] + 1
        first = self._expression(above)
        if self._next.text == "<-":
            self._take()
            if first.kind != "name":
                self._refuse("expected a name before IN", first)
            return first.parts[0], self._expression(above), None, None
        low = self._take()
        name = self._name("the name of an index")
        high = self._take()
        if low.text not in ("<", "<=") or high.text not in ("<", "<="):
            self._refuse("expected a range such as 0 <= i < n", low)
        last = self._expression(above)
        return name.text, (first, last), low.text == "<", high.text == "<"

    def _primary(self) -> _Node:
        token = self._take()
        if token.kind == "number":
            if len(token.text) > 9:
                self._refuse("the number is too large", token)
            return _Node("number", (int(token.text),), token.place)
        if token.text in ("true", "false"):
            return _Node(token.text, (), token.place)
        if token.text == "(":
            found = self._nested(self._expression)
            self._expect(")")
            return found
        if token.text == "{":
            return self._set(token)
        if token.text in ("+", "*", "(+)", "(*)") and self._next.text == "[":
            self._at -= 1
            return self._over_ranges(token, lambda: self._nested(self._primary))
        if token.text == "-":
            return _Node("negative", (self._nested(self._primary),), token.place)
        if token.text == "|":
            found = self._nested(self._expression)
            self._expect("|")
            return _Node("SIZE", (found,), token.place)
        if token.text in ("SIZEOF", "SIZE", "MIN", "MAX"):
            return _Node(token.text, (self._nested(self._primary),), token.place)
        if token.text in ("SUM", "PROD") and self._next.text == "[":
            self._at -= 1
            sign = _Token("sign", "+" if token.text == "SUM" else "*", token.place)
            return self._over_ranges(sign, lambda: self._nested(self._primary))
        if token.kind != "name" or token.text in ("U", "R", "W"):
            self._fail("an expression", token)
        found = _Node("name", (token.text,), token.place)
        is_function = isinstance(self._scope.get(token.text), _Function)
        behind = self._next.place == token.place + len(token.text)
        if self._next.text == "(" and (is_function or behind):
            found = self._call(token)
        while self._next.text == "[":
            self._take()
            index = self._nested(self._expression)
            self._expect("]")
            found = _Node("bit", (found, index), token.place)
        return found

    def _call(self, token: _Token) -> _Node:
        self._take()
        arguments = []
        while self._next.text != ")":
            arguments.append(self._nested(self._expression))
            if self._next.text != ")":
                self._expect(",")
        self._take()
        return _Node("call", (token.text, tuple(arguments)), token.place)

    def _set(self, token: _Token) -> _Node:
        members: list[_Node] = []
        rest: tuple[_Node, ...] = ()
        while self._next.text != "}":
            members.append(self._nested(self._expression))
            if self._next.text == "..":
                self._take()
                rest = (self._nested(self._expression),)
            elif self._next.text != "}":
                self._expect(",")
        self._take()
        return _Node("set", (tuple(members), rest), token.place)

    # ---- what expressions mean

    def _value(self, node: _Node, own: dict[str, Any]) -> Any:
        """A number, a set, a truth value, a formula, or a bus."""
        kind, parts = node.kind, node.parts
        self._count += 1
        limits.tick("reading", self._count, "formulas")
        if self._count > MAX_NODES:
            self._refuse(f"the text comes to more than {MAX_NODES} formulas", node)
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
                return -self._number(self._value(parts[0], own), node)
            case "SIZEOF":
                bus = self._value(parts[0], own)
                if not isinstance(bus, _Bus):
                    self._refuse("SIZEOF takes a bus", node)
                return bus.size
            case "SIZE" | "MIN" | "MAX":
                found = self._value(parts[0], own)
                if not isinstance(found, frozenset) or (kind != "SIZE" and not found):
                    self._refuse(f"{kind} takes a set that is not empty", node)
                return {"SIZE": len, "MIN": min, "MAX": max}[kind](found)
        if kind.endswith("[]"):
            return self._ranged(node, own)
        values = [self._value(part, own) for part in parts]
        if kind in ("+", "-", "*", "/", "%"):
            one, other = (self._number(value, node) for value in values)
            if kind in "/%" and other == 0:
                self._refuse("a division by zero", node)
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
        formulas = [self._formula(value, node) for value in values]
        return _joined(kind, formulas)

    def _look_up(self, name: str, own: dict[str, Any], node: _Node) -> Any:
        if name in own:
            return own[name]
        if name not in self._scope:
            self._refuse(f"there is nothing of the name {quoted(name)}", node)
        found = self._scope[name]
        if isinstance(found, _Function):
            return self._applied(found, (), node)
        return found

    def _called(self, node: _Node, own: dict[str, Any]) -> Any:
        name, arguments = node.parts
        found = self._scope.get(name)
        if not isinstance(found, _Function):
            self._refuse(f"there is no function {quoted(name)}", node)
        values = tuple(self._value(x, own) for x in arguments)
        return self._applied(found, values, node)

    def _applied(self, function: _Function, values: tuple, node: _Node) -> Any:
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
            holds = True if guard is None else self._value(guard, own)
            if not isinstance(holds, bool):
                self._refuse("a guard must be true or false", guard)
            if holds:
                chosen = value
                break
        if chosen is None:
            self._refuse("no alternative of the function applies", node)
        found = self._value(chosen, own)
        self._calls -= 1
        return found

    def _bit(self, node: _Node, own: dict[str, Any]) -> Formula:
        bus = self._value(node.parts[0], own)
        if not isinstance(bus, _Bus):
            self._refuse("only a bus has an index", node)
        index = self._number(self._value(node.parts[1], own), node)
        if not 0 <= index < bus.size:
            self._refuse(
                f"there is no signal {index} of {quoted(bus.name)}, which has "
                f"{bus.size}",
                node,
            )
        return Formula("name", name=f"{bus.name}_{index}")

    def _members(self, node: _Node, own: dict[str, Any]) -> frozenset:
        members, rest = node.parts
        values = [self._value(x, own) for x in members]
        if rest:
            last = self._number(self._value(rest[0], own), node)
            numbers = [self._number(x, node) for x in values[-2:]]
            step = numbers[1] - numbers[0] if len(numbers) == 2 else 1
            if step <= 0 or (last - numbers[-1]) // step > MAX_RANGE:
                self._refuse("expected a range such as {0, 1 .. n}", node)
            values += range(numbers[-1] + step, last + 1, step)
        return frozenset(values)

    def _ranged(self, node: _Node, own: dict[str, Any]) -> Any:
        kind = node.kind[:-2]
        if kind in ("X", "F", "G"):
            *bounds, inner = node.parts
            numbers = [self._number(self._value(x, own), node) for x in bounds]
            formula = self._formula(self._value(inner, own), node)
            if min(numbers) < 0 or max(numbers) > 1000:
                self._refuse("a bound must be from 0 to 1000", node)
            if kind == "X":
                return _later(formula, numbers[0])
            # From the last round back, so that what is shared is written once.
            low, high = numbers
            found = FALSE if kind == "F" else TRUE
            join = _either if kind == "F" else _both
            for _ in range(low, high + 1):
                found = join([formula, _later(found, 1)])
            return _later(found, low)
        ranges, inner = node.parts
        values = [self._value(inner, x) for x in self._bindings(ranges, own, node)]
        if kind in ("+", "*"):
            numbers = [self._number(x, node) for x in values]
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
        formulas = [self._formula(x, node) for x in values]
        return _both(formulas) if kind == "&&" else _either(formulas)

    def _bindings(self, ranges: tuple, own: dict[str, Any], node: _Node):
        """The scopes in which what stands behind ranges is meant."""
        scopes = [own]
        for name, bounds, after, before in ranges:
            wider = []
            for scope in scopes:
                if after is None:
                    members = self._value(bounds, scope)
                    if not isinstance(members, frozenset):
                        self._refuse("IN takes a set", node)
                    members = sorted(members, key=str)
                else:
                    low, high = (
                        self._number(self._value(x, scope), node) for x in bounds
                    )
                    members = range(low + after, high + (not before))
                if len(wider) + len(members) > MAX_RANGE:
                    self._refuse(f"ranges have more than {MAX_RANGE} members", node)
                wider += [{**scope, name: member} for member in members]
            scopes = wider
        return scopes

    def _compared(self, kind: str, values: list, node: _Node) -> Any:
        one, other = values
        if isinstance(one, _Constant):
            one, other = other, one
        if isinstance(other, _Constant) and kind in ("==", "!="):
            if not isinstance(one, _Bus) or one.enum != other.enum:
                self._refuse("only a signal of that enumeration has its values", node)
            found = _either(_matching(one, x) for x in other.patterns)
            return found if kind == "==" else Formula("!", (found,))
        if isinstance(one, frozenset) and isinstance(other, frozenset):
            return _COMPARED[kind](one, other)
        if isinstance(one, bool) and isinstance(other, bool):
            return _COMPARED[kind](one, other)
        return _COMPARED[kind](self._number(one, node), self._number(other, node))

    def _number(self, value: Any, at: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            self._refuse("expected a number", at)
        if abs(value) > 1 << 62:
            self._refuse("the number is too large", at)
        return value

    def _formula(self, value: Any, at: Any) -> Formula:
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


def _joined(kind: str, formulas: list[Formula]) -> Formula:
    if kind == "&&":
        return _both(formulas)
    if kind == "||":
        return _either(formulas)
    if kind == "->":
        return _implies(*formulas)
    return Formula(kind, tuple(formulas))


def _both(parts: Iterable[Formula]) -> Formula:
    return _chain("&", parts, TRUE, FALSE)


def _either(parts: Iterable[Formula]) -> Formula:
    return _chain("|", parts, FALSE, TRUE)


def _chain(sign: str, parts: Iterable[Formula], one: Formula, zero: Formula) -> Formula:
    flat = itertools.chain.from_iterable(
        x.operands if x.operator == sign else (x,) for x in parts
    )
    kept = [x for x in dict.fromkeys(flat) if x != one]
    if zero in kept:
        return zero
    if len(kept) < 2:
        return kept[0] if kept else one
    return Formula(sign, tuple(kept))


def _implies(one: Formula, other: Formula) -> Formula:
    if one == TRUE:
        return other
    if one == FALSE or other == TRUE:
        return TRUE
    return Formula("->", (one, other))


def _always(formula: Formula) -> Formula:
    return formula if formula in (TRUE, FALSE) else Formula("G", (formula,))


def _until(always: Formula, require: Formula) -> Formula:
    """It holds as long as what is required has held, and once more."""
    return Formula("W", (always, Formula("!", (require,))))


def _later(formula: Formula, count: int) -> Formula:
    if formula in (TRUE, FALSE):
        return formula
    for _ in range(count):
        formula = Formula("X", (formula,))
    return formula


def _matching(bus: _Bus, pattern: str) -> Formula:
    """That the signals of a bus are as a pattern of bits says."""
    found = []
    for i, bit in enumerate(pattern):
        name = Formula("name", name=f"{bus.name}_{i}")
        if bit != "*":
            found.append(name if bit == "1" else Formula("!", (name,)))
    return _both(found)
