"""How a command ends: exit codes, and complaints."""

import enum
import errno
import os
import re
import sys


class Exit(enum.IntEnum):
    """Exit codes."""

    DONE = 0
    WRONG = 1
    BAD_INPUT = 2
    UNVERIFIED = 3
    UNSOLVED = 4
    NOT_WRITTEN = 5
    REALIZABLE = 10
    UNREALIZABLE = 20
    INTERNAL = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141

    @property
    def meaning(self) -> str:
        """What it tells a script."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.DONE: "done: solved, the solution is right, or the property holds",
    Exit.WRONG: "no: a wrong answer, a violated property, too little energy, or a "
    "target out of reach",
    Exit.BAD_INPUT: "bad input or usage",
    Exit.UNVERIFIED: "--verify: the answer is wrong (a bug in the solver)",
    Exit.UNSOLVED: "not solved: the time, step or memory limit was reached",
    Exit.NOT_WRITTEN: "an output could not be written, such as on a full disk",
    Exit.REALIZABLE: "synth: there is a controller",
    Exit.UNREALIZABLE: "synth: there is none",
    Exit.INTERNAL: "a bug in this program",
    Exit.INTERRUPTED: "interrupted",
    Exit.BROKEN_PIPE: "the output was closed before all of it was printed",
}


def complain(message: str) -> None:
    """Prints one line on standard error, if there is one."""
    if sys.stderr is None:
        return  # where print would take standard output
    print("jaxgames:", " ".join(message.split()), file=sys.stderr)


def diagnose(error: BaseException) -> tuple[Exit, str]:
    """The exit code of an exception, and what to say on one line."""
    message = str(error) or type(error).__name__
    if isinstance(error, KeyboardInterrupt):
        return Exit.INTERRUPTED, "interrupted"
    if isinstance(error, BrokenPipeError):
        return Exit.BROKEN_PIPE, message
    if isinstance(error, OSError) and _is_of_output(error):
        return Exit.NOT_WRITTEN, f"{error.filename or 'standard output'}: not " + (
            f"written: {error.strerror}"
        )
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in message:
        return Exit.UNSOLVED, f"out of memory: {message}"
    if isinstance(error, OSError) and error.strerror:
        if error.filename == "":
            return Exit.BAD_INPUT, "a file needs a name: found an empty one"
        file = "" if error.filename is None else f"{os.fspath(error.filename)}: "
        return Exit.BAD_INPUT, file + error.strerror
    if isinstance(error, (ValueError, OSError, ImportError)):
        return Exit.BAD_INPUT, with_options(message)
    name = type(error).__name__
    return Exit.INTERNAL, f"internal error, {name}: {message} (--traceback tells where)"


def with_options(message: str) -> str:
    """Names options where a function told its caller in Python what to pass."""
    message = message.replace("dead_ends='lose'", "--dead-ends lose")
    message = message.replace(
        "read them with hoa.load_all", "expected one in each file"
    )
    message = re.sub(r"pass format=(?:'(\w+)')?", r"pass --format \1", message)
    message = re.sub(
        r"pass limits=io\.Limits\(memory=([^()]*)\)", r"pass --memory \1", message
    )
    message = message.replace("pass limits=", "in Python pass limits=")
    message = message.replace(
        "pass constants=", "mdp, info and convert take --const NAME=VALUE"
    )
    message = message.replace(" Pass throw=False to get these.", "")
    message = message.replace("more than max_states=", "more than --max-states ")
    return message.replace("--format ,", "--format,")


def _is_of_output(error: OSError) -> bool:
    """Whether it comes from writing: what `print` raises names no file."""
    from jaxgames.io._files import OutputError  # help need not wait for it

    return isinstance(error, OutputError) or (
        error.filename is None and is_of_writing(error)
    )


def is_of_writing(error: OSError) -> bool:
    """Whether there is no room for what is written, or nothing to write to."""
    nowhere = errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF
    return error.errno in nowhere
