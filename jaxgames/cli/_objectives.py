"""What `jaxgames probability` is asked about all of a run: formulas and priorities."""

import argparse
import functools
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from jaxgames import ltl, mdp
from jaxgames.cli import _parts, _systems
from jaxgames.cli._answers import Answer, narrow, of_vertices
from jaxgames.cli._exit import Exit
from jaxgames.cli._games import counts
from jaxgames.cli._phases import Phases
from jaxgames.quoting import clipped, counted, quoted

COLUMNS = "lower", "upper", "value", "strategy"
"""What is found of each state."""


class Question(NamedTuple):
    """A stochastic parity game, and how its states are those of the one that is given.

    Attributes:
        given: the game in the file.
        game: the game that is solved: that one, or its product with an automaton.
        priority: int `[S]`, of its states.
        memory: int64 `[Q * S]`, which state of the automaton is next after a state of
            the product, -1 for none; None for a question about priorities.
    """

    given: mdp.Game
    game: mdp.Game
    priority: np.ndarray
    memory: np.ndarray | None = None

    @property
    def rows(self) -> int:
        """States of the product that those of the game and of the automaton make."""
        return self.given.model.num_states if self.memory is None else len(self.memory)

    def shift(self) -> np.ndarray:
        """What a choice of each row is less in the game than in the product: int64."""
        of_game = np.asarray(self.given.model.row_group_offsets, np.int64)[:-1]
        of_product = np.asarray(self.game.model.row_group_offsets, np.int64)
        return of_product[: self.rows] - np.tile(of_game, self.rows // len(of_game))


def options(parser: Any) -> None:
    """Declares what a run may be asked for instead of a target."""
    parser.add_argument(
        "--ltl",
        metavar="FORMULA",
        help='in a game: the formula that must hold, such as "G F p"; its propositions '
        "are labels, or expressions of variables",
    )
    parser.add_argument(
        "--automaton",
        metavar="AUTOMATON",
        help="in a game: the automaton (.hoa) that must accept the run",
    )
    parser.add_argument(
        "--priority",
        metavar="VARIABLE",
        help="in a game: the largest value that this variable has again and again must "
        "be even",
    )


def is_asked(args: argparse.Namespace) -> bool:
    """Whether one of these is asked for."""
    given = args.ltl, args.automaton, args.priority
    return any(x is not None for x in given)


def run(args: argparse.Namespace, phase: Phases, given: Any) -> Exit:
    """Solves the game, and prints and writes what was asked for."""
    with phase("prepare") as notes:
        question = posed(args, given)
        notes.append(counted(question.game.model.num_states, "state"))
    model, player = given.model, args.player or 0
    solve = functools.partial(_solve, args, question, player)
    found = _parts.solve(args, phase, solve, question.game)
    verdict = _parts.verdict_on(
        *(args, phase),
        lambda game, found: mdp.verify_parity_game(
            game, question.priority, found, maximizer=player
        ),
        *(question.game, found),
    )
    arrays = {
        name: np.asarray(getattr(found, name))[: question.rows] for name in COLUMNS
    }
    strategy = arrays["strategy"]
    arrays["strategy"] = np.where(strategy < 0, strategy, strategy - question.shift())
    if question.memory is not None:
        arrays["memory"] = question.memory
    facts: dict[str, Any] = {
        **counts(model),
        "objective": args.ltl or args.automaton or args.priority,
        "product": question.game.model.num_states,
        "player": player,
        **_parts.solve_facts(found, phase.seconds, verdict),
    }
    from jaxgames.cli._probability import conclude

    return conclude(args, model, found, verdict, facts, arrays)


def posed(args: argparse.Namespace, given: Any) -> Question:
    """The question that options ask about a game, if they fit it."""
    if not isinstance(given, mdp.Game):
        raise ValueError(
            "--ltl, --automaton and --priority are for games, and this model has one "
            "player: use jaxgames mdp for formulas and automata"
        )
    if args.priority is not None:
        return Question(given, given, _variable(given, args.priority))
    if args.ltl is not None:
        try:
            automaton = ltl.deterministic(args.ltl)
        except ValueError as error:
            raise ValueError(f"--ltl: {error}") from error
    else:
        found = _systems.load_automaton(args.automaton)
        is_free = isinstance(found, ltl.EmersonLei)
        automaton = found.parity() if is_free else found.determinise()
    try:
        product, priority = mdp.parity_product(given, automaton)
    except ValueError as error:
        option = "--ltl" if args.ltl is not None else "--automaton"
        raise ValueError(f"{option}: {error}") from error
    size, model = given.model.num_states, product.model
    first = np.asarray(model.row_offsets)[np.asarray(model.row_group_offsets)[:-2]]
    to = np.asarray(model.columns)[first] // size
    lost = to >= (model.num_states - 1) // size
    return Question(given, product, priority, np.where(lost, -1, to).astype(np.int64))


def checked(args: argparse.Namespace, answer: Answer, given: Any) -> Any:
    """Checks bounds and strategies that `run` has written."""
    question = posed(args, given)
    real = [answer.arrays[name].astype(np.float64) for name in ("lower", "upper")]
    columns = [*real, *of_vertices(answer, question.rows, "strategy")]
    if question.memory is not None:
        if "memory" not in answer.arrays:
            raise answer.fail("it does not say what a strategy remembers")
        (memory,) = of_vertices(answer, question.rows, "memory")
        if not np.array_equal(memory, question.memory):
            raise answer.fail("what strategies remember is that of another automaton")
    for name, column in zip(COLUMNS, real, strict=False):
        if column.shape != (question.rows,):
            raise answer.fail(f"expected {name} as {question.rows} numbers")
    more = question.game.model.num_states - question.rows
    # What the automaton cannot follow is lost, and has one choice.
    last = np.asarray(question.game.model.row_group_offsets)[question.rows : -1]
    lower, upper = (np.append(x, np.zeros(more)) for x in columns[:2])
    strategy = narrow(columns[2], np.int64)
    strategy = np.where(strategy < 0, -1, strategy + question.shift())
    return mdp.verify_parity_game(
        question.game,
        question.priority,
        SimpleNamespace(lower=lower, upper=upper, strategy=np.append(strategy, last)),
        maximizer=args.player or 0,
    )


def _solve(
    args: argparse.Namespace, question: Question, player: int, game: mdp.Game, **_: Any
) -> mdp.GameValues:
    """As `mdp.solve_parity_game`; bounds may be twice `epsilon` apart."""
    how: Any = {"epsilon": 2 * args.epsilon, "relative": args.relative, "throw": False}
    return mdp.solve_parity_game(game, question.priority, maximizer=player, **how)


def _variable(game: mdp.Game, name: str) -> np.ndarray:
    """The priorities that a variable of the states says; else raises ValueError."""
    known = game.model.valuations or {}
    if name not in known:
        there = clipped(", ".join(known)) or "none at all"
        raise ValueError(
            f"--priority: the model has no variable {quoted(name)}, only {there}"
        )
    column = np.asarray(known[name])
    if column.dtype.kind not in "iu" or (column < 0).any():
        raise ValueError(
            f"--priority: {quoted(name)} must be integers that are not negative"
        )
    return column
