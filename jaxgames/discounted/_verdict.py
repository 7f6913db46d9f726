"""What a check of a discounted game's solution finds."""

from jaxgames import verdict


class Reason(verdict.Reason):
    """What is wrong with a solution, in the order in which it is looked for.

    Examples:
        >>> Reason.NO_BOUNDS.message
        'its bounds are no numbers, or the upper one is below the lower one'
    """

    OK = "nothing is wrong"
    NO_BOUNDS = "its bounds are no numbers, or the upper one is below the lower one"
    STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX = (
        "its strategy is not the index of one of its edges"
    )
    LOWER_NOT_SECURED = (
        "what its edges lead to is less than its lower bound asks for: player 0's "
        "strategy may get less"
    )
    UPPER_NOT_SECURED = (
        "what its edges lead to is more than its upper bound allows: player 1's "
        "strategy may let player 0 get more"
    )


class Verdict(verdict.Verdict):
    """What a check of a solution found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.discounted.Reason], and whose `vertex` is a vertex where it
    holds.
    """

    reasons = Reason
