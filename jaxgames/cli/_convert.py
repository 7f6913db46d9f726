"""`jaxgames convert`."""

import argparse

from jaxgames import io, limits
from jaxgames.arena import Arena
from jaxgames.cli import _options, _outputs, _report
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts, read, sizes
from jaxgames.io._formats import of_output

EXAMPLE = "convert game.pg game.npz --condition 'min even'"


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_game(
        parser, "IN", "a game, a graph, a model, a system or an automaton", many=True
    )
    parser.set_defaults(arrange=_arrange)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="where to write it, instead of the last file named; - is standard output; "
        "for several files it is a folder, and --to-format says what is in it",
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
    _options.add_constants(parser, "values of what a .prism file leaves open")
    _options.add_force(parser)
    _options.add_limits(parser)
    _options.add_json(parser)
    _options.add_quiet(parser)


def _arrange(args: argparse.Namespace) -> None:
    """Tells what is written from what is read: the last file, or what -o names."""
    if args.output is None:
        if len(args.files) < 2:
            raise ValueError(
                "convert reads one file and writes another: convert IN OUT"
            )
        args.output = args.files.pop()
    if len(args.files) > 1 and args.to_format is None:
        raise ValueError("--to-format says what several files are converted to")
    args.beside = "output", f".{args.to_format}"


def run(args: argparse.Namespace) -> Exit:
    _outputs.check(args, OUT=args.output)
    try:
        of_output(args.output, args.to_format)
    except ValueError as error:
        message = str(error).replace("pass format=", "pass --to-format")
        raise ValueError(f"OUT: {message}") from error
    limits.tick("reading")
    found = read(args, _options.constants(args))
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
    if args.json:
        _report.show(args, {"status": "solved", "output": args.output, **counts(found)})
    elif not args.quiet:
        print(f"{args.output}: {sizes(found)}")
    return Exit.DONE
