"""Writing of Storm's DRN: the text of many states at once."""

import re

import numpy as np

from jaxgames.io import _drn_values, _lines
from jaxgames.io._drn_read import NO_LABEL
from jaxgames.mdp import MDP

_PLAIN = re.compile(r'[^\s"\[\]{}!]+')
"""Labels that need no quotes."""


class Pieces:
    """The text of a model, made for some states at once."""

    def __init__(
        self,
        model: MDP,
        sets: dict[str, np.ndarray],
        rewards: list[str],
        action: np.ndarray,
        names: list[str],
    ):
        self._model = model
        self._marks = _suffixes(sets, model.num_states)
        shown = [NO_LABEL, *names[1:]]
        degree = np.diff(model.row_group_offsets)
        owner = np.repeat(np.arange(model.num_states), degree)
        self._actions = np.array([name.encode() for name in shown], "S")[action]
        if len(names) == 1:  # as Storm does where choices have no labels
            place = np.arange(model.num_choices) - model.row_group_offsets[owner]
            self._actions = _lines.decimals(place)
        self._rewards = rewards
        self._rates = None
        if model.exit_rates is not None:
            source = np.repeat(np.arange(model.num_states), np.diff(model.row_offsets))
            self._rates = model.probs * model.exit_rates[source]

    def text(self, start: int, stop: int) -> bytes:
        """The text of some states."""
        model = self._model
        stop = min(stop, model.num_states)
        groups = model.row_group_offsets[start : stop + 1]
        rows = model.row_offsets[groups[0] : groups[-1] + 1]
        choices, branches = slice(groups[0], groups[-1]), slice(rows[0], rows[-1])
        states = np.arange(start, stop)
        owner = np.repeat(np.arange(stop - start), np.diff(groups))
        choice = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
        # A line comes after all states, actions and branches that are before it.
        first = groups[:-1] - groups[0]
        of_state = states - start + first + rows[first] - rows[0]
        of_choice = owner + 1 + np.arange(len(owner)) + rows[:-1] - rows[0]
        of_branch = owner[choice] + choice + 2 + np.arange(len(choice))
        return _interleaved(
            [
                _lines.matrix(
                    b"state ",
                    _lines.decimals(states),
                    *self._exits(slice(start, stop)),
                    *self._bracket(model.state_rewards, slice(start, stop)),
                    self._marks[start:stop],
                    b"\n",
                    *_drn_values.columns(model.valuations or {}, slice(start, stop)),
                ),
                _lines.matrix(
                    b"\taction ",
                    self._actions[choices],
                    *self._bracket(model.choice_rewards, choices),
                    b"\n",
                ),
                _lines.matrix(
                    b"\t\t",
                    _lines.decimals(model.columns[branches]),
                    b" : ",
                    *self._probabilities(branches),
                    b"\n",
                ),
            ],
            [of_state, of_choice, of_branch],
        )

    def _probabilities(self, part: slice) -> list[_lines.Column]:
        """The probabilities of some branches, or their bounds."""
        model = self._model
        if self._rates is not None:
            return [_lines.reals(self._rates[part])]
        if model.lower is None:
            return [_lines.reals(model.probs[part])]
        ends = _lines.reals(model.lower[part]), _lines.reals(model.upper[part])
        return [b"[", ends[0], b", ", ends[1], b"]"]

    def _exits(self, part: slice) -> list[_lines.Column]:
        """The rates at which some states are left."""
        if self._model.exit_rates is None:
            return []
        return [b" !", _lines.reals(self._model.exit_rates[part])]

    def _bracket(self, rewards, part: slice) -> list[_lines.Column]:
        """The rewards of some states or choices."""
        columns: list[_lines.Column] = []
        for name in self._rewards:
            columns.append(b", " if columns else b" [")
            zeros = np.zeros(part.stop - part.start)
            values = rewards[name][part] if name in (rewards or {}) else zeros
            columns.append(_lines.reals(values))
        return [*columns, b"]"] if columns else []


def _suffixes(sets: dict[str, np.ndarray], size: int) -> np.ndarray:
    """The names of the sets that each entry is in, with blanks before: dtype S."""
    texts, codes = [""], np.zeros(size, np.int64)
    for name, members in sets.items():
        name = name if _PLAIN.fullmatch(name) else f'"{name}"'
        pairs, codes = np.unique(2 * codes + members, return_inverse=True)
        texts = [texts[k >> 1] + f" {name}" * (k & 1) for k in pairs.tolist()]
    return np.array([text.encode() for text in texts], "S")[codes]


def _interleaved(groups: list[np.ndarray], places: list[np.ndarray]) -> bytes:
    """Joins lines from matrices of characters, given the place of each line."""
    length = np.empty(sum(map(len, groups)), np.int64)
    for lines, place in zip(groups, places, strict=True):
        length[place] = np.count_nonzero(lines, axis=1)
    start = np.cumsum(length) - length
    text = np.empty(length.sum(), np.uint8)
    for lines, place in zip(groups, places, strict=True):
        own = length[place]
        shift = np.repeat(start[place] - (np.cumsum(own) - own), own)
        text[shift + np.arange(len(shift))] = lines[lines != 0]
    return text.tobytes()
