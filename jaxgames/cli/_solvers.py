"""`jaxgames solvers`."""

import argparse
import inspect
import textwrap

from jaxgames import parity
from jaxgames.cli import _oink
from jaxgames.cli._exit import Exit

EXAMPLE = "solvers"


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes: nothing."""
    del parser


def run(args: argparse.Namespace) -> Exit:
    """Prints a table of the solvers."""
    del args
    print("Solvers of parity games, for -s, and their options in Python:\n")
    print(f"{'auto':12}Chooses among all these by what is known of the game.")
    print(f"{'host':12}A sequential engine, for deep and narrow games; wants numba.")
    print(f"{'host-tangles':12} Of that engine recursive tangle learning alone.")
    print(f"{'race':12}Host and device at once: the first to finish wins.")
    for name in parity.SOLVERS:
        solver = parity.SOLVERS[name]
        about = (inspect.getdoc(solver) or "").partition("\n")[0]
        fields = inspect.signature(solver).parameters.values()
        defaults = ", ".join(f"{field.name}={field.default!r}" for field in fields)
        print(f"{name:12}{about}")
        print(f"{'':12}parity.{solver.__name__}({defaults})")
    aliases = ", ".join(f"{name} ({of})" for name, of in _oink.ALIASES.items())
    print(f"\nOink's names of these, also as options such as --zlk: {aliases}.")
    print("\nReductions, for -p, in any order:\n")
    print(
        textwrap.fill(
            ", ".join(parity.preprocess.REDUCTIONS), 76, break_on_hyphens=False
        )
    )
    return Exit.DONE
