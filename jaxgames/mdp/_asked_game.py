"""A property of a stochastic game, evaluated in all states: a coalition plays."""

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from jaxgames import limits
from jaxgames.mdp import _questions
from jaxgames.mdp._asked import Answer, Asked, other_of
from jaxgames.mdp._game import NOBODY, Game
from jaxgames.mdp._model import MDP, owner_of
from jaxgames.mdp._open import exactly
from jaxgames.mdp._parity_game import parity_product, solve_parity_game
from jaxgames.mdp._paths import General
from jaxgames.mdp._property import Cumulative, PropertyError, Query
from jaxgames.mdp._questions import Posed
from jaxgames.mdp._reward_game import solve_reward_game
from jaxgames.mdp._stochastic_game import GameValues, part, solve_game, taken
from jaxgames.solution import Status


@dataclasses.dataclass
class AskedOfGame(Asked):
    """A property of a game: see `Asked`.

    Optima are a word and the players of a coalition, such as `max0,2`: what these want,
    against all others.
    """

    player: Any = None  # int8 [S]: who chooses
    plays: ClassVar[bool] = True
    models: ClassVar[str] = "stochastic games"

    def _optimum(self, node: Query) -> str:
        """What the coalition wants, and who it is."""
        there = sorted(set(self.player.tolist()) - {NOBODY})
        named = ", ".join(map(str, there)) or "none"
        if node.coalition is None:
            raise PropertyError(
                node.place,
                f"'{node}' must say who plays together, such as <<0>> before it, since "
                f"this is a game; its players are {named}",
            )
        for number in node.coalition:
            if number > max([1, *there]):  # of two, one may never choose
                raise PropertyError(
                    node.place,
                    f"there is no player {number}: the game's players are {named}",
                )
        words = node.optimum
        if not words and node.relation is not None:
            # The coalition can see to it, whatever the others do.
            words = ("max" if node.relation in (">", ">=") else "min",)
        if len(words) != 1:
            raise PropertyError(
                node.place, f"'{node}' must say min or max, of what the coalition wants"
            )
        return words[0] + ",".join(map(str, node.coalition))

    def largest(self, optimum: str) -> np.ndarray:
        """The states of those who want the most: bool `[S]`."""
        members = [int(number) for number in optimum[3:].split(",") if number]
        own = np.isin(self.player, members)
        return own if optimum[:3] == "max" else ~own

    def game(self, optimum: str) -> Game:
        """The game of two players, in which player 0 wants the most."""
        return Game(self.model, np.where(self.largest(optimum), 0, 1).astype(np.int8))

    def _valued(self, node: Query, optimum: str) -> Answer:
        if node.operator == "LRA":
            raise self._refused(node, "long-run averages")
        return super()._valued(node, optimum)

    def _conditional(self, node: Query, optimum: str) -> Answer:
        raise self._refused(node, "conditional probabilities")

    def _earning(self, path: Any, optimum: str) -> Answer:
        raise self._refused(path, "bounds of what is earned")

    def _average(self, reward: np.ndarray, optimum: str) -> Answer:
        raise self._refused(self.asked.formula, "long-run averages")

    def _total(self, path: Cumulative, reward, optimum: str) -> Answer:
        raise self._refused(path, "all rewards, without a target or a discount,")

    # ---- without a bound of steps ----------------------------------------------------

    def _reached(self, target, optimum: str, passed) -> Answer:
        game, how = self.game(optimum), self._how()
        found = solve_game(game, target, states=passed, **how)

        def posed(model: MDP, optimum: str) -> Posed:
            return _questions.reach(model, target, optimum, passed)

        return self._answer(game, found, posed)

    def _missed(self, target, optimum: str, passed) -> Answer:
        return self._less(lambda asked: asked._reached(target, optimum, passed))

    def _earned_until(self, reward, target, optimum: str) -> Answer:
        game = self.game(optimum)
        found = solve_reward_game(game, reward, target, **self._how())

        def posed(model: MDP, optimum: str) -> Posed:
            earned = (model.choice_rewards or {})[""]
            return _questions.reward_until(model, earned, target, optimum)

        return self._answer(game, found, posed, reward)

    def _discounted(self, reward, optimum: str, discount: Fraction) -> Answer:
        game = self.game(optimum)
        found = solve_reward_game(game, reward, discount=discount, **self._how())

        def posed(model: MDP, optimum: str) -> Posed:
            earned = (model.choice_rewards or {})[""]
            return _questions.discounted(model, earned, optimum, discount)

        return self._answer(game, found, posed, reward)

    def _how(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "relative": self.relative, "throw": False}

    def _answer(
        self,
        game: Game,
        found: GameValues,
        posed: Callable[[MDP, str], Posed],
        reward: np.ndarray | None = None,
    ) -> Answer:
        """What a game comes to; in fractions if both strategies are best."""
        status = Status(found.status)
        if status not in (Status.SOLVED, Status.PRECISION):
            limits.fail(status, "solving a game")
        values = None
        if self.exact:
            model, mine = game.model, game.player == 0
            ends = []
            for states, optimum in ((mine, "min"), (~mine, "max")):
                kept = taken(found.strategy, states, owner_of(model))
                small, old = part(model, kept)
                if reward is not None:
                    small = dataclasses.replace(small, choice_rewards={"": reward[old]})
                ends.append(exactly(small, posed(small, optimum), found.lower))
            values = ends[0] if ends[0] == ends[1] else None
        self.statuses.append(status)
        ends = found.lower, found.upper, found.strategy
        return Answer(*ends, status, found.stats, values)

    # ---- formulas of paths -----------------------------------------------------------

    def _limit(self, path: Any, optimum: str) -> Answer:
        return self._general(General(path.path), optimum)

    def _not_limit(self, path: Any, optimum: str) -> Answer:
        return self._general(General(path.path, negated=True), other_of(optimum))

    def _general(self, path: General, optimum: str, missed: bool = False) -> Answer:
        """Any formula, by a parity game: the product with a deterministic automaton."""
        del missed
        product, priority = self.followed(path, optimum)
        found = solve_parity_game(product, priority, **self._how())
        size = self.shape[0]
        status = Status(found.status)
        self.statuses.append(status)
        ends = found.lower[:size], found.upper[:size], None
        return Answer(*ends, status, found.stats)

    def followed(self, path: General, optimum: str) -> tuple[Game, np.ndarray]:
        """The parity game of a formula, in which player 0 wants it to hold."""
        (automaton,), known = self._automata(path.path)
        automaton = automaton.complement() if path.negated else automaton
        labels = {f"p{bit}": states for bit, states in enumerate(known)}
        game = self.game(optimum)
        named = dataclasses.replace(game.model, labels=labels)
        return parity_product(Game(named, game.player), automaton)
