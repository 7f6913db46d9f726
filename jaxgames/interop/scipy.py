"""Sparse matrices of scipy, as graphs or Markov decision processes, and back."""

from typing import Any

import numpy as np

from jaxgames.arena import Arena
from jaxgames.graph._input import stored
from jaxgames.interop._package import package
from jaxgames.mdp import MDP


def to_arena(matrix: Any, *, weights: bool = False) -> Arena:
    """Converts an adjacency matrix.

    Every entry that is stored is an edge from its row to its column, also where its
    value is zero, or where a list of coordinates (COO) names a place twice. O(V + E)
    for a matrix in CSR form.

    Args:
        matrix: a square sparse array or matrix of any form.
        weights: keep the values, which are integers, as weights.

    Returns:
        The graph; all its vertices belong to player 0, and some may be dead ends.

    Raises:
        ValueError: the matrix is not square, or its values are no integers.

    Examples:
        >>> from scipy import sparse
        >>> to_arena(sparse.csr_array([[0, 1], [1, 1]]))
        Arena(2 vertices, 3 edges)
    """
    _check_sparse(matrix)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            "expected a square matrix, got {} rows and {} columns".format(*matrix.shape)
        )
    indptr, indices, data = stored(matrix)
    return Arena.from_csr(
        indptr,
        indices,
        owner=np.zeros(matrix.shape[0], bool),
        weight=data if weights else None,
        dead_ends="allow",
    )


def from_arena(arena: Arena) -> Any:
    """Converts an arena to its adjacency matrix; padding is left out.

    Args:
        arena: any arena; its owners, priorities and weights are left out.

    Returns:
        A `scipy.sparse.csr_array` of integers: how many edges lead from a row to a
        column. It has no duplicate entries, on which some of scipy's functions never
        return.

    Raises:
        ImportError: scipy is not installed.

    Examples:
        >>> arena = Arena.from_edges([0, 0, 1], [1, 1, 0], owner=[0, 0])
        >>> from_arena(arena).toarray()
        array([[0, 2],
               [1, 0]], dtype=int32)
    """
    sparse = package("scipy.sparse")
    arena = arena.unpad()
    ones = np.ones(arena.shape[1], np.int32)
    shape = (arena.shape[0],) * 2
    matrix = sparse.csr_array((ones, arena.dst, arena.row_ptr), shape, copy=True)
    matrix.sum_duplicates()
    return matrix


def to_mdp(matrix: Any, row_group_offsets, **more) -> MDP:
    """Converts a matrix of probabilities, with a row for each choice.

    Args:
        matrix: a sparse array or matrix `[C, S]`; the probability that each choice
            leads to each state.
        row_group_offsets: integers `[S + 1]`, where the choices of each state start.
        more: initial states, labels and rewards, as in
            [`MDP.from_arrays`][jaxgames.mdp.MDP.from_arrays].

    Raises:
        ValueError: the matrix has not a column for each state, or as in `from_arrays`.

    Examples:
        >>> from scipy import sparse
        >>> to_mdp(sparse.csr_array([[0.5, 0.5], [0, 1], [0, 1]]), [0, 2, 3])
        MDP(2 states, 3 choices, 4 branches)
    """
    _check_sparse(matrix)
    matrix = matrix.tocsr()
    states = len(row_group_offsets) - 1
    if matrix.shape[1] != states:
        raise ValueError(
            f"expected a matrix with {states} columns, one for each state, got shape "
            f"{matrix.shape}"
        )
    return MDP.from_arrays(
        row_group_offsets, matrix.indptr, matrix.indices, matrix.data, **more
    )


def from_mdp(model: MDP) -> tuple[Any, np.ndarray]:
    """Converts a model to a matrix of probabilities.

    Args:
        model: a model with probabilities, without padding; its labels and rewards are
            left out.

    Returns:
        A `scipy.sparse.csr_array` `[C, S]` and the row group offsets `[S + 1]`.

    Raises:
        ValueError: the model has no probabilities.
        ImportError: scipy is not installed.

    Examples:
        >>> model = MDP.from_arrays([0, 1], [0, 2], [0, 0], [0.5, 0.5])
        >>> matrix, groups = from_mdp(model)
        >>> matrix.toarray(), groups
        (array([[1.]]), array([0, 1], dtype=int32))
    """
    sparse = package("scipy.sparse")
    if model.probs is None:
        raise ValueError("expected a model with probabilities, this has none")
    groups = np.asarray(model.row_group_offsets)
    if np.any(np.diff(groups) == 0) or groups[-1] != model.num_choices:
        raise ValueError("expected a model without padding")
    arrays = model.probs, model.columns, model.row_offsets
    matrix = sparse.csr_array(
        tuple(np.asarray(x) for x in arrays),
        (model.num_choices, model.num_states),
        copy=True,
    )
    matrix.sum_duplicates()
    return matrix, groups


def _check_sparse(matrix: Any) -> None:
    if not hasattr(matrix, "tocsr"):
        raise ValueError(f"expected a sparse matrix, got {type(matrix).__name__}")
