"""What parity games are to the driver: how they are read, laid out and answered."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxgames import drive, fixpoint, ops, validity
from jaxgames.arena import Arena, is_traced
from jaxgames.drive import Leg
from jaxgames.kept import forget, is_kept, kept
from jaxgames.later import jax, jnp, to_numpy
from jaxgames.parity import host
from jaxgames.parity._edges import check_priorities, split
from jaxgames.parity._game import Answer, compress_few, normal_form, with_priority
from jaxgames.parity._shared import Shared
from jaxgames.parity._solution import Solution
from jaxgames.solution import NO_EDGE, UNDECIDED, Stats, Status
from jaxgames.solver import Registry, Solver
from jaxgames.tuning import here
from jaxgames.tuning.parity import COMPRESSED_BY_BITS_UP_TO as FEW
from jaxgames.tuning.parity import (
    PATIENCE,
    SWEEPS,
    TOPS,
)

HOST_TANGLES = "host-tangles"
"""Of the host's engines that of recursive tangle learning alone."""

ROWS = "parity rows"
"""By which the arrays of an attempt are kept."""

SOLVERS = Registry(
    "parity",
    "promotion = jaxgames.parity._promotion.PriorityPromotion",
    "zielonka = jaxgames.parity._zielonka.Zielonka",
    "fpi = jaxgames.parity._fpi.FPI",
    "spm = jaxgames.parity._spm.SPM",
    "alternating = jaxgames.parity._alternating.Alternating",
    "improvement = jaxgames.parity._improvement.StrategyImprovement",
    "tangles = jaxgames.parity._tangles.RecursiveTangleLearning",
    places=(drive.HOST, drive.RACE, HOST_TANGLES),
)
"""The solvers that are array programs, by name; the first is what `"auto"` takes where
the game is traced.
"""


class Facts(NamedTuple):
    """What is the same for all games of a stack.

    Attributes:
        degree: the largest out-degree, or a little more.
        top: the largest priority, or more: one of few numbers.
    """

    degree: int
    top: int


class Parity(drive.Problem[Arena]):
    """Parity games."""

    name = "parity"
    solvers = SOLVERS
    solved = Solution
    host_until = 1 << 18  # it takes a few milliseconds, a good part of them a race
    inline = 1 << 18
    head_start = drive.HEAD_START
    tries_first = True
    patience = PATIENCE  # pyright: ignore[reportAssignmentType]
    goes_on = True

    # ---- the question ----------------------------------------------------------

    def read(self, question: Any) -> tuple[Arena, Any]:
        """Priorities are on vertices, or on edges."""
        arena, fault = validity.checked(question)
        check_priorities(arena)
        return arena, fault

    def reduce(
        self, question: Arena, names: Sequence[str]
    ) -> tuple[Arena, drive.Undo | None]:
        """By [`preprocess`][jaxgames.parity.preprocess]."""
        if not names:
            return question, None
        from jaxgames.parity import preprocess as reductions  # few solves want any

        reduced = reductions.apply(question, names)

        def undo(solution: Any) -> Any:
            winner, moves = np.asarray(solution.winner), solution.strategy
            if moves is None:
                moves = np.full(len(winner), NO_EDGE, np.int32)
            winner, moves = reduced.undo(winner, np.asarray(moves))
            moves = None if solution.strategy is None else moves
            # Measures are of the reduced game.
            return dataclasses.replace(
                solution, winner=winner, strategy=moves, measures=None
            )

        return reduced.arena, undo

    # ---- on the device ---------------------------------------------------------

    def traced_auto(self) -> Solver:
        """Promotion and tangle learning in turns."""
        from jaxgames.parity._turns import InTurns  # no concrete solve wants it

        return InTurns()

    def legs(self, question: Arena) -> Sequence[Leg]:
        """Promotion alone, then in turns with tangle learning: another program."""
        from jaxgames.parity._turns import InTurns, budgets

        first = budgets(normal(question).shape[0])[0]
        return Leg(SOLVERS["promotion"](), first), Leg(InTurns())

    def handed_on(
        self, question: Arena, solver: Solver, state: Any, then: Solver
    ) -> Any:
        """Promotion is where it was, and has had its first turn."""
        from jaxgames.parity._turns import InTurns

        if not isinstance(then, InTurns):
            return None
        del solver
        game = self.prepare(*self.fitted(question, then))
        first = fixpoint.first(then, game)
        return first._replace(state=then.after(game, first.state, state.state))

    def fitted(self, question: Arena, solver: Solver) -> tuple[Arena, Solver]:
        """The normal form."""
        arena = normal(question, solver)
        return arena, solver.fit(arena)

    def traced(
        self, question: Arena, solver: Solver, state: Any, max_steps: Any
    ) -> Any:
        """Without vertices there is nothing to reduce over, and nothing to decide."""
        if question.shape[0]:
            return super().traced(question, solver, state, max_steps)
        how = {"strategies": solver.strategies}
        return drive.undecided(Status.SOLVED, self, question, **how)

    def own(self, question: Arena, game: "ops.Game", answer: Answer) -> Answer:
        """Without the vertices that split edges, and without padding."""
        size = question.shape[0]
        if is_traced(answer):
            if game.owner.shape == question.owner.shape:
                return answer
            return jax.tree.map(lambda x: x[..., :size], answer)
        # Cut on the host: a device would compile a slice for each number of vertices.
        winner, measures = answer.winner, answer.measures
        if answer.strategy is None or question.edge_priority is not None:
            winner, strategy, measures = to_numpy(answer)
        else:
            others = winner, measures
            strategy, (winner, measures) = ops.edges_on_host(
                game, answer.strategy, question.row_ptr, others
            )
        if measures is not None:
            measures = measures.resized(_num_own(question), size)
        return Answer(*_fit(question, winner, strategy), measures)

    def undecided(self, question: Any) -> Answer:
        size = np.shape(question.owner)
        return Answer(
            np.full(size, UNDECIDED, np.int8), np.full(size, NO_EDGE, np.int32)
        )

    # ---- on the host -----------------------------------------------------------

    def on_host(
        self,
        question: Arena,
        *,
        strategies=True,
        track: Any = None,
        max_steps=None,
        engine: str = drive.HOST,
        state: "host.Turns | None" = None,
    ) -> Solution:
        """By several engines in turn, or by one of them."""
        won = None
        if engine == drive.HOST and state is None:
            won = attempted(question, track, max_steps)
        if won is None and track is not None and track.stop[0]:
            how = {"strategies": strategies}  # there is no use in going on
            return drive.undecided(Status.INTERRUPTED, self, question, **how)
        if won is not None and won.finished:
            if track is not None:
                track.publish_all(won.winner, won.move)
            move = won.move if strategies else None
            winner, strategy = _fit(question, won.winner, move)
            return Solution(
                winner=winner,
                strategy=strategy,
                status=Status.SOLVED,
                stats=Stats(solver=engine, engine=host.PROMOTION, **won.stats),
            )
        prepared, shared = for_host(question), {}
        if engine == HOST_TANGLES:
            shared["legs"] = (host.TANGLES,)
        if track is not None:
            track.publish(prepared.size)
            track.of_arena = prepared.of_arena
            shared |= {"stop": track.stop, "publish": track.winner, "move": track.move}
        found = host.run(
            prepared,
            strategies=strategies,
            max_steps=max_steps,
            begun=state,
            won=won,
            **shared,
        )
        winner, strategy = found.winner, found.strategy
        if question.edge_priority is not None:
            winner, strategy = _fit(question, winner, strategy)
        stopped = Status.MAX_STEPS if track is None else Status.INTERRUPTED
        return Solution(
            winner=winner,
            strategy=strategy,
            status=Status.SOLVED if found.finished else stopped,
            stats=Stats(solver=engine, **found.stats),
            state=found.turns if track is None else None,
        )

    def track(self) -> Shared:
        """The host's dominions too."""
        return Shared()

    def in_race(
        self, track: Shared, question: Arena, solver: Solver, **how: Any
    ) -> Any:
        """Takes over, now and then, what the host has decided for good."""
        return track.on_device(self, question, solver, **how)

    # ---- many at once ----------------------------------------------------------

    def auto(self, stack: Any) -> Solver:
        """Promotion, by few sweeps."""
        sweeps = here(SWEEPS)
        return SOLVERS["promotion"](sweeps=sweeps)  # pyright: ignore[reportCallIssue]

    def rounds_together(self, stack: Arena) -> int:
        """The first turn of promotion."""
        from jaxgames.parity._turns import budgets

        return budgets(stack.owner.shape[-1])[0]

    def check(self, question: Arena) -> None:
        validity.check_each(question)
        check_priorities(question)

    def facts(self, stack: Arena, solver: Solver) -> Facts:
        """Sizes and types of stacks."""
        given = stack.edge_priority if stack.priority is None else stack.priority
        xp = jnp if isinstance(given, jax.Array) else np
        top = int(xp.max(given, initial=0))
        return Facts(drive.widest(stack), next(x for x in TOPS if top <= x))

    def game(
        self, question: Arena, solver: Solver, facts: Facts | None = None
    ) -> "ops.Game":
        """The normal form; in a stack dense, with priorities of the narrowest type."""
        if facts is None:
            return normal_form(question, solver.edge_priorities)
        if question.edge_priority is None and facts.top <= FEW:
            game = with_priority(question, compress_few(question.priority, facts.top))
        else:
            game = normal_form(question, solver.edge_priorities)
        if game.priority is not None:
            kinds = (np.int8, np.int16, np.int32)
            narrow = next(x for x in kinds if _fits(facts.top, x))
            game = with_priority(game, game.priority.astype(narrow))
        return drive.laid_out(game, facts.degree)

    def answer(self, solver: Any, game: "ops.Game", state: Any, size: int) -> Answer:
        """Without measures; and without vertices that split edges."""
        found = solver.answer(game, state)
        strategy = found.strategy if solver.strategies else None
        return Answer(*jax.tree.map(lambda x: x[:size], (found.winner, strategy)))


PROBLEM = drive.register(Parity())
"""Parity games, for [`drive.solve`][jaxgames.drive.solve] and for
[`solve_many`][jaxgames.solve_many]."""


def normal(arena: Arena, solver: Solver | None = None) -> Arena:
    """The normal form of a concrete arena, where a solver wants it so; kept with it."""
    on_edges = arena.edge_priority is not None and (
        solver is not None and solver.edge_priorities
    )
    key = "parity normal form", on_edges
    return kept(arena, key, lambda: normal_form(arena, on_edges))


def attempted(arena: Arena, track: Any, max_steps: int | None) -> "host.Won | None":
    """What the host wins before its engines are prepared; None if nothing is tried.

    The sweeps take no memory, so that a device can work beside them.
    """
    won = _swept(arena, track, max_steps)
    if won is not None:
        return won
    if track is not None:
        track.let_ahead()
        if track.stop[0]:
            return None
    return _tried_quickly(arena, track, max_steps)


def _tried_quickly(
    arena: Arena, track: Any, max_steps: int | None
) -> "host.Won | None":
    """What a few regions win; kept if that is not all, since it is the same again."""
    in_vain: list[host.Won] = kept(arena, "parity tried in vain", list)
    if in_vain:
        return in_vain[0]
    stop, rows = None if track is None else track.stop, rows_for_host(arena)
    if rows is None:
        return None
    won = host.attempt(rows, stop=stop, max_steps=max_steps)
    stopped = stop is not None and stop[0]
    whole = max_steps is None or max_steps >= host.work_of_attempt(rows)
    if whole and not stopped and not won.finished:
        in_vain.append(won)
        forget(arena, ROWS)
    return won


def _swept(arena: Arena, track: Any, max_steps: int | None) -> "host.Won | None":
    """What sweeps along the edges win; None if that is vain, which is kept."""
    in_vain = "parity swept in vain"
    if arena.edge_priority is not None or is_kept(arena, in_vain):
        return None
    stop = None if track is None else track.stop
    won = host.sweep(arena, stop=stop, max_steps=max_steps)
    stopped = stop is not None and stop[0]
    whole = max_steps is None or max_steps >= arena.shape[0]
    if won is None and whole and not stopped:
        kept(arena, in_vain, lambda: True)
    return won


def rows_for_host(arena: Arena) -> host.Rows | None:
    """The arrays for an attempt, or None if there is none; kept with the arena."""

    def made():
        game = split(arena)
        return host.rows(game) if host.is_worth_it(game) else None

    return kept(arena, ROWS, made)


def for_host(arena: Arena) -> host.Prepared:
    """The arrays that the host works on then, if it must; kept with the arena."""

    def prepare():
        if arena.edge_priority is None:
            return host.prepare(normal(arena), compressed=True)
        return host.prepare(split(arena))

    return kept(arena, "parity host", prepare)


def _num_own(arena: Arena) -> int:
    """Vertices of an answer that are the arena's, and not its layout's.

    An arena with edge priorities may have lost its padding on the way.
    """
    return arena.shape[0] if arena.edge_priority is None else int(arena.num_vertices)


def _fit(arena: Arena, winner, strategy) -> tuple[np.ndarray, np.ndarray | None]:
    """An answer for the arena, without the vertices that split its edges."""
    own = _num_own(arena)

    def resized(x, fill: int):
        if own == arena.shape[0]:
            return x[:own]
        return np.pad(x[:own], (0, arena.shape[0] - own), constant_values=fill)

    strategy = None if strategy is None else resized(strategy, NO_EDGE)
    return resized(winner, 0), strategy


def _fits(top: int, kind) -> bool:
    return top < np.iinfo(kind).max or kind is np.int32
