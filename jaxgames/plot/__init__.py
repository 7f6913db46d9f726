"""Pictures of games: Graphviz text, drawings of small games, charts of large ones.

Diamonds are player 0's vertices and boxes player 1's. Blue is what player 0 wins and
orange what player 1 wins; bold arrows are the winners' strategies.
"""

from jaxgames.plot._dot import to_dot as to_dot
from jaxgames.plot._game import MAX_DRAWN_EDGES as MAX_DRAWN_EDGES
from jaxgames.plot._game import MAX_DRAWN_VERTICES as MAX_DRAWN_VERTICES
from jaxgames.plot._game import is_drawn as is_drawn
from jaxgames.plot._page import SUFFIXES as SUFFIXES
from jaxgames.plot._page import Picture as Picture
from jaxgames.plot._show import draw as draw
from jaxgames.plot._show import to_html as to_html
