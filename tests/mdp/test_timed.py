"""Markov chains in continuous time: values by a clock, against their equations."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from jaxgames import SolveError, Status, io, mdp
from jaxgames.mdp._by_products import Products
from jaxgames.mdp._clock import ticks_in, time_at
from jaxgames.testing import _timed

QUEUE = """
ctmc
const int N; const double in = 3/2;
module queue
  n : [0..N];
  [come] n<N -> in : (n'=n+1);
  [go] n>0 -> 2 : (n'=n-1);
endmodule
label "full" = n=N;
rewards "length" true : n; endrewards
rewards "served" [go] true : 1; endrewards
"""


@pytest.fixture(scope="module")
def queue():
    return mdp.Program.parse(QUEUE).build(constants={"N": 4})


def test_a_queue_in_the_long_run_is_geometric(queue):
    assert queue.exit_rates.tolist() == [1.5, 3.5, 3.5, 3.5, 2]
    weights = [Fraction(3, 4) ** k for k in range(5)]
    full = float(weights[4] / sum(weights))
    for text, value in {
        'S=? [ "full" ]': full,
        'R{"served"}=? [ LRA ]': 1.5 * (1 - full),
        'R{"length"}=? [ LRA ]': float(
            sum(k * w for k, w in enumerate(weights)) / sum(weights)
        ),
    }.items():
        found = mdp.check(queue, text)
        assert (found.lower <= value * (1 + 1e-12)).all()
        assert (found.upper >= value * (1 - 1e-12)).all()
        assert (found.upper - found.lower <= 1e-6 * value).all()


def test_an_exponential_delay_is_what_it_is():
    model = mdp.MDP.from_arrays(
        *([0, 1, 2], [0, 1, 2], [1, 1], [1, 1]),
        labels={"done": [0, 1]},
        state_rewards={"": [3.0, 0.0]},
        exit_rates=[0.25, 1.0],
    )
    gone = 1 - np.exp(-0.25 * 6)
    cases = {
        'P=? [ F<=6 "done" ]': gone,
        'P=? [ G<=6 !"done" ]': 1 - gone,
        'P=? [ F>=6 "done" ]': 1.0,
        'P=? [ !"done" U>6 "done" ]': 1 - gone,
        'T=? [ F "done" ]': 4.0,
        'R=? [ F "done" ]': 12.0,
        "R=? [ C<=6 ]": 12 * gone,
        "R=? [ I=6 ]": 3 * (1 - gone),
        "R=? [ C ]": 12.0,
        'P=? [ X "done" ]': 1.0,
    }
    for text, value in cases.items():
        found = mdp.check(model, text)
        assert found.lower[0] * (1 - 1e-12) <= value <= found.upper[0] * (1 + 1e-12)
        assert found.upper[0] - found.lower[0] <= 1.1e-6 * value, text


def test_a_rare_event_is_known_as_nearly_as_others():
    size = 12
    slow = [1e-4] * (size - 1) + [1.0]
    model = mdp.MDP.from_arrays(
        *(np.arange(size + 1), np.arange(size + 1)),
        *([*range(1, size), size - 1], np.ones(size)),
        labels={"end": np.arange(size) == size - 1},
        exit_rates=slow,
    )
    found = mdp.check(model, 'P=? [ F<=1 "end" ]')
    # Erlang's: the probability of eleven jumps at least.
    mean, term, total = Fraction(1, 10**4), Fraction(1), Fraction(0)
    for k in range(1, 40):
        term = term * mean / k
        total += term if k >= size - 1 else 0
    value = float(total) * np.exp(-1e-4)
    assert 0 < value < 1e-50
    assert found.lower[0] * (1 - 1e-12) <= value <= found.upper[0] * (1 + 1e-12)
    assert found.upper[0] - found.lower[0] <= 1e-6 * value


@pytest.mark.parametrize("mean", [0, 1, 37, 10**5])
def test_terms_of_poisson_hold_what_they_are(mean):
    terms = ticks_in(1.0, Fraction(mean))
    total = terms.weight.sum()
    assert abs(total - 1) < 1e-9
    counts = terms.first + np.arange(len(terms.weight))
    assert abs((terms.weight * counts).sum() - mean) <= 1e-9 * max(mean, 1)
    assert (np.diff(terms.rest) <= 0).all()
    assert abs(time_at(2.0, Fraction(mean)).weight.sum() - mean) <= 1e-8 * max(mean, 1)


def test_random_chains_hold_the_values_of_their_equations():
    for seed in range(4):
        chain = _timed._draw(np.random.default_rng([1, seed]), seed, 4)
        assert _timed._compared(chain) is None, chain


@pytest.mark.sweep
def test_many_random_chains():
    for seed in range(400):
        chain = _timed._draw(np.random.default_rng([2, seed]), seed, 6)
        assert _timed._compared(chain) is None, chain


def test_files_hold_rates(queue, tmp_path):
    path = tmp_path / "queue.drn"
    io.save(path, queue)
    again = io.load(path)
    assert isinstance(again, mdp.MDP)
    assert np.allclose(again.exit_rates, queue.exit_rates, rtol=1e-15)
    assert np.allclose(again.probs, queue.probs, rtol=1e-15)
    text = path.read_text()
    assert "@type: CTMC" in text
    assert "state 1 !3.5" in text
    with pytest.warns(UserWarning, match="variable 'n'"):
        io.save(tmp_path / "queue.sm", queue)
    again = io.load(tmp_path / "queue.sm")
    assert np.allclose(again.exit_rates, queue.exit_rates, rtol=1e-15)
    io.save(tmp_path / "queue.umb", queue)
    again = io.load(tmp_path / "queue.umb")
    assert again.exit_rates.tolist() == queue.exit_rates.tolist()
    assert again.probs.tolist() == queue.probs.tolist()
    with pytest.raises(ValueError, match="cannot hold a chain with rates"):
        io.save(tmp_path / "queue.tra", queue)
    path.write_text(text.replace("!3.5", "!4.5"))
    with pytest.raises(io.FormatError, match=r"left at rate 4.5, .* sum up to 3.5"):
        io.load(path)
    path.write_text(text.replace("!3.5", "!3x"))
    with pytest.raises(io.FormatError, match="expected a rate after '!', found '3x'"):
        io.load(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("P=? [ F<=-1 n=0 ]", "must not be negative"),
        ("P=? [ F[3,2] n=0 ]", "is empty: from 3 to 2"),
        ("P=? [ G (n=0 | F<=2 n=1) ]", "has a bound of time, and is a part"),
        ('R{"served"}=? [ I=2 ]', "are not rewards of states"),
        ('R{"served"}=? [ C<=2 discount=0.9 ]', "discounts are for steps"),
        ("P=? [ F<=10000000000 n=4 ]", "too often to be followed"),
    ],
)
def test_what_cannot_be_asked_in_time(queue, text, said):
    with pytest.raises(ValueError, match=said.replace("[", r"\[")):
        mdp.check(queue, text)


@pytest.mark.parametrize(
    ("exits", "said"),
    [
        ([1.0], "must have one entry each, 2"),
        ([1.0, 0.0], "the exit rate of state 1 is 0"),
        ([np.inf, 1.0], "the exit rate of state 0 is inf"),
    ],
)
def test_rates_that_are_none(exits, said):
    with pytest.raises(ValueError, match=said):
        mdp.MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 0], [1, 1], exit_rates=exits)
    with pytest.raises(ValueError, match="only Markov chains are known"):
        mdp.MDP.from_arrays([0, 2], [0, 1, 2], [0, 0], [1, 1], exit_rates=[1.0])


@pytest.mark.parametrize(
    "text",
    [
        "P=? [ F n=4 ]",
        "P=? [ G n>0 ]",
        "P=? [ G F n=4 ]",
        "P=? [ X (n=1) ]",
        "P=? [ !(n<3 U n=0) ]",
        "T=? [ F n=4 ]",
        'R{"served"}=? [ F n=4 ]',
        'R{"length"}=? [ F n=4 ]',
        'R{"served"}=? [ LRA ]',
        'R{"length"}=? [ LRA ]',
        "S=? [ n>=2 ]",
        "S>=0.3 [ n>=2 ]",
    ],
)
def test_what_no_time_bounds_is_verified(queue, text):
    found = mdp.check(queue, text)
    assert mdp.verify_values(queue, text, found)
    for bound in ("lower", "upper"):
        if getattr(found, bound)[2] in (0, 1):
            continue
        wrong = dict(lower=found.lower.copy(), upper=found.upper.copy())
        moved = found.upper + 1e-6 if bound == "lower" else found.lower - 1e-6
        wrong["lower"][2] = wrong["upper"][2] = moved[2]
        assert not mdp.verify_values(queue, text, dataclasses.replace(found, **wrong))


def test_bounded_times_are_not_verified(queue):
    for text in ("P=? [ F<=2 n=4 ]", "P=? [ F>=2 n=4 ]", 'R{"length"}=? [ I=2 ]'):
        found = mdp.check(queue, text)
        with pytest.raises(ValueError, match="no other check"):
            mdp.verify_values(queue, text, found)


@pytest.mark.counts
def test_averages_of_many_rates_take_few_products(monkeypatch):
    made, real = [], Products.less_later

    def counted(self, values):
        made.append(1)
        return real(self, values)

    monkeypatch.setattr(Products, "less_later", counted)
    program = mdp.Program.from_text("""
        ctmc
        module machines
          up : [0..19] init 19;
          [] up>0 -> 0.001*up : (up'=up-1);
          [] up<19 -> 1 : (up'=up+1);
        endmodule
        module queue
          long : [0..19];
          [] long<19 -> 0.9 : (long'=long+1);
          [] long>0 -> 1 : (long'=long-1);
        endmodule
        module spare
          left : [0..9] init 9;
          [] left>0 -> 0.0001*left : (left'=left-1);
          [] left<9 -> 0.02 : (left'=left+1);
        endmodule
        label "good" = up=19 & long=0 & left=9;
    """)
    # All are on their own, and go up as often as down.
    machines, queue, spare = [1.0], [1.0], [1.0]
    for down in range(19):
        machines.append(machines[-1] * 0.001 * (19 - down))
        queue.append(queue[-1] * 0.9)
    for down in range(9):
        spare.append(spare[-1] * 0.0001 * (9 - down) / 0.02)
    expected = 1 / sum(machines) / sum(queue) / sum(spare)
    found = mdp.check(program.build(), 'S=? [ "good" ]')
    assert found.lower[0] <= expected * (1 + 1e-12)
    assert found.upper[0] >= expected * (1 - 1e-12)
    assert found.upper[0] - found.lower[0] <= 1e-6 * expected
    assert 0 < len(made) < 150, len(made)


@pytest.mark.counts
def test_no_more_ticks_are_made_once_nothing_depends_on_the_state():
    model = mdp.Program.from_text("""
        ctmc
        module machine
          up : bool init true;
          [] up -> 1 : (up'=false);
          [fix] !up -> 2 : (up'=true);
        endmodule
        rewards "up" up : 1; endrewards
        rewards "fixed" [fix] true : 1; endrewards
    """).build()
    start = int(np.asarray(model.initial)[0])
    late, spent = 10**6, Fraction(2, 3) * 10**6 + Fraction(1, 9)
    for text, value in {
        f'R{{"up"}}=? [ C<={late} ]': spent,
        f'R{{"fixed"}}=? [ C<={late} ]': 2 * (late - spent),
        f'R{{"up"}}=? [ I={late} ]': Fraction(2, 3),
    }.items():
        found = mdp.check(model, text)
        assert found.lower[start] <= float(value) <= found.upper[start], text
        assert found.upper[start] - found.lower[start] <= 1e-6 * value
        assert found.stats["rounds"] < 1000, text


def test_what_is_missed_in_a_time_is_known_relative_to_itself():
    model = mdp.MDP.from_arrays(
        *([0, 1, 2], [0, 1, 2], [1, 1], [1, 1]),
        labels={"first": [1, 0], "last": [0, 1]},
        exit_rates=[20.0, 1.0],
    )
    gone = np.exp(-40.0)  # nothing is left of it beside 1
    for text, value in {
        'P=? [ G<=2 "first" ]': gone,
        'P=? [ !(F<=2 "last") ]': gone,
        'P=? [ !("first" U[1,2] "last") ]': 1 - np.exp(-20) + gone,
    }.items():
        found = mdp.check(model, text)
        assert found.lower[0] <= value * (1 + 1e-12), text
        assert found.upper[0] >= value * (1 - 1e-12), text
        assert found.upper[0] - found.lower[0] <= 1e-6 * value, text
        assert found.lower[1] == found.upper[1] == ("[1" in text)


def test_what_a_jump_earns_is_not_lost_beside_a_large_rate_of_rewards():
    """1000 a second for a microsecond on average, and little at its end."""
    chain = mdp.MDP.from_arrays(
        *([0, 1, 2], [0, 1, 2], [1, 1], [1, 1]),
        labels={"end": [0, 1]},
        state_rewards={"r": [1000.0, 0]},
        choice_rewards={"r": [1e-9, 0]},
        exit_rates=[1e6, 1],
    )
    value = Fraction(1000, 10**6) + Fraction(1e-9)
    for path in ('F "end"', "C"):
        found = mdp.check(chain, f"R=? [ {path} ]")
        assert Fraction(found.lower[0]) <= value <= Fraction(found.upper[0])


def test_nothing_happens_in_no_time(queue):
    for text in ("P=? [ F<=0 n=1 ]", 'R{"length"}=? [ I=0 ]', 'R{"served"}=? [ C<=0 ]'):
        found = mdp.check(queue, text)
        assert found.lower[0] == found.upper[0] == 0
    later = mdp.check(queue, "P=? [ F<=t n=1 ]", constants={"t": Fraction(1, 10**400)})
    assert later.lower[0] == 0 < later.upper[0] < 1e-250


def test_bounds_of_time_that_are_not_near_are_no_answer(monkeypatch):
    from jaxgames.mdp import _timed as asked_in_time

    def wide(*args):
        found = expected(*args)
        return found._replace(upper=found.upper * 2)

    expected = asked_in_time.expected
    monkeypatch.setattr(asked_in_time, "expected", wide)
    model = mdp.Program.parse(QUEUE).build(constants={"N": 4})
    for text in ("P=? [ F<=1 n=1 ]", "filter(max, P=? [ F<=1 n=1 ], n=0)"):
        with pytest.raises(SolveError, match="stopped moving"):
            mdp.check(model, text)
        assert mdp.check(model, text, throw=False).status == Status.PRECISION
    assert mdp.check(model, "P>=0.01 [ F<=1 n=1 ]").value is True
