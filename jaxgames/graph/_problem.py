"""What components are to the driver: how graphs are read, laid out and answered."""

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxgames import drive, memory, ops, states, validity
from jaxgames.arena import Arena, is_traced
from jaxgames.drive import Leg
from jaxgames.graph import _device, _in_place, _links, host
from jaxgames.graph._closure import Closure
from jaxgames.graph._fb_trim import FBTrim
from jaxgames.graph._in_place import InPlace, ListedGraph
from jaxgames.graph._input import Rows, as_arena, check_masks, read, rows_of, sent
from jaxgames.graph._links import Directions
from jaxgames.graph._max_id import MaxId
from jaxgames.graph._solution import Components
from jaxgames.graph._solver import Answer, ComponentMachine, ComponentSolver, Subgraph
from jaxgames.graph._turns import Turns
from jaxgames.later import jax, jnp
from jaxgames.solution import UNDECIDED, Stats, Status
from jaxgames.solver import Registry, Solver
from jaxgames.tuning.graph import CLOSURE_UP_TO, COMPRESS_FROM, LISTED_ROUNDS, TRIES

SOLVERS = Registry(
    "component",
    MaxId,
    FBTrim,
    InPlace,
    places=(drive.HOST, drive.RACE),
    base=ComponentSolver,
)
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the graph is traced.
"""


class Masked(NamedTuple):
    """A graph, and the vertices and edges of it that there are; None for all.

    If it `may_be_sent`, arrays of numpy may be checked where the solve is, and if it
    `may_stay`, by the engine on the host.
    """

    graph: Any
    vertices: Any = None
    edges: Any = None
    may_be_sent: bool = False
    may_stay: bool = False


class Sent(NamedTuple):
    """Rows whose list of edges is on the device.

    Attributes:
        rows: as a caller passed them.
        game: the list.
        sound: whether they are a graph: bool scalar. That is known there only when the
            list is, so one asks after the solve, not to wait twice.
    """

    rows: Rows
    game: ListedGraph
    sound: jax.Array

    def checked(self) -> Rows:
        """The rows.

        Raises:
            ValueError: they are no graph.
        """
        if not self.sound:
            as_arena(self.rows)  # says why
            raise ValueError("the graph changed while it was read: pass a copy of it")
        return self.rows

    @property
    def shape(self) -> tuple[int, int]:
        """How many vertices there are, and how many edges."""
        return self.rows.shape


class Sccs(drive.Problem[Masked]):
    """Strongly connected components."""

    name = "scc"
    what = "graph"
    solvers = SOLVERS
    solved = Components
    nothing: ClassVar = {"count": 0}
    head_start = drive.HEAD_START
    host_until = 1 << 19
    """Where a GPU is, the host engine alone takes less time up to some 500,000 edges: a
    race costs a few milliseconds. See *Whole calls*."""
    form = dataclasses.replace(drive.ARENAS, question=Masked)
    compile_seconds = 2.0

    # ---- one graph -------------------------------------------------------------

    def read(self, question: Masked) -> tuple[Masked, Any]:
        """Links made on the device, or an arena from whatever was passed."""
        graph, vertices, edges, may_be_sent, may_stay = question
        if isinstance(graph, Directions):
            _links.check(graph, vertices, edges)
            return question, False
        if may_stay and vertices is None and edges is None:
            rows = rows_of(graph)
            if rows is not None and self._stays(rows, may_be_sent):
                return Masked(rows), False
            listed = self._sent(rows) if may_be_sent else None
            if listed is not None:
                return Masked(listed, may_be_sent=True), False
        there = None
        if may_be_sent and ops.current_spread() is None:
            there = sent(graph, self.host_until)
        arena, fault = read(graph if there is None else there)
        check_masks(arena, vertices, edges)
        return Masked(arena, vertices, edges, there is not None), fault

    def _stays(self, rows: Rows, may_be_elsewhere: bool) -> bool:
        """Whether rows are solved on the host, by `"auto"` or since that was asked."""
        if not may_be_elsewhere:
            return True
        return ops.current_spread() is None and self.place(Masked(rows)) == drive.HOST

    @staticmethod
    def _sent(rows: Rows | None) -> Sent | None:
        """Rows for `"auto"` as the list that it takes."""
        if rows is None or ops.current_spread() is not None or not ops.runs_kernels():
            return None
        return Sent(rows, *_in_place.listed(rows))

    def shape(self, question: Masked) -> tuple[int, int]:
        """That of the graph; the edges of links made on the device are not counted."""
        made = isinstance(question.graph, Directions)
        return (question.graph.out.num_rows, 0) if made else question.graph.shape

    def undecided(self, question: Masked) -> Answer:
        graph = question.graph
        made = getattr(graph, "out", None)  # links of the device
        graph = graph.rows if isinstance(graph, Sent) else graph
        size = as_arena(graph).shape[0] if made is None else made.num_rows
        return Answer(np.int32(0), np.full(size, UNDECIDED, np.int32))  # type: ignore

    def is_devices(self, question: Masked) -> bool:
        """Links made there."""
        return isinstance(question.graph, Directions)

    def legs(self, question: Masked) -> Sequence[Leg]:
        """A narrow graph is compressed, if it takes more than a few rounds.

        In a deep one signatures take many sweeps of all edges, or few that also follow
        changes: a layout pays then, if there is room for it beside the list.
        """
        graph, plain = question.graph, Leg(MaxId())
        if self._listed(question):
            vertices, edges = graph.shape
            if not memory.has_room(2 * vertices, 2 * edges):
                return (Leg(InPlace()),)
            return Leg(InPlace(), LISTED_ROUNDS), plain
        if isinstance(graph, Directions) or not _links.is_narrow(graph):
            return (plain,)
        compressing = Leg(MaxId(compress=True))
        vertices, edges = graph.shape
        rows = _links.num_rows(vertices, edges, ops.current_spread())
        if rows >= COMPRESS_FROM:
            return (compressing,)
        return plain._replace(budget=rows.bit_length() + TRIES), compressing

    def on_device(
        self,
        question: Masked,
        solver: Any,
        *,
        state=None,
        max_steps=None,
        progress=None,
    ) -> Components:
        """The host moves what is left to smaller lists."""
        if isinstance(solver, InPlace):
            how = {"state": state, "max_steps": max_steps, "progress": progress}
            found: Any = super().on_device(question, solver, **how)  # type: ignore
            if isinstance(question.graph, Sent):
                question.graph.checked()
            return found
        graph, vertices, edges = question[:3]
        if isinstance(graph, Sent):
            rows = graph.checked()
            there = sent(rows, 0)
            graph = as_arena(rows if there is None else there)
        if isinstance(graph, Directions):
            links = graph
        else:
            edges = None if edges is None else np.asarray(edges)
            if state is None:
                _check_room(graph, solver)
            links = _links.prepare(graph, edges, ops.current_spread())
        game = Subgraph(*links, _alive(graph, vertices, links.out.num_rows))
        if state is None:
            state = _device.start(game, solver, masked=vertices is not None)
        else:
            states.check_class(state, _device.Standing)
            states.check(_device.origin_of(game, solver), state.origin)
        standing, status, answer = _device.advance(
            solver, state, max_steps=max_steps, meter=progress
        )
        if not isinstance(graph, Directions) and graph.shape[0] != links.out.num_rows:
            # Cut on the host: a device would compile a slice for each size.
            answer = ops.to_host(answer)
            answer = answer._replace(labels=answer.labels[: graph.shape[0]])
        course = standing.course
        facts = solver.stats(course.graph, course.state)
        for name, more in standing.facts.items():
            facts[name] = facts.get(name, 0) + more
        stats = Stats(
            solver=solver.name,
            **self.layout(game),
            rounds=int(course.rounds),
            **facts,
        )
        return self.solution(answer, status=status, stats=stats, state=standing)

    def layout(self, game: Any) -> dict[str, Any]:
        if isinstance(game, ListedGraph):
            return {"layout": "edges"}
        return {"layout": ops.links_layout(game.out)}

    def on_host(
        self, question: Masked, *, strategies=True, track=None, max_steps=None
    ) -> Components:
        """By Tarjan's algorithm."""
        stop = None if track is None else track.stop
        graph, vertices, edges = question[:3]
        if isinstance(graph, Sent):  # a loser goes on while a caller changes them
            graph = as_arena(graph.rows)
        count, labels = host.scc(graph, vertices=vertices, edges=edges, stop=stop)
        stopped = count == host.STOPPED
        return Components(
            count=np.int32(0 if stopped else count),
            labels=labels,
            status=Status.INTERRUPTED if stopped else Status.SOLVED,
            stats=Stats(solver=drive.HOST),
        )

    # ---- by a list of edges ----------------------------------------------------

    @staticmethod
    def _listed(question: Masked) -> bool:
        """Whether the whole call is fastest by a list of edges.

        So it is where sweeps are kernels, unless there is a layout and no list.
        """
        graph, spread = question.graph, ops.current_spread()
        if isinstance(graph, Directions) or spread is not None:
            return False
        if isinstance(graph, Sent):
            return True
        if not ops.runs_kernels():
            return False
        return _links.is_listed(graph) or not _links.is_prepared(graph, spread)

    def shapes(self, subject: Masked, solver: Any) -> ListedGraph:
        """A list, and a number for each vertex."""
        size, edges = subject.graph.shape
        return _in_place.shape_of(size, edges, subject.vertices is not None)

    def is_resident(self, subject: Masked, solver: Any) -> bool:
        return isinstance(subject.graph, Sent) or _links.is_listed(subject.graph)

    def prepare(self, subject: Masked, solver: Any) -> ListedGraph:
        """The list is kept with a graph."""
        graph, vertices, edges = subject[:3]
        if isinstance(graph, Sent):
            return graph.game
        if isinstance(graph, Directions):
            raise ValueError(
                "solver='in_place' takes a graph of edges, and this one has links that "
                "were made on the device: take another solver"
            )
        return _in_place.masked(ListedGraph(*_links.edge_list(graph)), vertices, edges)

    def own(self, question: Masked, game: Any, answer: Answer) -> Answer:
        """Without what fills up; cut on the host, since a device would compile that."""
        if is_traced((question, answer)):
            return answer
        size = question.graph.shape[0]
        if len(answer.labels) == size and not question.may_be_sent:
            return answer
        count, labels = ops.to_host(tuple(answer))
        return Answer(count, labels[:size])

    # ---- many ------------------------------------------------------------------

    def auto(self, stack: Any) -> Solver:
        """The closure of small graphs."""
        small = np.shape(stack.owner)[-1] <= CLOSURE_UP_TO
        return Closure() if small else MaxId()

    def check(self, question: Arena) -> None:
        """Vertices may lack successors."""
        validity.check_each(question, total=False)

    def facts(self, stack: Arena, solver: Solver) -> int:
        """The largest degree, for the closure."""
        return drive.widest(stack) if isinstance(solver, Closure) else 0

    def game(self, question: Any, solver: Solver, facts: Any = None) -> Subgraph:
        """Links both ways; for the closure dense, and one way."""
        if isinstance(question, Arena):
            question = Masked(question)
        graph, vertices, edges = question[:3]
        if isinstance(solver, InPlace):
            listed = ListedGraph(*_links.traced_list(graph, edges))
            if vertices is not None:
                vertices = vertices & (listed.degree >= 0)
            return listed._replace(alive=vertices)  # type: ignore
        if isinstance(solver, Closure):
            alive = _alive(graph, vertices, graph.shape[0])
            return Subgraph(ops.dense_links(graph, facts), (), alive)  # type: ignore
        made = isinstance(graph, Directions)
        links = graph if made else _links.traced(graph, edges)
        return Subgraph(*links, _alive(graph, vertices, links.out.num_rows))


PROBLEM = drive.register(Sccs())
"""Strongly connected components, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]."""


def _alive(graph, vertices, size: int):
    """The vertices that there are, of `size` rows."""
    if isinstance(graph, Directions):
        return jnp.ones(size, bool) if vertices is None else jnp.asarray(vertices)
    alive = _links.real_rows(graph, size)
    if vertices is None:
        return alive
    vertices = jnp.asarray(vertices)
    return alive & jnp.pad(vertices, (0, size - len(vertices)))


def _check_room(arena: Arena, solver: ComponentMachine) -> None:
    size, edges = arena.shape

    def shapes() -> Subgraph:
        links = memory.shape_of_links(size, edges, size)
        return Subgraph(links, links, memory.mask(size))

    # The state has the links, as they become fewer.
    memory.check(Turns(solver=solver), shapes, size, edges, layouts=0)
