"""The suite `load`: text files of every format, from the disk's cache to a value.

Files are written by our own writers. A value that was read is `verified` if its arrays
are those of the value that was written. The first call, which may compile, is not among
the runs: `first_call_s`.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.run import Options
from benchmarks.schema import Results, Row
from jaxgames import Arena, Status, generate, io
from jaxgames.ltl import Automaton
from jaxgames.mdp import MDP
from jaxgames.systems import System

SUITE = "load"

COMPRESSIONS = (".gz", ".bz2", ".xz")

LABELS = 300
"""Different labels of a transition system."""


class File(NamedTuple):
    """A file that is read.

    Attributes:
        suffix: tells the format.
        size: vertices or states.
        small: the same, where only is seen whether all works.
    """

    suffix: str
    size: int
    small: int = 1000

    @property
    def name(self) -> str:
        """As in the results."""
        return f"{self.suffix} {self.size:,}"


FILES = (
    File(".pg", 10**7),
    *(File(".pg", 10**power) for power in (3, 4, 5, 6)),
    *(File(f".pg{packing}", 10**6) for packing in COMPRESSIONS),
    *(File(suffix, 10**6) for suffix in (".aut", ".mtx", ".kripke", ".tra", ".drn")),
    File(".aut.gz", 10**6),
    File(".hoa", 200_000),
    *(File(suffix, 10**6) for suffix in (".energy", ".mpg")),
)


def run(options: Options, results: Results) -> None:
    """Adds a row for each file."""
    for file in FILES:
        group = file.suffix.split(".")[1]
        if options.wants_game(file.name, group):
            size = file.small if options.small else file.size
            results.put([_row(file, size, group, options)])
            options.keep(results)


def _row(file: File, size: int, group: str, options: Options) -> Row:
    value = MAKERS[group](size)
    path = options.scratch / f"file{file.suffix}"
    io.save(path, value)
    text = path
    if file.suffix.endswith(COMPRESSIONS):
        text = options.scratch / f"file.{group}"
        io.save(text, value)
    start = time.perf_counter()
    found = io.load(path)
    first_call_s = time.perf_counter() - start
    verified = same(found, value)
    del found
    runs, cpu = [], []
    for _ in range(options.runs):
        start, work = time.perf_counter(), time.process_time()
        io.load(path)
        runs.append(time.perf_counter() - start)
        cpu.append(time.process_time() - work)
    lengths = {"file_bytes": _length(path), "text_bytes": _length(text)}
    for each in options.scratch.glob("file*"):
        each.unlink()
    vertices, edges = shape(value)
    return Row(
        game=file.name,
        vertices=vertices,
        edges=edges,
        experiment=group,
        solver="io.load",
        load_s=statistics.median(runs),
        load_runs=runs,
        load_cpu_s=statistics.median(cpu),
        first_call_s=first_call_s,
        verified=verified,
        status=Status.SOLVED.name,
        **lengths,
    )


def _length(path: Path) -> int:
    return path.stat().st_size


# ---- values ------------------------------------------------------------------------


def _game(size: int) -> Arena:
    return generate.random_game(1, size)


def _graph(size: int) -> Arena:
    game = _game(size)
    owner = np.zeros(size, bool)
    return Arena.from_csr(game.row_ptr, game.dst, owner=owner)


def _weighted(size: int) -> Arena:
    return generate.random_energy_game(1, size)


def _transitions(size: int) -> io.LTS:
    game = _game(size)
    label = np.random.default_rng(1).integers(0, LABELS, game.shape[1])
    names = [f"action({number})" for number in range(LABELS)]
    return io.LTS.from_arrays(game.src, label, game.dst, names, size)


def _system(size: int) -> System:
    game = _game(size)
    holds = np.random.default_rng(1).random((3, size)) < 0.2
    labels = dict(zip(("wait", "try", "cs"), holds, strict=True))
    return System.from_graph((game.row_ptr, game.dst), labels)


def _model(size: int) -> MDP:
    return generate.random_mdp(1, size)


def _automaton(size: int) -> Automaton:
    game = _game(size)
    rng = np.random.default_rng(1)
    must, never = rng.integers(0, 16, (2, game.shape[1]))
    guards = [[(a, b & ~a)] for a, b in zip(must.tolist(), never.tolist(), strict=True)]
    return Automaton.from_edges(
        game.src,
        guards,
        game.dst,
        num_states=size,
        propositions=tuple("pqrs"),
        sets=rng.random((2, game.shape[1])) < 0.3,
    )


MAKERS: dict[str, Callable[[int], Any]] = {
    "pg": _game,
    "aut": _transitions,
    "mtx": _graph,
    "kripke": _system,
    "tra": _model,
    "drn": _model,
    "hoa": _automaton,
    "energy": _weighted,
    "mpg": _weighted,
}


def shape(value: Any) -> tuple[int, int]:
    """Vertices and edges, or what takes their place."""
    if isinstance(value, io.LTS):
        value = value.arena
    if isinstance(value, Arena):
        return value.shape
    if isinstance(value, MDP):
        return value.num_states, value.num_branches
    return value.num_states, len(value.targets)


def same(found: Any, value: Any) -> bool:
    """Whether a value that was read is the one that was written."""
    return all(
        np.array_equal(x, y)
        for x, y in zip(_arrays(found), _arrays(value), strict=True)
    )


def _arrays(value: Any) -> list[np.ndarray]:
    """All that a file has to hold."""
    if isinstance(value, io.LTS):  # labels are numbered as they appear
        return [
            value.arena.row_ptr,
            value.arena.dst,
            np.array(value.names)[value.label],
        ]
    names = {
        Arena: ("row_ptr", "dst", "owner", "priority", "weight"),
        System: ("offsets", "targets", "labels", "initial"),
        MDP: ("row_group_offsets", "row_offsets", "columns", "probs"),
        Automaton: ("offsets", "targets", "required", "forbidden", "sets"),
    }[type(value)]
    return [np.asarray(getattr(value, name)) for name in names]
