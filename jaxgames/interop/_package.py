"""Other packages, imported when they are needed."""

import importlib
from typing import Any


def package(name: str) -> Any:
    """Imports another package, or says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        whole = name.partition(".")[0]
        raise ImportError(
            f"this needs the package {whole}, which is not installed: "
            f"pip install {whole} ({error})"
        ) from error
