"""Some hundred inputs of all slices, and every answer to them that is to stay.

An answer is here if its contract says which one it is, or if it has been the same on
every device, in every batch and in every layout: winners, and the strategy that a
solver breaks its ties for; credits, values, fronts, labels. Probabilities between zero
and one are not: the order of a sum may change their last bits.

Small inputs are padded to the sizes that the fuzzer's have, so that little is compiled.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from jaxgames import (
    Arena,
    buchi,
    discounted,
    emersonlei,
    energy,
    energyparity,
    equivalence,
    generate,
    graph,
    ltl,
    mdp,
    meanpayoff,
    multienergy,
    parity,
    systems,
)
from jaxgames.generate import protocols
from jaxgames.parity import preprocess
from jaxgames.testing import SLICES, _games
from jaxgames.testing._emersonlei import game_of as marked
from jaxgames.testing._equivalence import system_of
from jaxgames.testing._fuzz import draw
from jaxgames.testing._graph import masks
from jaxgames.testing._ltl import NAMES, system_for
from jaxgames.testing._mdp import SIZES, model_of
from jaxgames.testing._multienergy import game_of
from jaxgames.testing._words import Words

SEED = 19

Answer = Any
"""An array of integers or booleans, a number, or a text."""

Answers = dict[tuple[str, str], Answer]
"""By what was asked for, and the solver that was asked; "" where there is one."""

Frozen = Iterator[tuple[str, Answers]]
"""Answers by the name of the input."""


def drawn(
    slice_: str, count: int, size: int | None = None
) -> Iterator[tuple[str, Any]]:
    """Cases of the fuzzer; of another size than it draws now, where that is given."""
    subject = SLICES[slice_]()
    if size is not None:
        subject = dataclasses.replace(subject, size=size)
    for index in range(count):
        yield f"drawn {index}", draw(subject, SEED, index)


def whole(found: Any, size: int | None, *names: str) -> dict[str, np.ndarray]:
    """Arrays of an answer, without what belongs to padding."""
    return {name: np.asarray(getattr(found, name))[:size] for name in names}


def of_solvers(
    solve: Callable[[str], Mapping[str, Answer]], solvers: Iterable[str]
) -> Answers:
    """What each solver answers."""
    return {
        (name, solver): answer
        for solver in solvers
        for name, answer in solve(solver).items()
    }


COMPONENTS = "max_id", "fb_trim"
"""Those that there were; `graph/test_scc.py` compares all."""


def of_one(**answers: Answer) -> Answers:
    """What is asked of nobody in particular."""
    return {(name, ""): answer for name, answer in answers.items()}


def of_arena(arena: Arena) -> Answers:
    """What the input is: where it differs, answers may."""
    names = ("row_ptr", "dst", "owner", "priority", "edge_priority", "weight")
    parts = {name: getattr(arena, name, None) for name in names}
    parts["accepting"] = arena.accepting
    return of_one(**{f"input: {name}": x for name, x in parts.items() if x is not None})


# ---- parity --------------------------------------------------------------------

SMALL_GAMES = {
    "clique 7": lambda: generate.clique(7),
    "ladder 6": lambda: generate.ladder(6),
    "recursive ladder 2": lambda: generate.recursive_ladder(2),
    "model checker ladder 4": lambda: generate.model_checker_ladder(4),
    "hanoi 2": lambda: generate.hanoi(2),
    "jurdzinski 1 1": lambda: generate.jurdzinski(1, 1),
    "propagation 2 5": lambda: generate.propagation(2, 5),
}
"""Games that fit into the fuzzer's padded size."""

GAMES = {
    "elevator 3": lambda: generate.elevator(3),
    "elevator 3 unfair": lambda: generate.elevator(3, fair=False),
    "jurdzinski 4 5": lambda: generate.jurdzinski(4, 5),
    "recursive ladder 9": lambda: generate.recursive_ladder(9),
    "clustered 300": lambda: generate.clustered_game(1, 300),
    "random 500": lambda: generate.random_game(1, 500),
    "random 500 wide": lambda: generate.random_game(
        2, 500, num_priorities=200, min_degree=2, max_degree=3
    ),
    "propagation tree 6 3": lambda: generate.propagation_tree(6, 3),
}
"""Games for the host."""


def _parity(arena: Arena, size: int) -> Callable[[str], Mapping[str, Answer]]:
    return lambda solver: whole(parity.solve(arena, solver), size, "winner", "strategy")


def _reduced(arena: Arena) -> Callable[[str], Mapping[str, Answer]]:
    """Solves after a reduction."""

    def solve(reduction: str) -> Mapping[str, Answer]:
        found = parity.solve(arena, "host", preprocess=[reduction])
        answers = whole(found, arena.shape[0], "winner", "strategy")
        return {f"{name} after reducing": x for name, x in answers.items()}

    return solve


def parity_games() -> Frozen:
    """Who wins, and by which moves: of each solver, since several may win."""
    small = {name: make() for name, make in SMALL_GAMES.items()}
    small |= {name: case.arena for name, case in drawn("parity", 13)}
    for name, arena in small.items():
        (padded,), size = _games.padded([arena]), arena.shape[0]
        yield (
            name,
            {
                **of_arena(arena),
                **of_solvers(_parity(arena, size), ["host"]),
                **of_solvers(_parity(padded, size), parity.SOLVERS),
                **of_solvers(_reduced(arena), preprocess.REDUCTIONS),
                ("winner", "reference"): parity.reference.solve(arena).winner,
            },
        )
    for name, make in GAMES.items():
        arena = make()
        answers = of_solvers(_parity(arena, arena.shape[0]), ["host"])
        answers["winner", "reference"] = parity.reference.solve(arena).winner
        yield name, {**of_arena(arena), **answers}


def parity_on_edges() -> Frozen:
    """Games with priorities on edges."""
    for name, case in drawn("parity-edges", 10, size=12):
        arena = case.arena
        (padded,), size = _games.padded([arena]), arena.shape[0]
        yield (
            name,
            {
                **of_arena(arena),
                **of_solvers(_parity(arena, size), ["host"]),
                **of_solvers(_parity(padded, size), ["promotion", "zielonka"]),
            },
        )


# ---- energy and mean payoff ----------------------------------------------------

SMALL_ENERGY_GAMES = {
    "dense 9": lambda: generate.dense_energy_game(1, 9),
    "ring 12": lambda: generate.ring_energy_game(2, 12),
    "torus 3 4": lambda: generate.torus_energy_game(3, 3, 4),
    "one player 12": lambda: generate.one_player_energy_game(4, 12),
}

ENERGY_GAMES = {
    "hanoi 5": lambda: generate.hanoi_energy_game(5),
    "random 400": lambda: generate.random_energy_game(1, 400),
    "torus 20 20": lambda: generate.torus_energy_game(2, 20, 20),
    "one player 400": lambda: generate.one_player_energy_game(3, 400, player=1),
}

CREDITS = ("credit", "winner", "strategy")


def energy_games() -> Frozen:
    """Credits, winners and moves: the same of every solver."""
    small = {name: make() for name, make in SMALL_ENERGY_GAMES.items()}
    small |= {name: case.arena for name, case in drawn("energy", 14)}
    for name, arena in small.items():
        (padded,), size = _games.padded([arena]), arena.shape[0]

        def solve(solver, game=padded, size=size):
            return whole(energy.solve(game, solver), size, *CREDITS)

        capacity = 1 + int(np.abs(arena.weight).max())
        capped = energy.solve_with_capacity(arena, capacity, "host")
        yield (
            name,
            {
                **of_arena(arena),
                **of_solvers(solve, [*energy.SOLVERS, "host"]),
                **of_one(
                    **{
                        f"{key} with capacity": x
                        for key, x in whole(capped, size, *CREDITS).items()
                    }
                ),
            },
        )
    for name, make in ENERGY_GAMES.items():
        arena = make()
        found = energy.solve(arena, "host")
        yield (
            name,
            {
                **of_arena(arena),
                **of_one(**whole(found, arena.shape[0], *CREDITS)),
            },
        )


def mean_payoff_games() -> Frozen:
    """Values, and moves that attain them; what is at least zero."""
    made = {
        name: make()
        for name, make in (SMALL_ENERGY_GAMES | ENERGY_GAMES).items()
        if name != "torus 20 20"  # which takes long
    }
    made |= {name: case.arena for name, case in drawn("meanpayoff", 12)}
    for name, arena in made.items():
        found = meanpayoff.solve(arena, "host")
        decided = meanpayoff.decide(arena, 0, "host")
        size = arena.shape[0]
        yield (
            name,
            {
                **of_arena(arena),
                **of_one(**whole(found, size, "value_num", "value_den", "strategy")),
                **of_one(
                    **{
                        f"{key} at zero": x
                        for key, x in whole(decided, size, "winner", "strategy").items()
                    }
                ),
            },
        )


def games_of_several_energies() -> Frozen:
    """All minimal budgets."""
    for name, case in drawn("multienergy", 12):
        game = game_of(case)

        right = multienergy.reference.solve(game)

        def solve(solver, game=game):
            found = multienergy.solve(game, solver)
            return {"offsets": found.offsets, "budgets": found.points}

        yield (
            name,
            {
                **of_one(
                    **{"input: targets": game.targets, "input: updates": game.delta}
                ),
                **of_solvers(solve, ["host"]),
                ("budgets", "reference"): str(list(map(sorted, right))),
            },
        )


# ---- more conditions -----------------------------------------------------------


def games_of_energy_and_parity() -> Frozen:
    """Winners, moves of player 1, energy that is enough, and modes."""
    for name, case in drawn("energyparity", 12):
        arena = case.arena
        found = energyparity.solve(arena, "host")
        size = arena.shape[0]
        yield (
            name,
            {
                **of_arena(arena),
                **of_one(**whole(found, size, "winner", "strategy", "credit")),
                **of_one(**whole(found.modes, None, "level", "move", "earn")),
            },
        )


def games_of_marks() -> Frozen:
    """Winners, and machines, with a product and without."""
    for name, case in drawn("emersonlei", 12):
        game = marked(case)

        def solve(solver, game=game):
            found = emersonlei.solve(game, solver)
            machine = whole(found.machine, None, "vertex", "memory", "move")
            return {"winner": found.winner, **machine}

        yield (
            name,
            {
                **of_arena(game.arena),
                **of_one(
                    **{"input: marks": game.marks(), "input": str(game.condition)}
                ),
                **of_solvers(solve, ["host", "recursion"]),
            },
        )


def discounted_games() -> Frozen:
    """The moves; bounds are sums of floating numbers."""
    for name, case in drawn("discounted", 12):
        arena = case.arena
        found = discounted.solve(arena, 0.75, "host")
        yield (
            name,
            {**of_arena(arena), **of_one(**whole(found, None, "strategy"))},
        )


# ---- graphs --------------------------------------------------------------------


def graphs() -> Frozen:
    """Components, and what is asked of graphs besides."""
    for name, case in drawn("scc", 16):
        arena, (vertices, edges) = case.arena, masks(case)
        (padded,), size = _games.padded([arena]), case.size
        more = (len(padded.owner) - size, len(padded.dst) - len(case.dst))
        there: Any = {"vertices": vertices, "edges": edges}
        wide: Any = {
            "vertices": np.pad(vertices, (0, more[0])),
            "edges": np.pad(edges, (0, more[1])),
        }

        def solve(solver, game=padded, there=wide, size=size):
            found = graph.scc(game, solver, **there)
            return {"count": int(found.count), **whole(found, size, "labels")}

        goal = case.vertex["goal"] > 0
        answers: Answers = {}
        for player in (0, 1):

            def attract(engine, wide=padded, goal=goal, player=player, size=size):
                target = np.pad(goal, (0, len(wide.owner) - size))
                found = graph.attractor(wide, target, player, engine=engine)
                answers = whole(found, size, "mask", "strategy")
                return {f"attractor of {player}: {x}": y for x, y in answers.items()}

            answers |= of_solvers(attract, ["host", "device"])
        small = graph.condensation(arena, **there)
        yield (
            name,
            {
                **of_arena(arena),
                **of_solvers(solve, [*COMPONENTS, "host"]),
                ("labels", "reference"): graph.reference.scc(arena, **there)[1],
                **of_one(
                    reachable=graph.reachable(arena, [0], engine="host", **there),
                    backward=graph.reachable(
                        arena, [0], backward=True, engine="host", **there
                    ),
                    bottom=graph.bottom_sccs(arena, **there),
                    trivial=graph.is_trivial(arena, **there),
                    order=small.order,
                    edge=small.edge,
                ),
                **answers,
            },
        )
    for name, make in GAMES.items():
        arena = make()
        found = graph.scc(arena, "host")
        yield name, {**of_arena(arena), **of_one(labels=found.labels)}


# ---- Markov decision processes -------------------------------------------------

MODELS = {
    "ladder 40": lambda: generate.ladder_mdp(40),
    "chain 60": lambda: generate.chain_mdp(60),
    "torus 6 7": lambda: generate.torus_mdp(6, 7),
    "random 200": lambda: generate.random_mdp(1, 200),
    "random 200 loops": lambda: generate.random_mdp(2, 200, reach=5, loop_share=0.3),
}


def end_components() -> Frozen:
    """Maximal end components, and the models whose components are made one state."""
    small = {name: model_of(case) for name, case in drawn("mec", 12)}
    for name, model in {**small, **{n: make() for n, make in MODELS.items()}}.items():
        on_device = mdp.SOLVERS if name in small else ()

        def solve(solver, model=model):
            wide = model if solver == "host" else model.pad(*SIZES)
            found = mdp.mec(wide, solver)
            states, choices = model.num_states, model.num_choices
            return {
                "count": int(found.count),
                **whole(found, states, "state_label"),
                **whole(found, choices, "choice_kept"),
            }

        parts = mdp.mec(model, "host")
        small_one = mdp.quotient(model, parts)
        yield (
            name,
            {
                **of_one(**{"input: columns": model.columns}),
                **of_solvers(solve, [*on_device, "host"]),
                ("state_label", "reference"): mdp.reference.mec(model).state_label,
                **of_one(
                    **{
                        "quotient: state": small_one.new_state,
                        "quotient: choice": small_one.old_choice,
                        "quotient: columns": small_one.model.columns,
                    }
                ),
            },
        )


def reachability() -> Frozen:
    """Where probabilities are zero or one, and schedulers that see to that."""
    asked = {
        name: (model_of(case), case.vertex["target"] > 0, case.vertex["there"] > 0)
        for name, case in drawn("reach", 12)
    }
    for name, make in MODELS.items():
        model = make()
        every = np.arange(model.num_states)
        asked[name] = model, every % 17 == 3, every % 11 != 5
    for name, (model, target, passed) in asked.items():
        answers: Answers = {}
        for goal, optimum in itertools.product((0, 1), ("min", "max")):
            ask = (mdp.prob0, mdp.prob1)[goal]
            region = ask(model, target, optimum, states=passed, engine="host")
            what = f"probability {goal} ({optimum})"
            answers[what, ""] = region.states
            if region.scheduler is not None:
                answers[f"scheduler, {what}", ""] = region.scheduler
        again = mdp.almost_sure_buchi(model, target, engine="host")
        if name.startswith("drawn"):
            for optimum in ("min", "max"):
                bounds = mdp.reach_probability(model, target, optimum, states=passed)
                answers[f"exactly zero ({optimum})", ""] = bounds.upper == 0
                answers[f"exactly one ({optimum})", ""] = bounds.lower == 1
        yield (
            name,
            {
                **of_one(**{"input: columns": model.columns, "input: target": target}),
                **answers,
                **of_one(
                    **{
                        "almost sure repetition": again.states,
                        "scheduler, almost sure repetition": again.scheduler,
                    }
                ),
            },
        )


# ---- accepting cycles, Büchi games, formulas -----------------------------------


def lasso(found: Any) -> Mapping[str, Answer]:
    """The answer, and the lasso as text."""
    shown = found.lasso
    text = "none"
    if shown is not None:
        text = f"{shown.prefix.tolist()} {shown.cycle.tolist()}"
    return {"exists": bool(found.exists), "lasso": text}


def accepting_cycles() -> Frozen:
    """Whether there is an accepting cycle, and which lasso a solver shows."""
    for name, case in drawn("cycles", 16):
        arena = case.arena
        accepting = case.vertex["accepting"] > 0
        initial = np.flatnonzero(case.vertex["initial"])
        (padded,) = _games.padded([arena])
        wide = np.pad(accepting, (0, len(padded.owner) - case.size))

        def solve(solver, arena=padded, accepting=wide, initial=initial):
            return lasso(
                buchi.accepting_cycle(
                    arena, accepting=accepting, initial=initial, solver=solver
                )
            )

        right = buchi.reference.accepting_cycle(arena, accepting, initial)
        yield (
            name,
            {
                **of_arena(arena),
                **of_one(**{"input: accepting": accepting, "input: initial": initial}),
                **of_solvers(solve, ["host", "map", "owcty", "scc"]),
                ("exists", "reference"): right is not None,
            },
        )


def buchi_games() -> Frozen:
    """Who can visit accepting vertices for ever: the same of every engine."""
    for name, case in drawn("buchi", 12):
        (padded,), size = _games.padded([case.arena]), case.size

        def solve(solver, game=padded, size=size):
            return whole(buchi.solve(game, solver), size, "winner", "strategy")

        yield (
            name,
            {
                **of_arena(case.arena),
                **of_solvers(solve, [*buchi.GAME_SOLVERS, "host"]),
            },
        )


def formulas() -> Frozen:
    """Automata by their sizes and short words, products by all that they are."""
    for name, formula in drawn("ltl", 20):
        answers: Answers = {("input: formula", ""): str(formula)}
        for generalised in (False, True):
            made = ltl.translate(formula, generalised=generalised, propositions=NAMES)
            kind = "generalised" if generalised else "automaton"
            sizes = made.num_states, made.num_edges, made.num_sets
            answers[f"{kind}: states, edges, sets", ""] = np.array(sizes)
            for length in (1, 2, 3):
                words = Words(NAMES, length).accepted(made)
                answers[f"{kind}: words of {length}", ""] = words
        product = systems.product(
            system_for(formula), ltl.translate(formula), engine="host"
        )
        answers["product: offsets", ""] = product.offsets
        answers["product: targets", ""] = product.targets
        answers["product: accepting", ""] = product.accepting
        answers |= of_one(**lasso(buchi.accepting_cycle(product, solver="host")))
        yield name, answers


def state_spaces() -> Frozen:
    """Models that are explored: states in the order in which they are found."""
    for name, model in {
        "phils 4": protocols.phils(4),
        "peterson 3": protocols.peterson(3),
    }.items():
        system = model.explore()
        answers = of_one(
            states=system.num_states,
            offsets=system.offsets,
            targets=system.targets,
            labels=system.labels,
        )
        for key, formula in model.properties.items():
            automaton = ltl.translate(formula, negate=True)
            product = systems.product(system, automaton, engine="host")
            found = lasso(buchi.accepting_cycle(product, solver="host"))
            answers |= {(f"{key}: {part}", ""): x for part, x in found.items()}
        yield name, answers


# ---- processes -----------------------------------------------------------------


def processes() -> Frozen:
    """Which processes are the same by which notion, and what tells them apart."""
    for name, case in drawn("equivalence", 8):
        lts = system_of(case)
        spectrum = equivalence.spectrum(lts)
        answers = of_one(
            **{
                "input: targets": case.dst,
                "input: actions": case.edge["action"],
                "bisimulation": equivalence.bisimulation(lts, "host").labels,
                "pairs": spectrum.pairs,
                "apart": spectrum.apart,
            }
        )
        pairs = [(0, 1), (1, 0), (0, lts.num_states - 1)]
        for pair, found in zip(
            pairs, equivalence.compare_many(lts, pairs), strict=True
        ):
            answers[f"budgets of {pair}", ""] = str(found.budgets)
            told = [str(found.formula(notion)) for notion in found]
            answers[f"formulas of {pair}", ""] = "; ".join(told)
        weak = equivalence.compare_many_weak(lts, pairs)
        for pair, found in zip(pairs, weak, strict=True):
            answers[f"weak notions of {pair}", ""] = np.array(list(found.values()))
        yield name, answers


# ---- in slices -----------------------------------------------------------------

SLICED = 40_000
"""Edges, or branches, of inputs that are large enough for slices by degree."""


def sliced() -> Frozen:
    """What solvers of the device answer where rows are sorted into slices."""
    game = generate.random_game(3, SLICED // 2, num_priorities=6, max_degree=4)
    yield (
        "parity",
        {
            **of_arena(game),
            **of_solvers(
                _parity(game, game.shape[0]), ["promotion", "zielonka", "fpi"]
            ),
        },
    )
    arena = generate.random_energy_game(3, SLICED // 2, max_weight=120)

    def credits(solver):
        return whole(energy.solve(arena, solver), arena.shape[0], *CREDITS)

    yield "energy", {**of_arena(arena), **of_solvers(credits, energy.SOLVERS)}

    def components(solver):
        found = graph.scc(game, solver)
        return {"count": int(found.count), "labels": np.asarray(found.labels)}

    yield "components", of_solvers(components, COMPONENTS)
    model = generate.random_mdp(3, SLICED // 4, reach=40, loop_share=0.2)

    def parts(solver):
        return whole(mdp.mec(model, solver), None, "state_label", "choice_kept")

    yield (
        "end components",
        {
            **of_one(**{"input: columns": model.columns}),
            **of_solvers(parts, mdp.SOLVERS),
        },
    )
    accepting = np.arange(game.shape[0]) % 37 == 5

    def cycle(solver):
        return lasso(buchi.accepting_cycle(game, accepting=accepting, solver=solver))

    yield "accepting cycles", of_solvers(cycle, ["map", "owcty", "scc"])


GROUPS: Mapping[str, Callable[[], Frozen]] = {
    "parity": parity_games,
    "parity on edges": parity_on_edges,
    "energy": energy_games,
    "mean payoff": mean_payoff_games,
    "several energies": games_of_several_energies,
    "energy and parity": games_of_energy_and_parity,
    "marks": games_of_marks,
    "discounted": discounted_games,
    "graphs": graphs,
    "end components": end_components,
    "reachability": reachability,
    "accepting cycles": accepting_cycles,
    "Büchi games": buchi_games,
    "formulas": formulas,
    "state spaces": state_spaces,
    "processes": processes,
    "slices": sliced,
}
"""What makes the answers of each kind of input."""

LONG = ("slices",)
"""Groups that compile for long."""
