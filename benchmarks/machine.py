"""What a measurement was made on: the machine, the versions, its copy bandwidth."""

import importlib.metadata
import os
import platform
import subprocess
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames

ROOT = Path(__file__).parent.parent


def facts() -> dict[str, str | int]:
    """Hardware and versions, nothing that names the machine or its user."""
    device = jax.devices()[0]
    cpu = _cpu_model()
    found = {
        "device": cpu if device.platform == "cpu" else device.device_kind,
        "devices": jax.device_count(),
        "backend": device.platform,
        "cpu": cpu,
        "cores": _cores(),
        "memory_gib": _memory_gib(),
        "system": platform.system(),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": importlib.metadata.version("jaxlib"),
        "numpy": np.__version__,
        "jaxgames": jaxgames.__version__,
        "commit": _commit(),
    }
    return {name: value for name, value in found.items() if value is not None}


def copy_bandwidth(size: int = 2**29, repeats: int = 8) -> float:
    """Measures how fast the device reads an array and writes another, in GB/s.

    The array is updated in place (its buffer is donated): with a fresh result each
    time, a CPU would spend most of the time on mapping new pages. Several calls are
    queued before the clock is read, which hides the cost of launching them.

    Args:
        size: bytes of the array, well above the caches.
        repeats: how often to measure; the best counts.
    """
    queued = 8
    copy = jax.jit(lambda x: x + 1, donate_argnums=0)
    array = copy(jnp.zeros(size // 4, jnp.int32)).block_until_ready()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(queued):
            array = copy(array)
        array.block_until_ready()
        best = min(best, time.perf_counter() - start)
    return 2 * array.nbytes * queued / best / 1e9


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def _cores() -> int | None:
    # The cores that this process may use can be fewer than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _memory_gib() -> int | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError):  # not POSIX
        return None


def _commit() -> str | None:
    """Short hash of the commit, with a `+` if the package differs from it."""
    try:
        commit, changes = (
            subprocess.run(
                ["git", "-C", str(ROOT), *command.split()],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            for command in ("rev-parse --short HEAD", "status --porcelain -- jaxgames")
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit + ("+" if changes else "")
