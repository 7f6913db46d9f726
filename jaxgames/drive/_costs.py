"""Where a list of questions is sooner answered: by the host, or by what is to compile.

The host begins, since it needs nothing compiled that one question does not. After
`SAMPLE` questions, and whenever it has answered as many again, its own time says how
long all that is left takes; and before the first, its time for the last such list.
Where that, and what it took for such lists before, is more than the device takes for
the whole list, the device begins anew. For each size that nobody has solved in this
process that is what other sizes took the first time, or, as long as there are none,
`UNSURE` times `Problem.compile_seconds`; for others what they took the last time.

`compile_seconds` are those of `benchmarks/results/batch-*.json`: 6 for parity games, 13
for energy games and 2 for components, on 2 cores of AMD EPYC. There the host answers a
parity game of 50 vertices in 60 microseconds, so that a hundred thousand of one size
are as many as are worth compiling for; a device that has compiled takes 7 microseconds.
"""

import statistics
from collections.abc import Hashable, Sequence
from typing import Any

from jaxgames.later import backend
from jaxgames.tuning.drive import LOADING, UNSURE
from jaxgames.tuning.drive import SAMPLE as SAMPLE

_learnt: dict[Hashable, list[float]] = {}
"""Seconds of each size: of the first time, and of the last."""


_spent: dict[Hashable, tuple[float, float]] = {}
"""Seconds that the host took for lists of these sizes, and the last rate of them."""


def key_of(problem: Any, size: Hashable, *more: Hashable) -> Hashable:
    """What one compilation serves: games of a problem and a size, on this backend."""
    return backend(), problem.name, size, *more


def learn(key: Hashable, seconds: float) -> None:
    """Notes how long the device took for questions of one size."""
    before = _learnt.get(key)
    _learnt[key] = [seconds if before is None else before[0], seconds]


def rate(times: Sequence[float]) -> float:
    """Seconds that the host takes for a question, from those of some."""
    counted = sorted(times)[: len(times) - min(LOADING, len(times) // 2)]
    return sum(counted) / max(len(counted), 1)


def spend(keys: Sequence[Hashable], times: Sequence[float]) -> None:
    """Notes how long the host took for the questions of a list of some sizes."""
    if times:
        now, before = rate(times), _spent.get(tuple(keys), (0.0, 0.0))[0]
        _spent[tuple(keys)] = before + now * len(times), now


def rate_before(keys: Sequence[Hashable]) -> float:
    """The last rate of the host for lists of some sizes; 0 where it had none."""
    return _spent.get(tuple(keys), (0.0, 0.0))[1]


def instead(problem: Any, keys: Sequence[Hashable]) -> float:
    """Seconds after which a list is the device's: see above."""
    here = key_of(problem, None)[:2]  # type: ignore[index]
    firsts = [x[0] for key, x in _learnt.items() if key[:2] == here]  # type: ignore
    new = statistics.mean(firsts) if firsts else UNSURE * problem.compile_seconds
    device = sum(_learnt[key][1] if key in _learnt else new for key in keys)
    return device - _spent.get(tuple(keys), (0.0, 0.0))[0]
