"""Solvers on the device, driven from the host, and their lassos."""

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from jaxgames import fixpoint, graph, memory, ops, states
from jaxgames.arena import Arena, bucket
from jaxgames.buchi import _drive, _links, host
from jaxgames.buchi._by_scc import ByScc
from jaxgames.buchi._map import named, ranks
from jaxgames.buchi._question import Question
from jaxgames.buchi._sent import ByState
from jaxgames.buchi._solution import AcceptingCycle, Lasso, nothing, shown
from jaxgames.buchi._solver import NONE, Answer, Finds, Problem
from jaxgames.buchi._trim import Task, Trim, task
from jaxgames.kept import kept
from jaxgames.later import jax, jnp
from jaxgames.ltl._operations import Kind
from jaxgames.progress import Meter
from jaxgames.solution import Stats, Status
from jaxgames.states import register


@partial(jax.jit, static_argnums=2)
def task_jit(edges: ops.PairLinks, part: Any, rows: int) -> Task:
    """As `task`, of parts that may be `ByState`."""
    part = part.found() if isinstance(part, ByState) else part
    return task(edges, part, rows)


@register
class Standing(NamedTuple):
    """Where a solve stands: what `state` takes.

    Attributes:
        carry: the solver's state and the rounds made.
        only_reached: whether vertices that are not reached have been left out. That is
            done only after a cycle was found among them.
    """

    carry: Any
    only_reached: bool


def problem_for(
    arena: Arena, solver: Any, accepting: np.ndarray, part: np.ndarray
) -> Any:
    """What a solver other than `ByScc` and `Trim` works on, laid out.

    Accepting vertices are bool `[..., V]`, parts int32 `[..., V]`.
    """
    rows = _links.num_rows(arena)
    more = [(0, 0)] * (part.ndim - 1) + [(0, rows - arena.shape[0])]
    padded = jnp.asarray(np.pad(part, more))
    links = _links.predecessors if solver.backward else _links.successors
    memory.check(solver, lambda: _shapes(rows, arena.shape[1]), *arena.shape)
    return Problem(
        links=links(arena),
        accepting=jnp.asarray(np.pad(accepting, more[-accepting.ndim :])),
        part=padded,
        rank=jnp.asarray(ranks(solver, arena.shape[0], rows)),
    )


def trim_task(question: Question, part: Any, count: Any) -> Task:
    """What `Trim` works on, laid out.

    The part of each vertex is int32 `[V]`, of numpy; or what `parts_there` gives. So
    many are not 0.
    """
    pairs = question.pairs()
    if isinstance(part, np.ndarray) and len(part) < pairs.num_rows:
        part = np.pad(part, (0, pairs.num_rows - len(part)))
    return task_jit(pairs, part, bucket(int(count)))


def task_of(
    question: Question,
    solver: Any,
    wanted: tuple[Kind, ...],
    vertices: np.ndarray | None = None,
) -> Any:
    """What a solver other than `ByScc` works on; kept with the question.

    Of one accepting set, and of the parts of the kinds that are wanted. Of `vertices`,
    bool `[V]`, None stands for all: what is laid out for some only is not kept.
    """
    order = getattr(solver, "order", "")
    place = ops.current_spread() or jax.config.jax_default_device  # pyright: ignore

    def find() -> Any:
        return _task_of(question, solver, wanted, order, vertices)

    if vertices is not None or not isinstance(order, str):
        return find()
    key = "task", place, wanted, isinstance(solver, Trim), solver.backward, order
    return kept(question, key, find)


def _task_of(question: Question, solver: Any, wanted, order: Any, vertices) -> Any:
    parts = [kind in wanted for kind in question.kinds]
    if isinstance(solver, Trim):  # which leaves out what is not inside by itself
        if vertices is None:
            question.pairs()  # first, for they are on their way while the host goes on
            return trim_task(question, *question.parts_there(parts))
        part = np.where(vertices, question.parts(parts), 0)
        return trim_task(question, part, np.count_nonzero(part))
    part = question.parts(parts)
    if vertices is not None:
        part = np.where(vertices, part, 0)
    if not isinstance(order, str):
        order = np.asarray(ranks(solver, len(part), len(part)))
    arena, some = question.inner(wanted)
    if not isinstance(order, str):
        solver = dataclasses.replace(solver, order=order[some])
    return problem_for(arena, solver, question.accepting[some], part[some])


def _shapes(size: int, edges: int) -> Problem:
    numbers = memory.numbers(size)
    links = memory.shape_of_links(size, edges, size)
    return Problem(links, memory.mask(size), numbers, numbers)  # type: ignore


def refuse_strong(kinds: list[Kind]) -> None:
    """Raises ValueError if a part is not weak, which trimming cannot decide."""
    for part, kind in enumerate(kinds):
        if kind == Kind.STRONG:
            what = (
                "without a partition that is so if all vertices accept"
                if len(kinds) == 1
                else f"part {part} is strong"
            )
            raise ValueError(
                "solver='trim' decides weak automata only, where every cycle of a part "
                f"accepts or none does; {what}. Take map, owcty or scc"
            )


def reached_from(question: Question) -> np.ndarray:
    """The vertices that runs reach: bool `[V]`."""
    return np.asarray(graph.reachable(question.arena, question.starts))


def run(
    question: Question,
    solver: Any,
    *,
    state: Standing | None = None,
    max_steps: int | None = None,
    meter: Meter | None = None,
) -> AcceptingCycle:
    """Solves on the device for one accepting set, all vertices first.

    Only where a cycle is found that is not reached is it worth the time to find out
    what is, and to start again with that. `max_steps` counts the rounds of `state` in.
    """
    if state is not None:
        states.check_class(state, Standing)
    kinds = question.kinds
    if isinstance(solver, Trim):
        refuse_strong(kinds)
    wanted = tuple(kind for kind in Kind if kind != Kind.REJECTING)
    only_reached = state is not None and state.only_reached
    carry = None if state is None else state.carry
    machine = named(solver)
    while True:
        vertices = reached_from(question) if only_reached else None
        game = task_of(question, solver, wanted, vertices)
        if isinstance(carry, int):  # of the search among all vertices
            rounds = jnp.int32(carry)
            carry = fixpoint.first(machine, game)._replace(rounds=rounds)
        outcome, facts = _drive.run(
            machine, game, carry, max_steps=max_steps, meter=meter
        )
        stats = Stats(
            solver=solver.name, rounds=outcome.rounds, **facts, **counts_of(kinds)
        )
        standing = Standing(outcome.carry, only_reached)
        if outcome.status != Status.SOLVED:
            return undecided(outcome.status, stats, standing)
        answer = outcome.answer
        if answer.exists and not isinstance(solver, Trim):
            answer = Answer(True, *question.of_inner(wanted, *answer[1:]))
        lasso = closed(question, solver, answer, vertices)
        sure = solver.finds == "ahead" or question.all_reached or only_reached
        if answer.exists and lasso is None and not sure:
            only_reached, carry = True, int(outcome.rounds)
            continue
        return decided(question, lasso, stats, standing)


def closed(question: Question, solver: Any, answer: Answer, vertices):
    """The lasso of an answer, or None if there is none or it is not reached."""
    if not bool(answer.exists):
        return None
    size = question.shape[0]
    return lasso_of(
        question.arena,
        question.accepting,
        question.starts,
        solver.finds,
        int(answer.witness),
        ops.to_host(answer.left)[:size],
        vertices,
    )


def lasso_of(
    arena: Arena,
    accepting: np.ndarray,
    starts: np.ndarray,
    finds: Finds,
    witness: int,
    left: np.ndarray,
    vertices: np.ndarray | None = None,
) -> Lasso | None:
    """A lasso from an initial vertex, or None if the cycle found is not reached.

    O(V + E) on the host; searches end with the first thing that they look for. What is
    known of the witness, and of what is left (bool `[V]`), `finds` says. Of `vertices`,
    bool `[V]`, None stands for all.
    """
    if finds == "cycle":
        return host.lasso_through(arena, starts, witness, vertices, left)
    entries = np.flatnonzero(left).astype(np.int32)
    if finds == "ahead":
        path = host.way_to(arena, starts, left, vertices)
        if not len(path):
            return None
        entries = path[-1:]
    found = host.search(arena, accepting, entries, vertices=left)
    if found == host.NO_CYCLE:
        return None
    return host.lasso_through(arena, starts, found, vertices, left)


def run_by_scc(
    question: Question, solver: ByScc | None, *, state, max_steps, meter
) -> AcceptingCycle:
    """By components: of the graph as a whole, since that decides for all vertices.

    For one accepting set, or a batch. Without a solver one is chosen.
    """
    arena = question.arena
    components = graph.scc(
        arena,
        "auto" if solver is None else solver.components,
        state=state,
        max_steps=max_steps,
        throw=False,
        progress=meter,
    )
    stats = Stats(solver="scc", **{f"scc_{k}": v for k, v in components.stats.items()})
    batch = question.accepting.shape[:-1]
    if components.status != Status.SOLVED:
        return undecided(components.status, stats, components.state, batch)
    labels = np.asarray(components.labels)
    on_cycle = host.inside_components(arena, labels)
    lassos = []
    for accepting in question.accepting.reshape(-1, arena.shape[0]):
        path = host.way_to(arena, question.starts, accepting & on_cycle)
        lasso = None
        if len(path):
            same = labels == labels[path[-1]]
            lasso = host.lasso_through(arena, question.starts, path[-1], inside=same)
        lassos.append(lasso)
    if batch:
        return decided_batch(question, lassos, stats, components.state)
    return decided(question, lassos[0], stats, components.state)


# ---- answers ---------------------------------------------------------------------


def decided(question: Question, lasso, stats: Stats, state: Any) -> AcceptingCycle:
    """The answer for one accepting set, the lasso checked."""
    witness = NONE
    if lasso is not None:
        accepting = question.accepting
        host.checked(question.arena, lasso, accepting, question.starts)
        witness = lasso.cycle[np.argmax(accepting[lasso.cycle])]
    return shown(lasso, witness, stats=stats, state=state)


def decided_batch(question: Question, lassos, stats: Stats, state) -> AcceptingCycle:
    """The answer for a batch, the lassos checked."""
    found = [
        decided(question.one(accepting), lasso, stats, None)
        for accepting, lasso in zip(question.accepting, lassos, strict=True)
    ]
    return AcceptingCycle(
        status=Status.SOLVED,
        exists=np.array([x.exists for x in found], bool),
        decided=np.ones(len(found), bool),
        witness=np.array([x.witness for x in found], np.int32),
        lasso=tuple(lassos),
        stats=stats,
        state=state,
    )


def undecided(status, stats: Stats, state: Any, batch=()) -> AcceptingCycle:
    """The answer where there is none yet."""
    how = {"status": status, "stats": stats, "state": state}
    return AcceptingCycle(**nothing(batch)._asdict(), **how)


def counts_of(kinds: list[Kind]) -> dict[str, int]:
    """How many parts of each kind there are, for statistics."""
    return {
        kind.name.lower(): kinds.count(kind)
        for kind in (Kind.TERMINAL, Kind.WEAK, Kind.STRONG)
    }
