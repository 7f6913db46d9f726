"""Models that are Python files: a transition function, and what belongs to it."""

import contextlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from jaxgames import systems
from jaxgames.io._errors import FormatError
from jaxgames.quoting import guess, quoted

SYNTAX = "FILE.py:FUNCTION"
"""How a model is named."""


def is_named_by(text: str) -> bool:
    """Whether a model is named, and not a file of another format.

    Examples:
        >>> is_named_by("models/lock.py:successors"), is_named_by("lock.kripke")
        (True, False)
    """
    path, colon, function = text.rpartition(":")
    return bool(colon) and path.endswith(".py") and function.isidentifier()


def explore(
    name: str, initial: list[list[int]] | None = None, max_states: int | None = None
) -> systems.Explored:
    """The system that a function in a Python file describes.

    The file may say more of it: `initial`, states as for
    [`systems.explore`][jaxgames.systems.explore]; `ranges`; `components`, the names of
    what makes up a state; and `propositions`, functions by name.

    Args:
        name: the file and the function, `lock.py:successors`.
        initial: the initial states; None for those that the file names.
        max_states: states at most; None for no limit.

    Raises:
        FormatError: the file is no Python, there is no such function, or it fails; it
            tells the line where.
        OSError: the file cannot be read.
        SolveError: the search ended early.
    """
    path, _, function = name.rpartition(":")
    if not is_named_by(name):
        raise ValueError(f"expected a model as {SYNTAX}, got {quoted(name)}")
    module = _module(path)
    successors = getattr(module, function, None)
    if successors is None:
        meant = guess(function, [x for x in vars(module) if x[:1] != "_"])
        raise FormatError(path, None, f"there is no function {quoted(function)}{meant}")
    starts = getattr(module, "initial", None) if initial is None else initial
    if starts is None:
        raise FormatError(
            path, None, "no initial states: assign some to `initial`, or name them"
        )
    more = {} if max_states is None else {"max_states": max_states}
    with _told(path):
        return systems.explore(
            successors,
            starts,
            propositions=getattr(module, "propositions", None),
            components=getattr(module, "components", None),
            ranges=getattr(module, "ranges", None),
            **more,
        )


def _module(path: str) -> ModuleType:
    """The file, run as a module; what lies beside it can be imported by it."""
    with open(path, "rb"):  # a file that is not there is an error of its own
        pass
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        with _told(path):
            spec.loader.exec_module(module)
    finally:
        del sys.path[0]
    return module


@contextlib.contextmanager
def _told(path: str) -> Iterator[None]:
    """Says where in the file something failed."""
    try:
        yield
    except SyntaxError as error:
        # Python names no file where it finds bytes that no text has.
        if error.filename is not None and not _is_same(error.filename, path):
            raise
        why = f"this is not Python: {error.msg}"
        raise FormatError(path, error.lineno, why) from error
    except Exception as error:
        line = _line(error, path)
        said = f"{type(error).__name__}: {error}"
        if line is None:
            if not isinstance(error, ValueError):
                raise
            said = str(error)  # of what the function has returned
        raise FormatError(path, line, said) from error


def _line(error: BaseException, path: str) -> int | None:
    """The line of a file in which something failed, the innermost one."""
    frames: Any = traceback.walk_tb(error.__traceback__)
    found = [n for frame, n in frames if _is_same(frame.f_code.co_filename, path)]
    return found[-1] if found else None


def _is_same(one: str | None, other: str) -> bool:
    return one is not None and os.path.abspath(one) == os.path.abspath(other)
