"""Boolean functions over propositions, as disjunctions of cubes.

A cube is a pair of bit masks: the propositions that must hold, and those that must not.
A guard is a tuple of cubes and holds where one of them does. Masks are Python integers,
proposition `i` is bit `i`.
"""

import functools
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence

from jaxgames.arguments import texts
from jaxgames.ltl._formula import Formula
from jaxgames.tuning.ltl import TABLES_UP_TO

Cube = tuple[int, int]
Guard = tuple[Cube, ...]

MAX_PROPOSITIONS = 64
"""Propositions that a letter, which is one 64-bit word, has room for."""

MAX_CUBES = 2048
"""Cubes that a guard may come to: to simplify more takes minutes."""

MAX_PAIRS = 1 << 22
"""Cubes of two guards that are joined with one another."""

TRUE: Guard = ((0, 0),)
"""Holds for every letter."""

FALSE: Guard = ()
"""Holds for none."""


def literal(proposition: int) -> Guard:
    """A proposition."""
    return ((1 << proposition, 0),)


def either(*guards: Guard) -> Guard:
    """The disjunction."""
    return simplified([cube for guard in guards for cube in guard])


def both(one: Guard, other: Guard) -> Guard:
    """The conjunction."""
    if len(one) * len(other) > MAX_PAIRS:
        raise ValueError(
            f"a formula comes to {len(one)} times {len(other)} cubes, more than "
            f"{MAX_PAIRS} in all"
        )
    pairs = [(a | c, b | d) for a, b in one for c, d in other]
    return simplified([(must, never) for must, never in pairs if not must & never])


def negated(guard: Guard) -> Guard:
    result = TRUE
    for must, never in guard:
        literals = [(0, bit) for bit in bits(must)] + [(bit, 0) for bit in bits(never)]
        result = both(result, tuple(literals))
    return result


def covers(guard: Sequence[Cube], cube: Cube) -> bool:
    """Whether a guard holds wherever a cube does."""
    must, never = cube
    near, left = [], 1 << MAX_PROPOSITIONS  # its letters, in these units
    for a, b in guard:
        if not (a & never or b & must):
            further = (a & ~must | b & ~never).bit_count()
            if not further:
                return True
            left -= 1 << MAX_PROPOSITIONS - further
            near.append((a, b))
    if left > 0:
        return False
    # Shannon's expansion, by a proposition that the cube leaves open.
    a, b = near[0]
    bit = next(bits((a & ~must) | (b & ~never)))
    return covers(near, (must | bit, never)) and covers(near, (must, never | bit))


def simplified(cubes: Iterable[Cube]) -> Guard:
    """The same function by few short cubes, in a fixed order.

    Literals are dropped as long as what is added was covered already, then cubes that
    the others cover: the result is irredundant, but need not be the smallest.
    """
    guard = tuple(sorted(set(cubes)))
    if len(guard) < 2:
        return guard
    if len(guard) > 16:  # quick help for truth tables
        guard = _neighbours_united(guard)
    if len(guard) > MAX_CUBES:
        raise ValueError(
            f"a formula comes to {len(guard)} cubes, more than {MAX_CUBES}"
        )
    support = functools.reduce(operator.or_, itertools.chain(*guard))
    if support.bit_count() <= TABLES_UP_TO:
        return _shortened_by_tables(guard, support)
    short = []
    for must, never in guard:
        near = _near(guard, must, never)
        for bit in bits(must | never):
            if must & bit:
                shorter, other = (must ^ bit, never), (must ^ bit, never | bit)
            else:
                shorter, other = (must, never ^ bit), (must | bit, never ^ bit)
            if covers([*near.get(bit, ()), *near[0]], other):
                must, never = shorter
                near = _near(guard, must, never)
        short.append((must, never))
    kept = sorted(set(short), key=_by_length)
    for cube in kept[::-1]:
        others = tuple(x for x in kept if x != cube)
        if covers(others, cube):
            kept.remove(cube)
    return tuple(sorted(kept))


def _near(guard: Guard, must: int, never: int) -> dict[int, list[Cube]]:
    """The cubes that a cube shares letters with, and those but for one literal of it.

    The latter are at the bit of the proposition, the former at 0.
    """
    found: dict[int, list[Cube]] = {0: []}
    for a, b in guard:
        apart = a & never | b & must
        if not apart & (apart - 1):
            found.setdefault(apart, []).append((a, b))
    return found


def tabled(
    guard: Iterable[Cube], support: int
) -> tuple[int, list[tuple[int, int, int]], list[int]]:
    """Truth tables of cubes, over the propositions of a support alone.

    Returns:
        That of all letters; for each proposition its bit, how far apart in a table the
        letters with it and without it are, and its own; and those of the cubes.
    """
    every, variables = tables(support.bit_count())
    places = [(bit, 1 << i, variables[i]) for i, bit in enumerate(bits(support))]
    sets = []
    for must, never in guard:
        some = every
        for bit, _, own in places:
            if must & bit:
                some &= own
            elif never & bit:
                some &= ~own
        sets.append(some)
    return every, places, sets


def _shortened_by_tables(guard: Guard, support: int) -> Guard:
    """The same as the end of `simplified`, sooner where few propositions are there."""
    every, places, sets = tabled(guard, support)
    outside = every & ~functools.reduce(operator.or_, sets)
    short: dict[Cube, int] = {}
    for (must, never), some in zip(guard, sets, strict=True):
        for bit, apart, _ in places:
            if must & bit:
                wider = some | some >> apart
                if not wider & outside:
                    must, some = must ^ bit, wider
            elif never & bit:
                wider = some | some << apart
                if not wider & outside:
                    never, some = never ^ bit, wider
        short[must, never] = some
    order = sorted(short, key=_by_length)
    before = list(itertools.accumulate((short[x] for x in order), operator.or_))
    kept, taken = [], 0
    for cube, others in zip(order[::-1], [*before[-2::-1], 0], strict=True):
        if short[cube] & ~(others | taken):
            kept.append(cube)
            taken |= short[cube]
    return tuple(sorted(kept))


@functools.cache
def tables(count: int) -> tuple[int, tuple[int, ...]]:
    """Truth tables: integers with a bit for each letter of some propositions.

    That of all letters, and those of the letters with each proposition.
    """
    every = (1 << (1 << count)) - 1
    halves = [1 << number for number in range(count)]
    lots = ((((1 << half) - 1) << half, (1 << 2 * half) - 1) for half in halves)
    return every, tuple(own * (every // whole) for own, whole in lots)


def _neighbours_united(guard: Guard) -> Guard:
    """Unites cubes that differ in one literal, proposition by proposition."""
    found = set(guard)
    for bit in bits(functools.reduce(operator.or_, itertools.chain(*guard))):
        for must, never in sorted(found):
            if must & bit and (twin := (must ^ bit, never | bit)) in found:
                found -= {(must, never), twin}
                found.add((must ^ bit, never))
    return tuple(sorted(found))


def text(guard: Guard, names: Sequence[str]) -> str:
    """A guard in words; the constants are written `true` and `false`.

    Examples:
        >>> text(((0b01, 0b10), (0b100, 0)), ["a", "b", "c"])
        'a & !b | c'
    """
    if not guard:
        return "false"
    return " | ".join(_words(cube, names) for cube in guard)


def _words(cube: Cube, names: Sequence[str]) -> str:
    must, never = cube
    words = [
        ("" if must & bit else "!") + names[bit.bit_length() - 1]
        for bit in bits(must | never)
    ]
    return " & ".join(words) or "true"


def bits(mask: int) -> Iterator[int]:
    """The bits of a mask, each alone, the lowest first."""
    while mask:
        low = mask & -mask
        yield low
        mask ^= low


def indices(mask: int) -> list[int]:
    """The numbers of the bits of a mask."""
    return [bit.bit_length() - 1 for bit in bits(mask)]


# ---- from what users pass ----------------------------------------------------


def check_propositions(names: Iterable[str]) -> tuple[str, ...]:
    """Names of propositions, as a tuple: different, and no more than 64."""
    names = texts("propositions", names)
    if len(names) > MAX_PROPOSITIONS:
        raise ValueError(
            f"an automaton has at most {MAX_PROPOSITIONS} propositions, got "
            f"{len(names)}: a letter is one 64-bit word"
        )
    for name, other in itertools.pairwise(sorted(names)):
        if name == other:
            raise ValueError(f"there are two propositions {name!r}")
    return names


def propositions_for(formula: Formula, names: Iterable[str] | None) -> tuple[str, ...]:
    """The propositions of an automaton for a formula: by default those in it."""
    names = check_propositions(formula.propositions if names is None else names)
    unknown = [x for x in formula.propositions if x not in names]
    if unknown:
        raise ValueError(
            f"proposition {unknown[0]!r} of the formula is not among the propositions "
            f"{', '.join(names) or '(none)'}"
        )
    return names


def guard_of(
    label: Formula | Iterable[tuple[int, int]], propositions: Sequence[str]
) -> Guard:
    """A guard from a Boolean formula, or from pairs of masks."""
    if isinstance(label, Formula):
        return of_formula(label, propositions)
    return of_masks(label, len(propositions))


def of_formula(formula: Formula, propositions: Sequence[str]) -> Guard:
    """The cubes of a Boolean formula; else raises ValueError."""
    known: dict[int, Guard] = {}
    for part in formula.parts():
        parts = [known[id(x)] for x in part.operands]
        known[id(part)] = _of_formula(part, parts, propositions)
    return known[id(formula)]


def _of_formula(
    formula: Formula, parts: list[Guard], propositions: Sequence[str]
) -> Guard:
    """The cubes of a formula, given those of its operands."""
    match formula.operator:
        case "true":
            return TRUE
        case "false":
            return FALSE
        case "name":
            if formula.name not in propositions:
                raise ValueError(
                    f"there is no proposition {formula.name!r}, expected one of "
                    f"{', '.join(propositions) or 'none'}"
                )
            return literal(propositions.index(formula.name))
        case "!":
            return negated(parts[0])
        case "&":
            guard = parts[0]
            for part in parts[1:]:
                guard = both(guard, part)
            return guard
        case "|":
            return either(*parts)
        case "->":
            return either(negated(parts[0]), parts[1])
        case "<->":
            one, two = parts
            return either(
                both(one, two),
                both(negated(one), negated(two)),
            )
    raise ValueError(f"a guard must be Boolean, got {str(formula)!r}")


def of_masks(cubes: Iterable[tuple[int, int]], num_propositions: int) -> Guard:
    """A guard from pairs of masks that somebody passed; empty cubes are left out.

    It is simplified where that takes no time.
    """
    guard = tuple((int(must), int(never)) for must, never in cubes)
    for mask in (mask for cube in guard for mask in cube):
        if not 0 <= mask < 1 << num_propositions:
            raise ValueError(
                f"a mask must have bits of the {num_propositions} propositions alone, "
                f"got {mask:#x}"
            )
    kept = {(must, never) for must, never in guard if not must & never}
    support = functools.reduce(operator.or_, itertools.chain(*kept), 0)
    if support.bit_count() > TABLES_UP_TO:  # mostly somebody has simplified it before
        return tuple(sorted(kept))
    return simplified(kept)


def _by_length(cube: Cube) -> tuple[int, Cube]:
    return cube[0].bit_count() + cube[1].bit_count(), cube
