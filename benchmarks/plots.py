"""The plots of the pages, as SVG."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from benchmarks import start
from benchmarks.call_inputs import GROUPS
from benchmarks.calls_page import called, of_group, rival
from benchmarks.compare import best_peer, by_game, entry, sequential, spent
from benchmarks.schema import Results
from benchmarks.starting import kind_of_program

PROGRAMS = {"jaxgames": "tab:blue", "Oink": "tab:orange", "Python": "tab:grey"}
"""Colours of those whose processes are timed."""


def plot(results: list[Results], assets: Path) -> None:
    """Draws the plots of each results file, as SVG.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    assets.mkdir(parents=True, exist_ok=True)
    # With a fixed salt and no date, the same results give the same file.
    with rc_context({"svg.hashsalt": "jaxgames", "font.size": 9}):
        for each in results:
            for name, draw in _DRAWS.get(each.suite, _COMPARISON).items():
                figure = Figure(layout="constrained")
                if draw(figure, each):
                    stem = Path(each.file_name).stem
                    figure.savefig(
                        assets / f"{stem}-{name}.svg", metadata={"Date": None}
                    )


def _draw_times(figure, results: Results) -> bool:
    """Games from top to bottom, seconds from left to right; False if there are none."""
    return _draw_against(
        figure, results, "best peer", lambda _, peers: best_peer(peers)
    )


def _draw_sequential(figure, results: Results) -> bool:
    """The same against the fastest sequential program."""
    return _draw_against(figure, results, "best sequential program", sequential)


def _draw_against(figure, results: Results, name: str, rival: Callable) -> bool:
    games = [
        (game, rows, peers)
        for game, rows, peers in by_game(results)
        if entry(rows) or rival(rows, peers)
    ]
    if not games:
        return False
    games.sort(key=lambda game: game[1][0].edges, reverse=True)
    figure.set_size_inches(7, 1.2 + 0.25 * len(games))
    axes = figure.add_subplot()
    for label, color, style, chosen in (
        (name, "tab:orange", "s", [rival(rows, peers) for _, rows, peers in games]),
        (
            "jaxgames",
            "tab:blue",
            "o",
            [entry(rows) for _, rows, _ in games],
        ),
    ):
        points = [(spent(each), place) for place, each in enumerate(chosen) if each]
        if points:
            axes.plot(*zip(*points, strict=True), style, color=color, label=label)
    axes.set_xscale("log")
    axes.set_xlabel("seconds to solve")
    axes.set_yticks(range(len(games)), [game for game, _, _ in games])
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return True


def _draw_calls(figure, results: Results) -> bool:
    """Whole calls beside the best peer's, group by group; only where there is one."""
    pairs = [
        (f"{group}: {game}", ours.call_s, theirs.total_s, theirs.peer)
        for group in GROUPS
        for game, rows, peers in by_game(of_group(results, group))
        if (ours := called(rows)) and (theirs := rival(group, peers)) and theirs.total_s
    ]
    if not pairs:
        return False
    pairs.reverse()  # the first one on top
    figure.set_size_inches(7, 1.2 + 0.2 * len(pairs))
    axes = figure.add_subplot()
    names, ours, theirs, peers = zip(*pairs, strict=True)
    places = range(len(pairs))
    axes.hlines(places, ours, theirs, color="lightgrey", zorder=0)
    label = f"best of {', '.join(sorted({*peers}))}"
    axes.plot(theirs, places, "s", color="tab:orange", label=label)
    axes.plot(ours, places, "o", color="tab:blue", label="jaxgames, the whole call")
    axes.set_xscale("log")
    axes.set_xlabel("seconds from arrays to the answer")
    axes.set_yticks(places, names)
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return True


def _draw_starts(figure, results: Results) -> bool:
    """CPU seconds of whole processes, of ours and of the programs of others."""
    return _draw_processes(figure, results, False, "CPU seconds of the whole process")


def _draw_elapsed(figure, results: Results) -> bool:
    """Whole processes on large games, by the clock on the wall."""
    return _draw_processes(figure, results, True, "seconds of the whole process")


def _draw_processes(figure, results: Results, elapsed: bool, label: str) -> bool:
    """A row for each process that ended as it should, in the order of the table."""
    verified = [row for row in results.rows if row.verified and row.call_s]
    rows = [row for row in verified if (row.experiment == start.ELAPSED) == elapsed]
    if not rows:
        return False
    rows.reverse()  # the first one on top
    figure.set_size_inches(7, 1.2 + 0.25 * len(rows))
    axes = figure.add_subplot()
    kinds = [kind_of_program(row) for row in rows]
    for kind, color in PROGRAMS.items():
        places = [place for place, found in enumerate(kinds) if found == kind]
        if places:
            seconds = [rows[place].call_s for place in places]
            axes.plot(seconds, places, "o", color=color, label=kind)
    first = [(row.first_call_s, y) for y, row in enumerate(rows) if row.first_call_s]
    if first:
        very_first = "the very first one"
        axes.plot(*zip(*first, strict=True), "|", color="grey", label=very_first)
    axes.set_xscale("log")
    axes.set_xlabel(f"{label}, with its start")
    axes.set_yticks(range(len(rows)), [row.game for row in rows])
    axes.grid(axis="x", which="both" if elapsed else "major", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
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


def _draw_periods(figure, results: Results) -> bool:
    """Seconds by the number of rounds between two queues, a line for each game."""
    rows = [row for row in results.rows if row.experiment == "period" and row.answered]
    return _draw_lines(
        figure,
        {
            game: [
                (int(row.solver.removeprefix("every ")), row.solve_s)
                for row in rows
                if row.game == game
            ]
            for game in dict.fromkeys(row.game for row in rows)
        },
        "rounds between two queues",
        "seconds to solve",
    )


def _draw_lengths(figure, results: Results) -> bool:
    """Vertices in the queue by round, a line for each game."""
    return _draw_lines(
        figure,
        {row.game: row.trace for row in results.rows if row.trace},
        "round",
        "vertices in the queue",
    )


def _draw_lines(figure, lines: dict[str, list], x: str, y: str) -> bool:
    if not lines:
        return False
    figure.set_size_inches(7, 3.5)
    axes = figure.add_subplot()
    for label, points in lines.items():
        axes.plot(*zip(*points, strict=True), ".-", label=label)
    axes.set_xscale("symlog")
    axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return True


def _of_products(draw: Callable) -> Callable:
    """The same without the rows of experiments."""

    def drawn(figure, results: Results) -> bool:
        rows = [row for row in results.rows if row.experiment is None]
        return draw(figure, dataclasses.replace(results, rows=rows))

    return drawn


_COMPARISON: dict[str, Callable] = {"times": _draw_times, "bandwidth": _draw_bandwidth}
_SEQUENTIAL: dict[str, Callable] = {**_COMPARISON, "times": _draw_sequential}
_DRAWS: dict[str, dict[str, Callable]] = {
    "hard": {},
    "samples": {},
    "values": {},
    "calls": {"times": _draw_calls},
    "start": {"times": _draw_starts, "elapsed": _draw_elapsed},
    "thesis": {"8-6": _draw_periods, "8-8": _draw_lengths},
    "graph": _SEQUENTIAL,
    "mdp": _SEQUENTIAL,
    "ltl": {name: _of_products(draw) for name, draw in _COMPARISON.items()},
}
"""By suite; `_COMPARISON` for the others."""
