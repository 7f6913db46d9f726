"""Sets of letters, so that to join and to compare them takes no time.

Up to some number of propositions a set is a truth table: an integer with a bit for each
letter. Beyond it is a node of a decision diagram. Both have the same operations.
"""

import operator
from typing import Protocol

from jaxgames.ltl import _diagrams
from jaxgames.ltl._diagrams import Diagrams
from jaxgames.ltl._guards import Cube, Guard, tables
from jaxgames.tuning.ltl import TABLES_UP_TO


class Letters(Protocol):
    """Operations on sets of letters; the empty one is 0.

    Attributes:
        all: the set of all.
    """

    all: int

    def proposition(self, number: int, /) -> int:
        """The letters with a proposition."""
        ...

    def both(self, one: int, other: int, /) -> int:
        """What is in both."""
        ...

    def either(self, one: int, other: int, /) -> int:
        """What is in one of them."""
        ...

    def minus(self, one: int, other: int) -> int:
        """What is in one and not in the other."""
        ...

    def first(self, letters: int, count: int) -> int:
        """What the letters in a set say of the first propositions.

        These are letters of so many propositions: `both`, `either` and `minus` are for
        them too.
        """
        ...

    def cubes(self, letters: int) -> Guard:
        """The set as a disjunction of cubes, none of which can be left out."""
        ...

    def of_guard(self, guard: Guard, /) -> int:
        """The set of a disjunction of cubes."""
        ...


def letters_of(count: int) -> Letters:
    """The letters of some number of propositions."""
    return Tables(count) if count <= TABLES_UP_TO else Nodes(count)


class Tables:
    """Truth tables."""

    # Not functions of Python's, which take longer to be called than to be run.
    both = staticmethod(operator.and_)
    either = staticmethod(operator.or_)

    def __init__(self, count: int):
        self._count = count
        self._full = [(1 << (1 << some)) - 1 for some in range(count + 1)]
        self.all, self._propositions = tables(count)
        self._known: dict[int, Guard] = {}
        self._cubes_known: dict[Cube, int] = {(0, 0): self.all}
        self._between_known: dict[tuple[int, int, int], tuple[list, int]] = {}

    def proposition(self, number: int) -> int:
        return self._propositions[number]

    def minus(self, one: int, other: int) -> int:
        return one & ~other

    def first(self, letters: int, count: int) -> int:
        for number in reversed(range(count, self._count)):
            letters = letters >> (1 << number) | letters & self._full[number]
        return letters

    def cubes(self, letters: int) -> Guard:
        if letters not in self._known:
            cube = self._cube(letters)
            if cube is None:
                found, _ = self._between(letters, letters, self._count)
                self._known[letters] = tuple(sorted(found))
            else:
                self._known[letters] = (cube,)
        return self._known[letters]

    def _cube(self, letters: int) -> Cube | None:
        """The one cube that a set is, if it is one."""
        size = letters.bit_count()
        if not size or size & (size - 1):
            return None
        # The first and the last letter of a cube say all.
        must = (letters & -letters).bit_length() - 1
        most = letters.bit_length() - 1
        cube = must, (1 << self._count) - 1 & ~most
        return cube if not must & ~most and self._of_cube(*cube) == letters else None

    def _of_cube(self, must: int, never: int) -> int:
        """The set of a cube."""
        path, found = [], None
        while (found := self._cubes_known.get((must, never))) is None:
            path.append((must, never))
            if must:
                must &= must - 1
            else:
                never &= never - 1
        for must, never in reversed(path):
            bit = must & -must or never & -never
            own = self._propositions[bit.bit_length() - 1]
            found &= own if must else ~own
            self._cubes_known[must, never] = found
        return found

    def _between(self, least: int, most: int, count: int) -> tuple[list, int]:
        """Cubes of a set between two others, and that set (Minato and Morreale)."""
        if not least:
            return [], 0
        if most == self._full[count]:
            return [(0, 0)], most
        key = least, most, count
        found = self._between_known.get(key)
        if found is not None:
            return found
        half, bit = 1 << count - 1, 1 << count - 1
        mask = (1 << half) - 1
        low0, low1, high0, high1 = (
            least & mask,
            most & mask,
            least >> half,
            most >> half,
        )
        if low0 == high0 and low1 == high1:  # the proposition plays no part
            cubes, f2 = self._between(low0, low1, count - 1)
            found = cubes, f2 | f2 << half
        else:
            without, f0 = self._between(low0 & ~high1, low1, count - 1)
            having, f1 = self._between(high0 & ~low1, high1, count - 1)
            rest = low0 & ~f0 | high0 & ~f1
            free, f2 = self._between(rest, low1 & high1, count - 1)
            cubes = [(must, never | bit) for must, never in without]
            cubes += [(must | bit, never) for must, never in having]
            found = cubes + free, (f0 | f2) | (f1 | f2) << half
        self._between_known[key] = found
        return found

    def of_guard(self, guard: Guard) -> int:
        found = 0
        for cube in guard:
            found |= self._of_cube(*cube)
        return found


class Nodes:
    """Nodes of decision diagrams, whose levels are the numbers of propositions."""

    def __init__(self, count: int):
        self._count = count
        self.store = store = Diagrams(range(count))
        self.all = _diagrams.TRUE
        self.proposition, self.of_guard = store.variable, store.guard
        self.both, self.either = store.both, store.either
        self._known: dict[int, Guard] = {}
        self._between_known: dict[tuple[int, int], tuple[Guard, int]] = {}
        self._first_known: dict[tuple[int, int], int] = {}

    def minus(self, one: int, other: int) -> int:
        return self.store.both(one, self.store.negated(other))

    def first(self, letters: int, count: int) -> int:
        store = self.store
        level = store.level[letters]
        if level >= count:
            return _diagrams.TRUE if letters else _diagrams.FALSE
        key = letters, count
        found = self._first_known.get(key)
        if found is None:
            low, high = store.low[letters], store.high[letters]
            found = store.node(level, self.first(low, count), self.first(high, count))
            self._first_known[key] = found
        return found

    def cubes(self, letters: int) -> Guard:
        if letters not in self._known:
            found, _ = self._between(letters, letters)
            self._known[letters] = tuple(sorted(found))
        return self._known[letters]

    def _between(self, least: int, most: int) -> tuple[Guard, int]:
        """Cubes of a set between two others, and that set (Minato and Morreale)."""
        if least == _diagrams.FALSE:
            return (), _diagrams.FALSE
        if most == _diagrams.TRUE:
            return ((0, 0),), _diagrams.TRUE
        key = least, most
        if key not in self._between_known:
            store = self.store
            level = min(store.level[least], store.level[most])
            low0, high0 = store.cofactors(least, level)
            low1, high1 = store.cofactors(most, level)
            without, f0 = self._between(self.minus(low0, high1), low1)
            having, f1 = self._between(self.minus(high0, low1), high1)
            rest = self.either(self.minus(low0, f0), self.minus(high0, f1))
            free, f2 = self._between(rest, self.both(low1, high1))
            bit = 1 << level
            found = tuple((must, never | bit) for must, never in without)
            found += tuple((must | bit, never) for must, never in having)
            function = store.node(level, self.either(f0, f2), self.either(f1, f2))
            self._between_known[key] = found + free, function
        return self._between_known[key]


def atoms(letters: Letters, sets: list[int]) -> list[int]:
    """Disjoint sets, all letters together, of which each of some sets is a union."""
    found = [letters.all]
    for one in dict.fromkeys(sets):
        finer = []
        for atom in found:
            inside = letters.both(atom, one)
            if not inside or inside == atom:
                finer.append(atom)
            else:
                finer += [inside, letters.minus(atom, one)]
        found = finer
    return found
