"""A program that computes on the host never waits for JAX; one that has it gets all."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from forked import Forked

import jaxgames
from jaxgames import later

PACKAGE = Path(jaxgames.__file__).parent
LAZY = sorted(
    ".".join(path.parent.relative_to(PACKAGE.parent).parts)
    for path in PACKAGE.rglob("__init__.py")
    if "later.exports(__name__)" in path.read_text()
)

BEGIN = """
import sys
import jaxgames
from jaxgames import generate, later, parity

arena = generate.ladder(5)
solution = parity.solve(arena)
assert parity.verify(arena, solution)
assert "jax" not in sys.modules and not later.imported()
"""


@pytest.fixture(scope="module")
def runs():
    with Forked(BEGIN) as processes:

        def succeeds(program: str) -> None:
            done = processes.run(program)
            assert done.returncode == 0, done.stderr

        yield succeeds


def test_a_program_that_imports_jax_later_may_trace(runs):
    runs("""
import jax
import numpy as np
assert later.imported()
winner = jax.jit(lambda arena: parity.solve(arena, "fpi").winner)(arena)
assert np.array_equal(winner, solution.winner)
assert len(jax.tree.leaves(solution)) > 1
""")


def test_fingerprints_are_those_that_jax_would_give(runs):
    runs("""
import numpy as np
from jaxgames import states
from jaxgames.arena import Arena
values = {"game": arena, "b": np.arange(3.0), "a": {"x": np.array([True])}, "n": None}
before = states.fingerprint(values), states.words_of(arena)
import jax
copy = Arena(**{name: getattr(arena, name) for name in arena.__dataclass_fields__})
assert (states.fingerprint(values), states.words_of(copy)) == before
""")


def test_a_solver_of_the_device_imports_jax(runs):
    runs("""
import numpy as np
found = parity.solve(arena, "zielonka")
assert "jax" in sys.modules and found.stats["solver"] == "zielonka"
assert np.array_equal(found.winner, solution.winner)
""")


def test_nothing_but_jax_is_left_in_the_modules(runs):
    runs("""
import jax
from jaxgames import buchi, energy, graph, mdp
for name, module in list(sys.modules.items()):
    if name.startswith("jaxgames."):
        for value in vars(module).values():
            assert type(value) not in (later._Name, later._Jitted), (name, value)
""")


def test_a_failed_import_of_jax_may_be_tried_again(runs):
    runs("""
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "jax":
            raise ImportError("not now")
broken = Broken()
sys.meta_path.insert(1, broken)
try:
    parity.solve(arena, "zielonka")
except ImportError as error:
    assert str(error) == "not now"
sys.meta_path.remove(broken)
assert parity.verify(arena, parity.solve(arena, "zielonka"))
""")


@pytest.mark.parametrize("package", LAZY)
def test_all_that_a_package_names_is_there(package):
    module = importlib.import_module(package)
    for name in dir(module):
        getattr(module, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize("first", ["", "import jax\n"])
def test_a_star_imports_what_a_package_names(first):
    program = f"""{first}
import sys
from jaxgames import *
from jaxgames.discounted import *
found = {{x for x in globals() if x[0] != "_"}} - {{"sys", "jax"}}
jaxgames = sys.modules["jaxgames"]
assert found == {{*jaxgames.__all__, *jaxgames.discounted.__all__}}, found
assert {{"Arena", "parity", "synth", "solve", "Reason", "verify"}} <= found
assert not {{"TYPE_CHECKING", "later", "starting"}} & found
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_all_slices_are_named_where_one_looks_for_them():
    slices = {path.parent.name for path in PACKAGE.glob("*/_solve.py")}
    assert {"parity", "synth", "meanpayoff"} <= slices
    assert slices - {"cli", "drive"} <= {*jaxgames.__all__}
    for path in PACKAGE.glob("*/reference*"):
        slice_ = importlib.import_module(f"jaxgames.{path.parent.name}")
        assert "reference" in slice_.__all__


def test_packages_are_lazy():
    assert {"jaxgames", "jaxgames.parity", "jaxgames.io", "jaxgames.ops"} <= {*LAZY}


def test_names_stand_for_classes():
    name = later._Name("builtins.int")
    assert isinstance(3, name)
    assert not isinstance("3", name)
    for either in (name | None, None | name, str | name | None):
        assert isinstance(None, either)
        assert isinstance(3, either)
        assert not isinstance(3.0, either)


@pytest.mark.parametrize(("platforms", "found"), [("cpu", False), ("cuda,cpu", True)])
def test_whoever_names_platforms_is_believed(platforms, found, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", platforms)
    assert later._could_have_accelerator.__wrapped__() is found
