"""The stages of `"auto"` on the device."""

import dataclasses
from functools import partial
from typing import Any

import numpy as np

from jaxgames import drive, ops
from jaxgames.arena import bucket
from jaxgames.buchi import _device, _drive, host
from jaxgames.buchi._map import Map, ranks
from jaxgames.buchi._question import Question
from jaxgames.buchi._solution import AcceptingCycle, Lasso
from jaxgames.buchi._solver import NONE, Problem
from jaxgames.buchi._trim import Trim
from jaxgames.buchi.host import NO_CYCLE, STOPPED
from jaxgames.host import can_compile
from jaxgames.later import jax, jnp
from jaxgames.ltl._operations import Kind
from jaxgames.progress import Meter
from jaxgames.solution import Stats, Status
from jaxgames.tuning.buchi import FEW_LINKS, SHRUNK


@dataclasses.dataclass(frozen=True)
class Stages(Map):
    """What `"auto"` takes on the device: stages, or `Map` where rounds are counted."""

    trim: bool = True


def in_stages(question: Question, meter: Meter, track: drive.Track) -> AcceptingCycle:
    """Decides by what is cheapest for each kind of part, for one accepting set.

    Parts without accepting vertices are left out. Where a terminal one is reached there
    is a cycle. The others are trimmed together, which decides the weak ones; and what
    is left of the strong ones goes to `Map`, in a smaller graph, or to the host if it
    is small, which the track tells when to give up.
    """
    kinds = question.kinds
    facts: dict[str, Any] = dict(trim=0, outer=0, inner=0)
    facts.update(_device.counts_of(kinds))

    def answer(lasso: Lasso | None) -> AcceptingCycle:
        return _device.decided(question, lasso, Stats(solver="auto", **facts), None)

    def ended(status: Status) -> AcceptingCycle:
        return _device.undecided(status, Stats(solver="auto", **facts), None)

    if Kind.TERMINAL in kinds:
        lasso = _closed(question, _of_kind(question, kinds, Kind.TERMINAL))
        if lasso is not None:
            return answer(lasso)
    if Kind.WEAK not in kinds and Kind.STRONG not in kinds:
        return answer(None)

    solver = Trim()
    task = _device.task_of(question, solver, (Kind.WEAK, Kind.STRONG))
    outcome, counts = _drive.run(solver, task, meter=meter, hands_on=False)
    facts["trim"] = counts["trim"]
    if outcome.status != Status.SOLVED:
        return ended(outcome.status)
    if not outcome.answer.exists:
        return answer(None)
    left = ops.to_host(outcome.answer.left)[: question.shape[0]]
    if Kind.STRONG not in kinds:
        return answer(_closed(question, left))
    if Kind.WEAK in kinds:
        weak = left & _of_kind(question, kinds, Kind.WEAK)
        lasso = _closed(question, weak) if weak.any() else None
        if lasso is not None:
            return answer(lasso)
        left = left & ~weak

    vertices = None
    while (left & question.accepting).any():
        witness, inside, status = _among(question, left, meter, track, facts)
        if status != Status.SOLVED:
            return ended(status)
        if witness == NONE:
            break
        lasso = _device.lasso_of(
            *(question.arena, question.accepting, question.starts),
            *("cycle", witness, inside, vertices),
        )
        if lasso is not None or vertices is not None:
            return answer(lasso)
        # A cycle that is not reached: once more, with what is.
        vertices = _device.reached_from(question)
        left = left & vertices
    return answer(None)


def _of_kind(question: Question, kinds: list[Kind], kind: Kind) -> np.ndarray:
    return question.parts([x == kind for x in kinds]) > 0


def _closed(question: Question, left: np.ndarray) -> Lasso | None:
    """A lasso into vertices that all can go on for ever among themselves."""
    return _device.lasso_of(
        question.arena, question.accepting, question.starts, "ahead", NONE, left
    )


# ---- strong parts ----------------------------------------------------------------


def _among(
    question: Question,
    left: np.ndarray,
    meter: Meter,
    track: drive.Track,
    facts: dict[str, Any],
) -> tuple[int, np.ndarray, Status]:
    """An accepting vertex on a cycle of vertices that are left, and what is around it.

    Returns:
        The vertex, or NONE; the vertices that the cycle may lead through; and the
        status.
    """
    edges, num_links = question.pairs(), question.shape[1]
    there = np.pad(left, (0, edges.num_rows - len(left)))
    can_finish = can_compile()
    if num_links > FEW_LINKS or not can_finish:
        num_links = int(_count(edges, there))
    if num_links <= FEW_LINKS and can_finish:
        facts["finished_on_host"] = int(left.sum())
        entries = np.flatnonzero(left).astype(np.int32)
        found = host.search(
            *(question.arena, question.accepting, entries),
            vertices=left,
            stop=track.stop,
        )
        status = Status.INTERRUPTED if found == STOPPED else Status.SOLVED
        return (NONE if found in (NO_CYCLE, STOPPED) else found), left, status
    solver, vertices = Map(), None
    every, room = [True] * question.known.count, bucket(num_links)
    if SHRUNK * room <= question.shape[1]:
        vertices = np.flatnonzero(left).astype(np.int32)
        more = (0, bucket(len(vertices)) - len(vertices))
        known = question.accepting[vertices], question.parts(every, vertices)
        known = (np.pad(x, more) for x in known)
        game = _smaller(edges, there, *known, solver, room)
    else:
        part = np.where(left, question.parts(every), 0)
        game = _device.problem_for(question.arena, solver, question.accepting, part)
    outcome, counts = _drive.run(solver, game, meter=meter, hands_on=False)
    for name, more in counts.items():
        facts[name] += more
    witness, inside = outcome.answer.witness, ops.to_host(outcome.answer.left)
    if outcome.status != Status.SOLVED or witness == NONE:
        return NONE, left, outcome.status
    if vertices is None:
        return witness, inside[: len(left)], outcome.status
    around = np.zeros_like(left)
    around[vertices] = inside[: len(vertices)]
    return int(vertices[witness]), around, outcome.status


def _kept(edges: ops.PairLinks, there: jax.Array) -> jax.Array:
    """The edges of which both ends are there."""
    there = jnp.append(there, False)
    return ops.take(there, edges.tail) & ops.take(there, edges.head)


@jax.jit
def _count(edges: ops.PairLinks, there: jax.Array) -> jax.Array:
    return jnp.sum(_kept(edges, there), dtype=jnp.int32)


@partial(jax.jit, static_argnums=(4, 5))
def _smaller(edges, there, accepting, part, solver: Map, room: int) -> Problem:
    """What a solver works on: the vertices that are there, and edges between them."""
    size = len(part)
    links = _listed(edges, there, size, room)
    return Problem(links, accepting, part, ranks(solver, size, size, traced=True))


def _listed(edges: ops.PairLinks, there: jax.Array, size: int, room: int) -> ops.Links:
    """The edges between vertices that are there, by their places among these."""
    kept = _kept(edges, there)
    place = jnp.append(jnp.cumsum(there, dtype=jnp.int32) - 1, size)
    where = ops.compact(kept, room)
    last = len(kept) - 1
    tail, head = (
        ops.take(x, jnp.minimum(where, last)) for x in (edges.tail, edges.head)
    )
    tail = jnp.where(where <= last, ops.take(place, tail), size)
    return ops.pairs(tail, ops.take(place, head), size, size)
