"""Published models with properties whose exact values are known, where they lie."""

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from jaxgames import mdp

FOLDER = Path(__file__).parents[3] / "shared/data/public/mdp-quantitative"

needs_folder = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the folder of published models is not there"
)


class Case(NamedTuple):
    """A property of a published model, and what is known of its value."""

    model: str
    text: str
    constants: dict[str, Any]
    exact: Fraction | float | None  # of the initial state
    values: np.ndarray | None  # float64 [S]


def constants(text: str) -> dict[str, Any]:
    """Constants as the files give them, such as `N=5,reset=true`."""
    pairs = (part.split("=") for part in text.split(",") if part)
    return {
        name: value == "true" if value in ("true", "false") else Fraction(value)
        for name, value in pairs
    }


def cases(name: str) -> list[Case]:
    """All cases of a model."""
    facts = json.loads((FOLDER / "models" / f"{name}.json").read_text())
    vectors: dict[str, Any] = {}
    values = FOLDER / "models" / f"{name}.values.npz"
    if values.is_file():
        with np.load(values) as file:
            vectors = dict(file)
    found = []
    for case in facts["cases"]:
        exact = case.get("exact")
        if exact is not None:
            exact = float("inf") if exact == "inf" else Fraction(exact)
        elif case.get("value") is not None:
            exact = float(case["value"])
        found.append(
            Case(
                *(name, case["property"], constants(facts["constants"]), exact),
                vectors.get(case.get("vector")),
            )
        )
    return found


def texts() -> list[str]:
    """The properties of all folders."""
    return [
        case["property"]
        for path in sorted(FOLDER.glob("[im]*/*.json"))
        for case in json.loads(path.read_text())["cases"]
    ]


def rarely(game: mdp.Game, rng) -> mdp.Game:
    """The same, where all branches but the first of a choice are taken very seldom."""
    model = game.model
    rows = np.asarray(model.row_offsets)
    probs = np.ones(len(model.columns))
    for begin, end in itertools.pairwise(rows.tolist()):
        rare = 2.0 ** -rng.choice([2, 10, 30, 40])
        probs[begin + 1 : end] = rare / (end - begin)
        probs[begin] = 1 - probs[begin + 1 : end].sum()
    parts = (model.row_group_offsets, rows, model.columns, probs)
    return mdp.Game.from_arrays(*parts, game.player)


def interval_chain(size: int, reward: float) -> mdp.MDP:
    """From each state on to the next, or to stay, with probabilities 0.4 to 0.6."""
    state = np.arange(size)
    columns = np.stack([state, np.minimum(state + 1, size - 1)], 1).ravel()
    return mdp.MDP.from_arrays(
        *(np.arange(size + 1), 2 * np.arange(size + 1), columns),
        lower=np.full(2 * size, 0.4),
        upper=np.full(2 * size, 0.6),
        labels={"end": state == size - 1},
        choice_rewards={"": np.full(size, reward)},
    )
