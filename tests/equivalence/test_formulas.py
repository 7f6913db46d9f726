"""Formulas: what they say, who satisfies them, what they cost."""

import pytest
from small_systems import COFFEE, random_system

from jaxgames.equivalence import (
    TRUE,
    And,
    Formula,
    Not,
    Observe,
    System,
    price,
    reference,
    satisfies,
    satisfying,
)

A, B = Observe("a", TRUE), Observe("b", TRUE)

FORMULAS = [
    TRUE,
    A,
    Not(A),
    Observe("a", Not(B)),
    And((A, Not(Observe("b", A)))),
    Observe("c", And((A, B, Not(Not(A))))),
    Observe("unknown", TRUE),
]


def by_definition(rows, names, p: int, formula: Formula) -> bool:
    match formula:
        case Observe(action, inner):
            return any(
                names[a] == action and by_definition(rows, names, t, inner)
                for a, t in rows[p]
            )
        case Not(inner):
            return not by_definition(rows, names, p, inner)
        case And(parts):
            return all(by_definition(rows, names, p, part) for part in parts)
    raise AssertionError(formula)


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_who_satisfies_a_formula(formula):
    for seed in range(10):
        lts = random_system(seed)
        rows = reference.rows_of(System.of(lts))
        expected = [
            by_definition(rows, lts.names, p, formula) for p in range(lts.num_states)
        ]
        assert satisfying(lts, formula).tolist() == expected
        assert satisfies(lts, 1, formula) == expected[1]


@pytest.mark.parametrize(
    ("formula", "text", "cost", "size"),
    [
        (TRUE, "⊤", (0, 1, 0, 0, 0, 0), 1),
        (A, "⟨a⟩", (1, 1, 0, 0, 0, 0), 2),
        (Not(A), "¬⟨a⟩", (1, 1, 0, 0, 0, 1), 3),
        (And((Not(A),)), "¬⟨a⟩", (1, 2, 0, 0, 1, 1), 4),
        (And((A, Observe("b", A))), "(⟨a⟩ ∧ ⟨b⟩⟨a⟩)", (2, 2, 2, 1, 0, 0), 6),
        (
            Observe("c", And((A, Not(Observe("b", Not(A)))))),
            "⟨c⟩(⟨a⟩ ∧ ¬⟨b⟩¬⟨a⟩)",
            (3, 2, 1, 0, 2, 2),
            9,
        ),
    ],
)
def test_text_cost_and_size(formula, text, cost, size):
    assert (str(formula), price(formula), formula.size) == (text, cost, size)


def test_deep_formulas_are_no_trouble():
    formula = TRUE
    for _ in range(5000):
        formula = Observe("a", formula)
    assert price(formula)[0] == 5000
    assert str(formula) == "⟨a⟩" * 5000
    assert not satisfies(COFFEE, 0, formula)


def test_a_process_that_is_not_there_is_told():
    with pytest.raises(ValueError, match="process must be from 0 to 9, got -1"):
        satisfies(COFFEE, -1, TRUE)
