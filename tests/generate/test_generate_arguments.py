"""What the generators refuse, and what the command line reads off them."""

import inspect

import jax
import numpy as np
import pytest

from jaxgames import Arena, generate, limits

BAD = [
    (generate.clique, (1,), {}, "n must be at least 2, got 1"),
    (generate.clique, (0,), {"self_loops": True}, "n must be at least 1, got 0"),
    (
        generate.clique,
        (3,),
        {"self_loops": 1},
        "self_loops must be True or False, got 1",
    ),
    (generate.clique, (10**6,), {}, "is too large: expected at most"),
    (generate.ladder, (0,), {}, "n must be at least 1, got 0"),
    (generate.ladder, (2.0,), {}, "n must be an integer at least 1, got 2.0"),
    (generate.ladder, (10**9,), {}, "4000000000 edges is too large"),
    (generate.recursive_ladder, (-3,), {}, "n must be at least 1, got -3"),
    (generate.counter_rob, (0,), {}, "k must be at least 1, got 0"),
    (generate.two_counters_plus, (1024,), {}, "edges is too large"),
    (generate.friedmann, (1,), {}, "n must be at least 2, got 1"),
    (generate.fearnley, (3,), {"gadgets": 1}, "gadgets must be True or False, got 1"),
    (generate.model_checker_ladder, ("5",), {}, "n must be an integer .* got '5'"),
    (generate.jurdzinski, (0, 3), {}, "depth must be at least 1, got 0"),
    (generate.jurdzinski, (3, None), {}, "width must be an integer .* got None"),
    (generate.propagation, (True, 3), {}, "paths must be an integer .* got True"),
    (generate.propagation, (3, 0), {}, "length must be at least 1, got 0"),
    (generate.propagation_tree, (31, 2), {}, "levels must be from 1 to 30, got 31"),
    (generate.propagation_tree, (12, 9), {}, "is too large: expected at most"),
    (generate.propagation_tree, (3, 0), {}, "fan_out must be at least 1, got 0"),
    (generate.hanoi, (19,), {}, "disks must be from 1 to 18, got 19"),
    (generate.elevator, (10,), {}, "floors must be from 1 to 9, got 10"),
    (generate.elevator, (3,), {"fair": "no"}, "fair must be True or False, got 'no'"),
    (generate.random_game, (-1, 9), {}, "seed must be at least 0, got -1"),
    (generate.random_game, (0, 0), {}, "num_vertices must be at least 1, got 0"),
    (
        generate.random_game,
        (0, 3),
        {"max_degree": 4},
        r"possible successors \(3\), got 4",
    ),
    (
        generate.random_game,
        (0, 4),
        {"self_loops": False, "max_degree": 4},
        r"possible successors \(3\), got 4",
    ),
    (
        generate.random_game,
        (0, 1),
        {"self_loops": False, "parallel_edges": True},
        r"possible successors \(0\)",
    ),
    (generate.random_game, (0, 9), {"min_degree": 0}, "min_degree must be at least 1"),
    (
        generate.random_game,
        (0, 9),
        {"min_degree": 3, "max_degree": 2},
        "max_degree must be at least 3, got 2",
    ),
    (
        generate.random_game,
        (0, 9),
        {"num_priorities": 0},
        "num_priorities must be from 1",
    ),
    (generate.random_game, (0, 9), {"owner_share": 1.5}, "from 0 to 1, got 1.5"),
    (
        generate.random_game,
        (0, 9),
        {"owner_share": float("nan")},
        "from 0 to 1, got nan",
    ),
    (generate.random_game, (0, 9), {"owner_share": True}, "from 0 to 1, got True"),
    (generate.random_game, (0, 2**30), {}, "4294967296 edges is too large"),
    (generate.clustered_game, (0, 9), {"depth": -1}, "depth must be from 0 to 64"),
    (
        generate.clustered_game,
        (0, 9),
        {"breadth": 1},
        "breadth must be at least 2, got 1",
    ),
    (
        generate.clustered_game,
        (0, 9),
        {"links": -2},
        "links must be at least 0, got -2",
    ),
]


@pytest.mark.parametrize(("make", "arguments", "options", "message"), BAD)
def test_bad_arguments_are_refused(make, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        make(*arguments, **options)


def test_numpy_integers_are_integers():
    assert generate.ladder(np.int64(3)).shape == (6, 12)


def test_every_public_generator_is_a_family():
    """But those that JAX itself calls, with its keys."""
    public = {
        function
        for name, function in inspect.getmembers(generate, inspect.isfunction)
        if name[0] != "_" and not name.endswith("_by_key")
    }
    assert public == {*generate.FAMILIES.values(), *generate.MODELS.values()}


@pytest.mark.parametrize("name", generate.FAMILIES)
def test_families_can_be_called_from_a_command_line(name):
    function = generate.FAMILIES[name]
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.kind in kinds
        if parameter.name in limits.Bounds.__annotations__:
            continue
        seed = int | np.random.Generator
        assert parameter.annotation in (int, float, bool, seed, int | None)
        keyword_only = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert keyword_only == (parameter.default is not inspect.Parameter.empty)
    assert inspect.signature(function).return_annotation is Arena
    assert inspect.getdoc(function).splitlines()[0][-1] in ".?"


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_small_random_game_needs_no_degree(size):
    game = generate.random_game(3, size)
    assert game.shape[0] == size
    assert np.diff(game.row_ptr).max() <= size
    key = jax.random.key(3)
    by_key = jax.jit(generate.random_game_by_key, static_argnums=1)
    there = by_key(key, size)
    assert np.diff(there.unpad().row_ptr).max() <= size
    alone = generate.random_game(3, size + 1, self_loops=False)
    assert not np.any(alone.src == alone.dst)
    assert generate.random_game(3, 9, min_degree=6).shape == (9, 54)
