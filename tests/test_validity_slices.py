"""What is no game is refused by every slice; a graph may have dead ends."""

import dataclasses
import functools
import re
from types import SimpleNamespace

import jax
import malformed
import numpy as np
import pytest
from malformed import BY_SHAPE, BY_VALUE, DEAD_END, DEAD_ENDS, sound

from jaxgames import Arena, Status, buchi, energy, graph, meanpayoff, solve_many
from jaxgames.buchi import Lasso
from jaxgames.meanpayoff import reference as means
from jaxgames.verdict import NO_PROBLEM

GAMES = BY_VALUE | DEAD_ENDS
PLACES = ("host", "race", "auto")
FIRST = np.arange(5) == 0

credits_ = functools.cache(lambda: energy.solve(sound()))
values = functools.cache(lambda: meanpayoff.solve(sound()))
won = functools.cache(lambda: buchi.solve(sound()))
parts = functools.cache(lambda: graph.scc(sound()))


def by_name(solve, names):
    """A front door for each name of a solver."""
    return {
        f"{solve.__module__.split('.')[1]}-{name}": functools.partial(
            solve, solver=name
        )
        for name in names
    }


def by_engine(name, check, keyword="engine"):
    """A front door for each engine of a check."""
    return {
        f"{name}-{engine}": lambda arena, engine=engine: check(
            arena, **{keyword: engine}
        )
        for engine in ("host", "device", "auto")
    }


GAME_DOORS = {
    **by_name(energy.solve, [*energy.SOLVERS, *PLACES]),
    **by_name(buchi.solve, [*buchi.GAME_SOLVERS, *PLACES]),
    **by_engine(
        "energy.verify", lambda a, **how: energy.verify(a, credits_(), **how), "method"
    ),
    "capacity": lambda a: energy.solve_with_capacity(a, 3),
    "verify capacity": lambda a: energy.verify_with_capacity(a, credits_(), 3),
    "energy.decide": lambda a: energy.decide(a, 0, 3),
    "energy.play": lambda a: energy.play(a, credits_(), 0, 3, 5),
    "energy.bound": energy.bound,
    "energy.prepare": energy.prepare,
    "energy.reference": energy.reference.solve,
    "energy.reference.verify": lambda a: energy.reference.verify(a, credits_().credit),
    "meanpayoff.solve": meanpayoff.solve,
    "meanpayoff.decide": lambda a: meanpayoff.decide(a, 1),
    "meanpayoff.verify": lambda a: meanpayoff.verify(a, values()),
    "meanpayoff.reference": means.solve,
    "meanpayoff.reference.verify": lambda a: means.verify(a, values()),
    "buchi.verify": lambda a: buchi.verify(a, won()),
    "buchi.reference": lambda a: buchi.reference.solve(a, np.zeros(5, bool)),
    **{
        f"many-{name}": lambda a, name=name: solve_many(name, [a])
        for name in ("energy", "meanpayoff", "buchi")
    },
}

GRAPH_DOORS = {
    **by_name(graph.scc, [*graph.SOLVERS, *PLACES]),
    **by_name(buchi.accepting_cycle, [*buchi.SOLVERS, *PLACES]),
    **by_engine("graph.verify", lambda a, **how: graph.verify(a, parts(), **how)),
    **by_engine("reachable", lambda a, **how: graph.reachable(a, [0], **how)),
    **by_engine("attractor", lambda a, **how: graph.attractor(a, [0], 0, **how)),
    "condensation": graph.condensation,
    "bottom_sccs": graph.bottom_sccs,
    "is_trivial": graph.is_trivial,
    "graph.reference": graph.reference.scc,
    "buchi.reference": buchi.reference.accepting_cycle,
    "buchi.verify": lambda a: buchi.verify(a, Lasso(np.array([], int), np.array([0]))),
    "from_mean_payoff": lambda a: energy.from_mean_payoff(a, 1),
    "from_parity": energy.from_parity,
    "vertex_weights": lambda a: energy.vertex_weights(a, np.zeros(5, int)),
    "reverse": Arena.reverse,
    "subgame": lambda a: a.subgame(np.ones(5, bool)),
    "many-scc": lambda a: solve_many("scc", [a]),
    "many-accepting_cycle": lambda a: solve_many("accepting_cycle", [a]),
}


def complaint_of(door, *args) -> str:
    """What a front door says in the ValueError that it raises."""
    try:
        return f"taken: {door(*args)!r}"
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("door", GAME_DOORS)
def test_what_is_no_game_is_refused_by_name(door):
    for name, (arena, message) in GAMES.items():
        said = complaint_of(GAME_DOORS[door], dataclasses.replace(arena))
        assert re.search(message, said), f"{name}: {said}"


@pytest.mark.parametrize("door", GRAPH_DOORS)
def test_what_is_no_graph_is_refused_by_name(door):
    for name, (arena, message) in BY_VALUE.items():
        said = complaint_of(GRAPH_DOORS[door], dataclasses.replace(arena))
        assert re.search(message, said), f"{name}: {said}"


@pytest.mark.parametrize("door", ["energy-auto", "buchi-auto", "meanpayoff.solve"])
def test_wrong_shapes_are_refused_by_name(door):
    for name, (change, message) in BY_SHAPE.items():
        arena = dataclasses.replace(sound(), **change)
        said = complaint_of(GAME_DOORS[door], arena)
        assert re.search(message, said), f"{name}: {said}"


@pytest.mark.parametrize(
    "door", ["energy-fvi", "buchi-attractors", "meanpayoff.decide"]
)
def test_wrong_shapes_are_errors_while_tracing(door):
    for name, (change, message) in BY_SHAPE.items():
        arena = dataclasses.replace(sound(), **change)
        said = complaint_of(jax.eval_shape, GAME_DOORS[door], arena)
        assert re.search(message, said), f"{name}: {said}"


def test_a_graph_may_have_dead_ends():
    assert graph.scc(DEAD_END).count == 2
    assert graph.reachable(DEAD_END, [1]).tolist() == [False, True, False, False, False]
    assert not buchi.accepting_cycle(DEAD_END, accepting=[1]).exists
    assert solve_many("scc", [DEAD_END])[0].count == 2
    found = jax.jit(graph.scc)(DEAD_END)
    assert found.status == Status.SOLVED
    assert found.count == 2


# ---- under tracing -----------------------------------------------------------

SOLVES = {
    "energy-vi": (GAMES, functools.partial(energy.solve, solver="vi")),
    "energy-fvi": (
        GAMES,
        functools.partial(energy.solve, solver="fvi", strategies=False),
    ),
    "capacity": (GAMES, lambda a: energy.solve_with_capacity(a, 3, "fvi")),
    "meanpayoff.decide": (GAMES, lambda a: meanpayoff.decide(a, 1, strategies=False)),
    "buchi": (GAMES, buchi.solve),
    "cycle-map": (BY_VALUE, functools.partial(buchi.accepting_cycle, solver="map")),
    "cycle-owcty": (BY_VALUE, functools.partial(buchi.accepting_cycle, solver="owcty")),
    "cycle-scc": (BY_VALUE, functools.partial(buchi.accepting_cycle, solver="scc")),
    "scc-max_id": (BY_VALUE, functools.partial(graph.scc, solver="max_id")),
    "scc-fb_trim": (BY_VALUE, functools.partial(graph.scc, solver="fb_trim")),
}


@pytest.mark.parametrize("door", SOLVES)
def test_under_vmap_what_is_no_game_is_invalid_alone(door):
    faults, solve = SOLVES[door]
    found = jax.jit(jax.vmap(solve))(malformed.stack_of(faults))
    assert found.status.tolist() == [Status.SOLVED] + [Status.INVALID] * len(faults)
    alone = solve(sound())
    for field in dataclasses.fields(found):
        array = getattr(found, field.name)
        if field.name in ("status", "stats", "state") or array is None:
            continue
        if field.name == "credit":
            nothing = energy.UNKNOWN
        else:
            nothing = 0 if field.name in ("count", "exists", "decided") else -1
        assert (array[1:] == nothing).all(), field.name
        if field.name != "witness":  # any is one
            pair = array[0], getattr(alone, field.name)  # padding does not matter
            np.testing.assert_array_equal(*(np.atleast_1d(x)[:3] for x in pair))


CHECKS = {
    "energy": (GAMES, lambda a: energy.verify(a, credits_())),
    "graph": (BY_VALUE, lambda a: graph.verify(a, parts())),
}


@pytest.mark.parametrize("door", CHECKS)
def test_no_answer_to_what_is_no_game_is_valid(door):
    faults, verify = CHECKS[door]
    verdict = jax.jit(jax.vmap(verify))(malformed.stack_of(faults))
    assert verdict.valid.tolist() == [True] + [False] * len(faults)
    assert (verdict.reason[1:] == NO_PROBLEM).all()


MASKS = {
    "reachable": lambda a: graph.reachable(a, FIRST),
    "attractor": lambda a: graph.attractor(a, FIRST, 0).mask,
    "bottom_sccs": lambda a: graph.bottom_sccs(a, parts()),
    "is_trivial": lambda a: graph.is_trivial(a, parts()),
    "decide": lambda a: energy.decide(a, 0, 3),
}


@pytest.mark.parametrize("door", MASKS)
def test_nothing_is_found_in_what_is_no_graph(door):
    found = jax.jit(jax.vmap(MASKS[door]))(malformed.stack_of(BY_VALUE))
    alone = np.atleast_1d(MASKS[door](sound()))
    np.testing.assert_array_equal(np.atleast_1d(found[0])[: len(alone)], alone)
    assert not found[1:].any()


# ---- verify trusts nothing ---------------------------------------------------


@pytest.mark.parametrize("engine", ["host", "device"])
@pytest.mark.parametrize("count", [0, 2, 4, 5, 6, 1000, 2**40, -1, -2])
def test_no_wrong_count_is_valid(engine, count):
    labels = np.array([0, 0, 0, -1, -1], np.int32)
    right = SimpleNamespace(labels=labels, count=1)
    assert graph.verify(sound(), right, engine=engine)
    for array in (labels, np.where(labels == 0, max(count - 1, 0), -1)):
        claim = SimpleNamespace(labels=array, count=count)
        assert not graph.verify(sound(), claim, engine=engine)


@pytest.mark.parametrize("count", [2, 6, -1])
def test_no_wrong_count_is_valid_under_tracing(count):
    labels = np.array([0, 0, 0, -1, -1], np.int32)

    @jax.jit
    def verdict(count):
        return graph.verify(sound(), SimpleNamespace(labels=labels, count=count))

    assert verdict(1)
    assert not verdict(count)


@pytest.mark.parametrize("count", [None, 1.0, np.ones(2, np.int32), "1"])
def test_a_count_is_an_integer(count):
    claim = SimpleNamespace(labels=np.zeros(5, np.int32), count=count)
    with pytest.raises(ValueError, match=r"components.count must be an integer"):
        graph.verify(sound(), claim)


ARRAYS = {
    "energy, device": (
        functools.partial(energy.verify, method="device"),
        credits_,
        ("credit", "winner", "strategy"),
    ),
    "energy": (energy.verify, credits_, ("credit", "winner", "strategy")),
    "meanpayoff": (meanpayoff.verify, values, ("value_num", "value_den", "strategy")),
    "buchi": (buchi.verify, won, ("winner", "strategy")),
}


@pytest.mark.parametrize("slice_", ARRAYS)
def test_no_malformed_solution_is_valid(slice_):
    verify, solve, names = ARRAYS[slice_]
    assert verify(sound(), solve())
    for name in names:
        right = np.asarray(getattr(solve(), name))
        for wrong in (
            right[:-1],
            np.append(right, 0),
            right.astype(np.float32),
            right.astype(np.uint64),
            right.astype(str),
            right[:, None],
        ):
            claim = dataclasses.replace(solve(), **{name: wrong})
            with pytest.raises(ValueError, match=f"{name} must"):
                verify(sound(), claim)
        for value in (
            -2,
            8,
            int(right[1]) + 256,
            int(right[1]) + 2**32,
            10**6,
            2**31 - 1,
            2**40,
            -(2**40),
        ):
            changed = right.astype(np.int64)
            changed[1] = value
            assert not verify(sound(), dataclasses.replace(solve(), **{name: changed}))


def test_no_malformed_lasso_is_valid():
    arena = sound()
    right = Lasso(np.array([0], np.int32), np.array([1, 2, 0], np.int32))
    assert buchi.verify(arena, right)
    for name in ("prefix", "cycle"):
        for wrong in (np.array([0.5]), np.array([[0]]), np.array(["0"]), None):
            with pytest.raises(ValueError, match=rf"lasso.{name} must be vertices"):
                buchi.verify(arena, dataclasses.replace(right, **{name: wrong}))
        for vertex in (-1, 3, 5, 2**31 - 1, 2**40, -(2**40)):
            claim = dataclasses.replace(right, **{name: np.array([vertex])})
            assert not buchi.verify(arena, claim)


def test_a_cycle_is_not_denied_with_a_lasso_at_hand():
    found = buchi.accepting_cycle(sound())
    assert buchi.verify(sound(), found)
    assert not buchi.verify(sound(), dataclasses.replace(found, exists=np.bool_(False)))
