"""Products and checks of games of Emerson and Lei, on the host."""

from jaxgames.emersonlei.host._explore import Leaves as Leaves
from jaxgames.emersonlei.host._explore import explore as explore
from jaxgames.emersonlei.host._product import Product as Product
from jaxgames.emersonlei.host._product import product as product
from jaxgames.emersonlei.host._verify import verify as verify
