"""Machine code from plain loops: the same answers as Python's."""

import concurrent.futures
import functools
import gc
import itertools
import os
import pickle
import subprocess
import sys
import types
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from jaxgames import native
from jaxgames.native import _arrays, _kept, _machine, _reading, _sort
from jaxgames.testing import _compiling

pytestmark = pytest.mark.skipif(
    not native.can_translate(), reason="llvmlite is not installed"
)

LIMIT = 7
PAIR = (3, 4)


class Graph(NamedTuple):
    """A tuple with names."""

    row_ptr: np.ndarray
    dst: np.ndarray
    size: int


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Machine code of programs is kept where nobody else looks."""
    _reading.reader()  # what all programs have in common is not among it
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def plain(function):
    """Of this module all functions may call one another."""
    own = isinstance(function, types.FunctionType) and function.__module__ == __name__
    return function if own else None


@functools.cache
def program(function):
    return native.Program(function, plain)


def called(program, *arguments):
    """What the machine code of a program returns."""
    found = program.code(arguments)
    assert found is not None
    code, room = found
    return code(room, arguments)


def run(function, *arguments):
    """What the machine code of a function returns."""
    return called(program(function), *arguments)


def divided(a, b):
    return a // b, a % b, a // 4, a % 4, -a // 3, a % -3


def test_divisions_round_down():
    for a, b in itertools.product(range(-9, 10), (-4, -3, -1, 1, 2, 5)):
        assert run(divided, a, b) == divided(a, b)


def test_a_division_by_zero_raises():
    with pytest.raises(ZeroDivisionError):
        run(divided, 1, 0)


def of_bits(a, b):
    return a & b, a | b, a ^ b, ~a, a << 3, a >> 2, -a, abs(b), min(a, b, 5), max(a, b)


def test_bits():
    for a, b in itertools.product((-9, -1, 0, 1, 77), repeat=2):
        assert run(of_bits, a, b) == of_bits(a, b)


def nearer_and_farther(a, b, values):
    values[0] = max(values[0], b)
    return min(a, b), max(a, b), min(a, b, 1), max(1, a), values[0]


def test_the_less_and_the_more_of_reals():
    """What is no number is never less or more, and the first of what is equal stays."""
    for a, b in itertools.product((-0.5, -0.0, 0.0, 2.5, np.inf, np.nan), repeat=2):
        right = nearer_and_farther(a, b, np.array([a]))
        found = run(nearer_and_farther, a, b, np.array([a]))
        np.testing.assert_array_equal(found, right)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(right))


def logic(a, b, values):
    found = 0
    if a < b <= 5 and values[0] > 0:
        found += 1
    elif not a or b in (7, 8):
        found += 2
    else:
        found = -found - 1 if a == b else 9
    return found, a == b, a != b and b > 1, found > LIMIT, bool(a)


def test_conditions_are_those_of_python():
    values = np.array([1])
    for a, b in itertools.product(range(-1, 10), repeat=2):
        assert run(logic, a, b, values) == logic(a, b, values)


def reads_only_where_asked(values, at):
    return at < len(values) and values[at] > 0


def test_what_comes_later_is_not_read():
    """An index far away would end the process."""
    assert run(reads_only_where_asked, np.ones(2), 1 << 40) is False


def loops(values, stop):
    total, count = 0, 0
    for i in range(len(values)):
        if values[i] == stop:
            break
        if values[i] % 2:
            continue
        total += values[i]
    for i in range(10, 0, -3):
        total += 100 * i
    while True:
        count += 1
        if count * count > total:
            break
    for value in values[2:-1]:
        total -= value
    for one in (total, count, LIMIT):
        if one > 1000:
            continue
        count += one
    return total, count, i


def test_loops():
    values = np.arange(20, dtype=np.int16)
    for stop in (-1, 0, 7, 30):
        assert run(loops, values, stop) == loops(values, stop)


def unpacks(values):
    a, b, c = values
    (d, e), f = (a, b + 1), c
    a, b = b, a
    return a, b, d, e, f


def test_arrays_and_tuples_are_unpacked():
    values = np.array([5, -6, 7], np.int32)
    assert run(unpacks, values) == unpacks(values)


def slices(values):
    part = values[-4:100]
    part[:] = 7
    values[1:3] = values[3:5]
    table = values[:6].reshape((2, 3))
    table[1][0] += 40
    return part, table, table[0, 1:], values[5:2], table.shape, table.ndim, len(part)


def same(one, other):
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return one == other


def test_slices_are_views():
    for dtype in (np.int8, np.uint16, np.int32, np.int64, np.float64, np.bool_):
        one, other = np.arange(10).astype(dtype), np.arange(10).astype(dtype)
        found, expected = run(slices, one), slices(other)
        assert same(found, expected)
        assert np.array_equal(one, other)
        found[0][0] = 1
        assert one[-4] == 1  # its memory is the argument's


def makes(size, like):
    zeros, ones = np.zeros((size, 2), np.int32), np.ones(size, np.bool_)
    full, places = np.full(size, -3, np.int64), np.arange(size)
    again, floats = np.empty_like(like), np.full(2, 0.5)
    again[:] = like
    more = again.copy()
    more[0] = LIMIT
    zeros[size - 1, 1] = places.sum()
    return zeros, ones, full, places, again, more, floats


def test_new_arrays():
    for size in (1, 5, 1000):
        like = np.arange(size, dtype=np.int8)
        assert same(run(makes, size, like), makes(size, like))


def grows(times):
    found = np.zeros(1, np.int64)
    for turn in range(times):
        found = appended(found, turn)
    return found


def appended(values, value):
    longer = np.zeros(len(values) + 1, np.int64)
    longer[: len(values)] = values
    longer[len(values)] = value
    return longer


def test_arrays_of_callees_live_as_long_as_they_are_used():
    found = run(grows, 300)
    part = found[100:]
    del found
    gc.collect()
    assert np.array_equal(part, grows(300)[100:])


def first_of(graph, vertices):
    if vertices is None:
        return graph.dst[graph.row_ptr[graph.size - 1]]
    if vertices.ndim == 1:
        return vertices[0]
    return vertices[0, 0]


def test_branches_of_other_types_are_left_out():
    graph = Graph(np.array([0, 2, 3]), np.array([1, 0, 5], np.int32), 2)
    for vertices in (None, np.array([8]), np.array([[9]])):
        assert run(first_of, graph, vertices) == first_of(graph, vertices)


def moved(graph, by):
    return Graph(graph.row_ptr, graph.dst, graph.size + by)


def test_named_tuples_are_returned():
    graph = Graph(np.array([0]), np.array([], np.int32), 2)
    found = run(moved, graph, True)
    assert type(found) is Graph
    assert found.size == 3
    assert found.dst.dtype == np.int32


def numbers(a, b, pair):
    low = pair if pair < PAIR else PAIR
    return a * b, a / 2, a < b, -a, low, (a, 1) > (a, 0), np.int8(200 + pair[0])


def test_floats_and_tuples():
    for pair in ((3, 3), (3, 5), (2, 9), (4, 0)):
        found = run(numbers, 1.5, 2, pair)
        assert found[:-1] == (3.0, 0.75, True, -1.5, min(pair, PAIR), True)
        assert found[-1] == 200 + pair[0] - 256


def at(values, index):
    return values[index]


def test_what_is_read_only_is_no_other_kind():
    values = np.arange(3)
    values.flags.writeable = False
    new = native.Program(at, plain)
    for given in (values, values.copy()):
        assert called(new, given, 2) == 2
    assert len(new._forms) == 1


class Named(np.ndarray):
    """Arrays of another class."""


def test_arguments_of_all_kinds_are_read():
    """In turn, so that each is told from the others; numbers of NumPy's classes too."""
    numbers = [3, True, 0.5, np.int32(4), np.int64(-5), np.uint8(200), np.bool_(True)]
    numbers += [np.float64(1.5), np.float32(0.25), -(1 << 62)]
    arrays = [np.arange(4, dtype=x) for x in (np.int8, np.int32, np.int64, float)]
    arrays += [np.array([True, False, True]), np.arange(3).view(Named)]
    arrays += [pickle.loads(pickle.dumps(np.arange(5, dtype=np.int32)))]
    row = Graph(arrays[1], arrays[2], 7)
    new = native.Program(picked, plain)
    given = [*numbers, None, (), (1, 2), (1, 2, 3), (1, (2, None), 3.5), row]
    given += [(row, row), (row, None), *arrays]
    for _ in range(2):
        for one, other in itertools.product(given, given[::-1]):
            assert same(called(new, one, other), (other, one, 1))


def test_what_looks_alike_is_read_alike():
    new = native.Program(at, plain)
    for dtype in (np.int32, ">i4", np.int64):
        for given in (np.arange(8, dtype=dtype), np.arange(8, dtype=dtype)):
            again = pickle.loads(pickle.dumps(given))  # whose dtype is another object
            for values in (given, again, given[2:], given.reshape(2, 4)[1]):
                if values.dtype.isnative:
                    assert called(new, values, 1) == values[1]
                else:
                    assert new.code((values, 1)) is None
    assert len(new._forms) == 2
    assert new.code((np.arange(8)[::2], 1)) is None
    assert new.code((np.asfortranarray(np.eye(3)), 1)) is None
    assert new.code((np.arange(8), "1")) is None
    assert called(new, np.eye(3), 1).tolist() == [0, 1, 0]


def picked(one, other):
    return other, one, 1


def of_constants(values):
    return values[-1], values[-2:].sum(), values[0, -1] if values.ndim == 2 else 0


def row_of(table, row, column):
    return table[row][column] + table[row, column]


def write_at(values, index):
    values[index] = 7
    return values[-1]


def test_constants_count_from_the_end():
    assert run(of_constants, np.arange(5)) == (4, 7, 0)


def test_every_process_of_a_run_checks_indices():
    own = " ".join(_compiling.FAST_COMPILATION)
    if os.environ.get("XLA_FLAGS", own) != own:
        pytest.skip("this run has what users have")
    assert _arrays.Arrays.checks_indices


def test_an_index_of_no_item_is_found_where_that_is_asked_for(monkeypatch):
    monkeypatch.setattr(_arrays.Arrays, "checks_indices", False)
    values, table = np.arange(3), np.arange(6).reshape(2, 3)
    assert called(native.Program(at, plain), values, 2) == 2
    native.check_indices()
    line = at.__code__.co_firstlineno + 1
    for index in (-1, 3, 2**40):
        checked = native.Program(at, plain)
        with pytest.raises(IndexError, match=f"line {line} "):
            called(checked, values, index)
        assert called(checked, values, 2) == 2
    for place in ((2, 0), (-1, 0), (0, 3), (1, -1)):
        with pytest.raises(IndexError):
            called(native.Program(row_of, plain), table, *place)
    writes = native.Program(write_at, plain)
    with pytest.raises(IndexError):
        called(writes, values, 3)
    assert called(writes, values, 2) == 7


def test_what_has_no_machine_code():
    for values in (
        np.arange(6)[::2],
        np.zeros(2, ">i4"),
        np.zeros(2, np.uint64),
        np.zeros(2, object),
        [1, 2],
        "word",
    ):
        assert program(at).code((values, 0)) is None
    for function in (joins, calls_itself, changes_type, asks_python):
        assert program(function).code((3,)) is None


def joins(n):
    return [n]


def calls_itself(n):
    return calls_itself(n - 1) if n else 0


def changes_type(n):
    found = n
    found = np.zeros(found)
    return len(found)


def asks_python(n):
    return sorted(n)


def test_numbers_of_more_than_64_bits_are_refused():
    assert run(of_bits, 1, 2) == of_bits(1, 2)
    with pytest.raises(OverflowError):
        run(of_bits, 1 << 63, 1)


def takes(size):
    small = np.zeros(10, np.int64)
    return len(appended_to(small, size))


def appended_to(small, size):
    small = small.copy()
    return np.empty(size, np.int64)


def test_a_lack_of_memory_raises():
    assert run(takes, 5) == 5
    with pytest.raises(MemoryError):
        run(takes, 1 << 58)


def test_sorts():
    values = np.random.default_rng(0)
    for size in range(40):
        one = values.integers(0, size + 1, size).astype(np.int32)
        other = one.copy()
        _sort.sort(other)
        assert np.array_equal(other, np.sort(one))
        assert same(run(is_sorted, one.copy()), (np.sort(one), np.sort(one)))


def is_sorted(values):
    found = np.sort(values)
    values.sort()
    return found, values


def test_threads_wait_for_machine_code():
    """All get it, also those that ask while it is being made."""
    new = native.Program(grows, plain)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(new.code, [(3,)] * 8))
    assert None not in codes
    assert len({code for code, _ in codes}) == 1


def limited(value):
    return value + LIMIT


def test_machine_code_is_kept_until_something_changes(place, monkeypatch):
    def run(function, *arguments):
        return called(native.Program(function, plain), *arguments)

    assert run(limited, 1) == 8
    (kept,) = place.iterdir()
    monkeypatch.setattr(_machine, "assembled", None)  # nothing is made anew
    assert run(limited, 2) == 9
    monkeypatch.undo()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place))
    kept.write_bytes(b"spoilt")
    assert run(limited, 3) == 10
    monkeypatch.setitem(globals(), "LIMIT", 10)
    assert run(limited, 3) == 13
    assert len(list(place.iterdir())) == 1  # the old one is removed


def test_of_an_install_that_nobody_may_write_to_it_is_the_users(tmp_path, monkeypatch):
    def run(function, *arguments):
        return called(native.Program(function, plain), *arguments)

    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # As if the package could be read only, by whoever runs this.
    monkeypatch.setattr(_kept.os, "access", lambda *_: False)
    real = _kept._keep
    own = Path(__file__).parent
    monkeypatch.setattr(
        _kept, "_keep", lambda path, x: own not in path.parents and real(path, x)
    )
    assert run(limited, 1) == 8
    (kept,) = (tmp_path / "cache/jaxgames/native").iterdir()
    with monkeypatch.context() as made:
        made.setattr(_machine, "assembled", None)  # nothing is made anew
        assert run(limited, 2) == 9
    # Others may write there: what is in it is not run, and nothing is added.
    kept.write_bytes(b"")
    (tmp_path / "cache/jaxgames").chmod(0o777)
    assert run(limited, 3) == 10
    assert kept.read_bytes() == b""


SCATTERED = """
import ctypes
import sys

from jaxgames import native

memory = ctypes.CDLL(None)
memory.mmap.restype = ctypes.c_void_p
memory.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3,
                        ctypes.c_long]
memory.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE, FAR, HOLES, RESERVED = 1 << 12, 1 << 32, 200, 0x4022


def half(x):
    return x * 0.3 + 0.7 / x


def reserve(size):
    return memory.mmap(None, size, 0, RESERVED, -1, 0)


program = native.Program(half, lambda value: None)
begin = reserve(FAR * HOLES)
if begin == ctypes.c_void_p(-1).value:
    sys.exit("no room")
for i in range(HOLES):  # each has room for one section
    memory.munmap(begin + i * FAR + FAR // 2, PAGE)
while not begin <= reserve(PAGE) < begin + FAR * HOLES:
    pass  # now these holes are all that is free near anything
code, room = program.code((2.0,))
print(code(room, (2.0,)))
"""


def test_sections_lie_side_by_side_where_much_is_reserved(place):
    """As by a process that uses a GPU: free places may be terabytes apart."""
    program = place / "scattered.py"
    program.write_text(SCATTERED)
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True
    )
    if "no room" in done.stderr:
        pytest.skip("the system gives no process so much of its addresses")
    assert done.stdout == f"{2.0 * 0.3 + 0.7 / 2.0}\n", done.stderr[-500:]


def summed_ahead(values, order):
    total = 0
    for place in range(len(order)):
        native.prefetch(values, order[place] + 5)
        total += int(values[order[place]])
    return total


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_what_is_fetched_ahead_changes_nothing(dtype):
    """Nor does an index that no item has."""
    values, order = np.arange(100).astype(dtype), np.arange(99, -1, -1)
    known = {native.prefetch: native.prefetch}
    found = called(native.Program(summed_ahead, known.get), values, order)
    assert found == summed_ahead(values, order) == 4950
