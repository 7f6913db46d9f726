"""Markov decision processes as Storm's text, the direct encoding DRN.

    @type: MDP
    @reward_models
    steps
    @nr_states
    2
    @nr_choices
    3
    @model
    state 0 [0] init
        action go [1]
            0 : 0.5
            1 : 0.5
        action stay [0]
            0 : 1
    state 1 [0] done
        action __NOLABEL__ [0]
            1 : 1

States come in order. A state may have rewards, one for each reward model, and labels,
of which `init` marks the initial ones; a choice has a label (none if it is
`__NOLABEL__` or a number), rewards, and its branches with their probabilities. Lines
that start with `//` are comments.

Names of labels that have blanks or brackets stand in double quotes. An interval
`[0.4, 0.6]` may stand for a probability. After a state, Storm writes the values of its
variables as a comment, `//[x=3 & !done]`, with a tab before each `&`; where each state
has such a comment, they are read.

Models of type MDP and DTMC with numbers or intervals as probabilities are read, and of
type CTMC: there the numbers are rates, and a state may tell their sum, `state 0 !2.5`.
Observations and parameters are not. Where a reward model has rewards of states or of
choices that are all zero, and others that are not, the zeros are not kept. What the
format cannot hold is left out with a warning: rewards of branches, and labels that are
nowhere.

References:
    Storm's documentation, *DRN input format*.
    https://www.stormchecker.org/documentation/background/drn.html
"""

import dataclasses

from jaxgames.io import _drn_values, _models
from jaxgames.io._drn_read import NO_LABEL, read
from jaxgames.io._drn_write import Pieces
from jaxgames.io._files import FilePath, writing
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted
from jaxgames.tuning.io import STATES_AT_ONCE as _STATES_AT_ONCE

HOLDS = MDP
"""What `load` returns and `save` takes."""


def load(path: FilePath) -> MDP:
    r"""Reads a model.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Raises:
        FormatError: the file is something else, or holds a model of another type.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.drn")
        >>> head = "@type: MDP\n@nr_states\n1\n@model\n"
        >>> _ = path.write_text(f"{head}state 0 init\n action a\n  0 : 1\n")
        >>> load(path).choice_labels
        {'a': array([ True])}
    """
    return read(path)


def save(path: FilePath, model: MDP) -> None:
    """Writes a model; padding is left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        model: what to write.

    Raises:
        ValueError: the model has no probabilities, a choice has several labels, or a
            name is one that this format cannot hold.
        OSError: the file cannot be written.

    Warns:
        UserWarning: something is left out; says what.
    """
    model = _models.without_padding(model)
    if model.lower is None:
        _models.check_probabilities(model, "DRN")
    names = list(
        dict.fromkeys([*(model.state_rewards or ()), *(model.choice_rewards or ())])
    )
    _models.check_quotable(model.labels or (), "DRN")
    _models.check_names([name for name in names if name], "DRN", '"[]@')
    if "" in names and len(names) > 1:
        raise ValueError("DRN cannot hold a reward without a name beside others")
    action, labels = _models.actions(model, "DRN")
    _models.check_names(labels[1:], "DRN", '"[]')
    for label in labels:
        if label.isdigit() or label == NO_LABEL:
            raise ValueError(f"DRN reads the choice label {quoted(label)} as none")
    kind = "DTMC" if _models.is_chain(model) else "MDP"
    header = [
        f"@type: {kind if model.exit_rates is None else 'CTMC'}",
        *(() if model.lower is None else ("@value_type: double-interval",)),
        "@parameters",
        "",
        "@reward_models",
        " ".join(names),
        *("@nr_states", model.num_states, "@nr_choices", model.num_choices),
        "@model",
    ]
    model = _held(path, model)
    sets = _models.with_initial(path, model)
    pieces = Pieces(model, sets, names, action, labels)
    with writing(path) as file:
        file.write("".join(f"{line}\n" for line in header).encode())
        for state in range(0, model.num_states, _STATES_AT_ONCE):
            file.write(pieces.text(state, state + _STATES_AT_ONCE))


def _held(path: FilePath, model: MDP) -> MDP:
    """The model without what DRN cannot hold, of which it warns."""
    labels = model.labels or {}
    left_out = [
        *(
            f"label {quoted(x)}, which holds nowhere"
            for x in labels
            if not labels[x].any()
        ),
        *(
            f"label {quoted(name)} of choices, which holds nowhere"
            for name, members in (model.choice_labels or {}).items()
            if not members.any()
        ),
        *(
            f"rewards {quoted(name)} of branches"
            for name, values in (model.branch_rewards or {}).items()
            if values.any()
        ),
    ]
    valuations = {}
    for name, values in (model.valuations or {}).items():
        if _drn_values.can_hold(name, values):
            valuations[name] = values
        else:
            left_out.append(f"variable {quoted(name)}")
    _models.say_left_out(path, left_out, "DRN cannot hold it; .umb can")
    return dataclasses.replace(model, valuations=valuations)
