"""`jaxgames reach`."""

import argparse
from typing import Any

import numpy as np

from jaxgames import graph, io
from jaxgames.arena import Arena
from jaxgames.cli import (
    _options,
    _parts,
    _pictures,
    _report,
    _rows,
    _scc,
    _vertices,
)
from jaxgames.cli._exit import Exit, complain
from jaxgames.cli._games import counts, read, sizes
from jaxgames.quoting import counted
from jaxgames.solution import UNDECIDED, SolveError, Status, successor_of

EXAMPLE = "reach game.pg.gz --to 0,5 --player 1 -o attractor.txt"


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_file(
        parser,
        "a graph (.mtx, .npz), a game (.pg, .energy, .mpg), a transition system (.aut) "
        "or a Markov decision process (.umb, .drn, .tra). --player needs a game",
        many=True,
    )
    parser.set_defaults(beside=("output", ".npz"), check=_check_options)
    parser.add_argument(
        "--to",
        metavar="VERTICES",
        help=f"the vertices to reach: {_vertices.SYNTAX}",
    )
    parser.add_argument(
        "--from",
        dest="begin",
        metavar="VERTICES",
        help="the vertices to begin from; with --to the exit code is 1 unless all of "
        "them reach the target",
    )
    parser.add_argument(
        "--player",
        type=int,
        choices=(0, 1),
        help="find the attractor of this player: the vertices from which it can "
        "force a visit",
    )
    _rows.add_rows(parser)
    _pictures.add(parser)
    _options.add_verify(parser)
    parser.add_argument(
        "-s",
        "--solver",
        default="auto",
        choices=("auto", "host", "device"),
        help="where to search: auto (default), host or device",
    )
    _options.add_stats(parser)
    _options.add_max_steps(parser, "steps: edges of a path, or moves of a play")
    _options.add_common(parser)
    _options.take_no(
        parser,
        "the search visits each edge only a few times, so there is little to keep; "
        "--timeout limits the time",
        "--checkpoint",
        "--resume",
    )


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, (arena, _) = _parts.begin(args, load, lambda found: found[1])
    begin, to = (
        None if text is None else _vertices.mask(option, text, arena.shape[0])
        for option, text in (("--from", args.begin), ("--to", args.to))
    )
    with phase("prepare"):
        tiny = Arena.from_edges([0], [0], owner=[0])
        size = arena.shape[1]
        _parts.make_host_ready(args, size, lambda: _found(args, tiny, [0], [0]))
    with phase("solve") as notes:
        arrays = _found(args, arena, begin, to)
        complete = args.max_steps is None or _is_complete(args, arena, arrays)
        stats = _stats(args, arena, arrays)
        notes.append(stats["solver"])
    verdict = None
    if args.verify and complete:
        with phase("verify") as notes:
            verdict = _verified(args, arena, begin, to, arrays)
            notes.append("valid" if verdict else "WRONG")
    mask, strategy = arrays["reached"], arrays.pop("strategy", None)
    if strategy is not None:
        arrays["successor"] = np.asarray(successor_of(arena, strategy))
    holds = None
    if begin is not None and to is not None and (complete or mask[begin].all()):
        holds = bool(mask[begin].all())
    facts: dict[str, Any] = {
        **counts(arena),
        "status": "solved" if complete else "max_steps",
        "solver": stats.pop("solver"),
        "stats": stats,
        "seconds": dict(phase.seconds),
        "verified": None if verdict is None else bool(verdict),
        "player": args.player,
        "reached": int(mask.sum()),
        "holds": holds,
    }
    if "rank" in arrays:
        facts["farthest"] = int(arrays["rank"].max(initial=0))
    if args.all:
        facts["found"] = {name: x.tolist() for name, x in arrays.items()}
    if args.json:
        _report.show(args, facts)
    elif not args.quiet:
        _parts.tell_stats(args, facts)
        _tell(args, facts, begin, mask)
    if verdict is not None and not verdict:
        complain(f"{args.file}: the answer is wrong, nothing is written: {verdict}")
        return Exit.UNVERIFIED
    if not complete:
        return _parts.not_solved(args, SolveError(Status.MAX_STEPS, None))
    if args.output:
        columns = {name: x.astype(np.int32) for name, x in arrays.items()}
        _rows.write_rows(args.output, **columns)
    who = args.player or 0
    region = np.where(mask, who, 1 - who if args.player is not None else UNDECIDED)
    _pictures.write(args, arena, _pictures.Found(region, strategy))
    return Exit.WRONG if holds is False else Exit.DONE


def _check_options(args: argparse.Namespace) -> None:
    _rows.check_output(args)
    _pictures.check(args)
    if args.to is None and args.begin is None:
        raise ValueError("expected --to, or --from, or both")
    if args.player is not None and args.to is None:
        raise ValueError(
            "--player needs --to: the vertices that the player is to reach"
        )


def load(args: argparse.Namespace) -> tuple[Arena, str]:
    """Reads a graph, or a game if there are to be players.

    Raises:
        FormatError: the file holds something else.
    """
    if args.player is None:
        return _scc.load(args)
    found = read(args)
    if not isinstance(found, Arena):
        why = f"--player needs a game, whose vertices have owners: found {found!r}"
        raise io.FormatError(args.file, None, why)
    return found, sizes(found)


def _found(args: argparse.Namespace, arena: Arena, begin, to) -> dict[str, np.ndarray]:
    how: dict[str, Any] = {"engine": args.solver, "max_steps": args.max_steps}
    if args.player is not None:
        won = graph.attractor(arena, to, args.player, **how)
        return {
            "reached": np.asarray(won.mask),
            "rank": np.asarray(won.rank),
            "strategy": np.asarray(won.strategy),
        }
    backward = to is not None
    sources = to if backward else begin
    found = graph.reachable(arena, sources, backward=backward, **how)
    return {"reached": np.asarray(found)}


def _is_complete(args: argparse.Namespace, arena: Arena, arrays: dict) -> bool:
    """Whether one step more would find nothing more."""
    one = argparse.Namespace(**{**vars(args), "max_steps": 1})
    mask = arrays["reached"]
    begin, to = (None, mask) if args.to is not None else (mask, None)
    return bool((_found(one, arena, begin, to)["reached"] == mask).all())


def _stats(args: argparse.Namespace, arena: Arena, arrays: dict) -> dict[str, Any]:
    """Where the search was, and its rounds where they are known."""
    solver = graph.place_for(arena, args.solver)
    if "rank" not in arrays:
        return {"solver": solver}
    return {"solver": solver, "rounds": int(arrays["rank"].max(initial=0))}


def _verified(args: argparse.Namespace, arena: Arena, begin, to, arrays) -> Any:
    if args.player is not None:
        won = graph.Attractor(arrays["reached"], arrays["strategy"], arrays["rank"])
        return graph.verify_attractor(arena, won, to, args.player)
    backward = to is not None
    sources = to if backward else begin
    return graph.verify_reachable(arena, arrays["reached"], sources, backward=backward)


def _tell(args: argparse.Namespace, facts: dict, begin, mask: np.ndarray) -> None:
    count = facts["reached"]
    part = f"{count:,} of {counted(facts['vertices'], 'vertex')}"
    if facts["status"] != "solved":
        part = f"at least {part}"
    if args.to is None:
        print(f"{args.file}: {part} are reached")
        return
    if args.player is None:
        print(f"{args.file}: it is reached from {part}")
    else:
        print(
            f"{args.file}: player {args.player} can force a visit from {part}, in "
            f"{counted(facts['farthest'], 'move')} at most"
        )
    if args.brief or begin is None:
        return
    missing = np.flatnonzero(begin & ~mask)
    text = "from all that are asked for"
    if len(missing):
        text = f"not from {missing[0]}"
        text += f", nor from {len(missing) - 1:,} more" if len(missing) > 1 else ""
        text += "" if facts["status"] == "solved" else " in so few steps"
    print(f"  {text}")
