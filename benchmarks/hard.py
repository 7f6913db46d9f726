"""The suite `hard`: families that defeat solvers, and more than parity."""

import dataclasses
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import hard_games
from benchmarks.decompositions import HOST, Problem, measure, timed
from benchmarks.hard_games import Game
from benchmarks.peers import Oink, Peer, side_by_side
from benchmarks.run import Options, phases
from benchmarks.schema import Results
from jaxgames import Arena, emersonlei, energy, energyparity, host, parity

SUITE = "hard"

OINK = Oink(("npp", "tl", "rtl", "psi"))
"""Of each family some of these end; together they leave none out."""

QUASI = "bqpt", "bsspm", "ppq", "qpt", "sspm", "tlq", "zlkpp-liv", "zlkpp-waw", "zlkq"
"""Those of Oink's solvers that are quasi-polynomial."""

OTHERS = Oink(
    (
        *("dp", "dtl", "fpi", "fpj", "fpjg", "gpm", "idtl", "mspm", "ortl", "pmtl"),
        *("pp", "ppp", "ptl", "rr", "rrdp", "spm", "spptl", "ssi", "tspm", "uzlk"),
        *("zlk", "zlkpp-std", *QUASI),
    )
)
"""All others that it has: most do not end on one half of the families, so they have a
short time on each."""

SHORT_S = 2.0
"""That time: what we may take."""

ALONE = "energy alone", "parity alone"
"""Rows of the same game without its other condition."""

RECURSION, PRODUCT = "recursion", "product"
"""How Streett games are solved."""

PAIRS = 6
"""Pairs up to which a product is made: one of eight has millions of nodes."""


def _facts(verify: Callable[[Any, Any], Any]) -> Callable[[Any, Any], dict[str, Any]]:
    """What a row tells: what the solver counted, and how long its check takes."""

    def facts(given: Any, found: Any) -> dict[str, Any]:
        began = time.perf_counter()
        verify(given, found)
        counted = phases(found.stats)
        rounds = counted.pop("rounds", None)
        seconds = time.perf_counter() - began
        return {"phases": counted, "rounds": rounds, "verify_s": seconds}

    return facts


def _problem(solve: Any, verify: Any, solvers: dict[str, Any]) -> Problem:
    return Problem(
        suite=SUITE,
        solvers=solvers,
        decompose=solve,
        answer=lambda found: (found.winner,),
        verify=verify,
        bytes_per_round=lambda given, found: None,
        facts=_facts(verify),
    )


PARITY = _problem(parity.solve, parity.verify, {"auto": "auto", HOST: HOST})
BOTH = _problem(energyparity.solve, energyparity.verify, {"auto": "auto", HOST: HOST})
ENERGY_ALONE = _problem(energy.solve, energy.verify, {ALONE[0]: HOST})
PARITY_ALONE = _problem(parity.solve, parity.verify, {ALONE[1]: HOST})
STREETT = _problem(
    emersonlei.solve,
    emersonlei.verify,
    {"auto": "auto", RECURSION: RECURSION, PRODUCT: HOST},
)


def run(options: Options, results: Results) -> None:
    """Adds rows for every game, and for every peer of a parity game."""
    games = hard_games.SMALL if options.small else hard_games.GAMES
    # Small games are not solved by plain Python here, as a fresh process does at first.
    with host.compiling():
        for small in () if options.small else hard_games.WARM:
            parity.solve(small(), HOST)
        for game in games:
            if options.wants_game(game.name, game.group):
                _measure(game, options, results)
                options.keep(results)


def _measure(game: Game, options: Options, results: Results) -> None:
    given, seconds = timed(game.make)
    vertices, edges = given.shape
    about = {
        "game": game.name,
        "experiment": game.group,
        "vertices": vertices,
        "edges": edges,
        "generate_s": seconds,
    }
    if game.group == hard_games.FAMILIES:
        measure(PARITY, about, given, options, results)
        _beside(game.name, given, options, results)
        short = dataclasses.replace(options, peer_time_limit_s=SHORT_S, peer_runs=1)
        _beside(game.name, given, short, results, OTHERS)
    elif game.group == hard_games.ENERGY:
        for problem in (BOTH, ENERGY_ALONE, PARITY_ALONE):
            measure(problem, about, given, options, results)
    elif game.pairs > PAIRS:
        measure(STREETT, about, given, options, results, left_out=(PRODUCT,))
    else:
        measure(STREETT, about, given, options, results)
        made = emersonlei.product(given)
        _beside(game.name, made.arena, options, results)


def _beside(
    name: str, arena: Arena, options: Options, results: Results, oink: Oink = OINK
) -> None:
    """Gives a parity game to Oink; a Streett game is one by its product."""
    winner = parity.solve(arena, HOST).winner
    peers: list[Peer] = [
        oink if type(peer) is Oink and peer.solvers == Oink.solvers else peer
        for peer in options.peers
    ]
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        rows = side_by_side(
            *(name, arena, winner, peers),
            time_limit_s=options.peer_time_limit_s,
            repeats=options.peer_runs,
            folder=Path(folder),
        )
    results.put([], rows)
