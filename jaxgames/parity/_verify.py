"""The certificate check of parity games, as an array program that trusts nothing."""

import dataclasses
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import fixpoint, ops
from jaxgames.arena import Arena, is_traced
from jaxgames.ops import Game
from jaxgames.parity._game import normal_form
from jaxgames.parity._solution import Solution
from jaxgames.parity._solve import prepare
from jaxgames.parity._verdict import Reason, Verdict
from jaxgames.solution import NO_EDGE
from jaxgames.solver import Solver


def verify(arena: Arena, solution: Solution) -> Verdict:
    """Checks winners and strategies of a parity game without trusting the solver.

    Every vertex must be decided; a winner's strategy must take an edge of the vertex
    that stays in his region; the loser must have no edge out of it, and no strategy
    there. Then, with the strategies fixed, no cycle inside a region may be won by the
    other player: for each of his priorities, the vertices that reach it again and again
    through nothing more important are computed by trimming, and must be none.

    Works under `jax.jit`. A round is one sweep over the edges; the number of rounds is
    about the depth of the strategies for each distinct priority. For games with
    hundreds of priorities [`reference.verify`][jaxgames.parity.reference.verify] is
    the faster check.

    Args:
        arena: the game.
        solution: its solution; winners and strategies of the arena's length.

    Returns:
        A [`Verdict`][jaxgames.parity.Verdict]: true if all is right, else the reason
        and a vertex where it shows.

    Raises:
        ValueError: winners or strategies have the wrong length or type.

    Examples:
        >>> from jaxgames import Arena, parity
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], priority=[1, 2]
        ... )
        >>> bool(parity.verify(arena, parity.solve(arena)))
        True
    """
    winner, strategy = solution.winner, solution.strategy
    for name, array in (("winner", winner), ("strategy", strategy)):
        if jnp.shape(array) != jnp.shape(arena.owner):
            raise ValueError(
                f"solution.{name} must have the arena's shape "
                f"{jnp.shape(arena.owner)}, got {jnp.shape(array)}"
            )
        if not jnp.issubdtype(jnp.result_type(array), jnp.integer):
            raise ValueError(
                f"solution.{name} must hold integers, got {jnp.result_type(array)}"
            )
    winner = jnp.asarray(winner).astype(jnp.int8)
    strategy = jnp.asarray(strategy).astype(jnp.int32)
    if is_traced((arena, winner, strategy)):
        game = normal_form(arena)
        checked, cycles = _check(game, winner, strategy), _cycles(game)
        carry = fixpoint.start(cycles, checked)
        carry = fixpoint.iterate(cycles, checked, carry, fixpoint.MAX_ROUNDS)
        return _verdict(checked, carry.state)
    game = prepare(arena)[1]
    more = game.row_ptr.shape[0] - 1 - winner.shape[0]  # the padding of the layout
    if more:
        winner = jnp.asarray(np.pad(winner, (0, more)))
        strategy = jnp.asarray(np.pad(strategy, (0, more), constant_values=NO_EDGE))
    checked = _check_jit(game, winner, strategy)
    if int(checked.reason) != Reason.OK:
        return Verdict(jnp.array(False), checked.reason, checked.vertex)
    outcome = fixpoint.run(_cycles(game), checked)
    return _verdict_jit(checked, outcome.carry.state)


class _Checked(NamedTuple):
    """A game with its claimed winners, after the checks of single vertices."""

    game: Game
    winner: jax.Array  # int8 [S]
    kept: ops.Edges  # bool: the edges left when the winners' strategies are fixed
    reason: jax.Array
    vertex: jax.Array


def _check(game: Game, winner, strategy) -> _Checked:
    """Everything that can be seen vertex by vertex."""
    real = ops.by_vertex(game, ops.real(game))
    owner = ops.by_vertex(game, game.owner).astype(jnp.int8)
    row, end = game.row_ptr[:-1], game.row_ptr[1:]
    has_move = strategy != NO_EDGE
    moves = (strategy >= row) & (strategy < end)

    side = ops.by_slot(game, winner, 0)
    move = ops.move_of(game, jnp.where(moves, strategy, NO_EDGE))
    follows = side == game.owner
    kept = ops.edgewise(
        lambda at, chosen, free: free | (at == chosen),
        ops.position(game),
        ops.source(game, move),
        ops.source(game, ~follows),
    )
    leaves = ops.out_any(
        game,
        ops.edgewise(
            lambda on, here, there: on & (here != there),
            kept,
            ops.source(game, side),
            ops.target(game, side),
        ),
    )
    leaves = ops.by_vertex(game, leaves)

    decided = (winner == 0) | (winner == 1)
    wins = decided & (winner == owner)
    faults = {
        Reason.UNDECIDED: ~decided,
        Reason.STRATEGY_MISSING: wins & ~has_move,
        Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX: wins & has_move & ~moves,
        Reason.STRATEGY_OF_LOSER: decided & ~wins & has_move,
        Reason.STRATEGY_LEAVES_REGION: wins & leaves,
        Reason.OPPONENT_ESCAPES: decided & ~wins & leaves,
    }
    reason, vertex = jnp.int32(Reason.OK), jnp.int32(-1)
    for fault, where in reversed(faults.items()):
        where &= real
        found = jnp.any(where)
        reason = jnp.where(found, jnp.int32(fault), reason)
        vertex = jnp.where(found, jnp.argmax(where).astype(jnp.int32), vertex)
    return _Checked(game, side, kept, reason, vertex)


class _State(NamedTuple):
    """Trimming for one priority after the other, the most important first."""

    priority: jax.Array  # the one that is looked at
    inside: jax.Array  # bool [S]: vertices that may lie on a bad cycle of it
    heads: jax.Array  # bool [S]: those of that very priority
    reach: jax.Array  # bool [S]: vertices found to reach a head in a step or more
    cycle: jax.Array  # bool: a bad cycle was found
    over: jax.Array  # bool: no priority is left


@dataclasses.dataclass(frozen=True)
class _Cycles(Solver):
    """Looks for a cycle inside a region that the other player wins.

    This is the emptiness check of Büchi automata by trimming (OWCTY), once for each
    priority: heads that reach no head are dropped until all that are left reach one.
    """

    name: ClassVar[str] = "verify"

    def init(self, checked: _Checked) -> _State:
        """Above every priority, with nothing to trim."""
        nothing = jnp.zeros(checked.winner.shape, bool)
        highest = jnp.iinfo(checked.game.priority.dtype).max
        return _State(
            priority=jnp.array(highest, checked.game.priority.dtype),
            inside=nothing,
            heads=nothing,
            reach=nothing,
            cycle=jnp.array(False),
            over=jnp.array(False),
        )

    def step(self, checked: _Checked, state: _State) -> _State:
        """One sweep backwards; when it finds no more, drops heads or goes on."""
        game, priority = checked.game, checked.game.priority
        leads = ops.edgewise(
            jnp.logical_and, checked.kept, ops.target(game, state.heads | state.reach)
        )
        reach = state.inside & ops.out_any(game, leads)
        stable = jnp.all(reach == state.reach) & ~state.over & ~state.cycle

        heads = state.heads & reach
        kept_all = jnp.all(heads == state.heads)
        cycle = stable & kept_all & jnp.any(heads)
        onward = stable & kept_all & ~cycle

        against = ops.real(game) & ((priority & 1) != checked.winner)
        below = against & (priority < state.priority)
        none = jnp.array(-1, priority.dtype)
        following = jnp.max(jnp.where(below, priority, none))
        inside = (priority <= following) & (checked.winner != (following & 1))

        dropped = stable & ~kept_all
        return _State(
            priority=jnp.where(onward, following, state.priority),
            inside=jnp.where(onward, inside, jnp.where(dropped, reach, state.inside)),
            heads=jnp.where(
                onward,
                inside & (priority == following),
                jnp.where(dropped, heads, state.heads),
            ),
            reach=reach & ~onward & ~dropped,
            cycle=state.cycle | cycle,
            over=state.over | (onward & (following == none)),
        )

    def done(self, checked: _Checked, state: _State) -> jax.Array:
        """A cycle was found, or every priority was looked at."""
        del checked
        return state.cycle | state.over

    def answer(self, checked: _Checked, state: _State) -> None:
        """The state says it all."""
        del checked, state


def _cycles(game: Game) -> _Cycles:
    return _Cycles(sweeps_per_check=fixpoint.default_sweeps(game))


def _verdict(checked: _Checked, state: _State) -> Verdict:
    heads = ops.by_vertex(checked.game, state.heads)
    sound = checked.reason == Reason.OK
    cycle = sound & state.cycle
    return Verdict(
        valid=sound & ~state.cycle,
        reason=jnp.where(
            cycle, jnp.int32(Reason.CYCLE_WON_BY_OPPONENT), checked.reason
        ),
        vertex=jnp.where(cycle, jnp.argmax(heads).astype(jnp.int32), checked.vertex),
    )


_check_jit = jax.jit(_check)
_verdict_jit = jax.jit(_verdict)
