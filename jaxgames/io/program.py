"""Models in PRISM's language: `.prism`, and by their kind `.pm`, `.nm` and `.sm`.

    dtmc
    const int N = 4;
    module walk
      x : [0..N] init 1;
      [] 0<x & x<N -> 1/2 : (x'=x-1) + 1/2 : (x'=x+1);
    endmodule
    label "won" = x=N;

Reading builds the model: it finds all states that can be reached, as
[`Program.build`][jaxgames.mdp.Program.build] does. What is written is a program of one
module with one variable, the number of the state.

References:
    The PRISM manual, *The PRISM Language*, https://www.prismmodelchecker.org/manual/.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxgames.io import _models
from jaxgames.io._files import FilePath, FormatError, writing
from jaxgames.io._tokens import read_text
from jaxgames.mdp import MDP, Program, ProgramError
from jaxgames.quoting import quoted

HOLDS = MDP
"""What `load` returns and `save` takes."""


def read(path: FilePath) -> Program:
    """Reads a program, and builds nothing.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Raises:
        FormatError: the file is something else, or has what is not read; tells the line
            and the column.
        OSError: the file cannot be read.
    """
    try:
        return Program.from_text(read_text(path))
    except ProgramError as error:
        raise told(path, error) from None


def load(path: FilePath, *, constants: Mapping[str, Any] | None = None) -> MDP:
    """Reads a program, and builds its model.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.
        constants: numbers or truth values by name, for the constants that the program
            leaves open.

    Raises:
        FormatError: the file is something else, or has what is not read, or an update
            leads out of range, and so on; tells the line and the column.
        ValueError: a constant is not there, or has a value already.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "coin.pm")
        >>> _ = path.write_text(
        ...     "dtmc module coin x:[0..2]; [] x=0 -> 1/2:(x'=1) + 1/2:(x'=2); "
        ...     "[] x>0 -> true; endmodule"
        ... )
        >>> load(path)
        MDP(3 states, 3 choices, 4 branches)
    """
    program = read(path)
    try:
        return program.build(constants=constants)
    except ProgramError as error:
        raise told(path, error) from None


def told(path: FilePath, error: ProgramError) -> FormatError:
    """What is wrong with a program, as it is said of a file."""
    line, column = error.place
    return FormatError(path, line, f"column {column}: {error.message}")


def save(path: FilePath, model: MDP) -> None:
    """Writes a model as a program of one module, whose variable `state` is the state.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        model: the model, which has probabilities and an initial state. Only what can be
            reached from there is read again.

    Raises:
        ValueError: it has none, or a label is no name, or a choice has several.
        OSError: the file cannot be written.

    Warns:
        UserWarning: something is left out: variables, and rewards of branches.
    """
    model = _models.without_padding(model)
    _models.check_probabilities(model, ".prism")
    if not model.num_states:
        raise ValueError("a program has a state at least, this model has none")
    left_out = [f"variable {quoted(x)}" for x in model.valuations or {}]
    left_out += [f"rewards {quoted(x)} of branches" for x in model.branch_rewards or {}]
    _models.say_left_out(path, left_out, ".prism cannot hold it; .umb can")
    chain = bool((np.diff(model.row_group_offsets) == 1).all())
    action, names = _models.actions(model, ".prism")
    _models.check_names(names[1:], ".prism", "")
    _models.check_quotable(model.labels or {}, ".prism")
    with writing(path) as file:
        for line in _lines(model, chain, action, names):
            file.write(f"{line}\n".encode())


def _lines(model: MDP, chain: bool, action: np.ndarray, names: list[str]):
    size = model.num_states
    initial = np.zeros(1, int) if model.initial is None else model.initial
    timed = model.exit_rates is not None
    yield "ctmc" if timed else "dtmc" if chain else "mdp"
    yield "module model"
    start = f" init {initial[0]}" if len(initial) == 1 else ""
    yield f"  state : [0..{size - 1}]{start};"
    owner, _, _ = _models.places(model)
    assert model.probs is not None
    weight = model.probs
    if timed:
        source = np.repeat(np.arange(size), np.diff(model.row_offsets))
        weight = weight * model.exit_rates[source]
    for choice in range(model.num_choices):
        begin, end = model.row_offsets[choice : choice + 2]
        branches = " + ".join(
            f"{weight[i].item()!r}:(state'={model.columns[i]})"
            for i in range(begin, end)
        )
        name = names[action[choice]]
        yield f"  [{name}] state={owner[choice]} -> {branches};"
    yield "endmodule"
    if len(initial) != 1:
        yield f"init {_one_of(initial)} endinit"
    for name, members in (model.labels or {}).items():
        if name not in ("init", "deadlock"):
            yield f'label "{name}" = {_one_of(np.flatnonzero(members))};'
    for name in {**(model.state_rewards or {}), **(model.choice_rewards or {})}:
        yield f'rewards "{name}"' if name else "rewards"
        earned = (model.state_rewards or {}).get(name)
        if earned is not None:
            for state in np.flatnonzero(earned):
                yield f"  state={state} : {earned[state].item()!r};"
        yield from _of_choices(model, name, action, names, owner)
        yield "endrewards"


def _of_choices(model: MDP, name: str, action, names: list[str], owner):
    """What choices earn: in a state, those of one action earn the same."""
    earned = (model.choice_rewards or {}).get(name)
    if earned is None:
        return
    key = owner.astype(np.int64) * len(names) + action
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    differs = same & (earned[order][1:] != earned[order][:-1])
    if differs.any():
        choice = order[1:][np.argmax(differs)]
        raise ValueError(
            f"choices of state {owner[choice]} earn different rewards {quoted(name)}, "
            "and have no action that tells them apart: .prism cannot hold that; .umb "
            "can"
        )
    for choice in order[np.append(True, ~same)]:
        if earned[choice]:
            worth = earned[choice].item()
            yield f"  [{names[action[choice]]}] state={owner[choice]} : {worth!r};"


def _one_of(states: np.ndarray) -> str:
    """A condition that holds in some states."""
    if not len(states):
        return "false"
    breaks = np.flatnonzero(np.diff(states) > 1)
    begins = np.append(states[0], states[breaks + 1])
    ends = np.append(states[breaks], states[-1])
    parts = [
        f"state={a}" if a == b else f"(state>={a} & state<={b})"
        for a, b in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
    return " | ".join(parts)
