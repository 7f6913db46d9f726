"""Answers in files, as commands write them, and what checks each kind.

What checks a kind is imported when there is an answer of that kind.
"""

import argparse
import dataclasses
import itertools
import json
from collections.abc import Callable
from typing import IO, Any, NamedTuple

import numpy as np

from jaxgames import archive, io
from jaxgames.arena import Arena
from jaxgames.io import _limits
from jaxgames.io._errors import FormatError
from jaxgames.io._files import reading
from jaxgames.quoting import clipped, quoted
from jaxgames.solution import NO_EDGE, SolveError, Status

PER_BYTE = 64
"""Bytes that reading a text takes for each of its bytes, about."""

ZIP = b"PK\x03\x04"


class Answer(NamedTuple):
    """What a file says.

    Attributes:
        path: the file.
        arrays: what it holds, by name; of a text with one number on each line `column`.
        first_line: of a text, the line of the first vertex; 0 for an archive.
    """

    path: str
    arrays: dict[str, np.ndarray]
    first_line: int

    def fail(self, why: str, row: int | None = None) -> FormatError:
        """An error of this file, at some row."""
        line = self.first_line + row if self.first_line and row is not None else None
        return FormatError(self.path, line, why)


def read(path: str) -> Answer | None:
    """Reads an answer; None if it is a solution of a parity game, or empty.

    Raises:
        FormatError: it is none that a command has written.
        OSError: it cannot be read.
    """
    with reading(path, PER_BYTE) as file:
        start = file.read(4)
        file.seek(0)
        if start == ZIP:
            return Answer(path, _archive(path, file), 0)
        if start[:1] == b"{":
            return Answer(path, _lasso_in(path, file), 0)
        line = file.readline(1 << 10).decode(errors="replace").strip()
        if line.startswith("#"):
            return Answer(path, _table(path, line, file), 2)
        if not line.lstrip("-").isdigit():
            return None
        file.seek(0)
        return Answer(path, {"column": _rows(path, file, 1, 1)[:, 0]}, 1)


def _archive(path: str, file: IO[bytes]) -> dict[str, np.ndarray]:
    try:
        return archive.read(
            file, None, lambda size: _limits.check(path, None, "the arrays", size)
        )
    except archive.ArchiveError as error:
        if isinstance(error.__cause__, FormatError):
            raise error.__cause__ from None
        raise FormatError(path, None, f"broken .npz archive: {error}") from error


def _table(path: str, heading: str, file: IO[bytes]) -> dict[str, np.ndarray]:
    """The columns of a text with a heading."""
    names = heading.removeprefix("#").split()
    if names[:1] == ["vertex"] and len(names) > 1:
        rows = _rows(path, file, 2, len(names))
        wrong = np.flatnonzero(rows[:, 0] != np.arange(len(rows)))
        if len(wrong):
            why = f"expected vertex {wrong[0]}, found {rows[wrong[0], 0]}"
            raise FormatError(path, 2 + int(wrong[0]), why)
        return dict(zip(names[1:], rows[:, 1:].T, strict=True))
    if names[:1] == ["vertex,"]:
        rows = _rows(path, file, 2, None)
        return {"vertex": rows[:, 0], "points": rows[:, 1:]}
    raise FormatError(path, 1, f"no command writes such a heading: {quoted(heading)}")


def _lasso_in(path: str, file: IO[bytes]) -> dict[str, np.ndarray]:
    """The vertices of a lasso, and the states where it is of a system."""
    try:
        found = json.loads(file.read())
        steps = {part: found[part] for part in ("prefix", "cycle")}
        arrays = {
            part: _integers([step["vertex"] for step in steps[part]]) for part in steps
        }
        if all("state" in step for part in steps.values() for step in part):
            for part in steps:
                states = [step["state"] for step in steps[part]]
                arrays[f"{part}_state"] = _integers(states)
    except (ValueError, KeyError, TypeError) as error:
        why = "expected a lasso, as check --lasso writes it to .json"
        raise FormatError(path, getattr(error, "lineno", None), why) from error
    return arrays


def _integers(numbers: list) -> np.ndarray:
    if not all(type(number) is int for number in numbers):
        raise ValueError("expected integers")
    return np.array(numbers, object)


def _rows(path: str, file: IO[bytes], line: int, width: int | None) -> np.ndarray:
    """The integers in a text, of any size: `[rows, width]`."""
    found = []
    for number in itertools.count(line):
        text = file.readline()
        if not text:
            break
        words = text.split()
        width = width or len(words)
        if len(words) != width:
            why = f"expected {width} numbers, found {len(words)}"
            raise FormatError(path, number, why)
        try:
            found.append([int(word) for word in words])
        except ValueError:
            shown = quoted(text.strip())
            raise FormatError(
                path, number, f"expected integers, found {shown}"
            ) from None
    return np.array(found, object).reshape(len(found), width or 1)


# ---- what checks them ------------------------------------------------------------


def check(args: argparse.Namespace, answer: Answer) -> tuple[str, dict[str, int], Any]:
    """Reads the game, the graph or the model that an answer is about, and checks it.

    Returns:
        What kind of answer it is, how large what it is about is, and the verdict.

    Raises:
        FormatError: one of the files is not what it should be.
        ValueError: nothing checks such an answer.
    """
    names = answer.arrays.keys()
    for needed, kind, checks in _KINDS:
        if needed <= names:
            sizes, verdict = checks(args, answer)
            return kind, sizes, verdict
    there = clipped(", ".join(sorted(names))) or "nothing"
    known = "; ".join(f"{kind} ({', '.join(sorted(x))})" for x, kind, _ in _KINDS)
    raise answer.fail(f"nothing checks an answer of {there}; what is checked: {known}")


def _energy(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import energy
    from jaxgames.cli import _weighted

    arena = _weighted.load_weighted(args)
    credit, winner = _of_vertices(answer, arena.shape[0], "credit", "winner")
    solution = energy.Solution(
        Status.SOLVED,
        credit=_narrow(credit, np.int64),
        winner=_narrow(winner, np.int8),
        strategy=_strategy(answer, arena),
    )
    if args.capacity is None:
        return _sizes(arena), _weighted.verify_credits(arena, solution)
    if len(args.capacity) != 1:
        raise ValueError("--capacity of an energy game is one number")
    verdict = energy.verify_with_capacity(arena, solution, args.capacity[0])
    return _sizes(arena), verdict


def _mean_payoff(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import meanpayoff
    from jaxgames.cli import _weighted

    arena = _weighted.load_weighted(args)
    num, den = _of_vertices(answer, arena.shape[0], "value_num", "value_den")
    solution = meanpayoff.Solution(
        Status.SOLVED,
        value_num=num,
        value_den=den,
        strategy=_strategy(answer, arena),
    )
    return _sizes(arena), meanpayoff.verify(arena, solution)


def _energy_parity(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import energyparity
    from jaxgames.cli import _energyparity

    arena = _energyparity.load_game(args)
    if args.threshold is not None:
        arena = energyparity.from_mean_payoff_parity(arena, args.threshold)
    winner, enough = _of_vertices(answer, arena.shape[0], "winner", "enough")
    strategy = _strategy(answer, arena)
    fields = [field.name for field in dataclasses.fields(energyparity.Modes)]
    missing = [name for name in fields if f"modes_{name}" not in answer.arrays]
    if strategy is None or missing:
        raise answer.fail(
            "there are no strategies of both players, which checking needs: write .npz"
        )
    modes = {name: answer.arrays[f"modes_{name}"] for name in fields}
    for name, array in modes.items():
        if array.dtype.kind == "U":  # what needs more than 64 bits
            (modes[name],) = _of_vertices(answer, len(array), f"modes_{name}")
    solution = energyparity.Solution(
        Status.SOLVED,
        winner=_narrow(winner, np.int8),
        strategy=strategy,
        credit=enough,
        modes=energyparity.Modes(**modes),
    )
    try:
        return _sizes(arena), energyparity.verify(arena, solution)
    except ValueError as error:
        raise answer.fail(str(error)) from error


def _machine(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import emersonlei
    from jaxgames.io import hoa_game

    game = hoa_game.load(args.file)
    (winner,) = _of_vertices(answer, game.shape[0], "winner")
    fields = [field.name for field in dataclasses.fields(emersonlei.Machine)]
    machine = emersonlei.Machine(**{name: answer.arrays[name] for name in fields})
    solution = emersonlei.Solution(
        Status.SOLVED, winner=_narrow(winner, np.int8), machine=machine
    )
    try:
        return _sizes(game.arena), emersonlei.verify(game, solution)
    except ValueError as error:
        raise answer.fail(str(error)) from error


def _discounted(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import discounted
    from jaxgames.cli import _weighted

    if args.discount is None:
        raise ValueError(
            "values were found with --discount: name the factor again, such as 9/10"
        )
    arena = _weighted.load_weighted(args)
    solution = discounted.Solution(
        Status.SOLVED,
        lower=answer.arrays["lower"],
        upper=answer.arrays["upper"],
        strategy=_strategy(answer, arena),
    )
    try:
        return _sizes(arena), discounted.verify(arena, args.discount, solution)
    except ValueError as error:
        raise answer.fail(str(error)) from error


def _buchi_game(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import buchi
    from jaxgames.cli import _buchi

    arena = _buchi.load_game(args)
    (winner,) = _of_vertices(answer, arena.shape[0], "winner")
    strategy = _strategy(answer, arena)
    if strategy is None:
        raise answer.fail("there are winners and no strategies, which checking needs")
    solution = buchi.Solution(
        Status.SOLVED, winner=_narrow(winner, np.int8), strategy=strategy
    )
    return _sizes(arena), buchi.verify(arena, solution)


def _budgets(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import multienergy
    from jaxgames.cli import _multienergy

    _allow_dead_ends(args)
    args.cap = args.capacity
    game = _multienergy.load(args)
    size = game.num_positions
    points = _narrow(answer.arrays["points"], np.int64)
    if "vertex" in answer.arrays:
        vertex = _narrow(answer.arrays["vertex"], np.int64)
        for wrong, why in (
            (
                (vertex < 0) | (vertex >= size),
                f"expected a vertex from 0 to {size - 1}",
            ),
            (np.diff(vertex, prepend=0) < 0, "vertices must ascend"),
        ):
            if wrong.any():
                raise answer.fail(why, int(np.argmax(wrong)))
        offsets = np.searchsorted(vertex, np.arange(size + 1))
    else:
        offsets = _narrow(answer.arrays["offsets"], np.int64)
    try:
        verdict = multienergy.verify(game, (offsets, points))
    except ValueError as error:
        raise answer.fail(str(error)) from error
    return {"vertices": size, "edges": game.num_edges}, verdict


def _components(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import graph
    from jaxgames.cli import _scc

    is_model = io.format_of(args.file, format=args.format) in ("umb", "drn", "tra")
    if is_model and "column" in answer.arrays:
        raise answer.fail(
            "of a model a text says not whether these are end components: write .npz"
        )
    _allow_dead_ends(args)
    arena, _ = _scc.load(args)
    name = "labels" if "labels" in answer.arrays else "column"
    (labels,) = _of_vertices(answer, arena.shape[0], name)
    labels = _narrow(labels, np.int32)
    count = np.asarray(answer.arrays.get("count", labels.max(initial=-1) + 1))
    if count.shape or count.dtype.kind not in "iu":
        raise answer.fail(f"count must be an integer, got {quoted(count)}")
    found = graph.Components(
        Status.SOLVED, count=_narrow(count, np.int32), labels=labels
    )
    return _sizes(arena), graph.verify(arena, found)


def _classes(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import equivalence

    lts = equivalence.load(args.file, format=args.format)
    (labels,) = _of_vertices(answer, lts.num_states, "labels")
    notion = str(answer.arrays["notion"])
    try:
        verdict = equivalence.verify(lts, _narrow(labels, np.int64), notion)
    except SolveError:
        raise
    except ValueError as error:
        raise answer.fail(str(error)) from error
    return {"states": lts.num_states, "transitions": lts.num_transitions}, verdict


def _end_components(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import mdp
    from jaxgames.cli import _mec

    model = _mec.load(args)
    (label,) = _of_vertices(answer, model.num_states, "state_label")
    kept = answer.arrays["choice_kept"]
    if kept.shape != (model.num_choices,) or kept.dtype != bool:
        raise answer.fail(
            f"choice_kept must be bool [{model.num_choices}], got {kept.dtype} "
            f"{list(kept.shape)}"
        )
    verdict = mdp.verify(model, (_narrow(label, np.int32), kept))
    return {"states": model.num_states, "choices": model.num_choices}, verdict


def _reached(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import graph
    from jaxgames.cli import _reach, _vertices

    if args.to is None and args.begin is None:
        raise ValueError(
            "what is reached was asked with --to, --from and --player: name them again"
        )
    _allow_dead_ends(args)
    arena, _ = _reach.load(args)
    (column,) = _of_vertices(answer, arena.shape[0], "reached")
    if not np.isin(column, (0, 1)).all():
        raise answer.fail("reached must be 0 or 1")
    mask = column.astype(bool)
    backward = args.to is not None
    option, text = ("--to", args.to) if backward else ("--from", args.begin)
    asked = _vertices.mask(option, text or "", arena.shape[0])
    if args.player is None:
        verdict = graph.verify_reachable(arena, mask, asked, backward=backward)
        return _sizes(arena), verdict
    if not backward or "rank" not in answer.arrays:
        raise answer.fail("an attractor needs --to, and ranks in the file")
    (rank,) = _of_vertices(answer, arena.shape[0], "rank")
    strategy = _strategy(answer, arena)
    if strategy is None:
        raise answer.fail("there are ranks and no successors, which checking needs")
    found = graph.Attractor(mask, strategy, _narrow(rank, np.int64))
    return _sizes(arena), graph.verify_attractor(arena, found, asked, args.player)


def _lasso(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import buchi, ltl, systems
    from jaxgames.cli import _systems

    if args.ltl is None and args.automaton is None:
        question = _systems.load_product(args)
        prefix, cycle = (
            _narrow(answer.arrays[part], np.int64) for part in ("prefix", "cycle")
        )
        lasso = buchi.Lasso(prefix, cycle)
        return _sizes(question.arena), buchi.verify(question, lasso)
    if "cycle_state" not in answer.arrays:
        raise answer.fail("its steps have no states: it is not the run of a system")
    if args.ltl is not None:
        try:
            violates = ltl.Formula.parse(args.ltl)
        except ValueError as error:
            raise ValueError(f"--ltl: {error}") from error
    else:
        violates = _systems.load_automaton(args.automaton)
    found = _systems.load(args)
    system = _systems.system_of(args, found, violates.propositions)
    prefix, cycle = (
        _narrow(answer.arrays[f"{part}_state"], np.int64)
        for part in ("prefix", "cycle")
    )
    deadlock = args.deadlock or "stutter"
    verdict = systems.verify_run(system, prefix, cycle, violates, deadlock=deadlock)
    sizes = {"states": system.num_states, "transitions": system.num_transitions}
    return sizes, verdict


_KINDS: tuple[tuple[set[str], str, Callable[[argparse.Namespace, Answer], Any]], ...]
_KINDS = (
    ({"credit", "winner"}, "energy game", _energy),
    ({"value_num", "value_den"}, "mean-payoff game", _mean_payoff),
    ({"enough", "winner"}, "energy parity game", _energy_parity),
    (
        {"winner", "vertex", "memory", "start", "row_ptr", "target", "move"},
        "game of marks",
        _machine,
    ),
    ({"lower", "upper", "successor"}, "discounted game", _discounted),
    ({"winner"}, "Büchi game", _buchi_game),
    ({"offsets", "points"}, "game of several energies", _budgets),
    ({"vertex", "points"}, "game of several energies", _budgets),
    ({"state_label", "choice_kept"}, "end components", _end_components),
    ({"prefix", "cycle"}, "lasso", _lasso),
    ({"reached"}, "what is reached", _reached),
    ({"labels", "notion"}, "classes", _classes),
    ({"labels"}, "components", _components),
    ({"column"}, "components", _components),
)
"""By the names in a file what it is an answer to, and what checks it."""


def _allow_dead_ends(args: argparse.Namespace) -> None:
    if args.dead_ends == "error":
        args.dead_ends = "allow"


def _sizes(arena: Arena) -> dict[str, int]:
    return {"vertices": int(arena.num_vertices), "edges": int(arena.num_edges)}


def _of_vertices(answer: Answer, size: int, *names: str) -> list[np.ndarray]:
    """Some columns: integers, one for each vertex."""
    found = []
    for name in names:
        column = answer.arrays[name]
        if column.shape != (size,):
            raise answer.fail(
                f"expected {name} of {size} vertices, found {list(column.shape)}"
            )
        if column.dtype.kind == "U":  # what needs more than 64 bits
            try:
                column = np.array([int(x) for x in column.tolist()], object)
            except ValueError:
                raise answer.fail(f"{name} must be integers") from None
        if column.dtype.kind not in "iubO":
            raise answer.fail(f"{name} must be integers, got {column.dtype}")
        found.append(column)
    return found


def _narrow(column: np.ndarray, dtype: Any) -> np.ndarray:
    """Integers in a type; what does not fit is as wrong as the largest that does."""
    if column.dtype.kind not in "iubO":
        raise ValueError(f"expected integers, got {column.dtype}")
    limits = np.iinfo(dtype)
    return np.clip(column, limits.min, limits.max).astype(dtype)


def _strategy(answer: Answer, arena: Arena) -> np.ndarray | None:
    """The edges that successors stand for: of several the best for who moves."""
    if "successor" not in answer.arrays:
        return None
    (column,) = _of_vertices(answer, arena.shape[0], "successor")
    successor = _narrow(column, np.int64)
    src, dst = np.asarray(arena.src), np.asarray(arena.dst)
    edge = np.flatnonzero(dst == successor[src])[::-1]
    if arena.weight is not None:
        gain = np.asarray(arena.weight)[edge]
        gain = np.where(np.asarray(arena.owner)[src[edge]], -gain, gain)
        edge = edge[np.argsort(gain, kind="stable")]
    strategy = np.full(arena.shape[0], NO_EDGE, np.int32)
    strategy[src[edge]] = edge  # the last of several stays
    lost = np.flatnonzero((successor != NO_EDGE) & (strategy == NO_EDGE))
    if len(lost):
        v = int(lost[0])
        why = f"no edge leads from vertex {v} to its successor {column[v]}"
        raise answer.fail(why, v)
    return strategy
