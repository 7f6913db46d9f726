"""What the results of the suite `load` say: a table of files."""

from benchmarks.schema import Results, Row
from benchmarks.tables import count, machine_line, num_bytes, number, seconds, table

PER_BYTE = ".pg 10,000,000"
"""The file whose time a byte others are held against."""


def section(results: Results) -> str:
    """A heading and a table."""
    head = ["file", "vertices", "edges", "text", "time", "CPU time", "text per second"]
    head.append("a byte, large .pg = 1")
    base = next((row for row in results.rows if row.game == PER_BYTE), None)
    return "\n\n".join(
        [
            f"### {results.machine['device']}",
            f"{machine_line(results)} Measured on {results.created}.",
            table(head, [_line(row, base) for row in results.rows if row.verified]),
        ]
    )


def _line(row: Row, base: Row | None) -> list[str]:
    assert row.load_s
    assert row.text_bytes
    ours = row.load_s / row.text_bytes
    ratio = None
    if base is not None and base.load_s and base.text_bytes:
        ratio = ours / (base.load_s / base.text_bytes)
    return [
        row.game,
        count(row.vertices),
        count(row.edges),
        num_bytes(row.text_bytes),
        seconds(row.load_s),
        seconds(row.load_cpu_s),
        num_bytes(round(row.text_bytes / row.load_s)),
        number(ratio),
    ]
