"""Other programs, run side by side with our solvers on the same machine.

A peer is used if its program is on the PATH and skipped with a reason if not. It is
run as its users run it, on files, and timed by its own clock.
"""

import functools
import hashlib
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from benchmarks.schema import PeerRow
from jaxgames import Arena
from jaxgames.io import pgsolver

TEXT = "game.pg"
"""Name of a game's file in PGSolver's format."""


class Run(NamedTuple):
    """What one run of a peer gave.

    Attributes:
        parse_s: to read the game.
        preprocess_s: to simplify it, or None if the peer does not tell.
        solve_s: to solve what is left.
        answer: int `[V]`, in the terms of our solution.
        runs: number of runs, if the times are medians.
    """

    parse_s: float | None
    preprocess_s: float | None
    solve_s: float
    answer: np.ndarray
    runs: int = 1


class PeerError(RuntimeError):
    """A peer gave no answer."""


class PeerSkipped(PeerError):
    """A peer was not asked, since it would take too long."""


class Peer(Protocol):
    """An adapter: what `side_by_side` needs of a peer."""

    name: str
    solvers: tuple[str, ...]

    def only(self, solvers: Iterable[str]) -> "Peer":
        """The same program with some of its solvers."""
        ...

    def absent(self) -> str | None:
        """Why the peer cannot be run here, or None if it can."""
        ...

    def version(self) -> str:
        """What tells this build of the program from others."""
        ...

    def save(self, folder: Path, arena: Any) -> Path:
        """Where the game lies in a format that the peer reads; writes it if need be."""
        ...

    def run(self, game: Path, arena: Any, solver: str, time_limit_s: float) -> Run:
        """Solves the game once.

        Raises:
            PeerError: it failed, or its output was not understood.
            subprocess.TimeoutExpired: it took longer than the limit.
        """
        ...


class Oink:
    """Oink, a collection of sequential parity game solvers in C++.

    T. van Dijk, TACAS 2018, <https://doi.org/10.1007/978-3-319-89960-2_16>.

    Attributes:
        solvers: options, without the leading dashes: `--no` leaves preprocessing out,
            `-w 0` uses all cores.
    """

    name = "oink"
    solvers: tuple[str, ...] = (
        "npp",
        "npp --no",
        "zlk",
        "zlk --no",
        "zlk -w 0",
        "tl",
        "tl --no",
        "fpi",
        "fpi --no",
        "fpi -w 0",
        "fpj",
        "psi",
        "spm",
        "tspm",
    )

    def __init__(self, solvers: tuple[str, ...] | None = None):
        """Takes all solvers, or some."""
        self.solvers = solvers or self.solvers

    def only(self, solvers: Iterable[str]) -> "Oink":
        """The same program with some of its solvers."""
        return type(self)(tuple(solvers))

    def absent(self) -> str | None:
        """Whether the program is missing."""
        return None if shutil.which("oink") else "there is no program oink on the PATH"

    def version(self) -> str:
        """What `OINK_COMMIT` says, and the start of the program's SHA-256.

        Oink does not tell its version: who built it knows the commit.
        """
        program = Path(shutil.which("oink") or "oink")
        digest = "sha256:" + hashlib.sha256(program.read_bytes()).hexdigest()[:12]
        return " ".join(filter(None, (os.environ.get("OINK_COMMIT"), digest)))

    def save(self, folder: Path, arena: Arena) -> Path:
        """Writes the game in PGSolver's format, unless that was done before."""
        path = folder / TEXT
        if not path.exists():
            pgsolver.save(path, arena)
        return path

    def run(self, game: Path, arena: Arena, solver: str, time_limit_s: float) -> Run:
        """Solves the game once and reads the times that Oink prints."""
        solution = game.with_suffix(".sol")
        done = subprocess.run(
            ["oink", str(game), str(solution), *f"--{solver}".split()],
            capture_output=True,
            text=True,
            timeout=time_limit_s,
        )
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            said = re.sub(r"^\[ *[\d.]+\] ", "", lines[-1]) if lines else "no message"
            raise PeerError(f"exit code {done.returncode}: {said}")

        def seconds(step: str) -> float | None:
            found = re.search(rf"\b{step} took ([\d.]+) sec", done.stdout)
            return float(found[1]) if found else None

        solve_s = seconds("solving")
        if solve_s is None and "solved by preprocessor" in done.stdout:
            solve_s = 0.0
        if solve_s is None:
            raise PeerError("its output does not tell how long solving took")
        try:
            answer = np.asarray(pgsolver.load_solution(solution, arena).winner)
        except ValueError:
            raise PeerError("its file holds no solution of the game") from None
        return Run(seconds("parsing"), seconds("preprocessing"), solve_s, answer)


PEERS: tuple[Peer, ...] = (Oink(),)


def side_by_side(
    game: str,
    arena: Any,
    answer,
    peers: Iterable[Peer] = PEERS,
    *,
    time_limit_s: float = 15.0,
    repeats: int = 3,
    folder: Path | None = None,
) -> list[PeerRow]:
    """Gives a game to every solver of every peer, and says how it goes.

    Args:
        game: name of the game.
        arena: the game, graph or model.
        answer: our own answer `[V]`, to which the peers' are compared.
        peers: the peers.
        time_limit_s: limit of each run, reading the game included; no run is begun
            after the runs before it took as long together.
        repeats: runs of each solver; the medians are kept.
        folder: where files of this very game lie or may be written.

    Returns:
        One row for each solver, and one for each peer that is absent.
    """
    answer = np.asarray(answer)
    if isinstance(arena, Arena):  # may be padded
        answer = answer[: int(arena.num_vertices)]
    rows = []
    for peer in peers:
        row = functools.partial(PeerRow, game=game, peer=peer.name)
        if reason := peer.absent():
            _tell_once(f"{peer.name}: skipped, {reason}")
            rows.append(row(status="absent", reason=reason))
            continue
        row = functools.partial(row, version=peer.version())
        with tempfile.TemporaryDirectory() as scratch:
            path = peer.save(folder or Path(scratch), arena)
            for solver in peer.solvers:
                try:
                    runs = _runs(peer, path, arena, solver, time_limit_s, repeats)
                except subprocess.TimeoutExpired:
                    reason = f"no answer within {time_limit_s:g} s"
                    rows.append(row(solver=solver, status="timeout", reason=reason))
                except PeerSkipped as error:
                    rows.append(row(solver=solver, status="skipped", reason=str(error)))
                except PeerError as error:
                    rows.append(row(solver=solver, status="error", reason=str(error)))
                else:
                    rows.append(
                        row(
                            solver=solver,
                            status="ok",
                            runs=sum(run.runs for run in runs),
                            parse_s=_median(run.parse_s for run in runs),
                            preprocess_s=_median(run.preprocess_s for run in runs),
                            solve_s=_median(run.solve_s for run in runs),
                            agrees=all(
                                np.array_equal(run.answer[: len(answer)], answer)
                                for run in runs
                            ),
                        )
                    )
                print(_describe(rows[-1]), flush=True)
    return rows


def _runs(peer, path, arena, solver, time_limit_s, repeats) -> list[Run]:
    runs = []
    start = time.perf_counter()
    while len(runs) < repeats and (
        not runs or time.perf_counter() - start < time_limit_s
    ):
        runs.append(peer.run(path, arena, solver, time_limit_s))
    return runs


def _median(times: Iterable[float | None]) -> float | None:
    known = [seconds for seconds in times if seconds is not None]
    return statistics.median(known) if known else None


def _describe(row: PeerRow) -> str:
    name = f"{row.game}: {row.peer} {row.solver}"
    if row.status != "ok":
        return f"{name}: {row.status}, {row.reason}"
    differs = "" if row.agrees else ", its answer DIFFERS from ours"
    return f"{name}: {row.total_s:.6f} s{differs}"


@functools.cache
def _tell_once(line: str):
    print(line, flush=True)
