"""What energy games are to the driver: how they are read, laid out and answered."""

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxgames import drive, validity
from jaxgames.arena import Arena, bucket
from jaxgames.energy import _bounds, _device, host
from jaxgames.energy._fvi import FVI
from jaxgames.energy._lockstep import Lockstep
from jaxgames.energy._potentials import Answer
from jaxgames.energy._solution import UNKNOWN, Solution
from jaxgames.energy._strategies import Dual
from jaxgames.energy._vi import VI
from jaxgames.host import can_compile
from jaxgames.later import jax, jnp
from jaxgames.solution import NO_EDGE, UNDECIDED
from jaxgames.solver import Registry, Solver
from jaxgames.tuning import here
from jaxgames.tuning.energy import (
    PATIENCE,
    PATIENCE_INTERPRETED,
    SWEEPS,
)

SOLVERS = Registry("energy", FVI, VI, places=(drive.HOST, drive.RACE))
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the game is traced.
"""


class Facts(NamedTuple):
    """What is the same for all games of a stack.

    Attributes:
        degree: the largest out-degree, or a little more.
        scale: bits of a potential that count steps.
        bits: of a number.
        narrow: bits of a weight where it is kept for rounds.
    """

    degree: int
    scale: int
    bits: int
    narrow: int


def _room(arena: Arena, bits: int) -> int | None:
    """Bits left for steps where all credits, and all gains, fit; None if too few are.

    As many as all paths need: what is padded is no part of any.
    """
    size = np.shape(arena.owner)[-1]
    room = bits - 3 - (drive.largest(arena.weight) * size).bit_length()
    return room if room >= bucket(size + 1).bit_length() else None


def _task(solver: Any, arena: Arena, facts: Facts, *lost: Any) -> Any:
    """What a solver works on; of some the weights are as narrow as they can be."""
    weight = jnp.asarray(arena.weight).astype(f"int{facts.bits}")
    arena = _device.cut(dataclasses.replace(arena, weight=weight))
    if not isinstance(solver, Lockstep):
        game = drive.laid_out(arena, facts.degree)
        return _device._task(solver, game, facts.scale, *lost)
    weight = jnp.asarray(arena.weight).astype(f"int{facts.narrow}")
    arena = dataclasses.replace(arena, weight=weight)
    game = drive.laid_out(arena, facts.degree)
    task = _device._task(solver.of, game, facts.scale, *lost)
    return task._replace(scale=task.scale.astype(f"int{facts.bits}"))


def _cut(answer: Answer, arena: Arena) -> Answer:
    """With credits of the type that they have where the game is solved alone."""
    answer = drive.cut(answer, arena)
    if answer.credit.dtype == np.int32:
        return answer
    return answer._replace(credit=answer.credit.astype(_bounds.credit_type(arena)))


# ---- the moves of player 1 -------------------------------------------------------


def _where_lost(arena: Arena, answer: Answer, solved: jax.Array) -> Arena:
    """The arena, marked where player 1 is known to win."""
    return dataclasses.replace(arena, accepting=answer.lost & solved)


def _dual_of(solver: Solver) -> Solver | None:
    if not solver.strategies:
        return None
    if isinstance(solver, Lockstep):
        return dataclasses.replace(solver, of=Dual())
    return _device.dual_of(solver)


def _merge(answer: Answer, moves: jax.Array) -> Answer:
    return answer._replace(strategy=jnp.where(moves == NO_EDGE, answer.strategy, moves))


class _Moves(drive.Problem):
    """What player 1 does where he wins."""

    name = "energy, player 1"
    solvers = Registry("energy", Dual)

    def check(self, question: Arena) -> None:
        """What lies on a device is looked at there."""
        validity.check_each(question)
        _bounds.check_weight(question)

    def facts(self, stack: Arena, solver: Any) -> Facts:
        """In the width that JAX has now."""
        wide = jax.dtypes.canonicalize_dtype(np.int64) == np.int64
        bits = 64 if wide and _room(stack, 32) is None else 32
        size, chosen = np.shape(stack.owner)[-1], getattr(solver, "scale", None)
        scale = chosen or min(size.bit_length(), bits // 2 - 1)
        narrow = bits
        if isinstance(solver, Lockstep):
            largest = drive.largest(stack.weight)
            narrow = next(x for x in (8, 16, 32, 64) if largest < 2 ** (x - 1))
        return Facts(drive.widest(stack), scale, bits, min(narrow, bits))

    def game(self, question: Arena, solver: Solver, facts: Any = None) -> Any:
        """With what is lost for him."""
        return _task(solver, question, facts, ~jnp.asarray(question.accepting))

    def answer(self, solver: Any, game: Any, state: Any, size: int) -> Answer:
        """Without padding."""
        return jax.tree.map(lambda x: x[:size], solver.answer(game, state))

    def solution(self, answer: Answer, **how: Any) -> Solution:
        """In the fields of the slice."""
        return Solution(
            credit=answer.credit, winner=answer.winner, strategy=answer.strategy, **how
        )


class Energy(_Moves):
    """Energy games: credits of all, then the moves of player 1."""

    name = "energy"
    solvers = SOLVERS
    nothing: ClassVar = {"credit": UNKNOWN}
    inline = 1 << 15
    holds_all = True
    compile_seconds = 13.0
    then = drive.Then(_Moves(), solver=_dual_of, arena=_where_lost, merge=_merge)
    form = dataclasses.replace(drive.ARENAS, cut=_cut)

    # ---- one game --------------------------------------------------------------

    def read(self, question: Any) -> tuple[Any, Any]:
        """Weights are one integer for each edge, also Python's."""
        return _bounds.check(question, wide=True)

    def undecided(self, question: Any) -> Answer:
        size = np.shape(question.owner)
        return Answer(
            np.full(size, UNKNOWN, np.int32),
            np.full(size, UNDECIDED, np.int8),
            np.full(size, NO_EDGE, np.int32),
            None,
        )

    def is_hosts(self, question: Any) -> bool:
        """Weights that are Python's integers."""
        return question.weight.dtype == object

    def on_device(self, question: Any, solver: Any, **how: Any) -> Solution:
        """In two phases, each in numbers of growing width."""
        return _device.on_device(question, solver, **how)

    def traced(self, question: Any, solver: Any, state: Any, max_steps: Any) -> Any:
        """In the width that the weights have, which are not Python's."""
        _bounds.check_weight(question)
        return _device.traced(question, solver, max_steps, state)

    @property
    def patience(self) -> int | None:
        """Less where nothing is compiled."""
        return PATIENCE if can_compile() else PATIENCE_INTERPRETED

    def on_host(self, question: Any, *, track: Any = None, **how: Any) -> Solution:
        """By fast value iteration, one vertex after the other."""
        stop = None if track is None else track.stop
        return host.solve(question, stop=stop, **how)

    # ---- many ------------------------------------------------------------------

    def auto(self, stack: Any) -> Solver:
        """All in lockstep."""
        return Lockstep(sweeps=here(SWEEPS))

    def game(self, question: Arena, solver: Solver, facts: Any = None) -> Any:
        """In the narrowest types."""
        return _task(solver, question, facts)

    def bits(self, questions: Sequence[Arena]) -> list[int]:
        """The width in which the numbers of each are sure to fit.

        By its extreme weights: sums over vertices would take as long as many a solve.
        """
        return [32 if _room(arena, 32) is not None else 64 for arena in questions]


PROBLEM = drive.register(Energy())
"""For [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]."""
