"""A property of an interval model, evaluated in all states."""

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from jaxgames import drive, limits
from jaxgames.mdp._asked import Answer, Asked
from jaxgames.mdp._checks import checked
from jaxgames.mdp._model import MDP
from jaxgames.mdp._property import Cumulative, PropertyError, Query
from jaxgames.mdp.robust._natures import POINT, natures, numbers, of_model
from jaxgames.mdp.robust._pose import Asking
from jaxgames.mdp.robust._problem import ROBUST
from jaxgames.mdp.robust._steps import walk_back
from jaxgames.quoting import quoted
from jaxgames.solution import Stats, Status


def is_interval(model: Any) -> bool:
    """Whether a model has bounds in the place of probabilities.

    Raises:
        ValueError: it is none, or a batch.
    """
    if not isinstance(model, MDP) or model.lower is None:
        return False
    if np.ndim(model.columns) != 1:
        raise ValueError("one interval model at a time, not a batch")
    checked(model)
    return True


class AskedOfIntervals(Asked):
    """A property, nature being for or against those who ask: see `Asked`.

    Optima are of two words: what the scheduler wants, and what nature wants.
    """

    models: ClassVar[str] = "interval models"

    def __post_init__(self):
        """The natures are made when they are first asked for."""
        super().__post_init__()
        self._natures: Any = None

    @property
    def natures(self) -> Any:
        """Those of the model."""
        if self._natures is None:
            self._natures = natures(self.model)
        return self._natures

    def _optimum(self, node: Query) -> str:
        """What the scheduler wants and what nature wants."""
        words, groups = node.optimum, np.asarray(self.model.row_group_offsets)
        chain = not np.any(np.diff(groups) > 1)
        if len(words) == 2:
            return "".join(words)
        if len(words) == 1 and chain:
            return words[0] * 2  # there is nature alone
        if not words and node.relation is not None:
            # For all schedulers and natures, so for the worst.
            return ("min" if node.relation in (">", ">=") else "max") * 2
        raise PropertyError(
            node.place,
            f"'{node}' must say min or max "
            + (
                "for nature"
                if chain
                else "twice: of the scheduler, then of nature, such as maxmin"
            )
            + ", since probabilities lie between bounds",
        )

    def _answered(self, node: Query, optimum: str) -> Answer:
        return self._valued(node, optimum)

    def _conditional(self, node: Query, optimum: str) -> Answer:
        raise self._refused(node, "conditional probabilities")

    def _limit(self, path: Any, optimum: str) -> Answer:
        raise self._refused(path.path, "limits and nested formulas of paths")

    def _not_limit(self, path: Any, optimum: str) -> Answer:
        raise self._refused(path.path, "limits and nested formulas of paths")

    def _general(self, path: Any, optimum: str) -> Answer:
        raise self._refused(path.path, "nested formulas of paths")

    def _earning(self, path: Any, optimum: str) -> Answer:
        raise self._refused(path, "bounds of what is earned")

    def _average(self, reward: np.ndarray, optimum: str) -> Answer:
        nat, agreed = self.natures, optimum[:3] == optimum[3:]
        number = numbers(nat)
        others = np.bincount(number, nat.upper, minlength=len(nat.owner))[number]
        may_go = (nat.lower == 0) & (others - nat.upper >= 1 - POINT)
        zero = np.flatnonzero(may_go)
        if len(zero) and not agreed:
            raise PropertyError(
                self.asked.formula.place,
                "long-run averages where nature is against the scheduler are not "
                f"supported if it may leave out branches, such as {nat.branch[zero[0]]}"
                ", whose lower bound is zero: ask for minmin or maxmax",
            )
        inside = reward[: len(nat.owner)]
        if not self.relative or not (inside < 0).any():
            return self._asked("average", optimum, reward=reward)
        near = self.epsilon * float(np.abs(inside).max())
        absolute = dataclasses.replace(self, epsilon=near, relative=False)
        return absolute._asked("average", optimum, reward=reward)

    def _rewards(self, name: str) -> np.ndarray:
        """What each choice earns: that must not be up to nature."""
        if (self.model.branch_rewards or {}).get(name) is not None:
            raise ValueError(
                f"the rewards {quoted(name)} are of branches, whose probabilities are "
                "not known: give them to choices"
            )
        return super()._rewards(name)

    # ---- equations -----------------------------------------------------------------

    def _reached(self, target, optimum: str, passed) -> Answer:
        return self._asked("reach", optimum, goal=target, passed=passed)

    def _missed(self, target, optimum: str, passed) -> Answer:
        return self._less(lambda asked: asked._reached(target, optimum, passed))

    def _earned_until(self, reward, target, optimum: str) -> Answer:
        return self._asked("until", optimum, goal=target, reward=reward)

    def _discounted(self, reward, optimum: str, discount: Fraction) -> Answer:
        return self._asked("discounted", optimum, reward=reward, discount=discount)

    def _total(self, path: Cumulative, reward, optimum: str) -> Answer:
        if optimum in ("minmax", "maxmin"):
            raise PropertyError(
                path.place,
                "all that is ever earned is not supported where nature is against "
                "the scheduler: ask for minmin or maxmax, or for what is earned "
                "before a target",
            )
        return self._asked("total", optimum, reward=reward)

    def _asked(self, kind: str, optimum: str, **more: Any) -> Answer:
        nat = self.natures
        size = len(nat.groups) - 1
        goal = np.asarray(more.get("goal", np.zeros(size, bool)))
        passed = more.get("passed")
        asking = Asking(
            *(nat, kind, goal),
            np.ones(size, bool) if passed is None else np.asarray(passed),
            np.asarray(more.get("reward", np.zeros(len(nat.owner))))[: len(nat.owner)],
            *(optimum[:3] == "min", optimum[3:] == "min"),
            *(float(more.get("discount", 1.0)), self.epsilon, self.relative),
        )
        return self.solve(self.model, asking)

    # ---- steps ---------------------------------------------------------------------

    def _walk(
        self,
        start: np.ndarray,
        count: int,
        optimum: str,
        share: Fraction | None = None,
        **how: Any,
    ) -> Answer:
        nat = self.natures
        for hint in ("steady", "changes"):
            how.pop(hint, None)
        if how.get("reward") is not None:
            how["reward"] = how["reward"][: len(nat.owner)]
        discount = Fraction(1) if share is None else share
        words = (optimum[:3] == "min", optimum[3:] == "min")
        found, probs = walk_back(nat, start, count, words, discount=discount, **how)
        nature = None
        if probs is not None:
            nature = np.zeros((count, self.model.num_branches))
            nature[:, nat.branch] = probs
        return Answer(
            *found,
            Status.SOLVED,
            Stats(solver="steps", rounds=count),
            nature=nature,
        )


def answering_nature(
    solver: Any, statuses: list[Status], stats: list[Stats]
) -> Callable[..., Answer]:
    """What solves the questions that a property of an interval model comes to."""

    def solve(model: MDP, asking: Asking) -> Answer:
        found = drive.solve(ROBUST, (model, asking), solver, throw=False)
        status = Status(found.status)
        if status not in (Status.SOLVED, Status.PRECISION):
            limits.fail(status, "solving interval equations")
        statuses.append(status)
        stats.append(found.stats)
        nature = of_model(asking.nat, found.nature, model.num_branches)
        ends = (found.lower, found.upper, found.scheduler)
        return Answer(*ends, status, found.stats, nature=nature)

    return solve
