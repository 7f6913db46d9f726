"""The best schedulers for weights of objectives, and what they gain, in fractions."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames.mdp._rational import best_policy, eliminated, rounded
from jaxgames.mdp.multi._game import dot
from jaxgames.mdp.multi._oracle import Answer, Setting
from jaxgames.tuning.mdp import EXACT_UP_TO, IMPROVED_EXACTLY_UP_TO

Branches = list[list[tuple[int, Fraction]]]
"""Where each choice of a product leads, with the exact probabilities."""


class Exactly(NamedTuple):
    """A setting in fractions.

    Attributes:
        choices: for each node the choices: where they lead, and what they gain of each
            objective, with signs.
        parts: the nodes of each component, those first that others lead to.
        where: the setting.
    """

    choices: list[list[tuple[dict[int, Fraction], list[Fraction]]]]
    parts: list[list[int]]
    where: Setting

    def best(self, weights: list[Fraction]) -> tuple[Fraction, ...] | None:
        """What a best scheduler for some weights gains of each objective, with signs.

        None where numbers get too long.
        """
        policy = self._policy(weights, self._no_more())
        return None if policy is None else self._point(policy[0])

    def answer(self, weights: list[Fraction], epsilon: float) -> Answer | None:
        """A best scheduler, its point, and a bound that doubles show.

        The potential is of a little more than what is gained, so that it is one when it
        is rounded, too: with what rounding makes of it where a choice leads elsewhere.
        """
        none = self._no_more()
        found = self._policy(weights, none)
        if found is None:
            return None
        point, value = self._point(found[0]), found[1]
        many = max((len(leads) for own in self.choices for leads, _ in own), default=1)
        hair = Fraction(2 * many + 8, 2**53)
        more = [
            [
                hair * dot(weights, [abs(x) for x in gain])
                + dot(*_elsewhere(leads, node, value)) / 2**51
                for leads, gain in own
            ]
            for node, own in enumerate(self.choices)
        ]
        above = self._policy(weights, more)
        if above is None or point is None:
            return None
        potential = np.array([rounded(x, 1) for x in above[1]])[self.where.part.number]
        bound = Fraction(potential[0]) + dot(weights, self.where.begun)
        groups = np.asarray(self.where.part.nat.groups)[:-1]
        best = (groups + found[0]).astype(np.int32)
        near = bool(bound - dot(weights, point) <= epsilon)
        return Answer(tuple(weights), point, bound, best, potential, near)

    def _no_more(self) -> list[list[Fraction]]:
        return [[Fraction(0)] * len(own) for own in self.choices]

    def _policy(
        self, weights: list[Fraction], more: list[list[Fraction]]
    ) -> tuple[list[int], list[Fraction]] | None:
        """The best choice of each node, and what it is worth.

        Policy iteration, component by component.
        """
        value, policy = [Fraction(0)] * len(self.choices), [0] * len(self.choices)
        for nodes in self.parts:
            place = {node: i for i, node in enumerate(nodes)}
            rows = [
                [_inside(leads, place) for leads, _ in self.choices[x]] for x in nodes
            ]
            worth = [
                [
                    dot(weights, gain) + extra + _outside(leads, place, value)
                    for (leads, gain), extra in zip(
                        self.choices[node], more[node], strict=True
                    )
                ]
                for node in nodes
            ]
            own = best_policy(rows, worth, least=False)
            if own is None:
                return None
            values = eliminated(
                [rows[i][c] for i, c in enumerate(own)],
                [worth[i][c] for i, c in enumerate(own)],
            )
            if values is None:
                return None
            for node, choice, x in zip(nodes, own, values, strict=True):
                policy[node], value[node] = choice, x
        return policy, value

    def _point(self, policy: list[int]) -> tuple[Fraction, ...] | None:
        """What a scheduler gains of each objective, with signs."""
        point = []
        for j, begun in enumerate(self.where.begun):
            value = [Fraction(0)] * len(self.choices)
            for nodes in self.parts:
                place = {node: i for i, node in enumerate(nodes)}
                chosen = [self.choices[node][policy[node]] for node in nodes]
                values = eliminated(
                    [_inside(leads, place) for leads, _ in chosen],
                    [gain[j] + _outside(x, place, value) for x, gain in chosen],
                )
                if values is None:
                    return None
                for node, x in zip(nodes, values, strict=True):
                    value[node] = x
            point.append(begun + value[int(self.where.part.number[0])])
        return tuple(point)


def _elsewhere(leads: dict[int, Fraction], node: int, value: list[Fraction]):
    """How likely it leads to each other node, and how large what that is worth is."""
    others = [to for to in leads if to != node]
    return [leads[to] for to in others], [abs(value[to]) for to in others]


def _inside(leads: dict[int, Fraction], place: dict[int, int]) -> dict[int, Fraction]:
    """Where a choice leads inside of a component, by places in this."""
    return {place[to]: p for to, p in leads.items() if to in place}


def _outside(leads: dict[int, Fraction], place: dict[int, int], value) -> Fraction:
    """What it is worth where it leads elsewhere."""
    return sum((p * value[t] for t, p in leads.items() if t not in place), Fraction(0))


def exactly(where: Setting, branches: Branches) -> Exactly | None:
    """A setting in fractions; None if it is too large for that."""
    part, made = where.part, where.product
    size = len(part.order)
    parts = [x.tolist() for x in np.split(part.order, part.parts[1:-1])]
    if size > EXACT_UP_TO or max(map(len, parts), default=0) > IMPROVED_EXACTLY_UP_TO:
        return None
    number, signs = part.number.tolist(), [int(x) for x in where.signs]
    offsets = np.asarray(made.model.row_offsets).tolist()
    choices: list = [[] for _ in range(size)]
    owner, own = part.nat.owner.tolist(), part.nat.choice.tolist()
    for k, choice in enumerate(own):
        leads: dict[int, Fraction] = {}
        if choice < 0:  # it stays for ever, and meets some limits
            choices[owner[k]].append((leads, [Fraction(x) for x in where.gains[k]]))
            continue
        wins = made.wins[offsets[choice] : offsets[choice + 1]].tolist()
        gain = [Fraction(x) for x in made.paid[choice].tolist()]
        for (to, prob), won in zip(branches[choice], wins, strict=True):
            leads[number[to]] = leads.get(number[to], Fraction(0)) + prob
            for j in np.flatnonzero(won).tolist():
                gain[j] += prob
        gain = [s * x for s, x in zip(signs, gain, strict=True)]
        choices[owner[k]].append((leads, gain))
    return Exactly(choices, parts, where)
