"""The states of a program, found on a device, and what they can do.

A program is a transition function with as many successors of a state as there are ways
in which commands may end together: for each action the commands that modules may do of
it, and an outcome of each. [`graph.explore`][jaxgames.graph.explore] finds the states;
an edge tells by its number which commands it is of, so that choices, probabilities and
states in order are found from edges, many at a time.

What is wrong with a program is told by the host, which looks at one state after the
other: here it is only seen that something is.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from jaxgames import fixpoint, limits, ops
from jaxgames.arena import MAX_SIZE, bucket
from jaxgames.graph._explore import NO_LIMIT
from jaxgames.graph._explore_device import Arrays, OnDevice
from jaxgames.graph._explore_rules import Rules
from jaxgames.graph._packing import WORD, Packing
from jaxgames.later import jax, jnp
from jaxgames.mdp.program._choices import SUM_TOLERANCE
from jaxgames.mdp.program._explored import Explored, initial_words
from jaxgames.mdp.program._expressions import Typed
from jaxgames.mdp.program._packed import Columns
from jaxgames.mdp.program._resolved import Outcome, Ready, Resolved
from jaxgames.tuning.prism import CELLS_AT_ONCE, MOST_SUCCESSORS, UNROLLED

Asked = tuple[Typed, type]
"""An expression, and the type of its values."""


class Joint(NamedTuple):
    """Commands that modules do together: a choice where all guards hold.

    Attributes:
        action: what it is called, by number.
        commands: one of each module that takes part.
    """

    action: int
    commands: tuple[Ready, ...]

    @property
    def ends(self) -> Iterator[tuple[Outcome, ...]]:
        """The ways in which they may end."""
        return itertools.product(*(command.outcomes for command in self.commands))

    @property
    def width(self) -> int:
        return math.prod(len(command.outcomes) for command in self.commands)


def is_searchable(program: Resolved) -> bool:
    """Whether a device can explore a program.

    It has variables, its states have no more successors than are worth to be computed
    for all, and all that is computed means something.
    """
    few = 0 < _successors(program) <= MOST_SUCCESSORS
    return bool(program.packed.names) and few and program.is_total


def _successors(program: Resolved) -> int:
    """How many successors a state has at most."""
    total = 0
    for _, way in program.alternatives:
        of_parts = (program.commands[part].get(own, ()) for part, own in way)
        total += math.prod(
            sum(len(command.outcomes) for command in some) for some in of_parts
        )
    return total


class Successors:
    """A program as a transition function, for arrays of JAX.

    Args:
        program: the program.
        asked: expressions that are wanted in all states, and the types of their values.

    Attributes:
        program: likewise.
        asked: likewise, each once.
        joints: what may be done, in the order in which the host finds it.
        joint_of: the number of the joint that each successor is of: int32 `[A]`.
        has_parts: whether steps of a chain earn by what they are made of.
        constant: probabilities of all successors, float64 `[A]`; None if states tell
            them.
    """

    def __init__(self, program: Resolved, asked: Iterable[Asked] = ()):
        self.program = program
        self.asked = tuple(dict.fromkeys(asked))
        self.joints = [
            Joint(action, commands)
            for action, way in program.alternatives
            for commands in itertools.product(
                *(program.commands[part].get(own, ()) for part, own in way)
            )
        ]
        widths = [joint.width for joint in self.joints]
        self.joint_of = np.repeat(np.arange(len(widths), dtype=np.int32), widths)
        rewards = itertools.chain.from_iterable(program.rewards.values())
        by_action = any(item.action is not None for item in rewards)
        self.has_parts = program.kind != "mdp" and by_action
        self.constant = _constant(self.joints)

    def columns(self, states: Any) -> Mapping[int, Any]:
        """The values of all variables, from states int32 `[N, K]`."""
        truths = self.program.packed.truths
        return {
            k: states[:, k] != 0 if truths[k] else states[:, k].astype(np.int64)
            for k in range(len(truths))
        }

    def __call__(self, states: Any) -> tuple[Any, Any]:
        """All successors, int64 `[N, A, K]`, and which there are."""
        columns = self.columns(states)
        wide = [states[:, k].astype(np.int64) for k in columns]
        after, enabled = [], []
        for holds, changes in self._changed(columns):
            new = [_spread(changes.get(k, x), states) for k, x in enumerate(wide)]
            after.append(jnp.stack(new, axis=1))
            enabled.append(_spread(holds, states))
        return jnp.stack(after, axis=1), jnp.stack(enabled, axis=1)

    def of_words(
        self, packing: Packing, words: Any
    ) -> tuple[list[list[Any]], list[Any], list[Any]]:
        """As the function of states, from words to words: see `graph.OfWords`.

        A change of a variable changes its word by so much, whatever the others are.
        """
        states = packing.unpack(words)
        columns = self.columns(states)
        after, enabled, outside = [], [], []
        for holds, changes in self._changed(columns):
            new = [words[:, w] for w in range(packing.num_words)]
            wrong: Any = jnp.zeros((), bool)
            for k, value in changes.items():
                by = value.astype(np.uint32) - states[:, k].astype(np.uint32)
                if packing.shift[k] < WORD:
                    new[packing.word[k]] += by << np.uint32(packing.shift[k])
                wrong |= (value < packing.low[k]) | (value > packing.high[k])
            after.append(new)
            enabled.append(_spread(holds, words))
            outside.append(_spread(wrong, words))
        return after, enabled, outside

    def _changed(
        self, columns: Mapping[int, Any]
    ) -> Iterator[tuple[Any, dict[int, Any]]]:
        """Of each successor where there is one, and what variables become: int64."""
        for joint, holds in self._holding(columns):
            for outcomes, probability in self._ends(joint, columns):
                changes = {
                    x.number: jnp.asarray(x.value.on(jnp, columns), np.int64)
                    for x in itertools.chain.from_iterable(x.changes for x in outcomes)
                }
                yield holds & (probability > 0), changes

    def probabilities(self, states: Any) -> Any:
        """Those of all successors, or rates: float64 `[N, A]`, zero where none is."""
        columns = self.columns(states)
        found = [
            _spread(jnp.where(holds, probability, 0.0), states)
            for joint, holds in self._holding(columns)
            for _, probability in self._ends(joint, columns)
        ]
        return jnp.stack(found, axis=1)

    def wrong(self, states: Any) -> Any:
        """Where a command may be done whose probabilities are none: bool `[N]`."""
        columns = self.columns(states)
        found = jnp.zeros(len(states), bool)
        commands = {id(x): x for joint in self.joints for x in joint.commands}
        for command in commands.values():
            holds = _truth(command.guard, columns)
            total: Any = 0.0
            for outcome in command.outcomes:
                value = _number(outcome.probability, columns)
                found |= holds & ~((value >= 0) & (value < jnp.inf))
                total = total + value
            if self.program.kind != "ctmc":
                found |= holds & ~(jnp.abs(total - 1) <= SUM_TOLERANCE)
        return found

    def _holding(self, columns: Mapping[int, Any]) -> Iterator[tuple[Joint, Any]]:
        """All joints, and where they can be done; each guard is looked at once."""
        guards: dict[int, Any] = {}
        for joint in self.joints:
            holds = jnp.ones((), bool)
            for command in joint.commands:
                if id(command) not in guards:
                    guards[id(command)] = _truth(command.guard, columns)
                holds = holds & guards[id(command)]
            yield joint, holds

    def _ends(
        self, joint: Joint, columns: Mapping[int, Any]
    ) -> Iterator[tuple[tuple[Outcome, ...], Any]]:
        """The ways in which a joint may end, and how likely they are."""
        for outcomes in joint.ends:
            likely = [_number(outcome.probability, columns) for outcome in outcomes]
            yield outcomes, functools.reduce(lambda a, b: a * b, likely)


def _constant(joints: Iterable[Joint]) -> np.ndarray | None:
    found = [
        [outcome.probability.value for outcome in outcomes]
        for joint in joints
        for outcomes in joint.ends
    ]
    if any(value is None for values in found for value in values):
        return None
    return np.array([math.prod(map(float, values)) for values in found])


def _spread(values: Any, states: Any) -> Any:
    return jnp.broadcast_to(values, (len(states),))


def _truth(typed: Typed, columns: Mapping[int, Any]) -> Any:
    return jnp.asarray(typed.on(jnp, columns), bool)


def _number(typed: Typed, columns: Mapping[int, Any]) -> Any:
    return jnp.asarray(typed.on(jnp, columns), np.float64)


# ---- the search ----------------------------------------------------------------------


def explore(rules: Successors, most: int) -> Explored | None:
    """Finds all states that can be reached, and what they can do.

    As [`explored.explore`][jaxgames.mdp.program._explored.explore] on the host, up to
    the last digit of products and sums of probabilities; `words` and what is evaluated
    of them stay on the device.

    Returns:
        What was found; None where something is wrong with the program.

    Raises:
        ValueError: there are more states, or more branches than int32 can index.
        MemoryError: there is no room for more.
    """
    packed = rules.program.packed
    columns = Columns(packed, initial_words(rules.program))
    first = [np.asarray(columns[k], np.int32) for k in range(len(packed.names))]
    starts = np.stack(first, axis=1)
    if len(starts) > most:
        raise ValueError(f"the program has more than {most} initial states")
    ends = zip(packed.lows, packed.sizes, strict=True)
    packing = Packing.of([(low, low + size - 1) for low, size in ends], len(first))
    with jax.enable_x64(True):
        search = OnDevice(Rules.of(rules, starts, packing, True), starts)
        while not search.done:
            limits.tick("exploring", search.head, "states")
            if search.tail > most:
                raise ValueError(f"the program has more than {most} states")
            search.advance(NO_LIMIT, min(most, NO_LIMIT), 0.25)
        if search.wrong is not None:
            return None
        if search.tail > most:
            raise ValueError(f"the program has more than {most} states")
        limits.tick("putting states in order", search.tail, "states")
        try:
            return _arranged(rules, packing, search.arrays(), len(starts))
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            raise MemoryError(
                f"{search.tail} states and {search.edges} branches were found, and the "
                "device has no room to put them in order"
            ) from error


def _arranged(
    rules: Successors, packing: Packing, found: Arrays, starts: int
) -> Explored | None:
    """States in the order of their words, deadlocks with a loop, branches merged."""
    program = rules.program
    count, edges = found.count, found.edges
    size = min(bucket(count), len(found.words))
    ordered = _in_order(rules, packing, size, found.words, found.ends, np.int32(count))
    loops, wrong = (int(x) for x in np.asarray(ordered.numbers))
    if wrong:
        return None
    if edges + loops > MAX_SIZE:
        raise ValueError(
            f"the program has more branches than int32 can index ({MAX_SIZE})"
        )
    probs = rules.constant
    if probs is None:
        room = min(bucket(edges), len(found.targets))
        each = _evaluated(
            rules, packing, size, room, found.words, found.ends, np.int32(count)
        )
    else:
        each = jnp.asarray(np.append(probs, 1.0))
    made = _rows(
        rules, bucket(edges + loops), ordered, each, found.targets, found.actions,
        np.int32(count),
    )  # fmt: skip
    choices, branches, parts = (int(x) for x in np.asarray(made.numbers))
    cut = _cut(rules, made, ordered, count, choices, branches, parts)
    chain, timed = program.kind != "mdp", program.kind == "ctmc"
    told = jax.tree.map(np.asarray, cut)
    return Explored(
        words=ordered.words,
        groups=np.arange(count + 1, dtype=np.int32) if chain else told.groups,
        rows=told.rows,
        columns=told.columns,
        probs=told.probs,
        action=None if chain else told.action,
        exits=told.exits if timed else None,
        initial=np.sort(np.asarray(ordered.number[:starts])),
        deadlocks=told.deadlocks,
        shares=told.parts if chain else None,
        values=dict(zip(rules.asked, told.values, strict=True)),
    )


class Ordered(NamedTuple):
    """States in the order of their words; places from `count` on are of none.

    Attributes:
        words: int64 `[S, W]`.
        order: int32 `[S]`, the number that each had when it was found.
        number: int32 `[S]`, of those as they were found, the place of each.
        begin: int32 `[S]`, where the edges of each began.
        dead: bool `[S]`, whether nothing can happen there.
        ends: int32 `[S]`, where the edges of each end now, one for a deadlock.
        numbers: int32 `[2]`: deadlocks, and states in which something is wrong.
    """

    words: jax.Array
    order: jax.Array
    number: jax.Array
    begin: jax.Array
    dead: jax.Array
    ends: jax.Array
    numbers: jax.Array


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _in_order(
    rules: Successors, packing: Packing, size: int, words, ends, count
) -> Ordered:
    packed = rules.program.packed
    each = jnp.arange(size, dtype=jnp.int32)
    there = each < count
    states = packing.unpack(words[:size])
    keys = []
    for w in range(packed.num_words):
        key = jnp.zeros(size, np.int64)
        for k, low in enumerate(packed.lows):
            if packed.words[k] == w:
                part = states[:, k].astype(np.int64) - low
                key = key + part * np.int64(packed.weights[k])
        keys.append(jnp.where(there, key, np.iinfo(np.int64).max))
    *keys, order = jax.lax.sort((*keys, each), num_keys=len(keys))
    ends = ends[:size]
    begin = jnp.concatenate([jnp.zeros(1, ends.dtype), ends[:-1]])
    length = jnp.where(there, ends - begin, 0)[order]
    dead = there & (length == 0)
    wrong = there & rules.wrong(states)
    return Ordered(
        words=jnp.stack(keys, axis=1),
        order=order,
        number=jnp.zeros(size, jnp.int32).at[order].set(each, unique_indices=True),
        begin=begin[order],
        dead=dead,
        ends=jnp.cumsum(jnp.where(dead, 1, length), dtype=jnp.int32),
        numbers=jnp.stack(
            [jnp.sum(dead, dtype=jnp.int32), jnp.sum(wrong, dtype=jnp.int32)]
        ),
    )


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _evaluated(
    rules: Successors, packing: Packing, size: int, room: int, words, ends, count
) -> jax.Array:
    """The probability of each edge as it was found: float64 `[room]`."""
    many = len(rules.joint_of)
    rows = min(max(1, CELLS_AT_ONCE // many), size)

    def some(part: Any, found: jax.Array) -> jax.Array:
        first = jnp.minimum(part * rows, size - rows)
        here = jax.lax.dynamic_slice_in_dim(words, first, rows)
        number = first + jnp.arange(rows, dtype=jnp.int32)
        fresh = (number >= part * rows) & (number < count)
        values = rules.probabilities(packing.unpack(here))
        there = (values > 0) & fresh[:, None]
        own = jnp.cumsum(there, axis=1, dtype=jnp.int32)
        last = jax.lax.dynamic_slice_in_dim(ends, first, rows)
        at = (last - own[:, -1])[:, None] + own - 1
        at = jnp.where(there, at, room)
        return ops.put(found, at.reshape(-1), values.reshape(-1))

    return _counted(0, -(-size // rows), some, jnp.zeros(room, np.float64))


def _counted(begin: int, end: int, step: Callable[[Any, Any], Any], first: Any) -> Any:
    """A step for each number, one after the other."""
    return fixpoint.until(
        lambda state: state[0] >= end,
        lambda state: (state[0] + 1, step(*state)),
        (jnp.int32(begin), first),
    )[1]


class Rows(NamedTuple):
    """Choices and branches of states in order, with places that are of none.

    Attributes:
        groups: int32 `[S + 1]`.
        rows: int32 `[E + 1]`, of choices.
        columns: int32 `[E]`.
        probs: float64 `[E]`.
        action: int32 `[E]`, of choices.
        exits: float64 `[S]`.
        parts: of chains, as `shares` of what is found: empty if nobody asks for them.
        numbers: int32 `[3]`: choices, branches and parts.
    """

    groups: jax.Array
    rows: jax.Array
    columns: jax.Array
    probs: jax.Array
    action: jax.Array
    exits: jax.Array
    parts: tuple[jax.Array, jax.Array, jax.Array]
    numbers: jax.Array


@functools.partial(jax.jit, static_argnums=(0, 1))
def _rows(
    rules: Successors, room: int, ordered: Ordered, each, targets, actions, count
) -> Rows:
    program = rules.program
    chain, timed = program.kind != "mdp", program.kind == "ctmc"
    size, many = len(ordered.order), len(rules.joint_of)
    total = ordered.ends[-1]
    place = jnp.arange(room, dtype=jnp.int32)
    there = place < total
    start = jnp.concatenate([jnp.zeros(1, jnp.int32), ordered.ends[:-1]])
    # A state in which something begins is marked there: all have an edge at least.
    begins = (
        jnp.zeros(room, jnp.int32)
        .at[start]
        .add((jnp.arange(size) < count).astype(jnp.int32), mode="drop")
    )
    owner = jnp.maximum(jnp.cumsum(begins, dtype=jnp.int32) - 1, 0)
    first = begins > 0
    dead = ordered.dead[owner]
    edge = jnp.minimum(ordered.begin[owner] + place - start[owner], len(targets) - 1)
    which = jnp.where(dead, many, actions[edge].astype(jnp.int32))
    column = jnp.where(dead, owner, ordered.number[targets[edge]])
    if rules.constant is not None:
        probs = each[which]
    else:
        probs = jnp.where(dead, 1.0, each[jnp.minimum(edge, len(each) - 1)])
    probs = jnp.where(there, probs, 0.0)
    joint = jnp.asarray(np.append(rules.joint_of, len(rules.joints)))[which]
    apart = first | (joint != jnp.roll(joint, 1))
    widest = max(joint.width for joint in rules.joints)
    longest = many if chain else widest
    own = apart & there & ~dead
    exits, share = jnp.zeros(size, np.float64), jnp.ones(room, np.float64)
    if timed:
        exits = _sums(owner, probs, many)[start]
        exits = jnp.where(ordered.dead, 1.0, exits)
        if rules.has_parts:
            part = jnp.cumsum(apart, dtype=jnp.int32)
            share = _sums(part, probs, widest) / exits[owner]
        probs = jnp.where(dead, 1.0, probs / exits[owner])
    elif chain:
        several = jnp.zeros(size, jnp.int32).at[owner].add(own.astype(jnp.int32))
        share = (1.0 / jnp.maximum(several, 1).astype(np.float64))[owner]
        probs = probs * share
    heads = first if chain else apart
    choice = jnp.cumsum(heads & there, dtype=jnp.int32) - 1
    merged, again = _merged(
        jnp.where(there, choice, -1 - place), column, probs, longest
    )
    kept = there & ~again
    branch = jnp.cumsum(kept, dtype=jnp.int32) - 1
    at = jnp.where(kept, branch, room)
    begun = jnp.where(heads & there, choice, room)
    named = np.append([x.action for x in rules.joints], 0).astype(np.int32)
    branches, choices = branch[-1] + 1, choice[-1] + 1
    named = jnp.asarray(named)[joint]
    told, number = own & rules.has_parts, jnp.cumsum(own, dtype=jnp.int32) - 1
    parts: Any = tuple(
        ops.put(
            jnp.zeros(room * rules.has_parts, x.dtype), jnp.where(told, number, room), x
        )
        for x in (owner, named, share)
    )
    rows = jnp.full(room + 1, branches).at[begun].set(branch, mode="drop")
    return Rows(
        groups=jnp.concatenate([choice[start], choices[None]]).at[count].set(choices),
        # A place that is of no choice would be set last by those that are not there.
        rows=rows.at[room].set(branches),
        columns=ops.put(jnp.zeros(room, jnp.int32), at, column),
        probs=ops.put(jnp.zeros(room, np.float64), at, merged),
        action=ops.put(jnp.zeros(room, jnp.int32), begun, named),
        exits=exits,
        parts=parts,
        numbers=jnp.stack([choices, branches, jnp.sum(told, dtype=jnp.int32)]),
    )


def _sums(owner: jax.Array, values: jax.Array, longest: int) -> jax.Array:
    """At the first place of each owner, the sum of its values, in order."""

    def plus(back: Any, found: jax.Array) -> jax.Array:
        mine = jnp.roll(owner, -back) == owner
        return found + jnp.where(
            mine & _before_end(owner, back), jnp.roll(values, -back), 0
        )

    return _for_each(longest, plus, values)


def _merged(
    choice: jax.Array, column: jax.Array, probs: jax.Array, longest: int
) -> tuple[jax.Array, jax.Array]:
    """Sums of branches of a choice that lead to one state, and all but the first."""

    def step(back: Any, found: tuple[jax.Array, jax.Array]) -> Any:
        merged, again = found
        same = (jnp.roll(choice, -back) == choice) & (jnp.roll(column, -back) == column)
        same &= _before_end(choice, back)
        merged = merged + jnp.where(same, jnp.roll(probs, -back), 0)
        return merged, again | jnp.roll(same, back)

    return _for_each(longest, step, (probs, jnp.zeros(len(probs), bool)))


def _before_end(x: jax.Array, back: Any) -> jax.Array:
    """Which places have another so many later."""
    return jnp.arange(len(x), dtype=jnp.int32) < len(x) - back


def _for_each(longest: int, step: Any, first: Any) -> Any:
    """Distances up to `longest`, one after the other: short lists in one program."""
    if longest <= UNROLLED:
        for back in range(1, longest):
            first = step(back, first)
        return first
    return _counted(1, longest, step, first)


class Cut(NamedTuple):
    """What is told of a program, without places that are of none, on the host."""

    groups: jax.Array
    rows: jax.Array
    columns: jax.Array
    probs: jax.Array
    action: jax.Array
    exits: jax.Array
    deadlocks: jax.Array
    parts: tuple[jax.Array, jax.Array, jax.Array]
    values: tuple[jax.Array, ...]


@functools.partial(jax.jit, static_argnums=(0, 3, 4, 5, 6))
def _cut(
    rules: Successors,
    made: Rows,
    ordered: Ordered,
    states: int,
    choices: int,
    branches: int,
    parts: int,
) -> Cut:
    chain, timed = rules.program.kind != "mdp", rules.program.kind == "ctmc"
    words = ordered.words[:states]
    columns = Columns(rules.program.packed, words)
    cut = Cut(
        made.groups[: 0 if chain else states + 1],
        made.rows[: choices + 1],
        made.columns[:branches],
        made.probs[:branches],
        made.action[: 0 if chain else choices],
        made.exits[: states if timed else 0],
        ordered.dead[:states],
        tuple(x[:parts] for x in made.parts),  # pyright: ignore[reportArgumentType]
        tuple(
            _spread(jnp.asarray(typed.on(jnp, columns), kind), words)
            for typed, kind in rules.asked
        ),
    )
    # Memory of the host that the device can write to by itself.
    return jax.device_put(cut, jax.memory.Space.Host)
