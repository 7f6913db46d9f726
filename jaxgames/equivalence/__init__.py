"""Which behavioural equivalences hold between processes of a transition system.

The thirteen notions of the strong linear-time branching-time spectrum, from equal
enabled actions to bisimilarity, are decided by one multi-dimensional energy game: the
minimal budgets with which its attacker wins say which notions tell two processes apart.
"""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.equivalence import reference as reference
    from jaxgames.equivalence._bisimulation import bisimulation as bisimulation
    from jaxgames.equivalence._build import build as build
    from jaxgames.equivalence._classes import Classes as Classes
    from jaxgames.equivalence._compare import compare as compare
    from jaxgames.equivalence._compare import compare_many as compare_many
    from jaxgames.equivalence._comparison import Comparison as Comparison
    from jaxgames.equivalence._comparison import Holds as Holds
    from jaxgames.equivalence._energy import energy_game as energy_game
    from jaxgames.equivalence._formula import TRUE as TRUE
    from jaxgames.equivalence._formula import And as And
    from jaxgames.equivalence._formula import Delay as Delay
    from jaxgames.equivalence._formula import Formula as Formula
    from jaxgames.equivalence._formula import Not as Not
    from jaxgames.equivalence._formula import Observe as Observe
    from jaxgames.equivalence._formula import Stutter as Stutter
    from jaxgames.equivalence._formula import price as price
    from jaxgames.equivalence._formula import satisfies as satisfies
    from jaxgames.equivalence._formula import satisfying as satisfying
    from jaxgames.equivalence._game import Spectroscopy as Spectroscopy
    from jaxgames.equivalence._load import load as load
    from jaxgames.equivalence._notions import NOTIONS as NOTIONS
    from jaxgames.equivalence._notions import STRONG as STRONG
    from jaxgames.equivalence._notions import covers as covers
    from jaxgames.equivalence._problem import PROBLEM as PROBLEM
    from jaxgames.equivalence._problem import SOLVERS as SOLVERS
    from jaxgames.equivalence._refinement import Refinement as Refinement
    from jaxgames.equivalence._spectrum import Spectrum as Spectrum
    from jaxgames.equivalence._spectrum import relation as relation
    from jaxgames.equivalence._spectrum import spectrum as spectrum
    from jaxgames.equivalence._system import System as System
    from jaxgames.equivalence._system import union as union
    from jaxgames.equivalence._verify import Reason as Reason
    from jaxgames.equivalence._verify import Verdict as Verdict
    from jaxgames.equivalence._verify import verify as verify
    from jaxgames.equivalence._weak import WEAK as WEAK
    from jaxgames.equivalence._weak import compare_many_weak as compare_many_weak
    from jaxgames.equivalence._weak import compare_weak as compare_weak
    from jaxgames.memory import TooLargeError as TooLargeError

__getattr__, __dir__ = later.exports(__name__)
