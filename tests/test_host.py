"""The decorator that compiles where numba is installed."""

import contextlib
import importlib
import itertools
import os
import platform
import subprocess
import sys
import threading
import warnings

import jax
import numpy as np
import pytest

from jaxgames import (
    Arena,
    buchi,
    energy,
    generate,
    graph,
    host,
    io,
    mdp,
    meanpayoff,
    native,
    parity,
)
from jaxgames.cli import main
from jaxgames.parity import reference
from jaxgames.parity._problem import PROBLEM
from jaxgames.tuning.base import LOAD_SECONDS, PLAIN_SECONDS


@host.compiled
def sum_of_squares(values):
    """Adds up squares."""
    total = 0
    for value in values:
        total += square(value)
    return total


@host.compiled
def square(value):
    return value * value


def test_calls_other_compiled_functions():
    assert sum_of_squares(np.arange(4)) == 14
    with host.interpreted():
        assert sum_of_squares(np.arange(4)) == 14
    assert sum_of_squares.__doc__ == "Adds up squares."


@pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")
def test_compiles_but_not_when_interpreted():
    """Numba widens small integers, Python does not."""
    assert square(np.int8(100)) == 10_000
    with host.interpreted(), pytest.warns(RuntimeWarning, match="overflow"):
        assert square(np.int8(100)) == 16
    assert square(np.int8(100)) == 10_000


@host.compiled
def square_of_first(values):
    """Reads an attribute that has the name of a compiled function."""
    return square(values.item())


@host.compiled
def item(value):
    return value


def test_attributes_may_have_names_of_functions():
    assert square_of_first(np.arange(3, 4)) == 9


@pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")
def test_an_edit_of_a_callee_is_seen(tmp_path, monkeypatch):
    """Machine code on disk is not used if what it calls was changed meanwhile."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    header = "from jaxgames.host import compiled\n"
    callee, caller = tmp_path / "edited_callee.py", tmp_path / "edited_caller.py"
    caller.write_text(
        f"{header}from edited_callee import f\n@compiled\ndef g(x):\n    return f(x)\n"
    )
    for time in (1, 2):
        callee.write_text(f"{header}@compiled\ndef f(x):\n    return x + {time}\n")
        os.utime(callee, (time, time))
        os.utime(caller, (0, 0))
        for name in ("edited_callee", "edited_caller"):
            sys.modules.pop(name, None)
        assert importlib.import_module("edited_caller").g(10) == 10 + time


def test_interpreted_ends_with_its_context():
    with pytest.raises(ZeroDivisionError), host.interpreted():
        _ = 1 / 0
    assert not host._interpreted.get()


def test_the_caller_takes_what_others_have_no_time_for():
    """All other cores are held up by the first part that each takes."""
    caller, own, free = threading.get_ident(), [], threading.Event()

    def work(part):
        if threading.get_ident() != caller:
            assert free.wait(60)
            return
        own.append(part)
        if len(own) == 2:
            free.set()

    host.together(work, range(host.num_cores() + 1))
    assert own == sorted(own)
    assert len(own) >= 2


@pytest.mark.parametrize("bad", [0, 3, 9])
def test_work_that_fails_for_a_part_ends(bad):
    done = []

    def work(part):
        if part == bad:
            raise ValueError(f"part {part}")
        done.append(part)

    with pytest.raises(ValueError, match=f"part {bad}"):
        host.together(work, range(10))
    ended = list(done)
    host.together(done.append, [-1, -2])
    assert sorted(done) == sorted([*ended, -1, -2])  # nothing was left running
    assert bad not in ended
    host.together(work, [])


def test_work_aside_is_done_by_another_thread(monkeypatch):
    """Whoever wants its result is called now and then until it is there."""
    monkeypatch.setattr(host, "num_cores", lambda: 2)
    waited, caller = threading.Event(), threading.get_ident()
    begun = threading.Event()

    def work():
        begun.set()
        assert waited.wait(60)
        return threading.get_ident()

    aside = host.Aside(work)
    aside.begin()
    assert begun.wait(60)
    assert aside.result(waited.set) != caller


@pytest.mark.parametrize("why", ["not begun", "one core", "plain", "others are busy"])
def test_work_aside_is_taken_back(why, monkeypatch):
    """It is not begun any more then, and the next one is."""
    monkeypatch.setattr(host, "num_cores", lambda: 1 + (why != "one core"))
    free, done = threading.Event(), []
    aside = host.Aside(lambda: done.append(1))
    with host.interpreted() if why == "plain" else contextlib.nullcontext():
        if why == "others are busy":
            for _ in range(max(1, os.cpu_count() or 1)):
                host._tasks().put(lambda: free.wait(60))
        if why != "not begun":
            aside.begin()
        assert aside.take_back()
    free.set()
    monkeypatch.setattr(host, "num_cores", lambda: 2)
    begun_aside(lambda: done.append(2)).result()
    assert done == [2]


def begun_aside(work):
    """Work that another thread has begun."""
    aside = host.Aside(work)
    aside.begin()
    while not aside._begun.locked():
        threading.Event().wait(0.0001)
    return aside


def test_what_work_aside_raises_is_raised_by_its_result(monkeypatch):
    monkeypatch.setattr(host, "num_cores", lambda: 2)
    for _ in range(2):  # the thread is there for the next one
        aside = begun_aside(lambda: 1 // 0)
        assert not aside.take_back()
        with pytest.raises(ZeroDivisionError):
            aside.result()


def test_works_without_numba(monkeypatch):
    host.can_compile.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    try:
        assert not host.can_compile()
        arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=[1, 2])
        solution = reference.solve(arena)
        assert solution.winner.tolist() == [0, 0]
        assert reference.verify(arena, solution)
    finally:
        host.can_compile.cache_clear()


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.setattr(host, "can_compile", lambda: False)
    monkeypatch.setattr(host, "_told", False)
    monkeypatch.setattr(host, "MANY", 9)


PLAIN = """
import importlib.util, sys
importlib.util.find_spec = lambda name, *_, of=importlib.util.find_spec: (
    None if name == "numba" else of(name)
)
sys.modules["numba"] = sys.modules["llvmlite"] = None
import numpy as np
from jaxgames import Arena, energy, graph, host, ltl, mdp, systems

assert not host.can_compile()
chain = Arena.from_edges([0, 1, 2], [1, 2, 2], owner=[0, 1, 0])
assert graph.reachable(chain, [1]).tolist() == [False, True, True]
assert graph.attractor(chain, [2], 0).mask.tolist() == [True] * 3

def successors(states):
    xp = states.__array_namespace__()
    return xp.stack([states + 1, 2 * states], 1), xp.concatenate([states < 9] * 2, 1)

space = graph.explore(successors, [1], ranges=[20])
assert space.stats["solver"] == "host", space.stats
assert space.states[:, 0].tolist() == [1, 2, 3, 4, 6, 5, 8, 7, 12, 10, 9, 16, 14]
system = systems.System.from_graph(([0, 1, 2], [1, 0]), {"p": [True, False]})
found = systems.product(system, ltl.translate("G F p"))
assert set(found.system_state.tolist()) == {0, 1}
model = mdp.MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 1], [1, 1])
assert mdp.reach_probability(model, [1]).value.tolist() == [1, 1]
assert mdp.prob1(model, [1]).states.tolist() == [True, True]
game = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[0, 1], weight=[-1, -2, 2])
found = energy.solve(game)
assert found.credit.tolist() == [2, 0] and energy.verify(game, found)
print("jax" in sys.modules, "jaxlib" in sys.modules)
"""


def test_small_inputs_do_not_wait_for_jax_where_there_is_no_numba():
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "False False\n"), done.stderr


def test_a_slow_way_is_told_once(without_numba, monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
    arena = generate.random_energy_game(1, 20)
    game = generate.random_game(1, 20)
    with pytest.warns(host.SlowWarning, match="numba is not installed: 58 edges"):
        found = energy.solve(arena, "host")
    assert found.stats["numba"] == "not installed"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said
        for solution in (
            meanpayoff.solve(arena, "host"),
            parity.solve(game, "host"),
            graph.scc(game, "host"),
            buchi.accepting_cycle(game, accepting=[0], solver="host"),
            mdp.mec(mdp.MDP.from_arrays(range(11), range(11), range(10)), "host"),
        ):
            assert solution.stats["numba"] == "not installed"
        for solution in (energy.solve(arena, "fvi"), graph.scc(game, "max_id")):
            assert "numba" not in solution.stats
        monkeypatch.setattr(host, "MANY", 1000)
        assert "numba" not in parity.solve(game, "host").stats


def test_the_command_line_says_what_is_slow(without_numba, tmp_path, capsys):
    io.save(tmp_path / "game.pg", generate.random_game(1, 20))
    file = str(tmp_path / "game.pg")
    assert main(["solve", file, "-s", "host", "--quiet"]) == 0
    err = capsys.readouterr().err
    assert err.startswith("jaxgames: warning: numba is not installed: ")
    assert err.count("\n") == 1


@host.compiled
def add(values, found, by, begin, end):
    for i in range(max(begin, 0), end):
        found[i] = values[i] + by


@host.compiled
def divide(values, found, by, begin, end):
    for i in range(max(begin, 0), end):
        found[i] = values[i] // (end - by)


@pytest.fixture
def many_cores(monkeypatch):
    """As on a machine with eight cores, where little is worth another one."""
    monkeypatch.setattr(host, "num_cores", lambda: 8)
    monkeypatch.setattr(host, "FEWEST_PLACES", 16)
    host._hired.cache_clear()
    host._tasks.cache_clear()
    yield
    host._hired.cache_clear()
    host._tasks.cache_clear()


@pytest.fixture(params=[True, False], ids=["native", "numba"])
def translated(request, monkeypatch):
    """Whether loops are translated; else numba compiles them."""
    pytest.importorskip("numba")
    if request.param and not native.can_translate():
        pytest.skip("nothing is translated on this kind of machine")
    monkeypatch.setattr(native, "can_translate", lambda: request.param)
    return request.param


def test_many_threads_have_work_for_all_cores(many_cores, translated):
    def work(seed, right):
        rng = np.random.default_rng(seed)
        for _ in range(100):
            values = rng.integers(0, 100, rng.integers(1, 1000))
            found = np.zeros(len(values), np.int64)
            host.on_all_cores(add, len(values), values, found, seed)
            right.append(np.array_equal(found, values + seed))

    before, right = threading.active_count(), []
    threads = [threading.Thread(target=work, args=(i, right)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 600
    if translated:  # one crew serves all
        assert threading.active_count() == before + 7


def test_what_fails_on_another_core_raises_here(many_cores):
    pytest.importorskip("numba")  # numpy warns where compiled code raises
    values, found = np.arange(160), np.zeros(160, np.int64)
    with pytest.raises(ZeroDivisionError):
        host.on_all_cores(divide, 160, values, found, 160)
    host.on_all_cores(divide, 160, values, found, -1)  # all are there again
    assert found[5] == 5 // 21


@host.compiled
def collect(targets, values, by, begin, end):
    for i in range(begin, end):
        for j in range(targets.shape[1]):
            values[i] += values[targets[i, j]] // by
        values[i] %= 1_000_003


LINKS = 300
"""Of a place: a step takes as long as others need to come too early."""


def levels_of(rng, count):
    """Ranges level by level, and for each place some of earlier levels."""
    widths = rng.integers(1, rng.choice([3, 40]), count)
    ends = np.cumsum(widths)
    steps, targets = [[0, ends[0], 0]], [[0] * LINKS] * ends[0]
    for first, last in itertools.pairwise(ends.tolist()):
        cuts = np.unique([first, *rng.integers(first, last, 3), last])
        before = len(steps)
        steps += [[*pair, before] for pair in itertools.pairwise(cuts)]
        targets += rng.integers(0, first, (last - first, LINKS)).tolist()
    return np.array(steps), np.array(targets)


def test_steps_wait_for_those_of_earlier_levels(many_cores, translated):
    def work(seed, right):
        rng = np.random.default_rng(seed)
        for _ in range(10):
            steps, targets = levels_of(rng, 60)
            values = rng.integers(0, 100, len(targets))
            expected = values.copy()
            collect(targets, expected, 1, 0, len(values))
            host.in_steps(collect, steps, targets, values, 1)
            right.append(np.array_equal(values, expected))

    right = []
    threads = [threading.Thread(target=work, args=(i, right)) for i in range(4)]
    for thread in threads:  # they share a crew: nobody waits for who has not begun
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 40


def test_what_fails_in_a_step_raises_here(many_cores):
    pytest.importorskip("numba")  # numpy warns where compiled code raises
    steps, targets = levels_of(np.random.default_rng(1), 60)
    values = np.ones(len(targets), np.int64)
    with pytest.raises(ZeroDivisionError):
        host.in_steps(collect, steps, targets, values, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_has_threads_of_its_own(many_cores):
    values, found = np.arange(160), np.zeros(160, np.int64)
    host.on_all_cores(add, 160, values, found, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are threads is the point
        child = os.fork()
    if not child:
        host.on_all_cores(add, 160, values, found, 2)
        os._exit(int(not np.array_equal(found, values + 2)))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others do as they like")
def test_freed_memory_is_there_for_the_next_arrays():
    """A fresh process: in this one larger arrays have been freed before."""
    program = """
import resource, numpy as np
from jaxgames import generate, host, parity
with host.compiling():
    parity.solve(generate.random_game(1, 10), "host")
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(1 << 18, np.int32) for _ in range(4)]
    del arrays
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(faults)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 64  # there are a thousand pages


# ---- what is on the disk -----------------------------------------------------------


def made_by(package, folder, code):
    """What a new process prints that keeps machine code in a folder."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    code = f"from jaxgames import host\n{code}\nprint(host.plain_left({package!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        **{"env": env, "capture_output": True, "text": True, "check": True},
    )
    return float(done.stdout)


@pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")
def test_plain_python_has_less_time_where_machine_code_is_on_the_disk(tmp_path):
    """Loading it takes less time than making it."""
    package, other = "jaxgames.graph.host", "jaxgames.parity.host"
    assert made_by(package, tmp_path, "") == PLAIN_SECONDS
    solve = """
from jaxgames import Arena
from jaxgames.graph.host import scc
with host.compiling():
    scc(Arena.from_csr([0, 1, 2], [1, 0], owner=[0, 0]))
"""
    assert made_by(package, tmp_path, solve) == pytest.approx(LOAD_SECONDS)
    assert made_by(package, tmp_path, "") == pytest.approx(LOAD_SECONDS)
    assert made_by(other, tmp_path, "") == PLAIN_SECONDS
    assert made_by("no.such.package", tmp_path, "") == PLAIN_SECONDS
    # Files of an earlier version are older than the package.
    for file in tmp_path.iterdir():
        os.utime(file, (0, 0))
    assert made_by(package, tmp_path, "") == PLAIN_SECONDS


def test_python_answers_nothing_where_loading_machine_code_is_sooner(monkeypatch):
    monkeypatch.setattr(host, "_has_llvm", lambda: False)
    monkeypatch.setattr(host, "_is_made", lambda package: True)
    asked, on_host = [], type(PROBLEM).on_host

    def told(self, question, **how):
        track = how.get("track")
        asked.append(track is not None and isinstance(track.stop, host.Impatience))
        return on_host(self, question, **how)

    monkeypatch.setattr(type(PROBLEM), "on_host", told)
    small = generate.random_game(1, 20, num_priorities=4)
    large = generate.random_game(1, 1000, num_priorities=4)
    spent = PLAIN_SECONDS - LOAD_SECONDS
    for game, left, plain in (
        (small, PLAIN_SECONDS, True),
        (large, PLAIN_SECONDS, True),
        (small, spent, False),
        (large, spent, False),
    ):
        monkeypatch.setattr(host, "_plain_left", left)
        assert parity.solve(game, "host").status == 0
        assert asked[0] == plain  # it may be cut off, and another one follow
        asked.clear()
