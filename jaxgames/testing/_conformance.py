"""The conformance kit: one solver, in every way in which it can be called."""

import dataclasses
from collections.abc import Iterable, Iterator

import jax
import numpy as np

from jaxgames import fixpoint, ops, parity
from jaxgames.arena import Arena
from jaxgames.parity import reference
from jaxgames.solution import NO_EDGE, SolveError, Status
from jaxgames.solver import Solver


def check_solver(solver: Solver, arenas: Iterable[Arena]) -> None:
    """Runs a parity solver in every way it can be called, and checks each answer.

    For each arena: the plain call; padding by the user; under `jax.jit`; in a batch
    under `jax.vmap` beside another game; stopped after a few rounds and resumed; with
    JAX's 64-bit types on; and for the first two, each of which compiles anew, in
    slices of equal degree. Winners must be those of Zielonka's sequential
    algorithm, the answer must pass both verifiers, and all ways must agree bit by bit.

    Args:
        solver: the solver, with its options.
        arenas: the games. Games of one padded size share compilations.

    Raises:
        AssertionError: naming the check and the arena.
    """
    for index, arena in enumerate(arenas):
        context = f"{solver} on arena {index} ({arena})"
        expected = reference.solve(arena).winner
        plain = parity.solve(arena, solver)
        _same(plain.winner, expected, f"{context}: winners, against the reference")
        for check in (parity.verify, reference.verify):
            verdict = check(arena, plain)
            if not verdict:
                raise AssertionError(f"{context}: {check.__module__}: {verdict}")
        for way, answer in _ways(solver, arena, in_slices=index < 2):
            for name, x, y in zip(
                ("winners", "strategy"), answer, pair(plain), strict=True
            ):
                _same(x, y, f"{context}: {name} {way}")


Pair = tuple[np.ndarray, np.ndarray]


def pair(solution) -> Pair:
    """Winners and strategy of a solution, on the host."""
    return np.asarray(solution.winner), np.asarray(solution.strategy)


def _same(x, y, what: str) -> None:
    if not np.array_equal(np.asarray(x), np.asarray(y)):
        raise AssertionError(f"{what}: {np.asarray(x)} is not {np.asarray(y)}")


def _ways(solver: Solver, arena: Arena, in_slices: bool) -> Iterator[tuple[str, Pair]]:
    """Other ways to call the solver, each with its name."""
    size, padded = arena.shape[0], arena.pad()

    def cut(solution) -> Pair:
        winner, strategy = pair(solution)
        return winner[:size], strategy[:size]

    solution = parity.solve(padded, solver)
    yield "of the padded arena", cut(solution)
    verdict = parity.verify(padded, solution)
    if not verdict:
        raise AssertionError(f"{solver} on the padded arena: {verdict}")

    yield "under jit", cut(_solved(_under_jit(padded, solver)))

    twin = dataclasses.replace(
        padded, owner=~padded.owner, priority=padded.priority + 1
    )
    batch = jax.tree.map(lambda x, y: np.stack([x, y]), twin, padded)
    # On the host, where it takes no program to look at one of two.
    solutions = jax.device_get(_solved(_under_vmap(batch, solver)))
    yield "under vmap", cut(jax.tree.map(lambda x: x[1], solutions))
    alone = parity.solve(twin, solver)
    _same(solutions.winner[0], alone.winner, f"{solver}: the other game under vmap")

    yield "resumed", pair(_in_steps(solver, arena))

    if in_slices:
        normal, _ = parity.prepare(arena)
        sliced = jax.device_put(ops.slice_rows(normal))
        yield "in slices", cut(fixpoint.run(solver.fit(normal), sliced).answer)

    with jax.enable_x64(True):
        yield "with 64-bit types, resumed", cut(_in_steps(solver, padded))


_under_jit = jax.jit(parity.solve, static_argnums=1)
_under_vmap = jax.jit(
    lambda arenas, solver: jax.vmap(lambda arena: parity.solve(arena, solver))(arenas),
    static_argnums=1,
)


def _solved(solution):
    if not np.all(np.asarray(solution.status) == Status.SOLVED):
        raise AssertionError(f"status {solution.status} under tracing")
    return solution


def _in_steps(solver: Solver, arena: Arena):
    """Solves by stopping every few rounds; undecided vertices must not be guessed."""
    state, limit = None, 0
    final = np.asarray(parity.solve(arena, solver).winner)
    while True:
        limit += 3
        try:
            return parity.solve(arena, solver, max_steps=limit, state=state)
        except SolveError as error:
            partial = np.asarray(error.solution.winner)
            guessed = (partial != -1) & (partial != final)
            if error.status != Status.MAX_STEPS or np.any(guessed):
                raise AssertionError(
                    f"{solver}: stopped with {error.status!r}, wrong winners at "
                    f"{np.flatnonzero(guessed)}"
                ) from None
            undecided = np.asarray(error.solution.strategy)[partial == -1]
            _same(undecided, np.full(len(undecided), NO_EDGE), "strategy of undecided")
            state = error.solution.state
