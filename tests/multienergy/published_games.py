"""Published games with known budgets, where these lie at hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxgames import multienergy

FOLDER = Path(__file__).parents[3] / "shared/data/public/multienergy"

needed = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the folder of published games is not there"
)

UPDATES = [
    [-1, 0, 0, 0, 0, 0],
    [0, -1, 0, 0, 0, 0],
    [("min", 2), 0, 0, 0, 0, 0],
    [0, 0, 0, ("min", 2), 0, 0],
    [("min", 3), 0, 0, 0, 0, 0],
    [("min", 4), 0, 0, 0, 0, -1],
]
"""Those of the spectroscopy game."""

Budgets = set[tuple[int, ...]]


def names(pattern: str) -> list[str]:
    """Files of the folder."""
    return sorted(path.name for path in FOLDER.glob(pattern))


def load(name: str) -> tuple[multienergy.Game, dict[str, Any]]:
    """A game from a JSON file, and what else the file holds."""
    data = json.loads((FOLDER / name).read_text())
    size, attackers = data["n"], set(data["attacker"])
    edges = sorted(data["edges"], key=lambda edge: edge[0])
    table: dict[tuple, int] = {}
    rows = [row(update, data["dim"]) for _, _, update in edges]
    game = multienergy.Game.from_arrays(
        np.searchsorted([source for source, _, _ in edges], np.arange(size + 1)),
        [target for _, target, _ in edges],
        [table.setdefault(update, len(table)) for update in rows],
        list(table),
        defender=[v not in attackers for v in range(size)],
        cap=data["cap"],
    )
    return game, data


def row(update: list, dimensions: int) -> tuple:
    """An update as the package takes it."""
    entries = [
        ("min", int(x.removeprefix("min(").removesuffix(")")) - 1)
        if isinstance(x, str)
        else x
        for x in update
    ]
    return (*entries, *[0] * (dimensions - len(entries)))


def known(data: dict[str, Any]) -> list[Budgets | None]:
    """The minimal budgets that are known, position by position."""
    return [
        None
        if budgets is None
        else {(*budget, *[0] * (data["dim"] - len(budget))) for budget in budgets}
        for budgets in data["expected"]
    ]


def spectroscopy(name: str) -> tuple[multienergy.Game, np.ndarray, np.ndarray]:
    """A spectroscopy game, and its budgets as offsets and packed words."""
    data = np.load(FOLDER / name)
    game = multienergy.Game.from_arrays(
        data["offsets"],
        data["targets"],
        data["update_id"],
        UPDATES,
        defender=data["defender"],
        cap=3,
    )
    return game, data["front_offsets"], data["front_packed"]


def answers(name: str) -> dict[str, Any]:
    """What another file holds."""
    return json.loads((FOLDER / name).read_text())
