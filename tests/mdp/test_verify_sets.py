"""The searches and sums of those who check, beside rounds and fractions."""

import dataclasses
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from jaxgames import graph, mdp
from jaxgames.mdp import _verify_sharp, _verify_values
from jaxgames.mdp._verify_sums import kept_exactly
from jaxgames.mdp._verify_values import Claim
from tests.mdp.rounds import by_rounds


def random_model(rng: np.random.Generator) -> mdp.MDP:
    """A few states; some are padding, some have loops, some choices are the same."""
    states = int(rng.integers(1, 9))
    per_state = rng.integers(1, 4, states)
    per_choice = rng.integers(1, 4, int(per_state.sum()))
    columns = rng.integers(0, states, int(per_choice.sum()))
    probs = rng.integers(1, 4, len(columns)).astype(float)
    rows = np.append(0, np.cumsum(per_choice))
    probs /= np.repeat(np.add.reduceat(probs, rows[:-1]), per_choice)
    groups = np.append(0, np.cumsum(per_state))
    model = mdp.MDP.from_arrays(groups, rows, columns, probs)
    if rng.random() < 0.3:
        more = rng.integers(1, 3, 3)
        model = model.pad(
            model.num_states + int(more[0]),
            model.num_choices + int(more[1]),
            model.num_branches + int(more[2]),
        )
    return model


def claim_of(model: mdp.MDP) -> Claim:
    none = np.zeros(model.num_states)
    return Claim(model, none, none, None)


@pytest.mark.parametrize("seed", range(40))
def test_searches_find_what_rounds_find(seed):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        claim = claim_of(random_model(rng))
        size, real = len(claim.real), claim.real
        goal, passed, within = rng.random((3, size)) < [[0.3], [0.8], [0.8]]
        choices = claim.live & (rng.random(len(claim.owner)) < 0.8)
        within &= real

        def reached(mark, choices=choices, passed=passed, claim=claim):
            return mark | (passed & claim.have(choices & claim.may(mark)))

        def forced(mark, choices=choices, passed=passed, claim=claim):
            return mark | (passed & ~claim.have(choices & ~claim.may(mark)))

        def rests(inside, choices=choices, claim=claim):
            return inside & claim.have(choices & ~claim.may(~inside))

        def surely(inside, choices=choices, goal=goal, claim=claim):
            safe = choices & ~claim.may(~inside)

            def nearer(mark):
                free = inside & ~goal & claim.have(safe & claim.may(mark))
                return mark | free

            return by_rounds(nearer, goal & claim.real) & inside

        for found, expected in (
            (claim.reaches(goal, passed, choices), by_rounds(reached, goal & real)),
            (
                claim.avoids(goal, passed, choices),
                real & ~by_rounds(forced, goal & real),
            ),
            (claim.rests(choices), by_rounds(rests, real)),
            (claim.stays(within, choices), by_rounds(rests, within)),
            (claim.surely(goal, choices, within), by_rounds(surely, within)),
            (claim.surely(goal, choices), by_rounds(surely, real)),
        ):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(30))
def test_sets_that_are_visited_for_ever(seed):
    """Beside the definition, in rounds."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        model = random_model(rng)
        claim = claim_of(model)
        goal = (rng.random(len(claim.real)) < 0.4) & claim.real

        def step(inside, claim=claim, goal=goal):
            safe = claim.live & ~claim.may(~inside)
            again = goal & inside & claim.have(safe)
            return claim.surely(again, safe, inside)

        expected = by_rounds(step, claim.real)
        found = mdp.almost_sure_buchi(model, goal, engine="host")
        np.testing.assert_array_equal(found.states, expected)
        assert mdp.verify_region(model, goal, found, "for ever")
        for state in np.flatnonzero(claim.real):
            states = found.states.copy()
            states[state] ^= True
            wrong = found._replace(states=states)
            assert not mdp.verify_region(model, goal, wrong, "for ever")


def drawn(rng: np.random.Generator, size: int, kind: str) -> np.ndarray:
    if kind == "halves":
        return rng.integers(-64, 65, size) / 16
    if kind == "large":
        return rng.integers(-(1 << 50), 1 << 50, size).astype(float)
    if kind == "tiny":
        return rng.random(size) * 10.0 ** rng.integers(-300, -250, size)
    return rng.random(size)


@pytest.mark.parametrize("kind", ["halves", "large", "tiny", "any"])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_surely_kept_is_kept(kind, sign):
    """Nothing is said that is not so; and halves are always decided."""
    rng = np.random.default_rng(sign + len(kind))
    decided = 0
    for _ in range(2000):
        width, size = int(rng.integers(1, 4)), 5
        bound = drawn(rng, size, kind)
        target = rng.integers(0, size, width)
        weight = rng.integers(1, 5, width).astype(float)
        if kind == "any":
            weight = rng.random(width)
        earned = drawn(rng, 1, kind) * rng.integers(0, 2)
        if rng.random() < 0.5:  # a tie, or almost one
            with np.errstate(invalid="ignore"):
                worth = earned[0] + weight @ bound[target] / weight.sum()
            bound[0] = np.nextafter(worth, rng.choice([-np.inf, worth, np.inf]))
        if rng.random() < 0.05:
            bound[rng.integers(size)] = np.inf
        own = np.zeros(1, np.int32)
        (found,) = kept_exactly(
            *(np.array([0, width]), target, weight, bound, own, earned, True, sign),
            np.zeros(1, np.int64),
        )
        if not np.isfinite(bound).all():
            assert not found or np.isfinite(bound[target]).all() or sign < 0
            continue
        total = sum(map(Fraction, weight.tolist()))
        pairs = zip(weight.tolist(), bound[target].tolist(), strict=True)
        value = sum(Fraction(p) * Fraction(x) for p, x in pairs) / total
        value += Fraction(float(earned[0]))
        kept = sign * (Fraction(float(bound[0])) - value) >= 0
        assert kept or not found
        decided += found == kept
        if kind == "halves":
            exact = Fraction(float(bound[0])).denominator <= 1 << 20
            assert found == kept or not exact
    assert decided > {"tiny": 700, "any": 1800}.get(kind, 1500)


def test_a_discount_is_left_to_fractions():
    given = [0, 1], [1], [1.0], [1.0, 0.0], [0], [0.0]
    arrays = [np.array(x) for x in given]
    at = np.zeros(1, np.int64)
    assert kept_exactly(*arrays, True, 1, at).tolist() == [True]
    assert kept_exactly(*arrays, False, 1, at).tolist() == [False]


# ---- deep models -----------------------------------------------------------------


def chain(size: int) -> mdp.MDP:
    """From each state on to the next, or to stay."""
    state = np.arange(size)
    columns = np.stack([state, np.minimum(state + 1, size - 1)], 1).ravel()
    return mdp.MDP.from_arrays(
        *(
            np.arange(size + 1),
            2 * np.arange(size + 1),
            columns,
            np.full(2 * size, 0.5),
        ),
        labels={"end": state == size - 1},
        choice_rewards={"": np.ones(size)},
    )


def test_deep_models_are_checked_in_one_pass():
    """Rounds over all branches would be as many as there are states."""
    model = chain(200_000)
    last = [model.num_states - 1]
    for optimum in ("max", "min"):
        zero = mdp.prob0(model, last, optimum)
        assert mdp.verify_region(model, last, zero, "zero", optimum)
        one = mdp.prob1(model, last, optimum)
        assert mdp.verify_region(model, last, one, "one", optimum)
        wrong = one._replace(states=one.states & (np.arange(len(one.states)) != 7))
        assert not mdp.verify_region(model, last, wrong, "one", optimum)
    for_ever = mdp.almost_sure_buchi(model, last)
    assert mdp.verify_region(model, last, for_ever, "for ever")
    for text in ('P=? [ F "end" ]', 'R=? [ F "end" ]'):
        assert mdp.verify_values(model, text, mdp.check(model, text))


def walk(last: int) -> mdp.MDP:
    """One step up or down, by equal chances, until one end or the other is reached."""
    inner = np.arange(1, last)
    steps = np.stack([inner - 1, inner + 1], 1).ravel()
    rows = np.concatenate([[0], np.arange(1, 2 * last, 2), [2 * last]])
    state = np.arange(last + 1)
    return mdp.MDP.from_arrays(
        *(np.arange(last + 2), rows, np.concatenate([[0], steps, [last]])),
        np.concatenate([[1.0], np.full(len(steps), 0.5), [1.0]]),
        labels={"end": state == last, "ends": (state == 0) | (state == last)},
        state_rewards={"": np.ones(last + 1)},
    )


@pytest.mark.parametrize(
    "text", ['P=? [ F "end" ]', 'P=? [ G !"end" ]', 'R=? [ F "ends" ]']
)
def test_bounds_of_a_long_walk_are_sharper_than_what_each_step_shows(text, monkeypatch):
    """Sharper ones are found, shown in fractions, and compared with."""
    last = 4_000
    model, at = walk(last), np.arange(last + 1)
    found = mdp.check(model, text)
    assert mdp.verify_values(model, text, found)
    values = {
        'P=? [ F "end" ]': at / last,
        'P=? [ G !"end" ]': (last - at) / last,
        'R=? [ F "ends" ]': at * (last - at) * 1.0,
    }[text]
    # Right ones, each as near as it happens to be.
    rng = np.random.default_rng(1)
    below, above = 1e-14 * rng.random((2, last + 1)) + 1e-15
    inside = (at > 0) & (at < last)
    sharp = dataclasses.replace(
        found,
        lower=values * (1 - below * inside),
        upper=values * (1 + above * inside),
    )
    assert mdp.verify_values(model, text, sharp)
    state = last // 2 + 1
    value = float(values[state])
    for off in (1e-6, 1e-9, 1e-12):
        for name, by in (("lower", off), ("upper", -off)):
            wrong = dataclasses.replace(
                sharp, lower=sharp.lower.copy(), upper=sharp.upper.copy()
            )
            wrong.lower[state] = wrong.upper[state] = value * (1 + by)
            verdict = mdp.verify_values(model, text, wrong)
            assert not verdict, name
            assert verdict.vertex == state
    # Where there is no narrow order, nothing is said of what is too near.
    monkeypatch.setattr(_verify_sharp, "NARROW_UP_TO", 0)
    with pytest.raises(ValueError, match="too near to its value to be verified"):
        mdp.verify_values(model, text, sharp)


@pytest.mark.parametrize("optimum", ["min", "max"])
@pytest.mark.parametrize("seed", range(4))
def test_sharp_bounds_of_small_models_beside_their_values(seed, optimum, monkeypatch):
    """As if they were too large for fractions: right ones hold, and no others."""
    monkeypatch.setattr(_verify_values, "CHAIN_SOLVED_UP_TO", 0)
    rng = np.random.default_rng([seed, optimum == "min"])
    shown, wrongs, unknown = 0, 0, 0
    for _ in range(12):
        model = random_model(rng)
        goal = (rng.random(model.num_states) < 0.3) & claim_of(model).real
        earned = rng.integers(0, 4, model.num_choices).astype(float)
        model = dataclasses.replace(
            model, labels={"goal": goal}, choice_rewards={"": earned}
        )
        for text, kind, more in (
            (f'P{optimum}=? [ F "goal" ]', "reach", {}),
            (f'R{optimum}=? [ F "goal" ]', "until", {"reward": earned}),
        ):
            how = {"target": goal, **more}
            values = mdp.reference.values(model, kind, optimum, **how)
            found = mdp.check(model, text, exact=True)
            near = np.array([float(x) for x in values])
            lower, upper = near.copy(), near.copy()
            for state, value in enumerate(values):
                if np.isfinite(near[state]) and value not in (0, 1):
                    lower[state] = np.nextafter(near[state], -np.inf)
                    upper[state] = np.nextafter(near[state], np.inf)
            sharp = dataclasses.replace(found, lower=lower, upper=upper)
            try:
                assert mdp.verify_values(model, text, sharp)
                shown += 1
            except ValueError:
                unknown += 1
            for state in np.flatnonzero(np.isfinite(near) & (near > 0)).tolist():
                off = float(rng.choice([1e-6, 1e-9, 1e-12])) * rng.choice([-1, 1])
                wrong = dataclasses.replace(
                    sharp, lower=lower.copy(), upper=upper.copy()
                )
                wrong.lower[state] = wrong.upper[state] = near[state] * (1 + off)
                try:
                    assert not mdp.verify_values(model, text, wrong)
                    wrongs += 1
                except ValueError:
                    unknown += 1
    assert shown > 8
    assert wrongs > 15
    assert unknown < (shown + wrongs) / 2


def test_many_goals_that_are_lost_one_after_the_other():
    """Each is left for the next; none is visited for ever."""
    size = 100_000
    model = mdp.MDP.from_arrays(
        np.arange(size + 1),
        np.arange(size + 1),
        np.append(np.arange(1, size), size - 1),
    )
    goals = np.arange(size) < size - 1
    found = mdp.almost_sure_buchi(model, goals)
    assert not found.states.any()
    assert mdp.verify_region(model, goals, found, "for ever")


def test_what_is_reached_along_a_path_is_checked_in_one_pass():
    size = 300_000
    rows = np.arange(size + 1), np.append(np.arange(1, size), size - 1)
    for backward, sources in ((False, [0]), (True, [size - 1])):
        found = graph.reachable(rows, sources, backward=backward)
        assert graph.verify_reachable(rows, found, sources, backward=backward)
        found[size // 2] = False
        assert not graph.verify_reachable(rows, found, sources, backward=backward)


@pytest.mark.parametrize("size", [50, 4000])
@pytest.mark.parametrize("seed", [0, 1])
def test_cheapest_ways_with_ways_back(seed, size):
    """Every state can also begin anew: from below all values rise together."""
    rng = np.random.default_rng(seed)
    state = np.arange(size)
    near = np.minimum(state + rng.integers(1, 4, size), size - 1)
    columns = np.stack([np.minimum(state + 1, size - 1), near, 0 * state], 1).ravel()
    cost = rng.integers(1, 9, 3 * size).astype(float)
    model = mdp.MDP.from_arrays(
        *(3 * np.arange(size + 1), np.arange(3 * size + 1), columns),
        np.ones(3 * size),
        labels={"end": state == size - 1},
        choice_rewards={"": cost},
    )
    ways = nx.MultiDiGraph()
    edges = zip(columns.tolist(), np.repeat(state, 3).tolist(), cost, strict=True)
    ways.add_weighted_edges_from(edges)
    cheapest = nx.single_source_dijkstra_path_length(ways, size - 1)
    text = 'Rmin=? [ F "end" ]'
    found = mdp.check(model, text)
    np.testing.assert_allclose(found.lower, [cheapest[s] for s in range(size)])
    assert mdp.verify_values(model, text, found)
