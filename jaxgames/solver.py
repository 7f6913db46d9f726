"""What a solver is, and the tables that name them.

A solver is a frozen dataclass of options with four pure methods over a
[`Game`][jaxgames.ops.Game] and a state of its own (any pytree): `init`, `step`, `done`
and `answer`. The loop is not its business: [`fixpoint`][jaxgames.fixpoint] drives it
under `jit`, `vmap` or from the host. To add one, write a file with the class, and name
it in the registry of its slice; or, in a package of your own, call `register` of that.
"""

import abc
import dataclasses
import functools
import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from jaxgames.arena import Arena
from jaxgames.arguments import integer
from jaxgames.later import jax
from jaxgames.quoting import guess, quoted

if TYPE_CHECKING:
    from jaxgames.ops import Game


@dataclasses.dataclass(frozen=True)
class Solver(abc.ABC):
    """Base of every solver.

    Attributes:
        sweeps_per_check: steps between two tests for the end. More hide the cost of
            the test on an accelerator; none is wrong, since a step that has nothing
            to do changes nothing. None: chosen by backend and size.
        strategies: whether strategies are wanted. Solvers for which they cost
            something save that; the solution has none.
    """

    sweeps_per_check: int | None = dataclasses.field(default=None, kw_only=True)
    strategies: bool = dataclasses.field(default=True, kw_only=True)

    name: ClassVar[str]
    solves: ClassVar[str] = ""
    """What it solves, if that is not what other solvers of its slice do. Where only
    those are named, it and what is derived from it are refused."""
    edge_priorities: ClassVar[bool] = False
    """Whether the solver reads priorities on edges itself."""
    absorbs: ClassVar[bool] = False
    """Whether `absorb` can be called."""

    def __post_init__(self):
        check_positive(sweeps_per_check=self.sweeps_per_check)

    def fit(self, arena: Arena) -> "Solver":
        """Fills in options from a concrete arena, where the solver has such."""
        return self

    @abc.abstractmethod
    def init(self, game: "Game") -> Any:
        """The state to start from."""

    @abc.abstractmethod
    def step(self, game: "Game", state: Any) -> Any:
        """One round. A state that is done must stay as it is."""

    @abc.abstractmethod
    def done(self, game: "Game", state: Any) -> jax.Array:
        """Whether every vertex is decided: bool scalar."""

    @abc.abstractmethod
    def answer(self, game: "Game", state: Any) -> Any:
        """The slice's answers, over slots; undecided where the state is not done."""

    def advance(self, game: "Game", carry: Any, limit: Any) -> Any:
        """Many rounds at once, for a solver of several loops (pure).

        Args:
            game: the game.
            carry: a [`Carry`][jaxgames.fixpoint.Carry], whose state may be done.
            limit: rounds to make at most, those of `carry` counted in.

        Returns:
            The carry when it is done, or at the limit; None to have steps made one
            after the other.
        """
        del game, carry, limit

    def overflow(self, state: Any) -> jax.Array | bool:
        """Whether the game's numbers did not fit, which makes the state useless."""
        return False

    def absorb(self, game: "Game", state: Any, winner: jax.Array) -> Any:
        """Takes over winners that another engine has found; what a solver may offer.

        Args:
            game: the game.
            state: where this solver is.
            winner: int8 `[S]`: 0 or 1, or -1 where it is not known. All that is known
                is its own attractor.

        Returns:
            The state to go on from.
        """
        raise NotImplementedError(f"{self.name} takes nothing over")

    def subject(self, game: Any) -> Any:
        """What of a game the states are about, so that no other game may have them.

        All of it, unless a part may be changed while a solve goes on, or follows from
        the others: what is read here is compiled for, too.
        """
        return game

    def stats(self, game: "Game", state: Any) -> dict[str, Any]:
        """More facts for the solution's `stats`, by name."""
        return {}


def check_positive(**options: int | None) -> None:
    """Raises ValueError unless each option is None or a positive integer."""
    for name, value in options.items():
        if value is not None:
            integer(name, value, 1)


_S = TypeVar("_S", bound=Solver)


class Registry:
    """The solvers of a slice, by name.

    Args:
        problem: name of the slice, for messages.
        auto: the class that `"auto"` stands for.
        others: more classes; each is known by its `name`. Any may be a text that says
            `name = module.Class`, which is then imported when it is wanted.
        options: of the class that `"auto"` stands for, where they are not as usual.
        places: what else `solver=` may name, that is no array program: the host, the
            race, and engines of the host that have names of their own.
        base: what each must be.
    """

    def __init__(
        self,
        problem: str,
        auto: type[Solver] | str,
        *others: type[Solver] | str,
        options: Mapping[str, Any] | None = None,
        places: tuple[str, ...] = (),
        base: type[Solver] = Solver,
    ):
        self.problem = problem
        self.base = base
        self.places = places
        self._options = dict(options or {})
        self._one = f"{'an' if problem[0] in 'aeiou' else 'a'} {problem} solver"
        self._solvers: dict[str, type[Solver] | str] = {}
        for solver in (auto, *others):
            if isinstance(solver, str):
                name, _, where = solver.partition(" = ")
                self._solvers[name] = where
            else:
                self._solvers[solver.name] = solver
        self._first = next(iter(self._solvers))
        self._slice = _slice_of(auto if isinstance(auto, str) else auto.__module__)

    def auto(self) -> Solver:
        """The solver that `"auto"` stands for."""
        return self[self._first](**self._options)

    def register(self, solver: type[_S]) -> type[_S]:
        """Adds a solver of your own, which all that takes a solver then knows by name.

        What makes up its state is registered by
        [`states.register`][jaxgames.states.register], if it is to be written to files.
        A package whose entry points of the group `jaxgames.solvers` name modules has
        these imported when a name is not known: there they may register theirs.

        Args:
            solver: the class; also as a decorator.

        Raises:
            ValueError: it is no solver of this kind, or its name is taken.
        """
        name = getattr(solver, "name", None)
        if not (isinstance(solver, type) and issubclass(solver, self.base)):
            raise ValueError(f"{self._one} derives from {self.base.__name__}")
        self._refuse_others(solver)
        if not isinstance(name, str) or not name:
            raise ValueError(f"{solver.__name__} has no name: set the class's `name`")
        taken = name in ("auto", *self.places)
        if taken or (name in self._solvers and self[name] != solver):
            raise ValueError(
                f"there is a {self.problem} solver called {name!r} already"
            )
        self._solvers[name] = solver
        return solver

    def __iter__(self):
        return iter(self._solvers)

    def __getitem__(self, name: str) -> type[Solver]:
        """The class of that name.

        Raises:
            ValueError: naming the solvers that there are.
        """
        if name in self.places:
            raise ValueError(
                f"solver={name!r} runs on the host, which cannot be here: name a "
                f"solver of the device, {', '.join(map(repr, self))}"
            )
        if name not in self._solvers:
            _import_others()
        if name not in self._solvers:
            known = [*self, *self.places, "auto"]
            raise ValueError(
                f"no {self.problem} solver is called {quoted(name)}"
                f"{guess(name, known)}; there are {', '.join(map(repr, known))}"
            )
        found = self._solvers[name]
        if isinstance(found, str):
            module, _, known_as = found.rpartition(".")
            found = getattr(importlib.import_module(module), known_as)
            self._solvers[name] = found
        return found

    def resolve(self, solver: str | Solver) -> Solver:
        """A solver from its name, from `"auto"`, or from itself, whoever wrote it."""
        if isinstance(solver, str):
            return self.auto() if solver == "auto" else self[solver]()
        if not isinstance(solver, self.base):
            own = self.base is not Solver
            which = f", which derives from {self.base.__name__}" if own else ""
            raise ValueError(
                f"solver must be a name or {self._one}{which}, got {solver!r}"
            )
        self._refuse_others(type(solver))
        return solver

    def _refuse_others(self, solver: type[Solver]) -> None:
        """Raises ValueError for a solver of another problem, or one derived from it.

        It would fail somewhere in a program, on a field that its game does not have.
        """
        slices = {_slice_of(kind.__module__) for kind in solver.__mro__} - {""}
        said = ""
        if self._slice and slices and self._slice not in slices:
            said = f"is a solver of jaxgames.{min(slices)}"
        elif solver.solves and all(self[x].solves != solver.solves for x in self):
            said = f"solves {solver.solves}"
        if said:
            raise ValueError(
                f"{solver.__name__} {said}, expected {self._one}: "
                f"{', '.join(map(repr, self))}"
            )


def _slice_of(path: str) -> str:
    """The slice that a module is in, or what a text of a registry names; else ""."""
    root, *inner = path.rpartition(" = ")[2].split(".")
    return inner[0] if root == __name__.partition(".")[0] and inner[1:] else ""


@functools.cache
def _import_others() -> None:
    """Imports what other packages name as modules with solvers, once."""
    import importlib.metadata  # which takes longer than a small game

    for point in importlib.metadata.entry_points(group="jaxgames.solvers"):
        point.load()
