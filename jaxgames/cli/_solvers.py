"""`jaxgames solvers`."""

import argparse
import inspect

from jaxgames import parity
from jaxgames.cli._exit import Exit

EXAMPLE = "solvers"


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes: nothing."""
    del parser


def run(args: argparse.Namespace) -> Exit:
    """Prints a table of the solvers."""
    del args
    auto = parity.SOLVERS.resolve("auto").name
    print("Solvers of parity games, for -s, and their options in Python:\n")
    print(f"{'auto':12}{auto}, the one to try first.")
    for name in parity.SOLVERS:
        solver = parity.SOLVERS[name]
        about = (inspect.getdoc(solver) or "").partition("\n")[0]
        fields = inspect.signature(solver).parameters.values()
        defaults = ", ".join(f"{field.name}={field.default!r}" for field in fields)
        print(f"{name:12}{about}")
        print(f"{'':12}parity.{solver.__name__}({defaults})")
    return Exit.DONE
