"""What the commands share that read and write games."""

import argparse
import os
from typing import Any

import numpy as np

from jaxgames import io, later, programs
from jaxgames.arena import Arena
from jaxgames.cli._exit import complain
from jaxgames.later import jax, when_imported
from jaxgames.quoting import all_counted, clipped, counted, quoted
from jaxgames.tuning.io import LARGE_FILE


def start_jax(args: argparse.Namespace) -> None:
    """Chooses the device, if it is there, and turns on the cache of programs."""
    device = args.device
    if device is not None:
        when_imported(lambda: jax.config.update("jax_platforms", device))
    if device not in (None, "cpu"):
        try:
            jax.devices()
        except RuntimeError as error:
            raise ValueError(
                f"--device {device}: JAX finds no such device here, or cannot use it: "
                f"{clipped(str(error))}; jaxgames env lists those there are"
            ) from error
    if args.cache and "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        try:
            programs.keep()
        except OSError as error:
            complain(f"compiled programs are not kept: {error}")
    if getattr(args, "solver", None) not in (None, "host") and _is_large(args.file):
        later.start()


def _is_large(file: str | None) -> bool:
    """Whether a file takes about as long to read as a GPU takes to wake up."""
    try:
        return file is not None and os.path.getsize(file) >= LARGE_FILE
    except OSError:  # a pipe, or what is complained of when it is read
        return False


def is_program(args: argparse.Namespace) -> bool:
    """Whether the file is in PRISM's language, where constants may be left open."""
    kind = io.FORMATS[f".{io.format_of(args.file, format=args.format)}"]
    return kind == "jaxgames.io.program"


def read(args: argparse.Namespace, constants: dict[str, Any] | None = None) -> Any:
    """Reads the file that `add_file` or `add_game` asks for, whatever it holds.

    Args:
        args: the command's.
        constants: values of those that a program in PRISM's language leaves open.

    Raises:
        ValueError: there are constants, and the file leaves no such constants open.
    """
    if constants:
        if not is_program(args):
            raise ValueError(
                f"--const: {args.file} is no program in PRISM's language, and has no "
                "constants"
            )
        try:
            return io.program.load(args.file, constants=constants)
        except io.FormatError:
            raise
        except ValueError as error:
            raise ValueError(f"--const: {error}") from None
    return io.load(
        args.file,
        condition=getattr(args, "condition", "max even"),
        dead_ends=getattr(args, "dead_ends", "allow"),
        format=args.format,
    )


def load(args: argparse.Namespace) -> Arena:
    """Reads the game that `add_game` asks for.

    Raises:
        FormatError: it is something else.
    """
    game = read(args)
    if not isinstance(game, Arena) and hasattr(game, "controllable"):
        try:
            return game.arena()  # that of a specification
        except ValueError as error:
            raise io.FormatError(args.file, None, str(error)) from error
    if not isinstance(game, Arena):
        raise io.FormatError(args.file, None, f"expected a game, found {quoted(game)}")
    return game


def is_parity(arena: Arena) -> bool:
    """Whether the parity solvers take it."""
    return (arena.priority is None) != (arena.edge_priority is None)


def load_parity(args: argparse.Namespace) -> Arena:
    """Reads a parity game; else raises FormatError."""
    arena = load(args)
    if not is_parity(arena):
        raise io.FormatError(
            args.file,
            None,
            "this is not a parity game: it needs priorities either on its vertices or "
            "on its edges",
        )
    return arena


def num_priorities(arena: Arena) -> int:
    labels = arena.priority if arena.edge_priority is None else arena.edge_priority
    # What `np.unique` imports takes longer than a small game.
    ascending = np.sort(labels)
    return int(np.count_nonzero(np.diff(ascending))) + bool(len(ascending))


def sizes(arena: Any) -> str:
    """How large a game, a graph, a model or something else is, in words."""
    if isinstance(arena, Arena):
        text = all_counted(vertex=arena.num_vertices, edge=arena.num_edges)
        if arena.priority is None and arena.edge_priority is None:
            return text
        return f"{text}, {counted(num_priorities(arena), 'priority')}"
    if isinstance(arena, io.LTS):
        return all_counted(
            state=arena.num_states,
            transition=arena.num_transitions,
            label=len(arena.names),
        )
    from jaxgames import mdp, systems  # which those before need not wait for

    if isinstance(arena, mdp.Game):
        return sizes(arena.model)
    if isinstance(arena, mdp.MDP):
        return all_counted(
            state=arena.num_states,
            choice=arena.num_choices,
            branch=arena.num_branches,
        )
    if isinstance(arena, systems.System):
        return all_counted(
            state=arena.num_states,
            transition=arena.num_transitions,
            proposition=len(arena.propositions),
        )
    return repr(arena)


COUNTS = "vertices", "edges", "states", "choices", "branches", "transitions"
"""What is counted, of those things that have it."""


def counts(found: Any) -> dict[str, int]:
    """How large a game, a graph, a model or something else is, for programs."""
    found = getattr(found, "model", found)
    return {
        name: int(getattr(found, f"num_{name}"))
        for name in COUNTS
        if hasattr(found, f"num_{name}")
    }
