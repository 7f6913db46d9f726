"""Specifications of many formulas, which are translated on all cores."""

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from jaxgames import host, limits
from jaxgames.arguments import integer, texts
from jaxgames.kept import kept
from jaxgames.limits import Bounds, limited
from jaxgames.ltl import Formula
from jaxgames.ltl._deterministic import MAX_STATES
from jaxgames.ltl._formula import as_formula
from jaxgames.synth._specification import Specification
from jaxgames.synth._worker import Asked
from jaxgames.tuning.ltl import AT_A_TIME, FORMULAS_A_PROCESS

SOON = 0.05
"""Seconds after which the limits are looked at while others work."""


@limited()
def specifications(
    formulas: Sequence[Formula | str],
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
    *,
    moore: bool = False,
    max_states: int = MAX_STATES,
    processes: int | None = None,
    **bounds: Unpack[Bounds],
) -> list[Specification]:
    """The specifications that ask for many formulas, with the same inputs and outputs.

    Formulas are translated by several processes at once, and so are their games made,
    since both are work of Python that takes most of the time. What comes is the same as
    by [`Specification.from_ltl`][jaxgames.synth.Specification.from_ltl], one by one;
    [`solve_many`][jaxgames.synth.solve_many] takes it.

    Args:
        formulas: formulas of linear temporal logic, or their texts.
        inputs: names of the propositions that the environment sets; by default those
            that are no outputs.
        outputs: those that the system sets; by default those that are no inputs.
        moore: whether the system goes first.
        max_states: how many states each automaton may have.
        processes: how many work; by default one for each core, if there are formulas
            enough. With 1 all is done in this one.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        ValueError: as `from_ltl`; the message begins with the number of the formula.

    Examples:
        >>> specifications(["G(r -> F g)", "F r"], ["r"], ["g"])
        [Specification(2 states, inputs r, outputs g),
            Specification(2 states, inputs r, outputs g)]
        >>> specifications(["G(r -> F g)", "F"], ["r"], ["g"])
        Traceback (most recent call last):
        ValueError: formula 1: column 2 of 'F': expected a formula, found the end
    """
    found = specifications_or_why(
        formulas,
        inputs,
        outputs,
        moore=moore,
        max_states=max_states,
        processes=processes,
    )
    for number, one in enumerate(found):
        if isinstance(one, ValueError):
            raise ValueError(f"formula {number}: {one}") from one
    return [one for one in found if isinstance(one, Specification)]


@limited()
def specifications_or_why(
    formulas: Sequence[Formula | str],
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
    *,
    moore: bool = False,
    max_states: int = MAX_STATES,
    processes: int | None = None,
    **bounds: Unpack[Bounds],
) -> list[Specification | ValueError]:
    """`specifications`, with what is wrong in the place of what cannot be made.

    So a formula among many that is no formula, or whose automaton is too large, keeps
    no others waiting.

    Args:
        formulas: as for [`specifications`][jaxgames.synth.specifications].
        inputs: likewise.
        outputs: likewise.
        moore: likewise.
        max_states: likewise.
        processes: likewise.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Examples:
        >>> specifications_or_why(["G(r -> F g)", "F"], ["r"], ["g"])
        [Specification(2 states, inputs r, outputs g),
            ValueError("column 2 of 'F': expected a formula, found the end")]
    """
    if isinstance(formulas, str):
        formulas = texts("formulas", formulas)
    ins = None if inputs is None else texts("inputs", inputs)
    outs = None if outputs is None else texts("outputs", outputs)
    max_states = integer("max_states", max_states, 1)  # of no formula alone
    if processes is None:
        processes = min(host.num_cores(), len(formulas) // FORMULAS_A_PROCESS)
    processes = integer("processes", processes, 0)
    if processes < 2:
        return [
            _one(formula, ins, outs, moore=moore, max_states=max_states)
            for formula in limits.ticking(formulas, "translating")
        ]
    asked = [Asked(x, ins, outs, moore, max_states) for x in formulas]
    answers = _answers(asked, processes)
    return [
        _put_together(formula, answer, moore=moore)
        for formula, answer in zip(formulas, answers, strict=True)
    ]


def _one(formula: Formula | str, *names: Any, **how: Any) -> Specification | ValueError:
    try:
        found = Specification.from_ltl(formula, *names, **how)
        found.game()
    except ValueError as error:
        return error
    return found


def _put_together(
    formula: Formula | str, answer: Any, *, moore: bool
) -> Specification | ValueError:
    if isinstance(answer, str):
        return ValueError(answer)
    automaton, controllable, parity, game = answer
    found = Specification(automaton, controllable, moore, as_formula(formula))
    kept(found, "parity", lambda: parity)
    kept(found, "game", lambda: game)
    return found


# ---- processes -------------------------------------------------------------------


def _answers(asked: list[Asked], processes: int) -> list[Any]:
    """What other processes answer."""
    found: list[Any] = [None] * len(asked)
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    for begin in range(0, len(asked), AT_A_TIME):
        todo.put(begin)
    done: queue.SimpleQueue[tuple[int, list[Any]] | Exception] = queue.SimpleQueue()

    def serve(worker: subprocess.Popen) -> None:
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            while True:
                begin = todo.get_nowait()
                part = [tuple(x) for x in asked[begin : begin + AT_A_TIME]]
                pickle.dump(part, worker.stdin)
                worker.stdin.flush()
                done.put((begin, pickle.load(worker.stdout)))
        except queue.Empty:
            return
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            done.put(error)

    with _workers(processes) as workers:
        threads = [
            threading.Thread(target=serve, args=(worker,), daemon=True)
            for worker in workers
        ]
        for thread in threads:
            thread.start()
        count = 0
        try:
            while count < len(asked):
                limits.tick("translating", count, "formulas")
                with contextlib.suppress(queue.Empty):
                    come = done.get(timeout=SOON)
                    if isinstance(come, Exception):
                        what = "a process that translates has ended"
                        raise RuntimeError(what) from come
                    begin, part = come
                    found[begin : begin + len(part)] = part
                    count += len(part)
        finally:
            # Nobody reads any more from what is closed next.
            for worker in workers:
                worker.kill()
            for thread in threads:
                thread.join()
    return found


@contextlib.contextmanager
def _workers(count: int) -> Iterator[list[subprocess.Popen]]:
    """Processes that answer; ended whatever happens."""
    root = str(Path(__file__).parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    call = "from jaxgames.synth._worker import main; main()"
    # Each is a core's: OpenBLAS would start a thread for each core in each of them.
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    workers: list[subprocess.Popen] = []
    try:
        for _ in range(count):
            workers.append(
                subprocess.Popen(
                    [sys.executable, "-c", call],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                )
            )
        yield workers
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            for stream in (worker.stdin, worker.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
