"""The suite `ltl`: accepting cycles of every product, by every solver; state spaces."""

import math
from typing import Any

import jax
import numpy as np

from benchmarks import products
from benchmarks.cycle_traffic import bytes_per_round
from benchmarks.decompositions import HOST, Problem, measure, timed
from benchmarks.run import Options
from benchmarks.schema import Results
from jaxgames import buchi
from jaxgames.buchi import AcceptingCycle
from jaxgames.buchi._question import Question
from jaxgames.ltl import Kind

EXPLORE = "explore"
"""The experiment of the rows on state spaces."""

SAMPLE = 1000
"""States of a state space whose successors are computed once more."""


def search(question: Question, solver: Any, **how: Any) -> AcceptingCycle:
    """Looks for an accepting cycle."""
    return buchi.accepting_cycle(question, solver=solver, **how)


def facts(question: Question, found: AcceptingCycle) -> dict[str, Any]:
    """Whether there is a cycle, and how long its lasso takes."""
    told: dict[str, Any] = {"exists": bool(found.exists)}
    if found.lasso is not None:
        _, told["lasso_s"] = timed(
            lambda: buchi.host.lasso_through(
                question.arena, question.starts, int(found.witness)
            )
        )
    return told


def refuses(question: Question, solver: Any) -> str | None:
    """Trimming alone decides weak properties only."""
    return "STRONG" if solver == "trim" and Kind.STRONG in question.kinds else None


CYCLES = Problem(
    suite="ltl",
    solvers={
        HOST: HOST,
        **{name: name for name in buchi.SOLVERS},
        # Left to itself it may take the host's components.
        "scc": buchi.ByScc(),
        "auto": "auto",
        "race": "race",
    },
    decompose=search,
    answer=lambda found: (np.array([found.exists]),),
    verify=buchi.verify,
    bytes_per_round=bytes_per_round,
    facts=facts,
    refuses=refuses,
)


def verify_space(model: Any, space: Any) -> bool:
    """Whether some states have the edges that the transition function tells."""
    some = np.unique(np.linspace(0, space.num_states - 1, SAMPLE).astype(np.int64))
    after, enabled = map(np.asarray, model.successors(space.at(some)))
    for state, rows, there in zip(some, after, enabled, strict=True):
        edges = slice(*space.offsets[state : state + 2])
        told = {tuple(row) for row in space.at(space.targets[edges])}
        if told != {tuple(row) for row in rows[there]}:
            return False
    return True


SPACES = Problem(
    suite=EXPLORE,
    solvers={f"{EXPLORE}, {engine}": engine for engine in ("host", "device")},
    decompose=lambda model, engine, **how: model.state_space(engine=engine, **how),
    answer=lambda space: (space.words, space.offsets, space.targets),
    verify=verify_space,
    bytes_per_round=lambda model, space: None,
    facts=lambda model, space: {},
)


def run(options: Options, results: Results) -> None:
    """Adds a row for every product and solver, for every peer, and for every model."""
    # What numba compiles for reading is not timed.
    buchi.prepare(([0, 1], [0]), accepting=[0], partition=([0], [[0, 0]]))
    if options.data is not None:
        for name, path in products.from_files(options.data, options.small):
            if options.wants_game(name, products.FILES):
                question, seconds = timed(lambda path=path: products.read(path))
                _measure(name, question, {"load_s": seconds}, options, results)
    instances = products.SMALL if options.small else products.INSTANCES
    on_cpu = jax.default_backend() == "cpu"
    for instance in instances:
        # More than a machine without an accelerator can be asked for unasked.
        unasked = on_cpu and not options.chosen and instance.group == products.HUGE
        if unasked or not options.wants_game(instance.name, instance.group):
            continue
        space, explore_s = timed(instance.model.state_space)
        about = {
            "game": instance.name,
            "experiment": EXPLORE,
            "vertices": space.num_states,
            "edges": space.num_edges,
        }
        measure(SPACES, about, instance.model, options, results)
        every = iter(instance.products(space))
        for _ in instance.properties:
            (name, product), seconds = timed(lambda every=every: next(every))
            question = buchi.prepare(product)
            made = {"generate_s": explore_s + seconds}
            _measure(name, question, made, options, results)
        options.keep(results)


def _measure(
    name: str, question: Question, about: dict, options: Options, results: Results
) -> None:
    vertices, edges = question.shape
    about = {**about, "game": name, "vertices": vertices, "edges": edges}
    measure(CYCLES, about, question, options, results)
    options.keep(results)


def states_per_s(vertices: int, seconds: float | None) -> float | None:
    """States of a state space that are found in a second."""
    return None if not seconds or math.isinf(seconds) else vertices / seconds
