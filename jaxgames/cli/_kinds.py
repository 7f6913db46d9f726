"""What checks each kind of answer, and how it is told from its names.

What checks a kind is imported when there is an answer of that kind.
"""

import argparse
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from jaxgames import io
from jaxgames.cli import _kinds_models as models
from jaxgames.cli._answers import Answer, narrow, of_vertices, strategy_of
from jaxgames.cli._games import counts
from jaxgames.quoting import clipped, quoted
from jaxgames.solution import Status


def check(args: argparse.Namespace, answer: Answer) -> tuple[str, dict[str, int], Any]:
    """Reads the game, the graph or the model that an answer is about, and checks it.

    Returns:
        What kind of answer it is, how large what it is about is, and the verdict.

    Raises:
        FormatError: one of the files is not what it should be.
        ValueError: nothing checks such an answer.
    """
    names = answer.arrays.keys()
    if answer.command == "solve" and names:
        return "parity game", *_parity(args, answer)
    if args.notion is not None and names <= {"labels", "column", "notion", "count"}:
        return "classes", *models.classes(args, answer)
    for needed, kind, checks in _KINDS:
        if needed <= names:
            sizes, verdict = checks(args, answer)
            return kind, sizes, verdict
    there = clipped(", ".join(sorted(names))) or "nothing"
    known = "; ".join(f"{kind} ({', '.join(sorted(x))})" for x, kind, _ in _KINDS)
    raise answer.fail(f"nothing checks an answer of {there}; what is checked: {known}")


def _parity(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import parity
    from jaxgames.cli._games import load_parity

    arena = load_parity(args)
    strategy = strategy_of(answer, arena)
    if strategy is None or "winner" not in answer.arrays:
        raise answer.fail(
            "the check needs winners and successors: print both with --all"
        )
    (winner,) = of_vertices(answer, arena.shape[0], "winner")
    solution = parity.Solution(
        Status.SOLVED, winner=narrow(winner, np.int8), strategy=strategy
    )
    return counts(arena), parity.verify(arena, solution)


def _energy(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import energy
    from jaxgames.cli import _weighted

    arena = _weighted.load_weighted(args)
    credit, winner = of_vertices(answer, arena.shape[0], "credit", "winner")
    solution = energy.Solution(
        Status.SOLVED,
        credit=narrow(credit, np.int64),
        winner=narrow(winner, np.int8),
        strategy=strategy_of(answer, arena),
    )
    if args.capacity is None:
        return counts(arena), _weighted.verify_credits(arena, solution)
    if len(args.capacity) != 1:
        raise ValueError("--capacity of an energy game is one number")
    verdict = energy.verify_with_capacity(arena, solution, args.capacity[0])
    return counts(arena), verdict


def _mean_payoff(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import meanpayoff
    from jaxgames.cli import _weighted

    arena = _weighted.load_weighted(args)
    num, den = of_vertices(answer, arena.shape[0], "value_num", "value_den")
    solution = meanpayoff.Solution(
        Status.SOLVED,
        value_num=num,
        value_den=den,
        strategy=strategy_of(answer, arena),
    )
    return counts(arena), meanpayoff.verify(arena, solution)


def _energy_parity(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import energyparity
    from jaxgames.cli import _energyparity

    arena = _energyparity.load_game(args)
    if args.threshold is not None:
        arena = energyparity.from_mean_payoff_parity(arena, args.threshold)
    winner, enough = of_vertices(answer, arena.shape[0], "winner", "enough")
    strategy = strategy_of(answer, arena)
    fields = [field.name for field in dataclasses.fields(energyparity.Modes)]
    missing = [name for name in fields if f"modes_{name}" not in answer.arrays]
    if strategy is None or missing:
        raise answer.fail(
            "the check needs the strategies of both players, and they are missing: "
            "write .npz"
        )
    modes = {name: answer.arrays[f"modes_{name}"] for name in fields}
    for name, array in modes.items():
        if array.dtype.kind == "U":  # what needs more than 64 bits
            (modes[name],) = of_vertices(answer, len(array), f"modes_{name}")
    solution = energyparity.Solution(
        Status.SOLVED,
        winner=narrow(winner, np.int8),
        strategy=strategy,
        credit=enough,
        modes=energyparity.Modes(**modes),
    )
    return counts(arena), answer.judged(energyparity.verify, arena, solution)


def _machine(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import emersonlei
    from jaxgames.io import hoa_game

    game = hoa_game.load(args.file)
    (winner,) = of_vertices(answer, game.shape[0], "winner")
    fields = [field.name for field in dataclasses.fields(emersonlei.Machine)]
    machine = emersonlei.Machine(**{name: answer.arrays[name] for name in fields})
    solution = emersonlei.Solution(
        Status.SOLVED, winner=narrow(winner, np.int8), machine=machine
    )
    return counts(game.arena), answer.judged(emersonlei.verify, game, solution)


def _discounted(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import discounted
    from jaxgames.cli import _weighted

    if args.discount is None:
        raise ValueError(
            "values were found with --discount: name the factor again, such as 9/10"
        )
    arena = _weighted.load_weighted(args)
    solution = discounted.Solution(
        Status.SOLVED,
        lower=answer.arrays["lower"],
        upper=answer.arrays["upper"],
        strategy=strategy_of(answer, arena),
    )
    verdict = answer.judged(discounted.verify, arena, args.discount, solution)
    return counts(arena), verdict


def _buchi_game(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import buchi
    from jaxgames.cli import _buchi

    if io.format_of(args.file, format=args.format) == "hoa":
        raise answer.fail(
            "the check needs strategies, and the file has only winners: write .npz"
        )
    arena = _buchi.load_game(args)
    (winner,) = of_vertices(answer, arena.shape[0], "winner")
    strategy = strategy_of(answer, arena)
    if strategy is None:
        raise answer.fail("the check needs strategies, and the file has only winners")
    solution = buchi.Solution(
        Status.SOLVED, winner=narrow(winner, np.int8), strategy=strategy
    )
    return counts(arena), buchi.verify(arena, solution)


def _budgets(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import multienergy
    from jaxgames.cli import _multienergy

    _allow_dead_ends(args)
    args.cap = args.capacity
    game = _multienergy.load(args)
    size = game.num_positions
    points = narrow(answer.arrays["points"], np.int64)
    if "vertex" in answer.arrays:
        vertex = narrow(answer.arrays["vertex"], np.int64)
        for wrong, why in (
            (
                (vertex < 0) | (vertex >= size),
                f"expected a vertex from 0 to {size - 1}",
            ),
            (np.diff(vertex, prepend=0) < 0, "vertices must ascend"),
        ):
            if wrong.any():
                raise answer.fail(why, int(np.argmax(wrong)))
        offsets = np.searchsorted(vertex, np.arange(size + 1))
    else:
        offsets = narrow(answer.arrays["offsets"], np.int64)
    verdict = answer.judged(multienergy.verify, game, (offsets, points))
    return {"vertices": size, "edges": game.num_edges}, verdict


def _components(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import graph
    from jaxgames.cli import _scc

    is_model = io.format_of(args.file, format=args.format) in ("umb", "drn", "tra")
    if is_model and "column" in answer.arrays:
        raise answer.fail(
            "for a model a text does not say whether these are end components: write "
            ".npz"
        )
    _allow_dead_ends(args)
    arena, _ = _scc.load(args)
    name = "labels" if "labels" in answer.arrays else "column"
    (labels,) = of_vertices(answer, arena.shape[0], name)
    labels = narrow(labels, np.int32)
    count = np.asarray(answer.arrays.get("count", labels.max(initial=-1) + 1))
    if count.shape or count.dtype.kind not in "iu":
        raise answer.fail(f"count must be an integer, got {quoted(count)}")
    found = graph.Components(
        Status.SOLVED, count=narrow(count, np.int32), labels=labels
    )
    return counts(arena), graph.verify(arena, found)


def _reached(args: argparse.Namespace, answer: Answer) -> Any:
    from jaxgames import graph
    from jaxgames.cli import _reach, _vertices

    if args.to is None and args.begin is None:
        raise ValueError(
            "what is reached was found with --to, --from and --player: name them again"
        )
    _allow_dead_ends(args)
    arena, _ = _reach.load(args)
    (column,) = of_vertices(answer, arena.shape[0], "reached")
    if not np.isin(column, (0, 1)).all():
        raise answer.fail("reached must be 0 or 1")
    mask = column.astype(bool)
    backward = args.to is not None
    option, text = ("--to", args.to) if backward else ("--from", args.begin)
    asked = _vertices.mask(option, text or "", arena.shape[0])
    if args.player is None:
        verdict = graph.verify_reachable(arena, mask, asked, backward=backward)
        return counts(arena), verdict
    if args.player > 1:
        raise ValueError(f"--player: there are players 0 and 1, got {args.player}")
    if not backward or "rank" not in answer.arrays:
        raise answer.fail("an attractor needs --to, and ranks in the file")
    (rank,) = of_vertices(answer, arena.shape[0], "rank")
    strategy = strategy_of(answer, arena)
    if strategy is None:
        raise answer.fail("the check needs successors, and the file has only ranks")
    found = graph.Attractor(mask, strategy, narrow(rank, np.int64))
    return counts(arena), graph.verify_attractor(arena, found, asked, args.player)


_KINDS: tuple[tuple[set[str], str, Callable[[argparse.Namespace, Answer], Any]], ...]
_KINDS = (
    ({"credit", "winner"}, "energy game", _energy),
    ({"value_num", "value_den"}, "mean-payoff game", _mean_payoff),
    ({"enough", "winner"}, "energy parity game", _energy_parity),
    (
        {"winner", "vertex", "memory", "start", "row_ptr", "target", "move"},
        "game of marks",
        _machine,
    ),
    ({"lower", "upper", "successor"}, "discounted game", _discounted),
    ({"lower", "upper", "value"}, "probabilities", models.probabilities),
    ({"lower", "upper"}, "values of a property", models.values),
    ({"zero", "one"}, "probabilities of zero and one", models.regions),
    ({"one"}, "visits for ever", models.regions),
    ({"winner"}, "Büchi game", _buchi_game),
    ({"offsets", "points"}, "game of several energies", _budgets),
    ({"vertex", "points"}, "game of several energies", _budgets),
    ({"state_label", "choice_kept"}, "end components", models.end_components),
    ({"prefix", "cycle"}, "lasso", models.lasso),
    ({"reached"}, "what is reached", _reached),
    ({"labels", "notion"}, "classes", models.classes),
    ({"labels"}, "components", _components),
    ({"column"}, "components", _components),
)
"""By the names in a file what it is an answer to, and what checks it."""


def _allow_dead_ends(args: argparse.Namespace) -> None:
    if args.dead_ends == "error":
        args.dead_ends = "allow"
