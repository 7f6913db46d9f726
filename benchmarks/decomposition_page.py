"""The page on strongly connected and maximal end components: ours, the paper's, peers'.

The prose stands in the template, with a line such as `<!-- table: 1 -->` where a table
goes, once for each machine.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.compare import by_game, entry, sequential, spent
from benchmarks.decomposition_bars import (
    SCIPY,
    STORM,
    Game,
    bars_of_graphs,
    bars_of_models,
    of_device,
    of_host,
    over_sequential,
    over_storm,
    peer_of,
    times,
)
from benchmarks.paper import MODELS, Measured
from benchmarks.schema import PeerRow, Results, Row
from benchmarks.tables import (
    DASH,
    count,
    machine_line,
    num_bytes,
    number,
    percent,
    seconds,
    table,
    verdict,
)

GRAPH, MDP = SUITES = "graph", "mdp"
TEMPLATE = Path(__file__).parent / "decomposition_template.md"

_PLACE = re.compile(r"^<!-- table: (\S+) -->$", re.MULTILINE)


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The page's text.

    Args:
        results: of all suites and machines.
        docs: folder of the page; plots are shown if they are in its `assets`.
        template: the prose.
    """
    return filled(results, docs, template, TABLES)


def filled(results: list[Results], docs: Path, template: Path, tables: "Tables") -> str:
    """The text of a page whose tables stand once for each machine.

    Args:
        results: of all suites and machines.
        docs: folder of the page.
        template: the prose.
        tables: what stands where.
    """
    suites = {suite for suite, _ in tables.values()}
    shown = [each for each in results if each.suite in suites]

    def fill(place: re.Match) -> str:
        if not shown:
            return "No results yet; `make bench` measures them."
        if place[1] == "machines":
            return "\n".join(
                f"- **{each.machine['device']}**, suite `{each.suite}`: "
                f"{machine_line(each)} {_versions(each)}Measured on {each.created}."
                for each in shown
            )
        suite, show = tables[place[1]]
        parts = []
        for each in shown:
            text = show(each) if each.suite == suite else ""
            if text:
                parts += [f"**{each.machine['device']}**", text]
                parts += _plot(each, place[1], docs)
        return "\n\n".join(parts) or "Not measured yet."

    return _PLACE.sub(fill, template.read_text())


# ---- beside the paper ------------------------------------------------------------


def _components(results: Results) -> str:
    """Table 1, a line for each model of a family of the paper."""

    def line(name: str, paper: Measured, game: Game) -> list[str]:
        model, rows, peers = game
        ours = entry(rows)
        return [
            name,
            _millions(paper.edges),
            seconds(paper.tarjan_s),
            seconds(paper.restructured_s),
            number(paper.tarjan_s / paper.restructured_s),
            model,
            _millions(rows[0].edges),
            with_engine(ours),
            time_of(of_host(rows)),
            time_of(peer_of(peers, SCIPY)),
            time_of(peer_of(peers, "igraph")),
            number(over_sequential(game)),
            number(paper.edges / paper.restructured_s / 1e6),
            number(_rate(rows[0].edges, ours)),
        ]

    head = (
        "paper's model,edges,CPU,K20m,CPU / K20m,model here,edges,jaxgames,"
        "compiled Tarjan,scipy,igraph,sequential / ours,K20m: M edges/s,ours: M edges/s"
    )
    return _beside(results, head, line)


def _end_components(results: Results) -> str:
    """Table 2, a line for each model of a family of the paper."""

    def line(name: str, paper: Measured, game: Game) -> list[str]:
        model, rows, peers = game
        ours = entry(rows)
        return [
            name,
            _millions(paper.edges),
            seconds(paper.mec_cpu_s),
            seconds(paper.mec_gpu_s),
            number(paper.mec_cpu_s / paper.mec_gpu_s),
            model,
            _millions(rows[0].edges),
            with_engine(ours),
            time_of(of_host(rows)),
            time_of(peer_of(peers, STORM)),
            number(over_storm(game)),
            number(paper.edges / paper.mec_gpu_s / 1e6),
            number(_rate(rows[0].edges, ours)),
        ]

    head = (
        "paper's model,edges,CPU,K20m,CPU / K20m,model here,edges,jaxgames,"
        "compiled,Storm,Storm / ours,K20m: M edges/s,ours: M edges/s"
    )
    return _beside(results, head, line)


def _beside(results: Results, head: str, line: Callable) -> str:
    games = {game[0]: game for game in by_game(results)}
    lines = [
        line(name, paper, games[model])
        for name, paper in MODELS.items()
        for model in paper.here
        if model in games
    ]
    return table(head.split(","), lines) if lines else ""


def _rate(edges: int, ours: Row | None) -> float | None:
    """Millions of edges per second."""
    if ours is None or not ours.solve_s:
        return None
    return edges / ours.solve_s / 1e6


# ---- everything ------------------------------------------------------------------


def _side_by_side(results: Results) -> str:
    """Every graph or model: ours, and each sequential program."""
    names = list(dict.fromkeys(peer.peer for peer in _ran(results)))

    def line(game: Game) -> list[str]:
        name, rows, peers = game
        ours, theirs = entry(rows), sequential(rows, peers)
        found = [row.components for row in rows if row.components is not None]
        compared = times(theirs, ours)
        return [
            name,
            count(rows[0].vertices),
            count(rows[0].edges),
            count(found[0] if found else None),
            with_engine(ours),
            named(of_device(rows)),
            time_of(of_host(rows)),
            *(peer_cell(peers, each) for each in names),
            number(compared),
            verdict(1 / compared if compared else None),
        ]

    head = [
        *(
            "",
            "vertices",
            "edges",
            "components",
            "jaxgames",
            "our fastest on the device",
        ),
        *("compiled, one core", *names, "sequential / ours", ""),
    ]
    return table(head, [line(game) for game in by_game(results)])


def _solvers(results: Results) -> str:
    """Every row of ours, with its rounds and what they move."""

    def line(row: Row) -> list[str]:
        return [
            row.game,
            row.solver,
            row.engine or DASH,
            *map(seconds, (row.build_s, row.load_s, row.generate_s)),
            *map(seconds, (row.prepare_s, row.compile_s, row.solve_s)),
            *moved(row, results.copy_bandwidth_gb_s),
            answer(row),
        ]

    head = (
        ",solver,engine,build,load,generate,prepare,compile,solve,rounds,of which,"
        "a round,GB/s,of copy,answer"
    )
    return table(head.split(","), [line(row) for row in results.rows])


def peer_table(results: Results) -> str:
    """What each package took to convert its input, and to solve."""
    lines = [
        [
            peer.game,
            f"{peer.peer} {peer.solver}",
            seconds(peer.parse_s),
            seconds(peer.total_s),
            {True: "as ours", False: "**DIFFERS**", None: peer.reason or DASH}[
                peer.agrees
            ],
        ]
        for peer in _ran(results)
    ]
    head = ["", "package", "convert", "solve", "answer"]
    return table(head, lines) if lines else ""


Tables = dict[str, tuple[str, Callable[[Results], str]]]
"""By place in a template: the suite, and what is shown of it."""

TABLES: Tables = {
    "graph-bars": (GRAPH, bars_of_graphs),
    "mdp-bars": (MDP, bars_of_models),
    "1": (GRAPH, _components),
    "2": (MDP, _end_components),
    "graph": (GRAPH, _side_by_side),
    "mdp": (MDP, _side_by_side),
    "graph-solvers": (GRAPH, _solvers),
    "mdp-solvers": (MDP, _solvers),
    "graph-peers": (GRAPH, peer_table),
    "mdp-peers": (MDP, peer_table),
}


def _plot(results: Results, place: str, docs: Path) -> list[str]:
    kinds = {results.suite: "times", f"{results.suite}-solvers": "bandwidth"}
    if place not in kinds:
        return []
    name = f"{Path(results.file_name).stem}-{kinds[place]}.svg"
    if not (docs / "assets" / name).exists():
        return []
    of_calls = results.suite == "calls"
    title = {
        "times": "Seconds of whole calls" if of_calls else "Seconds to solve",
        "bandwidth": "Bytes moved per second",
    }[kinds[place]]
    return [f"![{title}, on {results.machine['device']}](assets/{name})"]


def _ran(results: Results) -> list[PeerRow]:
    return [peer for peer in results.peers if peer.status != "absent"]


def _versions(results: Results) -> str:
    found = sorted({f"{x.peer} {x.version}" for x in _ran(results) if x.version})
    return f"Peers: {', '.join(found)}. " if found else ""


def time_of(line: Row | PeerRow | None) -> str:
    return DASH if line is None else seconds(spent(line))


def moved(row: Row, bandwidth: float | None) -> list[str]:
    """The rounds, of which kinds they were, what they moved, and how fast that was."""
    phases = ", ".join(f"{name} {value:,}" for name, value in row.phases.items())
    return [
        count(row.rounds),
        phases or DASH,
        num_bytes(row.bytes_per_round),
        number(row.gb_s),
        percent(row.gb_s / bandwidth) if row.gb_s and bandwidth else DASH,
    ]


def with_engine(row: Row | None) -> str:
    return DASH if row is None else f"{time_of(row)} ({row.engine or row.solver})"


def named(row: Row | None) -> str:
    return DASH if row is None else f"{time_of(row)} ({row.solver})"


def peer_cell(peers: Iterable[PeerRow], name: str) -> str:
    for peer in peers:
        if peer.peer == name:
            if peer.total_s is None:
                return peer.status
            differs = " (differs)" if peer.agrees is False else ""
            return seconds(peer.total_s) + differs
    return DASH


def answer(row: Row) -> str:
    if row.status != "SOLVED":
        return row.status.lower().replace("_", " ")
    return {True: "verified", False: "**WRONG**", None: "not verified"}[row.verified]


def _millions(value: float) -> str:
    return f"{number(value / 1e6)} M"
