"""Folders of published games: one row for all games of a folder, times summed up."""

import dataclasses
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.compare import BEST
from benchmarks.entrants import entrant
from benchmarks.games import load_text
from benchmarks.peers import Peer, side_by_side
from benchmarks.run import Options, facts, row_of
from benchmarks.schema import PeerRow, Row
from jaxgames import Arena

ENGINES = ("auto", "host")
"""What solves a folder: solvers on the device would compile for every game anew."""

SUMMED = ("load_s", "prepare_s", "compile_s", "solve_s")


def measure(
    name: str, files: list[Path], options: Options
) -> tuple[list[Row], list[PeerRow]]:
    """The rows of a folder: ours, and those of the peers.

    A solver that fails on a game, or takes too long, is not given the others: it has no
    sum.
    """
    ours: dict[str, list[Row]] = {s: [] for s in ENGINES if options.wants(s)}
    theirs: dict[str, list[PeerRow]] = {}
    peers = [(peer, list(peer.solvers)) for peer in options.peers]
    load_text(files[0])  # warms up
    for file in files:
        began = time.perf_counter()
        arena = load_text(file)
        about = {
            **facts(file.name, arena),
            "load_s": time.perf_counter() - began,
        }
        winner = None
        for solver, rows in ours.items():
            if rows and not rows[-1].answered:
                continue
            row, found = row_of(about, solver, entrant(solver), arena, options)
            rows.append(row)
            winner = winner if found is None else found
        if winner is None:
            continue
        for peer, left in peers:
            found = _with(peer, left, file.name, arena, winner, options)
            theirs.setdefault(peer.name, []).extend(found)
            failed = {row.solver for row in found if not row.agrees}
            left[:] = [solver for solver in left if solver not in failed]
    rows = [_total(name, solver, rows, len(files)) for solver, rows in ours.items()]
    sums = [
        row
        for peer, found in theirs.items()
        for row in _peer_totals(name, peer, found, len(files))
    ]
    for row in [*rows, *sums]:
        print(f"{name}: {row.solver}: {row.status}, {row.solve_s} s", flush=True)
    return rows, sums


def _with(
    peer: Peer, solvers: list[str], name: str, arena: Arena, winner, options: Options
) -> list[PeerRow]:
    """What some solvers of a peer make of a game."""
    if not solvers:
        return []
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        return side_by_side(
            name,
            arena,
            winner,
            (peer.only(solvers),),
            time_limit_s=options.peer_time_limit_s,
            repeats=options.peer_runs,
            folder=Path(folder),
        )


def _total(name: str, solver: str, rows: list[Row], games: int) -> Row:
    """The sum of our rows; without times unless every game was solved."""
    complete = len(rows) == games and all(row.answered for row in rows)
    sums: dict[str, Any] = {
        field: sum(getattr(row, field) or 0.0 for row in rows) if complete else None
        for field in SUMMED
    }
    return Row(
        game=name,
        games=games,
        vertices=sum(row.vertices for row in rows),
        edges=sum(row.edges for row in rows),
        priorities=max((row.priorities or 0 for row in rows), default=0),
        solver=solver,
        verified=rows[-1].verified,
        status="SOLVED" if complete else rows[-1].status,
        solve_runs=[sums["solve_s"]] if sums["solve_s"] is not None else [],
        **sums,
    )


def _peer_totals(
    name: str, peer: str, rows: list[PeerRow], games: int
) -> Iterable[PeerRow]:
    """The sum of each solver of a peer, and that of the best for each game."""
    if any(row.status == "absent" for row in rows):
        yield dataclasses.replace(rows[0], game=name)
        return
    total = dataclasses.replace(rows[0], game=name, games=games, runs=0)
    for solver in dict.fromkeys(row.solver for row in rows):
        yield _sum(total, solver, [row for row in rows if row.solver == solver], games)
    best: dict[str, PeerRow] = {}
    for row in rows:
        if row.agrees and (row.game not in best or _less(row, best[row.game])):
            best[row.game] = row
    yield _sum(total, BEST, list(best.values()), games)


def _less(row: PeerRow, other: PeerRow) -> bool:
    return (row.total_s or 0.0) < (other.total_s or 0.0)


def _sum(total: PeerRow, solver: str | None, rows: list[PeerRow], games: int):
    bad = next((row for row in rows if not row.agrees), None)
    if bad or len(rows) < games:
        reason = f"{bad.game}: {bad.reason or 'differs'}" if bad else "not every game"
        return dataclasses.replace(
            total,
            solver=solver,
            parse_s=None,
            preprocess_s=None,
            solve_s=None,
            status=bad.status if bad and bad.status != "ok" else "error",
            reason=reason,
            agrees=None if bad is None else bad.agrees,
        )
    return dataclasses.replace(
        total,
        solver=solver,
        status="ok",
        reason=None,
        agrees=True,
        parse_s=sum(row.parse_s or 0.0 for row in rows),
        preprocess_s=sum(row.preprocess_s or 0.0 for row in rows),
        solve_s=sum(row.solve_s or 0.0 for row in rows),
    )
