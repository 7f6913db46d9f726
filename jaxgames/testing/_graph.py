"""Components, reachability and attractors of graphs, against their definitions."""

import functools
from typing import Any

import jax
import numpy as np

from jaxgames import graph, solve_many
from jaxgames.arena import Arena
from jaxgames.graph import FBTrim, MaxId
from jaxgames.solution import Status
from jaxgames.testing import _games
from jaxgames.testing._arenas import SHAPES, odd_arena
from jaxgames.testing._labelled import Labelled, labelled, smaller
from jaxgames.testing._subject import (
    Cases,
    Check,
    Complaint,
    Subject,
    apart,
    each,
    first,
)

BATCH = 64


# ---- what is right ---------------------------------------------------------------


def masks(case: Labelled) -> tuple[np.ndarray, np.ndarray]:
    """The vertices and the edges that there are."""
    return case.vertex["there"] > 0, case.edge["within"] > 0


def closure(case: Labelled, masked: bool = True) -> np.ndarray:
    """Which vertices paths lead to from each, itself too: Warshall's, `[V, V]`."""
    vertices, edges = masks(case)
    if not masked:
        vertices, edges = np.ones_like(vertices), np.ones_like(edges)
    keep = edges & vertices[case.src] & vertices[case.dst]
    reach = np.diag(vertices)
    reach[case.src[keep], case.dst[keep]] = True
    for v in range(case.size):
        reach |= reach[:, v : v + 1] & reach[v]
    return reach


def components(reach: np.ndarray) -> np.ndarray:
    """The component of each vertex, numbered by their smallest ones."""
    mutual, there = reach & reach.T, np.diag(reach)
    labels = np.full(len(reach), -1, np.int32)
    labels[there] = np.unique(np.argmax(mutual, axis=1)[there], return_inverse=True)[1]
    return labels


def _expected(cases: Cases, masked: bool) -> list[np.ndarray]:
    return [components(closure(case, masked)) for case in cases]


def _wrong(labels: np.ndarray, count: int, expected: np.ndarray) -> Complaint:
    most = int(expected.max(initial=-1)) + 1
    if int(count) != most:
        return f"{count} components, where there are {most}"
    return _games.differs("component", np.asarray(labels), expected)


# ---- components ------------------------------------------------------------------


def of_solver(solver: MaxId | FBTrim) -> Check:
    """A solver of the device under `jit` and `vmap`, and verification there."""

    @jax.jit
    @jax.vmap
    def run(arena: Arena, vertices, edges):
        there = {"vertices": vertices, "edges": edges}
        found = graph.scc(arena, solver, **there)
        valid = graph.verify(arena, found, **there).valid
        return found.count, found.labels, found.status, valid

    def check(cases: Cases) -> list[Complaint]:
        stack, vertices, edges = cases.once(_stack)
        found = jax.device_get(run(stack, vertices, edges))
        said = []
        for case, expected, count, labels, status, valid in zip(
            cases, cases.once(_expected, True), *found, strict=False
        ):
            wrong = _wrong(labels[: case.size], count, expected)
            if status != Status.SOLVED:
                wrong = f"status {Status(int(status)).name}"
            elif wrong is None and not valid:
                wrong = "the device rejects the answer"
            said.append(wrong)
        return said

    return apart(check)


def _stack(cases: Cases) -> tuple[Arena, np.ndarray, np.ndarray]:
    """Graphs and masks in one padded size."""
    stack = _games.stacked(cases.once(_games.arenas), BATCH)
    pairs = [masks(case) for case in cases]
    vertices = _games.rows([x for x, _ in pairs], stack.owner.shape[1], BATCH, 1)
    edges = _games.rows([x for _, x in pairs], stack.dst.shape[1], BATCH, 1)
    return stack, vertices.astype(bool), edges.astype(bool)


def of_place(solver: str) -> Check:
    """`graph.scc` of one concrete graph after the other, and its certificate."""

    def check(case: Labelled) -> Complaint:
        arena, (vertices, edges) = case.arena, masks(case)
        if solver not in ("host", "auto"):  # one shape for what is compiled
            (arena,) = _games.padded([arena])
            more = (len(arena.owner) - case.size, len(arena.dst) - len(case.dst))
            vertices, edges = (
                np.pad(vertices, (0, more[0])),
                np.pad(edges, (0, more[1])),
            )
        there: Any = {"vertices": vertices, "edges": edges}
        found = graph.scc(arena, solver, **there)
        labels = np.asarray(found.labels)
        if (labels[case.size :] != -1).any():
            return "the padding has a component"
        verdict = graph.verify(arena, found, **there, engine="host")
        return _wrong(
            labels[: case.size], found.count, components(closure(case))
        ) or _games.rejected(verdict, "the host")

    return each(check)


def _reference(case: Labelled) -> Complaint:
    vertices, edges = masks(case)
    count, labels = graph.reference.scc(case.arena, vertices=vertices, edges=edges)
    return _wrong(labels, count, components(closure(case)))


@apart
def _many(cases: Cases) -> list[Complaint]:
    """`solve_many` on whole graphs."""
    found = solve_many("scc", _games.padded(cases.once(_games.arenas)))
    return [
        _wrong(np.asarray(x.labels)[: case.size], _count(x.labels, case), expected)
        for x, case, expected in zip(
            found, cases, cases.once(_expected, False), strict=True
        )
    ]


def _count(labels, case: Labelled) -> int:
    """Components without those of the padding."""
    return int(np.asarray(labels)[: case.size].max(initial=-1)) + 1


# ---- verification ----------------------------------------------------------------


def spoilt(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels with components merged, split, moved or renumbered."""
    labels, there = labels.copy(), np.flatnonzero(labels >= 0)
    if not len(there):
        return labels
    v, w = rng.choice(there, 2)
    match rng.integers(5):
        case 0:  # merged
            labels[labels == labels[v]] = labels[w]
        case 1:  # split
            inside = (labels == labels[v]) & (rng.random(len(labels)) < 0.5)
            labels[inside] = labels.max() + 1
        case 2:
            labels[v] = labels[w]
        case 3:
            labels[[v, w]] = labels[[w, v]]
            return labels
        case 4:
            labels[v] = rng.integers(-2, labels.max() + 3)
            return labels
    kept = labels >= 0
    _, first_one, new = np.unique(labels[kept], return_index=True, return_inverse=True)
    labels[kept] = np.argsort(np.argsort(first_one))[new]
    return labels


@jax.jit
@jax.vmap
def _valid(arena: Arena, labels, vertices, edges):
    return graph.verify(arena, labels, vertices=vertices, edges=edges).valid


def _spoilt(cases: Cases) -> list[Complaint]:
    stack, vertices, edges = cases.once(_stack)
    claims = [
        spoilt(labels, np.random.default_rng([at, len(labels)]))
        for at, labels in enumerate(cases.once(_expected, True))
    ]
    inside = _games.rows(
        [masks(case)[0] for case in cases], stack.owner.shape[1], BATCH, 0
    )
    batch = _games.rows(claims, stack.owner.shape[1], BATCH, -1)
    # Padding is in no component: where all rows are real, there is none.
    valid = np.asarray(_valid(stack, batch, inside.astype(bool) & vertices, edges))
    said = []
    for at, (case, claim) in enumerate(zip(cases, claims, strict=True)):
        there = dict(zip(("vertices", "edges"), masks(case), strict=True))
        verdicts = {
            "the host": bool(graph.verify(case.arena, claim, **there, engine="host")),
            "the device": bool(valid[at]),
        }
        truth = np.array_equal(claim, cases.once(_expected, True)[at])
        said.append(_games.judged(truth, verdicts, f"labels {claim.tolist()}"))
    return said


# ---- what else is asked of graphs ------------------------------------------------


@functools.partial(jax.jit, static_argnums=1)
def _reachable(stack, backward):
    def one(arena, vertices, edges):
        sources = np.arange(len(arena.owner)) == 0
        there = {"vertices": vertices, "edges": edges}
        return graph.reachable(arena, sources, backward=backward, **there)

    return jax.vmap(one)(*stack)


def _reach(cases: Cases) -> list[Complaint]:
    """What vertex 0 reaches, and is reached by, on the host and the device."""
    said: list[Complaint] = [None] * len(cases)
    for backward in (False, True):
        device = np.asarray(_reachable(cases.once(_stack), backward))
        for at, case in enumerate(cases):
            reach = closure(case)
            expected = reach[:, 0] if backward else reach[0]
            there = dict(zip(("vertices", "edges"), masks(case), strict=True))
            host = graph.reachable(
                case.arena, [0], backward=backward, engine="host", **there
            )
            said[at] = (
                said[at]
                or _games.differs("reached on the host", host, expected)
                or _games.differs(
                    "reached on the device", device[at, : case.size], expected
                )
            )
    return said


def _kinds(case: Labelled) -> Complaint:
    """Components that are at the bottom, or trivial."""
    there = dict(zip(("vertices", "edges"), masks(case), strict=True))
    reach, labels = closure(case), components(closure(case))
    count = int(labels.max(initial=-1)) + 1
    members = [np.flatnonzero(labels == k) for k in range(count)]
    bottom = [bool((labels[reach[m[0]]] == k).all()) for k, m in enumerate(members)]
    vertices, edges = masks(case)
    loops = set(case.src[edges & (case.src == case.dst)].tolist())
    trivial = [len(m) == 1 and m[0] not in loops for m in members]
    return _games.differs(
        "being a bottom component", graph.bottom_sccs(case.arena, **there), bottom
    ) or _games.differs(
        "being a trivial component", graph.is_trivial(case.arena, **there), trivial
    )


@functools.partial(jax.jit, static_argnums=1)
def _attracted(stack, player):
    def one(arena, goal, vertices):
        found = graph.attractor(arena, goal, player, vertices=vertices)
        return found.mask, found.strategy

    return jax.vmap(one)(*stack)


def _attractor(cases: Cases) -> list[Complaint]:
    """Attractors to some vertices, and moves: the same from both engines."""
    stack, vertices, _ = cases.once(_stack)
    goals = [case.vertex["goal"] > 0 for case in cases]
    goal = _games.rows(goals, vertices.shape[1], BATCH, 0).astype(bool)
    said: list[Complaint] = [None] * len(cases)
    for player in (0, 1):
        mask, strategy = map(np.asarray, _attracted((stack, goal, vertices), player))
        for at, case in enumerate(cases):
            asked, there = (case.arena, goals[at], player), masks(case)[0]
            right = graph.reference.attractor(*asked, vertices=there)
            host = graph.attractor(*asked, vertices=there, engine="host")
            for where, won, move in (
                ("on the host", host.mask, host.strategy),
                ("on the device", mask[at, : case.size], strategy[at, : case.size]),
            ):
                said[at] = (
                    said[at]
                    or _games.differs(f"attracted {where}", won, right.mask)
                    or _games.differs(f"move {where}", move, right.strategy)
                )
    return said


# ---- the slice -------------------------------------------------------------------


def _draw(rng: np.random.Generator, index: int, size: int) -> Labelled:
    arena = odd_arena(SHAPES[index % len(SHAPES)], rng, size)
    keep = rng.random(arena.shape[1]) < (1.0, 0.6, 0.3)[int(rng.integers(3))]
    size, edges = arena.shape[0], int(keep.sum())
    whole = rng.random(2) < 0.5  # else some are masked out
    vertex = {
        "there": whole[0] | (rng.random(size) < 0.7),
        "owner": arena.owner,
        "goal": rng.random(size) < 0.2,
    }
    edge = {"within": whole[1] | (rng.random(edges) < 0.7)}
    return labelled(arena.src[keep], arena.dst[keep], size, vertex, edge, total=False)


def _show(case: Labelled) -> str:
    vertices, edges = (x.tolist() for x in masks(case))
    src, dst = case.src.tolist(), case.dst.tolist()
    owner = case.vertex["owner"].tolist()
    return (
        f'arena = Arena.from_edges({src}, {dst}, owner={owner}, dead_ends="allow")\n'
        f"graph.scc(arena, vertices={vertices}, edges={edges})\n"
        f"graph.attractor(arena, {np.flatnonzero(case.vertex['goal']).tolist()}, 0)"
    )


def subject() -> Subject:
    """Graphs, with vertices and edges masked out."""
    checks: dict[str, Check] = {
        "reference": each(_reference),
        "host": of_place("host"),
        "auto": of_place("auto"),
        "verify": apart(_spoilt),
        "reachable": apart(_reach),
        "kinds": each(_kinds),
        "attractor": apart(_attractor),
        "max_id": of_solver(MaxId()),
        "max_id.compressed": of_solver(MaxId(compress=True)),
        "fb_trim": of_solver(FBTrim()),
        "many": _many,
        "max_id.alone": first(of_place("max_id"), 2),
        "race": first(of_place("race"), 2),
    }
    return Subject(
        name="scc",
        draw=_draw,
        checks=checks,
        smaller=smaller,
        show=_show,
        size=_games.USUAL,
        batch=BATCH,
    )
