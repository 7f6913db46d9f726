"""What commands print for programs: objects of one schema, each on a line."""

import argparse
import json
from typing import Any

import jaxgames

SCHEMA = 1
"""Version of the objects' schema: another number where a field changes its meaning."""


def show(args: argparse.Namespace, facts: dict[str, Any]) -> None:
    """Prints an object: what all have, and the facts that a command tells."""
    always = {
        "schema": SCHEMA,
        "version": jaxgames.__version__,
        "command": args.command,
        "file": args.file,
        "status": None,
        "seconds": {},
        "verified": None,
    }
    print(json.dumps(always | facts), flush=True)


def show_error(
    args: argparse.Namespace, code: int, error: BaseException, message: str
) -> None:
    """Prints the object of a file of which nothing is known, since something failed.

    Args:
        args: the command's.
        code: the exit code that the command has for this file alone.
        error: what failed.
        message: what is wrong, as people are told.
    """
    facts = {
        "exit": int(code),
        "kind": type(error).__name__,
        "file": getattr(error, "path", None) or getattr(error, "filename", None),
        "line": getattr(error, "line", None),
        "message": getattr(error, "message", message),
    }
    status = getattr(error, "status", None)  # of a solve that had to end
    name = "failed" if status is None else status.name.lower()
    show(args, {"status": name, "error": facts})
