"""Whether systems and products are such, looked at once for each.

As for automata, in `jaxgames.ltl`.
"""

from typing import TYPE_CHECKING

import numpy as np

from jaxgames.arguments import check_array, check_places, check_rows
from jaxgames.kept import kept
from jaxgames.ltl._checks import check_automaton

if TYPE_CHECKING:
    from jaxgames.systems._product import Product
    from jaxgames.systems._system import System


def check_system(system: "System") -> None:
    """Refuses a system whose arrays do not fit one another: raises ValueError."""

    def look() -> bool:
        size = check_rows("system", system.offsets, system.targets)
        check_array(
            "system.labels", system.labels, (size, len(system.propositions)), "b"
        )
        check_places("system.initial", system.initial, size)
        if system.names is not None and len(system.names) != size:
            raise ValueError(
                f"system.names must have {size} names, got {len(system.names)}"
            )
        return True

    kept(system, "sound", look)


def check_product(product: "Product") -> None:
    """Refuses a product whose arrays do not fit one another, or its automaton."""

    def look() -> bool:
        check_automaton(product.automaton)
        size = check_rows("product", product.offsets, product.targets)
        check_array("product.accepting", product.accepting, (size,), "b")
        check_places("product.initial", product.initial, size)
        for name, count in (
            ("system_state", np.iinfo(np.int32).max),
            ("automaton_state", product.automaton.num_states),
        ):
            values = getattr(product, name)
            check_array(f"product.{name}", values, (size,), "iu")
            check_places(f"product.{name}", values, count)
        return True

    kept(product, "sound", look)
