"""What accepting cycles are to the driver."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, fixpoint, ops
from jaxgames.arena import Arena, is_traced
from jaxgames.buchi import _device, _question, host
from jaxgames.buchi._batch import run_batch
from jaxgames.buchi._by_scc import ByScc, Graph
from jaxgames.buchi._map import Map, named, ranks
from jaxgames.buchi._owcty import Owcty
from jaxgames.buchi._problem import check
from jaxgames.buchi._question import Marked, Question
from jaxgames.buchi._sent import There
from jaxgames.buchi._solution import AcceptingCycle, Shown, nothing
from jaxgames.buchi._solver import NONE, Answer, Problem
from jaxgames.buchi._stages import Stages, in_stages
from jaxgames.buchi._trim import Trim
from jaxgames.drive import Leg
from jaxgames.graph import _links as of_graph
from jaxgames.graph._reach import spread
from jaxgames.later import jax, jnp
from jaxgames.solution import Stats, Status
from jaxgames.solver import Registry, Solver
from jaxgames.states import register

SOLVERS = Registry(
    "accepting-cycle",
    Map,
    *(Owcty, Trim, ByScc),
    options={"trim": True},
    places=(drive.HOST, drive.RACE),
)
"""The solvers that are array programs, by name."""


class Asked(NamedTuple):
    """The arguments of `accepting_cycle` that say what is asked.

    If it `may_be_sent`, arrays of numpy may be checked where the solve is.
    """

    graph: Any
    accepting: Any = None
    initial: Any = 0
    partition: Any = None
    may_be_sent: bool = False


class FromFirst(NamedTuple):
    """A graph of many, where runs start at vertex 0; the lasso is not asked for."""

    arena: Arena
    accepting: Any
    starts: Any

    @property
    def shape(self) -> tuple[int, int]:
        """How many vertices there are, and how many edges."""
        return self.arena.shape

    @classmethod
    def of(cls, arena: Arena) -> "FromFirst":
        """The question that a graph is among many."""
        starts = np.zeros(min(1, int(arena.num_vertices)), np.int32)
        return cls(arena, np.asarray(arena.accepting), starts)


@register
class Found(NamedTuple):
    """Whether there is an accepting cycle, and a vertex from which one is reached."""

    exists: jax.Array  # bool
    witness: jax.Array  # int32


class Cycles(drive.Problem):
    """Accepting cycles."""

    name = "accepting_cycle"
    what = "graph"
    solvers = SOLVERS
    form = dataclasses.replace(drive.ARENAS, question=FromFirst.of)

    # ---- one graph -------------------------------------------------------------

    def read(self, question: Asked) -> tuple[Any, Any]:
        """A `Question`, or what is left of it under tracing."""
        if is_traced(question):
            return _question.read_traced(*question[:4])
        with ops.at_once():
            return _question.read(*question), False

    def undecided(self, question: Asked) -> Shown:
        """Nothing, for each accepting set."""
        graph, accepting = question[:2]
        if isinstance(graph, Question):
            accepting = graph.accepting
        return nothing(np.shape(accepting)[:-1] if np.ndim(accepting) == 2 else ())

    def solution(self, answer: Any, **how: Any) -> AcceptingCycle:
        """Without lassos, unless it has some."""
        decided = {"decided": how["status"] == Status.SOLVED}
        return AcceptingCycle(**(decided | answer._asdict()), **how)

    def in_phases(
        self, question: Question, solver: Any, *, max_steps, state, progress, strategies
    ) -> AcceptingCycle | None:
        """By components, which are the same for all accepting sets of a batch."""
        by_scc = solver == ByScc.name or isinstance(solver, ByScc)
        if question.many:
            by_scc |= solver == "auto"
            by_scc |= solver in SOLVERS.places and max_steps is state is None
        if not by_scc or self.is_hosts(question):
            return None
        how = {"state": state, "max_steps": max_steps, "meter": progress}
        chosen = solver if isinstance(solver, ByScc) else None
        return _device.run_by_scc(question, chosen, **how)

    def legs(self, question: Question) -> Sequence[Leg]:
        """What is cheapest for each kind of part."""
        return (Leg(Stages()),)

    def on_device(
        self,
        question: Question,
        solver: Any,
        *,
        state=None,
        max_steps=None,
        progress: Any = None,
    ) -> AcceptingCycle:
        """In stages, unless rounds are counted; or by one solver."""
        if isinstance(solver, Stages):
            if state is max_steps is ops.current_spread() is None:
                return in_stages(question, progress, drive.Track())
            solver = SOLVERS.auto()
        run = run_batch if question.many else _device.run
        return run(question, solver, state=state, max_steps=max_steps, meter=progress)

    def in_race(
        self, track: drive.Track, question: Any, solver: Any, **how: Any
    ) -> Any:
        """The host's part of the stages looks at the race too."""
        return in_stages(question, track.meter, track)

    def alone(self, question: Question) -> tuple[float, float]:
        """What was sent would have to come back for the host, which takes its time."""
        ahead = drive.HEAD_START if isinstance(question.given, There) else 0.0
        return ahead * self.shape(question)[1], math.inf

    def is_hosts(self, question: Question) -> bool:
        """Where no run starts."""
        return len(question.starts) == 0

    def on_host(
        self, question: Any, *, strategies=True, track=None, max_steps=None
    ) -> AcceptingCycle:
        """By Tarjan's search."""
        if isinstance(question, FromFirst):
            return host.find(*question, track=track, lasso=False)
        if self.is_hosts(question):
            return _nowhere(question)
        arguments = question.arena, question.accepting, question.starts
        found = host.find(*arguments, track=track)
        if found.lasso is not None:
            host.checked(*arguments[:1], found.lasso, *arguments[1:])
        return found

    # ---- under tracing ---------------------------------------------------------

    def traced(self, question: Any, solver: Any, state: Any, max_steps: Any) -> Any:
        """Without the lasso."""
        if isinstance(solver, Trim):
            refuse_trim("a traced graph")
        if isinstance(question, Question):  # of which the state is traced
            if question.many:
                raise ValueError("under tracing there is one accepting set at a time")
            question = Marked.of(question)
        if question.shape[0] == 0:
            none = Found(jnp.array(False), jnp.int32(NONE))
            stats = Stats(solver=solver.name)
            return self.solution(none, status=jnp.int32(Status.SOLVED), stats=stats)
        game = self.game(question, solver)
        outcome = fixpoint.traced(named(solver), game, state, max_steps)
        return self.found(question, solver, game, outcome)

    def own(self, question: Any, game: Any, answer: Answer) -> Found:
        """A vertex on a cycle, if there is one."""
        witness = jnp.where(answer.exists, answer.witness, NONE)
        return Found(answer.exists, witness.astype(jnp.int32))

    def layout(self, game: Any) -> dict[str, Any]:
        """Nothing is said of it."""
        return {}

    # ---- many ------------------------------------------------------------------

    def auto(self, stack: Any) -> Solver:
        """By single sweeps: finished graphs would keep all others waiting."""
        return Map(trim=True, sweeps=1)

    def check(self, question: Any) -> None:
        """Vertices may lack successors."""
        check(question)

    def facts(self, stack: Arena, solver: Any) -> None:
        """None, but it is seen whether the solver can take a stack."""
        if isinstance(solver, Trim):
            refuse_trim("a stack of graphs")
        if not isinstance(getattr(solver, "order", ""), str):
            raise ValueError(
                "order must be a name where many graphs are searched, got an array"
            )

    def game(self, question: Any, solver: Any, facts: None = None) -> Graph | Problem:
        """Without what runs do not reach. In an arena they start at vertex 0."""
        if isinstance(question, Arena):
            size = question.shape[0]
            starts, part = jnp.arange(size) == 0, jnp.ones(size, jnp.int32)
            question = Marked(question, question.accepting, starts, part)
        arena, accepting, starts, part = question
        size, links = arena.shape[0], of_graph.traced(arena)
        reached = spread(links.into, starts, of_graph.inside(arena))
        part, accepting = jnp.where(reached, part, 0), jnp.asarray(accepting)
        if isinstance(solver, ByScc):
            return Graph(links.out, links.into, part, accepting)
        out = links.into if solver.backward else links.out
        return Problem(out, accepting, part, ranks(solver, size, size, traced=True))

    def answer(self, solver: Any, game: Any, state: Any, size: int) -> Found:
        """A vertex on a cycle, if there is one."""
        return self.own(None, game, solver.answer(game, state))


CYCLES = drive.register(Cycles())
"""Accepting cycles, for [`drive.solve`][jaxgames.drive.solve]; and those that runs from
vertex 0 reach, without lassos, for [`solve_many`][jaxgames.solve_many]."""


def refuse_trim(what: str) -> None:
    """Raises ValueError: something cannot be trimmed."""
    raise ValueError(
        f"solver='trim' has to see that every part is weak, which {what} does not "
        "show: take map, owcty or scc"
    )


def _nowhere(question: Question) -> AcceptingCycle:
    """The answer where no run starts."""
    stats = Stats(solver="auto")
    if question.many:
        none = [None] * len(question.accepting)
        return _device.decided_batch(question, none, stats, None)
    return _device.decided(question, None, stats, None)
