"""The phases of a command, timed."""

import argparse
import contextlib
import time
from collections.abc import Iterator

from jaxgames import limits

_DOING = {
    "load": "reading",
    "prepare": "preparing",
    "compile": "compiling",
    "solve": "solving",
    "verify": "verifying",
    "property": "translating",
    "product": "making the product",
    "explore": "exploring",
    "explain": "explaining",
    "split": "making the game",
    "controller": "making the controller",
}
"""What is being done in each phase."""


class Phases:
    """Times the phases of a solve; prints each when it is over, with notes on it."""

    def __init__(self, args: argparse.Namespace, *, silent: bool = False):
        self.seconds: dict[str, float] = {}
        # Of several files each is told of in one line.
        self._silent = silent or any(
            getattr(args, name, False) for name in ("json", "quiet", "brief")
        )

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[list[str]]:
        """Times one phase, which may append notes to the list it gets."""
        notes: list[str] = []
        limits.tick(_DOING.get(name, name))
        began = time.perf_counter()
        yield notes
        limits.say("telling")
        self.seconds[name] = round(time.perf_counter() - began, 6)
        if not self._silent:
            line = f"  {name:8}{self.seconds[name]:9.3f} s  {', '.join(notes)}"
            print(line.rstrip(), flush=True)
