"""Several objectives on the command line: what `jaxgames mdp` says of a front."""

import argparse
from typing import Any

import numpy as np

from jaxgames import mdp
from jaxgames.cli import _parts
from jaxgames.cli._exit import Exit, complain
from jaxgames.cli._phases import Phases
from jaxgames.io._files import writing
from jaxgames.quoting import counted
from jaxgames.solution import Status


def answered(
    args: argparse.Namespace,
    phase: Phases,
    name: str,
    model: mdp.MDP,
    asked: mdp.Property,
    constants: dict[str, Any],
) -> tuple[Any, Any, Exit]:
    """The front, what verification says of it, and how it ends."""
    verdict = None
    with phase(name) as notes:
        try:
            how = {"epsilon": args.epsilon, "exact": args.exact, "throw": False}
            found = mdp.pareto(model, asked, constants=constants, **how)
        except mdp.PropertyError as error:
            raise ValueError(f"'{asked}': {error}") from None
        if found.status not in (Status.SOLVED, Status.PRECISION):
            _parts.lift_unless_solved(found)
            return None, None, _parts.not_solved(args, found)
        if found.points is None:  # too stiff for float64, and too large for fractions
            return None, None, Exit.UNSOLVED
        notes.append(f"{len(found.points)} schedulers")
    if args.verify:
        with phase(name.replace("solve", "verify")) as notes:
            try:
                verdict = mdp.verify_pareto(model, asked, found, constants=constants)
            except ValueError as error:  # it would take too long
                complain(f"{args.file}: {asked}: not verified: {error}")
            else:
                notes.append("valid" if verdict else "WRONG")
        if verdict is not None and not verdict:
            complain(f"{args.file}: {asked}: the answer is wrong: {verdict}")
            return found, verdict, Exit.UNVERIFIED
    if found.status == Status.PRECISION:
        return found, verdict, Exit.UNSOLVED
    wrong = found.achievable is False or _is_empty(found)
    return found, verdict, Exit.WRONG if wrong else Exit.DONE


def _is_empty(found: mdp.Front) -> bool:
    return found.kind == "numerical" and bool(np.isnan(found.upper))


def facts(args: argparse.Namespace, found: mdp.Front, verdict: Any) -> dict[str, Any]:
    """What is told of a front."""
    told: dict[str, Any] = {
        "status": Status(int(found.status)).name.lower(),
        "kind": found.kind,
        "value": None,
        "verified": None if verdict is None else bool(verdict),
        "solver": found.stats["solver"],
        "stats": {k: v for k, v in found.stats.items() if k != "solver"},
        "points": found.points.tolist(),
        "vertices": found.vertices.tolist(),
        "weights": found.weights.tolist(),
        "bounds": found.bounds.tolist(),
        "senses": found.senses.tolist(),
    }
    if found.kind == "achievability":
        told |= {"value": found.achievable}
        told |= {"lower": float(found.achievable is True)}
        told |= {"upper": float(found.achievable is not False)}
        if found.achievable:
            told["mixture"] = found.mix(found.goals)[0].tolist()
    elif found.kind == "numerical":
        if _is_empty(found):
            told |= {"value": "impossible", "lower": None, "upper": None}
        else:
            middle = found.lower + (found.upper - found.lower) / 2
            told |= {"value": middle, "lower": found.lower, "upper": found.upper}
            if args.exact:
                told["exact"] = None if found.exact is None else str(found.exact)
    else:
        told["corners"] = found.corners.tolist()
        told["front"] = found.points[found.vertices].tolist()
    if args.all:
        told["schedulers"] = found.schedulers.tolist()
        told["states"] = found.states.tolist()
        told["memory"] = found.memory.tolist()
    return told


def listed(told: dict[str, Any]) -> str:
    """The vertices of a front in a line."""
    points = ["(" + ", ".join(f"{x:.9g}" for x in row) + ")" for row in told["front"]]
    many = "a vertex" if len(points) == 1 else counted(len(points), "vertex")
    return f"{many}: {' '.join(points)}"


def write(path: str, found: mdp.Front) -> None:
    """The arrays of a front, as `.npz`; another path is refused."""
    if not path.endswith(".npz"):
        raise ValueError(f"a front is written as .npz, got {path}")
    names = ("points", "schedulers", "vertices", "weights", "bounds", "potentials")
    names += ("states", "memory", "senses", "goals")
    with writing(path) as file:
        np.savez(file, **{name: getattr(found, name) for name in names})
