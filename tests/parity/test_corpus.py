"""The device solvers on published games with known winners, where these lie at hand."""

from pathlib import Path

import numpy as np
import pytest

from jaxgames import Status, parity
from jaxgames.io import pgsolver
from jaxgames.parity import host

CORPUS = Path(__file__).parents[3] / "shared/data/public/parity"

pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the folder of published games is not there"
)

SAMPLE = 12
"""Games of each folder's smallest that a plain run solves."""


def files() -> list[Path]:
    return sorted(CORPUS.glob("*/*.gz"))


def known_winners(path: Path) -> np.ndarray:
    key = path.relative_to(CORPUS).as_posix().removesuffix(".gz")
    packed = np.load(CORPUS / "winners.npz")[key]
    count = int(packed[:8].view("<i8")[0])
    return np.unpackbits(packed[8:], count=count, bitorder="little")


HARD = ("pgsolver-", "tl-cav18")
"""Folders with games that take the device solvers very many rounds."""


def check(path: Path, solver: str) -> None:
    """Solves a game; what a step limit leaves decided must be right as well."""
    arena = pgsolver.load(path)  # some files have no suffix of the format
    solution = parity.solve(arena, solver, max_steps=20_000, throw=False)
    winner, expected = np.asarray(solution.winner), known_winners(path)
    if solution.status == Status.SOLVED:
        np.testing.assert_array_equal(winner, expected)
        verdict = host.verify(arena, solution)
        assert verdict, str(verdict)
    else:
        assert solution.status == Status.MAX_STEPS
        assert solver != "zielonka" or path.parent.name.startswith(HARD)
        decided = winner != -1
        assert not decided.all()
        np.testing.assert_array_equal(winner[decided], expected[decided])


def sample() -> list[Path]:
    """Small games, spread over the folders."""
    small = [path for path in files() if path.stat().st_size < 3000]
    return small[:: max(1, len(small) // SAMPLE)]


@pytest.mark.parametrize("path", sample(), ids=lambda path: path.name)
def test_sample(path):
    check(path, "zielonka")


@pytest.mark.sweep
@pytest.mark.parametrize("solver", ["zielonka", "fpi"])
@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_all(path, solver):
    check(path, solver)
