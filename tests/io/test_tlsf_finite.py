"""Specifications of finite words, against the definitions of the operators."""

import itertools

import numpy as np
import pytest
from formulas import random_formulas
from repeats import some_of

from jaxgames import io, ltl, synth
from jaxgames.io import tlsf
from jaxgames.io._tlsf_finite import on_finite_words
from jaxgames.ltl import Formula

LETTERS = [frozenset(x) for x in ((), "p", "q", "pq")]


def holds(formula: Formula, word: list[frozenset], at: int = 0) -> bool:
    """Whether a formula holds in a letter of a finite word: by definition."""
    kind, rest = formula.operator, range(at, len(word))
    values = [
        [i >= at and holds(x, word, i) for i in range(len(word))]
        for x in formula.operands[:2]
    ]
    one, other = [*values, [], []][:2]
    match kind:
        case "true" | "false":
            return kind == "true"
        case "name":
            return formula.name in word[at]
        case "!":
            return not one[at]
        case "X":
            return at + 1 == len(word) or one[at + 1]
        case "F":
            return any(one[i] for i in rest)
        case "G":
            return all(one[i] for i in rest)
        case "&":
            return all(holds(x, word, at) for x in formula.operands)
        case "|":
            return any(holds(x, word, at) for x in formula.operands)
        case "->":
            return not one[at] or other[at]
        case "<->":
            return one[at] == other[at]
        case "U":
            return any(other[i] and all(one[at:i]) for i in rest)
        case "W":
            return all(one[i] for i in rest) or any(
                other[i] and all(one[at:i]) for i in rest
            )
        case "R":
            return all(other[i] or any(one[at:i]) for i in rest)
        case "M":
            return any(one[i] and all(other[at : i + 1]) for i in rest)
    raise AssertionError(kind)


def words(most: int) -> list[list[frozenset]]:
    lengths = range(1, most + 1)
    return [
        list(word)
        for length in lengths
        for word in itertools.product(LETTERS, repeat=length)
    ]


@some_of(60, 1500)
def test_a_formula_means_the_same_of_finite_words(count):
    """Also if what follows the word goes on, where it says nothing any more."""
    random = np.random.default_rng(1)
    alive, some, values = frozenset(["alive"]), words(3), set()
    for formula in random_formulas(4, count, 9):
        made = on_finite_words(formula, "alive")
        for word in some:
            behind = [LETTERS[i] for i in random.integers(4, size=4)]
            behind = [behind[0], behind[1] | alive, behind[2] | alive, behind[3]]
            expected = holds(formula, word)
            found = made.holds_on([x | alive for x in word] + behind[:2], behind[2:])
            assert found == expected, (formula, word)
            values.add(expected)
        assert not made.holds_on([], [alive | {"p"}])  # a word that does not end
        assert not made.holds_on([{"p"}], [{"q", "alive"}])  # the empty word
    assert values == {True, False}


@pytest.mark.parametrize(
    ("text", "mealy", "moore"),
    [
        ("X false", True, True),  # a word of one letter
        ("!X!true & G g", True, True),  # of two or more
        ("G(r <-> g)", True, False),
        ("X(r <-> g)", True, True),  # the word ends before it matters
        ("!X!(r <-> g)", True, False),
        ("F(r & g)", False, False),
        ("G F g & G F !g", False, False),  # both of the last letter
        ("F(g & F !g)", True, True),
        ("!X!r | !X!!r", True, True),
    ],
)
def test_who_wins(text, mealy, moore):
    formula = on_finite_words(Formula.parse(text), "alive")
    for first, expected in ((False, mealy), (True, moore)):
        asked = synth.Specification.from_ltl(formula, ["r"], None, moore=first)
        found = synth.solve(asked)
        assert found.realizable is expected
        assert synth.verify(asked, found.controller(), realizable=expected)


INFO = "INFO { SEMANTICS: %s TARGET: Mealy } "


def test_a_file_says_that_words_are_finite(tmp_path):
    """The last letter has no next one, whatever an operator asks of that."""
    path = tmp_path / "last.tlsf"
    text = "MAIN { INPUTS { r; } OUTPUTS { %s; } GUARANTEES { %s; } }"
    for goal, expected in (
        ("X (r && !r)", True),
        ("X[!] (r && !r)", False),
        ("X[!] X[!] true && G (r <-> g)", True),
        ("G X true", True),
        ("G X[!] true", False),
    ):
        path.write_text(INFO % "Mealy,Finite" + text % ("g", goal))
        found = tlsf.load(path)
        assert found.outputs == ("g", "alive")
        solution = synth.solve(found)
        assert solution.realizable is expected, goal
        machine = solution.controller()
        assert synth.verify(found, machine, realizable=expected)
    path.write_text(INFO % "Moore,Finite" + text % ("alive", "alive && X[!] !alive"))
    found = tlsf.load(path)
    assert (found.outputs, found.moore) == (("alive", "alive_"), True)
    steps = synth.solve(found).controller().run([set(), set(), set()])
    assert [set(x) for x in steps][:2] == [{"alive", "alive_"}, {"alive_"}]
    assert "alive_" not in steps[2]
    # Of infinite words, both mean the same.
    path.write_text(INFO % "Mealy" + text % ("g", "X[!] g <-> X g"))
    formula = tlsf.parse(path, path.read_text()).formula
    assert ltl.translate(formula, negate=True).is_empty()


@pytest.mark.parametrize("part", ["X[2] g", "F[0:1] g", "G[0:1] g"])
def test_bounds_of_finite_words_are_refused(part):
    text = f"MAIN {{ INPUTS {{ }} OUTPUTS {{ g; }} GUARANTEES {{ {part}; }} }}"
    with pytest.raises(io.FormatError, match=":1: column .* on finite words"):
        tlsf.parse("x.tlsf", INFO % "Finite" + text)
