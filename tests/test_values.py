"""A value does not change: its arrays are its own, and what is kept goes with it."""

import copy
import dataclasses
import gc
import pickle
import subprocess
import sys
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse

from jaxgames import (
    Arena,
    buchi,
    energy,
    graph,
    host,
    kept,
    ltl,
    mdp,
    meanpayoff,
    multienergy,
    parity,
    states,
    systems,
)
from jaxgames import value as value_module
from jaxgames.equivalence._system import System as SortedSystem
from jaxgames.io import LTS
from jaxgames.later import to_numpy
from jaxgames.value import ReadOnly, Value, freeze, own

ARRAYS = {
    "row_ptr": np.int32,
    "dst": np.int32,
    "owner": bool,
    "priority": np.int32,
    "edge_priority": np.int32,
    "weight": np.int32,
    "accepting": bool,
}


def given() -> dict[str, np.ndarray]:
    """Arrays of the very types that an arena keeps: nothing is converted.

    A ring of four vertices, and a loop at the first.
    """
    values = {
        "row_ptr": [0, 2, 3, 4, 5],
        "dst": [0, 1, 2, 3, 0],
        "owner": [0, 1, 0, 1],
        "priority": [0, 1, 2, 3],
        "edge_priority": [0, 1, 2, 3, 4],
        "weight": [1, -1, 2, -2, 0],
        "accepting": [0, 0, 1, 0],
    }
    return {name: np.array(values[name], dtype) for name, dtype in ARRAYS.items()}


def arena_of(arrays: dict[str, np.ndarray], *names: str) -> Arena:
    labels = {name: arrays[name] for name in names}
    return Arena.from_csr(
        arrays["row_ptr"], arrays["dst"], owner=arrays["owner"], **labels
    )


def arrays_in(value) -> dict[str, np.ndarray]:
    """The arrays of numpy in the fields of a value."""
    found = {}
    for field in dataclasses.fields(value):
        here = getattr(value, field.name)
        if isinstance(here, Arena):
            found |= {f"{field.name}.{k}": x for k, x in arrays_in(here).items()}
        each = here.items() if isinstance(here, dict) else [("", here)]
        found |= {field.name + k: x for k, x in each if isinstance(x, np.ndarray)}
    return found


def same_fields(one, other) -> bool:
    mine, others = arrays_in(one), arrays_in(other)
    return mine.keys() == others.keys() and all(
        np.array_equal(x, others[name]) and x.dtype == others[name].dtype
        for name, x in mine.items()
    )


# ---- arrays are owned -------------------------------------------------------------


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("how", ["csr", "by hand", "replaced"])
def test_an_arena_does_not_share_what_a_caller_may_write_to(how, name):
    arrays = given()
    if how == "csr":
        arena = arena_of(arrays, "priority", "edge_priority", "weight", "accepting")
    elif how == "by hand":
        src = np.repeat(np.arange(4, dtype=np.int32), 2)[:5]
        arena = Arena(src=src, num_vertices=4, num_edges=5, **arrays)
    else:
        plain = arena_of(arrays)
        arena = dataclasses.replace(plain, **{name: arrays[name]})
    arrays[name][-1] ^= 1
    assert np.array_equal(getattr(arena, name), given()[name])


def test_arenas_from_edges_do_not_share_either():
    arrays, src = given(), np.array([0, 0, 1, 2, 3], np.int32)
    labels = {k: arrays[k] for k in ("priority", "weight", "edge_priority")}
    arena = Arena.from_edges(src, arrays["dst"], owner=arrays["owner"], **labels)
    before = {name: x.copy() for name, x in arrays_in(arena).items()}
    for array in (src, *arrays.values()):
        array[:] = 0
    assert all(np.array_equal(getattr(arena, k), x) for k, x in before.items())


def test_a_part_of_a_callers_array_is_not_shared_even_if_it_is_read_only():
    whole = np.array([0, 1, 2, 3, 9], np.int32)
    view = whole[:4]
    view.flags.writeable = False
    arena = dataclasses.replace(arena_of(given()), priority=view)
    whole[0] = 7
    assert arena.priority.tolist() == [0, 1, 2, 3]


def test_memory_of_a_buffer_that_changes_is_not_shared():
    buffer = bytearray(given()["priority"].tobytes())
    for view in (buffer, memoryview(buffer).toreadonly()):
        priority = np.frombuffer(view, np.int32)
        priority.flags.writeable = False
        arena = dataclasses.replace(arena_of(given()), priority=priority)
        assert not np.shares_memory(arena.priority, priority)


def test_what_nobody_can_write_to_is_shared():
    arrays = given()
    for array in arrays.values():
        array.flags.writeable = False
    arena = arena_of(arrays, "priority", "weight")
    for name in ("row_ptr", "dst", "owner", "priority", "weight"):
        assert np.shares_memory(getattr(arena, name), arrays[name])
    again = dataclasses.replace(arena, weight=None)
    assert again.priority is arena.priority
    fixed = np.frombuffer(bytes(16), np.int32)
    assert dataclasses.replace(arena, priority=fixed).priority is fixed


@pytest.mark.parametrize("name", ["weight", "priority", "dst", "row_ptr"])
def test_bytes_are_put_in_the_order_of_the_machine(name):
    arena = Arena.from_edges(
        [0, 1, 2], [1, 0, 2], owner=[0, 1, 0], weight=[3, -2, 0], priority=[2, 1, 4]
    )
    turned = freeze(getattr(arena, name).astype(">i4"))
    other = dataclasses.replace(arena, **{name: turned})
    there = getattr(other, name)
    assert there.dtype == np.int32
    assert there.dtype.isnative
    assert there.tolist() == turned.tolist()
    for solve in (energy.solve, parity.solve, meanpayoff.solve):
        expected, found = solve(arena, "host"), solve(other, "host")
        assert found.strategy.tolist() == expected.strategy.tolist()


def test_arrays_of_jax_are_shared_as_they_are():
    priority = jnp.arange(4)
    arena = dataclasses.replace(arena_of(given()), priority=priority)
    assert arena.priority is priority
    shown = np.asarray(priority)
    assert dataclasses.replace(arena, priority=shown).priority is shown


def test_a_conversion_is_the_only_copy():
    wide = given()["dst"].astype(np.int64)
    arena = arena_of(given() | {"dst": wide})
    assert arena.dst.flags.owndata
    assert not arena.dst.flags.writeable
    assert wide.flags.writeable


def test_nobody_writes_to_the_arrays_of_an_arena():
    arrays = given()
    arena = arena_of(arrays, "priority", "edge_priority", "weight", "accepting")
    keep = np.array([1, 1, 1, 1], bool)
    with_dead = Arena.from_csr([0, 0], [], owner=[0], dead_ends="lose", priority=[1])
    for made in (
        arena,
        arena.pad(),
        arena.pad().unpad(),
        arena.reverse(),
        arena.subgame(keep)[0],
        with_dead,
        Arena.from_edges([1, 0], [0, 1], owner=[0, 0], priority=[3, 4]),
        pickle.loads(pickle.dumps(arena)),
        copy.deepcopy(arena),
    ):
        for name, array in arrays_in(made).items():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
            assert name
    assert all(array.flags.writeable for array in arrays.values())


def test_whatever_jax_puts_into_the_leaves_stays_as_it_is():
    arena = arena_of(given(), "priority")
    leaves, structure = jax.tree.flatten(arena)
    things = [object() for _ in leaves]
    rebuilt = jax.tree.unflatten(structure, things)
    assert all(x is y for x, y in zip(jax.tree.leaves(rebuilt), things, strict=True))
    shapes = jax.eval_shape(lambda x: x, arena)
    assert isinstance(shapes.dst, jax.ShapeDtypeStruct)
    axes = jax.tree.map(lambda _: None, arena)
    assert axes.dst is None


# ---- answers ----------------------------------------------------------------------

PARITY = ["auto", "host", "race", "fpi", "spm", "zielonka", "promotion", "improvement"]


@pytest.mark.parametrize("solver", PARITY)
@pytest.mark.parametrize("name", ["priority", "owner", "dst"])
def test_parity_games_do_not_change_after_a_solve(solver, name):
    arrays = given()
    arena = arena_of(arrays, "priority")
    before = parity.solve(arena, solver)
    arrays[name][:] = {"priority": [1, 1, 1, 1], "owner": True, "dst": 0}[name]
    after = parity.solve(arena, solver)
    fresh = parity.solve(arena_of(given(), "priority"), solver)
    for answer in (before, after):
        assert np.array_equal(answer.winner, fresh.winner)
    assert parity.verify(arena, after)


@pytest.mark.parametrize("solver", ["auto", "host", "fvi", "vi"])
def test_energy_games_do_not_change_after_a_solve(solver):
    arrays = given()
    arena = arena_of(arrays, "weight")
    energy.solve(arena, solver)
    arrays["weight"][:] = -5
    after = energy.solve(arena, solver)
    fresh = energy.solve(arena_of(given(), "weight"), solver)
    assert np.array_equal(after.credit, fresh.credit)
    assert energy.verify(arena, after)


def pair(arrays):
    return arrays["row_ptr"], arrays["dst"]


def matrix(arrays):
    data = np.ones(len(arrays["dst"]))
    return scipy.sparse.csr_matrix((data, arrays["dst"], arrays["row_ptr"]), copy=False)


@pytest.mark.parametrize("solver", ["auto", "max_id", "fb_trim"])
@pytest.mark.parametrize("form", [pair, matrix])
def test_graphs_do_not_change_after_a_search(form, solver):
    arrays = given()
    shape = form(arrays)
    arena = graph.as_arena(shape)
    graph.scc(arena, solver)
    indices = shape[1] if form is pair else shape.indices
    indices[:] = 3
    after = graph.scc(arena, solver)
    fresh = graph.scc(form(given()), solver)
    assert np.array_equal(after.labels, fresh.labels)
    assert graph.verify(arena, after)


def test_a_matrix_that_is_tidied_up_in_place_leaves_the_graph_as_it_was():
    given = scipy.sparse.csr_matrix(
        (np.ones(4), np.array([1, 1, 0, 0], np.int32), np.array([0, 3, 4], np.int32))
    )
    arena = graph.as_arena(given)
    given.sum_duplicates()
    assert arena.row_ptr.tolist() == [0, 3, 4]
    assert arena.dst.tolist() == [1, 1, 0, 0]


def test_models_do_not_share_what_a_caller_may_write_to():
    groups, rows = np.array([0, 2, 3], np.int32), np.array([0, 1, 2, 3], np.int32)
    columns, probs = np.array([0, 1, 1], np.int32), np.ones(3)
    label, reward = np.array([False, True]), np.array([1.0, 2.0])
    initial = np.array([0], np.int32)
    arrays = {"row_group_offsets": groups, "row_offsets": rows, "columns": columns}

    def make():
        return mdp.MDP.from_arrays(
            **arrays,
            probs=probs,
            initial=initial,
            labels={"goal": label},
            state_rewards={"cost": reward},
        )

    model, twin = make(), make()
    before = mdp.mec(model)
    wanted = copy.deepcopy(model)
    everything = (groups, rows, columns, probs, label, reward, initial)
    for array in everything:
        array[:] = 0
    assert same_fields(model, wanted)
    assert same_fields(twin, wanted)
    for found in (mdp.mec(model), mdp.mec(twin)):
        assert np.array_equal(found.state_label, before.state_label)
    for made in (model, model.pad(), mdp.MDP(groups, rows, columns, probs)):
        for array in arrays_in(made).values():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_multienergy_games_do_not_share():
    offsets, targets = np.array([0, 1, 2, 2], np.int32), np.array([1, 2], np.int32)
    which, defender = np.array([0, 1], np.uint8), np.array([False, True, True])

    def make():
        updates = [[-1, 0], [0, -2]]
        return multienergy.Game.from_arrays(
            offsets, targets, which, updates, defender=defender, cap=3
        )

    game = make()
    before = multienergy.solve(game)
    for array in (offsets, targets, which, defender):
        array[:] = 0
    after = multienergy.solve(game)
    assert np.array_equal(before.table, after.table)
    wanted = copy.deepcopy(game)
    assert same_fields(game, wanted)
    for array in arrays_in(game.pad()).values():
        assert not array.flags.writeable


def test_systems_products_and_automata_do_not_share():
    offsets, targets = np.array([0, 2, 3], np.int32), np.array([0, 1, 0], np.int32)
    on = np.array([False, True])
    system = systems.System.from_graph((offsets, targets), {"on": on})
    automaton = ltl.translate("FG !on")
    product = systems.product(system, automaton)
    found = buchi.accepting_cycle(product)
    offsets[1:], targets[:], on[:] = 0, 0, True
    again = buchi.accepting_cycle(systems.product(system, automaton))
    assert found.exists == again.exists
    for value in (system, automaton, product, product.arena()):
        for array in arrays_in(value).values():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    accepting = product.accepting.copy()
    changed = dataclasses.replace(product, accepting=accepting)
    buchi.accepting_cycle(changed)
    accepting[:] = False
    assert np.array_equal(changed.accepting, product.accepting)


def test_transition_systems_do_not_share():
    src, dst = np.array([0, 1, 1], np.int32), np.array([1, 0, 1], np.int32)
    label = np.array([0, 1, 2])
    lts = LTS.from_arrays(src, label, dst, ["a", "b", "c"], 2)
    by_hand = dataclasses.replace(lts, label=label)
    sorted_out = SortedSystem.of(lts)
    enabled = sorted_out.enabled()
    label[:] = 0
    assert lts.label.tolist() == by_hand.label.tolist() == [0, 1, 2]
    assert sorted_out.enabled() is enabled
    for value in (lts, sorted_out):
        for array in arrays_in(value).values():
            assert not array.flags.writeable


def test_what_is_derived_from_an_answer_does_not_go_stale():
    space = graph.explore(lambda x: (x[:, None] + 1, x < 3), [0])
    assert space.states.ravel().tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        space.words[0] = 3
    game = multienergy.Game.from_arrays(
        [0, 1, 1], [1], [0], [[-2]], defender=[0, 1], cap=3
    )
    fronts = multienergy.solve(game, "host")
    assert fronts.points.tolist() == [[2], [0]]
    with pytest.raises(ValueError, match="read-only"):
        fronts.words[0][...] = 0


# ---- machine code -----------------------------------------------------------------


def test_machine_code_takes_what_is_read_only_for_the_same_type():
    pytest.importorskip("numba")
    from jaxgames.parity.host._quick import promote_quickly
    from jaxgames.parity.host._rows import _place_all

    small, loops = arena_of(given(), "priority"), range(host.COPIED_UP_TO)
    large = Arena.from_edges(loops, loops, owner=[0] * len(loops), priority=loops)
    # Another test of this process may have solved what has other types.
    assert parity.verify(small, parity.solve(small, "host"))
    codes = [
        set(function._program._made_of) for function in (_place_all, promote_quickly)
    ]
    for arena in (small, large):
        on_device = jax.tree.map(jnp.asarray, arena)
        for each in (arena, on_device, pickle.loads(pickle.dumps(arena))):
            assert parity.verify(each, parity.solve(each, "host"))
    for function, known in zip((_place_all, promote_quickly), codes, strict=True):
        assert known
        assert set(function._program._made_of) == known
    assert np.shares_memory(parity.prepare_host(large).head, large.dst)


def test_what_is_lent_is_the_same_without_a_copy():
    array = np.arange(host.COPIED_UP_TO)
    assert host.lend(array) is array
    array.flags.writeable = False
    (lent, same), number = host.lend((array, "x")), host.lend(3)
    assert np.shares_memory(lent, array)
    assert lent.flags.writeable
    assert (same, number) == ("x", 3)
    view = array[::2].reshape(2, -1)
    assert np.array_equal(host.lend(view), view)


# ---- what is kept -----------------------------------------------------------------


class Thing(Value):
    """Something to keep things with."""


def test_it_is_made_once():
    thing, made = Thing(), []
    for _ in range(3):
        kept.kept(thing, "it", lambda: made.append(1) or len(made))
    assert made == [1]
    assert kept.is_kept(thing, "it")
    assert not kept.is_kept(thing, "another")
    assert not kept.is_kept(Thing(), "it")


def test_nothing_is_kept_of_what_fails():
    thing = Thing()
    with pytest.raises(ZeroDivisionError):
        kept.kept(thing, "it", lambda: 1 / 0)
    assert not kept.is_kept(thing, "it")
    assert kept.kept(thing, "it", lambda: 3) == 3


def test_none_is_kept_too():
    thing = Thing()
    assert kept.kept(thing, "it", lambda: None) is None
    assert kept.kept(thing, "it", lambda: 1) is None


def test_clear_reaches_one_value_or_all():
    things = [Thing(), Thing()]
    for thing in things:
        kept.kept(thing, "it", lambda: 1)
    kept.clear(things[0])
    assert [kept.is_kept(x, "it") for x in things] == [False, True]
    kept.kept(things[0], "it", lambda: 1)
    kept.clear()
    assert [kept.is_kept(x, "it") for x in things] == [False, False]
    kept.clear(Thing())


def test_clear_gives_back_what_a_solve_has_laid_out():
    arena = arena_of(given(), "priority")
    first = parity.solve(arena, "fpi")
    game = weakref.ref(parity.prepare(arena, parity.FPI())[1])
    assert game() is not None
    kept.clear(arena)
    gc.collect()
    assert game() is None
    assert np.array_equal(parity.solve(arena, "fpi").winner, first.winner)


def test_what_is_kept_dies_with_its_value_even_in_a_cycle():
    def ring() -> weakref.ref:
        thing = Thing()
        kept.kept(thing, "itself", lambda: thing)
        return weakref.ref(thing)

    ref = ring()
    gc.collect()
    assert ref() is None


def test_two_threads_get_the_same():
    thing, both = Thing(), threading.Barrier(2)

    def make():
        both.wait(30)  # both are at it
        return object()

    found = []
    threads = [
        threading.Thread(target=lambda: found.append(kept.kept(thing, "it", make)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is kept.kept(thing, "it", make)


def test_a_value_with_equality_of_its_own_can_keep():
    system = SortedSystem.of(LTS.from_edges([0], ["a"], [0]))
    assert system.enabled() is system.enabled()


@pytest.mark.parametrize("copied", [
    lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy,
    dataclasses.replace,
])  # fmt: skip
def test_a_copy_has_the_same_fields_and_nothing_of_what_is_kept(copied):
    arrays = given()
    arena = arena_of(arrays, "priority", "weight", "accepting")
    parity.solve(arena)
    energy.solve(arena)
    graph.scc(arena)
    arena.reverse()
    space = graph.explore(lambda x: (x[:, None] + 1, x < 3), [0])
    assert len(space.states)
    system = SortedSystem.of(LTS.from_edges([0], ["a"], [0]))
    system.enabled()
    for value in (arena, space, system):
        assert vars(value)[kept.SLOT].things
        twin = copied(value)
        assert kept.SLOT not in vars(twin)
        assert same_fields(value, twin)
        assert all(not x.flags.writeable for x in arrays_in(twin).values())


def test_a_pickled_arena_does_not_grow_by_a_solve():
    arena = arena_of(given(), "priority")
    before = pickle.dumps(arena)
    parity.solve(arena, "fpi")
    assert pickle.dumps(arena) == before


def test_a_formula_from_another_process_is_found_in_a_dictionary():
    formula, foreign = (ltl.Formula.parse("G(p -> F q)") for _ in range(2))
    object.__setattr__(foreign, "_hash", 17)  # texts have other hashes there
    assert {formula: 1}[pickle.loads(pickle.dumps(foreign))] == 1


def test_arrays_in_tuples_and_dictionaries_are_owned():
    array = np.zeros(2)
    for field in ((array, 1), {"x": array}):
        owned = own(field)
        inside = owned[0] if isinstance(field, tuple) else owned["x"]
        assert not np.shares_memory(inside, array)
        assert not inside.flags.writeable
    same = ("a", freeze(array))
    assert own(same) is same


LABELLED = ([0, 1, 2, 3], [0, 2, 3, 4], [0, 1, 1, 2], [0.5, 0.5, 1.0, 1.0])


def labelled(labels):
    return mdp.MDP.from_arrays(*LABELLED, initial=[0], labels=labels)


WRITES = {
    "item": lambda x: x.__setitem__("goal", np.zeros(3, bool)),
    "no item": lambda x: x.__delitem__("goal"),
    "or": lambda x: x.__ior__({"trap": np.zeros(3, bool)}),
    "clear": lambda x: x.clear(),
    "pop": lambda x: x.pop("goal"),
    "pop some": lambda x: x.popitem(),
    "default": lambda x: x.setdefault("trap", np.zeros(3, bool)),
    "update": lambda x: x.update(trap=np.zeros(3, bool)),
}


@pytest.mark.parametrize("name", WRITES)
def test_nobody_writes_to_the_dictionaries_of_a_model(name):
    """A solve keeps with the model what it has found of the label."""
    asked = 'Pmax=? [ F "goal" ]'
    labels = {"goal": np.array([False, True, False])}
    model = labelled(labels)
    assert mdp.check(model, asked).value == pytest.approx(1)
    with pytest.raises(TypeError, match="is part of a value, and read-only"):
        WRITES[name](model.labels)
    labels.clear()
    assert list(model.labels) == ["goal"]
    assert mdp.check(model, asked).value == pytest.approx(1)


def test_read_only_dictionaries_are_what_others_are():
    model = labelled({"goal": [0, 1, 0], "a": [1, 0, 0]})
    assert list(model.labels) == ["goal", "a"]
    assert dataclasses.replace(model).labels is model.labels
    for again in (
        copy.copy(model),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        jax.tree.map(lambda x: x, model),
        jax.tree.unflatten(*jax.tree.flatten(model)[::-1]),
    ):
        assert isinstance(again.labels, dict)
        assert {*again.labels} == {"goal", "a"}
        assert np.array_equal(again.labels["goal"], [0, 1, 0])
        with pytest.raises(TypeError, match="read-only"):
            again.labels["b"] = again.labels["a"]
    more = dataclasses.replace(model, labels=model.labels | {"b": np.ones(3, bool)})
    assert list(more.labels) == ["goal", "a", "b"]
    count = jax.jit(lambda model: {x: y.sum() for x, y in model.labels.items()})
    assert count(model) == {"goal": 1, "a": 1}
    two = jax.tree.map(lambda *x: np.stack(x), model, dataclasses.replace(model))
    assert jax.vmap(count)(two)["goal"].tolist() == [1, 1]


def test_read_only_dictionaries_have_the_fingerprints_of_others():
    """With JAX, without it, and as files have them that were made before."""
    labels = {"goal": np.array([False, True]), "a": np.array([True, False])}
    expected = states.fingerprint({"labels": labels})
    found = states.fingerprint({"labels": ReadOnly(labels)})
    assert to_numpy(found) == to_numpy(expected)
    paths = jax.tree_util.tree_flatten_with_path(ReadOnly(labels))[0]
    assert [jax.tree_util.keystr(path) for path, _ in paths] == ["['a']", "['goal']"]
    code = """
import numpy as np
from jaxgames import later, states
from jaxgames.value import ReadOnly
labels = {"goal": np.array([False, True]), "a": np.array([True, False])}
print(*states.fingerprint({"labels": ReadOnly(labels)}), later.imported())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == [*(str(int(x)) for x in expected), "False"]


def test_large_arrays_are_copied_in_pieces(monkeypatch):
    monkeypatch.setattr(value_module, "LARGE", 64)
    for shape in ((1000,), (31, 3)):
        given = np.random.default_rng(0).integers(0, 99, shape)
        expected = given.tolist()
        copied = own(given)
        given[:] = -1
        assert copied.tolist() == expected
        assert copied.dtype == given.dtype
        assert not copied.flags.writeable
