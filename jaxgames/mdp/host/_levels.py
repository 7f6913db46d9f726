"""Steps that searches by levels share, through a model or through a part of it."""

from jaxgames.host import linear
from jaxgames.mdp._region import NO_CHOICE


@linear
def cut_off(into, source, owner, goal, inside, safe, left, queue, end):
    """Leaves out all states that cannot avoid those that were left out.

    Args:
        into: int32 `[S + 2]`, where the choices that may lead to a state begin.
        source: int32, these choices.
        owner: int32 `[C]`, the state of each choice.
        goal: bool `[S]`, states that stay.
        inside: bool `[S]`, which states are not left out; written to.
        safe: bool `[C]`, the choices that lead to none that is; written to.
        left: int32 `[S]`, how many safe choices each state has; written to.
        queue: int32, which begins with the states that were left out; written to.
        end: how many these are.

    Returns:
        How many are left out then.
    """
    done = 0
    while done < end:
        t = queue[done]
        done += 1
        for i in range(into[t], into[t + 1]):
            c = source[i]
            if not safe[c]:
                continue
            safe[c] = False
            s = owner[c]
            left[s] -= 1
            if left[s] == 0 and inside[s] and not goal[s]:
                inside[s] = False
                queue[end] = s
                end += 1
    return end


@linear
def descending(rows, columns, level, safe, state, first, last):
    """The first safe choice from `first` to `last` that may lead a level nearer."""
    for c in range(first, last):
        if safe[c]:
            for e in range(rows[c], rows[c + 1]):
                if level[columns[e]] == level[state] - 1:
                    return c
    return NO_CHOICE
