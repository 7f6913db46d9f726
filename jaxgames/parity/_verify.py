"""The certificate check of parity games, in three forms that share no cycle logic."""

import dataclasses
from typing import Any, Literal, Unpack, get_args

import numpy as np

from jaxgames import fixpoint, memory, ops, validity
from jaxgames.arena import Arena, bucket, is_traced
from jaxgames.host import can_compile, plain
from jaxgames.later import jax, jnp
from jaxgames.limits import Bounds, limited
from jaxgames.parity import _checked_there, host
from jaxgames.parity._descent import measured
from jaxgames.parity._edges import check_priorities, extend, split
from jaxgames.parity._fixed import fix_strategies
from jaxgames.parity._game import normal_form
from jaxgames.parity._problem import normal
from jaxgames.parity._solution import Solution
from jaxgames.parity._trimming import Trimming, trimmed
from jaxgames.parity._verdict import Reason, Verdict
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.tuning.parity import CHECKED_THERE_FROM
from jaxgames.tuning.parity import TRIMMED_UP_TO as FEW_PRIORITIES

Method = Literal["auto", "measures", "trimming", "components"]


@limited()
def verify(
    arena: Arena,
    solution: Solution,
    method: Method = "auto",
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks winners and strategies of a parity game without trusting the solver.

    Every vertex must be decided; a winner's strategy must take an edge of the vertex
    that stays in his region; the loser must have no edge out of it, and no strategy
    there. Then, with the strategies fixed, no cycle inside a region may be won by the
    other player. There are three ways to see this, each a code of its own:

    - `"measures"` reads `solution.measures` in one pass over the edges: along each edge
      that is left, what its priority compares of the winner's measure must not rise,
      and must fall if the priority is the other player's. So it falls around every
      cycle that he would win, which cannot be [1].
    - `"trimming"` takes one of his priorities after the other: the vertices that can go
      on for ever, meeting it again and again and nothing more important, must be none
      [2]. A round is one sweep over the edges; there are about as many as the
      strategies are deep, for each priority.
    - `"components"` runs on the host: divide and conquer over the priorities.

    `"measures"` and `"trimming"` work under `jax.jit` and `jax.vmap`.

    Args:
        arena: the game, with priorities on vertices or on edges.
        solution: its solution; winners and strategies of the arena's length.
        method: one of these, or `"auto"`: under tracing trimming; elsewhere measures
            that prove the solution, if it has such, and else components, which a GPU
            of NVIDIA's finds for a large game. Trimming comes first where priorities
            are few, and numba is not installed.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A [`Verdict`][jaxgames.parity.Verdict]: true if all is right, else the reason
        and a vertex where it shows. A vertex that trimming names may lead to the cycle
        instead of lying on it. `"measures"` also rejects a right solution if its
        measures do not prove it.

    Raises:
        ValueError: winners, strategies or measures have the wrong shape or type or are
            not there; `"components"` under tracing.

    References:
        [1] Jurdziński, Small progress measures for solving parity games, STACS 2000,
        doi:10.1007/3-540-46541-3_24.
        [2] Černá and Pelánek, Distributed explicit fair cycle detection (set based
        approach), SPIN 2003, doi:10.1007/3-540-44829-2_4.

    Examples:
        >>> from jaxgames import Arena, parity
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], priority=[1, 2]
        ... )
        >>> bool(parity.verify(arena, parity.solve(arena)))
        True
        >>> print(parity.verify(arena, parity.solve(arena), "components"))
        valid
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {get_args(Method)}, got {method!r}")
    arena, fault = validity.checked(arena)
    check_priorities(arena)
    _check_shapes(arena, solution)
    measures = solution.measures
    if method == "measures":
        if measures is None:
            raise ValueError(
                "method='measures' reads solution.measures, which is None: parity.SPM "
                "gives measures, and parity.certificate finds them for any solution"
            )
        _check_measures(arena, measures)
    elif method == "trimming":
        measures = None
    traced = is_traced((arena, solution.winner, solution.strategy, solution.measures))
    if traced and method == "components":
        raise ValueError(
            "method='components' runs on the host, not under tracing by jax; "
            "'trimming' and 'measures' do"
        )
    if traced and arena.shape[0] == 0:
        return Verdict.at(Reason.OK)
    if traced:
        measures = measures if method != "auto" else None
        return validity.withdrawn(fault, _verify_traced(arena, solution, measures))
    if method == "components":
        return _verify_on_host(arena, solution)
    if method != "auto":
        return _verify_on_device(arena, solution, measures)
    if measures is not None:
        _check_measures(arena, measures)
        verdict = _verify_on_device(arena, solution, measures)
        if int(verdict.reason) not in (Reason.MEASURE_RISES, Reason.CUT_OUT_OF_ORDER):
            return verdict
    if _is_sent(arena):
        size, (winner, strategy) = int(arena.num_vertices), _as_arrays(solution)
        winner, strategy = (np.asarray(x)[:size] for x in (winner, strategy))
        return fixpoint.in_few_rounds(
            arena.shape[1],
            lambda: _checked_there.check(arena.unpad(), winner, strategy),
            lambda: _verify_on_host(arena, solution),
        )
    with plain(arena.shape[1]) as sooner:
        if sooner or can_compile() or _num_priorities(arena) > FEW_PRIORITIES:
            return _verify_on_host(arena, solution)
    return _verify_on_device(arena, solution, None)


def _verify_traced(arena, solution, measures) -> Verdict:
    game = normal_form(arena, edge_priorities=True)
    winner, strategy = _as_arrays(solution)
    fixed = fix_strategies(game, winner, strategy)
    if measures is not None:
        return measured(fixed, measures)
    return trimmed(fixed, fixpoint.completed(_trimming(game), fixed))


def _verify_on_device(arena, solution, measures) -> Verdict:
    """By measures if these are given, else by trimming."""
    if arena.edge_priority is None:
        game = ops.prepare(normal(arena))
    else:
        game = ops.prepare(normal_form(arena, edge_priorities=True))
    winner, strategy = _as_arrays(solution)
    more = game.row_ptr.shape[0] - 1 - winner.shape[0]  # the padding of the layout
    winner = jnp.asarray(np.pad(winner, (0, more)))
    strategy = jnp.asarray(np.pad(strategy, (0, more), constant_values=NO_EDGE))
    if measures is not None:
        # Beyond its end the cut is its last entry: few lengths share compilations.
        length = measures.cut.shape[1]
        padded = dataclasses.replace(
            measures,
            words=np.pad(measures.words, ((0, 0), (0, 0), (0, more))),
            cut=np.pad(measures.cut, ((0, 0), (0, bucket(length) - length)), "edge"),
        )
        return _measured_jit(game, winner, strategy, padded)
    fixed = _fix_jit(game, winner, strategy)
    if not fixed.found:
        return fixed.found
    return _trimmed_jit(fixed, fixpoint.completed(_trimming(game), fixed))


def _is_sent(arena: Arena) -> bool:
    """Whether a game is so large that a GPU checks it sooner than the host."""
    if arena.edge_priority is not None or arena.shape[1] < CHECKED_THERE_FROM:
        return False
    if ops.current_spread() is not None or not ops.runs_kernels():
        return False
    return memory.has_room(*arena.shape)


def _trimming(game: ops.Game) -> Trimming:
    return Trimming(sweeps_per_check=fixpoint.default_sweeps(game))


@jax.jit
def _measured_jit(game, winner, strategy, measures) -> Verdict:
    return measured(fix_strategies(game, winner, strategy), measures)


_fix_jit = jax.jit(fix_strategies)
_trimmed_jit = jax.jit(trimmed)


def _verify_on_host(arena, solution) -> Verdict:
    if arena.edge_priority is None:
        return host.verify(arena, solution)
    size, halves = int(arena.num_vertices), split(arena)
    winner, strategy = (np.asarray(x)[:size] for x in _as_arrays(solution))
    winner, strategy = extend(halves, winner, strategy)
    verdict = host.verify(
        halves, Solution(solution.status, winner=winner, strategy=strategy)
    )
    vertex = int(verdict.vertex)
    if vertex < size:
        return verdict
    # A cycle through the middle of an edge goes on to where the edge ends.
    return dataclasses.replace(verdict, vertex=halves.successors(vertex)[0])


# ---- input ---------------------------------------------------------------------


def _check_shapes(arena: Arena, solution: Solution) -> None:
    for name in ("winner", "strategy"):
        array = getattr(solution, name, None)
        validity.check_answer(name, array, arena.owner.shape)


def _check_measures(arena: Arena, measures: Any) -> None:
    size = jnp.shape(arena.owner)[0]
    for name, array, expected in (
        ("words", measures.words, f"int32 [2, words, {size}]"),
        ("cut", measures.cut, "int32 [2, priorities]"),
    ):
        shape, dtype = jnp.shape(array), getattr(array, "dtype", type(array).__name__)
        fits = (
            dtype == np.int32
            and shape[:1] == (2,)
            and len(shape) == (3 if name == "words" else 2)
            and shape[1] > 0
            and shape[2:] in ((), (size,))
        )
        if not fits:
            raise ValueError(
                f"solution.measures.{name} must be {expected}, got "
                f"{dtype} {list(shape)}"
            )


def _as_arrays(solution: Solution):
    """Winners as int8 and the strategy as int32; what these cannot hold is wrong."""
    xp = jnp if is_traced((solution.winner, solution.strategy)) else np

    def narrow(x, dtype, wrong: int):
        x = xp.asarray(x)
        if x.dtype == dtype:
            return x
        small = x.astype(dtype)
        return xp.where(small == x, small, xp.asarray(wrong, dtype))

    winner = narrow(solution.winner, np.int8, UNDECIDED)
    return winner, narrow(solution.strategy, np.int32, NO_EDGE - 1)


def _num_priorities(arena: Arena) -> int:
    priority = arena.edge_priority if arena.priority is None else arena.priority
    return len(np.unique(priority))
