"""The benchmarks' suite on energy games: games, other programs, traffic, the page."""

from pathlib import Path

import numpy as np
import pytest
from benchmark_results import options, results, row

from benchmarks import energy as suite
from benchmarks import (
    energy_games,
    energy_page,
    energy_peers,
    energy_traffic,
    report,
    run,
)
from benchmarks.peers import PeerError
from benchmarks.schema import PeerRow
from jaxgames import Arena, energy, generate

# Vertex 0 needs 4, vertex 2 loses.
GAME = Arena.from_edges(
    [0, 1, 1, 2], [1, 0, 1, 2], owner=[0, 1, 1], weight=[-4, 5, 0, -1]
)


def peer(game, name, solve_s, solver="--cpu --eg") -> PeerRow:
    return PeerRow(
        game=game, peer=name, solver=solver, solve_s=solve_s, status="ok", agrees=True
    )


def cells(text: str, start: str) -> list[str]:
    """The cells of the last line of a table that starts so."""
    line = [x for x in text.splitlines() if x.startswith(f"| {start}")][-1]
    return [cell.strip() for cell in line.strip("|").split("|")]


# ---- games -----------------------------------------------------------------------


def test_games_have_one_name_each():
    every = (*energy_games.SMALL, *energy_games.GENERATED)
    names = [game.name for game in every]
    assert len(names) == len(set(names))
    assert {game.group for game in every} <= set(energy_games.GROUPS)
    for game in energy_games.SMALL:
        assert game.make().shape[0] == game.vertices
    assert set(energy_page.LIMITS) <= {*names, "ieee1394_prop4"}


def save(folder: Path, name: str, arena: Arena, **labels) -> None:
    np.savez(
        folder / f"{name}.npz",
        offsets=arena.row_ptr,
        targets=arena.dst,
        owner=arena.owner,
        **labels,
    )


@pytest.fixture
def data(tmp_path):
    """A folder with a game, a parity game that becomes one, and one that cannot."""
    folder = tmp_path / "data"
    folder.mkdir()
    save(folder, "game", GAME, weights=GAME.weight)
    save(folder, "parity", GAME, priority=[0, 1, 1])
    size = 130
    cycle = Arena.from_edges(range(size), [*range(1, size), 0], owner=[0] * size)
    save(folder, "wide", cycle, priority=np.arange(size))
    np.savez(folder / "winners.npz", winner=[0])
    return folder


def test_games_of_a_folder(data):
    found = {game.name: game for game in energy_games.from_data(data)}
    assert list(found) == ["game", "parity", "wide"]
    np.testing.assert_array_equal(found["game"].make().weight, GAME.weight)
    assert found["parity"].make().weight.tolist() == [3, -1, -1, -1]
    with pytest.raises(ValueError, match="do not fit"):
        found["wide"].make()
    with pytest.raises(ValueError, match="is no folder"):
        list(energy_games.from_data(data / "nowhere"))
    assert list(energy_games.from_data(None)) == []


# ---- other programs --------------------------------------------------------------


def program(folder: Path, monkeypatch, name: str, output: str, code: int = 0) -> None:
    """Puts a program on the PATH that keeps its game and prints what it is told."""
    path = folder / name
    text = f"#!/bin/sh\ncat <<'EOF'\n{output}\nEOF\nexit {code}\n"
    path.write_text(text)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


EGSOLVER = """\
Running EG  on CPU. (MG_pesi=5 max_loop=100 num nodes=3 num archi=4 max weight=5
Timing:
Parsing time: 0.250000 sec
Postparsing time: 0.125000 sec
Solving time: 1.500000 sec

Solution:
0)\t4
1)\t0
2)\t6
"""

SOLVE_ENERGY = """\
solving: 250ms
vertex 0 (max)  potential 4 take (0, 1)
vertex 1 (min)  potential 0 (losing)
vertex 2 (min)  potential -inf take (2, 2)
stat: turns = 3
"""


def test_the_papers_program_tells_credits(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, "egsolver", EGSOLVER)
    peer = energy_peers.EGSolver()
    assert peer.absent() is None
    assert peer.version().startswith("sha256:")
    path = peer.save(tmp_path, GAME)
    assert path.suffix == ".mpg"
    assert "MAX 1:-4" in path.read_text()
    got = peer.run(path, GAME, "--cpu --eg", 9.0)
    assert (got.parse_s, got.preprocess_s, got.solve_s) == (0.25, 0.125, 1.5)
    np.testing.assert_array_equal(got.answer, energy.reference.solve(GAME).credit)


def test_the_authors_program_tells_winners(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, "solve-energy", SOLVE_ENERGY)
    peer = energy_peers.SolveEnergy()
    path = peer.save(tmp_path, GAME)
    assert path.read_text().startswith("energy 3\n")
    got = peer.run(path, GAME, "fvi", 9.0)
    assert got.solve_s == 0.25
    np.testing.assert_array_equal(got.answer, energy.reference.solve(GAME).winner)
    assert peer.only(["x"]).solvers == ("x",)


@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        ("nothing", 0, "does not tell how long"),
        ("solving: 5ms", 0, "does not tell who wins"),
        ("cannot", 1, "exit code 1: cannot"),
    ],
)
def test_a_program_that_gives_no_answer(tmp_path, monkeypatch, output, code, message):
    program(tmp_path, monkeypatch, "solve-energy", output, code)
    peer = energy_peers.SolveEnergy()
    with pytest.raises(PeerError, match=message):
        peer.run(peer.save(tmp_path, GAME), GAME, "fvi", 9.0)


def test_absent_programs(monkeypatch):
    monkeypatch.setenv("PATH", "")
    for each in energy_peers.ENERGY_PEERS:
        assert each.name in (each.absent() or "")


# ---- the suite -------------------------------------------------------------------


def test_a_small_suite_runs(monkeypatch, data, tmp_path, capsys):
    monkeypatch.setattr(energy_games, "SMALL", ())
    program(tmp_path, monkeypatch, "solve-energy", SOLVE_ENERGY)
    found = results("energy", backend="cpu")
    chosen = options(
        tmp_path,
        data=data,
        solvers=("host", "fvi dense"),
        libraries=energy_peers.ENERGY_PEERS,
    )
    suite.run(chosen, found)
    rows = {(each.game, each.solver): each for each in found.rows}
    assert {name for name, _ in rows} == {"game", "parity"}
    assert all(each.verified for each in found.rows)
    dense = rows["game", "fvi dense"]
    assert dense.rounds == dense.phases["inner"] > 0
    assert dense.bytes_per_round == energy_traffic.bytes_per_round(
        GAME, energy.solve(GAME, energy.FVI(active=False))
    )
    assert rows["game", "host"].bytes_per_round is None
    told = {(each.game, each.peer): each for each in found.peers}
    assert told["game", "solve-energy"].agrees is True
    assert told["parity", "solve-energy"].agrees is False
    assert told["game", "egsolver"].status == "absent"
    out = capsys.readouterr().out
    assert "wide: left out" in out
    assert "game: host: SOLVED" in out
    text = energy_page.page([found], tmp_path)
    assert cells(text, "game | 3 |")[-2] != "–"


def test_bytes_of_a_round():
    arena = generate.random_energy_game(0, 100)
    found = energy.solve(arena, energy.FVI(active=False))
    edges = int(arena.num_edges)
    # At the least an index, a potential and a cost for each edge.
    assert (energy_traffic.bytes_per_round(arena, found) or 0) >= 12 * edges
    assert energy_traffic.bytes_per_round(arena, energy.solve(arena, "host")) is None
    assert suite.moved(arena, energy.solve(arena, "host")) is None


# ---- the page --------------------------------------------------------------------


@pytest.mark.usefixtures("wide_pages")
def test_the_page_holds_the_aims_against_the_results(tmp_path):
    large = {"vertices": 1_000_000, "edges": 3_000_000}
    rows = [
        row("random 1e6 W=10", "host", 4.0, **large),
        row("random 1e6 W=10", "auto", 0.05, engine="fvi", **large),
        row("random 1e6 W=10", "fvi", 0.05, **large),
        row("hanoi 12", "auto", 0.02, engine="fvi"),
        row("ring 1e4", "host", 0.1, phases={"turns": 220}),
        row("ring 1e4", "vi", None, status="TIMEOUT", verified=None),
    ]
    peers = [
        peer("random 1e6 W=10", "solve-energy", 82.0, "fvi"),
        peer("random 1e6 W=10", "egsolver", 2.0),
        peer("random 1e6 W=10", "egsolver", 3.0, "--cpu --eg0"),
    ]
    text = energy_page.page([results("energy", rows, peers)], tmp_path)
    aim = "time of the fastest sequential program over ours"
    assert cells(text, aim)[1:] == ["40.0 times (random 1e6 W=10)", "at least 36 times"]
    assert cells(text, "our time on hanoi 12")[1:] == ["20.0 ms", "less than 50.0 ms"]
    assert cells(text, "M3")[4] == "3.50 s"
    beside = cells(text, "random 1e6 W=10 | 1,000,000 | 3,000,000 | 50.0 ms (fvi)")
    assert beside[6:] == ["82.0 s", "2.00 s", "40.0", "40.0× faster"]
    assert cells(text, "ring 1e4 | vi")[-1] == "timeout"
    assert "| ring 1e4 | host | 100 ms | 220 | – | verified |" in text


def test_the_page_of_a_cpu(tmp_path):
    rows = [row("hanoi 12", "host", 0.1), row("hanoi 12", "fvi", 0.4)]
    found = results(
        "energy", rows, [peer("hanoi 12", "solve-energy", 0.2, "fvi")], "cpu"
    )
    text = energy_page.page([found], tmp_path)
    assert cells(text, "time of our fastest array program")[1:] == [
        "2.00 times (hanoi 12)",
        "at most 3 times",
    ]
    assert cells(text, "time of the host engine")[1] == "0.500 times (hanoi 12)"


def test_the_page_without_results_is_among_the_pages(tmp_path):
    assert "No results yet" in energy_page.page([], tmp_path)
    assert "energy-measured.md" in report.pages([], tmp_path)
    assert "energy" in run.SUITES
