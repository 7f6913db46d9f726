"""Büchi automata in the Hanoi Omega-Automata format, version 1.

    HOA: v1
    States: 2
    Start: 0
    AP: 1 "p"
    acc-name: Buchi
    Acceptance: 1 Inf(0)
    --BODY--
    State: 0 [t] 0 [!0] 1
    State: 1 {0} [!0] 1
    --END--

What is read: acceptance of states and edges, by `Inf(x)`, `Inf(!x)`, `Fin(x)`,
`Fin(!x)`, `t` and `f` in any combination of `&` and `|`; explicit and implicit labels,
aliases, several initial states, comments, and several automata in one file. An
alternating automaton becomes one without alternation, if it is weak or has no `Fin`. An
automaton without `Fin` is a generalised Büchi automaton.

References:
    Babiak et al., The Hanoi Omega-Automata format, CAV 2015,
    doi:10.1007/978-3-319-21690-4_31; https://adl.github.io/hoaf/.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from jaxgames.acceptance import parity
from jaxgames.io import _hoa
from jaxgames.io._files import FilePath, FormatError, write_text
from jaxgames.io._whole import Whole
from jaxgames.ltl import Automaton, EmersonLei, ParityAutomaton

T = TypeVar("T")

HOLDS = Automaton
"""What `load` returns and `save` takes."""

HOLDS_TOO = (EmersonLei, ParityAutomaton)


def load(path: FilePath) -> Automaton | EmersonLei:
    """Reads the automaton of a file.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Raises:
        FormatError: the file is something else, or holds none or several automata, or
            one that alternates, is not weak, and has `Fin` or a disjunction; tells the
            line and the column.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> from jaxgames import ltl
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.hoa")
        >>> save(path, ltl.translate("G(p -> F q)"))
        >>> load(path)
        Automaton(2 states, 4 edges, 1 acceptance set, propositions p q)
    """
    return _only(path, _hoa.automata(Whole.coming(path)))


def loads(text: str) -> Automaton | EmersonLei:
    """Reads the automaton of a text, as `load` that of a file."""
    return _only("<text>", _hoa.automata(Whole.of("<text>", text)))


def load_all(path: FilePath) -> Iterator[Automaton | EmersonLei]:
    """Reads the automata of a file, one after the other.

    Those that end in `--ABORT--` are left out.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Raises:
        FormatError: as in `load`, when what is wrong is met.
        OSError: the file cannot be read.
    """
    return _hoa.automata(Whole.read(path))


def save(path: FilePath, automaton: Automaton | EmersonLei | ParityAutomaton) -> None:
    """Writes an automaton; acceptance of states is written as such.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        automaton: the automaton.

    Raises:
        OSError: the file cannot be written.
    """
    write_text(path, dumps(automaton))


def dumps(
    automaton: Automaton | EmersonLei | ParityAutomaton, *, more: Sequence[str] = ()
) -> str:
    """The text of an automaton.

    Args:
        automaton: it.
        more: lines for the header.

    Examples:
        >>> from jaxgames import ltl
        >>> print(dumps(ltl.translate("GF p", generalised=True)))
        HOA: v1
        name: "G F p"
        States: 1
        Start: 0
        AP: 1 "p"
        acc-name: Buchi
        Acceptance: 1 Inf(0)
        properties: trans-labels explicit-labels trans-acc no-univ-branch
        --BODY--
        State: 0
        [0] 0 {0}
        [!0] 0
        --END--
        <BLANKLINE>
    """
    if isinstance(automaton, ParityAutomaton):
        automaton = automaton.emerson_lei
    known = []
    if isinstance(automaton, EmersonLei):
        condition, automaton = str(automaton.condition), automaton.graph
        kind = f"parity max even {automaton.num_sets}"
        if condition == str(parity("max even", automaton.num_sets)):
            known = [f"acc-name: {kind}"]
    else:
        names = {0: "all", 1: "Buchi"}
        count = automaton.num_sets
        condition = "&".join(f"Inf({i})" for i in range(count)) or "t"
        known = [f"acc-name: {names.get(count, f'generalized-Buchi {count}')}"]
    num_sets, by_state = automaton.num_sets, automaton.is_state_based
    name = [f"name: {_quoted(automaton.name)}"] if automaton.name else []
    lines = [
        "HOA: v1",
        *name,
        f"States: {automaton.num_states}",
        *(f"Start: {q}" for q in automaton.initial),
        " ".join(["AP:", str(len(automaton.propositions))])
        + "".join(" " + _quoted(x) for x in automaton.propositions),
        *more,
        *known,
        f"Acceptance: {num_sets} {condition}",
        "properties: trans-labels explicit-labels "
        f"{'state' if by_state else 'trans'}-acc no-univ-branch",
        "--BODY--",
    ]
    members = automaton.members()
    for q in range(automaton.num_states):
        lines.append(f"State: {q}{_signature(members[:, q]) if by_state else ''}")
        for e in range(automaton.offsets[q], automaton.offsets[q + 1]):
            marks = "" if by_state else _signature(automaton.sets[:, e])
            label = " | ".join(_cube(*cube) for cube in automaton.guard(e))
            lines.append(f"[{label}] {automaton.targets[e]}{marks}")
    return "\n".join([*lines, "--END--", ""])


def _quoted(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _signature(sets: np.ndarray) -> str:
    marks = " ".join(map(str, np.flatnonzero(sets)))
    return f" {{{marks}}}" if marks else ""


def _cube(must: int, never: int) -> str:
    bits = range((must | never).bit_length())
    literals = [f"{'!' * (never >> i & 1)}{i}" for i in bits if (must | never) >> i & 1]
    return "&".join(literals) or "t"


def _only(path: FilePath, automata: Iterator[T]) -> T:
    found = next(automata, None)
    if found is None:
        raise FormatError(path, None, "expected an automaton, but the file has none")
    if next(automata, None) is not None:
        raise FormatError(
            path, None, "the file holds several automata: read them with hoa.load_all"
        )
    return found
