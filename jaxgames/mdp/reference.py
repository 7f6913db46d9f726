"""The textbook: end components and probabilities by their fixpoints, on whole models.

Plain NumPy, to read, and to compare the engines with. Every round looks at all of the
model again, where the engines keep count of what has changed.
"""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames.graph import reference as graphs
from jaxgames.mdp._game import Game
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._region import (
    NO_CHOICE,
    Optimum,
    Region,
    as_states,
    check_masks,
    check_optimum,
)
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp._verdict import Verdict
from jaxgames.solution import Stats, Status


def mec(model: MDP, *, states=None, choices=None) -> EndComponents:
    """Decomposes a model into its maximal end components [1].

    Strongly connected components are found; choices that may leave theirs are taken
    out, then states without a choice; and so on, until nothing is taken out any more.
    O(S (S + E)) time.

    Args:
        model: the model.
        states: bool `[S]`, the states to look at; None for all.
        choices: bool `[C]`, the choices to look at; None for all.

    Returns:
        The components; their `stats` hold `outer`, how many rounds it took.

    Raises:
        ValueError: a mask has the wrong type or length.

    References:
        [1] de Alfaro, Formal verification of probabilistic systems, PhD thesis,
        Stanford University, 1997, section 3.3.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2]
        ... )
        >>> components = mdp.reference.mec(model)
        >>> components.state_label, components.choice_kept
        (array([ 0, -1,  1], dtype=int32), array([ True, False, False,  True]))
    """
    states, choices = check_masks(model, states, choices)
    table, rounds = _table(model), 0
    inside, live = _masked(table, states, choices)
    while True:
        rounds += 1
        edges = live[table.choice]
        count, label = graphs.scc(model.graph(), vertices=inside, edges=edges)
        stays = live & ~table.leave(label)
        if (stays == live).all() and (table.have(stays) == inside).all():
            break
        inside, live = inside & table.have(stays), stays
    return EndComponents(
        status=Status.SOLVED,
        stats=Stats(solver="reference", outer=rounds),
        count=np.int32(count),
        state_label=label,
        choice_kept=live,
    )


def prob0(
    model: MDP, target, optimum: Optimum = "max", *, states=None, choices=None
) -> Region:
    """States from which the target is reached with probability zero.

    As [`mdp.prob0`][jaxgames.mdp.prob0], round by round.

    Args:
        model: the model.
        target: the states to reach.
        optimum: `"max"` if no scheduler may do better, `"min"` if one need not.
        states: what a path may pass before; None for all.
        choices: bool `[C]`, those that there are; None for all.

    References:
        de Alfaro, Formal verification of probabilistic systems, PhD thesis, Stanford
        University, 1997, section 3.3.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2])
        >>> mdp.reference.prob0(model, [2], "min")
        Region(states=array([ True,  True, False]),
               scheduler=array([ 0,  2, -1], dtype=int32))
    """
    check_optimum(optimum)
    table, goal, passed, live = _question(model, target, states, choices)
    reaches = _leading(table, goal, passed, live, every=optimum == "min")
    away = table.there & ~reaches
    if optimum == "max":
        return Region(away)
    # Where a path may not pass, nothing is left to be chosen well.
    return Region(away, table.first(live & ~table.may(reaches), away & passed))


def prob1(
    model: MDP, target, optimum: Optimum = "max", *, states=None, choices=None
) -> Region:
    """States from which the target is reached with probability one.

    As [`mdp.prob1`][jaxgames.mdp.prob1]. For `"max"` the greatest set of states from
    each of which the target is reached by choices that cannot leave the set.

    Args:
        model: the model.
        target: the states to reach.
        optimum: `"max"` if one scheduler is enough, `"min"` if every one must do.
        states: what a path may pass before; None for all.
        choices: bool `[C]`, those that there are; None for all.

    References:
        de Alfaro, Formal verification of probabilistic systems, PhD thesis, Stanford
        University, 1997, section 3.3.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 1, 2])
        >>> mdp.reference.prob1(model, [2])
        Region(states=array([ True, False,  True]),
               scheduler=array([ 1, -1, -1], dtype=int32))
    """
    check_optimum(optimum)
    table, goal, passed, live = _question(model, target, states, choices)
    if optimum == "min":
        never = table.there & ~_leading(table, goal, passed, live, every=True)
        return Region(table.there & ~_leading(table, never, passed, live, every=False))
    inside = goal | passed
    while True:
        safe = live & ~table.may(~inside)
        reaches, scheduler = goal, np.full(len(goal), NO_CHOICE, np.int32)
        while True:  # one step farther from the goal in each round
            step = safe & table.may(reaches)
            new = inside & ~reaches & table.have(step)
            if not new.any():
                break
            scheduler = np.where(new, table.first(step, new), scheduler)
            reaches = reaches | new
        if (reaches == inside).all():
            return Region(inside, scheduler)
        inside = reaches


def almost_sure_buchi(model: MDP, accepting) -> Region:
    """States from which a set can be visited for ever, with probability one.

    As [`mdp.almost_sure_buchi`][jaxgames.mdp.almost_sure_buchi], without end
    components: the greatest set of states from each of which its accepting states can
    be reached almost surely, and can be left, without leaving the set.

    Args:
        model: the model.
        accepting: the states to visit infinitely often.

    References:
        de Alfaro, Formal verification of probabilistic systems, PhD thesis, Stanford
        University, 1997, section 3.3.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3, 4], [0, 1, 2, 3, 4], [1, 2, 0, 2])
        >>> mdp.reference.almost_sure_buchi(model, [1]).states
        array([ True,  True, False])
    """
    accepting = as_states("accepting", model, accepting)
    table = _table(model)
    inside = table.there
    while True:
        safe = ~table.may(~inside)
        again = accepting & inside & table.have(safe)
        found = prob1(model, again, states=inside, choices=safe)
        if (found.states == inside).all():
            scheduler = np.where(again, table.first(safe, again), found.scheduler)
            return Region(inside, scheduler.astype(np.int32))
        inside = found.states


def value_iteration(
    model: MDP, target, optimum: Optimum = "max", *, states=None, epsilon: float = 1e-6
) -> np.ndarray:
    """The largest or least probability to reach a target, from below.

    Values start from zero, but for states of probability one, and are replaced by
    those of the best choices until a round changes none by more than `epsilon`. They
    tend to the true ones, but may still be far away when that happens:
    [`mdp.reach_probability`][jaxgames.mdp.reach_probability] has bounds.

    Args:
        model: the model, with probabilities.
        target: the states to reach.
        optimum: `"max"` or `"min"`.
        states: what a path may pass before; None for all.
        epsilon: the change in a round that is too small to go on.

    Returns:
        float64 `[S]`.

    References:
        Haddad and Monmege, Interval iteration algorithm for MDPs and IMDPs, TCS 735
        (2018), doi:10.1016/j.tcs.2016.12.003.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 1, 2, 3], [0, 3, 4, 5], [0, 1, 2, 1, 2], [0.5, 0.25, 0.25, 1, 1]
        ... )
        >>> mdp.reference.value_iteration(model, [1]).round(5)
        array([0.5, 1. , 0. ])
    """
    if model.probs is None:
        raise ValueError("the model has no probabilities: pass probs to from_arrays")
    one = prob1(model, target, optimum, states=states).states
    zero = prob0(model, target, optimum, states=states).states
    table, value, change = _table(model), one.astype(np.float64), np.inf
    probs = np.asarray(model.probs, np.float64)[: len(table.choice)]
    better = np.minimum if optimum == "min" else np.maximum
    while change > epsilon:
        worth = np.bincount(
            table.choice, probs * value[table.target], minlength=len(table.owner)
        )
        best = np.full(len(value) + 1, np.inf if optimum == "min" else -np.inf)
        better.at(best, table.owner, worth)
        new = np.where(table.there & ~one & ~zero, best[:-1], value)
        change = np.abs(new - value).max(initial=0)
        value = new
    return value


def verify(
    model: MDP,
    label: np.ndarray,
    kept: np.ndarray,
    count=None,
    states: np.ndarray | None = None,
    choices: np.ndarray | None = None,
) -> Verdict:
    """Checks maximal end components by the definition, and by `mec`.

    What it asks says [`mdp.verify`][jaxgames.mdp.verify].

    Args:
        model: the model.
        label: integers `[S]`, the component of each state, or -1.
        kept: bool `[C]`, the choices that are kept.
        count: how many components there are said to be; None if nothing is said.
        states: bool `[S]`, the states that were looked at; None for all.
        choices: bool `[C]`, the choices that were looked at; None for all.

    Returns:
        A [`Verdict`][jaxgames.mdp.Verdict].

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 1])
        >>> print(mdp.reference.verify(model, [-1, 0], [False, True]))
        valid
    """
    right = mec(model, states=states, choices=choices)
    label, kept, table = np.asarray(label), np.asarray(kept), _table(model)
    there, live = _masked(table, states, choices)
    inside = there & (label >= 0)
    stays = live & np.append(inside, False)[table.owner]
    stays &= ~table.leave(np.where(inside, label, -1))
    blamed, misplaced, forward, backward = np.zeros((4, len(label)), bool)
    blamed[np.minimum(table.owner[kept & ~stays], len(label) - 1)] = True
    names = list(dict.fromkeys(label[inside].tolist()))
    edges = (kept & stays)[table.choice]
    for place, name in enumerate(names):
        own = inside & (label == name)
        smallest = [int(np.argmax(own))]
        misplaced[smallest] = place != name
        how = {"vertices": own, "edges": edges}
        forward |= own & ~graphs.reachable(model.graph(), smallest, **how)
        backward |= own & ~graphs.reachable(
            model.graph(), smallest, backward=True, **how
        )
    most = len(label) if count is None else min(int(count), len(label))
    return Verdict.first_of(
        (label < -1) | (label >= most),
        (label != -1) & ~there,
        misplaced,
        np.bool_(count is not None and int(count) != len(names)),
        blamed,
        table.have(stays & ~kept),
        inside & ~table.have(kept),
        forward,
        backward,
        right.state_label != label,
    )


# ---- steps back ------------------------------------------------------------------


class _Table(NamedTuple):
    """A model as two lists.

    Attributes:
        there: bool `[S]`: the states, without padding.
        owner: int32 `[C]`: the state of each choice, `S` in the padding.
        choice: integers `[E]`: the choice of each branch.
        target: integers `[E]`: the state that it leads to.
    """

    there: np.ndarray
    owner: np.ndarray
    choice: np.ndarray
    target: np.ndarray

    def may(self, states: np.ndarray) -> np.ndarray:
        """The choices that may lead into a set."""
        found = np.zeros(len(self.owner), bool)
        found[self.choice[states[self.target]]] = True
        return found

    def leave(self, label: np.ndarray) -> np.ndarray:
        """The choices that may lead to a state with another label, or are at -1."""
        here = np.append(label, -1)[self.owner]
        found = here < 0
        found[self.choice[label[self.target] != here[self.choice]]] = True
        return found

    def have(self, choices: np.ndarray) -> np.ndarray:
        """The states that have one of some choices."""
        found = np.zeros(len(self.there) + 1, bool)
        found[self.owner[choices]] = True
        return found[:-1]

    def first(self, choices: np.ndarray, where: np.ndarray) -> np.ndarray:
        """The first of some choices of each state of a set; -1 elsewhere."""
        found = np.full(len(self.there) + 1, NO_CHOICE, np.int32)
        for choice in np.flatnonzero(choices)[::-1]:
            found[self.owner[choice]] = choice
        return np.where(where, found[:-1], NO_CHOICE).astype(np.int32)


def _table(model: MDP) -> _Table:
    rows = np.asarray(model.row_offsets)[: int(model.row_group_offsets[-1]) + 1]
    choice = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    there = np.diff(model.row_group_offsets) > 0
    return _Table(there, owner_of(model), choice, np.asarray(model.columns)[: rows[-1]])


def _masked(table: _Table, states, choices) -> tuple[np.ndarray, np.ndarray]:
    """The states and the choices that are looked at."""
    there = table.there if states is None else table.there & states
    live = np.append(there, False)[table.owner]
    return there, live if choices is None else live & choices


def _question(model: MDP, target, states, choices):
    """The model, its goal, what may be passed, and the choices that there are."""
    table = _table(model)
    goal = as_states("target", model, target) & table.there
    passed = table.there & ~goal
    if states is not None:
        passed &= as_states("states", model, states)
    live = table.owner < len(table.there)
    return table, goal, passed, live if choices is None else live & choices


def _leading(table: _Table, goal, passed, live, *, every: bool) -> np.ndarray:
    """What leads to a goal, round by round: with some choice, or with every choice."""
    while True:
        hit = live & table.may(goal)
        wanted = table.have(hit) & (~table.have(live & ~hit) if every else True)
        new = goal | (passed & wanted)
        if (new == goal).all():
            return goal
        goal = new


# ---- values, in fractions ------------------------------------------------------------

INFINITE = float("inf")

Exact = Fraction | float
"""An exact number, or infinity."""


def values(
    model: MDP,
    kind: str,
    optimum: Optimum = "max",
    *,
    reward=None,
    target=None,
    states=None,
    steps: int | None = None,
    first: int = 0,
    discount: Fraction = Fraction(1),
) -> list[Exact]:
    """Probabilities and rewards in rational arithmetic, over all schedulers.

    With a number of steps: the definition, step by step. Without: every memoryless
    deterministic scheduler makes a Markov chain, whose linear equations are solved; for
    these questions the best of them is as good as any scheduler [1]. So it takes time
    that is exponential in the number of states with a choice.

    Args:
        model: a small model with probabilities, which are understood relative to their
            sum.
        kind: `"reach"`, the probability to get to a target; `"until"`, the reward
            before that; `"total"`, all rewards; `"average"`, the reward of a step in
            the long run; `"instant"`, that of a state after some steps; `"buchi"`, the
            probability to visit a target again and again.
        optimum: `"min"` or `"max"`.
        reward: real numbers `[C]`, or `[S]` for `"instant"`.
        target: bool `[S]`.
        states: bool `[S]`, what may be passed before the target; None for all.
        steps: how many count; None for all.
        first: the first step at which the target counts.
        discount: what a step is worth beside the one before it.

    References:
        [1] Puterman, Markov Decision Processes, Wiley, 1994.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3], [0, 2, 3, 4], [0, 1, 0, 1], [0.5, 0.5, 1, 1]
        ... )
        >>> mdp.reference.values(model, "until", reward=[1, 0, 5], target=[0, 1])
        [inf, Fraction(0, 1)]
        >>> mdp.reference.values(model, "reach", "min", target=[0, 1], steps=3)
        [Fraction(0, 1), Fraction(1, 1)]
    """
    check_optimum(optimum)
    size = model.num_states
    better = min if optimum == "min" else max
    rows = [_branches(model, choice) for choice in range(model.num_choices)]
    groups = np.asarray(model.row_group_offsets).tolist()
    own = [range(*pair) for pair in itertools.pairwise(groups)]
    passed = [True] * size if states is None else [bool(x) for x in states]
    goal = [False] * size if target is None else [bool(x) for x in target]
    earned = [Fraction(x) for x in ([0] * len(rows) if reward is None else reward)]
    if steps is not None or kind == "instant":
        assert steps is not None
        how = (kind, steps, [better] * size)
        return _stepped(model, *how, earned, goal, passed, first, discount)
    found: list[Exact] | None = None
    for scheduler in itertools.product(*own):
        chain = [rows[c] for c in scheduler]
        gains = [earned[c] for c in scheduler]
        here = _chain_values(kind, chain, gains, goal, passed, discount)
        if found is None:
            found = here
        found = [better(a, b) for a, b in zip(found, here, strict=True)]
    return found or []


def game_values(
    game: "Game", target, *, maximizer: int = 0, states=None
) -> list[Exact]:
    """How likely a player gets to a target, against all others: exactly.

    By the definition, with the strategies that are enough [1]: for each memoryless
    strategy of his the least over all of theirs, by the linear equations of the chain
    that both leave; and the largest of these. So it takes time that is exponential in
    the number of states with a choice.

    Args:
        game: a small game with probabilities.
        target: bool `[S]`.
        maximizer: who wants to get there.
        states: bool `[S]`, what may be passed before; None for all.

    References:
        [1] Condon, The complexity of stochastic games, Inf. Comput. 96 (1992),
        doi:10.1016/0890-5401(92)90048-K.

    Examples:
        >>> from jaxgames import mdp
        >>> game = mdp.Game.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 1, 2], [1, 0.5, 0.5, 1, 1],
        ...     [0, -1, -1],
        ... )
        >>> mdp.reference.game_values(game, [0, 1, 0])[0]
        Fraction(1, 2)
        >>> mdp.reference.game_values(game, [0, 1, 0], maximizer=1)[0]
        Fraction(0, 1)
    """
    size = game.model.num_states
    goal = [bool(x) for x in target]
    passed = [True] * size if states is None else [bool(x) for x in states]

    def reached(chain: Chain) -> list[Exact]:
        return _chain_values("reach", chain, [], goal, passed, Fraction(1))

    return _of_all_pairs(game, maximizer, reached)


def parity_game_values(game: "Game", priority, *, maximizer: int = 0) -> list[Exact]:
    """How likely the largest priority that comes for ever is even: exactly.

    As `game_values`, by all pairs of memoryless strategies, which are enough here too
    [1]: in the chain that both leave it is the probability to get to final components
    whose largest priority is even.

    Args:
        game: a small game with probabilities.
        priority: integers `[S]`, not negative.
        maximizer: who wants it to be even.

    References:
        [1] Chatterjee, Jurdziński and Henzinger, Quantitative stochastic parity games,
        SODA 2004, doi:10.5555/982792.982808.

    Examples:
        >>> from jaxgames import mdp
        >>> game = mdp.Game.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 1, 2], [1, 0.5, 0.5, 1, 1],
        ...     [1, -1, -1],
        ... )
        >>> mdp.reference.parity_game_values(game, [0, 2, 1])[0]
        Fraction(1, 2)
    """
    colours = [int(x) for x in priority]
    size = len(colours)

    def even(chain: Chain) -> list[Exact]:
        reach = _reachability(chain)
        after = [[t for t in range(size) if reach[s][t]] for s in range(size)]
        won = [
            all(reach[t][s] for t in after[s])
            and max(colours[t] for t in after[s]) % 2 == 0
            for s in range(size)
        ]
        return _absorbed(chain, [Fraction(int(x)) for x in won])

    return _of_all_pairs(game, maximizer, even)


def game_steps(
    game: "Game",
    kind: str,
    steps: int,
    *,
    maximizer: int = 0,
    reward=None,
    target=None,
    states=None,
    first: int = 0,
    discount: Fraction = Fraction(1),
) -> list[Exact]:
    """What a player secures in a number of steps, against all others: exactly.

    By the definition, step by step.

    Args:
        game: a game with probabilities.
        kind: `"reach"`, `"total"` or `"instant"`, as for `values`.
        steps: how many count.
        maximizer: who wants the most.
        reward: as for `values`, as are the others.
        target: likewise.
        states: likewise.
        first: likewise.
        discount: likewise.

    Examples:
        >>> from jaxgames import mdp
        >>> game = mdp.Game.from_arrays(
        ...     [0, 2, 3], [0, 1, 2, 3], [0, 1, 1], [1, 1, 1], [0, -1]
        ... )
        >>> mdp.reference.game_steps(game, "total", 3, reward=[1, 5, 0])
        [Fraction(7, 1), Fraction(0, 1)]
        >>> mdp.reference.game_steps(game, "total", 3, reward=[1, 5, 0], maximizer=1)
        [Fraction(3, 1), Fraction(0, 1)]
    """
    model = game.model
    size, choices = model.num_states, model.num_choices
    better = [max if int(player) == maximizer else min for player in game.player]
    passed = [True] * size if states is None else [bool(x) for x in states]
    goal = [False] * size if target is None else [bool(x) for x in target]
    earned = [Fraction(x) for x in ([0] * choices if reward is None else reward)]
    how = (kind, steps, better, earned, goal, passed, first, discount)
    return _stepped(model, *how)


def _stepped(
    model: MDP, kind, steps, better, earned, goal, passed, first, discount
) -> list[Exact]:
    """Values of a number of steps; each state has a function of what it takes."""
    rows = [_branches(model, choice) for choice in range(model.num_choices)]
    groups = np.asarray(model.row_group_offsets).tolist()
    value = [Fraction(int(g)) for g in goal]
    if kind == "instant":
        value, earned = earned, [Fraction(0)] * len(rows)
    elif kind != "reach":
        value = [Fraction(0)] * len(goal)
    for left in range(1, steps + 1):
        worth = [
            earned[c] + discount * sum(p * value[t] for t, p in rows[c])
            for c in range(len(rows))
        ]
        value = [
            take(worth[i:j])
            for take, (i, j) in zip(better, itertools.pairwise(groups), strict=True)
        ]
        if kind == "reach":
            counts = left <= steps - first
            value = [
                Fraction(1) if g and counts else (x if p else Fraction(0))
                for g, p, x in zip(goal, passed, value, strict=True)
            ]
    return list(value)


def _of_all_pairs(game: "Game", maximizer: int, values: Callable) -> list[Exact]:
    """The most that one player secures, of what the chains of all pairs come to."""
    model = game.model
    rows = [_branches(model, choice) for choice in range(model.num_choices)]
    own = [
        range(*pair) for pair in itertools.pairwise(model.row_group_offsets.tolist())
    ]
    his = [int(player) == maximizer for player in game.player]
    best: list[Exact] = [Fraction(0)] * len(own)
    for strategy in itertools.product(
        *(
            [*choices] if mine else [None]
            for choices, mine in zip(own, his, strict=True)
        )
    ):
        theirs = [own[s] if c is None else [c] for s, c in enumerate(strategy)]
        least: list[Exact] = [Fraction(1)] * len(own)
        for choices in itertools.product(*theirs):
            found = values([rows[choice] for choice in choices])
            least = [min(pair) for pair in zip(least, found, strict=True)]
        best = [max(pair) for pair in zip(best, least, strict=True)]
    return best


Chain = list[list[tuple[int, Fraction]]]
"""For each state its branches: target and probability."""


def _branches(model: MDP, choice: int) -> list[tuple[int, Fraction]]:
    """Where a choice leads, with probabilities relative to their sum."""
    assert model.probs is not None
    here = slice(*np.asarray(model.row_offsets)[choice : choice + 2].tolist())
    probs = [Fraction(p) for p in np.asarray(model.probs)[here].tolist()]
    targets = np.asarray(model.columns)[here].tolist()
    return [(t, p / sum(probs)) for t, p in zip(targets, probs, strict=True)]


def _chain_values(kind, chain: Chain, gains, goal, passed, discount) -> list[Exact]:
    """What a Markov chain earns, or how likely it is to reach a goal."""
    if kind == "reach":
        ends = [x or not y for x, y in zip(goal, passed, strict=True)]
        return _absorbed(_stopped(chain, ends), [Fraction(int(x)) for x in goal])
    if kind == "until":
        chain = _stopped(chain, goal)
        sure = _absorbed(chain, [Fraction(int(x)) for x in goal])
        gains = [Fraction(0) if g else x for g, x in zip(goal, gains, strict=True)]
        # What may never get there costs infinitely much, and leads to nothing else.
        ends = [g or p != 1 for g, p in zip(goal, sure, strict=True)]
        worth = _earned(chain, gains, ends)
        return [w if p == 1 else INFINITE for w, p in zip(worth, sure, strict=True)]
    if kind == "total" and discount != 1:
        scaled = [[(t, discount * p) for t, p in row] for row in chain]
        return _earned(scaled, gains, [False] * len(chain))
    size = len(chain)
    reach = _reachability(chain)
    final = [all(reach[t][s] for t in range(size) if reach[s][t]) for s in range(size)]
    if kind == "total":
        rich = [final[s] and gains[s] > 0 for s in range(size)]
        endless = [
            any(reach[s][t] and rich[t] for t in range(size)) for s in range(size)
        ]
        ends = [x or y for x, y in zip(final, endless, strict=True)]
        worth = _earned(chain, gains, ends)
        return [INFINITE if e else w for w, e in zip(worth, endless, strict=True)]
    if kind == "buchi":
        again = [
            final[s] and any(reach[s][t] and goal[t] for t in range(size))
            for s in range(size)
        ]
        return _absorbed(chain, [Fraction(int(x)) for x in again])
    assert kind == "average", kind
    worth = [Fraction(0)] * size
    for s in range(size):
        if final[s]:
            worth[s] = _stationary(
                chain, gains, [t for t in range(size) if reach[s][t]]
            )
    return _absorbed(chain, worth, final)


def _reachability(chain: Chain) -> list[list[bool]]:
    size = len(chain)
    after = [{s, *(t for t, _ in row)} for s, row in enumerate(chain)]
    for middle in range(size):
        for s in range(size):
            if middle in after[s]:
                after[s] |= after[middle]
    return [[t in after[s] for t in range(size)] for s in range(size)]


def _stopped(chain: Chain, ends) -> Chain:
    return [[(s, Fraction(1))] if ends[s] else row for s, row in enumerate(chain)]


def _absorbed(chain: Chain, worth: list[Fraction], ends=None) -> list[Exact]:
    """What a chain comes to that ends in states that are worth something."""
    reach = _reachability(chain)
    size = len(chain)
    known = [x != 0 for x in worth] if ends is None else ends
    open_ = [
        not known[s] and any(reach[s][t] and known[t] for t in range(size))
        for s in range(size)
    ]
    stopped = [row if o else [] for row, o in zip(chain, open_, strict=True)]
    return _linear(
        stopped, [Fraction(0) if o else w for o, w in zip(open_, worth, strict=True)]
    )


def _earned(chain: Chain, gains, ends) -> list[Exact]:
    """What a chain earns before it ends."""
    rows = [[] if e else row for row, e in zip(chain, ends, strict=True)]
    worth = [Fraction(0) if e else g for g, e in zip(gains, ends, strict=True)]
    return _linear(rows, worth)


def _stationary(chain: Chain, gains, members: list[int]) -> Fraction:
    """What a step of an irreducible chain earns on average: by a cycle to a state."""
    home = members[0]
    inside = [[] for _ in chain]
    for s in members:
        inside[s] = [(t, p) for t, p in chain[s] if t != home]
    chosen = [Fraction(s in members) for s in range(len(chain))]
    reward = [gains[s] if s in members else Fraction(0) for s in range(len(chain))]
    length, sum_ = _linear(inside, chosen)[home], _linear(inside, reward)[home]
    assert isinstance(length, Fraction)
    assert isinstance(sum_, Fraction)
    return sum_ / length


def _linear(rows: Chain, worth: list[Fraction]) -> list[Exact]:
    """Solves x = worth + rows x by elimination, where every row loses something."""
    worth = list(worth)
    left = [dict[int, Fraction]() for _ in rows]
    for state, row in enumerate(rows):
        for t, p in row:
            left[state][t] = left[state].get(t, Fraction(0)) + p
    for state, row in enumerate(left):
        if state in row:
            leaves = 1 - row.pop(state)
            worth[state] /= leaves
            row.update({t: p / leaves for t, p in row.items()})
        for other, into in enumerate(left):
            factor = into.pop(state, None)
            if factor is not None:
                worth[other] += factor * worth[state]
                for t, p in row.items():
                    into[t] = into.get(t, Fraction(0)) + factor * p
    return list(worth)
