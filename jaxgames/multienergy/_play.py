"""Who moves where: the strategies of both players, and plays between them."""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from jaxgames import limits
from jaxgames.arguments import integer
from jaxgames.limits import Bounds, limited
from jaxgames.multienergy import _checks, host
from jaxgames.multienergy._budgets import Budget, rule, update
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._verify import budgets_of

Reply = Callable[[int, Budget], int]
"""Chooses an edge for a position and the energies that are left."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Strategy:
    """How both players move, by what is known of budgets.

    Attributes:
        offsets: int64 `[V + 1]`, where the budgets of each position start.
        points: int32 `[P, D]`, budgets with which the attacker wins: the minimal ones;
            where energies are gained also those that are minimal for fewer moves.
        rank: int32 `[P]`, how many moves he needs with them at most.
        move: int32 `[P]`, in a position of the attacker the edge that he takes: the
            first one by which he wins in so many moves; in one of the defender -1.
    """

    offsets: np.ndarray
    points: np.ndarray
    rank: np.ndarray
    move: np.ndarray
    _game: Game

    def attack(self, v: int, budget: Any) -> int:
        """The edge that the attacker takes; -1 where he does not win.

        Of the budgets that he can afford the one of the least rank counts.
        """
        best = self._best(*self._checked(v, budget))
        return -1 if best is None else int(self.move[best])

    def defend(self, v: int, budget: Any) -> int:
        """The edge that the defender takes; -1 where he has none.

        It is one after which the attacker does not win. Where there is none, it is the
        one by which that takes the attacker longest.
        """
        v, budget = self._checked(v, budget)
        best, edge_of_best = -1, -1
        for edge in range(self._game.offsets[v], self._game.offsets[v + 1]):
            after = _after(self._game, edge, budget)
            target = int(self._game.targets[edge])
            rank = None if after is None else self._best(target, after)
            if rank is None:
                return edge
            if self.rank[rank] > best:
                best, edge_of_best = int(self.rank[rank]), edge
        return edge_of_best

    def _checked(self, v: int, budget: Any) -> tuple[int, Budget]:
        v = _checks.position(v, self._game.num_positions)
        found = _checks.budget(budget, self._game.dimensions)
        return v, _capped(self._game, found)

    def _best(self, v: int, budget: Budget) -> int | None:
        """The budget of least rank that a budget can afford."""
        first, stop = self.offsets[v : v + 2]
        enough = (self.points[first:stop] <= np.array(budget)).all(axis=1)
        found = first + np.flatnonzero(enough)
        return int(found[np.argmin(self.rank[found])]) if len(found) else None

    def __repr__(self) -> str:
        most = self.rank.max(initial=0)
        return f"Strategy({len(self.rank)} budgets, {most} moves at most)"


class Play(NamedTuple):
    """What happened in a play.

    Attributes:
        winner: who has won.
        positions: the positions, from the first to the last.
        budgets: the energies in each of them.
        edges: the edges between them, and one more if it could not be paid.
        reason: why it ended.
    """

    winner: Literal["attacker", "defender"]
    positions: list[int]
    budgets: list[Budget]
    edges: list[int]
    reason: str


@limited()
def strategy(game: Game, fronts: Any, **bounds: Unpack[Bounds]) -> Strategy:
    """The strategies of both players for a solved game.

    The attacker takes for each minimal budget the move by which it was won first: every
    move lessens the number of those that are left. O(R F^2 E) for `R` ranks and fronts
    of `F` budgets, on the host; longer where energies are gained, since he may have to
    collect first.

    Args:
        game: a concrete game.
        fronts: its [`Fronts`][jaxgames.multienergy.Fronts].
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: fronts are traced, do not belong to the game, or are no solution.

    Examples:
        >>> from jaxgames import multienergy
        >>> game = multienergy.Game.from_arrays(
        ...     [0, 2, 2, 2], [1, 2], [0, 1],
        ...     [[-2, 0], [0, -1]], defender=[False, True, True],
        ... )
        >>> moves = multienergy.strategy(game, multienergy.solve(game))
        >>> moves.attack(0, [5, 0]), moves.attack(0, [1, 1]), moves.attack(0, [1, 0])
        (0, 1, -1)
    """
    offsets, points = budgets_of(game, fronts)
    lost = host.not_won(game, offsets, points)
    if lost.any():
        where = np.searchsorted(offsets, np.argmax(lost), side="right") - 1
        raise ValueError(
            f"the attacker does not win with a budget of position {where}: fronts do "
            "not belong to this game"
        )
    return Strategy(*host.ranks(game, offsets, points), game)


@limited()
def play(
    game: Game,
    fronts: Any,
    start: int,
    budget: Any,
    *,
    attacker: Reply | None = None,
    defender: Reply | None = None,
    max_moves: int = 10_000,
    **bounds: Unpack[Bounds],
) -> Play:
    """Plays a game from a position with a budget.

    Args:
        game: a concrete game.
        fronts: its [`Fronts`][jaxgames.multienergy.Fronts], or a
            [`Strategy`][jaxgames.multienergy.Strategy] made of them.
        start: the first position.
        budget: integers `[D]`, not negative.
        attacker: chooses an edge for a position and a budget; by default the strategy,
            and the first edge where that has no advice.
        defender: likewise.
        max_moves: moves after which the play counts as endless.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: the position or the budget are wrong, or a player chooses an edge
            of another position.

    Examples:
        >>> from jaxgames import multienergy
        >>> game = multienergy.Game.from_arrays(
        ...     [0, 2, 2, 2], [1, 2], [0, 1],
        ...     [[-2, 0], [0, -1]], defender=[False, True, True],
        ... )
        >>> fronts = multienergy.solve(game)
        >>> multienergy.play(game, fronts, 0, [1, 4])
        Play(winner='attacker', positions=[0, 2], budgets=[(1, 4), (1, 3)], edges=[1],
             reason='the defender cannot move')
        >>> multienergy.play(game, fronts, 0, [1, 0]).reason
        'the attacker cannot pay'
    """
    max_moves = integer("max_moves", max_moves, 0)
    moves = fronts if isinstance(fronts, Strategy) else strategy(game, fronts)
    v = _checks.position(start, game.num_positions)
    now = _capped(game, _checks.budget(budget, game.dimensions))
    positions, budgets, edges = [v], [now], []
    seen = {(v, now)}
    choose = {
        True: defender or moves.defend,
        False: attacker or moves.attack,
    }
    by_strategy = attacker is None and defender is None
    while True:
        limits.tick("playing", len(edges), "moves")
        defends = bool(game.defender[v])
        first, stop = int(game.offsets[v]), int(game.offsets[v + 1])
        if first == stop:
            who = "defender" if defends else "attacker"
            winner = "attacker" if defends else "defender"
            return Play(winner, positions, budgets, edges, f"the {who} cannot move")
        edge = int(choose[defends](v, now))
        edge = first if edge == -1 else edge
        if not first <= edge < stop:
            raise ValueError(f"edge {edge} does not leave position {v}")
        edges.append(edge)
        after = _after(game, edge, now)
        if after is None:
            reason = "the attacker cannot pay"
            return Play("defender", positions, budgets, edges, reason)
        v, now = int(game.targets[edge]), after
        positions.append(v)
        budgets.append(now)
        if by_strategy and (v, now) in seen or len(edges) >= max_moves:
            return Play("defender", positions, budgets, edges, "the play never ends")
        seen.add((v, now))


def _after(game: Game, edge: int, budget: Budget) -> Budget | None:
    return update(rule(game, int(game.update_id[edge])), budget)


def _capped(game: Game, budget: np.ndarray) -> Budget:
    """A budget whose energies are at most their caps."""
    caps = game.cap or (0,) * len(budget)
    return tuple(
        min(int(e), cap) if cap else int(e) for e, cap in zip(budget, caps, strict=True)
    )
