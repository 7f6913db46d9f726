"""Sequential engines of bisimilarity and of building games, compiled where numba is."""

from jaxgames.equivalence.host._build import build_on_host as build_on_host
from jaxgames.equivalence.host._build import is_ready as is_ready
from jaxgames.equivalence.host._refine import refine as refine
from jaxgames.equivalence.host._refine import stable as stable
