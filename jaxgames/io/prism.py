"""Markov decision processes as PRISM's explicit files: `.tra`, `.lab` and `.sta`.

The transitions are a table. PRISM starts it with the numbers of states, choices and
transitions; then come the state, the number of the choice among the state's, the
target, the probability and perhaps the action:

    2 3 4
    0 0 0 0.5
    0 0 1 0.5
    0 1 1 1 go
    1 0 1 1

A Markov chain has no choices: its header is `states transitions`, its lines leave the
choice out. Storm's header is the word `mdp` or `dtmc`, and the size is what occurs.

Beside it, in a file with the suffix `.lab`, lie the labels of the states; those with
the label `init` are the initial ones. PRISM declares names by numbers, Storm by a list:

    0="init" 1="deadlock"          #DECLARATION
    0: 0                           init deadlock
    1: 1                           #END
                                   0 init
                                   1 deadlock

In a third, with the suffix `.sta`, PRISM lists the values of variables in each state,
which [`valuations`][jaxgames.io.prism.valuations] reads.

What is kept: branches, probabilities, actions, labels. Rewards are in other files
(`.srew`, `.trew`), which are not read.

References:
    PRISM manual, appendix *Explicit Model Files*.
    http://www.prismmodelchecker.org/manual/Appendices/ExplicitModelFiles
"""

import re
from typing import Literal

import numpy as np

from jaxgames.io import _lines, _models
from jaxgames.io._files import FilePath, FormatError
from jaxgames.io._prism_states import beside, load_labels, save_labels, state_lines
from jaxgames.io._prism_table import Table, read
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted

HOLDS = MDP
"""What `load` returns and `save` takes."""


def load(path: FilePath) -> MDP:
    r"""Reads a model, with its labels if there is a `.lab` file beside it.

    Args:
        path: the `.tra` file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        The model; `initial` and `labels` are None where there are no labels.

    Raises:
        FormatError: a file does not hold what it should.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.tra")
        >>> _ = path.write_text("mdp\n0 0 0 0.5\n0 0 1 0.5\n0 1 1 1\n1 0 1 1\n")
        >>> load(path)
        MDP(2 states, 3 choices, 4 branches)
    """
    table = read(path).in_order()
    first, size = table.first_of_choices(), _num_states(path, table)
    table.check(path, first)
    labels, initial = load_labels(path, size)
    names = [[name] if name else [] for name in table.names]
    return _models.build(
        path,
        _models.offsets(table.state[first], size),
        np.append(first, len(table.state)).astype(np.int32),
        table.target,
        table.probs,
        table.line,
        initial=initial,
        labels=labels,
        choice_labels=_models.named_sets(table.action[first], names) or None,
    )


def save(
    path: FilePath, model: MDP, *, style: Literal["prism", "storm"] = "prism"
) -> None:
    """Writes a model, and its labels to a `.lab` file beside it; padding is left out.

    Args:
        path: the `.tra` file, replaced when all is written; compressed if it ends in
            `.gz`, `.bz2` or `.xz`, and the labels with it.
        model: what to write; its rewards are left out.
        style: whose header and whose labels.

    Raises:
        ValueError: the model has no probabilities, a choice has several labels, or a
            name has blanks or quotes.
        OSError: a file cannot be written.
    """
    if style not in ("prism", "storm"):
        raise ValueError(f"style must be 'prism' or 'storm', got {style!r}")
    model = _models.without_padding(model)
    _models.check_probabilities(model, ".tra")
    action, names = _models.actions(model, ".tra")
    _models.check_names(names[1:], ".tra", "")
    _models.check_names(model.labels or (), ".lab", '"')
    degree, width = np.diff(model.row_group_offsets), np.diff(model.row_offsets)
    owner = np.repeat(np.arange(model.num_states), degree)
    place = np.arange(model.num_choices) - model.row_group_offsets[owner]
    of = np.repeat(np.arange(model.num_choices), width)
    sizes = f"{model.num_states} {model.num_choices} {model.num_branches}"
    marks = np.array([f" {name}".rstrip() for name in names]).astype("S")
    save_labels(path, model, style)
    _lines.write(
        path,
        f"{'mdp' if style == 'storm' else sizes}\n",
        _lines.decimals(owner[of]),
        b" ",
        _lines.decimals(place[of]),
        b" ",
        _lines.decimals(model.columns),
        b" ",
        _lines.reals(model.probs),
        marks[action[of]],
        b"\n",
    )


def valuations(path: FilePath) -> dict[str, np.ndarray]:
    r"""Reads the values of PRISM's variables in each state.

    Args:
        path: the `.sta` file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        For each variable an array `[S]`, int64 or bool.

    Raises:
        FormatError: the file is something else.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.sta")
        >>> _ = path.write_text("(x,done)\n0:(3,false)\n1:(-1,true)\n")
        >>> valuations(path)
        {'x': array([ 3, -1]), 'done': array([False,  True])}
    """
    names, rows = state_lines(path)
    values = {"true": True, "false": False}
    table = []
    for number, row in rows:
        words = row.split(",")
        try:
            table.append([values[w] if w in values else _integer(w) for w in words])
        except ValueError:
            raise FormatError(
                path, number, f"expected integers, true or false, found {quoted(row)}"
            ) from None
    return {name: np.array([row[k] for row in table]) for k, name in enumerate(names)}


def _integer(word: str) -> int:
    """An integer of 64 bits; ValueError for another word."""
    if not re.fullmatch("[+-]?[0-9]{1,30}", word) or not -(2**63) <= int(word) < 2**63:
        raise ValueError(word)
    return int(word)


def _num_states(path: FilePath, table: Table) -> int:
    """How many states there are: as the header or the states' file says, or occur."""
    occur = 1 + int(max(table.state.max(initial=-1), table.target.max(initial=-1)))
    size, states = table.num_states, beside(path, ".sta")
    if size is None and states is not None:
        size = len(state_lines(states)[1])
    if size is not None and occur > size:
        raise FormatError(
            path, None, f"state {occur - 1} is beyond the last, {size - 1}"
        )
    return occur if size is None else size
