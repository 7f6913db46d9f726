"""Decomposes by a Python package, in a process of its own that only has that to do.

    python -m benchmarks.package_calls NAME FOLDER REPEATS SECONDS [whole]

FOLDER holds a graph (`indptr.npy`, `indices.npy`, perhaps `accepting.npy`) or a model
(`model.umb`). The answer goes to `answer.npy` there: components in our numbering, or
whether there is an accepting cycle. The times are printed as JSON: `parse_s`, from the
arrays or the file to the package's own object, and `runs`. A first run that warms up is
left out, if there are others; no run is begun after SECONDS. With `whole` every run
begins with arrays in memory: then `parse_s` is a part of each.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Call = Callable[[], Any]
"""What is timed: gives the package's own answer."""

Answer = Callable[[Any], np.ndarray]
"""Labels, or whether there is a cycle, from the package's own answer."""

Converted = tuple[Call, Answer]


def canonical(labels: np.ndarray) -> np.ndarray:
    """Labels numbered anew, in order of their first places; -1 stays."""
    found, first, which = np.unique(labels, return_index=True, return_inverse=True)
    first = np.where(found == -1, -1, first)
    rank = np.empty(len(found), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(found), dtype=np.int32)
    return rank[which] - np.int32(-1 in found)


def _graph(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    return np.load(folder / "indptr.npy"), np.load(folder / "indices.npy")


def _once(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows without repeats: of those scipy's search does not come to an end."""
    from scipy.sparse import csr_array

    size = len(indptr) - 1
    ones = np.ones(len(indices), bool)
    matrix = csr_array((ones, indices, indptr), shape=(size, size), copy=True)
    matrix.sum_duplicates()
    return matrix.indptr, matrix.indices


def _scipy(folder: Path) -> Callable[[], Converted]:
    from scipy.sparse import csgraph, csr_array

    indptr, indices = _once(*_graph(folder))

    def convert() -> Converted:
        size = len(indptr) - 1
        ones = np.ones(len(indices), np.int8)
        matrix = csr_array((ones, indices, indptr), shape=(size, size))
        return (
            lambda: csgraph.connected_components(matrix, connection="strong"),
            lambda found: canonical(found[1]),
        )

    return convert


def _scipy_cycle(folder: Path) -> Callable[[], Converted]:
    """Components, then a test: does one that has a cycle have an accepting vertex?"""
    from scipy.sparse import csgraph, csr_array

    indptr, indices = _once(*_graph(folder))
    accepting = np.load(folder / "accepting.npy")

    def convert() -> Converted:
        size = len(indptr) - 1
        ones = np.ones(len(indices), bool)
        matrix = csr_array((ones, indices, indptr), shape=(size, size))

        def exists() -> bool:
            count, label = csgraph.connected_components(matrix, connection="strong")
            cyclic = np.bincount(label, minlength=count) > 1
            cyclic[label[matrix.diagonal()]] = True
            return bool(cyclic[label[accepting]].any())

        return exists, lambda found: np.array([found])

    return convert


def _igraph(folder: Path) -> Callable[[], Converted]:
    import igraph

    indptr, indices = _graph(folder)

    def convert() -> Converted:
        tails = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        ends = np.stack([tails, indices], axis=1).astype(np.int64)
        graph = igraph.Graph(len(indptr) - 1, ends, directed=True)
        return (
            lambda: graph.connected_components(mode="strong"),
            lambda found: canonical(np.asarray(found.membership, np.int32)),
        )

    return convert


def _rustworkx(folder: Path) -> Callable[[], Converted]:
    import rustworkx

    indptr, indices = _graph(folder)

    def convert() -> Converted:
        size = len(indptr) - 1
        tails = np.repeat(np.arange(size), np.diff(indptr))
        graph = rustworkx.PyDiGraph()
        graph.add_nodes_from(range(size))
        graph.extend_from_edge_list(
            list(zip(tails.tolist(), indices.tolist(), strict=True))
        )

        def labels(found) -> np.ndarray:
            answer = np.empty(size, np.int32)
            for number, members in enumerate(found):
                answer[members] = number
            return canonical(answer)

        return lambda: rustworkx.strongly_connected_components(graph), labels

    return convert


def _stormpy(folder: Path) -> Callable[[], Converted]:
    import stormpy

    def convert() -> Converted:
        model = stormpy.build_model_from_umb(str(folder / "model.umb"))

        def labels(found) -> np.ndarray:
            answer = np.full(model.nr_states, -1, np.int32)
            for number, component in enumerate(found):
                if component.size == model.nr_states:
                    answer[:] = number  # saves a long loop
                else:
                    answer[[state for state, _ in component]] = number
            return canonical(answer)

        return lambda: stormpy.analysis.get_maximal_end_components(model), labels

    return convert


CALLS: dict[str, Callable[[Path], Callable[[], Converted]]] = {
    "scipy": _scipy,
    "scipy ltl": _scipy_cycle,
    "igraph": _igraph,
    "rustworkx": _rustworkx,
    "stormpy": _stormpy,
}
"""By name: imports the package, reads what has not to be timed, and gives the function
that converts it.
"""


def decompose(
    name: str, folder: Path, repeats: int, seconds: float, whole: bool = False
) -> dict:
    """Converts, decomposes some times, and writes the answer.

    Args:
        name: one of `CALLS`.
        folder: with the graph or model; takes the answer.
        repeats: timed runs, at most.
        seconds: no run is begun after as many.
        whole: whether each run converts as well.

    Returns:
        The times.
    """
    convert = CALLS[name](folder)
    began = time.perf_counter()
    call, labels = convert()
    parse_s = time.perf_counter() - began
    runs: list[float] = []
    found = None
    while len(runs) <= repeats and time.perf_counter() - began < seconds or not runs:
        del found
        start = time.perf_counter()
        if whole:
            call, labels = convert()
        found = call()
        runs.append(time.perf_counter() - start)
    np.save(folder / "answer.npy", labels(found))
    return {"parse_s": parse_s, "runs": runs[1:] or runs}


if __name__ == "__main__":
    told = decompose(
        *(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])),
        whole="whole" in sys.argv[5:],
    )
    print(json.dumps(told))
