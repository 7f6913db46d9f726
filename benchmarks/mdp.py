"""The suite `mdp`: maximal end components of every model, by every solver."""

from benchmarks import models
from benchmarks.decompositions import HOST, Problem, measure, timed
from benchmarks.link_traffic import bytes_per_model_round
from benchmarks.run import Options
from benchmarks.schema import Results
from jaxgames import host, mdp
from jaxgames.mdp import MDP, EndComponents


def verify(model: MDP, found: EndComponents) -> bool:
    """Whether end components are right."""
    engine = "host" if host.can_compile() else "auto"
    return bool(mdp.verify(model, found, engine=engine))


PROBLEM = Problem(
    suite="mdp",
    solvers={
        HOST: HOST,
        "interleaved": "interleaved",
        "basic": "basic",
        "auto": "auto",
        "race": "race",
    },
    decompose=mdp.mec,
    answer=lambda found: (found.state_label, found.choice_kept),
    verify=verify,
    bytes_per_round=bytes_per_model_round,
)


def run(options: Options, results: Results) -> None:
    """Adds a row for every model and solver, and for every peer."""
    for model in models.chosen(options):
        (given, build_s), seconds = timed(model.make)
        about = {
            "game": model.name,
            "vertices": given.num_states,
            "choices": given.num_choices,
            "edges": given.num_branches,
            "build_s": build_s,
            "generate_s" if model.file is None else "load_s": seconds,
        }
        measure(PROBLEM, about, given, options, results)
        options.keep(results)
