"""End components of many models at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxgames import batch, validity
from jaxgames.arena import bucket
from jaxgames.mdp import _layout
from jaxgames.mdp._checks import MODEL, refuse_intervals
from jaxgames.mdp._interleaved import Interleaved
from jaxgames.mdp._mec import SOLVERS
from jaxgames.mdp._model import MDP
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp._solver import Answer


def _size(model: MDP) -> tuple[int, int, int]:
    sizes = model.num_states, model.num_choices, model.num_branches
    return bucket(sizes[0]), bucket(sizes[1]), bucket(sizes[2])


def _stack(models: Sequence[MDP], size: tuple[int, int, int]) -> MDP:
    """Models padded as `MDP.pad` does, without what is not looked at."""

    def offsets(name: str, width: int) -> np.ndarray:
        rows = [np.asarray(getattr(model, name)) for model in models]
        ends = np.array([row[-1] for row in rows], np.int32)[:, None]
        fill = np.broadcast_to(ends, (len(rows), width + 1))
        return batch.filled(rows, np.array(list(map(len, rows))), width + 1, fill)

    columns = [np.asarray(model.columns) for model in models]
    return MDP(
        row_group_offsets=offsets("row_group_offsets", size[0]),
        row_offsets=offsets("row_offsets", size[1]),
        columns=batch.filled(columns, np.array(list(map(len, columns))), size[2], 0),
    )


def _cut(answer: Answer, model: MDP) -> Answer:
    return Answer(
        answer.count,
        answer.state_label[: model.num_states],
        answer.choice_kept[: model.num_choices],
    )


MODELS = batch.Form(
    kind=MDP,
    what="MDP",
    is_stack=lambda model: np.ndim(model.columns) == 2,
    size=_size,
    stack=_stack,
    shape=lambda model: (len(model.columns), model.num_states, model.num_branches),
    cut=_cut,
)
"""Models, in the place of arenas."""


def _check(model: Any) -> None:
    if not isinstance(model, MDP):
        raise ValueError(f"model must be an MDP, got {type(model).__name__}")
    refuse_intervals(model)
    if np.ndim(model.columns) == 2:
        validity.check_stack(model, len(model.columns), MODEL)


def _game(model: MDP, solver: Any, facts: None) -> _layout.Layout:
    del facts
    bare = MDP(model.row_group_offsets, model.row_offsets, model.columns)
    return _layout.traced(bare, graph=solver.needs_graph)


def _solution(answer: Answer, **how) -> EndComponents:
    return EndComponents(**answer._asdict(), **how)


PROBLEM = batch.register(
    batch.Problem(
        name="mec",
        solvers=SOLVERS,
        # A single sweep a step: finished models would keep all others waiting.
        auto=lambda _: Interleaved(sweeps=1),
        check=_check,
        facts=lambda model, solver: None,
        game=_game,
        answer=lambda solver, game, state, size: solver.answer(game, state),
        solution=_solution,
        form=MODELS,
    )
)
"""Maximal end components, for [`solve_many`][jaxgames.solve_many]."""
