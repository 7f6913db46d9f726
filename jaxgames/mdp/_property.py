"""Properties: what is asked of a model, as objects that print as PRISM writes."""

import dataclasses
import functools
from fractions import Fraction
from typing import Any, NamedTuple

UNARY_PATHS = ("X", "F", "G")
BINARY_PATHS = ("U", "W", "R")

RANKS = {
    **{"U": 0, "W": 0, "R": 0, "X": 1, "F": 1, "G": 1, "?": 2, "=>": 3, "<=>": 4},
    **{"|": 5, "&": 6, "!": 7, "=": 8, "!=": 8, "<": 9, "<=": 9, ">": 9, ">=": 9},
    **{"+": 10, "-": 10, "*": 11, "/": 11, "^": 12, "negative": 13},
}
"""How tightly an operator binds; what is not here needs no parentheses."""

FUNCTIONS = {
    **{"min": None, "max": None, "floor": 1, "ceil": 1, "round": 1},
    **{"pow": 2, "mod": 2, "log": 2},
}
"""Functions of PRISM, and how many arguments they take; None for one or more."""

FILTERS = (
    *("min", "max", "sum", "avg", "count", "first", "range", "forall", "exists"),
    *("state", "print", "printall", "argmin", "argmax"),
)
"""What a filter may make of the values of some states."""


class Place(NamedTuple):
    """Where something stands in a text, counted from 1."""

    line: int = 1
    column: int = 1


class PropertyError(ValueError):
    """A text is no property, or asks for something that the model does not have.

    Attributes:
        place: the line and the column where it goes wrong.
        message: what was expected and what was found.

    Examples:
        >>> str(PropertyError(Place(2, 5), "expected ']'"))
        "line 2, column 5: expected ']'"
    """

    def __init__(self, place: Place, message: str):
        super().__init__(place, message)
        self.place = place
        self.message = message

    def __str__(self) -> str:
        return f"line {self.place.line}, column {self.place.column}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Node:
    """A part of a property.

    Attributes:
        place: where it stands; equal parts may stand in different places.
    """

    place: Place = dataclasses.field(
        default=Place(), compare=False, repr=False, kw_only=True
    )


@dataclasses.dataclass(frozen=True)
class Constant(Node):
    """A number or a truth value.

    Attributes:
        value: a bool, or an exact number.
    """

    value: bool | Fraction

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return str(self.value).lower()
        return decimal(self.value)


@dataclasses.dataclass(frozen=True)
class Label(Node):
    """A set of states by its name."""

    name: str

    def __str__(self) -> str:
        return f'"{self.name}"'


@dataclasses.dataclass(frozen=True)
class Name(Node):
    """A variable of the model, or a constant."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclasses.dataclass(frozen=True)
class Operation(Node):
    """An operator or a function of values.

    Attributes:
        operator: `! | & => <=>`, `= != < <= > >=`, `+ - * / ^`, `negative`, `?` (of
            three), or the name of a function.
        operands: one or more.
    """

    operator: str
    operands: tuple[Any, ...]

    def __str__(self) -> str:
        operator, operands = self.operator, self.operands
        if operator not in RANKS:
            return f"{operator}({', '.join(map(str, operands))})"
        own = RANKS[operator]
        if operator == "?":
            test, yes, no = (enclosed(x, own + 1) for x in operands)
            return f"{test} ? {yes} : {no}"
        if operator == "negative":
            return "-" + enclosed(operands[0], own)
        if operator == "!":
            return "!" + enclosed(operands[0], own)
        first, second = enclosed(operands[0], own), enclosed(operands[1], own + 1)
        space = "" if own in (8, 9, 11, 12) else " "
        return f"{first}{space}{operator}{space}{second}"


@dataclasses.dataclass(frozen=True)
class Earned(Node):
    """What has been earned so far, where a bound counts that.

    Attributes:
        name: of the rewards; None for the only ones.
    """

    name: str | None = None

    def __str__(self) -> str:
        return "rew" if self.name is None else f'rew{{"{self.name}"}}'


@dataclasses.dataclass(frozen=True)
class Bound(Node):
    """From which step to which: `lower` and `upper` count, unless they are strict.

    Attributes:
        lower: an expression, or None.
        upper: an expression, or None.
        strict: of each of both, whether the number itself is out.
        earned: what is counted in the place of steps, or of time; None for these.
    """

    lower: Any = None
    upper: Any = None
    strict: tuple[bool, bool] = (False, False)
    earned: Earned | None = None

    def __str__(self) -> str:
        if self.earned is not None:
            return f"^{{{self.earned}{dataclasses.replace(self, earned=None)}}}"
        if self.lower is not None and self.upper is not None:
            if self.lower == self.upper:
                return f"={_atom(self.lower)}"
            return f"[{self.lower},{self.upper}]"
        if self.lower is not None:
            return f"{'>' if self.strict[0] else '>='}{_atom(self.lower)}"
        return f"{'<' if self.strict[1] else '<='}{_atom(self.upper)}"


@dataclasses.dataclass(frozen=True)
class Temporal(Node):
    """What a path shall do.

    Attributes:
        operator: one of `X F G` of one operand, or of `U W R` of two.
        operands: properties of states, or of paths again.
        bound: when, in steps or by what has been earned; None for whenever.
    """

    operator: str
    operands: tuple[Any, ...]
    bound: Bound | None = None

    def __str__(self) -> str:
        sign = self.operator + ("" if self.bound is None else str(self.bound))
        own = RANKS[self.operator] + (len(self.operands) > 1)
        *first, last = (enclosed(x, own) for x in self.operands)
        if self.bound is not None and last.startswith("-"):
            last = f"({last})"  # which the bound would take for its own
        return " ".join([*first, sign, last])


@dataclasses.dataclass(frozen=True)
class Cumulative(Node):
    """All rewards on the way: of the first steps, or of all.

    Attributes:
        steps: how many, an expression; None for all.
        discount: what a step is worth beside the one before it; None for the same.
    """

    steps: Any = None
    discount: Any = None

    def __str__(self) -> str:
        found = "C" if self.steps is None else f"C<={self.steps}"
        return found if self.discount is None else f"{found} discount={self.discount}"


@dataclasses.dataclass(frozen=True)
class Instantaneous(Node):
    """The reward of the state after some steps.

    Attributes:
        time: how many, an expression.
    """

    time: Any

    def __str__(self) -> str:
        return f"I={self.time}"


@dataclasses.dataclass(frozen=True)
class LongRun(Node):
    """The reward of a step on average, in the long run.

    Attributes:
        word: how it was written, `LRA` or `S`.
    """

    word: str = dataclasses.field(default="LRA", compare=False, repr=False)

    def __str__(self) -> str:
        return self.word


@dataclasses.dataclass(frozen=True)
class Query(Node):
    """How likely a path is, how much it costs, or how often a state is met.

    Attributes:
        operator: `P`, `R`, `LRA` (how often; PRISM writes `S`), or Storm's `T` (how
            long it takes).
        path: what is asked for: of paths, of rewards, or of states.
        optimum: `()`, or `("min",)` or `("max",)`; a second word is nature's.
        relation: `< <= > >=`, or None where the number itself is asked for.
        threshold: what it is compared with, an expression; None likewise.
        reward: the name of the rewards; None for the only ones.
        condition: what is known to happen, of paths; None for nothing.
        coalition: of a game, the players who want that together; None for no game.
        word: how the operator was written; None for as it is called here.
    """

    operator: str
    path: Any
    optimum: tuple[str, ...] = ()
    relation: str | None = None
    threshold: Any = None
    reward: str | None = None
    condition: Any = None
    coalition: tuple[int, ...] | None = None
    word: str | None = dataclasses.field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        who = (
            ""
            if self.coalition is None
            else f"<<{','.join(map(str, self.coalition))}>>"
        )
        name = "" if self.reward is None else f'{{"{self.reward}"}}'
        asked = "=?" if self.relation is None else f"{self.relation}{self.threshold}"
        more = "" if self.condition is None else f" || {self.condition}"
        head = f"{who}{self.word or self.operator}{name}{''.join(self.optimum)}{asked}"
        return f"{head} [ {self.path}{more} ]"


@dataclasses.dataclass(frozen=True)
class Filter(Node):
    """One value for the values of some states.

    Attributes:
        operator: one of `FILTERS`.
        operand: what is asked of each state.
        states: which of them; None for all.
    """

    operator: str
    operand: Any
    states: Any = None

    def __str__(self) -> str:
        more = "" if self.states is None else f", {self.states}"
        return f"filter({self.operator}, {self.operand}{more})"


@dataclasses.dataclass(frozen=True)
class Multi(Node):
    """Several objectives at once.

    Attributes:
        objectives: queries.
    """

    objectives: tuple[Any, ...]

    def __str__(self) -> str:
        return f"multi({', '.join(map(str, self.objectives))})"


@dataclasses.dataclass(frozen=True)
class Property:
    """A question about a model, in PRISM's language.

    Attributes:
        formula: what is asked.
        name: what it is called, or None.
        constants: expressions by name that go with it.
        labels: expressions by name that go with it.
        others: properties by name that it may refer to.

    Examples:
        >>> found = Property.parse('"soon": Pmax>=0.5 [ F<=20 "goal" & x>3 ]')
        >>> print(found)
        "soon": Pmax>=0.5 [ F<=20 "goal" & x>3 ]
        >>> found.formula.path.operator
        'F'
        >>> Property.parse("Pmax=? [ F ]")
        Traceback (most recent call last):
        jaxgames.mdp._property.PropertyError: line 1, column 12: expected an ...
    """

    formula: Any
    name: str | None = None
    constants: dict[str, Any] = dataclasses.field(
        default_factory=dict, compare=False, repr=False
    )
    labels: dict[str, Any] = dataclasses.field(
        default_factory=dict, compare=False, repr=False
    )
    others: dict[str, Any] = dataclasses.field(
        default_factory=dict, compare=False, repr=False
    )

    @staticmethod
    def parse(text: str) -> "Property":
        """Reads a property.

        It is PRISM's grammar; see the page on model checking of Markov decision
        processes for what of it is understood. `LRA` is understood for `S`, and
        Storm's `discount=` for discounted rewards.

        Args:
            text: the property, with a name before it or not.

        Raises:
            PropertyError: it is none, or there are several; tells line and column.
        """
        from jaxgames.mdp._property_parser import parse

        found = parse(text)
        if len(found) != 1:
            raise PropertyError(
                Place(), f"expected one property, found {len(found) or 'none'}"
            )
        return found[0]

    @staticmethod
    def parse_many(text: str) -> tuple["Property", ...]:
        r"""Reads the text of a file of properties.

        Properties are on lines of their own or end with `;`. Constants (`const int
        k = 5;`), labels (`label "near" = x<3;`) and comments (`// ...`) may stand
        between them; a property may refer to another by its name in quotes.

        Args:
            text: the text.

        Raises:
            PropertyError: telling line and column.

        Examples:
            >>> text = 'const int k = 5; // steps\n "a": Pmax=? [ F<=k x=1 ];\n x>2'
            >>> for found in Property.parse_many(text):
            ...     print(found)
            "a": Pmax=? [ F<=k x=1 ]
            x>2
        """
        from jaxgames.mdp._property_parser import parse

        return parse(text)

    @property
    def is_several(self) -> bool:
        """Whether it has several objectives: `multi(...)`."""
        return isinstance(self.formula, Multi)

    def __str__(self) -> str:
        name = "" if self.name is None else f'"{self.name}": '
        return f"{name}{self.formula}"


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> Property:
    """The property of a text, which is often that of the last call."""
    return Property.parse(text)


def as_property(asked: "Property | str") -> Property:
    """A property, parsed if it is a text; else raises ValueError."""
    if isinstance(asked, str):
        return _parsed(str(asked))
    if isinstance(asked, Property):
        return asked
    if isinstance(asked, Node):
        return Property(asked)
    raise ValueError(f"expected a property or its text, got {asked!r}")


def enclosed(node: Any, rank: int) -> str:
    """A part in parentheses, unless it binds as tightly as that."""
    operator = getattr(node, "operator", None)
    operates = isinstance(node, Operation | Temporal)
    own = RANKS.get(operator, 99) if operates and operator is not None else 99
    return f"({node})" if own < rank else str(node)


def decimal(number: Fraction) -> str:
    """A number as text that is read as the same number again."""
    if number.denominator == 1:
        return str(number.numerator)
    rest, digits = number.denominator, 0
    while rest != 1 and 10**digits % rest:
        digits += 1
        if digits > rest.bit_length():
            return f"({number.numerator}/{number.denominator})"
    scaled = str(abs(number.numerator) * 10**digits // rest).rjust(digits + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{scaled[:-digits]}.{scaled[-digits:]}"


def _atom(node: Any) -> str:
    """A bound in parentheses unless it is a number or a name."""
    plain = isinstance(node, Constant | Name)
    return str(node) if plain else f"({node})"


def is_path(node: Any) -> bool:
    """Whether it is a property of paths: a temporal operator is outside of queries."""
    if isinstance(node, Temporal):
        return True
    return isinstance(node, Operation) and any(map(is_path, node.operands))
