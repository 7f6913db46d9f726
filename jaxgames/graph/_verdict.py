"""What a check of strongly connected components finds."""

from jaxgames import verdict


class Reason(verdict.Reason):
    """What is wrong with components, in the order in which it is looked for.

    Examples:
        >>> Reason.LABEL_MISSING.message
        'it belongs to the graph, yet has no component'
    """

    OK = "nothing is wrong"
    LABEL_OUT_OF_RANGE = "its component is neither -1 nor less than their number"
    LABEL_MISSING = "it belongs to the graph, yet has no component"
    LABEL_OF_NO_VERTEX = "it is masked out or padding, yet has a component"
    NUMBERED_OUT_OF_ORDER = (
        "its component is not numbered in order of the smallest vertices"
    )
    WRONG_COUNT = "there are not as many components as was said"
    NOT_REACHED = (
        "the smallest vertex of its component does not reach it inside the component"
    )
    NOT_REACHING = (
        "it does not reach the smallest vertex of its component inside the component"
    )
    CYCLE_OF_COMPONENTS = (
        "from its component one gets to a cycle of several components: they are one"
    )


class Verdict(verdict.Verdict):
    """What a check of components found: true if nothing is wrong.

    A [`Verdict`][jaxgames.verdict.Verdict] whose `reason` is a
    [`Reason`][jaxgames.graph.Reason], and whose `vertex` is a vertex where it holds.
    """

    reasons = Reason
