"""A conformance kit for solvers, and the random arenas it works on.

Whoever adds a solver runs [`check_solver`][jaxgames.testing.check_solver] on it:
answers against the sequential reference and the certificate, on games of odd shapes and
under every way in which a solver may be called.

Examples:
    >>> from jaxgames.parity import FPI
    >>> check_solver(FPI(), odd_arenas(seed=0, count=3))
"""

import dataclasses
from collections.abc import Iterable, Iterator

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames import fixpoint, ops, parity
from jaxgames.arena import Arena
from jaxgames.parity import reference
from jaxgames.solution import NO_EDGE, SolveError, Status
from jaxgames.solver import Solver

SHAPES = (
    "single vertex",
    "self-loops",
    "parallel edges",
    "chain",
    "one owner",
    "one priority",
    "many priorities",
    "dense",
    "sparse",
    "two components",
)
"""The kinds of arenas that `odd_arenas` goes through."""


def odd_arena(shape: str, rng: np.random.Generator, max_vertices: int = 24) -> Arena:
    """A small random parity game of one of the `SHAPES`.

    Args:
        shape: which kind.
        rng: where randomness comes from.
        max_vertices: vertices at most, at least 4.

    Examples:
        >>> odd_arena("chain", np.random.default_rng(0), max_vertices=8).shape[0] <= 8
        True
    """
    if shape not in SHAPES:
        raise ValueError(f"shape must be one of {SHAPES}, got {shape!r}")
    size = 1 if shape == "single vertex" else int(rng.integers(2, max_vertices + 1))
    high = {"dense": 8, "sparse": 2, "single vertex": 3}.get(shape, 4)
    degree = rng.integers(1, high + 1, size)
    src = np.repeat(np.arange(size), degree)
    dst = rng.integers(0, size, len(src))
    if shape == "self-loops":
        dst = np.where(rng.random(len(src)) < 0.4, src, dst)
    elif shape == "parallel edges":
        src, dst = np.repeat(src, 3), np.repeat(dst, 3)
    elif shape == "chain":
        src = np.arange(size)
        dst = np.append(src[1:], rng.integers(size))
        back = rng.integers(0, size, size // 3)
        src, dst = np.append(src, back), np.append(dst, back // 2)
    elif shape == "two components":
        half = size // 2
        dst = np.where(src < half, dst % max(half, 1), half + dst % (size - half))
    owner = rng.integers(0, 2, size)
    if shape == "one owner":
        owner[:] = rng.integers(2)
    priorities = {"one priority": 1, "many priorities": 3 * size}.get(shape, 6)
    priority = rng.integers(0, priorities, size) + rng.integers(2)
    return Arena.from_edges(src, dst, owner=owner, priority=priority)


def odd_arenas(seed: int, count: int, max_vertices: int = 24) -> Iterator[Arena]:
    """Random parity games, one of each of the `SHAPES` in turn."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        yield odd_arena(SHAPES[index % len(SHAPES)], rng, max_vertices)


def check_solver(solver: Solver, arenas: Iterable[Arena]) -> None:
    """Runs a parity solver in every way it can be called, and checks each answer.

    For each arena: the plain call; padding by the user; under `jax.jit`; in a batch
    under `jax.vmap` beside another game; stopped after a few rounds and resumed; with
    JAX's 64-bit types on; and for the first five, each of which compiles anew, in
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
        for way, answer in _ways(solver, arena, in_slices=index < 5):
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
    batch = jax.tree.map(lambda x, y: jnp.stack([x, y]), twin, padded)
    solutions = _solved(_under_vmap(batch, solver))
    yield "under vmap", cut(jax.tree.map(lambda x: x[1], solutions))
    alone = parity.solve(twin, solver)
    _same(solutions.winner[0], alone.winner, f"{solver}: the other game under vmap")

    yield "resumed", pair(_in_steps(solver, arena))

    if in_slices:
        normal, _ = parity.prepare(arena)
        sliced = jax.device_put(ops.slice_rows(normal))
        yield "in slices", pair(fixpoint.run(solver.fit(normal), sliced).answer)

    with jax.enable_x64(True):
        yield "with 64-bit types", cut(parity.solve(padded, solver))


_under_jit = jax.jit(parity.solve, static_argnums=1)
_under_vmap = jax.jit(
    lambda arenas, solver: jax.vmap(lambda arena: parity.solve(arena, solver))(arenas),
    static_argnums=1,
)


def _solved(solution):
    if not np.all(np.asarray(solution.status) == Status.SOLVED):
        raise AssertionError(f"status {solution.status} under tracing")
    return solution


def _in_steps(solver: Solver, arena: Arena, stride: int = 3):
    """Solves by stopping every few rounds; undecided vertices must not be guessed."""
    state, limit = None, 0
    final = np.asarray(parity.solve(arena, solver).winner)
    while True:
        limit += stride
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
