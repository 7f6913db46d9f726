"""The best schedulers for weights of objectives, and what they gain, in fractions."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from jaxgames.mdp._rational import best_policy, eliminated
from jaxgames.mdp.multi._oracle import Setting
from jaxgames.tuning.mdp import EXACT_UP_TO, RATIONAL_UP_TO

Branches = list[list[tuple[int, Fraction]]]
"""Where each choice of a product leads, with the exact probabilities."""


class Exactly(NamedTuple):
    """A setting in fractions.

    Attributes:
        choices: for each node the choices: where they lead, and what they gain of each
            objective, with signs.
        parts: the nodes of each component, those first that others lead to.
        begun: what is gained before the first step, with signs.
        root: the first node.
    """

    choices: list[list[tuple[dict[int, Fraction], list[Fraction]]]]
    parts: list[list[int]]
    begun: list[Fraction]
    root: int

    def best(self, weights: list[Fraction]) -> tuple[Fraction, ...] | None:
        """What a best scheduler for some weights gains of each objective, with signs.

        Policy iteration, component by component; None where numbers get too long.
        """
        found: list[list[Fraction]] = [[] for _ in self.choices]
        for nodes in self.parts:
            place = {node: i for i, node in enumerate(nodes)}
            rows, gains, worth = [], [], []
            for node in nodes:
                inside, gained = [], []
                for leads, gain in self.choices[node]:
                    here = list(gain)
                    for to, prob in leads.items():
                        if to not in place:
                            for j, x in enumerate(found[to]):
                                here[j] += prob * x
                    inside.append(
                        {place[to]: p for to, p in leads.items() if to in place}
                    )
                    gained.append(here)
                rows.append(inside)
                gains.append(gained)
                worth.append(
                    [
                        sum(
                            (w * x for w, x in zip(weights, g, strict=True)), Fraction()
                        )
                        for g in gained
                    ]
                )
            policy = best_policy(rows, worth, least=False)
            if policy is None:
                return None
            chain = [rows[i][c] for i, c in enumerate(policy)]
            for j in range(len(weights)):
                own = eliminated(chain, [gains[i][c][j] for i, c in enumerate(policy)])
                if own is None:
                    return None
                for node, x in zip(nodes, own, strict=True):
                    found[node].append(x)
        return tuple(x + y for x, y in zip(self.begun, found[self.root], strict=True))


def exactly(where: Setting, branches: Branches) -> Exactly | None:
    """A setting in fractions; None if it is too large for that.

    Args:
        where: the setting.
        branches: of its product.
    """
    part, made = where.part, where.product
    size = len(part.order)
    parts = [x.tolist() for x in np.split(part.order, part.parts[1:-1])]
    if size > EXACT_UP_TO or max(map(len, parts), default=0) > RATIONAL_UP_TO:
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
    begun = [s * Fraction(x) for s, x in zip(signs, made.start.tolist(), strict=True)]
    return Exactly(choices, parts, begun, number[0])
