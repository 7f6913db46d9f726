"""Freezes the answers to some hundred inputs of all slices, and shows how they differ.

    python -m tests.freeze [GROUP ...]            # writes tests/frozen.json anew
    python -m tests.freeze --show GROUP INPUT     # prints answers in full

Answers of few numbers are kept as they are, longer ones as digests. What is kept does
not depend on types: an int8 says what an int64 of the same numbers does.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.frozen_answers import GROUPS, Answer, Answers

FILE = Path(__file__).with_name("frozen.json")

SHORT = 60
"""Characters of an answer that is kept as it is."""

Kept = Mapping[str, Mapping[str, str]]
"""For each input what was answered: by the name of the answer and the solvers."""


def in_full(answer: Answer) -> str:
    """An answer as text, whatever type its numbers have."""
    if isinstance(answer, str):
        return answer
    array = np.asarray(answer)
    if array.dtype.kind not in "biu" and array.dtype != object:
        raise ValueError(f"only integers and booleans are frozen, got {array.dtype}")
    numbers = " ".join(str(int(x)) for x in array.ravel().tolist())
    return numbers if array.ndim <= 1 else f"{list(array.shape)}: {numbers}"


def kept(answer: Answer) -> str:
    """What is kept of an answer: itself, or its digest."""
    text = in_full(answer)
    if len(text) <= SHORT:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"sha256 {digest[:32]} of {len(text.split())} words"


def flat(answers: Answers) -> dict[str, str]:
    """What is kept of all answers to an input."""
    return {
        of_solver(name, solver): kept(answer)
        for (name, solver), answer in answers.items()
    }


def of_solver(answer: str, solver: str) -> str:
    """What an answer is called; several solvers are parted by commas."""
    return f"{answer} by {solver}" if solver else answer


def answered(group: str) -> dict[str, dict[str, str]]:
    """What the code at hand answers."""
    return {name: flat(answers) for name, answers in GROUPS[group]()}


def differences(group: str, old: Kept, new: Kept) -> list[str]:
    """What is not as it was: which input, which answer, and both."""
    found = []
    for name in {**old, **new}:
        was, now = old.get(name, {}), new.get(name, {})
        for answer in {**was, **now}:
            before, after = was.get(answer, "nothing"), now.get(answer, "nothing")
            if before != after:
                found.append(
                    f"{group}, {name}: {answer}\n    was {before}\n    is  {after}"
                )
    return found


def advice(group: str, found: Sequence[str]) -> str:
    """The differences, and what to do about them."""
    name = found[0].partition(": ")[0].removeprefix(f"{group}, ")
    return "\n".join(
        [
            f"{len(found)} answers are not what they were:",
            *found[:20],
            *(["..."] if len(found) > 20 else []),
            "Where 'input: ...' differs, the input does, and answers may. To see the "
            "whole answers run this here and at the commit before, and compare:",
            f'    python -m tests.freeze --show "{group}" "{name}"',
            "If they are to be so, say why in the commit, and freeze them anew:",
            f'    python -m tests.freeze "{group}"',
        ]
    )


# ---- the file --------------------------------------------------------------------


def read() -> dict[str, dict[str, dict[str, str]]]:
    """All that is kept, by group and input."""
    return {
        group: {
            name: {
                of_solver(asked, solver): text
                for key, text in entries.items()
                for asked, _, solvers in [key.partition(" by ")]
                for solver in solvers.split(", ")
            }
            for name, entries in inputs.items()
        }
        for group, inputs in json.loads(FILE.read_text()).items()
    }


def write(everything: Mapping[str, Kept]) -> None:
    """Writes the file; what solvers agree on is a line."""
    packed: dict[str, Any] = {}
    for group, inputs in everything.items():
        for name, answers in inputs.items():
            rows: dict[tuple[str, str], list[str]] = {}
            for answer, text in answers.items():
                asked, _, solver = answer.partition(" by ")
                rows.setdefault((asked, text), []).append(solver)
            packed.setdefault(group, {})[name] = {
                of_solver(asked, ", ".join(solvers)): text
                for (asked, text), solvers in rows.items()
            }
    text = json.dumps(packed, indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.freeze")
    parser.add_argument("group", nargs="*", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--show", nargs=2, metavar=("GROUP", "INPUT"))
    args = parser.parse_args(argv)
    for group in [*args.group, *(args.show or [])[:1]]:
        if group not in GROUPS:
            parser.error(f"no group {group!r}; there are {', '.join(GROUPS)}")
    if args.show:
        group, wanted = args.show
        for name, answers in GROUPS[group]():
            if name == wanted:
                for (answer, solver), value in answers.items():
                    print(f"{of_solver(answer, solver)}: {in_full(value)}")
        return 0
    old = read() if FILE.exists() else {}
    for group in args.group or GROUPS:
        new = answered(group)
        changed = differences(group, old.get(group, {}), new)
        print(f"{group}: {len(new)} inputs, {len(changed)} answers changed", flush=True)
        old[group] = new
    write({group: old[group] for group in GROUPS if group in old})
    return 0


if __name__ == "__main__":
    sys.exit(main())
