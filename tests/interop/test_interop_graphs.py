"""Graphs of networkx, igraph, rustworkx and scipy, there and back."""

import dataclasses
import importlib.util
import os
import subprocess
import sys

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import jaxgames
from jaxgames import Arena, graph, interop
from jaxgames.mdp import MDP

few = hypothesis.settings(deadline=None, max_examples=50)


def needs(name: str):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def edges(arena: Arena) -> list:
    """The edges as a multiset: packages may list them in another order."""
    weight = np.zeros(arena.shape[1]) if arena.weight is None else arena.weight
    return sorted(
        zip(arena.src.tolist(), arena.dst.tolist(), weight.tolist(), strict=True)
    )


@st.composite
def graphs(draw, weight=True):
    size = draw(st.integers(0, 6))
    ends = st.integers(0, max(size - 1, 0))
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=12 if size else 0))
    weights = st.lists(
        st.integers(-9, 9), min_size=len(pairs), max_size=len(pairs)
    ).map(lambda values: np.array(values, np.int32))
    return Arena.from_edges(
        [u for u, _ in pairs],
        [v for _, v in pairs],
        owner=np.array([draw(st.booleans()) for _ in range(size)], bool),
        weight=draw(st.none() | weights) if weight else None,
        dead_ends="allow",
    )


def owned(values) -> np.ndarray:
    return np.array(values, int).astype(bool)


@few
@hypothesis.given(graphs())
def test_networkx(arena):
    needs("networkx")
    graph = interop.networkx.from_arena(arena.pad(16, 32))
    weight = None if arena.weight is None else "weight"
    again, nodes = interop.networkx.to_arena(graph, owner="owner", weight=weight)
    assert nodes == list(range(arena.shape[0]))
    assert edges(again) == edges(arena)
    assert again.owner.tolist() == arena.owner.tolist()
    pairs = set(zip(arena.src.tolist(), arena.dst.tolist(), strict=True))
    assert graph.is_multigraph() == (len(pairs) < arena.shape[1])


def test_networkx_labels_and_names():
    nx = needs("networkx")
    graph = nx.MultiDiGraph()
    graph.add_node("b", owner=1, priority=4)
    graph.add_node(("a", 2), owner=0, priority=1)
    graph.add_edge("b", ("a", 2), w=5)
    graph.add_edge("b", ("a", 2), w=7)
    graph.add_edge(("a", 2), "b", w=-1)
    arena, nodes = interop.networkx.to_arena(
        graph, owner="owner", priority="priority", weight="w", dead_ends="error"
    )
    assert nodes == ["b", ("a", 2)]
    assert arena.owner.tolist() == [True, False]
    assert arena.priority.tolist() == [4, 1]
    assert edges(arena) == [(0, 1, 5), (0, 1, 7), (1, 0, -1)]
    back = interop.networkx.from_arena(arena)
    assert dict(back.nodes(data="priority")) == {0: 4, 1: 1}
    del graph.nodes["b"]["priority"]
    with pytest.raises(ValueError, match="node number 0 has no attribute 'priority'"):
        interop.networkx.to_arena(graph, owner="owner", priority="priority", weight="w")
    with pytest.raises(ValueError, match="edge number 0 has no attribute 'weight'"):
        interop.networkx.to_arena(graph, weight="weight")
    graph.add_node("c")
    with pytest.raises(ValueError, match="vertex 2 has no successor"):
        interop.networkx.to_arena(graph, dead_ends="error")


@few
@hypothesis.given(graphs())
def test_igraph(arena):
    needs("igraph")
    graph = interop.igraph.from_arena(arena.pad(16, 32))
    assert (graph.vcount(), graph.ecount()) == arena.shape
    plain = sorted(zip(arena.src.tolist(), arena.dst.tolist(), strict=True))
    weight = None if arena.weight is None else "weight"
    again = interop.igraph.to_arena(graph, owner="owner", weight=weight)
    assert sorted(zip(again.src.tolist(), again.dst.tolist(), strict=True)) == plain
    assert edges(again) == edges(arena)
    assert again.owner.tolist() == arena.owner.tolist()
    assert owned(graph.vs["owner"]).tolist() == arena.owner.tolist()
    if arena.weight is not None:
        assert graph.es["weight"] == arena.weight.tolist()


@few
@hypothesis.given(graphs())
def test_rustworkx(arena):
    needs("rustworkx")
    graph = interop.rustworkx.from_arena(arena.pad(16, 32))
    weight = None if arena.weight is None else "weight"
    again, nodes = interop.rustworkx.to_arena(graph, owner="owner", weight=weight)
    assert nodes.tolist() == list(range(arena.shape[0]))
    assert edges(again) == edges(arena)
    assert again.owner.tolist() == arena.owner.tolist()
    plain = sorted(zip(arena.src.tolist(), arena.dst.tolist(), strict=True))
    assert sorted(zip(again.src.tolist(), again.dst.tolist(), strict=True)) == plain
    owners = [payload["owner"] for payload in graph.nodes()]
    assert owned(owners).tolist() == arena.owner.tolist()
    if arena.weight is not None:
        found = [(u, v, data["weight"]) for u, v, data in graph.weighted_edge_list()]
        assert sorted(found) == edges(arena)


def game() -> Arena:
    return Arena.from_edges(
        [0, 1, 1], [1, 0, 1], owner=[1, 0], priority=[4, 1], weight=[5, -1, 7]
    )


@pytest.mark.parametrize("name", ["networkx", "igraph", "rustworkx"])
def test_games_there_and_back(name):
    needs(name)
    module = getattr(interop, name)
    graph = module.from_arena(game())
    taken = {"owner": "owner", "priority": "priority", "weight": "weight"}
    found = module.to_arena(graph, **taken, dead_ends="error")
    again = found if name == "igraph" else found[0]
    assert edges(again) == edges(game())
    assert again.owner.tolist() == game().owner.tolist()
    assert again.priority.tolist() == game().priority.tolist()
    nodes = "vertices" if name == "igraph" else "nodes"
    for left in taken:
        fewer = {key: value for key, value in taken.items() if key != left}
        of = "edges" if left == "weight" else nodes
        with pytest.warns(UserWarning, match=f"of {of} are left out: '{left}'; "):
            module.to_arena(graph, **fewer)


def test_names_there_and_back():
    nx = needs("networkx")
    graph = nx.DiGraph([("a", ("b", 2)), (("b", 2), "a")])
    arena, nodes = interop.networkx.to_arena(graph)
    back = interop.networkx.from_arena(arena, nodes)
    assert (list(back), list(back.edges)) == (list(graph), list(graph.edges))
    for wrong in (["a"], ["a", "a"], ["a", "b", "c"]):
        with pytest.raises(ValueError, match="expected 2 different nodes"):
            interop.networkx.from_arena(arena, wrong)


def test_names_of_igraph():
    needs("igraph")
    graph = interop.igraph.from_arena(game(), names=["x", "y"])
    assert graph.vs["name"] == ["x", "y"]
    taken = {"owner": "owner", "priority": "priority"}
    # No warning: names keep their places.
    interop.igraph.to_arena(graph, **taken, weight="weight")
    del graph.es["weight"]
    with pytest.raises(ValueError, match="edge number 0 has no attribute 'weight'"):
        interop.igraph.to_arena(graph, **taken, weight="weight")


def test_payloads_of_rustworkx():
    rustworkx = needs("rustworkx")
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from([3, 4])
    graph.add_edges_from([(0, 1, 7), (1, 0, 8)])
    arena, _ = interop.rustworkx.to_arena(graph, priority=int, weight=lambda x: x - 1)
    assert (arena.priority.tolist(), edges(arena)) == ([3, 4], [(0, 1, 6), (1, 0, 7)])
    with pytest.warns(UserWarning, match="attributes of edges are left out: 'payload'"):
        interop.rustworkx.to_arena(graph)
    with pytest.raises(ValueError, match="node number 0 has no attribute 'owner'"):
        interop.rustworkx.to_arena(graph, owner="owner", weight=int)


def test_weights_of_edges_without_direction():
    igraph = needs("igraph")
    graph = igraph.Graph([(0, 1), (1, 1)])
    graph.es["w"] = [4, 5]
    arena = interop.igraph.to_arena(graph, weight="w")
    assert edges(arena) == [(0, 1, 4), (1, 0, 4), (1, 1, 5)]


def test_rustworkx_after_a_node_is_removed():
    rustworkx = needs("rustworkx")
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from("abcd")
    graph.add_edges_from_no_data([(0, 3), (3, 2), (1, 0)])
    graph.remove_node(1)
    arena, nodes = interop.rustworkx.to_arena(graph)
    assert nodes.tolist() == [0, 2, 3]
    assert edges(arena) == [(0, 2, 0), (2, 1, 0)]


def test_edges_without_direction():
    expected = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 1, 0)]
    pairs = [(0, 1), (2, 1), (0, 0)]
    found = {}
    if importlib.util.find_spec("networkx"):
        nx = needs("networkx")
        for kind in (nx.Graph, nx.MultiGraph):
            graph = kind()
            graph.add_nodes_from(range(3))
            graph.add_edges_from(pairs)
            found[kind] = interop.networkx.to_arena(graph)[0]
    if importlib.util.find_spec("igraph"):
        graph = needs("igraph").Graph(pairs)
        found["igraph"] = interop.igraph.to_arena(graph)
    if importlib.util.find_spec("rustworkx"):
        graph = needs("rustworkx").PyGraph()
        graph.add_nodes_from(range(3))
        graph.add_edges_from_no_data(pairs)
        found["rustworkx"] = interop.rustworkx.to_arena(graph)[0]
    if not found:
        pytest.skip("neither networkx nor igraph nor rustworkx is installed")
    for name, arena in found.items():
        assert edges(arena) == expected, name


@few
@hypothesis.given(graphs(weight=False))
def test_scipy(arena):
    sparse = needs("scipy.sparse")
    matrix = interop.scipy.from_arena(arena.pad(16, 32))
    expected = np.zeros((arena.shape[0],) * 2, int)
    np.add.at(expected, (arena.src, arena.dst), 1)
    assert np.array_equal(matrix.toarray(), expected)
    again = interop.scipy.to_arena(matrix, weights=True)
    assert edges(again) == [
        (u, v, int(expected[u, v])) for u, v in np.argwhere(expected).tolist()
    ]
    # Duplicates and zeros that are stored stay edges, in any form.
    ones = np.zeros(arena.shape[1], int)
    coo = sparse.coo_array((ones, (arena.src, arena.dst)), expected.shape)
    csr = sparse.csr_array((ones, arena.dst, arena.row_ptr), expected.shape)
    assert edges(interop.scipy.to_arena(csr)) == edges(arena)
    assert edges(interop.scipy.to_arena(coo)) == edges(arena)


@few
@hypothesis.given(graphs())
def test_scipy_keeps_what_coordinates_name_twice(arena):
    """Scipy adds it up: parallel edges would become one, of all their weights."""
    sparse = needs("scipy.sparse")
    order = np.random.default_rng(0).permutation(arena.shape[1])
    ends = arena.src[order], arena.dst[order]
    values = np.arange(arena.shape[1]) if arena.weight is None else arena.weight
    arena = dataclasses.replace(arena, weight=values)
    coo = sparse.coo_array((values[order], ends), (arena.shape[0],) * 2)
    again = interop.scipy.to_arena(coo, weights=True)
    assert edges(again) == edges(arena)
    plain = dataclasses.replace(arena, weight=None)
    assert edges(graph.as_arena(coo)) == edges(plain)
    assert graph.verify(arena, graph.scc(coo))


def test_scipy_refused():
    sparse = needs("scipy.sparse")
    with pytest.raises(ValueError, match="square matrix, got 2 rows and 3 columns"):
        interop.scipy.to_arena(sparse.csr_array((2, 3)))
    with pytest.raises(ValueError, match="expected a sparse matrix, got ndarray"):
        interop.scipy.to_arena(np.eye(2))
    with pytest.raises(ValueError, match="weight must hold signed integers"):
        interop.scipy.to_arena(sparse.csr_array([[0.5]]), weights=True)
    with pytest.raises(ValueError, match="a matrix with 2 columns, one for each state"):
        interop.scipy.to_mdp(sparse.csr_array((2, 3)), [0, 1, 2])
    with pytest.raises(ValueError, match="choice 1 .* has no branches"):
        interop.scipy.to_mdp(sparse.csr_array([[1, 0], [0, 0]]), [0, 1, 2])


def test_scipy_models():
    needs("scipy.sparse")
    arrays = [0, 2, 3], [0, 2, 3, 5], [1, 0, 1, 0, 0], [0.25, 0.75, 1, 0.5, 0.5]
    model = MDP.from_arrays(*arrays, initial=[1])
    matrix, groups = interop.scipy.from_mdp(model)
    assert matrix.toarray().tolist() == [[0.75, 0.25], [0, 1], [1, 0]]
    again = interop.scipy.to_mdp(matrix, groups, initial=[1])
    assert again.row_group_offsets.tolist() == [0, 2, 3]
    assert again.columns.tolist() == [0, 1, 1, 0]
    assert again.initial.tolist() == [1]
    with pytest.raises(ValueError, match="without padding"):
        interop.scipy.from_mdp(model.pad(8, 8, 8))
    with pytest.raises(ValueError, match="this has none"):
        interop.scipy.from_mdp(MDP.from_arrays(*arrays[:3]))


@pytest.mark.parametrize(
    "name", ["networkx", "igraph", "rustworkx", "scipy", "stormpy"]
)
def test_a_package_that_is_missing_is_named(monkeypatch, name):
    for loaded in [key for key in sys.modules if key.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, name, None)
    arena = Arena.from_edges([0], [0], owner=[0])
    model = MDP.from_arrays([0, 1], [0, 1], [0], [1])
    module = getattr(interop, name)
    call = module.from_mdp if name == "stormpy" else module.from_arena
    message = rf"the package {name}, which is not installed: pip install {name} "
    with pytest.raises(ImportError, match=message):
        call(model if name == "stormpy" else arena)


def test_nothing_is_imported_before_it_is_needed():
    code = "import sys, jaxgames.interop; print(*sys.modules)"
    root = os.path.dirname(os.path.dirname(jaxgames.__file__))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"networkx", "igraph", "rustworkx", "stormpy"}
