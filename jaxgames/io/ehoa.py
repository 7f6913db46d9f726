"""Specifications in the extended Hanoi format: automata whose propositions have owners.

    HOA: v1
    States: 1
    Start: 0
    AP: 2 "request" "grant"
    controllable-AP: 1
    acc-name: parity max even 2
    Acceptance: 2 Fin(1) & Inf(0)
    --BODY--
    State: 0
    [!0 | 1] 0 {0}
    [0 & !1] 0 {1}
    --END--

All that [`hoa`][jaxgames.io.hoa] reads is read, and the header `controllable-AP`, which
names the propositions that the system sets. Whether the automaton is deterministic and
complete is not asked of the file, but looked at when the game is made.

References:
    Perez, The extended HOA format for synthesis, arXiv:1912.05793.
"""

from jaxgames.acceptance import TRUE
from jaxgames.io import _hoa
from jaxgames.io._files import FilePath, FormatError, write_text
from jaxgames.io._whole import Whole
from jaxgames.io.hoa import dumps as _dumps
from jaxgames.ltl import Automaton, EmersonLei
from jaxgames.synth import Controller, Specification

HOLDS = Specification
"""What `load` returns and `save` takes."""


def load(path: FilePath) -> Specification:
    """Reads the specification of a file.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Raises:
        FormatError: the file is something else, or says nothing of controllable
            propositions; tells the line and the column.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.ehoa")
        >>> save(path, Specification.from_ltl("G(r -> F g)", ["r"], ["g"]))
        >>> load(path)
        Specification(2 states, inputs r, outputs g)
    """
    return _read(Whole.coming(path))


def loads(text: str) -> Specification:
    """Reads the specification of a text, as `load` that of a file."""
    return _read(Whole.of("<text>", text))


def save(path: FilePath, specification: Specification) -> None:
    """Writes a specification; that the system moves first is in the name alone.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        specification: it.

    Raises:
        OSError: the file cannot be written.
    """
    write_text(path, dumps(specification))


def dumps(specification: Specification) -> str:
    """The text of a specification."""
    names = specification.automaton.propositions
    line = _header(names, specification.outputs)
    return _dumps(specification.automaton, more=[line])


def header(machine: Controller) -> str:
    """The line that says which propositions of a machine's automaton it sets."""
    return _header((*machine.reads, *machine.writes), machine.writes)


def _header(names: tuple[str, ...], controllable: tuple[str, ...]) -> str:
    numbers = (str(names.index(name)) for name in controllable)
    return " ".join(["controllable-AP:", *numbers])


def load_machine(path: FilePath) -> tuple[Automaton, tuple[str, ...] | None]:
    """Reads the words that a machine can bring about, and what it sets.

    Args:
        path: a file in this format or the plain one, by `jaxgames synth`, `ltlsynt` or
            another program; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        An automaton in which all runs accept; and the names of the propositions after
        `controllable-AP:`, or None if the header does not have it.

    Raises:
        FormatError: the file is something else, or some runs do not accept.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "machine.hoa")
        >>> _ = path.write_text(
        ...     'HOA: v1 Start: 0 AP: 2 "r" "g" controllable-AP: 1 Acceptance: 0 t '
        ...     "--BODY-- State: 0 [0 & 1 | !0] 0 --END--"
        ... )
        >>> load_machine(path)
        (Automaton(1 state, 1 edge, 0 acceptance sets, propositions r g), ('g',))
    """
    automaton, sets = _one(Whole.coming(path))
    if automaton.condition != TRUE:
        raise FormatError(
            str(path),
            None,
            "expected a machine, whose runs all accept ('Acceptance: 0 t'), found "
            f"{automaton.condition}",
        )
    return automaton.graph, sets


def _read(whole: Whole) -> Specification:
    automaton, controllable = _one(whole)
    if controllable is None:
        raise FormatError(
            whole.path,
            None,
            "the header lacks 'controllable-AP:', which says which propositions the "
            "system sets",
        )
    return Specification(automaton, controllable)


def _one(whole: Whole) -> tuple[EmersonLei, tuple[str, ...] | None]:
    """The only automaton of a file, and its controllable propositions."""
    found = list(_hoa.extended(whole))
    if len(found) != 1:
        raise FormatError(
            whole.path, None, f"expected one automaton, but the file holds {len(found)}"
        )
    automaton, controllable = found[0]
    if controllable is None:
        return automaton, None
    names = automaton.propositions
    return automaton, tuple(names[i] for i in sorted(controllable))
