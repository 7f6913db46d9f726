"""The page that sets the thesis' experiments beside ours, figure by figure.

The thesis shows its figures as plots without numbers. What its text says in words
about a game stands in the last column of our table, in words of ours; what it says of
all games stands in the template.
"""

import re
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks.compare import best, best_peer, entry
from benchmarks.schema import Results, Row
from benchmarks.tables import DASH, count, machine_line, number, seconds, table

SUITE = "thesis"
PEERS_SUITE = "parity"
TEMPLATE = Path(__file__).parent / "thesis_template.md"

POINTS = 12
"""Lines of the table that shows how long a queue was."""

_PLACE = re.compile(r"^<!-- figure: (\S+) -->$", re.MULTILINE)

Key = tuple[str, str]
"""Experiment and variant of a measurement."""


class Figure(NamedTuple):
    """A table with one line for each game.

    Attributes:
        columns: by heading, what is measured.
        ratio: heading of a ratio of times, what is above the line and what below.
        thesis: what the thesis says of the ratio, by game.
    """

    columns: dict[str, Key]
    ratio: tuple[str, Key, Key] | None = None
    thesis: dict[str, str] = {}


_CORE, _DEVICE = ("cpu", "queue, alternating"), ("queue", "spm implicit")

FIGURES: dict[str, Figure] = {
    "8.3": Figure(
        {name: ("cpu", name) for name in ("queue", "stack", "random")},
        ("queue / random", ("cpu", "queue"), ("cpu", "random")),
        {"flctl7": "random 5 times faster (8.2)"},
    ),
    "8.4": Figure(
        {
            f"{name}{more}": ("cpu", f"{name}{more}")
            for more in ("", ", alternating")
            for name in ("queue", "stack")
        },
        ("queue / queue, alternating", ("cpu", "queue"), _CORE),
        {
            "flctl7": "over 100 times faster with alternation (8.2)",
            "jurdz5_10": "over 100 times faster with alternation (8.2)",
        },
    ),
    "8.7": Figure(
        {
            "no queue": ("queue", "spm"),
            "implicit": _DEVICE,
            "explicit": ("queue", "spm explicit"),
            "both players, no exchange": ("queue", "lock step"),
            "alternating": ("queue", "alternating"),
        },
        ("explicit / implicit", ("queue", "spm explicit"), _DEVICE),
        {
            "nester5": "implicit about 7 times faster (8.3)",
            "cabp8": "implicit with alternation much the fastest (8.3)",
            "swp8_1i": "implicit with alternation much the fastest (8.3)",
        },
    ),
    "8.10": Figure(
        {
            "SPM, one core": _CORE,
            "SPM, device": _DEVICE,
            "host engine": ("race", "host"),
            "promotion, device": ("race", "promotion"),
            "race": ("race", "race"),
        },
        ("SPM, core / device", _CORE, _DEVICE),
        {
            "hanoi12": "GPU about 50 times faster (8.4)",
            "prop50_1k": "GPU over 5 times faster (8.4)",
            "tprop21": "GPU about 4 times faster (8.4)",
        },
    ),
    "8.12": Figure(
        {
            f"{solver}, {how}": ("shortcuts", f"{solver}, {how}")
            for solver in ("alternating", "race")
            for how in ("no shortcuts", "1 level", "2 levels", "chains", "contract")
        },
        (
            "alternating: none / 1 level",
            ("shortcuts", "alternating, no shortcuts"),
            ("shortcuts", "alternating, 1 level"),
        ),
        {
            "hanoi12": "one level helps (8.5)",
            "prop50_1k": "one level helps the solve a lot (8.5)",
            "nester5": "one level 3 times slower, the worst of all (8.5)",
            "pdlbc8": "no gain, and more to prepare (8.5)",
            "lifti4l": "the solve gains less than preparing costs (8.5)",
        },
    ),
    "8.14": Figure(
        {
            f"{solver}, {order}": ("orders", f"{solver}, {order}")
            for solver in ("queue, alternating", "race")
            for order in (
                "original",
                "order-reversed",
                "order-out-degree",
                "order-priority",
                "order-dfs",
                "order-bfs",
            )
        },
        (
            "queue: bfs / original",
            ("orders", "queue, alternating, order-bfs"),
            ("orders", "queue, alternating, original"),
        ),
        {"jurdz5_10": "a factor 2 between orders (8.6)"},
    ),
}


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The page's text.

    Args:
        results: of all suites and machines.
        docs: folder of the page; plots are shown if they are in its `assets`.
        template: the prose.
    """
    machines = [each for each in results if each.suite == SUITE]
    peers = {
        each.machine["device"]: each for each in results if each.suite == PEERS_SUITE
    }

    def fill(place: re.Match) -> str:
        if not machines:
            return "No results yet; `make bench` measures them."
        if place[1] == "machines":
            return "\n".join(
                f"- **{each.machine['device']}**: {machine_line(each)} Measured on "
                f"{each.created}."
                for each in machines
            )
        if place[1] == "8.16":
            return _scalability(machines) or "Measured on one machine only."
        show = _SPECIAL.get(place[1], lambda each: _figure(each, FIGURES[place[1]]))
        if place[1] == "8.15":
            show = lambda each: _tools(each, peers.get(each.machine["device"]))  # noqa: E731
        parts = []
        for each in machines:
            text = show(each)
            if text:
                parts += [f"**{each.machine['device']}**", text]
                parts += _plot(each, place[1], docs)
        return "\n\n".join(parts) or "Not measured yet."

    return _PLACE.sub(fill, template.read_text())


def _figure(results: Results, figure: Figure) -> str:
    """The table of a figure, without lines and columns that were not measured."""
    rows = _by_key(results)
    columns = {
        head: key
        for head, key in figure.columns.items()
        if any((key, game) in rows for game in _games(results))
    }
    head, lines = ["game", *columns], []
    for game in _games(results):
        found = [rows.get((key, game)) for key in columns.values()]
        if not any(found):
            continue
        line = [game, *map(_cell, found)]
        if figure.ratio:
            _, above, below = figure.ratio
            compared = _ratio(rows.get((above, game)), rows.get((below, game)))
            line += [compared, figure.thesis.get(game, "")]
        lines.append(line)
    if figure.ratio:
        head += [figure.ratio[0], "in the thesis"]
    return table(head, lines) if lines else ""


def _scatter(results: Results) -> str:
    """Which of two strategies is the faster one, without and with alternation."""
    rows, lines = _by_key(results), []
    for more in ("", ", alternating"):
        pairs = [
            [rows.get((("cpu", name + more), game)) for name in ("queue", "stack")]
            for game in _games(results)
        ]
        times = [
            (queue.solve_s, stack.solve_s)
            for queue, stack in pairs
            if queue and stack and queue.solve_s and stack.solve_s
        ]
        if times:
            mean = statistics.geometric_mean(stack / queue for queue, stack in times)
            wins = sum(queue < stack for queue, stack in times)
            name = "alternating" if more else "one player after the other"
            lines.append([name, f"{wins} of {len(times)}", number(mean)])
    head = ["", "queue faster than stack", "stack / queue, geometric mean"]
    return table(head, lines) if lines else ""


def _periods(results: Results) -> str:
    """One line for each period, one column for each game."""
    rows = [row for row in results.rows if row.experiment == "period"]
    games = list(dict.fromkeys(row.game for row in rows))
    found = {(row.solver, row.game): row for row in rows}
    lines = [
        [name.removeprefix("every "), *(_cell(found.get((name, g))) for g in games)]
        for name in dict.fromkeys(row.solver for row in rows)
    ]
    return table(["rounds between two queues", *games], lines) if lines else ""


def _lengths(results: Results) -> str:
    """How many vertices are queued, at some of the moments when a queue is made."""
    parts = []
    for row in results.rows:
        if not row.trace:
            continue
        step = max(1, -(-len(row.trace) // POINTS))
        shown = [*row.trace[:-1:step], row.trace[-1]]
        rounds, queued = zip(*shown, strict=True)
        parts.append(
            table(
                [f"{row.game}: round", *map(count, rounds)],
                [["vertices in the queue", *map(count, queued)]],
            )
        )
    return "\n\n".join(parts)


def _lifts(results: Results) -> str:
    """Millions of lifts per second, of one core and of the device."""
    rows, lines, ratios = _by_key(results), [], []
    for game in _games(results):
        pair = [rows.get((key, game)) for key in (("cpu", "queue"), _DEVICE)]
        rates = [row.lifts_per_s if row else None for row in pair]
        if not any(rates):
            continue
        core, device = rates
        compared = device / core if core and device else None
        ratios += [compared] if compared else []
        shown = [number(rate and rate / 1e6) for rate in rates]
        lines.append([game, *shown, number(compared), ""])
    if ratios:
        mean = number(statistics.geometric_mean(ratios))
        said = "on average over 20 (8.4)"
        lines.append(["geometric mean", DASH, DASH, mean, said])
    head = "game,core: million lifts/s,device: million lifts/s,device / core"
    return table([*head.split(","), "in the thesis"], lines) if lines else ""


def _tools(results: Results, peers: Results | None) -> str:
    """Our progress measures and our best beside a peer's."""
    if peers is None:
        return ""
    lines = []
    clear = "much faster than the other tools (8.7)"
    said: dict[str, str] = dict.fromkeys(
        ["elev7f", "hanoi12", "prop50_1k", "tprop21"], clear
    )
    for game in _games(results):
        rows = [row for row in peers.rows if row.game == game]
        theirs = [peer for peer in peers.peers if peer.game == game]
        if not rows:
            continue
        lifting = [row for row in rows if row.solver in ("spm", "alternating")]
        lifting += [
            row
            for row in results.rows
            if row.game == game and row.experiment in ("cpu", "queue")
        ]
        measures = [peer for peer in theirs if peer.solver in ("spm", "tspm")]
        ours, others = best(lifting), best_peer(measures)
        auto, first = entry(rows), best_peer(theirs)
        cells = [_named(ours), _named(others), _named(auto), _named(first)]
        lines.append([game, *cells, said.get(game, "")])
    head = "game,our SPM,peer's SPM,ours,best peer,in the thesis of its SPM"
    return table(head.split(","), lines) if lines else ""


def _scalability(machines: list[Results]) -> str:
    """The same solvers on each machine."""
    if len(machines) < 2:
        return ""
    keys = {"SPM, device": _DEVICE, "race": ("race", "race")}
    rows = [_by_key(each) for each in machines]
    names = [str(each.machine["device"]) for each in machines]
    pairs = [(label, i) for label in keys for i in range(len(machines))]
    lines = []
    for game in dict.fromkeys(game for each in machines for game in _games(each)):
        found = [rows[i].get((keys[label], game)) for label, i in pairs]
        if any(found):
            lines.append([game, *map(_cell, found)])
    head = ["game", *(f"{label} on {names[i]}" for label, i in pairs)]
    return table(head, lines) if lines else ""


_SPECIAL: dict[str, Callable[[Results], str]] = {
    "8.5": _scatter,
    "8.6": _periods,
    "8.8": _lengths,
    "8.11": _lifts,
}


def _plot(results: Results, figure: str, docs: Path) -> list[str]:
    name = f"{Path(results.file_name).stem}-{figure.replace('.', '-')}.svg"
    if not (docs / "assets" / name).exists():
        return []
    return [f"![Figure {figure}, on {results.machine['device']}](assets/{name})"]


def _by_key(results: Results) -> dict[tuple[Key, str], Row]:
    return {
        ((row.experiment, row.solver), row.game): row
        for row in results.rows
        if row.experiment is not None
    }


def _games(results: Results) -> Iterable[str]:
    return dict.fromkeys(row.game for row in results.rows)


def _spent(row: Row | None) -> float | None:
    """Seconds of the solve, whether it ended or was given up."""
    if row is None or row.verified is False or not row.solve_runs:
        return None
    return row.solve_s if row.solve_s is not None else row.solve_runs[0]


def _cell(row: Row | None) -> str:
    """The time; with what came before the solve, if something did."""
    if row is None:
        return DASH
    if row.verified is False:
        return "**WRONG**"
    spent = _spent(row)
    if spent is None:
        return row.status.lower().replace("_", " ")
    shown = seconds(spent) if row.answered else f"> {seconds(spent)}"
    return shown if row.reduce_s is None else f"{seconds(row.reduce_s)} + {shown}"


def _ratio(above: Row | None, below: Row | None) -> str:
    times = _spent(above), _spent(below)
    if above is None or below is None or None in times or not times[1]:
        return DASH
    if not above.answered and not below.answered:
        return DASH
    sign = "" if above.answered and below.answered else "> " if below.answered else "< "
    return sign + number((times[0] or 0.0) / times[1])


def _named(row) -> str:
    if row is None:
        return DASH
    spent = row.solve_s if isinstance(row, Row) else row.total_s
    return f"{seconds(spent)} ({row.solver})"
