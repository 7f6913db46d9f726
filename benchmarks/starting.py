"""What the results of the suite `start` say: a table of processes."""

from pathlib import Path

from benchmarks import start
from benchmarks.schema import Results, Row
from benchmarks.tables import DASH, count, machine_line, number, seconds, table


def kind_of_program(row: Row) -> str:
    """Whose process it is: `jaxgames`, `Oink` or `Python`."""
    if row.game.startswith("jaxgames "):
        return "jaxgames"
    return "Python" if row.game.startswith("python ") else "Oink"


def section(results: Results, docs: Path | None = None) -> str:
    """A heading, the plot if there is one in `docs/assets`, and a table."""
    head = [
        "process",
        "vertices",
        "edges",
        "CPU time",
        "the very first",
        "import numpy = 1",
    ]
    processes = [row for row in results.rows if row.verified]
    large = [row for row in processes if row.experiment == start.ELAPSED]
    small = [row for row in processes if row.experiment != start.ELAPSED]
    base = next((row for row in results.rows if row.game == start.NUMPY), None)
    device = results.machine["device"]
    return "\n\n".join(
        [
            f"### {device}",
            f"{machine_line(results)} Measured on {results.created}.",
            *_picture(results, "times", "CPU seconds of whole processes", docs),
            table(head, [_line(row, base) for row in small]),
            *_large(results, large, docs),
        ]
    )


def _large(results: Results, rows: list[Row], docs: Path | None) -> list[str]:
    """Whole processes on large games, by the clock on the wall."""
    if not rows:
        return []
    head = ["process on a large game", "vertices", "edges", "time", "the very first"]
    picture = _picture(results, "elapsed", "Seconds of whole processes", docs)
    return [*picture, table(head, [_line(row, None)[:-1] for row in rows])]


def _picture(results: Results, kind: str, what: str, docs: Path | None) -> list[str]:
    """A plot, if it is there."""
    name = f"{Path(results.file_name).stem}-{kind}.svg"
    if docs is None or not (docs / "assets" / name).exists():
        return []
    return [f"![{what}, on {results.machine['device']}](assets/{name})"]


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
