"""States that are numbered in the order in which they are found, in one table."""

from jaxgames.host import compiled


@compiled
def number_at(state, place, words, table, count):
    """The number of a state, which is `count` if it is new: then it is noted.

    Args:
        state: integers `[W]`.
        place: where it is looked for first; then one place after the other.
        words: integers `[R, W]`, the first `count` are the states with a number.
        table: int32, their numbers, or -1; a power of two, some are -1.
        count: how many have a number.
    """
    while True:
        found = table[place]
        if found < 0:
            table[place] = count
            for w in range(len(state)):
                words[count, w] = state[w]
            return int(count)
        same = True
        for w in range(len(state)):
            if words[found, w] != state[w]:
                same = False
        if same:
            return int(found)
        place = (place + 1) & (len(table) - 1)
