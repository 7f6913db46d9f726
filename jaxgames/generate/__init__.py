"""Games to try things on: the families of the literature, and random ones.

Every function takes numbers and returns an [`Arena`][jaxgames.Arena], max even, or an
[`MDP`][jaxgames.mdp.MDP]. Parameters that make up a family are positional, options are
keywords, and every one takes `deadline=`, `progress=` and `memory=`.
"""

from collections.abc import Callable

from jaxgames.arena import Arena
from jaxgames.generate._clique import clique as clique
from jaxgames.generate._counters import counter_core as counter_core
from jaxgames.generate._counters import counter_dp as counter_dp
from jaxgames.generate._counters import counter_m as counter_m
from jaxgames.generate._counters import counter_ortl as counter_ortl
from jaxgames.generate._counters import counter_qpt as counter_qpt
from jaxgames.generate._counters import counter_rob as counter_rob
from jaxgames.generate._counters import counter_rr as counter_rr
from jaxgames.generate._counters import counter_symsi as counter_symsi
from jaxgames.generate._counters import dull as dull
from jaxgames.generate._elevator import elevator as elevator
from jaxgames.generate._energy import dense_energy_game as dense_energy_game
from jaxgames.generate._energy import hanoi_energy_game as hanoi_energy_game
from jaxgames.generate._energy import one_player_energy_game as one_player_energy_game
from jaxgames.generate._energy import random_energy_game as random_energy_game
from jaxgames.generate._energy import ring_energy_game as ring_energy_game
from jaxgames.generate._energy import torus_energy_game as torus_energy_game
from jaxgames.generate._hanoi import hanoi as hanoi
from jaxgames.generate._improvements import fearnley as fearnley
from jaxgames.generate._improvements import friedmann as friedmann
from jaxgames.generate._jurdzinski import jurdzinski as jurdzinski
from jaxgames.generate._ladders import ladder as ladder
from jaxgames.generate._ladders import model_checker_ladder as model_checker_ladder
from jaxgames.generate._ladders import recursive_ladder as recursive_ladder
from jaxgames.generate._mdp import chain_mdp as chain_mdp
from jaxgames.generate._mdp import cycle_mdp as cycle_mdp
from jaxgames.generate._mdp import ladder_mdp as ladder_mdp
from jaxgames.generate._mdp import path_mdp as path_mdp
from jaxgames.generate._mdp import random_mdp as random_mdp
from jaxgames.generate._mdp import torus_mdp as torus_mdp
from jaxgames.generate._mdp import walk_mdp as walk_mdp
from jaxgames.generate._on_device import (
    random_energy_game_by_key as random_energy_game_by_key,
)
from jaxgames.generate._on_device import random_game_by_key as random_game_by_key
from jaxgames.generate._propagation import propagation as propagation
from jaxgames.generate._propagation import propagation_tree as propagation_tree
from jaxgames.generate._random import clustered_game as clustered_game
from jaxgames.generate._random import random_game as random_game
from jaxgames.generate._solar import solar_energy_game as solar_energy_game
from jaxgames.generate._two_counters import two_counters as two_counters
from jaxgames.generate._two_counters import two_counters_plus as two_counters_plus
from jaxgames.mdp import MDP

FAMILIES: dict[str, Callable[..., Arena]] = {
    "clique": clique,
    "clustered": clustered_game,
    "counter_core": counter_core,
    "counter_dp": counter_dp,
    "counter_m": counter_m,
    "counter_ortl": counter_ortl,
    "counter_qpt": counter_qpt,
    "counter_rob": counter_rob,
    "counter_rr": counter_rr,
    "counter_symsi": counter_symsi,
    "dull": dull,
    "elevator": elevator,
    "energy_dense": dense_energy_game,
    "energy_hanoi": hanoi_energy_game,
    "energy_one_player": one_player_energy_game,
    "energy_random": random_energy_game,
    "energy_ring": ring_energy_game,
    "energy_solar": solar_energy_game,
    "energy_torus": torus_energy_game,
    "fearnley": fearnley,
    "friedmann": friedmann,
    "hanoi": hanoi,
    "jurdzinski": jurdzinski,
    "ladder": ladder,
    "model_checker_ladder": model_checker_ladder,
    "propagation": propagation,
    "propagation_tree": propagation_tree,
    "random": random_game,
    "recursive_ladder": recursive_ladder,
    "two_counters": two_counters,
    "two_counters_plus": two_counters_plus,
}
"""Every generator by its name on the command line.

A generator's signature tells its parameters (each an int, a float or a bool), its
docstring's first line what it makes.
"""

MODELS: dict[str, Callable[..., MDP]] = {
    "chain": chain_mdp,
    "cycle": cycle_mdp,
    "ladder": ladder_mdp,
    "path": path_mdp,
    "random": random_mdp,
    "torus": torus_mdp,
    "walk": walk_mdp,
}
"""Every generator of Markov decision processes by its name."""
