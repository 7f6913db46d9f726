"""The benchmarks' suite on hard games: families, more than parity, the page."""

from benchmark_results import options, results, row

from benchmarks import hard as suite
from benchmarks import hard_page, report, run
from benchmarks.hard_games import ENERGY, FAMILIES, GAMES, STREETT, with_priorities
from benchmarks.peers import Oink
from benchmarks.schema import PeerRow
from jaxgames import emersonlei, generate


def cells(text: str, start: str) -> list[str]:
    """The cells of the last line of a table that starts so."""
    line = [x for x in text.splitlines() if x.startswith(f"| {start}")][-1]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_small_suite_runs(monkeypatch, tmp_path):
    asked = []

    def beside(name, arena, answer, peers, **_):
        asked.append((name, arena.shape[0], len(answer), peers))
        about = {"game": name, "peer": "oink", "solver": peers[0].solvers[0]}
        return [PeerRow(**about, status="ok", solve_s=1.0)]

    monkeypatch.setattr(suite, "side_by_side", beside)
    found = results("hard", backend="cpu")
    suite.run(options(tmp_path, peers=(Oink(),)), found)
    solvers = {(each.experiment, each.solver) for each in found.rows}
    assert solvers == {
        *((FAMILIES, x) for x in ("auto", "host")),
        *((ENERGY, x) for x in ("auto", "host", *suite.ALONE)),
        *((STREETT, x) for x in ("auto", suite.RECURSION, suite.PRODUCT)),
    }
    assert all(each.answered and each.verify_s is not None for each in found.rows)
    # Oink gets the family as it is, twice, and of the Streett game the product.
    nodes = next(x for x in found.rows if x.solver == suite.PRODUCT).phases["nodes"]
    assert [each[1] for each in asked] == [16, 16, nodes]
    assert all(size == answers for _, size, answers, _ in asked)
    assert [each[3] for each in asked] == [[suite.OINK], [suite.OTHERS], [suite.OINK]]
    assert not {*suite.OINK.solvers} & {*suite.OTHERS.solvers}
    assert {*suite.QUASI} <= {*suite.OTHERS.solvers}
    assert len(found.peers) == 3


def test_the_games():
    names = [game.name for game in GAMES]
    assert len(set(names)) == len(names)
    chosen = {game.name: game for game in GAMES}
    assert chosen["streett 1000 8 pairs"].pairs > suite.PAIRS
    small = with_priorities(generate.torus_energy_game(1, 2, 3), 0, 3)
    assert small.priority is not None
    assert int(small.priority.max()) < 3
    game = chosen["streett 1000 2 pairs"].make()
    assert isinstance(game, emersonlei.Game)
    assert len(game.condition.marks) == 4


def measured():
    about = {"vertices": 100, "edges": 200}
    of = {name: {"experiment": name, **about} for name in (FAMILIES, ENERGY, STREETT)}
    rows = [
        row("quick", "auto", 0.01, **of[FAMILIES]),
        row("slow", "auto", 0.06, **of[FAMILIES]),
        row("e", "auto", 0.5, rounds=7, verify_s=0.1, **of[ENERGY]),
        row("e", suite.ALONE[0], 0.02, **of[ENERGY]),
        row("s", "auto", 0.2, verify_s=0.3, **of[STREETT]),
        row("s", suite.RECURSION, 0.25, **of[STREETT]),
        row("s", suite.PRODUCT, 2.0, phases={"nodes": 5000}, **of[STREETT]),
    ]
    peers = [
        PeerRow(game="quick", peer="oink", solver="rtl", status="ok", solve_s=0.001),
        PeerRow(game="slow", peer="oink", solver="rtl", status="ok", solve_s=0.01),
        PeerRow(game="slow", peer="oink", solver="npp", status="timeout"),
        PeerRow(game="slow", peer="oink", solver="qpt", status="timeout"),
        PeerRow(game="quick", peer="oink", solver="qpt", status="ok", solve_s=0.5),
        PeerRow(game="s", peer="oink", solver="tl", status="ok", solve_s=0.4),
    ]
    return results("hard", rows=rows, peers=peers, backend="cpu")


def test_the_page_holds_the_aims_against_the_results(tmp_path):
    text = hard_page.page([measured()], tmp_path)
    assert cells(text, "families on which")[1:] == ["1 of 2", "none"]
    assert cells(text, "qpt") == ["qpt", "quasi-polynomial", "1 of 2", "0"]
    assert cells(text, "rtl") == ["rtl", "", "2 of 2", "2"]
    assert cells(text, "slowest game")[1:] == ["60.0 ms", "2.00 s"]
    assert cells(text, "e: energy parity")[1:] == ["25.0", "at most 20"]
    assert cells(text, "longest check")[1:] == ["1.50", "at most 1"]
    assert cells(text, "quick")[3:7] == ["10.0 ms", "1.00 ms", "rtl", "10.0"]
    assert cells(text, "slow |")[-1] == "npp"
    assert cells(text, "e |")[2:] == [
        *("7", "500 ms", "100 ms", "20.0 ms", "–", "25.0"),
    ]
    assert cells(text, "s |")[2:] == [
        *("200 ms", "300 ms", "250 ms", "2.00 s", "5,000", "400 ms", "0.500"),
    ]


def test_the_page_is_one_of_the_documentation(tmp_path):
    assert "hard" in run.SUITES
    assert "hard-measured.md" in report.pages([measured()], tmp_path)
    assert "No results yet" in hard_page.page([], tmp_path)
