"""How a command ends: exit codes, and complaints."""

import enum
import sys


class Exit(enum.IntEnum):
    """Exit codes."""

    DONE = 0
    WRONG = 1
    BAD_INPUT = 2
    UNVERIFIED = 3
    UNSOLVED = 4
    NOT_WRITTEN = 5
    INTERNAL = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141

    @property
    def meaning(self) -> str:
        """What it tells a script."""
        return _MEANINGS[self]


_MEANINGS = {
    Exit.DONE: "done: solved, the solution is right, or the property holds",
    Exit.WRONG: "no: a wrong solution, a violated property, or too little energy",
    Exit.BAD_INPUT: "bad input or usage",
    Exit.UNVERIFIED: "--verify: the answer is wrong (an error of the solver)",
    Exit.UNSOLVED: "not solved: the time, step or memory limit was reached",
    Exit.NOT_WRITTEN: "an output could not be written, such as on a full disk",
    Exit.INTERNAL: "an error of this program",
    Exit.INTERRUPTED: "interrupted",
    Exit.BROKEN_PIPE: "nobody reads the output any more",
}


def complain(message: str) -> None:
    """Prints one line on standard error, if there is one."""
    if sys.stderr is None:
        return  # where print would take standard output
    print("jaxgames:", " ".join(message.split()), file=sys.stderr)
