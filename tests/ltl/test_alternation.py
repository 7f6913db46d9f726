"""Alternating automata in the Hanoi format, against games on words."""

import itertools

import numpy as np
import pytest

from jaxgames import ltl
from jaxgames.acceptance import inf
from jaxgames.io import hoa
from jaxgames.io._files import FormatError

LETTERS = ("", "p")


def text_of(rows, starts, acceptance: str) -> str:
    """An automaton: of each state its edges, (letter or None, targets, marks)."""
    lines = [
        "HOA: v1",
        f"States: {len(rows)}",
        *(f"Start: {'&'.join(map(str, sorted(q)))}" for q in starts),
        'AP: 1 "p"',
        f"Acceptance: {acceptance}",
        "--BODY--",
    ]
    for q, row in enumerate(rows):
        lines.append(f"State: {q}")
        for letter, targets, marks in row:
            label = {None: "t", "p": "0", "": "!0"}[letter]
            to = "&".join(map(str, sorted(targets)))
            lines.append(f"[{label}] {to} {{{' '.join(map(str, sorted(marks)))}}}")
    return "\n".join([*lines, "--END--", ""])


def accepts(rows, starts, prefix, cycle, goals) -> bool:
    """Whether one who chooses edges has each path meet all goals again and again.

    Args:
        rows: edges.
        starts: sets of states.
        prefix: letters.
        cycle: letters.
        goals: whether an edge of a state is one of each goal: functions.
    """
    word, back = prefix + cycle, len(prefix)
    places = range(len(word))
    pairs = set(itertools.product(range(len(rows)), places))
    after = [*places[1:], back]

    def reaches(goal, always):
        found = set()
        while True:
            more = {
                (q, i)
                for q, i in pairs
                if any(
                    letter in (None, word[i])
                    and all(
                        (r, after[i]) in (always if goal(q, r, marks) else found)
                        for r in targets
                    )
                    for letter, targets, marks in rows[q]
                )
            }
            if more == found:
                return found
            found = more

    always = set(pairs)
    while True:
        less = set.intersection(always, *(reaches(goal, always) for goal in goals))
        if less == always:
            return any(all((q, 0) in always for q in some) for some in starts)
        always = less


def random_rows(rng, size: int, num_marks: int, *, weak: bool):
    rows = []
    for q in range(size):
        row = []
        for _ in range(int(rng.integers(1, 4))):
            least = q if weak else 0
            count = min(int(rng.integers(1, 4)), size - least)
            targets = {int(x) for x in rng.integers(least, size, count)}
            marks = {m for m in range(num_marks) if rng.random() < 0.4}
            letter = (None, "", "p")[int(rng.integers(3))]
            row.append((letter, targets, marks))
        rows.append(row)
    starts = [{int(x) for x in rng.integers(0, size, 2)} for _ in range(2)]
    starts[0] |= {0, size - 1}
    return rows, starts


def words():
    for prefix in ((), ("p",), ("", "p")):
        for length in (1, 2, 3):
            for cycle in itertools.product(LETTERS, repeat=length):
                yield list(prefix), list(cycle)


def agrees(text, rows, starts, goals) -> int:
    found, yes = hoa.loads(text), 0
    assert isinstance(found, ltl.Automaton)
    for prefix, cycle in words():
        expected = accepts(rows, starts, prefix, cycle, goals)
        yes += expected
        names = [[{x} - {""} for x in part] for part in (prefix, cycle)]
        assert found.accepts(*names) == expected, text
    return yes


def buchi(seed: int, count: int) -> int:
    rng, yes = np.random.default_rng(seed), 0
    for _ in range(count):
        num_marks = int(rng.integers(0, 3))
        rows, starts = random_rows(rng, int(rng.integers(2, 5)), num_marks, weak=False)
        condition = "&".join(f"Inf({m})" for m in range(num_marks)) or "t"
        goals = [lambda q, r, marks, m=m: m in marks for m in range(num_marks)]
        goals = goals or [lambda q, r, marks: True]
        text = text_of(rows, starts, f"{num_marks} {condition}")
        yes += agrees(text, rows, starts, goals)
    return yes


def weak(seed: int, count: int) -> int:
    rng, yes = np.random.default_rng(seed), 0
    for _ in range(count):
        rows, starts = random_rows(rng, int(rng.integers(2, 6)), 0, weak=True)
        bad = rng.random(len(rows)) < 0.5
        rows = [
            [(letter, targets, {0} if bad[q] else {1}) for letter, targets, _ in row]
            for q, row in enumerate(rows)
        ]
        condition = ("Fin(0)", "Fin(0) & (Inf(1) | Fin(1))")[int(rng.integers(2))]
        text = text_of(rows, starts, f"2 {condition}")
        # Who stays in a good state has met the goal; who leaves, may owe it.
        goal = [lambda q, r, marks, bad=bad: q == r and not bad[q]]
        yes += agrees(text, rows, starts, goal)
    return yes


def test_what_alternating_automata_accept():
    assert 60 < buchi(0, 12) < 12 * 42 - 60
    assert 60 < weak(0, 12) < 12 * 42 - 60


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1, 11))
def test_what_many_alternating_automata_accept(seed):
    assert buchi(seed, 200)
    assert weak(seed, 200)


def test_one_that_is_not_read():
    rows = [[(None, {0, 1}, {0})], [(None, {1, 0}, set())]]
    text = text_of(rows, [{0}], "1 Fin(0)")
    with pytest.raises(FormatError, match="an alternating automaton is read if it is"):
        hoa.loads(text)
    with pytest.raises(FormatError, match="has at most 4096 states"):
        hoa.loads(text.replace("States: 2\n", "").replace("0&1", "0&5000"))


def test_a_mark_is_worth_more_than_a_smaller_set():
    """Only the edge that asks for more has the mark, and each time `p` ever after."""
    edges = [(0, ((0, 0),), [0], []), (0, ((0, 0),), [0, 1], [0])]
    edges.append((1, ((1, 0),), [1], [0]))
    found = ltl.from_alternating(edges, [[0]], inf(0), num_states=2, propositions=["p"])
    wanted = ltl.Formula.parse("F G X p")
    for length in range(1, 5):
        for word in itertools.product([(), ("p",)], repeat=length):
            for back in range(length):
                prefix, cycle = word[:back], word[back:]
                assert found.accepts(prefix, cycle) == wanted.holds_on(prefix, cycle)
