"""The suite `samples`: one model with many samples of its probabilities, in one call.

A robot on a grid goes in a direction of its choice, and slips aside with some
probability; a sample is one for each half of the grid. Its experiments: `values`,
proved bounds for all samples; `gradient`, the derivatives of the values by both
probabilities. `games` of a row is the number of samples, `rounds` those of the slowest
one. The peer is Storm with its sound method, in a loop over some samples of the
parametric model that it has built once.
"""

import functools
import importlib
import importlib.metadata
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks import schema
from benchmarks.run import Options
from jaxgames import Status, mdp

SIDE = 100
"""Cells of a side of the grid."""

EPSILON = 1e-6

QUESTIONS = {
    "steps": 'R{"steps"}min=? [ F "goal" ]',
    "discounted": 'R{"steps"}min=? [ Cdiscount=99/100 ]',
}

CHECKED = 3
"""Samples that are looked at one by one."""

PEER_SAMPLES = 10
"""Samples that a peer is given."""


def run(options: Options, results: schema.Results) -> None:
    """Adds the rows of all questions."""
    side, many = (8, 16) if options.small else (SIDE, 10_000)
    if jax.default_backend() == "cpu" and not options.small:
        many = 64
    model, half = grid(side)
    rng = np.random.default_rng(0)
    slips = rng.uniform(0.05, 0.45, (many, 2))
    for name, question in QUESTIONS.items():
        game = f"grid {side}: {name}, {many} samples"
        if not options.wants_game(game, "grid"):
            continue
        with jax.enable_x64(True):
            for experiment, made in (("values", _values), ("gradient", _gradient)):
                if options.wants_experiment(experiment):
                    call = jax.jit(made(model, half, question))
                    row = _row(options, experiment, game, model, call, slips)
                    results.put([row])
                    options.keep(results)
        if not options.small and any(x.name == "stormpy" for x in options.libraries):
            results.put(
                [], [_storm(game, side, model, question, slips, options.scratch)]
            )
            options.keep(results)


def grid(side: int) -> tuple[mdp.MDP, np.ndarray]:
    """The model, and for each branch where its probability comes from.

    Returns:
        The model with probabilities 3/4 and 1/4; and int `[E]`, 2 h + 1 for a slip in
        the half h, 2 h for none, -1 for what is sure.
    """
    y, x = np.divmod(np.arange(side * side), side)
    last = side - 1
    columns, source = [], []
    for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        ahead = np.clip(y + dy, 0, last) * side + np.clip(x + dx, 0, last)
        aside = np.clip(y + abs(dx), 0, last) * side + np.clip(x + abs(dy), 0, last)
        columns.append(np.stack([ahead, aside], axis=1))
        half = (x >= side // 2).astype(int)
        source.append(np.stack([2 * half, 2 * half + 1], axis=1))
    to = np.stack(columns, axis=1).reshape(side * side, 8)
    of = np.stack(source, axis=1).reshape(side * side, 8)
    goal = np.arange(side * side) == side * side - 1
    keep = np.repeat(~goal, 8)
    size = side * side
    choices = np.where(goal, 1, 4)
    columns = np.append(to.ravel()[keep], size - 1)
    source = np.append(of.ravel()[keep], -1)
    groups = np.append(0, np.cumsum(choices))
    rows = np.append(np.arange(0, 8 * (size - 1) + 1, 2), len(columns))
    probs = np.where(source < 0, 1.0, np.where(source % 2, 0.25, 0.75))
    model = mdp.MDP.from_arrays(
        *(groups, rows, columns, probs),
        initial=[0],
        labels={"goal": goal},
        state_rewards={"steps": (~goal).astype(float)},
    )
    return model, source


def _probabilities(half: np.ndarray, slip: Any) -> Any:
    """Those of all branches: `[E]`."""
    each = jnp.stack([1 - slip[0], slip[0], 1 - slip[1], slip[1], jnp.ones(())])
    return each[half]


def _values(model: mdp.MDP, half: np.ndarray, question: str) -> Callable:
    def one(slip: Any) -> mdp.SampledValues:
        probs = _probabilities(half, slip)
        return mdp.values(model, question, probabilities=probs, epsilon=EPSILON)

    return jax.vmap(one)


def _gradient(model: mdp.MDP, half: np.ndarray, question: str) -> Callable:
    one = _values(model, half, question)

    def all_(slips: Any) -> tuple[Any, mdp.SampledValues]:
        found = one(slips)
        return found.value[:, 0].sum(), found

    def pair(slips: Any) -> Any:
        slope, found = jax.grad(all_, has_aux=True)(slips)
        return found, slope

    return pair


def _row(options: Options, experiment, game, model, call, slips) -> schema.Row:
    times, found = [], None
    for _ in range(1 + min(options.runs, 3)):
        began = time.perf_counter()
        found = jax.block_until_ready(call(slips))
        times.append(time.perf_counter() - began)
    slope = None
    if experiment == "gradient":
        found, slope = found  # type: ignore[misc]
    assert found is not None
    first_s, *runs = times
    rounds = np.asarray(found.stats["rounds"])
    row = schema.Row(
        experiment=experiment,
        game=game,
        games=len(slips),
        vertices=model.num_states,
        choices=model.num_choices,
        edges=model.num_branches,
        solver="samples",
        compile_s=max(0.0, first_s - min(runs)),
        solve_s=statistics.median(runs),
        solve_runs=runs,
        rounds=int(rounds.max()),
        phases={"mean": round(float(rounds.mean()))},
        verified=_verified(game, model, found, slope, slips),
        status=Status(int(np.max(found.status))).name,
    )
    print(f"{experiment}: {game}: {row.solve_s:.3f} s", flush=True)
    return row


def _verified(game: str, model, found, slope, slips) -> bool:
    """Some samples one by one, by another engine; slopes by differences of these."""
    name = next(name for name in QUESTIONS if f": {name}," in game)
    good = True
    for at in range(min(CHECKED, len(slips))):
        low, high = _checked(model, QUESTIONS[name], slips[at], EPSILON)
        mine = np.asarray(found.lower[at]), np.asarray(found.upper[at])
        good &= bool(np.all((mine[0] <= high) & (low <= mine[1])))
        if slope is None:
            continue
        for side in range(2):
            step = np.zeros(2)
            step[side] = 1e-3
            ends = [
                _checked(model, QUESTIONS[name], slips[at] + sign * step, 1e-9)[0][0]
                for sign in (-1, 1)
            ]
            by, mine = (ends[1] - ends[0]) / 2e-3, float(slope[at, side])
            least = 1e-3 * abs(ends[0])
            good &= bool(abs(by - mine) <= 1e-2 * max(abs(mine), least))
    return good


def _checked(model: mdp.MDP, question: str, slip, epsilon: float):
    _, half = grid(round(model.num_states**0.5))
    probs = np.array([1 - slip[0], slip[0], 1 - slip[1], slip[1], 1.0])[half]
    one = mdp.MDP.from_arrays(
        *(model.row_group_offsets, model.row_offsets, model.columns, probs),
        labels=model.labels,
        state_rewards=model.state_rewards,
    )
    found = mdp.check(one, question, epsilon=epsilon)
    return found.lower, found.upper


SOURCE = """
mdp
const double slip0;
const double slip1;
const int N = {last};
formula a = (x < {half} ? slip0 : slip1);
formula on = x < N | y < N;
module robot
  x : [0..N] init 0;
  y : [0..N] init 0;
  [] on -> 1 - a : (x' = min(x + 1, N)) + a : (y' = min(y + 1, N));
  [] on -> 1 - a : (y' = min(y + 1, N)) + a : (x' = min(x + 1, N));
  [] on -> 1 - a : (x' = max(x - 1, 0)) + a : (y' = min(y + 1, N));
  [] on -> 1 - a : (y' = max(y - 1, 0)) + a : (x' = min(x + 1, N));
  [] x = N & y = N -> true;
endmodule
label "goal" = x = N & y = N;
rewards "steps" on : 1; endrewards
"""


def _storm(game, side, model, question, slips, scratch) -> schema.PeerRow:
    """Storm on some samples: it builds the parametric model once, and instantiates."""
    row = functools.partial(
        schema.PeerRow, game=game, peer="stormpy", solver="sound, in a loop"
    )
    try:
        storm: Any = importlib.import_module("stormpy")
        pars: Any = importlib.import_module("stormpy.pars")
    except ImportError as error:
        return row(status="absent", reason=str(error))
    file = Path(scratch) / "grid.prism"
    file.write_text(SOURCE.format(last=side - 1, half=side // 2))
    program = storm.parse_prism_program(str(file))
    asked = storm.parse_properties(question, program)
    parametric = storm.build_model[storm.RationalFunction](program, asked)
    instantiator = pars.ModelInstantiator(parametric)
    by_name = {x.name: x for x in parametric.collect_probability_parameters()}
    agrees, spent, some = True, 0.0, slips[:PEER_SAMPLES]
    for slip in some:
        low, high = _checked(model, question, slip, EPSILON)
        began = time.perf_counter()
        point = {
            by_name[f"slip{i}"]: storm.RationalFunctionCoefficient(float(slip[i]))
            for i in range(2)
        }
        one = instantiator.instantiate(point)
        value = storm.model_checking(one, asked[0]).get_value(one.initial_states[0])
        spent += time.perf_counter() - began
        agrees &= bool(low[0] * (1 - 2e-6) <= value <= high[0] * (1 + 2e-6))
    return row(
        version=importlib.metadata.version("stormpy"),
        solve_s=spent,
        runs=1,
        games=len(some),
        status="ok",
        agrees=agrees,
    )
