"""Writes the *Performance* page of the documentation from the results files.

The prose stands in `performance_template.md`, with a line such as
`<!-- results: parity -->` where a suite's tables and plots go. Nothing on the page is
measured here, and what a results file does not hold is shown as a dash.
"""

import itertools
import math
import re
import statistics
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.schema import RESULTS, PeerRow, Results, Row

ROOT = Path(__file__).parent.parent
TEMPLATE = Path(__file__).parent / "performance_template.md"
DASH = "–"

_PLACE = re.compile(r"^<!-- results: (\S+) -->$", re.MULTILINE)


def main() -> None:
    """Writes `docs/performance.md` and the plots beside it."""
    results = [Results.load(path) for path in sorted(RESULTS.glob("*.json"))]
    docs = ROOT / "docs"
    try:
        plot(results, docs / "assets")
    except ImportError:
        print(
            "matplotlib is not installed: the plots stay as they are", file=sys.stderr
        )
    (docs / "performance.md").write_text(page(results, docs))


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The page's text.

    Args:
        results: of all suites and machines.
        docs: folder of the page; plots are shown if they are in its `assets`.
        template: the prose.

    Raises:
        ValueError: the template has no place for a suite.
    """
    text = template.read_text()
    places = set(_PLACE.findall(text))
    for suite in {each.suite for each in results} - places:
        raise ValueError(
            f"{template.name} has no place for the suite {suite!r}: "
            f"add a line '<!-- results: {suite} -->'"
        )

    def fill(place: re.Match) -> str:
        found = [each for each in results if each.suite == place[1]]
        return "\n\n".join(_section(each, docs) for each in found) or (
            "No results yet; `make bench` measures them."
        )

    return _PLACE.sub(fill, text)


def best(rows: Iterable[Row]) -> Row | None:
    """The fastest of our solvers that gave a verified answer."""
    timed = [row for row in rows if row.answered and row.solve_s is not None]
    return min(timed, key=lambda row: row.solve_s or 0.0, default=None)


def best_peer(peers: Iterable[PeerRow]) -> PeerRow | None:
    """The fastest peer that gave an answer, and not another one than ours."""
    timed = [
        peer for peer in peers if peer.total_s is not None and peer.agrees is not False
    ]
    return min(timed, key=lambda peer: peer.total_s or 0.0, default=None)


def ratio(ours: Row | None, peer: PeerRow | None) -> float | None:
    """Our time over the peer's: below one, we are faster."""
    if ours is None or ours.solve_s is None or peer is None or not peer.total_s:
        return None
    return ours.solve_s / peer.total_s


def _section(results: Results, docs: Path) -> str:
    machine = results.machine
    stem = Path(results.file_name).stem
    parts = [
        f"### {machine['device']}",
        f"{_machine_line(results)} Measured on {results.created}.",
        _side_by_side(results),
        *(
            f"![{title}](assets/{name}.svg)"
            for name, title in (
                (f"{stem}-times", f"Seconds to solve, on {machine['device']}"),
                (
                    f"{stem}-bandwidth",
                    f"Bytes moved per second, on {machine['device']}",
                ),
            )
            if (docs / "assets" / f"{name}.svg").exists()
        ),
        "#### Every solver",
        _solvers(results),
    ]
    if any(peer.status != "absent" for peer in results.peers):
        parts += ["#### Every peer", _peers(results)]
    return "\n\n".join(parts)


def _machine_line(results: Results) -> str:
    machine = results.machine
    hardware = [f"{machine['cores']} cores of {machine['cpu']}"]
    if machine["backend"] != "cpu":
        hardware.insert(0, f"{machine['devices']} × {machine['device']}")
    if "memory_gib" in machine:
        hardware.append(f"{machine['memory_gib']} GiB of memory")
    commit = f" ({machine['commit']})" if "commit" in machine else ""
    versions = [f"jaxgames {machine['jaxgames']}{commit}"] + [
        f"{name} {machine[key]}"
        for name, key in (("jax", "jax"), ("numpy", "numpy"), ("Python", "python"))
    ]
    bandwidth = (
        f" Copy bandwidth: {_number(results.copy_bandwidth_gb_s)} GB/s."
        if results.copy_bandwidth_gb_s
        else ""
    )
    return f"{', '.join(hardware)}; {', '.join(versions)}.{bandwidth}"


def _side_by_side(results: Results) -> str:
    lines, ratios = [], []
    for game, rows, peers in _by_game(results):
        ours, peer = best(rows), best_peer(peers)
        compared = ratio(ours, peer)
        if compared is not None:
            ratios.append(compared)
        lines.append(
            [
                game,
                _count(rows[0].vertices),
                _count(rows[0].edges),
                f"{_seconds(ours.solve_s)} ({ours.solver})" if ours else DASH,
                f"{_seconds(peer.total_s)} ({peer.peer} {peer.solver})"
                if peer
                else DASH,
                _number(compared),
                _verdict(compared),
            ]
        )
    head = ["game", "vertices", "edges", "jaxgames", "best peer", "ratio", ""]
    return "\n\n".join([_table(head, lines), _summary(results, ratios)])


def _summary(results: Results, ratios: list[float]) -> str:
    disagree = [
        f"{peer.peer} {peer.solver} on {peer.game}"
        for peer in results.peers
        if peer.agrees is False
    ]
    reasons = {
        f"{peer.peer} ({peer.reason})"
        for peer in results.peers
        if peer.status == "absent"
    }
    said = []
    if ratios:
        wins = sum(each < 1 for each in ratios)
        said.append(
            f"Faster than the best peer on {wins} of {len(ratios)} games, slower on "
            f"{sum(each > 1 for each in ratios)}; geometric mean of the ratios "
            f"{_number(statistics.geometric_mean(ratios))}."
        )
    if reasons:
        said.append(f"Not on this machine: {', '.join(sorted(reasons))}.")
    if disagree:
        said.append(f"**Answers that differ from ours:** {', '.join(disagree)}.")
    return " ".join(said) or "No peer was run."


def _solvers(results: Results) -> str:
    def line(row: Row) -> list[str]:
        bandwidth = results.copy_bandwidth_gb_s
        return [
            row.game,
            row.solver,
            row.layout or DASH,
            _seconds(row.load_s),
            _seconds(row.generate_s),
            _seconds(row.prepare_s),
            _seconds(row.compile_s),
            _seconds(row.solve_s),
            _count(row.rounds),
            _bytes(row.bytes_per_round),
            _number(row.gb_s),
            _percent(row.gb_s / bandwidth) if row.gb_s and bandwidth else DASH,
            _answer(row),
        ]

    head = "game,solver,layout,load,generate,prepare,compile,solve,rounds,a round,GB/s"
    return _table(
        [*head.split(","), "of copy", "answer"], [line(row) for row in results.rows]
    )


def _peers(results: Results) -> str:
    ran = [peer for peer in results.peers if peer.status != "absent"]
    names = list(dict.fromkeys((peer.peer, peer.solver) for peer in ran))
    lines = []
    for game, _, peers in _by_game(results):
        cell = {(peer.peer, peer.solver): _peer_cell(peer) for peer in peers}
        parse = [peer.parse_s for peer in peers if peer.parse_s is not None]
        lines.append(
            [
                game,
                _seconds(statistics.median(parse) if parse else None),
                *(cell.get(name, DASH) for name in names),
            ]
        )
    head = ["game", "parse", *(f"{peer} {solver}" for peer, solver in names)]
    versions = sorted({f"{peer.peer} {peer.version}" for peer in ran if peer.version})
    notes = [
        f"{peer.peer} {peer.solver} on {peer.game}: {peer.reason}."
        for peer in ran
        if peer.status == "error"
    ]
    said = [f"Versions: {', '.join(versions)}."] if versions else []
    return "\n\n".join([_table(head, lines), *said, *notes])


def _peer_cell(peer: PeerRow) -> str:
    if peer.status == "timeout":
        return "timeout"
    if peer.status != "ok":
        return peer.status
    return _seconds(peer.total_s) + (" (differs)" if peer.agrees is False else "")


def _answer(row: Row) -> str:
    if row.status != "SOLVED":
        return row.status.lower().replace("_", " ")
    return {True: "verified", False: "**WRONG**", None: "not verified"}[row.verified]


def _by_game(results: Results) -> list[tuple[str, list[Row], list[PeerRow]]]:
    """Rows of each game, in the order in which the games were run."""
    games = dict.fromkeys(row.game for row in results.rows)
    return [
        (
            game,
            [row for row in results.rows if row.game == game],
            [peer for peer in results.peers if peer.game == game],
        )
        for game in games
    ]


def _table(head: list[str], lines: list[list[str]]) -> str:
    rule = [":--", *["--:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *lines])


def _verdict(compared: float | None) -> str:
    if compared is None:
        return DASH
    if compared < 1:
        return f"{_number(1 / compared)}× faster"
    return f"{_number(compared)}× **slower**"


def _number(value: float | None) -> str:
    """Three digits that matter, without an exponent."""
    if value is None:
        return DASH
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def _percent(value: float) -> str:
    return f"{value:.0%}" if value >= 0.01 else "< 1%"


def _seconds(value: float | None) -> str:
    if value is None:
        return DASH
    for unit, factor in (("s", 1), ("ms", 1e3)):
        if value * factor >= 1:
            return f"{_number(value * factor)} {unit}"
    return f"{_number(value * 1e6)} µs"


def _bytes(value: int | None) -> str:
    if value is None:
        return DASH
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{_number(value / factor)} {unit}"
    return f"{value} B"


def _count(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"


def plot(results: list[Results], assets: Path) -> None:
    """Draws two plots for each results file, as SVG.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    assets.mkdir(parents=True, exist_ok=True)
    draws: dict[str, Callable] = {"times": _draw_times, "bandwidth": _draw_bandwidth}
    # With a fixed salt and no date, the same results give the same file.
    with rc_context({"svg.hashsalt": "jaxgames", "font.size": 9}):
        for each, (name, draw) in itertools.product(results, draws.items()):
            figure = Figure(layout="constrained")
            if draw(figure, each):
                stem = Path(each.file_name).stem
                figure.savefig(assets / f"{stem}-{name}.svg", metadata={"Date": None})


def _draw_times(figure, results: Results) -> bool:
    """Games from top to bottom, seconds from left to right; False if there are none."""
    games = [
        (game, rows, peers)
        for game, rows, peers in _by_game(results)
        if best(rows) or best_peer(peers)
    ]
    if not games:
        return False
    games.sort(key=lambda game: game[1][0].edges, reverse=True)
    figure.set_size_inches(7, 1.2 + 0.25 * len(games))
    axes = figure.add_subplot()
    for label, color, style, chosen in (
        ("best peer", "tab:orange", "s", [best_peer(peers) for _, _, peers in games]),
        (
            "jaxgames, best solver",
            "tab:blue",
            "o",
            [best(rows) for _, rows, _ in games],
        ),
    ):
        points = [
            (each.solve_s if isinstance(each, Row) else each.total_s, place)
            for place, each in enumerate(chosen)
            if each
        ]
        if points:
            axes.plot(*zip(*points, strict=True), style, color=color, label=label)
    axes.set_xscale("log")
    axes.set_xlabel("seconds to solve")
    axes.set_yticks(range(len(games)), [game for game, _, _ in games])
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return True


def _draw_bandwidth(figure, results: Results) -> bool:
    """Bytes a round against bytes a second, below the measured copy bandwidth."""
    rows = [row for row in results.rows if row.answered and row.gb_s]
    if not rows:
        return False
    figure.set_size_inches(7, 4)
    axes = figure.add_subplot()
    for solver in dict.fromkeys(row.solver for row in rows):
        points = [
            (row.bytes_per_round, row.gb_s) for row in rows if row.solver == solver
        ]
        axes.plot(*zip(*points, strict=True), "o", label=solver)
    if results.copy_bandwidth_gb_s:
        axes.axhline(results.copy_bandwidth_gb_s, color="grey", linestyle="--")
        axes.annotate(
            "measured copy bandwidth",
            (0.01, 0.93 * results.copy_bandwidth_gb_s),
            xycoords=("axes fraction", "data"),
            va="top",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("bytes that a round moves")
    axes.set_ylabel("GB/s")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return True


if __name__ == "__main__":
    main()
