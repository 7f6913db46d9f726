"""Python packages that decompose graphs and models, and search them, as peers.

A package is used if it is installed and skipped with a reason if not. It runs in a
process of its own, which can be given up, and converts its input apart from the solve.
"""

import dataclasses
import importlib.metadata
import importlib.util
import json
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.peers import PeerError, PeerSkipped, Run
from jaxgames import Arena, io
from jaxgames.buchi._question import Question
from jaxgames.mdp import MDP

Given = Arena | MDP | Question
"""A graph, a model, or a graph with accepting vertices."""

ROOT = Path(__file__).parent.parent


@dataclasses.dataclass
class Library:
    """A package that finds strongly connected or maximal end components, or cycles.

    Attributes:
        name: of the package.
        solves: `graph`, `mdp` or `ltl`.
        solvers: what it calls the function.
        most_edges: those of a graph that it takes in reasonable time and memory.
        repeats: timed runs in the process.
        whole: whether a run that is timed begins with arrays.
    """

    name: str
    solves: str
    solvers: tuple[str, ...]
    most_edges: int = 2**31 - 1
    repeats: int = 3
    whole: bool = False

    def from_arrays(self) -> "Library":
        """The same package with what it makes of arrays timed as well.

        Storm is left as it is: it has its model in memory, in a form of its own.
        """
        if self.solves == "mdp":
            return self
        solvers = tuple(f"{solver}, from arrays" for solver in self.solvers)
        return dataclasses.replace(self, solvers=solvers, whole=True)

    def only(self, solvers: Iterable[str]) -> "Library":
        """The same package with some of its functions."""
        return dataclasses.replace(self, solvers=tuple(solvers))

    def absent(self) -> str | None:
        """Whether the package is missing."""
        there = importlib.util.find_spec(self.name)
        return None if there else f"there is no Python package {self.name}"

    def version(self) -> str:
        """What the package says of itself."""
        return importlib.metadata.version(self.name)

    def save(self, folder: Path, arena: Given) -> Path:
        """Writes the arrays of a graph, or a UMB file of a model."""
        if isinstance(arena, Question):
            np.save(folder / "accepting.npy", arena.accepting)
            arena = arena.arena
        if isinstance(arena, MDP):
            path = folder / "model.umb"
            if not path.exists():
                io.umb.save(path, with_probabilities(arena))
        else:
            path = folder / "indptr.npy"
            if not path.exists():
                np.save(path, np.asarray(arena.row_ptr))
                np.save(folder / "indices.npy", np.asarray(arena.dst))
        return folder

    def run(self, game: Path, arena: Given, solver: str, time_limit_s: float) -> Run:
        """Converts and decomposes, as often as `repeats` says and the time allows."""
        del solver
        arena = arena.arena if isinstance(arena, Question) else arena
        edges = arena.num_branches if isinstance(arena, MDP) else arena.shape[1]
        if edges > self.most_edges:
            raise PeerSkipped(f"more than {self.most_edges:,} edges")
        (game / "answer.npy").unlink(missing_ok=True)
        # Half of the time is left for the run that is going on, and for the answer.
        what = f"{self.name} {self.solves}" if self.solves == "ltl" else self.name
        asked = [what, game.resolve(), self.repeats, time_limit_s / 2]
        asked += ["whole"] * self.whole
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.package_calls", *map(str, asked)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=time_limit_s,
        )
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            said = lines[-1] if lines else "no message"
            raise PeerError(f"exit code {done.returncode}: {said}")
        told = json.loads(done.stdout.strip().splitlines()[-1])
        return Run(
            told["parse_s"],
            None,
            statistics.median(told["runs"]),
            np.load(game / "answer.npy"),
            len(told["runs"]),
        )


def with_probabilities(model: MDP) -> MDP:
    """The model itself, or with equal ones where it has none."""
    if model.probs is not None:
        return model
    counts = np.diff(model.row_offsets)
    probs = np.repeat(1 / np.maximum(counts, 1), counts)
    return dataclasses.replace(model, probs=probs)


LIBRARIES: tuple[Library, ...] = (
    Library("scipy", "graph", ("connected_components",), 200_000_000),
    Library("scipy", "ltl", ("connected_components, test",), 200_000_000),
    Library("igraph", "graph", ("connected_components",), 30_000_000),
    Library("rustworkx", "graph", ("strongly_connected_components",), 10_000_000),
    Library("stormpy", "mdp", ("get_maximal_end_components",)),
)
