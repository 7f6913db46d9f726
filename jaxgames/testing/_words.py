"""Words that run into a cycle, all short ones at once, and what holds on them.

A word is a row of letters and the position to which its last letter returns. Formulas
are evaluated by their definitions, automata by products of matrices: nothing here is
shared with the library.
"""

import itertools

import numpy as np


class Words:
    """All words of some propositions with a number of letters: `B` of them.

    Attributes:
        letters: integers `[B, n]`, masks of the propositions that hold.
        back: integers `[B]`, where the cycle begins.
    """

    def __init__(self, names: list[str], length: int):
        self.names = names
        rows = [
            (word, back)
            for word in itertools.product(range(1 << len(names)), repeat=length)
            for back in range(length)
        ]
        self.letters = np.array([word for word, _ in rows]).reshape(-1, length)
        self.back = np.array([back for _, back in rows])
        self._next = np.tile(np.arange(1, length + 1), (len(rows), 1))
        self._next[:, -1] = self.back

    def holds(self, formula) -> np.ndarray:
        """Whether each word satisfies a formula: bool `[B]`."""
        return self._at(formula)[:, 0]

    def _at(self, formula) -> np.ndarray:
        """Whether a formula holds from each position on: bool `[B, n]`."""
        parts = [self._at(x) for x in formula.operands]
        match formula.operator:
            case "true":
                return np.ones(self.letters.shape, bool)
            case "false":
                return np.zeros(self.letters.shape, bool)
            case "name":
                return (self.letters >> self.names.index(formula.name) & 1) > 0
            case "!":
                return ~parts[0]
            case "&":
                return np.logical_and.reduce(parts)
            case "|":
                return np.logical_or.reduce(parts)
            case "->":
                return ~parts[0] | parts[1]
            case "<->":
                return parts[0] == parts[1]
            case "X":
                return self._after(parts[0])
            case "F":
                return self._until(np.ones_like(parts[0]), parts[0])
            case "G":
                return ~self._until(np.ones_like(parts[0]), ~parts[0])
            case "U":
                return self._until(*parts)
            case "R":
                return ~self._until(~parts[0], ~parts[1])
            case "W":
                always = ~self._until(np.ones_like(parts[0]), ~parts[0])
                return self._until(*parts) | always
            case "M":
                return self._until(parts[1], parts[0] & parts[1])
        raise AssertionError(formula.operator)

    def _after(self, x: np.ndarray) -> np.ndarray:
        return np.take_along_axis(x, self._next, axis=1)

    def _until(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        holds = y
        for _ in range(2 * self.letters.shape[1]):
            holds = y | x & self._after(holds)
        return holds

    def accepted(self, automaton) -> np.ndarray:
        """Whether each word is accepted by an automaton: bool `[B]`.

        Generalised acceptance too: paths remember which sets they have met.
        """
        size, sets = automaton.num_states, automaton.num_sets
        if not size:
            return np.zeros(len(self.letters), bool)
        steps = np.zeros((1 << len(self.names), size, size, 1 << sets), bool)
        place = [self.names.index(x) for x in automaton.propositions]
        sources = automaton.sources
        for letter, edge in itertools.product(range(len(steps)), range(len(sources))):
            here = sum((letter >> j & 1) << i for i, j in enumerate(place))
            if any(
                here & must == must and not here & never
                for must, never in automaton.guard(edge)
            ):
                met = sum(1 << i for i in range(sets) if automaton.sets[i, edge])
                steps[letter, sources[edge], automaton.targets[edge], met] = True
        result = np.zeros(len(self.letters), bool)
        for back in range(self.letters.shape[1]):
            which = self.back == back
            words = self.letters[which]
            here = np.zeros((len(words), size), bool)
            here[:, automaton.initial] = True
            for i in range(back):
                here = np.einsum("bq,bqr->br", here, steps[words[:, i]].any(-1))
            round_ = steps[words[:, back]]
            for i in range(back + 1, words.shape[1]):
                round_ = _then(round_, steps[words[:, i]])
            way = round_
            for _ in range(max(1, (size << sets).bit_length())):
                way = way | _then(way, way)
            good = way[:, np.arange(size), np.arange(size), -1]
            near = here | np.einsum("bq,bqr->br", here, way.any(-1))
            result[which] = (near & good).any(1)
        return result


def _then(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """One path after another, for each word, with the sets that both met."""
    result = np.zeros_like(one)
    masks = range(one.shape[-1])
    for a, b in itertools.product(masks, masks):
        result[..., a | b] |= one[..., a] @ other[..., b]
    return result
