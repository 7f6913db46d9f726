"""What a check of a mean-payoff game's solution finds."""

from jaxgames import verdict


class Reason(verdict.Reason):
    """What is wrong with a solution, in the order in which it is looked for.

    Examples:
        >>> Reason.UNDECIDED.message
        'it has no value'
    """

    OK = "nothing is wrong"
    UNDECIDED = "it has no value"
    NO_MEAN_OF_A_CYCLE = (
        "its value is not in lowest terms, or its denominator more than the number of "
        "vertices"
    )
    STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX = (
        "its strategy is not the index of one of its edges"
    )
    STRATEGY_CHANGES_VALUE = "its strategy leads to a vertex of another value"
    BETTER_SUCCESSOR = "it has an edge to a vertex of a value that its owner prefers"
    VALUE_TOO_LARGE = (
        "with player 0's strategy player 1 can reach a cycle whose mean is less than "
        "the value"
    )
    VALUE_TOO_SMALL = (
        "with player 1's strategy player 0 can reach a cycle whose mean is more than "
        "the value"
    )


class Verdict(verdict.Verdict):
    """What a check of a solution found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.meanpayoff.Reason], and whose `vertex` is a vertex where it
    holds.
    """

    reasons = Reason
