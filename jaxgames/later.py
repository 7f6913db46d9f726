"""JAX, imported when it is first computed with.

A small game is read, solved and checked on the host in less time than JAX takes to be
imported. So modules take `jax` and `jnp` from here. Where a program has imported JAX
before this package, they are JAX's own modules. Elsewhere they are names: what they
name can be written in annotations, asked for by `isinstance`, and used as a decorator,
and is looked up when it is called. Classes that JAX is to know as pytrees are told to
it as soon as it is there, whoever imports it.

    from jaxgames.later import jax, jnp
"""

import contextlib
import functools
import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast


def imported() -> bool:
    """Whether JAX is there: if not, nothing can be traced, or lie on a device."""
    return not _waiting or _waiting.done


def when_imported(call: Callable[[], Any]) -> None:
    """Calls a function, once, as soon as JAX is there: now, or later."""
    if imported():
        call()
    else:
        assert _waiting
        _waiting.calls.append(call)


_EXPORT = re.compile(r"^ +from (\S+) import \(?\s*(\w+) as (\w+)", re.MULTILINE)


def exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose names are imported when used.

    These are the names that its `__init__.py` imports for a type checker, as
    `from module import name as name`. Where JAX is there, or as soon as it is, all but
    modules of the package are imported: JAX may meet any class that is a pytree.
    """
    module = sys.modules[package]
    assert module.__file__ is not None
    found = _EXPORT.findall(Path(module.__file__).read_text(encoding="utf-8"))
    where = {exported: (source, name) for source, name, exported in found}
    module.__dict__["__all__"] = sorted(where)  # else `import *` sees what is there

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        source, known_as = where[name]
        if source == package:
            return importlib.import_module(f"{package}.{known_as}")
        value = getattr(importlib.import_module(source), known_as)
        setattr(module, name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(module), *where})

    def import_all() -> None:
        for name, (source, _) in where.items():
            if source != package:
                get(name)

    when_imported(import_all)
    return get, names


def has_values(*arrays: Any) -> bool:
    """Whether arrays have values to show.

    Those that are traced have none. Neither has what JAX or a user puts in the places
    of arrays in a pytree: shapes, axes, shardings, None.
    """
    return all(hasattr(x, "__array__") and not isinstance(x, Tracer) for x in arrays)


def to_numpy(tree: Any) -> Any:
    """A pytree whose arrays of JAX are numpy's; itself where there can be none."""
    return jax.device_get(tree) if imported() else tree


def backend() -> str:
    """What JAX computes on by default: `"cpu"`, `"gpu"` or `"tpu"`.

    As long as nobody has imported JAX it is not asked: a look at what is installed says
    mostly that there is only a CPU.
    """
    return jax.default_backend() if may_have_accelerator() else "cpu"


def may_have_accelerator() -> bool:
    """Whether JAX computes on something else than a CPU, or may; does not import it."""
    if imported():
        return jax.default_backend() != "cpu"
    return _could_have_accelerator()


@functools.cache
def _could_have_accelerator() -> bool:
    """Whether a plugin of JAX for something else than a CPU is installed."""
    wanted = os.environ.get("JAX_PLATFORMS") or os.environ.get("JAX_PLATFORM_NAME")
    if wanted:
        return wanted != "cpu"
    if importlib.util.find_spec("jax_plugins") is not None:
        return True
    if importlib.util.find_spec("libtpu") is not None:
        return True
    group = "jax_plugins"
    return any(
        group in (Path(folder) / "entry_points.txt").read_text()
        for path in sys.path
        if path and Path(path).is_dir()
        for folder in Path(path).glob("jax*.dist-info")
        if (Path(folder) / "entry_points.txt").exists()
    )


def start() -> None:
    """Starts JAX and its accelerator in a thread, if there may be one.

    It is for what will be computed there, while that is still being read: an error is
    told when JAX is used.
    """
    global _starting
    if imported() or _starting is not None or not may_have_accelerator():
        return

    def run() -> None:
        with contextlib.suppress(Exception):
            backend()

    _starting = threading.Thread(target=run, daemon=True, name="jaxgames-start")
    _starting.start()


def is_starting() -> bool:
    """Whether `start` is not over yet."""
    return _starting is not None and _starting.is_alive()


_starting: threading.Thread | None = None


class _Name:
    """Something of JAX, by its name."""

    def __init__(self, path: str):
        self._path = path

    @functools.cached_property
    def _here(self) -> Any:
        """What it names; imports JAX."""
        module, *names = self._path.split(".")
        return functools.reduce(getattr, names, importlib.import_module(module))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if not imported():
            return _Name(f"{self._path}.{name}")
        found = getattr(self._here, name)
        self.__dict__[name] = found  # so that it is looked up once
        return found

    def __call__(self, *args: Any, **options: Any) -> Any:
        if not imported():
            if self._path in _DECORATORS:
                return _Jitted(self, *args, **options)
            if self._path in _REGISTRATIONS:
                when_imported(lambda: self._here(*args, **options))
                return args[0]
        return self._here(*args, **options)

    def __instancecheck__(self, what: Any) -> bool:
        return imported() and isinstance(what, self._here)

    def __or__(self, other: Any) -> "_Either":
        return _Either(self, other)

    def __ror__(self, other: Any) -> "_Either":
        return _Either(other, self)

    def __repr__(self) -> str:
        return self._path


_DECORATORS = frozenset({"jax.jit"})
"""What makes another function of a function."""

_REGISTRATIONS = frozenset({
    "jax.tree_util.register_dataclass",
    "jax.tree_util.register_pytree_node_class",
    "jax.tree_util.register_pytree_with_keys_class",
    "jax.export.register_pytree_node_serialization",
})  # fmt: skip
"""What tells JAX of a class, and returns it."""


class _Either:
    """One class or another, as in `np.ndarray | jax.Array`."""

    def __init__(self, *classes: Any):
        self._classes = classes

    def __instancecheck__(self, what: Any) -> bool:
        return any(isinstance(what, x or type(None)) for x in self._classes)

    def __or__(self, other: Any) -> "_Either":
        return _Either(*self._classes, other)

    def __ror__(self, other: Any) -> "_Either":
        return _Either(other, *self._classes)

    def __call__(self) -> None:
        """Nothing: `typing` takes for a type what can be called."""


class _Jitted:
    """A function that is jitted when it is first called, or looked into."""

    def __init__(self, jit: _Name, function: Callable, **options: Any):
        functools.update_wrapper(self, function)
        self._how = jit, function, options

    @functools.cached_property
    def _function(self) -> Any:
        jit, function, options = self._how
        return jit._here(function, **options)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._function(*args, **options)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._function, name)


class _Waiting:
    """What JAX is told when it is there: the first finder of modules, and the loader.

    The base classes of such would take longer to be imported than a small game.

    Attributes:
        calls: what is to be told.
        done: whether it was.
    """

    def __init__(self):
        self.calls: list[Callable[[], Any]] = []
        self.done = False
        self._loader: Any = None

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "jax" or self.done:
            return None
        sys.meta_path.remove(self)  # pyright: ignore[reportArgumentType]
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)  # pyright: ignore[reportArgumentType]
        if spec is not None:
            self._loader, spec.loader = spec.loader, cast(Any, self)
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        self._loader.exec_module(module)
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        for part in ("jax.core", "jax.export"):
            importlib.import_module(part)
        self.done = True
        sys.meta_path.remove(self)  # pyright: ignore[reportArgumentType]
        _put_real_ones()
        while self.calls:
            self.calls.pop(0)()


def _put_real_ones() -> None:
    """Puts what is named in the place of its names, in all modules of this package."""
    package = __name__.partition(".")[0]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package:
            for key, value in list(vars(module).items()):
                if isinstance(value, _Name):
                    setattr(module, key, value._here)
                elif isinstance(value, _Jitted):
                    setattr(module, key, value._function)


_waiting: _Waiting | None = None

if TYPE_CHECKING:
    import jax as jax
    import jax.core
    import jax.export
    import jax.numpy as jnp
    from jax.core import Tracer as Tracer
elif "jax" in sys.modules:
    import jax
    import jax.core
    import jax.export
    import jax.numpy as jnp
    from jax.core import Tracer
else:
    _waiting = _Waiting()
    sys.meta_path.insert(0, _waiting)  # pyright: ignore[reportArgumentType]
    jax, jnp, Tracer = map(_Name, ("jax", "jax.numpy", "jax.core.Tracer"))
