"""The suite `start`: whole processes on small inputs, in CPU seconds of all cores.

Each command runs as a user would type it. `call_s` is the median of several processes,
`first_call_s` the first one of all, with empty folders for what numba and JAX keep.
With an accelerator there are large games, too, timed by the clock on the wall.
"""

import dataclasses
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from benchmarks.peers import Oink
from benchmarks.run import Options
from benchmarks.schema import Results, Row
from jaxgames import Arena, Status, generate, io, systems

SUITE = "start"

ELAPSED = "elapsed"
"""The experiment of processes that are timed by the clock on the wall."""

NUMPY = "python -c import numpy"
"""What others are held against."""


class Command(NamedTuple):
    """A process that is timed.

    Attributes:
        name: as in the results.
        arguments: of jaxgames; or of Python, if the name begins with it.
        exit_code: with which it must end.
        peer: a program of others that is timed where it is on the PATH.
        experiment: `SUITE`, or `ELAPSED`.
    """

    name: str
    arguments: tuple[str, ...]
    exit_code: int = 0
    peer: str | None = None
    experiment: str = SUITE


def _of(line: str, exit_code: int = 0) -> Command:
    return Command(f"jaxgames {line}", tuple(line.split()), exit_code)


COMMANDS = (
    Command(NUMPY, ("-c", "import numpy")),
    Command("python -c import jax", ("-c", "import jax")),
    Command("python -c import jaxgames", ("-c", "import jaxgames")),
    _of("--version"),
    _of("--help"),
    _of("solvers"),
    _of("solve nothing.pg", 2),
    _of("solve tiny.pg --verify"),
    Command("oink tiny.pg", ("tiny.pg",), peer="oink"),
    _of("solve small.pg --verify"),
    Command("oink small.pg", ("small.pg",), peer="oink"),
    _of("solve middle.pg --verify"),
    Command("oink middle.pg", ("middle.pg",), peer="oink"),
    _of("energy game.energy --verify"),
    _of("scc graph.mtx --verify"),
    _of("mec model.drn --verify"),
    _of("check table.kripke --ltl F(a) --verify", 1),
    _of("equiv lts.aut 0 1"),
    _of("info small.pg"),
    _of("meanpayoff game.energy --verify"),
    _of("discounted game.energy --discount 9/10 --verify"),
    _of("energyparity game.eparity --verify"),
    _of("probability model.drn --to 0 --verify"),
    _of("mdp model.drn --props list.props --verify"),
    _of("synth --ltl G(r->F(g)) --ins r --verify", 10),
    _of("explore light.py:successors"),
)


LOOP = 'for file; do timeout {limit} oink --{solver} "$file" >/dev/null || exit; done'
"""A peer takes one file at a time: what a shell does for a folder of them."""


def run(options: Options, results: Results) -> None:
    """Adds a row for each command whose program is there."""
    folder = options.scratch / "start"
    folder.mkdir()
    _make_files(folder, options.small)
    for command in (*COMMANDS, *_of_folders(options), *_of_large(options)):
        program = _program(command)
        if program is not None and options.wants_game(command.name, SUITE):
            results.put([_row(command, program, folder, options.runs)])
            options.keep(results)
    shutil.rmtree(folder)


def _of_folders(options: Options) -> list[Command]:
    """All games of a folder, by one process of ours and by a loop over a peer."""
    if options.corpus is None:
        return []
    files = sorted(map(str, options.corpus.resolve().glob("*/*.gz")))
    ours = Command(
        f"jaxgames solve --jsonl, {len(files)} files", ("solve", *files, "--jsonl")
    )
    limit = options.peer_time_limit_s
    return [
        ours,
        *(
            Command(
                f"a loop of oink --{solver}, {len(files)} files",
                ("-c", LOOP.format(limit=limit, solver=solver), "sh", *files),
                peer="oink",
            )
            for peer in options.peers
            if isinstance(peer, Oink)
            for solver in peer.solvers
        ),
    ]


def _of_large(options: Options) -> list[Command]:
    """Large games, solved and written by ours and by a peer."""
    on_cpu, found = jax.default_backend() == "cpu", []
    for game in LARGE:
        ours = Command(
            f"jaxgames solve {game} -o x.sol",
            ("solve", game, "-o", "x.sol"),
            experiment=ELAPSED,
        )
        others = [
            Command(
                f"oink {game} --{solver} -o x.sol",
                (game, *f"--{solver}".split(), "-o", "x.sol"),
                peer="oink",
                experiment=ELAPSED,
            )
            for peer in options.peers
            if isinstance(peer, Oink)
            for solver in peer.solvers
        ]
        wanted = options.wants_game(ours.name, ELAPSED)
        if wanted and not (on_cpu and not options.chosen) and not options.small:
            found += [ours, *others]
    return found


def _row(command: Command, program: list[str], folder: Path, runs: int) -> Row:
    kept = folder / "kept"
    kept.mkdir()
    caches = {"NUMBA_CACHE_DIR": str(kept / "numba"), "XDG_CACHE_HOME": str(kept)}
    dropped = ("JAX_COMPILATION_CACHE_DIR", "PYTHONDONTWRITEBYTECODE")
    environment = {k: v for k, v in os.environ.items() if k not in dropped} | caches

    if command.experiment == ELAPSED:
        for name in set(command.arguments) & set(LARGE):
            if not (folder / name).exists():
                io.save(folder / name, LARGE[name]())

    def seconds() -> tuple[float, int]:
        began = time.perf_counter()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [*program, *command.arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
        )
        if command.experiment == ELAPSED:
            return time.perf_counter() - began, done.returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        return spent, done.returncode

    first, code = seconds()
    codes, times = {code}, []
    for _ in range(runs):
        spent, code = seconds()
        times.append(spent)
        codes.add(code)
    shutil.rmtree(kept)
    vertices, edges = _sizes(folder, command)
    return Row(
        game=command.name,
        vertices=vertices,
        edges=edges,
        experiment=command.experiment,
        solver="process",
        call_s=statistics.median(times),
        call_runs=times,
        first_call_s=first,
        verified=codes == {command.exit_code},
        status=Status.SOLVED.name,
    )


def _program(command: Command) -> list[str] | None:
    if command.peer is not None:
        found = shutil.which(command.peer)
        if found is not None and command.arguments[0] == "-c":
            return ["sh"]
        return None if found is None else [found]
    if command.name.startswith("python"):
        return [sys.executable]
    return [sys.executable, "-m", "jaxgames"]


# ---- inputs ------------------------------------------------------------------------


def _system() -> systems.System:
    graph = generate.random_game(1, 300)
    labels = {"a": [False] * 300, "b": [True] * 300}
    return systems.System.from_graph((graph.row_ptr, graph.dst), labels)


def _lts() -> io.LTS:
    return io.LTS.from_arrays([0, 1, 1, 2], [0, 1, 0, 1], [1, 0, 2, 2], ["a", "b"], 3)


def _energy_parity() -> Arena:
    game = generate.random_energy_game(1, 200)
    priority = np.arange(200, dtype=np.int32) % 5
    return dataclasses.replace(game, priority=priority)


LIGHT = """
initial, ranges = [0], [2]
propositions = {"on": lambda states: states[:, 0] == 1}


def successors(states):
    xp = states.__array_namespace__()
    return (1 - states)[:, None], xp.ones((len(states), 1), bool)
"""

MAKERS: dict[str, Callable] = {
    "tiny.pg": lambda size: generate.elevator(3),
    "small.pg": lambda size: generate.random_game(1, 2000, num_priorities=8),
    "middle.pg": lambda size: generate.random_game(1, size, num_priorities=8),
    "game.energy": lambda size: generate.random_energy_game(1, 500),
    "game.eparity": lambda size: _energy_parity(),
    "graph.mtx": lambda size: generate.random_game(1, 1000),
    "model.drn": lambda size: generate.random_mdp(1, 300),
    "table.kripke": lambda size: _system(),
    "lts.aut": lambda size: _lts(),
}

LARGE: dict[str, Callable[[], Arena]] = {
    "elevator7.pg": lambda: generate.elevator(7, fair=False),
    "random6.pg": lambda: generate.random_game(
        1, 10**6, num_priorities=4, max_degree=4
    ),
    "random7.pg": lambda: generate.random_game(
        1, 10**7, num_priorities=16, max_degree=4
    ),
}

MIDDLE = 100_000
"""Vertices of the game for which machine code pays."""


def _make_files(folder: Path, small: bool) -> None:
    for name, make in MAKERS.items():
        value = make(1000 if small else MIDDLE)
        if name.endswith(".mtx"):  # a matrix has no labels
            nobody = value.owner & False
            value = type(value).from_csr(value.row_ptr, value.dst, owner=nobody)
        io.save(folder / name, value)
    (folder / "light.py").write_text(LIGHT)
    (folder / "list.props").write_text("Pmax=? [ F<=9 (true) ]\n")


def _sizes(folder: Path, command: Command) -> tuple[int, int]:
    """How large the input of a command is; nothing where it has none."""
    names = [name for name in command.arguments if name in MAKERS or name in LARGE]
    if not names:
        return 0, 0
    value = io.load(folder / names[0])
    if isinstance(value, io.LTS):
        value = value.arena
    if hasattr(value, "shape"):
        return value.shape
    if hasattr(value, "num_branches"):
        return value.num_states, value.num_branches
    return value.num_states, len(value.targets)
