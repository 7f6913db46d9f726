"""Checks of what was found, which trust no solver."""

from typing import Any, Unpack

import numpy as np

from jaxgames import validity, verdict
from jaxgames.arena import is_traced
from jaxgames.buchi import _question, host
from jaxgames.buchi._problem import PROBLEM, Solution
from jaxgames.buchi._solution import AcceptingCycle, Lasso
from jaxgames.buchi.host import NO_CYCLE
from jaxgames.limits import Bounds, limited


class Reason(verdict.Reason):
    """What is wrong with an answer, in the order in which it is looked for.

    Examples:
        >>> Reason.NO_EDGE.message
        'the lasso goes on from it where there is no edge'
    """

    OK = "nothing is wrong"
    UNDECIDED = "its winner is neither 0 nor 1"
    STRATEGY_MISSING = "its owner wins it, but has no strategy there"
    STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX = (
        "its strategy is not the index of one of its edges"
    )
    STRATEGY_OF_LOSER = "its owner loses it, yet has a strategy there"
    STRATEGY_LEAVES_REGION = (
        "its winner's strategy leads to a vertex that the other player wins"
    )
    OPPONENT_ESCAPES = "its owner loses it, yet has an edge to a vertex that he wins"
    CYCLE_WON_BY_OPPONENT = (
        "the other player wins a cycle through it that its winner's strategy allows"
    )
    NOT_DECIDED = "the search did not come to an end"
    NO_LASSO = "a cycle is said to exist, but there is no lasso, or an empty one"
    NO_VERTEX = "the lasso leads there, but there is no such vertex"
    NOT_INITIAL = "the lasso begins there, but it is not an initial vertex"
    NO_EDGE = "the lasso goes on from it where there is no edge"
    NOT_ACCEPTING = "no vertex of the cycle through it accepts"
    CYCLE_MISSED = "it accepts, and lies on a cycle that is reached"


class Verdict(verdict.Verdict):
    """What a check of an answer found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.buchi.Reason], and whose `vertex` is a vertex where it holds.
    """

    reasons = Reason


_FAULTS = {
    "empty": Reason.NO_LASSO,
    "outside": Reason.NO_VERTEX,
    "start": Reason.NOT_INITIAL,
    "gap": Reason.NO_EDGE,
    "rejecting": Reason.NOT_ACCEPTING,
}


@limited()
def verify(
    graph: Any,
    answer: Any,
    *,
    accepting: Any = None,
    initial: Any = 0,
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks an answer of this package without trusting who found it (host only).

    A lasso is walked along the edges. That there is no accepting cycle is checked by a
    nested depth-first search. For the solution of a game every vertex must be decided;
    a winner's strategy must take an edge of the vertex that stays in his region; the
    loser must have no edge out of it, and no strategy there; and with the strategies
    fixed, every cycle where player 0 wins leads through an accepting vertex, and none
    where player 1 wins. O(V + E) time.

    Args:
        graph: the game; or what `accepting_cycle` was given.
        answer: a [`Solution`][jaxgames.buchi.Solution], an
            [`AcceptingCycle`][jaxgames.buchi.AcceptingCycle] of one accepting set, or a
            [`Lasso`][jaxgames.buchi.Lasso].
        accepting: as for `accepting_cycle`; games have their own.
        initial: as for `accepting_cycle`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A [`Verdict`][jaxgames.buchi.Verdict]: true if all is right, else the reason and
        a vertex where it shows.

    Raises:
        ValueError: an argument is wrong, or traced.

    Examples:
        >>> from jaxgames import buchi
        >>> graph = [0, 1, 3, 4], [1, 0, 2, 2]
        >>> found = buchi.accepting_cycle(graph, accepting=[2])
        >>> print(buchi.verify(graph, found, accepting=[2]))
        valid
        >>> print(buchi.verify(graph, found, accepting=[0]))
        vertex 2: no vertex of the cycle through it accepts
    """
    if is_traced((graph, accepting, initial)):
        raise ValueError("verify runs on the host, not under tracing by jax")
    if isinstance(answer, Solution):
        return _verify_game(graph, answer)
    if not isinstance(answer, (AcceptingCycle, Lasso)):
        raise ValueError(
            "answer must be a Solution, an AcceptingCycle or a Lasso, got "
            f"{type(answer).__name__}"
        )
    question = _question.read(graph, accepting, initial, None)
    arena, accepting, starts = question.arena, question.accepting, question.starts
    if accepting.ndim != 1:
        raise ValueError("verify one accepting set of a batch at a time")
    lasso: Lasso | None
    if isinstance(answer, Lasso):
        lasso = answer
    else:
        if not np.all(answer.decided):
            return Verdict.at(Reason.NOT_DECIDED)
        lasso = answer.lasso if np.all(answer.exists) else None
        if np.any(answer.exists) and lasso is None:
            return Verdict.at(Reason.NO_LASSO)
    if lasso is None:
        found = host.search(arena, accepting, starts, method="nested_dfs")
        if found == NO_CYCLE:
            return Verdict.at(Reason.OK)
        return Verdict.at(Reason.CYCLE_MISSED, found)
    _check_lasso(lasso)
    fault, vertex = host.check_lasso(arena, lasso, accepting, starts)
    return Verdict.at(_FAULTS[fault] if fault else Reason.OK, vertex)


def _check_lasso(lasso: Any) -> None:
    for name in ("prefix", "cycle"):
        values = np.asarray(getattr(lasso, name, None))
        if values.ndim != 1 or (values.size and values.dtype.kind != "i"):
            raise ValueError(
                f"lasso.{name} must be vertices by number, got {values.dtype} of shape "
                f"{values.shape}"
            )


def _verify_game(arena: Any, solution: Solution) -> Verdict:
    arena, _ = PROBLEM.read(arena)
    for name in ("winner", "strategy"):
        validity.check_answer(name, getattr(solution, name), arena.owner.shape)
    found = host.faults(arena, solution.winner, solution.strategy)
    others = len(Reason) - 1 - len(found)  # those of cycles
    return Verdict.first_of(*found, *[False] * others)
