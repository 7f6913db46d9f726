"""The front door of the decomposition: checks, choice of engine, and running it."""

from typing import Any

import jax

from jaxgames import fixpoint, host, memory, ops, race, validity
from jaxgames.arena import is_traced
from jaxgames.limits import limited
from jaxgames.mdp import _layout
from jaxgames.mdp._basic import Basic
from jaxgames.mdp._checks import checked
from jaxgames.mdp._host import DEVICE, HOST, RACE, on_host, run_host
from jaxgames.mdp._interleaved import Interleaved
from jaxgames.mdp._masks import check_masks
from jaxgames.mdp._model import MDP
from jaxgames.mdp._solution import EndComponents, undecided
from jaxgames.mdp._solver import Answer, EndComponentSolver
from jaxgames.progress import Meter, Progress, as_progress
from jaxgames.solution import SolveError, Stats, Status
from jaxgames.solver import Registry, Solver

PLACES = (HOST, RACE)
"""What `solver` may name as well: the sequential engine, and the race of both."""

SOLVERS = Registry("end component", Interleaved, Basic, places=PLACES)
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the model is traced.
"""


@limited(undecided)
def mec(
    model: MDP,
    solver: str | EndComponentSolver = "auto",
    *,
    states: Any = None,
    choices: Any = None,
    max_steps: int | None = None,
    state: fixpoint.Carry | None = None,
    throw: bool = True,
    progress: Progress | Meter | bool | None = None,
    deadline: float | None = None,
    memory: int | None = None,
) -> EndComponents:
    """Decomposes a model into its maximal end components.

    An end component is a set of states, with some choices of each, that one can stay in
    for ever and go everywhere in: its choices lead to its own states alone, and connect
    them strongly. Those that share a state make up a larger one, so every state lies in
    at most one that is maximal. A single state is one if a choice leads back to it with
    certainty.

    Works inside `jax.jit` and `jax.vmap` on a traced model. On a concrete one the host
    lays it out for the device, drives the loop in chunks and can be interrupted.

    Args:
        model: the model; its probabilities are not looked at.
        solver: a name from `SOLVERS`; a solver with options of its own; `"host"` for
            the sequential engine, which wants numba to be fast; `"race"` for both at
            once, the first to finish wins; or `"auto"`, which chooses among all these
            and says in `stats` what it took.
        states: bool `[S]`, the states to look at; None for all. A choice that may lead
            to another state is in no component.
        choices: bool `[C]`, the choices to look at; None for all.
        max_steps: rounds on the device at most, those of `state` counted in. None: no
            limit.
        state: `solution.state` of an earlier call with the same model, masks and
            solver, to go on where it stopped.
        throw: whether to raise where the decomposition was not finished. Under tracing
            nothing is raised: look at `status`.
        progress: True for a line on the terminal, or a function that is called with a
            [`Report`][jaxgames.progress.Report] now and then. Not under tracing.
        deadline: seconds for all of the call, see [`limits`][jaxgames.limits]. Not
            under tracing.
        memory: bytes that it may take, likewise. None: what is free.

    Returns:
        [`EndComponents`][jaxgames.mdp.EndComponents], the same from every solver. The
        `stats` hold `outer`, how often components were told apart; and those of a
        device `propagation` and `removal`, the rounds that were spent on telling them
        apart, and on taking out what cannot stay; of `interleaved` also `near`, those
        of the latter that read little, and `jumps`, how often chains of states went
        at once.

    Raises:
        ValueError: an argument is wrong.
        SolveError: the solve stopped early and `throw` is set. Its `solution` holds
            the state to go on from.

    Examples:
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays(
        ...     [0, 2, 3, 4], [0, 1, 3, 4, 5], [0, 1, 2, 0, 2]
        ... )
        >>> components = mdp.mec(model)
        >>> components
        EndComponents(2 of 2 states and 2 choices)
        >>> components.state_label.tolist()
        [0, -1, 1]
        >>> mdp.mec(model, states=[1, 1, 0])
        EndComponents(1 of 1 states and 1 choices)
    """
    traced = is_traced((model, states, choices, state, max_steps))
    _check(model, solver, max_steps, traced)
    model, fault = checked(model)
    states, choices = check_masks(model, states, choices)
    if traced:
        found = _mec_traced(model, solver, states, choices, max_steps, state)
        return validity.withdrawn(fault, found, count=0)
    with ops.at_once():  # a constant of somebody's jit is still one
        noted = host.told_if_slow(solver, model.num_branches)
        found = noted(
            _mec_concrete(
                model, solver, states, choices, max_steps, state, as_progress(progress)
            )
        )
    if throw and found.status != Status.SOLVED:
        raise SolveError(found.status, found)
    return found


def place_for(model: MDP, solver: str | Solver = "auto") -> str:
    """Where `mec` decomposes a concrete model: `"device"`, `"host"` or `"race"`.

    Without numba there is no host engine to speak of. With it a CPU leaves the model to
    the host engine, and so does a GPU if it is small, since launches alone would take
    longer; for all others both race.

    Args:
        model: the model.
        solver: as for `mec`.

    Raises:
        ValueError: there is no such solver.
    """
    _check_solver(solver)
    if isinstance(solver, str) and solver in PLACES:
        return solver
    if solver != "auto" or not host.can_compile():
        return DEVICE
    if ops.current_spread() is not None:
        return DEVICE
    if jax.default_backend() == "cpu" or model.num_branches < ops.SLICE_FROM:
        return HOST
    return RACE


def _check(model, solver, max_steps, traced: bool) -> None:
    if not isinstance(model, MDP):
        raise ValueError(f"model must be an MDP, got {type(model).__name__}")
    if model.columns.ndim != 1:
        raise ValueError(
            "mec takes one model at a time, not a batch: apply jax.vmap to a function "
            f"that calls it; model.columns has shape {model.columns.shape}"
        )
    _check_solver(solver)
    if max_steps is not None and not is_traced(max_steps) and max_steps < 0:
        raise ValueError(f"max_steps must not be negative, got {max_steps}")
    if traced and isinstance(solver, str) and solver in PLACES:
        raise ValueError(
            f"solver={solver!r} runs on the host, where a traced model cannot be: "
            f"name a solver of the device, {', '.join(SOLVERS)}"
        )


def _check_solver(solver) -> None:
    if isinstance(solver, str) and solver in PLACES:
        return
    if not isinstance(SOLVERS.resolve(solver), EndComponentSolver):
        raise ValueError(
            f"solver must be a name or an end component solver, got {solver!r}"
        )


def _resolve(solver) -> EndComponentSolver:
    return SOLVERS.resolve(solver)  # pyright: ignore[reportReturnType]


def _mec_traced(model, solver, states, choices, max_steps, state) -> EndComponents:
    solver = _resolve(solver)
    layout = _layout.traced(model, graph=solver.needs_graph)
    layout = _layout.restrict(layout, states, choices)
    outcome = fixpoint.traced(solver, layout, state, max_steps)
    return _solution(solver, layout, outcome)


def _mec_concrete(
    model, solver, states, choices, max_steps, state, meter: Progress
) -> EndComponents:
    """Chooses the place, and solves there."""
    place = place_for(model, solver)
    limited = max_steps is not None or state is not None
    if solver in PLACES and limited:
        raise ValueError(
            f"max_steps and state are the device's: solver={solver!r} takes neither"
        )

    def on_device(meter: Progress | Meter) -> EndComponents:
        return _on_device(model, solver, states, choices, max_steps, state, meter)

    if place == DEVICE or limited:
        return on_device(meter)
    if place == HOST:
        return on_host(model, states, choices, meter)
    track = race.Track()

    def beside() -> EndComponents:
        track.wait(race.HEAD_START * model.num_branches)
        return run_host(model, states, choices, track)

    engines = {DEVICE: lambda: on_device(track.meter), HOST: beside}
    return race.first(track, engines, progress=meter, prefer=DEVICE)


def _on_device(
    model: MDP, solver, states, choices, max_steps, state, meter
) -> EndComponents:
    solver = _resolve("interleaved" if solver in ("auto", RACE) else solver)
    spread = ops.current_spread()
    padded = _layout.roomy(model, spread)
    memory.check(
        solver,
        lambda: _layout.shape_of(padded, graph=solver.needs_graph),
        model.num_states + model.num_choices,
        model.num_branches,
        resident=state is not None,
    )
    layout = _layout.prepare(padded, graph=solver.needs_graph, spread=spread)
    if states is not None or choices is not None:
        states = _layout.extended(states, padded.num_states)
        choices = _layout.extended(choices, padded.num_choices)
        layout = _restrict(layout, states, choices)
    outcome = fixpoint.run(solver, layout, state, max_steps=max_steps, progress=meter)
    if padded is not model:
        # Cut on the host: a device would compile a slice for each size.
        answer = jax.device_get(outcome.answer)
        answer = Answer(
            answer.count,
            answer.state_label[: model.num_states],
            answer.choice_kept[: model.num_choices],
        )
        outcome = outcome._replace(answer=answer)
    return _solution(solver, layout, outcome)


_restrict = jax.jit(ops.for_devices(_layout.restrict))


def _solution(
    solver: EndComponentSolver, layout: _layout.Layout, outcome: fixpoint.Outcome
) -> EndComponents:
    return EndComponents(
        count=outcome.answer.count,
        state_label=outcome.answer.state_label,
        choice_kept=outcome.answer.choice_kept,
        status=outcome.status,
        stats=Stats(
            solver=solver.name,
            layout=ops.links_layout(layout.branches),
            rounds=outcome.rounds,
            cells=layout.cells,
            **solver.stats(layout, outcome.carry.state),
        ),
        state=outcome.carry,
    )
