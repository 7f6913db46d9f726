"""`jaxgames synth` of formulas that fall into independent parts."""

import argparse
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
from jaxgames.synth import Circuit, Controller, Decomposition


def solved(args: argparse.Namespace, phase: Phases, asked: Decomposition) -> Exit:
    """Decides the parts, and prints and writes what was asked for."""
    with phase("solve") as notes:
        found = asked.solve(args.solver, max_steps=args.max_steps, throw=False)
        count = len(asked.parts)
        notes.append(f"{len(found.solutions)} of {counted(count, 'part')} decided")
    games = [one.game for one in found.solutions.values()]
    if found.realizable is None:
        undecided = next(x for x in games if x.status != Status.SOLVED)
        _parts.lift_unless_solved(undecided)
        status = Status(int(undecided.status)).name.lower()
        if args.json:
            _report.show(args, {"status": status, "realizable": None})
        return _parts.not_solved(args, undecided)
    circuit, verified, made = None, None, None
    whole, text = args.json and args.all, b""
    if args.output or args.verify or whole:
        with phase("controller") as notes:
            circuit = found.circuit()
            notes.append(counted(len(circuit.following), "latch"))
        with phase("verify") as notes:
            # What is looked at is what is written.
            text = io.aiger.dumps(circuit)
            again = io.aiger.parse("the controller", text)
            verified = synth.verify(asked, again, realizable=found.realizable)
            notes.append("valid" if verified else "WRONG")
        if verified and args.output:
            write(args.output, circuit)
        made = {"latches": len(circuit.following), "gates": len(circuit.gates)}
    asked_for = [one.specification for one in found.solutions.values()]
    arenas = [one.arena() for one in asked_for]
    largest = max(zip(arenas, games, strict=True), key=lambda x: x[0].num_vertices)[1]
    told = _parts.solve_facts(largest, phase.seconds, None)
    facts: dict[str, Any] = {
        "status": "solved",
        "realizable": found.realizable,
        "inputs": list(asked.inputs),
        "outputs": list(asked.outputs),
        "moore": asked.moore,
        "parts": count,
        "automaton": {"states": sum(x.automaton.num_states for x in asked_for)},
        "vertices": sum(int(x.num_vertices) for x in arenas),
        "edges": sum(int(x.num_edges) for x in arenas),
        "controller": made,
        "seconds": dict(phase.seconds),
        "verified": verified,
        "solver": told["solver"],
        "stats": told["stats"],
    }
    if whole and verified:
        facts["aag"] = text.decode()
    return concluded(args, facts)


def concluded(args: argparse.Namespace, facts: dict[str, Any]) -> Exit:
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
