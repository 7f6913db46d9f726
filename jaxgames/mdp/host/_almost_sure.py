"""Visiting a set for ever with probability one, by end components."""

import numpy as np

from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._region import Region, as_states
from jaxgames.mdp._solution import EndComponents
from jaxgames.mdp.host._prob01 import prob1


def almost_sure_buchi(model: MDP, accepting, components: EndComponents) -> Region:
    """States from which a set can be visited for ever, with probability one.

    As [`mdp.almost_sure_buchi`][jaxgames.mdp.almost_sure_buchi].
    """
    accepting = as_states("accepting", model, accepting)
    label = np.asarray(components.state_label)
    kept = np.asarray(components.choice_kept)
    home = (label >= 0) & np.isin(label, label[accepting])
    inner = prob1(model, home & accepting, choices=kept)
    states, scheduler = prob1(model, home)
    scheduler = np.where(home, inner.scheduler, scheduler)
    owner = owner_of(model)
    for choice in np.flatnonzero(kept)[::-1]:  # so that the first is written last
        if home[owner[choice]] and accepting[owner[choice]]:
            scheduler[owner[choice]] = choice
    return Region(states, scheduler)
