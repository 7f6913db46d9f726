"""Readers of files as the fuzzer sees them: bytes that were valid once.

A case is a file of some format, made by our own writers or by hand from small values,
with a few things done to its bytes; of archives, to the bytes of a member. Whatever
they are, the reader gives a value, or raises `FormatError` with a message of a few
lines, and asks for no more memory than a bounded multiple of what is there.
"""

import bz2
import contextlib
import functools
import gzip
import io as streams
import json
import lzma
import re
import struct
import tarfile
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from jaxgames import io, ltl, mdp, synth, systems
from jaxgames.arena import Arena
from jaxgames.io import hoa, hoa_game, npz, pgsolver, prism, program, tlsf
from jaxgames.io._tokens import read_text
from jaxgames.mdp import MDP
from jaxgames.testing._subject import Cases, Check, Complaint, Subject

try:
    import resource
except ImportError:  # not on this kind of machine
    resource = None

MOST_SAID = 600
"""Characters of a message, without the name of the file."""

ROOM = 4 << 30
"""Bytes of address space that reading a case may take: threads reserve much of it."""

MOST_REPEATED = 1 << 17
"""Bytes that a mutated part may have."""


class Case(NamedTuple):
    """What a reader is to read.

    Attributes:
        reader: its name, a key of `READERS`: that of the file that is read.
        packing: how the parts are put into files: each is one (""), or all are members
            of one ("zip", "tar"), or the first is compressed ("gz", "bz2", "xz").
        parts: bytes by name.
    """

    reader: str
    packing: str
    parts: Mapping[str, bytes]


class Reader(NamedTuple):
    """How a file is read, and valid cases, of which those that are drawn are made."""

    samples: Callable[[str], list[Case]]
    """Given the name of the file."""
    read: Callable[[Path], Any] = io.load


def subject() -> Subject:
    """All readers."""
    samples = {name: reader.samples(name) for name, reader in READERS.items()}
    names = list(READERS)

    def draw(rng: np.random.Generator, index: int, size: int) -> Case:
        own = samples[names[index % len(names)]]
        case = own[int(rng.integers(len(own)))]
        if rng.random() < 0.2:  # parts of what another format has
            other = samples[names[int(rng.integers(len(names)))]][0]
        else:
            other = own[int(rng.integers(len(own)))]
        return _mutated(rng, case, other, size)

    return Subject(
        name="files",
        draw=draw,
        checks={name: _check(name) for name in names},
        smaller=_smaller,
        show=_show,
        size=4,
        batch=len(names) * 10,
    )


def _check(name: str) -> Check:
    def check(cases: Cases) -> list[Complaint]:
        with _room(ROOM):
            return [complaint(x) if x.reader == name else None for x in cases]

    return check


def complaint(case: Case) -> Complaint:
    """What is wrong with how a case is read, or None."""
    with tempfile.TemporaryDirectory(prefix="jaxgames-fuzz-") as folder:
        for name, data in _packed(case).items():
            Path(folder, name).write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read = READERS[case.reader].read
                return _unsound(read(Path(folder, case.reader)))
        except io.FormatError as error:
            if len(error.message) > MOST_SAID:
                return f"a message of {len(error.message)} characters"
        except OSError as error:
            if error.errno is None and not isinstance(error, TimeoutError):
                return _described(error)
        except Exception as error:
            pieces = isinstance(error, ValueError) and case.reader.startswith("pieces")
            if not pieces or len(str(error)) > MOST_SAID + len(folder):
                return _described(error)
    return None


def _described(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return f"{type(error).__name__} in {place}: {str(error)[:200]}"


def _unsound(value: Any) -> Complaint:
    """What is wrong with a value that was read, or None."""
    arena = getattr(value, "arena", value)
    if isinstance(arena, Arena):
        labels = {
            name: getattr(arena, name)
            for name in ("owner", "priority", "edge_priority", "weight", "accepting")
        }
        again = Arena.from_csr(arena.row_ptr, arena.dst, **labels, dead_ends="allow")
        if not np.array_equal(again.src, arena.src):
            return "src does not agree with row_ptr"
    if isinstance(value, MDP):
        for group in (value.state_rewards, value.choice_rewards, value.branch_rewards):
            for name, values in (group or {}).items():
                if not np.isfinite(values).all():
                    return f"reward {name!r} is not finite"
    return None


@contextlib.contextmanager
def _room(size: int) -> Iterator[None]:
    """Bounds the memory that may be asked for, where the system can."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        pages = 0
    if resource is None or not pages:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + size
    if soft != resource.RLIM_INFINITY:
        most = min(most, soft)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


# ---- packing ---------------------------------------------------------------------

_COMPRESS = {
    "gz": functools.partial(gzip.compress, mtime=0),  # the same case at any time
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def _packed(case: Case) -> dict[str, bytes]:
    """The files of a case."""
    buffer, file = streams.BytesIO(), case.reader
    if case.packing == "zip":
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, data in case.parts.items():
                archive.writestr(zipfile.ZipInfo(name), data)
        return {file: buffer.getvalue()}
    if case.packing == "tar":
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for name, data in case.parts.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, streams.BytesIO(data))
        return {file: buffer.getvalue()}
    if case.packing:
        first = next(iter(case.parts))
        return {file: _COMPRESS[case.packing](case.parts[first])}
    return dict(case.parts)


def _of_archive(reader: str, data: bytes) -> Case:
    """A case with the members of an archive as its parts."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(streams.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        return Case(reader, "zip", parts)
    parts = {}
    with tarfile.open(fileobj=streams.BytesIO(data)) as archive:
        for member in archive:
            found = archive.extractfile(member)
            parts[member.name] = found.read() if found else b""
    return Case(reader, "tar", parts)


# ---- mutations -------------------------------------------------------------------

ODD = [
    *(b"", b"0", b"1", b"-1", b"-0", b"+1", b"00", b"1.5", b"1e999", b"-1e999", b"1/0"),
    *(b"nan", b"inf", b"-inf", b"true", b"null", b"1_0", b"0x10", b"1e5", b"\0", b"2"),
    *(b"2147483645", b"2147483646", b"2147483647", b"2147483648", b"4294967296"),
    *(b"9223372036854775807", b"-9223372036854775808", b"18446744073709551616"),
    *(b"9" * 30, b"9" * 5000, b"0" * 5000 + b"1", b"-" + b"9" * 30, b"65536", b"64"),
    *("²".encode(), "٣".encode(), "½".encode(), b"\xff\xfe", "\u2028".encode()),
    *(b'"', b"'", b"[", b"]", b"(", b")", b"{", b"}", b":", b";", b",", b"\\", b"#"),
    *(b"@", b"/*", b"*/", b"//", b"--", b"!", b"&", b"|", b"->", b"=", b"\n", b"\r"),
    *(b"init", b"deadlock", b"--ABORT--", b"--END--", b"@model", b"label", b"else"),
]
"""Words that take the place of others."""

_WORD = re.compile(rb"[0-9]+|[A-Za-z_]+|[^\s\w]+")


def _mutated(rng: np.random.Generator, case: Case, other: Case, most: int) -> Case:
    if case.packing and rng.random() < 0.25:
        case = Case(case.reader, "", _packed(case))
    parts = dict(case.parts)
    for _ in range(int(rng.integers(1, most + 1))):
        name = list(parts)[int(rng.integers(len(parts)))]
        if name.endswith(".npy") and rng.random() < 0.5:
            parts[name] = _array(rng)
        elif name.endswith(".json") and rng.random() < 0.7:
            parts[name] = _json(rng, parts[name])
        elif len(parts) > 1 and rng.random() < 0.05:
            del parts[name]
        else:
            own = list(other.parts.values())
            parts[name] = _bytes(rng, parts[name], own[int(rng.integers(len(own)))])
    return Case(case.reader, case.packing, parts)


def _bytes(rng: np.random.Generator, data: bytes, other: bytes) -> bytes:
    """Some bytes with one thing done to them."""

    def cut(text: bytes, most: int = 40) -> tuple[int, int]:
        start = int(rng.integers(len(text) + 1))
        return start, min(len(text), start + int(rng.integers(1, most)))

    i, j = cut(data)
    match int(rng.integers(12)):
        case 0 if data:  # a bit
            i = min(i, len(data) - 1)
            flipped = data[i] ^ (1 << int(rng.integers(8)))
            return data[:i] + bytes([flipped]) + data[i + 1 :]
        case 1:
            return data[:i] + data[j:]
        case 2:
            return data[:i]
        case 3:
            return data[:j] + data[i:j] + data[j:]
        case 4:
            return data[:i] + rng.bytes(int(rng.integers(1, 9))) + data[i:]
        case 5:
            k, end = cut(other)
            return data[:i] + other[k:end] + data[j:]
        case 6:
            return data[:i] + other[int(rng.integers(len(other) + 1)) :]
        case 7 if rng.random() < 0.3:  # very often the same
            part = data[i : min(j, i + 6)] or b"\0"
            times = int(rng.integers(1, MOST_REPEATED)) // len(part)
            return (data[:i] + part * times + data[i:])[:MOST_REPEATED]
        case 8 if len(data) >= 8:  # a number of some bytes
            kind = ("<q", "<i", ">q", "<d")[int(rng.integers(4))]
            odd = (-1, 0, 1, 2**31 - 1, -(2**31), 7)[int(rng.integers(6))]
            value = struct.pack(kind, float("nan") if kind == "<d" else odd)
            i = int(rng.integers(len(data) - 7)) // 4 * 4
            return data[:i] + value + data[i + len(value) :]
    words = list(_WORD.finditer(data[:4096]))
    if not words:
        return data + ODD[int(rng.integers(len(ODD)))]
    first, second = (words[int(rng.integers(len(words)))] for _ in range(2))
    new = ODD[int(rng.integers(len(ODD)))] if rng.random() < 0.7 else second[0]
    return data[: first.start()] + new + data[first.end() :]


def _array(rng: np.random.Generator) -> bytes:
    """The bytes of an array of some odd kind."""
    array = (
        *(np.array(3), np.array(0.5), np.array("text"), np.array([]), np.array([1.5])),
        *(np.array(["a", "b"]), np.array(["a", "a"]), np.array([[0, 1], [1, 0]])),
        *(np.array([True]), np.array([2**64 - 1], np.uint64), np.array([-1])),
        *(np.array([0, 1], ">i8"), np.array([0, 1, 2], np.int8), np.array([1j])),
        *(np.zeros((0, 3)), np.array([b"x"]), np.array([np.datetime64(0, "s")])),
        *(np.zeros(3, [("a", int)]), np.array([0, 2**40]), np.zeros((1, 1, 1), bool)),
    )[int(rng.integers(20))]
    file = streams.BytesIO()
    np.lib.format.write_array(file, array)
    data = file.getvalue()
    if rng.random() < 0.3:  # says that it is of another shape
        shapes = (b"(99999999999,)", b"(-1,)", b"()", b"(2, 2)", b"(0, 9999999999)")
        shape = shapes[int(rng.integers(len(shapes)))]
        data = re.sub(rb"'shape': \([0-9, ]*\)", b"'shape': " + shape, data)
        length = data.index(b"\n") - 9
        data = data[:8] + struct.pack("<H", length) + data[10:]
    return data


def _json(rng: np.random.Generator, data: bytes) -> bytes:
    """JSON with another value at some place."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    places: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        inner = pending.pop()
        keys = inner if isinstance(inner, dict) else ()
        keys = range(len(inner)) if isinstance(inner, list) else keys
        places += [(inner, key) for key in keys]
        pending += [inner[key] for key in keys]
    if not places:
        return data
    inner, key = places[int(rng.integers(len(places)))]
    odd = (
        *(None, True, -1, 0, 1, 2, 64, -128, 2**31 - 2, 2**64, 10**40, 1.5, "text", ""),
        *("int", "double-interval", [], [0], [[]], {}, {"a": 0}, {"type": "rational"}),
        *("x" * 1000, float("nan"), {"type": "double", "size": 32}, 63),
    )
    inner[key] = odd[int(rng.integers(len(odd)))]
    return json.dumps(value).encode()


# ---- shrinking -------------------------------------------------------------------


def _smaller(case: Case) -> Iterator[Case]:
    """All cases that are a step smaller, those that are much smaller first."""
    if len(case.parts) > 1:
        for name in case.parts:
            parts = {k: v for k, v in case.parts.items() if k != name}
            yield case._replace(parts=parts)
    for name, data in case.parts.items():
        length = len(data)
        while length > max(1, len(data) // 64):
            length = (length + 1) // 2
            for at in range(0, len(data), length):
                less = data[:at] + data[at + length :]
                yield case._replace(parts={**case.parts, name: less})


def _show(case: Case) -> str:
    return (
        "from jaxgames.testing._files import Case, complaint\n"
        f"complaint(Case({case.reader!r}, {case.packing!r}, {dict(case.parts)!r}))"
    )


# ---- what is valid ---------------------------------------------------------------


def _arena(**labels) -> Arena:
    return Arena.from_edges([0, 0, 1, 2], [1, 2, 0, 2], owner=[0, 1, 0], **labels)


def _system() -> systems.System:
    return systems.System.from_graph(
        ([0, 2, 3], [0, 1, 0]), {"on": [False, True]}, names=["idle", "busy"]
    )


def _model() -> MDP:
    return MDP.from_arrays(
        [0, 2, 3],
        [0, 2, 3, 4],
        [0, 1, 1, 1],
        [0.25, 0.75, 1, 1],
        initial=[0],
        labels={"goal": [False, True], "odd": [True, False]},
        choice_labels={"go": [True, False, False], "stay": [False, True, False]},
        state_rewards={"steps": [1, 0]},
        choice_rewards={"cost": [0.5, 2, 0]},
    )


def _rich() -> MDP:
    """Bounds in place of probabilities, values of variables, rewards of branches."""
    return MDP.from_arrays(
        [0, 1, 2],
        [0, 2, 3],
        [0, 1, 1],
        lower=[0.25, 0.5, 1],
        upper=[0.5, 0.75, 1],
        branch_rewards={"": [1, 2, 3]},
        valuations={"x": [3, -1], "done": [False, True], "y": [0.5, 2]},
    )


def _arbiter() -> synth.Specification:
    return synth.Specification.from_ltl("G(r -> F g) & G(!r -> !g)", ["r"])


def _controller() -> synth.Controller:
    return synth.solve(_arbiter()).controller()


def _chain() -> MDP:
    return MDP.from_arrays([0, 1], [0, 1], [0], [1])


def _lts() -> io.LTS:
    return io.LTS.from_edges([0, 1, 1], ["send", "a, b", "tau"], [1, 0, 2])


def _saved(file: str, *values: Any) -> list[Case]:
    """What our own writers make of some values."""
    found = []
    for value in values:
        with tempfile.TemporaryDirectory() as folder:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                io.save(Path(folder, file), value)
            files = {x.name: x.read_bytes() for x in sorted(Path(folder).iterdir())}
        archive = file.endswith((".npz", ".umb"))
        found.append(
            _of_archive(file, files[file]) if archive else Case(file, "", files)
        )
    return found


def _texts(file: str, *texts: str, **beside: str) -> list[Case]:
    """Texts that are written by hand, and other files beside each."""
    stem = file.split(".")[0]
    others = {f"{stem}.{suffix}": text.encode() for suffix, text in beside.items()}
    return [Case(file, "", {file: text.encode(), **others}) for text in texts]


def _packings(file: str, packing: str, cases: list[Case]) -> list[Case]:
    """The same, compressed."""
    return [Case(file, packing, {file: next(iter(x.parts.values()))}) for x in cases]


EHOA = """HOA: v1
States: 2
Start: 0
AP: 2 "r" "g"
controllable-AP: 1
acc-name: parity min odd 3
Acceptance: 3 Fin(0) & (Inf(1) | Fin(2))
properties: deterministic complete colored
--BODY--
State: 0
[0 & !1] 1 {2}
[!0 | 1] 0 {1}
State: 1 {2}
[1] 0
[!1] 1
--END--
"""
TLSF = """INFO {
  TITLE: "a title" DESCRIPTION: "" SEMANTICS: Mealy TARGET: Mealy
}
GLOBAL {
  PARAMETERS { n = 2; }
  DEFINITIONS { one(bus) = ||[0 <= i < SIZEOF bus] bus[i]; // a comment
  }
}
MAIN {
  INPUTS { r[n]; }
  OUTPUTS { g[n]; }
  INVARIANTS { &&[0 <= i < n] (r[i] -> F g[i]); one(g) || !one(r); }
  GUARANTEES { G !(g[0] && g[1]); }
}
//#!SYNTCOMP
"""
SHORT_TLSF = """INFO { TITLE: "" DESCRIPTION: "" SEMANTICS: Moore TARGET: Mealy }
MAIN { INPUTS { a; } OUTPUTS { b; }
  ASSUME { G F a; } GUARANTEE { G (X[2] b || F[1:3] a) } }
"""
GAME = 'parity 2;\nstart 0;\n0 3 0 1,2;\n1 2 1 0 "a; name";\n2 0 1 2;\n'
MPG = '2;\n0 MAX 1:-5,2:7;\n1 MIN 0:2 "a name";\n2 MAX 2:0;\n'
MTX = "%%MatrixMarket matrix coordinate {} {}\n% a comment\n3 3 3\n{}"
AUT = 'des (0, 3, 2)\n(0,"send",1)\n(1,"receive, at last",0)\n(1,tau,1)\n'
DOT = 'digraph lts {\n  initial=0;\n  0; 1;\n  0 -> 1 [label="a;b"];\n  1 -> 0;\n}\n'
DRN = """// a comment
@type: MDP
@reward_models
cost steps
@nr_states
2
@nr_choices
3
@model
state 0 [0, 2.5] init "a b"
\taction go [1, 0]
\t\t0 : 1/2
\t\t1 : 5e-1
\taction 1
\t\t0 : 1
state 1 goal
\taction __NOLABEL__ [0, 0]
\t\t1 : 1
"""
TIMED_DRN = """@type: CTMC
@reward_models

@nr_states
2
@model
state 0 !5 init
\taction 0
\t\t0 : 2
\t\t1 : 3
state 1 !0.5 "b c"
\taction 0
\t\t0 : 1/2
"""
STORM_LABELS = "#DECLARATION\ninit deadlock\n#END\n0 init\n1 deadlock\n"
KRIPKE = 'kripke;\npropositions wait "c s";\ninitial 0;\n/* c */ 0 "idle" -> 1;\n'
KRIPKE += '1 {wait "c s"} -> 1 0;\n'
HOA = """HOA: v1
name: "G(p -> F q)"
States: 2
Start: 0
AP: 2 "p" "q"
Alias: @a 0&!1
Acceptance: 2 Inf(0)&(Inf(!1)|t)
properties: trans-labels
--BODY--
State: 0 "start" {1}
[@a | t] 0 {0}
[!0] 1
State: [1] 1 {0}
0
--END--
HOA: v1 Acceptance: 1 Inf(0) AP: 1 "p" --BODY-- State: 0 {0} 0 0 --END--
"""
GAME_HOA = """HOA: v1 States: 2 Start: 0 AP: 1 "a" acc-name: Streett 1
Acceptance: 3 (Fin(0) | Inf(1)) & t | Fin(2) properties: trans-labels
spot-state-player: 0 1 /* who moves */ --BODY--
State: [0&!0 | t] 0 "begin" {0} 0 1 {1 2}
State: 1 {1} [0] 0 {}
--END--
"""
NEVER = """never { /* F G p */
T0_init:
  do
  :: atomic { (p) -> assert(!(p)) }
  :: (p && !q || r) -> goto accept_S1
  :: else -> skip
  od;
accept_S1:
  if
  :: (true) -> goto accept_S1
  fi;
}
"""


PROGRAM = """// two parts
mdp
const int N = 2;
const double p = 1/4;
formula done = x>=N & !b;
global g : bool init true;
module one
  x : [-1..N] init 0;
  [] x<N -> p : (x'=x+1) & (g'=!g) + 1-p : (x'=max(x-1, -1));
  [go] done | mod(x, 2)=1 => true -> (x'=0);
endmodule
module two
  b : bool;
  [go] true -> (b'=x>0 ? !b : false);
endmodule
module three = two [b=c, go=stay] endmodule
label "done" = done;
rewards "cost" x>0 : 2*x; [go] true : 1.5e-1; endrewards
system (one |[go]| two) ||| three / {stay} {go <- run} endsystem
"""
CHAIN = """dtmc module m s:[0..3]; [] s<3 -> 0.5:(s'=s+1) + 0.5:true; endmodule
init s=0 | s=2 endinit label "end" = s=3;
"""


def _product() -> list[Case]:
    file = streams.BytesIO()
    np.savez(
        file,
        offsets=[0, 1, 2],
        targets=[1, 0],
        accepting=[True, False],
        initial=[0],
        prop_state=[0, 1],
        prop_edges=[[0, 1], [1, 0]],
    )
    return [_of_archive("product.npz", file.getvalue())]


def _pieces(folder: bool) -> list[Case]:
    piece = systems.Piece([0, 1, 2], [1, 0], np.array([True, False]), [0, 1])
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) if folder else Path(place, "pieces")
        systems.write_pieces(path, [piece])
        if folder:
            data = next(path.glob("*.npz")).read_bytes()
            return [_of_archive("pieces.npz", data)]
        return [Case("pieces", "", {"pieces": path.read_bytes()})]


def _read_folder(path: Path) -> Any:
    path.with_name("end").touch()
    return list(systems.read_pieces(path.parent, patience=0))


def _read_program(path: Path) -> Any:
    """A program, and its model unless that is large."""
    found = program.read(path)
    try:
        return found.build(max_states=300)
    except mdp.ProgramError as error:
        raise program.told(path, error) from None
    except ValueError as error:
        if not re.match("the program has more than", str(error)):
            raise
        return None


READERS: dict[str, Reader] = {
    "a.prism": Reader(lambda x: _texts(x, PROGRAM, CHAIN), _read_program),
    "a.pg": Reader(
        lambda x: [
            *_saved(x, _arena(priority=[3, 2, 0])),
            *_texts(x, GAME, "0 0 0 0;\n"),
        ],
    ),
    "a.pg.gz": Reader(lambda x: _packings(x, "gz", _texts("a.pg", GAME))),
    "a.sol": Reader(
        lambda x: _texts(x, "paritysol 2;\n0 0 2;\n1 0;\n2 0;\n"),
        lambda path: pgsolver.load_solution(path, _arena(priority=[3, 2, 0])),
    ),
    "names.pg": Reader(lambda x: _texts(x, GAME), pgsolver.names),
    "bare": Reader(  # whose format only its content tells
        lambda x: _texts(
            x,
            *(GAME, "0 0 0 0;\n", MPG, AUT, DOT, DRN, KRIPKE, CHAIN),
            *("0,1,a\n1,0,b\n", "energy 1\n0 0 0 -1\n"),
            *("mdp\n0 0 0 1\n", "never { /* G p */\nT0: skip }\n"),
            MTX.format("pattern", "general", "1 2\n" * 3),
        ),
    ),
    "a.energy": Reader(lambda x: _saved(x, _arena(weight=[1, -2, 3, 0]))),
    "a.mpg": Reader(
        lambda x: [*_saved(x, _arena(weight=[1, -2, 3, 0])), *_texts(x, MPG)],
    ),
    "a.eparity": Reader(
        lambda x: [
            *_saved(x, _arena(priority=[3, 2, 0], weight=[1, -2, 3, 0])),
            *_texts(x, "energyparity 2\n1 2 1 0 -3,1 4\n\n0 0 0 1 7\n"),
        ],
    ),
    "a.mtx": Reader(
        lambda x: [
            *_saved(x, Arena.from_edges([0, 1], [1, 0], owner=[0, 0], weight=[3, -1])),
            *_texts(
                x,
                MTX.format("pattern", "symmetric", "1 2\n2 2\n3 1\n"),
                MTX.format("real", "general", "1 2 1.5\n2 2 1e9\n3 1 -0\n"),
            ),
        ],
    ),
    "a.mtx.bz2": Reader(
        lambda x: _packings(
            x, "bz2", _texts("a.mtx", MTX.format("pattern", "general", "1 2\n" * 3))
        ),
    ),
    "a.aut": Reader(lambda x: [*_saved(x, _lts()), *_texts(x, AUT)]),
    "a.csv": Reader(
        lambda x: [*_saved(x, _lts()), *_texts(x, '0,1,"a ""b"""\n\n1,0,c\n')],
    ),
    "a.csv.xz": Reader(lambda x: _packings(x, "xz", _texts("a.csv", "0,1,a\n1,0,b\n"))),
    "a.dot": Reader(lambda x: [*_saved(x, _lts()), *_texts(x, DOT)]),
    "a.npz": Reader(
        lambda x: _saved(
            x, _arena(priority=[3, 2, 0]), _arena(weight=[1, -2, 3, 0]), _system()
        ),
    ),
    "product.npz": Reader(lambda x: _product(), npz.load_product),
    "a.umb": Reader(lambda x: _saved(x, _model(), _rich(), _chain())),
    "a.drn": Reader(lambda x: [*_saved(x, _model()), *_texts(x, DRN, TIMED_DRN)]),
    "a.tra": Reader(
        lambda x: [
            *_saved(x, _model()),
            *_texts(
                x,
                "mdp\n0 0 0 0.5\n0 0 1 1/2\n0 1 1 1 go\n1 0 1 1\n",
                "dtmc\n0 1 1\n1 1 1\n",
                lab=STORM_LABELS,
                srew="0 1.5\n",
            ),
            *_texts(
                x,
                "2 2\n0 1 1\n1 1 1\n",
                lab='0="init" 1="done"\n0: 0\n1: 1\n',
                sta="(x,done)\n0:(3,false)\n1:(-1,true)\n",
                srew="2 1\n0 1.5\n",
                trew="2 1\n0 1 2\n",
            ),
        ],
    ),
    "a.sta": Reader(
        lambda x: _texts(x, "(x,done)\n0:(3,false)\n1:(-1,true)\n"),
        prism.valuations,
    ),
    "a.kripke": Reader(lambda x: [*_saved(x, _system()), *_texts(x, KRIPKE)]),
    "a.hoa": Reader(
        lambda x: [
            *_saved(x, ltl.translate("G(p -> F q) & GF p", generalised=True)),
            *_texts(x, HOA),
        ],
        lambda path: list(hoa.load_all(path)),
    ),
    "game.hoa": Reader(lambda x: _texts(x, GAME_HOA), hoa_game.load),
    "a.ehoa": Reader(
        lambda x: [*_saved(x, _arbiter()), *_texts(x, EHOA)],
    ),
    "a.tlsf": Reader(
        lambda x: _texts(x, TLSF, SHORT_TLSF),
        lambda path: tlsf.parse(path, read_text(path)),
    ),
    "a.aag": Reader(
        lambda x: [*_saved(x, _controller()), *_texts(x, "aag 1 1 0 1 0\n2\n3\n")],
    ),
    "a.aig": Reader(lambda x: _saved(x, _controller())),
    "a.never": Reader(
        lambda x: [*_saved(x, ltl.translate("F G p & X q")), *_texts(x, NEVER)],
    ),
    "pieces": Reader(
        lambda x: _pieces(False),
        lambda path: list(systems.read_pieces(path, patience=0)),
    ),
    "pieces.npz": Reader(lambda x: _pieces(True), _read_folder),
}
"""By the name of the file that each reads."""
