"""Tuned numbers: games of Emerson and Lei."""

SUITE = "hard"

# emersonlei/host/_product.py
TREE_ROOM = 160
"""Nodes that the tree of a condition may have, so that the product is tried ..."""

SETS_ROOM = 200
"""Sets of marks that may be tried to make it: those of as few nodes ask for fewer."""

COPIES_ROOM = 24
"""... which may have so many copies of each vertex on average ..."""

NODES_ROOM = 1 << 14
"""... or so many nodes in all: else there is the recursion, which makes no product."""

EDGES_ROOM = 1 << 21
"""Nodes or edges of a product that are too many ..."""

COPIES_AT_ONCE = 8
"""... unless there are no more of them than so many copies of the game have."""
