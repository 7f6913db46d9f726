"""What a check of a parity game's solution finds."""

from jaxgames import verdict


class Reason(verdict.Reason):
    """What is wrong with a solution, in the order in which it is looked for.

    Examples:
        >>> Reason.STRATEGY_LEAVES_REGION.message
        "its winner's strategy leads to a vertex that the other player wins"
    """

    OK = "nothing is wrong"
    UNDECIDED = "its winner is neither 0 nor 1"
    STRATEGY_MISSING = "its owner wins it, but has no strategy there"
    STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX = (
        "its strategy is not the index of one of its edges"
    )
    STRATEGY_OF_LOSER = "its owner loses it, yet has a strategy there"
    STRATEGY_LEAVES_REGION = (
        "its winner's strategy leads to a vertex that the other player wins"
    )
    OPPONENT_ESCAPES = "its owner loses it, yet has an edge to a vertex that he wins"
    CYCLE_WON_BY_OPPONENT = (
        "the other player wins a cycle through it that its winner's strategy allows"
    )
    CUT_OUT_OF_ORDER = (
        "a priority compares more of a measure than a less important one, or more than "
        "there is"
    )
    MEASURE_RISES = (
        "its measure is the top, or does not fall as it must along an edge that its "
        "winner's strategy allows"
    )


class Verdict(verdict.Verdict):
    """What a check of a solution found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.parity.Reason], and whose `vertex` is a vertex where it holds.
    """

    reasons = Reason
