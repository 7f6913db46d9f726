"""What a check of a solution finds."""

from jaxgames import verdict


class Reason(verdict.Reason):
    """What is wrong with a solution, in the order in which it is looked for.

    Examples:
        >>> Reason.MOVE_MISSING.message
        'its owner wins it, but has no move there with some memory'
    """

    OK = "nothing is wrong"
    UNDECIDED = "its winner is neither 0 nor 1"
    MACHINE_BROKEN = (
        "the machine does not follow the game there: an edge leads to a node of "
        "another vertex, or a number is out of its range"
    )
    MOVE_MISSING = "its owner wins it, but has no move there with some memory"
    MOVE_NOT_AN_EDGE_OF_ITS_VERTEX = "a move is not the index of one of its edges"
    MOVE_OF_LOSER = "its owner loses it, yet has a move there"
    MOVE_LEAVES_REGION = (
        "a move of its winner leads to a vertex that the other player wins"
    )
    OPPONENT_ESCAPES = "its owner loses it, yet has an edge to a vertex that he wins"
    WON_BY_OPPONENT = (
        "the other player can stay among nodes there whose marks are as he wants them, "
        "whatever the moves of the winner are"
    )


class Verdict(verdict.Verdict):
    """What a check of a solution found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.emersonlei.Reason], and whose `vertex` is a vertex where it
    holds.
    """

    reasons = Reason
