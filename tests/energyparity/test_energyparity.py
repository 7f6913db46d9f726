import dataclasses
import functools
import itertools
import math
from fractions import Fraction

import jax
import numpy as np
import pytest
from repeats import first_of, some_of

from jaxgames import (
    Arena,
    SolveError,
    Status,
    checkpoint,
    energy,
    energyparity,
    graph,
    meanpayoff,
    parity,
    solve_many,
)
from jaxgames.energyparity import Reason, _batch, reference
from jaxgames.energyparity._values import simplest
from jaxgames.energyparity.host import _inner, _ties
from jaxgames.energyparity.host._part import Part
from jaxgames.solution import UNDECIDED

GAME = Arena.from_edges(
    [0, 0, 1, 2],
    [0, 1, 0, 2],
    owner=[0, 0, 1],
    weight=[1, -5, 0, 1],
    priority=[1, 2, 3],
)
"""Vertex 0 earns with an odd priority, vertex 1 costs and is even; 2 is odd alone."""


def draw(seed: int, most: int = 6, widest: int = 3) -> Arena:
    """A random game of up to so many vertices, with loops and parallel edges."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, most + 1))
    degree = rng.integers(1, 4, size)
    src = np.repeat(np.arange(size), degree)
    width = int(rng.integers(widest + 1))
    return Arena.from_edges(
        src,
        rng.integers(0, size, len(src)),
        owner=rng.random(size) < rng.choice([0.5, 0.5, 0.0, 1.0]),
        priority=rng.integers(0, int(rng.integers(1, 7)), size),
        weight=rng.integers(-width, width + 1, len(src)),
    )


def whole(arena: Arena) -> Part:
    """A game as the inside of the solver has it."""
    vertices, edges = (np.arange(count) for count in arena.shape)
    bare = dataclasses.replace(arena, weight=None)
    return Part(bare, vertices, edges, np.asarray(arena.weight))


# ---- answers ------------------------------------------------------------------------


@pytest.mark.parametrize("part", first_of(4, 16))
def test_games_by_levels_of_energy(part):
    for seed in range(64 * part, 64 * (part + 1)):
        arena = draw(seed)
        expected = reference.solve(arena)
        found = energyparity.solve(arena, "host")
        np.testing.assert_array_equal(found.winner, expected.winner, str(seed))
        # Energy that is enough, where the reference has the least.
        assert (found.credit >= expected.credit).all()
        assert energyparity.verify(arena, found), seed


@pytest.mark.parametrize("part", range(2))
def test_strategies_win_when_they_are_played(part):
    for seed in range(100 * part, 100 * (part + 1)):
        arena = draw(5000 + seed, widest=2)
        assert reference.verify(arena, energyparity.solve(arena, "host")), seed


def test_the_reference_needs_no_higher_levels():
    for seed in range(60):
        arena = draw(seed, 4)
        bound = 2 * arena.shape[0] * 6 * 3 + 6
        more = reference.solve(arena, bound + 7)
        np.testing.assert_array_equal(reference.solve(arena).credit, more.credit)


def test_memory_is_needed_and_said():
    found = energyparity.solve(GAME)
    assert found.winner.tolist() == [0, 0, 1]
    memory = found.modes.start(0, int(found.credit[0]))
    seen, v = [], 0
    for _ in range(60):
        edge = found.modes.edge(v, memory) if v < 2 else 0
        target, weight = int(GAME.dst[edge]), int(GAME.weight[edge])
        memory = found.modes.after(v, memory, weight, target)
        assert memory.energy >= 0
        v = target
        seen.append(v)
    assert {0, 1} == set(seen)
    # No positional strategy of player 0 wins there.
    for edge in (0, 1):
        src, dst = np.delete(GAME.src, 1 - edge), np.delete(GAME.dst, 1 - edge)
        alone = Arena.from_edges(
            src,
            dst,
            owner=GAME.owner,
            priority=GAME.priority,
            weight=np.delete(GAME.weight, 1 - edge),
        )
        assert energyparity.solve(alone).winner[0] == 1


def test_one_condition_alone():
    for seed in range(60):
        arena = draw(seed, 8)
        nothing = dataclasses.replace(arena, weight=0 * arena.weight)
        even = dataclasses.replace(arena, priority=0 * arena.priority)
        for game, alone in ((nothing, parity), (even, energy)):
            found = energyparity.solve(game, "host").winner
            np.testing.assert_array_equal(found, alone.solve(game, "host").winner)


def test_games_side_by_side_are_solved_at_once():
    games = [draw(seed, widest=2) for seed in range(100)]
    # Whose tops are whose must not matter: each game has larger priorities.
    sizes = np.cumsum([0, *(game.shape[0] for game in games)])
    pairs = list(zip(games, sizes, strict=False))
    together = Arena.from_edges(
        np.concatenate([game.src + at for game, at in pairs]),
        np.concatenate([game.dst + at for game, at in pairs]),
        owner=np.concatenate([game.owner for game in games]),
        priority=np.concatenate([x.priority + 2 * k for k, x in enumerate(games)]),
        weight=np.concatenate([game.weight for game in games]),
    )
    found = energyparity.solve(together, "host")
    expected = np.concatenate([reference.solve(game).winner for game in games])
    np.testing.assert_array_equal(found.winner, expected)
    assert energyparity.verify(together, found)
    # As many as for the hardest of them, and not for each of them anew.
    assert found.stats["rounds"] < 25


def test_larger_games_have_proofs():
    rng = np.random.default_rng(0)
    for priorities, width in ((5, 1), (40, 3), (2000, 100)):
        size = 2000
        arena = Arena.from_edges(
            np.repeat(np.arange(size), 2),
            rng.integers(0, size, 2 * size),
            owner=rng.random(size) < 0.5,
            priority=rng.integers(0, priorities, size),
            weight=rng.integers(-width, width + 2, 2 * size),
        )
        found = energyparity.solve(arena, "host")
        assert str(energyparity.verify(arena, found)) == "valid"


def test_large_weights_are_exact():
    big = 2**40
    arena = dataclasses.replace(GAME, weight=GAME.weight.astype(np.int64) * big)
    found = energyparity.solve(arena, "host")
    assert found.winner.tolist() == [0, 0, 1]
    assert energyparity.verify(arena, found)


def test_cycles_without_gain_by_one_game_or_by_three(monkeypatch):
    games = [draw(seed, 7) for seed in range(80)]
    once = [energyparity.solve(arena, "host") for arena in games]
    monkeypatch.setattr(_inner, "WORD", 0)
    for arena, one in zip(games, once, strict=True):
        found = energyparity.solve(arena, "host")
        np.testing.assert_array_equal(found.winner, one.winner)
        assert energyparity.verify(arena, found)


def test_scaled_weights_have_the_sign_of_gain_and_parity():
    for seed in range(40):
        arena = draw(seed, 4)
        weight, largest = _ties.scaled(whole(arena))
        assert largest == max(map(abs, weight.tolist()), default=0)
        for length in range(1, 5):
            for path in itertools.permutations(range(arena.shape[0]), length):
                steps = zip(path, [*path[1:], path[0]], strict=True)
                edges = [
                    [e for e in range(*arena.row_ptr[u : u + 2]) if arena.dst[e] == w]
                    for u, w in steps
                ]
                for cycle in itertools.product(*edges):
                    gain = sum(arena.weight[list(cycle)].tolist())
                    even = arena.priority[list(path)].max() % 2 == 0
                    total = sum(weight[list(cycle)].tolist())
                    assert (total > 0) == (gain > 0 or (gain == 0 and even))
                    assert total != 0


# ---- mean payoffs -------------------------------------------------------------------


def test_mean_payoff_parity_of_one_player():
    # A loop of mean 0 that is odd, and a detour over an even vertex that costs 1.
    arena = Arena.from_edges(
        [0, 0, 1], [0, 1, 0], owner=[0, 0], weight=[0, -1, 0], priority=[1, 2]
    )
    assert energyparity.decide(arena).winner.tolist() == [0, 0]
    assert energyparity.decide(arena, (1, 100)).winner.tolist() == [1, 1]
    assert energyparity.solve(arena).winner.tolist() == [1, 1]


def best_mean(arena: Arena, v: int) -> float:
    """Of player 0 alone, whose largest priority is even: by means of all cycles."""
    best = -np.inf
    label = {}
    for top in sorted({int(p) for p in arena.priority if p % 2 == 0}):
        keep = arena.priority <= top
        part, vertices, edges = arena.subgame(keep)
        labels = np.asarray(graph.scc(part).labels)
        for c in range(int(labels.max(initial=-1)) + 1):
            inside = labels == c
            if not (part.priority[inside] == top).any():
                continue
            own, old, arcs = part.subgame(inside)
            if not own.shape[1]:
                continue
            # Karp: the best mean of walks of n edges from all that are shorter.
            size = own.shape[0]
            walks = np.full((size + 1, size), -np.inf)
            walks[0, 0] = 0
            for k in range(size):
                np.maximum.at(walks[k + 1], own.dst, walks[k, own.src] + own.weight)
            with np.errstate(invalid="ignore"):
                lengths = size - np.arange(size)[:, None]
                means = ((walks[size] - walks[:size]) / lengths).min(axis=0)
            mean = np.nanmax(np.where(np.isneginf(walks[size]), -np.inf, means))
            for u in vertices[old].tolist():
                label[u] = max(label.get(u, -np.inf), float(mean))
    reached = graph.reachable(arena, [v])
    for u, mean in label.items():
        if reached[u]:
            best = max(best, mean)
    return best


def test_mean_payoff_parity_against_best_means_of_components():
    rng = np.random.default_rng(3)
    for seed in range(60):
        arena = draw(seed, 5)
        arena = dataclasses.replace(arena, owner=np.zeros(arena.shape[0], bool))
        best = [best_mean(arena, v) for v in range(arena.shape[0])]
        for threshold in (0, 1, (int(rng.integers(-5, 6)), 3)):
            p, q = threshold if isinstance(threshold, tuple) else (threshold, 1)
            found = energyparity.decide(arena, threshold, "host").winner
            expected = [int(not mean >= p / q - 1e-9) for mean in best]
            assert found.tolist() == expected, (seed, threshold)


def test_values_of_one_player_are_best_means():
    nothing = Arena.from_edges([], [], owner=[], priority=[], weight=[])
    assert energyparity.values(nothing).den.shape == (0,)
    for seed in range(30):
        arena = draw(seed, 5)
        arena = dataclasses.replace(arena, owner=np.zeros(arena.shape[0], bool))
        found = energyparity.values(arena, "host")
        for v in range(arena.shape[0]):
            best = best_mean(arena, v)
            assert (found.den[v] == 0) == (best == -np.inf)
            if found.den[v]:
                assert abs(found.num[v] / found.den[v] - best) < 1e-9


def test_values_are_the_largest_thresholds():
    for seed in range(25):
        arena = draw(seed, 5)
        found = energyparity.values(arena, "host")
        pairs = zip(found.num.tolist(), found.den.tolist(), strict=True)
        for num, den in {pair for pair in pairs if pair[1]}:
            at, above = (num, den), (1000 * num + 1, 1000 * den)
            reaches = (found.den > 0) & (found.num * den >= num * found.den)
            winner = energyparity.decide(arena, at, "host").winner
            np.testing.assert_array_equal(winner == 0, reaches)
            exceeds = (found.den > 0) & (found.num * den > num * found.den)
            winner = energyparity.decide(arena, above, "host").winner
            np.testing.assert_array_equal(winner == 0, exceeds)


def test_values_without_priorities_are_mean_payoffs():
    for seed in range(15):
        arena = draw(seed, 9)
        even = dataclasses.replace(arena, priority=0 * arena.priority)
        found, means = energyparity.values(even, "host"), meanpayoff.solve(even, "host")
        np.testing.assert_array_equal(found.num, means.value_num)
        np.testing.assert_array_equal(found.den, means.value_den)
        padded = energyparity.values(even.pad(16, 64), "host")
        np.testing.assert_array_equal(padded.den[: even.shape[0]], found.den)


def test_the_simplest_fraction_between_two():
    rng = np.random.default_rng(0)
    for _ in range(300):
        ends = sorted(Fraction(int(x), 97) for x in rng.integers(-300, 300, 2))
        found = simplest(*ends)
        assert ends[0] <= found <= ends[1]
        for den in range(1, found.denominator):
            assert math.ceil(ends[0] * den) > ends[1] * den


# ---- calls --------------------------------------------------------------------------


def test_many_thresholds():
    questions = [(draw(seed), (seed % 5 - 2, 2)) for seed in range(20)]
    for question, found in zip(
        questions, solve_many("meanpayoff_parity", questions), strict=True
    ):
        alone = energyparity.decide(*question, "host")
        np.testing.assert_array_equal(found.winner, alone.winner)


def test_thresholds_of_traced_games():
    """Also traced ones; what does not fit is undecided, and no wrong answer."""
    arenas = [draw(seed, 4) for seed in range(12)]
    pairs = [(seed % 5 - 2, 1 + seed % 3) for seed in range(12)]
    stack = stacked(arenas, 5, 24)

    @jax.jit
    @jax.vmap
    def decide(arena, p, q):
        return energyparity.decide(arena, (p, q), max_steps=20_000)

    found = decide(stack, *(np.array(x) for x in zip(*pairs, strict=True)))
    found = jax.device_get(found)
    assert not found.status.any()
    for row, (arena, pair) in enumerate(zip(arenas, pairs, strict=True)):
        expected = energyparity.decide(arena, pair).winner
        size = arena.shape[0]
        np.testing.assert_array_equal(found.winner[row, :size], expected)
    one = jax.jit(lambda arena: energyparity.decide(arena, Fraction(9, 10)))(GAME)
    expected = energyparity.decide(GAME, Fraction(9, 10)).winner
    np.testing.assert_array_equal(one.winner, expected)
    # Loops: the weights of the second do not fit when they are made larger.
    for weight, ends in ((-3, Status.SOLVED), (-(2**29), Status.OVERFLOW)):
        loop = Arena.from_edges([0], [0], owner=[0], priority=[0], weight=[weight])
        own = jax.jit(energyparity.decide)(loop)
        assert own.status == ends
        assert own.winner.tolist() == [1 if ends == Status.SOLVED else UNDECIDED]
    gains = Arena.from_edges([0], [0], owner=[0], priority=[0], weight=[2**30])
    assert jax.jit(energyparity.decide)(gains).winner.tolist() == [0]


def test_padding_batches_and_places():
    arenas = [draw(seed) for seed in range(20)]
    alone = [energyparity.solve(arena, "host") for arena in arenas]
    together = solve_many(energyparity, arenas)
    assert len({found.stats["rounds"] for found in together}) == 1  # in one go
    for arena, one, other in zip(arenas, alone, together, strict=True):
        padded = energyparity.solve(arena.pad(16, 64), "host")
        assert energyparity.verify(arena.pad(16, 64), padded)
        size = arena.shape[0]
        for found in (other, padded):
            for name in ("winner", "strategy", "credit"):
                np.testing.assert_array_equal(
                    getattr(found, name)[:size], getattr(one, name), name
                )
    device = energyparity.solve(arenas[0], "fvi")
    np.testing.assert_array_equal(device.winner, alone[0].winner)
    on_device = energyparity.solve(jax.device_put(arenas[1]), "host")
    np.testing.assert_array_equal(on_device.winner, alone[1].winner)
    nothing = energyparity.solve(
        Arena.from_edges([], [], owner=[], priority=[], weight=[])
    )
    assert nothing.winner.shape == (0,)


def test_games_side_by_side_have_the_answers_of_each_alone(monkeypatch):
    """Bit by bit, whatever others there are: also in several groups, and too wide."""
    arenas = [draw(seed, 12) for seed in range(150)]
    huge = np.asarray(arenas[3].weight).astype(object) * 10**30
    arenas[3] = dataclasses.replace(arenas[3], weight=huge)
    wide = np.asarray(arenas[5].weight).astype(np.int64) << 45
    arenas[5] = dataclasses.replace(arenas[5], weight=wide)
    arenas[7] = arenas[7].pad(16, 64)
    marks = np.ones(arenas[8].shape[0], bool)
    arenas[8] = dataclasses.replace(arenas[8], accepting=marks)
    arenas[9] = Arena.from_edges([], [], owner=[], priority=[], weight=[])
    alone = [energyparity.solve(arena, "host") for arena in arenas]
    for most in (1 << 17, 100):
        monkeypatch.setattr(_batch, "SIDE_BY_SIDE", most)
        for one, other in zip(alone, solve_many(energyparity, arenas), strict=True):
            same(dataclasses.replace(other, stats=one.stats), one)
    bare = solve_many(energyparity, arenas, strategies=False)
    for one, other in zip(alone, bare, strict=True):
        np.testing.assert_array_equal(other.winner, one.winner)
        assert other.strategy is other.modes is other.credit is None


def test_an_end_of_a_batch_leaves_what_was_decided(monkeypatch):
    monkeypatch.setattr(_batch, "SIDE_BY_SIDE", 200)
    arenas = [draw(seed, 12) for seed in range(60)]
    alone = [energyparity.solve(arena) for arena in arenas]
    told = []
    solve_many(energyparity, arenas, progress=told.append)
    left = len(told) // 2

    def few(report):
        nonlocal left
        left -= 1
        return Status.INTERRUPTED if left < 0 else None

    found = solve_many(energyparity, arenas, progress=few, throw=False)
    ends = [one.status for one in found]
    assert {*ends} == {Status.SOLVED, Status.INTERRUPTED}
    for arena, one, other in zip(arenas, alone, found, strict=True):
        known = other.winner != UNDECIDED
        np.testing.assert_array_equal(other.winner[known], one.winner[known])
        if other.status == Status.SOLVED:
            assert energyparity.verify(arena, other)
        else:
            assert other.modes is None


def test_limits_and_strategies_that_nobody_wants():
    with pytest.raises(SolveError, match="MAX_STEPS") as caught:
        energyparity.solve(GAME, "host", max_steps=1)
    assert (caught.value.solution.winner == -1).any()
    assert caught.value.solution.modes is None
    stopped = energyparity.solve(GAME, "host", deadline=1e-9, throw=False)
    assert stopped.status == Status.TIMEOUT
    found = energyparity.solve(GAME, "host", strategies=False)
    assert (found.strategy, found.credit, found.modes) == (None, None, None)
    assert found.winner.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": None}, "needs a weight on each edge"),
        ({"weight": np.zeros((4, 2), np.int32)}, "one weight on each edge, shape"),
        ({"priority": None}, "needs a priority on each vertex"),
        ({"edge_priority": np.zeros(4, np.int32)}, "priorities on vertices alone"),
    ],
)
def test_what_is_no_such_game(change, message):
    with pytest.raises(ValueError, match=message):
        energyparity.solve(dataclasses.replace(GAME, **change))


# ---- states -------------------------------------------------------------------------


def asked_games(monkeypatch) -> list[int]:
    """Gets a number for each inner game that is solved, and not known."""
    asked: list[int] = []
    solve = _inner.Inner._solve

    def counted(self, *args, **how):
        found = solve(self, *args, **how)
        asked.append(self.rounds)
        return found

    monkeypatch.setattr(_inner.Inner, "_solve", counted)
    return asked


@functools.cache
def long_games() -> list[Arena]:
    """Two games that take many inner ones."""
    drawn = (draw(seed, 12) for seed in itertools.count())
    many = (game for game in drawn if energyparity.solve(game).stats["rounds"] >= 8)
    return list(itertools.islice(many, 2))


def same(found, whole) -> None:
    np.testing.assert_array_equal(found.winner, whole.winner)
    np.testing.assert_array_equal(found.strategy, whole.strategy)
    np.testing.assert_array_equal(found.credit, whole.credit)
    for name, x in vars(whole.modes).items():
        np.testing.assert_array_equal(getattr(found.modes, name), x, err_msg=name)
    assert found.stats == whole.stats


@pytest.mark.parametrize("wide", [False, True])
def test_stops_and_goes_on(monkeypatch, wide):
    """One game at a time: each is solved once, and the answer is what it is."""
    game = long_games()[0]
    if wide:
        weight = np.asarray(game.weight).astype(object) * 10**30
        game = dataclasses.replace(game, weight=weight)
    whole = energyparity.solve(game)
    asked = asked_games(monkeypatch)
    found, rounds = energyparity.solve(game, max_steps=0, throw=False), 0
    while found.status == Status.MAX_STEPS:
        assert found.stats["rounds"] <= rounds
        rounds += 1
        how = {"state": found.state, "max_steps": rounds, "throw": False}
        found = energyparity.solve(game, **how)
    assert len(asked) == whole.stats["rounds"] == rounds
    same(found, whole)
    assert energyparity.verify(game, found)
    again = energyparity.solve(game, state=found.state)  # all is known
    assert len(asked) == rounds
    same(again, whole)


@pytest.mark.parametrize("largest", [2**40, 2**60, 2**62, 2**63 - 1])
def test_the_check_adds_numbers_of_any_kind(largest):
    """Near where words end sums neither overflow nor lose a unit."""
    wrong = 0
    for game in long_games():
        weight = np.asarray(game.weight).astype(np.int64)
        weight *= largest // int(np.abs(weight).max())
        game = dataclasses.replace(game, weight=weight)
        found = energyparity.solve(game)
        assert energyparity.verify(game, found)
        endless = dataclasses.replace(game, weight=weight.astype(object))
        for name in ("need", "floor", "credit"):
            most = np.asarray(getattr(found.modes, name)).astype(object)
            for at in np.flatnonzero(most > 0):
                less = most.copy()
                less[at] -= 1
                fits = less if less.max() >= 2**63 else less.astype(np.int64)
                verdicts = []
                for arena, numbers in ((game, fits), (game, less), (endless, less)):
                    modes = dataclasses.replace(found.modes, **{name: numbers})
                    claim = dataclasses.replace(found, modes=modes)
                    verdicts.append(str(energyparity.verify(arena, claim)))
                assert len(set(verdicts)) == 1, (name, at)
                wrong += verdicts[0] != "valid"
    assert wrong > 1


@pytest.mark.parametrize("much", [2**59, 2**60, 2**62, 2**63 - 1])
@pytest.mark.parametrize("priority", [1, 2])
def test_an_opponent_who_may_take_or_give_much(much, priority):
    """Then there is twice as much as is needed to come where he moves."""
    arena = Arena.from_edges(
        [0, 0, 1, 2, 3],
        [1, 1, 2, 2, 0],
        weight=np.array([-much, much, 0, 0, 0]),
        owner=[1, 0, 0, 0],
        priority=[1, 0, priority, 0],
    )
    found = energyparity.solve(arena)
    expected = [much, 0, 0, much] if priority == 2 else [-1] * 4
    assert found.credit.tolist() == expected
    assert energyparity.verify(arena, found)
    if priority == 2:
        less = found.credit - np.array([1, 0, 0, 0])
        claim = dataclasses.replace(found, credit=less)
        assert not energyparity.verify(arena, claim)


def test_a_state_in_a_file(tmp_path):
    game = long_games()[0]
    whole = energyparity.solve(game)
    begin = energyparity.solve(game, max_steps=0, throw=False).state
    some = energyparity.solve(game, max_steps=2, throw=False)
    assert some.status == Status.MAX_STEPS
    checkpoint.save(tmp_path / "state", some.state, begin)
    state = checkpoint.load(tmp_path / "state", begin)
    same(energyparity.solve(game, state=state), whole)
    solve = functools.partial(energyparity.solve, game)
    same(checkpoint.solve(tmp_path / "state", solve), whole)
    same(checkpoint.solve(tmp_path / "state", solve), whole)


def test_a_state_of_something_else():
    game, other = long_games()
    some = energyparity.solve(game, max_steps=2, throw=False).state
    with pytest.raises(ValueError, match="another problem"):
        energyparity.solve(other, state=some)
    with pytest.raises(
        ValueError, match="its solver is auto, and this solve's is host"
    ):
        energyparity.solve(game, "host", state=some)
    forged = dataclasses.replace(some, size=some.size[::-1] + 1)
    with pytest.raises(ValueError, match="not of this solve"):
        energyparity.solve(game, state=forged)


def test_states_of_mean_payoff_and_of_many():
    game = long_games()[0]
    whole = energyparity.decide(game, (1, 3))
    some = energyparity.decide(game, (1, 3), max_steps=1, throw=False)
    assert some.status == Status.MAX_STEPS
    same(energyparity.decide(game, (1, 3), state=some.state), whole)
    with pytest.raises(ValueError, match="another problem"):
        energyparity.decide(game, (1, 2), state=some.state)
    games = long_games()
    some = solve_many(energyparity, games, max_steps=1, throw=False)
    found = solve_many(energyparity, games, state=some.state)
    for one, game in zip(found, games, strict=True):
        same(one, energyparity.solve(game))


def stacked(arenas, vertices, edges):
    """Several games of one shape."""
    return jax.tree.map(
        lambda *xs: np.stack(xs), *(x.pad(vertices, edges) for x in arenas)
    )


@some_of(300, 10_000)
def test_traced_games_have_the_least_credits(count):
    """Those of the parity game with energy in its vertices, one by one."""
    games = [draw(seed) for seed in range(count)]
    found = jax.jit(jax.vmap(energyparity.solve))(stacked(games, 8, 24))
    assert (np.asarray(found.status) == Status.SOLVED).all()
    assert found.strategy is found.modes is None
    winner, credit = np.asarray(found.winner), np.asarray(found.credit)
    for index, game in enumerate(games):
        size, expected = game.shape[0], reference.solve(game)
        np.testing.assert_array_equal(winner[index, :size], expected.winner)
        np.testing.assert_array_equal(credit[index, :size], expected.credit)


def test_larger_traced_games():
    """The recursion is another way; its credits are not the least."""
    solve, decided = jax.jit(energyparity.solve), 0
    for seed in range(30):
        game = draw(seed, most=25, widest=5)
        found = jax.device_get(solve(game.pad(32, 96)))
        other = energyparity.solve(game)
        if int(found.status) == Status.SOLVED:
            decided += 1
            size = game.shape[0]
            np.testing.assert_array_equal(found.winner[:size], other.winner)
            assert (found.credit[:size] <= other.credit).all()
    assert decided > 25


@pytest.mark.counts
def test_traced_games_that_are_not_solved_to_the_end():
    solve = jax.jit(energyparity.solve, static_argnames="max_steps")
    whole = solve(GAME)
    some = solve(GAME, max_steps=2)
    assert int(some.status) == Status.MAX_STEPS
    assert (np.asarray(some.winner) == -1).all()
    assert (np.asarray(some.credit) == -2).all()
    rest = solve(GAME, state=some.state)
    np.testing.assert_array_equal(rest.credit, whole.credit)
    # A GPU sweeps several times between two tests for the end, here two sweeps later.
    assert int(rest.stats["rounds"]) - int(whole.stats["rounds"]) in (0, 2)

    wide = dataclasses.replace(GAME, weight=GAME.weight * 2**26)
    found = solve(wide)
    assert int(found.status) == Status.OVERFLOW
    assert (np.asarray(found.winner) == -1).all()
    gains = dataclasses.replace(GAME, weight=np.array([2**31 - 1, -5, 0, 1], np.int32))
    np.testing.assert_array_equal(solve(gains).credit, whole.credit)

    found = solve(dataclasses.replace(GAME, dst=np.array([0, 1, 0, 7], np.int32)))
    assert int(found.status) == Status.INVALID
    assert (np.asarray(found.credit) == -2).all()
    bare = jax.jit(lambda x: energyparity.solve(x, strategies=False))(GAME)
    assert bare.credit is None
    np.testing.assert_array_equal(bare.winner, whole.winner)


def test_what_cannot_be_asked():
    with pytest.raises(ValueError, match="state must be solution.state"):
        energyparity.solve(GAME, state=3)
    with pytest.raises(ValueError, match="outside of jax.jit"):
        jax.jit(lambda arena: energyparity.solve(arena, "fvi"))(GAME)
    with pytest.raises(ValueError, match="outside of jax.jit"):
        jax.jit(energyparity.verify)(GAME, energyparity.solve(GAME))
    with pytest.raises(ValueError, match="threshold must be"):
        energyparity.decide(GAME, 0.5)
    found = dataclasses.replace(energyparity.solve(GAME), modes=None)
    with pytest.raises(ValueError, match="modes is None"):
        energyparity.verify(GAME, found)


# ---- verification -------------------------------------------------------------------


def changed(array, at, value):
    array = np.array(array)
    array[at] = value
    return array


LONE = Arena.from_edges(
    [0, 0, 1, 1],
    [0, 1, 0, 1],
    owner=[1, 0],
    weight=[0, 0, 0, 0],
    priority=[1, 2],
)
"""Player 1 stays with odd 0 if he is there; player 0 wins at 1 by staying."""


@pytest.mark.parametrize(
    ("game", "of", "field", "at", "value", "reason"),
    [
        (GAME, "", "winner", 0, -1, Reason.UNDECIDED),
        (GAME, "", "winner", 1, 1, Reason.OPPONENT_ESCAPES),
        (GAME, "", "strategy", 2, -1, Reason.STRATEGY_MISSING),
        (GAME, "", "strategy", 2, 0, Reason.STRATEGY_NOT_AN_EDGE_OF_ITS_VERTEX),
        (GAME, "", "strategy", 0, 0, Reason.STRATEGY_OF_LOSER),
        (LONE, "", "strategy", 0, 1, Reason.STRATEGY_LEAVES_REGION),
        (GAME, "", "winner", 2, 0, Reason.STRATEGY_OF_LOSER),
        (GAME, "", "credit", 0, -1, Reason.NOT_ENOUGH_ENERGY),
        (GAME, "modes", "level", 0, 1, Reason.NOT_ENOUGH_ENERGY),
        (GAME, "modes", "level", 0, -3, Reason.MODES_BROKEN),
        (GAME, "modes", "core", 0, -1, Reason.MODES_BROKEN),
        (GAME, "modes", "need", 0, 0, Reason.NOT_ENOUGH_ENERGY),
        (GAME, "modes", "is_top", 0, True, Reason.TOP_IS_NO_TOP),
        (GAME, "modes", "order", 0, 0, Reason.NO_PROGRESS),
        (GAME, "modes", "earn", 0, 1, Reason.NOT_ENOUGH_ENERGY),
        (GAME, "modes", "outer", 0, 0, Reason.MODES_BROKEN),
        (GAME, "modes", "begin", 0, 1, Reason.MODES_BROKEN),
    ],
)
def test_each_reason(game, of, field, at, value, reason):
    found = energyparity.solve(game, "host")
    assert energyparity.verify(game, found)
    if of:
        modes = found.modes
        modes = dataclasses.replace(
            modes, **{field: changed(getattr(modes, field), at, value)}
        )
        wrong = dataclasses.replace(found, modes=modes)
    else:
        wrong = dataclasses.replace(
            found, **{field: changed(getattr(found, field), at, value)}
        )
    assert energyparity.verify(game, wrong).reason == reason


def test_cycles_that_the_rival_wins():
    # Player 1 could leave the even loop of vertex 0 for an odd one.
    game = Arena.from_edges(
        [0, 0, 1], [0, 1, 1], owner=[1, 1], weight=[0, 0, -1], priority=[2, 1]
    )
    found = energyparity.solve(game, "host")
    assert found.winner.tolist() == [1, 1]
    wrong = dataclasses.replace(found, strategy=changed(found.strategy, 0, 0))
    said = energyparity.verify(game, wrong)
    assert said.reason == Reason.CYCLE_WON_BY_OPPONENT
    # One that gains, though it is odd by itself, below an even vertex.
    game = Arena.from_edges(
        [0, 0, 1, 2, 2],
        [1, 2, 0, 2, 2],
        owner=[0, 0, 1],
        weight=[2, 0, -1, 0, 1],
        priority=[1, 2, 3],
    )
    found = energyparity.solve(game, "host")
    claim = dataclasses.replace(
        found,
        winner=np.ones(3, np.int8),
        credit=np.full(3, -1),
        modes=dataclasses.replace(
            found.modes,
            **{
                name: np.asarray(getattr(found.modes, name))[:0]
                for name in ("outer", "level", "floor", "core_order")
                + ("vertex", "earn", "credit")
            },
            begin=np.zeros(1, np.int32),
            core=np.full(3, -1, np.int32),
            move=np.full(3, -1, np.int32),
            is_top=np.zeros(3, bool),
            reaches=np.zeros(3, bool),
        ),
    )
    assert energyparity.verify(game, claim).reason == Reason.CYCLE_WON_BY_OPPONENT


def test_earning_must_not_be_odd():
    game = Arena.from_edges(
        [0, 0, 1], [0, 1, 0], owner=[0, 0], weight=[0, 0, 0], priority=[1, 2]
    )
    found = energyparity.solve(game, "host")
    assert found.winner.tolist() == [0, 0]
    modes = found.modes
    odd = dataclasses.replace(modes, earn=np.where(modes.vertex == 0, 0, modes.earn))
    wrong = dataclasses.replace(found, modes=odd)
    assert energyparity.verify(game, wrong).reason == Reason.EARNING_IS_ODD


def test_earning_for_ever_must_be_even_though_it_gains():
    game = Arena.from_edges(
        [0, 0, 1], [0, 1, 1], owner=[0, 0], weight=[1, 0, 0], priority=[1, 2]
    )
    found = energyparity.solve(game, "host")
    assert found.modes.level.tolist() == [-1]
    odd = dataclasses.replace(found.modes, earn=changed(found.modes.earn, 0, 0))
    wrong = dataclasses.replace(found, modes=odd)
    assert energyparity.verify(game, wrong).reason == Reason.EARNING_IS_ODD
    assert not reference.verify(game, wrong)


def test_a_solution_must_have_its_shape():
    found = energyparity.solve(GAME)
    short = dataclasses.replace(found.modes, move=found.modes.move[:2])
    with pytest.raises(ValueError, match="modes.move must hold integers of shape"):
        energyparity.verify(GAME, dataclasses.replace(found, modes=short))
    with pytest.raises(ValueError, match="winner"):
        energyparity.verify(GAME, dataclasses.replace(found, winner=found.winner[:2]))


def test_no_vertices_under_jit():
    arena = Arena.from_edges([], [], owner=[], priority=[], weight=[])
    found = jax.jit(energyparity.solve)(arena)
    assert found.winner.shape == found.credit.shape == (0,)
    assert found.status == Status.SOLVED
