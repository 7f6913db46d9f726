"""Tic-tac-toe and Connect Four on a small board, solved by retrograde analysis.

The rules are one function of an array of boards. Exploring it finds all positions; who
wins from which is two attractors, from the ends of games backward. Run it with

    python examples/retrograde.py [ROWS COLUMNS CONNECT]

where 4 rows and 4 columns, and 3 stones in a row, are what Connect Four is solved for
if nothing is said. Where Pgx is installed, tic-tac-toe is solved from its rules too.
"""

import dataclasses
import functools
import importlib
import sys

import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from jaxgames import graph

EMPTY = 0  # the stones are 1 and 2, the players 0 and 1


@dataclasses.dataclass(frozen=True)
class Game:
    """A board where players set stones in turn, and so many in a row win.

    Attributes:
        rows: rows of the board, of which the first is at the top.
        columns: its columns.
        connect: stones in a row that win.
        falls: whether a stone falls down its column (Connect Four), so that a move is
            a column, or stays in its cell, so that a move is a cell.
    """

    rows: int
    columns: int
    connect: int
    falls: bool = False

    @property
    def size(self) -> int:
        """Cells of the board; they are numbered row by row."""
        return self.rows * self.columns

    @functools.cached_property
    def lines(self) -> np.ndarray:
        """The cells of each line that wins: `[L, connect]`."""
        found = []
        for down, right in [(0, 1), (1, 0), (1, 1), (1, -1)]:
            y, x = np.divmod(np.arange(self.size), self.columns)
            along = np.arange(self.connect)
            y, x = y[:, None] + down * along, x[:, None] + right * along
            inside = (y < self.rows) & (x >= 0) & (x < self.columns)
            found.append((y * self.columns + x)[inside.all(axis=1)])
        return np.concatenate(found)

    @functools.cached_property
    def choices(self) -> np.ndarray:
        """The cells where a move may put a stone: bool `[moves, cells]`."""
        cell = np.arange(self.size)
        if not self.falls:
            return np.equal.outer(cell, cell)
        return np.equal.outer(np.arange(self.columns), cell % self.columns)

    def mover(self, boards):
        """Who moves, 0 or 1: `[N]`."""
        return (boards != EMPTY).sum(axis=1) % 2

    def won(self, boards, player):
        """Where there is a line of a player, or of one for each board: bool `[N]`."""
        stone = (player + 1) * (boards[:, :1] * 0 + 1)[:, 0]
        return (boards[:, self.lines] == stone[:, None, None]).all(axis=2).any(axis=1)

    def successors(self, boards):
        """What each move makes of boards `[N, cells]`, for numpy and for JAX."""
        xp = boards.__array_namespace__()
        mover = self.mover(boards)
        free = boards == EMPTY
        if self.falls:  # on the floor or on a stone
            floor = xp.ones((len(boards), self.columns), bool)
            free &= xp.concatenate([~free[:, self.columns :], floor], axis=1)
        put = self.choices & free[:, None]
        after = xp.where(put, mover[:, None, None] + 1, boards[:, None])
        over = self.won(boards, 1 - mover)
        return after, put.any(axis=2) & ~over[:, None]

    def explore(self, moves=()):
        """All positions that follow some moves from the empty board."""
        board = np.zeros((1, self.size), np.int32)
        for move in moves:
            after, legal = self.successors(board)
            if not legal[0, move]:
                raise ValueError(f"move {move} of {list(moves)} is not legal")
            board = after[:, move].astype(np.int32)
        return graph.explore(self.successors, board, ranges=[3] * self.size)

    def solve(self, moves=()):
        """The values of all positions that follow some moves."""
        space = self.explore(moves)
        ends = [
            space.evaluate(functools.partial(self.won, player=player))
            for player in (0, 1)
        ]
        return Solved.of(space, self.mover, ends)


@dataclasses.dataclass(frozen=True)
class Solved:
    """What retrograde analysis finds.

    Attributes:
        space: the positions.
        value: `[V]`, 1 where the first player can force a win, -1 where the second can,
            0 where each can avoid the other's.
        moves: `[V]`, how many moves a win takes: the winner hurries, the loser does
            not; -1 for a draw.
        mover: `[V]`, who moves.
    """

    space: graph.StateSpace
    value: np.ndarray
    moves: np.ndarray
    mover: np.ndarray

    @classmethod
    def of(cls, space, mover, ends):
        """Attracts each player to the positions where he has won.

        Args:
            space: the positions.
            mover: who moves, bool `[V]` or a function of positions.
            ends: for each player the positions where he has won, bool `[V]`.
        """
        arena = space.arena(owner=mover)
        first, second = (graph.attractor(arena, ends[p], player=p) for p in (0, 1))
        value = np.asarray(first.mask).astype(int) - np.asarray(second.mask)
        moves = np.maximum(np.asarray(first.rank), np.asarray(second.rank))
        return cls(space, value, moves, np.asarray(arena.owner).astype(int))

    def best(self, position):
        """The best moves in a position, and the positions they lead to."""
        begin, end = self.space.offsets[position : position + 2]
        after = self.space.targets[begin:end]
        good = self.value[after] * (1 - 2 * self.mover[position])
        # Win at once, or later, or draw, or lose late.
        merit = good * (len(self.value) - self.moves[after])
        chosen = merit == merit.max(initial=-len(self.value))
        return self.space.actions[begin:end][chosen], after[chosen]

    def play(self):
        """The moves of a game in which both do their best, each the first he can."""
        position, moves = 0, []
        while len(found := self.best(position)[0]):
            moves.append(int(found[0]))
            position = self.best(position)[1][0]
        return moves

    def tell(self, name):
        """Prints it."""
        count = {v: int((self.value == v).sum()) for v in (1, 0, -1)}
        print(f"{name}: {self.space.num_states} positions")
        print(f"  first player wins {count[1]}, second {count[-1]}, drawn {count[0]}")
        outcome = [
            "a draw",
            "a win for the first player",
            "a win for the second player",
        ]
        told = f", in {self.moves[0]} moves" if self.value[0] else ""
        print(f"  the start is {outcome[self.value[0]]}{told}")
        print("  best first moves:", *self.best(0)[0])
        print("  a best game:", *self.play())


def solve_pgx(env, moves=()):
    """Solves a game from the rules of Pgx: of two players, without chance or secrets.

    What a state of Pgx's consists of, in a row, are the components of ours.

    Args:
        env: `pgx.make(...)`, with few positions.
        moves: what is played before.
    """

    def as_row(state):  # what players see follows from the rest
        return ravel_pytree(state.replace(observation=None))

    start = env.init(jax.random.key(0))
    first, step = start.current_player, jax.jit(env.step)
    for move in moves:
        start = step(start, move)
    row, as_state = as_row(start)
    actions = np.arange(len(start.legal_action_mask))

    def states(rows):
        return jax.vmap(as_state)(rows.astype(row.dtype))

    def successors(rows):
        old = states(rows)
        step = jax.vmap(jax.vmap(env.step, in_axes=(None, 0)), in_axes=(0, None))
        after = jax.vmap(jax.vmap(lambda state: as_row(state)[0]))(step(old, actions))
        return after.astype(int), old.legal_action_mask & ~old.terminated[:, None]

    def told(rows):
        found = states(rows)
        return found.rewards, found.current_player != first

    space = graph.explore(successors, np.asarray(row).astype(int))
    reward, mover = jax.device_get(jax.jit(told)(space.states))
    return Solved.of(space, mover, [reward[:, first] > 0, reward[:, 1 - first] > 0])


def same(one, other):
    """Whether two solved games have the same positions, in one order, and values."""
    spaces = one.space, other.space
    return all(
        np.array_equal(*pair)
        for pair in [
            [space.offsets for space in spaces],
            [space.targets for space in spaces],
            [space.actions for space in spaces],
            (one.mover, other.mover),
            (one.value, other.value),
            (one.moves, other.moves),
        ]
    )


def main() -> None:
    """Solves both games."""
    rows, columns, connect = map(int, sys.argv[1:4] or (4, 4, 3))
    tic_tac_toe = Game(3, 3, 3).solve()
    tic_tac_toe.tell("tic-tac-toe")
    name = f"connect {connect} on {rows} rows of {columns}"
    Game(rows, columns, connect, falls=True).solve().tell(name)
    try:
        pgx = importlib.import_module("pgx")
    except ImportError:
        print("Pgx is not installed: its rules are not compared")
        return
    found = same(tic_tac_toe, solve_pgx(pgx.make("tic_tac_toe")))
    print("the rules of Pgx lead to the same:", found)


if __name__ == "__main__":
    main()
