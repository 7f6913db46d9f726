"""A device is asked as long as it makes few rounds; what is deep is the host's."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, discounted, drive, equivalence, fixpoint, graph, mdp, parity
from jaxgames.drive import _problem
from jaxgames.graph import _links
from jaxgames.io import LTS
from jaxgames.mdp import _prob01, robust
from jaxgames.parity import _verify as parity_verify
from jaxgames.solution import Status
from jaxgames.solver import Solver

DEEP, SHALLOW = 3000, 40
"""Vertices of a path, which takes so many rounds: more and fewer than 64."""


@pytest.fixture(params=[DEEP, SHALLOW])
def size(request, monkeypatch):
    """The length of a path, where `"auto"` asks a device first."""
    for module in (_links, _prob01):
        usual = module.on_host

        def on_host(subject, engine, *others, usual=usual):
            return usual(subject, "device" if engine == "auto" else engine, *others)

        monkeypatch.setattr(module, "on_host", on_host)
    return request.param


@pytest.fixture
def asked(monkeypatch):
    """Who was asked, in order."""
    names, in_few_rounds = [], fixpoint.in_few_rounds

    def told(edges, there, here):
        def note(name, ask):
            names.append(name)
            return ask()

        by_host = None if here is None else (lambda: note("host", here))
        return in_few_rounds(edges, lambda: note("device", there), by_host)

    monkeypatch.setattr(fixpoint, "in_few_rounds", told)
    return names


def path(size: int, **labels) -> Arena:
    ends = np.append(np.arange(1, size), size - 1)
    return Arena.from_csr(
        np.arange(size + 1), ends, owner=np.arange(size) % 2, **labels
    )


def chain(size: int) -> mdp.MDP:
    """From each state on to the next, or to stay."""
    state = np.arange(size)
    columns = np.stack([state, np.minimum(state + 1, size - 1)], 1).ravel()
    return mdp.MDP.from_arrays(
        np.arange(size + 1), 2 * np.arange(size + 1), columns, np.full(2 * size, 0.5)
    )


SEARCHES = {
    "reachable": lambda n, engine: graph.reachable(path(n), [0], engine=engine),
    "backward": lambda n, engine: graph.reachable(
        path(n), [n - 1], backward=True, engine=engine
    ),
    "attractor": lambda n, engine: tuple(
        graph.attractor(path(n), [n - 1], 0, engine=engine)
    ),
    "verify": lambda n, engine: bool(
        graph.verify(path(n), np.arange(n), engine=engine)
    ),
    "prob0": lambda n, engine: mdp.prob0(chain(n), [n - 1], engine=engine).states,
    "prob1": lambda n, engine: tuple(mdp.prob1(chain(n), [n - 1], engine=engine)),
    "prob1 min": lambda n, engine: (
        mdp.prob1(chain(n), [n - 1], "min", engine=engine).states
    ),
    "for ever": lambda n, engine: tuple(
        mdp.almost_sure_buchi(chain(n), [n - 1], engine=engine)
    ),
    "components": lambda n, engine: bool(
        mdp.verify(chain(n), mdp.mec(chain(n), "host"), engine=engine)
    ),
}


@pytest.mark.parametrize("search", SEARCHES)
def test_deep_searches_are_the_hosts(search, size, asked):
    find = SEARCHES[search]
    expected = find(size, "host")
    assert asked == []
    found = find(size, "auto")
    for x, y in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        np.testing.assert_array_equal(x, y)
    assert asked == (["device"] if size == SHALLOW else ["device", "host"])


def test_a_wrong_answer_is_found_wherever_it_is_looked_at(size, asked):
    label = np.arange(size)
    label[-1] = size - 2
    assert not graph.verify(path(size), label)
    assert not graph.verify(path(size), label, engine="device")
    assert asked[0] == "device"
    found = mdp.mec(chain(size), "host")
    kept = np.zeros_like(found.choice_kept)
    assert not mdp.verify(chain(size), (found.state_label, kept))


def test_a_device_that_was_asked_for_makes_all_rounds(size, asked):
    assert graph.reachable(path(size), [0], engine="device").all()
    assert mdp.prob1(chain(size), [size - 1], engine="device").states.all()
    assert asked == ["device", "device"]


def test_without_a_compiler_the_host_is_not_sooner(size, asked, monkeypatch):
    monkeypatch.setattr(fixpoint.host, "can_compile", lambda: False)
    assert graph.reachable(path(size), [0]).all()
    assert asked == ["device"]


def test_few_steps_that_were_asked_for_are_not_too_many(size, asked):
    found = graph.reachable(path(size), [0], max_steps=9)
    assert np.flatnonzero(found).tolist() == list(range(10))
    assert asked == ["device"]


def test_a_game_with_long_cycles_is_checked_by_the_host(monkeypatch, asked):
    """The components of what strategies leave are deep: a circle, with a way back."""
    size = 4000
    vertex = np.arange(size)
    successors = np.stack([(vertex + 1) % size, np.maximum(vertex - 1, 0)], 1).ravel()
    owner, priority = np.ones(size, bool), 2 * (vertex % 2)
    arena = Arena.from_csr(
        2 * np.arange(size + 1), successors, owner=owner, priority=priority
    )
    found = parity.solve(arena, "host")
    assert (found.winner == 0).all()
    monkeypatch.setattr(parity_verify, "_is_sent", lambda arena: True)
    monkeypatch.setattr(fixpoint, "rounds_worth", lambda edges: 1)
    assert parity.verify(arena, found)
    assert asked == ["device", "host"]
    wrong = dataclasses.replace(found, winner=1 - found.winner)
    assert not parity.verify(arena, wrong)


@dataclasses.dataclass(frozen=True)
class Counts(Solver):
    """Counts up to a number."""

    name = "counts"

    def init(self, game):
        return jnp.int32(0)

    def step(self, game, state):
        return jnp.minimum(state + 1, game)  # a GPU may make some more

    def done(self, game, state):
        return state >= game

    def answer(self, game, state):
        return state


@pytest.mark.parametrize("number", [63, 64, 65, 1000])
def test_a_solver_is_given_up_after_so_many_rounds(number):
    def there():
        return int(fixpoint.completed(Counts(), jnp.int32(number)))

    assert fixpoint.rounds_worth(5) == 64
    expected = number if number <= 64 else -1
    assert fixpoint.in_few_rounds(5, there, lambda: -1) == expected
    assert fixpoint.in_few_rounds(5, there, None) == number
    assert there() == number  # nothing of it is left


def test_rounds_that_are_worth_it_grow_with_what_the_host_reads():
    worth = [fixpoint.rounds_worth(1 << bits) for bits in range(31)]
    assert worth[0] == worth[16] == 64
    assert worth[20] == 1024
    assert worth[24] == worth[30] == 1 << 14


# ---- races -----------------------------------------------------------------------


def gambler(last: int, *, bounds: bool = False) -> mdp.MDP:
    """One step to the left or to the right, until one of both ends is reached."""
    inner = np.arange(1, last)
    columns = np.concatenate([[0], np.stack([inner - 1, inner + 1], 1).ravel(), [last]])
    probs = np.concatenate([[1.0], np.full(2 * len(inner), 0.5), [1.0]])
    rows = np.concatenate([[0], np.arange(1, 2 * last, 2), [2 * last]])
    given = {"lower": probs, "upper": probs} if bounds else {"probs": probs}
    labels = {"end": np.arange(last + 1) == last}
    return mdp.MDP.from_arrays(
        np.arange(last + 2), rows, columns, labels=labels, **given
    )


@pytest.fixture
def accelerator(monkeypatch):
    """As if there was one, for which nothing is too small."""
    monkeypatch.setattr(_problem, "may_have_accelerator", lambda: True)
    for problem in (
        mdp._reach_problem.REACH,
        discounted._problem.PROBLEM,
        equivalence._problem.PROBLEM,
        robust._problem.ROBUST,
    ):
        monkeypatch.setattr(type(problem), "host_until", 0)
        monkeypatch.setattr(type(problem), "alone", lambda self, question: (0.0, 0))


def test_a_long_walk_is_solved_by_the_host_of_a_race(accelerator, monkeypatch):
    """The device would make some 10^8 rounds."""
    monkeypatch.setattr(mdp._reach_problem.host, "sequence", lambda model: None)
    last = 5000
    found = mdp.reach_probability(gambler(last), np.arange(last + 1) == last)
    assert found.status == Status.SOLVED
    assert found.stats["solver"] == "host"
    np.testing.assert_allclose(found.value, np.arange(last + 1) / last, atol=1e-6)


def test_a_long_walk_between_bounds_is_solved_by_the_host_of_a_race(accelerator):
    last = 60
    found = mdp.check(gambler(last, bounds=True), 'Pminmin=? [ F "end" ]')
    assert found.stats["solver"] == "host"
    np.testing.assert_allclose(found.lower, np.arange(last + 1) / last, atol=1e-6)
    drive.wait_for_losers()  # the device is told to stop


def test_a_deep_system_is_refined_by_the_host_of_a_race(accelerator):
    size = 20_000
    label = ["a"] * (size - 1)
    lts = LTS.from_edges(np.arange(size - 1), label, np.arange(1, size))
    found = equivalence.bisimulation(lts)
    assert found.stats["solver"] == "host"
    assert found.labels.tolist() == list(range(size))


def test_patient_players_are_solved_by_the_host_of_a_race(accelerator):
    size = 300
    weight = np.where(np.arange(size) == size - 1, 7, 0)
    found = discounted.solve(path(size, weight=weight), 0.999999)
    assert found.status == Status.SOLVED
    assert discounted.verify(path(size, weight=weight), 0.999999, found)
