"""What a check of maximal end components finds."""

from jaxgames import verdict


class Reason(verdict.Reason):
    """What is wrong with end components, in the order in which it is looked for.

    Examples:
        >>> Reason.NOT_REACHED.message
        'the smallest state of its component does not reach it by kept choices'
    """

    OK = "nothing is wrong"
    LABEL_OUT_OF_RANGE = "its component is neither -1 nor less than their number"
    LABEL_OF_NO_STATE = "it is masked out or padding, yet has a component"
    NUMBERED_OUT_OF_ORDER = (
        "its component is not numbered in order of the smallest states"
    )
    WRONG_COUNT = "there are not as many components as was said"
    CHOICE_LEAVES = (
        "a choice of it is kept that is masked out or may leave the component"
    )
    CHOICE_MISSING = "a choice of it that stays in the component is not kept"
    NO_CHOICE = "it has a component, but no choice that is kept"
    NOT_REACHED = (
        "the smallest state of its component does not reach it by kept choices"
    )
    NOT_REACHING = (
        "it does not reach the smallest state of its component by kept choices"
    )
    NOT_MAXIMAL = (
        "it can be stayed with for ever by other choices too: there is an end "
        "component that was overlooked, or a larger one"
    )


class Verdict(verdict.Verdict):
    """What a check of end components found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.mdp.Reason], and whose `vertex` is a state where it holds.
    """

    reasons = Reason
    place = "state"
