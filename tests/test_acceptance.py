"""Acceptance conditions and Zielonka trees, against sets of marks one by one."""

import random

import pytest

from jaxgames.acceptance import Acceptance, both, either, fin, inf, parity
from jaxgames.zielonka_tree import Subsets, ZielonkaTree

KINDS = "max even", "max odd", "min even", "min odd"


def by_lot(rng: random.Random, depth: int, marks: int) -> Acceptance:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([inf, fin])(rng.randrange(marks))
    parts = [by_lot(rng, depth - 1, marks) for _ in range(rng.randint(2, 3))]
    return rng.choice([both, either])(parts)


def holds(condition: Acceptance, marks: int) -> bool:
    """By the definition, recursively."""
    match condition.operator:
        case "inf" | "fin":
            return bool(marks >> condition.mark & 1) == (condition.operator == "inf")
        case "&":
            return all(holds(x, marks) for x in condition.operands)
        case "|":
            return any(holds(x, marks) for x in condition.operands)
    return condition.operator == "true"


@pytest.mark.parametrize("seed", range(4))
def test_conditions_and_trees_on_cycles(seed):
    rng, chains = random.Random(seed), 0
    for _ in range(100):
        count = rng.randint(1, 4)
        condition = by_lot(rng, rng.randint(0, 3), count)
        tree, chain = ZielonkaTree(condition), condition.colours()
        chains += chain is not None
        for _ in range(10):
            few = rng.random() < 0.5
            cycle = [
                1 << rng.randrange(count) if few else rng.randrange(1 << count)
                for _ in range(rng.randint(1, 5))
            ]
            met = 0
            for marks in cycle:
                met |= marks
            expected = holds(condition, met)
            assert condition.holds(met) == expected
            assert condition.negated().holds(met) != expected
            assert (largest(tree, cycle) % 2 == 0) == expected
            if chain:
                colours, lowest = chain
                top = max(
                    max((colours[i] for i in colours if marks >> i & 1), default=lowest)
                    for marks in cycle
                )
                assert (top % 2 == 0) == expected
    assert chains > 20


def test_the_sets_below_a_set_are_the_largest_that_count_the_other_way():
    nested = inf(0)
    for mark in range(1, 2000):
        atom, join = (inf, either) if mark % 2 == 0 else (fin, both)
        nested = join([atom(mark), nested])
    subsets = Subsets(nested)  # nothing recurses
    assert subsets.below(subsets.every) == [subsets.every ^ 1 << 1999]
    for seed in range(300):
        rng = random.Random(seed)
        asked = by_lot(rng, rng.randint(1, 4), rng.randint(1, 6))
        subsets = Subsets(asked)
        for label in [
            subsets.every,
            *(rng.getrandbits(6) & subsets.every for _ in "abc"),
        ]:
            value = holds(asked, label)
            assert subsets.accepts(label) == value
            below = [x for x in range(64) if not x & ~label]
            other = [x for x in below if holds(asked, x) != value]
            expected = [x for x in other if all(x == y or x & ~y for y in other)]
            assert sorted(subsets.below(label)) == expected, (seed, label)


def test_a_tree_may_be_given_up_after_some_sets():
    streett = both(either([fin(2 * i), inf(2 * i + 1)]) for i in range(4))
    subsets = Subsets(streett)
    with pytest.raises(ValueError, match="tree of 8 marks asks for more than 50 sets"):
        ZielonkaTree(streett, max_sets=50, subsets=subsets)
    assert 50 < subsets.tried < 80
    # What is known then need not be found again.
    assert len(ZielonkaTree(streett, subsets=subsets).label) == 129


def largest(tree: ZielonkaTree, cycle: list[int]) -> int:
    """The largest colour that a tree emits again and again."""
    leaf, seen, emitted = tree.first_leaf[0], {}, []
    while (leaf, len(emitted) % len(cycle)) not in seen:
        seen[leaf, len(emitted) % len(cycle)] = len(emitted)
        leaf, colour = tree.read(leaf, cycle[len(emitted) % len(cycle)])
        emitted.append(colour)
    return max(emitted[seen[leaf, len(emitted) % len(cycle)] :])


@pytest.mark.parametrize("kind", KINDS)
def test_parity_conditions_are_chains(kind):
    for count in range(7):
        condition = parity(kind, count)
        colours, lowest = condition.colours()
        for marks in range(1 << count):
            met = [i for i in range(count) if marks >> i & 1]
            # Nothing is -1 if the largest counts, and behind all if the least does.
            none = -1 if kind.startswith("max") else count
            last = (max if kind.startswith("max") else min)(met, default=none)
            accepts = (last % 2 == 0) == kind.endswith("even")
            assert condition.holds(marks) == accepts
            top = max((colours[i] for i in met if i in colours), default=lowest)
            assert (top % 2 == 0) == accepts


def test_texts_and_very_deep_conditions():
    assert str(parity("max even", 3)) == "Inf(2) | (Fin(1) & Inf(0))"
    assert str(both([inf(0), either([fin(1), inf(2)])])) == "Inf(0) & (Fin(1) | Inf(2))"
    deep = parity("min odd", 5000)
    assert len(deep.colours()[0]) == 5000
    assert deep.negated().holds(1)
    assert not deep.holds(1)
    assert str(deep).count("(") > 5000


def test_what_a_condition_comes_to():
    condition = both([inf(0), either([fin(1), inf(2)])])
    assert condition.marks == (0, 1, 2)
    assert str(condition.assuming(0b011)) == "Inf(0) & Fin(1)"
    assert str(condition.assuming(0b110)) == "f"
    assert str(condition.renamed(lambda i: inf(i + 5))) == "Inf(5) & (Fin(6) | Inf(7))"


def test_trees_have_the_nodes_that_they_need():
    generalised = ZielonkaTree(both(map(inf, range(6))))
    assert len(generalised.leaves) == 6
    assert sorted({*generalised.colour}) == [1, 2]
    assert len(ZielonkaTree(parity("max even", 9)).leaves) == 1


def test_trees_that_are_too_large():
    streett = both(either([fin(2 * i), inf(2 * i + 1)]) for i in range(5))
    with pytest.raises(ValueError, match="more than 50"):
        ZielonkaTree(streett, max_nodes=50)
