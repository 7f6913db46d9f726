"""Deterministic automata of any acceptance: how likely a model's run is accepted."""

from typing import Any, Literal, Unpack

import numpy as np

from jaxgames import drive, fixpoint, limits
from jaxgames.acceptance import Acceptance, both, inf
from jaxgames.limits import Bounds, limited
from jaxgames.ltl._emerson_lei import smaller
from jaxgames.mdp import _questions, host
from jaxgames.mdp._asked import Asked, check_concrete, one_less
from jaxgames.mdp._automata import deterministic, followed
from jaxgames.mdp._check import Checked, answering, check_counted, proved
from jaxgames.mdp._checks import precision
from jaxgames.mdp._model import MDP
from jaxgames.mdp._property import Label, Property, PropertyError, as_property
from jaxgames.mdp._region import check_optimum, check_quantitative
from jaxgames.mdp._values_problem import VALUES
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.solver import Solver

MOST_MARKS = 62
"""Marks that a condition may have: bits of a word."""


def _undecided(
    status: Status, model: MDP, automaton: Any, optimum: str = "max", **_: Any
) -> Checked:
    """What is true of any automaton."""
    ends = np.zeros(model.num_states), np.ones(model.num_states)
    stats = Stats(solver="none", rounds=0)
    return proved(model, _named(automaton, optimum), ends, None, [status], [stats])


@limited(_undecided)
def acceptance_probability(
    model: MDP,
    automaton: Any,
    optimum: Literal["min", "max"] = "max",
    solver: str | Solver = "auto",
    *,
    epsilon: float = 1e-6,
    relative: bool = True,
    exact: bool = False,
    max_steps: int | None = None,
    throw: bool = True,
    **bounds: Unpack[Bounds],
) -> Checked:
    """How likely a run is accepted by a deterministic automaton, at most or at least.

    The automaton reads the states of a run, the first one too: a proposition holds
    where the label of its name does, or, if there is no such label, the expression
    that it is, such as `x=1`. A run that it cannot follow is not accepted.

    The model is followed by the automaton. In an end component of that product all
    marks of its states can be met again and again, and no others; where those do not
    meet the condition, its parts without a mark that must not be met for ever are
    looked at: one level for each pair of a Streett condition, one branch for each of a
    Rabin condition, and exponential in the marks at worst [1]. The probability to get
    to components that do is found as that of any target. The least probability is one
    less the largest of the opposite condition.

    Args:
        model: a concrete model with probabilities.
        automaton: an `ltl.Automaton` (generalised Büchi), `ltl.EmersonLei` or
            `ltl.ParityAutomaton`, as `io.hoa.load` gives it, with one initial state and
            at most one edge for each letter of the model.
        optimum: over all schedulers, which may remember.
        solver: as for `check`.
        epsilon: how far apart bounds of a value may be.
        relative: whether that is relative to the value.
        exact: whether values are wanted as fractions, see `check`.
        max_steps: rounds on the device at most, see `check`.
        throw: whether to raise a `SolveError` where the bounds have not met.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        Bounds in all states, each as the first one of a run; no scheduler.

    Raises:
        ValueError: the automaton is not deterministic, or has a proposition that is no
            property of the model's states; or another argument is wrong.
        SolveError: see `throw`.

    References:
        [1] Baier, Blahoudek, Duret-Lutz, Klein, Müller and Strejček, Generic emptiness
        check for fun and profit, ATVA 2019, doi:10.1007/978-3-030-31784-3_26.

    Examples:
        >>> from jaxgames import ltl, mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 1, 2], [1, 0.5, 0.5, 1, 1],
        ...     labels={"p": [0, 1, 0]},
        ... )
        >>> automaton = ltl.deterministic("G F p")
        >>> mdp.acceptance_probability(model, automaton).value
        0.5
        >>> mdp.acceptance_probability(model, automaton, "min").value
        0.0
    """
    max_steps = fixpoint.checked_steps(max_steps)
    check_concrete(model)
    check_quantitative(model)
    check_optimum(optimum)
    drive.check_solver(VALUES, solver)
    precision(epsilon)
    if max_steps is not None:
        check_counted(model, solver, several=False, exact=exact)
    graph, condition = _parts(automaton)
    bits = np.zeros(graph.num_edges, np.int64)
    for mark, members in enumerate(graph.sets):
        bits |= np.asarray(members).astype(np.int64) << mark
    least = optimum == "min"
    made, marks = followed_by(model, graph, bits)
    marks = np.append(marks, 0)
    size, lost = model.num_states, np.arange(len(marks)) == len(marks) - 1
    wanted = condition.negated() if least else condition
    good = accepted(made, marks, wanted, ~lost)
    good = good | lost if least else good
    statuses, stats = [Status.SOLVED], []
    solve = answering(made, solver, statuses, stats, max_steps)
    posed = _questions.reach(made, good, "max", None)
    how: dict[str, Any] = {"relative": relative and not least, "exact": exact}
    answer = solve(posed, epsilon=epsilon, **how)
    ends = answer.lower[:size], answer.upper[:size]
    if least and relative:
        # What is near relative to the one is not so to the other.
        low, high = one_less(*ends)
        if np.any((high - low > epsilon * low) & (low > 0)):
            near = max(epsilon * float(low[low > 0].min()), 1e-15)
            answer = solve(posed, epsilon=near, **how)
            ends = answer.lower[:size], answer.upper[:size]
    values = None if answer.exact is None else tuple(answer.exact[:size])
    if least:
        ends, values = one_less(*ends), values and tuple(1 - x for x in values)
    text = _named(automaton, optimum)
    found_all = proved(model, text, ends, values, statuses, stats)
    if throw and exact and values is None:
        raise SolveError(
            Status.PRECISION,
            found_all,
            message="the product is too large for fractions",
        )
    if throw and found_all.status != Status.SOLVED:
        raise SolveError(Status(found_all.status), found_all)
    return found_all


def followed_by(model: MDP, graph: Any, label: np.ndarray) -> tuple[MDP, np.ndarray]:
    """A model followed by a deterministic automaton, which reads its states.

    Args:
        model: a concrete model with probabilities.
        graph: an `ltl.Automaton` with one initial state.
        label: integers `[E]`, of its edges.

    Returns:
        The product, as [`followed`][jaxgames.mdp._automata.followed] makes it, and what
        the edge has that is taken in each of its states but the last: int64.

    Raises:
        ValueError: a letter of the model has two edges, or a proposition is no property
            of states.
    """
    letters, place = _letters(model, graph.propositions)
    return followed(model, deterministic(graph, label, letters), place)


def _named(automaton: Any, optimum: str) -> str:
    graph = getattr(automaton, "graph", automaton)
    name = getattr(graph, "name", "") or "the automaton"
    return f"P{optimum}=? [ {name} ]"


def _parts(automaton: Any) -> tuple[Any, Acceptance]:
    """The graph of an automaton, with marks, and its condition on these.

    Raises:
        ValueError: it is none.
    """
    if hasattr(automaton, "emerson_lei"):
        automaton = automaton.emerson_lei
    graph = getattr(automaton, "graph", automaton)
    if not hasattr(graph, "sets") or not hasattr(graph, "enabled"):
        raise ValueError(
            "automaton must be an ltl.Automaton, ltl.EmersonLei or "
            f"ltl.ParityAutomaton, got {type(automaton).__name__}"
        )
    condition = getattr(automaton, "condition", None)
    if condition is None:
        condition = both(inf(i) for i in range(len(graph.sets)))
    if len(graph.sets) > MOST_MARKS:
        raise ValueError(
            f"the automaton has {len(graph.sets)} marks, expected {MOST_MARKS} at most"
        )
    if len(graph.initial) != 1:
        raise ValueError(
            f"the automaton has {len(graph.initial)} initial states, and is not "
            "deterministic: expected one; ltl.Automaton.determinise makes one of it"
        )
    return graph, condition


def _letters(model: MDP, names: tuple[str, ...]) -> tuple[list[int], np.ndarray]:
    """The letters that occur, and the place of each state's among them."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise ValueError("a proposition must be a label or an expression of variables")

    word = np.zeros(model.num_states, np.uint64)
    for bit, name in enumerate(names):
        node, asked = Label(name), Property.parse("true")
        if name not in (model.labels or {}) and name not in ("init", "deadlock"):
            try:
                asked = as_property(name)
                node = asked.formula
            except PropertyError:
                asked = Property.parse("true")
        try:
            holds = Asked(model, asked, {}, 1e-6, True, refuse).states(node)
        except PropertyError as error:
            raise ValueError(
                f"proposition {name!r} of the automaton is not a label of the model, "
                f"and as an expression: {error.message}"
            ) from None
        word |= holds.astype(np.uint64) << np.uint64(bit)
    letters, place = np.unique(word, return_inverse=True)
    return [int(x) for x in letters], place


def accepted(
    model: MDP, marks: np.ndarray, condition: Acceptance, states: np.ndarray
) -> np.ndarray:
    """The states of end components in which a condition can be met.

    Args:
        model: a concrete model.
        marks: int64 `[S]`, the marks that a state meets, as bits.
        condition: on marks that are met again and again.
        states: bool `[S]`, those to look at.

    Returns:
        bool `[S]`.
    """
    good = np.zeros(model.num_states, bool)
    work = [(states, condition)]
    while work:
        limits.tick("looking for accepting components", len(work), "parts")
        inside, wanted = work.pop()
        inside = inside & ~good
        components = host.mec(model, states=inside)
        label = np.asarray(components.state_label)
        some = label >= 0
        met = np.zeros(int(components.count), np.int64)
        np.bitwise_or.at(met, label[some], marks[some])
        for union in np.unique(met).tolist():
            here = some & (met[label] == union)
            left = wanted.assuming(union)
            if left.holds(union):
                good |= here
                continue
            work += [
                (here & (marks & without == 0), rest)
                for without, rest in smaller(left, union)
            ]
    return good
