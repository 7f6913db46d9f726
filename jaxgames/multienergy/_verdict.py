"""What a check of minimal budgets finds."""

from jaxgames import verdict


class Reason(verdict.Reason):
    """What is wrong with budgets, in the order in which it is looked for.

    Examples:
        >>> Reason.NOT_MINIMAL.message
        'one of its budgets is above another one'
    """

    OK = "nothing is wrong"
    NO_BUDGET = "one of its budgets has an energy that is negative or above its cap"
    OUT_OF_ORDER = "its budgets are not sorted, or one is listed twice"
    NOT_MINIMAL = "one of its budgets is above another one"
    NOT_WON = "the attacker does not win with one of its budgets"
    MISSING = "the attacker wins with a budget that is not above a listed one"


class Verdict(verdict.Verdict):
    """What a check of minimal budgets found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.multienergy.Reason], and whose `vertex` is a position where it
    holds.
    """

    reasons = Reason
    place = "position"
