"""The results files: one JSON file for each suite on each machine."""

import dataclasses
import datetime
import json
import re
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


@dataclasses.dataclass(kw_only=True)
class Row:
    """One game solved by one of our solvers. Times in seconds, None where unmeasured.

    Attributes:
        game: name of the game, the same for all solvers and peers.
        vertices: number of vertices.
        edges: number of edges.
        priorities: number of distinct priorities, or None where there are none.
        solver: name of the solver.
        layout: how its edges lie in memory.
        generate_s: to make the game, or None if it was loaded.
        load_s: to read it from a file, or None if it was generated.
        prepare_s: from the arena to arrays on the device, on the host.
        compile_s: first call less a warm one.
        solve_s: median of `solve_runs`.
        solve_runs: each warm call, until the answer is ready.
        rounds: rounds that the solve took.
        bytes_per_round: bytes that a round must read and write.
        verified: whether the certificate was checked, and held.
        status: name of the solution's status, such as `SOLVED` or `MAX_STEPS`.
    """

    game: str
    vertices: int
    edges: int
    priorities: int | None = None
    solver: str
    layout: str | None = None
    generate_s: float | None = None
    load_s: float | None = None
    prepare_s: float | None = None
    compile_s: float | None = None
    solve_s: float | None = None
    solve_runs: list[float] = dataclasses.field(default_factory=list)
    rounds: int | None = None
    bytes_per_round: int | None = None
    verified: bool | None = None
    status: str

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
        parse_s: to read the game, median of the runs.
        preprocess_s: to simplify it.
        solve_s: to solve what is left.
        runs: number of runs.
        status: `ok`, `timeout`, `error`, or `absent` if the program is not there.
        reason: why it is not `ok`.
        agrees: whether its winners are the ones that we found.
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

    @property
    def file_name(self) -> str:
        """Suite and device, such as `parity-nvidia-h200.json`."""
        device = re.sub(r"[^a-z0-9]+", "-", str(self.machine["device"]).lower())
        return f"{self.suite}-{device.strip('-')}.json"

    def save(self, folder: Path = RESULTS) -> Path:
        """Writes the file, replacing an older one of this suite and device."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.file_name
        path.write_text(json.dumps(dataclasses.asdict(self), indent=1) + "\n")
        return path

    @classmethod
    def load(cls, path: Path) -> "Results":
        """Reads a file; a key that the schema does not know is a TypeError."""
        fields = json.loads(path.read_text())
        fields["rows"] = [Row(**row) for row in fields["rows"]]
        fields["peers"] = [PeerRow(**row) for row in fields["peers"]]
        return cls(**fields)
