"""Fair cycles: fairness as acceptance, and any condition on marks."""

import dataclasses

import numpy as np
import pytest

from jaxgames import buchi, ltl, systems
from jaxgames.acceptance import both, either, fin, inf
from jaxgames.ltl import EmersonLei
from jaxgames.testing._ltl import _formula

ACTIONS = ("a", "b", "c")


def random_graph(rng: np.random.Generator):
    """States, edges and their actions."""
    size = int(rng.integers(1, 5))
    degree = rng.integers(0, 4, size)
    offsets = np.append(0, np.cumsum(degree)).astype(np.int32)
    targets = rng.integers(0, size, offsets[-1]).astype(np.int32)
    return (offsets, targets), rng.integers(0, 3, offsets[-1])


def with_enabled(system: systems.System) -> systems.System:
    """The same with propositions that say which actions are enabled."""
    found = system.actions
    assert found is not None
    labels = dict(zip(system.propositions, system.labels.T, strict=True))
    for i, name in enumerate(ACTIONS):
        here = {s for s, k in zip(found.state, found.action, strict=True) if k == i}
        labels[f"can_{name}"] = np.array([s in here for s in found.state])
    return systems.System.from_graph(
        system.arena(), labels, initial=system.initial.tolist()
    )


def as_formula(kind: str, processes) -> str:
    parts = []
    for actions in processes.values():
        enabled = " | ".join(f"can_{x}" for x in actions)
        taken = " | ".join(actions)
        ahead = "F G" if kind == "weak" else "G F"
        parts.append(f"(({ahead} ({enabled})) -> G F ({taken}))")
    return " & ".join(parts)


def compare(seed: int, count: int) -> int:
    rng = np.random.default_rng(seed)
    fair = 0
    for _ in range(count):
        graph, action = random_graph(rng)
        system = systems.System.from_actions(graph, action, ACTIONS)
        kind = ("weak", "strong")[int(rng.integers(2))]
        processes = [{x: [x] for x in ACTIONS}, {"p": ["a", "b"], "c": ["c"]}]
        asked = processes[int(rng.integers(2))]
        there = {ACTIONS[i] for i in action.tolist()}
        asked = {k: x for k, v in asked.items() if (x := [y for y in v if y in there])}
        fairness = systems.Fairness.of_actions(system, asked, kind=kind)
        formula = _formula(rng, int(rng.integers(2, 8)))
        text = str(formula).replace("p", "a").replace("q", "b")
        wrong = ltl.translate(
            text, negate=True, generalised=True, propositions=("a", "b")
        )
        product = systems.marked_product(system, wrong)
        found = buchi.fair_cycle(product, fairness)
        more = with_enabled(system)
        plain = ltl.translate(f"({as_formula(kind, asked) or 'true'}) & !({text})")
        expected = buchi.accepting_cycle(systems.product(more, plain), "host")
        assert bool(found.exists) == bool(expected.exists), (text, kind, asked)
        assert buchi.verify_fair(product, found, fairness)
        lied = dataclasses.replace(found, exists=~found.exists, lasso=None)
        assert not buchi.verify_fair(product, lied, fairness)
        if found.lasso is not None:
            fair += 1
            prefix, cycle = (
                product.system_state[x] for x in (found.lasso.prefix, found.lasso.cycle)
            )
            assert systems.verify_run(system, prefix, cycle, text)
            assert fairness.holds_on(cycle)
    return fair


def test_fairness_is_what_its_formula_says():
    assert 10 < compare(0, 40) < 35


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1, 11))
def test_fairness_is_what_its_formula_says_often(seed):
    assert compare(seed, 300)


def random_condition(rng: np.random.Generator, depth: int):
    if not depth or rng.random() < 0.3:
        return (inf, fin)[int(rng.integers(2))](int(rng.integers(3)))
    join = (both, either)[int(rng.integers(2))]
    return join([random_condition(rng, depth - 1) for _ in range(2)])


def any_condition(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        states, edges = int(rng.integers(1, 4)), int(rng.integers(1, 9))
        automaton = ltl.Automaton.from_edges(
            rng.integers(0, states, edges),
            [("a", "!a", "true")[i] for i in rng.integers(0, 3, edges)],
            rng.integers(0, states, edges),
            num_states=states,
            propositions=["a"],
            sets=rng.random((3, edges)) < 0.4,
        )
        asked = EmersonLei(automaton, random_condition(rng, 2))
        graph, action = random_graph(rng)
        system = systems.System.from_actions(graph, action, ACTIONS)
        product = systems.marked_product(system, asked)
        found = buchi.fair_cycle(product)
        plain = systems.product(system, asked.to_buchi())
        assert bool(found.exists) == bool(buchi.accepting_cycle(plain, "host").exists)
        assert buchi.verify_fair(product, found)
        # All edges are those of the automaton, for the letters of their states.
        letters = system.letters(("a",))
        guards = [asked.graph.guard(e) for e in range(asked.num_edges)]
        for source, edge, target in zip(
            product.sources, product.automaton_edge, product.targets, strict=True
        ):
            graph_of = product.automaton.graph
            letter = int(letters[product.system_state[source]])
            assert graph_of.sources[edge] == product.automaton_state[source]
            assert graph_of.targets[edge] == product.automaton_state[target]
            assert any(
                letter & must == must and not letter & never
                for must, never in graph_of.guard(int(edge))
            )
        assert len(guards) == asked.num_edges


def test_any_condition_without_degeneralising():
    any_condition(0, 40)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1, 11))
def test_any_condition_often(seed):
    any_condition(seed, 300)


@pytest.fixture(scope="module")
def lossy():
    """A channel that may lose what is sent, and a sender that may wait."""
    graph = [0, 2, 4], [0, 1, 0, 0]
    return systems.System.from_actions(
        graph, [0, 1, 2, 3], ("wait", "send", "lose", "deliver")
    )


def test_which_fairness_a_channel_needs(lossy):
    def holds(kind, processes=None):
        fairness = systems.Fairness.of_actions(lossy, processes, kind=kind)
        wrong = ltl.translate("G F deliver", negate=True)
        product = systems.marked_product(lossy, wrong)
        found = buchi.fair_cycle(product, fairness)
        assert buchi.verify_fair(product, found, fairness)
        return not found.exists

    assert not holds("weak")  # what is sent is always lost
    assert holds("strong")
    assert not holds("strong", {"channel": ["lose", "deliver"]})
    assert not holds("strong", {"channel": ["de*"]})  # none need ever send
    assert holds("strong", {"sender": ["send"], "channel": ["de*"]})


def test_a_device_finds_the_same(lossy):
    fairness = systems.Fairness.of_actions(lossy, kind="strong")
    wrong = ltl.translate("G F deliver & G F wait", negate=True)
    product = systems.marked_product(lossy, wrong)
    found = buchi.fair_cycle(product, fairness, solver="fb_trim")
    assert bool(found.exists) == bool(buchi.fair_cycle(product, fairness).exists)
    assert found.stats["solver"] == "fb_trim"


def test_lassos_that_are_none(lossy):
    fairness = systems.Fairness.of_actions(lossy, kind="strong")
    product = systems.marked_product(lossy, ltl.translate("true"))
    lasso = buchi.fair_cycle(product, fairness).lasso
    assert lasso is not None
    assert buchi.verify_fair(product, lasso, fairness)

    def reason(**changed):
        spoilt = dataclasses.replace(lasso, **changed)
        return buchi.verify_fair(product, spoilt, fairness).reason

    assert reason(cycle=lasso.cycle[:0]) == buchi.Reason.NO_LASSO
    assert reason(cycle=lasso.cycle + 99) == buchi.Reason.NO_VERTEX
    assert reason(edges=np.roll(lasso.edges, 1)) == buchi.Reason.NO_EDGE
    loop = int(np.flatnonzero(product.sources == product.targets)[0])
    at = product.sources[[loop]]
    none = lasso.prefix[:0]
    if at[0] in product.initial:
        short = {"prefix": none, "cycle": at, "edges": np.array([loop])}
        assert reason(**short) == buchi.Reason.NOT_ACCEPTING


@pytest.mark.parametrize(
    ("processes", "kind", "message"),
    [
        (None, "fair", "kind must be 'weak' or 'strong', got 'fair'"),
        ({"x": ["receive"]}, "weak", "process 'x' has no action of the system: none"),
        ({"x": []}, "weak", "none is named"),
    ],
)
def test_processes_that_are_none(lossy, processes, kind, message):
    with pytest.raises(ValueError, match=message):
        systems.Fairness.of_actions(lossy, processes, kind=kind)


def test_fairness_that_is_none(lossy):
    system = systems.System.from_graph(([0, 1], [0]), {"p": [True]})
    with pytest.raises(ValueError, match="the system has no actions"):
        systems.Fairness.of_actions(system)
    fairness = systems.Fairness.of_actions(lossy)
    with pytest.raises(ValueError, match="must have the same shape"):
        dataclasses.replace(fairness, taken=fairness.taken[:1])
    with pytest.raises(ValueError, match="process 0 is taken in state"):
        dataclasses.replace(fairness, enabled=~fairness.taken)
    with pytest.raises(ValueError, match="must be booleans"):
        dataclasses.replace(fairness, taken=fairness.taken.astype(int))
    with pytest.raises(ValueError, match="as many names"):
        dataclasses.replace(fairness, names=("one",))
    few = systems.Fairness.of_actions(
        systems.System.from_actions(([0, 1], [0]), [0], ("a",))
    )
    product = systems.marked_product(lossy, ltl.translate("true"))
    with pytest.raises(ValueError, match="fairness knows 1 states"):
        buchi.fair_cycle(product, few)
