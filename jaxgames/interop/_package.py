"""Other packages, imported when they are needed."""

import importlib
from typing import Any


def package(name: str, extra: str = "interop") -> Any:
    """Imports another package.

    Raises:
        ImportError: it is not installed; says how to install it.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"this needs the package {name.partition('.')[0]}, which is not installed: "
            f"pip install 'jaxgames[{extra}]' ({error})"
        ) from error
