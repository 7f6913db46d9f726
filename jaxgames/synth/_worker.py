"""A process that makes specifications of formulas for another one.

It reads pickled lists of questions from standard input, and writes as many lists of
answers to standard output, until there are no more. Only its parent talks to it.
"""

import pickle
import sys
from typing import Any, NamedTuple

from jaxgames.ltl import Formula
from jaxgames.synth._specification import Specification


class Asked(NamedTuple):
    """What is asked for, as for `Specification.from_ltl`.

    Attributes:
        formula: a formula or a text.
        inputs: names, or None.
        outputs: names, or None.
        moore: whether the system goes first.
        max_states: how many states the automaton may have.
    """

    formula: Formula | str
    inputs: tuple[str, ...] | None
    outputs: tuple[str, ...] | None
    moore: bool
    max_states: int


def answer(asked: Asked) -> Any:
    """What was made, without its formula: its parts, or what is wrong, a text."""
    try:
        found = Specification.from_ltl(
            asked.formula,
            asked.inputs,
            asked.outputs,
            moore=asked.moore,
            max_states=asked.max_states,
        )
        game, automaton = found.game(), found.parity()
    except ValueError as error:
        return str(error)
    return found.automaton, found.controllable, automaton, game


def main() -> None:
    """Answers until standard input ends."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what anybody prints is no answer
    while True:
        try:
            some = pickle.load(source)
        except EOFError:
            return
        pickle.dump([answer(Asked(*x)) for x in some], sink, pickle.HIGHEST_PROTOCOL)
        sink.flush()
