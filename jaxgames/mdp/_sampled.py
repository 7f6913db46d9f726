"""Values of many samples of the numbers of one model, and their gradients.

All is computed with samples along the last axis, so that what is gathered for a state
lies together, and a program is one for any number of them. Loops go on until the last
sample is done; those that are done go on coming nearer.
"""

import functools
import operator
from typing import Any, NamedTuple

from jaxgames import fixpoint, ops
from jaxgames.later import jax, jnp
from jaxgames.mdp._interval import UNDERFLOW
from jaxgames.mdp._tables import Group, Tables
from jaxgames.solution import Status
from jaxgames.tuning.mdp import LOOKS, SHARPENED, WRITTEN_OUT


class Ask(NamedTuple):
    """What is asked of tables, beside their numbers.

    Attributes:
        least: whether the least choice counts.
        proper: whether all schedulers get out of the open states.
        signed: whether rewards may be negative.
        opposite: whether one less the value is wanted.
        discount: what a step is worth beside the one before it.
        width: how far apart bounds may stay, relative to the lower one.
        apart: and more, as it is.
        max_steps: rounds at most.
    """

    least: bool
    proper: bool
    signed: bool
    opposite: bool
    discount: float
    width: float
    apart: float
    max_steps: int


class Bounds(NamedTuple):
    """Values of states: each `[B, S]`, and of samples `[B]`."""

    value: Any
    lower: Any
    upper: Any
    status: Any
    rounds: Any


class Point(NamedTuple):
    """Where a gradient is taken: open states, each `[B, N]`."""

    value: Any
    choice: Any  # int32, its place in the table
    steps: Any  # more than how many follow


class Numbers(NamedTuple):
    """A group with its numbers: samples last."""

    group: Group
    base: Any  # [n, m, B]
    weight: Any  # [n, m, w, B]


@functools.lru_cache(64)
def solver(ask: Ask) -> Any:
    """What solves samples: `(tables, probs [B, E], rewards [B, C]) -> Bounds`.

    It can be mapped and differentiated: the gradient is that of the equations of the
    choices that are best in the end, by the implicit function theorem.
    """

    def plainly(made: Tables, probs: Any, rewards: Any) -> tuple[Bounds, Point]:
        return _solve(ask, made, probs, rewards)

    def backwards(made, probs, rewards, point, given):
        return _gradient(ask, made, probs, rewards, point, given)

    forward, backward = _mapped(plainly), _mapped(backwards)

    @jax.custom_vjp
    def solve(made: Tables, probs: Any, rewards: Any) -> Bounds:
        return forward(made, probs, rewards)[0]

    def remembered(made: Tables, probs: Any, rewards: Any):
        found, point = forward(made, probs, rewards)
        return found, (made, probs, rewards, point)

    def pulled(kept: tuple, given: Bounds):
        made, probs, rewards, point = kept
        return (None, *backward(made, probs, rewards, point, given.value))

    solve.defvjp(remembered, pulled)
    return solve


def _mapped(function: Any) -> Any:
    """A function of tables and of stacks: mapped, it takes a larger stack."""

    @jax.custom_batching.custom_vmap
    def call(made, *stacks):
        return function(made, *stacks)

    @call.def_vmap
    def rule(size, mapped, made, *stacks):
        if any(jax.tree.leaves(mapped[0])):
            raise ValueError("a model cannot be mapped over: map over its numbers")
        small = jax.tree.leaves(stacks)[0]
        each = small.shape[1 if jax.tree.leaves(mapped[1:])[0] else 0]

        def whole(x: Any, is_mapped: bool) -> Any:
            x = x if is_mapped else jnp.broadcast_to(x, (size, *x.shape))
            return x.reshape(size * each, *x.shape[2:])

        found = call(made, *jax.tree.map(whole, stacks, tuple(mapped[1:])))
        found = jax.tree.map(lambda x: x.reshape(size, each, *x.shape[1:]), found)
        return found, jax.tree.map(lambda _: True, found)

    return call


# ---- solving -------------------------------------------------------------------------


class _Steps(NamedTuple):
    """More than how many steps follow, once that is so."""

    now: Any  # [N, B]
    enough: Any  # [N, B]
    met: Any  # bool [B]
    rounds: Any


class _Values(NamedTuple):
    """Values, what they are between, and whether that is near enough."""

    value: Any  # [N, B]
    lower: Any  # [N, B]
    upper: Any  # [N, B]
    met: Any  # bool [B]
    near: Any  # bool [B]: bounds are to be sharpened, values come no nearer
    needed: Any  # int32 [B]: the rounds it took
    rounds: Any


def _solve(ask: Ask, made: Tables, probs: Any, rewards: Any) -> tuple[Bounds, Point]:
    probs, rewards, valid = _checked(ask, made, probs.T, rewards.T)
    parts = _numbers(ask, made, probs, rewards)
    shape = len(made.into_order), probs.shape[1]
    slack = jnp.asarray(made.slack * jnp.finfo(probs.dtype).eps, probs.dtype)
    if not shape[0]:
        nothing = jnp.zeros(shape, probs.dtype)
        rounds = jnp.zeros(shape[1:], jnp.int32)
        met = jnp.ones(shape[1:], bool)
        found = _Values(nothing, nothing, nothing, met, met, rounds, jnp.int32(0))
        point = Point(nothing, nothing.astype(jnp.int32), nothing)
    elif ask.proper:
        steps = _steps(ask, parts, shape, slack, None, jnp.int32(0))
        found = _values(ask, parts, steps, slack)
        found = _sharpened(ask, parts, found, slack)
        point = Point(found.value, _choices(ask, parts, found.value), steps.enough)
    else:
        found, point = _from_below(ask, parts, shape, slack)
        found = _sharpened(ask, parts, found, slack)
    return _told(ask, made, found, valid), Point(*(x.T for x in point))


def _from_below(ask: Ask, parts: list[Numbers], shape: tuple, slack: Any):
    """Values where some schedulers never get out, which costs them infinitely much.

    From zero, rounded down, values are lower bounds; what the best scheduler by these
    is worth is an upper one, as soon as it gets out.
    """
    zero = jnp.zeros(shape, slack.dtype)

    def step(now: tuple) -> tuple:
        x, _, rounds = now
        x = fixpoint.repeat(LOOKS - 1, higher, x)
        new = higher(x)
        return new, jnp.max(new - x, axis=0), rounds + LOOKS

    def higher(x: Any) -> Any:
        return jnp.maximum(x, _best(ask, parts, x, slack, -1))

    def tried(close: Any, now: tuple) -> tuple:
        top = jnp.max(now[0], axis=0)
        few = now[1] <= close * (ask.width * top + ask.apart)
        return jnp.all(few | (now[1] <= 0)) | (now[2] >= ask.max_steps)

    def attempt(now: tuple) -> tuple:
        (x, gap, rounds), found, _, close = now
        x, gap, rounds = fixpoint.until(
            functools.partial(tried, close), step, (x, gap, rounds)
        )
        choice = _choices(ask, parts, x)
        steps = _steps(ask, parts, shape, slack, choice, rounds)
        more = _worth_of(parts, choice, x, slack, 1)
        up = jnp.max(more - x, axis=0)
        up = jnp.where(steps.met, jnp.maximum(up, 0), jnp.inf)
        upper = jnp.where(up > 0, x + up * steps.enough * (1 + _hair(x)), x)
        upper = jnp.minimum(found.upper, jnp.where(up > 0, upper + _tiny(upper), x))
        lower = jnp.maximum(found.lower, x)
        met = steps.met & _met(ask, lower, upper)
        needed = jnp.where(found.met, found.needed, rounds)
        found = _Values(x, lower, upper, met, gap <= 0, needed, steps.rounds)
        point = Point(x, choice, steps.enough)
        return (x, gap, steps.rounds), found, point, close / 16

    def over(now: tuple) -> Any:
        found = now[1]
        return jnp.all(found.met | found.near) | (found.rounds >= ask.max_steps)

    none = jnp.zeros(shape[1:], bool)
    count = jnp.zeros(shape[1:], jnp.int32)
    start = _Values(zero, zero, zero + jnp.inf, none, none, count, jnp.int32(0))
    begin = (
        (zero, jnp.full(shape[1:], jnp.inf, zero.dtype), jnp.int32(0)),
        *(start, Point(zero, zero.astype(jnp.int32), zero)),
        jnp.asarray(1 / 64, zero.dtype),
    )
    _, found, point, _ = fixpoint.until(over, attempt, begin)
    return found, point


def _steps(ask: Ask, parts, shape, slack, choice, rounds) -> _Steps:
    """An upper bound of the steps that follow: `w >= 1 + P w`.

    Under all choices, or under those that are given.
    """

    def longest(x: Any) -> Any:
        follow = [_follow(part, x) * (1 + slack) for part in parts]
        if choice is None:
            ends = [
                jnp.max(jnp.where(part.group.real[..., None], y, 0), axis=1)
                for part, y in zip(parts, follow, strict=True)
            ]
        else:
            ends = _at(choice, follow)
        return (1 + _joined(ends)) * (1 + _hair(x))

    def step(now: _Steps) -> _Steps:
        x = fixpoint.repeat(LOOKS - 1, longest, now.now)
        more = longest(x)
        rest = jnp.max(more - x, axis=0)
        # Less than a step is missing, and rounding is relative to all of them.
        grown = 1 + 8 * _hair(x) * jnp.max(more, axis=0)
        scaled = more * (grown / (1 - jnp.clip(rest, 0, 0.9)))
        holds = (rest < 0.75) & jnp.all(longest(scaled) <= scaled, axis=0)
        enough = jnp.where(holds & ~now.met, scaled, now.enough)
        # What grows for ever is no number in the end.
        more = jnp.minimum(more, 1e30)
        return _Steps(more, enough, now.met | holds, now.rounds + LOOKS + 1)

    def over(now: _Steps) -> Any:
        return jnp.all(now.met) | (now.rounds >= ask.max_steps)

    one = jnp.ones(shape, slack.dtype)
    none = jnp.zeros(shape[1:], bool)
    return fixpoint.until(over, step, _Steps(one, one + jnp.inf, none, rounds))


def _values(ask: Ask, parts: list[Numbers], steps: _Steps, slack: Any) -> _Values:
    """Values from zero, until what a round changes says that they are near."""
    shape, w = steps.enough.shape, steps.enough

    def step(now: _Values) -> _Values:
        x = fixpoint.repeat(
            LOOKS - 1, lambda x: _best(ask, parts, x, slack, 0), now.value
        )
        new = _best(ask, parts, x, slack, 0)
        up = jnp.max(_best(ask, parts, x, slack, 1) - x, axis=0)
        down = jnp.max(x - _best(ask, parts, x, slack, -1), axis=0)
        up, down = jnp.maximum(up, 0), jnp.maximum(down, 0)
        more, less = (t * w * (1 + _hair(x)) for t in (up, down))
        more = jnp.where(up > 0, more + _tiny(jnp.abs(x) + more), 0)
        less = jnp.where(down > 0, less + _tiny(jnp.abs(x) + less), 0)
        # Where nobody knows how many steps follow, nothing follows.
        lower = jnp.where(steps.met, jnp.maximum(now.lower, x - less), now.lower)
        upper = jnp.where(steps.met, jnp.minimum(now.upper, x + more), now.upper)
        met = now.met | _met(ask, lower, upper)
        top = jnp.max(jnp.abs(x), axis=0)
        wide = jnp.max(more + less, axis=0)
        near = wide <= 0.25 * (ask.width * top + ask.apart)
        near |= jnp.all(new == x, axis=0) | ~steps.met
        rounds = now.rounds + LOOKS + 2
        needed = jnp.where(now.met | now.near, now.needed, rounds)
        return _Values(new, lower, upper, met, now.near | near, needed, rounds)

    def over(now: _Values) -> Any:
        return jnp.all(now.met | now.near) | (now.rounds >= ask.max_steps)

    zero = jnp.zeros(shape, w.dtype)
    none = jnp.zeros(shape[1:], bool)
    # Nothing is less than nothing, where no reward is.
    least = zero - jnp.inf if ask.signed else zero
    needed = jnp.zeros(shape[1:], jnp.int32)
    begin = _Values(zero, least, zero + jnp.inf, none, none, needed, steps.rounds)
    return fixpoint.until(over, step, begin)


def _sharpened(ask: Ask, parts: list[Numbers], found: _Values, slack: Any) -> _Values:
    """What the equations make of bounds are bounds: for values that are very small."""

    def step(now: tuple) -> tuple:
        found, _ = now
        lower = jnp.maximum(found.lower, _best(ask, parts, found.lower, slack, -1))
        upper = jnp.minimum(found.upper, _best(ask, parts, found.upper, slack, 1))
        gap = found.upper - found.lower
        moves = jnp.any(upper - lower < 0.9999 * gap, axis=0)
        met, rounds = _met(ask, lower, upper), found.rounds + 1
        needed = jnp.where(found.met, found.needed, rounds)
        found = found._replace(
            lower=lower, upper=upper, met=met, rounds=rounds, needed=needed
        )
        return found, moves

    def over(now: tuple) -> Any:
        found, moves = now
        stuck = ~jnp.any(moves & ~found.met) | (found.rounds >= limit)
        return jnp.all(found.met) | stuck

    finite = jnp.all(jnp.isfinite(found.upper) & jnp.isfinite(found.lower), axis=0)
    limit = jnp.minimum(found.rounds + SHARPENED, ask.max_steps)
    return fixpoint.until(over, step, (found, finite))[0]


def _told(ask: Ask, made: Tables, found: _Values, valid: Any) -> Bounds:
    """What that says of the states of the model."""
    status = jnp.where(found.met, Status.SOLVED, Status.PRECISION)
    late = ~found.met & (found.rounds >= ask.max_steps)
    status = jnp.where(late, Status.MAX_STEPS, status)
    status = jnp.where(valid, status, Status.INVALID)
    x = jnp.clip(found.value, found.lower, found.upper)
    known = jnp.asarray(made.known, x.dtype)[:, None]

    def everywhere(x: Any, invalid: float) -> Any:
        line = jnp.zeros((1, x.shape[1]), x.dtype)
        own = ops.take(jnp.concatenate([x, line]), made.number)
        own = jnp.where((made.number < len(x))[:, None], own, known)
        return jnp.where(valid, own, invalid)

    x, lower, upper = (
        everywhere(*pair)
        for pair in (
            (x, jnp.nan),
            (found.lower, -jnp.inf),
            (found.upper, jnp.inf),
        )
    )
    if ask.opposite:
        # An end at 0 or 1 is known by the graph, or was proved: rounding adds nothing.
        x, (lower, upper) = 1 - x, _one_less(lower, upper)
    needed = jnp.where(found.met | found.near, found.needed, found.rounds)
    return Bounds(x.T, lower.T, upper.T, status.astype(jnp.int32), needed)


def _one_less(lower: Any, upper: Any) -> tuple[Any, Any]:
    hair = _hair(lower)
    least = jnp.where(upper == 0, 1.0, jnp.maximum(1 - upper - hair, 0))
    most = jnp.where(lower == 1, 0.0, jnp.minimum(1 - lower + hair, 1))
    finite = jnp.isfinite(upper)
    return jnp.where(finite, least, -jnp.inf), jnp.where(finite, most, jnp.inf)


# ---- equations -----------------------------------------------------------------------


def _checked(ask: Ask, made: Tables, probs: Any, rewards: Any):
    """Numbers `[E, B]` and `[C, B]`, harmless ones for samples that are none; which."""
    counts = jnp.asarray(made.counts)[:, None]
    good = (probs > 0) & (probs < jnp.inf)
    valid = jnp.all(good | ~counts, axis=0)
    pays, free = (jnp.asarray(x)[:, None] for x in (made.pays, made.free))
    fits = jnp.isfinite(rewards) & ((rewards > 0) | ~pays) & ((rewards == 0) | ~free)
    valid &= jnp.all(fits, axis=0)
    own = jnp.asarray(made.probs, probs.dtype)[:, None]
    probs = jnp.where(valid & counts, probs, own)
    return probs, jnp.where(valid, rewards, pays.astype(rewards.dtype)), valid


def _numbers(ask: Ask, made: Tables, probs: Any, rewards: Any) -> list[Numbers]:
    """The equations of samples: probabilities are relative to their sum.

    A choice that leads back to its own state counts as often as it takes to leave.
    """
    line = jnp.zeros((1, probs.shape[1]), probs.dtype)
    probs, rewards = (jnp.concatenate([x, line]) for x in (probs, rewards))
    found = []
    for group in made.groups:
        inside, sure = ops.take(probs, group.inside), ops.take(probs, group.sure)
        back = jnp.sum(ops.take(probs, group.back), axis=2)
        leaves = jnp.sum(inside, axis=2) + jnp.sum(sure, axis=2)
        total = leaves + back
        leaves = leaves + (1 - ask.discount) * back
        leaves = jnp.where((group.real & ~group.stops)[..., None], leaves, 1)
        worth = jnp.asarray(group.worth, probs.dtype)[..., None]
        known = ask.discount * jnp.sum(sure * worth, axis=2)
        base = (ops.take(rewards, group.choice) * total + known) / leaves
        weight = ask.discount * inside / leaves[:, :, None]
        found.append(Numbers(group, base, weight))
    return found


def _follow(part: Numbers, x: Any) -> Any:
    """What choices expect of the states that follow: `[n, m, B]`."""
    weight, target = part.weight, part.group.target
    if 0 < weight.shape[2] <= WRITTEN_OUT:
        each = (
            weight[:, :, i] * ops.take(x, target[:, :, i])
            for i in range(weight.shape[2])
        )
        return functools.reduce(operator.add, each)
    return jnp.sum(weight * ops.take(x, target), axis=2)


def _worth(part: Numbers, x: Any, slack: Any, sign: int, signed: bool) -> Any:
    """What choices are worth; rounded up (1), down (-1), or as it comes (0)."""
    found = part.base + _follow(part, x)
    if sign:
        size = found
        if signed:
            size = jnp.abs(part.base) + _follow(part, jnp.abs(x))
        away = slack * size + jnp.where(size > 0, UNDERFLOW[x.dtype.name], 0)
        found = found + sign * away
    return found


def _best(ask: Ask, parts: list[Numbers], x: Any, slack: Any, sign: int) -> Any:
    """What states are worth: one round."""
    found, nothing = [], jnp.inf if ask.least else -jnp.inf
    for part in parts:
        worth = _worth(part, x, slack, sign, ask.signed)
        if (count := worth.shape[1]) > 1:
            worth = jnp.where(part.group.real[..., None], worth, nothing)
        if count <= WRITTEN_OUT:
            better = jnp.minimum if ask.least else jnp.maximum
            found.append(functools.reduce(better, (worth[:, i] for i in range(count))))
        else:
            found.append((jnp.min if ask.least else jnp.max)(worth, axis=1))
    return _joined(found)


def _choices(ask: Ask, parts: list[Numbers], x: Any) -> Any:
    """The first best choice of each state: int32 `[N, B]`."""
    found, nothing = [], jnp.inf if ask.least else -jnp.inf
    for part in parts:
        worth = _worth(part, x, 0, 0, ask.signed)
        worth = jnp.where(part.group.real[..., None], worth, nothing)
        found.append((jnp.argmin if ask.least else jnp.argmax)(worth, axis=1))
    return _joined(found).astype(jnp.int32)


def _worth_of(parts: list[Numbers], choice: Any, x: Any, slack: Any, sign: int) -> Any:
    """What states are worth by given choices, where nothing is negative."""
    each = [_worth(part, x, slack, sign, False) for part in parts]
    return _joined(_at(choice, each))


def _at(choice: Any, values: list) -> list:
    """Of values of choices those of given ones: `[n, B]` each."""
    found, begin = [], 0
    for x in values:
        end = begin + len(x)
        mine = choice[begin:end, None] == jnp.arange(x.shape[1])[:, None]
        found.append(jnp.sum(jnp.where(mine, x, 0), axis=1))
        begin = end
    return found


def _joined(parts: list) -> Any:
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _met(ask: Ask, lower: Any, upper: Any) -> Any:
    near = ask.width * jnp.abs(lower) + ask.apart
    if ask.opposite:
        near = ask.width * jnp.maximum(1 - upper, 0) + ask.apart
    return jnp.all(upper - lower <= near, axis=0)


def _hair(x: Any) -> Any:
    """A few roundings."""
    return 8 * jnp.finfo(x.dtype).eps


def _tiny(x: Any) -> Any:
    """What a sum of such numbers may lose."""
    return 2 * jnp.finfo(x.dtype).eps * x


# ---- gradients -----------------------------------------------------------------------


def _gradient(ask: Ask, made: Tables, probs: Any, rewards: Any, point: Point, given):
    """The gradient for probabilities `[B, E]` and rewards `[B, C]`.

    Where `x = b + P x` by the best choices, a change of the right side by d changes the
    solution by (I - P)^-1 d: so what is given is taken back through that, by rounds of
    the transposed equation, and then through the right side.
    """
    x, choice, w = (y.T for y in point)
    probs, rewards = probs.T, rewards.T
    valid = _checked(ask, made, probs, rewards)[2]
    size = len(made.into_order)
    if not size:
        return jnp.zeros_like(probs.T), jnp.zeros_like(rewards.T)
    known = valid & jnp.all(jnp.isfinite(w), axis=0)
    given = jnp.where(known, given.T, 0)
    given = -given if ask.opposite else given
    here = jnp.minimum(made.number, size)
    start = jnp.zeros((size + 1, x.shape[1]), x.dtype).at[here].add(given)[:-1]

    def right_side(probs: Any, rewards: Any) -> Any:
        probs, rewards, _ = _checked(ask, made, probs, rewards)
        parts = _numbers(ask, made, probs, rewards)
        worth = [part.base + _follow(part, x) for part in parts]
        return _joined(_at(choice, worth))

    fixed = _numbers(ask, made, *_checked(ask, made, probs, rewards)[:2])
    chosen, begin = [], 0
    for part in fixed:
        mine = choice[begin : begin + len(part.base), None]
        mine = mine == jnp.arange(part.base.shape[1])[:, None]
        chosen.append(jnp.where(mine[:, :, None], part.weight, 0))
        begin += len(part.base)

    def back(y: Any) -> Any:
        """What the transposed equations make of it: `P^T y`."""
        cells, begin = [], 0
        for weight in chosen:
            end = begin + len(weight)
            own = y[begin:end, None, None] * weight
            cells.append(own.reshape(-1, y.shape[1]))
            begin = end
        cells.append(jnp.zeros((1, y.shape[1]), y.dtype))
        flat = jnp.concatenate(cells)
        sums = [jnp.sum(ops.take(flat, table), axis=1) for table in made.into]
        return ops.take(jnp.concatenate(sums), made.into_order)

    close = jnp.finfo(x.dtype).eps * 64

    def step(now: tuple) -> tuple:
        def once(sums: tuple) -> tuple:
            rest = back(sums[1])
            return sums[0] + rest, rest

        return *fixpoint.repeat(LOOKS - 1, once, now[:2]), now[2] + LOOKS - 1

    def over(now: tuple) -> Any:
        whole, rest, rounds = now
        left = jnp.sum(jnp.abs(rest) * w, axis=0)
        met = left <= close * jnp.max(jnp.abs(whole), axis=0)
        return jnp.all(met) | (rounds >= ask.max_steps)

    w = jnp.where(jnp.isfinite(w), w, 0)
    whole = fixpoint.until(over, step, (start, start, jnp.int32(0)))[0]
    _, pull = jax.vjp(right_side, probs, rewards)
    return tuple(jnp.where(known, y, jnp.nan).T for y in pull(whole))
