"""Controllers in the AIGER format, ascii (`.aag`) and binary (`.aig`).

    aag 1 1 0 1 0
    2
    2
    i0 request
    o0 grant

Latches may begin as 0 or 1. The symbol table has names of inputs and outputs; those
without a name are called `i0`, `o0` and so on. A first line `REALIZABLE` or
`UNREALIZABLE`, as some programs print it, is passed over. Bad states, constraints and
fairness of AIGER 1.9 are refused.

References:
    Biere, Heljanko and Wieringa, AIGER 1.9 and beyond, FMV report 11/2, JKU Linz 2011,
    doi:10.350/fmvtr.2011-2.
"""

import os
import re

import numpy as np

from jaxgames import limits
from jaxgames.io import _limits
from jaxgames.io._files import FilePath, FormatError, reading, writing
from jaxgames.quoting import quoted
from jaxgames.synth import Circuit, Controller

HOLDS = Controller
"""What `load` returns and `save` takes."""

HOLDS_TOO = (Circuit,)

_HEADER = re.compile(rb"(aag|aig)((?: \d{1,10}){5,9})[ \t\r]*\Z")

PER_BYTE = 64
"""Bytes that reading takes for each byte of text, about."""


def load(path: FilePath) -> Controller:
    r"""Reads a controller: all states that its circuit may come to.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Raises:
        FormatError: the file is something else; tells the line.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "echo.aag")
        >>> _ = path.write_text("aag 1 1 0 1 0\n2\n2\ni0 request\no0 grant\n")
        >>> load(path)
        Controller(1 state, reads request, writes grant)
    """
    circuit = load_circuit(path)
    try:
        return circuit.controller()
    except limits.LimitError:
        raise
    except ValueError as error:
        raise FormatError(path, None, str(error)) from error


def load_circuit(path: FilePath) -> Circuit:
    """Reads a circuit.

    Raises:
        FormatError: as in `load`.
        OSError: the file cannot be read.
    """
    with reading(path, PER_BYTE) as file:
        return parse(path, file.read())


def save(path: FilePath, what: Controller | Circuit) -> None:
    """Writes a controller, in binary if the suffix is `.aig`.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        what: the controller, or a circuit.

    Raises:
        OSError: the file cannot be written.
    """
    from jaxgames.io._formats import suffix_of

    with writing(path) as file:
        file.write(dumps(what, binary=suffix_of(path) == ".aig"))


def dumps(
    what: Controller | Circuit, *, binary: bool = False, comment: str = ""
) -> bytes:
    """The bytes of a file.

    Args:
        what: the controller, or a circuit.
        binary: whether they are to be in the binary format.
        comment: text behind all else.

    Examples:
        >>> echo = Controller.from_arrays(
        ...     ["r"], ["g"], node=[0], test=[0], low=[-1], high=[-2],
        ...     output=[0, 1], successor=[0, 0],
        ... )
        >>> print(dumps(echo).decode(), end="")
        aag 1 1 0 1 0
        2
        2
        i0 r
        o0 g
    """
    circuit = what if isinstance(what, Circuit) else what.circuit()
    inputs, latches = len(circuit.inputs), len(circuit.following)
    gates = len(circuit.gates)
    sizes = inputs + latches + gates, inputs, latches, len(circuit.outputs), gates
    lines = [f"{'aig' if binary else 'aag'} {' '.join(map(str, sizes))}"]
    if not binary:
        lines += [str(2 * (i + 1)) for i in range(inputs)]
    for i, (after, begin) in enumerate(
        zip(circuit.following.tolist(), circuit.begin.tolist(), strict=True)
    ):
        words = [after, begin] if begin else [after]
        words = words if binary else [2 * (inputs + i + 1), *words]
        lines.append(" ".join(map(str, words)))
    lines += map(str, circuit.driver.tolist())
    packed = bytearray()
    for i, (one, other) in enumerate(circuit.gates.tolist()):
        left = 2 * (inputs + latches + i + 1)
        one, other = max(one, other), min(one, other)
        if binary:
            for delta in (left - one, one - other):
                while delta > 127:
                    packed.append(delta & 127 | 128)
                    delta >>= 7
                packed.append(delta)
        else:
            lines.append(f"{left} {one} {other}")
    names = [f"i{i} {_one_line(name)}" for i, name in enumerate(circuit.inputs)]
    names += [f"o{i} {_one_line(name)}" for i, name in enumerate(circuit.outputs)]
    if comment:
        names += ["c", comment]
    text = "".join(f"{line}\n" for line in lines).encode()
    return text + bytes(packed) + "".join(f"{line}\n" for line in names).encode()


def _one_line(name: str) -> str:
    return " ".join(name.split())


def parse(path: FilePath, data: bytes) -> Circuit:
    """Reads a circuit from the bytes of a file.

    Raises:
        FormatError: they are something else.
    """
    return _Reader(path, data).circuit()


class _Reader:
    """Reads lines, and between them packed gates."""

    def __init__(self, path: FilePath, data: bytes):
        self._path = path
        self._data = data
        self._at = 0
        self._line = 0

    def circuit(self) -> Circuit:
        line = self._next()
        if line.strip() in (b"REALIZABLE", b"UNREALIZABLE"):
            line = self._next()
        header = _HEADER.match(line)
        if not header:
            self._refuse(
                "expected 'aag' or 'aig' and five numbers, such as 'aag 1 1 0 1 0', "
                f"found {quoted(bytes(line))}"
            )
        binary = header[1] == b"aig"
        most, inputs, latches, outputs, gates, *more = map(int, header[2].split())
        if any(more):
            self._refuse("bad states, constraints and fairness are not supported")
        if most < inputs + latches + gates or (
            binary and most != inputs + latches + gates
        ):
            self._refuse(
                f"{inputs} inputs, {latches} latches and {gates} gates do not fit "
                f"the largest variable, {most}"
            )
        count = inputs + latches + outputs + gates
        what = f"{count} inputs, latches, outputs and gates"
        _limits.check(self._path, self._line, what, 16 * count, len(self._data))
        if count - binary * inputs > len(self._data):
            self._refuse(f"{what} do not fit into {len(self._data)} bytes")
        self._most = 2 * most + 1
        # What a variable of the file is called here, in the order of a `Circuit`.
        place = {0: 0}

        def defined(literal: int) -> None:
            if literal & 1 or literal >> 1 in place:
                self._refuse(f"{literal} is not the literal of a new variable")
            place[literal >> 1] = len(place)

        for i in range(inputs):
            defined(2 * (i + 1) if binary else self._numbers(1, 1)[0])
        following, begin = [], []
        for i in range(latches):
            own = 2 * (inputs + i + 1)
            words = self._numbers(2 - binary, 3 - binary)
            if not binary:
                own, *words = words
            defined(own)
            following.append(words[0])
            begin.append(words[1] if len(words) > 1 else 0)
            if begin[-1] not in (0, 1):
                self._refuse("expected 0 or 1 as the initial value of a latch")
        driver = [self._numbers(1, 1)[0] for _ in range(outputs)]
        if binary:
            pairs = self._packed(inputs + latches, gates)
            rows = [(2 * (inputs + latches + 1 + i), *x) for i, x in enumerate(pairs)]
        else:
            rows = [tuple(self._numbers(3, 3)) for _ in range(gates)]
        rows = self._in_order(rows, place)
        for own, _, _ in rows:
            defined(own)

        def here(literal: int) -> int:
            if literal >> 1 not in place:
                self._refuse(f"literal {literal} belongs to no variable")
            return 2 * place[literal >> 1] + (literal & 1)

        names = self._symbols(inputs, outputs)
        return Circuit(
            tuple(names.get(("i", i), f"i{i}") for i in range(inputs)),
            tuple(names.get(("o", i), f"o{i}") for i in range(outputs)),
            np.array([here(x) for x in following], np.int64),
            np.array(begin, np.int64),
            np.array([here(x) for x in driver], np.int64),
            np.array([(here(a), here(b)) for _, a, b in rows], np.int64).reshape(-1, 2),
        )

    def _in_order(self, rows: list, place: dict[int, int]) -> list:
        """Gates so that each comes behind those that it reads."""
        of = {}
        for row in rows:
            if row[0] & 1 or row[0] >> 1 in of or row[0] >> 1 in place:
                self._refuse(f"{row[0]} is not the literal of a new variable")
            of[row[0] >> 1] = row
        done, found = set(place), []
        for first in of:
            work = [first]
            on_path: set[int] = set()
            while work:
                limits.tick("reading", len(found), "gates")
                at = work[-1]
                if at in done:
                    work.pop()
                    continue
                below = [x >> 1 for x in of[at][1:] if x >> 1 not in done]
                if any(x not in of for x in below):
                    self._refuse(
                        f"gate {2 * at} reads a literal that belongs to no variable"
                    )
                if not below:
                    done.add(at)
                    found.append(of[at])
                    work.pop()
                elif at in on_path:
                    self._refuse(f"gate {2 * at} depends on itself")
                else:
                    on_path.add(at)
                    work += below
        return found

    def _next(self) -> bytes:
        if self._at >= len(self._data):
            self._line += 1
            self._refuse("the file ends too early")
        end = self._data.find(b"\n", self._at)
        end = len(self._data) if end < 0 else end
        line, self._at = self._data[self._at : end], end + 1
        self._line += 1
        return line

    def _numbers(self, least: int, most: int) -> list[int]:
        line = self._next()
        words = line.split()
        fits = least <= len(words) <= most and all(
            w.isdigit() and len(w) < 12 and int(w) <= self._most for w in words
        )
        if not fits:
            self._refuse(
                f"expected {least if least == most else f'{least} or {most}'} literals "
                f"from 0 to {self._most}, found {quoted(bytes(line))}"
            )
        return [int(w) for w in words]

    def _packed(self, before: int, gates: int) -> list[tuple[int, int]]:
        found = []
        for i in range(gates):
            left = 2 * (before + 1 + i)
            one = left - self._delta()
            other = one - self._delta()
            if not 0 <= other <= one < left:
                self._refuse(
                    f"gate {left} reads a variable that is not defined before it"
                )
            found.append((one, other))
        return found

    def _delta(self) -> int:
        value = shift = 0
        while True:
            if self._at >= len(self._data) or shift > 63:
                self._refuse("the file ends within the gates")
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _symbols(self, inputs: int, outputs: int) -> dict[tuple[str, int], str]:
        found: dict[tuple[str, int], str] = {}
        counts = {"i": inputs, "o": outputs}
        seen = {"i": set(), "o": set()}
        while self._at < len(self._data):
            line = self._next()
            if line.strip() == b"c":
                break
            symbol = re.match(rb"([ilobcjf])(\d{1,10}) (.+?)\r?\Z", line)
            if not symbol:
                if line.strip():
                    self._refuse(f"expected a symbol, found {quoted(bytes(line))}")
                continue
            kind, number = symbol[1].decode(), int(symbol[2])
            if kind not in counts:
                continue
            name = symbol[3].decode(errors="replace")
            if number >= counts[kind] or (kind, number) in found:
                self._refuse(f"{kind}{number} does not exist, or already has a name")
            if name in seen[kind]:
                self._refuse(f"there are two {kind} called {quoted(name)}")
            seen[kind].add(name)
            found[kind, number] = name
        return found

    def _refuse(self, message: str):
        raise FormatError(os.fspath(self._path), self._line, message)
