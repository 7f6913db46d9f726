"""`jaxgames convert`."""

import argparse

from jaxgames import io, limits
from jaxgames.arena import Arena
from jaxgames.cli import _options, _outputs
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import sizes

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
    _options.add_force(parser)
    _options.add_limits(parser)
    _options.add_quiet(parser)


def run(args: argparse.Namespace) -> Exit:
    """Reads a game, a graph or a model and writes it."""
    _outputs.check(args, OUT=args.output)
    limits.tick("reading")
    found = io.load(args.file, condition=args.condition, dead_ends=args.dead_ends)
    names = io.names(args.file, found) if isinstance(found, Arena) else None
    limits.tick("writing")
    io.save(args.output, found, condition=args.to_condition, names=names)
    if not args.quiet:
        print(f"{args.output}: {sizes(found)}")
    return Exit.DONE
