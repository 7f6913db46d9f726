"""Models by their names."""

import re
from collections.abc import Callable
from typing import Any

from jaxgames.generate.protocols._anderson import anderson
from jaxgames.generate.protocols._bakery import bakery
from jaxgames.generate.protocols._elevator import elevator
from jaxgames.generate.protocols._leader import leader
from jaxgames.generate.protocols._model import Model
from jaxgames.generate.protocols._peterson import peterson
from jaxgames.generate.protocols._phils import phils

# After each model the options that it has.
FORMS: dict[str, tuple[Callable[..., Model], str]] = {
    "anderson-N[-last]": (anderson, r"(?P<last>-last)?"),
    "bakery-N-maxM[-last]": (bakery, r"-max(?P<highest>\d+)(?P<last>-last)?"),
    "elevator-N-clever|naive": (elevator, r"-(?P<control>clever|naive)"),
    "leader-N": (leader, r""),
    "peterson-N[-err2][-last]": (peterson, r"(-err(?P<error>\d+))?(?P<last>-last)?"),
    "phils-N[-left]": (phils, r"(?P<left>-left)?"),
}


def named(name: str) -> Model:
    """The model of a name, such as `"bakery-3-max4-last"`.

    Raises:
        ValueError: no model has that name; says what names look like.

    Examples:
        >>> named("elevator-4-clever")
        Model(elevator-4-clever, 10 components, 4 properties)
    """
    for build, options in FORMS.values():
        found = re.fullmatch(rf"{build.__name__}-(?P<size>\d+){options}", name)
        if not found:
            continue
        values: dict[str, Any] = {}
        for key, text in found.groupdict().items():
            if key in ("last", "left"):
                values[key] = text is not None
            elif key == "control":
                values[key] = text
            elif text is not None:
                values[key] = int(text)
        return build(values.pop("size"), **values)
    raise ValueError(f"no model is called {name!r}; names are {', '.join(FORMS)}")
