"""Graphs: strongly connected components, reachability, attractors."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.graph import reference as reference
    from jaxgames.graph._attractor import attractor as attractor
    from jaxgames.graph._closure import Closure as Closure
    from jaxgames.graph._condensation import Condensation as Condensation
    from jaxgames.graph._condensation import condensation as condensation
    from jaxgames.graph._explore import Expansion as Expansion
    from jaxgames.graph._explore import expansions as expansions
    from jaxgames.graph._explore import explore as explore
    from jaxgames.graph._fb_trim import FBTrim as FBTrim
    from jaxgames.graph._in_place import InPlace as InPlace
    from jaxgames.graph._input import as_arena as as_arena
    from jaxgames.graph._kinds import bottom_sccs as bottom_sccs
    from jaxgames.graph._kinds import is_trivial as is_trivial
    from jaxgames.graph._links import Directions as Directions
    from jaxgames.graph._max_id import MaxId as MaxId
    from jaxgames.graph._packing import Packing as Packing
    from jaxgames.graph._problem import PROBLEM as PROBLEM
    from jaxgames.graph._problem import SOLVERS as SOLVERS
    from jaxgames.graph._reach import place_for as place_for
    from jaxgames.graph._reach import reachable as reachable
    from jaxgames.graph._scc import scc as scc
    from jaxgames.graph._solution import Attractor as Attractor
    from jaxgames.graph._solution import Components as Components
    from jaxgames.graph._state_space import StateSpace as StateSpace
    from jaxgames.graph._verdict import Reason as Reason
    from jaxgames.graph._verdict import Verdict as Verdict
    from jaxgames.graph._verify import verify as verify
    from jaxgames.graph._verify_reach import ReachReason as ReachReason
    from jaxgames.graph._verify_reach import ReachVerdict as ReachVerdict
    from jaxgames.graph._verify_reach import verify_attractor as verify_attractor
    from jaxgames.graph._verify_reach import verify_reachable as verify_reachable
    from jaxgames.graph.host import scc_on_host as scc_on_host

__getattr__, __dir__ = later.exports(__name__)
