"""What Oink calls the solvers of parity games.

References:
    T. van Dijk: Oink, an implementation and evaluation of modern parity game solvers.
    TACAS 2018, doi:10.1007/978-3-319-89960-2_16; https://github.com/trolando/oink.
"""

import argparse

from jaxgames import parity
from jaxgames.quoting import quoted

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
    **dict.fromkeys(["mspm", "sspm", "bspm", "qpt", "bqpt"], "spm"),
    **dict.fromkeys(
        ["uzlk", "zlkq", "zlkpp-std", "zlkpp-waw", "zlkpp-liv"], "zielonka"
    ),
    **dict.fromkeys(["tl", "ortl", "ptl", "sptl", "dtl", "atl"], "host-tangles"),
    "fpj": "fpi",
    "ssi": "improvement",
}
"""Other algorithms, and what comes close to them here."""


def solver(text: str) -> str:
    """Type of an option that takes a solver of parity games, also by Oink's names."""
    name = ALIASES.get(text, text)
    meant = RELATIVES.get(text)
    if meant is not None and text not in parity.SOLVERS:
        raise argparse.ArgumentTypeError(
            f"no parity solver is called {quoted(text)}: it is one of Oink's (did you "
            f"mean {meant!r}?)"
        )
    return name


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
