"""The results files: one JSON file for each suite on each machine."""

import dataclasses
import datetime
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

RESULTS = Path(__file__).parent / "results"

Line = TypeVar("Line", "Row", "PeerRow")


@dataclasses.dataclass(kw_only=True)
class Row:
    """One game solved by one of our solvers. Times in seconds, None where unmeasured.

    Attributes:
        game: name of the game, the same for all solvers and peers.
        games: number of games, if the row is a sum over a folder of them.
        vertices: number of vertices, or of states.
        edges: number of edges, or of branches.
        choices: number of choices, of a decision process.
        components: number of components that were found.
        priorities: number of distinct priorities, or None where there are none.
        experiment: what the row was measured for, where a suite has several parts.
        solver: name of the solver, with its options.
        engine: which solver gave the answer, if `solver` chose among several.
        layout: how its edges lie in memory.
        generate_s: to make the game, or None if it was loaded.
        build_s: for Storm to build it from its source, if it did.
        load_s: to read it from a PGSolver file, or from the file of a model; in the
            suite `load` the median of `load_runs`.
        load_runs: each call that read it, but for the first one.
        load_cpu_s: seconds of all cores that one of these takes, their median.
        file_bytes: the file, as it lies there.
        text_bytes: its text, unpacked.
        reduce_s: to make an easier game of it before the solve.
        prepare_s: from the arena to what the solver works on.
        compile_s: what the first call took longer than one that compiles nothing.
        solve_s: median of `solve_runs`.
        solve_runs: each warm call, until the answer is ready; of a solve that was given
            up, the one call.
        lasso_s: to find a lasso again through the vertex that the solve has found; a
            part of `solve_s`.
        fronts_s: to find the budgets of a spectroscopy game. In its suite `reduce_s` is
            for classes of bisimilar states, `build_s` for the game, and `solve_s` for
            all steps together.
        notions_s: from budgets to which processes each notion relates.
        call_s: median of `call_runs`.
        call_runs: each call from numpy arrays to numpy arrays, on something built anew,
            where programs are compiled.
        first_call_s: the first call, before anything is compiled. In the suite `calls`
            `compile_s` is what it takes longer than `call_s`.
        other_call_s: the first call on another input of the same size, after those.
        arena_s: from arrays to an arena, a graph or a model, with all checks.
        upload_s: for the arrays of the input to reach the device, measured alone.
        layout_s: what is left of `prepare_s`; all of it where the host answered.
        results_s: from the answer that is ready to numpy arrays, if solving did not
            end with these.
        exists: whether there is an accepting cycle.
        rounds: rounds that the solve took.
        phases: of which kinds they were, by name, and what else the solver counted.
        lifts: how often a measure rose.
        bytes_per_round: bytes that a round must read and write.
        trace: pairs of a round and the vertices that were queued then.
        verified: whether the certificate was checked, and held.
        verify_s: to check it, where a suite tells.
        status: name of the solution's status, such as `SOLVED` or `TIMEOUT`.
    """

    game: str
    games: int | None = None
    vertices: int
    edges: int
    choices: int | None = None
    components: int | None = None
    priorities: int | None = None
    experiment: str | None = None
    solver: str
    engine: str | None = None
    layout: str | None = None
    generate_s: float | None = None
    build_s: float | None = None
    load_s: float | None = None
    load_runs: list[float] = dataclasses.field(default_factory=list)
    load_cpu_s: float | None = None
    file_bytes: int | None = None
    text_bytes: int | None = None
    reduce_s: float | None = None
    prepare_s: float | None = None
    compile_s: float | None = None
    solve_s: float | None = None
    solve_runs: list[float] = dataclasses.field(default_factory=list)
    lasso_s: float | None = None
    fronts_s: float | None = None
    notions_s: float | None = None
    call_s: float | None = None
    call_runs: list[float] = dataclasses.field(default_factory=list)
    first_call_s: float | None = None
    other_call_s: float | None = None
    arena_s: float | None = None
    upload_s: float | None = None
    layout_s: float | None = None
    results_s: float | None = None
    exists: bool | None = None
    rounds: int | None = None
    phases: dict[str, int] = dataclasses.field(default_factory=dict)
    lifts: float | None = None
    bytes_per_round: int | None = None
    trace: list[list[int]] = dataclasses.field(default_factory=list)
    verified: bool | None = None
    verify_s: float | None = None
    status: str

    @property
    def key(self) -> tuple:
        """What tells a measurement from others of its suite and machine."""
        return self.experiment, self.game, self.solver

    @property
    def lifts_per_s(self) -> float | None:
        """Also where the solve was given up: lifts until then, over that time."""
        if not (self.lifts and self.solve_runs):
            return None
        return self.lifts / (self.solve_s or self.solve_runs[0])

    @property
    def answered(self) -> bool:
        """Whether the game was solved, and the answer withstood its check."""
        return self.status == "SOLVED" and self.verified is True

    @property
    def gb_s(self) -> float | None:
        """Bytes that the rounds had to move, over the time of the solve."""
        if not (self.rounds and self.bytes_per_round and self.solve_s):
            return None
        return self.rounds * self.bytes_per_round / self.solve_s / 1e9


@dataclasses.dataclass(kw_only=True)
class PeerRow:
    """One game solved by one solver of another program, timed by that program.

    Attributes:
        game: name of the game.
        peer: name of the program.
        version: what it says of itself, or the digest of the file that was run.
        solver: the solver's name, with the options given to it.
        parse_s: to read the game, or to convert it, median of the runs.
        preprocess_s: to simplify it.
        solve_s: to solve what is left.
        runs: number of runs.
        status: `ok`, `timeout`, `error`, `skipped` if it would take too long, or
            `absent` if the program is not there.
        reason: why it is not `ok`.
        agrees: whether its winners are the ones that we found.
        games: number of games, if the row is a sum over a folder of them.
    """

    game: str
    peer: str
    version: str | None = None
    solver: str | None = None
    parse_s: float | None = None
    preprocess_s: float | None = None
    solve_s: float | None = None
    runs: int = 0
    status: str
    reason: str | None = None
    agrees: bool | None = None
    games: int | None = None

    @property
    def key(self) -> tuple:
        """What tells a measurement from others of its suite and machine."""
        return self.game, self.peer, self.solver

    @property
    def total_s(self) -> float | None:
        """Preprocessing and solving together: what is compared with our `solve_s`."""
        if self.status != "ok" or self.solve_s is None:
            return None
        return (self.preprocess_s or 0.0) + self.solve_s


@dataclasses.dataclass(kw_only=True)
class Results:
    """A suite's results on one machine.

    Attributes:
        suite: name of the suite.
        machine: facts, as `machine.facts()` gives them.
        copy_bandwidth_gb_s: as `machine.copy_bandwidth()` gives it.
        created: date of the run, ISO.
        rows: our solvers.
        peers: other programs, on the same machine.
    """

    suite: str
    machine: dict[str, Any]
    copy_bandwidth_gb_s: float | None = None
    created: str = dataclasses.field(
        default_factory=lambda: datetime.date.today().isoformat()
    )
    rows: list[Row] = dataclasses.field(default_factory=list)
    peers: list[PeerRow] = dataclasses.field(default_factory=list)

    def put(self, rows: Iterable[Row], peers: Iterable[PeerRow] = ()) -> None:
        """Adds measurements; one that was there already is replaced."""
        self.rows = _put(self.rows, rows)
        self.peers = _put(self.peers, peers)

    def absorb(self, newer: "Results") -> None:
        """Adds the measurements of another run on the same kind of machine.

        Where facts about the machine differ, such as a version, both stay.

        Raises:
            ValueError: it is of another suite or device.
        """
        if newer.file_name != self.file_name:
            raise ValueError(f"{newer.file_name} cannot be added to {self.file_name}")
        for name, fact in newer.machine.items():
            known = str(self.machine.setdefault(name, fact))
            if str(fact) not in known.split(" and "):
                self.machine[name] = f"{known} and {fact}"
        self.copy_bandwidth_gb_s = newer.copy_bandwidth_gb_s or self.copy_bandwidth_gb_s
        self.created = newer.created
        self.put(newer.rows, newer.peers)

    @property
    def file_name(self) -> str:
        """Suite and device, such as `parity-nvidia-h200.json`."""
        device = re.sub(r"[^a-z0-9]+", "-", str(self.machine["device"]).lower())
        return f"{self.suite}-{device.strip('-')}.json"

    def save(self, folder: Path = RESULTS) -> Path:
        """Writes the file, replacing an older one of this suite and device."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.file_name
        text = json.dumps(dataclasses.asdict(self), indent=1) + "\n"
        whole = path.with_suffix(".new")
        whole.write_text(text)
        whole.replace(path)
        return path

    @classmethod
    def begin(cls, fresh: "Results", folder: Path) -> "Results":
        """What a folder holds of the same suite and device; else the one given."""
        path = folder / fresh.file_name
        return cls.load(path) if path.exists() else fresh

    @classmethod
    def load(cls, path: Path) -> "Results":
        """Reads a file; a key that the schema does not know is a TypeError."""
        fields = json.loads(path.read_text())
        fields["rows"] = [Row(**row) for row in fields["rows"]]
        fields["peers"] = [PeerRow(**row) for row in fields["peers"]]
        return cls(**fields)


def _put(old: list[Line], new: Iterable[Line]) -> list[Line]:
    return list({line.key: line for line in [*old, *new]}.values())
