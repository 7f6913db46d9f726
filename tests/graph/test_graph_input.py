"""Graphs in every form, and clear words about those that are none."""

import jax
import numpy as np
import pytest

from jaxgames import Arena, graph

INDPTR, INDICES = np.array([0, 2, 2, 3], np.int32), np.array([1, 2, 2], np.int32)


def test_an_arena_stays_what_it_is():
    arena = Arena.from_csr(INDPTR, INDICES, owner=[0, 1, 0], dead_ends="allow")
    assert graph.as_arena(arena) is arena


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.uint64])
def test_pairs_of_any_integers(dtype):
    arena = graph.as_arena((INDPTR.astype(dtype), INDICES.astype(dtype)))
    assert arena.row_ptr.tolist() == INDPTR.tolist()
    assert arena.dst.tolist() == INDICES.tolist()
    assert arena.src.tolist() == [0, 0, 2]
    assert {x.dtype for x in (arena.row_ptr, arena.dst, arena.src)} == {np.dtype("i4")}
    assert not arena.owner.any()


def test_what_is_read_only_is_not_copied():
    whole = graph.as_arena((INDPTR, INDICES))
    arena = graph.as_arena((whole.row_ptr, whole.dst))
    assert arena.row_ptr is whole.row_ptr
    assert arena.dst is whole.dst


def test_lists_and_device_arrays():
    for pair in (
        [INDPTR.tolist(), INDICES.tolist()],
        (jax.numpy.asarray(INDPTR), jax.numpy.asarray(INDICES)),
    ):
        assert graph.as_arena(pair).successors(0).tolist() == [1, 2]


@pytest.mark.parametrize("size", [0, 1, 4])
def test_no_edges(size):
    assert graph.as_arena(([0] * (size + 1), [])).shape == (size, 0)


class Sparse:
    """What has the methods of a sparse matrix that are needed."""

    def __init__(self, indptr, indices, shape):
        self.indptr, self.indices, self.shape = indptr, indices, shape

    def tocsr(self):
        return self


def test_a_sparse_matrix():
    matrix = Sparse(INDPTR, INDICES, (3, 3))
    assert graph.as_arena(matrix).successors(2).tolist() == [2]
    with pytest.raises(ValueError, match="square.* got 3 rows and 4 columns"):
        graph.as_arena(Sparse(INDPTR, INDICES, (3, 4)))


def test_sparse_matrices_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    entries = (np.ones(4), ([0, 0, 2, 2], [1, 2, 2, 2]))
    for matrix in (
        sparse.coo_array(entries, (3, 3)),
        sparse.csr_matrix((np.zeros(3), INDICES, INDPTR)),  # stored zeros are edges
        sparse.csc_array(entries, (3, 3)),
        sparse.bsr_array(sparse.csr_array(entries, (3, 3))),
    ):
        arena = graph.as_arena(matrix)
        assert set(zip(arena.src, arena.dst, strict=True)) >= {(0, 1), (0, 2), (2, 2)}
    with pytest.raises(ValueError, match="square"):
        graph.as_arena(sparse.csr_array((2, 3)))


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 2, 2], [1, 2], r"indices\[1\] is 2 \(an edge from vertex 0\).* 0 to 1"),
        ([0, 1, 1, 2], [1, -1], r"indices\[1\] is -1 \(an edge from vertex 2\)"),
        ([0, 1], [2**40], r"indices\[0\] is 1099511627776"),
        ([0, 2, 1, 2], [0, 0], r"indptr\[2\] is 1.* vertex 1 end before they begin"),
        ([1, 2], [0, 0], r"indptr\[0\] is 1, expected 0"),
        ([0, 1, 3], [0, 0], r"indptr\[2\] is 3, .* number of edges, which is 2"),
        ([], [], "indptr is empty"),
        ([0, 1], [0.5], "indices must hold integers, got float64"),
        ([[0], [1]], [0], r"indptr must have one dimension, got shape \(2, 1\)"),
        ([0, 1], [[0]], r"indices must have one dimension, got shape \(1, 1\)"),
        (3, [0], r"indptr must have one dimension, got shape \(\)"),
        ([[0], [1, 2]], [0], "indptr is not an array"),
    ],
)
def test_what_is_wrong_is_named(indptr, indices, message):
    with pytest.raises(ValueError, match=message):
        graph.as_arena((indptr, indices))


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("graph", "got str of length 5"),
        (np.eye(3), r"got ndarray of shape \(3, 3\)"),
        (7, "got int"),
        (([0], [], []), "got tuple of length 3"),
    ],
)
def test_what_is_no_graph(thing, message):
    with pytest.raises(ValueError, match=message):
        graph.as_arena(thing)


def test_traced_pairs_are_refused():
    with pytest.raises(ValueError, match="traced by jax: call as_arena outside"):
        jax.jit(lambda indptr: graph.reachable((indptr, INDICES), [0]))(INDPTR)


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ({"vertices": np.ones(2, bool)}, r"one boolean for each vertex \(3\), got"),
        ({"edges": np.ones(4, bool)}, r"one boolean for each edge \(3\), got"),
        ({"vertices": [0, 1, 1]}, "vertices must hold booleans, got int64"),
    ],
)
def test_masks_are_checked(masks, message):
    with pytest.raises(ValueError, match=message):
        graph.reachable((INDPTR, INDICES), [0], **masks)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([0, 3], r"sources\[1\] is 3, expected a vertex from 0 to 2"),
        (-1, r"sources\[0\] is -1"),
        ([0.5], "sources must hold booleans, or vertices by number, got float64"),
        ([[0]], r"of shape \(1, 1\)"),
        (np.ones(2, bool), r"one boolean for each vertex \(3\)"),
    ],
)
def test_sources_are_checked(sources, message):
    with pytest.raises(ValueError, match=message):
        graph.reachable((INDPTR, INDICES), sources)
