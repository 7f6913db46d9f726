"""Values of interval models, against all that scheduler and nature may do."""

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from jaxgames import mdp
from jaxgames.testing import _all_natures as reference
from jaxgames.testing._labelled import Labelled, labelled, smaller
from jaxgames.testing._mdp import _draw, in_order
from jaxgames.testing._mdp_values import _off
from jaxgames.testing._subject import Check, Complaint, Subject, each, first

SIZE = 3
"""States of a model at most."""

CHAINS = 60
"""Markov chains that the reference looks at for a question, at most."""

WORDS = "minmin", "minmax", "maxmin", "maxmax"

QUESTIONS: dict[str, dict[str, Any]] = {
    'P{}=? [ "way" U "goal" ]': {"kind": "reach", "states": True},
    'R{}=? [ F "goal" ]': {"kind": "until"},
    "R{}=? [ C ]": {"kind": "total"},
    "R{}=? [ Cdiscount=3/4 ]": {"kind": "total", "discount": Fraction(3, 4)},
    'P{}=? [ "way" U<=3 "goal" ]': {"kind": "reach", "states": True, "steps": 3},
    "R{}=? [ C<=3 ]": {"kind": "total", "steps": 3},
    "R{}=? [ LRA ]": {"kind": "average"},
}
"""Properties, and what they are to the reference."""


def _draw_bounded(rng: np.random.Generator, index: int, size: int) -> Labelled:
    """A model whose branches have bounds, some of which nature may leave out."""
    case = _draw(rng, index, size)
    count = len(case.src)
    pay = rng.integers(0, 3, count) * (rng.random(count) < 0.6)
    point = rng.random(count) < 0.3
    while True:
        edge = {
            "pay": pay.astype(int),
            "less": np.where(point, 0, rng.integers(0, 5, count)),
            "more": np.where(point, 0, rng.integers(0, 5, count)),
        }
        edge = {**case.edge, **edge}
        made = labelled(case.src, case.dst, case.size, case.vertex, edge)
        model, bounds = _bounded(made)
        cuts = zip(model.row_offsets[:-1], model.row_offsets[1:], strict=True)
        many = [len(reference.corners(bounds[i:j])) for i, j in cuts]
        if np.prod(np.add.reduceat(many, model.row_group_offsets[:-1])) <= CHAINS:
            return made
        point |= rng.random(count) < 0.3


def _bounded(case: Labelled) -> tuple[mdp.MDP, list[tuple[Fraction, Fraction]]]:
    """The model, and its bounds as fractions."""
    order, rows, groups = in_order(case)
    lots = np.maximum(case.edge["lot"][order], 1)
    totals = np.repeat(np.add.reduceat(lots, rows[:-1]), np.diff(rows))
    bounds = []
    for lot, total, less, more in zip(
        *(lots.tolist(), totals.tolist()),
        *(case.edge[name][order].tolist() for name in ("less", "more")),
        strict=True,
    ):
        middle = Fraction(lot, total)
        high = middle * (1 + Fraction(more, 2))
        bounds.append((middle * (1 - Fraction(less, 4)), min(high, Fraction(1))))
    model = mdp.MDP.from_arrays(
        *(groups, rows, case.dst[order]),
        lower=[float(low) for low, _ in bounds],
        upper=[float(high) for _, high in bounds],
        labels={"goal": case.vertex["target"] > 0, "way": case.vertex["there"] > 0},
        choice_rewards={"": case.edge["pay"][order][rows[:-1]].astype(float)},
    )
    return model, bounds


def _asked(case: Labelled):
    """All questions of a case, with their answers."""
    model, bounds = _bounded(case)
    labels = model.labels or {}
    for text, how in QUESTIONS.items():
        for words in WORDS:
            if words in ("minmax", "maxmin") and (
                text.endswith("[ C ]")
                or ("LRA" in text and not all(low for low, _ in bounds))
            ):
                continue
            given = {**how, "target": labels["goal"]}
            if given.pop("states", False):
                given["states"] = labels["way"]
            if text.startswith("R"):
                given["reward"] = (model.choice_rewards or {})[""]
            kind = given.pop("kind")
            expected = reference.values(model, bounds, kind, words, **given)
            yield model, text.format(words), expected


NEAR = 1e-12
"""What bounds may miss, since files round fractions."""


def _missed(text: str, found: Any, expected: list) -> Complaint:
    finite = np.isfinite(found.lower), np.isfinite(found.upper)
    wider = dataclasses.replace(
        found,
        lower=found.lower - NEAR * np.where(finite[0], np.abs(found.lower), 0),
        upper=found.upper + NEAR * np.where(finite[1], np.abs(found.upper), 0),
    )
    return _off(text, wider, expected)


def of_solver(solver: str) -> Check:
    """All properties by one solver."""

    def check(case: Labelled) -> Iterator[Complaint]:
        for model, text, expected in _asked(case):
            yield _missed(text, mdp.check(model, text, solver), expected)

    return each(check)


def _verified(case: Labelled) -> Iterator[Complaint]:
    """Right bounds are accepted, and wrong ones are not."""
    rng = np.random.default_rng([case.size, len(case.src)])
    for model, text, expected in _asked(case):
        if "LRA" in text:  # nothing checks these
            continue
        found = mdp.check(model, text)
        verdict = mdp.verify_values(model, text, found)
        if not verdict:
            yield f"{text}: right bounds are rejected: {verdict}"
        state = int(rng.integers(case.size))
        if expected[state] == float("inf"):
            found.upper[state] = 1e6
            found.lower[state] = 0
        elif rng.random() < 0.5:
            found.lower[state] = found.upper[state] = float(expected[state]) + 0.25
        else:
            found.lower[state] = found.upper[state] = float(expected[state]) - 0.25
        if mdp.verify_values(model, text, found):
            yield f"{text}: wrong bounds are accepted at {state}: {found.lower}"


def _show(case: Labelled) -> str:
    model, _ = _bounded(case)
    parts = (model.row_group_offsets, model.row_offsets, model.columns)
    arguments = ", ".join(str(np.asarray(x).tolist()) for x in parts)
    more = ", ".join(
        f"{name}={np.asarray(getattr(model, name)).tolist()}"
        for name in ("lower", "upper")
    )
    rewards = f"choice_rewards={{'': {(model.choice_rewards or {})[''].tolist()}}}"
    labels = {k: v.astype(int).tolist() for k, v in (model.labels or {}).items()}
    return f"mdp.MDP.from_arrays({arguments}, {more}, {rewards}, labels={labels})"


def subject() -> Subject:
    """What properties of interval models come to."""
    return Subject(
        name="robust",
        draw=lambda rng, index, size: _draw_bounded(rng, index, min(size, SIZE)),
        checks={
            "host": of_solver("host"),
            "values": first(of_solver("values"), 1),
            "verify": each(_verified),
        },
        smaller=smaller,
        show=_show,
        size=SIZE,
        batch=8,
    )
