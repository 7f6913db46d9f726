"""What `jaxgames synth` tells and writes, also of formulas that fall into parts."""

import argparse
from collections.abc import Callable
from typing import Any

from jaxgames import io, synth
from jaxgames.cli import _parts, _report
from jaxgames.cli._exit import Exit, complain
from jaxgames.cli._phases import Phases
from jaxgames.cli._streams import STDOUT
from jaxgames.io._files import writing
from jaxgames.io._formats import suffix_of
from jaxgames.quoting import counted
from jaxgames.solution import Status
from jaxgames.synth import Circuit, Controller, Decomposition, Specification


def solved(args: argparse.Namespace, phase: Phases, asked: Decomposition) -> Exit:
    """Decides the parts, and prints and writes what was asked for."""
    with phase("solve") as notes:
        found = asked.solve(args.solver, max_steps=args.max_steps, throw=False)
        count = len(asked.parts)
        notes.append(f"{len(found.solutions)} of {counted(count, 'part')} decided")

    def is_right(circuit: Circuit) -> bool:
        # What is looked at is what is written.
        again = io.aiger.parse("the controller", io.aiger.dumps(circuit))
        return synth.verify(asked, again, realizable=bool(found.realizable))

    solutions = list(found.solutions.values())
    return told(
        args, phase, asked, found.realizable, solutions, found.circuit, is_right
    )


def told(
    args: argparse.Namespace,
    phase: Phases,
    asked: Decomposition | Specification,
    realizable: bool | None,
    solutions: list[synth.Solution],
    make: Callable[[], Any],
    is_right: Callable[[Any], bool],
) -> Exit:
    """Prints and writes what was found.

    Args:
        args: the command's.
        phase: its phases.
        asked: what was asked.
        realizable: whether there is a controller; None where that is undecided.
        solutions: of all parts that were solved.
        make: makes the machine of the winner, a controller or a circuit.
        is_right: checks it.
    """
    games = [one.game for one in solutions]
    if realizable is None:
        undecided = next(x for x in games if x.status != Status.SOLVED)
        _parts.lift_unless_solved(undecided)
        status = Status(int(undecided.status)).name.lower()
        if args.json:
            _report.show(args, {"status": status, "realizable": None})
        return _parts.not_solved(args, undecided)
    machine: Any = None
    verified, whole = None, args.json and args.all
    if args.output or args.verify or whole:
        with phase("controller") as notes:
            machine = make()
            is_circuit = isinstance(machine, Circuit)
            size = len(machine.following) if is_circuit else machine.num_states
            notes.append(counted(size, "latch" if is_circuit else "state"))
        with phase("verify") as notes:
            verified = is_right(machine)
            notes.append("valid" if verified else "WRONG")
        if verified and args.output:
            write(args.output, machine)
    asked_for = [one.specification for one in solutions]
    arenas = [one.arena() for one in asked_for]
    largest = max(zip(arenas, games, strict=True), key=lambda x: x[0].num_vertices)[1]
    solve = _parts.solve_facts(largest, phase.seconds, None)
    facts: dict[str, Any] = {
        "status": "solved",
        "realizable": realizable,
        "inputs": list(asked.inputs),
        "outputs": list(asked.outputs),
        "moore": asked.moore,
        "parts": len(asked.parts) if isinstance(asked, Decomposition) else 1,
        "automaton": {"states": sum(x.automaton.num_states for x in asked_for)},
        "vertices": sum(int(x.num_vertices) for x in arenas),
        "edges": sum(int(x.num_edges) for x in arenas),
        "controller": None,
        "seconds": dict(phase.seconds),
        "verified": verified,
        "solver": solve["solver"],
        "stats": solve["stats"],
    }
    if args.formulas is not None:
        facts["formula"] = args.formula
    if machine is not None:
        circuit, made = machine, {}
        if not isinstance(machine, Circuit):
            circuit, made = machine.circuit(), {"states": machine.num_states}
        made |= {"latches": len(circuit.following), "gates": len(circuit.gates)}
        facts["controller"] = made
        if whole and verified:
            facts["aag"] = io.aiger.dumps(circuit).decode()
    return _concluded(args, facts)


def _concluded(args: argparse.Namespace, facts: dict[str, Any]) -> Exit:
    """Prints what was found, and gives the exit code."""
    if args.json:
        _report.show(args, facts)
    elif not args.quiet:
        _parts.tell_stats(args, facts)
        word = "REALIZABLE" if facts["realizable"] else "UNREALIZABLE"
        print(f"{args.file}: {word}" if args.brief else word)
    if facts["verified"] is False:
        complain(f"{args.file}: the controller is wrong, and is not written")
        return Exit.UNVERIFIED
    return Exit.REALIZABLE if facts["realizable"] else Exit.UNREALIZABLE


def write(path: str, machine: Controller | Circuit) -> None:
    """Writes a machine in the format that the suffix says."""
    suffix = ".aag" if path == STDOUT else suffix_of(path)
    if suffix in (".ehoa", ".hoa", ".dot"):
        one = machine.controller() if isinstance(machine, Circuit) else machine
        if suffix == ".dot":
            text = one.to_dot()
        else:
            more = [io.ehoa.header(one)] if suffix == ".ehoa" else []
            text = io.hoa.dumps(one.automaton(), more=more)
        data = text.encode()
    else:
        data = io.aiger.dumps(machine, binary=suffix == ".aig")
    with writing(path) as file:
        file.write(data)
