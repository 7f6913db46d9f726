"""The suite `calls`: what a user waits for, from numpy arrays to numpy arrays.

A call begins with arrays in memory and ends with the answer as numpy arrays. Each call
that is timed builds what it solves anew, so that nothing that was kept from an earlier
one helps it, but for programs that were compiled. Its parts are timed apart.
"""

import functools
import gc
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.experimental.compilation_cache import compilation_cache

from benchmarks import call_inputs, energy, graph, ltl, mdp
from benchmarks.call_inputs import Arrays, Input
from benchmarks.decompositions import HOST, Judge, Problem
from benchmarks.entrants import COMPILE_S
from benchmarks.libraries import Library
from benchmarks.peers import side_by_side
from benchmarks.run import Options
from benchmarks.schema import Results, Row
from jaxgames import Arena, Status, buchi, drive, ops, parity
from jaxgames import graph as graph_slice
from jaxgames.mdp import MDP
from jaxgames.progress import Deadline

SEED, OTHER = 1, 2
"""Of the input that is measured, and of another one of the same size."""

AT_ONCE = 0.1
"""Seconds up to which calls follow each other at once, as those of a peer do. After a
search for garbage nothing is in the caches: a longer call hardly feels that."""

LONG = 3.0
"""Seconds from which a call is repeated `FEW` times only."""

FEW = 3


class Kind(NamedTuple):
    """How a group of inputs is called.

    Attributes:
        problem: how it is solved, verified and compared.
        build: makes of arrays what the front door takes: with all checks.
        solvers: on the device, beside `"auto"` and the host engine.
        results: the arrays that are the answer.
        uploaded: arrays that a device needs, as narrow as they can be.
        size: vertices and edges, or states, branches and choices.
        keeps: as `build`, where what the front door takes keeps nothing: what is timed
            in parts. Sending arrays may be part of this.
    """

    problem: Problem
    build: Callable[[Arrays], Any]
    solvers: tuple[str, ...]
    results: Callable[[Any], tuple[Any, ...]]
    uploaded: Mapping[str, Any]
    size: Callable[[Arrays], dict[str, int]]
    keeps: Callable[[Arrays], Any] | None = None


def _shape(arrays: Arrays) -> dict[str, int]:
    return {"vertices": len(arrays["indptr"]) - 1, "edges": len(arrays["indices"])}


def _model_shape(arrays: Arrays) -> dict[str, int]:
    return {
        "vertices": len(arrays["row_group_offsets"]) - 1,
        "edges": len(arrays["columns"]),
        "choices": len(arrays["row_offsets"]) - 1,
    }


def _game(arrays: Arrays) -> Arena:
    labels = {x: y for x, y in arrays.items() if x not in ("indptr", "indices")}
    return Arena.from_csr(arrays["indptr"], arrays["indices"], **labels)


def _graph(indptr: np.ndarray, indices: np.ndarray) -> Arena:
    """A graph that keeps what is made of it, where it is solved."""
    if jax.default_backend() == "cpu":
        return graph_slice.as_arena((indptr, indices))
    sent = (ops.joined(ops.send(x.astype(np.int32))) for x in (indptr, indices))
    return graph_slice.as_arena(tuple(sent))


def _question(arrays: Arrays) -> Any:
    return buchi.prepare(
        (arrays["indptr"], arrays["indices"]),
        accepting=arrays["accepting"],
        initial=arrays["initial"],
        partition=(arrays["states"], arrays["edges"]),
    )


def _is_right(arena: Arena, found: parity.Solution) -> bool:
    """Whether winners are right, by their strategies."""
    winner, strategy = np.asarray(found.winner), np.asarray(found.strategy)
    claim = parity.Solution(found.status, winner=winner, strategy=strategy)
    return bool(parity.verify(arena, claim, "components"))


_PARITY = Problem(
    suite="parity",
    solvers={},
    decompose=parity.solve,
    answer=lambda found: (found.winner,),
    verify=_is_right,
    bytes_per_round=lambda given, found: None,
)

_ROWS = {"indptr": np.int32, "indices": np.int32}

KINDS: Mapping[str, Kind] = {
    call_inputs.PARITY: Kind(
        _PARITY,
        _game,
        ("promotion",),
        lambda found: (found.winner, found.strategy),
        {**_ROWS, "owner": bool, "priority": np.int32},
        _shape,
    ),
    call_inputs.COMPONENTS: Kind(
        graph.PROBLEM,
        lambda arrays: (arrays["indptr"], arrays["indices"]),
        ("max_id",),
        lambda found: (found.labels,),
        _ROWS,
        _shape,
        keeps=lambda arrays: _graph(arrays["indptr"], arrays["indices"]),
    ),
    call_inputs.END_COMPONENTS: Kind(
        mdp.PROBLEM,
        lambda arrays: MDP.from_arrays(**arrays),
        ("interleaved",),
        lambda found: (found.state_label, found.choice_kept),
        {"row_group_offsets": np.int32, "row_offsets": np.int32, "columns": np.int32},
        _model_shape,
    ),
    call_inputs.CYCLES: Kind(
        ltl.CYCLES,
        _question,
        ("map",),
        lambda found: (found.exists, found.witness),
        {**_ROWS, "accepting": bool, "states": np.int32},
        _shape,
    ),
    call_inputs.ENERGY: Kind(
        energy.CREDITS,
        _game,
        ("fvi",),
        lambda found: (found.credit, found.winner, found.strategy),
        {**_ROWS, "owner": bool, "weight": np.int32},
        _shape,
    ),
}
"""By group of inputs."""


def run(options: Options, results: Results) -> None:
    """Adds a row for every input and solver, and for every peer."""
    gc.freeze()  # what is there stays: looking through it takes longer than a call
    on_cpu = jax.default_backend() == "cpu"
    warm: set[str] = set()
    for each in call_inputs.chosen(options, on_cpu):
        kind = KINDS[each.group]
        if each.group not in warm:  # numba loads its functions once a process
            _warm_up(kind, each.group)
            warm.add(each.group)
        _measure(kind, each, options, results, on_cpu)
        options.keep(results)


def forget_programs() -> None:
    """Lets a first call compile: nothing is left in memory, nor read from a disk."""
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()
    jax.clear_caches()


def _warm_up(kind: Kind, group: str) -> None:
    (tiny,) = [each for each in call_inputs.SMALL if each.group == group]
    given = kind.build(tiny.make(SEED))
    kind.problem.decompose(given, HOST)


def _measure(
    kind: Kind, each: Input, options: Options, results: Results, on_cpu: bool
) -> None:
    began = time.perf_counter()
    arrays = each.make(SEED)
    about = {
        "game": each.name,
        "experiment": each.group,
        "generate_s": time.perf_counter() - began,
        **kind.size(arrays),
    }
    other = each.make(OTHER) if each.varies else None
    given = (kind.keeps or kind.build)(arrays)
    judge = Judge(kind.problem, given)
    names = [HOST, "auto"] if on_cpu else [HOST, "auto", *kind.solvers]
    # Those of the device are measured on a CPU where they are asked for.
    names += [x for x in kind.solvers if x in options.solvers and x not in names]
    for name in filter(options.wants, names):
        row, found = row_of(kind, about, name, arrays, other, options)
        if found is not None and found.status == Status.SOLVED:
            row.verified = judge(found)
            if not row.verified:
                raise AssertionError(f"{each.name}: the answer of {name} is wrong")
        print(f"{each.name}: {name}: {row.status}, {row.call_s} s a call", flush=True)
        results.put([row])
    if judge.answer is None:
        return
    peers = [
        *(options.peers if each.group == call_inputs.PARITY else ()),
        *(
            x.from_arrays() if isinstance(x, Library) else x
            for x in options.libraries
            if x.solves == kind.problem.suite
        ),
    ]
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        rows = side_by_side(
            *(each.name, given, judge.answer[0], peers),
            time_limit_s=options.peer_time_limit_s,
            repeats=options.peer_runs,
            folder=Path(folder),
        )
    results.put([], rows)


# ---- one solver on one input -----------------------------------------------------


class Timed(NamedTuple):
    """A solution, and the seconds of what led to it."""

    solution: Any
    seconds: float


def row_of(
    kind: Kind,
    about: dict[str, Any],
    solver: str,
    arrays: Arrays,
    other: Arrays | None,
    options: Options,
) -> tuple[Row, Any]:
    """Measures calls of a solver, and their parts.

    Args:
        kind: how it is called.
        about: what is known of the row.
        solver: its name.
        arrays: the input.
        other: another input of the same size; None where there is none.
        options: how to measure.

    Returns:
        The row, and the solution; None where there is none.
    """
    row = functools.partial(Row, **about, solver=solver)
    limit = options.time_limit_s
    try:
        forget_programs()
        first = call(kind, solver, arrays, limit + COMPILE_S)
        if first.solution.status != Status.SOLVED:
            status = Status(int(first.solution.status)).name
            return row(status=status, first_call_s=first.seconds), first.solution
        again = call(kind, solver, arrays, limit)
        if again.solution.status != Status.SOLVED:
            return row(status="TIMEOUT", first_call_s=first.seconds), again.solution
        most = options.runs if again.seconds < LONG else min(FEW, options.runs)
        whole = [again.seconds]
        while len(whole) < most:
            whole.append(call(kind, solver, arrays, last=whole[-1]).seconds)
        others = None if other is None else call(kind, solver, other).seconds
        parts = parts_of(kind, solver, arrays, min(FEW, options.runs), whole[-1])
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return row(status="OUT_OF_MEMORY"), None
    solution = again.solution
    call_s = statistics.median(whole)
    engine = solution.stats.get("solver")
    if engine == HOST:
        parts |= {"upload_s": None, "layout_s": parts["prepare_s"]}
    count, exists = (getattr(solution, x, None) for x in ("count", "exists"))
    return (
        row(
            status="SOLVED",
            engine=engine,
            layout=solution.stats.get("layout"),
            call_s=call_s,
            call_runs=whole,
            first_call_s=first.seconds,
            other_call_s=others,
            compile_s=max(0.0, first.seconds - call_s),
            components=None if count is None else int(count),
            exists=None if exists is None else bool(exists),
            **parts,
        ),
        solution,
    )


def call(
    kind: Kind,
    solver: str,
    arrays: Arrays,
    time_limit_s: float = math.inf,
    last: float = math.inf,
) -> Timed:
    """Times a call, from arrays to arrays, on something that is built anew.

    Args:
        kind: how it is called.
        solver: its name.
        arrays: the input.
        time_limit_s: of the solve.
        last: seconds that the call before it took, if it was the same.
    """
    _wait(last)
    began = time.perf_counter()
    found = _solve(kind, solver, kind.build(arrays), time_limit_s)
    for array in kind.results(found):
        np.asarray(array)
    return Timed(found, time.perf_counter() - began)


def _wait(last: float) -> None:
    """Waits for what still uses the machine."""
    drive.wait_for_losers()
    if last > AT_ONCE:
        gc.collect()


def _solve(kind: Kind, solver: str, given: Any, time_limit_s: float = math.inf) -> Any:
    deadline = None if math.isinf(time_limit_s) else Deadline(time_limit_s)
    return kind.problem.decompose(given, solver, throw=False, progress=deadline)


def parts_of(
    kind: Kind, solver: str, arrays: Arrays, repeats: int, last: float
) -> dict[str, float | list[float] | None]:
    """Times the parts of a call, each several times: see `schema.Row`.

    What a solve takes longer on something that was built anew than on something that
    was solved before is preparing it: uploading, and laying out.

    Args:
        kind: how it is called.
        solver: its name.
        arrays: the input.
        repeats: how often each part is timed.
        last: seconds that the call before took.
    """
    built, fresh, solves, results = [], [], [], []
    for _ in range(repeats):
        _wait(last)
        began = time.perf_counter()
        given = (kind.keeps or kind.build)(arrays)
        built.append(time.perf_counter() - began)
        fresh.append(_until_ready(kind, solver, given)[1])
        drive.wait_for_losers()
        found, seconds = _until_ready(kind, solver, given)
        solves.append(seconds)
        began = time.perf_counter()
        for array in kind.results(found):
            np.asarray(array)
        results.append(time.perf_counter() - began)
    solve_s = statistics.median(solves)
    prepare_s = max(0.0, statistics.median(fresh) - solve_s)
    upload_s = statistics.median(_upload(kind, arrays) for _ in range(repeats))
    return {
        "arena_s": statistics.median(built),
        "prepare_s": prepare_s,
        "upload_s": upload_s,
        "layout_s": max(0.0, prepare_s - upload_s),
        "solve_s": solve_s,
        "solve_runs": solves,
        "results_s": statistics.median(results),
    }


def _until_ready(kind: Kind, solver: str, given: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    found = _solve(kind, solver, given)
    jax.block_until_ready(kind.results(found))
    return found, time.perf_counter() - began


def _upload(kind: Kind, arrays: Arrays) -> float:
    """Seconds that the input's own arrays take to the device, and nothing else."""
    narrow = [arrays[name].astype(dtype) for name, dtype in kind.uploaded.items()]
    began = time.perf_counter()
    jax.block_until_ready(jax.device_put(narrow))
    return time.perf_counter() - began
