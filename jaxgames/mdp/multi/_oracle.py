"""The best scheduler for weights of objectives, its point, and a bound that holds."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from jaxgames import limits, ops
from jaxgames.graph.host import reach
from jaxgames.later import jax, jnp
from jaxgames.mdp import host
from jaxgames.mdp._interval import UNDERFLOW
from jaxgames.mdp._model import owner_of
from jaxgames.mdp._region import NO_CHOICE
from jaxgames.mdp.multi._game import dot
from jaxgames.mdp.multi._product import Part, Product
from jaxgames.mdp.robust._equations import Equations, _in_order, slack_of
from jaxgames.mdp.robust._host import Aim, look_at_all
from jaxgames.mdp.robust._natures import (
    BLUR,
    Natures,
    assembled,
    numbers,
    of_choices,
)
from jaxgames.mdp.robust._solve import on_host
from jaxgames.tuning.mdp import BATCHED_FROM, PATIENCE_WITH_NATURE, ROUNDS_UNROLLED


class Circles(ValueError):
    """What is gained in an end component has no bound."""


class Setting(NamedTuple):
    """A product whose end components are one state each, and how one may end there.

    Attributes:
        product: the product.
        parts: the objectives.
        signs: float64 `[D]`, what an objective counts: 1 or -1.
        part: equations; their `base` is to be replaced.
        gains: float64 `[K, D]`, with signs.
        label: int32 `[S]`, the end component of each state, -1 for none.
        kept: bool `[C]`, the choices inside of these.
        ends: for each component the sets of limits that can be met there: bool `[D]`.
    """

    product: Product
    parts: list[Part]
    signs: np.ndarray
    part: Equations
    gains: np.ndarray
    label: np.ndarray
    kept: np.ndarray
    ends: list[list[np.ndarray]]

    @property
    def begun(self) -> list[Fraction]:
        """What is gained before the first step, with signs."""
        start, signs = self.product.start.tolist(), self.signs.tolist()
        return [Fraction(s) * Fraction(x) for s, x in zip(signs, start, strict=True)]


def setting(product: Product, parts: list[Part], signs: np.ndarray) -> Setting:
    """Makes end components one state each.

    Raises:
        Circles: something is gained again and again.
    """
    model = product.model
    gains = product.gains * signs
    owner = owner_of(model)
    free = ~(gains != 0).any(1)
    found = host.mec(model, choices=free)
    label = np.asarray(found.state_label)
    kept: np.ndarray = np.asarray(found.choice_kept)
    _check_circles(product, signs)
    ends = _ends(product, parts, label, kept)
    number, nodes = _numbers(label, int(found.count))
    rest = np.flatnonzero(~kept)
    sizes: Any = np.diff(np.asarray(model.row_offsets))
    branch_choice = np.repeat(np.arange(len(owner)), sizes)
    mine = np.flatnonzero(~kept[branch_choice])
    # Every component can be stayed in for ever, in some ways.
    stop_node = [nodes[c] for c in range(len(ends)) for _ in ends[c]]
    stop_gain = [end for options in ends for end in options]
    stops = len(stop_node)
    node = np.append(number[owner[rest]], np.array(stop_node, np.int64))
    order = np.argsort(node, kind="stable")
    length: Any = np.append(sizes[rest], np.ones(stops, np.int64))
    size = int(number.max(initial=-1)) + 1
    target = np.append(number[np.asarray(model.columns)[mine]], np.full(stops, size))
    probs = np.append(np.asarray(model.probs)[mine], np.ones(stops))
    begins = np.append(0, np.cumsum(length))
    rows = np.append(0, np.cumsum(length[order]))
    at = np.repeat(begins[order] - rows[:-1], length[order]) + np.arange(rows[-1])
    choice = np.append(rest, np.full(stops, NO_CHOICE))[order]
    nat = assembled(
        np.append(0, np.cumsum(np.bincount(node, minlength=size))),
        rows,
        target[at],
        probs[at] * (1 - BLUR),
        np.minimum(probs[at] * (1 + BLUR), 1.0),
        np.append(mine, np.full(stops, NO_CHOICE))[at],
        node[order],
        choice,
    )
    worth = np.array(stop_gain, np.float64).reshape(stops, gains.shape[1])
    all_gains = np.concatenate([gains[rest], worth * signs])[order]
    states, begins_, component = _in_order(nat, size)
    inside = np.append(component, NO_CHOICE).astype(np.int32)
    part = Equations(
        *(nat, np.zeros(len(choice)), np.zeros(1), number),
        *(np.full(len(choice), NO_CHOICE, np.int32), states, begins_, inside),
    )
    return Setting(product, parts, signs, part, all_gains, label, kept, ends)


def _numbers(label: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The node of each state, and of each component."""
    key = np.where(label >= 0, len(label) + label, np.arange(len(label)))
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    number = rank[place].astype(np.int32)
    nodes = np.zeros(count, np.int64)
    nodes[label[label >= 0]] = number[label >= 0]
    return number, nodes


def _check_circles(product: Product, signs: np.ndarray) -> None:
    """Raises Circles where something is gained again and again."""
    all_ = host.mec(product.model)
    kept = np.asarray(all_.choice_kept)
    for j in range(len(signs)):
        paid = kept & (product.gains[:, j] != 0)
        if not paid.any():
            continue
        at = int(product.choice[np.flatnonzero(paid)[0]])
        least = ", which is not supported where less is wanted, either"
        raise Circles(
            f"objective {j + 1} has no bound: choice {at} earns again and again under "
            f"some scheduler{least if signs[j] < 0 else ''}"
        )


def _ends(product: Product, parts: list[Part], label, kept) -> list[list[np.ndarray]]:
    """The sets of limits that some way to stay in a component meets, the largest."""
    count = int(label.max(initial=-1)) + 1
    wanted = [j for j, part in enumerate(parts) if part.kind == "limit"]
    none = np.zeros(len(parts), bool)
    found: list[list[np.ndarray]] = [[none] for _ in range(count)]
    if not wanted:
        return found
    ways: list[tuple[np.ndarray, Any, list]] = [(none, None, [])]
    for j in wanted:  # each subset of limits, by each of its terms
        more = []
        for met, inside, again in ways:
            for fewer, sets in parts[j].terms:
                now = met.copy()
                now[j] = True
                both = fewer if inside is None else inside & fewer
                more.append((now, both, [*again, *sets]))
        ways += more
    state = product.state
    for met, inside, again in ways[1:]:
        states = (label >= 0) & inside[state]
        part = host.mec(product.model, states=states, choices=kept)
        inner = np.asarray(part.state_label)
        good = inner >= 0
        for other in again:
            good &= np.isin(inner, inner[other[state] & (inner >= 0)])
        for c in np.unique(label[good]).tolist():
            found[c].append(met)
    for c in range(count):
        options = {tuple(x) for x in found[c]}
        found[c] = [
            np.array(x)
            for x in sorted(options)
            if not any(
                y != x and all(b or not a for a, b in zip(x, y, strict=True))
                for y in options
            )
        ]
    return found


class Stiff(Exception):
    """A component is left so seldom that rounds have told nothing of its values.

    Or they were stopped.
    """


class Answer(NamedTuple):
    """The best for some weights.

    Attributes:
        weights: the weights, fractions.
        point: what its scheduler gains of each objective at least, with signs.
        bound: what no scheduler's weighted sum is more than.
        best: int32 `[N]`, the choice of each equation.
        potential: float64 `[S]`, which shows the bound: no choice makes it larger.
    """

    weights: tuple[Fraction, ...]
    point: tuple[Fraction, ...]
    bound: Fraction
    best: np.ndarray
    potential: np.ndarray
    near: bool


def ask(
    where: Setting, weights: list[list[Fraction]], epsilon: float, stop: np.ndarray
) -> list[Answer]:
    """The best schedulers for some vectors of weights.

    Large settings are iterated for all weights in one program; what that finds is a
    start, near or not, for what bounds it on the host.

    Args:
        where: the setting.
        weights: not negative, with sum one.
        epsilon: how far apart bounds may be.
        stop: int8 `[1]`, set by another thread to end it.

    Raises:
        Stiff: too little is known of some values after many rounds.
    """
    # A hair more than the sums: rounding counts against bounds.
    bases = np.array(
        [
            where.gains @ vector + 2.0**-49 * (np.abs(where.gains) @ vector)
            for vector in np.array(weights, np.float64)
        ]
    )
    starts = np.zeros((len(weights), len(where.part.order)))
    if len(where.part.nat.target) >= BATCHED_FROM and len(weights) > 1:
        starts = iterated(where.part, bases, epsilon)
    found = []
    for vector, base, start in zip(weights, bases, starts, strict=True):
        limits.tick("optimising", len(found), "weights")
        found.append(_best(where, vector, base, start, epsilon, stop))
    return found


def _best(where, weights, base, start, epsilon, stop) -> Answer:
    part = where.part._replace(base=np.ascontiguousarray(base))
    _, upper, _ = _solved(part, start, epsilon / 4, stop, least=False)
    size = len(part.order)
    worth, best = np.zeros(len(base)), np.full(size, NO_CHOICE, np.int32)
    aim = _aim(part.nat, epsilon, least=False)
    probs = np.zeros(len(part.nat.lower))
    # The scheduler is found by the upper bounds: all choices lead out in the end.
    values = np.append(upper[:size], 0.0)
    look_at_all(part.nat, part.base, values, aim, probs, worth, best)
    mine = np.zeros(len(base), bool)
    mine[best] = True
    chain = of_choices(part.nat, mine)
    order, parts, component = _in_order(chain, size)
    inside = np.append(component, NO_CHOICE).astype(np.int32)
    root = int(part.number[0])
    point = []
    for j, begun in enumerate(where.begun):
        own = part._replace(
            nat=chain,
            base=np.ascontiguousarray(where.gains[mine, j]),
            order=order,
            parts=parts,
            inside=inside,
        )
        low, high, _ = _solved(own, np.zeros(size), epsilon / 4, stop, least=True)
        # What is further apart would not do, either.
        if not (high[root] - low[root] <= epsilon and np.isfinite(upper[root])):
            raise Stiff
        had = begun + Fraction(low[root])
        floor = _floor(where, chain, where.gains[mine, j], j)
        point.append(had if floor is None else max(had, floor))
    bound = dot(weights, where.begun) + Fraction(upper[root])
    near = bool(bound - dot(weights, point) <= epsilon)
    potential = upper[part.number]
    return Answer(tuple(weights), tuple(point), bound, best, potential, near)


def _floor(where: Setting, chain: Natures, gain: np.ndarray, j: int) -> Fraction | None:
    """What a scheduler has of an objective at least, by what its branches alone tell.

    So what always holds, such as that a probability is at most one, is met exactly.

    Args:
        where: the setting.
        chain: the choices of the scheduler, one for each node.
        gain: float64 `[N]`, what each of these gains.
        j: the objective.
    """
    if where.parts[j].reward is not None:
        return Fraction(0) if (gain >= 0).all() else None
    if where.signs[j] < 0:
        return Fraction(-1)
    return Fraction(int(where.begun[j] > 0 or _surely(where, chain, gain, j)))


def _surely(where: Setting, chain: Natures, gain: np.ndarray, j: int) -> bool:
    """Whether each run of a chain meets the goal of an objective in the end.

    All runs end surely: it does, if none can end that has not met it.
    """
    node, size = numbers(chain), len(gain)
    ends = (chain.choice == NO_CHOICE)[node]
    met = np.where(ends, gain[node] > 0, where.product.wins[chain.branch, j])
    start = np.arange(size + 1) == where.part.number[0]
    rows = np.append(chain.rows, chain.rows[-1])
    return not reach(rows, chain.target, start, None, ~met, -1)[size]


def _aim(nat: Natures, epsilon: float, *, least: bool) -> Aim:
    # Probabilities have a hair of slack, which counts against what is claimed.
    return Aim(
        *(0, int(least), 1, 1.0, slack_of(nat), UNDERFLOW["float64"]),
        *(0.0, epsilon, PATIENCE_WITH_NATURE),
    )


def _solved(part: Equations, start, epsilon: float, stop, *, least: bool):
    aim = _aim(part.nat, epsilon, least=least)
    return on_host(part, aim, -np.inf, np.inf, stop, start)


# ---- many weights at once ------------------------------------------------------------


def iterated(part: Equations, bases: np.ndarray, epsilon: float) -> np.ndarray:
    """Values for several weights in one program: float64 `[W, N]`, of no proof.

    Args:
        part: the equations.
        bases: float64 `[W, K]`, what choices earn by each vector of weights.
        epsilon: rounds end where none changes a value by more than a share of it.
    """
    nat, size = part.nat, len(part.order)
    count = len(nat.owner)
    total = np.add.reduceat(nat.lower, nat.rows[:-1])
    probs = nat.lower / np.repeat(total, np.diff(nat.rows))
    with jax.enable_x64(True):
        branches = ops.links(nat.rows, nat.target, size + 1)
        weights = tuple(map(jnp.asarray, ops.on_links(branches, nat.rows, probs)))
        choices = ops.links(nat.groups, np.arange(count, dtype=np.int32), count)
        rounds = jax.jit(jax.vmap(_rounds, (None, None, None, 0, 0)))
        values, given = jnp.zeros((len(bases), size)), jnp.asarray(bases)
        for done in range(PATIENCE_WITH_NATURE // ROUNDS_UNROLLED):
            limits.tick("iterating", ROUNDS_UNROLLED * done, "rounds")
            values, moved = rounds(branches, weights, choices, given, values)
            if float(jnp.max(moved)) <= epsilon / 16:
                break
        return np.asarray(values)


def _rounds(branches, weights, choices, base, values):
    """Some rounds for one vector of weights, and how far the last one has moved."""
    before = values
    for _ in range(ROUNDS_UNROLLED):
        before = values
        every = jnp.append(values, 0.0)
        follow = ops.links_sum(branches, every, weights)[: len(base)]
        values = ops.links_max(choices, base + follow)[: len(values)]
    return values, jnp.max(jnp.abs(values - before), initial=0.0)
