"""Markov decision processes: end components, and probabilities to reach a target."""

import functools
import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal

import jax
import numpy as np

from jaxgames import mdp, solve_many
from jaxgames.mdp import MDP
from jaxgames.solution import Status
from jaxgames.testing import _exact, _games
from jaxgames.testing._labelled import Labelled, labelled, smaller
from jaxgames.testing._subject import (
    Cases,
    Check,
    Complaint,
    Subject,
    apart,
    each,
    first,
)

BATCH, SIZE = 64, 7
"""Models that are checked together, and states of one at most."""

SIZES = 8, 32, 128
"""States, choices and branches that models are padded to."""


# ---- models ----------------------------------------------------------------------


def in_order(case: Labelled) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges by state and choice; where each choice starts; and each state's."""
    order = np.lexsort((case.edge["choice"], case.src))
    state, choice = case.src[order], case.edge["choice"][order]
    new = np.append(True, (np.diff(state) > 0) | (np.diff(choice) != 0))[: len(order)]
    starts = np.flatnonzero(new)
    groups = np.searchsorted(state[starts], np.arange(case.size + 1))
    return order, np.append(starts, len(order)), groups


def model_of(case: Labelled) -> MDP:
    """The model whose branches are the edges, by state and choice."""
    order, rows, groups = in_order(case)
    lots = np.maximum(case.edge["lot"][order], 1).astype(float)
    totals = np.add.reduceat(lots, rows[:-1])
    probs = lots / np.repeat(totals, np.diff(rows))
    return MDP.from_arrays(groups, rows, case.dst[order], probs)


def _masks(case: Labelled) -> dict[str, Any]:
    """The states and the choices that are looked at."""
    order, rows, _ = in_order(case)
    return {
        "states": case.vertex["there"] > 0,
        "choices": case.edge["within"][order][rows[:-1]] > 0,
    }


def _draw(rng: np.random.Generator, index: int, size: int) -> Labelled:
    """Sparse or dense, with neighbours or anywhere, some parts masked out."""
    size = int(rng.integers(1, size + 1))
    choices = rng.integers(1, rng.integers(2, 4), size)
    owner = np.repeat(np.arange(size), choices)
    branches = rng.integers(1, rng.integers(2, 5), len(owner))
    src = np.repeat(owner, branches)
    choice = np.repeat(np.concatenate([np.arange(n) for n in choices]), branches)
    dst = rng.integers(0, size, len(src))
    if rng.random() < 0.5:  # neighbours: more components
        dst = (src + rng.integers(-1, 2, len(src))) % size
    whole = rng.random(2) < 0.6
    vertex = {
        "there": whole[0] | (rng.random(size) < 0.8),
        "target": rng.random(size) < 0.25,
    }
    edge = {
        "choice": choice,
        "lot": rng.integers(1, 5, len(src)),
        "within": whole[1] | (rng.random(len(src)) < 0.8),
    }
    return labelled(src, dst, size, vertex, edge)


def _show(case: Labelled, call: str) -> str:
    model = model_of(case)
    parts = (model.row_group_offsets, model.row_offsets, model.columns, model.probs)
    arguments = ", ".join(str(np.asarray(x).tolist()) for x in parts)
    return f"model = mdp.MDP.from_arrays({arguments})\n{call}"


# ---- end components --------------------------------------------------------------


Parts = tuple[np.ndarray, np.ndarray]
"""The component of each state, and which choices are kept."""


def _models(cases: Cases) -> list[MDP]:
    return [model_of(case) for case in cases]


def _expected(cases: Cases, masked: bool) -> list[Parts]:
    return [
        _exact.end_components(model, **(_masks(case) if masked else {}))
        for case, model in zip(cases, cases.once(_models), strict=True)
    ]


def _wrong(found, expected: Parts) -> Complaint:
    if unsolved := _games.unsolved(found):
        return unsolved
    label, kept = expected
    if int(found.count) != label.max(initial=-1) + 1:
        return f"{int(found.count)} components, where there are {label.max() + 1}"
    return _games.differs(
        "component", np.asarray(found.state_label)[: len(label)], label
    ) or _games.differs("choice", np.asarray(found.choice_kept)[: len(kept)], kept)


def _stack(cases: Cases) -> tuple[MDP, dict[str, np.ndarray]]:
    """Models and masks in one padded size."""
    models = [model.pad(*SIZES) for model in cases.once(_models)]
    models += models[-1:] * (BATCH - len(models))
    masks = [_masks(case) for case in cases]
    return jax.tree.map(lambda *xs: np.stack(xs), *models), {
        name: _games.rows([x[name] for x in masks], size, BATCH, 1).astype(bool)
        for name, size in zip(("states", "choices"), SIZES, strict=False)
    }


def of_solver(solver) -> Check:
    """A solver of the device under `jit` and `vmap`, and verification there."""

    @jax.jit
    @jax.vmap
    def run(model: MDP, masks):
        found = mdp.mec(model, solver, **masks)
        valid = mdp.verify(model, found, **masks).valid
        return found.status, found.count, found.state_label, found.choice_kept, valid

    def check(cases: Cases) -> list[Complaint]:
        found = jax.device_get(run(*cases.once(_stack)))
        said = []
        for expected, status, count, label, kept, valid in zip(
            cases.once(_expected, True), *found, strict=False
        ):
            answer = mdp.EndComponents(
                Status(int(status)), count=count, state_label=label, choice_kept=kept
            )
            wrong = _wrong(answer, expected)
            if wrong is None and not valid:
                wrong = "the device rejects the answer"
            said.append(wrong)
        return said

    return apart(check)


def of_place(solver: str) -> Check:
    """`mdp.mec` of one concrete model after the other, and its certificate."""

    def check(case: Labelled) -> Complaint:
        model, masks = model_of(case), _masks(case)
        expected = _exact.end_components(model, **masks)
        if solver not in ("host", "auto", "reference"):
            model = model.pad(*SIZES)
            for name, size in zip(("states", "choices"), SIZES, strict=False):
                masks[name] = np.pad(masks[name], (0, size - len(masks[name])))
        if solver == "reference":
            found = mdp.reference.mec(model, **masks)
        else:
            found = mdp.mec(model, solver, **masks)
        verdict = mdp.verify(model, found, **masks, engine="host")
        return _wrong(found, expected) or _games.rejected(verdict, "the host")

    return each(check)


def _many(cases: Cases) -> list[Complaint]:
    models = [model.pad(*SIZES) for model in cases.once(_models)]
    found = solve_many("mec", models, mdp.PROBLEM.auto(None))
    return list(map(_wrong, found, cases.once(_expected, False)))


def spoilt(right: Parts, rng: np.random.Generator) -> Parts:
    """Components merged or moved, choices kept that leave, or dropped."""
    label, kept = (x.copy() for x in right)
    s, c = rng.integers(len(label)), rng.integers(len(kept))
    match rng.integers(6):
        case 0:
            label[s] = rng.integers(-1, label.max() + 2)
        case 1:
            kept[c] ^= True
        case 2:  # dropped
            label[label == label[s]] = -1
        case 3:  # merged
            label[label == label[s]] = label[rng.integers(len(label))]
        case 4:
            kept |= rng.random(len(kept)) < 0.5
        case 5:
            label[s], kept[c] = rng.integers(-2, label.max() + 3), not kept[c]
    return label, kept


@jax.jit
@jax.vmap
def _valid(model: MDP, masks, label, kept):
    return mdp.verify(model, (label, kept), **masks).valid


def _spoilt(cases: Cases) -> list[Complaint]:
    right = cases.once(_expected, True)
    claims = [
        spoilt(parts, np.random.default_rng([at, len(parts[1])]))
        for at, parts in enumerate(right)
    ]
    stack, masks = cases.once(_stack)
    label = _games.rows([x for x, _ in claims], SIZES[0], BATCH, -1)
    kept = _games.rows([x for _, x in claims], SIZES[1], BATCH, 0).astype(bool)
    valid = np.asarray(_valid(stack, masks, label, kept))
    said = []
    for at, (case, claim) in enumerate(zip(cases, claims, strict=True)):
        model, there = cases.once(_models)[at], _masks(case)
        verdicts = {
            "the host": bool(mdp.verify(model, claim, **there, engine="host")),
            "the device": bool(valid[at]),
        }
        truth = all(map(np.array_equal, claim, right[at]))
        text = f"labels {claim[0].tolist()} with choices {claim[1].tolist()}"
        said.append(_games.judged(truth, verdicts, text))
    return said


def components() -> Subject:
    """Maximal end components, with states and choices masked out."""
    checks: dict[str, Check] = {
        "reference": of_place("reference"),
        "host": of_place("host"),
        "auto": of_place("auto"),
        "verify": apart(_spoilt),
    }
    checks |= {name: of_solver(mdp.SOLVERS[name]()) for name in mdp.SOLVERS}
    checks["many"] = apart(_many)
    for name in ("race", *mdp.SOLVERS):
        checks[f"{name}.alone"] = first(of_place(name), 2)
    return Subject(
        name="mec",
        draw=_draw,
        checks=checks,
        smaller=smaller,
        show=lambda case: _show(
            case,
            "mdp.mec(model, "
            + ", ".join(f"{k}={v.tolist()}" for k, v in _masks(case).items())
            + ")",
        ),
        size=SIZE,
        batch=BATCH,
    )


REACH = ("host", "interval")
"""What finds bounds of probabilities."""


# ---- probabilities ---------------------------------------------------------------


def _question(case: Labelled) -> tuple[MDP, np.ndarray, np.ndarray]:
    return model_of(case), case.vertex["target"] > 0, case.vertex["there"] > 0


def _bounds(case: Labelled) -> Iterator[Complaint]:
    """Bounds that hold exactly and are near, and a scheduler that is worth them."""
    model, target, passed = _question(case)
    exact = _exact.reach_values(model, target, passed)
    asked = itertools.product(zip(("min", "max"), exact, strict=True), REACH)
    for (optimum, values), solver in asked:
        how = f"{optimum}, {solver}"
        found = mdp.reach_probability(model, target, optimum, solver, states=passed)
        chain = _exact.chain_of(mdp.induced_chain(model, found.scheduler))
        worth = _exact.chain_values(chain, target, passed)
        for s, value in enumerate(values):
            low, high = Fraction(found.lower[s]), Fraction(found.upper[s])
            if not low <= value <= high:
                yield (
                    f"{how}: bounds {float(low)} and {float(high)} at state {s}, "
                    f"where the probability is {float(value)}"
                )
            if abs(Fraction(found.value[s]) - value) > Fraction(1, 10**6):
                yield f"{how}: {found.value[s]} at state {s} is too far away"
            if (worth[s] < low) if optimum == "max" else (worth[s] > high):
                yield (
                    f"{how}: the scheduler reaches the target from state {s} with "
                    f"{float(worth[s])}, which the bounds leave out"
                )
        if ((found.scheduler < 0) != (target | ~passed)).any():
            yield f"{how}: a scheduler for states where nothing is to be chosen"


def _values(case: Labelled) -> Iterator[Complaint]:
    """The reference's value iteration."""
    model, target, passed = _question(case)
    exact = _exact.reach_values(model, target, passed)
    for optimum, values in zip(("min", "max"), exact, strict=True):
        found = mdp.reference.value_iteration(
            model, target, optimum, states=passed, epsilon=1e-12
        )
        for s, value in enumerate(values):
            if abs(found[s] - float(value)) > 1e-6:
                yield f"{optimum}: {found[s]} at state {s}, not {float(value)}"


def of_regions(engine: Literal["host", "device", "reference"]) -> Check:
    """Probability zero and one, and almost sure repetition."""
    slice_, how = (
        (mdp.reference, {}) if engine == "reference" else (mdp, {"engine": engine})
    )

    def check(case: Labelled) -> Iterator[Complaint]:
        model, target, passed = _question(case)
        exact = _exact.reach_values(model, target, passed)
        good = _exact.buchi_states(model, target)
        wide = target, passed
        if engine == "device":
            model = model.pad(*SIZES)
            wide = tuple(np.pad(x, (0, SIZES[0] - case.size)) for x in wide)
        for optimum, values in zip(("min", "max"), exact, strict=True):
            for name, goal in (("prob0", 0), ("prob1", 1)):
                question = getattr(slice_, name)
                found = question(model, wide[0], optimum, states=wide[1], **how)
                yield _games.differs(
                    f"probability {goal} ({optimum})",
                    np.asarray(found.states)[: case.size],
                    [value == goal for value in values],
                )
        found = slice_.almost_sure_buchi(model, wide[0], **how)
        yield _games.differs(
            "almost sure repetition", np.asarray(found.states)[: case.size], good
        )

    return each(check)


def _verified(case: Labelled) -> Iterator[Complaint]:
    """The check of sets, by values of chains, with what is spoilt."""
    model, target, passed = _question(case)
    exact = _exact.reach_values(model, target, passed)
    groups = np.asarray(model.row_group_offsets)
    for (optimum, values), (sought, goal) in itertools.product(
        zip(("min", "max"), exact, strict=True), (("zero", 0), ("one", 1))
    ):
        find = mdp.reference.prob0 if sought == "zero" else mdp.reference.prob1
        found = find(model, target, optimum, states=passed)
        verify: Any = mdp.verify_region
        asked = functools.partial(verify, model, target, states=passed)
        right = np.array([value == goal for value in values])
        for s in range(-1, case.size):
            claim = right.copy()
            if s >= 0:
                claim[s] ^= True
            verdict = asked(found._replace(states=claim), sought, optimum)
            if bool(verdict) != (s < 0):
                yield f"{sought}, {optimum}, changed at {s}: {verdict}"
        if found.scheduler is None:
            continue
        for s in np.flatnonzero(found.scheduler >= 0):
            for choice in range(groups[s], groups[s + 1]):
                scheduler = found.scheduler.copy()
                scheduler[s] = choice
                verdict = asked(mdp.Region(right, scheduler), sought, optimum)
                chain = _exact.chain_of(mdp.induced_chain(model, scheduler))
                worth = _exact.chain_values(chain, target, passed)
                wrong = [t for t in np.flatnonzero(right) if worth[t] != goal]
                if verdict and wrong:
                    yield f"{sought}, {optimum}, choice {choice}: not so from {wrong}"


def _show_question(case: Labelled) -> str:
    target = np.flatnonzero(case.vertex["target"]).tolist()
    passed = case.vertex["there"].tolist()
    return _show(case, f"mdp.reach_probability(model, {target}, states={passed})")


def probabilities() -> Subject:
    """The least and largest probabilities to reach a target."""
    return Subject(
        name="reach",
        draw=lambda rng, index, size: _draw(rng, index, min(size, 5)),
        checks={
            "reference": of_regions("reference"),
            "values": each(_values),
            "host": of_regions("host"),
            "device": first(of_regions("device"), 6),
            "bounds": each(_bounds),
            "verify": each(_verified),
        },
        smaller=smaller,
        show=_show_question,
        size=5,
        batch=24,
    )
