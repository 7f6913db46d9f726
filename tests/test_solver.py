"""What the tables of solvers say, and what a verdict shows of itself."""

import jax
import numpy as np
import pytest

from jaxgames import (
    Arena,
    buchi,
    energy,
    generate,
    graph,
    mdp,
    multienergy,
    parity,
    solve_many,
)

GAME = generate.random_game(3, 8)
WEIGHTED = generate.random_energy_game(3, 8, max_weight=9)
MODEL = mdp.MDP.from_arrays([0, 1, 2], [0, 1, 2], [1, 0])
SEVERAL = multienergy.Game.from_arrays([0, 1], [0], [0], [[0]], defender=[True], cap=3)


def marked() -> Arena:
    src, dst = GAME.src, GAME.dst
    return Arena.from_edges(src, dst, owner=GAME.owner, accepting=np.arange(8) == 0)


ASK = {
    "parity": lambda name: parity.solve(GAME, name),
    "energy": lambda name: energy.solve(WEIGHTED, name),
    "graph": lambda name: graph.scc(GAME, name),
    "buchi": lambda name: buchi.solve(marked(), name),
    "cycle": lambda name: buchi.accepting_cycle(marked(), solver=name),
    "mdp": lambda name: mdp.mec(MODEL, name),
    "multienergy": lambda name: multienergy.solve(SEVERAL, name),
}


@pytest.mark.parametrize("slice_", ASK)
def test_an_error_lists_all_that_may_be_named(slice_):
    """The engines of the host are among it, and may be named."""
    with pytest.raises(ValueError, match=r"there are .*'host'") as told:
        ASK[slice_]("nobody")
    assert ("'race'" in str(told.value)) == (slice_ != "multienergy")
    listed = str(told.value).partition("there are ")[2].replace("'", "").split(", ")
    assert listed[-1] == "auto"
    for name in {"host", "race"} & {*listed}:
        ASK[slice_](name)


@pytest.mark.parametrize("slice_", ["parity", "energy"])
def test_what_is_the_hosts_is_said_where_it_cannot_be(slice_):
    problem, game = {"parity": (parity, GAME), "energy": (energy, WEIGHTED)}[slice_]
    with pytest.raises(ValueError, match="'host' runs on the host, which cannot be"):
        solve_many(problem, [game], "host")


def test_a_verdict_shows_what_it_means():
    verdict = parity.verify(GAME, parity.solve(GAME))
    assert repr(verdict) == "Verdict(valid=True, reason=Reason.OK, vertex=-1)"
    wrong = parity.Verdict.at(parity.Reason.STRATEGY_MISSING, 5)
    expected = "Verdict(valid=False, reason=Reason.STRATEGY_MISSING, vertex=5)"
    assert repr(wrong) == expected
    # What is traced, or a stack, shows what it has.
    jax.eval_shape(lambda x: (assert_shown(parity.Verdict(x > 0, x, x)), x)[1], 1)
    three = parity.Verdict(np.ones(3, bool), np.zeros(3, int), np.full(3, -1))
    assert str(three).startswith("Verdict(valid=[ True")


def assert_shown(verdict) -> None:
    assert "JitTracer" in repr(verdict)
