"""Pictures of games and lassos: Graphviz text, drawings, charts of what is large.

Diamonds are player 0's vertices and boxes player 1's. Blue is what player 0 wins and
orange what player 1 wins; bold arrows are the winners' strategies.
"""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.plot._dot import to_dot as to_dot
    from jaxgames.plot._game import MAX_DRAWN_EDGES as MAX_DRAWN_EDGES
    from jaxgames.plot._game import MAX_DRAWN_VERTICES as MAX_DRAWN_VERTICES
    from jaxgames.plot._game import is_drawn as is_drawn
    from jaxgames.plot._lasso import MAX_DRAWN_STEPS as MAX_DRAWN_STEPS
    from jaxgames.plot._lasso import draw_lasso as draw_lasso
    from jaxgames.plot._lasso import lasso_to_dot as lasso_to_dot
    from jaxgames.plot._page import SUFFIXES as SUFFIXES
    from jaxgames.plot._page import Picture as Picture
    from jaxgames.plot._show import draw as draw
    from jaxgames.plot._show import to_html as to_html
    from jaxgames.plot._spectrum import draw_spectrum as draw_spectrum

__getattr__, __dir__ = later.exports(__name__)
