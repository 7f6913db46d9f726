"""`jaxgames scc`."""

import argparse

import numpy as np

from jaxgames import graph, io, mdp
from jaxgames.arena import Arena
from jaxgames.cli import _options, _parts, _rows
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts, read, sizes
from jaxgames.quoting import counted, quoted

EXAMPLE = "scc protocol.aut --verify -o components.npz"


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_file(
        parser,
        "a graph (.mtx, .npz), a game (.pg), a transition system (.aut) or a Markov "
        "decision process (.umb, .drn, .tra)",
        many=True,
    )
    parser.set_defaults(beside=("output", ".npz"), check=_check_options)
    parser.add_argument(
        *("-o", "--output", "--labels"),
        dest="output",
        metavar="OUT",
        help="write the component of each vertex: .npz, a folder of these for several "
        "files, or .txt with one on each line; "
        "- is standard output",
    )
    _options.add_force(parser)
    _options.add_all(parser)
    _options.add_decomposition(parser)
    _options.take_no_pictures(parser)


def run(args: argparse.Namespace) -> Exit:
    _check_options(args)
    phase, (arena, _) = _parts.begin(args, load, lambda found: found[1])
    with phase("prepare"):
        tiny = Arena.from_edges([0], [0], owner=[0])
        size = arena.shape[1]
        _parts.make_host_ready(args, size, lambda: graph.scc_on_host(tiny))
    return _rows.answered(
        *(args, phase, graph.scc, graph.verify, arena, counts(arena)),
        facts=lambda found: _facts(arena, found),
        arrays=lambda found: {"labels": _labels(arena, found)},
        tell=_tell,
        more=lambda found: {"count": np.asarray(found.count, np.int32)},
        write=_rows.write_labels,
    )


def _check_options(args: argparse.Namespace) -> None:
    _rows.check(args, graph.SOLVERS)


def load(args: argparse.Namespace) -> tuple[Arena, str]:
    """Reads a file; returns its graph, and how large what it holds is.

    Raises:
        FormatError: the file holds something that is no graph.
    """
    found = read(args)
    if isinstance(found, mdp.MDP):
        return found.graph(), sizes(found)
    if isinstance(found, io.LTS):
        return found.arena, sizes(found)
    if not isinstance(found, Arena):
        raise io.FormatError(
            args.file,
            None,
            f"expected a graph, a game or a model, found: {quoted(found)}",
        )
    return found, sizes(found)


def _labels(arena: Arena, found: graph.Components) -> np.ndarray:
    return np.asarray(found.labels)[: int(arena.num_vertices)]


def _facts(arena: Arena, components: graph.Components) -> dict:
    size = np.bincount(_labels(arena, components), minlength=int(components.count))
    return {
        "components": int(components.count),
        "trivial": int(np.count_nonzero(graph.is_trivial(arena, components))),
        "largest": int(size.max(initial=0)),
        "sizes": _parts.histogram(size),
    }


def _tell(args: argparse.Namespace, facts: dict) -> None:
    count = facts["components"]
    print(
        f"{args.file}: {counted(count, 'strongly connected component')}, "
        f"{facts['trivial']:,} trivial; the largest has "
        f"{counted(facts['largest'], 'vertex')}"
        f"{_parts.fraction(facts['largest'], facts['vertices'])}"
    )
    if not args.brief:
        _parts.told(facts["sizes"])
