"""Formulas, their automata, and the words that these accept."""

import contextlib
import pickle
import shutil
import subprocess
import unittest.mock

import numpy as np
import pytest
from formulas import NAMES, random_formulas
from repeats import first_of

from jaxgames import limits, ltl
from jaxgames.ltl import Automaton, Formula, Kind, _graph
from jaxgames.ltl._normal_form import normal_form, spread
from jaxgames.ltl._obligation import is_obligation
from jaxgames.solution import Status
from jaxgames.testing._words import Words

WORDS = [Words(NAMES, length) for length in (1, 2, 3)]


# ---- parsing ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]<>p && X ~q", "G F p & X !q"),
        ("GFp0 | GF p0", "GFp0 | G F p0"),
        ("p /\\ q \\/ !p && 1", "(p & q) | (!p & true)"),
        ("p U q V r W s M 0", "p U (q R (r W (s M false)))"),
        ("!p U q & r", "(!p U q) & r"),
        ("p -> q -> r", "p -> (q -> r)"),
        ("p <=> q => r --> s <--> t", "p <-> ((q -> (r -> s)) <-> t)"),
        ("p & q & r | s", "(p & q & r) | s"),
        ("p & (q & r)", "p & (q & r)"),
        ('"a \\"b\\" & c" & "U" & "1"', '"a \\"b\\" & c" & "U" & "1"'),
        (" XXX\n(p)", "X X X p"),
    ],
)
def test_the_usual_syntaxes(text, expected):
    assert str(Formula.parse(text)) == expected
    assert Formula.parse(expected) == Formula.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x" * 99 + " y",
            "column 101 of '[.]{3}x{78} y': expected an operator or the end, found 'y'",
        ),
        ("9" * 99, "column 1 of '9{80}[.]{3}': expected a name, .*, found .9{77}"),
        ("", "column 1 of '': expected a formula, found the end"),
        ("p q", "column 3 of 'p q': expected an operator or the end, found 'q'"),
        ("(p & q", "column 7 .* expected an operator or '\\)', found the end"),
        ("p & & q", "column 5 .* expected a formula, found '&'"),
        ("p & ) q", "column 5 .* expected a formula, found '\\)'"),
        ("G", "column 2 .* expected a formula, found the end"),
        ("p $ q", r"column 3 .* expected a formula or an operator, found '\$'"),
        ('p & "q', "column 5 .* expected a closing quote"),
        ("2p", "column 1 .* expected a name, an operator or 0 or 1, found '2p'"),
        ("(" * 5000 + "p", "expected at most 1000 nested operators"),
        ("!" * 5000 + "p", "expected at most 1000 nested operators"),
    ],
)
def test_what_is_no_formula(text, message):
    with pytest.raises(ValueError, match=message):
        Formula.parse(text)


def test_long_chains_and_deep_formulas():
    names = [f"p{i}" for i in range(1000)]
    assert len(Formula.parse(" & ".join(names)).operands) == 1000
    deep = "X" * 60 + " p"
    assert ltl.translate(deep).num_states == 62


def test_what_is_printed_is_read_back():
    for formula in random_formulas(1, 200, 14):
        # Like operands of & and | may be grouped anew.
        again = Formula.parse(str(formula))
        assert str(again) == str(formula)
        for words in WORDS[:2]:
            np.testing.assert_array_equal(words.holds(again), words.holds(formula))


def test_propositions():
    assert Formula.parse("q U (a & X q)").propositions == ("a", "q")
    with pytest.raises(ValueError, match="'q' of the formula is not among .* p"):
        ltl.translate("p & q", propositions=["p"])
    with pytest.raises(ValueError, match="at most 64 propositions, got 65"):
        ltl.translate(" | ".join(f"p{i}" for i in range(65)))
    with pytest.raises(ValueError, match="expected a formula or its text, got 3"):
        ltl.translate(3)  # pyright: ignore[reportArgumentType]


# ---- formulas whose parts are shared ---------------------------------------------


def shared(kinds: str, depth: int, first: str = "a U b") -> Formula:
    """A formula that would take about `2^depth` characters to write."""
    found, operators = Formula.parse(first), kinds.split()
    for i in range(depth):
        later = Formula("X", (found,))
        found = Formula(operators[i % len(operators)], (found, later))
    return found


KINDS = ("&", "|", "U", "R", "W", "M", "->", "<->", "& | U")


@pytest.mark.parametrize("kind", KINDS)
def test_shared_parts_are_not_written_out(kind):
    one, other = shared(kind, 60), shared(kind, 60)
    assert one == other
    assert hash(one) == hash(other)
    assert one != shared(kind, 60, "a U c")
    assert one < shared(kind, 60, "a U c")
    assert not shared(kind, 60, "a U c") < one
    assert not one < other
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.propositions == ("a", "b")
    assert len(one.parts()) == 3 + 2 * 60
    assert len(str(one)) < 1000
    assert str(one).endswith(" characters)")
    assert one.holds_on([], [{"b"}]) in (True, False)
    with limits.within(deadline=60):
        normal = normal_form(one)
        assert len(normal_form(one, True).parts()) < 10_000
    assert len(spread(normal).parts()) < 10_000
    is_obligation(normal)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_is_that_of_texts(kind):
    some = [shared(kind, i, x) for i in range(5) for x in ("a U b", "b", "!c")]
    assert sorted(some) == sorted(some, key=str)
    some = random_formulas(3, 100, 12)
    assert [str(x) for x in sorted(some)] == sorted(map(str, some))


@pytest.mark.parametrize("kind", ["&", "|", "->", "& |"])
def test_shared_parts_are_translated(kind):
    formula = shared(kind, 16)
    made = ltl.translate(formula, deadline=60)
    sure = ltl.deterministic(formula, deadline=60)
    for word in (([{"a"}] * 8, [{"b"}]), ([{"b"}] * 3, [set()]), ([], [{"a"}])):
        expected = formula.holds_on(*word)
        assert made.accepts(*word) == expected
        assert sure.accepts(*word) == expected


@pytest.mark.parametrize(
    "formula",
    [
        "F a0 & " + " & ".join(f"F a{i}" for i in range(1, 22)),
        "X(" + " & ".join(f"(F a{i} | G b{i})" for i in range(24)) + ")",
        "X(" + " & ".join(f"(a{i} U b{i} | G b{i})" for i in range(24)) + ")",
        "G(" + " <-> ".join(f"F a{i}" for i in range(14)) + ")",
        "G F (a & " + "X" * 30 + "(b U c))",
        shared("U", 40),
        shared("R", 40),
        shared("M", 40),
    ],
)
@pytest.mark.parametrize("make", [ltl.translate, ltl.deterministic])
def test_long_translations_can_be_ended(make, formula, monkeypatch):
    monkeypatch.setattr(limits, "PATIENCE_SECONDS", 0.05)  # it is asked early
    # Nobody waits in another thread: what does not look whether to end goes on.
    with contextlib.suppress(limits.LimitError, ValueError):
        make(formula, progress=lambda report: Status.INTERRUPTED)


def test_edges_are_limited():
    formula = " & ".join(f"F a{i}" for i in range(8))
    with (
        unittest.mock.patch.object(_graph, "MAX_EDGES", 1000),
        pytest.raises(ValueError, match="more than 1000 edges"),
    ):
        ltl.translate(formula)


# ---- translation -----------------------------------------------------------------


def check(formula: Formula) -> None:
    """Both forms accept what satisfies the formula, those of the negation the rest."""
    for generalised in (False, True):
        yes = ltl.translate(formula, generalised=generalised, propositions=NAMES)
        no = ltl.translate(
            formula, negate=True, generalised=generalised, propositions=NAMES
        )
        for words in WORDS:
            holds = words.holds(formula)
            accepted = words.accepted(yes)
            assert (accepted == holds).all(), f"{formula}, {generalised=}"
            accepted = words.accepted(no)
            assert (accepted == ~holds).all(), f"!({formula}), {generalised=}"
        assert yes.intersect(no).is_empty(), str(formula)
        if not generalised:
            assert yes.num_sets == no.num_sets == 1
            assert yes.accepting.shape == (yes.num_states,)


@pytest.mark.parametrize("seed", first_of(2, 4))
def test_automata_accept_what_satisfies_the_formula(seed):
    for formula in random_formulas(seed, 40, 11):
        check(formula)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_automata(seed):
    for formula in random_formulas(seed, 50, 16):
        check(formula)


@pytest.mark.parametrize(
    ("formula", "states", "generalised"),
    [
        ("true", 1, 1),
        ("false", 0, 0),
        ("p", 2, 2),
        ("G p", 1, 1),
        ("F p", 2, 2),
        ("GF p", 2, 1),
        ("FG p", 2, 2),
        ("p U q", 2, 2),
        ("G(p -> F q)", 2, 2),
        ("!G(p -> F q)", 2, 2),
        ("GF p & GF q", 3, 1),
        ("GF p & GF q & GF r & GF s", 5, 1),
        ("GF p -> GF q", 4, 3),
        ("!(GF p -> GF q)", 3, 2),
        ("!G(r -> (!p U (p U (p & o))))", 4, 4),
    ],
)
def test_automata_are_small(formula, states, generalised):
    assert ltl.translate(formula).num_states <= states
    assert ltl.translate(formula, generalised=True).num_states <= generalised


def test_fairness_of_many_processes():
    fair = " & ".join(
        f"(GF act{i} -> G(wait{i} -> (wait{i} U cs{i})))" for i in range(3)
    )
    automaton = ltl.translate(fair, negate=True)
    assert len(automaton.propositions) == 9
    assert automaton.accepts([{"wait0"}], [{"act0"}])
    assert automaton.accepts([], [{"wait1", "act1"}, {"wait1"}])
    assert not automaton.accepts([], [{"wait1", "act1"}, {"cs1"}])
    assert not automaton.accepts([{"wait0"}], [set()])


def test_components_of_translations():
    assert set(ltl.translate("F p").components().kind) == {
        Kind.REJECTING,
        Kind.TERMINAL,
    }
    assert set(ltl.translate("FG p").components().kind) == {
        Kind.REJECTING,
        Kind.WEAK,
    }
    assert ltl.translate("GF p").components().kind == (Kind.STRONG,)


# ---- against SPIN ----------------------------------------------------------------

spin = pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed")


def by_spin(formula: Formula) -> Automaton:
    """SPIN's automaton of a formula of its own operators."""
    from jaxgames.io import never

    done = subprocess.run(
        ["spin", "-f", spelled(formula)], capture_output=True, text=True, check=True
    )
    return never.loads(done.stdout)


def spelled(formula: Formula) -> str:
    if formula.operator == "name":
        return formula.name
    parts = [spelled(x) for x in formula.operands]
    sign = {"F": "<>", "G": "[]", "R": "V", "&": "&&", "|": "||"}
    sign = sign.get(formula.operator, formula.operator)
    if len(parts) == 1:
        return f"{sign} ({parts[0]})"
    return f" {sign} ".join(f"({x})" for x in parts) or sign


def spin_knows(formula: Formula) -> bool:
    known = formula.operator not in ("X", "W", "M")
    return known and all(map(spin_knows, formula.operands))


@spin
def test_same_words_as_the_automata_of_spin():
    formulas = [x for x in random_formulas(7, 120, 7) if spin_knows(x)]
    assert len(formulas) > 25
    for formula in formulas:
        not_formula = Formula("!", (formula,))
        for one, other in ((formula, not_formula), (not_formula, formula)):
            ours, theirs = ltl.translate(one), by_spin(other)
            assert ours.intersect(theirs).is_empty(), str(one)
        for words in WORDS[:2]:
            theirs = by_spin(formula)
            np.testing.assert_array_equal(words.accepted(theirs), words.holds(formula))
