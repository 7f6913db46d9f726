"""Model checking of an elevator."""

import math
from typing import Unpack

import numpy as np

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.generate._arguments import flag
from jaxgames.generate._build import NO_SUCCESSOR, from_rows
from jaxgames.limits import Bounds, limited

# The formula nu X. mu Y. nu Z. []X & (at_top | ([]Z & (-pressed_top | []Y))).
X, BODY, BOX_X, OR_TOP, AT_TOP, AND_Z, BOX_Z, Z, OR_Y, NOT_PRESSED, BOX_Y, Y = range(12)
STEPS = {BOX_X: X, BOX_Z: Z, BOX_Y: Y}
MOVES = {
    X: (BODY,),
    BODY: (BOX_X, OR_TOP),
    OR_TOP: (AT_TOP, AND_Z),
    AT_TOP: (AT_TOP,),
    AND_Z: (BOX_Z, OR_Y),
    Z: (BODY,),
    OR_Y: (NOT_PRESSED, BOX_Y),
    NOT_PRESSED: (NOT_PRESSED,),
    Y: (BODY,),
}


@limited()
def elevator(floors: int, *, fair: bool = True, **bounds: Unpack[Bounds]) -> Arena:
    """Elevator verification: is the top floor served whenever it is requested for ever?

    The elevator has a position, a door, and a list of requested floors without
    repeats. In each step a button may be pressed; a fair elevator puts the request
    last if it is new, an unfair one puts it first in any case. Then, if the door is
    closed and there are requests, the elevator moves one floor towards the first of
    them (on arrival it opens the door and drops the request), else the door closes.

    The property, "on every path, if the button of the top floor is pressed infinitely
    often, the elevator is there infinitely often", is a formula of the modal
    mu-calculus with 12 subformulas:
    `nu X. mu Y. nu Z. []X & (at_top | ([]Z & (-pressed_top | []Y)))`. Vertex
    `12 * s + f` is subformula `f` in the `s`-th state that can be reached, in order of
    the list (shorter ones first), the position and the door (closed first); vertex 0
    asks for the whole formula where nothing is requested yet. Odd moves at
    conjunctions and boxes, Even elsewhere.

    With `S` states and `T` transitions, `12 * S` vertices, `13 * S + 3 * T` edges and
    3 priorities; `S` grows faster than the factorial of `floors`. Even wins at vertex
    0 if the elevator is fair; Odd does if it is not and `floors` is at least 2.

    Args:
        floors: number of floors, from 1 to 9 (more edges than int32 can index
            above).
        fair: whether requests are served in the order in which they came.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: an argument has the wrong type or is out of range.

    References:
        Oliver Friedmann and Martin Lange, *The PGSolver Collection of Parity Game
        Solvers*, University of Munich (the generator `elevatorvergm`); elev7f and
        elev7u in section 8.1 of P.J.A. Bootsma, *Speeding up the small progress
        measures algorithm for parity games using the GPU*, master's thesis, TU
        Eindhoven, are `elevator(7)` and `elevator(7, fair=False)`.

    Examples:
        >>> elevator(3)
        Arena(564 vertices, 950 edges, priority)
        >>> elevator(3, fair=False)
        Arena(588 vertices, 1096 edges, priority)
    """
    floors, fair = integer("floors", floors, 1, 9), flag("fair", fair)
    steps, at_top, pressed_top = _system(floors, fair)
    states = np.arange(len(steps), dtype=np.int32)
    successors = np.full((len(steps), 12, steps.shape[1]), NO_SUCCESSOR, np.int32)
    for node, targets in MOVES.items():
        for column, target in enumerate(targets):
            successors[:, node, column] = 12 * states + target
    for node, target in STEPS.items():
        successors[:, node] = np.where(
            steps == NO_SUCCESSOR, NO_SUCCESSOR, 12 * steps + target
        )
    owner = np.zeros((len(steps), 12), bool)
    owner[:, [BODY, BOX_X, AND_Z, BOX_Z, BOX_Y]] = True
    priority = np.zeros((len(steps), 12), np.int32)
    priority[:, X] = 2
    priority[:, Y] = 1
    priority[:, AT_TOP] = ~at_top
    priority[:, NOT_PRESSED] = pressed_top
    return from_rows(
        successors.reshape(-1, steps.shape[1]),
        owner=owner.ravel(),
        priority=priority.ravel(),
    )


def _system(floors: int, fair: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The elevator's states that can be reached, the initial one first.

    Returns:
        Successors of each state, int32 `[S, floors + 1]`; whether it is at the top;
        whether the top floor is requested.
    """
    append, prepend, head, tail, contains = _request_lists(floors)
    lists = len(append)
    no_request = np.arange(lists)[:, None]
    requested = np.hstack([no_request, append if fair else prepend])

    # States are numbered (list, position, door): the move of each of them.
    queue, position, is_open = np.indices((lists, floors, 2), np.int32)
    moves = (queue > 0) & (is_open == 0)
    moved = position + np.where(moves, np.sign(head[queue] - position), 0)
    arrives = moves & (moved == head[queue])
    left = np.where(arrives, tail[queue], queue)
    move = (left * floors + moved) * 2 + arrives

    steps = np.sort(move[requested].transpose(0, 2, 3, 1).reshape(-1, floors + 1))
    reached = _reachable(steps)
    number = np.cumsum(reached, dtype=np.int32) - 1
    steps = number[steps[reached]]
    steps[:, 1:][steps[:, 1:] == steps[:, :-1]] = NO_SUCCESSOR
    at_top = (position == floors - 1).ravel()[reached]
    return steps, at_top, contains[queue.ravel()[reached], floors - 1]


def _request_lists(floors: int) -> tuple[np.ndarray, ...]:
    """All lists of distinct floors, the empty one first, shorter before longer.

    Returns:
        For each list and floor, the number of the list with that floor put last if
        it is new, and of the one with it put or moved to the front; for each list,
        its first floor and the number of its rest; for each list and floor, whether
        it is in it.
    """
    total = sum(math.perm(floors, length) for length in range(floors + 1))
    append = np.repeat(np.arange(total, dtype=np.int32)[:, None], floors, axis=1)
    prepend = np.empty_like(append)
    head = np.zeros(total, np.int32)
    tail = np.zeros(total, np.int32)
    contains = np.zeros((total, floors), bool)
    parent = np.zeros(total, np.int32)  # the list without its last floor
    last = np.zeros(total, np.int32)

    lengths = [slice(0, 1)]
    for _ in range(floors):
        longest = lengths[-1]
        start, floor = np.nonzero(~contains[longest])
        start += longest.start
        longer = slice(longest.stop, longest.stop + len(start))
        append[start, floor] = np.arange(longer.start, longer.stop)
        contains[longer] = contains[start]
        contains[np.arange(longer.start, longer.stop), floor] = True
        head[longer] = np.where(start == 0, floor, head[start])
        tail[longer] = np.where(start == 0, 0, append[tail[start], floor])
        parent[longer], last[longer] = start, floor
        lengths.append(longer)

    # x put before (l, y) is y appended to (x put before l), which leaves that list as
    # it is where x is y.
    prepend[0] = append[0]
    for longer in lengths[1:]:
        shorter = prepend[parent[longer]]
        prepend[longer] = append[shorter, last[longer, None]]
    return append, prepend, head, tail, contains


def _reachable(steps: np.ndarray) -> np.ndarray:
    """Which states can be reached from state 0: bool `[number of states]`."""
    reached = np.zeros(len(steps), bool)
    frontier = np.zeros(1, steps.dtype)
    while len(frontier):
        reached[frontier] = True
        following = np.unique(steps[frontier])
        frontier = following[~reached[following]]
    return reached
