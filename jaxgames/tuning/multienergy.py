"""Tuned numbers: games of several energies."""

SUITE = "equivalence"
SHOWN = {"DEVICE_FROM": ("equivalence-nvidia-h200",)}

# multienergy/_antichains.py
FEW_COLUMNS = 4
"""Budgets of a front up to which each is a column, and no row of an array."""

CHEAP = 1 << 26
"""Comparisons of budgets that cost an accelerator no more than to start them."""

# multienergy/host/__init__.py
PLAIN_UP_TO = 3000
"""Edges up to which Python solves a game sooner than anything is compiled."""

# multienergy/_problem.py
DEVICE_FROM = 1 << 19
"""Edges from which on a GPU is worth its launches: a round takes as long for few.

`"auto"` does not take `"bitmap"`. Games of fewer edges are the host's, which numbers
the few fronts that capped games have. In larger ones all of a bitmap moves in each
round: of six energies up to 3 it is 512 bytes a position, where four budgets are 16.
"""

MANY_POSITIONS = 1 << 24
"""Positions from which on fronts have more room at first: some of so many are large,
and rounds that are made again take long.
"""

# multienergy/_bitmap.py
MOST_BUDGETS = 1 << 14
"""Budgets that a set may hold."""

MOST_BITS = 1 << 33
"""Bits that all sets of a game, after each of its updates, may have."""

# multienergy/_packing.py
CHAIN = 8
"""Updates up to which a table is read by comparisons instead of a gather."""

# multienergy/host/_shared.py
FRONTS, MOST_FRONTS = 512, 2048
"""Different fronts that there is room for at first, and at most."""

MOST_UPDATES = 256
"""Updates up to which what is needed before them is noted."""

LONGEST = 4096
"""Budgets that a front may have."""

# multienergy/host/_words.py
MOST_LEVELS = 1 << 16
"""Levels that sums are sorted into; where there are more sums, some share a level."""

# multienergy/_fronts.py
ROOM, LARGE_ROOM, TRACED_ROOM = 4, 8, 8
"""Budgets of a position that there is room for at first, in most games and in large
ones; under tracing, at all."""
