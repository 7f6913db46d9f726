"""Jumps of a uniformised Markov chain, seen backwards: plain loops."""

from jaxgames.host import compiled


@compiled
def jump_back(rows, columns, probs, stay, values, found, begin, end):
    """What states are worth one jump of the clock earlier.

    Args:
        rows: int32 `[S + 1]`, the branches of each state.
        columns: int32 `[E]`, where they lead.
        probs: float64 `[E]`, how likely a tick of the clock takes each.
        stay: float64 `[S]`, how likely it leaves a state as it is.
        values: float64 `[S]`, of the states after the tick.
        found: float64 `[S]`, written to.
        begin: the first state that is looked at.
        end: the last one, and one.
    """
    for state in range(max(begin, 0), end):
        here = stay[state] * values[state]
        for branch in range(rows[state], rows[state + 1]):
            here += probs[branch] * values[columns[branch]]
        found[state] = here


@compiled
def jumps_back(rows, columns, probs, stay, both, side, weight, sum_):
    """As many jumps, and the sum of what each is worth by its weight.

    Args:
        rows: as for `jump_back`, as are the others.
        columns: likewise.
        probs: likewise.
        stay: likewise.
        both: float64 `[2, S]`, what states are worth to begin with, and room; written
            to, in turns.
        side: which of both it is.
        weight: float64 `[k]`, what the values after each jump count.
        sum_: float64 `[S]`, added to.

    Returns:
        Which of both it is in the end.
    """
    for jump in range(len(weight)):
        share, other = weight[jump], 1 - side
        for state in range(len(stay)):
            here = stay[state] * both[side, state]
            for branch in range(rows[state], rows[state + 1]):
                here += probs[branch] * both[side, columns[branch]]
            both[other, state] = here
            sum_[state] += share * here
        side = other
    return side
