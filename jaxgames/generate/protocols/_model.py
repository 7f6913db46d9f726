"""Models of concurrent systems: variables, guarded commands, and what is asked."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxgames import graph, systems

Values = dict[str, Any]
"""Arrays `[N, length]` by the names of variables."""

Command = tuple[Any, Values]
"""A guard, bool `[N]`, and the variables that are changed where it holds."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A system as a vectorised transition function, with its properties.

    Attributes:
        name: what the model is called.
        initial: the initial state: int32 `[K]`.
        ranges: the least and the largest value of each component.
        components: what the components are called.
        successors: the transition function, for numpy and for JAX; see
            [`graph.explore`][jaxgames.graph.explore].
        propositions: functions of states, int32 `[N, K]`, to bool `[N]`, by name.
        properties: formulas of linear temporal logic, by name.

    Examples:
        >>> from jaxgames.generate import protocols
        >>> model = protocols.phils(4)
        >>> model
        Model(phils-4, 8 components, 3 properties)
        >>> model.explore()
        Explored(80 states, 212 transitions, propositions ...)
    """

    name: str
    initial: np.ndarray
    ranges: tuple[tuple[int, int], ...]
    components: tuple[str, ...]
    successors: Callable[[Any], tuple[Any, Any]]
    propositions: Mapping[str, Callable[[Any], Any]]
    properties: Mapping[str, str]

    def explore(self, **options: Any) -> systems.Explored:
        """All states that can be reached, as a system.

        Args:
            options: as for [`systems.explore`][jaxgames.systems.explore].
        """
        return systems.explore(
            self.successors,
            self.initial,
            propositions=self.propositions,
            ranges=self.ranges,
            components=self.components,
            **options,
        )

    def state_space(self, **options: Any) -> graph.StateSpace:
        """All states that can be reached, as a graph.

        Args:
            options: as for [`graph.explore`][jaxgames.graph.explore].
        """
        return graph.explore(
            self.successors, self.initial, ranges=self.ranges, **options
        )

    def __repr__(self) -> str:
        return (
            f"Model({self.name}, {len(self.ranges)} components, "
            f"{len(self.properties)} properties)"
        )


@dataclasses.dataclass(frozen=True)
class Variable:
    """Some components of a state that belong together.

    Attributes:
        values: how many values each of them has, from 0 on, or the least and the
            largest.
        length: how many they are.
        initial: the value of the first one at the beginning; the others are 0.
    """

    values: int | tuple[int, int]
    length: int = 1
    initial: int = 0


def model(
    name: str,
    variables: Mapping[str, Variable],
    commands: Callable[[Any, Values], Sequence[Command]],
    propositions: Mapping[str, Callable[[Values], Any]],
    properties: Mapping[str, str],
) -> Model:
    """Builds a model from functions of its variables.

    A command, given `numpy` or `jax.numpy` and the variables' values, is a successor.
    """
    begins = np.cumsum([0, *(x.length for x in variables.values())])

    def read(states: Any) -> Values:
        return {
            key: states[:, begins[i] : begins[i + 1]] for i, key in enumerate(variables)
        }

    def successors(states: Any) -> tuple[Any, Any]:
        xp = states.__array_namespace__()
        now = read(states)
        guards, after = [], []
        for guard, changed in commands(xp, now):
            guards.append(guard)
            columns = [changed.get(key, now[key]) for key in variables]
            after.append(xp.concatenate(columns, axis=1))
        return xp.stack(after, axis=1), xp.stack(guards, axis=1)

    def of_states(function: Callable[[Values], Any]) -> Callable[[Any], Any]:
        return lambda states: function(read(states))

    initial, ranges, components = np.zeros(begins[-1], np.int32), [], []
    for i, (key, variable) in enumerate(variables.items()):
        initial[begins[i]] = variable.initial
        low, high = (
            (0, variable.values - 1)
            if isinstance(variable.values, int)
            else variable.values
        )
        ranges += [(low, high)] * variable.length
        components += (
            [key]
            if variable.length == 1
            else [f"{key}[{j}]" for j in range(variable.length)]
        )
    return Model(
        name=name,
        initial=initial,
        ranges=tuple(ranges),
        components=tuple(components),
        successors=successors,
        propositions={key: of_states(x) for key, x in propositions.items()},
        properties=dict(properties),
    )


# ---- parts of commands -----------------------------------------------------------


def at(array: Any, index: Any) -> Any:
    """`array[n, index[n]]` for each row `n`: `[N]`; 0 where the index is out of range.

    Rows are short: that a sum over them costs little more than reading one entry.
    """
    return (array * _here(array, index)).sum(axis=1)


def put(xp: Any, array: Any, index: Any, value: Any) -> Any:
    """`array` with `array[n, index[n]] = value[n]`.

    Args:
        xp: the module of the arrays.
        array: integers `[N, length]`.
        index: integers `[N]`, or one for all rows; out of range, nothing changes.
        value: integers `[N]`, or one for all rows.
    """
    return xp.where(_here(array, index), _column(value), array)


def change(xp: Any, now: Values, index: Any, /, **values: Any) -> Values:
    """The variables of these names, of which this entry has another value."""
    return {name: put(xp, now[name], index, x) for name, x in values.items()}


def _here(array: Any, index: Any) -> Any:
    return np.arange(array.shape[1], dtype=np.int32) == _column(index)


def _column(x: Any) -> Any:
    return x[:, None] if getattr(x, "ndim", 0) else x


def either(xp: Any, now: Values, *commands: Command) -> Command:
    """One command for several, of whose guards at most one holds at a time.

    Fewer commands are fewer successors to look at.
    """
    changed = {key: now[key] for _, values in commands for key in values}
    some = commands[0][0]
    for guard, values in commands:
        some = some | guard
        for key, value in values.items():
            changed[key] = xp.where(guard[:, None], value, changed[key])
    return some, changed
