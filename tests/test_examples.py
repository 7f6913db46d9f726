"""The examples run, and say what they should."""

import functools
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import numpy as np
import pytest

from jaxgames import cli, graph

EXAMPLES = Path(__file__).parent.parent / "examples"

SAYS = {
    "model_checking.py": [
        "Explored(34 states, 88 transitions, propositions neighbours_eat hungry eats)",
        "deadlocks: ['hungry hungry hungry hungry']",
        "G !neighbours_eat: holds",
        "G(hungry -> F eats): violated",
        "then again and again",
    ],
    "ten_thousand.py": [
        "player 0 wins from vertex 0 in 102 of them",
    ],
    "dataset.py": ["100 games in 1 files", "all answers are certified: True"],
    "training_loop.py": ["it has learnt something: True"],
    "retrograde.py": [
        "tic-tac-toe: 5478 positions",
        "  the start is a draw",
        "connect 3 on 4 rows of 4: 41750 positions",
        "  the start is a win for the first player, in 9 moves",
        "  best first moves: 1 2",
    ],
    "random_games.py": [
        "     1            34.6%              13.0%              3.5%",
        "     2            34.4%              42.5%             14.0%",
        "     6            50.7%              99.6%             88.0%",
    ],
    "shield.py": [
        "the guard can force a crash from 114 of 1458 states",
        "agents crash without a shield: True",
        "no agent crashes with the shield: True",
    ],
}

OPTIONS = {"ten_thousand.py": ["200"]}


@pytest.mark.parametrize("name", SAYS)
def test_example(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, *OPTIONS.get(name, ())])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if line in SAYS[name]] == SAYS[name]


def test_the_picture_of_the_front_page_is_what_the_command_draws(tmp_path):
    drawn = tmp_path / "handshake.svg"
    game = str(EXAMPLES / "handshake.pg")
    command = ["solve", game, "--verify", "--draw", str(drawn), "-q"]
    assert cli.main(command) == cli.Exit.DONE
    shown = EXAMPLES.parent / "docs" / "assets" / "handshake.svg"
    assert drawn.read_text() == shown.read_text()


def test_sharding_makes_four_devices_and_uses_them():
    """In a process of its own: devices are made when JAX starts."""
    flags = os.environ.get("XLA_FLAGS", "").split()
    flags = " ".join(flag for flag in flags if "device_count" not in flag)
    done = subprocess.run(
        [sys.executable, EXAMPLES / "sharding.py", "64"],
        env=os.environ | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "one arena, in slices on 4 devices: same True",
        "64 games, dealt out to 4 devices: same True",
        "64 games, made and solved where they lie: same True",
    ]


@functools.cache
def names_of(name):
    """What an example defines."""
    return runpy.run_path(str(EXAMPLES / name))


# ---- retrograde.py ---------------------------------------------------------------


def minimax(rows, columns, connect, falls):
    """Value and length of a game from each position, by recursion over dictionaries."""
    cells = [(y, x) for y in range(rows) for x in range(columns)]
    values = {}

    def has_line(board, stone):
        return any(
            all(
                board.get((y + i * down, x + i * right)) == stone
                for i in range(connect)
            )
            for y, x in cells
            for down, right in [(0, 1), (1, 0), (1, 1), (-1, 1)]
        )

    def value_of(board, stone):
        position = tuple(board.get(cell, 0) for cell in cells)
        if position in values:
            return values[position]
        if has_line(board, 3 - stone):
            values[position] = (1 if stone == 2 else -1, 0)
            return values[position]
        sign = 1 if stone == 1 else -1
        options = [
            value_of({**board, (y, x): stone}, 3 - stone)
            for y, x in cells
            if (y, x) not in board
            and (not falls or y + 1 == rows or (y + 1, x) in board)
        ]
        # Win soon, else draw, else lose late.
        best = max(
            options,
            key=lambda found: (found[0] * sign, -found[1] * found[0] * sign),
            default=(0, -1),
        )
        values[position] = best[0], best[1] + 1 if best[0] else -1
        return values[position]

    value_of({}, 1)
    return values


@pytest.mark.parametrize(
    ("rows", "columns", "connect", "falls", "start"),
    [
        (3, 3, 3, False, (0, -1)),
        (3, 3, 3, True, (0, -1)),
        (4, 3, 3, True, (0, -1)),
        (3, 4, 3, True, (1, 9)),
        (2, 3, 2, True, (1, 3)),
        (1, 4, 5, False, (0, -1)),
    ],
)
def test_retrograde_analysis_is_minimax(rows, columns, connect, falls, start):
    game = names_of("retrograde.py")["Game"](rows, columns, connect, falls)
    solved = game.solve()
    positions = map(tuple, solved.space.states.tolist())
    found = zip(solved.value.tolist(), solved.moves.tolist(), strict=True)
    expected = minimax(rows, columns, connect, falls)
    assert dict(zip(positions, found, strict=True)) == expected
    assert expected[(0,) * rows * columns] == start
    # A game in which both do their best ends as it should.
    length = len(solved.play())
    assert length == (start[1] if start[0] else rows * columns)


def test_a_position_after_moves_is_solved_as_in_the_whole_game():
    game = names_of("retrograde.py")["Game"](3, 4, 3, falls=True)
    whole, part = game.solve(), game.solve(moves=[0, 0, 3])
    number = {tuple(x): i for i, x in enumerate(whole.space.states.tolist())}
    same = [number[tuple(x)] for x in part.space.states.tolist()]
    assert 1 < len(same) < len(number)
    for name in ("value", "moves", "mover"):
        found, expected = getattr(part, name), getattr(whole, name)
        np.testing.assert_array_equal(found, expected[same])
    with pytest.raises(ValueError, match="move 0 of .* is not legal"):
        game.solve(moves=[0, 0, 0, 0])


def test_positions_of_connect_four_are_as_many_as_published():
    # OEIS A212693: positions of the usual board after so many moves.
    game = names_of("retrograde.py")["Game"](6, 7, 4, falls=True)
    space = graph.explore(
        game.successors, [0] * 42, ranges=[3] * 42, max_states=23000, throw=False
    )
    counts = np.diff(space.levels)[:7].tolist()
    assert counts == [1, 7, 49, 238, 1120, 4263, 16422]


@pytest.mark.parametrize(
    ("name", "board", "moves"),
    [
        ("tic_tac_toe", (3, 3, 3, False), ""),
        ("connect_four", (6, 7, 4, True), "630363242261462622415015333450"),
    ],
)
def test_the_rules_of_pgx_lead_to_the_same(name, board, moves):
    pgx = pytest.importorskip("pgx", reason="pgx is not installed")
    module, moves = names_of("retrograde.py"), [int(move) for move in moves]
    found = module["solve_pgx"](pgx.make(name), moves)
    assert len(set(found.value)) == 3
    assert module["same"](module["Game"](*board).solve(moves), found)


# ---- shield.py -------------------------------------------------------------------


def test_the_shield_leaves_all_moves_that_are_safe_and_no_other():
    module = names_of("shield.py")
    world = module["explored"]()
    lost, allowed = map(np.asarray, module["shield"](world))
    lines = module["MAZE"].split()
    ways = [(0, 0), (0, -1), (0, 1), (-1, 0), (1, 0)]
    free = {
        (y, x) for y, row in enumerate(lines) for x, c in enumerate(row) if c != "#"
    }
    after = {(y, x): [(y + i, x + j) for i, j in ways] for y, x in free}
    moves = {cell: [to for to in after[cell] if to in free] for cell in free}
    # Agent, guard, and who moves; what is bad grows until it does not any more.
    bad, size = {(one, one, turn) for one in free for turn in (0, 1)}, 0
    while size < len(bad):
        size = len(bad)
        for one in free:
            for two in free:
                if any((one, to, 0) in bad for to in moves[two]):
                    bad.add((one, two, 1))
                if all((to, two, 1) in bad for to in moves[one]):
                    bad.add((one, two, 0))
    width = len(lines[0])
    for v, (one, two, turn) in enumerate(np.asarray(world.states).tolist()):
        cells = divmod(one, width), divmod(two, width)
        assert lost[v] == ((*cells, turn) in bad)
        if turn == 0 and one != two:
            safe = [
                to in free and (to, cells[1], 1) not in bad for to in after[cells[0]]
            ]
            assert allowed[v].tolist() == safe
    assert not lost[0]


def test_agents_with_a_shield_never_crash():
    module = names_of("shield.py")
    world, keys = module["explored"](), jax.random.split(jax.random.key(7), 5)
    train = jax.vmap(module["trained"], in_axes=(None, None, 0, None))
    _, crashes, arrivals = train(world, np.array(True), keys, 100)
    assert crashes.shape == (5, 100)
    assert not crashes.any()
    assert (arrivals.sum(axis=1) > 0).all()
    _, crashes, _ = train(world, np.array(False), keys, 100)
    assert (crashes.sum(axis=1) > 0).all()


def test_what_examples_write_is_cleared_away(tmp_path_factory):
    """The examples of docstrings make folders by `tempfile`, and leave them."""
    where = Path(tempfile.mkdtemp())
    assert where.is_relative_to(tmp_path_factory.getbasetemp())
