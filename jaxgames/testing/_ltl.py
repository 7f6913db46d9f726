"""Formulas of linear temporal logic: automata and products, against lasso words."""

import zlib
from collections.abc import Iterator

import numpy as np

from jaxgames import buchi, ltl, systems
from jaxgames.ltl import Formula
from jaxgames.systems import System
from jaxgames.testing import _games
from jaxgames.testing._subject import Check, Complaint, Subject, each
from jaxgames.testing._words import Words

BATCH, SIZE = 16, 10

NAMES = ["p", "q"]

KINDS = ("!", "X", "F", "G", "U", "R", "W", "M", "&", "|", "->", "<->", "&", "|")
"""Operators; the first four have one operand."""


# ---- formulas --------------------------------------------------------------------


def _formula(rng: np.random.Generator, size: int) -> Formula:
    if size <= 1:
        if rng.integers(12) == 0:
            return Formula(("true", "false")[int(rng.integers(2))])
        return Formula("name", name=NAMES[int(rng.integers(len(NAMES)))])
    kind = KINDS[int(rng.integers(len(KINDS) if size > 2 else 4))]
    if kind in KINDS[:4]:
        return Formula(kind, (_formula(rng, size - 1),))
    left = int(rng.integers(1, max(size - 1, 2)))
    sizes = [left, max(size - 1 - left, 1)]
    if kind in ("&", "|") and size > 4 and rng.integers(3) == 0:
        sizes.append(1)
    return Formula(kind, tuple(_formula(rng, n) for n in sizes))


def _draw(rng: np.random.Generator, index: int, size: int) -> Formula:
    return _formula(rng, int(rng.integers(1, size + 1)))


_LEAST = Formula("name", name=NAMES[0])


def smaller(formula: Formula) -> Iterator[Formula]:
    """Formulas that are a step smaller: an operand, or with one made smaller.

    Examples:
        >>> [str(x) for x in smaller(Formula.parse("G(p & q)"))]
        ['p & q', 'G p', 'G q', 'G(p & p)']
    """
    yield from formula.operands
    if not formula.operands and formula != _LEAST:
        yield _LEAST
    if len(formula.operands) > 2:
        for at in range(len(formula.operands)):
            rest = formula.operands[:at] + formula.operands[at + 1 :]
            yield Formula(formula.operator, rest)
    for at, operand in enumerate(formula.operands):
        for less in smaller(operand):
            parts = (*formula.operands[:at], less, *formula.operands[at + 1 :])
            yield Formula(formula.operator, parts)


# ---- automata --------------------------------------------------------------------


def of_automata(generalised: bool) -> Check:
    """The automaton accepts the words of the formula, that of its negation the rest."""
    all_words = [Words(NAMES, length) for length in (1, 2, 3)]

    def check(formula: Formula) -> Complaint:
        automata = [
            ltl.translate(
                formula, negate=negate, generalised=generalised, propositions=NAMES
            )
            for negate in (False, True)
        ]
        for words in all_words:
            for negate, automaton in enumerate(automata):
                expected = words.holds(formula) != bool(negate)
                wrong = np.flatnonzero(words.accepted(automaton) != expected)
                if len(wrong):
                    word = words.letters[wrong[0]].tolist()
                    return (
                        f"the automaton of {'!' if negate else ''}({formula}) must "
                        f"{'accept' if expected[wrong[0]] else 'reject'} {word}, from "
                        f"{words.back[wrong[0]]} on for ever"
                    )
        if not automata[0].intersect(automata[1]).is_empty():
            return "the automata of a formula and its negation share a word"
        return None

    return each(check)


def _printed(formula: Formula) -> Complaint:
    """What is printed is read back."""
    again = Formula.parse(str(formula))
    words = Words(NAMES, 2)
    return _games.differs("word", words.holds(again), words.holds(formula))


# ---- products --------------------------------------------------------------------


def system_for(formula: Formula) -> System:
    """A small system by lot, the same for the same formula."""
    rng = np.random.default_rng(zlib.crc32(str(formula).encode()))
    size = int(rng.integers(1, 4))
    offsets = np.append(0, np.cumsum(rng.integers(1, 3, size)))
    labels = {name: rng.integers(2, size=size).astype(bool) for name in NAMES}
    return System.from_graph((offsets, rng.integers(size, size=offsets[-1])), labels)


def lassos(system: System, most: int) -> Iterator[tuple[list[int], int]]:
    """Runs of so many states at most, and the place to which the last returns."""
    arena = system.arena()
    paths = [[int(s)] for s in system.initial]
    for _ in range(most):
        for path in paths:
            for back, state in enumerate(path):
                if state in arena.successors(path[-1]):
                    yield path, back
        paths = [[*p, int(t)] for p in paths for t in arena.successors(p[-1])]


def _holds(formula: Formula, system: System, run: list[int], back: int) -> bool:
    """Whether a run satisfies a formula, as a word."""
    word = Words(NAMES, len(run))
    labels = system.labels[run]
    places = [system.propositions.index(name) for name in NAMES]
    letter = sum(labels[:, j].astype(int) << i for i, j in enumerate(places))
    which = (word.letters == letter).all(axis=1) & (word.back == back)
    return bool(word.holds(formula)[which][0])


def _product(formula: Formula) -> Iterator[Complaint]:
    """Both engines make the same product; what runs it has is known from short ones."""
    system, automaton = system_for(formula), ltl.translate(formula)
    host, device = (
        systems.product(system, automaton, engine=engine)
        for engine in ("host", "device")
    )
    for name in ("offsets", "targets", "accepting", "system_state", "automaton_state"):
        yield _games.differs(name, getattr(device, name), getattr(host, name))
    found = buchi.accepting_cycle(host, solver="host")
    some = any(_holds(formula, system, run, back) for run, back in lassos(system, 4))
    if some and not found.exists:
        yield f"a run of {system} satisfies it, but none is found"
    if found.lasso is not None:
        run = [*found.lasso.prefix.tolist(), *found.lasso.cycle.tolist()]
        run = np.asarray(host.system_state)[run].tolist()
        if len(run) <= 6 and not _holds(formula, system, run, len(found.lasso.prefix)):
            yield f"the run {run} of {system} does not satisfy it"


def subject() -> Subject:
    """Formulas and their automata."""
    return Subject(
        name="ltl",
        draw=_draw,
        checks={
            "translate": of_automata(generalised=False),
            "translate.generalised": of_automata(generalised=True),
            "parse": each(_printed),
            "product": each(_product),
        },
        smaller=smaller,
        show=lambda formula: (
            f"formula = Formula.parse({str(formula)!r})\nbuchi.translate(formula)"
        ),
        size=SIZE,
        batch=BATCH,
    )
