"""Programs in PRISM's language as they are written, before constants have values."""

import dataclasses
from typing import Any

from jaxgames.mdp._property import Node

KINDS = {
    **{"dtmc": "dtmc", "mdp": "mdp", "ctmc": "ctmc", "probabilistic": "dtmc"},
    **{"nondeterministic": "mdp", "stochastic": "ctmc"},
}
"""What a program says that it is, by old and new words."""


@dataclasses.dataclass(frozen=True)
class Declared(Node):
    """A constant.

    Attributes:
        name: its name.
        kind: `"int"`, `"double"` or `"bool"`.
        value: an expression; None where it has none yet.
    """

    name: str
    kind: str
    value: Any = None


@dataclasses.dataclass(frozen=True)
class Variable(Node):
    """A variable of a module, or a global one.

    Attributes:
        name: its name.
        low: the least value, an expression; None for a truth value.
        high: the largest, likewise.
        initial: the first value, an expression; None for the least, or false.
    """

    name: str
    low: Any = None
    high: Any = None
    initial: Any = None


@dataclasses.dataclass(frozen=True)
class Assignment(Node):
    """What a variable becomes.

    Attributes:
        name: the variable.
        value: an expression.
    """

    name: str
    value: Any


@dataclasses.dataclass(frozen=True)
class Update(Node):
    """One of the ways in which a command may end.

    Attributes:
        probability: or a rate: an expression.
        assignments: what it changes.
    """

    probability: Any
    assignments: tuple[Assignment, ...]


@dataclasses.dataclass(frozen=True)
class Command(Node):
    """What may happen.

    Attributes:
        action: what it is called; empty for no name.
        guard: when, an expression.
        updates: what comes of it.
    """

    action: str
    guard: Any
    updates: tuple[Update, ...]


@dataclasses.dataclass(frozen=True)
class Module(Node):
    """A part of the system.

    Attributes:
        name: its name.
        variables: its own.
        commands: in order.
    """

    name: str
    variables: tuple[Variable, ...]
    commands: tuple[Command, ...]


@dataclasses.dataclass(frozen=True)
class Renamed(Node):
    """A module that is as another one, under other names.

    Attributes:
        name: its name.
        base: the other one.
        names: the new names of variables, actions and constants, by the old ones.
    """

    name: str
    base: str
    names: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Reward(Node):
    """What is earned somewhere.

    Attributes:
        action: of which choices, empty for those without name; None for states.
        guard: where.
        value: how much.
    """

    action: str | None
    guard: Any
    value: Any


@dataclasses.dataclass(frozen=True)
class Rewards(Node):
    """A reward structure.

    Attributes:
        name: empty for none.
        items: what is earned, which adds up.
    """

    name: str
    items: tuple[Reward, ...]


@dataclasses.dataclass(frozen=True)
class Part(Node):
    """A module within a composition.

    Attributes:
        name: its name.
    """

    name: str


@dataclasses.dataclass(frozen=True)
class Composed(Node):
    """Several parts side by side.

    Attributes:
        parts: modules, or compositions again.
        shared: the actions that they do together; None for all that they have in
            common.
    """

    parts: tuple[Any, ...]
    shared: frozenset[str] | None = None


@dataclasses.dataclass(frozen=True)
class Relabelled(Node):
    """A composition some of whose actions have other names.

    Attributes:
        part: a module or a composition.
        names: new names by old ones; the empty one hides an action.
    """

    part: Any
    names: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Source:
    """All that a text declares.

    Attributes:
        kind: `"dtmc"`, `"mdp"` or `"ctmc"`.
        constants: in order.
        formulas: expressions by name.
        labels: expressions by name.
        globals: variables of no module.
        modules: and those that are renamed.
        rewards: reward structures.
        start: which states are initial, an expression; None where variables say so.
        system: how modules are composed; None for side by side.
    """

    kind: str
    constants: tuple[Declared, ...]
    formulas: dict[str, Any]
    labels: dict[str, Any]
    globals: tuple[Variable, ...]
    modules: tuple[Module | Renamed, ...]
    rewards: tuple[Rewards, ...]
    start: Any = None
    system: Any = None
