"""The temporal logic synthesis format."""

import json
from pathlib import Path

import pytest

from jaxgames import io, ltl, synth
from jaxgames.io import FormatError, tlsf
from jaxgames.ltl import Formula

DATA = Path(__file__).parent.parent.parent.parent / "shared/data/public/synthesis"

INFO = 'INFO { TITLE: "a: b" DESCRIPTION: "" SEMANTICS: %s TARGET: Mealy }\n'


def parsed(main: str, more: str = "", kind: str = "Mealy", **parameters) -> tlsf.Text:
    return tlsf.parse("x.tlsf", INFO % kind + more + main, parameters=parameters)


def asked(guarantee: str, definitions: str = "", **parameters) -> str:
    """What a guarantee comes to, over a bus, some signals and an enumeration."""
    text = parsed(
        "MAIN { INPUTS { a; b; c; r[3]; } OUTPUTS { g } "
        f"GUARANTEES {{ {guarantee} }} }}",
        "GLOBAL { PARAMETERS { n = 2; m = n * n; } DEFINITIONS { "
        f"{definitions} }} }}",
        **parameters,
    )
    return str(text.formula)


@pytest.mark.parametrize(
    ("guarantee", "expected"),
    [
        ("!a W b", "!a W b"),
        ("a U b -> c", "a U (b -> c)"),
        ("a && b R c || a", "(a & b) R (c | a)"),
        ("a -> b W c U g R a", "(((a -> b) W c) U g) R a"),
        ("G a -> F b", "G a -> F b"),
        ("X F a || b && c", "X F a | (b & c)"),
        ("a <-> b -> c", "a <-> (b -> c)"),
        ("X[n] a", "X X a"),
        ("F[1:2] a", "X(a | X a)"),
        ("G[0:n-1] a", "a & X a"),
        ("&&[0 <= i < 3] r[i]", "r_0 & r_1 & r_2"),
        ("||[0 < i <= n] X[i] r[i] && a", "(X r_1 | X X r_2) & a"),
        ("&&[i IN {0, 2}] !r[i]", "!r_0 & !r_2"),
        ("&&[i IN {0, 1 .. 0}] F[i:i] a", "a"),
        ("||[i IN {1, 2 .. 0}] F[i:i] a", "false"),
        ("&&[i IN {0, 2 .. m}] F[i:i] a", "a & X X a & X X X X a"),
        ("&&[0 <= i < n, i < j <= n] (r[i] -> r[j])", "("),
        ("r[SIZEOF r - 1]", "r_2"),
        ("r[7 % 4 - 10 / 4 + (MAX {0, 1}) - |{5, 6}|]", "r_0"),
        ("r[+[0 <= i < 3] i - 1]", "r_2"),
        ("n == 2 && a", "a"),
        ("(1 IN {1}) (+) {}", None),
        ("true && (false || a)", "a"),
    ],
)
def test_expressions(guarantee, expected):
    if expected is None:
        with pytest.raises(FormatError, match="takes two sets"):
            asked(guarantee)
    elif expected == "(":
        found = asked(guarantee)
        assert found == "(r_0 -> r_1) & (r_0 -> r_2) & (r_1 -> r_2)"
    else:
        assert asked(guarantee) == str(Formula.parse(expected))


def test_functions_and_parameters():
    fib = "fib(k) = k == 0 : 1 k == 1 : 1 otherwise : fib(k - 1) + fib(k - 2);"
    assert asked("X[fib(n + 1)] a", fib) == "X X X a"
    assert asked("X[fib(n + 1)] a", fib, n=0) == "X a"
    none = "none(bus, i) = &&[i <= t < SIZEOF bus] !bus[t]; all = none(r, 1);"
    assert asked("all -> X a", none) == "(!r_1 & !r_2) -> X a"
    assert asked("f(a && b, g)", "f(x, y) = G(x -> F y);") == "G((a & b) -> F g)"


def test_sections_and_strict_semantics():
    main = (
        "MAIN { INPUTS { a; } OUTPUTS { b; } INITIALLY { a; } PRESET { b; } "
        "REQUIRE { a || b; } ASSUME { G F a; } ASSERT { b; } GUARANTEE { F b; } }"
    )
    given = "(G(a | b) & G F a)"
    assert str(parsed(main).formula) == str(
        Formula.parse(f"a -> (b & ({given} -> (G b & F b)))")
    )
    strict = parsed(main, kind="Mealy, Strict")
    assert str(strict.formula) == str(
        Formula.parse(f"a -> (b & (b W !(a | b)) & ({given} -> F b))")
    )
    assert parsed(main, kind="Moore").moore


def test_enumerations():
    definitions = "enum mode = off: 00 on: 01, 10;"
    text = parsed(
        "MAIN { INPUTS { mode m; } OUTPUTS { g; } GUARANTEES { G(m == on <-> g); } }",
        f"GLOBAL {{ DEFINITIONS {{ {definitions} }} }}",
    )
    assert text.inputs == ("m_0", "m_1")
    # What is no value need not be answered.
    expected = Formula.parse(
        "G((!m_0 & !m_1) | (!m_0 & m_1) | (m_0 & !m_1)) -> "
        "G(((!m_0 & m_1) | (m_0 & !m_1)) <-> g)"
    )
    assert text.formula == expected


@pytest.mark.parametrize(
    ("guarantee", "message"),
    [
        ("a &&", ":2: column 1.*: expected an expression, found '}'"),
        ("z", "nothing is called 'z'"),
        ("r[3]", "there is no signal 3 in 'r', which has 3"),
        ("r", "expected a formula"),
        ("a[0]", "only a bus has an index"),
        ("a b", "expected ';', found 'b'"),
        ("f(a)", "there is no function 'f'"),
        ("one(a, b)", "expected 1 arguments, found 2"),
        ("more(1)", "more than 150 functions call one another"),
        ("X[1 / 0] a", "division by zero"),
        ("X[9999] a", "a bound must be from 0 to 1000"),
        ("small(9)", "no alternative of the function applies"),
        ("a ~ b", "patterns are not supported"),
        ("n && a", "expected a formula"),
        ("a + 1", "expected a number"),
        ("$", "expected a token, found '\\$'"),
        ("(" * 200 + "a" + ")" * 200, "more than 100 expressions nested"),
        ("&&[0 <= i < 99999999] X[i] a", "ranges have more than 100000 members"),
    ],
)
def test_what_is_wrong(guarantee, message):
    definitions = "one(x) = x; more(x) = more(x + 1); small(x) = x < 3 : a;"
    with pytest.raises(FormatError, match=message) as caught:
        asked(guarantee, definitions)
    assert str(caught.value).startswith("x.tlsf:2: column ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: column 1: expected 'INFO', found the end"),
        (INFO % "Sometimes", "there are no 'sometimes' semantics"),
        (INFO % "Mealy" + "MAIN { WRONG { } }", "expected a section such as INPUTS"),
        (INFO % "Mealy" + "MAIN { INPUTS { a; a; } }", "'a' is already defined"),
        (INFO % "Mealy" + "MAIN { INPUTS { a; } OUTPUTS { a; } }", "already defined"),
        (INFO % "Mealy" + "MAIN { INPUTS { a[1]; a_0; } }", "two signals 'a_0'"),
        (INFO % "Mealy" + "MAIN { INPUTS { a[99999]; } }", "has 0 to 4096 signals"),
        (INFO % "Mealy" + "MAIN { } more", "expected the end, found 'more'"),
        (INFO.replace("TARGET: M", "TARGET: Strict, M") % "Mealy", "a strict target"),
    ],
)
def test_what_is_no_text(text, message):
    with pytest.raises(FormatError, match=message):
        tlsf.parse("x", text)
    with pytest.raises(FormatError, match="there is no parameter 'k'"):
        tlsf.parse("x", INFO % "Mealy" + "MAIN { }", parameters={"k": 1})


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "made.tlsf"
    for text in ("G(r -> X(g W r)) & (r M g | g R r)", "F r <-> G !g", "true"):
        made = synth.Specification.from_ltl(text, ["r"], ["g"], moore=True)
        io.save(path, made)
        found = io.load(path)
        assert (found.inputs, found.outputs, found.moore) == (("r",), ("g",), True)
        both = ltl.Formula("<->", (made.formula, found.formula))
        assert ltl.translate(both, negate=True).is_empty()
    odd = synth.Specification.from_ltl('G "a b"', [], ["a b"])
    with pytest.raises(ValueError, match="TLSF cannot have a signal named 'a b'"):
        io.save(path, odd)


FILES = sorted(DATA.glob("tlsf/*.tlsf"))
needs_data = pytest.mark.skipif(not FILES, reason="the files of others are not here")


def check(name: str, answer: dict) -> None:
    text = tlsf.parse(name, (DATA / "tlsf" / name).read_text())
    assert list(text.inputs) == answer["inputs"]
    assert list(text.outputs) == answer["outputs"]
    specification = synth.Specification.from_ltl(
        text.formula, text.inputs, text.outputs, moore=text.moore
    )
    solution = synth.solve(specification)
    assert solution.realizable == answer["realizable"]
    controller = solution.controller()
    assert synth.verify(specification, controller, realizable=answer["realizable"])


@needs_data
def test_files_of_others_in_short():
    answers = json.loads((DATA / "tlsf/answers.json").read_text())
    small = sorted(answers, key=lambda x: answers[x].get("our_dpa_states") or 9999)
    for name in small[:90:6]:
        check(name, answers[name])


@needs_data
@pytest.mark.sweep
@pytest.mark.parametrize("name", [path.name for path in FILES])
def test_files_of_others(name):
    check(name, json.loads((DATA / "tlsf/answers.json").read_text())[name])
