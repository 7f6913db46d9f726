"""Models: known numbers of their products, and that the algorithms do what they should.

The numbers of vertices, edges and accepting vertices are those of other tools.
"""

from pathlib import Path

import numpy as np
import pytest

from jaxgames import buchi, graph, ltl, systems
from jaxgames.generate import protocols
from jaxgames.ltl import Automaton

CORPUS = Path(__file__).parents[3] / "shared/data/made/ltl"

KNOWN = {
    "phils-4.resp0": (107, 299, 27),
    "phils-4.anyeat": (154, 467, 74),
    "phils-4.GFcs0": (159, 594, 79),
    "elevator-4-clever.FGp1": (1841, 5053, 1360),
    "phils-6-left.anyeat": (1379, 5701, 650),
    "phils-6-left.GFcs0": (1458, 8154, 729),
    "bakery-2-max9.someone": (2946, 7254, 1440),
    "anderson-3.resp0": (2386, 7699, 927),
    "elevator-4-clever.serve0": (2688, 9184, 960),
    "elevator-4-clever.serve1": (2688, 9184, 960),
    "bakery-2-max4-last.fairw": (3708, 8811, 1191),
    "anderson-3.someone": (2833, 9198, 1374),
    "leader-3.elect": (4966, 8859, 4966),
    "anderson-3.recur0": (2897, 10498, 1438),
    "bakery-2-max4-last.fair": (4088, 10034, 1325),
    "elevator-4-clever.pass1": (4480, 14088, 2752),
    "elevator-6-naive.serve1": (6927, 33402, 2511),
    "anderson-3-last.fair": (12271, 44016, 3063),
    "phils-8.anyeat": (11774, 60467, 5214),
    "peterson-3.resp0": (22816, 86904, 10318),
    "peterson-3.someone": (24965, 97158, 12467),
    "anderson-4.resp0": (48183, 203160, 18542),
    "bakery-3-max4.resp0": (59447, 215750, 26528),
    "bakery-3-max4.someone": (65535, 238715, 32616),
    "anderson-4.someone": (58205, 243904, 28564),
    "anderson-4.recur0": (59095, 280716, 29454),
    "peterson-3-last.fair": (165627, 648623, 56912),
}
LARGE = {
    "bakery-3-max8.someone": (227785, 841597, 113236),
    "anderson-4-last.fair": (360589, 1735444, 86280),
    "peterson-3-err2.resp0": (306663, 1330601, 136507),
    "phils-11-left.anyeat": (291163, 1929511, 114016),
    "leader-5.elect": (1572886, 4319565, 1572886),
    "elevator-10-clever.pass1": (1485292, 9968952, 901612),
    "peterson-4.someone": (2239039, 11449204, 1119479),
    "peterson-4.recur0": (2239099, 11575212, None),
    "anderson-5.recur0": (1377577, 8086368, None),
    "elevator-10-clever.serve1": (891372, 6573880, None),
}
HOLDS = {
    *("phils-6-left.anyeat", "anderson-3.resp0", "anderson-3.someone"),
    *("elevator-4-clever.serve0", "elevator-4-clever.serve1", "anderson-3-last.fair"),
    *("peterson-3.someone", "anderson-4.resp0", "anderson-4.someone", "leader-3.elect"),
    *("peterson-3-last.fair", "anderson-4-last.fair", "phils-11-left.anyeat"),
    *("leader-5.elect", "peterson-4.someone", "elevator-10-clever.serve1"),
}  # fmt: skip


def automaton_of(model: protocols.Model, name: str) -> Automaton:
    """The automaton that the numbers belong to.

    That is what the translation makes, but where it has one of several minimal forms.
    """
    processes = sum(key.startswith("act") for key in model.propositions)
    if name == "FGp1":
        guards = ["p1", "!p1", "p1", "!p1"]
        return Automaton.from_edges(
            [0, 0, 1, 1], guards, [0, 1, 0, 1], accepting=[0, 1]
        )
    if name not in ("fair", "fairw"):
        return ltl.translate(model.properties[name], negate=True)
    # For each process, two states that tell whether it has just moved, while it is not
    # in its critical section; and two for whoever has stopped waiting.
    edges = [(0, "true", 0)]
    for i in range(processes):
        first = 1 + (2 if name == "fair" else 4) * i
        away, acts = f"!cs{i}", f"act{i}"
        start = away if name == "fair" else f"wait{i} & {away}"
        edges.append((0, start, first))
        for state in (first, first + 1):
            edges.append((state, f"{away} & !{acts}", first))
            edges.append((state, f"{away} & {acts}", first + 1))
            if name == "fairw":
                edges.append((state, f"{away} & !wait{i}", first + 2))
                edges.append((state + 2, f"!{acts}", first + 2))
                edges.append((state + 2, acts, first + 3))
    sources, guards, targets = zip(*edges, strict=True)
    accepting = np.arange(max(targets) + 1) % 2 == 0
    accepting[0] = False
    return Automaton.from_edges(sources, guards, targets, accepting=accepting)


def check(name: str, numbers: tuple) -> None:
    of, which = name.split(".")
    model = protocols.named(of)
    assert model.name == of
    automaton = automaton_of(model, which)
    product = systems.product(model.explore(), automaton)
    found = product.num_vertices, product.num_edges, int(product.accepting.sum())
    assert found[:2] == numbers[:2]
    assert numbers[2] in (found[2], None)
    assert buchi.accepting_cycle(product).exists == (name not in HOLDS)
    path = CORPUS / f"{name}.npz"
    if not path.is_file():
        return
    known = np.load(path)
    for one, other in (
        (np.diff(product.offsets), np.diff(known["offsets"])),
        (np.bincount(product.targets), np.bincount(known["targets"])),
    ):
        # The same vertices by degree and acceptance, in whatever order.
        pairs = [one * 2 + product.accepting, other * 2 + known["accepting"]]
        np.testing.assert_array_equal(*(np.sort(x) for x in pairs))


@pytest.mark.parametrize("name", KNOWN)
def test_products(name):
    check(name, KNOWN[name])


@pytest.mark.sweep
@pytest.mark.parametrize("name", LARGE)
def test_large_products(name):
    check(name, LARGE[name])


@pytest.mark.parametrize(
    "name", ["bakery-2-max4-last.fair", "bakery-2-max4-last.fairw"]
)
def test_the_automata_are_those_of_the_formulas(name):
    of, which = name.split(".")
    model = protocols.named(of)
    automaton = automaton_of(model, which)
    formula = model.properties[which]
    holds = ltl.translate(formula, propositions=automaton.propositions)
    violated = ltl.translate(formula, negate=True, propositions=automaton.propositions)
    assert automaton.intersect(holds).is_empty()
    product = systems.product(model.explore(), violated)
    assert buchi.accepting_cycle(product).exists == (name not in HOLDS)


def test_mutual_exclusion():
    for name in ("peterson-3", "anderson-3", "bakery-2-max9"):
        system = protocols.named(name).explore()
        inside = [p.startswith("cs") for p in system.propositions]
        together = system.labels[:, inside].sum(axis=1)
        assert together.max() == 1
        one = system.labels[:, system.propositions.index("one_in_cs")]
        np.testing.assert_array_equal(one, together == 1)


def test_the_slip_is_one():
    """With it, two processes may be in their critical sections."""
    space = protocols.peterson(3, error=2).state_space()
    pc = space.states[:, :3]
    assert (pc == pc.max()).sum(axis=1).max() == 3


def test_one_leader():
    space = protocols.leader(3).state_space()
    elected = (space.states[:, :3] == 9).sum(axis=1)
    assert elected.max() == 1
    assert (elected[space.deadlocks] == 1).all()


def test_philosophers_hold_their_forks():
    for left in (False, True):
        space = protocols.phils(5, left=left).state_space()
        pc, fork = space.states[:, :5], space.states[:, 5:]
        taken = np.isin(pc, [1, 3]) + 2 * (pc == 2)
        np.testing.assert_array_equal(taken.sum(axis=1), fork.sum(axis=1))
        assert len(space.deadlocks) == (0 if left else 1)
        assert space.num_states == (3**5 if left else 3**5 - 1)


@pytest.mark.parametrize(
    "name",
    [
        "phils-3-left",
        pytest.param("anderson-3-last", marks=pytest.mark.sweep),
        pytest.param("bakery-2-max9", marks=pytest.mark.sweep),
        pytest.param("elevator-4-clever", marks=pytest.mark.sweep),
        pytest.param("elevator-6-naive", marks=pytest.mark.sweep),
        pytest.param("leader-3", marks=pytest.mark.sweep),
        pytest.param("peterson-3-err2", marks=pytest.mark.sweep),
    ],
)
def test_both_engines(name):
    model = protocols.named(name)
    one, other = (model.state_space(engine=x) for x in ("host", "device"))
    for field in ("words", "offsets", "targets", "actions", "levels"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), field)


@pytest.mark.parametrize(
    "name", ["anderson-4.recur0", "peterson-3.resp0", "elevator-6-naive.serve1"]
)
def test_violations_are_found_before_half_of_the_product(name):
    of, which = name.split(".")
    model = protocols.named(of)
    search = systems.explore_product(
        model.successors,
        model.initial,
        ltl.translate(model.properties[which], negate=True),
        propositions=model.propositions,
        ranges=model.ranges,
    )
    found = buchi.accepting_cycle_of(search, initial=search.initial, overlap=False)
    assert found.exists
    assert found.stats["built"] < KNOWN[name][0] / 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: protocols.peterson(1), "processes must be from 2 to 8, got 1"),
        (lambda: protocols.peterson(3, error=1), "error must be 0 or 2, got 1"),
        (lambda: protocols.anderson(3, last=1), "last must be True or False, got 1"),
        (lambda: protocols.bakery(2, highest=0), "highest must be from 1 to 100"),
        (lambda: protocols.leader("3"), "processes must be an integer from 2 to 8"),
        (lambda: protocols.phils(1), "philosophers must be from 2 to 20, got 1"),
        (lambda: protocols.elevator(4, control="x"), "must be 'clever' or 'naive'"),
        (lambda: protocols.named("phils"), r"no model is called 'phils'; .* phils-N"),
        (lambda: protocols.named("leader-3-last"), "no model is called"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_components_are_named():
    model = protocols.elevator(3, control="clever")
    assert model.components[:4] == ("request[0]", "request[1]", "request[2]", "aim")
    assert len(model.components) == len(model.ranges) == len(model.initial)
    assert isinstance(model.state_space(), graph.StateSpace)
    assert model is protocols.named("elevator-3-clever")
