"""Products and checks of games of Emerson and Lei, on the host."""

from jaxgames.emersonlei.host._explore import Leaves as Leaves
from jaxgames.emersonlei.host._explore import explore as explore
from jaxgames.emersonlei.host._product import Product as Product
from jaxgames.emersonlei.host._product import product as product
from jaxgames.emersonlei.host._product import small_product as small_product
from jaxgames.emersonlei.host._recursion import machine_of as machine_of
from jaxgames.emersonlei.host._recursion import recurse as recurse
from jaxgames.emersonlei.host._recursion import winners as winners
from jaxgames.emersonlei.host._verify import verify as verify
