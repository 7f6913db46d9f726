"""The sequential engines, one state at a time; compiled where numba is installed.

[`mdp.reference`][jaxgames.mdp.reference] answers the same by simpler algorithms.
"""

import numpy as np

from jaxgames.mdp._model import MDP
from jaxgames.mdp._region import check_masks
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp.host._end_components import decompose
from jaxgames.mdp.host._prob01 import almost_sure_buchi as almost_sure_buchi
from jaxgames.mdp.host._prob01 import entering as entering
from jaxgames.mdp.host._prob01 import prob0 as prob0
from jaxgames.mdp.host._prob01 import prob1 as prob1
from jaxgames.mdp.host._prob01 import shortest as shortest
from jaxgames.mdp.host._sequence import Sequence as Sequence
from jaxgames.mdp.host._sequence import inside as inside
from jaxgames.mdp.host._sequence import merged as merged
from jaxgames.mdp.host._sequence import sequence as sequence
from jaxgames.mdp.host._sequence import taken as taken
from jaxgames.mdp.host._verify import verify as verify
from jaxgames.solution import Stats, Status


def mec(
    model: MDP, *, states=None, choices=None, stop: np.ndarray | None = None
) -> EndComponents:
    """Decomposes a model into its maximal end components.

    Tarjan's strongly connected components; choices that leave theirs are taken out,
    and states without choice in turn; what is left of a component that lost something
    is searched again. O(N (S + E)) time for components that are searched N times; N is
    S at worst, and a few in practice. O(S + E) memory.

    Args:
        model: the model.
        states: bool `[S]`, the states to look at; None for all.
        choices: bool `[C]`, the choices to look at; None for all.
        stop: int8 `[1]` that another thread may set to end the search early.

    Returns:
        The components; their `stats` hold `outer`, how often components were searched
        for, and `removed`, how many states were taken out because of others.

    Raises:
        ValueError: a mask has the wrong type or length.
    """
    states, choices = check_masks(model, states, choices)
    found = decompose(
        model, states, choices, np.zeros(1, np.int8) if stop is None else stop
    )
    return EndComponents(
        status=Status.SOLVED if found.finished else Status.INTERRUPTED,
        stats=Stats(solver="host", outer=found.outer, removed=found.removed),
        count=np.int32(found.count),
        state_label=found.state_label,
        choice_kept=found.choice_kept,
    )
