"""The suite `energy`: every energy game, by every solver, and by other programs."""

import tempfile
from pathlib import Path
from typing import Any

import jax
import numpy as np

from benchmarks import energy_games
from benchmarks.decompositions import HOST, Problem, measure, timed
from benchmarks.energy_games import Game
from benchmarks.energy_traffic import bytes_per_round
from benchmarks.peers import side_by_side
from benchmarks.run import Options, phases
from benchmarks.schema import Results
from jaxgames import Arena, energy

SUITE = "energy"
WINNERS = "energy winners"
"""What those peers solve that tell no credits."""

DENSE = "fvi dense"
"""The solver whose rounds all are sweeps over all edges."""


def facts(arena: Arena, found: energy.Solution) -> dict[str, Any]:
    """How many rounds there were, for both players' strategies together."""
    del arena
    counts = phases(found.stats)
    inner = counts.pop("inner", None)
    if inner is None and "rounds" in found.stats:
        inner = int(found.stats["rounds"])
    if inner is not None:
        counts["inner"] = inner + counts.pop("dual_inner", 0)
    return {"phases": counts}


def moved(arena: Arena, found: energy.Solution) -> int | None:
    """Bytes of a round where all rounds are sweeps over all edges."""
    active = found.stats.get("solver") not in ("fvi", "vi")
    return None if active else bytes_per_round(arena, found)


CREDITS = Problem(
    suite=SUITE,
    solvers={
        HOST: HOST,
        "fvi": energy.FVI(),
        DENSE: energy.FVI(active=False),
        "vi": energy.VI(),
        "vi active": energy.VI(active=True),
        "auto": "auto",
        "race": "race",
    },
    decompose=energy.solve,
    answer=lambda found: (found.credit, found.winner, found.strategy),
    verify=energy.verify,
    bytes_per_round=moved,
    facts=facts,
)


def run(options: Options, results: Results) -> None:
    """Adds a row for every game and solver, and for every peer."""
    # What numba compiles is not timed.
    energy.solve(Arena.from_edges([0], [0], owner=[0], weight=[0]), "host")
    on_cpu = jax.default_backend() == "cpu"
    games = energy_games.SMALL if options.small else energy_games.GENERATED
    for game in (*games, *energy_games.from_data(options.data)):
        large = (game.vertices or 0) > energy_games.LARGEST_UNASKED
        # More than a machine without an accelerator can be asked for unasked.
        unasked = on_cpu and not options.chosen and large
        if not unasked and options.wants_game(game.name, game.group):
            _measure(game, options, results)
            options.keep(results)


def _measure(game: Game, options: Options, results: Results) -> None:
    try:
        arena, seconds = timed(game.make)
    except ValueError as error:  # its weights do not fit
        print(f"{game.name}: left out, {error}", flush=True)
        return
    vertices, edges = arena.shape
    about = {
        "game": game.name,
        "vertices": vertices,
        "edges": edges,
        "load_s" if game.group == energy_games.PAPER else "generate_s": seconds,
    }
    right = []

    def verify(arena: Arena, found: energy.Solution) -> Any:
        verdict = energy.verify(arena, found)
        right.extend([found] if verdict else [])
        return verdict

    measure(CREDITS._replace(verify=verify), about, arena, options, results)
    peers = [each for each in options.libraries if each.solves == WINNERS]
    if not right or not peers:
        return
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        rows = side_by_side(
            *(game.name, arena, np.asarray(right[0].winner), peers),
            time_limit_s=options.peer_time_limit_s,
            repeats=1,
            folder=Path(folder),
        )
    results.put([], rows)
