"""The families against games that other tools made."""

import gzip
import re
from pathlib import Path

import colour_refinement
import numpy as np
import pytest

from jaxgames import Arena, generate
from jaxgames.parity import reference

DATA = Path(__file__).parents[3] / "shared/data"
MADE = DATA / "made/parity"
PUBLIC = DATA / "public/parity"

GAMES = {
    **{f"elev{n}f": lambda n=n: generate.elevator(n) for n in (3, 4, 5, 6)},
    **{f"elev{n}u": lambda n=n: generate.elevator(n, fair=False) for n in (3, 4, 5, 6)},
    **{f"hanoi{n}": lambda n=n: generate.hanoi(n) for n in (4, 8, 10, 12)},
    "jurdz5_10": lambda: generate.jurdzinski(5, 10),
    "prop4_3": lambda: generate.propagation(4, 3),
    "prop50_1k": lambda: generate.propagation(50, 1000),
    **{
        f"tprop{n}": lambda n=n: generate.propagation_tree(n + 1, 2)
        for n in (3, 10, 15)
    },
}


@pytest.mark.skipif(not MADE.is_dir(), reason=f"no games in {MADE}")
@pytest.mark.parametrize("name", GAMES)
def test_same_game_as_made_elsewhere(name):
    arena = GAMES[name]()
    with np.load(MADE / f"{name}.npz") as file:
        # Hanoi's priorities mean the same in max and in min: its loops have one each.
        same = name.startswith("hanoi")
        other = Arena.from_csr(
            file["offsets"],
            file["targets"],
            owner=file["owner"],
            priority=file["priority"],
            condition="max even" if same else "min even",
        )
    label = other_label = None
    solution = MADE / f"{name}.sol.npz"
    if solution.is_file() and arena.shape[0] < 20_000:
        label = reference.solve(arena).winner
        other_label = np.load(solution)["winner"]
    np.testing.assert_array_equal(
        colour_refinement.fingerprint(arena, label),
        colour_refinement.fingerprint(other, other_label),
    )


def pgsolver_games():
    makers = {
        "cliquegame": generate.clique,
        "laddergame": generate.ladder,
        "modelcheckerladder": generate.model_checker_ladder,
        "mcladdergame": generate.model_checker_ladder,
        "recursiveladder": generate.recursive_ladder,
        "rladdergame": generate.recursive_ladder,
    }
    for path in sorted(PUBLIC.glob("pgsolver-*/*.pg.gz")):
        found = re.fullmatch(r"([a-z]+)_(\d+)(_self)?\.pg\.gz", path.name)
        if found and found[1] in makers:
            options = {"self_loops": True} if found[3] else {}
            name = path.relative_to(PUBLIC).as_posix().removesuffix(".gz")
            yield pytest.param(
                name, makers[found[1]], int(found[2]), options, id=path.stem
            )


@pytest.mark.skipif(not PUBLIC.is_dir(), reason=f"no games in {PUBLIC}")
@pytest.mark.parametrize(("name", "make", "n", "options"), list(pgsolver_games()))
def test_same_game_and_winners_as_pgsolver(name, make, n, options):
    arena = make(n, **options)
    text = gzip.decompress((PUBLIC / f"{name}.gz").read_bytes()).decode()
    lines = re.findall(r"^(\d+) (\d+) (\d+) ([\d,]+)", text, re.MULTILINE)
    assert len(lines) == arena.shape[0]
    for vertex, priority, owner, successors in lines:
        v = int(vertex)
        assert arena.priority[v] == int(priority)
        # Files of one source give vertices with a single edge to the other player.
        assert arena.owner[v] == int(owner) or "," not in successors
        assert arena.successors(v).tolist() == [int(w) for w in successors.split(",")]

    with np.load(PUBLIC / "winners.npz") as file:
        packed = file[name]
    size = int(packed[:8].view("<i8")[0])
    winner = np.unpackbits(packed[8:], bitorder="little")[:size]
    if make in (generate.clique, generate.ladder):
        np.testing.assert_array_equal(winner, arena.owner)
    else:
        odd = make is generate.recursive_ladder and n % 2 == 0
        assert np.all(winner == odd)
