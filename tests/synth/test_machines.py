"""Machines as automata of their words: what they leave open, where they are stuck."""

import itertools

import numpy as np
import pytest

from jaxgames import synth
from jaxgames.ltl import Automaton, Formula
from jaxgames.synth import Controller, Decomposition, Specification

ECHO = "G(g <-> r)"


def machine(*edges, propositions=("r", "g")):
    """An automaton of edges `(tail, guard, head)` in which all runs accept."""
    tails, guards, heads = zip(*edges, strict=True)
    return Automaton.from_edges(tails, guards, heads, propositions=propositions)


def asked(formula, apart, moore=False):
    kind = Decomposition if apart else Specification
    return kind.from_ltl(formula, ["r"], ["g"], moore=moore)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("formula", "edges", "right"),
    [
        (ECHO, [(0, "g & r | !g & !r", 0)], True),
        (ECHO, [(0, "g & r", 0)], False),  # it has no answer to !r
        (ECHO, [(0, "g & r | !g & !r", 1)], False),  # nor to anything in state 1
        (ECHO, [(0, "g & r | !g & !r", 0), (1, "g", 1)], True),  # 1 is not met
        (ECHO, [(0, "g & r | !r", 0)], False),  # what is left open may be wrong
        ("G(r -> g)", [(0, "g & r | !r", 0)], True),
        ("G(r -> X g)", [(0, "r", 1), (0, "!r", 0), (1, "g & !r", 0)], False),
        (
            "G(r -> X g)",
            [(0, "r", 1), (0, "!r", 0), (1, "g & !r", 0), (1, "g & r", 1)],
            True,
        ),
        # It may choose where to go: both must be right.
        ("G(r -> X g)", [(0, "true", 0), (0, "true", 1), (1, "g", 1)], False),
        ("G F g", [(0, "true", 1), (1, "g", 0)], True),
        ("G F g", [(0, "true", 1), (1, "g", 0), (1, "!g", 1)], False),
    ],
)
def test_what_a_machine_allows(formula, edges, right, apart):
    assert synth.verify(asked(formula, apart), machine(*edges)) is right


@pytest.mark.parametrize("apart", [False, True])
def test_who_moves_first_does_not_look(apart):
    late = asked("G(r -> X g)", apart, moore=True)
    good = machine((0, "!r", 0), (0, "r", 1), (1, "g & !r", 0), (1, "g & r", 1))
    looks = machine(
        (0, "!r & !g", 0), (0, "r & g", 1), (1, "!r & g", 0), (1, "r & g", 1)
    )
    assert synth.verify(late, good)
    assert not synth.verify(late, looks)
    assert synth.verify(asked("G(r -> X g)", apart), looks)
    # The machine of the environment, which moves first where the system does not.
    lost = asked("G(g <-> X r)", apart)
    answer = machine((0, "!r", 1), (0, "r", 1), (1, "r & !g | !r & g", 1))
    assert not synth.verify(lost, answer, realizable=False)
    wrong = Automaton.from_edges(
        [0, 0, 1, 1, 2, 2],
        ["g & !r", "!g & !r", "g & !r", "!g & !r", "g & r", "!g & r"],
        [1, 2, 1, 2, 1, 2],
        propositions=["r", "g"],
    )
    assert synth.verify(lost, wrong, realizable=False)


def test_propositions_need_not_be_mentioned():
    two = Specification.from_ltl("G(r -> g)", ["r", "s"], ["g", "h"])
    assert synth.verify(two, machine((0, "g | !r", 0)))
    turned = machine((0, "g | !r", 0), propositions=("g", "r"))
    assert synth.verify(two, turned)
    with pytest.raises(ValueError, match="the machine mentions x, the specification"):
        synth.verify(two, machine((0, "x", 0), propositions=("x",)))


@pytest.mark.parametrize("seed", range(40))
def test_random_machines_by_their_words(seed):
    """Against lassos of up to five letters: two states need no longer ones."""
    rng = np.random.default_rng(seed)
    letters = ["!r & !g", "r & !g", "!r & g", "r & g"]
    edges = [
        (q, letter, int(rng.integers(2)))
        for q, letter in itertools.product(range(2), letters)
        if rng.random() < 0.7
    ]
    formula = str(rng.choice(["G(r -> X g)", "G(r -> g)", "F g", "G F(r | g)"]))
    found = Automaton.from_edges(
        [q for q, _, _ in edges],
        [x for _, x, _ in edges],
        [r for _, _, r in edges],
        num_states=2,
        propositions=["r", "g"],
    )
    after: dict = {}
    for q, letter, r in edges:
        after.setdefault(q, []).append((letters.index(letter), r))
    names = [set(), {"r"}, {"g"}, {"r", "g"}]
    # Every state that is met has an answer to both inputs.
    met, todo = {0}, [0]
    stuck = False
    while todo:
        q = todo.pop()
        stuck |= {letter & 1 for letter, _ in after.get(q, [])} != {0, 1}
        for _, r in after.get(q, []):
            if r not in met:
                met.add(r)
                todo.append(r)
    expected = not stuck and all(
        Formula.parse(formula).holds_on(
            [names[x] for x in head], [names[x] for x in loop]
        )
        for head, loop in _lassos(after, 5)
    )
    for apart in (False, True):
        assert synth.verify(asked(formula, apart), found) is expected


def _lassos(after, most):
    """The words of all paths of at most some letters that come back to a state."""
    paths = [([0], [])]
    while paths:
        states, word = paths.pop()
        for i, q in enumerate(states[:-1]):
            if q == states[-1]:
                yield word[:i], word[i:]
        if len(word) < most:
            paths += [
                ([*states, r], [*word, letter])
                for letter, r in after.get(states[-1], [])
            ]


def test_a_controller_refuses_names_that_it_does_not_read():
    echo = Controller.from_arrays(
        *(["r"], ["g"]),
        **{"node": [0], "test": [0], "low": [-1], "high": [-2]},
        **{"output": [0, 1], "successor": [0, 0]},
    )
    with pytest.raises(ValueError, match=r"letter 1 .* has 'g', 's', which .* reads r"):
        echo.run([{"r"}, {"r", "s", "g"}])
    with pytest.raises(ValueError, match="letter 0 of the word must be a list of text"):
        echo.run(["r"])
    assert echo.run([["r"], ()]) == [{"g"}, set()]


def test_a_controller_and_its_words_say_the_same():
    for formula in ("G(r <-> X g)", "G(r -> F g) & G(!r -> F !g)"):
        specification = asked(formula, False)
        controller = synth.solve(specification).controller()
        assert isinstance(controller, Controller)
        for other in (formula, "G g"):
            one = asked(other, False)
            right = synth.verify(one, controller)
            assert right is (other == formula)
            assert synth.verify(one, controller.automaton()) is right
