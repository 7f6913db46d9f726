import dataclasses

import numpy as np
import pytest

from jaxgames import Arena, io
from jaxgames.arena import LABELS

TEXT = "energyparity 3\n0 1 0 0 1,1 -5\n2 3 1 2 1\n1 2 0 0 0\n"


def drawn(seed: int) -> Arena:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    src = np.repeat(np.arange(size), rng.integers(1, 4, size))
    wide = 2 ** int(rng.choice([3, 40, 62]))
    return Arena.from_edges(
        src,
        rng.integers(0, size, len(src)),
        owner=rng.random(size) < 0.5,
        priority=rng.integers(0, 9, size),
        weight=rng.integers(-wide, wide, len(src)),
    )


def same(one: Arena, other: Arena) -> None:
    for name in ("row_ptr", "dst", "owner", *LABELS):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        if first is not None:
            np.testing.assert_array_equal(first, second, name)


@pytest.mark.parametrize("suffix", [".eparity", ".eparity.gz", ".npz"])
def test_all_of_a_game_comes_back(tmp_path, suffix):
    path = tmp_path / f"game{suffix}"
    for seed in range(40):
        arena = drawn(seed)
        io.save(path, arena)
        same(io.load(path), arena)
    io.save(path, drawn(1).pad(16, 64))
    same(io.load(path), drawn(1))


def test_the_content_tells_the_format(tmp_path):
    path = tmp_path / "game"
    path.write_text(f"\n{TEXT}\n")
    assert io.format_of(path) == "eparity"
    arena = io.load(path)
    assert arena.priority.tolist() == [1, 2, 3]
    assert arena.weight.tolist() == [1, -5, 0, 1]
    assert arena.owner.tolist() == [False, False, True]


def test_conditions(tmp_path):
    path = tmp_path / "game.eparity"
    for condition in ("max even", "min even", "max odd", "min odd"):
        for seed in range(10):
            arena = drawn(seed)
            io.save(path, arena, condition=condition)
            back = io.load(path, condition=condition).priority
            # Read back, they may all have grown by an even number.
            more = back - arena.priority
            assert (more == more[0]).all()
            assert more[0] % 2 == 0


def test_dead_ends(tmp_path):
    path = tmp_path / "game.eparity"
    path.write_text("energyparity 2\n0 4 1\n1 2 0 0 7\n")
    with pytest.raises(io.FormatError, match="game.eparity:2: vertex 0 has no succ"):
        io.load(path)
    arena = io.load(path, dead_ends="lose")
    assert (arena.priority.tolist(), arena.weight.tolist()) == ([0, 2], [1, 7])
    again = tmp_path / "again.eparity"
    io.save(again, io.load(path, dead_ends="allow"))
    assert again.read_text() == "energyparity 2\n0 4 1\n1 2 0 0 7\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected 'energyparity N', .*, found ''"),
        ("energyparity 0\n", ":1: expected 'energyparity N', with the number"),
        ("energyparity 99999999999999999999\n", ":1: expected 'energyparity N'"),
        ("energy 1\n0 0 0 0 0\n", "it starts like .energy files"),
        ("energyparity 2\n0 1 0 0 1\n", "vertex 1 is missing: the header announces 2"),
        ("energyparity 1\n0 1 0 0 1\n0 1 0 0 1\n", ":3: vertex 0 occurs twice"),
        (
            "energyparity 1\n0\n",
            ":2: expected its priority after an ident",
        ),
        ("energyparity 1\n1 0 0 0 1\n", "expected an identifier .a number from 0 to 0"),
        (
            "energyparity 1\n0 -1 0 0 1\n",
            "a priority of vertex 0 .a number from 0",
        ),
        ("energyparity 1\n0 1 2 0 1\n", "expected the owner of vertex 0"),
        ("energyparity 1\n0 1 0 1 1\n", "expected a successor of vertex 0"),
        (
            "energyparity 1\n0 1 0 0\n",
            "a weight after a successor of vertex 0",
        ),
        ("energyparity 1\n0 1 0 0 1,\n", "expected a successor after ',' after '1'"),
        ("energyparity 1\n0 1 0 0 x\n", "a weight of vertex 0 .an integer of 64 bits"),
        (
            f"energyparity 1\n0 1 0 0 {2**63}\n",
            "a weight of vertex 0 .an integer",
        ),
        (f"energyparity 1\n0 {'9' * 5000} 0 0 1\n", "expected a priority"),
    ],
)
def test_malformed_files(tmp_path, text, message):
    path = tmp_path / "game.eparity"
    path.write_text(text)
    with pytest.raises(io.FormatError, match=message):
        io.load(path)


def test_what_cannot_be_written(tmp_path):
    path, arena = tmp_path / "game.eparity", drawn(3)
    for change in (
        {"weight": None},
        {"priority": None},
        {"accepting": np.zeros(arena.shape[0], bool)},
        {"edge_priority": np.zeros(arena.shape[1], np.int32)},
    ):
        with pytest.raises(
            ValueError, match="game has .*weight|game has prio|cannot hold"
        ):
            io.save(path, dataclasses.replace(arena, **change))
    assert not path.exists()
