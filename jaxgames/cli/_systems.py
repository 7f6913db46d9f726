"""What is checked: systems and products in files, and what must not happen in them."""

import argparse
import dataclasses
from typing import Any

import numpy as np

from jaxgames import buchi, io, ltl, mdp, systems
from jaxgames.arena import Arena
from jaxgames.cli import _models
from jaxgames.cli._exit import complain
from jaxgames.cli._games import read
from jaxgames.io._files import reading
from jaxgames.quoting import clipped, quoted, unspaced


def load(args: argparse.Namespace) -> Any:
    """Reads a file, or explores a function in Python."""
    return _models.explore(args.file) if _models.is_named_by(args.file) else read(args)


def system_of(
    args: argparse.Namespace, found: Any, propositions: tuple[str, ...]
) -> systems.System:
    """Makes a system of what a file holds; of what is none raises FormatError.

    The actions of a transition system become propositions, and what is no action of it
    one that never occurs; the labels of a model do; other graphs have none.
    """
    file = args.file
    if isinstance(found, io.LTS):
        never = tuple(name for name in propositions if name not in found.names)
        found = dataclasses.replace(found, names=(*found.names, *never))
        if never and not args.quiet:
            which = ", ".join(map(quoted, never))
            complain(f"{file}: no transition has the action {which}: it never occurs")
    try:
        system = _system(found, args.initial, propositions)
    except ValueError as error:
        raise io.FormatError(file, None, str(error)) from error
    for name in propositions:
        if name not in system.propositions:
            there = clipped(", ".join(system.propositions)) or "none at all"
            raise io.FormatError(
                file,
                None,
                f"the system has no proposition {quoted(name)}, only {there}"
                f"{unspaced(name, system.propositions)}",
            )
    return system


def _system(
    found: Any, initial: list[int] | None, propositions: tuple[str, ...]
) -> systems.System:
    if isinstance(found, io.LTS):
        if initial is not None and len(initial) != 1:
            raise ValueError("--initial takes one state of a transition system")
        return systems.System.from_actions(
            found.arena,
            found.label,
            found.names,
            initial=found.initial if initial is None else initial[0],
            propositions=propositions,
        )
    if isinstance(found, systems.System):
        if initial is None:
            return found
        labels = dict(zip(found.propositions, found.labels.T, strict=True))
        return systems.System.from_graph(
            found.arena(), labels, initial=initial, names=found.names
        )
    if isinstance(found, mdp.MDP):
        starts = [0] if found.initial is None else found.initial
        return systems.System.from_graph(
            found.graph(),
            found.labels or {},
            initial=starts if initial is None else initial,
        )
    if isinstance(found, Arena):
        return systems.System.from_graph(
            found, {}, initial=[0] if initial is None else initial
        )
    raise ValueError(f"expected a system or a graph, found {quoted(found)}")


def load_product(args: argparse.Namespace) -> Any:
    """Reads a graph with accepting vertices, ready to be searched."""
    file, initial = args.file, args.initial
    is_archive = io.format_of(file, format=args.format) == "npz"
    product = io.npz.load_product(file) if is_archive else None
    found = read(args) if product is None else product.arena
    if not isinstance(found, Arena) or found.accepting is None:
        raise io.FormatError(
            file,
            None,
            f"{quoted(found)} has no accepting vertices: say what is checked, by "
            "--ltl or --automaton",
        )
    starts = partition = None
    if product is not None:
        starts, partition = product.initial, product.partition
    if initial is not None or starts is None:
        starts = [0] if initial is None else initial
    try:
        return buchi.prepare(found, initial=np.array(starts), partition=partition)
    except ValueError as error:
        raise io.FormatError(file, None, str(error)) from error


def load_automaton(file: str) -> ltl.Automaton | ltl.EmersonLei:
    """Reads an automaton; else raises FormatError."""
    found = io.load(file)
    if not isinstance(found, (ltl.Automaton, ltl.EmersonLei)):
        raise io.FormatError(
            file, None, f"expected an automaton, found {quoted(found)}"
        )
    return found


def formulas_in(path: str) -> list[tuple[int, str]]:
    """The texts of the formulas in a file, with the lines where they are."""
    with reading(path) as file:
        texts = [line.decode(errors="replace").strip() for line in file]
    found = [(n, text) for n, text in enumerate(texts, 1) if text and text[0] != "#"]
    if not found:
        raise io.FormatError(
            path, None, "expected formulas, one on each line, found none"
        )
    return found
