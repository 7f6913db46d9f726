"""The equations of all questions: one form, for the states whose value is open."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from jaxgames.arena import bucket
from jaxgames.graph.host import room_for
from jaxgames.host import lend
from jaxgames.kept import kept
from jaxgames.mdp import host
from jaxgames.mdp._model import MDP, lent_rows
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp.host._order import belonging, by_component
from jaxgames.mdp.host._pose import number_of, pose
from jaxgames.mdp.host._values import System


class Open(NamedTuple):
    """What is known of a question before it is put as equations.

    Attributes:
        value: float64 `[S]`, the values that are known; infinite ones too.
        open_: bool `[S]`, the states whose value is not known.
        live: bool `[C]`, the choices that there are.
        reward: float64 `[C]`, what they earn; None for nothing.
        components: sets of states that are made one each; None for none.
        stop: float64 `[2, N]`, what it is worth to stay in each of these for ever: at
            least and at most, nan where one cannot; None where that is never meant.
        discount: what a step is worth beside the one before it.
        proper: whether all schedulers get out of the open states; else some do, and the
            others earn infinitely much.
        exact_stop: `[N]`, what `stop` has as fractions; None where they are not known.
        scale: what is earned at most where that has both signs: averages may be near
            zero then, and how far apart bounds are is measured by this, too.
    """

    value: np.ndarray
    open_: np.ndarray
    live: np.ndarray
    reward: np.ndarray | None
    components: EndComponents | None = None
    stop: np.ndarray | None = None
    discount: Fraction = Fraction(1)
    proper: bool = True
    exact_stop: tuple | None = None
    scale: float = 0.0


class Equations(NamedTuple):
    """The open states, numbered anew, and their equations."""

    number: np.ndarray  # int32 [S]: the number of each state that is open, else -1
    choice: np.ndarray  # int32 [K]: the choice that each is of the model; -1 to stop
    groups: np.ndarray  # int32 [N + 1]: the choices of each open state
    rows: np.ndarray  # int32 [K + 1]: the branches to open states of each choice
    target: np.ndarray  # int32: where these lead
    probs: np.ndarray  # float64: their probabilities
    base: np.ndarray  # float64 [K]: what the choice is worth beside
    blur: np.ndarray | None  # float64 [K]: how far from the truth that may be
    slack: float  # more than the relative error of a sum
    order: np.ndarray | None = None  # int32 [N]: what an open state leads to before it
    knots: np.ndarray | None = None  # int32 [M, 2]: but for these ranges of the order


def equations(model: MDP, known: Open) -> Equations:
    """The equations of the open states."""
    number, size, first = numbered(known)
    order = knots = None
    sequence = host.sequence(model)
    if sequence is not None:
        order, knots = host.taken(number, size, sequence.order, sequence.knots)
    none = np.zeros(0)
    stops, worth, blur = np.zeros(0, bool), none, None
    if known.stop is not None:
        low, high = known.stop
        stops, worth, half = np.zeros(size, bool), np.zeros(size), np.zeros(size)
        some = np.flatnonzero(~np.isnan(low))
        at = first[some]
        stops[at] = True
        worth[at] = low[some] + (high[some] - low[some]) / 2
        half[at] = np.maximum(high[some] - worth[at], worth[at] - low[some])
        blur = half + np.abs(worth) * 2e-16
    groups, rows, columns, probs = lent(model)
    live = known.live.copy()
    if known.components is not None:
        live &= ~np.asarray(known.components.choice_kept)
    reward = np.zeros(0) if known.reward is None else known.reward
    found = pose(
        *(groups, rows, columns, probs, number, size, live, known.value),
        *(reward, float(known.discount), float(1 - known.discount)),
        *(stops, worth, first.size == 0),
    )
    first_choice, begins, target, weights, base, choice = found
    blurred = None
    if blur is not None:
        blurred = np.zeros(len(base))
        owner = np.repeat(np.arange(size), np.diff(first_choice))
        stopping = choice < 0
        blurred[stopping] = blur[owner[stopping]]
    parts = (number, choice, first_choice, begins, target, weights, base, blurred)
    return Equations(*parts, slack_of(model), order, knots)


def lent(model: MDP) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The choices, rows, targets and probabilities of a model for compiled code."""
    return *lent_rows(model), lend(np.ascontiguousarray(model.probs, np.float64))


def slack_of(model: MDP) -> float:
    """More than the relative error of what a choice of a model comes to."""
    rows = np.asarray(model.row_offsets)
    most = kept(model, "most branches", lambda: int(np.diff(rows).max(initial=0)))
    # One after the other, sums of at most so many terms: what leaves, what is known,
    # and that of a round, and some operations more. Choices are told apart by three of
    # these in a row.
    return (6 * most + 20) * float(np.finfo(np.float64).eps)


def numbered(known: Open) -> tuple[np.ndarray, int, np.ndarray]:
    """The equation of each state, how many there are, and those of components."""
    if known.components is None or not known.components.count:
        return *number_of(known.open_), np.zeros(0, np.int32)
    label = np.asarray(known.components.state_label)
    inside = np.flatnonzero(label >= 0)
    least = np.empty(int(known.components.count), np.int64)
    least[label[inside[::-1]]] = inside[::-1]
    stands = known.open_.copy()
    stands[inside] = False
    stands[least] = True
    number, size = number_of(stands)
    number[inside] = number[least[label[inside]]]
    return number, size, number[least]


def in_order(part: Equations, stop: np.ndarray) -> System | None:
    """The equations, with the order in which their components are to be solved.

    Inside a component what a state leads to comes before it, as far as that can be.

    Args:
        part: the equations.
        stop: int8 `[1]`; None is returned soon after it is not 0.
    """
    edges, target = part.rows[part.groups], part.target
    if part.order is None or part.knots is None:
        found = _searched(edges, target, stop)
        if found is None:
            return None
        order, begins = found
    else:
        tied, begins, inner = host.inside(edges, target, part.order, part.knots)
        found = _searched(begins, inner, stop)
        if found is None:
            return None
        order, begins = host.merged(part.order, part.knots, tied, *found)
    component = belonging(part.groups, part.rows, target, order, begins)
    return System(
        *(part.groups, part.rows, part.target, part.probs, part.base),
        np.zeros(len(part.base)) if part.blur is None else part.blur,
        *(order, begins, component),
    )


def _searched(
    edges: np.ndarray, target: np.ndarray, stop: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """The vertices of a graph by component, large numbers first; and where these begin.

    Components that others lead to come first. None if it was stopped.
    """
    room = room_for(len(edges) - 1, len(target))
    count, order, begins = by_component(edges, target, stop, room)
    return None if count < 0 else (order, begins)


def padded(part: Equations) -> Equations:
    """The same with states and choices added, so that many sizes compile once.

    What is added comes last: states of value zero, each with a choice or more that
    leads nowhere. Which choices of the model they are is not told.
    """
    states, choices = len(part.groups) - 1, len(part.base)
    more_states = bucket(states + 1) - states
    more_choices = bucket(choices + more_states) - choices
    groups = choices + np.arange(1, more_states + 1, dtype=np.int32)
    groups[-1] = choices + more_choices
    return part._replace(
        groups=np.append(part.groups, groups),
        rows=np.pad(part.rows, (0, more_choices), "edge"),
        base=np.pad(part.base, (0, more_choices)),
        blur=None if part.blur is None else np.pad(part.blur, (0, more_choices)),
    )


def nothing_known(model: MDP) -> dict[str, Any]:
    """All states open, all choices there, and no rewards: to be replaced."""
    groups = np.asarray(model.row_group_offsets)
    live = np.ones(model.num_choices, bool)
    live[groups[-1] :] = False
    return {
        "value": np.zeros(model.num_states),
        "open_": groups[1:] > groups[:-1],
        "live": live,
        "reward": None,
    }
