"""What is no game is refused: by every front door, every solver, in every form."""

import collections
import dataclasses
import functools
import itertools
import re

import jax
import jax.numpy as jnp
import malformed
import numpy as np
import pytest
from malformed import BY_SHAPE, BY_VALUE, DEAD_ENDS, PRIORITIES, sound

import jaxgames
from jaxgames import Arena, Status, host, parity, solve_many, validity
from jaxgames.parity import preprocess, reference
from jaxgames.verdict import NO_PROBLEM

PLACES = ("host", "race")

PARITY = BY_VALUE | PRIORITIES | DEAD_ENDS

solved = functools.cache(lambda: parity.solve(sound(), "zielonka"))

PARITY_DOORS = {
    **{
        f"solve-{name}": functools.partial(parity.solve, solver=name)
        for name in (*parity.SOLVERS, *PLACES, "auto")
    },
    **{
        f"verify-{method}": lambda arena, method=method: parity.verify(
            arena, solved(), method
        )
        for method in ("auto", "trimming", "components")
    },
    **{
        f"preprocess-{name}": preprocess.REDUCTIONS[name]
        for name in ("chains", "contract")
    },
    "certificate": lambda arena: parity.certificate(arena, solved()),
    "prepare": parity.prepare,
    "prepare_host": parity.prepare_host,
    "reference": reference.solve,
    "reference-spm": lambda arena: reference.solve(arena, "spm"),
    "reference-verify": lambda arena: reference.verify(arena, solved()),
    "solve_many": lambda arena: solve_many(parity, [arena]),
    "validate": Arena.validate,
}


def complaint_of(door, *args) -> str:
    """What a front door says in the ValueError that it raises."""
    try:
        return f"taken: {door(*args)!r}"
    except ValueError as error:
        return str(error)


def refused(name, message, door, *args):
    """Asserts that a front door raises a ValueError, and what it says."""
    said = complaint_of(door, *args)
    assert re.search(message, said), f"{name}: {said}"


@pytest.mark.parametrize("door", PARITY_DOORS)
def test_a_parity_game_with_a_wrong_value_is_refused_by_name(door):
    for name, (arena, message) in PARITY.items():
        refused(name, message, PARITY_DOORS[door], dataclasses.replace(arena))


@pytest.mark.parametrize("door", PARITY_DOORS)
def test_a_parity_game_with_a_wrong_shape_is_refused_by_name(door):
    for name, (change, message) in BY_SHAPE.items():
        refused(
            name, message, PARITY_DOORS[door], dataclasses.replace(sound(), **change)
        )


@pytest.mark.parametrize("door", ["solve-auto", "verify-trimming"])
def test_a_wrong_shape_is_an_error_while_tracing(door):
    for name, (change, message) in BY_SHAPE.items():
        arena = dataclasses.replace(sound(), **change)
        refused(name, message, jax.eval_shape, PARITY_DOORS[door], arena)


@pytest.mark.parametrize("solver", [*parity.SOLVERS])
def test_under_vmap_what_is_no_game_is_invalid_alone(solver):
    stack = malformed.stack_of(PARITY)
    found = jax.jit(jax.vmap(lambda arena: parity.solve(arena, solver)))(stack)
    assert found.status.tolist() == [Status.SOLVED] + [Status.INVALID] * len(PARITY)
    assert (found.winner[1:] == -1).all()
    assert (found.strategy[1:] == -1).all()
    alone = parity.solve(sound(), solver)
    np.testing.assert_array_equal(found.winner[0], alone.winner)
    np.testing.assert_array_equal(found.strategy[0], alone.strategy)


def test_no_solution_of_what_is_no_game_is_valid():
    stack = malformed.stack_of(PARITY)
    verdict = jax.jit(jax.vmap(parity.verify, (0, None)))(stack, solved())
    assert verdict.valid.tolist() == [True] + [False] * len(PARITY)
    assert (verdict.reason[1:] == NO_PROBLEM).all()
    one = jax.tree.map(lambda x: x[1], verdict)
    assert "pass it outside of jit" in str(one)


class TestDeadEnds:
    """Three vertices 0 -> 1 -> 2, the last of which leads nowhere."""

    @pytest.fixture
    def path(self):
        return Arena.from_edges(
            [0, 1], [1, 2], owner=[0, 0, 0], priority=[0, 0, 0], dead_ends="allow"
        )

    @pytest.mark.parametrize("solver", [*parity.SOLVERS, *PLACES, "auto"])
    @pytest.mark.parametrize("numba", [True, False])
    def test_are_named_by_every_solver(self, path, solver, numba, monkeypatch):
        if not numba:
            monkeypatch.setattr(host, "can_compile", lambda: False)
        with pytest.raises(ValueError, match="vertex 2 has no successor"):
            parity.solve(path, solver)

    @pytest.mark.parametrize("solver", [*parity.SOLVERS, "auto"])
    def test_are_named_with_their_game(self, path, solver):
        games = [*malformed.sound_games(3), path]
        with pytest.raises(ValueError, match="game 3: vertex 2 has no successor"):
            solve_many(parity, games, solver)

    @pytest.mark.parametrize("place", [lambda x: x, jax.device_put])
    def test_are_named_with_their_game_of_a_stack(self, place):
        stack = malformed.stack([sound(), sound(), malformed.DEAD_END])
        with pytest.raises(ValueError, match="game 2: vertex 1 has no successor"):
            solve_many(parity, place(stack))

    def test_are_an_error_while_tracing_where_shapes_tell(self, path):
        with pytest.raises(ValueError, match="2 edges cannot give a successor to each"):
            jax.eval_shape(parity.solve, path)


def test_a_bad_game_of_a_batch_is_named():
    games = malformed.sound_games(4)
    for bad, message in (
        (malformed.changed(sound(), "dst", 2, -1), r"game 4: dst\[2\] is -1"),
        (dataclasses.replace(sound(), priority=None), "game 4: a parity game needs"),
        (malformed.stack([sound()]), "game 4: one game at a time|game 4: expected one"),
        ("game.pg", "game 4: expected an Arena, got 'game.pg'"),
    ):
        with pytest.raises(ValueError, match=message):
            solve_many(parity, [*games, bad])


@pytest.mark.parametrize(
    "door", [parity.solve, parity.prepare, preprocess.chains, reference.solve]
)
def test_a_path_is_no_game(door):
    with pytest.raises(ValueError, match=r"got 'game.pg': .*io.load\(path\) reads one"):
        door("game.pg")


def test_every_other_object_is_refused():
    for other in (None, 3, np.zeros(3), [sound()]):
        with pytest.raises(ValueError, match="expected an Arena, got"):
            parity.solve(other)


# ---- the check itself --------------------------------------------------------


def is_arena(arena: Arena, total: bool) -> bool:
    """The definition, entry by entry."""
    rows, src, dst = (
        np.asarray(x).tolist() for x in (arena.row_ptr, arena.src, arena.dst)
    )
    size, edges = len(arena.owner), len(dst)
    real, real_edges = int(arena.num_vertices), int(arena.num_edges)
    if rows[0] != 0 or rows[-1] != edges or not 0 <= real <= size:
        return False
    if any(a > b for a, b in zip(rows, rows[1:], strict=False)):
        return False
    if src != [v for v in range(size) for _ in range(rows[v], rows[v + 1])]:
        return False
    if rows[real] != real_edges or any(not 0 <= w < size for w in dst):
        return False
    if any(w >= real for w in dst[:real_edges]) or dst[real_edges:] != src[real_edges:]:
        return False
    if any(not 0 <= p <= 2**31 - 3 for p in arena.priority.tolist()):
        return False
    return not total or all(a < b for a, b in zip(rows, rows[1:], strict=False))


def mutants(count: int) -> list[Arena]:
    """Arenas with one to three entries changed; some changes do no harm."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(count):
        arena = sound()
        for _ in range(rng.integers(1, 4)):
            name = rng.choice(["row_ptr", "src", "dst", "priority", "counts"])
            if name == "counts":
                which = rng.choice(["num_vertices", "num_edges"])
                arena = malformed.changed(arena, which, None, rng.integers(-1, 10))
                continue
            place = rng.integers(len(getattr(arena, name)))
            value = rng.choice([*range(-1, 9), 2**31 - 1, -(2**31)])
            arena = malformed.changed(arena, name, place, value)
        found.append(arena)
    return found


@pytest.mark.parametrize("total", [True, False])
def test_the_check_is_the_definition(total):
    arenas = mutants(400)
    stack = malformed.stack(arenas)
    expected = [not is_arena(arena, total) for arena in arenas]
    assert 20 < sum(expected) < 380
    check = jax.jit(jax.vmap(lambda arena: validity.checked(arena, total=total)[1]))
    assert check(stack).tolist() == expected
    for arena, bad in zip(arenas, expected, strict=True):
        if not bad:
            assert validity.checked(arena, total=total) == (arena, False)
            continue
        with pytest.raises(ValueError, match=r"\[|src|num_|padding|successor"):
            validity.checked(arena, total=total)
    for place in (lambda x: x, jax.device_put):
        with pytest.raises(ValueError, match=f"^game {expected.index(True)}: "):
            validity.check_each(place(stack), total=total)


@pytest.mark.parametrize("total", [True, False])
def test_what_takes_its_place_is_sound(total):
    arenas = [*mutants(50), malformed.DEAD_END]
    checked = jax.vmap(lambda arena: validity.checked(arena, total=total)[0])
    safe = jax.device_get(jax.jit(checked)(malformed.stack(arenas)))
    for index in range(len(arenas)):
        assert is_arena(jax.tree.map(lambda x, i=index: x[i], safe), total)


def test_a_traced_check_is_a_pass_over_vertices_and_one_over_edges():
    jaxpr = jax.make_jaxpr(lambda arena: validity.checked(arena)[1])(sound())
    work = [
        x for x in operations(jaxpr.jaxpr) if x.invars and x.invars[0].aval.size > 1
    ]
    count = collections.Counter(x.primitive.name for x in work)
    assert count["reduce_or"] == 2
    assert count["gather"] == 2  # where rows begin and end
    assert not {"sort", "scatter", "concatenate", "cumsum"} & count.keys()
    assert {x.outvars[0].aval.dtype.itemsize for x in work} <= {1, 4}


def operations(jaxpr):
    """All of a jaxpr, those of inner ones too."""
    for equation in jaxpr.eqns:
        inner = [x.jaxpr for x in equation.params.values() if hasattr(x, "jaxpr")]
        yield from itertools.chain(*map(operations, inner)) if inner else [equation]


def test_a_concrete_arena_is_looked_at_once(monkeypatch):
    looks = []
    look = validity._first_dead_end
    monkeypatch.setattr(
        validity, "_first_dead_end", lambda arena: looks.append(1) or look(arena)
    )
    built = sound()
    parity.verify(built, parity.solve(built))
    assert not looks
    by_hand = dataclasses.replace(built)
    parity.verify(by_hand, parity.solve(by_hand))
    assert len(looks) == 1


class TestUnchecked:
    """Two vertices whose number of edges is wrong, which no solver reads."""

    arena = malformed.changed(sound(), "num_edges", None, 4)

    def test_leaves_the_check_out(self):
        def status(arena, look):
            if look:
                return parity.solve(arena, "fpi").status
            with jaxgames.unchecked():
                return parity.solve(arena, "fpi").status

        solve = jax.jit(status, static_argnums=1)
        assert solve(self.arena, True) == Status.INVALID
        assert solve(self.arena, False) == Status.SOLVED

    def test_concrete_games_are_checked_all_the_same(self):
        with jaxgames.unchecked(), pytest.raises(ValueError, match="num_edges is 4"):
            parity.solve(self.arena)

    def test_ends_with_its_context(self):
        with jaxgames.unchecked():
            pass
        solve = jax.jit(lambda arena: parity.solve(arena, "fpi").status)
        assert solve(self.arena) == Status.INVALID


@pytest.mark.parametrize(
    "problem", ["parity", "energy", "meanpayoff", "scc", "buchi", "accepting_cycle"]
)
def test_an_empty_game_of_a_batch_is_nothing_wrong(problem):
    empty = Arena.from_edges(
        [], [], owner=[], priority=[], weight=[], accepting=[], dead_ends="allow"
    )
    for games in ([empty], [*malformed.sound_games(2), empty]):
        found = solve_many(problem, games)
        assert found.status == Status.SOLVED
        assert len(found) == len(games)
        arrays = [x for x in jax.tree.leaves(found[-1]) if np.ndim(x)]
        assert all(x.shape == (0,) for x in arrays)


def test_numbers_withdrawn_are_undecided():
    answer = {"label": jnp.arange(3), "in": jnp.ones(2, bool), "p": jnp.ones(2)}
    gone = validity.withdrawn(jnp.array(True), answer)
    assert gone["label"].tolist() == [-1, -1, -1]
    assert gone["in"].tolist() == [False, False]
    assert gone["p"].tolist() == [-1, -1]
    assert validity.withdrawn(False, answer) is answer
