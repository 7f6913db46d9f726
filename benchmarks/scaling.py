"""What more devices bring: the rows of the suite `devices` beside those of one."""

from benchmarks.schema import Results, Row
from benchmarks.tables import DASH, count, number, percent, seconds, table

SPEEDUP = {2: 1.6, 4: 2.8}
"""How many times as fast one arena should be solved on so many devices, at least."""

LONGER = 0.2
"""By how much an arena that grows with the devices may take longer."""


def scaling(results: Results) -> str:
    """A table of several devices beside one; empty for other suites."""
    rows = [row for row in results.rows if "devices" in row.phases and row.solve_s]
    ones = {_what(row): row for row in rows if row.phases["devices"] == 1}
    lines = [
        [
            str(row.experiment),
            row.solver,
            count(row.edges),
            count(row.phases["devices"]),
            count(ones[_what(row)].rounds),
            count(row.rounds),
            seconds(ones[_what(row)].solve_s),
            seconds(row.solve_s),
            *_measured(row, ones[_what(row)]),
        ]
        for row in sorted(rows, key=lambda row: (*_what(row), row.phases["devices"]))
        if row.phases["devices"] > 1 and _what(row) in ones
    ]
    head = ["experiment", "solver", "edges", "devices", "rounds on one", "on these"]
    head += ["time on one", "on these", "measured", "aim"]
    return table(head, lines) if lines else ""


def _what(row: Row) -> tuple[str, str]:
    return str(row.experiment), row.solver


def _measured(row: Row, one: Row) -> tuple[str, str]:
    """What is to be seen, and what should be."""
    assert row.solve_s is not None
    assert one.solve_s is not None
    if str(row.experiment).startswith("weak"):
        longer = row.solve_s / one.solve_s - 1
        return f"{percent(longer)} longer", f"at most {percent(LONGER)} longer"
    aim = SPEEDUP.get(row.phases["devices"])
    return (
        f"{number(one.solve_s / row.solve_s)} times as fast",
        DASH if aim is None else f"at least {aim} times",
    )
