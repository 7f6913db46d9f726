"""Formulas of finite words, as formulas of infinite ones.

A finite word is followed by any letters. One more proposition says how long it is: it
holds in all letters of the word, and not in the first one behind it.

References:
    De Giacomo and Vardi, Linear temporal logic and linear dynamic logic on finite
    traces, IJCAI 2013.
"""

from jaxgames import limits
from jaxgames.io._tlsf_formulas import FALSE, TRUE, both, either
from jaxgames.ltl import Formula

Pair = tuple[Formula, Formula]
"""That a formula holds, and that it does not."""


def on_finite_words(formula: Formula, alive: str) -> Formula:
    """A formula of the infinite words that begin with a finite one that is right.

    A finite word has at least one letter. `X` is weak: it holds in the last letter. A
    strong one is `!X!`.

    Whether an infinite word is right shows after some letters: nothing is asked for
    ever. So a game for the formula is one of reachability.

    Args:
        formula: of finite words.
        alive: a proposition that is not in it; it holds as long as the word goes on.

    Examples:
        >>> formula = on_finite_words(Formula.parse("G p & F q"), "alive")
        >>> formula.holds_on([["p", "alive"], ["p", "q", "alive"]], [[]])
        True
        >>> formula.holds_on([["p", "alive"], []], [["p", "q", "alive"]])
        False
    """
    ends = _Ends(Formula("name", name=alive))
    # Of each part: the formulas that say that it holds, and that it does not. Behind
    # the word they say nothing.
    known: dict[int, Pair] = {}
    for part in formula.parts():
        limits.tick("reading", len(known), "formulas")
        known[id(part)] = ends.pair(part, [known[id(x)] for x in part.operands])
    end = Formula("F", (ends.over,))
    return both([ends.alive, end, known[id(formula)][0]])


class _Ends:
    """What formulas come to where the word goes on, and where it is over."""

    def __init__(self, alive: Formula):
        self.alive, self.over = alive, Formula("!", (alive,))

    def pair(self, formula: Formula, below: list[Pair]) -> Pair:
        """What a formula comes to, given what its operands do."""
        match formula.operator:
            case "true":
                return TRUE, FALSE
            case "false":
                return FALSE, TRUE
            case "name":
                return formula, Formula("!", (formula,))
            case "!":
                return below[0][1], below[0][0]
            case "&":
                return both(x for x, _ in below), either(x for _, x in below)
            case "|":
                return either(x for x, _ in below), both(x for _, x in below)
            case "X":
                holds, fails = below[0]
                return (
                    Formula("X", (either([self.over, holds]),)),
                    Formula("X", (both([self.alive, fails]),)),
                )
            case "F":
                below = [(TRUE, FALSE), *below]
            case "G":
                below = [*below, (FALSE, TRUE)]
        (one, not_one), (other, not_other) = below
        match formula.operator:
            case "->":
                return either([not_one, other]), both([one, not_other])
            case "<->":
                return (
                    either([both([one, other]), both([not_one, not_other])]),
                    either([both([one, not_other]), both([not_one, other])]),
                )
            case "U" | "F":
                neither = both([not_one, not_other])
                return self._strong(one, other), self._weak(not_other, neither)
            case "W" | "G":
                neither = both([not_one, not_other])
                return self._weak(one, other), self._strong(not_other, neither)
            case "R":
                last = both([one, other])
                return self._weak(other, last), self._strong(not_one, not_other)
            case "M":
                last = both([one, other])
                return self._strong(other, last), self._weak(not_one, not_other)
        raise AssertionError(formula.operator)

    def _strong(self, one: Formula, other: Formula) -> Formula:
        """One holds until the other does, within the word."""
        return Formula("U", (both([self.alive, one]), both([self.alive, other])))

    def _weak(self, one: Formula, other: Formula) -> Formula:
        """One holds until the other does, or until the word is over."""
        return Formula("U", (one, either([self.over, other])))
