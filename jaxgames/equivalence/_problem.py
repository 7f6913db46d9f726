"""What bisimilarity is to the driver."""

import contextlib
import dataclasses
from typing import Any

import numpy as np

from jaxgames import drive, host, limits, ops, states
from jaxgames.arena import bucket
from jaxgames.equivalence._classes import Classes
from jaxgames.equivalence._refinement import WORDS, Labels, Refinement, Transitions
from jaxgames.equivalence._system import System
from jaxgames.equivalence.host import _refine
from jaxgames.later import backend, jax, jnp
from jaxgames.solution import UNDECIDED, Stats, Status
from jaxgames.solver import Registry, Solver
from jaxgames.tuning.equivalence import ALONE_SECONDS, DEVICE_FROM
from jaxgames.tuning.equivalence import PLAIN_UP_TO as FEW

SOLVERS = Registry("bisimulation", Refinement, places=(drive.HOST, drive.RACE))
"""The solvers of bisimilarity that are array programs, by name."""

REFINING = "refining classes"


class Bisimilarity(drive.Problem[System]):
    """Which states are bisimilar."""

    name = "bisimulation"
    what = "system"
    solvers = SOLVERS
    solved = Classes

    def read(self, question: Any) -> tuple[System, Any]:
        """The transitions of a system."""
        return question if isinstance(question, System) else System.of(question), False

    def shape(self, question: System) -> tuple[int, int]:
        """States and transitions."""
        return question.num_states, len(question.label)

    def undecided(self, question: Any) -> Labels:
        return Labels(np.full(question.num_states, UNDECIDED, np.int32))

    host_until = DEVICE_FROM
    head_start = ALONE_SECONDS

    def place(self, question: System) -> str:
        """As of all others; plain loops of the host serve larger systems, too."""
        if host.can_compile():
            return super().place(question)
        return drive.DEVICE if len(question.label) > FEW else drive.HOST

    # ---- on the device ---------------------------------------------------------

    def fitted(self, question: System, solver: Solver) -> tuple[System, Solver]:
        """Tests are rare where they cost something."""
        if solver.sweeps_per_check is None:
            sweeps = 1 if backend() == "cpu" else 4
            solver = dataclasses.replace(solver, sweeps_per_check=sweeps)
        return question, solver

    def shapes(self, subject: System, solver: Solver) -> Transitions:
        """With padding."""
        states, edges = (
            jax.ShapeDtypeStruct((size,), np.int32) for size in _padded(subject)
        )
        return Transitions(edges, edges, edges, states)

    def is_resident(self, subject: System, solver: Solver) -> bool:
        """They are sent each time."""
        return False

    def prepare(self, subject: System, solver: Solver) -> Transitions:
        """Padding is one more class, of states without transitions, behind all."""
        states, edges = _padded(subject)
        more = (0, edges - len(subject.label))
        source = np.pad(subject.source, more, constant_values=states)
        label, target = (np.pad(x, more) for x in (subject.label, subject.target))
        start = (np.arange(states) >= subject.num_states).astype(np.int32)
        return Transitions(*map(jnp.asarray, (source, label, target, start)))

    def on_device(self, question: System, solver: Any, **how: Any) -> Classes:
        """Until no hash has misled."""
        while True:
            found: Any = super().on_device(question, solver, **how)
            stopped = found.status not in (Status.SOLVED, Status.OVERFLOW)
            if stopped or (
                found.status == Status.SOLVED and is_stable(question, found.labels)
            ):
                return found
            last = found.state.state
            classes = last.classes
            if found.status == Status.OVERFLOW:  # which may have split too much
                classes = self.prepare(question, solver).start
            state = solver.again(classes, last.salt + jnp.uint32(WORDS))
            how["state"] = found.state._replace(state=state)

    def own(self, question: System, game: Transitions, answer: Labels) -> Labels:
        """Without padding; cut on the host: a device would compile for each size."""
        return Labels(np.asarray(answer.labels)[: question.num_states])

    def layout(self, game: Transitions) -> dict[str, Any]:
        return {}

    # ---- on the host -----------------------------------------------------------

    def on_host(
        self, question: System, *, strategies=True, track=None, max_steps=None
    ) -> Classes:
        """By loops that look only at what has changed."""
        limits.tick(REFINING)
        stop = (drive.Track() if track is None else track).stop
        rows = question.offsets, question.label, question.target
        size, stats = question.num_states, Stats(solver=drive.HOST)
        labels, salt = np.zeros(size, np.int32), 0
        # Few transitions are looked at sooner than anything is compiled.
        small = len(question.label) <= FEW and not _refine.refine.ready
        with host.interpreted() if small else contextlib.nullcontext():
            back = ops.transpose(question.offsets, question.target, size)
            while not stop[0]:
                labels = _refine.refine(*rows, *back, labels, salt, stop)
                if not stop[0] and is_stable(question, labels):
                    return Classes(Status.SOLVED, labels=labels, stats=stats)
                salt += 1
        answer = self.undecided(question)
        return self.solution(answer, status=Status.INTERRUPTED, stats=stats)

    # ---- many ------------------------------------------------------------------

    def words(self, question: System) -> states.Words:
        """Those of the transitions."""
        return states.fingerprint((question.offsets, question.label, question.target))

    def beside(self, questions: list[System], solver: Any, **how: Any) -> Any:
        """One after the other."""
        return drive.one_by_one(self, questions, solver, **how)


PROBLEM = drive.register(Bisimilarity())
"""Bisimilarity, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]."""


def _padded(system: System) -> tuple[int, int]:
    return bucket(system.num_states + 1), bucket(len(system.label))


def is_stable(system: System, classes: np.ndarray) -> bool:
    """Whether the states of each class have the same signatures: no hash is used."""
    count = int(classes.max(initial=-1)) + 1
    rows = system.offsets, system.label, system.target
    return bool(_refine.stable(*rows, classes, count))


def classes_of(system: System, solver: str | Solver = "auto") -> np.ndarray:
    """The bisimilarity classes of a system's states, as a phase of a call."""
    found = drive.solve(PROBLEM, system, solver, throw=False)
    if found.status != Status.SOLVED:
        limits.fail(found.status, REFINING)
    return found.labels
