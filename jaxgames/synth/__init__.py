"""Reactive synthesis: from a specification to a controller, or to why there is none."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.synth import reference as reference
    from jaxgames.synth._controller import Circuit as Circuit
    from jaxgames.synth._controller import Controller as Controller
    from jaxgames.synth._decomposition import Composition as Composition
    from jaxgames.synth._decomposition import Decomposition as Decomposition
    from jaxgames.synth._many import specifications as specifications
    from jaxgames.synth._many import specifications_or_why as specifications_or_why
    from jaxgames.synth._solve import Solution as Solution
    from jaxgames.synth._solve import solve as solve
    from jaxgames.synth._solve import solve_many as solve_many
    from jaxgames.synth._specification import Specification as Specification
    from jaxgames.synth._verify import verify as verify

__getattr__, __dir__ = later.exports(__name__)
