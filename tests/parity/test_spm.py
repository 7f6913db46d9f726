"""Small progress measures: packing, players, queues, bounds, priorities on edges."""

import dataclasses
import itertools

import brute_force
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from alike import SIZE, alike, side_by_side
from measured import (
    assert_certificate,
    extended,
    split_all,
    with_edge_priorities,
)
from repeats import some_of

from jaxgames import Arena, SolveError, Status, generate, ops, parity
from jaxgames.ops import _parts, _slices
from jaxgames.parity import SPM, _bounds, _measures, reference
from jaxgames.testing import SHAPES, check_solver, odd_arena, odd_arenas

# Two words compile faster than the five that a traced game of unknown counts takes.
WAYS = {
    "player 1": SPM(player=1, words=2, digits=24),
    "implicit": SPM(queue="implicit", words=2, digits=24),
    "explicit": SPM(queue="explicit", every=3, words=2, digits=24),
}


@pytest.mark.parametrize(
    "way", ["explicit", pytest.param("player 1", marks=pytest.mark.sweep)]
)
def test_conforms(way):
    check_solver(WAYS[way], alike(seed=1, count=3))


@some_of(40, 100)
@pytest.mark.parametrize("solver", [SPM(), *WAYS.values()], ids=str)
def test_agrees_with_the_reference(solver, count):
    for arena in odd_arenas(seed=7, count=count):
        arena = arena.pad(48, 512)  # one compilation for all
        solution = parity.solve(arena, solver)
        np.testing.assert_array_equal(solution.winner, reference.solve(arena).winner)
        assert reference.verify(arena, solution)
        assert_certificate(arena, solution)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_the_reference_at_length(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        for shape in SHAPES:
            arena = odd_arena(shape, rng, max_vertices=40).pad(48, 512)
            expected = reference.solve(arena).winner
            for solver in (SPM(), *WAYS.values()):
                solution = parity.solve(arena, solver)
                np.testing.assert_array_equal(solution.winner, expected)
                assert reference.verify(arena, solution)
                assert_certificate(arena, solution)


@pytest.mark.parametrize("player", [0, 1])
def test_against_all_strategies(player):
    for arena in odd_arenas(seed=5, count=20, max_vertices=5):
        solution = parity.solve(arena.pad(16, 128), SPM(player=player))
        winner = np.asarray(solution.winner)[: arena.shape[0]]
        np.testing.assert_array_equal(winner, brute_force.winners(arena))
        for who in (0, 1):
            assert brute_force.wins(arena, who, winner, np.asarray(solution.strategy))


def test_a_run_that_stops_early_guesses_nothing():
    arena = generate.jurdzinski(2, 2)
    final = np.asarray(parity.solve(arena, "zielonka").winner)
    for solver, steps in itertools.product((SPM(), SPM(player=1)), (0, 3, 30, 300)):
        solution = parity.solve(arena, solver, max_steps=steps, throw=False)
        winner = np.asarray(solution.winner)
        known = winner != -1
        np.testing.assert_array_equal(winner[known], final[known])
        # Who is said to win has a move, and a measure if it is known by his own.
        moves = known & (arena.owner == winner)
        assert np.all(np.asarray(solution.strategy)[moves] >= 0)
        top = np.asarray(solution.measures.words)[:, 0] == _measures.TOP
        assert not np.any(moves & top[winner, np.arange(len(winner))])


@pytest.mark.parametrize(
    "option",
    [
        {"words": 0},
        {"digits": -1},
        {"words": 1.5},
        {"every": 0},
    ],
)
def test_numbers_that_make_no_sense(option):
    with pytest.raises(ValueError, match="must be (an integer )?at least 1"):
        SPM(**option)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"player": 2}, "player must be 0 or 1, got 2"),
        ({"queue": "stack"}, "queue must be one of .*'explicit'.*, got 'stack'"),
        ({"bounds": "tight"}, "bounds must be 'count' or 'path', got 'tight'"),
    ],
)
def test_options_that_do_not_exist(option, message):
    with pytest.raises(ValueError, match=message):
        SPM(**option)


# ---- packing -----------------------------------------------------------------


def ring(priority: np.ndarray, chords: int = 0) -> Arena:
    """A cycle through vertices of the given priorities, and some random edges."""
    size = len(priority)
    rng = np.random.default_rng(0)
    src = np.append(np.arange(size), rng.integers(0, size, chords))
    dst = np.append(np.roll(np.arange(size), 1), rng.integers(0, size, chords))
    return Arena.from_edges(src, dst, owner=np.arange(size) % 2, priority=priority)


def odometer(bound, digits, upto: int, raises: bool):
    """The least tuple as large in the first `upto` digits, or larger; None: the top."""
    out = [d if i < upto else 0 for i, d in enumerate(digits)]
    if not raises:
        return out
    for i in reversed(range(upto)):
        if out[i] < bound[i]:
            out[i] += 1
            return out
        out[i] = 0
    return None


def packed(packing, bound, digits) -> list[int]:
    """The words of a measure, the most important digit first, by their definition."""
    if digits is None:
        return [2**31 - 1] + [0] * (len(packing.least) - 1)
    words = [int(w) for w in packing.least]
    for p, (b, digit) in enumerate(zip(bound[::-1], digits[::-1], strict=True)):
        if b:
            word, last = divmod(int(packing.cut[p]) - 1, 31)
            words[word] += int(digit) << (30 - last)
    return words


pack = jax.jit(_measures.pack, static_argnums=1)
prog = jax.jit(_measures.prog)


@pytest.mark.parametrize(
    ("bound", "words"),  # of the most important priority first; every other one is good
    [
        ((1, 0, 2, 0), 1),
        ((0, 4, 0, 0, 0, 2), 1),
        ((2**15 - 1, 0, 2**15 - 1), 1),
        ((2**15 - 1, 0, 2**15), 2),
        ((2**30, 0, 2**31 - 1, 0, 1), 4),
        ((1, 0) * 30, 1),
        ((1, 0) * 31, 2),
        ((5, 0) * 40, 4),
        ((1000, 0, 3, 0, 2**20, 0, 1, 0) * 3, 6),
    ],
)
def test_prog_is_an_odometer(bound, words):
    assert _measures.words_needed(np.array(bound[::-1])) == words
    rng = np.random.default_rng(len(bound))
    digits = [[0] * len(bound), list(bound)]
    for _ in range(60):  # many digits at their ends, so that carries run far
        kind = rng.integers(0, 3, len(bound))
        digits.append([
            (0, b, int(rng.integers(0, b + 1)))[k]
            for b, k in zip(bound, kind, strict=True)
        ])  # fmt: skip
    digits = [*sorted(digits), None]
    bad = next(p for p, b in enumerate(bound[::-1]) if b) & 1
    for more in (0, 2):
        packing, beyond = pack(np.array(bound[::-1], np.int32), words + more)
        assert not beyond
        packing = jax.tree.map(np.asarray, packing)
        rho = [packed(packing, bound, d) for d in digits]
        assert rho == sorted(rho)
        targets = tuple(np.array(w, np.int32) for w in zip(*rho, strict=True))
        for p in range(len(bound)):
            raises = (p & 1) == bad
            place = np.full(len(rho), 2 * packing.cut[p] + raises, np.int32)
            got = np.stack(prog(packing, place, targets), axis=1).tolist()
            for d, result in zip(digits, got, strict=True):
                upto = len(bound) - p
                wanted = None if d is None else odometer(bound, d, upto, raises)
                assert result == packed(packing, bound, wanted), (p, d)


def test_measures_that_do_not_fit():
    bound = np.array([0, 1] * 31)
    assert not pack(bound, 2)[1]
    assert pack(bound, 1)[1]


@pytest.mark.parametrize("digits", [1, 2, 5, 33, 200])
@pytest.mark.parametrize("total", [1, 7, 64, 1000])
def test_words_for_a_traced_game_are_enough(digits, total):
    rng = np.random.default_rng(total)
    most = _bounds._most_words(digits, total)
    used = min(digits, total)
    share = np.full(used, total // used)
    share[: total % used] += 1
    halves = np.where(np.arange(used) % 2 == 0, share // 2 + 1, share + share // 2)
    assert halves.sum() <= total + 2 * used
    for bound in (share, halves - 1, rng.multinomial(total, np.ones(used) / used)):
        if bound.sum() <= total:
            assert _measures.words_needed(np.maximum(bound, 0)) <= most


class TestWords:
    """Measures of any number of words give the same answer."""

    # Twenty counters for two vertices each take 40 bits.
    wide = ring(np.repeat(np.arange(40), 2), chords=7)

    def test_words_are_as_few_as_the_bounds_allow(self):
        def words(arena):
            return SPM().fit(parity.prepare(arena)[0]).words

        assert words(ring(np.arange(1000) % 2)) == 1
        assert words(self.wide) == 2
        solution = parity.solve(self.wide, "spm")
        assert reference.verify(self.wide, solution)
        assert_certificate(self.wide, solution)

    @pytest.mark.parametrize("more", [0, 1, 3])
    def test_more_words_than_needed(self, more):
        plain = parity.solve(self.wide, "spm")
        fitted = SPM().fit(parity.prepare(self.wide)[0])
        solution = parity.solve(self.wide, SPM(words=fitted.words + more))
        np.testing.assert_array_equal(solution.winner, plain.winner)
        np.testing.assert_array_equal(solution.strategy, plain.strategy)
        assert_certificate(self.wide, solution)

    def test_many_words(self):
        """Random games with hundreds of priorities."""
        rng = np.random.default_rng(4)
        for size in (150,):
            src = np.append(np.arange(size), rng.integers(0, size, size // 4))
            arena = Arena.from_edges(
                src,
                rng.integers(0, size, len(src)),
                owner=rng.integers(0, 2, size),
                priority=rng.permutation(size),
            )
            solution = parity.solve(arena, parity.Alternating())
            assert solution.measures.words.shape[1] > 2
            expected = reference.solve(arena).winner
            np.testing.assert_array_equal(solution.winner, expected)
            assert_certificate(arena, solution)

    def test_too_few_words_are_an_overflow_and_no_guess(self):
        arena = ring(np.repeat(np.arange(60), 2))
        for solver in (SPM(words=1), SPM(digits=3)):
            with pytest.raises(SolveError, match="OVERFLOW") as caught:
                parity.solve(arena, solver)
            assert (np.asarray(caught.value.solution.winner) == -1).all()


# ---- queues --------------------------------------------------------------------


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of small games: three levels for the graphs below."""
    monkeypatch.setattr(_parts, "FEWEST_CELLS", 50)


def propagating(rng, size: int = 300) -> Arena:
    """Waves through a sparse graph: few vertices are active at a time."""
    src = np.append(np.arange(size), rng.integers(0, size, size // 5))
    hop = rng.integers(1, 6, len(src))
    return Arena.from_edges(
        src,
        (src + hop) % size,
        owner=rng.integers(0, 2, size),
        priority=rng.choice([1, 1, 1, 1, 2, 3], size),
    )


@pytest.mark.parametrize("player", [0, pytest.param(1, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("sliced", [False, True])
def test_all_queues_give_the_same_answer(small_parts, sliced, player, monkeypatch):
    if sliced:
        monkeypatch.setattr(_slices, "SLICE_FROM", 1)
    rng = np.random.default_rng(player)
    for index in range(2):
        arena = propagating(rng)
        if index % 2:
            arena = dataclasses.replace(
                with_edge_priorities(arena, rng),
                edge_priority=arena.priority[arena.src].copy(),
            )
        plain = parity.solve(arena, SPM(player=player))
        assert parity.verify(arena, plain)
        assert_certificate(arena, plain)
        for queue, every in (("implicit", 32), ("explicit", 7))[sliced:]:
            # Options that no test without small parts has.
            solver = SPM(player=player, queue=queue, every=every, sweeps_per_check=1)
            solution = parity.solve(arena, solver)
            assert solution.stats["layout"] == ("slices" if sliced else "csr")
            np.testing.assert_array_equal(solution.winner, plain.winner)
            np.testing.assert_array_equal(solution.strategy, plain.strategy)
            np.testing.assert_array_equal(solution.measures.words, plain.measures.words)
            if queue == "implicit":
                assert solution.stats["lifts"] == plain.stats["lifts"]


def test_queues_shorten(small_parts):
    arena, solver = generate.hanoi(5), SPM(queue="explicit", every=2)
    lengths, state, steps = [], None, 0
    while True:
        steps += 1
        solution = parity.solve(
            arena, solver, state=state, max_steps=steps, throw=False
        )
        lengths.append(int(solution.stats["queued"]))
        if solution.status == Status.SOLVED:
            break
        state = solution.state
    assert lengths[0] >= 243
    assert 0 < min(lengths[1:-1]) < 100


def test_lifts_are_counted():
    """On the way to the last peg each state counts the moves to it."""
    arena = generate.hanoi(3)
    solution = parity.solve(arena, SPM())
    back = [[] for _ in range(arena.shape[0])]
    for u, w in zip(arena.src, arena.dst, strict=True):
        back[w].append(int(u))
    goal = next(v for v in range(len(back)) if arena.successors(v).tolist() == [v]
                and arena.priority[v] % 2 == 0)  # fmt: skip
    distance, layer = {goal: 0}, [goal]
    while layer:
        layer = [u for w in layer for u in back[w] if u not in distance
                 and not distance.update({u: distance[w] + 1})]  # fmt: skip
    assert float(solution.stats["lifts"]) == sum(distance.values())


def test_counts_of_lifts_do_not_overflow():
    lifts, total = jnp.array([0, 2**30 - 3], jnp.int32), 2**30 - 3
    for _ in range(4):
        lifts, total = _measures.add(lifts, jnp.ones(2, bool)), total + 2
    assert int(lifts[0]) * 2**30 + int(lifts[1]) == total
    assert float(_measures.as_float(jnp.array([3, 5]))) == 3 * 2**30


# ---- bounds --------------------------------------------------------------------


def heaviest_path(arena: Arena, top: int) -> int:
    """As `path_bounds`, by the transitive closure."""
    size = arena.shape[0]
    priority = (
        arena.edge_priority
        if arena.edge_priority is not None
        else arena.priority[arena.src]
    )
    reach = np.eye(size, dtype=bool)
    for u, w, p in zip(arena.src, arena.dst, priority, strict=True):
        reach[u, w] |= p <= top
    for k in range(size):
        reach |= np.outer(reach[:, k], reach[k])
    heavy = np.zeros(size, int)
    heavy[arena.src[priority == top]] = 1
    same = reach & reach.T
    weight = {v: int(heavy[same[v]].sum()) for v in range(size)}

    def path(v):
        after = {int(np.argmax(same[w])) for w in np.flatnonzero(reach[v] & ~same[v])}
        return weight[v] + max(map(path, after), default=0)

    return max(map(path, range(size)))


@pytest.mark.parametrize("edges", [False, True])
def test_bounds_by_their_definition(edges):
    rng = np.random.default_rng(0)
    arenas = list(odd_arenas(seed=2, count=20, max_vertices=9))
    if edges:
        arenas = [with_edge_priorities(arena, rng) for arena in arenas]
    for arena in arenas:
        normal = parity.prepare(arena, SPM())[0]
        priority = normal.edge_priority if edges else normal.priority
        length = int(priority.max()) + 3
        for player in (0, 1):
            path = _bounds.path_bounds(normal, player, length)
            count = _bounds.count_bounds(normal, player, length)
            assert np.all(path <= count)
            for p in range(length):
                bad = p % 2 != player
                assert path[p] == (heaviest_path(normal, p) if bad else 0)
                where = priority == p
                sources = normal.src[where] if edges else np.flatnonzero(where)
                assert count[p] == (len(set(sources.tolist())) if bad else 0)
    normal = parity.prepare(side_by_side(arenas), SPM())[0]
    counts = jax.jit(_measures.counts, static_argnums=(1, 2))
    for player, layout in itertools.product((0, 1), (normal, ops.slice_rows(normal))):
        expected = _bounds.count_bounds(normal, player, 30)
        assert expected.any()
        np.testing.assert_array_equal(counts(layout, player, 30), expected)


@pytest.mark.parametrize("player", [0, pytest.param(1, marks=pytest.mark.sweep)])
def test_path_bounds_give_the_same_answer(player):
    for arena in alike(seed=9, count=8):
        plain = parity.solve(arena, SPM(player=player))
        solution = parity.solve(arena, SPM(player=player, bounds="path"))
        np.testing.assert_array_equal(solution.winner, plain.winner)
        np.testing.assert_array_equal(solution.strategy, plain.strategy)
        assert_certificate(arena, solution)


def test_path_bounds_save_rounds():
    arena = generate.propagation(4, 30)
    solver = SPM(player=1)
    plain = parity.solve(arena, solver)
    tight = parity.solve(arena, dataclasses.replace(solver, bounds="path"))
    np.testing.assert_array_equal(tight.winner, plain.winner)
    assert tight.stats["rounds"] < plain.stats["rounds"] / 1.5


# ---- priorities on edges ---------------------------------------------------------


@some_of(20, 40)
@pytest.mark.parametrize("solver", [SPM(), *WAYS.values()], ids=str)
def test_priorities_on_edges_against_the_split_game(solver, count):
    rng = np.random.default_rng(6)
    for arena in odd_arenas(seed=6, count=count, max_vertices=16):
        arena = with_edge_priorities(arena, rng)
        solution = parity.solve(arena.pad(48, 512), solver)
        winner = np.asarray(solution.winner)[: arena.shape[0]]
        strategy = np.asarray(solution.strategy)[: arena.shape[0]]
        split = split_all(arena)
        expected = reference.solve(split).winner[: arena.shape[0]]
        np.testing.assert_array_equal(winner, expected)
        whole = extended(arena, winner, strategy)
        assert reference.verify(split, parity.Solution(0, *whole))
        assert_certificate(arena, solution)


@pytest.mark.parametrize("solver", [SPM(), parity.Alternating()], ids=str)
def test_priorities_on_edges_under_jit_and_in_slices(solver, monkeypatch):
    rng = np.random.default_rng(8)
    solve = jax.jit(lambda arena: parity.solve(arena, solver))
    for index, arena in enumerate(alike(seed=8, count=6)):
        arena = with_edge_priorities(arena, rng)
        size = arena.shape[0]
        plain = parity.solve(arena, solver)
        traced = solve(arena.pad(*SIZE))
        np.testing.assert_array_equal(traced.winner[:size], plain.winner)
        np.testing.assert_array_equal(traced.strategy[:size], plain.strategy)
        if index < 1:
            with monkeypatch.context() as patch:
                patch.setattr(_slices, "SLICE_FROM", 1)
                again = dataclasses.replace(arena)
                sliced = parity.solve(again, solver)
            assert sliced.stats["layout"] == "slices"
            np.testing.assert_array_equal(sliced.winner, plain.winner)
            np.testing.assert_array_equal(sliced.strategy, plain.strategy)
            assert_certificate(again, sliced)
