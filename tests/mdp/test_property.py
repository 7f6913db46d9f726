"""Properties: what is read, what is printed, and what is refused where."""

from fractions import Fraction

import numpy as np
import pytest
from quantitative_cases import needs_folder, texts

from jaxgames import mdp
from jaxgames.mdp import Property, PropertyError
from jaxgames.mdp._property import (
    Bound,
    Constant,
    Cumulative,
    Filter,
    Label,
    Name,
    Operation,
    Query,
    Temporal,
)


def number(value) -> Constant:
    return Constant(Fraction(value))


def same(name: str, value) -> Operation:
    return Operation("=", (Name(name), number(value)))


GOAL, A, B = Label("goal"), same("a", 1), same("b", 1)
SIGNS = "=> <=> | & = != < <= + - * / ^"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", Constant(True)),
        ("1.5e-1", number("0.15")),
        ('"goal"', Label("goal")),
        (
            'Pmax=? [ F<=k "goal" ]',
            Query(
                "P", Temporal("F", (Label("goal"),), Bound(None, Name("k"))), ("max",)
            ),
        ),
        (
            'R{"time"}min=? [ C<=3 ]',
            Query("R", Cumulative(number(3)), ("min",), reward="time"),
        ),
        # What F is about goes as far as an until.
        (
            "P>=0.5 [ F a=1 & b=2 ]",
            Query(
                "P",
                Temporal("F", (Operation("&", (same("a", 1), same("b", 2))),)),
                relation=">=",
                threshold=number("0.5"),
            ),
        ),
        (
            "Pmin=? [ G F a=1 | a=2 ]",
            Query(
                "P",
                Temporal(
                    "G",
                    (Temporal("F", (Operation("|", (same("a", 1), same("a", 2))),)),),
                ),
                ("min",),
            ),
        ),
        (
            "P=? [ a=1 U[2,6] b=1 ]",
            Query(
                "P",
                Temporal(
                    "U", (same("a", 1), same("b", 1)), Bound(number(2), number(6))
                ),
            ),
        ),
        # A bound may be computed, and what follows it may begin with a parenthesis.
        (
            "P=? [ F<=k*3+1 (a=1) ]",
            Query(
                "P",
                Temporal(
                    "F",
                    (same("a", 1),),
                    Bound(
                        None,
                        Operation(
                            "+", (Operation("*", (Name("k"), number(3))), number(1))
                        ),
                    ),
                ),
            ),
        ),
        ("func(max, a, 1)", Operation("max", (Name("a"), number(1)))),
        # Implication binds weaker than equivalence, and groups to the right.
        (
            "x => y <=> z => w",
            Operation(
                "=>",
                (
                    Name("x"),
                    Operation(
                        "=>", (Operation("<=>", (Name("y"), Name("z"))), Name("w"))
                    ),
                ),
            ),
        ),
        (
            "-x + 2*y^2 < 3",
            Operation(
                "<",
                (
                    Operation(
                        "+",
                        (
                            Operation("negative", (Name("x"),)),
                            Operation(
                                "*",
                                (number(2), Operation("^", (Name("y"), number(2)))),
                            ),
                        ),
                    ),
                    number(3),
                ),
            ),
        ),
        (
            "S=? [ x=1 ]",
            Query("LRA", same("x", 1)),
        ),
        (
            'filter(max, P=? [ X "a" ], x=1)',
            Filter("max", Query("P", Temporal("X", (Label("a"),))), same("x", 1)),
        ),
        (
            "P=? [ F x=1 || G y=1 ]",
            Query(
                "P",
                Temporal("F", (same("x", 1),)),
                condition=Temporal("G", (same("y", 1),)),
            ),
        ),
        (
            'Pmaxmin=? [ F "a" ]',
            Query("P", Temporal("F", (Label("a"),)), ("max", "min")),
        ),
    ],
)
def test_what_is_read(text, expected):
    found = Property.parse(text).formula
    assert found == expected
    assert Property.parse(str(found)).formula == found


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("Pmax=? [ F ]", 1, 12, "expected an expression, found ']'"),
        ('Pmax=? [ F "a"', 1, 15, "expected ']', found the end"),
        ('Pmax=? [\n F "a" U "b" U "c" ]', 2, 14, "expected parentheses"),
        ('R{"x}max=? [ C ]', 1, 3, "has no end on its line"),
        ("P>=0.5 x", 1, 8, r"expected '\[', found 'x'"),
        ("Pmax [ F x ]", 1, 6, "expected '=\\?' or a bound"),
        ("P=? [ F<=3 x=1 & ]", 1, 18, "expected an expression"),
        ('P=? [ "a" ]', 1, 7, "is a property of states: expected one of paths"),
        ("x & P=? [ x ]", 1, 11, "is a property of states"),
        ("F x=1", 1, 1, "expected an expression, found 'F'"),
        ("P=? [ x & F y | z U w ]", 1, 11, "F needs parentheses around it here"),
        ("R=? [ G x ]", 1, 7, "expected F, C, I= or LRA, found 'G'"),
        ("R=? [ F<=3 x ]", 1, 8, "not supported: rewards before a target with a bound"),
        ('P=? [ F{rew{"r"}<=3} x ]', 1, 8, "not supported: bounds other than"),
        ('P=? [ F^{rew{"r"}} x ]', 1, 18, "expected a bound, such as <=5"),
        ("P=? [ F^{rew<=3, rew<=4} x ]", 1, 16, "not supported: several bounds"),
        ("P=? [ F^{steps<=3} x ]", 1, 8, "not supported: bounds other than"),
        ("A [ F x ]", 1, 1, "not supported: properties of all paths"),
        ("<<1 Pmax=? [ F x ]", 1, 5, "expected ',' or '>>', found 'Pmax'"),
        ("<<1>> Pmax=? [ F ]", 1, 18, "expected an expression"),
        ("<<-1>> Pmax=? [ F x ]", 1, 3, "expected the number of a player"),
        ("flor(3)", 1, 1, r"there is no function 'flor' \(did you mean 'floor'\?\)"),
        ("pow(3)", 1, 1, "pow takes 2 arguments, got 1"),
        ("filter(most, x)", 1, 8, "expected a kind of filter"),
        ("P=? [ F<=X x ]", 1, 10, "expected a number of steps: .* found 'X'"),
        ('P=? [ F<="a" x ]', 1, 10, "expected a number of steps: .*"),
        ("const int F = 3; x", 1, 11, "found 'F', a word of the language"),
        ("x @ y", 1, 3, "unexpected character '@'"),
        ("x /* never", 1, 3, "a comment has no end"),
        ("LRA=? [ F x ]", 1, 9, "expected a property of states, found one of paths"),
        ("const int = 3; x", 1, 11, "expected the name of a constant"),
        ("(" * 100, 1, 41, "nested more than 40 times"),
        ("!" * 500 + "x", 1, 40, "nested more than 40 times"),
        ("-" * 5000 + "x", 1, None, "nested too deeply"),
        ("x; y", 1, 1, "expected one property, found 2"),
        ("", 1, 1, "expected one property, found none"),
    ],
)
def test_what_is_refused(text, line, column, message):
    with pytest.raises(PropertyError, match=message) as caught:
        Property.parse(text)
    assert caught.value.place == (line, column or caught.value.place.column)


def test_many_in_a_text():
    text = """
    // what is asked
    const double p = 0.5;  label "near" = x<3 & !"goal";
    "soon": Pmax>=p [ F<=20 "near" ];
    /* and
       then */ "soon" & x=0
    P=? [ X y ]
    """
    soon, then, last = Property.parse_many(text)
    assert (soon.name, then.name, last.name) == ("soon", None, None)
    assert soon.constants == {"p": number("0.5")}
    assert str(soon.labels["near"]) == 'x<3 & !"goal"'
    assert then.others == {"soon": soon.formula}
    assert str(last) == "P=? [ X y ]"
    with pytest.raises(PropertyError, match="line 2, column 1: 'a' is given twice"):
        Property.parse_many('"a": x=1;\n"a": x=2')


def random_formula(rng, depth: int, path: bool):
    """A tree of random operators, down to names and numbers."""
    kind = rng.integers(8 if path else 5) if depth else 0

    def some(more_path: bool = path):
        return random_formula(rng, depth - 1, more_path)

    match kind:
        case 0:
            atoms = (Name("x"), Label("a"), Constant(True), number("0.25"), number(7))
            return atoms[rng.integers(len(atoms))]
        case 1:
            signs = SIGNS.split()
            return Operation(str(rng.choice(signs)), (some(False), some(False)))
        case 2:
            return Operation(str(rng.choice(["!", "negative"])), (some(False),))
        case 3:
            return Operation("?", (some(False), some(False), some(False)))
        case 4:
            inner = Temporal("F", (some(True),))
            return Query("P", inner, ("max",), ">", number("0.125"))
        case 5:
            bound = Bound(None, number(3)) if rng.random() < 0.5 else None
            return Temporal(str(rng.choice(["F", "G"])), (some(),), bound)
        case 6:
            return Temporal(str(rng.choice(["U", "W", "R"])), (some(), some()))
        case _:
            return Operation(str(rng.choice(["&", "|"])), (some(), some()))


def test_what_is_printed_is_read_again():
    rng = np.random.default_rng(5)
    for _ in range(500):
        path = Temporal("F", (random_formula(rng, 4, True),))
        asked = Property(Query("P", path, ("min",)))
        assert Property.parse(str(asked)) == asked, str(asked)


@needs_folder
def test_published_properties_are_read_and_printed():
    found = texts()
    assert len(found) > 250
    for text in found:
        asked = mdp.Property.parse(text)
        assert mdp.Property.parse(str(asked)) == asked


def test_what_was_written_is_quoted():
    for text in ('S=? [ "a" ]', 'LRA=? [ "a" ]', "R=? [ S ]", "R=? [ LRA ]"):
        assert str(Property.parse(text)) == text
    assert Property.parse('S=? [ "a" ]') == Property.parse('LRA=? [ "a" ]')
