"""What the results of the suite `start` say: a table of processes."""

from benchmarks import start
from benchmarks.schema import Results, Row
from benchmarks.tables import DASH, count, machine_line, number, seconds, table


def section(results: Results) -> str:
    """A heading and a table."""
    head = [
        "process",
        "vertices",
        "edges",
        "CPU time",
        "the very first",
        "import numpy = 1",
    ]
    base = next((row for row in results.rows if row.game == start.NUMPY), None)
    return "\n\n".join(
        [
            f"### {results.machine['device']}",
            f"{machine_line(results)} Measured on {results.created}.",
            table(head, [_line(row, base) for row in results.rows if row.verified]),
        ]
    )


def _line(row: Row, base: Row | None) -> list[str]:
    assert row.call_s
    ratio = row.call_s / base.call_s if base is not None and base.call_s else None
    return [
        f"`{row.game}`",
        count(row.vertices) if row.vertices else DASH,
        count(row.edges) if row.vertices else DASH,
        seconds(row.call_s),
        seconds(row.first_call_s),
        number(ratio),
    ]
