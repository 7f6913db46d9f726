"""Slices with something wrong in them: made in the processes of the fuzzer too."""

import dataclasses
import os
import signal
import time

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.arena import Arena
from jaxgames.parity import FPI, reference
from jaxgames.solution import NO_EDGE
from jaxgames.testing import Subject, _parity
from jaxgames.testing._subject import each


def of(**checks) -> Subject:
    """Parity games with other checks."""
    made = {name: _parity.of_cases(check) for name, check in checks.items()}
    return dataclasses.replace(_parity.subject(), checks=made, batch=32, size=8)


# ---- wrong answers ---------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Wrong(FPI):
    """A solver that gives vertices of priority 5 to player 1 if they have a choice."""

    name = "wrong"

    def answer(self, game, state):
        answer = super().answer(game, state)
        choice = jnp.diff(game.row_ptr) > 1
        wrong = (game.priority == 5) & choice & (answer.winner == 0)
        return answer._replace(winner=jnp.where(wrong, 1, answer.winner))


def wrong_solver() -> Subject:
    made = of(wrong=_parity.of_solver(Wrong()))
    return dataclasses.replace(made, batch=_parity.BATCH)


def moves(arena: Arena):
    """Right winners; the last edge where the first vertex of player 1 wins."""
    solution = reference.solve(arena)
    strategy = solution.strategy.copy()
    for v in np.flatnonzero((strategy != NO_EDGE) & arena.owner)[:1]:
        strategy[v] = arena.row_ptr[v + 1] - 1
    return solution.winner, strategy


def wrong_moves() -> Subject:
    return of(moves=_parity.answers(moves))


def _raises(arena: Arena):
    raise ZeroDivisionError("by zero")


def raises() -> Subject:
    return of(raises=_parity.answers(_raises))


def _interrupts(arena: Arena):
    raise KeyboardInterrupt


def interrupts() -> Subject:
    made = _parity.subject()
    return dataclasses.replace(made, checks={"x": lambda cases: _interrupts(cases)})


# ---- what does not end, and what dies --------------------------------------------


def loops(case) -> bool:
    """Whether a game has an edge of player 1 into a vertex of priority 3."""
    into = case.vertex["priority"][case.dst] == 3
    return bool((into & (case.vertex["owner"][case.src] == 1)).any())


def _sleeps(case) -> None:
    while loops(case):
        time.sleep(0.01)


def sleeps() -> Subject:
    """An endless loop of Python."""
    return dataclasses.replace(of(), checks={"sleeps": each(_sleeps)})


@jax.jit
def _circle(stuck):
    return jax.lax.while_loop(lambda x: (x < 10) | stuck, lambda x: x + 1, 0)


def _turns(case) -> None:
    int(_circle(jnp.bool_(loops(case))))


def turns() -> Subject:
    """An endless loop of XLA's."""
    return dataclasses.replace(of(), checks={"turns": each(_turns)})


def _dies(case) -> None:
    if loops(case):
        os.kill(os.getpid(), signal.SIGSEGV)


def dies() -> Subject:
    """A process that crashes."""
    return dataclasses.replace(of(), checks={"dies": each(_dies)})
