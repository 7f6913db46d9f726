"""Transition systems with propositions, products with automata, and how both arrive."""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.systems._explore import Explored as Explored
    from jaxgames.systems._explore import ProductSearch as ProductSearch
    from jaxgames.systems._explore import explore as explore
    from jaxgames.systems._explore import explore_product as explore_product
    from jaxgames.systems._fairness import Fairness as Fairness
    from jaxgames.systems._marked import MarkedProduct as MarkedProduct
    from jaxgames.systems._marked import marked_product as marked_product
    from jaxgames.systems._pieces import Piece as Piece
    from jaxgames.systems._pieces import PieceWriter as PieceWriter
    from jaxgames.systems._pieces import read_pieces as read_pieces
    from jaxgames.systems._pieces import write_pieces as write_pieces
    from jaxgames.systems._product import Deadlock as Deadlock
    from jaxgames.systems._product import Product as Product
    from jaxgames.systems._product import product as product
    from jaxgames.systems._run import RunReason as RunReason
    from jaxgames.systems._run import RunVerdict as RunVerdict
    from jaxgames.systems._run import verify_run as verify_run
    from jaxgames.systems._system import System as System

__getattr__, __dir__ = later.exports(__name__)
