"""Differential fuzzing: all solvers on many small cases, against the references."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from jaxgames.testing._shrink import shrink
from jaxgames.testing._subject import Complaint, Subject
from jaxgames.testing._worker import Inline, Runner, StoppedError, Worker

LIMIT = 20.0
"""Seconds that a check may take for a batch, compilation apart."""

TO_SHRINK = 90.0
"""Seconds in which a case is made smaller."""

QUICKER = 3.0
"""Seconds that a case may take, or some, while one that does not end is shrunk."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """A case on which something goes wrong.

    Attributes:
        subject: the slice.
        check: name of what goes wrong.
        index: number of the case.
        case: the case, made as small as it will go.
        code: lines of Python that make it.
        complaint: what is wrong on it.
    """

    subject: str
    check: str
    index: int
    case: Any
    code: str
    complaint: str


@dataclasses.dataclass(frozen=True)
class Summary:
    """What fuzzing did.

    Attributes:
        subject: the slice.
        games: how many cases all checks have seen.
        seconds: how long it took, compilation included.
        seconds_of: the same for each check.
        failure: the first case that went wrong, or None.
        interrupted: whether somebody pressed Ctrl-C.
    """

    subject: str
    games: int
    seconds: float
    seconds_of: dict[str, float]
    failure: Failure | None = None
    interrupted: bool = False


def draw(subject: Subject, seed: int, index: int) -> Any:
    """The case of that number: each can be made without those before it."""
    rng = np.random.default_rng([seed, index])
    return subject.draw(rng, index, subject.size)


def fuzz(
    make: Callable[[], Subject],
    checks: Iterable[str] | None = None,
    *,
    games: int = 100_000,
    seconds: float | None = None,
    seed: int = 0,
    start: int = 0,
    limit: float | None = LIMIT,
    to_shrink: float = TO_SHRINK,
    progress: Callable[[int, float], None] | None = None,
) -> Summary:
    """Runs the checks of a slice on random cases until one complains.

    The case that is complained of is made smaller as long as the same check complains.

    Checks run in a process of their own. One that does not end, or kills its process,
    is complained of as well: then a new process goes on, and looks for the case.

    Args:
        make: makes the slice, such as a value of
            [`SLICES`][jaxgames.testing.SLICES]; a function of a module, since it is
            pickled.
        checks: names of checks; None for all.
        games: how many cases.
        seconds: time after which no check is begun, beside that of the first call of
            each, in which most is compiled.
        seed: of the cases; the same seed gives the same cases.
        start: number of the first case.
        limit: seconds that a check may take for the cases of a batch; tracing and
            compiling are not counted. None: checks run in this process, for as long as
            they like.
        to_shrink: seconds after which a case is not made smaller any more.
        progress: called with the cases checked and the seconds taken so far.

    Returns:
        A [`Summary`][jaxgames.testing.Summary].

    Raises:
        ValueError: no check has such a name.

    Examples:
        >>> from jaxgames.testing import SLICES, fuzz
        >>> fuzz(SLICES["scc"], ["host"], games=20, limit=None).failure
    """
    subject = make()
    names = list(subject.checks) if checks is None else list(checks)
    for name in names:
        if name not in subject.checks:
            raise ValueError(
                f"no check of {subject.name} is called {name!r}; there are: "
                f"{', '.join(subject.checks)}"
            )
    runner = Inline(make) if limit is None else Worker(make, limit)
    seconds_of = dict.fromkeys(names, 0.0)
    began, done, failure, interrupted = time.perf_counter(), 0, None, False

    begun = None  # when all checks had been called once: until then most was compiled

    def over() -> bool:
        if seconds is None or begun is None:
            return False
        return time.perf_counter() - begun >= seconds

    try:
        while done < games and failure is None and not over():
            numbers = range(start + done, start + min(done + subject.batch, games))
            cases = [draw(subject, seed, number) for number in numbers]
            for name in names:
                if over():
                    break
                check_began = time.perf_counter()
                found = _first(runner, name, cases)
                seconds_of[name] += time.perf_counter() - check_began
                if found is not None:
                    failure = _failure(
                        *(runner, subject, name, cases, found, numbers, to_shrink)
                    )
                    break
            else:
                done += len(numbers)
            begun = time.perf_counter() if begun is None else begun
            if progress is not None:
                progress(done, time.perf_counter() - began)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        runner.close()
    taken = time.perf_counter() - began
    return Summary(subject.name, done, taken, seconds_of, failure, interrupted)


Found = tuple[int, str]
"""The number of a case in a batch, and what is wrong with it."""


def _first(
    runner: Runner, name: str, cases: Sequence[Any], **limit: float
) -> Found | None:
    """The first case that a check complains of."""
    try:
        return _first_of(runner.run(name, cases, **limit))
    except StoppedError as error:
        if len(cases) == 1:
            return 0, str(error)
        said = str(error)
    for index in range(len(cases)):
        try:
            found = _first_of(runner.run(name, cases[index : index + 1], **limit))
        except StoppedError as error:
            return index, str(error)
        if found is not None:
            return index, found[1]
    return 0, f"only with other games beside it: {said}"


def _first_of(complaints: Sequence[Complaint]) -> Found | None:
    found = ((i, said) for i, said in enumerate(complaints) if said is not None)
    return next(found, None)


def _failure(
    runner: Runner,
    subject: Subject,
    name: str,
    cases: Sequence[Any],
    found: Found,
    numbers: range,
    to_shrink: float,
) -> Failure:
    """The case that is complained of, made smaller."""
    index, said = found
    until = time.perf_counter() + to_shrink
    ends = "did not end" not in said
    # One that does not end is waited for again at each step.
    limit = {} if ends or isinstance(runner, Inline) else {"limit": QUICKER}

    def over() -> bool:
        return time.perf_counter() > until

    def fails(smaller: Sequence[Any]) -> int | None:
        nonlocal said
        width = subject.batch if ends else 1
        for at in range(0, len(smaller), width):
            if over():
                break
            found = _first(runner, name, smaller[at : at + width], **limit)
            if found is not None and not found[1].startswith("only with other games"):
                said = found[1]
                return at + found[0]
        return None

    case = cases[index]
    if not said.startswith("only with other games"):
        case = shrink(case, subject.smaller, fails, over=over)
    code = subject.show(case)
    return Failure(subject.name, name, numbers[index], case, code, said)
