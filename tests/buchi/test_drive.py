"""How solves are driven on the device: in one program, or in chunks; and where."""

import numpy as np
import pytest
from marked_graphs import COUNTEREXAMPLE, marked, plain

from jaxgames import Status, buchi, fixpoint
from jaxgames.buchi import _device, _drive
from jaxgames.ltl._operations import Kind
from jaxgames.progress import Deadline

SOLVERS = (buchi.Map(), buchi.Map(jump=True, trim=True), buchi.Owcty())
DRIVEN = {"one program": 1 << 26, "chunks": 0}


def chain(size: int):
    """A path: trimming deletes one vertex after the other, from its end."""
    return plain(np.arange(size - 1), np.arange(1, size), size)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_one_program_or_chunks_tell_the_same(solver, monkeypatch):
    told = {}
    for name, cells in DRIVEN.items():
        monkeypatch.setattr(_drive, "FIRST_CELLS", cells)
        for number, case in enumerate(marked(seed=31, count=40)):
            found = buchi.accepting_cycle(
                case.arena, accepting=case.accepting, initial=None, solver=solver
            )
            told[name, number] = found.witness, dict(found.stats)
    for number in range(40):
        assert told["one program", number] == told["chunks", number]


def test_what_one_program_leaves_goes_on_in_chunks(monkeypatch):
    monkeypatch.setattr(_drive, "MOST_ROUNDS", fixpoint.FIRST_CHUNK)
    size, solver, rounds = 500, buchi.Trim(sweeps=1, looks=3), []
    found = buchi.accepting_cycle(
        *(chain(size),),
        accepting=np.ones(size, bool),
        solver=solver,
        progress=lambda report: rounds.append(report.rounds),
    )
    assert not found.exists
    assert found.stats["trim"] == found.stats["rounds"] == size
    assert rounds[0] == 2 * fixpoint.FIRST_CHUNK  # those of the program counted in


def test_an_interrupt_and_a_time_limit(monkeypatch):
    def interrupted(solver, game):
        raise KeyboardInterrupt

    case = COUNTEREXAMPLE
    arguments = {"accepting": case.accepting, "solver": "map", "throw": False}
    monkeypatch.setattr(_drive, "_opening", interrupted)
    found = buchi.accepting_cycle(case.arena, **arguments)
    assert found.status == Status.INTERRUPTED
    assert buchi.accepting_cycle(case.arena, state=found.state, **arguments).exists
    monkeypatch.undo()
    monkeypatch.setattr(_drive, "MOST_ROUNDS", fixpoint.FIRST_CHUNK)
    found = buchi.accepting_cycle(
        *(chain(600),),
        accepting=np.ones(600, bool),
        solver=buchi.Trim(sweeps=1, looks=4),
        throw=False,
        progress=Deadline(1e-9),
    )
    assert found.status == Status.TIMEOUT


def test_statistics_are_numbers():
    case = COUNTEREXAMPLE
    for solver in ("map", "owcty"):
        stats = buchi.accepting_cycle(
            case.arena, accepting=case.accepting, solver=solver
        ).stats
        assert list(stats)[2:5] == ["outer", "inner", "trim"]
        assert all(type(stats[name]) is int for name in ("rounds", "outer", "inner"))


# ---- only what is inside of parts ------------------------------------------------


def parted(seed: int, count: int):
    """Graphs one after the other, with edges ahead; the part is which one it is."""
    rng = np.random.default_rng(seed)
    cases = list(marked(seed, 3 * count, largest=6))
    for some in zip(cases[::3], cases[1::3], cases[2::3], strict=True):
        sizes = [case.arena.shape[0] for case in some]
        first = np.cumsum([0, *sizes])
        src = [case.arena.src + at for case, at in zip(some, first, strict=False)]
        dst = [case.arena.dst + at for case, at in zip(some, first, strict=False)]
        part = np.repeat([0, 1, 2], sizes)
        ends = rng.integers(0, first[-1], (2, 12))
        ahead = part[ends[0]] < part[ends[1]]
        arena = plain(
            np.concatenate([*src, ends[0, ahead]]),
            np.concatenate([*dst, ends[1, ahead]]),
            int(first[-1]),
        )
        accepting = np.concatenate([case.accepting for case in some])
        accepting[part == rng.integers(0, 4)] = False  # a part that rejects, or none
        yield arena, accepting, part


@pytest.mark.parametrize(
    "solver",
    ["map", "owcty", buchi.Owcty(form="forward"), "random order"],
    ids=lambda x: x if isinstance(x, str) else "forward",
)
def test_parts_with_edges_between(solver):
    rng, found = np.random.default_rng(32), []
    for arena, accepting, part in parted(seed=32, count=60):
        if solver == "random order":
            chosen = buchi.Map(order=rng.permutation(len(part)))
        else:
            chosen = solver
        initial = int(rng.integers(0, len(part)))
        given = {"accepting": accepting, "initial": initial}
        right = buchi.accepting_cycle(arena, solver="host", **given)
        ours = buchi.accepting_cycle(arena, solver=chosen, partition=part, **given)
        assert ours.exists == right.exists
        assert buchi.verify(arena, ours, **given)
        found.append(bool(ours.exists))
    assert 10 < sum(found) < 50


def test_edges_outside_of_parts_are_not_laid_out():
    # A part that rejects, two that accept, and an edge from each to the next.
    size = 6
    src, dst = [0, 1, 1, 2, 3, 3, 4, 5], [1, 0, 2, 3, 2, 4, 5, 4]
    part = np.arange(size) // 2
    arena = plain(src, dst, size)
    question = buchi.prepare(arena, accepting=[2, 4], partition=part)
    kinds = tuple(kind for kind in Kind if kind != Kind.REJECTING)
    inner, vertices = question.inner(kinds)
    assert inner.shape == (4, 4)
    assert vertices.tolist() == [2, 3, 4, 5]
    assert np.asarray(inner.dst).tolist() == [1, 0, 3, 2]
    game = _device.task_of(question, buchi.Map(), kinds)
    assert _device.task_of(question, buchi.Map(), kinds) is game
    assert np.count_nonzero(np.asarray(game.part)) == 4
    whole = buchi.prepare(arena, accepting=[0, 2, 4])
    assert whole.inner(kinds)[0] is whole.arena


@pytest.mark.parametrize("solver", [*SOLVERS, buchi.Trim()], ids=repr)
def test_large_graphs_of_about_one_size_share_programs(solver, counted):
    """Each product would be compiled for, with a vertex more or less than another."""
    programs = []
    for size in (12001, 12007, 12030):
        # Each vertex leads to the next three, and the last ones back to the middle.
        dst = np.arange(size)[:, None] + [1, 2, 3]
        dst[-3:] = size // 2
        arena = plain(np.repeat(np.arange(size), 3), np.ravel(dst), size)
        some = np.isin(np.arange(size), [size // 3, size - 2])
        if isinstance(solver, buchi.Trim):  # for weak automata
            some = np.ones(size, bool)
        for accepting in (some, np.arange(size) == size // 3):
            exists = accepting is some
            if exists or not isinstance(solver, buchi.Trim):
                how = {"accepting": accepting, "initial": [0]}
                found = buchi.accepting_cycle(arena, solver, **how)
                assert found.exists == exists
                assert buchi.verify(arena, found, **how)
        programs.append(len(counted()))
    assert programs[0] == programs[-1]


def test_an_order_must_be_for_all_vertices():
    arena, accepting, part = next(parted(seed=33, count=1))
    accepting[part == 0] = False
    inside = int(np.count_nonzero(part))
    with pytest.raises(ValueError, match="one number for each vertex"):
        buchi.accepting_cycle(
            arena,
            accepting=accepting,
            partition=part,
            solver=buchi.Map(order=np.arange(inside)),
        )
