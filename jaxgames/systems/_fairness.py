"""Which runs of a system are fair to its processes."""

import dataclasses
import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import numpy as np

from jaxgames.acceptance import Acceptance, both, either, fin, inf
from jaxgames.systems._system import System
from jaxgames.value import Value, freeze

Kind = Literal["weak", "strong"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Fairness(Value):
    """Processes of a system, each of which gets its turn on fair runs.

    A process is *enabled* in a state if it could move there, and *taken* if it does
    move next. A run is weakly fair to a process (*justice*) if the process is taken
    infinitely often or is infinitely often not enabled; it is strongly fair
    (*compassion*) if the process is taken infinitely often or is not enabled any more
    from some time on.

    Attributes:
        enabled: bool `[K, S]`, where each of `K` processes is enabled.
        taken: bool `[K, S]`, in which states it moves next.
        strong: whether runs must be strongly fair.
        names: what the processes are called.

    Raises:
        ValueError: shapes or types are wrong, or a process is taken where it is not
            enabled.

    Examples:
        >>> graph = [0, 2, 3], [0, 1, 0]  # 0 -wait-> 0, 0 -send-> 1, 1 -receive-> 0
        >>> names = "wait", "send", "receive"
        >>> system = System.from_actions(graph, [0, 1, 2], names)
        >>> fairness = Fairness.of_actions(system)
        >>> fairness
        Fairness(weak, 3 processes)
        >>> fairness.enabled[1], fairness.taken[1]
        (array([ True,  True, False]), array([False,  True, False]))

    References:
        Lehmann, Pnueli and Stavi, Impartiality, justice and fairness: the ethics of
        concurrent termination, ICALP 1981, doi:10.1007/3-540-10843-2_22.
        Emerson and Lei, Modalities for model checking, Sci. Comput. Program. 8 (1987),
        doi:10.1016/0167-6423(87)90036-0.
    """

    enabled: np.ndarray
    taken: np.ndarray
    strong: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self):
        super().__post_init__()
        for name in ("enabled", "taken"):
            array = getattr(self, name)
            if array.dtype != bool or array.ndim != 2:
                raise ValueError(
                    f"{name} must be booleans [K, S], got {array.dtype} of shape "
                    f"{array.shape}"
                )
        if self.enabled.shape != self.taken.shape:
            raise ValueError(
                "enabled and taken must have the same shape, got "
                f"{self.enabled.shape} and {self.taken.shape}"
            )
        if self.names and len(self.names) != len(self.enabled):
            raise ValueError(
                f"{len(self.enabled)} processes must have as many names, got "
                f"{len(self.names)}"
            )
        wrong = np.argwhere(self.taken & ~self.enabled)
        if len(wrong):
            process, state = wrong[0].tolist()
            raise ValueError(
                f"process {process} is taken in state {state}, where it is not enabled"
            )

    @classmethod
    def of_actions(
        cls,
        system: System,
        processes: Mapping[str, Iterable[str]] | None = None,
        *,
        kind: Kind = "weak",
    ) -> "Fairness":
        """Fairness to the actions of a system, or to processes that are sets of them.

        Args:
            system: made by [`from_actions`][jaxgames.systems.System.from_actions].
            processes: the actions of each process, by its name; `*`, `?` and `[...]`
                in an action stand for any letters, one, or one of some. By default each
                action that occurs is a process of its own.
            kind: `"weak"` or `"strong"`.

        Raises:
            ValueError: the system has no actions, a process has none that the system
                has, or the kind is unknown.
        """
        if kind not in get_args(Kind):
            raise ValueError(f"kind must be 'weak' or 'strong', got {kind!r}")
        if system.actions is None:
            raise ValueError(
                "the system has no actions, to which runs could be fair: make it by "
                "System.from_actions"
            )
        state, action, names = system.actions
        if processes is None:
            there = np.unique(action[action >= 0]).tolist()
            groups = {str(names[i]): [i] for i in there}
        else:
            groups = {
                name: _matching(name, patterns, names)
                for name, patterns in processes.items()
            }
        taken = np.zeros((len(groups), len(state)), bool)
        enabled = np.zeros_like(taken)
        for row, members in enumerate(groups.values()):
            taken[row] = np.isin(action, members)
            somewhere = np.zeros(int(state.max(initial=-1)) + 1, bool)
            somewhere[state[taken[row]]] = True
            enabled[row] = somewhere[state]
        return cls(freeze(enabled), freeze(taken), kind == "strong", tuple(groups))

    def marks(self) -> np.ndarray:
        """What each state says of each process: bool `[M, S]`, for `condition`."""
        if not self.strong:
            return self.taken | ~self.enabled
        return np.stack([self.enabled, self.taken], axis=1).reshape(
            2 * len(self.enabled), self.enabled.shape[1]
        )

    def condition(self, first: int = 0) -> Acceptance:
        """What must be met infinitely often on fair runs, and what must not.

        Args:
            first: the number of the first mark.
        """
        count = len(self.enabled)
        if not self.strong:
            return both(inf(first + k) for k in range(count))
        pairs = ((first + 2 * k, first + 2 * k + 1) for k in range(count))
        return both(either([fin(one), inf(other)]) for one, other in pairs)

    def holds_on(self, cycle: Any) -> bool:
        """Whether a run is fair that goes through some states for ever.

        Args:
            cycle: integers, the states.
        """
        cycle = np.asarray(cycle)
        taken = self.taken[:, cycle].any(axis=1)
        enabled = self.enabled[:, cycle]
        due = enabled.any(axis=1) if self.strong else enabled.all(axis=1)
        return bool((taken | ~due).all())

    def __repr__(self) -> str:
        count = len(self.enabled)
        kind = "strong" if self.strong else "weak"
        return f"Fairness({kind}, {count} process{'' if count == 1 else 'es'})"


def _matching(name: str, patterns: Iterable[str], actions: Any) -> list[int]:
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    found = [
        i
        for i, action in enumerate(actions)
        if any(
            action == pattern or fnmatch.fnmatchcase(action, pattern)
            for pattern in patterns
        )
    ]
    if not found:
        raise ValueError(
            f"process {name!r} has no action of the system: none is "
            f"{' or '.join(patterns) or 'named'}, there are "
            f"{', '.join(actions) or 'none at all'}"
        )
    return found
