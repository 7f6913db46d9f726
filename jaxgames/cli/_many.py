"""Commands that are given several files: what was found of each, a line for each."""

import argparse
import gc
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from jaxgames import limits
from jaxgames.cli import _outputs, _report
from jaxgames.cli._exit import Exit, complain, diagnose
from jaxgames.io._files import COMPRESSIONS
from jaxgames.io._formats import FORMATS, suffix_of
from jaxgames.solution import SolveError, Status

WORST_FIRST = (
    Exit.INTERRUPTED,
    Exit.INTERNAL,
    Exit.UNVERIFIED,
    Exit.NOT_WRITTEN,
    Exit.BAD_INPUT,
    Exit.UNSOLVED,
    Exit.WRONG,
    Exit.UNREALIZABLE,
    Exit.REALIZABLE,
    Exit.DONE,
)
"""Exit codes of single files: that of the command is the first of these that occurs."""

OBJECTS = 400_000
"""How many more there are before cycles among them are looked for."""

Work = Callable[[], Exit]
"""What is done for a file: it prints what was found, and returns an exit code."""

Each = Callable[
    [Iterable[argparse.Namespace]], Iterator[tuple[argparse.Namespace, Work]]
]
"""What is done for each of some files, in their order, given the arguments for each.

That may be several things for a file.
"""


def run(args: argparse.Namespace) -> Exit:
    """Runs a command for each of its files.

    What is done is printed at once, and no file's content is kept longer than that.
    """
    _check(args)
    names = _names(args)
    # Most of what is made for a file goes with it, in no cycle: a tenth of the time.
    gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
    pairs = enumerate(zip(args.files, names, strict=True))
    singles = (_of_one(args, place, *pair) for place, pair in pairs)
    each: Each = getattr(args, "each", lambda some: _each(args.run, some))
    codes, around = set(), limits.current()
    assert around is not None  # every command has its limits
    end, seconds, memory = around.end, around.seconds, around.memory
    done: set[int] = set()
    try:
        for one, work in each(singles):
            done.discard(one.place)  # of which there is more to do
            code = _done(one, work)
            if code == Exit.INTERRUPTED:
                raise KeyboardInterrupt
            codes.add(code)
            done.add(one.place)
            # Who tells of an early end lifts the limits; they are those of all files.
            around.end, around.seconds, around.memory = end, seconds, memory
    except KeyboardInterrupt:
        around.lift()
        complain(f"interrupted: {len(done):,} of {len(args.files):,} files are done")
        return Exit.INTERRUPTED
    return next(code for code in WORST_FIRST if code in codes)


def _each(
    command: Callable[[argparse.Namespace], Exit], some: Iterable[argparse.Namespace]
) -> Iterator[tuple[argparse.Namespace, Work]]:
    """Files one after the other."""
    for one in some:
        yield one, lambda one=one: command(one)


def _done(one: argparse.Namespace, work: Work) -> Exit:
    """Does what is to be done for a file; of what fails, it tells."""
    try:
        limits.tick("reading")
        return work()
    except Exception as error:
        if isinstance(error, BrokenPipeError):
            raise
        if isinstance(error, SolveError):
            if error.status == Status.INTERRUPTED:
                return Exit.INTERRUPTED
            code, message = Exit.UNSOLVED, f"not done: {error}"
            if error.status == Status.TIMEOUT:
                message = f"not done: the limit of {one.timeout or 0:g} s was reached"
        else:
            code, message = diagnose(error)
            message = message.removeprefix(f"{one.file}: ")
        if one.json:
            _report.show_error(one, code, error, message)
        is_named = message.startswith(f"{one.file}:")  # with a line
        complain(message if is_named else f"{one.file}: {message}")
        return code


def _check(args: argparse.Namespace) -> None:
    if getattr(args, "json", False) and not args.jsonl:
        raise ValueError("--json is for one answer; --jsonl prints a line for each")
    for name in ("dot", "draw", "checkpoint"):
        if getattr(args, name, None):
            taken = "; --resume takes no name of a file" * getattr(
                args, "resume", False
            )
            raise ValueError(
                f"--{name} is for one answer, and there are several{taken}"
            )
    if hasattr(args, "check"):
        # Files that are written are looked at later, each by its name.
        nowhere = {getattr(args, "beside", ("",))[0]: None}
        args.check(argparse.Namespace(**{**vars(args), **nowhere}))


def _of_one(
    args: argparse.Namespace, place: int, file: str, other: str | None
) -> argparse.Namespace:
    """The arguments of the command for one of its files."""
    single = {"place": place, "file": file, "json": args.jsonl, "brief": True}
    if other is not None:
        single[args.beside[0]] = other
    return argparse.Namespace(**{**vars(args), **single})


# ---- a file beside each file ---------------------------------------------------


def _names(args: argparse.Namespace) -> list[str | None]:
    """For each file the one that is written or read with it, if there is one."""
    option, suffix = getattr(args, "beside", ("", ""))
    folder = getattr(args, option, None)
    if not folder:
        return [None] * len(args.files)
    if len(args.files) == 1 and not is_folder(folder):
        return [folder]
    is_output = option != "solution"
    word = {"solution": "ANSWER", "output": "-o"}.get(option, f"--{option}")
    if not is_folder(folder):
        raise ValueError(
            f"{word} {folder}: for several files it names a folder, as in {folder}/"
        )
    found = [within(folder, file, suffix) for file in args.files]
    if is_output:
        os.makedirs(folder, exist_ok=True)
        _outputs.check_all(args, word, found)
    return list(found)


def is_folder(path: str) -> bool:
    """Whether an output names a folder: one that is there, or by a slash."""
    return path.endswith(("/", os.sep)) or os.path.isdir(path)


def within(folder: str, file: str, suffix: str) -> str:
    """The file in a folder that belongs to another file: of its name, but the suffix.

    Examples:
        >>> within("solutions", "corpus/vb143.pg.gz", ".sol")
        'solutions/vb143.sol'
    """
    path = Path(file)
    if path.suffix.lower() in COMPRESSIONS:
        path = path.with_suffix("")
    if suffix_of(path) in FORMATS:
        path = path.with_suffix("")
    return os.path.join(folder, path.name + suffix)
