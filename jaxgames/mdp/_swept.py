"""Getting to a target in a model that is nearly without cycles: one look at each state.

The few strongly connected sets of states, the *knots*, become small models of their
own, in which what they lead to is worth what has been found.
"""

from typing import NamedTuple

import numpy as np

from jaxgames import validity
from jaxgames.host import in_steps, num_cores, on_all_cores, on_ranges, ranges_of
from jaxgames.kept import kept
from jaxgames.mdp import host
from jaxgames.mdp._equations import equations, lent, slack_of
from jaxgames.mdp._interval import NOTHING, UNDERFLOW
from jaxgames.mdp._model import MDP
from jaxgames.mdp._open import Found, on_host
from jaxgames.mdp._questions import Posed, missed, reach, reward_until
from jaxgames.mdp.host._sweep import (
    GOAL,
    PASSED,
    Swept,
    cut_out,
    earned,
    given_back,
    leave,
    reached,
    split,
)
from jaxgames.solution import Stats, Status
from jaxgames.tuning.mdp import MOST_KNOTS, NEAR, STATES_OF_A_CORE, TOGETHER_FROM


class ToTarget(NamedTuple):
    """A question about getting to a target: how probable it is, or what is earned.

    Attributes:
        model: a concrete model with probabilities.
        target: bool `[S]`.
        optimum: `"min"` or `"max"`, of getting there or of what is earned before.
        passed: bool `[S]`, the states on the way; None for all.
        reward: float64 `[C]`, what is earned by each choice, not negative; None for
            probabilities.
        missed: whether the probability not to get there is asked for.
    """

    model: MDP
    target: np.ndarray
    optimum: str
    passed: np.ndarray | None = None
    reward: np.ndarray | None = None
    missed: bool = False

    def posed(self, engine: str = "auto") -> Posed:
        """What an engine knows by the graph alone, and what is left open."""
        asked = self.target, self.optimum
        if self.reward is not None:
            return reward_until(self.model, self.reward, *asked, engine=engine)
        posed = reach(self.model, *asked, self.passed, engine=engine)
        return missed(posed) if self.missed else posed


def swept(
    asked: ToTarget, epsilon: float, relative: bool, stop: np.ndarray
) -> Found | None:
    """Bounds by a sweep over all states, knots by value iteration.

    O(S + C + E) time, and what the knots take.

    Args:
        asked: the question.
        epsilon: how far apart bounds may stay.
        relative: whether that is relative to the lower one.
        stop: int8 `[1]`, set by another thread to end it.

    Returns:
        None if the model is not nearly without cycles, or bounds have not met: rounding
        adds up on long ways.
    """
    model = asked.model
    sequence = host.sequence(model)
    if sequence is None:
        return None
    knots = _together(sequence.knots)
    if len(knots) > MOST_KNOTS:
        return None
    work = _begun(asked, sequence)
    near = epsilon / (len(knots) + 1)
    sweep = _Sweep(asked, work, sequence, near, relative, stop)
    at = 0
    for first, last in knots:
        sweep.over(at, first)
        if not sweep.untie(first, last):
            return None
        at = last
    sweep.over(at, model.num_states)
    apart = NOTHING if asked.reward is None else 0.0
    allowed = (epsilon, apart) if relative else (0.0, epsilon)
    lower, upper = np.empty((2, model.num_states))
    spans = ranges_of(model.num_states)
    seen = np.zeros((len(spans), 5))
    each = [(number, *span) for number, span in enumerate(spans)]
    on_ranges(split, each, work, *allowed, lower, upper, seen)
    if not seen[:, 0].max() <= 1:
        return None
    if asked.reward is not None and not lower.min(initial=0) > -np.inf:
        return None  # too large for float64: that is found out state by state
    known = seen[:, 1:].sum(0).astype(int).tolist()
    stats = Stats(solver="host", **sweep.counted(*known))
    return Found(lower, upper, work.scheduler, Status.SOLVED, stats)


def _together(knots: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of the order that hold all knots: one for those that are near."""
    found: list[tuple[int, int]] = []
    for first, last in knots.tolist():
        if found and first - found[-1][1] <= NEAR:
            found[-1] = found[-1][0], last
        else:
            found.append((first, last))
    return found


def _steps(
    bands: np.ndarray, parts: np.ndarray, end: int, enough: int, cores: int
) -> np.ndarray:
    """Ranges that cores look at side by side, band by band.

    Args:
        bands: int32 `[B]`, where bands begin.
        parts: int32 `[P]`, where parts begin, those of other bands too.
        end: where the last band ends.
        enough: places that are worth another core: narrow bands are one after another.
        cores: how many there are.

    Returns:
        Rows as `in_steps` takes them.
    """
    shares = np.clip(np.diff(bands, append=end) // enough, 1, cores)
    apart = np.append(True, np.maximum(shares[1:], shares[:-1]) > 1)
    bands, shares = bands[apart].astype(np.int64), shares[apart]
    before = np.cumsum(shares) - shares
    band = np.repeat(np.arange(len(bands)), shares)
    own = np.arange(len(band)) - before[band]
    begins = bands[band] + np.diff(bands, append=end)[band] * own // shares[band]
    # As parts are, lest all of these become numbers of another type.
    at = np.searchsorted(parts, begins.astype(parts.dtype))
    begins = np.where(at < len(parts), parts.take(at, mode="clip"), end)
    ends = np.append(begins[1:], end)
    some = begins < ends
    first = np.cumsum(some) - some
    return np.stack([begins, ends, first[before[band]]], 1)[some]


def _begun(asked: ToTarget, sequence: host.Sequence) -> Swept:
    """Nothing is found out yet."""
    model = asked.model
    size = model.num_states
    target = np.asarray(asked.target)
    mark = target.view(np.uint8) * np.uint8(GOAL)
    if asked.passed is None:
        mark |= PASSED
    else:
        mark |= np.asarray(asked.passed).view(np.uint8) << np.uint8(1)
    found = np.empty((size, 2)), np.empty(size, np.int32)
    return Swept(*lent(model), sequence.order, mark, *found)


class _Sweep:
    """What has been found out so far, and how to go on."""

    def __init__(
        self,
        asked: ToTarget,
        work: Swept,
        sequence: host.Sequence,
        epsilon: float,
        relative: bool,
        stop: np.ndarray,
    ):
        self._asked, self._work, self._stop = asked, work, stop
        self._epsilon, self._relative = epsilon, relative
        least, slack = int(asked.optimum == "min"), slack_of(asked.model)
        self._how = least, slack, UNDERFLOW["float64"]
        names = ("components", "rounds", "looks", "stiff")
        self._counts: dict[str, int] = dict.fromkeys(names, 0)
        self._sequence = sequence

    def over(self, first: int, last: int) -> None:
        """Looks at the states of a range of the order, none of which is in a knot."""
        if first == last:
            return
        least, *rest = self._how
        asked, work = self._asked, self._work
        if last - first < TOGETHER_FROM:
            steps = np.array([[first, last, 0]])
        else:
            _, _, _, _, bands, parts = self._sequence
            begin, end = np.searchsorted(bands, (first, last))
            steps = _steps(bands[begin:end], parts, last, STATES_OF_A_CORE, num_cores())
        if asked.reward is not None:
            in_steps(earned, steps, work, asked.reward, least, *rest)
        else:
            in_steps(reached, steps, work, least, int(asked.missed), *rest)

    def untie(self, first: int, last: int) -> bool:
        """Solves a knot, in a model of its own; whether its bounds have met."""
        asked, work = self._asked, self._work
        knot = kept(
            *(asked.model, f"knot at {first}"), lambda: cut_out(work, first, last)
        )
        columns, weights = knot.columns.copy(), knot.weights.copy()
        worth, off = np.zeros((2, len(knot.rows) - 1))
        earns, missed = int(asked.reward is not None), int(asked.missed)
        _, *rest = self._how
        on_all_cores(
            *(leave, len(knot.begins) - 1, knot, work.ends, earns, missed, *rest),
            *(columns, weights, worth, off),
            work=len(knot.outside),
        )
        small = MDP(knot.groups, knot.rows, columns, weights)
        validity.known(small)
        kept(small, "sequence", lambda: None)  # all but the knot is one step away
        states = work.order[first:last]
        target, passed = np.zeros((2, small.num_states), bool)
        passed[:], target[-2] = True, True
        mark = work.mark[states]
        target[: len(states)], passed[: len(states)] = mark & GOAL, mark & PASSED
        reward = None
        if asked.reward is not None:
            reward, worth[: len(knot.choices)] = worth, asked.reward[knot.choices]
        question = ToTarget(small, target, asked.optimum, passed, reward, asked.missed)
        posed = question.posed("host")
        part = equations(small, posed.known)
        part = part._replace(blur=np.where(part.choice >= 0, off[part.choice], 0.0))
        found = on_host(
            small,
            posed,
            lambda: part,
            epsilon=self._epsilon,
            relative=self._relative,
            stop=self._stop,
        )
        if found.status != Status.SOLVED:
            return False
        bounds = found.lower, found.upper, found.scheduler
        decided = ~posed.known.open_
        given_back(work, first, last, knot.choices, decided, 1 - earns, *bounds)
        for name in self._counts:
            self._counts[name] += int(found.stats[name])
        return True

    def counted(
        self, targets: int, zeros: int, ones: int, endless: int
    ) -> dict[str, int]:
        """Numbers for the statistics, with those of what the graph decides."""
        size = len(self._work.order)
        first = {}
        known = targets + endless
        if self._asked.reward is None:
            if self._asked.missed:
                zeros, ones = ones, zeros
            first, known = {"zero": zeros, "one": ones}, zeros + ones
        looks = {"open": size - known, "looks": self._counts["looks"] + size}
        return {**first, **self._counts, **looks}
