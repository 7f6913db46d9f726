"""What models of mutual exclusion share: their propositions and properties."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxgames.generate.protocols._model import (
    Command,
    Model,
    Values,
    Variable,
    model,
    put,
)


def mutual_exclusion(
    name: str,
    variables: Mapping[str, Variable],
    commands: Callable[[Any, Values], Sequence[Sequence[Command]]],
    *,
    waiting: Sequence[int],
    critical: int,
    last: bool,
) -> Model:
    """A model of processes that enter a critical section, one at a time.

    The variable `pc` says where each process is. With `last` the state also has the
    process that moved last.
    """
    n = variables["pc"].length
    if last:
        name, variables = f"{name}-last", {**variables, "last": Variable(n)}

    def all_commands(xp: Any, now: Values) -> list[Command]:
        found = []
        for i, own in enumerate(commands(xp, now)):
            for guard, changed in own:
                if last:
                    changed = {**changed, "last": put(xp, now["last"], 0, i)}
                found.append((guard, changed))
        return found

    def is_at(i: int, *places: int) -> Callable[[Values], Any]:
        def holds(now: Values) -> Any:
            pc = now["pc"][:, i]
            found = pc == places[0]
            for place in places[1:]:
                found = found | (pc == place)
            return found

        return holds

    def moved(i: int) -> Callable[[Values], Any]:
        return lambda now: now["last"][:, 0] == i

    each = range(n)
    propositions: dict[str, Callable[[Values], Any]] = {}
    propositions |= {f"cs{i}": is_at(i, critical) for i in each}
    propositions |= {f"wait{i}": is_at(i, *waiting) for i in each}
    propositions["one_in_cs"] = lambda now: (now["pc"] == critical).sum(axis=1) == 1
    properties = {
        "resp0": "G(wait0 -> F cs0)",
        "recur0": "G(!cs0 -> F cs0)",
        "someone": "GF one_in_cs",
    }
    if last:
        propositions |= {f"act{i}": moved(i) for i in each}
        properties["fair"] = " & ".join(f"(GF act{i} -> GF cs{i})" for i in each)
        properties["fairw"] = " & ".join(
            f"(GF act{i} -> G(wait{i} -> (wait{i} U cs{i})))" for i in each
        )
    return model(name, variables, all_commands, propositions, properties)
