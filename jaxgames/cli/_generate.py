"""`jaxgames generate`: a sub-command for each family, made from its signature."""

import argparse
import inspect
import re
from collections.abc import Callable

from jaxgames import io, limits
from jaxgames.arena import Arena
from jaxgames.cli import _options, _outputs, _report
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts, sizes
from jaxgames.cli._streams import STDOUT
from jaxgames.generate import FAMILIES
from jaxgames.io._formats import of_output

EXAMPLE = "generate elevator 5 --no-fair -o elevator.pg.gz"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--list", action="store_true", help="list the families")
    families = parser.add_subparsers(dest="family", metavar="FAMILY")
    for name, family in FAMILIES.items():
        about = _about(family)
        of_family = families.add_parser(
            name,
            help=about.partition("\n")[0],
            description=about,
            epilog=f"example:\n  jaxgames {_example(name, family)}",
        )
        for parameter in _parameters(family):
            _add(of_family, parameter)
        of_family.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            required=True,
            help="where to write the game: .pg, .energy or .npz, also compressed (.gz, "
            ".bz2, .xz); - is standard output, as .pg or, with weights, .energy",
        )
        of_family.add_argument(
            "--format",
            metavar="NAME",
            help="format of the game: a suffix without its dot (default: its own)",
        )
        _options.add_force(of_family)
        _options.add_limits(of_family)
        _options.add_json(of_family)
        _options.add_quiet(of_family)
        _options.add_traceback(of_family)


def run(args: argparse.Namespace) -> Exit:
    """Makes a game and writes it, or lists the families."""
    if args.list:
        for name, family in FAMILIES.items():
            parameters = _parameters(family)
            needed = [p.name.upper() for p in parameters if p.default is p.empty]
            about = _about(family).partition("\n")[0]
            print(f"{' '.join([name, *needed]):34}{about}")
        return Exit.DONE
    if args.family is None:
        raise ValueError("expected a family (see jaxgames generate --list)")
    family = FAMILIES[args.family]
    names = [parameter.name for parameter in _parameters(family)]
    _outputs.check(args, output=args.output)
    if args.format or args.output != STDOUT:
        of_output(args.output, args.format)
    limits.tick("generating")
    arena = family(**{name: getattr(args, name) for name in names})
    limits.tick("writing")
    form = args.format
    if args.output == STDOUT and form is None:
        form = "pg" if arena.weight is None else "energy"
    io.save(args.output, arena, format=form)
    if args.json:
        _report.show(args, {"status": "solved", "output": args.output, **counts(arena)})
    elif not args.quiet:
        print(f"{args.output}: {sizes(arena)}")
    return Exit.DONE


def _parameters(family: Callable[..., Arena]) -> list[inspect.Parameter]:
    """What makes up the game: all but limits, which are those of the command."""
    taken = inspect.signature(family).parameters.values()
    return [x for x in taken if x.name not in limits.Bounds.__annotations__]


def _example(name: str, family: Callable[..., Arena]) -> str:
    """A call that makes a small game: 3 is a number that each family takes."""
    needed = ["3" for x in _parameters(family) if x.default is x.empty]
    suffix = "energy" if name.startswith("energy_") else "pg"
    return f"generate {' '.join([name, *needed])} -o game.{suffix}"


def _about(family: Callable[..., Arena]) -> str:
    """A generator's docstring up to its arguments, without links."""
    text = (inspect.getdoc(family) or "").partition("\n\nRaises:")[0]
    text = text.partition("\n    bounds: ")[0]  # those are options of their own
    return re.sub(r"\[(`\w+`)\]\[[\w.]+\]", r"\1", text)


def _add(parser: argparse.ArgumentParser, parameter: inspect.Parameter) -> None:
    """Declares a parameter of a generator; those with a default become options."""
    name, default = parameter.name, parameter.default
    flag = "--" + name.replace("_", "-")
    if default is parameter.empty:
        parser.add_argument(name, type=int)
    elif isinstance(default, bool):
        parser.add_argument(
            flag,
            action=argparse.BooleanOptionalAction,
            default=default,
            help=f"default: {flag if default else flag.replace('--', '--no-', 1)}",
        )
    else:
        parser.add_argument(
            flag,
            type=int if default is None else type(default),
            default=default,
            metavar="X",
            help="default: see above" if default is None else f"default: {default}",
        )
