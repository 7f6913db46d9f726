"""What games of several energies are to the driver, one at a time."""

import contextlib
import dataclasses
from typing import Any, ClassVar

import numpy as np

from jaxgames import drive, fixpoint
from jaxgames.host import can_compile, interpreted
from jaxgames.later import backend, jnp
from jaxgames.multienergy import _bitmap, _layout, host
from jaxgames.multienergy._antichains import capacity_of, stacked
from jaxgames.multienergy._batch import parted, union
from jaxgames.multienergy._bitmap import ByBitmap
from jaxgames.multienergy._checks import checked
from jaxgames.multienergy._fronts import ByFronts, State
from jaxgames.multienergy._game import Game
from jaxgames.multienergy._memory import check_room
from jaxgames.multienergy._packing import EMPTY, NARROW, WIDE, Packing
from jaxgames.multienergy._solution import Fronts
from jaxgames.multienergy.host import is_ready
from jaxgames.solution import Stats, Status
from jaxgames.solver import Registry
from jaxgames.states import check_class
from jaxgames.tuning.multienergy import DEVICE_FROM, LARGE_ROOM, ROOM
from jaxgames.tuning.multienergy import MANY_POSITIONS as MANY
from jaxgames.tuning.multienergy import PLAIN_UP_TO as FEW

SOLVERS = Registry(
    "multi-dimensional energy game",
    ByFronts,
    ByBitmap,
    places=(drive.HOST, drive.RACE),
)
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the game is traced.
"""


class MultiEnergy(drive.Problem[Game]):
    """Games of several energies."""

    name = "multienergy"
    solvers = SOLVERS
    nothing: ClassVar = {"words": int(EMPTY)}
    inline = 1 << 18

    def read(self, question: Any) -> tuple[Game, Any]:
        """One game at a time."""
        if not isinstance(question, Game):
            raise ValueError(f"game must be a Game, got {type(question).__name__}")
        if question.targets.ndim != 1:
            raise ValueError(
                "solve takes one game at a time, not a batch: apply jax.vmap to a "
                "function that calls it, or take solve_many; targets has shape "
                f"{question.targets.shape}"
            )
        return checked(question)

    def shape(self, question: Game) -> tuple[int, int]:
        """Positions and moves."""
        return question.num_positions, question.num_edges

    def undecided(self, question: Game) -> tuple[Any, Packing]:
        packing = Packing.of(question)
        empty = np.full((1, question.num_positions), EMPTY)
        return (empty,) * packing.num_words, packing

    def solution(self, answer: tuple[Any, Packing], **how: Any) -> Fronts:
        """Words, as they are packed."""
        words, packing = answer
        return Fronts(words=words, packing=packing, **how)

    def place(self, question: Game) -> str:
        """A game of few edges is solved on the host before anything is compiled.

        Larger ones as elsewhere, but without a race.
        """
        if question.num_edges <= FEW:
            return drive.HOST
        if not can_compile():
            return drive.DEVICE
        small = backend() == "cpu" or question.num_edges < DEVICE_FROM
        return drive.HOST if small else drive.DEVICE

    def is_hosts(self, question: Game) -> bool:
        """What has no positions."""
        return question.num_positions == 0

    def on_device(self, question: Game, solver: Any, **how: Any) -> Fronts:
        """In rooms that grow, or as bitmaps."""
        if isinstance(solver, ByBitmap):
            _bitmap.check(question)
            return _by_bitmap(question, solver, **how)
        if not isinstance(solver, ByFronts):
            raise ValueError(
                f"solver must be a name, ByFronts or ByBitmap, got {solver!r}"
            )
        return _by_fronts(question, solver, **how)

    def traced(self, question: Game, solver: Any, state: Any, max_steps: Any) -> Fronts:
        """In a room that is fixed."""
        if isinstance(solver, ByBitmap):
            _bitmap.check(question)
        return _traced(question, solver, state, max_steps)

    def on_host(
        self, question: Game, *, strategies=True, track=None, max_steps=None
    ) -> Fronts:
        """By a worklist; small games in Python, unless it is compiled already."""
        in_python = question.num_edges <= FEW and not is_ready(question)
        with interpreted() if in_python else contextlib.nullcontext():
            return host.run_host(question, track)

    def beside(
        self, questions: list[Game], solver: Any, *, state: Any, strategies: bool, **how
    ) -> tuple[list[Fronts], Any]:
        """As one game for each kind: with dimensions and caps in common."""
        kinds = drive.grouped((x.dimensions, x.cap) for x in questions).values()
        states = drive.states_of(list(kinds), state)
        found: list[Any] = [None] * len(questions)
        for at, members in enumerate(kinds):
            some = [questions[index] for index in members]
            whole = drive.solve(
                self, union(some), solver, state=states[at], throw=False, **how
            )
            states[at] = whole.state
            for index, own in zip(members, parted(some, whole), strict=True):
                found[index] = own
        return found, tuple(states)


PROBLEM = drive.register(MultiEnergy())
"""For [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]."""


def _traced(game: Game, machine: Any, state, max_steps) -> Fronts:
    layout = _layout.traced(game)
    packing = Packing.of(game)
    machine = dataclasses.replace(machine, packing=packing)
    outcome = fixpoint.traced(machine, layout, state, max_steps)
    words, status = outcome.answer, outcome.status
    if isinstance(machine, ByBitmap):
        least = _bitmap.minimal(words, packing.cap)
        words, full = _bitmap.fronts(least, packing, machine.capacity)
        status = jnp.where(full, Status.OVERFLOW, status)
    return Fronts(
        status=status,
        words=words,
        packing=packing,
        stats=Stats(solver=machine.name, rounds=outcome.rounds),
        state=outcome.carry,
    )


def _by_fronts(game: Game, machine: Any, state, max_steps, progress) -> Fronts:
    carry = state
    if carry is not None:
        check_class(carry, fixpoint.Carry)
    if carry is None or not isinstance(carry.state, State):  # refused below
        usual = ROOM if game.num_positions < MANY else LARGE_ROOM
        room, packing = machine.capacity or usual, Packing.of(game, NARROW)
    else:
        front = carry.state.front
        room, packing = capacity_of(front), Packing.of(game, NARROW)
        if len(stacked(front)) != packing.num_words:
            packing = Packing.of(game, WIDE)
    check_room(game, packing, room)
    layout = _layout.prepare(game)
    machine = dataclasses.replace(machine, capacity=room, packing=packing)

    while True:
        outcome = fixpoint.run(
            machine, layout, carry, max_steps=max_steps, progress=progress
        )
        if outcome.status != Status.OVERFLOW:
            break
        if bool(outcome.carry.state.large) and packing.bits == WIDE:
            break
        machine, state = machine.grown(outcome.carry.state)
        packing = machine.packing
        check_room(game, packing, machine.capacity)
        carry = fixpoint.adopted(machine, outcome.carry, state)
    return Fronts(
        status=outcome.status,
        words=tuple(word[:, : game.num_positions] for word in outcome.answer),
        packing=packing,
        stats=Stats(
            solver=machine.name, rounds=outcome.rounds, capacity=machine.capacity
        ),
        state=outcome.carry,
    )


def _by_bitmap(game: Game, machine: ByBitmap, state, max_steps, progress) -> Fronts:
    packing = Packing.of(game)
    assert packing.cap is not None

    outcome = fixpoint.run(
        machine, _layout.prepare(game), state, max_steps=max_steps, progress=progress
    )
    wins = outcome.answer[:, : game.num_positions]
    least = _bitmap.minimal(wins, packing.cap)
    most = int(jnp.max(jnp.sum(least, axis=1), initial=1))
    words, _ = _bitmap.fronts(least, packing, 1 << (most - 1).bit_length())
    return Fronts(
        status=outcome.status,
        words=words,
        packing=packing,
        stats=Stats(solver=machine.name, rounds=outcome.rounds),
        state=outcome.carry,
    )
