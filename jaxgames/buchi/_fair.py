"""Fair cycles: accepting ones, by any condition, on which processes get their turns.

Components are found, and cut where something must not be met for ever, until one is
left that is good as a whole, or none. Nothing is degeneralised, and no fairness becomes
a formula.

References:
    Baier et al., Generic emptiness check for fun and profit, ATVA 2019,
    doi:10.1007/978-3-030-31784-3_26.
    Emerson and Lei, Modalities for model checking, Sci. Comput. Program. 8 (1987),
    doi:10.1016/0167-6423(87)90036-0.
"""

import dataclasses
import itertools
from typing import Any, NamedTuple, Unpack

import numpy as np

from jaxgames import graph, limits
from jaxgames.acceptance import Acceptance, both
from jaxgames.arena import Arena
from jaxgames.buchi import host
from jaxgames.buchi._solution import AcceptingCycle, Lasso, shown
from jaxgames.buchi._verify import Reason, Verdict
from jaxgames.limits import Bounds, limited
from jaxgames.ltl._emerson_lei import accepting_cycle
from jaxgames.solution import Stats
from jaxgames.systems._fairness import Fairness
from jaxgames.systems._marked import MarkedProduct

MAX_FINITE = 16
"""Marks that must not be met for ever, all sets of which a check looks at."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class FairLasso(Lasso):
    """A lasso that says which edges its cycle takes.

    Attributes:
        prefix: int32, vertices, may be empty.
        cycle: int32, vertices, one at least.
        edges: int32, edges of the product: edge `i` leads from vertex `i` of the cycle
            to the next.
    """

    edges: np.ndarray

    def __repr__(self) -> str:
        return f"FairLasso({len(self.prefix)} + {len(self.cycle)} vertices)"


class Marked(NamedTuple):
    """The edges of a product with all their marks.

    Attributes:
        sets: bool `[M, E]`.
        condition: on these marks.
    """

    sets: np.ndarray
    condition: Acceptance


@limited()
def fair_cycle(
    product: MarkedProduct,
    fairness: Fairness | None = None,
    *,
    solver: Any = "auto",
    **bounds: Unpack[Bounds],
) -> AcceptingCycle:
    """Finds out whether an accepting, fair cycle is reached, and shows one.

    The cycle meets marks as the condition of the automaton asks, and is fair to all
    processes. For generalised Büchi automata and weak fairness components are found
    once; for strong fairness to K processes at most K + 1 times in depth; for any other
    condition exponentially often in the marks that must not be met, at worst. Each time
    takes O(V + E) time on the host.

    Args:
        product: of a system and an automaton for what must not happen.
        fairness: which runs count; None for all.
        solver: what finds components, as for [`graph.scc`][jaxgames.graph.scc]: by
            default host or device, as the size asks for.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        Whether there is one, with a [`FairLasso`][jaxgames.buchi.FairLasso].

    Raises:
        ValueError: fairness is that of another system, or the solver is unknown.

    Examples:
        >>> from jaxgames import ltl, systems
        >>> graph = [0, 2, 3], [0, 1, 0]  # 0 -wait-> 0, 0 -send-> 1, 1 -receive-> 0
        >>> names = "wait", "send", "receive"
        >>> system = systems.System.from_actions(graph, [0, 1, 2], names)
        >>> wrong = ltl.translate("G F send", negate=True)
        >>> product = systems.marked_product(system, wrong)
        >>> fair_cycle(product)
        AcceptingCycle(FairLasso(1 + 1 vertices))
        >>> fair_cycle(product, systems.Fairness.of_actions(system))
        AcceptingCycle(none)
    """
    marked, arena = _marked(product, fairness), product.graph
    solvers: list[str] = []

    def components(edges: np.ndarray) -> tuple[int, np.ndarray]:
        found = graph.scc(arena, solver, edges=edges)
        solvers.append(str(found.stats["solver"]))
        return int(found.count), np.asarray(found.labels)

    found = accepting_cycle(
        product.num_vertices,
        product.sources,
        product.targets,
        marked.sets,
        marked.condition,
        product.initial,
        components,
    )
    lasso = None if found is None else _lasso(product, marked, found)
    stats = Stats(solver=solvers[-1] if solvers else "host", rounds=len(solvers))
    return shown(lasso, -1 if lasso is None else lasso.cycle[0], stats=stats)


def _marked(product: MarkedProduct, fairness: Fairness | None) -> Marked:
    automaton = product.automaton
    sets = automaton.graph.sets[:, product.automaton_edge]
    condition = automaton.condition
    if fairness is None:
        return Marked(sets, condition)
    size = fairness.enabled.shape[1]
    last = int(product.system_state.max(initial=-1))
    if last >= size:
        raise ValueError(
            f"fairness knows {size} states, and the product has state {last} of its "
            "system"
        )
    of_edge = fairness.marks()[:, product.system_state[product.sources]]
    first = len(sets)
    return Marked(
        np.concatenate([sets, of_edge]),
        both([condition, fairness.condition(first)]),
    )


def _lasso(product: MarkedProduct, marked: Marked, inside: np.ndarray) -> FairLasso:
    """A lasso whose cycle takes an edge of each mark that may have to be met."""
    sources, targets = product.sources, product.targets
    chosen = np.flatnonzero(inside)
    degree = np.bincount(sources[chosen], minlength=product.num_vertices)
    part = Arena.from_csr(
        np.append(0, np.cumsum(degree)).astype(np.int32),
        targets[chosen],
        owner=np.zeros(product.num_vertices, bool),
        dead_ends="allow",
    )
    there = degree > 0
    prefix = host.way_to(product.graph, product.initial, there)
    edges: list[int] = []
    at = int(prefix[-1])
    due = [m for m in _atoms(marked.condition, "inf") if marked.sets[m, chosen].any()]
    while due or not edges:
        limits.tick("making a lasso", len(edges), "edges")
        wanted = chosen[marked.sets[due][:, chosen].any(axis=0)] if due else chosen
        goal = np.zeros(product.num_vertices, bool)
        goal[sources[wanted]] = True
        path = host.way_to(part, np.array([at]), goal)
        edges += _along(product, chosen, path)
        edges.append(int(wanted[np.argmax(sources[wanted] == path[-1])]))
        at = int(targets[edges[-1]])
        due = [m for m in due if not marked.sets[m, edges].any()]
    home = np.zeros(product.num_vertices, bool)
    home[prefix[-1]] = True
    edges += _along(product, chosen, host.way_to(part, np.array([at]), home))
    cycle = np.array(edges, np.int32)
    return FairLasso(prefix[:-1], sources[cycle], cycle)


def _along(product: MarkedProduct, chosen: np.ndarray, path: np.ndarray) -> list[int]:
    """The first of some edges between each two vertices of a path."""
    found = []
    for one, other in itertools.pairwise(path.tolist()):
        row = np.arange(*product.offsets[one : one + 2].tolist())
        row = row[(product.targets[row] == other) & np.isin(row, chosen)]
        found.append(int(row[0]))
    return found


def _atoms(condition: Acceptance, operator: str) -> list[int]:
    """The marks of `inf` or `fin` in a condition."""
    found, work = set(), [condition]
    while work:
        node = work.pop()
        if node.operator == operator:
            found.add(node.mark)
        work += node.operands
    return sorted(found)


# ---- checked ---------------------------------------------------------------------


@limited()
def verify_fair(
    product: MarkedProduct,
    answer: AcceptingCycle | Lasso,
    fairness: Fairness | None = None,
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks an answer of `fair_cycle` without trusting who found it (host only).

    A lasso is walked along its edges, whose marks must be right. That there is none is
    checked in another way than it was found: for every set of marks that must not be
    met, the components that are left without them are looked at, each as a whole:
    2^F (V + E) time for F such marks, of which generalised Büchi and weak fairness have
    none. Where there are more than 16, components are found by another algorithm.

    Args:
        product: what `fair_cycle` was given.
        answer: what it has found.
        fairness: what it was given.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: fairness is that of another system.
    """
    marked = _marked(product, fairness)
    lasso = answer if isinstance(answer, Lasso) else answer.lasso
    if isinstance(answer, AcceptingCycle):
        if not np.all(answer.decided):
            return Verdict.at(Reason.NOT_DECIDED)
        if not np.all(answer.exists):
            if len(_atoms(marked.condition, "fin")) <= MAX_FINITE:
                return _none(product, marked)
            again = fair_cycle(product, fairness, solver="fb_trim")
            if again.lasso is None:
                return Verdict.at(Reason.OK)
            return Verdict.at(Reason.CYCLE_MISSED, int(again.lasso.cycle[0]))
    if not isinstance(lasso, FairLasso) or not len(lasso.cycle):
        return Verdict.at(Reason.NO_LASSO)
    return _walked(product, marked, lasso)


def _walked(product: MarkedProduct, marked: Marked, lasso: FairLasso) -> Verdict:
    walk = np.concatenate([lasso.prefix, lasso.cycle])
    outside = (walk < 0) | (walk >= product.num_vertices)
    if outside.any():
        return Verdict.at(Reason.NO_VERTEX, int(walk[np.argmax(outside)]))
    if walk[0] not in product.initial:
        return Verdict.at(Reason.NOT_INITIAL, int(walk[0]))
    steps = itertools.pairwise([*lasso.prefix.tolist(), int(lasso.cycle[0])])
    for one, other in steps:
        row = product.targets[product.offsets[one] : product.offsets[one + 1]]
        if other not in row:
            return Verdict.at(Reason.NO_EDGE, one)
    edges = np.asarray(lasso.edges)
    after = np.roll(lasso.cycle, -1)
    if len(edges) != len(after) or not (
        (edges >= 0).all() and (edges < product.num_edges).all()
    ):
        return Verdict.at(Reason.NO_EDGE, int(lasso.cycle[0]))
    wrong = (product.sources[edges] != lasso.cycle) | (product.targets[edges] != after)
    if wrong.any():
        return Verdict.at(Reason.NO_EDGE, int(lasso.cycle[np.argmax(wrong)]))
    met = sum(1 << int(m) for m in np.flatnonzero(marked.sets[:, edges].any(axis=1)))
    if not marked.condition.holds(met):
        return Verdict.at(Reason.NOT_ACCEPTING, int(lasso.cycle[0]))
    return Verdict.at(Reason.OK)


def _none(product: MarkedProduct, marked: Marked) -> Verdict:
    finite = _atoms(marked.condition, "fin")
    reached = graph.reachable(product.graph, product.initial, engine="host")
    sources, targets = product.sources, product.targets
    everywhere = np.asarray(reached)[sources]
    for without in itertools.product((False, True), repeat=len(finite)):
        limits.tick("verifying")
        cut = [m for m, absent in zip(finite, without, strict=True) if absent]
        edges = everywhere & ~marked.sets[cut].any(axis=0)
        label = np.asarray(graph.scc(product.graph, "host", edges=edges).labels)
        inner = np.flatnonzero(edges & (label[sources] == label[targets]))
        if not len(inner):
            continue
        number, place = np.unique(label[sources[inner]], return_inverse=True)
        present = np.zeros((len(number), len(marked.sets)), bool)
        for mark, row in enumerate(marked.sets):
            present[place[row[inner]], mark] = True
        kinds, first = np.unique(present, axis=0, return_index=True)
        for kind, one in zip(kinds, first.tolist(), strict=True):
            met = sum(1 << int(m) for m in np.flatnonzero(kind))
            if marked.condition.holds(met):
                at = inner[np.argmax(place == one)]
                return Verdict.at(Reason.CYCLE_MISSED, int(sources[at]))
    return Verdict.at(Reason.OK)
