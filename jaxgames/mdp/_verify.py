"""The certificate check of maximal end components, on the device or the host."""

from typing import Any, Unpack

import numpy as np

from jaxgames import fixpoint, ops, validity
from jaxgames.arena import is_traced
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.limits import Bounds, limited
from jaxgames.mdp import _layout, host
from jaxgames.mdp._checks import checked
from jaxgames.mdp._layout import Layout
from jaxgames.mdp._model import MDP
from jaxgames.mdp._prob01 import Engine, on_host, searched
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
    traced = is_traced(claim)
    limit = model.num_states
    if count is not None:
        limit = jnp.minimum(count, limit) if traced else min(int(count), limit)
    if traced:
        on_host(model, engine, *claim)  # says what is wrong
        if model.num_states == 0:
            none = jnp.zeros(1, bool)
            return Verdict.first_of(
                *[none] * 3, count is not None and count != 0, *[none] * 6
            )
        layout = _layout.traced(model, graph=True)
        found, _ = _pure(layout, label, kept, count, limit, states, choices)
        return validity.withdrawn(fault, found)

    def there() -> Verdict:
        padded = _layout.roomy(model)
        layout = _layout.prepare(padded, graph=True)
        small = np.clip(label, -2, limit).astype(np.int32)  # both are out of range
        small = _layout.extended(small, padded.num_states, -1)
        choice = (_layout.extended(x, padded.num_choices) for x in (kept, choices))
        there = _layout.extended(states, padded.num_states)
        kept_ones, possible = choice
        found, ended = _pure_jit(
            *(layout, small, kept_ones, count, limit, there, possible),
            np.int32(fixpoint.rounds_left()),
        )
        if not ended:
            raise fixpoint.TooDeepError
        return found

    return searched(model, engine, there, lambda: host.verify(*to_numpy(claim)), *claim)


# ---- on the device ---------------------------------------------------------------


def _pure(
    layout: Layout,
    label,
    kept,
    count,
    limit,
    states,
    choices,
    rounds=fixpoint.MAX_ROUNDS,
) -> tuple[Verdict, jax.Array]:
    """The verdict, and whether it took no search more than so many rounds."""
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
    searches = _connected(layout, kept & stays, first, inside, rounds)
    (reached, out), (reaching, into) = searches
    left, none = _left(layout, root, layout.live & ~kept, rounds)
    verdict = Verdict.first_of(
        ~ranged,
        ranged & (label != -1) & ~layout.states,
        first & (label != found - 1),
        count is not None and found[-1:].sum(dtype=jnp.int32) != count,
        ops.max_into(layout.owner, foreign.astype(jnp.int32), size, 0) > 0,
        ops.links_any(layout.choices, stays & ~kept),
        inside & ~ops.links_any(layout.choices, kept),
        inside & ~reached,
        inside & ~reaching,
        left,
    )
    return verdict, out & into & none


_pure_jit = jax.jit(_pure)


def _connected(layout: Layout, kept, first, inside, rounds):
    """What the smallest states reach by kept choices, and what reaches these.

    With both goes whether the search has come to its end.
    """
    graph = layout.graph
    if graph is None:
        raise ValueError("the layout has no graph: prepare it with one")
    out = ops.keep_links(graph.out, ops.at_targets(graph.out_choice, kept))
    into = ops.keep_links(graph.into, ops.at_targets(layout.entering, kept))

    def search(links):
        def step(mark):
            new = mark | (inside & ops.links_any(links, mark))
            return new, jnp.all(new == mark)

        sweeps = fixpoint.default_sweeps(links)
        return fixpoint.settled_within(step, first, rounds, sweeps)

    return search(into), search(out)


def _left(
    layout: Layout, root: jax.Array, live: jax.Array, rounds: Any
) -> tuple[jax.Array, jax.Array]:
    """The states that one can stay with for ever by choices that are not kept.

    Points without a choice are taken away, and choices that may lead there.

    Args:
        layout: a model whose components are points.
        root: int32 `[S]`, the smallest state of each one's component, or itself.
        live: bool `[C]`, the choices that are not kept.
        rounds: how many there may be.

    Returns:
        bool `[S]`, and whether that is so after no more rounds.
    """

    def step(now):
        alive, live = now
        some = ops.links_any(layout.choices, live).astype(jnp.int32)
        some = ops.max_into(root, some, len(some), 0) > 0
        new = alive & ops.take(some, root)
        live = live & ops.links_all(layout.branches, new)
        return (new, live), jnp.all(new == alive)

    sweeps = fixpoint.default_sweeps(layout.branches)
    first = jnp.ones(len(root), bool), live
    (alive, _), ended = fixpoint.settled_within(step, first, rounds, sweeps)
    return alive, ended
