import dataclasses
import itertools
from unittest import mock

import jax
import numpy as np
import pytest
from repeats import first_of

from jaxgames import (
    Arena,
    SolveError,
    Status,
    buchi,
    emersonlei,
    generate,
    io,
    parity,
    solve_many,
)
from jaxgames.acceptance import FALSE, TRUE, both, either, fin, inf
from jaxgames.emersonlei import Game, Reason, reference
from jaxgames.emersonlei.host import _verify
from jaxgames.io import _pieces, hoa_game
from jaxgames.testing._emersonlei import condition
from jaxgames.zielonka_tree import ZielonkaTree

ROUND = Arena.from_edges([0, 0, 1, 2], [1, 2, 0, 0], owner=[0, 1, 1])
VISITS = Game.of_sets(ROUND, both([inf(0), inf(1)]), [[1], [2]])
"""Player 0 must go to 1 and to 2 in turn."""


def arena_of(rng, most=6) -> Arena:
    size = int(rng.integers(1, most + 1))
    src = np.repeat(np.arange(size), rng.integers(1, 4, size))
    owner = rng.random(size) < rng.choice([0.5, 0.5, 0.0, 1.0])
    return Arena.from_edges(src, rng.integers(0, size, len(src)), owner=owner)


def draw(seed: int) -> Game:
    """A random game of each kind in turn."""
    rng = np.random.default_rng(seed)
    arena = arena_of(rng)
    size, edges = arena.shape
    sets = [np.flatnonzero(rng.random(size) < 0.3) for _ in range(4)]
    pairs = [tuple(sets[:2]), tuple(sets[2:])]
    match seed % 6:
        case 0:
            return Game.streett(arena, pairs)
        case 1:
            return Game.rabin(arena, pairs)
        case 2:
            every = bool(rng.integers(2))
            rows = rng.integers(0, 3, (2, size))
            return Game.generalised_parity(arena, rows, every=every)
        case 3:
            family = [
                np.flatnonzero(rng.random(3) < 0.5).tolist()
                for _ in range(rng.integers(5))
            ]
            return Game.muller(arena, sets[:3], family)
        case 4:
            marks = int(rng.integers(1, 5))
            given = {"vertex_marks": rng.integers(0, 1 << marks, size)}
        case _:
            marks = int(rng.integers(1, 5))
            given = {"edge_marks": rng.integers(0, 1 << marks, edges)}
    return Game.of(arena, condition(rng, marks), **given)


# ---- answers ------------------------------------------------------------------------


@pytest.mark.parametrize("part", first_of(4, 10))
def test_games_by_records_of_what_was_met(part):
    for seed in range(32 * part, 32 * (part + 1)):
        game = draw(seed)
        found = emersonlei.solve(game, "host")
        expected = reference.solve(game).winner
        np.testing.assert_array_equal(found.winner, expected, str(seed))
        assert emersonlei.verify(game, found), seed
        direct = emersonlei.solve(game, "recursion")
        np.testing.assert_array_equal(direct.winner, expected, str(seed))
        assert emersonlei.verify(game, direct), seed


def streett(size: int, pairs: int, seed: int) -> Game:
    rng = np.random.default_rng(seed)
    src = np.repeat(np.arange(size), 3)
    owner = rng.random(size) < 0.5
    arena = Arena.from_edges(src, rng.integers(0, size, 3 * size), owner=owner)
    shares = 0.1, 0.05
    sets = [
        tuple(np.flatnonzero(rng.random(size) < share) for share in shares)
        for _ in range(pairs)
    ]
    return Game.streett(arena, sets)


def test_many_pairs_without_a_product():
    game = streett(300, 10, 10)
    found = emersonlei.solve(game)
    assert found.stats["solver"] == "recursion"
    assert emersonlei.verify(game, found)
    assert found.machine.memories < 100
    with pytest.raises(ValueError, match="more than 100000 nodes"):
        emersonlei.solve(game, "host")


def test_the_recursion_and_the_product_agree_where_both_can():
    for seed in range(4):
        game = streett(60, 4, seed)
        direct, through = (emersonlei.solve(game, x) for x in ("recursion", "host"))
        np.testing.assert_array_equal(direct.winner, through.winner)
        assert len(direct.machine.vertex) <= len(through.machine.vertex)
        dual = dataclasses.replace(game, condition=game.condition.negated())
        other = dataclasses.replace(game.arena, owner=~game.arena.owner)
        rival = emersonlei.solve(dataclasses.replace(dual, arena=other))
        np.testing.assert_array_equal(rival.winner, 1 - direct.winner)


def test_all_positional_strategies_of_a_rabin_player():
    # He needs no memory: he wins where one of his strategies does, against all plays.
    for seed in range(1, 121, 6):
        game = draw(seed)
        arena = game.arena
        winner = emersonlei.solve(game, "host").winner
        rows = [range(*arena.row_ptr[v : v + 2]) for v in range(arena.shape[0])]
        own = [rows[v] if not arena.owner[v] else [-1] for v in range(len(rows))]
        wins = np.zeros(len(rows), bool)
        for moves in itertools.islice(itertools.product(*own), 300):
            kept = np.array(
                [moves[arena.src[e]] in (-1, e) for e in range(arena.shape[1])]
            )
            alone = Arena.from_edges(
                arena.src[kept], arena.dst[kept], owner=np.ones(len(rows), bool)
            )
            left = dataclasses.replace(game, arena=alone)
            wins |= reference.solve(left).winner == 0
        np.testing.assert_array_equal(wins, winner == 0)


def test_conditions_that_other_slices_have():
    for seed in range(30):
        arena = generate.random_game(seed, 12, num_priorities=5)
        alone = parity.solve(arena, "host").winner
        one = Game.generalised_parity(arena, [arena.priority])
        np.testing.assert_array_equal(emersonlei.solve(one, "host").winner, alone)
        twice = Game.generalised_parity(arena, [arena.priority] * 2, every=False)
        np.testing.assert_array_equal(emersonlei.solve(twice, "host").winner, alone)
        visits = dataclasses.replace(arena, accepting=arena.priority == 0)
        again = Game.of_sets(arena, inf(0), [arena.priority == 0])
        np.testing.assert_array_equal(
            emersonlei.solve(again, "host").winner, buchi.solve(visits, "host").winner
        )


def test_constant_conditions_and_no_vertices():
    assert emersonlei.solve(Game.of(ROUND, TRUE)).winner.tolist() == [0, 0, 0]
    assert emersonlei.solve(Game.of(ROUND, FALSE)).winner.tolist() == [1, 1, 1]
    nothing = Arena.from_edges([], [], owner=[])
    game = Game.of(nothing, inf(0), vertex_marks=[])
    found = emersonlei.solve(game)
    assert found.winner.shape == (0,)
    assert emersonlei.verify(game, found)


def test_memory_that_is_needed():
    found = emersonlei.solve(VISITS)
    assert found.machine.memories == 2
    node, seen = int(found.machine.start[0]), []
    for _ in range(8):
        seen.append(int(found.machine.vertex[node]))
        node = found.machine.after(
            ROUND,
            node,
            int(found.machine.move[node])
            if seen[-1] == 0
            else int(ROUND.row_ptr[seen[-1]]),
        )
    assert set(seen[-4:]) == {0, 1, 2}
    assert found.strategy.tolist()[0] in (0, 1)
    with pytest.raises(ValueError, match="edge 3 does not leave vertex 0"):
        found.machine.after(ROUND, int(found.machine.start[0]), 3)


def test_products_climb_as_the_tree_says():
    rng = np.random.default_rng(0)
    loops = np.zeros(16, int)
    arena = Arena.from_edges(loops, loops, owner=[0])
    for _ in range(30):
        asked = condition(rng, 4)
        tree = ZielonkaTree(asked)
        made = emersonlei.product(Game.of(arena, asked, edge_marks=np.arange(16)))
        memory, targets = made.machine.memory, made.machine.target.reshape(-1, 16)
        assert len(set(memory.tolist())) == len(memory) == len(targets)
        # All pairs of a leaf and marks, in order.
        for node, leaf in enumerate(memory):
            for marks in range(16):
                after, colour = tree.read(tree.leaves[leaf], marks)
                assert tree.leaves[memory[targets[node, marks]]] == after
                assert made.arena.edge_priority[16 * node + marks] == colour


def test_the_product_is_chosen_where_it_is_small():
    arena = Arena.from_edges([0, 0, 1], [0, 1, 0], owner=[1, 0])
    pairs = [([0], [1]), ([1], [0]), ([0], [0]), ([1], [1])]
    for many, chosen in ((1, True), (2, True), (4, True), (7, False)):
        game = Game.streett(arena, (pairs * 2)[:many])
        found = emersonlei.solve(game)
        assert (found.stats["solver"] != "recursion") == chosen, many
        assert found.winner.tolist() == reference.solve(game).winner.tolist()
    # Many vertices have small products with few memories alone.
    rng = np.random.default_rng(0)
    src = np.repeat(np.arange(2000), 3)
    wide = Arena.from_edges(src, rng.integers(0, 2000, 6000), owner=np.arange(2000) % 2)
    for many, chosen in ((2, True), (7, False)):
        sets = [(rng.integers(0, 2000, 99), [rng.integers(2000)]) for _ in range(many)]
        found = emersonlei.solve(Game.streett(wide, sets))
        assert (found.stats["solver"] != "recursion") == chosen, many


def test_the_reached_part_of_a_product_alone():
    # Four marks, all wanted: four leaves; but where only one mark is met, one is left.
    arena = Arena.from_edges([0, 1], [1, 0], owner=[0, 0])
    wanted = both(inf(k) for k in range(4))
    made = emersonlei.product(Game.of(arena, wanted, vertex_marks=[0, 0]))
    assert made.arena.shape == (2, 2)
    made = emersonlei.product(Game.of(arena, wanted, vertex_marks=[0b0011, 0b1100]))
    assert made.arena.shape[0] > 2


# ---- calls --------------------------------------------------------------------------


def test_padding_batches_and_places():
    games = [draw(seed) for seed in range(18)]
    alone = [emersonlei.solve(game, "host") for game in games]
    for solver in ("auto", "host", "recursion"):
        together = solve_many(emersonlei, games, solver)
        for game, one, other in zip(games, alone, together, strict=True):
            np.testing.assert_array_equal(other.winner, one.winner)
            assert emersonlei.verify(game, other)
    size, edges = games[0].shape
    marks = np.pad(games[0].vertex_marks, (0, 16 - size))
    wide = dataclasses.replace(
        games[0], arena=games[0].arena.pad(16, 64), vertex_marks=marks
    )
    padded = emersonlei.solve(wide, "host")
    np.testing.assert_array_equal(padded.winner[:size], alone[0].winner)
    assert emersonlei.verify(wide, padded)
    device = emersonlei.solve(games[1], "promotion")
    np.testing.assert_array_equal(device.winner, alone[1].winner)
    assert emersonlei.verify(games[1], device)


def test_the_recursion_has_limits():
    game = streett(100, 6, 1)
    late = emersonlei.solve(game, "recursion", deadline=1e-9, throw=False)
    assert late.status == Status.TIMEOUT
    bare = emersonlei.solve(game, "recursion", strategies=False)
    assert (bare.strategy, bare.machine) == (None, None)
    with pytest.raises(ValueError, match="solver='recursion' takes neither"):
        emersonlei.solve(game, "recursion", max_steps=3)
    # It is said before the product of very many nodes is made.
    huge = streett(20_000, 7, 1)
    for place in ("host", "race"):
        with pytest.raises(ValueError, match=f"solver='{place}' takes neither"):
            emersonlei.solve(huge, place, max_steps=3, deadline=5.0)


def test_limits_and_states():
    solver = parity.PriorityPromotion(sweeps_per_check=1, sweeps=1)
    stopped = emersonlei.solve(VISITS, solver, max_steps=1, throw=False)
    assert stopped.status == Status.MAX_STEPS
    assert stopped.machine is None
    found = emersonlei.solve(VISITS, solver, state=stopped.state)
    assert found.winner.tolist() == [0, 0, 0]
    with pytest.raises(SolveError, match="MAX_STEPS"):
        emersonlei.solve(VISITS, solver, max_steps=1)
    late = emersonlei.solve(VISITS, deadline=1e-9, throw=False)
    assert (late.status, late.winner.tolist()) == (Status.TIMEOUT, [-1, -1, -1])
    bare = emersonlei.solve(VISITS, strategies=False)
    assert (bare.strategy, bare.machine) == (None, None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Game.of(ROUND, "Inf(0)"), "must be an Acceptance"),
        (lambda: Game.of(ROUND, inf(62)), "marks up to 61, got 62"),
        (
            lambda: Game.of(ROUND, inf(0), vertex_marks=[1]),
            "vertex_marks must hold",
        ),
        (
            lambda: Game.of(ROUND, inf(0), edge_marks=[0.5] * 4),
            "edge_marks must hold",
        ),
        (lambda: Game.of(ROUND, inf(0), vertex_marks=[-1, 0, 0]), "bits of 62 marks"),
        (lambda: Game.of_sets(ROUND, inf(0), [[3]]), "not one of 0 to 2"),
        (lambda: Game.of_sets(ROUND, inf(0), [[True]]), "must be booleans"),
        (lambda: Game.of_sets(ROUND, inf(0), [[0.5]]), "vertices by number"),
        (lambda: Game.of_sets(ROUND, inf(0), [[]] * 63), "there may be 62 marks"),
        (lambda: Game.muller(ROUND, [[0]], [[1]]), "family has marks"),
        (lambda: Game.generalised_parity(ROUND, [[1]]), "priorities must be"),
        (
            lambda: Game.streett(ROUND, [([0], [1], [2]), ([2], [0])]),
            "pair 0 must be two sets of vertices",
        ),
        (lambda: Game.rabin(ROUND, [0, 1]), "pair 0 must be two sets of vertices"),
        (lambda: inf(-1), "mark must be at least 0, got -1"),
        (lambda: fin(0.5), "mark must be an integer at least 0, got 0.5"),
        (lambda: emersonlei.solve(ROUND), "expected an emersonlei.Game, got Arena"),
    ],
)
def test_what_is_no_such_game(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_vertices_of_a_mark_may_be_a_set():
    listed = Game.streett(ROUND, [([0], [1, 2])])
    told = Game.streett(ROUND, [({0}, frozenset([2, 1]))])
    assert told.vertex_marks.tolist() == listed.vertex_marks.tolist() == [1, 2, 2]


def test_what_cannot_be_asked():
    with pytest.raises(ValueError, match="'recursion' runs on the host"):
        jax.jit(lambda game: emersonlei.solve(game, "recursion"))(VISITS)
    with pytest.raises(ValueError, match="verified on the host"):
        jax.jit(emersonlei.verify)(VISITS, emersonlei.solve(VISITS))
    arena = Arena.from_edges([0], [0], owner=[0])
    many = Game.of_sets(arena, both(inf(k) for k in range(40)), [[0]] * 40)
    assert emersonlei.solve(many).winner.tolist() == [0]
    with pytest.raises(ValueError, match="mark 39, and arrays have 31 bits"):
        jax.jit(emersonlei.solve)(many)


# ---- inside JAX ---------------------------------------------------------------------

THREE = condition(np.random.default_rng(3), 3)


def padded(rng, on_edges: bool) -> Game:
    """A random game of a condition and a size."""
    arena = arena_of(rng)
    marks = {"vertex_marks": rng.integers(0, 8, arena.shape[0])}
    if on_edges:
        marks["edge_marks"] = rng.integers(0, 8, arena.shape[1])
    for name, size in (("vertex_marks", 8), ("edge_marks", 24)):
        if name in marks:
            marks[name] = np.pad(marks[name], (0, size - len(marks[name])))
    return Game.of(arena.pad(8, 24), THREE, **marks)


@pytest.mark.parametrize("on_edges", [False, True])
def test_traced_games_of_a_batch(on_edges):
    rng = np.random.default_rng(11)
    games = [padded(rng, on_edges) for _ in range(40)]
    stack = jax.tree.map(lambda *each: np.stack(each), *games)
    traced = jax.jit(jax.vmap(lambda game: emersonlei.solve(game, "promotion")))
    batch = jax.device_get(traced(stack))
    assert (batch.status == Status.SOLVED).all()
    for at, game in enumerate(games):
        found = jax.tree.map(lambda x, at=at: x[at], batch)
        expected = reference.solve(game.unpad()).winner
        own = len(expected)
        np.testing.assert_array_equal(found.winner[:own], expected)
        assert emersonlei.verify(game, found)
        short = found.machine
        wrong = dataclasses.replace(short, start=short.start[: own - 1])
        with pytest.raises(ValueError, match="machine.start must be integers"):
            emersonlei.verify(game, dataclasses.replace(found, machine=wrong))


def test_a_traced_game_goes_on_from_a_state():
    game = padded(np.random.default_rng(5), False)

    @jax.jit
    def solve(game, state, most):
        return emersonlei.solve(game, "promotion", state=state, max_steps=most)

    own = int(game.arena.num_vertices)
    begun = jax.jit(lambda x: emersonlei.solve(x, "promotion", max_steps=0))(game)
    assert begun.status == Status.MAX_STEPS
    assert -1 in np.asarray(begun.winner)[:own]
    found = solve(game, begun.state, 1000)
    assert found.status == Status.SOLVED
    expected = reference.solve(game.unpad()).winner
    np.testing.assert_array_equal(found.winner[:own], expected)
    assert emersonlei.verify(game, found)


# ---- verification -------------------------------------------------------------------


def spoilt(found, **fields):
    """A solution with another entry in its machine, or another winner."""
    machine = found.machine
    for name, (at, value) in fields.items():
        if name == "winner":
            winner = np.array(found.winner)
            winner[at] = value
            found = dataclasses.replace(found, winner=winner)
            continue
        array = np.array(getattr(machine, name))
        array[at] = value
        machine = dataclasses.replace(machine, **{name: array})
    return dataclasses.replace(found, machine=machine)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"winner": (0, 2)}, Reason.UNDECIDED),
        ({"vertex": (0, 9)}, Reason.MACHINE_BROKEN),
        ({"start": (0, 1)}, Reason.MACHINE_BROKEN),
        ({"start": (0, -1)}, Reason.MACHINE_BROKEN),
        ({"row_ptr": (1, 1)}, Reason.MACHINE_BROKEN),
        ({"row_ptr": (0, 1)}, Reason.MACHINE_BROKEN),
        ({"target": (0, 0)}, Reason.MACHINE_BROKEN),
        ({"target": (0, 99)}, Reason.MACHINE_BROKEN),
        ({"move": (0, -1)}, Reason.MOVE_MISSING),
        ({"move": (0, 3)}, Reason.MOVE_NOT_AN_EDGE_OF_ITS_VERTEX),
        ({"move": (1, 2)}, Reason.MOVE_OF_LOSER),
        ({"winner": (2, 1), "move": (0, 1)}, Reason.MOVE_MISSING),
    ],
)
def test_each_reason(fields, reason):
    found = emersonlei.solve(VISITS, "host")
    assert emersonlei.verify(VISITS, spoilt(found, **fields)).reason == reason


def test_the_rival_wins_what_a_move_allows():
    found = emersonlei.solve(VISITS, "host")
    always = np.where(found.machine.vertex == 0, 0, -1).astype(np.int32)
    machine = dataclasses.replace(found.machine, move=always)
    wrong = dataclasses.replace(found, machine=machine)
    assert emersonlei.verify(VISITS, wrong).reason == Reason.WON_BY_OPPONENT
    # One who stays may do as he likes, one who leaves may not.
    arena = Arena.from_edges([0, 0, 1], [0, 1, 1], owner=[0, 0])
    game = Game.of_sets(arena, inf(0), [[0]])
    found = emersonlei.solve(game, "host")
    assert found.winner.tolist() == [0, 1]
    leaves = spoilt(found, move=(0, 1))
    assert emersonlei.verify(game, leaves).reason == Reason.MOVE_LEAVES_REGION
    arena = dataclasses.replace(arena, owner=np.array([True, False]))
    game = dataclasses.replace(game, arena=arena)
    found = emersonlei.solve(game, "host")
    claim = spoilt(found, winner=(0, 0), move=(0, -1))
    assert emersonlei.verify(game, claim).reason == Reason.OPPONENT_ESCAPES


def test_parts_with_the_same_marks_are_looked_at_together(monkeypatch):
    many = 500  # pairs of vertices that lead to one another, marked by lot
    v = np.arange(2 * many)
    arena = Arena.from_edges(v, v ^ 1, owner=v % 2)
    rng = np.random.default_rng(7)
    sets = [
        tuple(np.flatnonzero(rng.random(2 * many) < 0.4) for _ in "fi") for _ in "ab"
    ]
    game = Game.streett(arena, sets)
    found, calls = emersonlei.solve(game), []
    assert 0 < np.count_nonzero(found.winner) < 2 * many
    scc = _verify.graphs.scc
    monkeypatch.setattr(_verify.graphs, "scc", lambda x: calls.append(1) or scc(x))
    assert emersonlei.verify(game, found)
    assert 0 < len(calls) < 40
    for index in 0, 1, 2 * many - 1:
        wrong = found.winner.copy()
        wrong[index] ^= 1
        claim = dataclasses.replace(found, winner=wrong)
        assert not emersonlei.verify(game, claim)


def test_machines_must_have_their_shape():
    found = emersonlei.solve(VISITS)
    short = dataclasses.replace(found.machine, move=found.machine.move[:1])
    with pytest.raises(ValueError, match="machine.move must hold integers"):
        emersonlei.verify(VISITS, dataclasses.replace(found, machine=short))
    bare = dataclasses.replace(found, machine=None)
    with pytest.raises(ValueError, match="machine is None"):
        emersonlei.verify(VISITS, bare)


# ---- files --------------------------------------------------------------------------


def test_files_hold_all_of_a_game(tmp_path):
    for seed in range(60):
        game = draw(seed)
        path = tmp_path / "game.hoa.gz"
        hoa_game.save(path, game)
        back = hoa_game.load(path)
        np.testing.assert_array_equal(back.marks(), game.marks())
        for name in ("row_ptr", "dst", "owner"):
            np.testing.assert_array_equal(
                getattr(back.arena, name), getattr(game.arena, name)
            )
        assert str(back.condition) == str(game.condition)


SPOT = """HOA: v1 name: "turns" States: 2 Start: 0 AP: 1 "a" acc-name: Streett 1
Acceptance: 2 Fin(0) | (Inf(1) & t) properties: trans-labels
spot-state-player: 0 1 /* who moves */ --BODY--
State: [0&!0 | t] 0 "begin" {0} 0 1 {1}
State: 1 {1} [0] 0 {}
--END--
"""


def test_what_spot_writes():
    game = hoa_game.loads(SPOT)
    assert str(game.condition) == "Fin(0) | Inf(1)"
    assert game.arena.owner.tolist() == [True, False]
    assert game.marks().tolist() == [1, 3, 2]
    assert emersonlei.solve(game).winner.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("HOA: v1", "HOA: v2", "line 1: column 6: expected version 'v1'|:1: column 6"),
        ("spot-state-player: 0 1", "", "lacks 'spot-state-player:'"),
        ("Acceptance: 2 Fin(0) | (Inf(1) & t)", "", "lacks 'Acceptance:'"),
        ("player: 0 1", "player: 0 2", "expected a player, from 0 to 1, found '2'"),
        ("player: 0 1", "player: 0", "1 players, and there are 2 states"),
        ("Fin(0)", "Fin(2)", "the number of an acceptance set, from 0 to 1"),
        ("Fin(0)", "Fin(!0)", "complements of acceptance sets are not supported"),
        ("Fin(0)", "fin(0)", "expected 'Inf', 'Fin'"),
        ("& t)", "& t", r"expected '&', '\|' or '\)'"),
        ("Acceptance: 2", "Acceptance: 99", "from 0 to 62"),
        ("States: 2", "States: 3", "state 2 of 3 is not listed"),
        ("States: 2", "States: 2 States: 2", "there is a second 'States:'"),
        ("name:", "Name:", "header 'Name:' is not supported"),
        ("Start: 0", "Start: 0&1", "alternating automata are not supported"),
        ("State: 1", "State: 0", "state 0 is listed twice"),
        ("0 1 {1}", "0 1&0 {1}", "alternating automata are not supported"),
        ("[0] 0 {}", "", "state 1 has no edge"),
        ("1 {1}\n", "1 {2}\n", "expected '}' or the number of an acceptance set"),
        ("[0] 0 {}", "[0 0 {}", r"expected '\]' or a part of a label"),
        ("--END--", "", "expected 'State:', an edge or '--END--'"),
        ("--END--", "--END-- HOA: v1", "the end, as a file holds one game"),
    ],
)
def test_malformed_files(old, new, message):
    assert old in SPOT
    with pytest.raises(io.FormatError, match=message):
        hoa_game.loads(SPOT.replace(old, new, 1))


LISTED = """HOA: v1 States: 3 Acceptance: 2 Fin(0) | Inf(1)
spot-state-player: 0 1 0 --BODY--
State: 2 [t] 0 {0 1} [0 & !1 | @a] 1
State: 0 "one \\" two" {1} [t] 2 [f] 2 {}
State: 1 [ t ] 1 {0}
--END-- /* nothing else */
"""
"""States in any order, long enough to be read at once."""

LISTED_GAME = [False, True, False], [0, 2, 3, 5], [2, 2, 1, 0, 1], [2, 2, 1, 3, 0]


WAYS = (False, 1 << 60), (False, 0), (True, 0)
"""Whether by machine code, and up to which length token by token."""


def read_in_each_way(text):
    """What is read, or what is wrong, token by token, at once, and by machine code."""
    found = []
    for code, short in WAYS:
        with (
            mock.patch.object(_pieces, "pays", return_value=code),
            mock.patch.object(hoa_game, "_SHORT", short),
        ):
            try:
                game = hoa_game.loads(text)
            except io.FormatError as error:
                found.append(str(error))
            else:
                arena = game.arena
                arrays = ~arena.owner, arena.row_ptr, arena.dst, game.marks()
                found.append(tuple(x.tolist() for x in arrays))
    return found


def test_bodies_are_read_alike_in_each_way():
    assert read_in_each_way(LISTED) == [LISTED_GAME] * 3


@pytest.mark.parametrize("old", ["State: 0", "[t] 2", '"one', "{1}", "@a", "0 1 0"])
@pytest.mark.parametrize("new", ["", "$", "[", "]", "t:", "01", "9", "é", "/* */", '"'])
def test_what_is_wrong_is_told_alike_in_each_way(old, new):
    assert old in LISTED
    for text in (LISTED.replace(old, new, 1), LISTED.replace(old, old + new, 1)):
        by_tokens, *others = read_in_each_way(text)
        assert others == [by_tokens] * 2


def test_plain_bodies_are_not_read_token_by_token(monkeypatch):
    """That would be right, but many times slower."""
    monkeypatch.setattr(hoa_game._Reader, "_state", lambda *_: pytest.fail("tokens"))
    for code, short in WAYS[1:]:
        monkeypatch.setattr(_pieces, "pays", lambda *_, code=code: code)
        monkeypatch.setattr(hoa_game, "_SHORT", short)
        assert hoa_game.loads(LISTED).shape == (3, 5)


def test_a_condition_that_is_nested_deeply():
    deep = "Acceptance: 2 " + "(" * 200 + "t" + ")" * 200
    text = SPOT.replace("Acceptance: 2 Fin(0) | (Inf(1) & t)", deep)
    assert str(hoa_game.loads(text).condition) == "t"


def test_either_way_of_writing_a_condition():
    flat = either([fin(0), both([inf(1), inf(2)])])
    game = Game.of(ROUND, flat, vertex_marks=[1, 2, 4])
    assert str(hoa_game.loads(hoa_game.dumps(game)).condition) == str(flat)


def test_no_vertices_under_jit():
    arena = Arena.from_edges([], [], owner=[])
    game = Game.streett(arena, [([], []), ([], [])])
    found = jax.jit(lambda game: emersonlei.solve(game, "promotion"))(game)
    assert (found.winner.shape, int(found.status)) == ((0,), 0)
