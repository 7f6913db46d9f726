"""What commands print for programs: objects of one schema, each on a line."""

import argparse
import json
from typing import Any

import jaxgames
from jaxgames.cli._exit import with_options

SCHEMA = 1
"""Version of the objects' schema: another number where a field changes its meaning."""


def show(args: argparse.Namespace, facts: dict[str, Any]) -> None:
    """Prints an object: what all have, and the facts that a command tells."""
    args.told = True
    print(text_of(args, facts), flush=True)


def text_of(args: argparse.Namespace, facts: dict[str, Any]) -> str:
    """The text of an object."""
    always = {
        "schema": SCHEMA,
        "version": jaxgames.__version__,
        "command": args.command,
        "file": _file_of(args),
        "status": None,
        "seconds": {},
        "verified": None,
    }
    return json.dumps(always | facts)


def _file_of(args: argparse.Namespace) -> str | None:
    """The file that an object is about; None if it is about several, or none."""
    is_one = hasattr(args, "place") or len(getattr(args, "files", ())) < 2
    return getattr(args, "file", None) if is_one else None


def show_error(
    args: argparse.Namespace, code: int, error: BaseException, message: str
) -> None:
    """Prints the object of what is not known, since something failed."""
    show(args, error_facts(args, code, error, message))


def error_facts(
    args: argparse.Namespace, code: int, error: BaseException, message: str
) -> dict[str, Any]:
    """What is told of what failed: of several files the exit code is of one alone."""
    facts = {
        "exit": int(code),
        "kind": type(error).__name__,
        "file": getattr(error, "path", None) or getattr(error, "filename", None),
        "line": getattr(error, "line", None),
        "message": with_options(getattr(error, "message", message)),
    }
    status = getattr(error, "status", None)  # of a solve that had to end
    name = "failed" if status is None else status.name.lower()
    if isinstance(error, KeyboardInterrupt):
        name = "interrupted"
    return {"status": name, "error": facts}
