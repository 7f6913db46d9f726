"""What a solve of an energy parity game goes on from: the answers of inner games."""

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from jaxgames import states
from jaxgames.later import jax


class Answer(NamedTuple):
    """The answer of an inner game; or, where moves were fixed, its credits.

    Attributes:
        winner: int8 `[V]`; UNDECIDED where there are credits.
        strategy: integers `[V]`, edges; NO_EDGE where there are credits.
        credit: integers `[V]`, also Python's; 0 where there are winners.
        rounds: how many games it took: one, or two if numbers did not fit.
    """

    winner: np.ndarray
    strategy: np.ndarray
    credit: np.ndarray
    rounds: int


@states.register
@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Answers:
    """The inner games that were solved, in their order.

    A solve that goes on takes the same way without solving them again.

    Attributes:
        origin: what it is a state of.
        size: int64 `[G]`, the vertices of each game.
        rounds: int64 `[G]`, as in `Answer`.
        winner: int8 `[N]`, of the vertices of one game after the other.
        strategy: int32 `[N]`.
        credit: integers `[N]`, also Python's.
        names: the solvers of these games.
    """

    origin: states.Origin
    size: Any
    rounds: Any
    winner: Any
    strategy: Any
    credit: Any
    names: str = dataclasses.field(default="", metadata={"static": True})


def joined(
    origin: states.Origin, answers: Sequence[Answer], names: Sequence[str]
) -> Answers:
    """The state after some answers."""

    def column(name: str, kind: Any) -> np.ndarray:
        parts = [np.asarray(getattr(answer, name)) for answer in answers]
        return np.concatenate([np.zeros(0, kind), *parts])

    return Answers(
        origin=origin,
        size=np.array([len(answer.winner) for answer in answers], np.int64),
        rounds=np.array([answer.rounds for answer in answers], np.int64),
        winner=column("winner", np.int8),
        strategy=column("strategy", np.int32),
        credit=column("credit", np.int32),
        names="+".join(names),
    )


def parted(state: Answers) -> tuple[list[Answer], list[str]]:
    """The answers that a state holds, and the names of solvers."""
    ends = np.cumsum([0, *state.size]).tolist()
    found = []
    for (begin, end), rounds in zip(pairwise(ends), state.rounds, strict=True):
        own = slice(begin, end)
        columns = state.winner[own], state.strategy[own], state.credit[own]
        found.append(Answer(*columns, rounds=int(rounds)))
    return found, [name for name in state.names.split("+") if name]
