"""Runs the benchmark suites on the machine it finds, beside the peers installed there.

    python -m benchmarks.run [--suite parity] [--small] [--no-peers]

Each suite is a module of this package with a `NAME` and a function
`run(options, results)`. Results go to `benchmarks/results/`, from which
`python -m benchmarks.report` makes the page.
"""

import argparse
import dataclasses
import importlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from benchmarks import machine, schema

SUITES = ("parity", "layouts")

Answer = TypeVar("Answer")


@dataclasses.dataclass(frozen=True)
class Options:
    """How to run a suite.

    Attributes:
        small: small games only, to see that everything runs; nothing is saved.
        peers: whether to run the peers.
        runs: warm runs of each solve.
        time_limit_s: seconds after which a solve is given up.
        scratch: a folder for files.
    """

    small: bool
    peers: bool
    runs: int
    time_limit_s: float
    scratch: Path


def timed(
    call: Callable[[], Answer], options: Options
) -> tuple[Answer, float, list[float]]:
    """The answer, seconds of the first call, and of the warm ones.

    A call that takes a tenth of the time limit is not repeated more than once.
    """

    def once():
        began = time.perf_counter()
        answer = call()
        return answer, time.perf_counter() - began

    _, first = once()
    answer, warm = once()
    runs = [warm]
    while len(runs) < options.runs and warm < options.time_limit_s / 10:
        runs.append(once()[1])
    return answer, first, runs


def main() -> None:
    """Runs the suites named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, action="append")
    parser.add_argument("--small", action="store_true", help="small games, not saved")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--time-limit", type=float, default=15.0, metavar="SECONDS")
    parser.add_argument("--results", type=Path, default=schema.RESULTS)
    args = parser.parse_args()
    facts, bandwidth = machine.facts(), machine.copy_bandwidth()
    for suite in args.suite or SUITES:
        results = schema.Results(
            suite=suite, machine=facts, copy_bandwidth_gb_s=bandwidth
        )
        with tempfile.TemporaryDirectory() as scratch:
            options = Options(
                small=args.small,
                peers=not args.no_peers,
                runs=args.runs,
                time_limit_s=args.time_limit,
                scratch=Path(scratch),
            )
            importlib.import_module(f"benchmarks.{suite}").run(options, results)
        if not args.small:
            print(f"written: {results.save(args.results)}")


if __name__ == "__main__":
    main()
