"""The certificate check of energy games, on the device; the host has one of its own."""

from typing import Literal, Unpack, get_args

import numpy as np

from jaxgames import fixpoint, memory, ops, validity
from jaxgames.arena import MAX_SIZE, Arena, is_traced, refuse_cut
from jaxgames.energy import _bounds, _device, host
from jaxgames.energy._potentials import beyond, number_type
from jaxgames.energy._proof import Proof, claim_of, verdict_of
from jaxgames.energy._solution import TOP, UNKNOWN, Solution
from jaxgames.energy._verdict import Reason, Verdict
from jaxgames.host import can_compile, plain
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.limits import Bounds, limited
from jaxgames.solution import NO_EDGE, Status
from jaxgames.tuning.energy import CHECKED_THERE_FROM, ROUNDS_THERE

Method = Literal["auto", "host", "device"]


@limited()
def verify(
    arena: Arena,
    solution: Solution,
    method: Method = "auto",
    **bounds: Unpack[Bounds],
) -> Verdict:
    """Checks credits and strategies of an energy game without trusting the solver.

    Credits are enough if they satisfy the inequalities of a progress measure, and the
    strategy of player 0 takes edges that keep to it: then no cycle that it allows loses
    energy. They are no more than is needed if player 1 can lead every play from a
    vertex to where the credit is 0 while player 0 gains nothing on the measure. The
    strategy of player 1 must stay where no credit is enough, player 0 must have no edge
    out of there, and every cycle must lose energy: then the longest paths have lengths,
    pairs of energy and steps in lexicographic order.

    Works under `jax.jit` and `jax.vmap`. A round of the two loops is one sweep over the
    edges; there are about as many as paths to a credit of 0, and paths under player
    1's strategy, have edges.

    Args:
        arena: the game.
        solution: its solution: credits, winners and strategies of the arena's length.
        method: `"device"`; `"host"`; or `"auto"`: the host where numba is installed or
            the game is small, but not under tracing. An accelerator looks at a large
            game first, for some rounds.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A [`Verdict`][jaxgames.energy.Verdict]: true if all is right, else the reason
        and a vertex where it shows. Under tracing a solution whose numbers do not fit
        the type of the weights is rejected.

    Raises:
        ValueError: a part of the solution has the wrong shape or type or is not there;
            `"host"` under tracing.

    Examples:
        >>> from jaxgames import Arena, energy
        >>> arena = Arena.from_edges(
        ...     [0, 0, 1], [0, 1, 0], owner=[0, 1], weight=[-1, -2, 2]
        ... )
        >>> print(energy.verify(arena, energy.solve(arena)))
        valid
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {get_args(Method)}, got {method!r}")
    names = "credit", "winner", "strategy"
    parts = tuple(getattr(solution, name, None) for name in names)
    traced = is_traced((arena, parts))
    arena, fault = _bounds.check(arena, wide=not traced)
    for name, values in zip(names, parts, strict=True):
        wide = name == "credit" and not traced
        validity.check_answer(name, values, arena.owner.shape, wide=wide)
    if traced and method == "host":
        raise ValueError(
            "method='host' runs on the host, where a traced game cannot be"
        )
    if traced:
        refuse_cut(arena)
        found = _traced(arena, *(jnp.asarray(x) for x in parts))
        return validity.withdrawn(fault, found)
    credit, winner, strategy = (np.asarray(x) for x in parts)
    exact = object in (arena.weight.dtype, credit.dtype)
    if method == "auto" and not exact and _is_sent(arena):
        found = _on_device(arena, credit, winner, strategy, ROUNDS_THERE)
        if found is not None:
            return found
    if exact or method == "host" or (method == "auto" and can_compile()):
        return checked_on_host(arena, credit, winner, strategy)
    with plain(arena.shape[1]) as sooner:
        if sooner and method == "auto":
            return checked_on_host(arena, credit, winner, strategy)
    found = _on_device(arena, credit, winner, strategy)
    assert found is not None  # without a limit
    return found


def _is_sent(arena: Arena) -> bool:
    """Whether a game is so large that an accelerator may check it sooner."""
    large = arena.shape[1] >= CHECKED_THERE_FROM and ops.current_spread() is None
    return large and ops.accelerated() and memory.has_room(*arena.shape)


def checked_on_host(
    arena: Arena, credit, winner, strategy, capacity: int | None = None
) -> Verdict:
    """The verdict of the host, for a battery of some capacity or for any."""
    size = int(arena.num_vertices)
    for reason, wrong in (
        (Reason.UNDECIDED, (winner[:size] < 0) | (winner[:size] > 1)),
        (Reason.UNDECIDED, credit[:size] < TOP),
        (Reason.WINNER_AGAINST_CREDIT, (winner == 1)[:size] != (credit == TOP)[:size]),
    ):
        if wrong.any():
            return Verdict.at(reason, int(np.argmax(wrong)))
    return host.verify(arena, credit, strategy, capacity=capacity)


def _on_device(
    arena: Arena, credit, winner, strategy, most: int | None = None
) -> Verdict | None:
    """None where the proof has not ended after so many rounds."""
    # What is beyond these is wrong, and must not wrap round to what is right.
    credit, winner = np.maximum(credit, UNKNOWN), np.clip(winner, -1, 2)
    strategy = np.clip(strategy, NO_EDGE - 1, MAX_SIZE)
    largest = _most(arena, credit)
    if largest >= 2**61 - 1:
        return checked_on_host(arena, credit, winner, strategy)
    bits = 32 if largest < 2**29 - 1 else 64
    dtype = np.int32 if bits == 32 else np.int64
    with _device.of_bits(bits):
        game = ops.prepare(_bounds.narrowed(arena, bits))
        more = (0, ops.num_vertices(game) - len(winner))
        claim = _claim_jit(
            game,
            np.pad(credit.astype(dtype), more),
            np.pad(winner.astype(np.int8), more),
            np.pad(strategy.astype(np.int32), more, constant_values=NO_EDGE),
        )
        if most is None:
            return to_numpy(_verdict_jit(claim, fixpoint.completed(Proof(), claim)))
        outcome = fixpoint.run(Proof(), claim, max_steps=most)
        if outcome.status != Status.SOLVED:
            return None
        return to_numpy(_verdict_jit(claim, outcome.carry.state))


def _most(arena: Arena, credit: np.ndarray) -> int:
    """No number of the proof is larger: credits, what is taken, and what is gained."""
    return max(int(credit.max(initial=0)), _bounds.bound(arena), _bounds.gain(arena))


def _traced(arena: Arena, credit, winner, strategy) -> Verdict:
    game = _device.cut(arena)
    dtype = number_type(game)
    small = credit.astype(dtype)
    small = jnp.where(small == credit, small, beyond(dtype))
    claim = claim_of(game, small, winner, strategy)
    return verdict_of(claim, fixpoint.completed(Proof(), claim))


_claim_jit = jax.jit(claim_of)
_verdict_jit = jax.jit(verdict_of)
