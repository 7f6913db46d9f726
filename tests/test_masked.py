"""Masked arrays of NumPy: what is behind the mask is never taken for an entry."""

import dataclasses

import numpy as np
import pytest

from jaxgames import (
    Arena,
    buchi,
    discounted,
    emersonlei,
    energy,
    energyparity,
    equivalence,
    graph,
    io,
    ltl,
    mdp,
    multienergy,
    parity,
    systems,
)


def masked(values):
    """The first entry is masked."""
    values = np.asarray(values)
    mask = np.zeros(values.shape, bool)
    mask.flat[0] = True
    return np.ma.array(values, mask=mask)


EDGES = {
    "src": [0, 1],
    "dst": [1, 0],
    "owner": [0, 1],
    "priority": [0, 1],
    "weight": [[1, 2], [3, 4]],
    "accepting": [0, 1],
}
ROWS = {"row_ptr": [0, 1, 2], **{k: x for k, x in EDGES.items() if k != "src"}}
MODEL = {
    "row_group_offsets": [0, 1, 2],
    "row_offsets": [0, 1, 2],
    "columns": [0, 1],
    "probs": [1.0, 1.0],
}
MORE = {
    "labels": {"a": masked([1, 0])},
    "choice_labels": {"go": masked([1, 0])},
    "choice_rewards": {"cost": masked([1.0, 2.0])},
    "valuations": {"x": masked([1, 2])},
    "initial": masked([0, 1]),
}
ENERGIES = {
    "offsets": [0, 1, 1],
    "targets": [1],
    "update_id": [0],
    "defender": [False, True],
}
ARENA = Arena.from_edges(
    [0, 1], [1, 0], owner=[0, 1], priority=[0, 1], weight=[1, 2], accepting=[0, 1]
)
CHAIN = mdp.MDP.from_arrays(**MODEL, labels={"a": [1, 0]})
GAME = mdp.Game(CHAIN, np.array([0, 1]))
BUDGETS = multienergy.Game.from_arrays(**ENERGIES, updates=[[-1]])
FRONTS = [0, 1, 2], [[1], [0]]
INF = emersonlei.inf(0)
STEP = io.LTS.from_edges([0], ["a"], [1])
WON = parity.solve(ARENA)
BOTH = np.array([True, True])
STREETT = emersonlei.Game.streett(ARENA, [([0], [1])])


def spoilt(found, *path):
    """A part of an answer masked: the first names lead to what holds it."""
    first, *inner = path
    part = getattr(found, first)
    part = spoilt(part, *inner) if inner else masked(part)
    if isinstance(found, tuple):
        return found._replace(**{first: part})
    return dataclasses.replace(found, **{first: part})


VERIFIED = {
    "discounted": (
        lambda: discounted.solve(ARENA, 0.5),
        lambda found: discounted.verify(ARENA, 0.5, found),
        [("lower",), ("upper",), ("strategy",)],
    ),
    "energyparity": (
        lambda: energyparity.solve(ARENA),
        lambda found: energyparity.verify(ARENA, found),
        [("credit",), *(("modes", x) for x in ("core", "move", "is_top", "need"))],
    ),
    "emersonlei": (
        lambda: emersonlei.solve(STREETT),
        lambda found: emersonlei.verify(STREETT, found),
        [("machine", x) for x in ("vertex", "memory", "start", "target", "move")],
    ),
    "stochastic game": (
        lambda: mdp.solve_game(GAME, [0]),
        lambda found: mdp.verify_game(GAME, [0], found),
        [("lower",), ("upper",), ("strategy",)],
    ),
    "rewards": (
        lambda: mdp.solve_reward_game(GAME, [0.0, 1.0], [0]),
        lambda found: mdp.verify_reward_game(GAME, [0.0, 1.0], found, [0]),
        [("lower",), ("upper",), ("strategy",)],
    ),
    "attractor": (
        lambda: graph.attractor(ARENA, BOTH, player=0),
        lambda found: graph.verify_attractor(ARENA, found, BOTH, player=0),
        [("mask",), ("rank",), ("strategy",)],
    ),
    "play": (
        lambda: energy.solve(ARENA),
        lambda found: energy.play(ARENA, found, 0, 0, 3),
        [("strategy",)],
    ),
}
"""Solutions, what verifies them, and their parts: paths of names."""


def arena_of(given: dict) -> Arena:
    """By the constructor that takes these."""
    make = Arena.from_edges if "src" in given else Arena.from_csr
    first = given.pop("src", None)
    if first is None:
        first = given.pop("row_ptr")
    return make(first, given.pop("dst"), **given)


DOORS = {
    **{
        f"arena {'rows' if 'row_ptr' in given else 'edges'} {name}": (
            lambda given=given, name=name: arena_of(given | {name: masked(given[name])})
        )
        for given in (EDGES, ROWS)
        for name in given
    },
    "arena by hand": lambda: dataclasses.replace(ARENA, owner=masked(BOTH)),
    "graph offsets": lambda: graph.scc((masked([0, 1, 2]), [1, 0])),
    "graph targets": lambda: graph.scc(([0, 1, 2], masked([1, 0]))),
    "vertices": lambda: graph.scc(ARENA, vertices=masked(BOTH)),
    "edges": lambda: graph.scc(ARENA, edges=masked(BOTH)),
    "reached from": lambda: graph.reachable(ARENA, masked([0, 1])),
    "attracted to": lambda: graph.attractor(ARENA, masked(BOTH), player=0),
    "components": lambda: graph.bottom_sccs(ARENA, masked([0, 1])),
    "subgame": lambda: ARENA.subgame(masked(BOTH)),
    **{
        f"model {name}": lambda name=name: mdp.MDP.from_arrays(
            **MODEL | {name: masked(MODEL[name])}
        )
        for name in MODEL
    },
    **{
        f"model {name}": lambda name=name: mdp.MDP.from_arrays(
            **MODEL, **{name: MORE[name]}
        )
        for name in MORE
    },
    "target": lambda: mdp.reach_probability(CHAIN, masked([0, 1])),
    "states": lambda: mdp.mec(CHAIN, states=masked(BOTH)),
    "choices": lambda: mdp.mec(CHAIN, choices=masked(BOTH)),
    "player": lambda: mdp.Game.from_arrays(**MODEL, player=masked([0, 1])),
    "player by hand": lambda: mdp.solve_game(mdp.Game(CHAIN, masked([0, 1])), [0]),
    "game's priority": lambda: mdp.solve_parity_game(GAME, masked([0, 1])),
    "reward": lambda: mdp.solve_reward_game(GAME, masked([0.0, 1.0]), [0]),
    "scheduler": lambda: mdp.induced_chain(CHAIN, masked([0, 1])),
    "sample": lambda: mdp.values(
        CHAIN, 'P=? [ F "a" ]', probabilities=masked([1.0, 1.0])
    ),
    **{
        f"energies {name}": lambda name=name: multienergy.Game.from_arrays(
            **ENERGIES | {name: masked(ENERGIES[name])}, updates=[[-1]]
        )
        for name in ENERGIES
    },
    "fronts": lambda: multienergy.verify(BUDGETS, (FRONTS[0], masked(FRONTS[1]))),
    "budget": lambda: multienergy.solve(BUDGETS).winning(0, masked([1])),
    "marks": lambda: emersonlei.Game.of(ARENA, INF, edge_marks=masked([1, 1])),
    "sets of marks": lambda: emersonlei.Game.of_sets(ARENA, INF, [masked([0, 1])]),
    "accepting": lambda: buchi.accepting_cycle(ARENA, accepting=masked([0, 1])),
    "accepting sets": lambda: buchi.accepting_cycle(ARENA, accepting=masked([BOTH])),
    "initial": lambda: buchi.accepting_cycle(ARENA, initial=masked([0, 1])),
    "partition": lambda: buchi.accepting_cycle(ARENA, partition=masked([0, 0])),
    "label": lambda: systems.System.from_graph(ARENA, {"p": masked(BOTH)}),
    "action": lambda: systems.System.from_actions(ARENA, masked([0, 0]), ["go"]),
    "sources of steps": lambda: io.LTS.from_edges(masked([0, 1]), ["a", "b"], [1, 0]),
    "sources of automata": lambda: ltl.Automaton.from_edges(
        masked([0, 1]), ["a", "a"], [1, 0], accepting=[0, 1]
    ),
    "weights of vertices": lambda: energy.vertex_weights(ARENA, masked([1, 2])),
    "winner": lambda: parity.verify(
        ARENA, dataclasses.replace(WON, winner=masked(WON.winner))
    ),
    "priorities": lambda: emersonlei.Game.generalised_parity(ARENA, masked([[0, 1]])),
    **{
        f"{name} {'.'.join(path)}": (
            lambda solve=solve, verify=verify, path=path: verify(spoilt(solve(), *path))
        )
        for name, (solve, verify, paths) in VERIFIED.items()
        for path in paths
    },
    "classes": lambda: equivalence.verify(STEP, masked([0, 1])),
}


@pytest.mark.parametrize("door", DOORS)
def test_masked_entries_are_refused_at_every_door(door):
    with pytest.raises(ValueError, match=r"\[0(, 0)?\] is masked: an array must have"):
        DOORS[door]()


def test_an_array_whose_mask_hides_nothing_is_taken():
    priority = np.ma.array([3, 4], mask=[False, False])
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 1], priority=priority)
    assert type(arena.priority) is np.ndarray
    assert arena.priority.tolist() == [3, 4]
