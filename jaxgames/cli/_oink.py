"""What Oink calls the solvers of parity games.

References:
    T. van Dijk: Oink, an implementation and evaluation of modern parity game solvers.
    TACAS 2018, doi:10.1007/978-3-319-89960-2_16; https://github.com/trolando/oink.
"""

import argparse
from typing import Any

from jaxgames import parity
from jaxgames.quoting import guess, quoted

ALIASES = {
    "npp": "promotion",
    "pp": "promotion",
    "psi": "improvement",
    "rtl": "host-tangles",
    "tspm": "spm",
    "zlk": "zielonka",
}
"""The same algorithms by other names."""

RELATIVES = {
    **dict.fromkeys(["ppp", "rr", "dp", "rrdp"], "promotion"),
    **dict.fromkeys(["mspm", "sspm", "bsspm", "qpt", "bqpt", "gpm"], "spm"),
    **dict.fromkeys(
        ["uzlk", "zlkq", "ppq", "zlkpp-std", "zlkpp-waw", "zlkpp-liv"], "zielonka"
    ),
    **dict.fromkeys(
        ["tl", "ortl", "ptl", "spptl", "dtl", "idtl", "tlq", "pmtl"], "host-tangles"
    ),
    **dict.fromkeys(["fpj", "fpjg"], "fpi"),
    "ssi": "improvement",
}
"""Other algorithms, and what comes close to them here."""

_NOTHING_FIRST = "nothing is done before a solve but what --preprocess names"
OTHERS = {
    **dict.fromkeys(["--no", "--no-single", "--no-loops", "--no-wcwc"], _NOTHING_FIRST),
    "--compress": "it is --preprocess compress",
    "--inflate": "priorities are taken as they are",
    "--scc": "auto takes components one by one where that is sooner",
    "--workers": "the engine of the host takes one core, -s race two",
    "-w": "the engine of the host takes one core, -s race two",
    "--trace": "--stats tells what a solver counted",
    "-t": "--stats tells what a solver counted",
    "--configure": "options of a solver are for Python, see jaxgames solvers",
    "-c": "options of a solver are for Python, see jaxgames solvers",
    "--input": "the game is named without an option",
    "-i": "the game is named without an option",
    "--sol": "jaxgames verify checks a solution",
}
"""Oink's options that there are not, and what to do instead."""


def solver(text: str) -> str:
    """Type of an option that takes a solver of parity games, also by Oink's names."""
    name = ALIASES.get(text, text)
    if text in RELATIVES and text not in parity.SOLVERS:
        raise argparse.ArgumentTypeError(
            f"no parity solver is called {quoted(text)}: it is one of Oink's (did you "
            f"mean {RELATIVES[text]!r}?)"
        )
    known = [*parity.SOLVERS, *parity.SOLVERS.places, "auto"]
    meant = guess(text, [*known, *ALIASES, *RELATIVES])
    if meant and name not in known and not guess(text, known):
        raise argparse.ArgumentTypeError(
            f"no parity solver is called {quoted(text)}{meant}"
        )
    return name


class _Elsewhere(argparse.Action):
    """An option of Oink's that says what there is instead."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string=None):
        """Raises what there is."""
        name = (option_string or "").lstrip("-")
        why = OTHERS.get(option_string or "")
        if name in RELATIVES:
            why = f"--{RELATIVES[name]} is what comes close to it"
        raise argparse.ArgumentError(None, f"{option_string} is Oink's; here {why}")


def add_solvers(parser: argparse.ArgumentParser) -> None:
    """Options that are named by solvers, as Oink's are: `--zlk` is `-s zlk`."""
    for name in (*ALIASES, "host-tangles", *parity.SOLVERS):
        parser.add_argument(
            f"--{name}",
            dest="solver",
            action="store_const",
            const=ALIASES.get(name, name),
            help=argparse.SUPPRESS,
        )
    for name in (*(f"--{name}" for name in RELATIVES), *OTHERS):
        parser.add_argument(
            name, dest="solver", nargs=0, action=_Elsewhere, help=argparse.SUPPRESS
        )
