"""The suite `graph`: strongly connected components of every graph, by every solver."""

from typing import Any

import jax

from benchmarks import graphs, models
from benchmarks.decompositions import HOST, Problem, measure, timed
from benchmarks.link_traffic import bytes_per_sweep
from benchmarks.run import Options
from benchmarks.schema import Results
from jaxgames import Arena, graph, host
from jaxgames.graph import Components

CERTIFIED = 200_000_000
"""Edges up to which an answer is verified by its certificate. Of larger graphs Tarjan's
answer is taken for right, and the others are compared with it.
"""


def verify(arena: Arena, found: Components) -> bool:
    """Whether components are right."""
    if arena.shape[1] > CERTIFIED and found.stats["solver"] == HOST:
        return True
    engine = "host" if host.can_compile() else "auto"
    return bool(graph.verify(arena, found, engine=engine))


PROBLEM = Problem(
    suite="graph",
    solvers={
        HOST: HOST,
        "max_id": graph.MaxId(),
        "max_id, compress": graph.MaxId(compress=True),
        "fb_trim": graph.FBTrim(),
        "fb_trim, compress": graph.FBTrim(compress=True),
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
    on_host = given if isinstance(given, Arena) else graphs.arena_of(given)
    vertices, edges = on_host.shape
    about = {**about, "game": name, "vertices": vertices, "edges": edges}
    # Nobody can race on what is not on the host.
    left_out = () if on_host is given else ("race",)
    measure(PROBLEM, about, given, options, results, on_host=on_host, left_out=left_out)
    options.keep(results)
