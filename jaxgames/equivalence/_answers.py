"""Answers questions of a spectroscopy game: what becomes of sets.

Members of the sets that are asked about are listed, and for each what it becomes: the
processes that it reaches by an action, or the part that it falls into of each of three
splits. Sorted, and each taken once, these are the sets that answer.
"""

from jaxgames import ops
from jaxgames.equivalence._found import PARTS, Found, Processes, Sizes
from jaxgames.equivalence._refinement import scramble
from jaxgames.graph._state_table import look_up_all
from jaxgames.later import jax, jnp


def answer(processes: Processes, salt, sizes: Sizes, found: Found) -> Found:
    """Answers the next questions, as many as have room for their lists."""
    asks, room = sizes.asks, sizes.entries
    lists = asks * PARTS
    which, value, taken, lacks = _list(processes, sizes, found)
    there = which < lists
    fresh = ops.differs_from_last(which, value) & there
    listed = jnp.where(fresh, which, lists)
    lengths = ops.sum_into(listed, jnp.ones(room, jnp.int32), lists)
    hashes = [
        ops.sum_into(listed, scramble(value, salt + word), lists) for word in range(2)
    ]
    number = jnp.arange(lists, dtype=jnp.int32)
    question = number // PARTS
    asked = jax.lax.dynamic_slice_in_dim(found.questions.words, found.answered, asks)
    splits = (asked[:, 1] >= processes.labels.astype(jnp.uint32))[:, None]
    among = splits | (jnp.arange(PARTS) == 0)
    among = among.reshape(-1) & (question < taken)
    keys = jnp.stack([*hashes, lengths.astype(jnp.uint32)], axis=1)
    begins = found.begins
    sets, answers, new = look_up_all(found.sets, keys, among)
    answers = jnp.where(among, answers, processes.empty)

    # The members of new sets, one set behind the other.
    base = ops.take(begins, found.sets.count)
    stops = base + jnp.cumsum(jnp.where(new, lengths, 0), dtype=jnp.int32)
    begins = ops.store(begins, jnp.where(new, answers + 1, len(begins)), stops)
    # A list's place minus that of its first entry is the place in its set.
    firsts = jnp.cumsum(lengths, dtype=jnp.int32) - lengths
    whose = jnp.minimum(which, lists - 1)
    place = jnp.cumsum(fresh, dtype=jnp.int32) - 1 - ops.take(firsts, whose)
    goal = ops.take(begins, ops.take(answers, whose)) + place
    writes = fresh & ops.take(new, whose)
    members = found.members
    members = ops.store(members, jnp.where(writes, goal, len(members)), value)
    # Lists that were taken for a set must have its members.
    held = ops.take(members, jnp.where(fresh, goal, 0))
    wrong = jnp.sum(fresh & (held != value), dtype=jnp.int32)
    longest = jnp.max(jnp.where(new, lengths, 0))
    return found._replace(
        answers=jax.lax.dynamic_update_slice_in_dim(
            found.answers, answers.reshape(asks, PARTS), found.answered, 0
        ),
        sets=sets,
        begins=begins,
        members=members,
        answered=found.answered + taken,
        lacks=jnp.stack([
            found.lacks[0],
            lacks,
            jnp.where(longest > sizes.longest, longest, found.lacks[2]),
        ]),
        wrong=found.wrong + wrong,
    )  # fmt: skip


def _list(processes: Processes, sizes: Sizes, found: Found):
    """The lists that answer questions, sorted; how many are taken, and what it lacks.

    Entries are the number of a list, `PARTS` for each question, and a process. Where
    there is none the number is that of no list.
    """
    asks, room = sizes.asks, sizes.entries
    lists = asks * PARTS
    asked = jax.lax.dynamic_slice_in_dim(found.questions.words, found.answered, asks)
    first, what = (asked[:, column].astype(jnp.int32) for column in range(2))
    there = jnp.arange(asks, dtype=jnp.int32) < found.questions.count - found.answered
    first = jnp.where(there, first, processes.empty)
    begin = ops.take(found.begins, first)
    size = ops.take(found.begins, first + 1) - begin
    ends = ops.row_ends(size, room)
    size = jnp.where(ends <= room, size, 0)
    splits = what >= processes.labels
    rows = jnp.stack([begin, what, splits.astype(jnp.int32)], axis=1)

    question, place, real = ops.expand(size, room)
    begin, what, splits = (ops.take(rows, question)[:, i] for i in range(3))
    member = ops.take(found.members, jnp.where(real, begin + place, 0))
    low, high = step_of(processes, sizes, member, what)
    count = jnp.where(real, jnp.where(splits > 0, 3, high - low), 0)
    # Questions are taken as long as all of their entries have room.
    after = ops.row_ends(count, room)
    last = jnp.minimum(ends, room) - 1
    fits = (ends <= room) & (ops.take(after, jnp.maximum(last, 0)) <= room)
    fits |= ends == 0
    taken = jnp.sum(jnp.cumsum(~fits, dtype=jnp.int32) == 0, dtype=jnp.int32)
    taken = jnp.minimum(taken, jnp.sum(there, dtype=jnp.int32))
    count = jnp.where(question < taken, count, 0)
    lacks = jnp.where((taken == 0) & there[0], room + 1, 0)

    own = ops.take(processes.enables, member)
    cells = jnp.stack([question, member, low, what, splits, own], axis=1)
    index, place, real = ops.expand(count, room)
    question, member, low, what, splits, other = (
        ops.take(cells, index)[:, i] for i in range(6)
    )
    splits = splits > 0
    reached = ops.take(processes.target, jnp.where(real & ~splits, low + place, 0))
    own = jnp.where(splits, what - processes.labels, 0)
    width = processes.includes.shape[1]
    table = processes.includes.reshape(-1)
    less = ops.take(table, own * width + other)
    more = ops.take(table, other * width + own)
    chosen = jnp.where(place == 0, less, jnp.where(place == 1, more, less & more))
    part = jnp.where(splits, 2 * place + jnp.int32(chosen), 0)
    which = jnp.where(real, question * PARTS + part, lists)
    value = jnp.where(splits, member, reached)
    bounds = lists + 1, len(processes.enables)
    which, value = ops.sort_rows(which, jnp.where(real, value, 0), bounds=bounds)
    return which, value, taken, lacks


def step_of(processes: Processes, sizes: Sizes, process, action):
    """The transitions of processes by actions: from the first up to the second."""
    row, label = processes.row, processes.label
    begin, end = ops.take(row, process), ops.take(row, process + 1)
    return tuple(
        ops.search_rows(label, begin, end, action + more, sizes.longest)
        for more in (0, 1)
    )
