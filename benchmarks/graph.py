"""The suite `graph`: strongly connected components of every graph, by every solver."""

import dataclasses
from typing import Any

import jax

from benchmarks import graphs, models
from benchmarks.decompositions import HOST, Problem, measure, timed
from benchmarks.link_traffic import bytes_per_sweep
from benchmarks.run import Options
from benchmarks.schema import Results
from jaxgames import Arena, graph, host
from jaxgames.graph import Components, Directions

ON_HOST = (HOST, "race")
"""Solvers that cannot take a graph that was made on the device."""


def verify(given: Arena | Directions, found: Components) -> bool:
    """Whether components are right, by their certificate."""
    on_host = isinstance(given, Arena) and host.can_compile()
    return bool(graph.verify(given, found, engine="host" if on_host else "auto"))


PROBLEM = Problem(
    suite="graph",
    solvers={
        HOST: HOST,
        "max_id": graph.MaxId(),
        "max_id, compress": graph.MaxId(compress=True),
        "fb_trim": graph.FBTrim(),
        "fb_trim, compress": graph.FBTrim(compress=True),
        "in_place": graph.InPlace(),
        "auto": "auto",
        "race": "race",
    },
    decompose=graph.scc,
    answer=lambda found: (found.labels,),
    verify=verify,
    bytes_per_round=bytes_per_sweep,
)


def run(options: Options, results: Results) -> None:
    """Adds a row for every graph and solver, and for every peer."""
    made = graphs.SMALL if options.small else graphs.GRAPHS
    if not options.small and not options.chosen and jax.default_backend() == "cpu":
        # Larger than a machine without an accelerator can be asked for unasked.
        made = [each for each in made if each.group != "device"]
    for each in made:
        if options.wants_game(each.name, each.group):
            given, seconds = timed(each.make)
            about = {"generate_s": seconds}
            _measure(each.name, about, given, options, results)
    for model in models.chosen(options, of_files=True):
        (found, build_s), seconds = timed(model.make)
        about = {"build_s": build_s, "load_s": seconds}
        _measure(model.name, about, found.graph(), options, results)


def _measure(
    name: str, about: dict, given: Any, options: Options, results: Results
) -> None:
    made_there = isinstance(given, Directions)
    shape = graphs.shape_of(given) if made_there else given.shape
    about = {**about, "game": name, "vertices": shape[0], "edges": shape[1]}
    if made_there:
        # It never leaves the device: no sequential program is run beside ours.
        options = dataclasses.replace(options, libraries=())
    left_out = (*ON_HOST, "in_place") if made_there else ()  # it takes edges
    measure(PROBLEM, about, given, options, results, left_out=left_out)
    options.keep(results)
