"""A program whose constants have values: what can happen in a state, as functions."""

import dataclasses
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from jaxgames.mdp._property import Place, PropertyError
from jaxgames.mdp.program._expressions import (
    OpenConstantError,
    Scope,
    Typed,
    known,
    renamed,
)
from jaxgames.mdp.program._packed import Packed
from jaxgames.mdp.program._tree import (
    Assignment,
    Command,
    Composed,
    Module,
    Part,
    Relabelled,
    Renamed,
    Source,
    Update,
    Variable,
)
from jaxgames.quoting import clipped, guess, quoted

MOST_ALTERNATIVES = 1 << 16
"""Ways in which modules may do an action together."""

Alternative = tuple[tuple[int, str], ...]
"""Modules, by their numbers, and what each of them does of its own, at one time."""


class Change(NamedTuple):
    """What a variable becomes.

    Attributes:
        number: the variable.
        value: as a function.
        low: the least value that it may have.
        high: the largest, likewise.
        place: where that stands.
    """

    number: int
    value: Typed
    low: int
    high: int
    place: Place

    @property
    def may_leave(self) -> bool:
        """Whether the value may be out of range, as far as ranges tell."""
        if self.value.kind == "bool":
            return False
        return self.value.low < self.low or self.value.high > self.high


class Outcome(NamedTuple):
    """One of the ways in which a command may end."""

    probability: Typed
    changes: tuple[Change, ...]
    place: Place


class Ready(NamedTuple):
    """A command as functions."""

    guard: Typed
    outcomes: tuple[Outcome, ...]
    place: Place


class Earned(NamedTuple):
    """What is earned somewhere: in states, or by the choices of an action."""

    action: str | None
    guard: Typed
    value: Typed
    place: Place


@dataclasses.dataclass(frozen=True)
class Resolved:
    """A program that can be explored.

    Attributes:
        kind: `"dtmc"`, `"mdp"` or `"ctmc"`.
        packed: the variables.
        actions: all names of what happens; the first one is empty.
        commands: of each module, by action.
        alternatives: the number of an action, and how it may come about.
        labels: by name.
        rewards: by name.
        values: of constants.
        scope: what names mean.
        first: the initial values of all variables; None where `start` says it.
        start: which states are initial, or None.
    """

    kind: str
    packed: Packed
    actions: tuple[str, ...]
    commands: tuple[dict[str, tuple[Ready, ...]], ...]
    alternatives: tuple[tuple[int, Alternative], ...]
    labels: dict[str, Typed]
    rewards: dict[str, tuple[Earned, ...]]
    values: dict[str, Any]
    scope: Scope
    first: tuple[int, ...] | None
    start: Typed | None

    @property
    def is_total(self) -> bool:
        """Whether all that is looked at in a state means something in every state."""
        found = [*self.labels.values()]
        for command in (
            x for own in self.commands for some in own.values() for x in some
        ):
            found.append(command.guard)
            for outcome in command.outcomes:
                found.append(outcome.probability)
                found += [change.value for change in outcome.changes]
        for items in self.rewards.values():
            found += [x for item in items for x in (item.guard, item.value)]
        return all(x.undefined is None for x in found)


def resolved(source: Source, constants: Mapping[str, Any]) -> Resolved:
    """A program with values for its constants.

    Raises:
        PropertyError: something in it means nothing; it tells where.
        ValueError: a constant is not there, or has a value already, or the wrong type.
    """
    values = _constants(source, constants)
    modules = _modules(source)
    variables = [
        *source.globals,
        *(variable for module in modules for variable in module.variables),
    ]
    _check_names(source, variables)
    left = {x.name: x.value for x in source.constants if x.name not in values}
    formulas = {**source.formulas, **left}
    still = Scope(values, {}, formulas)
    ranges = [_range(still, variable) for variable in variables]
    names = [variable.name for variable in variables]
    packed = Packed.of(names, ranges)
    numbered = {
        name: (number, pair)
        for number, (name, pair) in enumerate(zip(names, ranges, strict=True))
    }
    scope = Scope(values, numbered, formulas)
    first = start = None
    if source.start is None:
        first = tuple(
            _first(still, variable, pair)
            for variable, pair in zip(variables, ranges, strict=True)
        )
    else:
        start = scope.truth(source.start, "what is initial")
        for variable in variables:
            if variable.initial is not None:
                raise PropertyError(
                    variable.place,
                    f"{variable.name} has a first value, and init ... endinit says "
                    "which states are initial: there is one of both",
                )
    owners = {variable.name: None for variable in source.globals}
    for number, module in enumerate(modules):
        owners |= {variable.name: number for variable in module.variables}
    composed = _composition(source, modules)
    actions = list(dict.fromkeys(["", *composed]))
    alternatives = [
        (actions.index(action), way)
        for action, ways in composed.items()
        for way in ways
    ]
    together = {
        (module, own) for _, way in alternatives if len(way) > 1 for module, own in way
    }
    commands = []
    for number, module in enumerate(modules):
        ready: dict[str, list[Ready]] = {}
        for command in module.commands:
            found = _ready(scope, command, number, owners, together, source.kind)
            ready.setdefault(command.action, []).append(found)
        commands.append({action: tuple(some) for action, some in ready.items()})
    return Resolved(
        kind=source.kind,
        packed=packed,
        actions=tuple(actions),
        commands=tuple(commands),
        alternatives=tuple(alternatives),
        labels={
            name: scope.truth(node, f"the label {quoted(name)}")
            for name, node in source.labels.items()
        },
        rewards=_rewards(source, scope, actions),
        values=values,
        scope=scope,
        first=first,
        start=start,
    )


# ---- constants -----------------------------------------------------------------------


def _constants(source: Source, given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each constant, None where it has none."""
    declared = {constant.name: constant for constant in source.constants}
    for name, value in given.items():
        if name not in declared:
            there = ", ".join(declared) or "none"
            raise ValueError(
                f"the program has no constant {quoted(name)}{guess(name, declared)}; "
                f"it has {there}"
            )
        if declared[name].value is not None:
            raise ValueError(
                f"the constant {name!r} has a value in the program: "
                f"{declared[name].value}"
            )
        _given(name, value, declared[name].kind)
    found = {
        name: _given(name, given[name], declared[name].kind) if name in given else None
        for name in declared
        if declared[name].value is None
    }
    defined = {name: x.value for name, x in declared.items() if x.value is not None}
    scope = Scope(dict(found), {}, {**source.formulas, **defined})
    for name, node in defined.items():
        try:
            what = f"the constant {name}"
            found[name] = scope.constant(node, declared[name].kind, what)
        except OpenConstantError:  # an error where somebody asks for it
            continue
    return {name: found[name] for name in declared if name in found}


def _given(name: str, value: Any, kind: str) -> Any:
    """A constant that a user passed, of the type that it is declared with."""
    told = clipped(str(value)) if isinstance(value, Fraction) else quoted(value)
    wrong = ValueError(f"the constant {name!r} must be of type {kind}, got {told}")
    if isinstance(value, bool | np.bool_):
        if kind != "bool":
            raise wrong
        return bool(value)
    if kind == "bool" or not isinstance(
        value, int | float | Fraction | np.integer | np.floating
    ):
        raise wrong
    try:
        is_finite = math.isfinite(value)
    except OverflowError:  # an exact number that is larger than any float64
        is_finite = False
    if not is_finite:
        raise wrong
    exact = Fraction(value.item() if isinstance(value, np.generic) else value)
    if kind == "int" and exact.denominator != 1:
        raise wrong
    return int(exact) if exact.denominator == 1 else exact


# ---- modules and variables -----------------------------------------------------------


def _modules(source: Source) -> list[Module]:
    """All modules, also those that are others under new names."""
    found: dict[str, Module] = {}
    for module in source.modules:
        if isinstance(module, Module):
            found[module.name] = module
    ordered = []
    for module in source.modules:
        if isinstance(module, Renamed):
            base = found.get(module.base)
            if base is None:
                names = [x for x in found if x != module.name]
                raise PropertyError(
                    module.place,
                    f"no module before it is called {quoted(module.base)}"
                    f"{guess(module.base, names)}",
                )
            found[module.name] = _as_other(module, base, source)
        ordered.append(found[module.name])
    return ordered


def _as_other(module: Renamed, base: Module, source: Source) -> Module:
    names, formulas = module.names, source.formulas

    def new(node: Any) -> Any:
        return None if node is None else renamed(node, names, formulas)

    def update(old: Update) -> Update:
        return Update(
            new(old.probability),
            tuple(
                Assignment(names.get(x.name, x.name), new(x.value), place=x.place)
                for x in old.assignments
            ),
            place=old.place,
        )

    variables = []
    for old in base.variables:
        if old.name not in names:
            raise PropertyError(
                module.place,
                f"the module {module.name} has no new name for the variable "
                f"{old.name} of {base.name}",
            )
        variables.append(
            Variable(
                names[old.name],
                *(new(x) for x in (old.low, old.high, old.initial)),
                place=module.place,
            )
        )
    commands = [
        Command(
            names.get(old.action, old.action),
            new(old.guard),
            tuple(map(update, old.updates)),
            place=old.place,
        )
        for old in base.commands
    ]
    return Module(module.name, tuple(variables), tuple(commands), place=module.place)


def _check_names(source: Source, variables: list[Variable]) -> None:
    """No name may mean two things."""
    seen = {constant.name: "a constant" for constant in source.constants}
    for name, node in source.formulas.items():
        if name in seen:
            raise PropertyError(node.place, f"{quoted(name)} is {seen[name]}, too")
        seen[name] = "a formula"
    for variable in variables:
        if variable.name in seen:
            raise PropertyError(
                variable.place,
                f"the variable {quoted(variable.name)} is {seen[variable.name]}, too",
            )
        seen[variable.name] = "a variable"


def _range(still: Scope, variable: Variable) -> tuple[int, int] | None:
    if variable.low is None:
        return None
    what = f"a bound of {variable.name}"
    low = still.constant(variable.low, "int", what)
    high = still.constant(variable.high, "int", what)
    if not -(2**31) <= low <= high < 2**31:
        raise PropertyError(
            variable.place,
            f"the range of {variable.name} is from {quoted(low)} to {quoted(high)}: "
            "expected integers of 32 bits, the larger one last",
        )
    return low, high


def _first(still: Scope, variable: Variable, pair: tuple[int, int] | None) -> int:
    if variable.initial is None:
        return 0 if pair is None else pair[0]
    kind = "bool" if pair is None else "int"
    what = f"the first value of {variable.name}"
    found = still.constant(variable.initial, kind, what)
    if pair is not None and not pair[0] <= found <= pair[1]:
        raise PropertyError(
            variable.initial.place,
            f"the first value of {variable.name} is {found}, which is out of its range "
            f"from {pair[0]} to {pair[1]}",
        )
    return int(found)


# ---- commands ------------------------------------------------------------------------


def _ready(
    scope: Scope,
    command: Command,
    module: int,
    owners: Mapping[str, int | None],
    together: set[tuple[int, str]],
    kind: str,
) -> Ready:
    outcomes = []
    for update in command.updates:
        what = "a rate" if kind == "ctmc" else "a probability"
        probability = scope.number(update.probability, what)
        value = probability.value
        if value is not None and (value < 0 or (kind != "ctmc" and value > 1)):
            raise PropertyError(
                update.place, f"{what} is {float(value):g}: '{update.probability}'"
            )
        changes = tuple(
            _change(scope, assignment, module, owners, command, together)
            for assignment in update.assignments
        )
        numbers = [change.number for change in changes]
        if len(set(numbers)) < len(numbers):
            raise PropertyError(update.place, "a variable is assigned to twice")
        outcomes.append(Outcome(probability, changes, update.place))
    guard = scope.truth(command.guard, "a guard")
    return Ready(guard, tuple(outcomes), command.place)


def _change(
    scope: Scope,
    assignment: Assignment,
    module: int,
    owners: Mapping[str, int | None],
    command: Command,
    together: set[tuple[int, str]],
) -> Change:
    name, place = assignment.name, assignment.place
    if name not in owners:
        raise PropertyError(
            place, f"there is no variable {quoted(name)}{guess(name, owners)}"
        )
    if owners[name] is None and (module, command.action) in together:
        raise PropertyError(
            place,
            f"{name} belongs to no module: an action that several modules do "
            f"together, such as [{command.action}], must not change it",
        )
    if owners[name] not in (None, module):
        raise PropertyError(place, f"{name} is a variable of another module")
    number, pair = scope.variables[name]
    value = scope.typed(assignment.value)
    wanted = "bool" if pair is None else "int"
    if value.kind != wanted:
        raise PropertyError(
            place,
            f"{name} is of type {wanted}, but '{assignment.value}' is of type "
            f"{value.kind}",
        )
    low, high = pair or (0, 1)
    if pair is None and value.value is not None:
        value = known(int(value.value))
    return Change(number, value, low, high, place)


def _rewards(source: Source, scope: Scope, actions: list[str]) -> dict:
    found = {}
    for rewards in source.rewards:
        items = []
        for item in rewards.items:
            if item.action is not None and item.action not in actions:
                raise PropertyError(
                    item.place,
                    f"no action is called {quoted(item.action)}"
                    f"{guess(item.action, actions)}",
                )
            items.append(
                Earned(
                    item.action,
                    scope.truth(item.guard, "where something is earned"),
                    scope.number(item.value, "a reward"),
                    item.place,
                )
            )
        found[rewards.name] = tuple(items)
    return found


# ---- composition ---------------------------------------------------------------------


def _composition(source: Source, modules: list[Module]) -> dict[str, list[Alternative]]:
    """How each action comes about; that without name first."""
    numbers = {module.name: number for number, module in enumerate(modules)}
    system = source.system
    if system is None:
        system = Composed(tuple(Part(name) for name in numbers))
    _check_actions(system, modules)
    used: set[str] = set()
    found = _alternatives(system, modules, numbers, used)
    missing = [name for name in numbers if name not in used]
    if missing:
        raise PropertyError(
            system.place, f"the system leaves out the module {missing[0]}"
        )
    return found


def _check_actions(system: Any, modules: list[Module]) -> None:
    """What is hidden or renamed has a name of an action of the program.

    As in PRISM, it need not be one of the part that is meant.
    """
    actions = {command.action for module in modules for command in module.commands}
    nodes, relabelled = [system], []
    while nodes:
        node = nodes.pop()
        if isinstance(node, Relabelled):
            relabelled.append(node)
            nodes.append(node.part)
        elif isinstance(node, Composed):
            nodes.extend(node.parts)
    for node in relabelled:
        actions |= set(node.names.values())
    for node in relabelled:
        for old in node.names:
            if old not in actions:
                raise PropertyError(
                    node.place,
                    f"no action is called {quoted(old)}{guess(old, actions)}",
                )


def _alternatives(
    node: Any, modules: list[Module], numbers: dict[str, int], used: set[str]
) -> dict[str, list[Alternative]]:
    if isinstance(node, Part):
        if node.name not in numbers:
            raise PropertyError(
                node.place,
                f"no module is called {quoted(node.name)}{guess(node.name, numbers)}",
            )
        if node.name in used:
            raise PropertyError(node.place, f"{node.name} is in the system twice")
        used.add(node.name)
        number = numbers[node.name]
        own = dict.fromkeys(command.action for command in modules[number].commands)
        return {action: [((number, action),)] for action in own}
    if isinstance(node, Relabelled):
        inner = _alternatives(node.part, modules, numbers, used)
        found: dict[str, list[Alternative]] = {}
        for action, ways in inner.items():
            found.setdefault(node.names.get(action, action), []).extend(ways)
        return found
    assert isinstance(node, Composed)
    parts = [_alternatives(part, modules, numbers, used) for part in node.parts]
    result = parts[0]
    for part in parts[1:]:
        shared = set(result) & set(part) if node.shared is None else set(node.shared)
        shared.discard("")
        merged: dict[str, list[Alternative]] = {}
        for action in dict.fromkeys([*result, *part]):
            one, other = result.get(action, []), part.get(action, [])
            if action not in shared:
                merged[action] = [*one, *other]
                continue
            if len(one) * len(other) > MOST_ALTERNATIVES:
                raise PropertyError(
                    node.place, f"the action {action} comes about in too many ways"
                )
            merged[action] = [(*a, *b) for a in one for b in other]
        result = merged
    return result
