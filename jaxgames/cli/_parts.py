"""What the commands share that decompose graphs and models, and that check systems."""

import argparse
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxgames import host, limits
from jaxgames.cli import _checkpoint, _report
from jaxgames.cli._exit import Exit, complain
from jaxgames.cli._games import sizes, start_jax
from jaxgames.cli._phases import Phases
from jaxgames.cli._streams import STDOUT
from jaxgames.io._files import COMPRESSIONS, writing
from jaxgames.later import imported, jax
from jaxgames.quoting import counted, quoted
from jaxgames.solution import Status
from jaxgames.solver import Registry

SUFFIXES = (".npz", ".txt", *(f".txt{suffix}" for suffix in COMPRESSIONS))
"""Of the files that components are written to."""


def check_solver(registry: Registry, name: str) -> None:
    """Raises a ValueError for a name that neither a solver nor an engine has."""
    if name not in registry.places:
        registry.resolve(name)


def check_all(args: argparse.Namespace) -> None:
    """Raises a ValueError if whole answers are asked for where none is printed."""
    if args.all and not (args.json or getattr(args, "jsonl", False)):
        raise ValueError(
            "--all goes with --json and --jsonl; -o writes what was found to a file"
        )


def check_strategies(args: argparse.Namespace) -> None:
    """Raises a ValueError if an answer is to be checked that has no strategies."""
    if args.verify and not args.strategies:
        raise ValueError(
            "--verify needs the strategies that --no-strategies leaves out"
        )


def begin(
    args: argparse.Namespace,
    load: Callable[[argparse.Namespace], Any],
    told: Callable[[Any], str] = sizes,
) -> tuple[Phases, Any]:
    """Chooses the device, and reads the input in a phase of its own."""
    start_jax(args)
    phase = Phases(args)
    with phase("load") as notes:
        found = load(args)
        notes.append(told(found))
    return phase, found


def make_host_ready(
    args: argparse.Namespace, edges: int, solve_tiny: Callable[[], Any]
) -> None:
    """Has the engine of the host compiled, if it may be used; what it compiles is kept.

    An input with few edges needs no machine code.
    """
    if args.solver not in ("auto", "host", "race") or host.is_plain(edges):
        return
    if host.can_compile():
        with host.compiling():
            solve_tiny()


def solve(
    args: argparse.Namespace, phase: Phases, front_door: Callable, given: Any
) -> Any:
    """Solves in a phase of its own, within the limits."""
    solve = functools.partial(front_door, given, solver=args.solver)
    begun = None
    kept = getattr(args, "checkpoint", None)
    if kept:
        with phase("compile"):
            begun = solve(max_steps=0, throw=False)
    with phase("solve") as notes:
        if kept:
            solution = _checkpoint.solve(args, solve, begun)
        else:
            solution = solve(max_steps=args.max_steps, throw=False)
        if imported():
            jax.block_until_ready(solution)
        around = limits.current()
        args.reached_while = None if around is None else around.phase
        lift_unless_solved(solution)
        notes.append(solver_note(solution))
    return solution


def lift_unless_solved(solution: Any) -> None:
    """Has the limits end nothing more: what is known by now is to be told."""
    around = limits.current()
    if solution.status != Status.SOLVED and around is not None:
        around.lift()


def verdict_on(
    args: argparse.Namespace, phase: Phases, verify: Callable, given: Any, solution: Any
) -> Any:
    """What `verify` says, if it is asked for and there is an answer; else None."""
    if not args.verify or solution.status != Status.SOLVED:
        return None
    with phase("verify") as notes:
        verdict = verify(given, solution)
        notes.append("valid" if verdict else "WRONG")
    return verdict


def conclude(
    args: argparse.Namespace,
    solution: Any,
    verdict: Any,
    facts: dict,
    tell: Callable[[], None],
) -> Exit:
    """Prints what was found; returns how the command ends."""
    solved = solution.status == Status.SOLVED
    if args.json:
        _report.show(args, facts)
    elif not args.quiet and solved:
        tell_stats(args, facts)
        tell()
    if verdict is not None and not verdict:
        complain(f"{args.file}: the answer is wrong, nothing is written: {verdict}")
        return Exit.UNVERIFIED
    return Exit.DONE if solved else not_solved(args, solution)


def not_solved(args: argparse.Namespace, solution: Any) -> Exit:
    """Says why a solve stopped, in terms of the command line."""
    status = Status(int(solution.status))
    rounds = getattr(args, "max_steps", None) or 0  # not every command has that limit
    why = {
        Status.MAX_STEPS: f"the limit of {counted(rounds, 'round')} was reached; "
        "allow more by --max-steps, or leave it out",
        Status.TIMEOUT: f"the limit of {args.timeout or 0:g} s was reached",
        Status.INTERRUPTED: "interrupted",
    }.get(status, status.message)
    phase = getattr(solution, "phase", None)  # where it was, if that was no solver
    if status == Status.TIMEOUT:
        phase = phase or getattr(args, "reached_while", None)
    why += f" while {phase}" if phase else ""
    more = _checkpoint.how_to_go_on(args, status)
    complain(f"{args.file}: not solved: {why}{more}")
    return Exit.INTERRUPTED if status == Status.INTERRUPTED else Exit.UNSOLVED


def split(path: str, suffixes: Sequence[str]) -> tuple[str, str]:
    """A path without its suffix, which is one of these or none, and that suffix."""
    suffix = next((x for x in suffixes if path.lower().endswith(x)), "")
    return path[: len(path) - len(suffix)], path[len(path) - len(suffix) :]


def check_suffix(option: str, path: str, suffixes: tuple[str, ...]) -> None:
    """Raises a ValueError for a file to be written whose suffix is none of these.

    Standard output needs none: it gets text.
    """
    if path != STDOUT and not path.lower().endswith(suffixes):
        raise ValueError(
            f"{option} takes a file that ends in {', '.join(suffixes)}, got "
            f"{quoted(os.path.basename(path))}"
        )


def write_arrays(path: str, column: np.ndarray, **arrays: Any) -> None:
    """Writes the arrays to a `.npz` file, or one of them to text, a line for each."""
    with writing(path) as file:
        if path.lower().endswith(".npz"):
            np.savez(file, **arrays)
        else:
            file.write("".join(f"{number}\n" for number in column.tolist()).encode())


def histogram(size: np.ndarray) -> list[dict[str, int]]:
    """How many components there are of each size, by powers of two."""
    power = np.frexp(size)[1]
    return [
        {"from": 1 << p >> 1, "to": (1 << p) - 1, "components": int(count)}
        for p, count in enumerate(np.bincount(power[size > 0]).tolist())
        if count
    ]


def told(sizes: list[dict[str, int]]) -> None:
    """Prints a histogram."""
    for bar in sizes:
        low, high = f"{bar['from']:,}", f"{bar['to']:,}"
        size = low if low == high else f"{low} to {high}"
        print(f"  of size {size:<28}{bar['components']:>12,}")


def fraction(part: int, whole: int) -> str:
    """A part of a whole in words, if there is one."""
    return f" ({100 * part / whole:.1f} %)" if whole else ""


def solver_note(solution: Any) -> str:
    """Who solved it, in how many rounds if it tells."""
    stats = (solution[0] if isinstance(solution, list) else solution).stats
    for name, what in (
        ("rounds", "round"),
        ("outer", "outer round"),
        ("steps", "step"),
    ):
        if name in stats:
            return f"{stats['solver']}, {counted(int(stats[name]), what)}"
    return str(stats["solver"])


def tell_stats(args: argparse.Namespace, facts: dict) -> None:
    """Prints what a solver counted, if that is asked for."""
    if args.stats:
        told = {"solver": facts["solver"], **facts["stats"]}
        print("  stats   ", ", ".join(f"{name} {told[name]}" for name in told))


def solve_facts(solution: Any, seconds: dict[str, float], verdict: Any) -> dict:
    """What is told of a solve: status, statistics, times."""
    stats = {
        name: value if isinstance(value, str) else np.asarray(value).tolist()
        for name, value in solution.stats.items()
    }
    return {
        "status": Status(int(solution.status)).name.lower(),
        "solver": stats.pop("solver"),
        "stats": stats,
        "seconds": dict(seconds),
        "verified": None if verdict is None else bool(verdict),
    }
