"""End components of many models at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgames import drive, validity
from jaxgames.arena import bucket
from jaxgames.mdp import _layout
from jaxgames.mdp._checks import MODEL, refuse_intervals
from jaxgames.mdp._interleaved import Interleaved
from jaxgames.mdp._mec import SOLVERS
from jaxgames.mdp._model import MDP
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp._solver import Answer
from jaxgames.solver import Solver


def _size(model: MDP) -> tuple[int, int, int]:
    sizes = model.num_states, model.num_choices, model.num_branches
    return bucket(sizes[0]), bucket(sizes[1]), bucket(sizes[2])


def _stack(models: Sequence[MDP], size: tuple[int, int, int]) -> MDP:
    """Models padded as `MDP.pad` does, without what is not looked at."""

    def offsets(name: str, width: int) -> np.ndarray:
        rows = [np.asarray(getattr(model, name)) for model in models]
        ends = np.array([row[-1] for row in rows], np.int32)[:, None]
        fill = np.broadcast_to(ends, (len(rows), width + 1))
        return drive.filled(rows, np.array(list(map(len, rows))), width + 1, fill)

    columns = [np.asarray(model.columns) for model in models]
    return MDP(
        row_group_offsets=offsets("row_group_offsets", size[0]),
        row_offsets=offsets("row_offsets", size[1]),
        columns=drive.filled(columns, np.array(list(map(len, columns))), size[2], 0),
    )


def _cut(answer: Answer, model: MDP) -> Answer:
    return Answer(
        answer.count,
        answer.state_label[: model.num_states],
        answer.choice_kept[: model.num_choices],
    )


MODELS = drive.Form(
    kind=MDP,
    what="MDP",
    is_stack=lambda model: np.ndim(model.columns) == 2,
    size=_size,
    stack=_stack,
    shape=lambda model: (len(model.columns), model.num_states, model.num_branches),
    cut=_cut,
)
"""Models, in the place of arenas."""


class _Problem(drive.Problem):
    """Maximal end components."""

    name = "mec"
    solvers = SOLVERS
    form = MODELS

    def auto(self, stack: MDP) -> Solver:
        """By single sweeps: finished models would keep all others waiting."""
        del stack
        return Interleaved(sweeps=1)

    def check(self, question: Any) -> None:
        """Models, or a stack of them."""
        if not isinstance(question, MDP):
            raise ValueError(f"model must be an MDP, got {type(question).__name__}")
        refuse_intervals(question)
        if np.ndim(question.columns) == 2:
            validity.check_stack(question, len(question.columns), MODEL)

    def game(self, question: MDP, solver: Any, facts: None = None) -> _layout.Layout:
        """Without what is not looked at."""
        del facts
        bare = MDP(question.row_group_offsets, question.row_offsets, question.columns)
        return _layout.traced(bare, graph=solver.needs_graph)

    def solution(self, answer: Answer, **how: Any) -> EndComponents:
        """Answers have the names that a solution has."""
        return EndComponents(**answer._asdict(), **how)


PROBLEM = drive.register(_Problem())
"""Maximal end components, for [`solve_many`][jaxgames.solve_many]."""
