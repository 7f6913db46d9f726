"""The aims of the suites on components, held against what was measured."""

import statistics
from collections.abc import Callable, Iterable

from benchmarks.compare import (
    HOST,
    best,
    best_peer,
    by_game,
    entry,
    ratio,
    sequential,
    spent,
)
from benchmarks.schema import PeerRow, Results, Row
from benchmarks.tables import count, number, seconds, table

STORM = "stormpy"
SCIPY = "scipy"
ON_HOST = (HOST, "auto", "race")
"""Solvers that are not, or not only, the device's."""

LARGE = 5_000_000
"""Edges from which a GPU should be far ahead."""

HUGE = 80_000_000
"""Edges of a graph of one component on which it should be farther ahead."""

MANY = 1_000_000
"""States from which the same holds for end components."""

SOME = 10_000
"""Vertices from which a CPU should be not far behind."""

Game = tuple[str, list[Row], list[PeerRow]]
"""A name, with all that was measured on it."""


def bars_of_graphs(results: Results) -> str:
    """A table of the aims on graphs, and how far they are reached."""
    games = list(by_game(results))
    on_cpu = results.machine["backend"] == "cpu"
    return bars_table(_cpu_bars(games) if on_cpu else _gpu_bars(games))


def bars_of_models(results: Results) -> str:
    """The same on models; empty on a CPU."""
    if results.machine["backend"] == "cpu":
        return ""
    large = [game for game in by_game(results) if game[1][0].vertices >= MANY]
    return bars_table(
        mean_and_worst(
            f"Storm's time over ours, models of at least {MANY:,} states",
            ratios(large, over_storm),
            "at least 50 times",
            least=True,
        )
    )


def bars_table(lines: list[list[str]]) -> str:
    return table(["what", "measured", "aim"], lines) if lines else ""


def _gpu_bars(games: list[Game]) -> list[list[str]]:
    large = [game for game in games if game[1][0].edges >= LARGE]
    one = [
        game
        for game in games
        if game[1][0].edges >= HUGE and any(row.components == 1 for row in game[1])
    ]
    lines = mean_and_worst(
        "time of the fastest sequential program over ours, graphs of at least "
        f"{LARGE:,} edges",
        ratios(large, over_sequential),
        "at least 10 times",
        least=True,
        worst_aim="at least once",
    )
    for game, value in ratios(one, over_scipy).items():
        lines.append(
            [
                f"scipy's time over ours, one component of at least {HUGE:,} edges",
                f"{number(value)} times ({game})",
                "at least 100 times",
            ]
        )
    for game, rows, _ in games:
        ours = entry(rows)
        if "on device" in game and ours is not None:
            lines.append(
                [
                    f"our time on a graph made on the device, {count(rows[0].edges)} "
                    "edges",
                    f"{seconds(ours.solve_s)} ({game})",
                    "less than 0.2 s",
                ]
            )
    wlan = ratios((game for game in games if game[0].startswith("wlan")), _over_tarjan)
    if wlan:
        worst = min(wlan, key=lambda game: wlan[game])
        lines.append(
            [
                "time of a compiled Tarjan over ours, the paper's bad case: the worst "
                f"of {len(wlan)}",
                f"{number(wlan[worst])} times ({worst})",
                "more than once",
            ]
        )
    return lines


def _cpu_bars(games: list[Game]) -> list[list[str]]:
    some = [game for game in games if game[1][0].vertices >= SOME]
    return [
        *mean_and_worst(
            "time of our fastest array program over scipy's, graphs of at least "
            f"{SOME:,} vertices",
            ratios(some, lambda game: to_scipy(of_device(game[1]), game)),
            "at most 3 times",
        ),
        *mean_and_worst(
            "time of the host engine over scipy's, the same graphs",
            ratios(some, lambda game: to_scipy(of_host(game[1]), game)),
            "at most once",
        ),
    ]


def mean_and_worst(
    what: str,
    ratios: dict[str, float],
    aim: str,
    *,
    least: bool = False,
    worst_aim: str | None = None,
) -> list[list[str]]:
    """Two lines: the geometric mean of some ratios, and the worst of them."""
    if not ratios:
        return []
    worst = (min if least else max)(ratios, key=lambda game: ratios[game])
    mean = statistics.geometric_mean(ratios.values())
    return [
        [f"{what}, geometric mean ({len(ratios)})", f"{number(mean)} times", aim],
        [
            f"{what}, the worst",
            f"{number(ratios[worst])} times ({worst})",
            worst_aim or aim,
        ],
    ]


def ratios(
    games: Iterable[Game], over: Callable[[Game], float | None]
) -> dict[str, float]:
    found = {game[0]: over(game) for game in games}
    return {name: value for name, value in found.items() if value}


def over_sequential(game: Game) -> float | None:
    """Time of the fastest sequential program over ours."""
    return times(sequential(game[1], game[2]), entry(game[1]))


def _over_tarjan(game: Game) -> float | None:
    return times(of_host(game[1]), entry(game[1]))


def over_scipy(game: Game) -> float | None:
    return times(peer_of(game[2], SCIPY), entry(game[1]))


def over_storm(game: Game) -> float | None:
    """Storm's time over ours."""
    return times(peer_of(game[2], STORM), entry(game[1]))


def to_scipy(ours: Row | None, game: Game) -> float | None:
    return ratio(ours, peer_of(game[2], SCIPY))


def times(theirs: Row | PeerRow | None, ours: Row | None) -> float | None:
    """Their time over ours: above one, we are faster."""
    if theirs is None or ours is None or not ours.solve_s:
        return None
    return spent(theirs) / ours.solve_s


def of_host(rows: Iterable[Row]) -> Row | None:
    """The compiled sequential engine."""
    return best(row for row in rows if row.solver == HOST)


def of_device(rows: Iterable[Row]) -> Row | None:
    """The fastest of our array programs."""
    return best(row for row in rows if row.solver not in ON_HOST)


def peer_of(peers: Iterable[PeerRow], name: str) -> PeerRow | None:
    """A peer by name, if it gave our answer."""
    return best_peer(peer for peer in peers if peer.peer == name)
