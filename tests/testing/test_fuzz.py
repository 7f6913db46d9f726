"""Differential fuzzing: that nothing is found, and that what is wrong is found."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import Arena, io, parity
from jaxgames.parity import FPI, reference
from jaxgames.solution import NO_EDGE
from jaxgames.testing import __main__ as command
from jaxgames.testing import all_checks, answers, fuzz, of_solver
from jaxgames.testing._fuzz import game, snippet
from jaxgames.testing._shrink import shrink

BATCH = 128
CHECKS = all_checks(max_vertices=8, batch=BATCH)


def find_nothing(names, games: int, edge_priorities: bool) -> None:
    summary = fuzz(
        [CHECKS[name] for name in names],
        games=games,
        seed=3,
        max_vertices=8,
        edge_priorities=edge_priorities,
        batch=BATCH,
    )
    assert summary.failure is None, summary.failure
    assert summary.games == games
    assert not summary.interrupted


@pytest.mark.parametrize(
    ("games", "edge_priorities"),
    [(2000, False), (600, True)],
    ids=["vertices", "edges"],
)
def test_nothing_is_found(games, edge_priorities):
    """Without most of the array programs, each of which compiles for seconds."""
    slow = {name for name in CHECKS if name.startswith("reference.spm")}
    names = CHECKS.keys() - slow - set(parity.SOLVERS) | {"zielonka"}
    find_nothing(sorted(names), games, edge_priorities)


@pytest.mark.sweep
@pytest.mark.parametrize("edge_priorities", [False, True], ids=["vertices", "edges"])
def test_nothing_is_found_at_length(edge_priorities):
    find_nothing(CHECKS, 20_000, edge_priorities)


@dataclasses.dataclass(frozen=True)
class Wrong(FPI):
    """A solver that gives vertices of priority 5 to player 1 if they have a choice."""

    name = "wrong"

    def answer(self, game, state):
        answer = super().answer(game, state)
        choice = jnp.diff(game.row_ptr) > 1
        wrong = (game.priority == 5) & choice & (answer.winner == 0)
        return answer._replace(winner=jnp.where(wrong, 1, answer.winner))


def test_a_wrong_device_solver_is_caught_and_its_game_shrunk():
    check = of_solver(Wrong(), max_vertices=8, batch=BATCH)
    summary = fuzz([check], games=5000, seed=5, max_vertices=8, batch=BATCH)
    failure = summary.failure
    assert failure is not None
    assert failure.check == "wrong"
    assert failure.complaint.startswith("winner 1 at vertex ")
    # Priorities are compressed: 5 needs 1 to 4 beside it, and its vertex has a choice.
    assert failure.arena.shape == (5, 6)
    original = game(5, failure.index, 8, edge_priorities=False)
    assert original.shape > failure.arena.shape


def wrong_moves(arena: Arena):
    """Right winners; the last edge where the first vertex of player 1 wins."""
    solution = reference.solve(arena)
    strategy = solution.strategy.copy()
    for v in np.flatnonzero((strategy != NO_EDGE) & arena.owner)[:1]:
        strategy[v] = arena.row_ptr[v + 1] - 1
    return solution.winner, strategy


def test_a_wrong_strategy_is_caught():
    failure = fuzz([answers("moves", wrong_moves)], games=1000, seed=6).failure
    assert failure is not None
    # A loop that player 1 loses, beside an edge that lets him win.
    assert failure.arena.shape[0] <= 2
    assert failure.arena.shape[1] <= 3
    winner, strategy = wrong_moves(failure.arena)
    claim = dataclasses.replace(
        reference.solve(failure.arena), winner=winner, strategy=strategy
    )
    assert not reference.verify(failure.arena, claim)


def raises(arena: Arena):
    raise ZeroDivisionError("by zero")


def test_an_exception_is_a_failure_of_the_smallest_game():
    failure = fuzz([answers("raises", raises)], games=10).failure
    assert failure is not None
    assert failure.arena.shape == (1, 1)
    assert failure.complaint == "ZeroDivisionError: by zero"


def test_shrinking_edge_priorities():
    arena = game(1, 17, 8, edge_priorities=True)
    arena = dataclasses.replace(arena, edge_priority=arena.edge_priority + 3)

    def fails(arenas):
        return [len(np.unique(a.edge_priority)) >= 3 for a in arenas]

    small = shrink(arena, fails)
    assert small.shape == (1, 3)
    assert sorted(small.edge_priority) == [0, 1, 2]
    assert not small.owner.any()


def test_games_are_made_from_their_numbers():
    first, again, other = (game(2, n, 8, edge_priorities=False) for n in (7, 7, 17))
    assert snippet(first) == snippet(again) != snippet(other)
    made = eval(snippet(first))  # what a user would paste
    np.testing.assert_array_equal(made.dst, first.dst)
    np.testing.assert_array_equal(made.priority, first.priority)


def test_interrupt_and_time_limit():
    def interrupt(arena):
        raise KeyboardInterrupt

    summary = fuzz([answers("interrupt", interrupt)], games=10)
    assert (summary.games, summary.interrupted) == (0, True)
    seen = []
    summary = fuzz([], games=10, batch=4, time_limit=0.0)
    assert (summary.games, summary.interrupted) == (0, False)
    fuzz([], games=10, batch=4, progress=lambda done, seconds: seen.append(done))
    assert seen == [4, 8, 10]


class TestCommand:
    def test_all_is_well(self, capsys):
        options = "--games 40 --batch 20 --max-vertices 6 --solvers reference.spm"
        assert command.main(options.split()) == 0
        out = capsys.readouterr().out
        assert out.startswith("40 games in ")
        assert "reference.spm.stack.single" in out

    def test_a_failure_is_written(self, capsys, tmp_path, monkeypatch):
        broken = {"moves": answers("moves", wrong_moves)}
        monkeypatch.setattr(command, "all_checks", lambda *_: broken)
        tmp_path /= "not there yet"
        assert command.main(["--seed", "6", "--output", str(tmp_path)]) == 1
        out = capsys.readouterr().out
        again = next(x for x in out.splitlines() if x.startswith("again: "))
        assert "--seed 6 --start " in again
        (file,) = tmp_path.iterdir()
        small = io.load(file)
        assert snippet(small) in out
        # The line says how to see it again.
        options = again.partition("jaxgames.testing ")[2].split()
        assert command.main([*options, "--output", str(tmp_path)]) == 1
        assert snippet(small) in capsys.readouterr().out

    def test_names(self, capsys):
        assert command.main(["--list"]) == 0
        names = capsys.readouterr().out.split()
        assert {"zielonka", "verify", "auto", "preprocess.chains"} <= set(names)
        with pytest.raises(SystemExit) as caught:
            command.main(["--solvers", "no-such"])
        assert caught.value.code == 2
        assert "no check is called 'no-such'" in capsys.readouterr().err

    def test_interrupt(self, monkeypatch, capsys):
        def interrupt(arena):
            raise KeyboardInterrupt

        broken = {"x": answers("x", interrupt)}
        monkeypatch.setattr(command, "all_checks", lambda *_: broken)
        assert command.main(["--games", "4"]) == 130
        assert "interrupted" in capsys.readouterr().out
