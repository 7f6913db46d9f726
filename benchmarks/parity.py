"""The parity suite: games of the papers and random ones, every solver, every peer."""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import corpus, games
from benchmarks.entrants import entrant
from benchmarks.peers import TEXT, side_by_side
from benchmarks.run import Options, facts, row_of
from benchmarks.schema import Results
from jaxgames import Arena, generate, host, io, parity

ENGINES = ("host", "auto")
"""What is measured beside the solvers on the device."""

LOADS = 3
"""How often a file is read, at most ..."""

LOADS_S = 2.0
"""... and no more once it took these seconds together."""


def run(options: Options, results: Results) -> None:
    """Adds a row for every game and solver, and for every peer."""
    chosen = options.games(games.all_games(options.data, small=options.small))
    # Small games are not solved by plain Python here, as a fresh process does at first.
    with host.compiling():
        for game in chosen:
            with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
                _measure(game, options, results, Path(folder))
            options.keep(results)
    for name, files in games.from_corpus(options.corpus, small=options.small).items():
        if options.wants_game(f"corpus {name}", "corpus"):
            results.put(*corpus.measure(f"corpus {name}", files, options))
            options.keep(results)


def solvers(options: Options) -> list[str]:
    """Names of ours that were chosen."""
    # Last of all those that need what was compiled for the others.
    return [name for name in (*parity.SOLVERS, *ENGINES) if options.wants(name)]


def _measure(
    game: games.Game, options: Options, results: Results, folder: Path
) -> None:
    began = time.perf_counter()
    arena = game.make()
    about = {
        **facts(game.name, arena),
        "generate_s": time.perf_counter() - began if game.generated else None,
        "load_s": _load_seconds(arena, folder / TEXT),
    }
    winner = None
    for name in solvers(options):
        row, found = row_of(about, name, entrant(name), arena, options)
        print(f"{game.name}: {name}: {row.status}, {row.solve_s} s", flush=True)
        results.put([row])
        if found is None:
            continue
        winner = found if winner is None else winner
        if not np.array_equal(found, winner):
            raise AssertionError(f"{game.name}: our solvers do not agree")
    if winner is not None:
        results.put(
            [],
            side_by_side(
                game.name,
                arena,
                winner,
                options.peers,
                time_limit_s=options.peer_time_limit_s,
                repeats=options.peer_runs,
                folder=folder,
            ),
        )


def _load_seconds(arena: Arena, path: Path) -> float:
    """Reads the game from a PGSolver file."""
    _warm_up(path.with_name("tiny.pg"))
    io.save(path, arena)
    times = []
    while len(times) < LOADS and sum(times) < LOADS_S:
        began = time.perf_counter()
        io.load(path)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _warm_up(path: Path) -> None:
    io.save(path, generate.ladder(2))
    io.load(path)
