"""A model as the array programs read it: links between states and choices."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import ops
from jaxgames.arena import bucket
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.ops import Links


class Graph(NamedTuple):
    """The graph of a model: an edge for each branch.

    Attributes:
        out: states to their successors.
        out_choice: states to the choices of these edges, one for one; those of `into`
            are in `entering` of the layout.
        into: states to their predecessors.
    """

    out: Links
    out_choice: Links
    into: Links


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
    """The links of a model, and the part of it that is looked at.

    `S` and `C` are the numbers of states and choices, padding included.

    Attributes:
        branches: choices to the states that they may lead to.
        entering: states to the choices that may lead there.
        choices: states to their choices.
        owner: int32 `[C]`, the state of each choice (any, where it has none).
        states: bool `[S]`, the states that are looked at.
        live: bool `[C]`, the choices that are looked at; each has a state that is.
        graph: the graph of the model, for those who want it; else None.
    """

    branches: Links
    entering: Links
    choices: Links
    owner: Any
    states: Any
    live: Any
    graph: Graph | None = None

    @property
    def cells(self) -> int:
        """Branches and padding that a pass over all branches reads."""
        return ops.num_cells(self.branches)


def prepare(model: MDP, *, graph: bool = False) -> Layout:
    """Lays a concrete model out and puts it on the default device.

    The result is kept with the model: a second solve starts at once.

    Args:
        model: the model.
        graph: whether the graph of the model is wanted too.
    """
    kept = model.__dict__.setdefault("_prepared", {})
    place = jax.config.jax_default_device  # pyright: ignore
    if place not in kept:
        kept[place] = _common(model) if _is_common(model) else _concrete(model)
    if not graph:  # nobody compiles anew because another one wants it
        return dataclasses.replace(kept[place], graph=None)
    if kept[place].graph is None:
        graph_of = _concrete_graph(model)
        kept[place] = dataclasses.replace(kept[place], graph=graph_of)
    return kept[place]


def roomy(model: MDP) -> MDP:
    """A small concrete model, padded to a common size; a large one as it is.

    Shapes of small models are compiled once. The result is kept with the model, and has
    no probabilities, labels or rewards.
    """
    if model.num_branches >= ops.SLICE_FROM:
        return model
    kept = model.__dict__
    if "_roomy" not in kept:
        bare = MDP(model.row_group_offsets, model.row_offsets, model.columns)
        kept["_roomy"] = bare.pad()
    return kept["_roomy"]


def extended(mask: Any, length: int, fill: Any = False) -> Any:
    """A concrete mask of a model for its padded one; None stays."""
    if mask is None:
        return None
    return np.pad(mask, (0, length - len(mask)), constant_values=fill)


def _is_common(model: MDP) -> bool:
    """Whether a model is small, and of the size that others are padded to."""
    sizes = model.num_states, model.num_choices, model.num_branches
    return model.num_branches < ops.SLICE_FROM and sizes == tuple(map(bucket, sizes))


def _common(model: MDP) -> Layout:
    # Concrete rows would have the shapes of what is there without padding.
    layout = _traced_jit(MDP(model.row_group_offsets, model.row_offsets, model.columns))
    return jax.device_put(layout, jax.device_put(np.int8(0)).device)


def _concrete(model: MDP) -> Layout:
    states, choices = model.num_states, model.num_choices
    groups, rows, columns = _rows(model)
    owner = owner_of(model)
    number = np.arange(groups[-1], dtype=np.int32)
    layout = Layout(
        branches=ops.links(rows, columns, states),
        entering=ops.links(*ops.transpose(rows, columns, states), choices),
        choices=ops.links(groups, number, choices),
        owner=np.minimum(owner, max(states - 1, 0)),
        states=np.diff(groups) > 0,
        live=owner < states,
    )
    # Tied to its device, as the links are.
    return jax.device_put(layout, jax.device_put(np.int8(0)).device)


def _concrete_graph(model: MDP) -> Graph:
    states, choices = model.num_states, model.num_choices
    groups, rows, columns = _rows(model)
    choice = np.repeat(np.arange(choices, dtype=np.int32), np.diff(rows))
    into, entering = ops.transpose(rows, columns, states)
    return Graph(
        out=ops.links(rows[groups], columns, states),
        out_choice=ops.links(rows[groups], choice, choices),
        into=ops.links(into, owner_of(model)[entering], states),
    )


def _rows(model: MDP) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    groups, rows = np.asarray(model.row_group_offsets), np.asarray(model.row_offsets)
    return groups, rows, np.asarray(model.columns)[: rows[-1]]


def traced(model: MDP, *, graph: bool = False) -> Layout:
    """Lays a model out that may be traced (pure).

    Args:
        model: the model.
        graph: whether the graph of the model is wanted too.
    """
    states, choices = model.num_states, model.num_choices
    groups, rows = jnp.asarray(model.row_group_offsets), jnp.asarray(model.row_offsets)
    owner = _row_of(groups, choices)
    choice = _row_of(rows, model.num_branches)
    target = jnp.asarray(model.columns)
    # What belongs to no choice leads nowhere, and comes from nowhere.
    entered = jnp.where(choice < choices, target, states)
    number = jnp.arange(choices, dtype=jnp.int32)
    layout = Layout(
        branches=ops.pairs(choice, target, choices, states),
        entering=ops.pairs(entered, choice, states, choices),
        choices=ops.pairs(owner, number, states, choices),
        owner=jnp.minimum(owner, max(states - 1, 0)),
        states=groups[1:] > groups[:-1],
        live=owner < states,
    )
    if not graph:
        return layout
    source = ops.take(jnp.append(owner, states), choice)
    return dataclasses.replace(
        layout,
        graph=Graph(
            out=ops.pairs(source, target, states, states),
            out_choice=ops.pairs(source, choice, states, choices),
            into=ops.pairs(entered, source, states, states),
        ),
    )


_traced_jit = jax.jit(functools.partial(traced, graph=True))


def _row_of(offsets: jax.Array, length: int) -> jax.Array:
    """The row of each of `length` entries; the number of rows where there is none."""
    rows = len(offsets) - 1
    if rows == 0 or length == 0:
        return jnp.full(length, rows, jnp.int32)
    row = jnp.repeat(
        jnp.arange(rows, dtype=jnp.int32),
        offsets[1:] - offsets[:-1],
        total_repeat_length=length,
    )
    return jnp.where(jnp.arange(length) < offsets[-1], row, rows)


def restrict(layout: Layout, states: Any, choices: Any) -> Layout:
    """The layout of a part of the model (pure).

    Args:
        layout: of the whole model.
        states: bool `[S]`, or None for all.
        choices: bool `[C]`, or None for all.
    """
    if states is not None:
        states = layout.states & jnp.asarray(states)
        inside = ops.take(states, layout.owner)
        layout = dataclasses.replace(layout, states=states, live=layout.live & inside)
    if choices is not None:
        layout = dataclasses.replace(layout, live=layout.live & jnp.asarray(choices))
    return layout
