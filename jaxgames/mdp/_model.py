"""The model: a Markov decision process as a pytree of CSR arrays.

Everything here runs on the host, on numpy arrays. A model is a pytree, so it travels
into ``jax.jit`` and ``jax.vmap`` like any other argument.
"""

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxgames.arena import Arena, bucket, is_traced, padded
from jaxgames.arguments import integer
from jaxgames.host import lend
from jaxgames.kept import kept
from jaxgames.later import jax
from jaxgames.mdp._checks import booleans as booleans
from jaxgames.mdp._checks import (
    bounds,
    integers,
    named,
    numbers,
    probabilities,
    rates,
    reals,
    rows,
    sound,
    taken_at_once,
)
from jaxgames.value import Value, exportable, freeze


@exportable("jaxgames.mdp.MDP")
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MDP(Value):
    """A Markov decision process: states with choices, choices with branches.

    In a state somebody picks one of its choices; the choice then leads to the target of
    one of its branches, each with its probability. Build a model with
    [`MDP.from_arrays`][jaxgames.mdp.MDP.from_arrays], which checks its input. `S`, `C`
    and `E` are the numbers of states, choices and branches, padding included. Padding
    comes last: states without choices, choices and branches that belong to nobody.

    Attributes:
        row_group_offsets: int32 `[S + 1]`; the choices of state `s` are
            `row_group_offsets[s] .. row_group_offsets[s + 1] - 1`.
        row_offsets: int32 `[C + 1]`; the branches of choice `c` are
            `row_offsets[c] .. row_offsets[c + 1] - 1`.
        columns: int32 `[E]`, the state that each branch leads to.
        probs: float64 `[E]`, the probability of each branch, or None. What asks only
            where branches lead does not need them.
        lower: float64 `[E]`, the least probability of each branch, where only bounds
            are known: an interval model. It has `upper` too, and no `probs`.
        upper: float64 `[E]`, the greatest probability of each branch, or None.
        initial: int32 `[K]`, the initial states, or None.
        labels: named sets of states, bool `[S]` each, or None.
        choice_labels: named sets of choices, bool `[C]` each, or None.
        state_rewards: float64 `[S]` by name, or None.
        choice_rewards: float64 `[C]` by name, or None.
        branch_rewards: float64 `[E]` by name, or None. The reward model of a name is
            the sum of what states, choices and branches have by that name; the empty
            name is that of a reward model without one.
        valuations: the value of each variable in each state, by the variable's name:
            int64, float64 or bool `[S]` each; or None.
        exit_rates: float64 `[S]`, of a Markov chain in continuous time the rate at
            which each state is left, per unit of time; or None. Then a state's reward
            is what it earns in a unit of time, and a choice's what leaving it earns.

    What moves in continuous time is for [`check`][jaxgames.mdp.check]; all else sees
    the chain of its jumps. Interval models are for it, too; all else refuses them.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2], [1, 0.5, 0.5, 1, 1]
        ... )
        >>> model
        MDP(3 states, 4 choices, 5 branches)
        >>> [targets.tolist() for targets in model.successors(0)]
        [[0], [1, 2]]
    """

    row_group_offsets: Any
    row_offsets: Any
    columns: Any
    probs: Any = None
    initial: Any = None
    labels: Mapping[str, Any] | None = None
    choice_labels: Mapping[str, Any] | None = None
    state_rewards: Mapping[str, Any] | None = None
    choice_rewards: Mapping[str, Any] | None = None
    branch_rewards: Mapping[str, Any] | None = None
    valuations: Mapping[str, Any] | None = None
    lower: Any = None
    upper: Any = None
    exit_rates: Any = None

    # ---- building -----------------------------------------------------------

    @classmethod
    def from_arrays(
        cls,
        row_group_offsets,
        row_offsets,
        columns,
        probs=None,
        *,
        initial=None,
        labels=None,
        choice_labels=None,
        state_rewards=None,
        choice_rewards=None,
        branch_rewards=None,
        valuations=None,
        lower=None,
        upper=None,
        exit_rates=None,
    ) -> "MDP":
        """Builds a model from compressed rows, as Storm and UMB files have them.

        Several branches of a choice may lead to one state, and several choices of a
        state may be the same. A branch of probability zero is no branch: it is left
        out. So is one whose upper bound is zero.

        Args:
            row_group_offsets: integers `[S + 1]`, ascending from 0 to `C`.
            row_offsets: integers `[C + 1]`, ascending from 0 to `E`.
            columns: integers `[E]`, states from 0 to `S - 1`.
            probs: real numbers `[E]`, not negative; those of a choice sum up to one.
            initial: integers, states.
            labels: booleans or 0/1 `[S]` by name.
            choice_labels: booleans or 0/1 `[C]` by name.
            state_rewards: real numbers `[S]` by name.
            choice_rewards: real numbers `[C]` by name.
            branch_rewards: real numbers `[E]` by name.
            valuations: the value of each variable in each state: integers, real
                numbers or booleans `[S]` by name.
            lower: real numbers `[E]`, in the place of `probs`: the least probability
                of each branch. Those of a choice sum up to one or less.
            upper: real numbers `[E]`, the greatest, likewise to one or more.
            exit_rates: positive numbers `[S]`, of a chain in continuous time; the rate
                of a branch is its probability times that of its state.

        Raises:
            ValueError: naming the state and the choice: a state without choice, a
                choice without branches, a target that is no state, a probability that
                is negative or no number, probabilities that do not sum up to one,
                bounds between which no probabilities are; or an array has the wrong
                type, length or range.
        """
        given = row_group_offsets, row_offsets, columns
        taken = taken_at_once(*given, probs)
        row_group_offsets, row_offsets, columns = taken[:3] if taken else rows(*given)
        size, choices = len(row_group_offsets) - 1, len(row_offsets) - 1
        lower, upper = bounds(lower, upper, probs, row_group_offsets, row_offsets)
        branch_rewards = named("branch reward", branch_rewards, reals, len(columns))
        positive = False
        if taken:
            probs, positive = taken[3:]
        elif probs is not None:
            probs = probabilities(probs, row_group_offsets, row_offsets)
        most = upper if probs is None else None if positive else probs
        if most is not None and not np.all(most > 0):
            kept = most > 0
            before = np.append(0, np.cumsum(kept))
            row_offsets = freeze(before[row_offsets].astype(np.int32))
            columns = freeze(columns[kept])
            probs, lower, upper = (
                None if x is None else freeze(x[kept]) for x in (probs, lower, upper)
            )
            branch_rewards = branch_rewards and {
                name: freeze(x[kept]) for name, x in branch_rewards.items()
            }
        if initial is not None:
            initial = integers("initial", initial)
            wrong = initial[(initial < 0) | (initial >= size)]
            if len(wrong):
                raise ValueError(
                    f"initial state {wrong[0]} is not there: expected states from 0 to "
                    f"{size - 1}"
                )
            initial = initial.astype(np.int32, copy=False)
        model = cls(
            row_group_offsets=row_group_offsets,
            row_offsets=row_offsets,
            columns=columns,
            probs=probs,
            initial=initial,
            labels=named("label", labels, booleans, size),
            choice_labels=named("choice label", choice_labels, booleans, choices),
            state_rewards=named("state reward", state_rewards, reals, size),
            choice_rewards=named("choice reward", choice_rewards, reals, choices),
            branch_rewards=branch_rewards,
            valuations=named("variable", valuations, numbers, size),
            lower=lower,
            upper=upper,
            exit_rates=rates(exit_rates, probs, row_group_offsets),
        )
        return sound(model)

    # ---- looking ------------------------------------------------------------

    @property
    def num_states(self) -> int:
        """Number of states, padding included."""
        return self.row_group_offsets.shape[-1] - 1

    @property
    def num_choices(self) -> int:
        """Number of choices, padding included."""
        return self.row_offsets.shape[-1] - 1

    @property
    def num_branches(self) -> int:
        """Number of branches, padding included."""
        return self.columns.shape[-1]

    def successors(self, state: int) -> list[np.ndarray]:
        """Targets of the branches of each choice of a state, in order (host only)."""
        first, last = self.row_group_offsets[state : state + 2]
        cuts = np.asarray(self.row_offsets[first : last + 1])
        return [np.asarray(self.columns[i:j]) for i, j in itertools.pairwise(cuts)]

    def graph(self) -> Arena:
        """The graph of the model: an edge for each branch (host only).

        Its edges are the branches in order; several of a state may lead to one target.
        A padding state has no edge.
        """
        edges = int(self.row_offsets[self.row_group_offsets[-1]])
        return Arena.from_csr(
            self.row_offsets[self.row_group_offsets],
            self.columns[:edges],
            owner=freeze(np.zeros(self.num_states, bool)),
            dead_ends="allow",
        )

    def __repr__(self) -> str:
        if is_traced(self.columns) or np.ndim(self.columns) != 1:
            return f"MDP(branches {getattr(self.columns, 'shape', '?')})"
        return (
            f"MDP({self.num_states} states, {self.num_choices} choices, "
            f"{self.num_branches} branches)"
        )

    # ---- making others ------------------------------------------------------

    def pad(
        self,
        num_states: int | None = None,
        num_choices: int | None = None,
        num_branches: int | None = None,
    ) -> "MDP":
        """Adds states, choices and branches that count for nothing.

        Models of one padded size share one compilation and can be stacked. What is
        added comes last: states without choices, which are in no label, and choices and
        branches that belong to nobody.

        Args:
            num_states: states wanted; by default the next of a few sizes.
            num_choices: choices wanted, likewise.
            num_branches: branches wanted, likewise.

        Raises:
            ValueError: the model is larger than that.
        """
        old = self.num_states, self.num_choices, self.num_branches
        wanted = {
            "num_states": num_states,
            "num_choices": num_choices,
            "num_branches": num_branches,
        }
        new = [
            bucket(have) if want is None else integer(name, want, 0)
            for have, (name, want) in zip(old, wanted.items(), strict=True)
        ]
        if any(want < have for have, want in zip(old, new, strict=True)):
            raise ValueError(
                "cannot pad {} states, {} choices and {} branches to {}, {} and "
                "{}".format(*old, *new)
            )
        more = [want - have for have, want in zip(old, new, strict=True)]
        return dataclasses.replace(
            self,
            row_group_offsets=padded(self.row_group_offsets, more[0], last=True),
            row_offsets=padded(self.row_offsets, more[1], last=True),
            columns=padded(self.columns, more[2]),
            probs=padded(self.probs, more[2]),
            lower=padded(self.lower, more[2]),
            upper=padded(self.upper, more[2]),
            exit_rates=padded(self.exit_rates, more[0]),
            labels=_padded(self.labels, more[0]),
            choice_labels=_padded(self.choice_labels, more[1]),
            state_rewards=_padded(self.state_rewards, more[0]),
            choice_rewards=_padded(self.choice_rewards, more[1]),
            branch_rewards=_padded(self.branch_rewards, more[2]),
            valuations=_padded(self.valuations, more[0]),
        )


def owner_of(model: MDP) -> np.ndarray:
    """The state of each choice of a concrete model: int32 `[C]`; `S` in the padding."""
    counts = np.diff(model.row_group_offsets)
    owner = np.repeat(np.arange(model.num_states, dtype=np.int32), counts)
    spare = model.num_choices - len(owner)
    return np.pad(owner, (0, spare), constant_values=model.num_states)


def spans(begin: np.ndarray, width: np.ndarray) -> np.ndarray:
    """`begin[i], begin[i] + 1, ...`, `width[i]` of them, for each i in turn."""
    ends = np.cumsum(width)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(begin - (ends - width), width)


def lent_rows(model: MDP) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets of choices and of branches, and targets, as compiled loops take them."""
    return kept(model, "lent rows", lambda: _lent_rows(model))


def _lent_rows(model: MDP) -> Any:
    return tuple(
        lend(np.ascontiguousarray(x, np.int32))
        for x in (model.row_group_offsets, model.row_offsets, model.columns)
    )


def first_choices(model: MDP, wanted: np.ndarray) -> np.ndarray:
    """The first wanted choice of each state: int32 `[S]`, -1 where there is none."""
    found = np.full(model.num_states + 1, -1, np.int32)
    some = np.flatnonzero(wanted)[::-1]
    found[owner_of(model)[some]] = some
    return found[:-1]


def _padded(values: Mapping[str, Any] | None, more: int) -> dict[str, Any] | None:
    if values is None:
        return None
    return {name: padded(x, more) for name, x in values.items()}
