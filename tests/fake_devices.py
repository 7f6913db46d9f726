"""Processes for which a CPU is several devices."""

import os

THREADS = 16
"""Threads of XLA in such a process.

A device may wait for the others in several threads at once. With as many as there are
devices, one that has two leaves none for another, and all wait for ever.
"""


def environment(devices: int = 4) -> dict[str, str]:
    """The variables of such a process."""
    flags = os.environ.get("XLA_FLAGS", "")
    return os.environ | {
        "XLA_FLAGS": f"{flags} --xla_force_host_platform_device_count={devices}",
        "JAX_PLATFORMS": "cpu",
        "NPROC": str(THREADS),
    }
