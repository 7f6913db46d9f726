"""Winning with probability one: reaching a set, and visiting one for ever."""

from typing import Any, Unpack

import numpy as np

from jaxgames import ops
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.mdp import host
from jaxgames.mdp._layout import Layout, restricted
from jaxgames.mdp._mec import mec
from jaxgames.mdp._model import MDP, first_choices
from jaxgames.mdp._prob01 import Engine, lay_out, prob1, searched
from jaxgames.mdp._region import Region, as_states
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp._spread import problem, surely


@limited()
def almost_sure_reach(
    model: MDP,
    target: Any,
    *,
    states: Any = None,
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> Region:
    """States from which some scheduler reaches a target with probability one.

    The same as [`prob1`][jaxgames.mdp.prob1] with `optimum="max"`. Works under
    `jax.jit` and `jax.vmap` on a traced model or target.

    Args:
        model: the model.
        target: the states to reach: bool `[S]`, states by number, or the name of a
            label of the model.
        states: what a path may pass before, given likewise; None for all.
        engine: as in [`prob0`][jaxgames.mdp.prob0].
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The states, and a memoryless scheduler that reaches the target from each of
        them with probability one; -1 in the target and where there is none.

    Raises:
        ValueError: a state, label or engine is wrong.

    References:
        de Alfaro, Formal verification of probabilistic systems, PhD thesis, Stanford
        University, 1997.

    Examples:
        >>> from jaxgames import mdp
        >>> coin = mdp.MDP.from_arrays([0, 1, 2, 3], [0, 2, 3, 4], [0, 1, 1, 2])
        >>> mdp.almost_sure_reach(coin, [1])
        Region(states=array([ True,  True, False]),
               scheduler=array([ 0, -1, -1], dtype=int32))
    """
    return prob1(model, target, "max", states=states, engine=engine)


@limited()
def almost_sure_buchi(
    model: MDP,
    accepting: Any,
    *,
    components: EndComponents | None = None,
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> Region:
    """States from which a set can be visited for ever, with probability one.

    A run stays in some end component for ever with probability one, and a scheduler can
    visit all of one again and again. So the set is that from which the maximal end
    components with an accepting state can be reached almost surely [1].

    Works under `jax.jit` and `jax.vmap` on a traced model or set.

    Args:
        model: the model.
        accepting: the states to visit infinitely often: bool `[S]`, states by number,
            or the name of a label of the model.
        components: the maximal end components of the model, where they are known.
        engine: as in [`prob0`][jaxgames.mdp.prob0].
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The states, and a memoryless scheduler under which a run from any of them visits
        accepting states infinitely often with probability one; -1 elsewhere.

    Raises:
        ValueError: a state, label or engine is wrong.

    References:
        [1] de Alfaro, Formal verification of probabilistic systems, PhD thesis,
        Stanford University, 1997, section 3.3.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 0, 2])
        >>> mdp.almost_sure_buchi(model, [1])
        Region(states=array([ True,  True, False]),
               scheduler=array([ 0,  2, -1], dtype=int32))
    """
    accepting = as_states("accepting", model, accepting)

    def there() -> Region:
        found = mec(model) if components is None else components
        label, kept = found.state_label, found.choice_kept
        layout = lay_out(model, accepting, found)
        home, inside, first = _home(layout, label, kept, jnp.asarray(accepting))
        inner = surely(problem(restricted(layout, home, kept), inside))
        outer = surely(problem(layout, home))
        return Region(*_joined(outer, inner, home, inside, first))

    def here() -> Region:
        found = host.mec(model) if components is None else components
        return host.almost_sure_buchi(model, accepting, found)

    return searched(model, engine, there, here, accepting, components)


@jax.jit
def _home(layout: Layout, label: jax.Array, kept: jax.Array, accepting: jax.Array):
    """The components with an accepting state, these states, and a choice to stay."""
    size = len(label)
    there = accepting & (label >= 0)
    index = jnp.where(label >= 0, label, size)
    good = ops.max_into(index, there.astype(jnp.int32), size, 0) > 0
    home = (label >= 0) & ops.take(good, jnp.maximum(label, 0))
    number = jnp.arange(len(layout.owner), dtype=jnp.int32)
    first = ops.links_min(layout.choices, number, jnp.asarray(kept) & layout.live)
    return home, there, first


@jax.jit
def _joined(outer: Region, inner: Region, home, accepting, first):
    """Out of the components as one says, in them as the other does."""
    at_home = jnp.where(accepting, first, inner.scheduler)
    return outer.states, jnp.where(home, at_home, outer.scheduler)


def within(model: MDP, components: EndComponents, target: np.ndarray) -> np.ndarray:
    """How to reach a target inside each component with probability one (host only).

    Args:
        model: a concrete model.
        components: its maximal end components, or those of a part of it.
        target: bool `[S]`.

    Returns:
        int32 `[S]`: the choice of each state in a component with a target; -1 in the
        target and elsewhere.
    """
    kept = np.asarray(components.choice_kept)
    target = target & (np.asarray(components.state_label) >= 0)
    found = searched(
        model,
        "auto",
        lambda: surely(problem(restricted(lay_out(model), None, kept), target)),
        lambda: host.prob1(model, target, choices=kept),
    )
    return np.asarray(found.scheduler)


def first_kept(model: MDP, components: EndComponents) -> np.ndarray:
    """The first choice of each state that stays in its component (host only).

    Returns:
        int32 `[S]`; -1 for a state in no component.
    """
    return first_choices(model, np.asarray(components.choice_kept))
