"""Models of Storm, as Markov decision processes and back."""

import os
import tempfile
from typing import Any

from jaxgames.interop._package import package
from jaxgames.io import umb
from jaxgames.mdp import MDP
from jaxgames.quoting import quoted


def to_mdp(model: Any) -> MDP:
    """Converts a model that stormpy has built.

    It goes through a temporary file in UMB's format, which takes less time than asking
    stormpy for one entry after the other.

    Args:
        model: a sparse model with numbers as probabilities: an MDP, a DTMC or a CTMC.

    Returns:
        The model: states, choices and branches with the same numbers, initial states,
        labels, labels of the choices, rewards. A reward model without a name has the
        empty name.

    Raises:
        ImportError: stormpy is not installed.
        ValueError: the model is of another type.

    Examples:
        >>> import stormpy  # doctest: +SKIP
        >>> program = stormpy.parse_program("coin.nm")  # doctest: +SKIP
        >>> to_mdp(stormpy.build_model(program))  # doctest: +SKIP
        MDP(272 states, 400 choices, 492 branches)
    """
    stormpy = package("stormpy")
    options = stormpy.io.UmbExportOptions()
    options.compression = stormpy.io.CompressionMode.NO_COMPRESSION
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.umb")
        stormpy.io.export_to_umb(model, path, options=options)
        found = umb.load(path)
    if not isinstance(found, MDP):
        raise ValueError(
            f"{quoted(found)} has several players: export it to .umb, and load that"
        )
    return found


def from_mdp(model: MDP) -> Any:
    """Converts a model to one of Storm's.

    Args:
        model: a model; its padding is left out.

    Returns:
        A sparse model of stormpy with the same states and choices, a chain where each
        state has one choice. The branches of a choice are in the order of the states
        they lead to, one for each.

    Raises:
        ImportError: stormpy is not installed.
        ValueError: the model has no probabilities, or a choice has several labels.

    Examples:
        >>> model = MDP.from_arrays([0, 1], [0, 1], [0], [1], initial=[0])
        >>> from_mdp(model).nr_states  # doctest: +SKIP
        1
    """
    stormpy = package("stormpy")
    if model.probs is None:
        raise ValueError("expected a model with probabilities, this has none")
    options = stormpy.io.UmbImportOptions()
    options.build_choice_labeling = True
    options.build_state_valuations = False
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.umb")
        umb.save(path, model)
        return stormpy.build_model_from_umb(path, options=options)
