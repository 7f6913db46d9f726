"""Links: both layouts against plain loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import ops
from jaxgames.ops import _links, _rows, _slices

LOW, HIGH = np.iinfo(np.int32).min, np.iinfo(np.int32).max


pairs = jax.jit(ops.pairs, static_argnums=(2, 3))
packed_at = jax.jit(_links.packed_at, static_argnums=2)


def random_rows(seed: int, num_rows: int = 80, num_targets: int = 50):
    """Rows of all lengths, some empty, two very long; some links twice."""
    rng = np.random.default_rng(seed)
    degree = rng.integers(0, 6, num_rows)
    degree[::30] = 70
    degree[:1] = 600
    offsets = np.append(0, np.cumsum(degree)).astype(np.int32)
    targets = rng.integers(0, max(num_targets, 1), offsets[-1]).astype(np.int32)
    return offsets, targets


def in_both_layouts(offsets, targets, num_targets, monkeypatch):
    padded = ops.links(offsets, targets, num_targets)
    monkeypatch.setattr(_slices, "SLICE_FROM", 0)
    monkeypatch.setattr(_slices, "SLICE_COST", 16)  # several slices
    sliced = ops.links(offsets, targets, num_targets)
    assert isinstance(padded, ops.PairLinks)
    assert isinstance(sliced, ops.SlicedLinks)
    tail = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    shuffled = np.random.default_rng(1).permutation(len(tail) + 9)
    tail = np.append(tail, [len(offsets) - 1, HIGH, -1] * 3)[shuffled]
    head = np.append(targets, [0, HIGH, -5] * 3)[shuffled]
    listed = pairs(tail, head, len(offsets) - 1, num_targets)
    return {"padded": padded, "sliced": sliced, "listed": listed}


def by_loop(offsets, targets, reduce, empty, value, where=None):
    rows = [
        [value[t] for t in targets[i:j] if where is None or where[t]]
        for i, j in zip(offsets[:-1], offsets[1:], strict=True)
    ]
    return [reduce(row) if row else empty for row in rows]


@pytest.fixture(params=["padded", "sliced", "listed"])
def layout(request):
    return request.param


def test_packed_booleans(layout, monkeypatch):
    monkeypatch.setattr(_links, "PACK_FROM", 0)
    rows = random_rows(6)
    links = in_both_layouts(*rows, 50, monkeypatch)[layout]
    x = np.random.default_rng(0).random(50) < 0.2
    # Functions of their own: what is compiled depends on what is packed.
    found = jax.jit(lambda *x: ops.links_any(*x))(links, x)
    np.testing.assert_array_equal(found, by_loop(*rows, any, False, x))
    found = jax.jit(lambda *x: ops.links_all(*x))(links, ~x)
    np.testing.assert_array_equal(found, by_loop(*rows, all, True, ~x))


def test_links_one_by_one(monkeypatch):
    offsets, targets = random_rows(3)
    links = in_both_layouts(offsets, targets, 50, monkeypatch)["sliced"]
    rows = np.random.default_rng(0).permutation(len(offsets) - 1)
    widths = np.asarray(jax.jit(ops.row_widths)(links, rows))
    link_at = jax.jit(ops.link_at)
    for row, width in zip(rows, widths, strict=True):
        of_row = targets[offsets[row] : offsets[row + 1]]
        assert width >= len(of_row)
        place = np.arange(width)
        found = np.asarray(link_at(links, np.full(width, row), place))
        assert sorted(found[found < 50]) == sorted(of_row)
        assert (found >= 50).sum() == width - len(of_row)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_packed_numbers(bits):
    rng = np.random.default_rng(bits)
    x = rng.integers(0, 1 << bits, 77).astype(np.int8)
    index = rng.integers(0, 77, (3, 50))
    words = jax.jit(_links.packed, static_argnums=1)(x, bits)
    assert len(words) == -(-77 * bits // 32)
    np.testing.assert_array_equal(packed_at(words, index, bits), x[index])


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_reductions(layout, masked, seed, monkeypatch):
    rows = random_rows(seed)
    rng = np.random.default_rng(seed)
    x = rng.integers(-100, 100, 50).astype(np.int32)
    bits = rng.random(50) < 0.5
    where = rng.random(50) < 0.6 if masked else None
    mask = None if where is None else jnp.asarray(where)
    links = in_both_layouts(*rows, 50, monkeypatch)[layout]
    functions = ops.links_max, ops.links_min, ops.links_any, ops.links_all
    values = [jnp.asarray(v) for v in (x, x, bits, bits)]
    expected = [
        by_loop(*rows, reduce, empty, value, where)
        for reduce, empty, value in [
            (max, LOW, x),
            (min, HIGH, x),
            (any, False, bits),
            (all, True, bits),
        ]
    ]

    @jax.jit
    def inside(links, values, mask):
        return [f(links, v, mask) for f, v in zip(functions, values, strict=True)]

    @jax.jit
    def again(links, values, mask):
        on_links = [ops.at_targets(links, v) for v in values]
        return inside(links, on_links, ops.at_targets(links, mask))

    ways = [inside] if mask is None else [inside, again]
    for way in ways:
        for found, wanted in zip(way(links, values, mask), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    if seed == 0:  # each operation alone is compiled anew
        np.testing.assert_array_equal(
            ops.links_max(links, values[0], mask), expected[0]
        )


def test_links_that_are_kept(layout, monkeypatch):
    offsets, targets = random_rows(5, 50, 50)
    links = in_both_layouts(offsets, targets, 50, monkeypatch)[layout]
    kind = np.random.default_rng(0).integers(0, 3, 50).astype(np.int32)

    @jax.jit
    def ways(links, kind, x):
        own, other = ops.at_rows(links, kind), ops.at_targets(links, kind)
        same = tuple(x == y for x, y in zip(own, other, strict=True))
        less = ops.keep_links(links, same)
        found = ops.links_max(less, x), ops.links_max(links, x, same)
        return found, (ops.count_links(less), ops.count_links(links))

    x = np.arange(50, dtype=np.int32)
    expected = [
        max((t for t in targets[i:j] if kind[t] == kind[row]), default=LOW)
        for row, (i, j) in enumerate(zip(offsets[:-1], offsets[1:], strict=True))
    ]
    found, counts = ways(links, kind, x)
    for each in found:
        np.testing.assert_array_equal(each, expected)
    tails = np.repeat(np.arange(50), np.diff(offsets))
    count = int(np.sum(kind[tails] == kind[targets]))
    assert [int(x) for x in counts] == [count, len(targets)]


def test_lists_of_the_links_of_some_rows(layout, monkeypatch):
    offsets, targets = random_rows(8)
    links = in_both_layouts(offsets, targets, 50, monkeypatch)[layout]
    rows = np.arange(80) % 3 == 0
    count_rows = jax.jit(ops.count_rows)
    needed = np.asarray(count_rows(links, rows)).tolist()
    tails = np.repeat(np.arange(80), np.diff(offsets))
    expected = sorted(zip(tails[rows[tails]], targets[rows[tails]], strict=True))
    if layout == "sliced":
        assert sum(needed) == rows.sum()
    else:
        assert needed == [len(expected)]
    assert len(expected) <= ops.cells_of_rows(links, needed) <= ops.num_cells(links)
    tail, head = jax.device_get(
        jax.jit(ops.list_links, static_argnums=(2, 3))(
            links, rows, tuple(x + 1 for x in needed), len(expected) + 5
        )
    )
    assert (tail[-5:].tolist(), head[-5:].tolist()) == ([80] * 5, [50] * 5)
    assert sorted(zip(tail[:-5].tolist(), head[:-5].tolist(), strict=True)) == expected


@pytest.mark.parametrize(
    ("num_rows", "num_targets", "degree"), [(0, 0, 0), (0, 3, 0), (4, 0, 0), (4, 3, 0)]
)
def test_empty_links(layout, num_rows, num_targets, degree, monkeypatch):
    offsets = np.arange(num_rows + 1) * degree
    targets = np.zeros(0, np.int32)
    links = in_both_layouts(offsets, targets, num_targets, monkeypatch)[layout]
    x = np.zeros(num_targets, np.int32)

    @jax.jit
    def reduced(links, x):
        most, least = ops.links_max(links, x), ops.links_min(links, x)
        return most, least, ops.links_any(links, x == 0), ops.links_all(links, x == 1)

    for found, wanted in zip(reduced(links, x), (LOW, HIGH, False, True), strict=True):
        assert found.tolist() == [wanted] * num_rows


def test_regular_links():
    targets = np.array([[1, 2, 0, 3], [0, 0, 4, 4]], np.int32)  # 4: no link
    links = ops.regular(jnp.asarray(targets))

    @jax.jit
    def reduced(links, x):
        found = ops.links_max(links, x), ops.links_min(links, x)
        return *found, ops.count_links(links)

    most, least, count = reduced(links, np.array([5, 1, 2, 0], np.int32))
    assert most.tolist() == [5, 5, 5, 0]
    assert least.tolist() == [1, 2, 5, 0]
    assert count == 6
    assert ops.num_cells(links) == 8
    assert ops.num_cells((links, links)) == 16


def test_batches(layout, monkeypatch):
    rows = random_rows(7)
    links = in_both_layouts(*rows, 50, monkeypatch)[layout]
    x = np.random.default_rng(3).integers(-9, 9, (4, 50)).astype(np.int32)
    found = jax.jit(jax.vmap(ops.links_max, in_axes=(None, 0)))(links, x)
    for one, of in zip(np.asarray(found), x, strict=True):
        np.testing.assert_array_equal(one, by_loop(*rows, max, LOW, of))


def test_batches_of_links():
    tail, head = np.array([[0, 1, 2], [1, 1, 3]]), np.array([[1, 1, 0], [0, 2, 2]])
    x = jnp.array([7, 8, 9])

    def highest(tail, head):
        return ops.links_max(ops.pairs(tail, head, 3, 3), x)

    found = jax.jit(jax.vmap(highest))(tail, head)
    assert found.tolist() == [[8, 8, 7], [LOW, 9, LOW]]


@pytest.mark.parametrize("interpreted", [False, True])
def test_transpose(interpreted, monkeypatch):
    if interpreted:
        monkeypatch.setattr(_rows, "can_compile", lambda: False)
    offsets, targets = random_rows(2)
    starts, sources = ops.transpose(offsets, targets, 50)
    tails = np.repeat(np.arange(80), np.diff(offsets))
    for target in range(50):
        expected = tails[targets == target]
        np.testing.assert_array_equal(
            sources[starts[target] : starts[target + 1]], expected
        )
    assert starts.dtype == sources.dtype == np.int32
