"""Models of concurrent systems that papers on model checking measure.

Each is a vectorised transition function with propositions, and properties as formulas
of linear temporal logic:

>>> from jaxgames import ltl, systems
>>> from jaxgames.generate import protocols
>>> model = protocols.phils(4)
>>> system = model.explore()
>>> system
Explored(80 states, 212 transitions, propositions cs0 cs1 cs2 cs3 wait0 wait1 wait2
    wait3 eats)
>>> automaton = ltl.translate(model.properties["anyeat"], negate=True)
>>> systems.product(system, automaton)
Product(154 vertices, 467 edges)
"""

from jaxgames.generate.protocols._anderson import anderson as anderson
from jaxgames.generate.protocols._bakery import bakery as bakery
from jaxgames.generate.protocols._elevator import elevator as elevator
from jaxgames.generate.protocols._leader import leader as leader
from jaxgames.generate.protocols._model import Model as Model
from jaxgames.generate.protocols._named import named as named
from jaxgames.generate.protocols._peterson import peterson as peterson
from jaxgames.generate.protocols._phils import phils as phils
