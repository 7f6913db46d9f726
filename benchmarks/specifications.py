"""Many small specifications in one call: who wins each, in seconds of CPU.

    python -m benchmarks.specifications --count 10000 --processes 16

Random formulas of three inputs and three outputs, by size 4 to 14, are translated,
their games are made, and solved as one batch. What is printed is an object with the
seconds of each phase and the CPU seconds of this process and of those that it started.
"""

import argparse
import json
import random
import resource
import time

from benchmarks import machine
from jaxgames import synth

INPUTS, OUTPUTS = ("a", "b", "c"), ("x", "y", "z")

SIZES = 4, 14
"""The smallest and the largest formula: names and operators, but for negations."""

UNARY, BINARY = ("X", "F", "G"), ("&", "|", "U", "->", "R", "W", "&", "|")


def formula(rng: random.Random, size: int) -> str:
    """The text of a random formula."""
    names = INPUTS + OUTPUTS
    if size <= 1:
        return rng.choice(("", "!")) + rng.choice(names)
    if size == 2 or rng.random() < 0.27:
        return f"{rng.choice(UNARY)}({formula(rng, size - 1)})"
    left = rng.randint(1, size - 2)
    parts = formula(rng, left), formula(rng, size - 1 - left)
    return f"({parts[0]} {rng.choice(BINARY)} {parts[1]})"


def formulas(count: int, seed: int) -> list[str]:
    """Texts of random formulas."""
    rng = random.Random(seed)
    return [formula(rng, rng.randint(*SIZES)) for _ in range(count)]


def cpu_seconds(who: int) -> float:
    """CPU seconds of this process, or of those that it waited for."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measured(count: int, seed: int, processes: int | None) -> dict:
    """What was found, and how long it took."""
    texts = formulas(count, seed)
    begin = time.perf_counter()
    made = synth.specifications(texts, INPUTS, OUTPUTS, processes=processes)
    between = time.perf_counter()
    found = synth.solve_many(made)
    end = time.perf_counter()
    return {
        "specifications": count,
        "realizable": sum(bool(x.realizable) for x in found),
        "states": sum(x.parity().num_states for x in made),
        "make_s": between - begin,
        "solve_s": end - between,
        "cpu_s": cpu_seconds(resource.RUSAGE_SELF),
        "cpu_of_others_s": cpu_seconds(resource.RUSAGE_CHILDREN),
    }


def main(arguments: list[str] | None = None) -> None:
    """Measures, and prints what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--processes", type=int, help="default: one for each core that may be used"
    )
    args = parser.parse_args(arguments)
    told = measured(args.count, args.seed, args.processes)
    print(json.dumps(told | {"machine": machine.facts()}))


if __name__ == "__main__":
    main()
