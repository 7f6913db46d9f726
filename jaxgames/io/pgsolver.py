"""Parity games and their solutions as PGSolver's text.

A game is a list of vertices, after a header with the largest identifier, which may be
left out:

    parity 2;
    0 3 0 1,2;
    1 2 1 0 "a name";
    2 0 1 2;

A vertex has an identifier, a priority, an owner (0 for Even, 1 for Odd), successors
and perhaps a name. Any white space may stand between these, a name may hold anything
but quotes, and vertices may come in any order, but all identifiers from 0 to the
largest must be there. After the header, `start 0;` may tell where plays start; it is
ignored.

A solution has a line for each vertex that is won: its identifier, the winner, and if
its owner wins the successor to go to:

    paritysol 2;
    0 0 2;
    1 0;
    2 0;

References:
    O. Friedmann, M. Lange: The PGSolver Collection of Parity Game Solvers, version 3.
    University of Munich, 2009.
"""

import os
import warnings
from typing import Literal, Unpack

import numpy as np

from jaxgames.arena import MAX_PRIORITY, MAX_SIZE, Arena, Condition
from jaxgames.io import _names
from jaxgames.io._files import FilePath, FormatError
from jaxgames.io._statements import Grammar, Statements, write
from jaxgames.limits import Bounds, limited
from jaxgames.parity import Solution
from jaxgames.solution import NO_EDGE, UNDECIDED, Status

_GAME = Grammar(
    "parity", {"identifier": MAX_SIZE - 1, "priority": MAX_PRIORITY, "owner": 1}
)
_SOLUTION = Grammar("paritysol", {"identifier": MAX_SIZE - 1, "winner": 1})


def load(
    path: FilePath,
    *,
    condition: Condition = "max even",
    dead_ends: Literal["error", "lose", "allow"] = "error",
) -> Arena:
    """Reads a parity game.

    Args:
        path: the file; decompressed if it ends in `.gz` or `.bz2`.
        condition: what the priorities in the file mean, as in
            [`Arena.from_edges`][jaxgames.Arena.from_edges].
        dead_ends: what to do with a vertex that has no successor, likewise.

    Raises:
        FormatError: the file does not hold a game.
        OSError: the file cannot be read.

    Warns:
        UserWarning: the header announces more vertices than there are, as it does in
            a file that was cut off.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "game.pg")
        >>> _ = path.write_text("parity 1; 0 3 0 0,1; 1 2 1 0;")
        >>> load(path)
        Arena(2 vertices, 3 edges, priority)
    """
    game = _vertices(path)
    vertex, priority, owner = game.fields
    if dead_ends == "error" and not game.all_list:
        stuck = int(np.argmin(game.degree))
        game.refuse(
            stuck,
            f"vertex {vertex[stuck]} has no successor; pass dead_ends='lose' if its "
            "owner loses there",
        )
    row_ptr, targets = game.row_ptr, game.targets
    if not game.ascend:
        order, degree = np.argsort(vertex), game.degree
        targets = targets[np.argsort(np.repeat(vertex, degree), kind="stable")]
        priority, owner = priority[order], owner[order]
        row_ptr = np.concatenate([[0], np.cumsum(degree[order])])
    return Arena.from_csr(
        row_ptr,
        targets,
        owner=owner,
        priority=priority,
        condition=condition,
        dead_ends=dead_ends,
    )


def names(path: FilePath, arena: Arena | None = None) -> list[str | None]:
    """Reads the names of a game's vertices, None for those without.

    Args:
        path: the file.
        arena: the game in it; None to read that too, to know that the file is right.

    Raises:
        FormatError: the file does not hold a game.
        OSError: the file cannot be read.
    """
    count = len(_vertices(path).degree) if arena is None else int(arena.num_vertices)
    return _names.read(path, count)


def save(
    path: FilePath,
    arena: Arena,
    *,
    condition: Condition = "max even",
    names: _names.Names | None = None,
) -> None:
    """Writes a parity game; padding is left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`
            or `.bz2`.
        arena: the game.
        condition: what the priorities in the file shall mean. Under another condition
            than max even they are other numbers; read back, they may all have grown
            by an even number.
        names: a name for each vertex, or None for one without.

    Raises:
        ValueError: the arena has no vertices or no priorities, or has other labels,
            which this format cannot hold; or a name has a quote in it.
        OSError: the file cannot be written.
    """
    arena = arena.unpad()
    if arena.priority is None or not len(arena.priority):
        raise ValueError(
            "a parity game has vertices with priorities, this one has none"
        )
    for label in ("edge_priority", "weight", "accepting"):
        if getattr(arena, label) is not None:
            raise ValueError(f"PGSolver's format cannot hold {label}; .npz can")
    priority = restated(arena, condition)
    vertex = np.arange(len(priority), dtype=np.int32)
    fields = np.stack([vertex, priority, arena.owner])
    names = _names.check(names, len(vertex))
    write(path, f"parity {vertex[-1]};", fields, arena.row_ptr, arena.dst, names)


def restated(arena: Arena, condition: Condition) -> np.ndarray:
    """The priorities of vertices that mean the same under another condition."""
    # Restating priorities under another condition and back changes nothing that
    # matters, so that one function serves both ways.
    return Arena.from_csr(
        arena.row_ptr,
        arena.dst,
        owner=arena.owner,
        priority=arena.priority,
        condition=condition,
        dead_ends="allow",
    ).priority


@limited()
def load_solution(path: FilePath, arena: Arena, **bounds: Unpack[Bounds]) -> Solution:
    """Reads the solution of a parity game, and does not check whether it is right.

    Args:
        path: the file; decompressed if it ends in `.gz` or `.bz2`.
        arena: the game.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        The solution. Vertices that the file leaves out are undecided. The strategy's
        edges are the first ones that lead to the successors in the file.

    Raises:
        FormatError: the file does not hold a solution of this game.
        OSError: the file cannot be read.
    """
    solution = Statements(path, _SOLUTION)
    vertex, won_by = solution.fields
    num_vertices = int(arena.num_vertices)

    def refuse_any(bad: np.ndarray, why: str):
        if bad.any():
            index = int(np.argmax(bad))
            solution.refuse(index, f"vertex {vertex[index]} {why}")

    refuse_any(
        vertex >= num_vertices, f"is not in the game, which has {num_vertices} vertices"
    )
    refuse_any(_repeated(solution), "occurs twice")
    degree = solution.degree
    moves = degree > 0
    refuse_any(degree > 1, "has more than one successor")
    refuse_any(
        moves & (arena.owner[vertex] != won_by),
        "has a successor, but is not won by its owner",
    )
    size = arena.shape[0]
    winner = np.full(size, UNDECIDED, np.int8)
    winner[vertex] = won_by
    successor = np.full(size, NO_EDGE, np.int32)
    successor[vertex[moves]] = solution.targets
    # Backwards, so that of parallel edges the first is written last.
    edge = np.flatnonzero(arena.dst == successor[arena.src])[::-1]
    strategy = np.full(size, NO_EDGE, np.int32)
    strategy[arena.src[edge]] = edge
    refuse_any(moves & (strategy[vertex] == NO_EDGE), "has no edge to its successor")
    decided = not np.any(winner[:num_vertices] == UNDECIDED)
    status = Status.SOLVED if decided else Status.INTERRUPTED
    return Solution(status, winner=winner, strategy=strategy)


@limited()
def save_solution(
    path: FilePath, arena: Arena, solution: Solution, **bounds: Unpack[Bounds]
) -> None:
    """Writes the solution of a parity game; undecided vertices are left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`
            or `.bz2`.
        arena: the game.
        solution: its solution.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the solution has not one entry for each vertex.
        OSError: the file cannot be written.
    """
    winner, strategy = np.asarray(solution.winner), np.asarray(solution.strategy)
    for name, array in (("winner", winner), ("strategy", strategy)):
        if array.shape != arena.owner.shape:
            raise ValueError(
                f"{name} must have one entry for each vertex, shape "
                f"{arena.owner.shape}, got {array.shape}"
            )
    num_vertices = int(arena.num_vertices)
    vertex = np.flatnonzero(winner[:num_vertices] != UNDECIDED)
    winner, strategy = winner[vertex], strategy[vertex]
    moves = (winner == arena.owner[vertex]) & (strategy != NO_EDGE)
    write(
        path,
        f"paritysol {num_vertices - 1};",
        np.stack([vertex, winner]),
        np.concatenate([[0], np.cumsum(moves)]),
        arena.dst[strategy[moves]],
    )


# ---- checks -----------------------------------------------------------------


def _vertices(path: FilePath) -> Statements:
    """Reads a game's vertices and checks that their identifiers make sense."""
    game = Statements(path, _GAME)
    vertex = game.fields[0]
    size = len(vertex)
    if not size:
        raise FormatError(path, None, "there are no vertices after the header")
    if game.header is not None and vertex.max() > game.header:
        index = int(np.argmax(vertex > game.header))
        game.refuse(
            index,
            f"vertex {vertex[index]} is larger than the header's largest, "
            f"{game.header}",
        )
    repeated = _repeated(game)
    if repeated.any():
        index = int(np.argmax(repeated))
        game.refuse(index, f"vertex {vertex[index]} occurs twice")
    dense = vertex.max() == size - 1
    if not dense or game.largest >= size:
        _check_targets(game)
    if not dense:
        missing = int(np.argmax(np.sort(vertex) != np.arange(size)))
        raise FormatError(
            path,
            None,
            f"vertex {missing} is missing: identifiers must go from 0 to the largest, "
            f"here {vertex.max()}, without gaps",
        )
    # Some writers put the number of vertices there.
    if game.header is not None and game.header > size:
        warnings.warn(
            f"{os.fspath(path)}: the header announces vertices up to {game.header}, "
            f"but the last is {size - 1}; was the file cut off?",
            stacklevel=3,
        )
    return game


def _check_targets(game: Statements) -> None:
    """Refuses a successor that has no statement."""
    vertex = game.fields[0]
    known = np.isin(game.targets, vertex)
    if not known.all():
        edge = int(np.argmin(known))
        index = int(np.searchsorted(game.row_ptr, edge, side="right")) - 1
        game.refuse(
            index,
            f"vertex {vertex[index]} has successor {game.targets[edge]}, which is not "
            "in the file",
        )


def _repeated(statements: Statements) -> np.ndarray:
    """Which statements are of a vertex that had one before: bool."""
    vertex = statements.fields[0]
    repeated = np.zeros(len(vertex), bool)
    if statements.ascend:
        return repeated  # as in most files
    order = np.argsort(vertex, kind="stable")
    repeated[order[1:]] = vertex[order[1:]] == vertex[order[:-1]]
    return repeated
