"""What may be passed as a limit: the same at every door, and never a loop for ever."""

import fractions
import importlib
import inspect
import math
import pkgutil
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import (
    Arena,
    arguments,
    buchi,
    checkpoint,
    discounted,
    energy,
    energyparity,
    equivalence,
    fixpoint,
    graph,
    io,
    limits,
    ltl,
    mdp,
    meanpayoff,
    parity,
    synth,
    systems,
)
from jaxgames.progress import Deadline

WRONG_STEPS = [1.5, math.nan, math.inf, -1, True, np.True_, "3", [3], np.array([3])]
WRONG_SECONDS = [math.nan, -1, 0, True, np.True_, "3", [3], np.array([3.0]), 1j]

NEEDED = {
    "jaxgames.discounted._solve.solve": (None, 0.5),
    "jaxgames.drive._many.solve_many": ("parity", []),
    "jaxgames.equivalence._compare.compare": (None, 0, 0),
    "jaxgames.equivalence._compare.compare_many": (None, []),
    "jaxgames.equivalence._weak.compare_weak": (None, 0, 0),
    "jaxgames.equivalence._weak.compare_many_weak": (None, []),
}
"""What is looked at before the limits are, by function."""

INNER = ("jaxgames.drive._legs", "jaxgames.drive._each", "jaxgames.drive._solve")
INNER += ("jaxgames.parity.reference.", "jaxgames.fixpoint", "jaxgames.limits")
"""Where functions lie that others call, which have checked."""


def doors(keyword: str) -> dict[str, types.FunctionType]:
    """The public functions that take something by a name."""
    found = {}
    for info in pkgutil.walk_packages(jaxgames.__path__, "jaxgames."):
        parts = info.name.split(".")
        if any(part[0] == "_" for part in parts) or parts[1] in ("cli", "testing"):
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if name[0] != "_" and isinstance(value, types.FunctionType):
                where = f"{value.__module__}.{value.__qualname__}"
                if where.startswith(INNER) or keyword not in parameters(value):
                    continue
                found[where] = value
    return found


def parameters(function):
    return inspect.signature(function).parameters


def called(name, function, **how):
    """Calls a function with None for all that it needs: limits are looked at first."""
    needed = NEEDED.get(name)
    if needed is None:
        needed = [
            None
            for x in parameters(function).values()
            if x.default is x.empty and x.kind in (x.POSITIONAL_ONLY, 1)
        ]
    found = function(*needed, **how)
    return next(found) if inspect.isgenerator(found) else found


def imported() -> None:
    """Packages list what they have when it is asked for."""
    for info in pkgutil.walk_packages(jaxgames.__path__, "jaxgames."):
        if not any(part[0] == "_" for part in info.name.split(".")):
            module = importlib.import_module(info.name)
            for name in getattr(module, "__all__", ()):
                getattr(module, name)


@pytest.fixture(scope="module", autouse=True)
def everything_is_there():
    imported()


@pytest.mark.parametrize("wrong", WRONG_STEPS, ids=repr)
def test_steps_are_counted_in_integers_at_every_door(wrong):
    found = doors("max_steps")
    assert {x.split(".")[1] for x in found} >= {
        *("buchi", "discounted", "drive", "emersonlei", "energy", "energyparity"),
        *("equivalence", "graph", "mdp", "meanpayoff", "multienergy", "parity"),
    }
    for name, function in found.items():
        if name.endswith((".host.run", ".host.solve")):
            continue  # engines read the game first: see below
        with pytest.raises(ValueError, match="max_steps must be"):
            called(name, function, max_steps=wrong)


@pytest.mark.parametrize("keyword", ["deadline", "memory"])
def test_seconds_and_bytes_are_numbers_at_every_door(keyword):
    found = doors(keyword)
    assert len(found) > 150
    for number, (name, function) in enumerate(found.items()):
        one = WRONG_SECONDS[number % len(WRONG_SECONDS)]
        with pytest.raises(ValueError, match=f"{keyword} must be"):
            called(name, function, **{keyword: one})
    for one in WRONG_SECONDS:
        with pytest.raises(ValueError, match=f"{keyword} must be"):
            parity.verify(None, None, **{keyword: one})


GAME = Arena.from_edges([0, 1, 1], [1, 0, 1], owner=[0, 1], priority=[0, 1])


@pytest.mark.parametrize("wrong", WRONG_STEPS, ids=repr)
def test_so_do_the_engines_and_the_loops(wrong):
    solver = parity.SOLVERS.resolve("fpi")
    for call in (
        lambda: parity.host.run(parity.host.prepare(GAME), max_steps=wrong),
        lambda: jaxgames.energy.host.solve(weighted(), max_steps=wrong),
        lambda: fixpoint.run(solver, None, max_steps=wrong),
        lambda: fixpoint.traced(solver, None, max_steps=wrong),
    ):
        with pytest.raises(ValueError, match="max_steps must be"):
            call()


def weighted() -> Arena:
    return Arena.from_edges([0], [0], owner=[0], weight=[-1])


def test_traced_steps_are_integers():
    def solved(steps):
        found = parity.solve(GAME, "fpi", max_steps=steps)
        return found.status, found.winner

    status, winner = jax.jit(solved)(jnp.int32(1000))
    assert status == jaxgames.Status.SOLVED
    assert winner.tolist() == parity.solve(GAME).winner.tolist()
    for wrong in (jnp.float32(1.5), jnp.array(True), jnp.array([1, 2])):
        with pytest.raises(ValueError, match="max_steps must be an integer, got a tra"):
            jax.jit(solved)(wrong)


class Six:
    """An integer, by its own word."""

    def __index__(self):
        return 6


@pytest.mark.parametrize("steps", [6, np.int8(6), np.uint64(6), Six(), jnp.int32(6)])
def test_all_that_is_an_integer_is_taken(steps):
    found = parity.solve(GAME, "fpi", max_steps=steps)
    assert found.winner.tolist() == parity.solve(GAME).winner.tolist()
    kind = type(arguments.integer("steps", steps, 0))
    assert kind is int


def test_all_that_is_a_real_number_of_seconds_is_taken():
    for seconds in (60, 60.0, np.float32(60), fractions.Fraction(60), np.uint8(60)):
        assert arguments.positive("deadline", seconds, "seconds") == 60.0
        assert parity.solve(GAME, deadline=seconds).winner.tolist()
    for endless in (math.inf, 10**400):
        assert parity.solve(GAME, deadline=endless).status == jaxgames.Status.SOLVED
    with limits.within(deadline=np.float64(60), memory=np.int64(1 << 40)):
        assert parity.solve(GAME).status == jaxgames.Status.SOLVED


@pytest.mark.parametrize("wrong", WRONG_SECONDS, ids=repr)
def test_intervals_are_numbers(wrong, tmp_path):
    with pytest.raises(ValueError, match="seconds must be a positive number"):
        Deadline(wrong)
    path = tmp_path / "kept"
    with pytest.raises(ValueError, match="every must be a positive number"):
        checkpoint.solve(
            path, lambda **how: parity.solve(GAME, "fpi", **how), every=wrong
        )
    assert not path.exists()


@pytest.mark.parametrize("wrong", WRONG_STEPS, ids=repr)
def test_sizes_are_integers(wrong):
    for call in (
        lambda: io.Limits(memory=wrong),
        lambda: io.Limits(statement=wrong),
        lambda: ltl.translate("p", max_states=wrong),
        lambda: ltl.deterministic("p", max_states=wrong),
        lambda: ltl.translate("p").determinise(max_states=wrong),
        lambda: jaxgames.synth.specifications(["p"], max_states=wrong),
        lambda: jaxgames.graph.explore(None, [], max_states=wrong),
        lambda: parity.SPM(every=wrong),
    ):
        with pytest.raises(ValueError, match=r"\w+ must be (an integer )?at least 1"):
            call()


GRAPH = [0, 1], [0]
STEP = io.LTS.from_edges([0], ["tau"], [1])


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("inputs", lambda: synth.Specification.from_ltl("G(req -> F ack)", "req")),
        ("outputs", lambda: synth.Decomposition.from_ltl("G ack", [], "ack")),
        ("inputs", lambda: synth.specifications(["G(req -> F ack)"], "req")),
        ("formulas", lambda: synth.specifications("G(r -> F g)", ["r"])),
        ("propositions", lambda: ltl.translate("F req", propositions="req")),
        ("names", lambda: systems.System.from_actions(GRAPH, [0], "send")),
        ("silent", lambda: equivalence.compare_weak(STEP, 0, 1, silent="tau")),
    ],
)
def test_a_text_is_not_a_list_of_its_letters(name, ask):
    """With some of them as inputs, all others would silently be outputs."""
    with pytest.raises(ValueError, match=f"^{name} must be a list of texts, got the"):
        ask()


# ---- what belongs to another question --------------------------------------------

GAME = Arena.from_edges(
    [0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 1], priority=[0, 1, 2],
    weight=[1, -1, 2, -1],
)  # fmt: skip
MODEL = mdp.MDP.from_arrays(
    [0, 1, 2, 3], [0, 2, 3, 4], [0, 1, 1, 2], [0.5, 0.5, 1.0, 1.0],
    labels={"goal": [0, 0, 1]},
)  # fmt: skip
GOAL = 'Pmax=? [ F "goal" ]'
PARITY = parity.solve(GAME)
NO_ANSWER = {
    "energy.play": lambda x: energy.play(GAME, x, 0, 3, 2),
    "energy.survives": lambda x: energy.survives(x, 3),
    "energy.verify_with_capacity": lambda x: energy.verify_with_capacity(GAME, x, 3),
    "meanpayoff.verify": lambda x: meanpayoff.verify(GAME, x),
    "discounted.verify": lambda x: discounted.verify(GAME, 0.5, x),
    "energyparity.verify": lambda x: energyparity.verify(GAME, x),
    "mdp.verify_values": lambda x: mdp.verify_values(MODEL, GOAL, x),
    "mdp.quotient": lambda x: mdp.quotient(MODEL, x),
    "mdp.uniform_scheduler": lambda x: mdp.uniform_scheduler(MODEL, x),
    "mdp.visiting_scheduler": lambda x: mdp.visiting_scheduler(MODEL, x),
    "mdp.almost_sure_buchi": lambda x: mdp.almost_sure_buchi(
        MODEL, [1], components=x or PARITY
    ),
}


@pytest.mark.parametrize("name", NO_ANSWER)
@pytest.mark.parametrize("wrong", [None, GAME, PARITY, 3], ids=lambda x: repr(x)[:9])
def test_answers_to_other_questions_are_refused(name, wrong):
    with pytest.raises(ValueError, match=r"(solution|found|components) must have \w+"):
        NO_ANSWER[name](wrong)


NO_QUESTION = {
    "parity.place_for": (parity.place_for, "arena"),
    "parity.prepare_host": (parity.prepare_host, "arena"),
    "energy.place_for": (energy.place_for, "arena"),
    "energy.bound": (energy.bound, "arena"),
    "energy.prepare": (energy.prepare, "arena"),
    "mdp.place_for": (mdp.place_for, "model"),
    "mdp.values": (lambda x: mdp.values(x, GOAL), "model"),
    "mdp.almost_sure_buchi": (lambda x: mdp.almost_sure_buchi(x, [True]), "model"),
    "mdp.Game": (lambda x: mdp.solve_game(mdp.Game(x, np.zeros(3, int)), [1]), "model"),
}


@pytest.mark.parametrize("name", NO_QUESTION)
@pytest.mark.parametrize("wrong", [None, 3, np.zeros(3), Arena], ids=repr)
def test_what_is_no_question_is_refused(name, wrong):
    ask, called = NO_QUESTION[name]
    with pytest.raises(ValueError, match=f"{called} must be an|no arena|an Arena"):
        ask(wrong)


WRONG = {
    "players": (
        lambda: mdp.solve_game(mdp.Game(MODEL, np.zeros(2, np.int8)), [2]),
        r"game.player must be integers \[3\], got int8 \[2\]",
    ),
    "no players": (
        lambda: mdp.solve_game(mdp.Game(MODEL, None), [2]),
        r"game.player must be integers \[3\], got object \[\]",
    ),
    "no target": (
        lambda: mdp.reach_probability(MODEL, None),
        "target must be a set of states, got None",
    ),
    "epsilon": (
        lambda: mdp.reach_probability(MODEL, [2], epsilon=None),
        "epsilon must be a positive number, got None",
    ),
    "epsilons": (
        lambda: mdp.values(MODEL, GOAL, epsilon=np.array([1, 2])),
        "epsilon must be a positive number",
    ),
    "constants": (
        lambda: mdp.check(MODEL, GOAL, constants="x"),
        "constants must be values by name, got str",
    ),
    "stay": (lambda: mdp.quotient(MODEL, mdp.mec(MODEL), stay=None), "stay must be"),
    "components": (
        lambda: mdp.verify(MODEL, None),
        "components must be those of mec, .* got NoneType",
    ),
    "steps": (
        lambda: mdp.simulate(MODEL, [0, 1, 2], 0, -1, jax.random.key(0)),
        "steps must be at least 0, got -1",
    ),
    "start": (
        lambda: mdp.simulate(MODEL, [0, 1, 2], [0, 3], 2, jax.random.key(0)),
        "start must be states from 0 to 2, got 3",
    ),
    "level": (
        lambda: energy.survives(energy.solve(GAME), [1, 2]),
        r"level must be one number, or one for each vertex \(3,\), got shape \(2,\)",
    ),
    "vertices": (lambda: GAME.pad("8"), "num_vertices must be an integer"),
    "states": (lambda: MODEL.pad("8"), "num_states must be an integer"),
    "initial": (
        lambda: buchi.prepare(GAME, accepting=[0], initial=[[1], [2, 3]]),
        "initial is not an array: ",
    ),
    "no components": (
        lambda: graph.bottom_sccs(GAME, MODEL),
        "components must have count, got MDP",
    ),
    "no arenas": (
        lambda: jaxgames.solve_many(parity, None),
        "arenas must be a list of them, or a stack, got NoneType",
    ),
    "no names": (
        lambda: parity.solve(GAME, preprocess=3),
        "reductions must be a list of names and functions, got int",
    ),
    "no name": (
        lambda: parity.solve(GAME, preprocess=[3]),
        "a reduction is a name or a function, got 3",
    ),
    "propositions": (
        lambda: ltl.translate("G a", propositions=[1]),
        "propositions must be a list of texts",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_and_where(name):
    ask, words = WRONG[name]
    with pytest.raises(ValueError, match=words):
        ask()


def test_to_negate_anything_that_is_true_is_to_negate():
    assert str(ltl.translate("G a", negate=None)) == str(ltl.translate("G a"))


def test_a_limit_beyond_what_counters_hold():
    most = 10**30
    for engine in ("device", "host"):
        how = {"engine": engine, "max_steps": most}
        right = graph.reachable(GAME, [0], engine=engine)
        assert np.array_equal(graph.reachable(GAME, [0], **how), right)
        won = graph.attractor(GAME, [0], 0, **how)
        assert graph.verify_attractor(GAME, won, [0], 0)
    found = jax.jit(lambda game: parity.solve(game, "fpi", max_steps=most))(GAME)
    assert parity.verify(GAME, found)
    credits = jax.jit(lambda game: energy.solve(game, max_steps=2**31))(weighted())
    assert energy.verify(weighted(), credits)
