"""How many states deterministic parity automata of well-known formulas have.

    python -m benchmarks.automata

What is printed is the table of the page on synthesis: states and colours here, and the
states that Spot's automata had when it was run on the same formulas.
"""

from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.tables import table
from jaxgames import ltl


class Family(NamedTuple):
    """A formula, and what is known of it.

    Attributes:
        name: what it is called, in words.
        formula: its text.
        spot: states of the automaton of Spot 2.9.4, a development version, by
            `ltl2tgba -D -P"max even"`.
    """

    name: str
    formula: str
    spot: int


def _all(parts: Iterable[str], sign: str = "&") -> str:
    return f" {sign} ".join(f"({part})" for part in parts)


def _responses(count: int) -> str:
    return _all(f"G(p{i} -> F q{i})" for i in range(count))


def _streett(count: int) -> str:
    return _all(f"G F p{i} | F G q{i}" for i in range(count))


def _arbiter(count: int) -> str:
    pairs = [(i, j) for j in range(count) for i in range(j)]
    apart = _all(f"!(g{i} & g{j})" for i, j in pairs)
    return _all([*(f"G(r{i} -> F g{i})" for i in range(count)), f"G({apart})"])


FAMILIES = (
    Family("4 responses", _responses(4), 33),
    Family("not all of 3 responses", f"!({_responses(3)})", 16),
    Family(
        "θ₄ of Gastin and Oddoux",
        f"!(({_all(f'G F p{i}' for i in range(4))}) -> G(q -> F r))",
        5,
    ),
    Family("2 recurrences imply 2", "(G F a & G F b) -> (G F c & G F d)", 21),
    Family("2 Streett pairs", _streett(2), 29),
    Family("one of 4 persistences", _all((f"F G p{i}" for i in range(4)), "|"), 4),
    Family("F(p & X⁶ q)", "F(p & XXXXXX q)", 65),
    Family("G F(p & X³ q)", "G F(p & XXX q)", 8),
    Family("arbiter of 3 clients", _arbiter(3), 13),
)
"""Formulas by which translators are compared."""


def rows() -> list[tuple[str, int, int, int]]:
    """Of each family its name, states and colours here, and Spot's states."""
    found = []
    for family in FAMILIES:
        automaton = ltl.deterministic(family.formula)
        colours = len(set(automaton.colour.tolist()))
        found.append((family.name, automaton.num_states, colours, family.spot))
    return found


def main() -> None:
    """Prints the table."""
    lines = (map(str, row) for row in rows())
    print(table(["formula", "states", "colours", "states by Spot"], lines))


if __name__ == "__main__":
    main()
