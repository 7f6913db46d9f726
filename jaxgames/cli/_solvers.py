"""`jaxgames solvers`."""

import argparse
import inspect
import textwrap
from typing import Any

from jaxgames import parity
from jaxgames.cli import _oink, _options, _report
from jaxgames.cli._exit import Exit

EXAMPLE = "solvers"

CHOICES = {
    "auto": "Chooses among all these by what is known of the game.",
    "host": "A sequential engine, for deep and narrow games; wants numba.",
    "host-tangles": "Of that engine recursive tangle learning alone.",
    "race": "Host and device at once: the first to finish wins.",
}
"""What may be asked for besides the solvers of the registry."""


def options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(file=None)
    _options.add_json(parser)


def run(args: argparse.Namespace) -> Exit:
    about = dict(CHOICES)
    for name in parity.SOLVERS:
        about[name] = (inspect.getdoc(parity.SOLVERS[name]) or "").partition("\n")[0]
    reductions = parity.preprocess.REDUCTIONS
    if args.json:
        facts: dict[str, Any] = {"solvers": about, "aliases": dict(_oink.ALIASES)}
        facts["reductions"] = list(reductions)
        _report.show(args, {"status": "solved", **facts})
        return Exit.DONE
    print("Solvers of parity games, for -s, and their options in Python:\n")
    for name, what in about.items():
        print(f"{name:12}" + " " * (len(name) > 11) + what)
        if name not in CHOICES:
            solver = parity.SOLVERS[name]
            fields = inspect.signature(solver).parameters.values()
            defaults = ", ".join(f"{field.name}={field.default!r}" for field in fields)
            print(f"{'':12}parity.{solver.__name__}({defaults})")
    aliases = ", ".join(f"{name} ({of})" for name, of in _oink.ALIASES.items())
    print(f"\nOink's names of these, also as options such as --zlk: {aliases}.")
    print("\nReductions, for --preprocess, in any order:\n")
    print(textwrap.fill(", ".join(reductions), 76, break_on_hyphens=False))
    return Exit.DONE
