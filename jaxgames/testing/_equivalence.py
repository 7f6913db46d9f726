"""Behavioural equivalences: notions, their formulas, and bisimilarity."""

from collections.abc import Iterator

import numpy as np

from jaxgames import equivalence
from jaxgames.equivalence import (
    NOTIONS,
    STRONG,
    WEAK,
    And,
    Formula,
    Not,
    Observe,
    System,
    price,
    reference,
    satisfying,
)
from jaxgames.io import LTS
from jaxgames.testing import _games
from jaxgames.testing._labelled import Labelled, labelled, smaller
from jaxgames.testing._subject import Check, Complaint, Subject, each, first

BATCH, SIZE = 8, 6

NAMES = ("tau", "a", "b", "c")

DEFINED = (
    "weak_traces",
    "weak_simulation",
    "eta_simulation",
    "weak_bisimulation",
    "delay_bisimulation",
    "eta_bisimulation",
    "branching_bisimulation",
)
"""Notions of the weak spectrum that the reference decides."""


# ---- systems ---------------------------------------------------------------------


def system_of(case: Labelled) -> LTS:
    """The system whose actions are the labels of edges."""
    actions = [NAMES[a] for a in case.edge["action"].tolist()]
    return LTS.from_edges(case.src, actions, case.dst, num_states=case.size)


def _draw(rng: np.random.Generator, index: int, size: int) -> Labelled:
    size, edges = int(rng.integers(2, size + 1)), int(rng.integers(1, 2 * size))
    names = int(rng.integers(2, len(NAMES) + 1))
    src, dst = rng.integers(0, size, (2, edges))
    action = rng.integers(0, names, edges)
    return labelled(src, dst, size, edge={"action": action}, total=False)


def _pairs(lts: LTS) -> list[tuple[int, int]]:
    states = range(lts.num_states)
    return [(p, q) for p in states for q in states]


# ---- notions ---------------------------------------------------------------------


def _notions(case: Labelled) -> Iterator[Complaint]:
    """All notions on all pairs, against their definitions."""
    lts = system_of(case)
    rows = reference.rows_of(System.of(lts))
    below = {notion: reference.preorder(rows, notion) for notion in NOTIONS}
    pairs = _pairs(lts)
    compared = equivalence.compare_many(lts, pairs)
    for pair, found in zip(pairs, compared, strict=True):
        for notion in NOTIONS:
            there, back = bool(below[notion][pair]), bool(below[notion][pair[::-1]])
            if found[notion] != (there, back, there and back):
                yield (
                    f"{notion} of {pair}: {tuple(found[notion])}, where it must be "
                    f"{(there, back, there and back)}"
                )


def _spectrum(case: Labelled) -> Iterator[Complaint]:
    """Classes of all notions."""
    lts = system_of(case)
    rows = reference.rows_of(System.of(lts))
    whole = equivalence.spectrum(lts)
    for notion in NOTIONS:
        below = reference.preorder(rows, notion)
        first_one = (below & below.T).argmax(1)
        expected = np.unique(first_one, return_inverse=True)[1]
        for name, got in (
            ("class", whole.classes(notion)),
            ("relation", equivalence.relation(lts, notion).labels),
        ):
            yield _games.differs(f"{name} by {notion}", got, expected)


def _weak(case: Labelled) -> Iterator[Complaint]:
    """The weak notions that have a definition to be compared with."""
    lts = system_of(case)
    rows = reference.rows_of(System.of(lts))
    silent = {i for i, name in enumerate(lts.names) if name == "tau"}
    pairs = _pairs(lts)
    found = equivalence.compare_many_weak(lts, pairs)
    for notion in DEFINED:
        below = reference.weak_preorder(rows, silent, notion)
        # The languages of bisimilarities lack negations at the root: only equivalence.
        one_way = not notion.endswith("bisimulation")
        for pair, one in zip(pairs, found, strict=True):
            if one[notion][0 if one_way else 2] != bool(below[pair]):
                yield f"{notion} of {pair} must be {bool(below[pair])}"
    for one in found[1::5]:
        for notion in WEAK:
            yield _told_apart(lts, one, notion)


def _told_apart(lts: LTS, found: equivalence.Comparison, notion: str) -> Complaint:
    """A preorder that fails has a formula, which one satisfies and the other not."""
    for back, (p, q) in enumerate(((found.p, found.q), (found.q, found.p))):
        formula = found.formula(notion, reverse=bool(back))
        if (formula is None) != found[notion][back]:
            return f"{notion} of {(p, q)} is {found[notion]}, formula {formula}"
        if formula is not None:
            holds = satisfying(lts, formula)
            if not holds[p] or holds[q]:
                return f"{notion}: {formula} does not tell {p} from {q}"
    return None


# ---- formulas --------------------------------------------------------------------


def by_definition(rows, names, p: int, formula: Formula) -> bool:
    """Whether a process satisfies a formula."""
    match formula:
        case Observe(action, inner):
            return any(
                names[a] == action and by_definition(rows, names, t, inner)
                for a, t in rows[p]
            )
        case Not(inner):
            return not by_definition(rows, names, p, inner)
        case And(parts):
            return all(by_definition(rows, names, p, part) for part in parts)
    raise AssertionError(formula)


def spoilt(formula: Formula, rng: np.random.Generator) -> Formula:
    """The formula with another action, a negation, or less of a conjunction."""
    match formula:
        case Observe(action, inner):
            if rng.random() < 0.3:
                return Observe(NAMES[int(rng.integers(len(NAMES)))], inner)
            return Observe(action, spoilt(inner, rng))
        case Not(inner):
            return inner if rng.random() < 0.3 else Not(spoilt(inner, rng))
        case And(parts) if parts:
            at = int(rng.integers(len(parts)))
            if rng.random() < 0.3:
                return And(parts[:at] + parts[at + 1 :])
            return And((*parts[:at], spoilt(parts[at], rng), *parts[at + 1 :]))
    return Not(formula)


def _formulas(case: Labelled) -> Iterator[Complaint]:
    """Formulas tell apart what they should, at their price; spoilt ones too."""
    lts = system_of(case)
    rows = reference.rows_of(System.of(lts))
    rng = np.random.default_rng([case.size, len(case.src)])
    pairs = [pair for pair in _pairs(lts) if pair[0] < pair[1]]
    for found in equivalence.compare_many(lts, pairs):
        for notion in NOTIONS:
            yield _told_apart(lts, found, notion)
            formula = found.formula(notion)
            if formula is None:
                continue
            if (np.minimum(price(formula), 3) > STRONG[notion]).any():
                yield f"{formula} costs {price(formula)}, too much for {notion}"
            for one in (formula, spoilt(formula, rng)):
                expected = [
                    by_definition(rows, lts.names, p, one) for p in range(case.size)
                ]
                yield _games.differs(f"{one}", satisfying(lts, one), expected)


# ---- bisimilarity ----------------------------------------------------------------


def of_bisimulation(solver: str) -> Check:
    """Classes by signatures, against splitting by the definition."""

    def check(case: Labelled) -> Complaint:
        lts = system_of(case)
        rows = reference.rows_of(System.of(lts))
        found = equivalence.bisimulation(lts, solver).labels
        return _games.differs("class", found, reference.bisimulation(rows))

    return each(check)


def _show(case: Labelled) -> str:
    actions = [NAMES[a] for a in case.edge["action"].tolist()]
    return (
        f"lts = LTS.from_edges({case.src.tolist()}, {actions}, {case.dst.tolist()}, "
        f"num_states={case.size})\nequivalence.spectrum(lts)"
    )


def subject() -> Subject:
    """Processes of small systems, some with silent steps."""
    return Subject(
        name="equivalence",
        draw=_draw,
        checks={
            "bisimulation.host": of_bisimulation("host"),
            "compare": each(_notions),
            "spectrum": each(_spectrum),
            "formulas": each(_formulas),
            "weak": first(each(_weak), 2),
            **{
                f"bisimulation.{name}": first(of_bisimulation(name), 1)
                for name in equivalence.SOLVERS
            },
        },
        smaller=smaller,
        show=_show,
        size=SIZE,
        batch=BATCH,
    )
