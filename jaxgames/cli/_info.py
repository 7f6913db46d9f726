"""`jaxgames info`."""

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxgames import io, limits, ltl, mdp, ops, parity, synth, systems
from jaxgames.arena import Arena
from jaxgames.cli import _options, _report
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import (
    is_parity,
    num_priorities,
    read,
    sizes,
    start_jax,
)
from jaxgames.io._sources import length
from jaxgames.later import jax
from jaxgames.quoting import counted

EXAMPLE = "info game.pg.gz"


def options(parser: argparse.ArgumentParser) -> None:
    _options.add_game(
        parser,
        what="a game, a graph, a model, a system or an automaton in any format that "
        "is read",
        many=True,
    )
    _options.add_constants(parser, "values of what a .prism file leaves open")
    _options.add_common(parser)


def run(args: argparse.Namespace) -> Exit:
    """Prints what a file holds, to people or to programs."""
    start_jax(args)
    limits.tick("reading")
    arena = read(args, _options.constants(args))
    limits.tick("describing")
    facts = _FACTS[type(arena)](arena)
    size = length(args.file, sys.maxsize)
    if args.json:
        _report.show(args, {"status": "solved", "bytes": size, **facts})
        return Exit.DONE
    if args.quiet:  # the exit code says that it could be read
        return Exit.DONE
    print(f"{args.file}: {sizes(arena)}, {counted(size, 'byte')}", flush=True)
    if args.brief:
        return Exit.DONE
    if "players" in facts:
        told = enumerate(facts["players"])
        facts["players"] = ", ".join(
            f"{x}: {counted(count, 'state')}" for x, count in told
        )
    for name in {"propositions", "labels"} & facts.keys():
        facts[name] = ", ".join(facts[name]) or "none"
    if "acceptance" in facts:
        facts["acceptance"] = counted(facts["acceptance"], "set")
    for name, noun in (("per_state", "choice"), ("per_choice", "branch")):
        if name in facts:
            facts[name]["most"] = counted(facts[name]["max"], noun)
    for name, template in _LINES.items():
        if name in facts:
            text = template.format_map(facts)
            print(f"  {name.replace('_', ' '):11} {text}")
    return Exit.DONE


_LINES = {
    "propositions": "{propositions}",
    "labels": "{labels}",
    "initial": "{initial:,}",
    "deadlocks": "{deadlocks:,}",
    "acceptance": "{acceptance}",
    "per_state": "{per_state[min]:,} to {per_state[most]}, mean {per_state[mean]:.2f}",
    "per_choice": (
        "{per_choice[min]:,} to {per_choice[most]}, mean {per_choice[mean]:.2f}"
    ),
    "players": "{players}",
    "owners": "player 0: {owners[0]:,}, player 1: {owners[1]:,}",
    "priority": (
        "{priority[min]:,} to {priority[max]:,}, {priority[distinct]:,} distinct, "
        "{priority[compressed]:,} after merging neighbours of one parity"
    ),
    "weight": "{weight[min]:,} to {weight[max]:,}, mean {weight[mean]:.2f}",
    "out_degree": (
        "{out_degree[min]:,} to {out_degree[max]:,}, mean {out_degree[mean]:.2f}"
    ),
    "in_degree": (
        "{in_degree[min]:,} to {in_degree[max]:,}, mean {in_degree[mean]:.2f}"
    ),
    "self_loops": "{self_loops:,}",
    "accepting": "{accepting:,}",
    "layout": (
        "{layout[name]}: {layout[cells]:,} cells, {layout[bytes]:,} bytes on "
        "{layout[backend]}"
    ),
    "solver": "{solver} (auto)",
}
"""How the facts are told to people."""


def _of_arena(arena: Arena) -> dict[str, Any]:
    vertices = int(arena.num_vertices)
    odd = int(np.count_nonzero(arena.owner))
    facts = {
        "vertices": vertices,
        "edges": int(arena.num_edges),
        "owners": [vertices - odd, odd],
        **_degrees(arena),
    }
    if arena.weight is not None and arena.weight.ndim == 1:
        facts["weight"] = _range(arena.weight)
    if arena.accepting is not None:
        facts["accepting"] = int(np.count_nonzero(arena.accepting))
    return facts | (_parity_facts(arena) if is_parity(arena) else {})


def _of_system(system: systems.System) -> dict[str, Any]:
    return {
        "states": system.num_states,
        "transitions": system.num_transitions,
        "propositions": list(system.propositions),
        "initial": len(system.initial),
        "deadlocks": int(np.count_nonzero(np.diff(system.offsets) == 0)),
        **_degrees(system.arena()),
    }


def _of_lts(lts: io.LTS) -> dict[str, Any]:
    return {
        "states": lts.num_states,
        "transitions": lts.num_transitions,
        "labels": list(lts.names),
        "deadlocks": int(np.count_nonzero(np.diff(lts.arena.row_ptr) == 0)),
        **_degrees(lts.arena),
    }


def _of_model(model: mdp.MDP) -> dict[str, Any]:
    return {
        "states": model.num_states,
        "choices": model.num_choices,
        "branches": model.num_branches,
        "labels": list(model.labels or ()),
        "initial": 0 if model.initial is None else len(model.initial),
        "per_state": _range(np.diff(model.row_group_offsets)),
        "per_choice": _range(np.diff(model.row_offsets)),
    }


def _of_game(game: mdp.Game) -> dict[str, Any]:
    many = np.bincount(np.asarray(game.player) + 1)[1:].tolist()
    return {**_of_model(game.model), "players": many}


def _of_automaton(automaton: ltl.Automaton) -> dict[str, Any]:
    return {
        "states": automaton.num_states,
        "edges": len(automaton.targets),
        "propositions": list(automaton.propositions),
        "initial": len(automaton.initial),
        "acceptance": automaton.num_sets,
    }


def _of_controller(controller: synth.Controller) -> dict[str, Any]:
    circuit = controller.circuit()
    return {
        "states": controller.num_states,
        "latches": len(circuit.following),
        "gates": len(circuit.gates),
        "inputs": list(controller.reads),
        "outputs": list(controller.writes),
    }


_FACTS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Arena: _of_arena,
    systems.System: _of_system,
    io.LTS: _of_lts,
    mdp.MDP: _of_model,
    mdp.Game: _of_game,
    ltl.Automaton: _of_automaton,
    ltl.EmersonLei: lambda automaton: _of_automaton(automaton.graph),
    synth.Specification: lambda asked: {
        **_of_automaton(asked.automaton.graph),
        "inputs": list(asked.inputs),
        "outputs": list(asked.outputs),
        "moore": asked.moore,
    },
    synth.Controller: _of_controller,
}
"""What is told, by what a file may hold."""


def _degrees(arena: Arena) -> dict[str, Any]:
    return {
        "out_degree": _range(np.diff(arena.row_ptr)),
        "in_degree": _range(np.bincount(arena.dst, minlength=arena.shape[0])),
        "self_loops": int(np.count_nonzero(arena.src == arena.dst)),
    }


def _parity_facts(arena: Arena) -> dict[str, Any]:
    """Of a parity game, and how it would be solved."""
    labels = arena.priority if arena.edge_priority is None else arena.edge_priority
    odd = np.sort(labels) % 2
    merged = int(np.count_nonzero(np.diff(odd))) + bool(len(odd))
    counts = {"distinct": num_priorities(arena), "compressed": merged}
    facts: dict[str, Any] = {"priority": _range(labels) | counts}
    place = parity.place_for(arena)
    if place != "device":  # the engine of the host lays nothing out
        return facts | {"solver": place}
    _, game = parity.prepare(arena)
    facts["layout"] = {
        "name": ops.layout(game),
        "cells": ops.num_cells(game),
        "bytes": sum(leaf.nbytes for leaf in jax.tree.leaves(game)),
        "backend": jax.default_backend(),
    }
    return facts | {"solver": parity.SOLVERS.auto().name}


def _range(numbers: np.ndarray) -> dict[str, Any]:
    if not len(numbers):
        return {"min": 0, "max": 0, "mean": 0.0}
    return {
        "min": int(numbers.min()),
        "max": int(numbers.max()),
        "mean": float(numbers.mean()),
    }
