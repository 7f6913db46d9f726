"""What end components are to the driver: how models are read, laid out and answered."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxgames import drive, ops, validity
from jaxgames.arena import bucket, is_traced
from jaxgames.mdp import _layout, host
from jaxgames.mdp._basic import Basic
from jaxgames.mdp._checks import MODEL, checked, refuse_intervals
from jaxgames.mdp._interleaved import Interleaved
from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import check_masks, check_one
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp._solver import Answer, EndComponentSolver
from jaxgames.solver import Registry, Solver

SOLVERS = Registry(
    "end component",
    Interleaved,
    Basic,
    places=(drive.HOST, drive.RACE),
    base=EndComponentSolver,
)
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the model is traced.
"""


class Part(NamedTuple):
    """A model, and the states and choices of it to look at; None for all."""

    model: Any
    states: Any = None
    choices: Any = None


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
    join=lambda one, other: tuple(map(max, one, other)),
    question=Part,
)
"""Models, in the place of arenas."""


class EndComponentsOf(drive.Problem[Part]):
    """Maximal end components."""

    name = "mec"
    what = "model"
    solvers = SOLVERS
    solved = EndComponents
    nothing: ClassVar = {"count": 0}
    head_start = drive.HEAD_START
    host_until = 1 << 18
    """Of fewer branches a race takes longer than the host engine. See *Whole calls*."""
    form = MODELS

    # ---- one model -------------------------------------------------------------

    def read(self, question: Part) -> tuple[Part, Any]:
        """One model at a time, and masks of booleans."""
        check_one(question.model)
        model, fault = checked(question.model)
        return Part(model, *check_masks(*question._replace(model=model))), fault

    def shape(self, question: Part) -> tuple[int, int]:
        """States and choices; and branches."""
        model = question.model
        return model.num_states + model.num_choices, model.num_branches

    def undecided(self, question: Part) -> Answer:
        label = np.full(question.model.num_states, -1, np.int32)
        kept = np.zeros(question.model.num_choices, bool)
        return Answer(np.int32(0), label, kept)  # type: ignore[arg-type]

    def fitted(self, question: Part, solver: Solver) -> tuple[Part, Solver]:
        """Small models are padded."""
        model = _layout.roomy(question.model, ops.current_spread())
        states = _layout.extended(question.states, model.num_states)
        choices = _layout.extended(question.choices, model.num_choices)
        return Part(model, states, choices), solver

    def shapes(self, subject: Part, solver: Any) -> Any:
        return _layout.shape_of(subject.model, graph=solver.needs_graph)

    def is_resident(self, subject: Part, solver: Any) -> bool:
        return _layout.is_prepared(subject.model, ops.current_spread())

    def prepare(self, subject: Part, solver: Any) -> _layout.Layout:
        """The layout of the model, without what is masked."""
        graph, spread = solver.needs_graph, ops.current_spread()
        layout = _layout.prepare(subject.model, graph=graph, spread=spread)
        if subject.states is None and subject.choices is None:
            return layout
        return _layout.restricted(layout, subject.states, subject.choices)

    def own(self, question: Part, game: Any, answer: Answer) -> Answer:
        """Without padding."""
        states, choices = question.model.num_states, question.model.num_choices
        same = (
            (states,) == answer.state_label.shape,
            (choices,) == answer.choice_kept.shape,
        )
        if is_traced(answer):
            return answer
        if all(same) and not isinstance(question.model.columns, np.ndarray):
            return answer
        # Cut on the host: a device would compile a slice for each size.
        count, label, kept = ops.to_host(tuple(answer))
        return Answer(count, label[:states], kept[:choices])  # type: ignore[arg-type]

    def layout(self, game: _layout.Layout) -> dict[str, Any]:
        return {"layout": ops.links_layout(game.branches), "cells": game.cells}

    def on_host(
        self, question: Part, *, strategies=True, track=None, max_steps=None
    ) -> EndComponents:
        """By Tarjan's searches."""
        stop = None if track is None else track.stop
        model, states, choices = question
        return host.mec(model, states=states, choices=choices, stop=stop)

    # ---- many ------------------------------------------------------------------

    def auto(self, stack: Any) -> Solver:
        """By single sweeps: finished models would keep all others waiting."""
        return Interleaved(sweeps=1)

    def check(self, question: Any) -> None:
        """Models, or a stack of them."""
        if not isinstance(question, MDP):
            raise ValueError(f"model must be an MDP, got {type(question).__name__}")
        refuse_intervals(question)
        if np.ndim(question.columns) == 2:
            validity.check_stack(question, len(question.columns), MODEL)

    def game(self, question: Any, solver: Any, facts: None = None) -> _layout.Layout:
        """Without what is not looked at."""
        model, *masks = Part(question) if isinstance(question, MDP) else question
        bare = MDP(model.row_group_offsets, model.row_offsets, model.columns)
        layout = _layout.traced(bare, graph=solver.needs_graph)
        return _layout.restrict(layout, *masks)


PROBLEM = drive.register(EndComponentsOf())
"""Maximal end components, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]."""
