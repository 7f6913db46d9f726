"""The page on spectra: each step of ours, beside what gpuequiv has published.

The prose stands in the template, with a line such as `<!-- table: equivalence -->`
where a table goes, once for each machine.
"""

from pathlib import Path

from benchmarks.compare import by_game, entry
from benchmarks.decomposition_bars import bars_table, of_device, of_host
from benchmarks.decomposition_page import Tables, answer, filled, time_of, with_engine
from benchmarks.equivalence import STEPS
from benchmarks.schema import Results, Row
from benchmarks.tables import DASH, count, num_bytes, number, seconds, table, verdict

SUITE = "equivalence"
TEMPLATE = Path(__file__).parent / "equivalence_template.md"

GPUEQUIV = {"vasy_8_24": 0.066, "vasy_10_56": 5.46, "cwi_1_2": 17.7}
"""Seconds that the authors of gpuequiv tell for building and solving on an RX 6700 XT.
"""

GPUEQUIV_GAME = {"vasy_8_24": 0.042, "vasy_10_56": 4.07, "cwi_1_2": 8.91}
"""Of these the seconds for solving the game."""

SEQUENTIAL = {"vasy_8_24": 1.35, "vasy_10_56": 109.0, "cwi_1_2": 229.0}
"""Seconds that they tell for a sequential program in Scala."""

ON_GPU = {"vasy_8_24": 0.02, "vasy_10_56": 1.0, "cwi_1_2": 2.0}
"""Seconds that systems should take at most on a GPU."""

ON_CPU = {"vasy_10_56": 30.0}
"""The same on a CPU of two cores."""


def page(results: list[Results], docs: Path, template: Path = TEMPLATE) -> str:
    """The page's text.

    Args:
        results: of all suites and machines.
        docs: folder of the page.
        template: the prose.
    """
    return filled(results, docs, template, TABLES)


def _bars(results: Results) -> str:
    """A table of the aims, and how far they are reached."""
    on_cpu = results.machine["backend"] == "cpu"
    return bars_table(
        [
            [
                f"our time on {name}, from its transitions to all notions",
                time_of(entry(rows)),
                f"less than {seconds((ON_CPU if on_cpu else ON_GPU)[name])}",
            ]
            for name, rows, _ in by_game(results)
            if name in (ON_CPU if on_cpu else ON_GPU)
        ]
    )


def _side_by_side(results: Results) -> str:
    """Every system: ours, and what was published."""

    def line(name: str, rows: list[Row]) -> list[str]:
        ours, theirs = entry(rows), GPUEQUIV.get(name)
        compared = None
        if ours is not None and ours.solve_s and theirs:
            compared = ours.solve_s / theirs
        return [
            name,
            *(count(rows[0].phases.get(key)) for key in ("states", "classes", "pairs")),
            count(rows[0].vertices),
            count(rows[0].edges),
            with_engine(ours),
            time_of(of_device(rows)),
            time_of(of_host(rows)),
            seconds(theirs),
            seconds(GPUEQUIV_GAME.get(name)),
            seconds(SEQUENTIAL.get(name)),
            number(1 / compared if compared else None),
            verdict(compared),
        ]

    head = (
        ",states,classes,pairs,positions,moves,jaxgames,on the device,compiled,"
        "gpuequiv,of which solving,Scala,gpuequiv / ours,"
    )
    lines = [line(name, rows) for name, rows, _ in by_game(results)]
    return table(head.split(","), lines) if lines else ""


def _steps(results: Results) -> str:
    """Every row, step by step."""

    def line(row: Row) -> list[str]:
        return [
            row.game,
            row.solver,
            row.engine or DASH,
            seconds(row.generate_s if row.load_s is None else row.load_s),
            seconds(row.compile_s),
            *(seconds(getattr(row, step)) for step in STEPS),
            seconds(row.solve_s),
            count(row.rounds),
            count(row.phases.get("visits")),
            num_bytes(row.phases.get("bytes")),
            answer(row),
        ]

    head = (
        ",engine,solver,load,compile,classes,build,budgets,notions,together,rounds,"
        "taken up,game,answer"
    )
    return table(head.split(","), [line(row) for row in results.rows])


TABLES: Tables = {
    "equivalence-bars": (SUITE, _bars),
    "equivalence": (SUITE, _side_by_side),
    "equivalence-steps": (SUITE, _steps),
}
