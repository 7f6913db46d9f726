"""Never claims, read and written."""

import shutil
import subprocess

import pytest

from jaxgames import io, ltl
from jaxgames.io import FormatError, never
from jaxgames.ltl import Automaton

RESPONSE = """
never  {    /* !([](p -> <>q)) */
T0_init:
	do
	:: (! ((q)) && (p)) -> goto accept_S4
	:: (1) -> goto T0_init
	od;
accept_S4:
	do
	:: (! ((q))) -> goto accept_S4
	od;
}
"""

EVENTUALLY = """
never {
T0_init:
	do
	:: atomic { ((p)) -> assert(!((p))) }
	:: (1) -> goto T0_init
	od;
accept_all:
	skip
}
"""


def test_a_claim_of_spin():
    found = never.loads(RESPONSE)
    assert found.propositions == ("q", "p")
    assert found.initial.tolist() == [0]
    assert found.accepting.tolist() == [False, True]
    assert (found.sources.tolist(), found.targets.tolist()) == ([0, 0, 1], [1, 0, 1])
    assert found.accepts([{"p"}], [set()])
    assert not found.accepts([], [{"p"}, {"q"}])


def test_an_assertion_that_fails_accepts():
    found = never.loads(EVENTUALLY)
    assert found.accepts([set(), {"p"}], [set()])
    assert not found.accepts([], [set()])


@pytest.mark.parametrize(
    ("body", "good", "bad"),
    [
        # What the end of a claim means, and the ways to come there.
        ("(p); (q)", ["p", "q", ""], ["p", "p", "q"]),
        ("if :: (p) -> skip :: (q) -> goto b fi; (p); b: (q); false", None, ["p", "p"]),
        ("do :: (p) -> break :: (q) od", ["q", "q", "p", ""], ["q", "", "p"]),
        ("if :: p && q -> goto a :: else; goto b; fi; b: false; a: skip",
         ["pq"], ["p"]),
        ("goto c; a: goto b; c: if :: p -> goto a fi; b: (q)", ["p", "q"], ["q"]),
        ("x: do :: true -> goto accept_y od; accept_y: if :: p || !q -> goto x fi",
         ["p", "", "", "p"], ["", "q", ""]),
    ],
)  # fmt: skip
def test_statements(body, good, bad):
    found = never.loads("never claim { " + body + " }")
    if good is None:
        assert found.is_empty()
    else:
        assert found.accepts(good, good)
    assert not found.accepts(bad, bad)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("never\n{ if :: (p) -> goto x fi }", "2: column 21: there is no label 'x'"),
        ("never { if :: (p) -> goto x }", "1: column 29: expected '::' or 'fi'"),
        ("never { a: skip; a: skip }", "1: column 18: there is a second label 'a'"),
        ("never { a: goto b; b: goto a }", "1: column 17: its jumps form a cycle"),
        ("never { p }", "1: column 11: expected ':' after the label 'p'"),
        ("never { (p -> q) }", "1: column 12: expected '\\)', found '->'"),
        ("never { (x[1] > 2) }", "1: column 11: expected a token, found '\\['"),
        ("never { (p && else) }", "1: column 15: expected a proposition"),
        ("never { (" + "(" * 2000, "expected at most 100 nested operators"),
        (
            "never { if :: p -> printf fi }",
            "column 20: expected 'goto', 'skip', 'break'",
        ),
        (
            "never { if :: p -> break fi }",
            "column 20: expected 'goto', 'skip', 'break'",
        ),
        ("never { skip", "column 13: expected a label, 'if', .* found the end"),
        ("never { skip } proctype", "column 16: expected the end"),
        ("always { }", "column 1: expected 'never', which begins a claim"),
        ("never { /* }", "column 9: the comment is not closed"),
        (
            "never { (" + " || ".join(f"p{i}" for i in range(65)) + ") }",
            "at most 64 propositions, got 65",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, message):
    with pytest.raises(FormatError, match=message):
        never.loads(text)


FORMULAS = ["true", "false", "p", "F p", "G(p -> X q)", "GF p & GF q", "GF p | G q"]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("generalised", [False, True])
def test_what_is_written_is_read_back(formula, generalised, tmp_path):
    automaton = ltl.translate(formula, generalised=generalised)
    io.save(tmp_path / "claim.never.gz", automaton)
    found = io.load(tmp_path / "claim.never.gz")
    assert isinstance(found, Automaton)
    assert found.num_sets == 1
    other = ltl.translate(formula, negate=True)
    assert found.intersect(other).is_empty()
    assert found.is_empty() == automaton.is_empty()
    if not automaton.is_empty():
        assert not found.intersect(automaton).is_empty()
    words = [[set()], [{"p"}], [{"p"}, {"q"}], [{"p", "q"}], [{"q"}, {"p"}, set()]]
    for cycle in words:
        for prefix in words:
            expected = automaton.accepts(prefix, cycle)
            assert found.accepts(prefix, cycle) == expected


def test_names_that_promela_cannot_have():
    for name in ("a b", "x[0]", "goto", "p.q"):
        automaton = Automaton.from_edges([0], [[(1, 0)]], [0], propositions=[name])
        with pytest.raises(ValueError, match="has no name of Promela"):
            never.dumps(automaton)


@pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed")
def test_spin_reads_what_is_written(tmp_path):
    for formula in FORMULAS:
        claim = never.dumps(ltl.translate(formula))
        model = "bool p, q;\nactive proctype x() { do :: p = !p od }\n" + claim
        (tmp_path / "model.pml").write_text(model)
        done = subprocess.run(
            ["spin", "-a", "model.pml"], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout
        assert "error" not in done.stdout.lower(), done.stdout
