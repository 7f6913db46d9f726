"""Machine code by LLVM: assembled once on a machine, kept on a disk, and linked."""

import contextlib
import ctypes
import functools
import glob
import hashlib
import itertools
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jaxgames.tuning.base import LEVEL
from jaxgames.user_folder import default_folder


def kept(name: str, source: Path, make: Callable[[], Any]) -> Any:
    """What was made before, of a file; or what is made now, and can be pickled.

    The name of the file is `STEM-DIGEST.native`: others of the stem are removed. It is
    beside the source, as Python's own are.
    """
    folders = _folders(source)
    for folder in folders:
        # It may not be there, or not be whole.
        with contextlib.suppress(Exception):
            return pickle.loads((folder / name).read_bytes())
    made = make()
    for folder in folders:
        if _keep(folder / name, pickle.dumps(made)):
            break
    return made


def is_any_kept(package: str, source: Path) -> bool:
    """Whether there is a file of some function that is newer than the package.

    Then those of others are likely to be there, too. Older ones may be those of an
    earlier version.

    Args:
        package: its name.
        source: one of its files.
    """
    begin, tag = glob.escape(package), glob.escape(str(sys.implementation.cache_tag))
    files = (x.glob(f"{begin}.*-{tag}-*.native") for x in _folders(source))
    with contextlib.suppress(OSError):  # somebody may remove one meanwhile
        newest = max(x.stat().st_mtime for x in source.parent.glob("*.py"))
        made = itertools.chain.from_iterable(files)
        return any(x.stat().st_mtime > newest for x in made)
    return False


def _folders(source: Path) -> list[Path]:
    """Where files may be: beside the source.

    Where nobody may write there, also in the user's folder, if nobody else may
    write to that: what is found is run.
    """
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return [Path(given)]
    beside = source.parent / "__pycache__"
    there = beside if beside.is_dir() else beside.parent
    found = [beside]
    if not os.access(there, os.W_OK):
        with contextlib.suppress(OSError):
            found.append(default_folder() / "native")
    return found


def _keep(path: Path, content: bytes) -> bool:
    """Writes a file at once or not at all, and removes those of earlier edits.

    Tells whether it is there: if not, there is no place, and it is made again.
    """
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        draft.replace(path)
        for old in path.parent.glob(f"{path.name.rpartition('-')[0]}-*.native"):
            if old != path:
                old.unlink(missing_ok=True)
    except OSError:
        return False
    return True


@functools.cache
def own_text() -> str:
    """What tells this translator from others."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


@functools.cache
def target_name() -> tuple:
    """What tells this machine from others."""
    import llvmlite
    import llvmlite.binding as llvm

    triple = llvm.get_process_triple()
    features = llvm.get_host_cpu_features().flatten()
    return llvmlite.__version__, triple, llvm.get_host_cpu_name(), features


def _target() -> Any:
    """A description of this machine; whoever runs machine code owns one."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=LEVEL,
        reloc="pic",
        codemodel="default",
        jit=True,
    )


def assembled(text: str) -> bytes:
    """The machine code of a program."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    target = _target()
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)
    return target.emit_object(module)


@functools.cache
def _linker() -> Any:
    """What puts machine code into memory, all sections of a program side by side.

    MCJIT takes memory for each section alone. Where a process has reserved much, as on
    a machine with a GPU, they may lie further apart than code can reach, and LLVM ends
    the process.
    """
    import llvmlite.binding as llvm

    return llvm.create_lljit_compiler(_target(), use_jit_link=True)


_names = itertools.count()


def linked(machine_code: bytes, names: tuple[str, ...]) -> Any:
    """The addresses of some functions, as long as what is returned is there."""
    import llvmlite.binding as llvm

    library = llvm.JITLibraryBuilder().add_object_img(machine_code)
    library.add_current_process()
    for name in names:
        library.export_symbol(name)
    return library.link(_linker(), f"program {next(_names)}")


def library(name: str, file: Path, text: str, names: tuple[str, ...]) -> Any:
    """Functions of a file that holds them in LLVM's language, as of `linked`."""
    digest = hashlib.sha256(repr((text, target_name())).encode()).hexdigest()[:16]
    made = kept(f"{name}-{digest}.native", file, lambda: assembled(text))
    return linked(made, names)


def function(address: int, *kinds: Any, result: Any = None) -> Callable[..., Any]:
    """A function that is called from Python, without its global lock meanwhile."""
    return ctypes.CFUNCTYPE(result, *kinds)(address)
