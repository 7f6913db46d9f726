"""The suite of several devices: what is sent, and its arenas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from benchmark_results import results, row

from benchmarks import devices, run, scaling, schema
from benchmarks.run import Options
from jaxgames import graph, ops, parallel

PROGRAM = """
%body (x: s32[8]) -> s32[8] {
  %a = s32[4096]{0} all-gather(%x), channel_id=1
  %b = (s8[2048]{0}, s8[4096]{0}) all-gather-start(%y), channel_id=2
  %c = pred[] all-reduce(%z), to_apply=%or
  %d = s32[4096]{0} fusion(%all-gather), kind=kLoop
}
ENTRY %main (x: s32[8]) -> s32[8] {
  %e = s32[65536]{0} all-gather(%x), channel_id=3
}
"""


def test_collectives_of_a_loop_are_read_from_its_program():
    assert list(devices.collectives(PROGRAM)) == [
        ("all-gather", 4 * 4096),
        ("all-gather", 4096),
        ("all-reduce", 1),
    ]


def test_directions_are_those_of_one_graph():
    found = devices.directions(parallel.mesh(1), 9)
    size, pairs = 1 << 9, []
    for links in found:
        block = np.moveaxis(np.asarray(links.blocks[0]), 1, 0).reshape(4, size)
        edge, row = np.nonzero(block < size)
        pairs.append(np.stack([row, block[edge, row]]))
    out, into = (sorted(map(tuple, x.T)) for x in (pairs[0], pairs[1][::-1]))
    assert out == into
    assert 0.7 < len(out) / (4 * size) < 0.9
    assert int(ops.count_links(found.out)) == len(out)
    with parallel.over(1, devices.SHARES):
        spread = graph.scc(found, "max_id")
    offsets = np.append(0, np.cumsum(np.bincount(pairs[0][0], minlength=size)))
    targets = np.array([target for _, target in out])
    alone = graph.scc((offsets, targets), "host")
    np.testing.assert_array_equal(spread.labels, alone.labels)


def test_a_digest_tells_answers_apart():
    x = jnp.arange(6, dtype=jnp.int32)
    assert devices.digest(x) == devices.digest(x)
    assert devices.digest(x) != devices.digest(x[::-1])
    assert devices.digest((x, x > 2)) != devices.digest((x, x > 3))


def test_rows_say_how_many_devices(tmp_path):
    results = schema.Results(suite="devices", machine={"device": "cpu"})
    options = Options(
        small=True, runs=1, experiments=("weak",), chosen=("parity",),
        solvers=("promotion",), scratch=tmp_path, results=tmp_path,
    )  # fmt: skip
    devices.run(options, results)
    assert len(results.rows) == min(jax.device_count(), 4).bit_length()
    row = results.rows[0]
    assert row.answered
    assert row.phases == dict.fromkeys(("collectives", "reductions", "bytes"), 0) | {
        "devices": 1
    }
    assert "devices" in run.SUITES


@pytest.mark.usefixtures("wide_pages")
def test_the_page_sets_several_devices_beside_one():
    def timed(experiment, devices, solve_s, **more):
        phases = {"devices": devices}
        return row("any", "fvi", solve_s, experiment=experiment, phases=phases, **more)

    strong = [timed("strong", 1, 0.3), timed("strong", 2, 0.2), timed("strong", 3, 0.1)]
    weak = [timed("weak", 2, 0.15), timed("weak", 1, 0.1), timed("alone", 2, 1.0)]
    lines = scaling.scaling(results("devices", strong + weak)).splitlines()[2:]
    assert [line.split("|")[4].strip() for line in lines] == ["2", "3", "2"]
    assert "1.50 times as fast | at least 1.6 times" in lines[0]
    assert "3.00 times as fast | –" in lines[1]
    assert "50% longer | at most 20% longer" in lines[2]
    assert scaling.scaling(results("parity", [row("any", "fpi", 1.0)])) == ""
