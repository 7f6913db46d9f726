"""`jaxgames info`."""

import argparse
import json
import os
from typing import Any

import jax
import numpy as np

from jaxgames import ops, parity
from jaxgames.arena import Arena
from jaxgames.cli import _options
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import is_parity, load, num_priorities, sizes, start_jax

EXAMPLE = "info game.pg.gz"


def options(parser: argparse.ArgumentParser) -> None:
    """Declares what the command takes."""
    _options.add_game(parser)
    _options.add_json(parser)
    _options.add_jax(parser)


def run(args: argparse.Namespace) -> Exit:
    """Prints what a game looks like, to people or to programs."""
    start_jax(args)
    arena = load(args)
    facts = _facts(arena) | (_parity_facts(arena) if is_parity(arena) else {})
    size = os.path.getsize(args.file)
    if args.json:
        print(json.dumps({"file": args.file, "bytes": size, **facts}))
        return Exit.DONE
    print(f"{args.file}: {sizes(arena)}, {size:,} bytes")
    for name, template in _LINES.items():
        if name in facts:
            text = template.format_map(facts)
            print(f"  {name.replace('_', ' '):12}{text}")
    return Exit.DONE


_LINES = {
    "owners": "player 0: {owners[0]:,}, player 1: {owners[1]:,}",
    "priority": (
        "{priority[min]:,} to {priority[max]:,}, {priority[distinct]:,} distinct, "
        "{priority[compressed]:,} after merging neighbours of one parity"
    ),
    "out_degree": (
        "{out_degree[min]:,} to {out_degree[max]:,}, mean {out_degree[mean]:.2f}"
    ),
    "in_degree": (
        "{in_degree[min]:,} to {in_degree[max]:,}, mean {in_degree[mean]:.2f}"
    ),
    "self_loops": "{self_loops:,}",
    "layout": (
        "{layout[name]}: {layout[cells]:,} cells, {layout[bytes]:,} bytes on "
        "{layout[backend]}"
    ),
    "solver": "{solver} (auto)",
}
"""How the facts are told to people."""


def _facts(arena: Arena) -> dict[str, Any]:
    """Of any game."""
    vertices = int(arena.num_vertices)
    odd = int(np.count_nonzero(arena.owner))
    return {
        "vertices": vertices,
        "edges": int(arena.num_edges),
        "owners": [vertices - odd, odd],
        "out_degree": _range(np.diff(arena.row_ptr)),
        "in_degree": _range(np.bincount(arena.dst, minlength=vertices)),
        "self_loops": int(np.count_nonzero(arena.src == arena.dst)),
    }


def _parity_facts(arena: Arena) -> dict[str, Any]:
    """Of a parity game, and how it would be solved."""
    normal, game = parity.prepare(arena)
    labels = arena.priority if arena.edge_priority is None else arena.edge_priority
    place = parity.place_for(arena)
    return {
        "priority": _range(labels)
        | {"distinct": num_priorities(arena), "compressed": num_priorities(normal)},
        "layout": {
            "name": ops.layout(game),
            "cells": ops.num_cells(game),
            "bytes": sum(leaf.nbytes for leaf in jax.tree.leaves(game)),
            "backend": jax.default_backend(),
        },
        "solver": parity.SOLVERS.auto.name if place == "device" else place,
    }


def _range(numbers: np.ndarray) -> dict[str, Any]:
    if not len(numbers):
        return {"min": 0, "max": 0, "mean": 0.0}
    return {
        "min": int(numbers.min()),
        "max": int(numbers.max()),
        "mean": float(numbers.mean()),
    }
