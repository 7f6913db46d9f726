"""The definition on the host, in plain Python and NumPy, and checks by it."""

from jaxgames.multienergy.reference._certificate import Ranks as Ranks
from jaxgames.multienergy.reference._certificate import not_won as not_won
from jaxgames.multienergy.reference._certificate import ranks as ranks
from jaxgames.multienergy.reference._solve import Budget as Budget
from jaxgames.multienergy.reference._solve import history as history
from jaxgames.multienergy.reference._solve import inverse as inverse
from jaxgames.multienergy.reference._solve import minimal as minimal
from jaxgames.multienergy.reference._solve import rule as rule
from jaxgames.multienergy.reference._solve import solve as solve
from jaxgames.multienergy.reference._solve import update as update
from jaxgames.multienergy.reference._verify import verify as verify
