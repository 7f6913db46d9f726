"""Reachability with probability zero or one, one state at a time."""

from typing import NamedTuple

import numpy as np

from jaxgames.arguments import fields
from jaxgames.host import linear
from jaxgames.kept import kept
from jaxgames.mdp._model import MDP, first_choices, lent_rows
from jaxgames.mdp._region import NO_CHOICE, Optimum, Region, as_states, check_optimum
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp.host import _sequence
from jaxgames.mdp.host._levels import cut_off, descending


class Entering(NamedTuple):
    """The branches of a model backwards: for several searches, made once."""

    into: np.ndarray  # int32 [S + 2]: where the choices that may lead to a state begin
    source: np.ndarray  # int32: these choices
    owner: np.ndarray  # int32 [C]: the state of each choice


def entering(model: MDP) -> Entering:
    """The branches of all choices backwards, kept with the model. O(S + C + E)."""
    return kept(
        model, "entering", lambda: Entering(*_entering(*lent_rows(model), None))
    )


def prob0(
    model: MDP,
    target,
    optimum: Optimum = "max",
    *,
    states=None,
    choices=None,
    back: Entering | None = None,
) -> Region:
    """States from which the target is reached with probability zero.

    As [`mdp.prob0`][jaxgames.mdp.prob0], by a backward search: O(S + C + E).

    Args:
        model: the model.
        target: bool `[S]`.
        optimum: `"min"` or `"max"`.
        states: bool `[S]`, what a path may pass; None for all.
        choices: bool `[C]`, the choices that there are; None for all.
        back: the branches of these choices backwards, if they are there already.
    """
    check_optimum(optimum)
    parts = _parts(model, target, states, choices)
    groups, rows, columns, goal, passed, live = parts
    if back is None and choices is None:
        back = entering(model)
    into = _entering(groups, rows, columns, live) if back is None else back
    real = groups[1:] > groups[:-1]
    swept = _to_sweep(model, into)
    if optimum == "max":
        if swept is not None:
            return Region(real & ~_sequence.some(swept, goal, passed, live))
        return Region(real & ~_some(goal, passed, *into))
    free = live.copy()  # choices that cannot lead to a marked state
    if swept is not None:
        hit = np.zeros(len(live), np.bool_)
        away = real & ~_sequence.every(swept, goal, passed, live, hit)
        free &= ~hit
    else:
        away = real & ~_every(groups, goal, passed, live, *into, free)
    # Where a path may not pass, nothing is left to be chosen well.
    return Region(away, _first(groups, free, away & passed))


def prob1(
    model: MDP,
    target,
    optimum: Optimum = "max",
    *,
    states=None,
    choices=None,
    back: Entering | None = None,
    zero: np.ndarray | None = None,
) -> Region:
    """States from which the target is reached with probability one.

    As [`mdp.prob1`][jaxgames.mdp.prob1]. For `"min"` two backward searches:
    O(S + C + E). For `"max"` one after another, each of which takes states out for
    good: O(N (S + C + E)) for N searches.

    Args:
        model: the model.
        target: bool `[S]`.
        optimum: `"min"` or `"max"`.
        states: bool `[S]`, what a path may pass; None for all.
        choices: bool `[C]`, the choices that there are; None for all.
        back: the branches of these choices backwards, if they are there already; for
            `"max"` those of more choices do.
        zero: bool `[S]`, what `prob0` found for the same, if that is known.
    """
    check_optimum(optimum)
    parts = _parts(model, target, states, choices)
    groups, rows, columns, goal, passed, live = parts
    if back is None and choices is None:
        back = entering(model)
    into = _entering(groups, rows, columns, live) if back is None else back
    swept = _to_sweep(model, into)
    if optimum == "min":
        real = groups[1:] > groups[:-1]
        if zero is None:
            how = {"states": states, "choices": choices, "back": into}
            zero = np.asarray(prob0(model, target, "min", **how).states)
        if not zero.any():
            return Region(real)
        if swept is not None:
            return Region(real & ~_sequence.some(swept, zero, passed, live))
        return Region(real & ~_some(zero, passed, *into))
    inside = goal | passed if zero is None else (goal | passed) & ~zero
    if swept is not None:
        return Region(*_sequence.surely(swept, goal, inside, live))
    return Region(*_surely(groups, rows, columns, goal, inside, live, *into))


def _to_sweep(model: MDP, into: Entering) -> _sequence.Graph | None:
    """What a sweep over all states reads, where that is sooner than a search."""
    found = _sequence.sequence(model)
    if found is None:
        return None
    order = found.order, found.knots, found.knot
    return _sequence.Graph(*lent_rows(model), *into, *order)


def _parts(model: MDP, target, states, choices):
    groups, rows, columns = lent_rows(model)
    real = groups[1:] > groups[:-1]
    goal = np.asarray(as_states("target", model, target)) & real
    passed = real & ~goal
    if states is not None:
        passed &= as_states("states", model, states)
    live = np.ones(len(rows) - 1, bool)
    live[groups[-1] :] = False
    if choices is not None:
        live &= choices
    return groups, rows, columns, goal, passed, live


def shortest(model: MDP, target, states) -> np.ndarray:
    """Choices that may lead a step nearer to a target through some states.

    Returns:
        int32 `[S]`: the first such choice that is found of each of these states from
        which a path leads there; -1 elsewhere, and in the target. O(S + C + E).
    """
    *_, goal, passed, _ = _parts(model, target, states, None)
    return nearer(goal, passed, *entering(model))


def almost_sure_buchi(model: MDP, accepting, components: EndComponents) -> Region:
    """States from which a set can be visited for ever, with probability one.

    As [`mdp.almost_sure_buchi`][jaxgames.mdp.almost_sure_buchi].
    """
    accepting = as_states("accepting", model, accepting)
    parts = fields("components", components, "state_label", "choice_kept")
    label, kept = map(np.asarray, parts)
    home = (label >= 0) & np.isin(label, label[accepting])
    inner = prob1(model, home & accepting, choices=kept)
    states, scheduler = prob1(model, home)
    scheduler = np.where(home, inner.scheduler, scheduler)
    again = home & accepting
    return Region(states, np.where(again, first_choices(model, kept), scheduler))


@linear
def nearer(goal, passed, into, source, owner):
    """The choices of a search backwards, level by level: int32 `[S]`.

    Args:
        goal: bool `[S]`, where it begins.
        passed: bool `[S]`, the states that it looks at.
        into: where the choices that may lead to each state begin.
        source: these choices.
        owner: the state of each choice.
    """
    size = len(goal)
    chosen = np.full(size, NO_CHOICE, np.int32)
    queue = np.empty(size, np.int32)
    end = 0
    for s in range(size):
        if goal[s]:
            queue[end] = s
            end += 1
    done = 0
    while done < end:
        t = queue[done]
        done += 1
        for i in range(into[t], into[t + 1]):
            s = owner[source[i]]
            if passed[s] and chosen[s] < 0:
                chosen[s] = source[i]
                queue[end] = s
                end += 1
    return chosen


@linear
def _entering(groups, rows, columns, live):
    """The live choices that may lead to each state, and the state of each choice."""
    size, count = len(groups) - 1, groups[-1]
    owner = np.empty(len(rows) - 1, np.int32)
    into = np.zeros(size + 2, np.int32)
    for s in range(size):
        for c in range(groups[s], groups[s + 1]):
            owner[c] = s
    if live is None:
        for e in range(rows[count]):
            into[columns[e] + 2] += 1
    else:
        for c in range(count):
            if live[c]:
                for e in range(rows[c], rows[c + 1]):
                    into[columns[e] + 2] += 1
    for s in range(size):
        into[s + 2] += into[s + 1]
    source = np.empty(into[size + 1], np.int32)
    e = 0
    for c in range(count):
        end = rows[c + 1]
        if live is None or live[c]:
            while e < end:
                to = columns[e] + 1
                place = into[to]
                source[place] = c
                into[to] = place + 1
                e += 1
        e = end
    return into, source, owner


@linear
def _some(start, passed, into, source, owner):
    """Marks what leads to `start` with some choice."""
    size = len(start)
    mark = start.copy()
    free = passed.copy()  # where nobody has been yet
    stack = np.empty(size, np.int32)
    top = 0
    for s in range(size):
        if start[s]:
            free[s] = False
            stack[top] = s
            top += 1
    while top:
        top -= 1
        t = stack[top]
        for i in range(into[t], into[t + 1]):
            s = owner[source[i]]
            if free[s]:
                free[s] = False
                mark[s] = True
                stack[top] = s
                top += 1
    return mark


@linear
def _every(groups, start, passed, live, into, source, owner, free):
    """Marks what leads to `start` with every choice; what does is not `free` then."""
    size = len(groups) - 1
    left = np.zeros(size, np.int32)  # live choices that do not yet
    queue = np.empty(size, np.int32)
    end = 0
    for s in range(size):
        if start[s]:
            queue[end] = s
            end += 1
        for c in range(groups[s], groups[s + 1]):
            left[s] += live[c]
    others = passed.copy()
    end = cut_off(into, source, owner, start, others, free, left, queue, end)
    mark = start.copy()
    for i in range(end):
        mark[queue[i]] = True
    return mark


@linear
def _surely(groups, rows, columns, goal, inside, live, into, source, owner):
    """The states that some scheduler leads to the goal almost surely, and it.

    `inside` is where it may pass; what is left there is the answer.
    """
    size = len(groups) - 1
    # A choice is safe if it stays inside.
    safe = live.copy()
    left = np.zeros(size, np.int32)  # safe choices of each state
    for s in range(size):
        for c in range(groups[s], groups[s + 1]):
            if live[c]:
                for e in range(rows[c], rows[c + 1]):
                    if not inside[columns[e]]:
                        safe[c] = False
            left[s] += safe[c]
    level = np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    while True:
        # What reaches the goal by safe choices, level by level.
        level[:] = -1
        end = 0
        for s in range(size):
            if goal[s]:
                level[s] = 0
                queue[end] = s
                end += 1
        first = 0
        while first < end:
            t = queue[first]
            first += 1
            for i in range(into[t], into[t + 1]):
                s = owner[source[i]]
                if safe[source[i]] and inside[s] and level[s] < 0:
                    level[s] = level[t] + 1
                    queue[end] = s
                    end += 1
        # What does not is left out, with the states that cannot avoid it.
        end = 0
        for s in range(size):
            if inside[s] and level[s] < 0:
                inside[s] = False
                queue[end] = s
                end += 1
        if end == 0:
            break
        cut_off(into, source, owner, goal, inside, safe, left, queue, end)
    scheduler = np.full(size, NO_CHOICE, np.int32)
    for s in range(size):
        if inside[s] and not goal[s]:
            scheduler[s] = descending(
                rows, columns, level, safe, s, groups[s], groups[s + 1]
            )
    return inside, scheduler


@linear
def _first(groups, wanted, where):
    """The first wanted choice of each state of a set; -1 elsewhere."""
    scheduler = np.full(len(groups) - 1, NO_CHOICE, np.int32)
    for s in range(len(groups) - 1):
        if where[s]:
            for c in range(groups[s], groups[s + 1]):
                if wanted[c]:
                    scheduler[s] = c
                    break
    return scheduler
