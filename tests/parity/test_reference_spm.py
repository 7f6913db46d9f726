"""Small progress measures on the host: against other algorithms, lift by lift."""

import collections
import dataclasses
import itertools
import threading
from pathlib import Path

import brute_force
import numpy as np
import pytest
from repeats import some_of

from jaxgames import Arena, Status, generate, host
from jaxgames.parity import reference
from jaxgames.testing import odd_arenas

LIFTINGS = list(itertools.product(("queue", "stack", "random"), (True, False)))
VARIANTS = [
    {"lifting": lifting, "single_occurrence": single, "alternating": alternating}
    for alternating in (False, True)
    for lifting, single in LIFTINGS
]

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=str)


# ---- answers -----------------------------------------------------------------


def random_arena(rng, max_vertices, priorities="priority"):
    size = int(rng.integers(1, max_vertices + 1))
    src = np.repeat(np.arange(size), rng.integers(1, 4, size))
    count = {"priority": size, "edge_priority": len(src)}[priorities]
    return Arena.from_edges(
        src,
        rng.integers(0, size, len(src)),
        owner=rng.integers(0, 2, size),
        **{priorities: rng.integers(0, rng.integers(1, 9), count)},
    )


@pytest.fixture(scope="module")
def by_brute_force():
    """Games and who wins them, found once for all variants."""
    rng = np.random.default_rng(2)
    arenas = [random_arena(rng, max_vertices=5) for _ in range(200)]
    return [(arena, brute_force.winners(arena)) for arena in arenas]


@pytest.fixture(scope="module")
def by_zielonka():
    """Games with priorities on vertices, then on edges, and who wins them."""
    rng = np.random.default_rng(4)
    arenas = [*odd_arenas(seed=3, count=200, max_vertices=16)]
    for _ in range(100):
        arenas.append(random_arena(rng, 10, priorities="edge_priority"))
    return [(arena, reference.solve(arena).winner) for arena in arenas]


def assert_solves(variant, games):
    for arena, expected in games:
        solution = reference.solve(arena, "spm", **variant)
        np.testing.assert_array_equal(solution.winner, expected)
        assert reference.verify(arena, solution)


@some_of(60, 200)
@every_variant
def test_against_brute_force(variant, count, by_brute_force):
    assert_solves(variant, by_brute_force[:count])


@some_of(60, 200)
@every_variant
def test_against_zielonka(variant, count, by_zielonka):
    assert_solves(variant, by_zielonka[:200][:count])


@some_of(30, 100)
@every_variant
def test_priorities_on_edges(variant, count, by_zielonka):
    assert_solves(variant, by_zielonka[200:][:count])


@pytest.mark.skipif(not host.can_compile(), reason="numba is not installed")
@some_of(20, 60)
@every_variant
def test_plain_and_compiled_are_the_same(variant, count):
    for arena in odd_arenas(seed=4, count=count, max_vertices=16):
        compiled = reference.solve(arena, "spm", **variant, seed=7)
        with host.interpreted():
            plain = reference.solve(arena, "spm", **variant, seed=7)
        np.testing.assert_array_equal(plain.winner, compiled.winner)
        np.testing.assert_array_equal(plain.strategy, compiled.strategy)
        assert dict(plain.stats) == dict(compiled.stats)


# ---- work --------------------------------------------------------------------


def compressed(arena):
    """The same game; of priorities that follow each other, one is odd and one even."""
    values = sorted({int(p) for p in arena.priority})
    new = {values[0]: values[0] % 2}
    for below, above in itertools.pairwise(values):
        new[above] = new[below] + (above - below) % 2
    priority = np.array([new[int(p)] for p in arena.priority], np.int32)
    return dataclasses.replace(arena, priority=priority)


TOP = (float("inf"),)


def progress(priority, measure, player, bound):
    """The least measure not below the given one, and above it for a rival's priority.

    Measures have a counter for every priority from the largest down to 0; `bound` maps
    the priorities that may be counted to how far.
    """
    if measure == TOP:
        return TOP
    highest = len(measure) - 1
    counters = list(measure[: highest - priority + 1])
    if priority % 2 != player:
        while counters and counters[-1] >= bound.get(highest - len(counters) + 1, 0):
            counters.pop()
        if not counters:
            return TOP
        counters[-1] += 1
    return (*counters, *[0] * (len(measure) - len(counters)))


def random_numbers(seed):
    """Park and Miller's."""
    number = seed % (2**31 - 2) + 1
    while True:
        number = number * 48271 % (2**31 - 1)
        yield number


class Textbook:
    """One player's side of the algorithms of the thesis, on tuples."""

    def __init__(self, arena, player, inside, lifting, single, seed):
        self.arena, self.player = arena, player
        self.lifting, self.single = lifting, single
        self.priority = arena.priority.tolist()
        self.bound = collections.Counter(
            self.priority[v] for v in inside if self.priority[v] % 2 != player
        )
        self.rho = dict.fromkeys(inside, (0,) * (max(self.priority, default=0) + 1))
        self.draw = random_numbers(seed)
        self.work = [(next(self.draw), v) for v in inside]

    def progresses(self, v):
        """What each edge of v asks for, by its target."""
        return [
            (w, progress(self.priority[v], self.rho[w], self.player, self.bound))
            for w in self.arena.successors(v).tolist()
            if w in self.rho
        ]

    def lift(self, attempts):
        lifts = pops = 0
        while self.work and pops < attempts:
            places = {
                "queue": 0,
                "stack": -1,
                "random": self.work.index(min(self.work)),
            }
            v = self.work.pop(places[self.lifting])[1]
            pops += 1
            extreme = min if self.arena.owner[v] == self.player else max
            asked = extreme(measure for _, measure in self.progresses(v))
            if asked > self.rho[v]:
                self.rho[v] = asked
                lifts += 1
                self.wake(v)
        return lifts, pops

    def wake(self, v):
        """All with an edge to v enter the work list."""
        for u in self.arena.src[self.arena.dst == v].tolist():
            if self.single and self.lifting == "stack":
                self.work = [entry for entry in self.work if entry[1] != u]
            if u in self.rho and not (self.single and u in [w for _, w in self.work]):
                self.work.append((next(self.draw), u))

    def winning_set(self):
        """The greatest set as in Theorem 5.1."""
        won, last = {v for v in self.rho if self.rho[v] != TOP}, None
        while won != last:
            last = won
            won = {
                v
                for v in last
                if (any if self.arena.owner[v] == self.player else all)(
                    w in last and self.rho[v] >= measure
                    for w, measure in self.progresses(v)
                )
            }
        return won

    def lose(self, vertices):
        for v in sorted(vertices):
            if self.rho[v] != TOP:
                self.rho[v] = TOP
                self.wake(v)


def one_after_the_other(arena, *how):
    """Winners, lifts and pops."""
    winner, steps = [-1] * len(arena.owner), np.zeros(2, int)
    for player in (0, 1):
        inside = [v for v, known in enumerate(winner) if known == -1]
        side = Textbook(arena, player, inside, *how)
        steps += side.lift(float("inf"))
        for v in inside:
            winner[v] = player if side.rho[v] != TOP else -1
    return winner, *steps.tolist()


def in_turns(arena, *how):
    """Winners, lifts, pops and exchanges."""
    size = len(arena.owner)
    sides = [Textbook(arena, player, range(size), *how) for player in (0, 1)]
    won, steps = [set(), set()], np.zeros(3, int)
    player = 1
    while len(won[0] | won[1]) < size:
        player = 1 - player
        lifts, pops = sides[player].lift(size)
        steps += (lifts, pops, pops > 0)
        won[player] = sides[player].winning_set()
        sides[1 - player].lose(won[player])
    return [int(v in won[1]) for v in range(size)], *steps.tolist()


@pytest.mark.parametrize(("lifting", "single"), LIFTINGS)
def test_lifts_are_those_of_the_textbook(lifting, single):
    for arena in odd_arenas(seed=5, count=60, max_vertices=8):
        arena = compressed(arena)
        solution = reference.solve(
            arena, "spm", lifting=lifting, single_occurrence=single, seed=3
        )
        winner, lifts, pops = one_after_the_other(arena, lifting, single, 3)
        assert solution.winner.tolist() == winner
        assert (solution.stats["steps"], solution.stats["pops"]) == (lifts, pops)


@pytest.mark.parametrize(("lifting", "single"), LIFTINGS)
def test_alternating_lifts_are_those_of_the_textbook(lifting, single):
    for arena in odd_arenas(seed=6, count=60, max_vertices=8):
        arena = compressed(arena)
        solution = reference.solve(
            arena,
            "spm",
            lifting=lifting,
            single_occurrence=single,
            alternating=True,
            seed=3,
        )
        winner, lifts, pops, exchanges = in_turns(arena, lifting, single, 3)
        assert solution.winner.tolist() == winner
        assert dict(solution.stats) == {
            "solver": "reference.spm",
            "steps": lifts,
            "pops": pops,
            "exchanges": exchanges,
        }


def test_seeds_give_other_random_orders():
    arena = generate.jurdzinski(2, 3)
    pops = {
        seed: reference.solve(arena, "spm", lifting="random", seed=seed).stats["pops"]
        for seed in (0, 0, 1, 2, 3)
    }
    again = reference.solve(arena, "spm", lifting="random", seed=3).stats["pops"]
    assert again == pops[3]
    assert len(set(pops.values())) > 1


# ---- what alternating saves --------------------------------------------------

THESIS = Path(__file__).parents[3] / "shared/data/public/parity_thesis"


def thesis_game(name):
    with np.load(THESIS / f"{name}.npz") as game:
        return Arena.from_csr(
            game["offsets"],
            game["targets"],
            owner=game["owner"],
            priority=game["priority"],
            condition="min even",
        )


def check_saves(arena, factor):
    """Alternating players are done where one after the other needs more times lifts."""
    solution = reference.solve(arena, "spm", alternating=True)
    assert reference.verify(arena, solution)
    limit = factor * solution.stats["steps"]
    assert reference.solve(arena, "spm", max_steps=limit).status == Status.MAX_STEPS, (
        limit
    )


def test_alternating_saves_lifts():
    """Section 8.2 of the thesis: by far the most on this game, and on flctl7."""
    check_saves(generate.jurdzinski(5, 10), factor=100)


@pytest.mark.skipif(not host.can_compile(), reason="takes minutes without numba")
@pytest.mark.skipif(not THESIS.exists(), reason="the games are not beside the project")
@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("flctl7", 10),
        pytest.param("flctl7", 100, marks=pytest.mark.sweep),
        pytest.param("lifti4l", 10, marks=pytest.mark.sweep),
        pytest.param("cabp8", 10, marks=pytest.mark.sweep),
    ],
)
def test_alternating_saves_lifts_on_games_of_the_thesis(name, factor):
    check_saves(thesis_game(name), factor)


# ---- limits ------------------------------------------------------------------


@every_variant
def test_max_steps(variant):
    arena = generate.jurdzinski(2, 2)
    steps = reference.solve(arena, "spm", **variant).stats["steps"]
    solved = reference.solve(arena, "spm", **variant, max_steps=steps)
    assert solved.status == Status.SOLVED
    for limit in (0, steps // 2, steps - 1):
        stopped = reference.solve(arena, "spm", **variant, max_steps=limit)
        assert stopped.status == Status.MAX_STEPS
        assert stopped.stats["steps"] == limit
        assert set(stopped.winner.tolist()) == {-1}
        assert set(stopped.strategy.tolist()) == {-1}


@pytest.mark.parametrize(
    ("arena", "how"),
    [
        (generate.recursive_ladder(50), {}),
        (generate.jurdzinski(50, 50), {"algorithm": "spm"}),
        (
            generate.jurdzinski(50, 50),
            {"algorithm": "spm", "alternating": True, "lifting": "stack"},
        ),
    ],
    ids=["zielonka", "spm", "alternating"],
)
def test_stop_from_another_thread(arena, how):
    """None of these would end in a lifetime."""
    stop, ended = np.zeros(1, np.int8), []
    thread = threading.Thread(
        target=lambda: ended.append(reference.solve(arena, **how, stop=stop))
    )
    thread.start()
    thread.join(timeout=0.1)
    assert thread.is_alive()
    stop[0] = 1
    thread.join()
    assert ended[0].status == Status.INTERRUPTED
    assert set(ended[0].winner.tolist()) == {-1}
    assert set(ended[0].strategy.tolist()) == {-1}


def test_nobody_stops_what_is_done_anyway():
    arena = Arena.from_edges([0], [0], owner=[0], priority=[0])
    for how in VARIANTS:
        stop = np.ones(1, np.int8)
        assert reference.solve(arena, "spm", **how, stop=stop).status == Status.SOLVED
