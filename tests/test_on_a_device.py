"""Games, graphs and models that lie on a device, for all that works on the host."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, energy, generate, graph, mdp, meanpayoff, on_device, parity
from jaxgames.parity import preprocess


@pytest.fixture(scope="module")
def game():
    return generate.random_game(1, 60, num_priorities=5)


@pytest.mark.parametrize("solver", ["host", "auto", "race", "promotion", "spm"])
def test_parity(game, solver):
    there = jax.device_put(game)
    found = parity.solve(there, solver)
    np.testing.assert_array_equal(found.winner, parity.reference.solve(game).winner)
    assert parity.verify(there, found)
    assert parity.certificate(there, found) is not None


@pytest.mark.parametrize("name", preprocess.REDUCTIONS)
def test_preprocessing(game, name):
    reduced = preprocess.apply(jax.device_put(game), (name,))
    expected = preprocess.apply(game, (name,))
    np.testing.assert_array_equal(reduced.arena.dst, expected.arena.dst)


@pytest.mark.parametrize("solver", ["host", "auto", "race", "fvi", "vi"])
def test_energy(solver):
    game = generate.random_energy_game(1, 60, max_weight=9)
    found = energy.solve(jax.device_put(game), solver)
    np.testing.assert_array_equal(found.credit, energy.solve(game, "host").credit)
    assert energy.verify(jax.device_put(game), found)


def test_mean_payoffs():
    game = generate.random_energy_game(2, 40, max_weight=9)
    found, expected = (meanpayoff.solve(x) for x in (jax.device_put(game), game))
    np.testing.assert_array_equal(found.value_num, expected.value_num)
    np.testing.assert_array_equal(found.value_den, expected.value_den)
    assert meanpayoff.verify(jax.device_put(game), found)


@pytest.mark.parametrize("solver", ["host", "auto", "max_id", "fb_trim"])
def test_components(game, solver):
    found = graph.scc(jax.device_put(game), solver)
    np.testing.assert_array_equal(found.labels, graph.scc(game, "host").labels)
    assert graph.verify(jax.device_put(game), found)


@pytest.mark.parametrize("solver", ["host", "auto", "interleaved", "basic"])
def test_end_components(solver):
    model = generate.random_mdp(1, 40).pad(256, 512, 1024)  # as in mdp/test_mec.py
    found = mdp.mec(jax.device_put(model), solver)
    np.testing.assert_array_equal(found.state_label, mdp.mec(model, "host").state_label)
    assert mdp.verify(jax.device_put(model), found)


# ---- arrays that stay where they are ---------------------------------------------


VERTICES, EDGES = 40, 120


@pytest.fixture
def anywhere(monkeypatch):
    """As if the CPU were a device with memory of its own."""
    monkeypatch.setattr(
        on_device,
        "_lies_there",
        lambda x: isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer),
    )


def edges(**others):
    rng = np.random.default_rng(0)
    src, dst = rng.integers(0, VERTICES, (2, EDGES))
    src[:VERTICES] = np.arange(VERTICES)
    return {
        "src": src,
        "dst": dst,
        "owner": rng.random(VERTICES) < 0.5,
        "priority": rng.integers(0, 9, VERTICES),
        "weight": rng.integers(-9, 9, (EDGES, 2)),
        "accepting": rng.integers(0, 2, VERTICES),
        **others,
    }


def same(found: Arena, expected: Arena, kind: type) -> None:
    for field in dataclasses.fields(Arena):
        x, y = (getattr(arena, field.name) for arena in (found, expected))
        assert (x is None) == (y is None)
        if y is not None:
            np.testing.assert_array_equal(x, y)
            assert x.dtype == y.dtype
            assert isinstance(x, kind) or not x.ndim


@pytest.mark.parametrize("condition", ["max even", "min odd"])
def test_arenas_are_built_where_their_arrays_are(anywhere, condition):
    given = edges()
    expected = Arena.from_edges(**given, condition=condition)
    there = {name: jnp.asarray(x) for name, x in given.items()}
    found = Arena.from_edges(**there, condition=condition)
    same(found, expected, jax.Array)
    same(found.reverse(), expected.reverse(), jax.Array)
    dead_ends = edges(src=np.where(given["src"] == 5, 6, given["src"]))
    there |= {"src": jnp.asarray(dead_ends["src"])}
    with pytest.raises(ValueError, match="vertex 5 has no successor"):
        Arena.from_edges(**there)
    allowed = {"condition": condition, "dead_ends": "allow"}
    same(
        Arena.from_edges(**there, **allowed),
        Arena.from_edges(**dead_ends, **allowed),
        jax.Array,
    )


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [("dst", 7, VERTICES), ("src", 7, -1), ("priority", 3, -2), ("owner", 3, 2)]
    + [("accepting", 1, 2)],
)
def test_what_is_wrong_there_is_said_as_here(anywhere, name, place, value):
    given = edges(owner=np.zeros(VERTICES, int))
    given[name][place] = value
    said = []
    for convert in (np.asarray, jnp.asarray):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            Arena.from_edges(**{key: convert(x) for key, x in given.items()})
        said.append(str(error.value))
    assert said[0] == said[1]


def test_arenas_that_lie_there_are_checked_there(anywhere):
    arena = Arena.from_edges(**edges(weight=None, accepting=None))
    there = jax.device_put(arena)
    found, expected = (parity.solve(x, "promotion") for x in (there, arena))
    np.testing.assert_array_equal(found.winner, expected.winner)
    wrong = dataclasses.replace(there, dst=there.dst.at[3].set(99))
    with pytest.raises(ValueError, match=r"dst\[3\] is 99"):
        parity.solve(wrong, "promotion")
    rows = jnp.asarray(arena.row_ptr), jnp.asarray(arena.dst)
    assert isinstance(graph.as_arena(rows).src, jax.Array)
    labels = graph.scc(rows, "max_id").labels
    np.testing.assert_array_equal(labels, graph.scc(arena, "host").labels)
