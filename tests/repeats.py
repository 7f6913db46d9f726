"""How often tests repeat what they do with random cases."""

import pytest


def some_of(few: int, many: int):
    """Has a test run with `count` few cases, and with many in a sweep.

    Those of a seed should begin with the few: then all that the tests see, sweeps see.
    """
    more = pytest.param(many, marks=pytest.mark.sweep)
    return pytest.mark.parametrize("count", [few, more])


def first_of(few: int, many: int) -> list:
    """Seeds of a test: all are tried in a sweep, and the first of them always."""
    more = (pytest.param(seed, marks=pytest.mark.sweep) for seed in range(few, many))
    return [*range(few), *more]
