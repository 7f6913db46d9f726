"""What a check of an energy parity game's solution finds."""

from jaxgames import verdict


class Reason(verdict.Reason):
    """What is wrong with a solution, in the order in which it is looked for.

    Examples:
        >>> Reason.OPPONENT_ESCAPES.message
        'its owner loses it, yet has an edge to a vertex that he wins'
    """

    OK = "nothing is wrong"
    UNDECIDED = "its winner is neither 0 nor 1"
    OPPONENT_ESCAPES = "its owner loses it, yet has an edge to a vertex that he wins"
    STRATEGY_MISSING = "player 1 owns and wins it, but has no strategy there"
    STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX = (
        "a strategy is not the index of one of its edges"
    )
    STRATEGY_OF_LOSER = (
        "player 1 has a strategy there, but does not own it or does not win it"
    )
    STRATEGY_LEAVES_REGION = (
        "its winner's strategy leads to a vertex that the other player wins"
    )
    CYCLE_WON_BY_OPPONENT = (
        "player 0 can stay among cycles through it that keep the energy and have an "
        "even priority on top, whatever player 1's strategy does there"
    )
    MODES_BROKEN = (
        "the modes of player 0 do not fit together there: cores do not lie one in "
        "another, or a number is out of its range"
    )
    NOT_ENOUGH_ENERGY = (
        "player 0 may come there, or leave it, with less energy than he needs"
    )
    NO_PROGRESS = (
        "outside of earning player 0's strategy, or the other player, can go on from "
        "there to no top of its core and to nothing that comes before it"
    )
    TOP_IS_NO_TOP = (
        "its priority is odd, or its core has a larger odd one that it may lead to and "
        "come back from"
    )
    EARNING_IS_ODD = "earning may go round there for ever with an odd priority on top"


class Verdict(verdict.Verdict):
    """What a check of a solution found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.energyparity.Reason], and whose `vertex` is a vertex where it
    holds.
    """

    reasons = Reason
