"""Schedulers of Markov decision processes as text: `.txt`.

    # step state choice names; 2 steps
    0 0 1 (x=0) go
    1 0 0 (x=0) wait
    1 3 0 (x=3)

Each line is a choice: after how many steps, in which state, and which of its choices,
all counted from 0; then the state's variables or labels, and the choice's labels, which
are not read. In states that have no line nothing is chosen. A memoryless scheduler has
no steps. This is what `jaxgames mdp --scheduler` writes.
"""

import re

import numpy as np

from jaxgames import limits
from jaxgames.io._files import FilePath, FormatError, writing
from jaxgames.io._tokens import read_text
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted

HEADING = "# state choice names"
STEPPED = re.compile(r"# step state choice names; (\d{1,9}) steps?")


def save(scheduler: np.ndarray, path: FilePath, model: MDP) -> None:
    """Writes a scheduler.

    Args:
        scheduler: integers `[S]`, a choice of the model for each state, or `[k, S]`,
            for each step and state; -1 where nothing is chosen.
        path: the file; compressed if it ends in `.gz`, `.bz2` or `.xz`.
        model: what it is a scheduler of.

    Raises:
        OSError: the file cannot be written.
    """
    first = np.asarray(model.row_group_offsets)
    labels = model.choice_labels or {}
    heading = HEADING
    if scheduler.ndim == 2:
        many = len(scheduler)
        heading = f"# step state choice names; {many} step{'s' * (many != 1)}"
    with writing(path) as file:
        file.write(f"{heading}\n".encode())
        for step, row in enumerate(np.atleast_2d(scheduler)):
            for state in np.flatnonzero(row >= 0).tolist():
                choice = int(row[state])
                words = [f"{step}"] if scheduler.ndim == 2 else []
                words += [f"{state}", f"{choice - first[state]}"]
                words.append(state_name(model, state))
                words += [name for name, mask in labels.items() if mask[choice]]
                file.write(f"{' '.join(words)}\n".encode())


def load(path: FilePath, model: MDP) -> np.ndarray:
    """Reads a scheduler.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.
        model: what it is a scheduler of.

    Returns:
        int32 `[S]`, or `[k, S]` where it looks at a clock: the number of a choice of
        the model for each state, -1 where there is none. `mdp.simulate` and
        `mdp.verify_values` take either.

    Raises:
        FormatError: the file is something else, or has a choice that the model has not;
            tells the line.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> from jaxgames import mdp
        >>> model = mdp.MDP.from_arrays([0, 2, 3], [0, 1, 2, 3], [0, 1, 1])
        >>> path = pathlib.Path(tempfile.mkdtemp(), "go.txt")
        >>> save(np.array([[0, 2], [1, -1]]), path, model)
        >>> print(path.read_text(), end="")
        # step state choice names; 2 steps
        0 0 0 ()
        0 1 0 ()
        1 0 1 ()
        >>> load(path, model).tolist()
        [[0, 2], [1, -1]]
    """
    lines = read_text(path).splitlines()
    stepped = STEPPED.fullmatch(lines[0]) if lines else None
    if not lines or (stepped is None and lines[0] != HEADING):
        raise FormatError(
            path,
            1,
            f"expected {quoted(HEADING)}, or '# step state choice names; 5 steps', as "
            "jaxgames mdp --scheduler writes",
        )
    first = np.asarray(model.row_group_offsets)
    many = int(stepped[1]) if stepped else 1
    limits.check_room(many * model.num_states * 4, "a scheduler")
    found = np.full((many, model.num_states), -1, np.int32)
    ranges = ("step", many), ("state", model.num_states)
    ranges = ranges if stepped else ranges[1:]
    for number, line in enumerate(limits.ticking(lines[1:], "reading"), 2):
        words = line.split()[: len(ranges) + 1]
        if len(words) <= len(ranges) or not all(map(str.isdecimal, words)):
            names = " ".join(name for name, _ in ranges)
            raise FormatError(
                path, number, f"expected {names} choice, found {quoted(line)}"
            )
        *at, choice = map(int, words)
        for (name, count), value in zip(ranges, at, strict=True):
            if value >= count:
                raise FormatError(
                    path, number, f"{name} {value} is too large: there are {count}"
                )
        row, state = at if stepped else (0, *at)
        own = int(first[state + 1] - first[state])
        if choice >= own:
            raise FormatError(
                path,
                number,
                f"choice {choice} is too large: state {state} of the model has {own}",
            )
        found[row, state] = first[state] + choice
    return found if stepped else found[0]


def state_name(model: MDP, state: int) -> str:
    """The values of the variables in a state, or its labels where there are none."""
    if model.valuations:
        pairs = (f"{k}={v[state].item()}" for k, v in model.valuations.items())
        return f"({','.join(pairs)})".replace("True", "true").replace("False", "false")
    names = [name for name, mask in (model.labels or {}).items() if mask[state]]
    return f"({','.join(names)})"
