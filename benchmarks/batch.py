"""The suite `batch`: many small games, made on the device and solved there in rounds.

Its experiments: `random` games of each kind; the same with a few games that need many
times the rounds (`heavy tail`); `list`, games that lie on the host; and `loop`, a
Python loop over one compiled solve. `games` of a row or a peer is how many its times
are for; `rounds` is their mean, and `phases` tells the most.
"""

import functools
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from benchmarks import schema
from benchmarks.peers import PeerError
from benchmarks.run import Options
from jaxgames import Arena, Status, energy, generate, graph, parity
from jaxgames.drive import PROBLEMS

SIZE, PRIORITIES = 50, 4
"""Vertices and priorities of each game; two edges leave each vertex."""

HARD = 10
"""Games of a heavy tail."""

PEER_GAMES = 1000
"""Games that a peer is given, one by one."""

LOOP_SECONDS, LOOP_LOOKS = 30, 100
"""Where a loop over one game after the other ends, and how many games lie between two
looks at the clock; its row's `games` are those that it has done."""

CHECKED = 1 << 14
"""Games that are verified at a time."""

UNFIT = ("spm", "alternating", "improvement", "vi")
"""Solvers that take far too long on a million games, or on these weights."""


def run(options: Options, results: schema.Results) -> None:
    """Adds the rows of all experiments."""
    on_cpu = jax.default_backend() == "cpu"
    games = 60 if options.small else 10_000 if on_cpu else 1_000_000
    keys = jax.random.split(jax.random.key(1), games)
    same = {"min_degree": 2, "max_degree": 2}
    make_parity = functools.partial(
        generate.random_game_by_key, num_vertices=SIZE, num_priorities=PRIORITIES
    )
    suite = _Suite(options, results)
    made = suite.random("parity", functools.partial(make_parity, **same), keys)
    if made is not None:
        suite.peers(f"{games} random parity games", made)
        suite.listed(made, min(games, 10_000))
    make_energy = functools.partial(
        generate.random_energy_game_by_key, num_vertices=SIZE, **same
    )
    suite.random("energy", make_energy, keys)
    suite.random("scc", functools.partial(make_parity, **same), keys)
    suite.heavy(functools.partial(make_parity, min_degree=1, max_degree=3), keys)
    options.keep(results)


class _Suite:
    """Where rows go, and how they are measured."""

    def __init__(self, options: Options, results: schema.Results):
        self.options, self.results = options, results

    def random(self, problem: str, make: Callable[..., Arena], keys) -> Arena | None:
        """Random games by key, by every solver."""
        name = f"{len(keys)} random {problem} games"
        if not self.options.wants_game(name, problem):
            return None
        made, first_s, *runs = self._timed(lambda: _made(make, keys))
        self._solvers("random", name, problem, made, statistics.median(runs))
        return made

    def heavy(self, make: Callable[..., Arena], keys) -> None:
        """The same games with and without some that take long."""
        group = "heavy tail"
        if not self.options.wants_game(group, group):
            return
        games = _made(make, keys)
        hard = generate.recursive_ladder(SIZE // 5).pad(*games.shape)
        tail = jax.tree.map(
            lambda x, y: x.at[-HARD:].set(jnp.asarray(y, x.dtype)), games, hard
        )
        for name, stack in (("without", games), ("with", tail)):
            name = f"{len(keys)} random parity games {name} {HARD} ladders"
            self._solvers(group, name, "parity", stack, None)

    def listed(self, made: Arena, count: int) -> None:
        """Games in a list on the host; and one by one."""
        some = jax.device_get(jax.tree.map(lambda x: x[:count], made))
        arenas = [jax.tree.map(lambda x, at=at: x[at], some) for at in range(count)]
        name = f"{count} random parity games"

        def verify(found: list) -> bool:
            answers = jax.tree.map(
                lambda *each: np.stack(each),
                *((np.asarray(x.winner), np.asarray(x.strategy)) for x in found),
            )
            stack = jax.tree.map(lambda x: x[: len(found)], some)
            claim = parity.Solution(
                Status.SOLVED, winner=answers[0], strategy=answers[1]
            )
            return _verified("parity", stack, claim)

        self._row(
            "list",
            f"{name} in a list",
            "auto",
            lambda: jaxgames.solve_many(parity, arenas),
            verify=verify,
        )
        on_device = [jax.device_put(arena) for arena in arenas]
        solve = jax.jit(functools.partial(parity.solve, solver="promotion"))

        def loop():
            end = time.perf_counter() + LOOP_SECONDS
            found = []
            for arena in on_device:
                found.append(solve(arena))
                if len(found) % LOOP_LOOKS == 0:
                    jax.block_until_ready(found[-1].winner)
                    if time.perf_counter() > end:
                        break
            return found

        self._row("loop", f"{name} one by one", "promotion", loop, verify=verify)

    def peers(self, name: str, made: Arena) -> None:
        """Each game alone, timed by the peer; without reading it."""
        count = min(len(made.owner), 20 if self.options.small else PEER_GAMES)
        some = jax.device_get(jax.tree.map(lambda x: x[:count], made))
        for peer in self.options.peers:
            row = functools.partial(schema.PeerRow, game=name, peer=peer.name)
            absent = peer.absent()
            if absent:
                self.results.put([], [row(status="absent", reason=absent)])
                continue
            for solver in ("npp", "zlk", "fpi", "tl"):
                self.results.put([], [self._peer_row(row, peer, solver, some)])
            self.options.keep(self.results)

    def _peer_row(self, row, peer, solver: str, some: Arena) -> schema.PeerRow:
        preprocess_s = solve_s = 0.0
        agrees, count = True, len(some.owner)
        for at in range(count):
            arena = jax.tree.map(lambda x, at=at: x[at], some)
            folder = Path(self.options.scratch) / f"game{at}"
            folder.mkdir(exist_ok=True)
            try:
                found = peer.run(
                    peer.save(folder, arena),
                    arena,
                    solver,
                    self.options.peer_time_limit_s,
                )
            except (PeerError, subprocess.TimeoutExpired) as error:
                return row(solver=solver, status="error", reason=str(error))
            preprocess_s += found.preprocess_s or 0.0
            solve_s += found.solve_s
            expected = parity.reference.solve(arena).winner
            agrees = agrees and np.array_equal(found.answer, expected)
        return row(
            version=peer.version(),
            solver=solver,
            preprocess_s=preprocess_s,
            solve_s=solve_s,
            runs=1,
            games=count,
            status="ok",
            agrees=agrees,
        )

    def _solvers(self, experiment, name, problem, stack: Arena, generate_s) -> None:
        for solver in ("auto", *PROBLEMS[problem].solvers):
            if not self.options.wants(solver) or solver in UNFIT:
                continue
            self._row(
                experiment,
                name,
                solver,
                functools.partial(
                    jaxgames.solve_many, problem, stack, solver, throw=False
                ),
                verify=functools.partial(_verified, problem, stack),
                generate_s=generate_s,
            )

    def _row(
        self, experiment, name, solver, solve, *, verify=None, generate_s=None
    ) -> None:
        if not self.options.wants_experiment(experiment):
            return
        found, first_s, *runs = self._timed(solve)
        each = found if isinstance(found, list) else [found]
        status = np.concatenate([np.ravel(one.status) for one in each])
        # The host counts none.
        rounds = np.concatenate([np.ravel(one.stats.get("rounds", 0)) for one in each])
        row = schema.Row(
            experiment=experiment,
            game=name,
            games=len(status),
            vertices=SIZE * len(status),
            edges=2 * SIZE * len(status),
            priorities=PRIORITIES if "parity" in name else None,
            solver=solver,
            engine=each[0].stats["solver"],
            generate_s=generate_s,
            compile_s=max(0.0, first_s - min(runs)),
            solve_s=statistics.median(runs),
            solve_runs=runs,
            rounds=round(float(rounds.mean())),
            phases={"most": int(rounds.max()), "sum": int(rounds.sum(dtype=np.int64))},
            verified=None if verify is None else verify(found),
            status=Status(int(status.max())).name,
        )
        print(f"{experiment}: {name}: {solver}: {row.solve_s:.4f} s", flush=True)
        self.results.put([row])
        self.options.keep(self.results)

    def _timed(self, call: Callable[[], Any]) -> list:
        """What a call gives, the seconds of the first one, and those of warm ones."""
        times, found = [], None
        for _ in range(1 + self.options.runs):
            began = time.perf_counter()
            found = call()
            jax.block_until_ready([_arrays(one) for one in _each(found)])
            times.append(time.perf_counter() - began)
        return [found, *times]


def _each(found: Any) -> list:
    return found if isinstance(found, list) else [found]


def _arrays(found: Any) -> Any:
    """What is waited for: answers, without the state to go on from."""
    return getattr(found, "winner", getattr(found, "labels", found))


@functools.partial(jax.jit, static_argnums=0)
def _made(make: Callable[..., Arena], keys: jax.Array) -> Arena:
    return jax.vmap(make)(keys)


@functools.partial(jax.jit, static_argnums=0)
def _valid(problem: str, games: Arena, answers: tuple) -> jax.Array:
    def one(arena, answer):
        if problem == "parity":
            winner, strategy = answer
            found = parity.Solution(Status.SOLVED, winner=winner, strategy=strategy)
            return parity.verify(arena, found).valid
        if problem == "energy":
            claim = dict(zip(("credit", "winner", "strategy"), answer, strict=True))
            found = energy.Solution(Status.SOLVED, **claim)
            return energy.verify(arena, found).valid
        other = graph.scc(arena, "fb_trim")
        return (answer[0] == other.count) & jnp.all(answer[1] == other.labels)

    return jnp.all(jax.vmap(one)(games, answers))


def _verified(problem: str, stack: Arena, found: Any) -> bool:
    """Whether all answers are right: by certificates, or by another algorithm."""
    if problem == "parity":
        answers = found.winner, found.strategy
    elif problem == "energy":
        answers = found.credit, found.winner, found.strategy
    else:
        answers = found.count, found.labels
    games = len(stack.owner)
    for first in range(0, games, CHECKED):
        # The last piece overlaps the one before, so that all have one size.
        first = max(0, min(first, games - CHECKED))
        piece = jax.tree.map(
            lambda x, first=first: x[first : first + CHECKED], (stack, answers)
        )
        if not bool(_valid(problem, *piece)):
            return False
    return True
