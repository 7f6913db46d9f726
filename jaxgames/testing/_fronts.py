"""Fronts of several objectives, against all memoryless schedulers."""

import dataclasses
import itertools
from fractions import Fraction

import numpy as np

from jaxgames import mdp
from jaxgames.mdp import reference
from jaxgames.mdp.multi._game import mixture
from jaxgames.testing._labelled import Labelled
from jaxgames.testing._subject import Complaint

EPSILON = 1e-6


def ending(model: mdp.MDP, second: np.ndarray) -> mdp.MDP:
    """The model with goals that are never left, and with rewards that end.

    Then no scheduler needs to remember anything.
    """
    goal = np.asarray((model.labels or {})["goal"])
    groups = np.asarray(model.row_group_offsets)
    owner = np.repeat(np.arange(model.num_states), np.diff(groups))
    rows, columns = np.asarray(model.row_offsets), np.asarray(model.columns)
    source = np.repeat(owner, np.diff(rows))
    made = dataclasses.replace(model, columns=np.where(goal[source], source, columns))
    kept = np.asarray(mdp.reference.mec(made).choice_kept)
    pay = (model.choice_rewards or {})[""]
    rewards = {"one": np.where(kept, 0, pay), "two": np.where(kept, 0, second)}
    return dataclasses.replace(
        made, choice_rewards={k: x.astype(float) for k, x in rewards.items()}
    )


def points(model: mdp.MDP) -> list[list[Fraction]]:
    """What each memoryless scheduler has in state 0: reaching, and both rewards."""
    groups = np.asarray(model.row_group_offsets).tolist()
    own = [range(*pair) for pair in itertools.pairwise(groups)]
    rows = [reference._branches(model, c) for c in range(model.num_choices)]
    goal = np.asarray((model.labels or {})["goal"]).tolist()
    rewards = model.choice_rewards or {}
    found = set()
    for scheduler in itertools.product(*own):
        chain = [rows[c] for c in scheduler]
        here = []
        for kind, name in (("reach", None), ("total", "one"), ("total", "two")):
            gains = [Fraction(0 if name is None else rewards[name][c]) for c in
                scheduler]  # fmt: skip
            every = [True] * len(goal)
            value = reference._chain_values(
                kind, chain, gains, goal, every, Fraction(1)
            )
            here.append(Fraction(value[0]))
        found.add(tuple(here))
    return [list(point) for point in sorted(found)]


def check_front(model: mdp.MDP, second: np.ndarray, index: int) -> Complaint:
    """Points are had, half-spaces hold, nothing is missed, and verification agrees."""
    model = ending(model, second)
    words = [("max", "min")[index >> k & 1] for k in range(3)]
    texts = [
        f'P{words[0]}=? [ F "goal" ]',
        f'R{{"one"}}{words[1]}=? [ C ]',
        f'R{{"two"}}{words[2]}=? [ C ]',
    ]
    texts = texts[: 2 + (index >> 3 & 1)]
    senses = [1 if word == "max" else -1 for word in words]
    asked = f"multi({', '.join(texts)})"
    front = mdp.pareto(model, asked, epsilon=EPSILON)
    truth = [
        [s * x for s, x in zip(senses, point[: len(texts)], strict=False)]
        for point in points(model)
    ]
    claimed = [
        [s * Fraction(x) for s, x in zip(senses, row, strict=False)]
        for row in front.points.tolist()
    ]
    for point in claimed:
        if mixture(truth, point).value < -Fraction(1, 10**12):
            return f"{asked}: {list(map(float, point))} is out of reach"
    for point in truth:
        if mixture(claimed, point).value < -2 * Fraction(EPSILON):
            return f"{asked}: {list(map(float, point))} is missed"
        for row, bound in zip(front.weights.tolist(), front.bounds, strict=True):
            here = sum(Fraction(w) * x for w, x in zip(row, point, strict=True))
            if here > Fraction(bound) + Fraction(1, 10**12):
                return f"{asked}: {list(map(float, point))} is outside of a bound"
    verdict = mdp.verify_pareto(model, asked, front)
    if not verdict:
        return f"{asked}: a right front is rejected: {verdict}"
    wrong = front.points.copy()
    wrong[0, 0] += 0.01 * senses[0]
    if mdp.verify_pareto(model, asked, dataclasses.replace(front, points=wrong)):
        return f"{asked}: a wrong point is accepted"
    lower = dataclasses.replace(front, bounds=front.bounds - 0.01)
    if mdp.verify_pareto(model, asked, lower):
        return f"{asked}: a wrong bound is accepted"
    return None


def checked(case: Labelled, model: mdp.MDP) -> Complaint:
    """A front of a case, whose numbers say what is asked."""
    order = np.lexsort((case.edge["choice"], case.src))
    first = np.asarray(model.row_offsets)[:-1]
    second = case.edge["lot"][order][first] % 3
    return check_front(model, second, int(case.edge["lot"].sum()) % 16)
