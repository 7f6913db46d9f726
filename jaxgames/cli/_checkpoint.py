"""Solves that are kept in a file, and gone on with after whatever has ended them."""

import argparse
import contextlib
import os
from collections.abc import Callable
from typing import Any

from jaxgames.cli import _outputs
from jaxgames.cli._exit import complain, is_of_writing
from jaxgames.cli._streams import OUTPUTS
from jaxgames.io._files import OutputError
from jaxgames.solution import SolveError, Status

_PLACES = "auto", "host", "race", "host-tangles"
"""Solvers that are none of the device."""


def check(args: argparse.Namespace, *, everywhere: bool = False) -> None:
    """Finds out before a long solve that it could not be kept.

    Args:
        args: the command's.
        everywhere: whether solves have a state wherever they take place.

    Raises:
        ValueError: options do not go together, or a file would be lost.
        OSError: as writing would.
    """
    if not args.checkpoint:
        if args.resume:
            raise ValueError(
                "--resume continues from the file that --checkpoint names: give both"
            )
        return
    if args.solver in _PLACES[1:] and not everywhere:
        from jaxgames.cli import _grammar

        known = (x for x in _grammar.solvers(args.command) if x not in _PLACES)
        raise ValueError(
            f"--checkpoint keeps the rounds of a solver of the device, and -s "
            f"{args.solver} has none to keep: leave -s out, or name one of "
            + ", ".join(known)
        )
    if args.max_steps is not None:
        raise ValueError("--max-steps and --checkpoint do not go together")
    if _is_there(args.checkpoint) and not (args.resume or args.force):
        raise ValueError(
            f"--checkpoint {args.checkpoint}: a saved solve exists already; --resume "
            "continues it, --force starts anew"
        )
    written = {name: getattr(args, name, None) for name in (*OUTPUTS, "draw")}
    # Of these others it is known elsewhere whether they may be replaced.
    forced = argparse.Namespace(**{**vars(args), "force": True})
    _outputs.check(forced, **written, checkpoint=args.checkpoint)
    if args.resume and not _is_there(args.checkpoint):
        complain(
            f"{args.checkpoint}: there is no saved solve yet, so this one starts anew"
        )


def solve(args: argparse.Namespace, solve: Callable[..., Any], begun: Any) -> Any:
    """Solves on the device, and keeps the state in the file that the arguments name.

    Args:
        args: the command's.
        solve: a front door that is given all but `state`, `max_steps`, `throw` and
            `progress`.
        begun: the solution after no round, with the state of the beginning; or the
            whole of it, if no round was needed.

    Raises:
        ValueError: the file is of another solve, or damaged.
        OutputError: it cannot be written.
        SolveError: it was interrupted, and what is kept is in the file.
    """
    from jaxgames import checkpoint  # few need it

    if begun.state is None and begun.status != Status.SOLVED:
        raise ValueError("--checkpoint: this solver has no state to keep; see -s")

    def going_on(*, state: Any = None, **how: Any) -> Any:
        return solve(state=begun.state if state is None else state, **how)

    if not args.resume:
        for file in _files(args.checkpoint):
            with contextlib.suppress(FileNotFoundError):
                os.remove(file)
    if begun.state is None:
        return begun
    try:
        return checkpoint.solve(args.checkpoint, going_on, throw=False)
    except KeyboardInterrupt:  # between two chunks of rounds
        raise SolveError(Status.INTERRUPTED, None) from None
    except OSError as error:
        if not is_of_writing(error):
            raise
        why = error.strerror or str(error)
        raise OutputError(error.errno, why, args.checkpoint) from error


def how_to_go_on(args: argparse.Namespace, status: Status) -> str:
    """Says how a solve that ended early is gone on with, or could be the next time."""
    early = status in (Status.INTERRUPTED, Status.TIMEOUT)
    if not early or not hasattr(args, "checkpoint") or args.brief:
        return ""
    if args.checkpoint and _is_there(args.checkpoint):
        return f"; the same command with --resume continues from {args.checkpoint}"
    if status == Status.INTERRUPTED and not args.checkpoint:
        return "; with --checkpoint FILE it could be continued by --resume"
    return ""


def _is_there(path: str) -> bool:
    return any(map(os.path.exists, _files(path)))


def _files(path: str) -> tuple[str, str]:
    """Where the last state is, and the one before; there need be none."""
    from jaxgames.checkpoint import BEFORE, file_of

    file = os.fspath(file_of(path))
    return file, file + BEFORE
