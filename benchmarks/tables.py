"""How the pages show numbers and tables."""

import math
from collections.abc import Iterable

from benchmarks.schema import Results

DASH = "–"


MOST_COLUMNS = 9
"""What a page is wide enough for."""


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """A table in Markdown, its first column to the left.

    One that is too wide for a page is cut into several, each with the columns that say
    what a line is of.
    """
    head, lines = list(head), [list(line) for line in lines]
    names = 2 if head[1:2] == ["solver"] else 1
    rest = len(head) - names
    parts = max(1, -(-rest // (MOST_COLUMNS - names)))
    bounds = [names + rest * part // parts for part in range(parts + 1)]
    rule = [":--", *["--:"] * (len(head) - 1)]

    def part(begin: int, end: int) -> str:
        cut = [line[:names] + line[begin:end] for line in [head, rule, *lines]]
        return "\n".join(f"| {' | '.join(line)} |" for line in cut)

    return "\n\n".join(map(part, bounds[:-1], bounds[1:]))


def verdict(compared: float | None) -> str:
    """Our time over another's, in words."""
    if compared is None:
        return DASH
    if compared < 1:
        return f"{number(1 / compared)}× faster"
    return f"{number(compared)}× **slower**"


def number(value: float | None) -> str:
    """Three digits that matter, without an exponent."""
    if value is None:
        return DASH
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def percent(value: float) -> str:
    """A part of the whole."""
    return f"{value:.0%}" if value >= 0.01 else "< 1%"


def seconds(value: float | None) -> str:
    """A time with its unit."""
    if value is None:
        return DASH
    for unit, factor in (("s", 1), ("ms", 1e3)):
        if value * factor >= 1:
            return f"{number(value * factor)} {unit}"
    return f"{number(value * 1e6)} µs"


def num_bytes(value: int | None) -> str:
    """Bytes with their unit."""
    if value is None:
        return DASH
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{number(value / factor)} {unit}"
    return f"{value} B"


def count(value: int | None) -> str:
    """A whole number."""
    return DASH if value is None else f"{value:,}"


def machine_line(results: Results) -> str:
    """The machine and the versions."""
    machine = results.machine
    hardware = [f"{machine['cores']} cores of {machine['cpu']}"]
    if machine["backend"] != "cpu":
        hardware.insert(0, f"{machine['devices']} × {machine['device']}")
    if "memory_gib" in machine:
        hardware.append(f"{machine['memory_gib']} GiB of memory")
    commit = f" ({machine['commit']})" if "commit" in machine else ""
    versions = [f"jaxgames {machine['jaxgames']}{commit}"] + [
        f"{name} {machine[key]}"
        for name, key in (("jax", "jax"), ("numpy", "numpy"), ("Python", "python"))
    ]
    bandwidth = (
        f" Copy bandwidth: {number(results.copy_bandwidth_gb_s)} GB/s."
        if results.copy_bandwidth_gb_s
        else ""
    )
    return f"{', '.join(hardware)}; {', '.join(versions)}.{bandwidth}"
