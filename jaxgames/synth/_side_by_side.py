"""Circuits put side by side, and parts of circuits."""

from collections.abc import Iterable

import numpy as np

from jaxgames.synth._controller import Circuit
from jaxgames.synth._gates import Gates


def side_by_side(
    circuits: Iterable[Circuit], inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> Circuit:
    """A circuit that does what each of some does; what none of them sets is false.

    Their inputs are among those of the whole, and each output is of one circuit.
    """
    circuits = list(circuits)
    latches = sum(len(x.following) for x in circuits)
    making = Gates(len(inputs) + latches)
    place = {name: 2 * (i + 1) for i, name in enumerate(inputs)}
    driver: dict[str, int] = {}
    following: list[int] = []
    latch = 2 * (len(inputs) + 1)
    for circuit in circuits:
        literals = [0, *(place[name] for name in circuit.inputs)]
        literals += range(latch, latch + 2 * len(circuit.following), 2)
        latch += 2 * len(circuit.following)
        for one, other in circuit.gates.tolist():
            literals.append(making.both(_of(literals, one), _of(literals, other)))
        following += [_of(literals, x) for x in circuit.following.tolist()]
        for name, literal in zip(circuit.outputs, circuit.driver.tolist(), strict=True):
            driver[name] = _of(literals, literal)
    begin = [x for circuit in circuits for x in circuit.begin.tolist()]
    return Circuit(
        inputs,
        outputs,
        np.array(following, np.int64),
        np.array(begin, np.int64),
        np.array([driver.get(name, 0) for name in outputs], np.int64),
        np.array(making.gates, np.int64).reshape(-1, 2),
    )


def _of(literals: list[int], literal: int) -> int:
    return literals[literal >> 1] ^ (literal & 1)


def needed_by(circuit: Circuit, outputs: Iterable[str]) -> set[int]:
    """The variables that some of the outputs depend on."""
    inputs, latches = len(circuit.inputs), len(circuit.following)
    of_output = dict(zip(circuit.outputs, circuit.driver.tolist(), strict=True))
    following, gates = circuit.following.tolist(), circuit.gates.tolist()
    needed: set[int] = set()
    work = [of_output[name] >> 1 for name in outputs]
    while work:
        variable = work.pop()
        if variable in needed or not variable:
            continue
        needed.add(variable)
        if variable > inputs + latches:
            work += [x >> 1 for x in gates[variable - inputs - latches - 1]]
        elif variable > inputs:
            work.append(following[variable - inputs - 1] >> 1)
    return needed


def cone(circuit: Circuit, outputs: Iterable[str]) -> Circuit:
    """The part of a circuit that some of its outputs depend on."""
    outputs = tuple(outputs)
    inputs, latches = len(circuit.inputs), len(circuit.following)
    of_output = dict(zip(circuit.outputs, circuit.driver.tolist(), strict=True))
    following, gates = circuit.following.tolist(), circuit.gates.tolist()
    needed = needed_by(circuit, outputs)
    order = sorted(needed)
    number = {0: 0} | {variable: i for i, variable in enumerate(order, 1)}

    def moved(literal: int) -> int:
        return 2 * number[literal >> 1] | literal & 1

    held = [v - inputs - 1 for v in order if inputs < v <= inputs + latches]
    of_gates = [gates[v - inputs - latches - 1] for v in order if v > inputs + latches]
    return Circuit(
        tuple(circuit.inputs[v - 1] for v in order if v <= inputs),
        outputs,
        np.array([moved(following[i]) for i in held], np.int64),
        circuit.begin[held].astype(np.int64),
        np.array([moved(of_output[name]) for name in outputs], np.int64),
        np.array([[*map(moved, pair)] for pair in of_gates], np.int64).reshape(-1, 2),
    )
