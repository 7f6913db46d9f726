"""Compiled programs, kept on disk for the processes that come.

JAX compiles once for each class of sizes, and can keep what it has compiled. What it
finds in the folder it runs: who may put a file there, or another folder in its place,
would run programs in the user's name. So it is one that nobody else can write to.
"""

import functools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from jaxgames import fixpoint, host
from jaxgames.later import backend, imported, jax, when_imported
from jaxgames.limits import Bounds, limited, tick
from jaxgames.user_folder import UnsafeError as UnsafeError
from jaxgames.user_folder import check as check
from jaxgames.user_folder import default_folder as default_folder


def keep(folder: str | os.PathLike[str] | None = None) -> Path:
    """Has JAX keep what it compiles, and look there before it compiles.

    The command line does so by itself. It holds for this process, from now on.

    Args:
        folder: where; it is made if it is not there. None: `jaxgames` in
            `$XDG_CACHE_HOME`, or else in `~/.cache`, as the command line has it.

    Returns:
        The folder.

    Raises:
        OSError: it cannot be made, or others can write to it; the message says which.
    """
    if folder is None:
        place = default_folder()
    else:
        place = Path(folder).absolute()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        check(place)
    when_imported(lambda: _configure(str(place)))
    return place


def _configure(place: str) -> None:
    from jax.experimental.compilation_cache import compilation_cache

    compilation_cache.reset_cache()  # what was asked before is not looked at again
    jax.config.update("jax_compilation_cache_dir", place)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


# ---- before they are wanted ----------------------------------------------------------


class Warmed(NamedTuple):
    """What was compiled for one class.

    Attributes:
        question: what is solved.
        vertices: of the game that was solved, or states.
        edges: or branches.
        solver: who has solved it.
        seconds: of the call, which compiled what was not kept yet.
        again_seconds: of a call on another game of this size.
    """

    question: str
    vertices: int
    edges: int
    solver: str
    seconds: float
    again_seconds: float


QUESTIONS = "parity", "energy", "meanpayoff", "scc", "mec"
"""What there are random games for."""


def _makers() -> dict[str, tuple[Callable, Callable]]:
    """For each question what answers it, and what makes random ones."""
    from jaxgames import energy, generate, graph, mdp, meanpayoff, parity

    def steady(make: Callable, *options: str) -> Callable:
        def made(seed: int, size: int, degree: int | None) -> Any:
            return make(
                seed, size, **({} if degree is None else dict.fromkeys(options, degree))
            )

        return made

    degrees = "min_degree", "max_degree"
    game = steady(generate.random_game, *degrees)
    weighted = steady(generate.random_energy_game, *degrees)
    model = steady(generate.random_mdp, "max_choices")
    return {
        "parity": (parity.solve, game),
        "energy": (energy.solve, weighted),
        "meanpayoff": (meanpayoff.solve, weighted),
        "scc": (graph.scc, game),
        "mec": (mdp.mec, model),
    }


@limited()
def warm(
    question: str,
    size: int,
    degree: int | None = None,
    *,
    solver: str = "auto",
    **bounds: Unpack[Bounds],
) -> list[Warmed]:
    """Compiles what games of a size need, so that the first of them need not wait.

    Two random games of that size are solved. Those of fewer than 32,768 edges are
    padded to one of a few sizes: what is compiled serves all of that class. Larger ones
    have rows sorted by degree: it serves random games with about as many edges and
    these degrees, and few others. For a game of your own solve that instead.

    After [`keep`][jaxgames.programs.keep] the programs are there for later processes as
    well; machine code of the host's engines always is.

    Args:
        question: `"parity"`, `"energy"`, `"meanpayoff"`, `"scc"` or `"mec"`.
        size: vertices of the games, or states of the models, at least 1.
        degree: edges of each vertex, or the most choices of a state; None: as the
            generator has it.
        solver: `"auto"` is the engine of the host, and on an accelerator also what
            `"auto"` takes there; else one of the slice's solvers.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        What was done, for each solver.

    Raises:
        ValueError: there is no such question or solver, or no such game.

    Examples:
        >>> from jaxgames import programs
        >>> (done,) = programs.warm("parity", 100, solver="host")
        >>> done.question, done.vertices, done.solver
        ('parity', 100, 'host')
    """
    if question not in QUESTIONS:
        known = ", ".join(map(repr, QUESTIONS))
        raise ValueError(f"question must be one of {known}, got {question!r}")
    solve, make = _makers()[question]
    if solver != "auto":
        ways: dict[str, dict] = {solver: {"solver": solver}}
    else:
        ways = {"host": {"solver": "host"}}
        if backend() != "cpu":
            # A limit of rounds is what the device alone takes.
            ways["auto"] = {"max_steps": fixpoint.MAX_ROUNDS}
    return [
        _warmed(question, name, functools.partial(solve, **how), make, size, degree)
        for name, how in ways.items()
    ]


def _warmed(
    question: str, solver: str, solve: Callable, make: Callable, *size: Any
) -> Warmed:
    seconds = []
    for seed in range(2):
        tick("compiling")
        game = make(seed, *size)
        began = time.perf_counter()
        with host.compiling():
            found = solve(game)
        if imported():
            jax.block_until_ready(found)
        seconds.append(round(time.perf_counter() - began, 6))
        if question == "mec":
            shape = game.num_states, game.num_branches
        else:
            shape = game.shape
    return Warmed(question, int(shape[0]), int(shape[1]), solver, *seconds)
