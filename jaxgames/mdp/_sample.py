"""The front door of samples: values as a function of probabilities and rewards."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jaxgames import ops, solution
from jaxgames.arena import is_traced
from jaxgames.arguments import integer, refuse_masked
from jaxgames.kept import kept
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.limits import check_room
from jaxgames.mdp import _questions
from jaxgames.mdp._asked import (
    Asked,
    as_constants,
    check_concrete,
    check_untimed,
    given,
    named_arrays,
)
from jaxgames.mdp._checks import precision
from jaxgames.mdp._equations import Open
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._paths import Until, read
from jaxgames.mdp._prob01 import prob0
from jaxgames.mdp._property import (
    Cumulative,
    LongRun,
    Place,
    Property,
    PropertyError,
    Query,
    Temporal,
    as_property,
)
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._region import check_one, check_quantitative
from jaxgames.mdp._sampled import Ask, solver
from jaxgames.mdp._tables import Tables, tables
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.tuning.mdp import SAMPLED_ROUNDS


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class SampledValues(solution.Solution):
    """Values of the states of a model whose numbers were given.

    Where numbers were a stack, `[B, ...]`, all of these have its axis first; `status`
    does too.

    Attributes:
        value: real `[S]`, near the value, and between the bounds; can be
            differentiated.
        lower: real `[S]`, proved lower bounds; constant to `jax.grad`.
        upper: real `[S]`, proved upper bounds, likewise; infinite where values are.
    """

    value: Any = None
    lower: Any = None
    upper: Any = None

    def __repr__(self) -> str:
        return f"SampledValues({list(np.shape(self.value))})"


def values(
    model: MDP,
    asked: str | Property,
    *,
    probabilities: Any = None,
    rewards: Any = None,
    constants: Mapping[str, Any] | None = None,
    epsilon: float = 1e-6,
    relative: bool = True,
    max_steps: int | None = None,
    throw: bool = True,
) -> SampledValues:
    """Values as a function of probabilities and rewards: for `jit`, `vmap` and `grad`.

    Where branches lead is that of a concrete model; its numbers may be traced, and may
    be many samples at once. What the graph decides (values 0, 1 and infinite, end
    components) is found once, on the host, and kept with the model. All samples run in
    one program; each has proved bounds, and a status of its own.

    The gradient is that of the implicit function theorem: where `x = b + P x` by the
    choices that are best in the end, the adjoint equations are solved, by rounds as
    well; nothing goes back through the iteration. In states whose value the graph
    decides it is zero, also where that is infinite. Where several choices are equally
    good the value has a kink, and this is the gradient of the first one: that of a
    scheduler that is optimal there, and so a generalised gradient. Probabilities are
    understood relative to their sum, so that a gradient for them tells what a change
    of that ratio does. A sample with a wrong number has status `INVALID`, and one that
    did not end another one; where the adjoint is not known either its gradient is nan.
    Second derivatives and those forward are not there.

    A round takes O(E) time and room for each sample, the number of rounds is that of
    the slowest one. Types are those of the numbers under tracing; float32 seldom meets
    the default `epsilon`, and its bounds hold all the same. Outside of tracing numbers
    are float64, and so are answers.

    Args:
        model: a concrete model with probabilities.
        asked: a property in PRISM's language, of a number, with unbounded `F`, `U`,
            `G`, `W`, `R` of states, or `R=? [ F ]`, `[ C ]`, `[ Cdiscount=g ]`.
        probabilities: real `[E]`, one for each branch of the model, or `[B, E]`: more
            than zero, as those of the model are. None for the model's.
        rewards: real `[C]`, what each choice earns with its state, or `[B, C]`; zero
            where the model's is, and more elsewhere, but for the discounted ones of a
            model with negative rewards. None for the model's.
        constants: numbers or truth values by name, for constants of the property.
        epsilon: how far apart bounds of a value may be.
        relative: whether that is relative to the value.
        max_steps: rounds at most, of all parts together.
        throw: whether to raise a `SolveError` where the bounds of a sample have not
            met; under tracing nothing is raised.

    Raises:
        PropertyError: the property is none, or another one than these.
        ValueError: another argument is wrong.
        SolveError: see `throw`.

    References:
        Christianson, Reverse accumulation and attractive fixed points, Optimization
        Methods and Software 3 (1994), doi:10.1080/10556789408805572.
        Bertsekas and Tsitsiklis, An analysis of stochastic shortest path problems,
        Math. Oper. Res. 16 (1991), doi:10.1287/moor.16.3.580.

    Examples:
        Each try succeeds with probability p, and costs 1: 1 / p in all, whose
        derivative is -1 / p^2.

        >>> import jax, numpy as np
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, 0.5, 1],
        ...     labels={"goal": [0, 1]}, choice_rewards={"cost": [1, 0]},
        ... )
        >>> def cost(p):
        ...     branches = jax.numpy.stack([1 - p, p, 1.0])
        ...     question = 'R=? [ F "goal" ]'
        ...     return mdp.values(model, question, probabilities=branches).value[0]
        >>> tries = np.array([0.25, 0.5])
        >>> jax.vmap(cost)(tries), jax.vmap(jax.grad(cost))(tries)
        (Array([4., 2.], dtype=float32), Array([-16.,  -4.], dtype=float32))
    """
    steps = SAMPLED_ROUNDS
    if max_steps is not None:
        steps = integer("max_steps", max_steps, 0)
    check_one(model)
    check_concrete(model)
    check_untimed(model)
    check_quantitative(model)
    precision(epsilon)
    constants = as_constants(constants)
    for name, value in constants.items():
        given(name, value)
    question = as_property(asked)
    defined = question.formula, question.constants, question.labels, question.others
    meant = repr((*defined, sorted(constants.items())))
    key = "sampled", meant, named_arrays(model)
    posed = kept(model, key, lambda: _posed(model, question, constants))
    near = float(epsilon)
    refuse_masked("probabilities", probabilities)
    refuse_masked("rewards", rewards)
    ask = posed.ask._replace(
        width=near if relative else 0.0,
        apart=0.0 if relative else near,
        max_steps=steps,
    )
    program = kept(model, (*key, ask), lambda: _program(ask, posed, model))
    if is_traced((probabilities, rewards)):
        numbers = (
            None if x is None else jnp.asarray(x) for x in (probabilities, rewards)
        )
        return program(posed.tables, *numbers)
    with jax.enable_x64(True):
        numbers = [
            None if x is None else np.asarray(x, np.float64)
            for x in (probabilities, rewards)
        ]
        many = max(len(x) if np.ndim(x) == 2 else 1 for x in numbers)  # type: ignore
        cells = sum(group.inside.size for group in posed.tables.groups)
        check_room(many * 8 * (3 * cells + 8 * model.num_states), "the samples")
        found = to_numpy(program(posed.tables, *numbers))
    worst = Status(int(np.max(found.status, initial=0)))
    status = found.status if np.ndim(found.status) else worst
    found = dataclasses.replace(found, status=status)
    if throw and worst != Status.SOLVED:
        raise SolveError(worst, found)
    return found


class _Posed(NamedTuple):
    """A question of a model, without its numbers."""

    ask: Ask
    tables: Tables
    reward: "_Reward | None"


class _Reward(NamedTuple):
    """The rewards of a model: those of choices and states, and those of branches."""

    choices: np.ndarray  # float64 [C]
    branches: np.ndarray | None  # float64 [E]


def _program(ask: Ask, posed: _Posed, model: MDP) -> Any:
    """The values of samples, compiled.

    Also where somebody maps or derives outside of `jit`: there each operation would be
    a program of its own.
    """

    def run(made: Tables, probabilities: Any, rewards: Any) -> SampledValues:
        # Else XLA would compute with what is constant while it compiles.
        made = jax.lax.optimization_barrier(made)
        own = posed._replace(tables=made)
        return _solved(ask, own, model, probabilities, rewards)

    return jax.jit(run)


def _solved(
    ask: Ask, posed: _Posed, model: MDP, probabilities: Any, rewards: Any
) -> SampledValues:
    """The values of one sample or of a stack (pure)."""
    traced = [x for x in (probabilities, rewards) if x is not None]
    dtype = jnp.result_type(float, *traced)
    probs = _numbers("probabilities", probabilities, model.probs, dtype)
    if rewards is None:
        earned = _earned(posed.reward, model, probs, dtype)
    else:
        if posed.reward is None:
            raise ValueError("rewards are given, and the property asks for none")
        earned = _numbers("rewards", rewards, posed.reward.choices, dtype)
    stacked = probs.ndim == 2 or earned.ndim == 2
    stacks = [x if x.ndim == 2 else x[None] for x in (probs, earned)]
    sizes = {len(x) for x in stacks} - {1}
    if len(sizes) > 1:
        raise ValueError(
            f"probabilities and rewards have {len(stacks[0])} and {len(stacks[1])} "
            "samples: pass as many of both, or one of either"
        )
    many = max(sizes, default=len(stacks[0]))
    stacks = [jnp.broadcast_to(x, (many, x.shape[1])) for x in stacks]
    found = solver(ask)(posed.tables, *stacks)
    stats = Stats(solver="samples", rounds=found.rounds)
    parts = (found.status, stats, found.value, *map(_constant, found[1:3]))
    if not stacked:
        parts = jax.tree.map(lambda x: x[0], parts)
    status, stats, value, lower, upper = parts
    return SampledValues(status, stats=stats, value=value, lower=lower, upper=upper)


def _constant(x: Any) -> Any:
    return jax.lax.stop_gradient(x)


def _numbers(name: str, values: Any, own: Any, dtype: Any) -> Any:
    """Numbers as they were given, or the model's: `[n]` or `[B, n]`."""
    values = jnp.asarray(own if values is None else values, dtype)
    if values.ndim not in (1, 2) or values.shape[-1] != len(own):
        raise ValueError(
            f"{name} must be real numbers [{len(own)}] or [B, {len(own)}], got shape "
            f"{list(values.shape)}"
        )
    return values


def _earned(reward: _Reward | None, model: MDP, probs: Any, dtype: Any) -> Any:
    """What choices earn by the model's rewards: those of branches by probabilities."""
    if reward is None:
        return jnp.zeros(model.num_choices, dtype)
    earned = jnp.asarray(reward.choices, dtype)
    if reward.branches is None:
        return earned
    source: Any = np.repeat(np.arange(model.num_choices), np.diff(model.row_offsets))
    paid = jnp.asarray(reward.branches[: len(source)], dtype)

    def mean(probs: Any) -> Any:
        probs, size = probs[: len(source)], model.num_choices
        total = ops.sum_into(source, probs, size)
        return ops.sum_into(source, probs * paid, size) / jnp.where(total, total, 1)

    more = mean(probs) if probs.ndim == 1 else jax.vmap(mean)(probs)
    return earned + more


# ---- questions -----------------------------------------------------------------------


def _posed(model: MDP, asked: Property, constants: Mapping[str, Any]) -> _Posed:
    """What is asked, as far as the graph decides it."""
    node = asked.formula
    if not isinstance(node, Query) or node.relation is not None:
        raise PropertyError(
            getattr(node, "place", Place(1, 1)),
            f"'{asked}' asks for no number: expected P..=? or R..=?",
        )

    def refuse(*_: Any, **__: Any) -> Any:
        raise _unsupported(node)

    asking = Asked(model, asked, constants, 1e-6, True, refuse)
    optimum = asking._optimum(node)
    if node.condition is not None:
        raise _unsupported(node)
    opposite, reward = False, None
    if node.operator == "P":
        path = read(node.path, asking._bounds)
        if not isinstance(path, Until) or path.first or path.last is not None:
            raise _unsupported(node)
        if opposite := path.negated:
            optimum = "min" if optimum == "max" else "max"
        left, right = asking.states(path.left), asking.states(path.right)
        posed = _questions.reach(model, right, optimum, left)
    elif node.operator == "R":
        reward = _rewards(asking, node)
        posed = _reward_posed(asking, node, optimum)
    else:
        raise _unsupported(node)
    known = posed.known
    signed = known.reward is not None and bool((known.reward < 0).any())
    made = tables(model, known, exact_signs=reward is not None and not signed)
    ask = Ask(
        least=posed.optimum == "min",
        proper=known.proper,
        signed=signed,
        opposite=opposite,
        discount=float(known.discount),
        width=0.0,
        apart=0.0,
        max_steps=0,
    )
    return _Posed(ask, made, reward)


def _reward_posed(asking: Asked, node: Query, optimum: str) -> Posed:
    model, path = asking.model, node.path
    reward = asking._rewards(asking._reward_name(node))
    if isinstance(path, Cumulative) and path.steps is None:
        discount = asking._discount(path)
        if discount < 1:
            return _questions.discounted(model, reward, optimum, discount)
        asking._not_negative(node, None, reward)
        posed = _questions.total_reward(model, reward, optimum)
    elif isinstance(path, Temporal) and not isinstance(path, LongRun):
        asking._not_negative(node, None, reward)
        target = asking.states(path.operands[0])
        posed = _questions.reward_until(model, reward, target, optimum)
    else:
        raise _unsupported(node)
    if optimum == "min":
        return posed
    # Where nothing can be earned the value is zero, and bounds need not come near it.
    known = posed.known
    pays = np.zeros(model.num_states + 1, bool)
    pays[owner_of(model)[known.live & (reward > 0)]] = True
    idle = np.asarray(
        prob0(model, pays[:-1] & known.open_, "max", states=known.open_).states
    )
    return posed._replace(known=_without(known, idle & known.open_))


def _without(known: Open, idle: np.ndarray) -> Open:
    """What is known if some open states are worth nothing."""
    found, stop = known.components, known.stop
    if found is not None:
        label = np.asarray(found.state_label)
        gone = np.zeros(int(found.count), bool)
        gone[label[idle & (label >= 0)]] = True
        new = np.where(gone, -1, np.cumsum(~gone) - 1)
        label = np.where(label >= 0, new[label], -1).astype(label.dtype)
        found = dataclasses.replace(
            found, state_label=label, count=np.int32((~gone).sum())
        )
        stop = None if stop is None else stop[:, ~gone]
    return known._replace(open_=known.open_ & ~idle, components=found, stop=stop)


def _rewards(asking: Asked, node: Query) -> _Reward:
    model, name = asking.model, asking._reward_name(node)
    choices = np.zeros(model.num_choices)
    states = (model.state_rewards or {}).get(name)
    if states is not None:
        choices += np.append(np.asarray(states), 0.0)[owner_of(model)]
    own = (model.choice_rewards or {}).get(name)
    if own is not None:
        choices += np.asarray(own)
    branches = (model.branch_rewards or {}).get(name)
    return _Reward(choices, None if branches is None else np.asarray(branches))


def _unsupported(node: Query) -> PropertyError:
    return PropertyError(
        node.place,
        f"'{node}' is not supported for samples: F, U, G, W, R of states without "
        "bounds are, and rewards F, C and Cdiscount; check takes one model",
    )
