"""The rules of the house, read from the source (see CONTRIBUTING)."""

import ast
import functools
import re
import tomllib
from pathlib import Path

import pytest

import jaxgames

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "jaxgames"
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text()
    for path in sorted(PACKAGE.rglob("*.py"))
}

BASE = {"arena", "fixpoint", "host", "ops", "progress", "solution", "solver"}
BASE |= {"archive", "batch", "checkpoint", "drive", "kept", "later", "limits"}
BASE |= {"arguments"}
BASE |= {"machine", "memory", "native"}
BASE |= {"on_device", "quoting", "states", "tuning", "user_folder", "validity"}
BASE |= {"acceptance", "value", "verdict", "zielonka_tree"}
SHARED = {"graph"}  # the slice that others stand on
MODELS = {"ltl", "systems"}  # what model checking stands on, in this order
HOST = {"cli", "generate", "io", "plot"}
EXCEPTIONS = {
    ("arena", "plot"),  # drawn in notebooks, imported when that happens
    ("meanpayoff", "energy"),  # values are found by energy games
}
# Games of several conditions are solved by games of one.
EXCEPTIONS |= {("energyparity", "energy"), ("energyparity", "parity")}
EXCEPTIONS |= {("emersonlei", "parity")}
EXCEPTIONS |= {("mdp", "parity")}  # sure wins of stochastic games
EXCEPTIONS |= {("mdp", "ltl")}  # automata of formulas that games are played for
EXCEPTIONS |= {("equivalence", "multienergy")}  # one question, put as another
EXCEPTIONS |= {("equivalence", "io")}  # its systems are files, read when asked for
EXCEPTIONS |= {("synth", "ltl"), ("synth", "parity")}  # automata, and their games
EXCEPTIONS |= {("systems", "ltl"), ("buchi", "ltl"), ("buchi", "systems")}
SLICES = {path.parent.name for path in PACKAGE.glob("*/reference*")} | MODELS
ON_THE_HOST = {
    *(
        "host",
        "reference",
        "preprocess",
        "_bounds",
        "_certificate",
        "_condensation",
        "_convert",
        "_edges",
        "_extract",
        "_guess",
        "_host",
        "_links",
        "_parts",
        "_play",
        "_product",
        "_race",
        "_shared",
        "_system",
        "_verify_reach",
    ),
}
"""Parts of a slice that read arenas edge by edge: numpy arrays, and copies of games."""


@functools.lru_cache(4)
def nodes(source: str) -> list[ast.AST]:
    """All that a source consists of, for the several rules that ask for it."""
    return list(ast.walk(ast.parse(source)))


def imports(source: str) -> list[str]:
    """Modules that a source imports anywhere, and names taken from them."""
    found = []
    for node in nodes(source):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found += [f"{module}.{alias.name}" for alias in node.names]
    return found


def names(source: str) -> set[str]:
    """Every name and attribute that a source uses."""
    every = nodes(source)
    return {node.attr for node in every if isinstance(node, ast.Attribute)} | {
        node.id for node in every if isinstance(node, ast.Name)
    }


def breaches(module: str, source: str) -> list[str]:
    """The rules that a module of the package breaks."""
    where, file, *_ = (*module.split(".")[1:], "", "")
    used, found = names(source), []

    for name in imports(source):
        of_us = re.match(r"jaxgames\.(\w+)(.*)", name)
        if name.startswith("."):
            found.append("imports are absolute")
        if not of_us or (where, of_us[1]) in EXCEPTIONS:
            continue
        part, rest = of_us.groups()
        if where in BASE and part not in BASE:
            found.append(f"the base imports {part}")
        if where in SLICES and part not in BASE | SHARED | {where}:
            found.append(f"a slice imports {part}")
        if where in HOST and part in SLICES and re.match(r"\._", rest):
            found.append(f"host code imports the inside of {part}")

    kernel = file == "_edge_kernels"  # whose programs loop over blocks
    if where != "fixpoint" and not kernel and used & {"while_loop", "fori_loop"}:
        found.append("only fixpoint loops")
    if where != "ops" and any(name.startswith("segment_") for name in used):
        found.append("only ops reduces over segments")
    if where in SLICES and "told_if_slow" in used:
        found.append("only drive chooses an engine")
    solves = where in SLICES and file not in ON_THE_HOST | {"__init__"}
    if solves and used & {"src", "dst", "blocks", "slot"}:
        found.append("a slice looks into the layout")
    if file == "reference" and "jax" in {n.partition(".")[0] for n in imports(source)}:
        found.append("the reference imports jax")
    if where not in {"later", "testing"} and re.search(
        r"^(import|from) jax\b", source, re.MULTILINE
    ):
        found.append("JAX is taken from jaxgames.later")
    for name in imports(source):
        engine = re.match(r"jaxgames\.\w+\.host\b", name)
        if engine and file == "reference":
            found.append("the reference imports an engine")
        textbook = re.match(r"jaxgames\.(\w+)\.reference\b", name)
        compares = where == "testing" or file in {"__init__", "reference"}
        if textbook and textbook[1] in SLICES and not compares:
            found.append("only what compares reads a reference")
    if where not in {"kept", "host", "later"} and used & {
        "__dict__",
        "cached_property",
    }:
        found.append("only kept keeps things with a value")
    if where not in HOST and "print" in used:
        found.append("pure code prints")
    if re.search(r"^ *Example:$", source, re.MULTILINE):
        found.append("the documentation knows Examples:, not Example:")
    if re.search(r"""["'](/tmp|/home|/root|/Users|[A-Z]:\\)""", source):
        found.append("names a place on some machine")
    return found


def test_the_package_is_found():
    assert "parity" in SLICES
    assert {*BASE, *SHARED, *MODELS} <= {module.split(".")[1] for module in SOURCES}


@pytest.mark.parametrize("module", SOURCES)
def test_no_module_breaks_a_rule(module):
    assert breaches(module, SOURCES[module]) == []


@pytest.mark.parametrize(
    ("module", "source", "breach"),
    [
        ("jaxgames.ops", "from jaxgames import parity", "the base imports parity"),
        ("jaxgames.arena", "import jaxgames.io.npz", "the base imports io"),
        ("jaxgames.parity._x", "from . import _fpi", "imports are absolute"),
        ("jaxgames.parity._x", "from ._fpi import FPI", "imports are absolute"),
        (
            "jaxgames.parity._x",
            "from jaxgames.energy import F",
            "a slice imports energy",
        ),
        ("jaxgames.parity._x", "from jaxgames import cli", "a slice imports cli"),
        ("jaxgames.ltl._x", "import jaxgames.systems", "a slice imports systems"),
        ("jaxgames.systems._x", "from jaxgames import buchi", "a slice imports buchi"),
        (
            "jaxgames.io.npz",
            "from jaxgames.parity._fpi import FPI",
            "host code imports the inside of parity",
        ),
        ("jaxgames.parity._x", "jax.lax.while_loop(f, g, 0)", "only fixpoint loops"),
        (
            "jaxgames.ops",
            "def g():\n    from jax.lax import fori_loop as f\n    fori_loop",
            "only fixpoint loops",
        ),
        (
            "jaxgames.parity._x",
            "jax.ops.segment_max(x, game.owner)",
            "only ops reduces over segments",
        ),
        (
            "jaxgames.graph._x",
            "jax.ops.segment_max(x, y)",
            "only ops reduces over segments",
        ),
        ("jaxgames.graph._x", "import jaxgames.parity", "a slice imports parity"),
        (
            "jaxgames.energy._x",
            "host.told_if_slow('auto', 9)",
            "only drive chooses an engine",
        ),
        ("jaxgames.parity._x", "x[game.dst]", "a slice looks into the layout"),
        (
            "jaxgames.parity._x",
            "from jax import numpy",
            "JAX is taken from jaxgames.later",
        ),
        ("jaxgames.ops._x", "import jax.numpy", "JAX is taken from jaxgames.later"),
        (
            "jaxgames.parity.reference._x",
            "def f():\n    import jax",
            "the reference imports jax",
        ),
        (
            "jaxgames.parity.reference",
            "def f():\n    from jax import numpy",
            "the reference imports jax",
        ),
        (
            "jaxgames.graph.reference",
            "from jaxgames.graph.host._components import tarjan",
            "the reference imports an engine",
        ),
        (
            "jaxgames.parity.preprocess._x",
            "from jaxgames.graph import reference",
            "only what compares reads a reference",
        ),
        (
            "jaxgames.cli._x",
            "from jaxgames.graph.reference import scc",
            "only what compares reads a reference",
        ),
        (
            "jaxgames.parity._x",
            "arena.__dict__.setdefault('_mine', {})",
            "only kept keeps things with a value",
        ),
        (
            "jaxgames.mdp._x",
            "@functools.cached_property\ndef f(self): pass",
            "only kept keeps things with a value",
        ),
        ("jaxgames.fixpoint", "print(1)", "pure code prints"),
        ("jaxgames.io.npz", "open('/home/me/x')", "names a place on some machine"),
        (
            "jaxgames.arena",
            'def f():\n    """F.\n\n    Example:\n    """',
            "the documentation knows Examples:, not Example:",
        ),
    ],
)
def test_each_rule_is_seen_to_be_broken(module, source, breach):
    assert breaches(module, source) == [breach]


def test_what_is_allowed_breaks_no_rule():
    source = (
        "from jaxgames import fixpoint, ops\n"
        "from jaxgames.parity._game import answer\n"
        "ops.out_min(game, game.priority)\n"
    )
    assert breaches("jaxgames.parity._x", source) == []
    assert breaches("jaxgames.parity._x", "from jaxgames import graph") == []
    assert breaches("jaxgames.ops._x", "jax.ops.segment_max(x, y)") == []
    assert breaches("jaxgames.io.npz", "from jaxgames.parity import Solution") == []
    assert breaches("jaxgames.cli", "print(1)") == []


def version_in(name: str, pattern: str) -> str:
    found = re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)
    assert found, f"no version in {name}"
    return found[1]


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["hatch"]["version"]["path"] == "jaxgames/__init__.py"
    assert version_in("CITATION.cff", r"^version: (\S+)$") == jaxgames.__version__
    # The newest entry of the changelog.
    assert version_in("CHANGELOG.md", r"^## \[(\d\S*)\]") == jaxgames.__version__


def test_the_floor_of_python_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    floor = project["project"]["requires-python"].removeprefix(">=")
    assert project["tool"]["pyright"]["pythonVersion"] == floor
    assert project["tool"]["ruff"]["target-version"] == "py" + floor.replace(".", "")
