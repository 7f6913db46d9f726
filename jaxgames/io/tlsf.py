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

With semantics of finite words (`SEMANTICS: Mealy,Finite`) the system decides when the
word ends, and it must be right then. For that there is one more output, `alive`, which
holds in all letters of the word and not in the first one behind it. `X` also holds in
the last letter, and `X[!]` does not.

References:
    Jacobs, Klein and Schirmer, A high-level LTL synthesis format: TLSF v1.1, SYNT 2016,
    doi:10.4204/EPTCS.229.10.
    Jacobs, Pérez and Schlehuber-Caissier, The temporal logic synthesis format TLSF
    v1.2, 2023, arXiv:2303.03839.
"""

from collections.abc import Mapping
from typing import NamedTuple

from jaxgames.io._files import FilePath, FormatError, write_text
from jaxgames.io._tlsf_expressions import Expressions, Function, Node
from jaxgames.io._tlsf_finite import on_finite_words
from jaxgames.io._tlsf_formulas import (
    TRUE,
    always,
    both,
    either,
    implies,
    matching,
    until,
)
from jaxgames.io._tlsf_tokens import NAME, RESERVED, SECTIONS, Token
from jaxgames.io._tlsf_values import Bus, Constant, Values
from jaxgames.io._tokens import read_text
from jaxgames.ltl import Formula
from jaxgames.quoting import quoted
from jaxgames.synth import Decomposition, Specification

HOLDS = Specification
"""What `load` returns and `save` takes."""

MAX_TEXT = 1 << 24
"""Characters of a formula that is written."""


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


def decomposition(
    path: FilePath,
    *,
    parameters: Mapping[str, int] | None = None,
    moore: bool = False,
) -> Decomposition:
    """Reads the specification of a file, and takes it apart; makes no automaton.

    Args:
        path: as for `load`.
        parameters: likewise.
        moore: whether the system goes first, whatever the file says.

    Raises:
        FormatError: as in `load`.
        OSError: the file cannot be read.
    """
    text = parse(path, read_text(path), parameters=parameters)
    return Decomposition.from_ltl(
        text.formula, text.inputs, text.outputs, moore=moore or text.moore
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
    write_text(path, dumps(specification))


def dumps(specification: Specification) -> str:
    """The text of a specification that was made of a formula.

    Raises:
        ValueError: it was not, or a name is none in the format.
    """
    if specification.formula is None:
        raise ValueError(
            "a .tlsf file holds a formula, and this specification is an automaton: "
            "write an .ehoa file"
        )
    for name in (*specification.inputs, *specification.outputs):
        if not NAME.fullmatch(name) or name in RESERVED:
            raise ValueError(f"TLSF cannot have a signal named {quoted(name)}")
    kind = "Moore" if specification.moore else "Mealy"
    return (
        f'INFO {{\n  TITLE: ""\n  DESCRIPTION: ""\n  SEMANTICS: {kind}\n'
        f"  TARGET: {kind}\n}}\nMAIN {{\n"
        f"  INPUTS {{ {' '.join(f'{x};' for x in specification.inputs)} }}\n"
        f"  OUTPUTS {{ {' '.join(f'{x};' for x in specification.outputs)} }}\n"
        f"  GUARANTEES {{ {_written(specification.formula)}; }}\n}}\n"
    )


def _written(formula: Formula) -> str:
    """A formula as the format has it, all in parentheses, if it is not too long."""
    known: dict[int, str] = {}
    for part in formula.parts():
        text = _one_written(part, [known[id(x)] for x in part.operands])
        if len(text) > MAX_TEXT:
            raise ValueError(
                f"the formula takes more than {MAX_TEXT} characters to write"
            )
        known[id(part)] = text
    return known[id(formula)]


def _one_written(formula: Formula, parts: list[str]) -> str:
    """The text of a formula, given those of its operands."""
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


class _Reader(Expressions):
    """Reads a text from its first token to the last."""

    def __init__(self, path: FilePath, text: str):
        super().__init__(path, text)
        self._values = Values(self.scope, self.refuse)
        self._enums: dict[str, int] = {}
        self._codes: dict[str, list[str]] = {}
        self._signals: dict[str, list[str]] = {"INPUTS": [], "OUTPUTS": []}
        self._buses: list[tuple[str, Bus]] = []
        self._parts: dict[str, list[Formula]] = {x: [] for x in SECTIONS.values()}
        self._info: dict[str, str] = {}

    def read(self, parameters: dict[str, int]) -> Text:
        self.expect("INFO")
        self._read_info()
        if self.next.text == "GLOBAL":
            self.take()
            for _ in self.braced():
                section = self.take()
                if section.text == "PARAMETERS":
                    self._read_parameters(parameters)
                elif section.text == "DEFINITIONS":
                    self._read_definitions()
                else:
                    self.fail("PARAMETERS or DEFINITIONS", section)
        for name in parameters:
            raise FormatError(self._path, None, f"there is no parameter {quoted(name)}")
        self.expect("MAIN")
        for _ in self.braced():
            section = self.take()
            if section.text in self._signals:
                self._read_signals(section.text)
            elif section.text in SECTIONS:
                self._read_section(SECTIONS[section.text])
            else:
                self.fail("a section such as INPUTS or GUARANTEES", section)
        if self.next.kind != "end":
            self.fail("the end")
        return self._text_of()

    def _read_info(self) -> None:
        for _ in self.braced():
            name = self.take()
            self.expect(":")
            words = []
            while self.next.text != "}" and not (words and self._names_another()):
                words.append(self.take().text)
            self._info[name.text] = " ".join(words)
        words = self._info.get("SEMANTICS", "Mealy").replace(",", " ").lower().split()
        target = self._info.get("TARGET", "Mealy").replace(",", " ").lower().split()
        for found in (words, target):
            for word in found:
                if word not in ("mealy", "moore", "strict", "finite"):
                    self.refuse(f"there are no {quoted(word)} semantics", self.next)
        self._values.finite = "finite" in words
        if "strict" in target and "strict" not in words:
            self.refuse("a strict target needs strict semantics", self.next)
        self._strict, self._moore = "strict" in words, "moore" in words

    def _names_another(self) -> bool:
        """Whether a colon follows: what is next is a name, and no word of a value."""
        after = self._tokens[self._at + 1 : self._at + 2]
        return bool(after) and after[0].text == ":"

    def _read_parameters(self, given: dict[str, int]) -> None:
        for _ in self.braced():
            name = self.name("the name of a parameter")
            self.expect("=")
            value = self._number_at(name)
            self.scope[name.text] = given.pop(name.text, value)
            self._semicolon()

    def _read_definitions(self) -> None:
        for _ in self.braced():
            if self.next.text == "enum":
                self._read_enum()
                continue
            name = self.name("the name of a definition")
            parameters = []
            if self.next.text == "(":
                self.take()
                while self.next.text != ")":
                    parameters.append(self.name("the name of a parameter").text)
                    if self.next.text != ")":
                        self.expect(",")
                self.take()
            self.expect("=")
            cases: list[tuple[Node | None, Node]] = []
            while self.next.text not in (";", "}"):
                guard = None
                if self.next.text == "otherwise":
                    self.take()
                    self.expect(":")
                    found = self.expression()
                else:
                    found = self.expression()
                    if self.next.text == ":":
                        self.take()
                        guard, found = found, self.expression()
                cases.append((guard, found))
            if not cases:
                self.fail("an expression")
            self._semicolon()
            self.scope[name.text] = Function(tuple(parameters), tuple(cases))

    def _read_enum(self) -> None:
        self.take()
        name = self.name("the name of an enumeration")
        self.expect("=")
        self._codes[name.text] = []
        while self.next.kind == "name":
            value = self.take()
            self.expect(":")
            patterns = [self._pattern()]
            while self.next.text == ",":
                self.take()
                patterns.append(self._pattern())
            width = self._enums.setdefault(name.text, len(patterns[0]))
            if any(len(pattern) != width for pattern in patterns):
                self.refuse(f"the values of an enumeration have {width} bits", value)
            self._codes[name.text] += patterns
            self.scope[value.text] = Constant(name.text, tuple(patterns))
        if name.text not in self._enums:
            self.fail("a value of the enumeration")
        self._semicolon()

    def _pattern(self) -> str:
        text = ""
        while self.next.kind == "number" or self.next.text == "*":
            text += self.take().text
        if not text or text.strip("01*"):
            self.fail("bits, such as 01*")
        return text

    def _read_signals(self, kind: str) -> None:
        for _ in self.braced():
            name, enum, size = self.name("the name of a signal"), "", None
            if self.next.kind == "name":
                enum = name.text
                if enum not in self._enums:
                    self.refuse(f"there is no enumeration {quoted(enum)}", name)
                name, size = self.take(), self._enums[enum]
            elif self.next.text == "[":
                self.take()
                size = self._values.number(
                    self._values.value(self.expression(), {}), name
                )
                self.expect("]")
                if not 0 <= size <= 4096:
                    self.refuse(f"a bus has 0 to 4096 signals, not {size}", name)
            self._semicolon()
            if name.text in self.scope:
                self.refuse(f"{quoted(name.text)} is already defined", name)
            if size is None:
                names = [name.text]
                self.scope[name.text] = Formula("name", name=name.text)
            else:
                names = [f"{name.text}_{i}" for i in range(size)]
                bus = Bus(name.text, size, enum)
                self.scope[name.text] = bus
                if enum:
                    self._buses.append((kind, bus))
            for signal in names:
                if signal in self._signals["INPUTS"] + self._signals["OUTPUTS"]:
                    self.refuse(f"there are two signals {quoted(signal)}", name)
            self._signals[kind] += names

    def _read_section(self, name: str) -> None:
        for _ in self.braced():
            node = self.expression()
            self._parts[name].append(
                self._values.formula(self._values.value(node, {}), node)
            )
            self._semicolon()

    def _number_at(self, place: Token) -> int:
        return self._values.number(self._values.value(self.expression(), {}), place)

    def _semicolon(self) -> None:
        """The last one of a section may be missing."""
        if self.next.text != "}":
            self.expect(";")

    def _text_of(self) -> Text:
        parts = {name: both(found) for name, found in self._parts.items()}
        for kind, bus in self._buses:
            name = "require" if kind == "INPUTS" else "assert"
            used = either(matching(bus.name, p) for p in self._codes[bus.enum])
            parts[name] = both([parts[name], used])
        require, invariant = parts["require"], parts["assert"]
        given = both([always(require), parts["assume"]])
        if self._strict:
            first = TRUE if invariant == TRUE else until(invariant, require)
            goal = both([first, implies(given, parts["guarantee"])])
        else:
            goal = implies(given, both([always(invariant), parts["guarantee"]]))
        formula = implies(parts["initially"], both([parts["preset"], goal]))
        inputs, outputs = self._signals["INPUTS"], self._signals["OUTPUTS"]
        if self._values.finite:
            alive = "alive"
            while alive in inputs + outputs:
                alive += "_"
            formula, outputs = on_finite_words(formula, alive), [*outputs, alive]
        return Text(formula, tuple(inputs), tuple(outputs), self._moore)
