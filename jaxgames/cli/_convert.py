"""`jaxgames convert`."""

import argparse

from jaxgames import io, limits
from jaxgames.arena import Arena
from jaxgames.cli import _options, _outputs
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import read, sizes
from jaxgames.io._formats import of_output

EXAMPLE = "convert game.pg game.npz --condition 'min even'"


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes."""
    _options.add_game(
        parser, "IN", "a game, a graph, a model, a system or an automaton"
    )
    parser.add_argument(
        "output", metavar="OUT", help="where to write it; - is standard output"
    )
    parser.add_argument(
        "--to-format",
        metavar="NAME",
        help="format of OUT: a suffix without its dot (default: its own)",
    )
    parser.add_argument(
        "--to-condition",
        default="max even",
        metavar="WHICH",
        help="what the priorities in OUT shall mean (default: 'max even')",
    )
    _options.add_force(parser)
    _options.add_limits(parser)
    _options.add_quiet(parser)


def run(args: argparse.Namespace) -> Exit:
    """Reads a game, a graph or a model and writes it."""
    _outputs.check(args, OUT=args.output)
    try:
        of_output(args.output, args.to_format)
    except ValueError as error:
        message = str(error).replace("pass format=", "pass --to-format")
        raise ValueError(f"OUT: {message}") from error
    limits.tick("reading")
    found = read(args)
    names = None
    if isinstance(found, Arena):
        names = io.names(args.file, found, format=args.format)
    limits.tick("writing")
    io.save(
        args.output,
        found,
        condition=args.to_condition,
        names=names,
        format=args.to_format,
    )
    if not args.quiet:
        print(f"{args.output}: {sizes(found)}")
    return Exit.DONE
