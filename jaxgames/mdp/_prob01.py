"""Reachability with probability zero or one: which states, and which choices there."""

import contextlib
from collections.abc import Callable
from typing import Any, Literal, TypeVar, Unpack

from jaxgames import fixpoint, ops
from jaxgames.arena import eager, is_traced
from jaxgames.host import serves
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.mdp import _layout, host
from jaxgames.mdp._layout import Layout
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import (
    NO_CHOICE,
    Optimum,
    Region,
    as_states,
    check_model,
    check_optimum,
)
from jaxgames.mdp._spread import problem, spread, surely
from jaxgames.validity import withdrawn

T = TypeVar("T")

Engine = Literal["auto", "host", "device"]
"""Where to look: one core, the default device, or whichever is likely faster."""


@limited()
def prob0(
    model: MDP,
    target: Any,
    optimum: Optimum = "max",
    *,
    states: Any = None,
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> Region:
    """States from which the target is reached with probability zero.

    Probabilities are not looked at, only where branches lead: a target is reached with
    probability zero if no path leads there [1, algorithms 45 and 46; 2].

    On the device all branches are read in every round, and there are as many rounds as
    the target is far away: O(depth (S + C + E)). The host looks at every branch once.
    Works under `jax.jit` and `jax.vmap` on a traced model or target.

    Args:
        model: the model.
        target: the states to reach: bool `[S]`, states by number, or the name of a
            label of the model.
        optimum: `"max"`: the largest probability is zero, so no scheduler ever gets
            there; `"min"`: the least is, so some scheduler never does.
        states: what a path may pass before it gets to the target, given as `target` is;
            None for all. A path that is elsewhere has failed.
        engine: `"host"`; `"device"`; or `"auto"`: under tracing the device, else the
            host if the model is small, or numba is there and the backend is a CPU.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The states; for `"min"` with a scheduler that never reaches the target from
        there: the first such choice of each state, -1 where a path has failed already.

    Raises:
        ValueError: a state, label, option or engine is wrong.

    References:
        [1] Baier and Katoen, Principles of model checking, MIT Press, 2008.
        [2] de Alfaro, Formal verification of probabilistic systems, PhD thesis,
        Stanford University, 1997.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2])
        >>> mdp.prob0(model, [2]).states
        array([False,  True, False])
        >>> mdp.prob0(model, [2], "min")
        Region(states=array([ True,  True, False]),
               scheduler=array([ 0,  2, -1], dtype=int32))
    """
    model, fault = check_model(model)
    target, states = _check(model, target, optimum, states)

    def there() -> Region:
        layout = lay_out(model, target, states)
        game = problem(layout, target, states)
        mark = spread(game, every=optimum == "min")
        if optimum == "max":
            return withdrawn(fault, Region(_away(layout, mark)))
        return withdrawn(fault, Region(*_avoid(layout, mark, game.passed)))

    def here() -> Region:
        return host.prob0(model, target, optimum, states=states)

    return searched(model, engine, there, here, target, states)


@limited()
def prob1(
    model: MDP,
    target: Any,
    optimum: Optimum = "max",
    *,
    states: Any = None,
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> Region:
    """States from which the target is reached with probability one.

    For `"min"`: the states from which no path leads, before the target, to a state
    where some scheduler avoids it. For `"max"`: the greatest set from which the target
    can be reached by choices that stay in the set [1, 2]. The former takes two searches
    as in [`prob0`][jaxgames.mdp.prob0]. The latter takes more: each takes states out,
    and the states that then cannot stay; up to S of them, and a few in practice.

    Args:
        model: the model.
        target: the states to reach: bool `[S]`, states by number, or the name of a
            label of the model.
        optimum: `"max"`: the largest probability is one, so some scheduler gets there
            almost surely; `"min"`: the least is, so every scheduler does.
        states: what a path may pass before, as in [`prob0`][jaxgames.mdp.prob0].
        engine: as in [`prob0`][jaxgames.mdp.prob0].
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The states; for `"max"` with a scheduler that reaches the target from there with
        probability one: the first choice of each state that stays in the set and may
        come a step closer to the target. It is -1 in the target.

    Raises:
        ValueError: a state, label, option or engine is wrong.

    References:
        [1] Baier and Katoen, Principles of model checking, MIT Press, 2008.
        [2] de Alfaro, Formal verification of probabilistic systems, PhD thesis,
        Stanford University, 1997.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2])
        >>> mdp.prob1(model, [2])
        Region(states=array([ True, False,  True]),
               scheduler=array([ 1, -1, -1], dtype=int32))
        >>> mdp.prob1(model, [2], "min").states
        array([False, False,  True])
    """
    model, fault = check_model(model)
    target, states = _check(model, target, optimum, states)

    def there() -> Region:
        layout = lay_out(model, target, states)
        game = problem(layout, target, states)
        if optimum == "max":
            return withdrawn(fault, surely(game))
        never = _away(layout, spread(game, every=True))
        found = Region(_away(layout, spread(game._replace(goal=never))))
        return withdrawn(fault, found)

    def here() -> Region:
        return host.prob1(model, target, optimum, states=states)

    return searched(model, engine, there, here, target, states)


def _check(model: MDP, target: Any, optimum: str, states: Any) -> tuple[Any, Any]:
    check_optimum(optimum)
    target = as_states("target", model, target)
    return target, None if states is None else as_states("states", model, states)


def on_host(model: MDP, engine: str, *sets: Any) -> bool:
    """Whether the sequential engine is to be taken.

    The sets are what else may be traced.

    Raises:
        ValueError: there is no such engine, or it cannot run under tracing.
    """
    if engine not in ("auto", "host", "device"):
        raise ValueError(f"engine must be 'auto', 'host' or 'device', got {engine!r}")
    if is_traced((model, sets)):
        if engine == "host":
            raise ValueError("engine='host' cannot run under tracing by jax")
        return False
    if engine != "auto":
        return engine == "host"
    return serves(model.num_branches, ops.SLICE_FROM)


def searched(
    model: MDP, engine: str, there: Callable[[], T], here: Callable[[], T], *sets: Any
) -> T:
    """What an engine finds in a model: as of `fixpoint.in_few_rounds`.

    The sets are what else may be traced.

    Raises:
        ValueError: there is no such engine, or it cannot run under tracing.
    """
    if on_host(model, engine, *sets):
        return here()
    if is_traced((model, sets)):
        return there()
    with eager():
        edges = model.num_branches
        return fixpoint.in_few_rounds(edges, there, here if engine == "auto" else None)


def lay_out(model: MDP, *sets: Any) -> Layout:
    """The layout of a model, which may be traced, or what goes with it may be."""
    traced = is_traced((model, sets))
    return _layout.traced(model) if traced else _layout.prepare(model)


def eagerly(*trees: Any) -> contextlib.AbstractContextManager:
    """Where all is concrete, it is so in the middle of somebody's `jax.jit` too."""
    if is_traced(trees):
        return contextlib.nullcontext()
    return eager()


@jax.jit
def _away(layout: Layout, mark: jax.Array) -> jax.Array:
    """The states without a mark."""
    return layout.states & ~mark


@jax.jit
def _avoid(layout: Layout, mark: jax.Array, where: jax.Array):
    """The states without a mark, and the first choice there that stays among them."""
    away = layout.states & ~mark
    stays = layout.live & ~ops.links_any(layout.branches, mark)
    number = jnp.arange(len(layout.owner), dtype=jnp.int32)
    choice = ops.links_min(layout.choices, number, stays)
    first = jnp.where(away & where & (choice < len(number)), choice, NO_CHOICE)
    return away, first
