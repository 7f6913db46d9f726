"""The host engine against brute force, the reference and the verifier."""

import collections
import dataclasses
import itertools
import threading
import time

import brute_force
import numpy as np
import pytest
from repeats import some_of
from test_corpus import CORPUS, files, known_winners
from test_reference import tiny_arenas

from jaxgames import Arena, generate, host, parity
from jaxgames.io import pgsolver
from jaxgames.parity import Solution, reference
from jaxgames.parity import host as engine
from jaxgames.parity._problem import Parity
from jaxgames.parity.host import (
    _arranged,
    _attract,
    _learning,
    _legs,
    _promotion,
    _rows,
    _tangles,
)
from jaxgames.solution import NO_EDGE, UNDECIDED, Status
from jaxgames.testing import odd_arenas


def solved(arena, **options):
    outcome = engine.run(engine.prepare(arena), **options)
    assert outcome.finished
    return outcome


def check_certificate(arena):
    outcome = solved(arena)
    solution = Solution(Status.SOLVED, winner=outcome.winner, strategy=outcome.strategy)
    verdict = engine.verify(arena, solution)
    assert verdict, str(verdict)
    return outcome


def check(arena):
    """The winners of the reference, with a certificate; without strategies the same."""
    outcome = check_certificate(arena)
    expected = reference.solve(arena).winner
    np.testing.assert_array_equal(outcome.winner, expected)
    alone = solved(arena, strategies=False)
    assert alone.strategy is None
    np.testing.assert_array_equal(alone.winner, expected)
    return outcome


def random_arenas(seed, count, size):
    """Games with long and short rows, few and many priorities."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield generate.random_game(
            rng,
            size,
            num_priorities=int(rng.choice([2, 5, 20, size])),
            max_degree=int(rng.choice([2, 3, 3 * _attract.LONG])),
            owner_share=float(rng.uniform(0.3, 0.7)),
        )


# ---- answers -----------------------------------------------------------------


@some_of(300, 700)
def test_against_brute_force(count):
    for arena in tiny_arenas(seed=21, count=count):
        outcome = check(arena)
        assert outcome.winner.tolist() == brute_force.winners(arena)


@some_of(500, 2000)
def test_odd_games(count):
    for arena in odd_arenas(seed=22, count=count):
        check(arena)


@pytest.mark.parametrize("size", [60, 300, 2 * _promotion.BLOCK])
def test_larger_games(size):
    for arena in random_arenas(seed=size, count=60, size=size):
        check(arena)


@pytest.mark.parametrize(
    "arena",
    [
        generate.jurdzinski(4, 6),
        generate.ladder(50),
        generate.recursive_ladder(20),
        generate.model_checker_ladder(30),
        generate.hanoi(4),
        generate.elevator(3, fair=True),
        generate.elevator(3, fair=False),
        generate.propagation(5, 20),
        generate.propagation_tree(5, 3),
        generate.clique(12),
    ],
    ids=str,
)
def test_families(arena):
    check(arena)


def test_ladders_are_not_exponential():
    """Zielonka's recursion takes exponential time here."""
    assert solved(generate.recursive_ladder(300)).stats["steps"] < 10_000


def test_many_levels_cost_nothing():
    """Cycles of two, each of a priority of its own; its players wait for each other."""
    v = np.arange(10_000)
    arena = Arena.from_edges(
        np.append(v, v[v % 2 == 1]),
        np.append(v ^ 1, v[v % 2 == 1] ^ 1),
        owner=v % 2 == 0,
        priority=v // 2,
    )
    outcome = check(arena)
    assert outcome.stats["regions"] == len(v) // 2


def test_loops_are_won_before_there_are_regions():
    """Both players lead to loops, one of which is left to the rival by its owner."""
    arena = Arena.from_edges(
        [0, 1, 2, 3, 3, 4, 4, 4],
        [0, 1, 0, 1, 2, 0, 1, 4],
        owner=[0, 0, 1, 1, 0],
        priority=[2, 3, 5, 4, 7],
    )
    outcome = check(arena)
    assert outcome.winner.tolist() == [0, 1, 0, 1, 0]
    assert outcome.stats == {
        "steps": 5,
        "regions": 0,
        "promotions": 0,
        "dominions": 2,
        "engine": "promotion",
    }


def check_in_turn(arena, legs):
    """As `check`, by some of the engines."""
    outcome = engine.run(engine.prepare(arena), legs)
    assert outcome.finished
    np.testing.assert_array_equal(outcome.winner, reference.solve(arena).winner)
    solution = Solution(Status.SOLVED, winner=outcome.winner, strategy=outcome.strategy)
    verdict = engine.verify(arena, solution)
    assert verdict, str(verdict)
    return outcome


def looped(arena, rng, share, times=1):
    """A game with more loops, at vertices whose owners would lose by staying there.

    They are the first edges of their vertices, or the last ones.
    """
    owner, priority = np.asarray(arena.owner), np.asarray(arena.priority)
    useless = (owner ^ priority) & 1 == 1
    at = np.flatnonzero(useless & (rng.random(len(owner)) < share))
    more, turn = np.repeat(at, times), 1 if rng.random() < 0.5 else -1
    src, dst = (np.append(*(x, more)[::turn]) for x in (arena.src, arena.dst))
    return Arena.from_edges(src, dst, owner=owner, priority=priority)


@pytest.mark.parametrize("times", [1, 3])
def test_loops_that_their_owners_lose_by_keep_regions_together(times):
    """They kept vertices out of the regions of the rival, which fell apart.

    They are edges still: tangle learning counts them, and may end its turn elsewhere.
    """
    rng = np.random.default_rng(0)
    for arena in (
        generate.two_counters(6),
        generate.counter_rob(6),
        generate.model_checker_ladder(20),
        generate.dull(20),
        *random_arenas(0, 6, 200),
    ):
        plain = check_certificate(without_useless_loops(arena))
        outcome = check_certificate(looped(arena, rng, 0.8, times))
        np.testing.assert_array_equal(outcome.winner, plain.winner)
        assert outcome.stats.keys() == plain.stats.keys()
        exact = plain.stats.keys()
        if "tangles" in plain.stats:
            exact = {"tangles", "dominions", "engine"}
            assert outcome.stats["regions"] <= 1.1 * plain.stats["regions"]
        for name in exact:
            assert outcome.stats[name] == plain.stats[name], name


def without_useless_loops(arena):
    """By its definition, edge by edge."""
    edges = [
        (v, w)
        for v, w in zip(arena.src.tolist(), arena.dst.tolist(), strict=True)
        if v != w
        or arena.owner[v] == arena.priority[v] % 2
        or set(arena.dst[arena.src == v].tolist()) == {v}
    ]
    src, dst = np.array(edges).T
    return Arena.from_edges(src, dst, owner=arena.owner, priority=arena.priority)


@some_of(100, 3000)
@pytest.mark.parametrize("leg", _legs.LEGS)
def test_games_of_many_loops(leg, count):
    """Winners, and edges in the numbers of the arena, of each engine alone, too."""
    rng = np.random.default_rng(1)
    for number, arena in enumerate(odd_arenas(5, count)):
        arena = looped(arena, rng, 0.7, 1 + number % 2)
        check(arena)
        alone = solved(arena, legs=(leg,))
        solution = Solution(Status.SOLVED, winner=alone.winner, strategy=alone.strategy)
        assert engine.verify(arena, solution)


def test_a_vertex_with_loops_alone_keeps_them():
    for owner in (0, 1):
        for times in (1, 2):
            arena = Arena.from_edges(
                [0] * times, [0] * times, owner=[owner], priority=[1 - owner]
            )
            assert check(arena).winner.tolist() == [1 - owner]


def test_a_loop_leads_elsewhere_until_it_is_an_edge_of_the_arena_again():
    """A vertex with two of them, one with a good one, and one with no other edge."""
    arena = Arena.from_edges(
        [0, 0, 0, 0, 1, 1, 2],
        [0, 0, 2, 1, 1, 2, 2],
        owner=[0, 0, 1],
        priority=[1, 2, 2],
    )
    prepared = engine.prepare(arena.pad(8, 16))
    assert prepared.head.tolist() == [2, 2, 2, 1, 1, 2, 2]
    assert prepared.loops.tolist() == [4, 6]
    assert arena.dst.tolist() == [0, 0, 2, 1, 1, 2, 2]
    for edge, same in enumerate([2, 2, 2, 3, 4, 5, 6]):
        move = np.full(prepared.size, NO_EDGE, np.int32)
        move[arena.src[edge]] = edge
        expected = move.copy()
        expected[arena.src[edge]] = same
        np.testing.assert_array_equal(prepared.of_arena(move), expected)
        assert move[arena.src[edge]] == edge


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("size", [1, 2, 1000])
def test_edges_by_target_and_loops(monkeypatch, cores, size):
    """As a stable sort has them, on one core and on several."""
    monkeypatch.setattr(host, "num_cores", lambda: cores)
    monkeypatch.setattr(host, "FEWEST_PLACES", 100)
    monkeypatch.setattr(_rows, "EDGES_OF_RANGE", 50)
    rng = np.random.default_rng(size)
    for share in (0.0, 0.3):
        source = np.repeat(np.arange(size), 1 + rng.integers(0, 9, size))
        head = rng.integers(0, size, len(source))
        head[rng.random(len(head)) < share] = 0
        loop = rng.random(len(head)) < share
        head[loop] = source[loop]
        arena = Arena.from_edges(
            source,
            head,
            owner=rng.random(size) < 0.5,
            priority=rng.integers(0, 4, size),
        )
        prepared = engine.prepare(arena)
        head = prepared.head
        by_target = np.argsort(head, kind="stable")
        np.testing.assert_array_equal(prepared.in_edge, by_target)
        np.testing.assert_array_equal(prepared.in_tail, source[by_target])
        many = np.bincount(head, minlength=size)
        np.testing.assert_array_equal(np.diff(prepared.in_ptr), many)
        np.testing.assert_array_equal(
            prepared.loops, np.flatnonzero(source == prepared.head)
        )
        vertex, useless, other = prepared.useless
        owns = arena.owner == arena.priority % 2
        alone = np.bincount(source[arena.dst != source], minlength=size) == 0
        lost = (arena.dst == source) & ~owns[source] & ~alone[source]
        np.testing.assert_array_equal(useless, np.flatnonzero(lost))
        np.testing.assert_array_equal(vertex, source[useless])
        np.testing.assert_array_equal(vertex, source[other])
        np.testing.assert_array_equal(head[useless], arena.dst[other])
        np.testing.assert_array_equal(head[~lost], arena.dst[~lost])
        assert np.all(head[useless] != vertex)


def test_published_moves_are_of_the_prepared_game():
    rng = np.random.default_rng(2)
    for arena in random_arenas(3, 10, 100):
        arena = looped(arena, rng, 0.5)
        prepared = engine.prepare(arena)
        publish = np.full(prepared.size, UNDECIDED, np.int8)
        move = np.full(prepared.size, NO_EDGE, np.int32)
        outcome = engine.run(prepared, publish=publish, move=move)
        np.testing.assert_array_equal(publish, outcome.winner)
        own = np.where(publish == arena.owner, prepared.of_arena(move), NO_EDGE)
        np.testing.assert_array_equal(own, outcome.strategy)


@pytest.mark.parametrize("leg", ["promotion", "afresh"])
def test_sparse_games_with_as_many_priorities_as_vertices(leg):
    """Large regions rise often there, to small ones."""
    for seed in range(40):
        size = 200 + 10 * seed
        arena = generate.random_game(
            seed, size, num_priorities=size, min_degree=1, max_degree=2
        )
        check_in_turn(arena, (leg,))


def test_a_promotion_costs_what_it_changes():
    """A large region rises to a vertex, and to the next one, and so on."""
    size, rises = 2000, 400
    ring = np.arange(size)
    targets = size + 2 * np.arange(rises)
    between = targets + 1
    arena = Arena.from_edges(
        np.concatenate([ring, np.zeros(rises, int), targets, between]),
        np.concatenate([np.roll(ring, -1), targets, np.zeros(2 * rises, int)]),
        owner=np.arange(size + 2 * rises) == 0,
        priority=np.concatenate([0 * ring, 2 + np.arange(2 * rises)]),
    )
    game, counts = engine.prepare(arena), np.zeros(5, np.int64)
    move = np.full(game.size, NO_EDGE, np.int32)
    assert _legs._promote(
        *(game, game.key.copy(), np.empty(4 * game.size + 4, np.int32)),
        *(np.zeros(game.size, np.int8), move, _legs.NO_WORDS, _legs.NO_MARKS, False),
        *(engine.NEVER_STOPS, engine.NOBODY_READS, _attract.NO_LIMIT, 1 << 60, counts),
    )
    assert counts[2] >= rises - 1
    assert counts[4] < size * rises / 6


@some_of(250, 1000)
@pytest.mark.parametrize("leg", engine.LEGS[1:])
def test_each_engine_alone(leg, count):
    for arena in odd_arenas(seed=31, count=count):
        assert check_in_turn(arena, (leg,)).stats["engine"] == leg
    for arena in random_arenas(seed=32, count=count // 25, size=300):
        check_in_turn(arena, (leg,))


def with_more_edges(arena, seed):
    """One by lot for every third vertex."""
    rng, size = np.random.default_rng(seed), arena.shape[0]
    return Arena.from_edges(
        np.append(arena.src, rng.integers(0, size, size // 3)),
        np.append(arena.dst, rng.integers(0, size, size // 3)),
        owner=arena.owner,
        priority=arena.priority,
    )


def let_most_of_work(monkeypatch, leg, work=1):
    """Gives an engine more of the turns than the others, which have short ones."""
    shares = tuple(8 if each == leg else 1 for each in _legs.SECONDS)
    monkeypatch.setattr(_legs, "FIRST_SHARES", shares)
    monkeypatch.setattr(_legs, "LATER_SHARES", shares)
    monkeypatch.setattr(_legs, "FIRST_TANGLES", 1)
    monkeypatch.setattr(_legs, "BESIDE", dict.fromkeys(_legs.SECONDS, 99))
    monkeypatch.setattr(_legs, "LATER_WORK", work)


def test_engines_hand_on_what_is_won(monkeypatch):
    """With budgets that are soon spent all of them have turns, and decide parts."""
    monkeypatch.setattr(_legs, "WORK_OF_FEW", 2)
    monkeypatch.setattr(_legs, "WORK_OF_RECURSION", 0)
    tried = set()
    arenas = [*odd_arenas(seed=33, count=200), *random_arenas(34, 60, 150)]
    arenas += [generate.two_counters(5), generate.two_counters_plus(3)]
    more = [with_more_edges(generate.counter_ortl(20), seed) for seed in range(5)]
    more += [generate.two_counters_plus(n) for n in (5, 6)]
    arenas += more
    for leg, work, arena in itertools.product((*_legs.SECONDS, None), (1, 4), arenas):
        let_most_of_work(monkeypatch, leg, work)
        for legs in (engine.LEGS, ("afresh", "promotion", "tangles")):
            stats = check_in_turn(arena, legs).stats
            tried.add((stats.get("tried"), stats["engine"]))
    assert ("promotion", "tangles") in tried
    assert ("promotion, tangles, zielonka", "justified") in tried
    assert ("promotion, tangles, zielonka, justified", "afresh") in tried
    assert ("promotion, tangles, zielonka, justified, afresh", "mixed") in tried
    for leg in {*engine.LEGS[1:]} - {"zielonka"}:
        assert (", ".join(engine.LEGS), leg) in tried
    assert ("afresh, tangles, promotion", "tangles") in tried


def test_tangle_learning_has_all_turns_but_the_first():
    """Others work beside it, for about as long, with budgets that double.

    A turn is short, or an eighth of what tangle learning has done before.
    """
    for size in (1000, 5000, 10**6):
        turns = list(itertools.islice(_legs.turns(engine.LEGS, size), 200))
        first = ["promotion", "tangles", "zielonka", "tangles"]
        assert [turn.leg for turn in turns[:4]] == first
        assert {turn.other for turn in turns[:4]} == {None}
        done = turns[1].budget + turns[3].budget
        for turn in turns[4:]:
            assert turn.leg == "tangles"
            rate = turn.more / _legs.BESIDE[turn.other]
            rate /= _legs.LONGER if size <= _legs.FEW else 1
            assert turn.budget <= max(rate, 1) < turn.budget + 1
            most = max(done / _legs.TURNS_GROW, _legs.LEAST_TURN / size, 1)
            assert rate <= 1.5 * most + 1
            done += turn.budget
        rounds = collections.defaultdict(list)
        for leg, some in itertools.groupby(turns[4:], lambda turn: turn.other):
            rounds[leg].append(sum(turn.more for turn in some))
        few = size <= _legs.FEW
        assert set(rounds) == set(_legs.SECONDS) - set(() if few else ["promotion"])
        for leg, budgets in rounds.items():
            later = budgets[1 : -1 if leg == turns[-1].other else None]
            assert later == sorted(later)
            if few:
                for less, more in itertools.pairwise(later):
                    assert 2 * less <= more <= 2 * less + 1
        early = [turn.other for turn in turns[4:40]]
        assert early.index("justified") < early.index("afresh")
        assert "mixed" not in early[: early.index("afresh") + 1]


def test_no_other_has_a_turn_before_tangle_learning_has_done():
    """Where a game is one that it is made for."""
    outcome = check_certificate(generate.two_counters(20))
    assert outcome.stats["tried"] == "promotion, tangles, zielonka"


def test_budgets_are_for_what_is_not_won():
    """A dense part that is won first gives no engine a longer turn in the rest."""
    hard, dense = generate.two_counters_plus(8), generate.clique(150)
    size = hard.shape[0]
    arena = Arena.from_edges(
        np.append(hard.src, dense.src + size),
        np.append(hard.dst, dense.dst + size),
        owner=np.append(hard.owner, dense.owner),
        priority=np.append(hard.priority, dense.priority),
    )
    alone, both = (engine.run(engine.prepare(each)) for each in (hard, arena))
    assert parity.verify(arena, parity.solve(arena, "host"))
    assert alone.stats["engine"] == both.stats["engine"] == "afresh"
    np.testing.assert_array_equal(both.winner[:size], alone.winner)
    assert both.stats["steps"] < 1.5 * alone.stats["steps"] + 10 * len(dense.dst)


def test_a_large_game_of_two_counters_is_won_before_others_learn_tangles():
    arena = generate.two_counters(50)
    assert arena.num_vertices > _legs.FEW
    solution = parity.solve(arena, "host")
    assert parity.verify(arena, solution)
    assert "mixed" not in solution.stats["tried"]


@pytest.mark.parametrize("leg", ["afresh", "justified", "promotion", "zielonka"])
@pytest.mark.parametrize("budget", [1, 3])
def test_an_engine_goes_on_where_it_was(budget, leg):
    """In many short turns it does what it does in one, and nothing again."""

    def turns_of(arena):
        game = engine.prepare(arena)
        winner, move = np.zeros(game.size, np.int8), np.full(game.size, NO_EDGE)
        how = engine.NEVER_STOPS, engine.NOBODY_READS, _attract.NO_LIMIT
        turns = _legs.Turns(game, winner, move.astype(np.int32), *how)
        turns._is_second = True
        return turns, winner

    most = 0
    for arena in [
        *(generate.two_counters_plus(4), generate.counter_rob(4)),
        *random_arenas(seed=36, count=40, size=200),
        *(random_arenas(seed=37, count=20, size=60)),
    ]:
        whole, expected = turns_of(arena)
        assert whole._go(leg, 1 << 40)
        parts, winner = turns_of(arena)
        turns = 1
        while not parts._go(leg, budget):
            _legs.restore(parts._game, parts._key)
            turns += 1
        most = max(most, turns)
        assert parts.stats == whole.stats
        np.testing.assert_array_equal(winner, expected)
    assert most > 5


@pytest.mark.parametrize(
    ("leg", "arena"),
    [
        ("tangles", generate.counter_symsi(60)),
        ("tangles", generate.counter_ortl(150)),
        ("mixed", generate.counter_core(60)),
        ("mixed", generate.two_counters_plus(9)),
        ("afresh", generate.two_counters(9)),
        ("afresh", generate.counter_symsi(20)),
    ],
    ids=str,
)
def test_a_pass_goes_on_where_it_was(leg, arena):
    """In many runs that are cut off it takes hardly more steps than in one."""
    whole = engine.run(engine.prepare(arena), (leg,)).stats
    turns, prepared = 0, engine.prepare(arena)
    outcome = engine.run(prepared, (leg,), max_steps=0)
    while not outcome.finished and turns < 100:
        turns += 1
        begun, steps = outcome.turns, whole["steps"] // 50
        outcome = engine.run(prepared, (leg,), begun=begun, max_steps=steps)
    assert outcome.finished
    assert turns > 10
    what = "regions" if leg == "afresh" else "tangles"
    assert outcome.stats[what] < 1.1 * whole[what]
    assert outcome.stats["steps"] < 1.3 * whole["steps"]
    solution = Solution(Status.SOLVED, winner=outcome.winner, strategy=outcome.strategy)
    assert engine.verify(arena, solution)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_pass_learns_many_tangles_of_a_line(seed):
    """Lines linked both ways, in two games with some edges between them by lot."""
    rng = np.random.default_rng(seed)
    above, below = generate.jurdzinski(1, 120), generate.jurdzinski(1, 40)
    size, more = above.shape[0], below.shape[0]
    ends = [rng.integers(0, n, 5) for n in (size, more, more, size)]
    arena = Arena.from_edges(
        np.concatenate([above.src, below.src + size, ends[0], ends[2] + size]),
        np.concatenate([above.dst, below.dst + size, ends[1] + size, ends[3]]),
        owner=np.append(1 - np.asarray(above.owner, np.int8), below.owner),
        priority=np.append(above.priority + 1, below.priority),
    )
    outcome = engine.run(engine.prepare(arena), ("tangles",))
    solution = Solution(Status.SOLVED, winner=outcome.winner, strategy=outcome.strategy)
    assert engine.verify(arena, solution)
    assert outcome.stats["steps"] < 60 * sum(arena.shape)


@pytest.mark.parametrize("levels", [20, 80])
def test_a_region_rises_level_by_level_in_few_steps(levels):
    """Each time with a tangle more, which has all of the others in it.

    Player 0 goes round, and wins. From some places player 1 may leave, each for a
    vertex of another even priority, from which there is only a way back. So there is
    from vertices of the odd priorities between.
    """
    length, leaving = 4 * levels, 4 * np.arange(levels)
    around, above = np.arange(length), length + np.arange(2 * levels)
    back = np.zeros(2 * levels, np.int64)
    arena = Arena.from_edges(
        np.concatenate([around, leaving, above]),
        np.concatenate([(around + 1) % length, above[::2], back]),
        owner=np.isin(np.arange(length + 2 * levels), leaving),
        priority=np.append(np.zeros(length, np.int64), np.arange(2 * levels) + 2),
    )
    stats = check_in_turn(arena, ("tangles",)).stats
    assert stats["tangles"] == levels - 1
    assert stats["regions"] < 6 * levels
    assert stats["steps"] < 12 * levels * sum(arena.shape)


def some_edges_changed(rng, arena):
    """The same game, where one edge in 30 leads to a vertex drawn by lot."""
    size, edges = arena.shape
    dst = np.where(rng.random(edges) < 1 / 30, rng.integers(0, size, edges), arena.dst)
    owner, priority = arena.owner, arena.priority
    return Arena.from_edges(arena.src, dst, owner=owner, priority=priority)


@pytest.mark.parametrize("seed", range(3))
def test_passes_that_keep_regions_learn_what_full_ones_do(seed):
    """Tangle by tangle, from a pool that nothing else is told of."""

    def learned(arena, keeps):
        game = engine.prepare(arena)
        size = len(game.key)
        search = _tangles.new_search(size, np.zeros(1, np.int64))
        pool = _tangles.new_pool(size, 64 * size + 256)
        key, move = game.key.copy(), np.full(size, NO_EDGE, np.int32)
        counts, end, found = np.zeros(4, np.int64), _tangles.SPENT, []
        while end == _tangles.SPENT:
            if not keeps:
                search.place[_tangles.SAME] = -1
            end = _learning.learn(
                *(game, key, move, search, pool, False, engine.NEVER_STOPS),
                *(engine.NOBODY_READS, 1, counts),
            )
            for tangle in range(len(found), pool.many[0]):
                begin, last = pool.begin[tangle : tangle + 2]
                found.append(sorted(pool.vertex[begin:last].tolist()))
        assert end == _tangles.SOLVED
        return found, (key >> 2).tolist(), counts.tolist()

    rng, fewer = np.random.default_rng(seed), 0
    hard = [
        generate.two_counters(6),
        generate.two_counters_plus(4),
        generate.counter_rob(5),
        generate.counter_symsi(12),
        generate.jurdzinski(4, 12),
    ]
    for arena in hard + [some_edges_changed(rng, x) for x in 6 * hard]:
        once, winners, counts = learned(arena, True)
        again, others, more = learned(arena, False)
        assert winners == others
        assert once == again
        assert counts[1] <= more[1]
        fewer += counts[1] < more[1]
    assert fewer > 10


@pytest.mark.parametrize(
    ("leg", "arena"),
    [
        ("tangles", generate.two_counters(16)),
        ("tangles", generate.two_counters_plus(10)),
        ("mixed", generate.two_counters_plus(9)),
    ],
    ids=str,
)
def test_a_full_pool_gives_no_longer_turn(leg, arena, monkeypatch):
    """However often there is no room for a tangle, a budget is for all of the turn."""
    monkeypatch.setattr(_legs, "ROWS", 0)
    monkeypatch.setattr(_legs, "LEAST_ROWS", 1)
    game = engine.prepare(arena)
    winner, move = np.zeros(game.size, np.int8), np.full(game.size, NO_EDGE, np.int32)
    how = engine.NEVER_STOPS, engine.NOBODY_READS, _attract.NO_LIMIT
    turns = _legs.Turns(game, winner, move, *how)
    assert not turns._go(leg, 60)
    assert turns.stats["tangles"] > 60
    assert turns.stats["steps"] < 1.2 * 60 * sum(arena.shape)


@pytest.mark.parametrize("size", [100, 400])
def test_a_few_edges_more_make_no_game_hard(size):
    """They do for promotion and tangle learning, which take thousands of steps."""
    arena = generate.counter_ortl(size)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        more = rng.integers(0, arena.shape[0], (2, arena.shape[0] * 3 // 10))
        other = Arena.from_edges(
            np.append(arena.src, more[0]),
            np.append(arena.dst, more[1]),
            owner=arena.owner,
            priority=arena.priority,
        )
        assert check_certificate(other).stats["steps"] < 500 * sum(other.shape)


@pytest.mark.parametrize("k", [13, 24, 39])
def test_hard_games_are_whole_when_tangles_are_learned(k):
    """What promotion wins of them first may make the rest a good deal harder."""
    arena = generate.counter_rob(k)
    for edges in (np.arange(arena.shape[1]), np.arange(arena.shape[1])[::-1]):
        other = Arena.from_edges(
            arena.src[edges],
            arena.dst[edges],
            owner=arena.owner,
            priority=arena.priority,
        )
        stats = check_certificate(other).stats
        assert stats["engine"] == "tangles"
        assert stats["steps"] < 60 * sum(arena.shape)


def side_by_side(rng, links, *arenas):
    """Several games in one, with so many more edges between any vertices."""
    src, dst, size = [], [], 0
    for arena in arenas:
        src, dst = np.append(src, arena.src + size), np.append(dst, arena.dst + size)
        size += arena.shape[0]
    more = rng.integers(0, size, (2, links))
    return Arena.from_edges(
        np.append(src, more[0]).astype(np.int64),
        np.append(dst, more[1]).astype(np.int64),
        owner=np.concatenate([x.owner for x in arenas]),
        priority=np.concatenate([x.priority for x in arenas]),
    )


def test_hard_games_side_by_side_are_hardly_harder():
    """Together they took three to seven times the steps of both alone."""
    rng = np.random.default_rng(0)
    games = generate.two_counters_plus(9), generate.two_counters_plus(8)
    alone = sum(solved(x).stats["steps"] for x in games)
    for links in (0, 1, 2):
        outcome = check_certificate(side_by_side(rng, links, *games))
        assert outcome.stats["parts"] > 1
        assert outcome.stats["steps"] < 3 * alone


def test_no_part_begins_with_what_all_of_the_game_has_just_had(monkeypatch):
    """Tangle learning had a turn alone, and justifications one after which it fell."""
    had, have = [], _legs.Turns._have

    def noted(turns, turn):
        had.append((len(turns._key), turn.leg, turn.other))
        return have(turns, turn)

    monkeypatch.setattr(_legs.Turns, "_have", noted)
    games = generate.two_counters_plus(9), generate.two_counters_plus(8)
    whole = side_by_side(np.random.default_rng(0), 0, *games)
    check_certificate(whole)
    sizes = whole.shape[0], *(game.shape[0] for game in games)
    of_whole, *of_parts = (
        [(leg, other) for size, leg, other in had if size == each] for each in sizes
    )
    first, recursion, alone = (
        (leg, None) for leg in ("promotion", "zielonka", "tangles")
    )
    assert of_whole[:4] == [first, alone, recursion, alone]
    assert {other for _, other in of_whole[4:]} == {"justified"}
    for turns in of_parts:
        assert turns[:2] == [first, recursion]
        assert alone not in turns
        others = [other for _, other in turns[2:]]
        assert others[0] == "promotion"
        assert "justified" not in others[: others.index("afresh") + 1]


@some_of(200, 5000)
def test_games_that_fall_apart(count, monkeypatch):
    """Each part is a game of its own, once those are won that it leads to."""
    monkeypatch.setattr(_legs, "WORK_OF_FEW", 0)
    monkeypatch.setattr(_legs, "WORK_OF_RECURSION", 0)
    monkeypatch.setattr(_legs, "LATER_WORK", 1)
    monkeypatch.setattr(_legs, "FIRST_TANGLES", 1)
    monkeypatch.setattr(_arranged, "LEAST_PART", 1)
    rng, parts = np.random.default_rng(3), 0
    odd = odd_arenas(17, 3 * count)
    for number in range(count):
        arena = side_by_side(rng, number % 3, next(odd), next(odd), next(odd))
        outcome = check(arena)
        parts += outcome.stats.get("parts", 0)
        prepared = engine.prepare(arena)
        publish = np.full(prepared.size, UNDECIDED, np.int8)
        engine.run(prepared, publish=publish)
        np.testing.assert_array_equal(publish, outcome.winner)
    assert parts > count // 4


def test_a_pool_of_tangles_grows(monkeypatch):
    monkeypatch.setattr(_legs, "ROWS", 0)
    monkeypatch.setattr(_legs, "LEAST_ROWS", 1)
    for arena in (generate.two_counters(6), generate.two_counters_plus(4)):
        assert check_in_turn(arena, ("tangles",)).stats["tangles"] > 10


def test_lists_of_boxes_are_cut_down(monkeypatch):
    """With no more room than they need at least."""

    def search(size, clock):
        new = _tangles.new_search(size, clock)
        return new._replace(listed=new.listed[:size].copy())

    monkeypatch.setattr(_legs, "new_search", search)
    for arena in odd_arenas(seed=35, count=400):
        check_in_turn(arena, ("tangles",))
    check_in_turn(generate.two_counters(6), ("tangles",))


HARD = {
    generate.counter_dp: (40, 80),
    generate.counter_rr: (40, 80),
    generate.counter_m: (40, 80),
    generate.counter_core: (20, 40),
    generate.counter_rob: (10, 20),
    generate.counter_qpt: (40, 80),
    generate.counter_ortl: (40, 80),
    generate.counter_symsi: (20, 80),
    generate.dull: (40, 80),
    generate.friedmann: (20, 40),
    generate.fearnley: (10, 20),
    generate.two_counters: (10, 20),
    generate.two_counters_plus: (8, 14),  # two engines work, and their steps count
}


@pytest.mark.parametrize("family", HARD)
def test_no_known_family_is_exponential(family):
    """Quadratic steps are enough; each of the engines alone needs more somewhere."""
    for n in HARD[family]:
        arena = family(n)
        prepared = engine.prepare(arena)
        outcome = engine.run(prepared, max_steps=4 * arena.shape[0] ** 2)
        assert outcome.finished
        assert check_certificate(arena).stats == outcome.stats


@pytest.mark.parametrize(
    ("leg", "arena"),
    [
        ("promotion", generate.counter_dp(40)),
        ("afresh", generate.counter_rr(40)),
        ("afresh", generate.two_counters(16)),
        ("tangles", generate.two_counters_plus(12)),
        ("justified", generate.counter_rob(20)),
        ("zielonka", generate.counter_core(20)),
    ],
    ids=str,
)
def test_each_engine_alone_is_exponential_somewhere(leg, arena):
    limit = 4 * arena.shape[0] ** 2
    alone = engine.run(engine.prepare(arena), (leg,), max_steps=limit)
    assert not alone.finished


def test_loops_are_published():
    loops = np.arange(4)
    arena = Arena.from_edges(loops, loops, owner=loops % 2 == 0, priority=loops)
    publish = np.full(4, UNDECIDED, np.int8)
    outcome = solved(arena, publish=publish)
    np.testing.assert_array_equal(publish, [0, 1, 0, 1])
    np.testing.assert_array_equal(outcome.winner, publish)


def test_long_rows_are_not_read_again_and_again():
    """One vertex sees all others, which are attracted one after the other."""
    size = 30_000
    path = np.arange(1, size)
    arena = Arena.from_edges(
        np.append(np.zeros(size - 1, int), path),
        np.append(path, np.append(path[1:], size - 1)),
        owner=np.arange(size) > 0,
        priority=np.append(np.zeros(size - 1, int), 1),
    )
    outcome = check(arena)
    assert outcome.winner.all()


@pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")
@pytest.mark.parametrize("legs", [engine.LEGS, ("tangles",), ("afresh",), ("mixed",)])
def test_plain_and_compiled_are_the_same(legs):
    for arena in odd_arenas(seed=23, count=100, max_vertices=16):
        compiled = solved(arena, legs=legs)
        with host.interpreted():
            plain = solved(arena, legs=legs)
        np.testing.assert_array_equal(plain.winner, compiled.winner)
        np.testing.assert_array_equal(plain.strategy, compiled.strategy)
        assert plain.stats == compiled.stats


# ---- forms of arenas ---------------------------------------------------------


def test_the_empty_game():
    outcome = solved(Arena.from_edges([], [], owner=[], priority=[]))
    assert outcome.winner.shape == outcome.strategy.shape == (0,)


@pytest.mark.parametrize("leg", _legs.LEGS)
def test_the_empty_game_by_each_engine(leg):
    empty = np.zeros(0, np.int32)
    arena = Arena.from_edges(empty, empty, owner=empty, priority=empty)
    assert engine.run(engine.prepare(arena), (leg,)).finished
    assert parity.solve(arena, "host-tangles").winner.tolist() == []


def test_padding():
    for arena in odd_arenas(seed=24, count=50):
        size, padded = arena.shape[0], arena.pad()
        outcome, whole = solved(arena), check(padded)
        np.testing.assert_array_equal(whole.winner[:size], outcome.winner)
        np.testing.assert_array_equal(whole.strategy[:size], outcome.strategy)
        assert np.all(whole.strategy[size:] == NO_EDGE)
        assert not whole.winner[size:].any()


def test_a_run_leaves_the_prepared_game_as_it_was():
    arena = next(random_arenas(seed=25, count=1, size=200))
    prepared = engine.prepare(arena)
    first, second = engine.run(prepared), engine.run(prepared)
    np.testing.assert_array_equal(first.strategy, second.strategy)
    assert first.stats == second.stats


LOOP = Arena.from_edges([0], [0], owner=[0], priority=[0])


@pytest.mark.parametrize(
    ("arena", "message"),
    [
        (dataclasses.replace(LOOP, priority=None), "needs vertex priorities"),
        (
            dataclasses.replace(LOOP, owner=np.array([[False]])),
            "one game at a time",
        ),
        (
            Arena.from_edges(
                [0], [1], owner=[0, 0], priority=[0, 0], dead_ends="allow"
            ),
            "vertex 1 has no successor",
        ),
    ],
)
def test_refuses_other_games(arena, message):
    with pytest.raises(ValueError, match=message):
        engine.prepare(arena)


# ---- two engines side by side ---------------------------------------------------


def begun_turns(arena, stop=None):
    """Turns of a game that nobody has had."""
    game = engine.prepare(arena)
    winner, move = np.zeros(game.size, np.int8), np.full(game.size, NO_EDGE, np.int32)
    stop = engine.NEVER_STOPS if stop is None else stop
    return _legs.Turns(game, winner, move, stop, engine.NOBODY_READS, _attract.NO_LIMIT)


@pytest.fixture
def threads(monkeypatch):
    """Gives every turn two threads; the set gets those that engines work in."""
    seen, go = set(), _legs.Turns._go

    def noted(turns, leg, budget):
        seen.add(threading.get_ident())
        return go(turns, leg, budget)

    monkeypatch.setattr(_legs.Turns, "_go", noted)
    begin = host.Aside.begin

    def surely(aside):
        begin(aside)
        while host.num_cores() > 1 and not aside._begun.locked():
            time.sleep(0.0001)

    monkeypatch.setattr(host.Aside, "begin", surely)
    monkeypatch.setattr(_legs, "BESIDE_FROM", 0)
    monkeypatch.setattr(host, "num_cores", lambda: 2)
    return seen


LINKED = [
    generate.two_counters_plus(5),
    generate.counter_core(12),
    with_more_edges(generate.counter_ortl(20), 3),
    side_by_side(np.random.default_rng(5), 2, *map(generate.two_counters_plus, (4, 5))),
    *random_arenas(seed=38, count=20, size=150),
]


@pytest.mark.parametrize("leg", [*_legs.SECONDS, None])
def test_one_thread_and_two_say_the_same(leg, threads, monkeypatch):
    """Winners, strategies and all that is counted, also after a pause."""
    monkeypatch.setattr(_legs, "WORK_OF_FEW", 1)
    monkeypatch.setattr(_arranged, "LEAST_PART", 8)
    let_most_of_work(monkeypatch, leg)
    for arena in LINKED:
        prepared, found = engine.prepare(arena), []
        for cores in (1, 2):
            monkeypatch.setattr(host, "num_cores", lambda cores=cores: cores)
            outcome = engine.run(prepared, max_steps=3000)
            pauses = 0
            while not outcome.finished:
                pauses += 1
                steps = 3000 << pauses
                outcome = engine.run(prepared, begun=outcome.turns, max_steps=steps)
            found.append((outcome.winner, outcome.strategy, outcome.stats, pauses))
        for one, two in zip(*found, strict=True):
            np.testing.assert_array_equal(one, two)
        solution = Solution(
            Status.SOLVED, winner=outcome.winner, strategy=outcome.strategy
        )
        assert engine.verify(arena, solution)
    assert len(threads) > 1  # one of those that wait for work has it, of any number


@pytest.mark.parametrize("cores", [1, 2])
def test_the_first_of_two_engines_that_ends_stops_the_other(
    cores, threads, monkeypatch
):
    """Nobody waits for the second one, which would take for ever, nor counts it."""
    monkeypatch.setattr(host, "num_cores", lambda: cores)
    turns = begun_turns(generate.two_counters(25))
    turn = _legs.Turn("tangles", _legs.UNLIMITED, "justified", _legs.UNLIMITED)
    finished, _ = turns._have(turn)
    assert finished
    assert turns._engine == "tangles"
    assert "withdrawn" not in turns.stats


@pytest.mark.parametrize("cores", [1, 2])
def test_the_second_of_two_engines_wins(cores, threads, monkeypatch):
    """Once the first one has spent its budget, all that is won is told."""
    monkeypatch.setattr(host, "num_cores", lambda: cores)
    arena = generate.counter_ortl(60)
    turns = begun_turns(arena)
    publish = turns._publish = np.full(arena.shape[0], UNDECIDED, np.int8)
    turn = _legs.Turn("tangles", 1, "justified", _legs.UNLIMITED)
    finished, _ = turns._have(turn)
    assert finished
    assert turns._engine == "justified"
    assert turns._tried == ["tangles"]
    np.testing.assert_array_equal(publish, turns._winner)
    solution = Solution(Status.SOLVED, winner=turns._winner, strategy=turns._move)
    assert engine.verify(arena, solution)


@pytest.mark.parametrize("cores", [1, 2])
def test_a_stop_ends_the_second_engine_too_and_both_go_on(cores, threads, monkeypatch):
    """It comes when the first one has spent its budget, and waits for the other."""
    monkeypatch.setattr(host, "num_cores", lambda: cores)
    arena, stop = generate.two_counters(25), np.zeros(1, np.int8)
    turns = begun_turns(arena, stop)
    timer = threading.Timer(0.2, stop.fill, [1])
    timer.start()
    turn = _legs.Turn("tangles", 1, "justified", _legs.UNLIMITED)
    finished, left = turns._have(turn)  # the second one alone would take for ever
    timer.join()
    assert not finished
    assert left._replace(more=turn.more) == turn
    assert 0 < left.more < turn.more
    assert turns.stats["withdrawn"] > 0
    turns._rest = iter([left._replace(more=1), _legs.Turn("tangles", 1 << 30)])
    how = turns._winner.copy(), turns._move.copy(), engine.NEVER_STOPS
    turns.go_on(*how, engine.NOBODY_READS, 1 << 40)
    assert turns.take(engine.LEGS)[0]
    solution = Solution(Status.SOLVED, winner=how[0], strategy=how[1])
    assert engine.verify(arena, solution)


def test_what_a_failing_engine_raises_reaches_the_caller(threads, monkeypatch):
    def fails(turns, budget):
        raise RuntimeError("no claims today")

    monkeypatch.setattr(_legs.Turns, "_justify", fails)
    turns = begun_turns(generate.two_counters(10))
    with pytest.raises(RuntimeError, match="no claims today"):
        turns._have(_legs.Turn("tangles", 1, "justified", 1))


def known_tangles(pool):
    """All that a pool says of each of its tangles; the last two by its lists."""
    many, ways = int(pool.many[0]), collections.defaultdict(list)
    for v, player in itertools.product(range(len(pool.first)), range(2)):
        way = pool.first[v, player]
        while way >= 0:
            assert pool.out[way] == v
            assert pool.player[pool.of[way]] == player
            ways[int(pool.of[way])].append(v)
            way = pool.after[way]
    found = collections.Counter()
    for t in range(many):
        rows = slice(pool.begin[t], pool.begin[t + 1])
        out = pool.out[pool.begin_out[t] : pool.begin_out[t + 1]]
        assert sorted(out.tolist()) == sorted(ways[t])
        members = tuple(pool.vertex[rows].tolist()), tuple(pool.move[rows].tolist())
        found[(int(pool.player[t]), *members, tuple(ways[t]))] += 1
    return found


@pytest.mark.parametrize(
    "arena",
    [
        generate.two_counters_plus(8),
        generate.counter_symsi(30),
        generate.counter_ortl(80),
        *LINKED[:4],
        generate.jurdzinski(3, 40),
    ],
    ids=str,
)
def test_promotion_beside_and_tangle_learning_share_tangles(arena, monkeypatch):
    """It knows all when its turn begins; of its own, few enough are taken over."""
    monkeypatch.setattr(_legs, "ROWS", 0)
    monkeypatch.setattr(_legs, "LEAST_ROWS", 1)
    turns, finished, cases = begun_turns(arena), False, collections.Counter()
    finished = turns._go("tangles", 1)
    while not finished:
        _legs.restore(turns._game, turns._key)
        begun, won = known_tangles(turns._pool), turns._won()
        second = turns._followed(_legs.Turn("tangles", 1, "mixed", 10))
        pool = second._pool
        assert known_tangles(pool) == begun
        assert np.all(pool.done[: pool.many[0]] <= second._clock[0])
        second._go("mixed", 1 + sum(cases.values()) % 8)
        finished = turns._go("tangles", 3)
        own, theirs = known_tangles(turns._pool), known_tangles(second._pool)
        same = turns._won() == second._won() == won
        turns._join(second, learned=True)
        known = known_tangles(turns._pool)
        more, mine = theirs.total() - begun.total(), own.total() - begun.total()
        taken = same and more <= _legs.TAKEN_OVER * mine
        assert known == (own + (theirs - begun) if taken else own)
        cases["gone" if not same else "taken" if taken else "too many"] += 1
        finished = turns._won() == len(turns._key)
    assert cases["taken"] > 0


def test_both_engines_together_attract_more():
    """A vertex whose owner can only choose which of them wins it for his rival."""
    arena = Arena.from_edges(
        [0, 0, 1, 2, 3, 3],
        [1, 2, 1, 2, 0, 3],
        owner=[1, 0, 0, 0],
        priority=[3, 0, 0, 3],
    )
    turns = begun_turns(arena)
    second = turns._followed(_legs.Turn("tangles", 1, "afresh", 1))
    for each, v in ((turns, 1), (second, 2)):
        each._key[v] = 4 * _attract.WON
        each._move[v] = arena.row_ptr[v]
    turns._publish = np.full(4, UNDECIDED, np.int8)
    turns._join(second)
    assert turns._winner.tolist() == turns._publish.tolist() == [0] * 4
    assert turns._move.tolist() == [NO_EDGE, 2, 3, 4]


@some_of(300, 5000)
def test_a_pass_that_finds_nothing_more_ends(count):
    """Others may have won all that was left of it, and what it would have found."""
    rng, cut = np.random.default_rng(7), 0
    for number, arena in enumerate((*odd_arenas(40, count), *LINKED)):
        expected = reference.solve(arena).winner
        turns = begun_turns(arena)
        turns._max_steps = int(rng.integers(1, 2 * arena.shape[0] + 2))
        finished = turns._go("tangles", _legs.UNLIMITED)
        _legs.restore(turns._game, turns._key)
        if not finished:
            place = turns._searches[False].place
            cut += place[0] > 0 and place[1] == 0
            wins = expected == rng.integers(2)
            player = expected[wins].astype(np.int32)
            turns._key[wins] = 4 * (_attract.WON + player) | (turns._key[wins] & 1)
            turns._max_steps = _attract.NO_LIMIT
            assert turns._go("tangles", _legs.UNLIMITED)
        np.testing.assert_array_equal(
            (turns._key >> 2) - _attract.WON, expected, err_msg=str(number)
        )
    assert cut > count // 20


@some_of(200, 5000)
def test_claims_are_kept_where_others_win(count):
    """Those that are wrong then are withdrawn, and what rests on them.

    Others win what tangle learning finds soon, or all that a player wins.
    """
    rng, won_since = np.random.default_rng(6), 0
    for number, arena in enumerate((*odd_arenas(39, count), *LINKED)):
        expected = reference.solve(arena).winner
        turns, finished, before = begun_turns(arena), False, None
        while not finished:
            finished = turns._go("justified", 1)
            claims, now = turns._claims
            assert before is None or claims is before
            before = claims
            if not finished and number % 2:
                finished = turns._go("tangles", 1)
                _legs.restore(turns._game, turns._key)
            elif not finished:
                wins = expected == rng.integers(2)
                player = expected[wins].astype(np.int32)
                key = 4 * (_attract.WON + player) | (turns._key[wins] & 1)
                turns._key[wins] = key
            won_since += not finished and turns._won() > now
        np.testing.assert_array_equal(
            (turns._key >> 2) - _attract.WON, expected, err_msg=str(number)
        )
    assert won_since > count // 10


@some_of(200, 5000)
def test_the_recursion_begins_again_where_others_win(count):
    """What it has won at its first level is won for good before."""
    rng, again, partly = np.random.default_rng(8), 0, 0
    for number, arena in enumerate((*odd_arenas(41, count), *LINKED)):
        expected = reference.solve(arena).winner
        turns, finished = begun_turns(arena), False
        while not finished:
            now = turns._won()
            finished = turns._go("zielonka", 1)
            won = turns._key >= 4 * _attract.WON
            player = (turns._key >> 2) - _attract.WON
            np.testing.assert_array_equal(player[won], expected[won])
            partly += not finished and won.sum() > now
            if not finished:
                wins = expected == rng.integers(2)
                player = expected[wins].astype(np.int32)
                key = 4 * (_attract.WON + player) | (turns._key[wins] & 1)
                again += not won[wins].all()
                turns._key[wins] = key
        np.testing.assert_array_equal(
            (turns._key >> 2) - _attract.WON, expected, err_msg=str(number)
        )
    assert again > count // 20
    assert partly > 0


@pytest.mark.parametrize("arena", [generate.jurdzinski(3, 40), *LINKED[3:5]], ids=str)
def test_a_pass_goes_on_where_vertices_were_won(arena):
    """By itself, in a turn that was over then; so it takes hardly more steps."""
    whole = engine.run(engine.prepare(arena), ("tangles",)).stats
    turns, times = begun_turns(arena), 0
    while not turns._go("tangles", 1):
        _legs.restore(turns._game, turns._key)
        times += 1
    assert turns.stats["steps"] < 1.5 * whole["steps"] + 4 * sum(arena.shape)
    solution = Solution(Status.SOLVED, winner=turns._winner, strategy=turns._move)
    assert engine.verify(arena, solution)


# ---- stopping ----------------------------------------------------------------


def check_partial(outcome, publish, whole):
    """What is decided is right, and is what was published."""
    decided = outcome.winner != UNDECIDED
    np.testing.assert_array_equal(outcome.winner[decided], whole.winner[decided])
    np.testing.assert_array_equal(publish, outcome.winner)
    assert np.all(outcome.strategy[~decided] == NO_EDGE)
    return decided


def test_step_limits_leave_sound_answers():
    partly = 0
    for arena in random_arenas(seed=26, count=30, size=60):
        prepared = engine.prepare(arena)
        whole = engine.run(prepared)
        for limit in range(0, whole.stats["steps"] + 2, 7):
            publish = np.full(arena.shape[0], UNDECIDED, np.int8)
            outcome = engine.run(prepared, publish=publish, max_steps=limit)
            assert outcome.stats["steps"] <= limit
            assert outcome.finished == (limit >= whole.stats["steps"])
            decided = check_partial(outcome, publish, whole)
            assert decided.all() or not outcome.finished
            partly += decided.any() and not decided.all()
            kept = decided[arena.src] & (outcome.strategy[arena.src] != NO_EDGE)
            kept &= outcome.strategy[arena.src] == np.arange(arena.shape[1])
            assert np.all(decided[arena.dst[kept]])
    assert partly > 20


def test_step_limits_of_all_engines_leave_sound_answers(monkeypatch):
    """They end after a region, and so may take some more steps than they were given."""
    monkeypatch.setattr(_legs, "WORK_OF_FEW", 1)
    partly, engines = 0, set()
    hard = generate.two_counters_plus(4), generate.counter_core(8)
    more = [with_more_edges(generate.counter_ortl(20), seed) for seed in range(5)]
    games = (*random_arenas(seed=36, count=60, size=60), *hard, *hard, *more, *hard)
    for number, arena in enumerate(games):
        let_most_of_work(monkeypatch, _legs.SECONDS[number // 2 % 4])
        prepared = engine.prepare(arena)
        whole = engine.run(prepared)
        for limit in range(0, whole.stats["steps"] + 97, 97):
            publish = np.full(arena.shape[0], UNDECIDED, np.int8)
            outcome = engine.run(prepared, publish=publish, max_steps=limit)
            decided = check_partial(outcome, publish, whole)
            assert decided.all() or not outcome.finished
            partly += decided.any() and not decided.all()
            engines.add(outcome.stats["engine"])
    assert partly > 20
    assert engines == {*engine.LEGS}


@pytest.mark.parametrize("steps", [1, 100, 3000])
@pytest.mark.parametrize("legs", [_legs.LEGS, *((leg,) for leg in _legs.LEGS)])
def test_a_run_that_was_cut_off_goes_on(legs, steps, monkeypatch):
    """What was won stays so, tangles are kept, and somebody else may watch the rest."""
    monkeypatch.setattr(_legs, "WORK_OF_FEW", 1)
    monkeypatch.setattr(_legs, "LATER_WORK", 2)
    monkeypatch.setattr(_legs, "FIRST_TANGLES", 2)
    monkeypatch.setattr(_arranged, "LEAST_PART", 1)
    rng = np.random.default_rng(31)
    for arena in (generate.two_counters(4), *random_arenas(seed=31, count=3, size=150)):
        arena = looped(arena, rng, 0.5)
        prepared = engine.prepare(arena.pad(256, 4096))
        expected = reference.solve(arena).winner
        outcome, known = engine.run(prepared, legs, max_steps=steps), 0
        for times in range(1, 8):
            if outcome.finished:
                break
            won = outcome.winner != UNDECIDED
            assert won.sum() >= known
            known = won.sum()
            publish = np.full(prepared.size, UNDECIDED, np.int8)
            move = np.full(prepared.size, NO_EDGE, np.int32)
            outcome = engine.run(
                prepared,
                legs,
                begun=outcome.turns,
                publish=publish,
                move=move,
                max_steps=None if times == 7 else steps * 4**times,
            )
            size = arena.shape[0]
            np.testing.assert_array_equal(publish[:size], outcome.winner[:size])
        assert outcome.finished
        assert outcome.turns is None
        solution = Solution(
            Status.SOLVED,
            winner=outcome.winner[: arena.shape[0]],
            strategy=outcome.strategy[: arena.shape[0]],
        )
        np.testing.assert_array_equal(solution.winner, expected)
        assert engine.verify(arena, solution)


def test_what_the_first_thread_has_done_is_not_done_again(monkeypatch):
    """The caller's has so much patience; another one, which is watched, goes on."""
    arena, begun, run = generate.two_counters(8), [], engine.run
    alone = solved(arena)

    def watched(*args, **how):
        begun.append(how["begun"])
        return run(*args, **how)

    monkeypatch.setattr(engine, "run", watched)
    monkeypatch.setattr(Parity, "patience", 2 * alone.stats["steps"] // 3)
    found = parity.solve(arena, "host")
    assert begun[0] is None
    assert begun[1] is not None
    np.testing.assert_array_equal(found.winner, alone.winner)
    assert parity.verify(arena, found)
    # An engine that is cut off has its turn again, so a part may come twice.
    assert found.stats["steps"] < 1.5 * alone.stats["steps"]


@pytest.mark.parametrize("legs", [engine.LEGS, ("tangles",), ("mixed",)])
def test_a_raised_flag_stops_at_once(legs):
    arena = generate.random_game(0, 20_000, num_priorities=4)
    outcome = engine.run(engine.prepare(arena), legs, stop=np.ones(1, np.int8))
    assert not outcome.finished
    assert outcome.stats["steps"] <= 20 * _attract.POLL


@pytest.mark.skipif(not host.can_compile(), reason="takes Python's lock")
def test_another_thread_stops_it():
    """The engine runs without the lock, so that this thread goes on and can stop it."""
    arena = generate.jurdzinski(150, 300)
    prepared = engine.prepare(arena)
    engine.run(engine.prepare(LOOP))  # compiled by now
    stop = np.zeros(1, np.int8)
    publish = np.full(arena.shape[0], UNDECIDED, np.int8)
    outcomes = []

    def race():
        outcomes.append(engine.run(prepared, stop=stop, publish=publish))

    thread = threading.Thread(target=race)
    thread.start()
    while not np.any(publish != UNDECIDED):
        time.sleep(1e-4)
    stop[0] = 1
    thread.join(timeout=60)
    assert not thread.is_alive()
    whole = engine.run(prepared)
    assert not outcomes[0].finished
    assert check_partial(outcomes[0], publish, whole).any()


# ---- games of others ---------------------------------------------------------


def check_file(path):
    arena = pgsolver.load(path)
    np.testing.assert_array_equal(check_certificate(arena).winner, known_winners(path))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the published games are not there")
@pytest.mark.parametrize("path", files()[::40], ids=lambda path: path.name)
def test_sample_of_the_corpus(path):
    check_file(path)


@pytest.mark.sweep
@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_corpus(path):
    check_file(path)


@pytest.mark.sweep
def test_many_odd_games():
    for arena in odd_arenas(seed=27, count=20_000):
        check(arena)
