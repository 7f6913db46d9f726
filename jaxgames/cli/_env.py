"""`jaxgames env`."""

import argparse
import importlib.metadata
import os
import platform
from typing import Any

import jaxgames
from jaxgames import host, programs
from jaxgames.cli import _options, _report
from jaxgames.cli._exit import Exit
from jaxgames.later import jax

EXAMPLE = "env --json"

PACKAGES = "jax", "jaxlib", "numpy", "numba", "scipy", "matplotlib"
"""What is asked for its version, besides this package and Python."""

SETTINGS = "JAX_", "XLA_", "NUMBA_", "CUDA_VISIBLE_DEVICES", "XDG_CACHE_HOME"
"""How variables of the environment begin that change what is computed where."""


def options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(file=None)
    _options.add_json(parser)


def run(args: argparse.Namespace) -> Exit:
    """Prints versions, the machine, and what is used of it."""
    facts: dict[str, Any] = {
        "jaxgames": jaxgames.__version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "platform": platform.platform(),
        "cores": host.num_cores(),
        "memory": _memory(),
        **_devices(),
        **_kept(),
        "environment": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(SETTINGS)
        },
    }
    if args.json:
        _report.show(args, {"status": "solved", **facts})
        return Exit.DONE
    for name, value in facts.items():
        print(f"{name.replace('_', ' '):16}{_in_words(name, value)}")
    return Exit.DONE


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _memory() -> int | None:
    """Bytes of the machine, or None where nobody tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _devices() -> dict[str, Any]:
    """What JAX computes on, or why it does not."""
    try:
        found = [f"{x.id} {x.platform} {x.device_kind}" for x in jax.devices()]
    except (RuntimeError, ImportError) as error:
        return {"devices": [], "devices_error": " ".join(str(error).split())}
    return {"devices": found}


def _kept() -> dict[str, Any]:
    """Where compiled programs are kept, and whether they are."""
    named = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    if named is not None:
        return {"cache": named or None, "cache_used": bool(named)}
    try:
        return {"cache": str(programs.default_folder()), "cache_used": True}
    except OSError as error:
        return {"cache": None, "cache_used": False, "cache_error": str(error)}


def _in_words(name: str, value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{key}={text}" for key, text in value.items()]
    if isinstance(value, list):
        return ", ".join(value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "not there" if name in PACKAGES else "unknown"
    return f"{value / 2**30:.1f} GiB" if name == "memory" else str(value)
