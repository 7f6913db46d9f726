"""Ten thousand random parity games, solved in one call and checked one by one.

Where `oink` is on the PATH it solves some of them too, a process for each game. Run it
with

    python examples/ten_thousand.py [HOW_MANY]
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jaxgames import generate, io, parity, solve_many

GAMES, VERTICES, PEER_GAMES = 10_000, 50, 100


def main(count: int = GAMES) -> None:
    """Makes the games, solves them, and checks the answers."""
    began = time.perf_counter()
    games = [generate.random_game(seed, VERTICES) for seed in range(count)]
    made = time.perf_counter()
    solutions = solve_many(parity, games)
    solved = time.perf_counter()
    valid = sum(map(bool, map(parity.verify, games, solutions)))
    checked = time.perf_counter()
    won = sum(int(solution.winner[0] == 0) for solution in solutions)
    print(f"{count:,} games of {VERTICES} vertices made in {made - began:.1f} s")
    print(f"solved in one call:        {solved - made:6.1f} s, compiling included")
    print(f"checked one by one:        {checked - solved:6.1f} s, {valid:,} are valid")
    print(f"player 0 wins from vertex 0 in {won:,} of them")
    oink = shutil.which("oink")
    if oink:
        seconds = peer(oink, games[:PEER_GAMES]) / PEER_GAMES * count
        print(f"oink, a process each:      {seconds:6.1f} s, from {PEER_GAMES} of them")


def peer(oink: str, games: list) -> float:
    """Seconds that another solver takes for some games, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{index}.pg") for index in range(len(games))]
        for path, game in zip(paths, games, strict=True):
            io.save(path, game)
        began = time.perf_counter()
        for path in paths:
            subprocess.run([oink, path], check=True, capture_output=True)
        return time.perf_counter() - began


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
