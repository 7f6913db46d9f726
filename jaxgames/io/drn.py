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

Models of type MDP and DTMC with numbers as probabilities are read: no rates, no
observations, no intervals, no parameters. All of such a model is kept, but for rewards
of the states that are all zero where there are rewards of the choices.

References:
    Storm's documentation, *DRN input format*.
    https://www.stormchecker.org/documentation/background/drn.html
"""

from jaxgames.io import _models
from jaxgames.io._drn_read import NO_LABEL, read
from jaxgames.io._drn_write import Pieces
from jaxgames.io._files import FilePath, writing
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted

HOLDS = MDP
"""What `load` returns and `save` takes."""

_STATES_AT_ONCE = 1 << 14


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
    """
    model = _models.without_padding(model)
    _models.check_probabilities(model, "DRN")
    names = list(dict.fromkeys([*(model.state_rewards or ()), *_choice_rewards(model)]))
    _models.check_names(model.labels or (), "DRN", '"[]{}!')
    _models.check_names([name for name in names if name], "DRN", '"[]@')
    if "" in names and len(names) > 1:
        raise ValueError("DRN cannot hold a reward without a name beside others")
    action, labels = _models.actions(model, "DRN")
    _models.check_names(labels[1:], "DRN", '"[]')
    for label in labels:
        if label.isdigit() or label == NO_LABEL:
            raise ValueError(f"DRN takes the choice label {quoted(label)} for none")
    header = [
        "@type: MDP",
        "@parameters",
        "",
        "@reward_models",
        " ".join(names),
        *("@nr_states", model.num_states, "@nr_choices", model.num_choices),
        "@model",
    ]
    pieces = Pieces(model, names, action, labels)
    with writing(path) as file:
        file.write("".join(f"{line}\n" for line in header).encode())
        for state in range(0, model.num_states, _STATES_AT_ONCE):
            file.write(pieces.text(state, state + _STATES_AT_ONCE))


def _choice_rewards(model: MDP) -> dict:
    return dict(model.choice_rewards or {})
