"""The certificate check of maximal end components, on the device or the host."""

from typing import Any, Unpack

import numpy as np

from jaxgames import fixpoint, ops, validity
from jaxgames.arena import eager, is_traced
from jaxgames.graph._reach import spread
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.limits import Bounds, limited
from jaxgames.mdp import _layout, host
from jaxgames.mdp._checks import checked
from jaxgames.mdp._layout import Layout
from jaxgames.mdp._model import MDP
from jaxgames.mdp._prob01 import Engine, on_host
from jaxgames.mdp._region import check_mask, check_masks
from jaxgames.mdp._verdict import Verdict


@limited()
def verify(
    model: MDP,
    components: Any,
    *,
    states: Any = None,
    choices: Any = None,
    engine: Engine = "auto",
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks maximal end components without trusting who found them.

    Components must be numbered in order of their smallest states. What is kept must be
    closed: a choice is kept just if its state has a component and all that it may lead
    to has the same. It must be connected: inside each component its smallest state
    reaches all others, and is reached by them. And it must be maximal. To see this,
    each component becomes a point, which has the choices that are not kept. States and
    points without a choice are taken away, then choices that may lead to such, and so
    on: the order is a ranking by which every scheduler leaves at last. Were some left,
    one could stay among them for ever, so that they would hold an end component.

    Nothing of this is how a solver finds the components. The host looks at each branch
    a few times: O(S + C + E). On the device a round does, and there are as many as the
    components are deep and the ranking is long. Works under `jax.jit` and `jax.vmap`.

    Args:
        model: the model.
        components: [`EndComponents`][jaxgames.mdp.EndComponents]; or a pair of arrays,
            labels (integers `[S]`) and choices that are kept (bool `[C]`).
        states: bool `[S]`, the states that were looked at; None for all.
        choices: bool `[C]`, the choices that were looked at; None for all.
        engine: `"host"`; `"device"`; or `"auto"`: under tracing the device, else the
            host if the model is small, or numba is there and the backend is a CPU.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A [`Verdict`][jaxgames.mdp.Verdict]: true if all is right, else the reason and
        the first state where it shows.

    Raises:
        ValueError: labels, choices, a mask or the engine are wrong in type or shape.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2]
        ... )
        >>> print(mdp.verify(model, mdp.mec(model)))
        valid
        >>> print(mdp.verify(model, ([0, 0, 1], [1, 0, 1, 1])))
        state 1: the smallest state of its component does not reach it by kept choices
        >>> print(mdp.verify(model, ([-1, -1, 0], [0, 0, 0, 1])))
        state 0: it can be stayed with for ever by other choices too: there is an ...
    """
    if not isinstance(model, MDP):
        raise ValueError(f"model must be an MDP, got {type(model).__name__}")
    model, fault = checked(model)
    count = None
    if hasattr(components, "state_label"):
        label, kept = components.state_label, components.choice_kept
        count = validity.count_of(components)
    elif isinstance(components, tuple | list) and len(components) == 2:
        label, kept = components
    else:
        raise ValueError(
            "components must be those of mec, or a pair of state labels and kept "
            f"choices, got {type(components).__name__}"
        )
    label = label if is_traced(label) else np.asarray(label)
    if label.shape != (model.num_states,) or label.dtype.kind != "i":
        raise ValueError(
            f"labels must be integers, one for each state ({model.num_states}), got "
            f"{label.dtype} of shape {label.shape}"
        )
    states, choices = check_masks(model, states, choices)
    kept = check_mask("choice_kept", kept, model.num_choices)
    claim = model, label, kept, count, states, choices
    traced, at_host = is_traced(claim), on_host(model, engine, *claim)
    limit = model.num_states
    if count is not None:
        limit = jnp.minimum(count, limit) if traced else min(int(count), limit)
    if traced:
        if model.num_states == 0:
            none = jnp.zeros(1, bool)
            return Verdict.first_of(
                *[none] * 3, count is not None and count != 0, *[none] * 6
            )
        layout = _layout.traced(model, graph=True)
        found = _pure(layout, label, kept, count, limit, states, choices)
        return validity.withdrawn(fault, found)
    if at_host:
        return host.verify(*to_numpy(claim))
    with eager():
        padded = _layout.roomy(model)
        layout = _layout.prepare(padded, graph=True)
        label = np.clip(label, -2, limit).astype(np.int32)  # both are out of range
        label = _layout.extended(label, padded.num_states, -1)
        kept, choices = (
            _layout.extended(x, padded.num_choices) for x in (kept, choices)
        )
        states = _layout.extended(states, padded.num_states)
        return _pure_jit(layout, label, kept, count, limit, states, choices)


# ---- on the device ---------------------------------------------------------------


def _pure(layout: Layout, label, kept, count, limit, states, choices) -> Verdict:
    layout = _layout.restrict(layout, states, choices)
    label, kept = jnp.asarray(label), jnp.asarray(kept)
    size = len(label)
    own = jnp.arange(size, dtype=jnp.int32)
    ranged = (label >= -1) & (label < limit)
    inside = ranged & (label >= 0) & layout.states
    index = jnp.where(inside, label, size).astype(jnp.int32)
    smallest = jnp.append(ops.min_into(index, own, size, size), size)
    root = jnp.where(inside, ops.take(smallest, index), own)
    first = inside & (root == own)
    found = jnp.cumsum(first, dtype=jnp.int32)

    same = ops.edgewise(
        jnp.equal,
        ops.at_targets(layout.branches, jnp.where(inside, root, -1)),
        ops.at_rows(layout.branches, ops.take(root, layout.owner)),
    )
    stays = ops.links_all(layout.branches, same) & layout.live
    stays = stays & ops.take(inside, layout.owner)
    # A choice of the padding has no state to be blamed: its neighbour is.
    foreign = kept & ~stays
    reached, reaching = _connected(layout, kept & stays, first, inside)
    left = _left(layout, root, layout.live & ~kept)
    return Verdict.first_of(
        ~ranged,
        ranged & (label != -1) & ~layout.states,
        first & (label != found - 1),
        count is not None and found[-1:].sum() != count,
        ops.max_into(layout.owner, foreign.astype(jnp.int32), size, 0) > 0,
        ops.links_any(layout.choices, stays & ~kept),
        inside & ~ops.links_any(layout.choices, kept),
        inside & ~reached,
        inside & ~reaching,
        left,
    )


_pure_jit = jax.jit(_pure)


def _connected(layout: Layout, kept, first, inside) -> tuple[jax.Array, jax.Array]:
    """What the smallest states reach by kept choices, and what reaches these."""
    graph = layout.graph
    if graph is None:
        raise ValueError("the layout has no graph: prepare it with one")
    out = ops.keep_links(graph.out, ops.at_targets(graph.out_choice, kept))
    into = ops.keep_links(graph.into, ops.at_targets(layout.entering, kept))
    return spread(into, first, inside), spread(out, first, inside)


def _left(layout: Layout, root: jax.Array, live: jax.Array) -> jax.Array:
    """The states that one can stay with for ever by choices that are not kept.

    Points without a choice are taken away, and choices that may lead there.

    Args:
        layout: a model whose components are points.
        root: int32 `[S]`, the smallest state of each one's component, or itself.
        live: bool `[C]`, the choices that are not kept.
    """

    def step(now):
        alive, live = now
        some = ops.links_any(layout.choices, live).astype(jnp.int32)
        some = ops.max_into(root, some, len(some), 0) > 0
        new = alive & ops.take(some, root)
        live = live & ops.links_all(layout.branches, new)
        return (new, live), jnp.all(new == alive)

    sweeps = fixpoint.default_sweeps(layout.branches)
    return fixpoint.settled(step, (jnp.ones(len(root), bool), live), sweeps)[0]
