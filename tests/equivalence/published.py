"""Published systems with known answers, where these lie at hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from jaxgames import equivalence
from jaxgames.io import LTS

FOLDER = Path(__file__).parents[3] / "shared/data/public"

needed = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the folder of published systems is not there"
)


def answers(name: str) -> Any:
    """What a file with answers holds."""
    return json.loads((FOLDER / "multienergy" / f"{name}.json").read_text())


def expected(name: str) -> dict[str, Any]:
    """What is known of a system of the VLTS suite."""
    return answers("vlts_expected")["systems"][name]


def load(name: str) -> LTS:
    """A system."""
    return equivalence.load(FOLDER / "lts" / f"{name}.csv")


def of_transitions(transitions: list) -> LTS:
    """A system from lists [from, to, label]."""
    sources, targets, labels = zip(*transitions, strict=True)
    return LTS.from_edges(sources, map(str, labels), targets)
