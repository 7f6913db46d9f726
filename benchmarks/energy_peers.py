"""Other programs that solve energy games, run beside ours where they are on the PATH.

All are built from their authors' sources, and give an answer only if they are built and
called so that they print it: `egsolver` may be built without its GPU part. Of
`solve-energy` the lines that tell what becomes of each vertex must be printed, even
where little else is; `solve-energy-alt` has `COMP_VARIANT=potential_fvi_alt` besides.
"""

import abc
import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.peers import PeerError, Run
from jaxgames import Arena, energy, io


class Program(abc.ABC):
    """What the adapters share.

    Attributes:
        name: of the program, as it is looked for.
        solves: which answer of ours its own is compared with.
        solvers: its options.
        suffix: of the files that it reads.
    """

    name: str
    solves: str
    solvers: tuple[str, ...]
    suffix: str

    def __init__(self, solvers: tuple[str, ...] | None = None):
        """Takes all solvers, or some."""
        self.solvers = solvers or self.solvers

    def only(self, solvers: Iterable[str]) -> "Program":
        """The same program with some of its solvers."""
        return type(self)(tuple(solvers))

    def absent(self) -> str | None:
        """Whether the program is missing."""
        found = shutil.which(self.name)
        return None if found else f"there is no program {self.name} on the PATH"

    def version(self) -> str:
        """Start of the program's SHA-256."""
        program = Path(shutil.which(self.name) or self.name)
        return "sha256:" + hashlib.sha256(program.read_bytes()).hexdigest()[:12]

    def save(self, folder: Path, arena: Arena) -> Path:
        """Writes the game in the program's format, unless that was done before."""
        path = folder / f"game{self.suffix}"
        if not path.exists():
            io.save(path, arena)
        return path

    @abc.abstractmethod
    def run(self, game: Path, arena: Arena, solver: str, time_limit_s: float) -> Run:
        """Solves the game once and reads what the program prints."""

    def _output(self, command: list[str], time_limit_s: float) -> str:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=time_limit_s
        )
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            said = lines[-1] if lines else "no message"
            raise PeerError(f"exit code {done.returncode}: {said}")
        return done.stdout


class EGSolver(Program):
    """The paper's program: value iteration on CPUs and GPUs, in C and CUDA.

    Formisano, Gentilini and Vella, IA3 2017, <https://doi.org/10.1145/3149704.3149771>.
    """

    name = "egsolver"
    solves = "energy"
    solvers = ("--cpu --eg", "--cpu --eg0", "--gpu --eg")
    suffix = ".mpg"

    def run(self, game: Path, arena: Arena, solver: str, time_limit_s: float) -> Run:
        """Solves the game once and reads the times and credits that it prints."""
        said = self._output(
            [self.name, "--input", str(game), *solver.split()], time_limit_s
        )
        times = dict(re.findall(r"^(\w+) time: +([\d.]+) sec", said, re.MULTILINE))
        if "Solving" not in times:
            raise PeerError("its output does not tell how long solving took")
        answer = np.full(arena.shape[0], energy.UNKNOWN, np.int64)
        for vertex, value in re.findall(r"^(\d+)\)\s+(-?\d+)$", said, re.MULTILINE):
            answer[int(vertex)] = int(value)
        # What is above the bound is its infinity.
        answer = np.where(answer > energy.bound(arena), energy.TOP, answer)
        parse_s = float(times["Parsing"]) if "Parsing" in times else None
        post_s = float(times["Postparsing"]) if "Postparsing" in times else None
        return Run(parse_s, post_s, float(times["Solving"]), answer)


class SolveEnergy(Program):
    """Fast value iteration by its authors, in C++, with numbers of any size.

    Cadilhac, Casares and Ohlmann, 2021, <https://arxiv.org/abs/2110.07346>. It tells
    who wins; its clock has milliseconds.
    """

    name = "solve-energy"
    solves = "energy winners"
    solvers = ("fvi",)
    suffix = ".energy"

    def run(self, game: Path, arena: Arena, solver: str, time_limit_s: float) -> Run:
        """Solves the game once and reads the time and winners that it prints."""
        del solver  # which one it is was chosen when it was built
        said = self._output([self.name, str(game)], time_limit_s)
        found = re.search(r"^solving: (\d+) ?ms", said, re.MULTILINE)
        if found is None:
            raise PeerError("its output does not tell how long solving took")
        answer = np.full(arena.shape[0], -1, np.int8)
        lines = re.findall(
            r"^vertex (\d+) \((max|min)\).*\b(take|losing)\b", said, re.MULTILINE
        )
        for vertex, owner, how in lines:
            answer[int(vertex)] = (owner == "max") != (how == "take")
        if not len(lines):
            raise PeerError("its output does not tell who wins: it is built without")
        return Run(None, None, int(found[1]) / 1e3, answer)


class SolveEnergyAlternating(SolveEnergy):
    """The same program built with its other variant, which serves both players."""

    name = "solve-energy-alt"
    solvers = ("fvi alternating",)


ENERGY_PEERS: tuple[Program, ...] = (
    EGSolver(),
    SolveEnergy(),
    SolveEnergyAlternating(),
)
