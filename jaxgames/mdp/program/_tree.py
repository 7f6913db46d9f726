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
    """A constant."""

    name: str
    kind: str  # `"int"`, `"double"` or `"bool"`
    value: Any = None  # an expression; None where it has none yet


@dataclasses.dataclass(frozen=True)
class Variable(Node):
    """A variable of a module, or a global one."""

    name: str
    low: Any = None  # the least value, an expression; None for a truth value
    high: Any = None  # the largest, likewise
    initial: Any = None  # the first value, an expression; None for the least, or false


@dataclasses.dataclass(frozen=True)
class Assignment(Node):
    """What a variable becomes."""

    name: str  # the variable
    value: Any  # an expression


@dataclasses.dataclass(frozen=True)
class Update(Node):
    """One of the ways in which a command may end."""

    probability: Any  # or a rate: an expression
    assignments: tuple[Assignment, ...]  # what it changes


@dataclasses.dataclass(frozen=True)
class Command(Node):
    """What may happen."""

    action: str  # what it is called; empty for no name
    guard: Any  # when, an expression
    updates: tuple[Update, ...]  # what comes of it


@dataclasses.dataclass(frozen=True)
class Module(Node):
    """A part of the system."""

    name: str
    variables: tuple[Variable, ...]  # its own
    commands: tuple[Command, ...]  # in order


@dataclasses.dataclass(frozen=True)
class Renamed(Node):
    """A module that is as another one, under other names."""

    name: str
    base: str  # the other one
    # The new names of variables, actions and constants, by the old ones.
    names: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Reward(Node):
    """What is earned somewhere."""

    # Of which choices, empty for those without name; None for states.
    action: str | None
    guard: Any  # where
    value: Any  # how much


@dataclasses.dataclass(frozen=True)
class Rewards(Node):
    """A reward structure."""

    name: str  # empty for none
    items: tuple[Reward, ...]  # what is earned, which adds up


@dataclasses.dataclass(frozen=True)
class Part(Node):
    """A module within a composition."""

    name: str


@dataclasses.dataclass(frozen=True)
class Composed(Node):
    """Several parts side by side."""

    parts: tuple[Any, ...]  # modules, or compositions again
    # The actions that they do together; None for all that they have in common.
    shared: frozenset[str] | None = None


@dataclasses.dataclass(frozen=True)
class Relabelled(Node):
    """A composition some of whose actions have other names."""

    part: Any  # a module or a composition
    names: dict[str, str]  # new names by old ones; the empty one hides an action


@dataclasses.dataclass(frozen=True)
class Source:
    """All that a text declares."""

    kind: str  # `"dtmc"`, `"mdp"` or `"ctmc"`
    constants: tuple[Declared, ...]  # in order
    formulas: dict[str, Any]  # expressions by name
    labels: dict[str, Any]  # expressions by name
    globals: tuple[Variable, ...]  # variables of no module
    modules: tuple[Module | Renamed, ...]  # and those that are renamed
    rewards: tuple[Rewards, ...]  # reward structures
    # Which states are initial, an expression; None where variables say so.
    start: Any = None
    system: Any = None  # how modules are composed; None for side by side
