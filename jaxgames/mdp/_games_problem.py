"""Many stochastic games at once: side by side, where precision is the same."""

import dataclasses
from typing import Any

import numpy as np

from jaxgames import drive, limits
from jaxgames.limits import LimitError
from jaxgames.mdp._game import Game
from jaxgames.mdp._model import MDP
from jaxgames.mdp._stochastic_game import Asked, GameValues, checked, undecided_game
from jaxgames.mdp._values_problem import VALUE_SOLVERS
from jaxgames.progress import Report, as_progress
from jaxgames.solution import Status
from jaxgames.tuning.mdp import SIDE_BY_SIDE


class Games(drive.Problem[Asked]):
    """Values of stochastic games: questions are the arguments of `solve_game`.

    These are a game, a target, and, where they are not the defaults, the maximiser,
    the states that may be passed, and a precision.
    """

    name = "stochastic_game"
    solvers = VALUE_SOLVERS

    def read(self, question: Any) -> tuple[Asked, Any]:
        """A game with probabilities, and sets of states as booleans."""
        game, target, *more = question
        if len(more) > 3:
            raise ValueError(
                "a question is a game, a target, a maximizer, states and an epsilon, "
                f"got {2 + len(more)} parts"
            )
        near = {"epsilon": more.pop()} if len(more) == 3 else {}
        return checked(game, target, *more, **near), False

    def shape(self, question: Asked) -> tuple[int, int]:
        """States and choices; and branches."""
        model = question.game.model
        return model.num_states + model.num_choices, model.num_branches

    def undecided(self, question: Any) -> GameValues:
        return undecided_game(Status.INTERRUPTED, question.game)

    def solution(self, answer: GameValues, **how: Any) -> GameValues:
        """The same, with what else there is to say."""
        return dataclasses.replace(answer, **how)

    def in_phases(
        self, question: Asked, solver: Any, *, max_steps, state, progress, strategies
    ) -> GameValues:
        """As one of one."""
        how = {"max_steps": max_steps, "state": state, "progress": progress}
        (found,), _ = self.beside([question], solver, strategies=strategies, **how)
        return found

    def beside(
        self,
        questions: list[Asked],
        solver: Any,
        *,
        max_steps: Any,
        state: Any,
        progress: Any,
        strategies: bool,
    ) -> Any:
        """Strategies of all games of a group are improved at once, each by itself."""
        if solver != "auto":
            raise ValueError(
                f"stochastic games are solved by solver='auto' alone, got {solver!r}"
            )
        if max_steps is not None or state is not None:
            raise ValueError(
                "stochastic games have no state: pass deadline in place of max_steps"
            )
        found: list[Any] = [None] * len(questions)
        stop, done, meter = None, 0, as_progress(progress)
        for members in self._groups(questions):
            some = [questions[index] for index in members]
            if stop is None:
                try:
                    answers = _together(some)
                except LimitError as error:
                    stop = error.status
                except KeyboardInterrupt:
                    stop = Status.INTERRUPTED
            if stop is not None:
                answers = [undecided_game(stop, one.game) for one in some]
            done += len(some)
            for index, one in zip(members, answers, strict=True):
                found[index] = one
            stop = stop or meter(Report("strategies", done, 0.0, "games"))
        meter.close()
        return found, None

    def _groups(self, questions: list[Asked]) -> list[list[int]]:
        groups: list[list[int]] = []
        last: dict[Any, tuple[list[int], int]] = {}
        for index, question in enumerate(questions):
            size, many = self.shape(question)
            if not question.game.model.num_states:
                groups.append([index])
                continue
            key = question.epsilon, question.relative, question.passed is None
            members, room = last.get(key, ([], 0))
            if size + many > room:
                members, room = [], SIDE_BY_SIDE
                groups.append(members)
            members.append(index)
            last[key] = members, room - size - many
        return groups


GAMES = drive.register(Games())
"""Stochastic games, for [`solve_many`][jaxgames.solve_many]."""


def _together(questions: list[Asked]) -> list[GameValues]:
    """The values of each game, as alone."""
    if len(questions) == 1:
        return questions[0].solved(np.zeros(1, np.int64))
    limits.tick("putting games side by side")
    models = [question.game.model for question in questions]
    groups = [np.asarray(model.row_group_offsets) for model in models]
    rows = [np.asarray(m.row_offsets)[: g[-1] + 1] for m, g in zip(models, groups)]  # noqa: B905
    columns, probs = [], []
    first = np.cumsum([0, *(len(group) - 1 for group in groups)])
    for model, row, state in zip(models, rows, first, strict=False):
        columns.append(np.asarray(model.columns)[: row[-1]] + state)
        probs.append(np.asarray(model.probs, np.float64)[: row[-1]])
    many = np.cumsum([0, *(group[-1] for group in groups)])
    whole = MDP(
        row_group_offsets=_stacked(groups),
        row_offsets=_stacked(rows),
        columns=np.concatenate(columns).astype(np.int32),
        probs=np.concatenate(probs),
    )
    one, passed = questions[0], [x.passed for x in questions if x.passed is not None]
    player = [np.asarray(x.game.player) != x.maximizer for x in questions]
    asked = Asked(
        Game(whole, np.concatenate(player).astype(np.int8)),
        np.concatenate([x.target for x in questions]),
        np.concatenate(passed) if passed else None,
        0,
        one.epsilon,
        one.relative,
    )
    found = []
    for values, choice in zip(asked.solved(first[:-1]), many, strict=False):
        own = values.strategy
        values.strategy[own >= 0] -= choice
        found.append(values)
    return found


def _stacked(offsets: list[np.ndarray]) -> np.ndarray:
    """Offsets of one list after the other as those of one."""
    ends = np.cumsum([0, *(x[-1] for x in offsets)])
    parts = [x[1:] + end for x, end in zip(offsets, ends, strict=False)]
    return np.concatenate([[0], *parts]).astype(np.int32)
