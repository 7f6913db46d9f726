"""How formulas may be written, against their meaning on words, told here once more."""

import itertools

import numpy as np
import pytest

from jaxgames import ltl
from jaxgames.ltl import Formula

NAMES = ("p", "q")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X[3] p", "X X X p"),
        ("X[0] p", "p"),
        ("X[!] p & X[2!] q", "X p & X X q"),
        ("GX [ 2 ] p", "G X X p"),
        ("X[]p | F []p", "X G p | F G p"),
        ("F[2:4] p", "X X(p | X(p | X p))"),
        ("G[1..2] (p | q)", "X((p | q) & X(p | q))"),
        ("F[0:0] p", "p"),
        ("F[1 to 2]p <-> F[1,2!]p", "X(p | X p) <-> X(p | X p)"),
        ("F[2:] p & G[1:$] p & G[3..inf] p", "X X F p & X G p & X X X G p"),
        ("F[:1] p U G[:] q", "(p | X p) U G q"),
        ("p xor q", "!(p <-> q)"),
        ("p ^ q & p | q -> p", "(!(p <-> (q & p)) | q) -> p"),
        ("p ^ q xor p ⊕ q", "!(!(p <-> q) <-> !(p <-> q))"),
        ("p=0 U q=1", "!p U q"),
        ('"p q"=0 => p', '!"p q" -> p'),
        ("p * q + !p", "(p & q) | !p"),
        ("() p <--> True", "X p <-> true"),
        ("¬p ∧ q ∨ □◇p → ○q ⇔ FALSE", "(((!p & q) | G F p) -> X q) <-> false"),
        ('"True" & "xor" & xor1 & true_', '"True" & "xor" & xor1 & true_'),
    ],
)
def test_other_spellings(text, expected):
    found = Formula.parse(text)
    assert str(found) == expected
    assert Formula.parse(expected) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X[1000000] p", "column 3 .* expected a number up to 1000, found '1000000'"),
        ("F[1:" + "9" * 5000 + "]p", "column 5 .* a number up to 1000, found '999"),
        ("X[ ] p", r"column 4 .* expected a number or '!', found '\]'"),
        ("X[p", "column 3 .* expected a number or '!', found 'p'"),
        ("X[1:2] p", r"column 4 .* expected '!' or '\]', found ':'"),
        ("F[3] p", "column 4 .* expected ':', found ']'"),
        ("F[4:2] p", "column 5 .* expected a number from 4 on, found '2'"),
        ("G[2:3 p", r"column 7 .* expected '!' or '\]', found 'p'"),
        ("G[:-1] p", r"column 4 .* a number or '\$' or '!' or '\]', found '-'"),
        ("F[", "column 3 .* expected a number or ':', found the end"),
        ("X[2]", "column 5 .* expected a formula, found the end"),
        ("<>[1:2] p", "column 3 .* expected a formula or an operator, found '\\['"),
        ("p[1]", "column 2 .* expected a formula or an operator, found '\\['"),
        ('"X"[1] p', "column 4 .* expected a formula or an operator, found '\\['"),
        ("p=2", "column 2 .* expected a formula or an operator, found '='"),
        ("p\n &\n  & q", "line 3, column 3 of .* expected a formula, found '&'"),
        ("F[0:600] G[0:600] p", "column 10 .* at most 1000 nested operators"),
        ("X[600] (p & X[500] q)", "column 13 .* at most 1000 nested operators"),
    ],
)
def test_what_is_wrong_in_them(text, message):
    with pytest.raises(ValueError, match=message):
        Formula.parse(text)


def test_a_message_quotes_the_part_of_a_long_text():
    with pytest.raises(ValueError, match="column 801 .*: expected a form") as error:
        Formula.parse("p & " * 200 + ")" + " & p" * 200 + " & q")
    assert len(str(error.value)) < 200


def test_bounded_operators_are_as_large_as_their_bounds():
    found = Formula.parse("G(r -> F[0:900] g)")
    assert len(found.parts()) < 2000
    both = Formula.parse("F[0:400] G[0:400] (p U q)")  # parts are shared
    assert len(both.parts()) < 2000
    words = Formula.parse(" ^ ".join(["p", "q"] * 2000))
    assert words.depth < 40
    assert ltl.translate("F[0:900] g").num_states == 902


# ---- against a word, position by position ----------------------------------------


def random_text(random: np.random.Generator, size: int):
    """A formula as text, and what it says of a word from a position on."""
    if size <= 1:
        name = NAMES[random.integers(2)]
        return [
            (name, lambda word, at: name in word(at)),
            (f"{name}=0", lambda word, at: name not in word(at)),
            (f"{name} = 1".replace(" ", ""), lambda word, at: name in word(at)),
        ][random.choice(3, p=(0.8, 0.1, 0.1))]
    kind = random.integers(6)
    if kind == 5:
        left = int(random.integers(1, size))
        (one, a), (two, b) = random_text(random, left), random_text(random, size - left)
        sign, holds = [
            ("xor", lambda word, at: a(word, at) != b(word, at)),
            ("^", lambda word, at: a(word, at) != b(word, at)),
            ("*", lambda word, at: a(word, at) and b(word, at)),
            ("+", lambda word, at: a(word, at) or b(word, at)),
            ("=>", lambda word, at: b(word, at) or not a(word, at)),
        ][random.integers(5)]
        return f"({one} {sign} {two})", holds
    inner, f = random_text(random, size - 1)
    first, more = int(random.integers(4)), int(random.integers(4))
    last = first + more
    separator = (":", "..", " to ", ",")[random.integers(4)]
    strong = ("", "!")[random.integers(2)]
    if kind == 0:
        return f"X[{first}{strong}] {inner}", lambda word, at: f(word, at + first)
    if kind in (1, 2):
        some, letter = (any, "F") if kind == 1 else (all, "G")
        return (
            f"{letter}[{first}{separator}{last}{strong}]({inner})",
            lambda word, at: some(f(word, at + i) for i in range(first, last + 1)),
        )
    # All positions of a word recur within so many rounds of its prefix and cycle.
    some, letter = (any, "F") if kind == 3 else (all, "G")
    end = ("", "$", "inf")[random.integers(3)]
    return (
        f"{letter}[{first}{separator}{end}]({inner})",
        lambda word, at: some(f(word, at + i) for i in range(first, first + 6)),
    )


def words():
    """All of one to three letters, with the place to which they return."""
    letters = [frozenset(x) for x in ((), "p", "q", "pq")]
    for length in (1, 2, 3):
        for word in itertools.product(letters, repeat=length):
            for back in range(length):
                yield word, back


def test_what_they_mean_on_all_short_words():
    random = np.random.default_rng(0)
    some = list(words())
    for _ in range(60):
        text, holds = random_text(random, int(random.integers(2, 5)))
        formula = Formula.parse(text)
        assert Formula.parse(str(formula)) == formula
        chosen = random.choice(len(some), 40, replace=False)
        for word, back in (some[i] for i in chosen):

            def letter(at, word=word, back=back):
                return word[
                    at if at < len(word) else back + (at - back) % (len(word) - back)
                ]

            expected = holds(letter, 0)
            assert formula.holds_on(word[:back], word[back:]) == expected, text


def test_automata_and_verdicts_of_formulas_with_bounds():
    for one, other in [
        ("F[2:4] p", "XX p | XXX p | XXXX p"),
        ("G[1:3] p U q", "(X p & XX p & XXX p) U q"),
        ("G (p xor X[2] p)", "G (p <-> !XX p)"),
        ("F[1:] G[:1] q", "XF(q & X q)"),
    ]:
        apart = ltl.translate(f"({one}) xor ({other})")
        assert apart.is_empty()
        assert ltl.deterministic(one).num_states == ltl.deterministic(other).num_states
