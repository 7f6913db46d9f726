"""How programs are compiled that are many and compute little."""

import contextlib
import gc
import importlib
import os

import jax

from jaxgames import native

FAST_COMPILATION = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_parallel_codegen_split_count=1",
    "--xla_cpu_use_fusion_emitters=false",
)
"""Options of XLA: a program for a CPU takes a sixth of the time to compile, or a half.

It computes more slowly then, which matters to none that ends at once.
"""


def compile_fast() -> None:
    """Has this process trace and compile fast, since its programs compute little.

    Compiled loops of the host check all indices then.

    Tracing makes many objects and few cycles, so garbage is looked for less often,
    programs say nothing of the lines that they come from, and all are written in one
    context of MLIR, which takes milliseconds to make.

    Set `XLA_FLAGS`, if only to nothing, to compile as users do. JAX reads the variable
    when it first looks for devices: this has to be called before.
    """
    own = " ".join(FAST_COMPILATION)
    # A process that another one has started finds what that one has set.
    if os.environ.get("XLA_FLAGS", own) == own:
        native.check_indices()
    if jax.__version_info__ < (0, 11):  # XLA ends where an option is one that it lost
        os.environ.setdefault("XLA_FLAGS", own)
    jax.config.update("jax_traceback_in_locations_limit", 0)
    gc.set_threshold(200_000, 50, 1000)
    _share_context()


def _share_context() -> None:
    # JAX has no public way. Where it has this function no more, it goes on as before.
    with contextlib.suppress(ImportError):
        mlir = importlib.import_module("jax._src.interpreters.mlir")
        if "make_ir_context" in vars(mlir):
            context = mlir.make_ir_context()
            vars(mlir)["make_ir_context"] = lambda: context
