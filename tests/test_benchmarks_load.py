"""The suite of reading: its files, and that what is read is what was written."""

import numpy as np
import pytest
from benchmark_results import options, results, row

from benchmarks import load, loading, run, schema
from jaxgames import Arena


@pytest.mark.parametrize("file", load.FILES, ids=lambda file: file.name)
def test_small_files_are_read(tmp_path, file):
    made = results("load")
    load.run(options(tmp_path, chosen=(file.name,), runs=2), made)
    (found,) = made.rows
    assert found.verified
    assert found.game == file.name
    assert found.vertices == file.small
    assert len(found.load_runs) == 2
    assert (found.file_bytes < found.text_bytes) == (file.suffix.count(".") == 2)
    assert not list(tmp_path.iterdir())


def test_another_value_is_not_the_same():
    game = load.MAKERS["pg"](50)
    other = Arena.from_csr(
        game.row_ptr, np.roll(game.dst, 1), owner=game.owner, priority=game.priority
    )
    assert load.same(game, game)
    assert not load.same(other, game)
    lts = load.MAKERS["aut"](50)
    assert not load.same(type(lts)(lts.arena, np.roll(lts.label, 1), lts.names), lts)


def test_the_table_tells_what_a_byte_takes():
    def of(game: str, load_s: float, size: int, verified=True):
        more = {"load_s": load_s, "text_bytes": size, "verified": verified}
        return row(game, "io.load", None, **more)

    rows = [
        of(loading.PER_BYTE, 1.0, 10**9),
        of(".aut 9", 0.5, 10**8),
        of(".mtx 9", 0.5, 10**8, verified=False),
    ]
    text = loading.section(results("load", rows))
    assert "| .aut 9 |" in text
    assert "| 200 MB | 5.00 |" in text
    assert ".mtx" not in text


def test_the_suite_is_known():
    assert load.SUITE in run.SUITES
    assert {"load_runs", "load_cpu_s", "file_bytes"} <= set(
        schema.Row.__dataclass_fields__
    )
