"""Limits of time and memory: what ends, when, and what is told."""

import contextlib
import inspect
import io
import itertools
import pickle
import re
import threading
import time
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames.io
from jaxgames import (
    Arena,
    SolveError,
    Status,
    TooLargeError,
    buchi,
    discounted,
    emersonlei,
    energy,
    energyparity,
    equivalence,
    generate,
    graph,
    limits,
    ltl,
    mdp,
    meanpayoff,
    multienergy,
    parity,
    solve_many,
    systems,
)
from jaxgames.progress import Bar, Deadline, as_progress

LONG = 60.0
"""Seconds that nothing here may take; what waits does so for ever otherwise."""

SOON = 20.0
"""Seconds in which a call has come back that has a limit of a fraction of one: far more
than it takes on a machine that does much else."""

GAME = Arena.from_edges(
    [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[0, 1, 2], weight=[1, 0, 0, 1]
)


@contextlib.contextmanager
def ends_soon():
    began = time.perf_counter()
    yield
    assert time.perf_counter() - began < SOON


@limits.limited()
def counting(seconds=LONG, *, progress=None, deadline=None, memory=None):
    """A long loop that ticks."""
    del progress, deadline, memory
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        time.sleep(0.01)
        limits.tick("counting", 3, "numbers")
    return "counted"


@limits.limited()
def deaf(released, *, progress=None, deadline=None, memory=None):
    """Work that cannot be stopped."""
    del progress, deadline, memory
    released.wait(LONG)


@pytest.fixture
def released():
    """Ends what was let go, after a test."""
    event = threading.Event()
    yield event
    event.set()


# ---- time ------------------------------------------------------------------------


def test_a_loop_that_ticks_ends():
    with ends_soon(), pytest.raises(SolveError, match="while counting") as caught:
        counting(deadline=0.1)
    assert caught.value.status == Status.TIMEOUT
    assert "the time limit of 0.1 s was reached" in str(caught.value)


def test_what_cannot_be_stopped_is_let_go(released):
    with ends_soon(), pytest.raises(limits.LimitError):
        deaf(released, deadline=0.1)


def test_without_limits_nothing_is_another_thread():
    here = []

    @limits.limited()
    def where(*, progress=None, deadline=None, memory=None):
        here.append(threading.current_thread())

    where()
    where(progress=lambda report: None)
    with limits.within():
        where()
    assert here == [threading.current_thread()] * 3
    where(deadline=LONG)
    assert here[3] != threading.current_thread()
    threads = threading.enumerate()  # one of which may have become idle just now
    where(deadline=LONG)
    assert here[4] in threads


def test_the_same_thread_serves_who_comes_back_at_once(monkeypatch):
    class Slow(list):
        def append(self, inbox):
            time.sleep(0.05)
            super().append(inbox)

    monkeypatch.setattr(limits, "_idle", Slow())
    where = limits.limited()(lambda deadline=None: threading.current_thread())
    assert where(deadline=LONG) == where(deadline=LONG) != threading.current_thread()


def test_nested_limits_hold_together():
    with ends_soon(), pytest.raises(limits.LimitError), limits.within(deadline=LONG):
        counting(deadline=0.1)
    with ends_soon(), limits.within(deadline=0.1), pytest.raises(limits.LimitError):
        counting(deadline=LONG)
    with (
        ends_soon(),
        pytest.raises(limits.LimitError, match="0.1 s"),
        limits.within(deadline=0.1),
        limits.within(deadline=LONG),
    ):
        counting()
    assert limits.current() is None


def test_an_answer_that_is_there_is_given_however_late():
    @limits.limited()
    def late(*, progress=None, deadline=None, memory=None):
        time.sleep(0.001)
        return "late"

    assert late(deadline=1e-9) == "late"
    expected = parity.solve(GAME, "host")  # the engine is loaded then, and is fast
    found = parity.solve(GAME, "host", deadline=1e-9)
    assert found.winner.tolist() == expected.winner.tolist()


def test_what_is_in_time_is_what_it_was():
    assert counting(0.01, deadline=LONG, memory=1 << 40) == "counted"
    plain = parity.solve(GAME)
    limited = parity.solve(GAME, deadline=LONG)
    np.testing.assert_array_equal(plain.winner, limited.winner)
    np.testing.assert_array_equal(plain.strategy, limited.strategy)


def test_errors_are_those_of_the_work():
    with pytest.raises(ValueError, match="no parity solver is called"):
        parity.solve(GAME, "nobody", deadline=LONG)


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_limits_are_positive(wrong):
    with pytest.raises(ValueError, match="deadline must be a positive number"):
        parity.solve(GAME, deadline=wrong)
    with pytest.raises(ValueError, match="memory must be"):
        parity.solve(GAME, memory=wrong)


def test_nothing_is_limited_under_tracing():
    def winner(arena, **options):
        return parity.solve(arena, **options).winner

    with pytest.raises(ValueError, match="deadline and memory are kept by the host"):
        jax.jit(lambda arena: winner(arena, deadline=1.0))(GAME)
    with limits.within(deadline=LONG):
        found = jax.jit(lambda arena: winner(arena, solver="fpi"))(GAME)
    assert found.tolist() == parity.solve(GAME).winner.tolist()


def test_jax_settings_of_the_caller_hold():
    @limits.limited()
    def kind(*, deadline=None, memory=None):
        return jnp.arange(3).dtype

    assert kind(deadline=LONG) == kind() == jnp.int32
    with jax.enable_x64(True):
        assert kind(deadline=LONG) == kind() == jnp.int64
    assert kind(deadline=LONG) == jnp.int32


def test_errors_survive_pickling():
    with pytest.raises(limits.LimitError) as caught:
        counting(deadline=0.05)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.status) == (str(caught.value), Status.TIMEOUT)


# ---- every entry point -----------------------------------------------------------

MODEL = mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1.0])
ENERGIES = multienergy.Game.from_arrays([0, 1], [0], [0], [[-1]], defender=[False])
MARKED = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], accepting=[1, 0])
PROCESSES = jaxgames.io.LTS.from_edges([0, 1], "ab", [2, 2])

SOLVES = {
    "parity": (parity.solve, GAME),
    "energy": (energy.solve, GAME),
    "energy, capacity": (
        lambda x, **how: energy.solve_with_capacity(x, 5, **how),
        GAME,
    ),
    "mean payoff": (meanpayoff.solve, GAME),
    "mean payoff, decided": (lambda x, **how: meanpayoff.decide(x, 1, **how), GAME),
    "energy parity": (energyparity.solve, GAME),
    "mean payoff parity": (energyparity.decide, GAME),
    "discounted": (lambda x, **how: discounted.solve(x, 0.5, **how), GAME),
    "Streett": (emersonlei.solve, emersonlei.Game.streett(GAME, [([0], [1])])),
    "components": (graph.scc, GAME),
    "end components": (mdp.mec, MODEL),
    "probability": (lambda x, **how: mdp.reach_probability(x, [0], **how), MODEL),
    "acceptance": (
        lambda x, **how: mdp.acceptance_probability(
            x, jaxgames.ltl.Automaton.from_edges([0], ["true"], [0]), **how
        ),
        MODEL,
    ),
    "property": (lambda x, **how: mdp.check(x, "P=? [ F true ]", **how), MODEL),
    "accepting cycle": (buchi.accepting_cycle, MARKED),
    "Büchi game": (buchi.solve, MARKED),
    "several energies": (multienergy.solve, ENERGIES),
    "bisimilarity": (equivalence.bisimulation, PROCESSES),
    "all notions": (equivalence.spectrum, PROCESSES),
    "one notion": (
        lambda x, **how: equivalence.relation(x, "traces", **how),
        PROCESSES,
    ),
    "two processes": (lambda x, **how: equivalence.compare(x, 0, 1, **how), PROCESSES),
    "pairs": (
        lambda x, **how: equivalence.compare_many(x, [(0, 1)], **how)[0],
        PROCESSES,
    ),
    "two processes, weakly": (
        lambda x, **how: equivalence.compare_weak(x, 0, 1, **how),
        PROCESSES,
    ),
    "several objectives": (
        lambda x, **how: mdp.pareto(
            x, "multi(Pmax=? [ F true ], P>0 [ X true ])", **how
        ),
        MODEL,
    ),
    "stochastic games": (
        lambda x, **how: mdp.solve_game(x, [0], **how),
        mdp.Game.from_arrays([0, 1], [0, 1], [0], [1], [0]),
    ),
    "reward games": (
        lambda x, **how: mdp.solve_reward_game(x, [1], discount=0.5, **how),
        mdp.Game.from_arrays([0, 1], [0, 1], [0], [1], [0]),
    ),
    "stochastic parity games": (
        lambda x, **how: mdp.solve_parity_game(x, [0], **how),
        mdp.Game.from_arrays([0, 1], [0, 1], [0], [1], [0]),
    ),
    "pairs, weakly": (
        lambda x, **how: equivalence.compare_many_weak(x, [(0, 1)], **how)[0],
        PROCESSES,
    ),
}


SLICES = [
    *(parity, parity.preprocess, energy, meanpayoff, multienergy, graph, mdp, buchi),
    *(energyparity, emersonlei, discounted),
    *(ltl, systems, equivalence, generate, jaxgames.io),
]

UNLIMITED = {
    parity.check_solver: "looks at a name",
    parity.answer: "is a part of a solver",
    parity.preprocess.identity: "takes the arena as it is",
    parity.place_for: "compares sizes",
    graph.place_for: "compares sizes",
    energy.place_for: "compares sizes",
    multienergy.place_for: "compares sizes",
    mdp.place_for: "compares sizes",
    mdp.is_verifiable: "looks at a property",
    mdp.why_no_scheduler: "looks at a property",
    mdp.values: "is one compiled program: max_steps limits it",
    energy.survives: "compares each credit with a level",
    multienergy.memory: "multiplies sizes",
    multienergy.solve_many: "hands its keywords to jaxgames.solve_many",
    systems.explore: "hands its keywords to graph.explore",
    equivalence.covers: "compares thirteen notions",
    jaxgames.io.limited: "sets limits itself",
}
"""Public functions without limits of their own, and why."""


def public_functions():
    found = {
        (f"{module.__name__.removeprefix('jaxgames.')}.{name}", function)
        for module in SLICES
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__.startswith(module.__name__) and name[0] != "_"
    }
    return dict(sorted(found, key=lambda entry: entry[0]))


PUBLIC = public_functions()

SOLVING = {
    *(parity.solve, energy.solve, energy.solve_with_capacity, meanpayoff.solve),
    *(meanpayoff.decide, graph.scc, mdp.mec, mdp.reach_probability, mdp.check),
    mdp.acceptance_probability,
    *(buchi.solve, buchi.accepting_cycle),
    *(energyparity.solve, energyparity.decide, emersonlei.solve, discounted.solve),
    *(multienergy.solve, equivalence.bisimulation, equivalence.spectrum),
    *(equivalence.relation, equivalence.compare, equivalence.compare_many),
    *(equivalence.compare_weak, equivalence.compare_many_weak),
}
"""Those that come back undecided, see SOLVES."""

ANSWERING = {mdp.solve_game, mdp.solve_reward_game, mdp.solve_parity_game, mdp.pareto}
"""Those likewise that are no single solve: there is no state to go on from."""

IN_ORDER = ["solver", "max_steps", "state", "throw", "progress", "deadline", "memory"]


OF_SEVERAL = {mdp.check, mdp.acceptance_probability}
"""Those that ask several questions: of which one would steps and a state be?"""


@pytest.mark.parametrize(
    "solve",
    sorted(
        [*SOLVING - OF_SEVERAL, solve_many], key=lambda x: (x.__module__, x.__name__)
    ),
)
def test_solves_take_the_same_keywords_in_the_same_order(solve):
    taken = inspect.signature(solve).parameters
    assert [name for name in taken if name in IN_ORDER] == IN_ORDER
    assert taken["solver"].kind == inspect.Parameter.POSITIONAL_OR_KEYWORD


METHODS = {
    "Automaton.accepts": ltl.Automaton.accepts,
    "Automaton.complete": ltl.Automaton.complete,
    "Automaton.components": ltl.Automaton.components,
    "Automaton.degeneralise": ltl.Automaton.degeneralise,
    "Automaton.intersect": ltl.Automaton.intersect,
    "Automaton.is_empty": ltl.Automaton.is_empty,
    "Comparison.formula": equivalence.Comparison.formula,
    "Spectrum.classes": equivalence.Spectrum.classes,
    "Spectrum.preorder": equivalence.Spectrum.preorder,
}

ENTRIES = {
    name: entry
    for name, entry in (PUBLIC | METHODS | {"solve_many": solve_many}).items()
    if entry not in UNLIMITED and entry not in SOLVING | ANSWERING
}


@pytest.fixture
def stuck(monkeypatch):
    """Work that is handed to another thread never begins."""
    monkeypatch.setattr(limits, "_hand_over", lambda work, ended: None)
    monkeypatch.setattr(limits, "WATCH_SECONDS", 0.001)


@pytest.mark.parametrize("name", SOLVES)
def test_solves_that_are_stuck_come_back_undecided(name, stuck):
    solve, game = SOLVES[name]
    with ends_soon():
        found = solve(game, throw=False, deadline=0.01)
    assert found.status == Status.TIMEOUT
    assert repr(found)
    assert found.stats["solver"] == "none"
    for field in ("winner", "strategy", "labels", "state_label", "bisimulation"):
        assert np.all(getattr(found, field, -1) == -1)
    with ends_soon(), pytest.raises(SolveError) as caught:
        solve(game, deadline=0.01)
    assert caught.value.solution.status == Status.TIMEOUT


def test_a_state_is_handed_back(stuck):
    partial = parity.solve(GAME, "fpi", max_steps=0, throw=False)
    found = parity.solve(GAME, "fpi", state=partial.state, throw=False, deadline=0.1)
    assert found.state is partial.state


@pytest.mark.parametrize("name", ENTRIES)
def test_entry_points_that_are_stuck_raise(name, stuck):
    """They never see their arguments."""
    taken = inspect.signature(ENTRIES[name]).parameters.values()
    whatever = [
        "whatever" for x in taken if x.default is x.empty and x.kind < x.VAR_POSITIONAL
    ]
    with ends_soon(), pytest.raises(limits.LimitError):
        list(ENTRIES[name](*whatever, deadline=0.01))


def test_every_public_function_has_limits_or_needs_none():
    for name, function in PUBLIC.items():
        taken = inspect.signature(function).parameters.keys()
        assert (limits.Bounds.__annotations__.keys() <= taken) != (
            function in UNLIMITED
        ), name
    assert UNLIMITED.keys() <= set(PUBLIC.values())


def test_a_keyword_that_there_is_not_is_refused():
    for entry in (generate.ladder, graph.expansions):
        with pytest.raises(TypeError, match="unexpected keyword argument 'dedline'"):
            list(entry(3, dedline=1.0))
    with pytest.raises(TypeError, match="unexpected keyword argument 'bounds'"):
        generate.ladder(3, bounds=1.0)


@limits.limited()
def numbers(**bounds):
    """Comes to no end."""
    for number in itertools.count():
        time.sleep(0.01)
        limits.tick("counting", number, "numbers")
        yield number


def test_each_step_of_a_generator_is_within_limits():
    around, told = [], []
    with ends_soon(), pytest.raises(limits.LimitError, match=r"0\.5 s.*counting"):
        around.extend(limits.current() for _ in numbers(deadline=0.5))
    assert set(around) == {None}
    with contextlib.closing(numbers(progress=told.append)) as found:
        assert next(found) == 0
    assert next(numbers()) == 0


@contextlib.contextmanager
def ended_at(what):
    """Time is over when something begins."""

    def tick(self, phase, done, unit):
        del done, unit
        if phase == what:
            self.say(phase)
            self.fail(Status.TIMEOUT)

    over = mock.patch.object(limits.Limits, "tick", tick)
    with over, limits.within(), pytest.raises(limits.LimitError, match=what):
        yield


def test_long_phases_tick(tmp_path):
    abc = jaxgames.io.LTS.from_edges([0, 1, 0, 3], "abac", [1, 2, 3, 4])
    with ended_at("refining classes"):
        equivalence.bisimulation(abc)
    found = equivalence.compare(abc, 0, 1)
    for phase in ("looking for", "choosing", "writing"):
        with ended_at(f"{phase} a formula"):
            found.formula("bisimulation")
    with ended_at("finding a lasso"):
        buchi.accepting_cycle(MARKED, solver="host")
    system = systems.System.from_graph(([0, 1], [0]), labels={})
    with ended_at("building the product"):
        systems.product(system, ltl.translate("true"), engine="host")
    for phase, change in (
        ("degeneralising", lambda x: x.degeneralise()),
        ("completing", lambda x: x.complete()),
        ("intersecting", lambda x: x.intersect(x)),
    ):
        automaton = ltl.Automaton.from_edges(
            [0, 0], ["a", "b"], [0, 0], sets=[[True, False], [False, True]]
        )
        with ended_at(phase):
            change(automaton)
    with ended_at("playing"):
        energy.play(GAME, energy.solve(GAME), 0, 3, 10)
    with ended_at("playing"):
        multienergy.play(ENERGIES, multienergy.solve(ENERGIES), 0, [1])
    path = tmp_path / "game.pg"
    game = generate.ladder(3)
    with ended_at("writing"):
        jaxgames.io.save(path, game)
    assert not [*tmp_path.iterdir()]
    jaxgames.io.save(path, game)
    with ended_at("reading"):
        jaxgames.io.load(path)


def test_what_ticks_beside_machine_code_ends_it():
    with (
        ends_soon(),
        pytest.raises(limits.LimitError, match=r"0\.1 s.*while turning"),
        limits.within(deadline=0.1),
        limits.ticking_beside("turning") as stop,
    ):
        waits_until(stop)
    with limits.ticking_beside("turning") as stop:
        assert not stop[0]


def waits_until(stop):
    end = time.perf_counter() + LONG
    while not stop[0] and time.perf_counter() < end:
        time.sleep(0.001)


# ---- solves that go on for ever --------------------------------------------------


def waits_for(stop):
    """An engine of a host that only ends when it is told to."""
    assert stop is not None, "nobody could end it"
    end = time.perf_counter() + LONG
    while not stop[0] and time.perf_counter() < end:
        time.sleep(0.001)
    raise RuntimeError("told to stop")


@pytest.mark.parametrize(
    ("where", "solve", "game"),
    [
        ("energy.host.solve", energy.solve, GAME),
        ("graph.host.scc", graph.scc, GAME),
        ("mdp.host.mec", mdp.mec, MODEL),
    ],
)
def test_engines_of_small_games_can_be_ended(where, solve, game, monkeypatch):
    monkeypatch.setattr(
        f"jaxgames.{where}", lambda *_, stop=None, **__: waits_for(stop)
    )
    told = []

    def meter(report):
        told.append(report)
        return Status.INTERRUPTED if len(told) > 2 else None

    with ends_soon(), pytest.raises(RuntimeError, match="told to stop"):
        solve(game, "host", progress=meter)
    assert len(told) == 3
    with ends_soon(), pytest.raises(RuntimeError, match="told to stop"):
        solve(game, "host", deadline=0.1)


def test_small_games_of_several_energies_can_be_ended(monkeypatch):
    from jaxgames.multienergy import host as engines

    def engine(game, track=None):
        waits_for(None if track is None else track.stop)

    monkeypatch.setattr(engines, "run_host", engine)
    with ends_soon(), pytest.raises(RuntimeError, match="told to stop"):
        multienergy.solve(ENERGIES, "host", deadline=0.1)


def test_what_is_known_between_two_chunks_is_kept():
    with limits.within(deadline=LONG) as limit:

        def meter(report):
            limit.stop = Status.TIMEOUT  # as if the time were over now

        hard = generate.jurdzinski(3, 5)
        found = parity.solve(hard, "spm", throw=False, progress=meter)
    assert found.status == Status.TIMEOUT
    assert found.state is not None
    assert parity.solve(hard, "spm", state=found.state).status == Status.SOLVED


# ---- memory ----------------------------------------------------------------------


def test_a_process_that_grows_ends():
    kept = []

    @limits.limited()
    def growing(*, deadline=None, memory=None):
        for _ in range(100):
            kept.append(np.ones(1 << 21))
            limits.tick("growing")
            time.sleep(0.02)

    with ends_soon(), pytest.raises(TooLargeError, match="exceeded .* while growing"):
        growing(memory=1 << 27)


def test_what_the_process_takes_for_itself_is_not_counted():
    with limits.within(memory=1 << 20) as around:
        kept = np.ones(1 << 22)  # as modules would that are loaded
        limits.tick("working")
        assert around.memory_left() == 1 << 20
        assert kept.all()


def test_what_is_wrong_is_told_also_where_the_memory_is_exceeded(monkeypatch):
    """The one who waits sees that before the other has told what is wrong."""
    monkeypatch.setattr(limits, "OWN_BYTES", 0)

    @limits.limited()
    def refusing(*, deadline=None, memory=None):
        kept = np.ones(1 << 23)  # more than malloc keeps
        around = limits.current()
        assert around is not None
        while around.stop is None:
            time.sleep(0.01)
        raise ValueError(f"wrong after {len(kept)}")

    with ends_soon(), pytest.raises(ValueError, match="wrong after 8388608"):
        refusing(memory=1 << 20)


def test_room_is_asked_for_before_it_is_taken():
    limits.check_room(1 << 60, "all of it")  # no limit, nobody knows
    with limits.within(memory=1 << 30):
        limits.check_room(1 << 20, "a little")
        with pytest.raises(TooLargeError, match="too much takes about"):
            limits.check_room(1 << 50, "too much")


@pytest.mark.parametrize("solver", ["fpi", "spm"])
def test_solves_do_not_take_more_than_they_may(solver):
    game = generate.random_game(1, 20_000)
    with pytest.raises(TooLargeError, match="GB are free|memory limit is exceeded"):
        parity.solve(game, solver, memory=100_000)
    assert parity.solve(GAME, solver, memory=1 << 40).status == Status.SOLVED


# ---- what is told ----------------------------------------------------------------


def test_phases_are_told(monkeypatch):
    monkeypatch.setattr(limits, "PATIENCE_SECONDS", 0.05)
    told = []
    counting(0.5, progress=told.append)
    assert told
    for report in told:
        assert (report.solver, report.rounds, report.unit) == ("counting", 3, "numbers")


def test_a_meter_may_end_any_phase(monkeypatch):
    monkeypatch.setattr(limits, "PATIENCE_SECONDS", 0.05)
    with ends_soon(), pytest.raises(limits.LimitError) as caught:
        counting(progress=lambda report: Status.INTERRUPTED)
    assert caught.value.status == Status.INTERRUPTED
    with ends_soon(), pytest.raises(limits.LimitError) as caught:
        counting(progress=Deadline(0.1))
    assert caught.value.status == Status.TIMEOUT


def test_a_bar_is_redrawn_while_nothing_is_told(monkeypatch):
    monkeypatch.setattr(limits, "PATIENCE_SECONDS", 0.05)
    stream = io.StringIO()
    with limits.within(progress=Bar(stream, patience=0.1)):
        limits.say("compiling")
        time.sleep(1.0)
    lines = stream.getvalue().split("\r")
    assert len(lines) >= 2
    assert re.fullmatch(r"compiling: \d+\.\d s *\n", lines[-1])


def test_a_report_is_told_once():
    told = []
    with limits.within(progress=told.append):
        meter = as_progress(as_progress(None))
        outer = as_progress(lambda report: meter(report))  # as solves of solves do
        outer(limits.Report("x", 1, 1.0))
        parity.solve(GAME, "fpi")
    assert [report.rounds for report in told] == [1]


def test_solvers_tell_what_surrounds_them():
    told = []
    with limits.within(progress=told.append):
        parity.solve(generate.jurdzinski(5, 10), "spm", max_steps=1000, throw=False)
    rounds = [report.rounds for report in told if report.solver == "spm"]
    assert rounds
    assert rounds == sorted(rounds)
