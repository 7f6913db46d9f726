"""Recursive tangle learning, and promotion and it in turns: answers, rounds, limits."""

import jax
import numpy as np
import pytest
from alike import alike
from repeats import some_of

from jaxgames import Arena, Status, fixpoint, generate, parity
from jaxgames.parity import (
    InTurns,
    RecursiveTangleLearning,
    _tangles,
    _turns,
    reference,
)
from jaxgames.parity._problem import Parity
from jaxgames.parity._turns import budgets
from jaxgames.solution import UNDECIDED
from jaxgames.testing import SHAPES, check_solver, odd_arena, odd_arenas

PLAIN = RecursiveTangleLearning()


# Where a test calls these itself: else each of their operations is a program.
init, absorb, overflow, done, answer = (
    jax.jit(lambda solver, *x, name=name: getattr(solver, name)(*x), static_argnums=0)
    for name in ("init", "absorb", "overflow", "done", "answer")
)


def check(arena: Arena, solution, name="") -> None:
    """Winners against the reference, strategies by certificate."""
    assert solution.status == Status.SOLVED, name
    expected = reference.solve(arena).winner
    np.testing.assert_array_equal(solution.winner, expected, err_msg=str(name))
    verdict = reference.verify(arena, solution)
    assert verdict, f"{name}: {verdict}"


def test_conforms():
    check_solver(PLAIN, alike(seed=13, count=1))


@some_of(8, 20)
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_reference(shape, count):
    rng = np.random.default_rng(SHAPES.index(shape) + 300)
    for _ in range(count):
        arena = odd_arena(shape, rng).pad(48, 512)
        check(arena, parity.solve(arena, PLAIN), shape)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_the_reference_at_length(seed):
    for index, arena in enumerate(odd_arenas(400 + seed, 1000)):
        arena = arena.pad(48, 512)
        check(arena, parity.solve(arena, PLAIN), index)


FAMILIES = {
    "dp": generate.counter_dp(30),  # 1,000,000 rounds are not enough for promotion
    "rr": generate.counter_rr(30),
    "m": generate.counter_m(30),
    "ortl": generate.counter_ortl(16),
    "core": generate.counter_core(20),
    "symsi": generate.counter_symsi(6),
    "two counters": generate.two_counters(6),
    "ladder": generate.recursive_ladder(20),
    "friedmann": generate.friedmann(8),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_hard_families(name):
    """All are exponential for another solver; here rounds stay below 8 V ** 1.5."""
    game = FAMILIES[name].pad(192, 512)
    found = parity.solve(game, PLAIN, max_steps=int(8 * game.num_vertices**1.5))
    assert found.status == Status.SOLVED
    assert parity.verify(game, found)
    np.testing.assert_array_equal(found.winner, parity.solve(game, "host").winner)


def test_a_full_pool_is_emptied_where_others_decide():
    hard, easy = generate.counter_dp(6), generate.counter_dp(2)
    size = hard.shape[0]
    whole = Arena.from_edges(
        np.append(hard.src, easy.src + size),
        np.append(hard.dst, easy.dst + size),
        owner=np.append(hard.owner, easy.owner),
        priority=np.append(hard.priority, easy.priority),
    )
    solver = RecursiveTangleLearning(room=(64, 20, 64))
    carry = fixpoint.iterate(solver, whole, fixpoint.start(solver, whole), 10_000)
    assert overflow(solver, carry.state)
    winner = reference.solve(whole).winner
    known = np.where(np.arange(len(winner)) < size, winner, UNDECIDED).astype(np.int8)
    state = absorb(solver, whole, carry.state, known)
    assert not overflow(solver, state)
    carry = fixpoint.iterate(solver, whole, carry._replace(state=state), 20_000)
    assert done(solver, whole, carry.state)
    assert not overflow(solver, carry.state)
    found = answer(solver, whole, carry.state)
    np.testing.assert_array_equal(np.asarray(found.winner)[size:], winner[size:])


def test_a_pool_that_is_full():
    """What was decided before is right, and the status says that there is no room."""
    hard = generate.two_counters(4)
    size = hard.shape[0]  # beside it a vertex that is won at once
    game = Arena.from_edges(
        np.append(hard.src, size),
        np.append(hard.dst, size),
        owner=np.append(hard.owner, False),
        priority=np.append(hard.priority, 2 * int(hard.priority.max()) + 2),
    )
    solver = RecursiveTangleLearning(room=(64, 20, 64))
    found = parity.solve(game, solver, throw=False)
    assert found.status == Status.OVERFLOW
    expected = parity.solve(game, "host").winner
    decided = np.asarray(found.winner) != UNDECIDED
    assert decided[-1]
    assert not decided.all()
    np.testing.assert_array_equal(found.winner[decided], expected[decided])
    assert found.stats["tangles"] > 0
    with pytest.raises(ValueError, match="room must be at least 1, got 0"):
        RecursiveTangleLearning(room=(1, 0, 1))


def test_rows_are_read_in_blocks(monkeypatch):
    """All at once or some: the same rounds and bits; the last block may overlap."""
    game = generate.two_counters(5)
    found = {}
    for block, spare in ((1 << 20, 0), (16, 3), (7, 0)):
        monkeypatch.setattr(_tangles, "_block", lambda size, block=block: block)
        room = (64, 300, 200)
        if found:
            pool = found[1 << 20].state.state.pool
            counts = (pool.tangles, pool.members, pool.escapes)
            room = tuple(int(count) + spare for count in counts)
            assert min(room) > 2 * block  # several blocks of each
            assert room[1] % block
        solver = RecursiveTangleLearning(room=room)
        found[block] = parity.solve(game, solver, max_steps=10_000)
    whole = found.pop(1 << 20)
    assert whole.status == Status.SOLVED
    np.testing.assert_array_equal(whole.winner, parity.solve(game, "host").winner)
    for block, some in found.items():
        assert some.stats["rounds"] == whole.stats["rounds"], block
        assert some.stats["tangles"] == whole.stats["tangles"]
        np.testing.assert_array_equal(some.winner, whole.winner)
        np.testing.assert_array_equal(some.strategy, whole.strategy)


@pytest.mark.sweep
def test_two_counters_have_room():
    """They want more rows for each vertex the larger they are: here more than 8."""
    game = generate.two_counters(20)
    found = parity.solve(game, PLAIN, throw=False)
    assert found.status == Status.SOLVED
    assert found.state.state.pool.members > 8 * game.shape[0]
    np.testing.assert_array_equal(found.winner, parity.solve(game, "host").winner)
    assert parity.verify(game, found)


def test_takes_over_what_is_known():
    """Dominions of another engine leave play; the rest is right."""
    game = generate.two_counters(4)
    expected = parity.solve(game, "host").winner
    first = init(PLAIN, game)
    winner = np.full(game.shape[0], UNDECIDED, np.int8)
    state = absorb(PLAIN, game, first, winner)
    np.testing.assert_array_equal(answer(PLAIN, game, state).winner, winner)
    winner[:] = expected
    state = absorb(PLAIN, game, first, winner)
    assert done(PLAIN, game, state)
    np.testing.assert_array_equal(answer(PLAIN, game, state).winner, expected)


def test_one_hard_game_among_easy_ones():
    """In one loop the others' answers are what they are alone."""
    games = [generate.random_game(seed, 60).pad(128, 256) for seed in range(3)]
    games.insert(1, generate.two_counters_plus(4).pad(128, 256))
    together = jax.tree.map(lambda *x: np.stack(x), *games)
    found = jax.jit(jax.vmap(lambda game: parity.solve(game, PLAIN).winner))(together)
    for own, game in zip(found, games, strict=True):
        np.testing.assert_array_equal(own, parity.solve(game, "host").winner)


WORST = {
    "dp": generate.counter_dp,
    "rr": generate.counter_rr,
    "m": generate.counter_m,
    "core": generate.counter_core,
    "rob": generate.counter_rob,
    "qpt": generate.counter_qpt,
    "ortl": generate.counter_ortl,
    "symsi": generate.counter_symsi,
    "tc": generate.two_counters,
    "tcp": generate.two_counters_plus,
    "friedmann": generate.friedmann,
    "fearnley": generate.fearnley,
    "dull": generate.dull,
    "ladder": generate.recursive_ladder,
    "jurdzinski": lambda n: generate.jurdzinski(n, n),
}
"""What is exponential for some solver, by size."""


LONG = 10**6


def worst_case(family: str, vertices: int, room: tuple[int, int]) -> None:
    """Traced, with all of the budget: decided by then, or with a status."""
    game = largest(WORST[family], vertices)
    padded = game.pad(*room)
    found = jax.tree.map(np.asarray, in_turns(padded))
    assert found.status == Status.SOLVED
    assert found.stats["rounds"] <= 100_000
    np.testing.assert_array_equal(found.winner, parity.solve(padded, "host").winner)
    assert parity.verify(padded, found)


in_turns = jax.jit(parity.solve)


def largest(make, vertices: int) -> Arena:
    """The largest game of a family of up to so many vertices."""
    found, n = make(2), 3
    while (more := make(n)).shape[0] <= vertices:
        found, n = more, n + 1
    return found


def beside(*games: Arena) -> Arena:
    """Several games as one."""
    first = np.cumsum([0, *(game.shape[0] for game in games)])
    src, dst = (
        np.concatenate(
            [getattr(game, name) + v for game, v in zip(games, first, strict=False)]
        )
        for name in ("src", "dst")
    )
    return Arena.from_edges(
        src,
        dst,
        owner=np.concatenate([game.owner for game in games]),
        priority=np.concatenate([game.priority for game in games]),
    )


def dual(arena: Arena) -> Arena:
    """The same game with the players' places exchanged."""
    owner, priority = ~np.asarray(arena.owner, bool), np.asarray(arena.priority) + 1
    return Arena.from_edges(arena.src, arena.dst, owner=owner, priority=priority)


def tied(first: Arena, second: Arena, rng: np.random.Generator) -> Arena:
    """Both, and edges between them that no owner needs: winners stay as they are."""
    both, begin = beside(first, second), first.shape[0]
    winner = parity.solve(both, "host").winner
    inside = np.arange(both.shape[0]) < begin
    wins = winner == both.owner
    src, dst = [both.src], [both.dst]
    for here in (inside, ~inside):
        from_here = np.flatnonzero(wins & here)
        if len(from_here):
            src.append(rng.choice(from_here, 6))
            dst.append(rng.choice(np.flatnonzero(~here), 6))
    owner, priority = both.owner, both.priority
    src, dst = np.concatenate(src), np.concatenate(dst)
    return Arena.from_edges(src, dst, owner=owner, priority=priority)


class TestInTurns:
    """Promotion and tangle learning in turns, as a traced solve takes them."""

    solver = InTurns()

    def test_conforms(self):
        check_solver(self.solver, alike(seed=14, count=1))

    @pytest.mark.parametrize("family", WORST)
    def test_worst_cases(self, family):
        worst_case(family, 120, (128, 512))

    @pytest.mark.sweep
    @pytest.mark.parametrize("family", WORST)
    def test_worst_cases_of_500_vertices(self, family):
        worst_case(family, 500, (512, 2048))

    @pytest.mark.sweep
    @pytest.mark.parametrize("seed", range(20))
    def test_tied_worst_cases(self, seed):
        """One component of three families, one of them dual; up to 500 vertices."""
        rng = np.random.default_rng(seed)
        names = rng.choice(list(WORST), 3)
        one, two, three = (largest(WORST[name], 160) for name in names)
        game = tied(tied(one, dual(two), rng), three, rng).pad(512, 2048)
        found = jax.tree.map(np.asarray, in_turns(game))
        assert found.status == Status.SOLVED, names
        assert found.stats["rounds"] <= 100_000
        np.testing.assert_array_equal(found.winner, parity.solve(game, "host").winner)
        assert parity.verify(game, found)

    def test_all_worst_cases_are_here(self):
        made = {make.__module__ for make in WORST.values()} - {__name__}
        there = [x for x in vars(generate).values() if callable(x)]
        names = {make.__name__ for make in there if make.__module__ in made}
        here = {make.__name__ for make in WORST.values()} - {"<lambda>"}
        assert names == here | {"ladder", "model_checker_ladder"}

    def test_stops_and_goes_on(self):
        """The same bits, wherever it was stopped: in a turn, and where one ends."""
        game = generate.counter_dp(12).pad(64, 128)
        solve = jax.jit(
            lambda game, n, state: parity.solve(game, max_steps=n, state=state)
        )
        first = jax.jit(lambda game, n: parity.solve(game, max_steps=n))
        whole = first(game, 10_000)
        assert whole.status == Status.SOLVED
        assert whole.stats["turn"] == 1
        own = budgets(64)[0]
        ends = [1, own - 1, own, own + 1, own + 40, 10_000]
        found = first(game, 0)
        assert (np.asarray(found.winner[: game.num_vertices]) == UNDECIDED).all()
        for rounds in ends:
            assert found.status == Status.MAX_STEPS
            found = solve(game, rounds, found.state)
            assert found.stats["rounds"] == min(rounds, int(whole.stats["rounds"]))
        np.testing.assert_array_equal(found.winner, whole.winner)
        np.testing.assert_array_equal(found.strategy, whole.strategy)
        other = generate.counter_rr(12).pad(64, 128)
        assert solve(other, 10_000, found.state).status == Status.INVALID

    def test_status_at_the_end_of_the_budget(self, monkeypatch):
        """What is decided by then is right; with a limit it goes on."""
        monkeypatch.setattr(_turns, "budgets", lambda size: [40, 60, 50, 3, 120, 999])
        easy, hard = generate.random_game(1, 20), generate.two_counters(3)
        game = beside(easy, hard).pad(64, 256)
        expected = parity.solve(game, "host").winner
        found = jax.jit(lambda game: parity.solve(game))(game)
        assert found.status == Status.MAX_STEPS
        assert found.stats["rounds"] == 150
        assert found.stats["turn"] == 3
        decided = np.asarray(found.winner) != UNDECIDED
        assert decided[: len(easy.owner)].any()
        assert not decided.all()
        np.testing.assert_array_equal(found.winner[decided], expected[decided])
        more = jax.jit(
            lambda game, state: parity.solve(game, state=state, max_steps=LONG)
        )
        end = more(game, found.state)
        assert end.status == Status.SOLVED
        assert end.stats["turn"] > 3
        np.testing.assert_array_equal(end.winner, expected)
        assert parity.verify(game, end)

    def test_without_strategies(self):
        game = generate.counter_rr(12).pad(64, 128)
        found = jax.jit(lambda game: parity.solve(game, strategies=False))(game)
        assert found.strategy is None
        assert found.stats["turn"] == 1
        np.testing.assert_array_equal(found.winner, parity.solve(game, "host").winner)

    def test_a_batch_of_hard_and_easy_games(self):
        """Each is solved as it is alone, in as many rounds."""
        games = [
            generate.counter_dp(12),
            generate.random_game(3, 40, max_degree=2),
            generate.counter_ortl(10),
            generate.recursive_ladder(8),
        ]
        games = [game.pad(128, 512) for game in games]  # as `worst_case` does
        together = jax.tree.map(lambda *x: np.stack(x), *games)
        found = jax.device_get(jax.jit(jax.vmap(parity.solve))(together))
        assert (found.status == Status.SOLVED).all()
        assert found.stats["turn"].tolist() == [1, 0, 1, 0]
        for at, game in enumerate(games):
            own = in_turns(game)
            assert own.stats["rounds"] == found.stats["rounds"][at]
            np.testing.assert_array_equal(found.winner[at], own.winner)
            np.testing.assert_array_equal(found.strategy[at], own.strategy)
            np.testing.assert_array_equal(own.winner, parity.solve(game, "host").winner)

    def test_a_loop_that_no_game_needs_makes_no_round(self, monkeypatch):
        """Counted where the program runs, and not where it is traced."""
        rounds = []
        sweep = RecursiveTangleLearning.sweep

        def counted(self, game, state):
            jax.debug.callback(lambda _: rounds.append(1), state.phase)
            return sweep(self, game, state)

        monkeypatch.setattr(RecursiveTangleLearning, "sweep", counted)
        solve = jax.jit(jax.vmap(lambda game: parity.solve(game).winner))
        easy = [generate.random_game(seed, 20).pad(64, 128) for seed in range(3)]
        hard = [*easy[:2], generate.counter_dp(12).pad(64, 128)]
        for games, learns in ((easy, False), (hard, True)):
            jax.block_until_ready(solve(jax.tree.map(lambda *x: np.stack(x), *games)))
            jax.effects_barrier()
            assert bool(rounds) == learns

    def test_a_concrete_game_takes_the_same_legs(self, monkeypatch):
        """Promotion alone at first; what it has won it hands on, and where it is."""
        monkeypatch.setattr(Parity, "place", lambda self, question: "device")
        easy, hard = generate.random_game(1, 12), generate.counter_dp(20)
        for name, game in {"alone": hard, "beside": beside(easy, hard)}.items():
            found = parity.solve(game)
            assert found.stats["solver"] == "promotion, tangles", name
            assert found.stats["tried"] == "promotion"
            assert found.stats["turn"] == 1
            np.testing.assert_array_equal(
                found.winner, parity.solve(game, "host").winner
            )
            assert parity.verify(game, found)
            stopped = parity.solve(game, max_steps=700, throw=False)
            assert stopped.status == Status.MAX_STEPS
            end = parity.solve(game, state=stopped.state)
            np.testing.assert_array_equal(end.strategy, found.strategy)
        assert parity.solve(easy).stats["solver"] == "promotion"

    def test_takes_over_what_is_known(self):
        game = generate.two_counters(4)
        expected = parity.solve(game, "host").winner
        state = absorb(self.solver, game, init(self.solver, game), expected)
        assert done(self.solver, game, state)
        found = answer(self.solver, game, state)
        np.testing.assert_array_equal(found.winner, expected)
