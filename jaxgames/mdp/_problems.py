"""All that may be asked of models in batches: who asks for one by its name finds it."""

from jaxgames.mdp import _games_problem as _games_problem
from jaxgames.mdp import _reach_problem as _reach_problem
from jaxgames.mdp._problem import PROBLEM as PROBLEM
