"""Accepting cycles: every solver, form of input and way of driving, by brute force."""

import functools
from pathlib import Path

import jax
import numpy as np
import pytest
from marked_graphs import COUNTEREXAMPLE, Marked, marked, plain
from repeats import some_of

from jaxgames import SolveError, Status, buchi, host, ltl, systems
from jaxgames.buchi import _partition, _stages
from jaxgames.progress import Deadline

CORPUS = Path(__file__).parents[3] / "shared/data/made/ltl"

DEVICE = ("map", "owcty", buchi.Owcty(form="forward"), "scc")
SOLVERS = ("auto", "host", "race", "stages", *DEVICE)


def ids(solver) -> str:
    form = getattr(solver, "form", "")
    return solver if isinstance(solver, str) else f"{solver.name}-{form}"


def find(graph, solver, monkeypatch=None, **arguments):
    if solver == "stages":
        assert monkeypatch is not None
        monkeypatch.setattr(type(buchi.CYCLES), "place", lambda *_: "device")
        solver = "auto"
    return buchi.accepting_cycle(graph, solver=solver, **arguments)


def solve(case: Marked, solver, monkeypatch=None, **arguments):
    marks = {"accepting": case.accepting, "initial": case.starts}
    return find(case.arena, solver, monkeypatch, **{**marks, **arguments})


def check(case: Marked, found) -> None:
    exists = case.exists
    assert found.status == Status.SOLVED
    assert found.decided
    assert found.exists == exists
    assert (found.lasso is not None) == exists
    assert (found.witness >= 0) == exists
    if exists:
        assert case.shows(found.lasso)
    verdict = buchi.verify(
        case.arena, found, accepting=case.accepting, initial=case.starts
    )
    assert verdict, str(verdict)


# ---- random graphs ---------------------------------------------------------------


@some_of(50, 120)
@pytest.mark.parametrize("solver", SOLVERS, ids=ids)
def test_random_graphs(solver, count, monkeypatch):
    if solver in ("auto", "host", "scc"):
        count *= 3
    for case in marked(seed=4, count=count):
        check(case, solve(case, solver, monkeypatch))


@pytest.mark.sweep
@pytest.mark.parametrize("solver", SOLVERS, ids=ids)
def test_many_random_graphs(solver, monkeypatch):
    for case in marked(seed=5, count=20_000, largest=16):
        check(case, solve(case, solver, monkeypatch))


@pytest.mark.parametrize("solver", SOLVERS, ids=ids)
def test_the_counterexample(solver, monkeypatch):
    check(COUNTEREXAMPLE, solve(COUNTEREXAMPLE, solver, monkeypatch))


@pytest.mark.parametrize("shrunk", [0, 1000])
def test_stages_in_small_windows_and_graphs(shrunk, monkeypatch):
    """In windows of few vertices; what is left goes to MAP, moved or in its place."""
    monkeypatch.setattr(_stages, "Trim", functools.partial(buchi.Trim, window=1))
    monkeypatch.setattr(_stages, "FEW_LINKS", -1)
    monkeypatch.setattr(_stages, "SHRUNK", shrunk)
    mapped = 0
    for case in marked(seed=6, count=60):
        found = solve(case, "stages", monkeypatch)
        check(case, found)
        mapped += int(found.stats.get("inner", 0)) > 0
    assert mapped > 5


def test_without_numba(monkeypatch):
    monkeypatch.setattr(host, "can_compile", lambda: False)
    for case in marked(seed=7, count=40):
        found = solve(case, "auto")
        assert found.stats["solver"] == "auto"  # in stages
        check(case, found)


@pytest.mark.parametrize(
    "solver",
    [
        buchi.Trim(),
        buchi.Trim(window=3),
        buchi.Trim(looks=3, sweeps=2),
        buchi.Trim(window=1, sweeps=2, sweeps_per_check=2),
    ],
    ids=["whole", "windows", "looks", "both"],
)
def test_trimming_decides_weak_graphs(solver):
    windows = 0
    for case in marked(seed=8, count=100, largest=16):
        weak = case._replace(accepting=np.ones_like(case.accepting))
        found = solve(weak, solver)
        check(weak, found)
        windows = max(windows, found.stats.get("windows", 1))
    assert windows == {1: 16, 3: 6}.get(solver.window, 1)


# ---- forms of input --------------------------------------------------------------


def test_forms_of_a_graph():
    sparse = pytest.importorskip("scipy.sparse")
    pair = [0, 2, 4, 4, 5], [3, 2, 0, 2, 1]
    matrix = sparse.csr_matrix(([1] * 5, pair[1], pair[0]), (4, 4))
    arena = plain([0, 0, 1, 1, 3], [3, 2, 0, 2, 1], 4, accepting=[1, 0, 1, 0])
    assert buchi.accepting_cycle(arena).exists  # accepting vertices of its own
    for graph in (pair, matrix, arena):
        found = buchi.accepting_cycle(graph, accepting=[0, 2])
        assert found.lasso.cycle.tolist() == [0, 3, 1]
        assert str(found) == "AcceptingCycle(Lasso(0 + 3 vertices))"
        found = buchi.accepting_cycle(graph, accepting=[False, False, True, False])
        assert not found.exists
        assert str(found) == "AcceptingCycle(none)"


@pytest.mark.parametrize("solver", SOLVERS, ids=ids)
def test_only_what_is_reached_counts(solver, monkeypatch):
    # 0 -> 1 <-> 2, and 3 <-> 4 on their own; 5 leads to both.
    arena = plain([0, 1, 2, 3, 4, 5, 5], [1, 2, 1, 4, 3, 0, 3], 6)
    accepting = np.isin(np.arange(6), [3, 0])
    for initial, exists in ((0, False), (5, True), ([0, 4], True), ([], False)):
        starts = np.atleast_1d(np.array(initial, int))
        case = Marked(arena, accepting, starts)
        assert case.exists == exists
        check(case, solve(case, solver, monkeypatch, initial=initial))
    found = solve(case, solver, monkeypatch, initial=None)
    assert found.exists
    assert sorted(found.lasso.cycle.tolist()) == [3, 4]


@pytest.mark.parametrize("solver", [*SOLVERS, "trim"], ids=ids)
def test_padding_and_tiny_graphs(solver, monkeypatch):
    for case in marked(seed=9, count=20):
        if solver == "trim":
            case = case._replace(accepting=np.ones_like(case.accepting))
        padded = case.arena.pad(12, 60)
        more = padded.shape[0] - case.arena.shape[0]
        accepting = np.pad(case.accepting, (0, more), constant_values=True)
        found = find(
            padded, solver, monkeypatch, accepting=accepting, initial=case.starts
        )
        check(case, found)
    alone = plain([], [], 1)
    assert not find(alone, solver, monkeypatch, accepting=[0]).exists
    loop = find(plain([0], [0], 1), solver, monkeypatch, accepting=[0])
    assert loop.lasso.cycle.tolist() == [0]
    nothing = plain([], [], 0)
    assert not find(nothing, solver, monkeypatch, accepting=[], initial=None).exists


def test_what_is_prepared_can_be_asked_twice(monkeypatch):
    case = COUNTEREXAMPLE
    question = buchi.prepare(case.arena, accepting=case.accepting)
    assert str(question) == "Question(4 vertices, 5 edges, 1 parts)"
    for solver in (*SOLVERS, "stages"):
        check(case, find(question, solver, monkeypatch))
    with pytest.raises(ValueError, match="a Question has accepting vertices of its"):
        buchi.accepting_cycle(question, accepting=[0])
    with pytest.raises(ValueError, match="has no accepting vertices"):
        buchi.prepare(([0, 1], [0]))
    with pytest.raises(ValueError, match="prepare runs on the host"):
        jax.jit(lambda x: buchi.prepare(case.arena, accepting=x).starts)(case.accepting)


# ---- what the property says ------------------------------------------------------


def with_property(seed: int, count: int):
    """Products of random graphs and random automata, with the states of these."""
    rng = np.random.default_rng(seed)
    for case in marked(seed, count, largest=4):
        states = int(rng.integers(1, 5))
        allowed = rng.random((states, states)) < 0.5
        tails, heads = np.nonzero(allowed)
        size = case.arena.shape[0]
        src = (case.arena.src[:, None] * states + tails).ravel()
        dst = (case.arena.dst[:, None] * states + heads).ravel()
        state = np.tile(np.arange(states), size)
        accepting = (rng.random(states) < 0.5)[state]
        product = Marked(
            plain(src, dst, size * states), accepting, case.starts * states
        )
        yield product, state, np.stack([tails, heads], axis=1)


@pytest.mark.parametrize("solver", ["auto", "stages", "map", "owcty", "scc"])
def test_partitions(solver, monkeypatch):
    for case, state, edges in with_property(seed=10, count=30):
        check(case, solve(case, solver, monkeypatch, partition=(state, edges)))
        pair = np.zeros(state.max() + 2, int)
        np.add.at(pair, edges[:, 0] + 1, 1)
        graph = np.cumsum(pair), edges[np.argsort(edges[:, 0], kind="stable"), 1]
        check(case, solve(case, solver, monkeypatch, partition=(state, graph)))
        given = case.arena, case.accepting, (state, edges)
        _, _, known = _partition.partition_of(*given)
        components = known.part_of[state]
        check(case, solve(case, solver, monkeypatch, partition=components))


def test_kinds_of_parts(monkeypatch):
    # States: 0 rejects, 1 accepts alone, 2 and 3 are a component with one accepting.
    edges = [(0, 0), (0, 1), (1, 1), (0, 2), (2, 3), (3, 2), (2, 2)]
    tails, heads = zip(*edges, strict=True)
    arena = plain(tails, heads, 4)
    states, accepting = np.arange(4), np.array([False, True, False, True])
    found = find(
        *(arena, "stages", monkeypatch),
        accepting=accepting,
        partition=(states, np.array(edges)),
    )
    assert {k: found.stats[k] for k in ("terminal", "weak", "strong")} == {
        "terminal": 0,
        "weak": 1,
        "strong": 1,
    }
    # Without the loop of state 2 all cycles of the component accept: it is weak.
    tails, heads = zip(*edges[:-1], strict=True)
    arena = plain(tails, heads, 4)
    found = buchi.accepting_cycle(
        arena,
        accepting=accepting,
        partition=(states, np.array(edges[:-1])),
        solver="trim",
    )
    assert found.exists
    assert found.stats["weak"] == 2


def test_trim_refuses_strong_parts():
    graph = [0, 1, 2], [1, 0]
    with pytest.raises(ValueError, match="decides weak automata only"):
        buchi.accepting_cycle(graph, accepting=[0], solver="trim")
    with pytest.raises(ValueError, match="part 0 is strong"):
        buchi.accepting_cycle(
            ([0, 1, 2, 3], [1, 0, 2]),
            accepting=[0],
            initial=None,
            partition=[0, 0, 1],
            solver="trim",
        )
    states = buchi.accepting_cycle(
        graph, accepting=[0], partition=([0, 1], [(0, 1), (1, 0)]), solver="trim"
    )
    assert states.exists


@pytest.mark.parametrize("formula", ["GF on", "FG !on", "FG on", "F on", "G on"])
def test_products(formula, monkeypatch):
    system = systems.System.from_graph(([0, 2, 3], [0, 1, 0]), {"on": [False, True]})
    product = systems.product(system, ltl.translate(formula))
    case = Marked(product.arena(), product.accepting, product.initial)
    for solver in SOLVERS:
        check(case, find(product, solver, monkeypatch))
    with pytest.raises(ValueError, match="accepting vertices of its own"):
        buchi.accepting_cycle(product, accepting=[0])
    with pytest.raises(ValueError, match="partition of its own"):
        buchi.accepting_cycle(product, partition=product.automaton_state)


def test_terminal_parts_need_no_rounds(monkeypatch):
    system = systems.System.from_graph(([0, 2, 3], [0, 1, 0]), {"on": [False, True]})
    product = systems.product(system, ltl.translate("F on"))
    found = find(product, "stages", monkeypatch)
    assert found.exists
    assert (found.stats["terminal"], found.stats["trim"]) == (1, 0)


# ---- many sets, tracing, limits --------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "host", *DEVICE], ids=ids)
def test_many_sets_on_one_graph(solver):
    rng = np.random.default_rng(11)
    for case in marked(seed=11, count=20):
        sets = rng.random((5, case.arena.shape[0])) < 0.4
        found = solve(case, solver, accepting=sets)
        assert found.exists.shape == found.witness.shape == (5,)
        assert found.decided.all()
        for one, exists, lasso in zip(sets, found.exists, found.lasso, strict=True):
            alone = case._replace(accepting=one)
            assert exists == alone.exists
            assert lasso is None if not exists else alone.shows(lasso)
    assert "of 5 exist" in str(found)


def test_many_weak_sets():
    for case in marked(seed=12, count=20):
        sets = np.ones((2, case.arena.shape[0]), bool)
        found = solve(case, "trim", accepting=sets)
        expected = case._replace(accepting=sets[0]).exists
        assert found.exists.tolist() == [expected, expected]
    with pytest.raises(ValueError, match="decides weak automata only"):
        buchi.accepting_cycle(
            ([0, 1, 2], [1, 0]), accepting=np.eye(2, dtype=bool), solver="trim"
        )


@pytest.mark.parametrize("solver", ["auto", *DEVICE], ids=ids)
def test_under_jit_and_vmap(solver):
    @jax.jit
    def one(arena, accepting, start, part):
        return buchi.accepting_cycle(
            arena, accepting=accepting, initial=start, partition=part, solver=solver
        )

    padded, cases = [], []
    for case in marked(seed=13, count=12):
        case = case._replace(starts=np.zeros(1, int))
        cases.append(case)
        arena = case.arena.pad(12, 64)
        accepting = np.pad(case.accepting, (0, 12 - len(case.accepting)))
        padded.append((arena, accepting, 0, np.zeros(12, np.int32)))
        found = one(*padded[-1])
        assert bool(found.decided)
        assert bool(found.exists) == case.exists
        assert found.lasso is None
        assert (int(found.witness) >= 0) == case.exists
    stacked = jax.tree.map(lambda *x: np.stack(x), *padded)
    found = jax.vmap(one)(*stacked)
    assert found.exists.tolist() == [case.exists for case in cases]
    assert found.status.tolist() == [Status.SOLVED] * len(cases)


@pytest.mark.parametrize("solver", ["map", "scc"])
def test_witnesses_under_tracing_are_right(solver):
    @jax.jit
    def one(arena, accepting, initial):
        return buchi.accepting_cycle(
            arena, accepting=accepting, initial=initial, solver=solver
        ).witness

    seen = 0
    for case in marked(seed=14, count=60):
        if case.exists and len(case.starts) == 1:
            accepting = np.pad(case.accepting, (0, 12 - len(case.accepting)))
            witness = int(one(case.arena.pad(12, 64), accepting, case.starts[0]))
            assert case.accepting[witness]
            assert case.closure[witness, witness]
            seen += 1
    assert seen > 10


def test_a_prepared_question_whose_rounds_are_traced():
    question = buchi.prepare(([0, 1, 2], [1, 0]), accepting=[0])
    search = jax.jit(lambda n: buchi.accepting_cycle(question, max_steps=n))
    assert search(50).exists
    assert search(0).status == Status.MAX_STEPS
    many = buchi.prepare(([0, 1, 2], [1, 0]), accepting=np.eye(2, dtype=bool))
    with pytest.raises(ValueError, match="one accepting set at a time"):
        jax.jit(lambda n: buchi.accepting_cycle(many, max_steps=n).exists)(5)


def test_a_traced_start_that_is_no_vertex_is_an_invalid_question():
    arena = plain([0, 1], [1, 0], 2)
    marks = np.ones(2, bool)
    starts = np.array([0, 1, 2, 99, -1])
    expected = [Status.SOLVED] * 2 + [Status.INVALID] * 3

    def one(arena, start):
        accepting = np.pad(marks, (0, arena.shape[0] - 2))
        return buchi.accepting_cycle(arena, accepting=accepting, initial=start)

    for graph in (arena, arena.pad(8, 16)):  # where 2 is padding
        found = jax.jit(jax.vmap(lambda x, graph=graph: one(graph, x)))(starts)
        assert found.status.tolist() == expected
        assert found.exists.tolist() == [True] * 2 + [False] * 3
    found = jax.jit(lambda arena, start: one(arena, start))(
        arena.pad(8, 16), np.uint8(5)
    )
    assert int(found.status) == Status.INVALID


def test_what_a_traced_graph_does_not_allow():
    arena = plain([0, 1], [1, 0], 2)

    def traced(**arguments):
        jax.jit(
            lambda x: buchi.accepting_cycle(x, **{"accepting": [0], **arguments}).exists
        )(arena)

    marks = np.ones(2, bool)
    for arguments, message in (
        ({"accepting": marks, "solver": "host"}, "runs on the host"),
        ({"accepting": marks, "solver": "trim"}, "has to see that every part is weak"),
        ({"accepting": None}, "accepting is None"),
        ({"accepting": np.ones(3, bool)}, "accepting must hold booleans"),
        ({"accepting": marks, "initial": 7}, "initial is 7"),
        ({"accepting": marks, "initial": [0]}, "initial must hold booleans"),
        ({"accepting": marks, "partition": (0, 0)}, "not a pair"),
        ({"accepting": marks, "partition": [0]}, "partition must hold integers"),
    ):
        with pytest.raises(ValueError, match=message):
            traced(**arguments)
    with pytest.raises(ValueError, match="a traced graph must be an Arena"):
        jax.jit(lambda x: buchi.accepting_cycle(([0, 1], x), accepting=[0]).exists)(
            np.zeros(1, np.int32)
        )


@pytest.mark.counts
@pytest.mark.parametrize(
    "solver",
    ["auto", "trim", "map", "owcty", buchi.Owcty(form="forward"), buchi.ByScc()],
    ids=ids,
)
def test_limits_and_going_on(solver, habits_of_a_cpu):
    stops = 0
    for case in marked(seed=15, count=15):
        if solver == "trim":
            case = case._replace(accepting=np.ones_like(case.accepting))
        state, steps = None, 0
        while True:
            found = solve(case, solver, max_steps=steps, state=state, throw=False)
            if found.decided:
                break
            assert found.status == Status.MAX_STEPS
            assert not found.exists
            assert str(found) == "AcceptingCycle(undecided)"
            state, steps, stops = found.state, steps + 2, stops + 1
        check(case, found)
    assert stops > 10
    with pytest.raises(SolveError, match="MAX_STEPS"):
        solve(COUNTEREXAMPLE, "map", max_steps=0)
    for place in ("host", "race"):
        with pytest.raises(ValueError, match="takes neither"):
            solve(COUNTEREXAMPLE, place, max_steps=3)


@pytest.mark.parametrize("solver", ["map", buchi.ByScc()], ids=ids)
def test_limits_of_a_batch(solver):
    case = COUNTEREXAMPLE
    sets = np.eye(4, dtype=bool)
    found = solve(case, solver, accepting=sets, max_steps=0, throw=False)
    assert found.status == Status.MAX_STEPS
    assert found.decided.tolist() == [False] * 4
    found = solve(case, solver, accepting=sets, state=found.state)
    assert found.exists.tolist() == [True, True, False, True]


def test_time_limits():
    found = solve(
        COUNTEREXAMPLE,
        "map",
        progress=Deadline(1e-9, lambda report: None),
        max_steps=None,
        throw=False,
    )
    # A small graph is done before the meter is asked.
    assert found.status in (Status.SOLVED, Status.TIMEOUT)


# ---- bad input -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"accepting": None}, "has no accepting vertices"),
        ({"accepting": [True]}, "accepting must have one boolean for each vertex"),
        ({"accepting": [2]}, r"accepting\[0\] is 2, expected a vertex from 0 to 1"),
        ({"accepting": np.ones((1, 3), bool)}, "a row of 2 for each set"),
        ({"initial": 2}, "initial is 2, expected a vertex from 0 to 1"),
        ({"initial": -1}, "initial is -1"),
        ({"initial": [0, 5]}, r"initial\[1\] is 5"),
        ({"solver": "bfs"}, "no accepting-cycle solver is called 'bfs'"),
        ({"solver": 3}, "solver must be a name"),
        ({"max_steps": -1}, "max_steps must be at least 0"),
        ({"partition": [0]}, "one integer for each vertex"),
        ({"partition": [0, -1]}, r"partition\[1\] is -1"),
        ({"partition": [0, 1]}, "from part 0 to part 1, directly or not, and back"),
        ({"partition": ([0, 1], [(0, 1)])}, "no edge from state 1 to state 0"),
        ({"partition": ([0, 3], ([0, 0], []))}, r"partition\[0\]\[1\] is 3"),
        ({"partition": ([0, 1], [(0, -1)])}, "states, which are not negative"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        buchi.accepting_cycle(([0, 1, 2], [1, 0]), **{"accepting": [0], **arguments})


def test_no_vertex_to_start_from():
    with pytest.raises(ValueError, match="of a graph that has some"):
        buchi.accepting_cycle(([0], []), accepting=[])


# ---- stored products -------------------------------------------------------------


def files(most_edges: int) -> list[Path]:
    found = []
    for path in sorted(CORPUS.glob("*.npz")):
        with np.load(path) as data:
            if data["offsets"][-1] <= most_edges:
                found.append(path)
    return found


def check_file(path: Path, solver, monkeypatch, change=lambda z: z) -> None:
    with np.load(path) as data:
        z = change(dict(data))
    graph, states = (z["offsets"], z["targets"]), (z["prop_state"], z["prop_edges"])
    for partition in (None, states):
        try:
            found = find(
                *(graph, solver, monkeypatch),
                accepting=z["accepting"],
                partition=partition,
            )
        except ValueError:
            assert solver == "trim"  # the property is not weak
            continue
        assert found.exists == bool(z["has_accepting_cycle"])
        assert (found.lasso is not None) == found.exists
        assert buchi.verify(graph, found, accepting=z["accepting"])


def test_the_products_are_there():
    if not CORPUS.is_dir():
        pytest.skip("the folder of stored products is not there")
    assert len(files(1 << 30)) > 30


def of_one_size(z: dict) -> dict:
    """A product with vertices that nothing leads to, and its last edge many times."""
    size, edges = 5120 + 1, 10_240
    targets = np.pad(z["targets"], (0, edges - len(z["targets"])), mode="edge")
    last = z["offsets"].searchsorted(z["offsets"][-1])  # after the vertex of that edge
    z["offsets"][last:] = edges
    more = size - len(z["offsets"])
    vertices = {x: np.pad(z[x], (0, more)) for x in ("accepting", "prop_state")}
    offsets = np.pad(z["offsets"], (0, more), mode="edge")
    return {**z, **vertices, "offsets": offsets, "targets": targets}


@pytest.mark.parametrize("solver", ["auto", "stages", "trim", "map"])
@pytest.mark.parametrize("path", files(10_000), ids=lambda path: path.stem)
def test_small_products(path, solver, monkeypatch):
    check_file(path, solver, monkeypatch, change=of_one_size)


@pytest.mark.parametrize("solver", ["auto", "scc"])
@pytest.mark.parametrize("path", files(300_000), ids=lambda path: path.stem)
def test_products_on_the_host(path, solver, monkeypatch):
    check_file(path, solver, monkeypatch)


@pytest.mark.sweep
@pytest.mark.parametrize("solver", [*SOLVERS, "trim"], ids=ids)
@pytest.mark.parametrize("path", files(1 << 30), ids=lambda path: path.stem)
def test_all_products(path, solver, monkeypatch):
    check_file(path, solver, monkeypatch)
