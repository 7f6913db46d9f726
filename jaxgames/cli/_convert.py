"""`jaxgames convert`."""

import argparse

from jaxgames import io
from jaxgames.cli import _options
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import check_writable, load, sizes

EXAMPLE = "convert game.pg game.npz --condition 'min even'"


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes."""
    _options.add_game(parser, "IN")
    parser.add_argument("output", metavar="OUT", help="where to write it")
    parser.add_argument(
        "--to-condition",
        default="max even",
        metavar="WHICH",
        help="what the priorities in OUT shall mean (default: 'max even')",
    )
    _options.add_quiet(parser)


def run(args: argparse.Namespace) -> Exit:
    """Reads a game and writes it."""
    check_writable(args.output)
    arena = load(args)
    io.save(args.output, arena, condition=args.to_condition)
    if not args.quiet:
        print(f"{args.output}: {sizes(arena)}")
    return Exit.DONE
