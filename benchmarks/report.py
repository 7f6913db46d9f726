"""Writes the pages of the documentation that are made from the results files.

The prose stands in templates, with a line such as `<!-- results: parity -->` where a
suite's tables and plots go. Nothing on the pages is measured here, and what a results
file does not hold is shown as a dash.
"""

import re
import statistics
import sys
from pathlib import Path

from benchmarks import (
    calls_page,
    decomposition_page,
    energy_page,
    equivalence_page,
    hard_page,
    load,
    loading,
    ltl_page,
    plots,
    scaling,
    start,
    starting,
    summary,
    thesis_page,
    values_page,
)
from benchmarks.compare import best, best_peer, by_game, entry, ratio
from benchmarks.schema import RESULTS, PeerRow, Results, Row
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

ROOT = Path(__file__).parent.parent
TEMPLATE = Path(__file__).parent / "performance_template.md"

NO_RESULTS = "No results yet; `make bench` measures them."

_PLACE = re.compile(r"^<!-- results: (\S+) -->$", re.MULTILINE)


def main() -> None:
    """Writes the pages that `pages` lists, and the plots."""
    results = [Results.load(path) for path in sorted(RESULTS.glob("*.json"))]
    docs = ROOT / "docs"
    try:
        plots.plot(results, docs / "assets")
    except ImportError:
        print(
            "matplotlib is not installed: the plots stay as they are", file=sys.stderr
        )
    for name, text in pages(results, docs).items():
        (docs / name).write_text(text)


def pages(results: list[Results], docs: Path) -> dict[str, str]:
    """The text of each page."""
    return {
        "performance.md": page(results, docs),
        "calls.md": calls_page.page(results, docs),
        "decomposition.md": decomposition_page.page(results, docs),
        "model-checking.md": ltl_page.page(results, docs),
        "energy-measured.md": energy_page.page(results, docs),
        "equivalence-measured.md": equivalence_page.page(results, docs),
        "hard-measured.md": hard_page.page(results, docs),
        "thesis.md": thesis_page.page(results, docs),
        "values-measured.md": values_page.page(results, docs),
    }


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The text of the page on performance.

    Args:
        results: of all suites and machines.
        docs: folder of the page; plots are shown if they are in its `assets`.
        template: the prose.

    Raises:
        ValueError: the template has no place for a suite.
    """
    text = template.read_text()
    elsewhere = {
        calls_page.SUITE,
        thesis_page.SUITE,
        ltl_page.SUITE,
        energy_page.SUITE,
        equivalence_page.SUITE,
        hard_page.SUITE,
        *decomposition_page.SUITES,
        *values_page.SUITES,
    }
    shown = [each for each in results if each.suite not in elsewhere]
    places = set(_PLACE.findall(text))
    for suite in {each.suite for each in shown} - places:
        raise ValueError(
            f"{template.name} has no place for the suite {suite!r}: "
            f"add a line '<!-- results: {suite} -->'"
        )

    def fill(place: re.Match) -> str:
        found = [each for each in shown if each.suite == place[1]]
        if place[1] == start.SUITE:
            sections = [starting.section(each, docs) for each in found]
            return "\n\n".join(sections) or NO_RESULTS
        if place[1] == load.SUITE:
            return "\n\n".join(map(loading.section, found)) or NO_RESULTS
        return "\n\n".join(_section(each, docs) for each in found) or NO_RESULTS

    return _PLACE.sub(fill, text)


def _section(results: Results, docs: Path) -> str:
    device = results.machine["device"]
    stem = Path(results.file_name).stem
    parts = [
        f"### {device}",
        f"{machine_line(results)} Measured on {results.created}.",
        summary.bars(results),
        scaling.scaling(results),
        _side_by_side(results),
        summary.account(results),
        *(
            f"![{title}](assets/{name}.svg)"
            for name, title in (
                (f"{stem}-times", f"Seconds to solve, on {device}"),
                (f"{stem}-bandwidth", f"Bytes moved per second, on {device}"),
            )
            if (docs / "assets" / f"{name}.svg").exists()
        ),
        summary.loading(results),
        "#### Every solver",
        _solvers(results),
    ]
    if any(peer.status != "absent" for peer in results.peers):
        parts += ["#### Every peer", _peers(results)]
    return "\n\n".join(part for part in parts if part)


def _side_by_side(results: Results) -> str:
    def cell(row: Row | None) -> str:
        return f"{seconds(row.solve_s)} ({row.engine or row.solver})" if row else DASH

    def line(game: str, rows: list[Row], peers: list[PeerRow]) -> list[str]:
        ours, peer = entry(rows), best_peer(peers)
        compared = ratio(ours, peer)
        return [
            game,
            count(rows[0].vertices),
            count(rows[0].edges),
            cell(ours),
            cell(best(rows)),
            f"{_peer_cell(peer)} ({peer.peer} {peer.solver})" if peer else DASH,
            number(compared),
            verdict(compared),
        ]

    head = "game,vertices,edges,jaxgames,our fastest,best peer,ratio,"
    return table(head.split(","), [line(*each) for each in by_game(results)])


def _solvers(results: Results) -> str:
    def line(row: Row) -> list[str]:
        bandwidth = results.copy_bandwidth_gb_s
        return [
            row.game,
            row.solver,
            row.layout or DASH,
            seconds(row.load_s),
            seconds(row.generate_s),
            seconds(row.prepare_s),
            seconds(row.compile_s),
            seconds(row.solve_s),
            count(row.rounds),
            num_bytes(row.bytes_per_round),
            number(row.gb_s),
            percent(row.gb_s / bandwidth) if row.gb_s and bandwidth else DASH,
            _answer(row),
        ]

    head = "game,solver,layout,load,generate,prepare,compile,solve,rounds,a round,GB/s"
    return table(
        [*head.split(","), "of copy", "answer"], [line(row) for row in results.rows]
    )


def _peers(results: Results) -> str:
    ran = [peer for peer in results.peers if peer.status != "absent"]
    names = list(dict.fromkeys((peer.peer, peer.solver) for peer in ran))
    lines = []
    for game, _, peers in by_game(results):
        cell = {(peer.peer, peer.solver): _peer_cell(peer) for peer in peers}
        parse = [peer.parse_s for peer in peers if peer.parse_s is not None]
        lines.append(
            [
                game,
                seconds(statistics.median(parse) if parse else None),
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
    return "\n\n".join([table(head, lines), *said, *notes])


def _peer_cell(peer: PeerRow) -> str:
    if peer.status == "timeout":
        return "timeout"
    if peer.status != "ok":
        return peer.status
    games = "" if peer.games is None else f" for {count(peer.games)} games"
    return seconds(peer.total_s) + games + " (differs)" * (peer.agrees is False)


def _answer(row: Row) -> str:
    if row.status != "SOLVED":
        return row.status.lower().replace("_", " ")
    return {True: "verified", False: "**WRONG**", None: "not verified"}[row.verified]


if __name__ == "__main__":
    main()
