"""Answers stay what they were, in bits: see `tests/freeze.py`."""

import numpy as np
import pytest

from tests import freeze
from tests.frozen_answers import GROUPS, LONG

FROZEN = freeze.read()


def test_there_are_some_hundred_inputs():
    assert list(FROZEN) == list(GROUPS)
    assert sum(map(len, FROZEN.values())) >= 150


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(group, marks=[pytest.mark.sweep] if group in LONG else [])
        for group in GROUPS
    ],
)
def test_answers_are_what_they_were(group):
    found = freeze.differences(group, FROZEN[group], freeze.answered(group))
    assert not found, freeze.advice(group, found)


def test_types_make_no_difference_and_numbers_do():
    narrow, wide = np.array([1, 0, -1], np.int8), np.array([1, 0, -1], object)
    assert freeze.kept(narrow) == freeze.kept(wide) == "1 0 -1"
    assert freeze.kept(narrow.reshape(1, 3)) == "[1, 3]: 1 0 -1"
    long = np.arange(100)
    assert freeze.kept(long) == freeze.kept(long.astype(np.uint8))
    assert freeze.kept(long) != freeze.kept(long[::-1])
    with pytest.raises(ValueError, match="float64"):
        freeze.kept(np.array([0.5]))


def test_another_answer_is_told_with_both_and_how_to_see_it():
    old = FROZEN["Büchi games"]
    name = next(iter(old))
    new = {**old, name: {**old[name], "winner by host": "9", "more": "7"}}
    found = freeze.differences("Büchi games", old, new)
    assert len(found) == 2
    said = freeze.advice("Büchi games", found)
    assert f"was {old[name]['winner by host']}\n    is  9" in said
    assert "more\n    was nothing\n    is  7" in said
    assert f'--show "Büchi games" "{name}"' in said
