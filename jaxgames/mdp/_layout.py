"""A model as the array programs read it: links between states and choices."""

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from jaxgames import memory, ops
from jaxgames.arena import bucket
from jaxgames.kept import is_kept, kept
from jaxgames.later import jax, jnp
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


class Rows(NamedTuple):
    """The branches from both their ends row by row, to read those of a few states.

    Attributes:
        into: int32 `[S + 1]`; the branches into state `s` are those of the choices
            `entering[k]`, `into[s] <= k < into[s + 1]`.
        entering: int32 `[E]`.
        out: int32 `[S + 1]`; the branches of state `s` lead to `targets[k]`,
            `out[s] <= k < out[s + 1]`.
        targets: int32 `[E]`.
        choices: int32 `[C + 1]`; the branches of choice `c` are those from `choices[c]`
            to `choices[c + 1]`.
    """

    into: Any
    entering: Any
    out: Any
    targets: Any
    choices: Any


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
        rows: the branches once more, where a model is large and on one device.
    """

    branches: Links
    entering: Links
    choices: Links
    owner: Any
    states: Any
    live: Any
    graph: Graph | None = None
    rows: Rows | None = None

    @property
    def cells(self) -> int:
        """Branches and padding that a pass over all branches reads."""
        return ops.num_cells(self.branches)


def prepare(
    model: MDP, *, graph: bool = False, spread: ops.Spread | None = None
) -> Layout:
    """Lays a concrete model out and puts it on the default device, or on a mesh.

    The result is kept with the model: a second solve starts at once.

    The graph is made if it is wanted; `spread` is None for one device.
    """

    def lay_out() -> Layout:
        common = spread is None and _is_common(model)
        return _common(model) if common else _concrete(model, spread, graph=graph)

    place = spread or jax.config.jax_default_device  # pyright: ignore
    found = kept(model, ("layout", place), lay_out)
    if not graph:  # nobody compiles anew because another one wants it
        return dataclasses.replace(found, graph=None)

    def lay_out_graph() -> Graph:
        if found.graph is not None:
            return found.graph
        if found.rows is None:
            return _concrete_graph(model, spread)
        return _graph_of(model, found)

    graph_of = kept(model, ("graph", place), lay_out_graph)
    return dataclasses.replace(found, graph=graph_of)


def is_prepared(model: MDP, spread: ops.Spread | None = None) -> bool:
    """Whether a model is laid out already."""
    place = spread or jax.config.jax_default_device  # pyright: ignore
    return is_kept(model, ("layout", place))


def shape_of(model: MDP, *, graph: bool = False) -> Layout:
    """The shapes of a concrete model's layout."""
    states, choices = model.num_states, model.num_choices
    branches = model.num_branches
    into = memory.shape_of_links(states, branches, states)
    choice = memory.shape_of_links(states, branches, choices)
    sizes = states, branches, states, branches, choices
    return Layout(
        branches=memory.shape_of_links(choices, branches, states),
        entering=choice,
        choices=memory.shape_of_links(states, choices, choices),
        owner=memory.numbers(choices),
        states=memory.mask(states),
        live=memory.mask(choices),
        graph=Graph(into, choice, into) if graph else None,
        rows=Rows(*map(memory.numbers, sizes)),
    )


def roomy(model: MDP, spread: ops.Spread | None = None) -> MDP:
    """A small concrete model, padded to a common size; a large one as it is.

    For a mesh, each is padded to as many states and choices in each share.

    Shapes of small models are compiled once. The result is kept with the model, and has
    no probabilities, labels or rewards.
    """
    if spread is None and model.num_branches >= ops.SLICE_FROM:
        return model
    shares = None if spread is None else spread.shares

    def padded() -> MDP:
        bare = MDP(model.row_group_offsets, model.row_offsets, model.columns)
        return bare.pad(*() if shares is None else _even(model, shares))

    return kept(model, ("roomy", shares), padded)


def _even(model: MDP, shares: int) -> tuple[int, int, int]:
    states, choices = (
        -(-size // shares) * shares for size in (model.num_states, model.num_choices)
    )
    return states, choices, model.num_branches


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
    return jax.device_put(layout, ops.default_device())


def _concrete(model: MDP, spread: ops.Spread | None, *, graph: bool) -> Layout:
    """The layout; and the graph as well, where it is wanted and costs no wait."""
    states, choices = model.num_states, model.num_choices
    groups, rows, columns = _rows(model)
    rows, columns = ops.rows_where_laid_out(rows, columns, spread)
    into, entering = ops.transpose(rows, columns, states)
    there = isinstance(columns, jax.Array)
    if there:
        groups = jnp.asarray(groups, jnp.int32)
        owner, number, first, leads, live = _of_groups(groups, rows, choices)
    else:
        owner = owner_of(model)
        number = np.arange(groups[-1], dtype=np.int32)
        first, leads, live = rows[groups], np.diff(groups) > 0, owner < states
        owner = owner.clip(max=max(states - 1, 0))
    lists = [(rows, columns, states), (into, entering, choices)]
    lists.append((groups, number, choices))
    if there and graph:
        choice, each = _of_branches(rows, len(columns))
        lists.append((first, each, len(columns)))
    branches, entering_links, of_states, *branch = ops.all_links(lists, spread)
    layout = Layout(branches, entering_links, of_states, owner, leads, live)
    if spread is not None:
        return ops.in_its_shares(layout, layout)
    if len(columns) >= ops.SLICE_FROM:
        layout = dataclasses.replace(
            layout, rows=Rows(into, entering, first, columns, rows)
        )
    if branch:
        found = _redirected(layout, branch[0], choice)
        layout = dataclasses.replace(layout, graph=found)
    # Tied to its device, as the links are.
    return jax.device_put(layout, ops.default_device())


@functools.partial(jax.jit, static_argnums=2)
def _of_groups(groups, rows, choices: int):
    """What the groups of choices say.

    Returns:
        The owner of each choice, their numbers, each state's first branch, which states
        have choices, and which choices have an owner.
    """
    owner, states = ops.rows_of(groups, choices), len(groups) - 1
    number = jnp.arange(choices, dtype=jnp.int32)
    leads, live = groups[1:] > groups[:-1], owner < states
    owner = jnp.minimum(owner, max(states - 1, 0))
    return owner, number, ops.take(rows, groups), leads, live


def _concrete_graph(model: MDP, spread: ops.Spread | None) -> Graph:
    states, choices = model.num_states, model.num_choices
    groups, rows, columns = _rows(model)
    choice = np.repeat(np.arange(choices, dtype=np.int32), np.diff(rows))
    into, entering = ops.transpose(rows, columns, states)
    return Graph(
        out=ops.links(rows[groups], columns, states, spread),
        out_choice=ops.links(rows[groups], choice, choices, spread),
        into=ops.links(into, owner_of(model)[entering], states, spread),
    )


def _graph_of(model: MDP, layout: Layout) -> Graph:
    """The graph of a model that is laid out on one device, made there."""
    assert layout.rows is not None
    if ops.accelerated():  # all is there already
        first, columns = layout.rows.out, layout.rows.targets
        choice, number = _of_branches(layout.rows.choices, len(columns))
    else:
        groups, rows, columns = _rows(model)
        choice = np.repeat(np.arange(model.num_choices, dtype=np.int32), np.diff(rows))
        first, number = rows[groups], np.arange(len(columns), dtype=np.int32)
    branch = ops.links(first, number, len(columns))
    return _redirected(layout, branch, choice)


@functools.partial(jax.jit, static_argnums=1)
def _of_branches(rows, branches: int):
    """The choice of each branch, and its number."""
    return ops.rows_of(rows, branches), jnp.arange(branches, dtype=jnp.int32)


@jax.jit
def _redirected(layout: Layout, branch: Links, choice: jax.Array) -> Graph:
    assert layout.rows is not None
    states, choices = layout.states.shape[0], layout.live.shape[0]
    return Graph(
        out=ops.redirect(branch, layout.rows.targets, states),
        out_choice=ops.redirect(branch, choice, choices),
        into=ops.redirect(layout.entering, layout.owner, states),
    )


def _rows(model: MDP) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    groups, rows = np.asarray(model.row_group_offsets), np.asarray(model.row_offsets)
    return groups, rows, np.asarray(model.columns)[: rows[-1]]


def traced(model: MDP, *, graph: bool = False) -> Layout:
    """Lays a model out that may be traced (pure)."""
    states, choices = model.num_states, model.num_choices
    groups, rows = jnp.asarray(model.row_group_offsets), jnp.asarray(model.row_offsets)
    owner = ops.rows_of(groups, choices)
    choice = ops.rows_of(rows, model.num_branches)
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


def shares(layout: Layout, model: MDP) -> tuple[jax.Array, ...]:
    """Probabilities of a model that may be traced; these relative to their sums (pure).

    And the sums, and more than the relative error that rounding makes in one; all in
    the floating type that JAX has.
    """
    dtype = jnp.result_type(float)
    tail, own = layout.branches.tail, len(layout.owner)  # type: ignore
    probs = jnp.where(tail < own, jnp.asarray(model.probs), 0).astype(dtype)
    # Relative to their sum: files round, and so do sums.
    total = ops.links_sum(layout.branches, jnp.ones(model.num_states, dtype), (probs,))
    share = probs / ops.take(jnp.append(total, 1), jnp.minimum(tail, own))
    most = jnp.max(jnp.diff(jnp.asarray(model.row_offsets)), initial=0)
    slack = (6 * most + 12).astype(dtype) * jnp.finfo(dtype).eps.astype(dtype)
    return probs, share, total, slack


def restrict(layout: Layout, states: Any, choices: Any) -> Layout:
    """The layout of a part of the model: bool `[S]` and `[C]`, None for all (pure)."""
    if states is not None:
        states = layout.states & jnp.asarray(states)
        inside = ops.take(states, layout.owner)
        layout = dataclasses.replace(layout, states=states, live=layout.live & inside)
    if choices is not None:
        layout = dataclasses.replace(layout, live=layout.live & jnp.asarray(choices))
    return layout


restricted = jax.jit(ops.for_devices(restrict))
"""As `restrict`, compiled: for concrete layouts."""
