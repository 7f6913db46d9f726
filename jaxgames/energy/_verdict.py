"""What a check of an energy game's solution finds."""

from jaxgames import verdict


class Reason(verdict.Reason):
    """What is wrong with a solution, in the order in which it is looked for.

    Examples:
        >>> Reason.CREDIT_TOO_SMALL.message
        'its credit is less than what its edges ask for'
    """

    OK = "nothing is wrong"
    UNDECIDED = "its winner is neither 0 nor 1"
    WINNER_AGAINST_CREDIT = (
        "player 0 wins it without a credit, or player 1 in spite of one"
    )
    CREDIT_TOO_SMALL = "its credit is less than what its edges ask for"
    CREDIT_TOO_LARGE = "player 0 needs less than its credit"
    STRATEGY_MISSING = "its owner wins it, but has no strategy there"
    STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX = (
        "its strategy is not the index of one of its edges"
    )
    STRATEGY_OF_LOSER = "its owner loses it, yet has a strategy there"
    STRATEGY_LEAVES_REGION = "player 1's strategy leads to a vertex that player 0 wins"
    OPPONENT_ESCAPES = (
        "player 1 wins it, yet player 0 has an edge to a vertex that he wins"
    )
    STRATEGY_NEEDS_MORE_CREDIT = "player 0's strategy asks for more than its credit"
    CYCLE_WON_BY_OPPONENT = (
        "player 0 can stay on a cycle that does not lose energy, whatever player 1's "
        "strategy does there"
    )


class Verdict(verdict.Verdict):
    """What a check of a solution found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.energy.Reason], and whose `vertex` is a vertex where it holds.
    """

    reasons = Reason
