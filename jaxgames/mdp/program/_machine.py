"""The small machine that goes from state to state: one compiled loop for all programs.

A program is its code: instructions of five words, `[what, a, b, c, d]`. They work on
two arrays of registers, of integers and of floats; the first registers of integers are
the variables of the state. `_code` writes the code.

It stands in few bytes, and its loop is compiled once for all programs and kept on disk:
to compile each program would take longer than most take to be explored.
"""

import numpy as np

from jaxgames.graph._numbered import number_at
from jaxgames.host import compiled
from jaxgames.mdp.program._choices import SUM_TOLERANCE
from jaxgames.mdp.program._nodes import FARTHEST

WIDTH = 5
"""Words of an instruction."""

# Why the machine stops: all is done, it needs room for states or for branches, or
# something is to be looked at by whoever can tell what it is.
DONE, STATES, BRANCHES, LOOK = range(4)

# ---- where to go on: at word `d` unless what is asked holds ----
WITHIN = 0
"""`ints[b] <= ints[a] <= ints[c]`"""
WITHOUT = 1
"""The opposite."""
JUMP = 2
"""Never."""
LESS = 3
"""`ints[a] < ints[b]` is `c`, and so on."""
EQUAL = 4
REAL_LESS = 5
REAL_AT_MOST = 6
REAL_EQUAL = 7
CALL = 8
"""Goes to `d`, and comes back at ..."""
BACK = 9
"""... this."""
LOOK_AT = 10
"""Stops: there is something to be told."""
NEXT = 11
"""The state is done."""
CASES = 12
"""Goes to where word `d + ints[a] - ints[b]` says."""

# ---- what a command does ----
LIKELY = 13
"""The next branch has probability `reals[a]`, which is checked if `b`; `d` if zero."""
CHANGE = 14
"""Variable `a` becomes `ints[b]`."""
CHANGE_BY = 15
"""Variable `a` becomes larger by `ints[b]`."""
BRANCH = 16
"""The branch is there."""
CHOICE = 17
"""The branches since the last one are a choice of action `a`; `b`: check their sum."""
PART = 18
"""Choices of part `a` begin, which go to a table of their own."""
PART_BRANCH = 19
PART_CHOICE = 20
PART_DONE = 21
TOGETHER = 22
"""All choices of the parts of way `b`, each with each, for action `a`."""

# ---- numbers: register `a` becomes what is made of `b` and `c` ----
ADD, SUBTRACT, TIMES, MODULO, LEAST, MOST, POWER, COPY = range(23, 31)
"""What is not positive is not divided by: it stops."""
REAL_ADD, REAL_SUBTRACT, REAL_TIMES, REAL_DIVIDE = range(31, 35)
"""A zero to divide by has no sign if `d`; else it stops."""
REAL_LEAST, REAL_MOST, REAL_COPY = range(35, 38)
FLOOR, CEIL, TO_REAL, TO_INTEGER = range(38, 42)

INFINITE = float("inf")
LOWER_35 = (1 << 35) - 1
# ---- what the machine counts, and the registers of floats that it uses itself ----
COUNT, CHOICES, ALL_BRANCHES, PARTS, PART_BRANCHES, RETURN, COUNTED = range(7)
PROB, TOTAL, OWN_REALS = range(3)

# As `_explored._places`, by numbers with a sign.
MIXED_BY = 0x9E3779B97F4A7C15 - (1 << 64)
SPREAD_BY = 0xBF58476D1CE4E5B9 - (1 << 64)


@compiled
def _number_of(state, words, table, shift, count):
    """The number of a state, which is `count` if it is new."""
    mixed = 0
    for w in range(len(state)):
        mixed = (mixed ^ state[w]) * MIXED_BY
        mixed ^= (mixed >> 29) & LOWER_35
    place = ((mixed * SPREAD_BY) >> shift) & (len(table) - 1)
    return number_at(state, place, words, table, count)


@compiled
def _together(
    action, way, ways, members, words, table, shift, head, row, counted, state,
    part_of, part_ends, part_probs, part_change, at, branch_at, rows, actions, ends,
    probs, numbers,
):  # fmt: skip
    """All choices of some parts, each with each."""
    width = words.shape[1]
    count, choices, branches = counted[COUNT], counted[CHOICES], counted[ALL_BRANCHES]
    first = ways[way]
    size = ways[way + 1] - first
    some = True
    for k in range(size):
        one = members[first + k]
        at[k] = part_of[one, 0]
        some &= part_of[one, 0] < part_of[one, 1]
    while some:
        last = branches
        for k in range(size):
            branch_at[k] = part_ends[at[k]]
        k = 0
        while k >= 0:
            prob = part_probs[branch_at[0]]
            for k in range(1, size):
                prob *= part_probs[branch_at[k]]
            if prob > 0.0:
                if count == len(words):
                    return STATES
                if branches == len(probs):
                    return BRANCHES
                for w in range(width):
                    by = part_change[branch_at[0], w]
                    for k in range(1, size):
                        by += part_change[branch_at[k], w]
                    state[w] = words[head, w] + by
                number = _number_of(state, words, table, shift, count)
                if number == count:
                    count += 1
                    counted[COUNT] = count
                numbers[branches] = number
                probs[branches] = prob
                branches += 1
            k = size - 1
            while k >= 0:
                branch_at[k] += 1
                if branch_at[k] < part_ends[at[k] + 1]:
                    break
                branch_at[k] = part_ends[at[k]]
                k -= 1
        if branches > last:
            rows[choices] = row
            actions[choices] = action
            ends[choices] = branches
            choices += 1
        k = size - 1
        while k >= 0:
            one = members[first + k]
            at[k] += 1
            if at[k] < part_of[one, 1]:
                break
            at[k] = part_of[one, 0]
            k -= 1
        some = k >= 0
    counted[CHOICES], counted[ALL_BRANCHES] = choices, branches
    return DONE


@compiled
def run(
    code, variables, flags, ways, members, ints, reals, words, table, shift, head,
    counted, state, change, part_of, part_ends, part_probs, part_change, at, branch_at,
    rows, actions, ends, probs, numbers,
):  # fmt: skip
    """Expands states, from number `head` on.

    Args:
        code: uint32 `[P]`.
        variables: int64 `[V, 4]`, last ones first: word, size, least value, weight.
        flags: between which integers registers are zero in the beginning.
        ways: int64, where the members of each way begin.
        members: int64, its parts.
        ints: the registers of integers.
        reals: those of floats; the first ones are the machine's own.
        words: the states that are known, see `_explored._Known`.
        table: where to look for them, likewise.
        shift: of a number of 64 bits that is to be a place of the table.
        head: the first state that is not expanded.
        counted: int64 `[COUNTED]`: how many states are known, and of what is found.
        state: int64 `[W]`, to work with.
        change: int64 `[W]`, what the branch adds to the words of the state.
        part_of: int64 `[M, 2]`, between which choices those of a part are.
        part_ends: int64, where the branches of a part's choice end, after a zero.
        part_probs: of the branches of parts.
        part_change: what these add to the words of the state.
        at: int64, to work with: a choice of each member of a way ...
        branch_at: int64, ... and a branch.
        rows: int64, of each choice that is found the state, counted from `head`.
        actions: int32, likewise its action.
        ends: int64, likewise where its branches end.
        probs: float64, of each branch that is found its probability.
        numbers: int32, likewise where it leads.

    Returns:
        The first state that is not expanded, and why it stops.
    """
    # What is counted is in memory: the loop is sooner if it has few variables.
    width, many = words.shape[1], len(variables)
    begin, why = head, DONE
    counted[CHOICES], counted[ALL_BRANCHES] = 0, 0
    while head < counted[COUNT] and why == DONE:
        for w in range(width):
            state[w] = words[head, w]
        for k in range(many):
            w, size = variables[k, 0], variables[k, 1]
            rest = state[w] // size
            ints[many - 1 - k] = state[w] - rest * size + variables[k, 2]
            state[w] = rest
        for k in range(flags[0], flags[1]):
            ints[k] = 0
        old_choices, old_branches = counted[CHOICES], counted[ALL_BRANCHES]
        counted[PARTS], counted[PART_BRANCHES], reals[TOTAL] = 0, 0, 0.0
        pc = 0
        while True:
            pc &= LOWER_35  # which tells the compiler that it is not negative
            what, a, b = (
                np.int64(code[pc]),
                np.int64(code[pc + 1]),
                np.int64(code[pc + 2]),
            )
            c, d = np.int64(code[pc + 3]), np.int64(code[pc + 4])
            pc += WIDTH
            if what == WITHIN:
                if ints[a] < ints[b] or ints[a] > ints[c]:
                    pc = d
            elif what == WITHOUT:
                if ints[a] >= ints[b] and ints[a] <= ints[c]:
                    pc = d
            elif what == JUMP:
                pc = d
            elif what == LESS:
                if (ints[a] < ints[b]) != (c == 1):
                    pc = d
            elif what == EQUAL:
                if (ints[a] == ints[b]) != (c == 1):
                    pc = d
            elif what == REAL_LESS:
                if (reals[a] < reals[b]) != (c == 1):
                    pc = d
            elif what == REAL_AT_MOST:
                if (reals[a] <= reals[b]) != (c == 1):
                    pc = d
            elif what == REAL_EQUAL:
                if (reals[a] == reals[b]) != (c == 1):
                    pc = d
            elif what == CALL:
                counted[RETURN], pc = pc, d
            elif what == BACK:
                pc = counted[RETURN]
            elif what == LOOK_AT:
                why = LOOK
                break
            elif what == NEXT:
                break
            elif what == CASES:
                pc = np.int64(code[d + (ints[a] - ints[b])])
            elif what == LIKELY:
                prob = reals[a]
                # As of no infinity, and of what is no number.
                if b == 1 and not (prob >= 0.0 and prob - prob == 0.0):
                    why = LOOK
                    break
                reals[PROB] = prob
                reals[TOTAL] += prob
                change[0] = 0
                for w in range(1, width):
                    change[w] = 0
                if prob == 0.0:
                    pc = d
            elif what == CHANGE:
                new, k = ints[b], many - 1 - a
                low = variables[k, 2]
                if new < low or new >= low + variables[k, 1]:
                    why = LOOK
                    break
                change[variables[k, 0]] += (new - ints[a]) * variables[k, 3]
            elif what == CHANGE_BY:
                k = many - 1 - a
                new, low = ints[a] + ints[b], variables[k, 2]
                if new < low or new >= low + variables[k, 1]:
                    why = LOOK
                    break
                change[variables[k, 0]] += ints[b] * variables[k, 3]
            elif what == BRANCH:
                count, branches = counted[COUNT], counted[ALL_BRANCHES]
                if count == len(words):
                    why = STATES
                    break
                if branches == len(probs):
                    why = BRANCHES
                    break
                for w in range(width):
                    state[w] = words[head, w] + change[w]
                number = _number_of(state, words, table, shift, count)
                if number == count:
                    counted[COUNT] = count + 1
                numbers[branches] = number
                probs[branches] = reals[PROB]
                counted[ALL_BRANCHES] = branches + 1
            elif what == CHOICE:
                if b == 1 and not (
                    -SUM_TOLERANCE <= reals[TOTAL] - 1.0 <= SUM_TOLERANCE
                ):
                    why = LOOK
                    break
                reals[TOTAL] = 0.0
                last, branches, choices = 0, counted[ALL_BRANCHES], counted[CHOICES]
                if choices > 0:
                    last = ends[choices - 1]
                if branches > last:
                    rows[choices] = head - begin
                    actions[choices] = a
                    ends[choices] = branches
                    counted[CHOICES] = choices + 1
            elif what == PART:
                part_of[a, 0] = counted[PARTS]
            elif what == PART_BRANCH:
                part_branches = counted[PART_BRANCHES]
                part_probs[part_branches] = reals[PROB]
                for w in range(width):
                    part_change[part_branches, w] = change[w]
                counted[PART_BRANCHES] = part_branches + 1
            elif what == PART_CHOICE:
                if b == 1 and not (
                    -SUM_TOLERANCE <= reals[TOTAL] - 1.0 <= SUM_TOLERANCE
                ):
                    why = LOOK
                    break
                reals[TOTAL] = 0.0
                parts, part_branches = counted[PARTS], counted[PART_BRANCHES]
                if part_branches > part_ends[parts]:
                    part_ends[parts + 1] = part_branches
                    counted[PARTS] = parts + 1
            elif what == PART_DONE:
                part_of[a, 1] = counted[PARTS]
            elif what == TOGETHER:
                why = _together(
                    a, b, ways, members, words, table, shift, head, head - begin,
                    counted, state, part_of, part_ends, part_probs, part_change, at,
                    branch_at, rows, actions, ends, probs, numbers,
                )  # fmt: skip
                if why != DONE:
                    break
            elif what == ADD:
                ints[a] = ints[b] + ints[c]
            elif what == SUBTRACT:
                ints[a] = ints[b] - ints[c]
            elif what == TIMES:
                ints[a] = ints[b] * ints[c]
            elif what == MODULO:
                if ints[c] <= 0:
                    why = LOOK
                    break
                ints[a] = ints[b] % ints[c]
            elif what == LEAST:
                ints[a] = min(ints[b], ints[c])
            elif what == MOST:
                ints[a] = max(ints[b], ints[c])
            elif what == POWER:
                power, factor, left = 1, ints[b], ints[c]
                while left > 0:
                    if left & 1:
                        power *= factor
                    factor *= factor
                    left >>= 1
                ints[a] = power
            elif what == COPY:
                ints[a] = ints[b]
            elif what == REAL_ADD:
                reals[a] = reals[b] + reals[c]
            elif what == REAL_SUBTRACT:
                reals[a] = reals[b] - reals[c]
            elif what == REAL_TIMES:
                reals[a] = reals[b] * reals[c]
            elif what == REAL_DIVIDE:
                if reals[c] != 0.0:
                    reals[a] = reals[b] / reals[c]
                elif d == 1:
                    reals[a] = reals[b] * INFINITE
                else:
                    why = LOOK
                    break
            elif what == REAL_LEAST:
                # The first one, too, if it is no number.
                if reals[b] < reals[c] or reals[b] != reals[b]:
                    reals[a] = reals[b]
                else:
                    reals[a] = reals[c]
            elif what == REAL_MOST:
                if reals[b] > reals[c] or reals[b] != reals[b]:
                    reals[a] = reals[b]
                else:
                    reals[a] = reals[c]
            elif what == REAL_COPY:
                reals[a] = reals[b]
            elif what in (FLOOR, CEIL):
                value = reals[b]
                if -FARTHEST < value < FARTHEST:
                    whole = int(value)
                    if what == FLOOR:
                        if whole > value:
                            whole -= 1
                    elif whole < value:
                        whole += 1
                    value = whole + 0.0
                reals[a] = value
            elif what == TO_REAL:
                reals[a] = ints[b] + 0.0
            elif what == TO_INTEGER:
                ints[a] = int(reals[b])
        if why == DONE:
            head += 1
        else:  # what is known now is the next that is found when it is done again
            counted[CHOICES], counted[ALL_BRANCHES] = old_choices, old_branches
    return head, why
