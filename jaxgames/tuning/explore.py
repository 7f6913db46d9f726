"""Tuned numbers: what is found from a queue: state spaces, products."""

SUITE = "ltl"

# graph/_explore.py
PIECE = 1 << 10
"""States of the first piece of a search that is told in pieces ..."""

PIECE_GROWTH = 4
"""... and of the others: one in so many of those that came before."""

FEW = 1 << 12
"""States that are looked for on the host before an accelerator is asked for."""

# graph/_explore_device.py
CELLS = {"cpu": (1 << 13, 1 << 18), "gpu": (1 << 18, 1 << 20)}
"""Successors that turns compute at once, by backend: on a GPU a few take as long as
many."""

MORE = 4
"""The next size, where more than so many turns of this one wait."""

FIRST_ROOM = {"cpu": 1 << 18, "gpu": 1 << 24}
"""States that there is room for at the beginning, by backend ..."""

FIRST_SHARE = 1 / 64
"""... or as many as take so much of the memory, with the edges."""

TURN_SHARE = 1 / 8
"""Part of the memory that a turn may take."""

EDGES_A_STATE = 4
"""Edges that there is room for at the beginning, for each state."""

# graph/_explore_host.py
HOST_CELLS = 1 << 20
"""Components of successors that are computed at once."""

COMPILED_FROM = 1 << 18
"""States from which on the transition function is compiled, where it can be."""

HOST_FIRST_ROOM = 1 << 12
"""States that there is room for at the beginning."""

# graph/_explore_room.py
GROWTH = ((4, 1 / 8), (2, 1 / 4), (2, 1 / 2), (1.25, 0.9))
"""Rooms grow by the first of these factors that asks for less than this part of the
memory that is free."""

FIRST_STEPS = 16
"""Turns of the first chunk that the host asks for."""

# graph/_explore_rules.py
ONE_BY_ONE = 1 << 11
"""Components of all successors of a state up to which each is computed by itself."""

# graph/_explore_turn.py
SHORT_ROW = 32
"""Rows up to this length are compared with themselves in one fused operation."""

COMPONENTS = 1 << 27
"""Components of successors that a turn computes at most, unless one state has more."""

LANES = 128
"""Turns of more states take a multiple of so many."""

# graph/_state_space.py
STATES_AT_ONCE = 1 << 16
"""States that a function of states is called with at once."""

# graph/_state_table.py
LOOKS = {"cpu": 1, "gpu": 2}
"""Places that are looked at one after the other in one operation, by backend: a GPU
waits for operations, a CPU for what they read."""

SHORTER_LIST = 8
"""Those that are left go on in a list so many times shorter ..."""

CLAIMS = 2
"""... for so many claims, until it is asked who is left."""

ENTERED_AT_ONCE = 1 << 20
"""States that are put into a new table at once."""

LARGEST_TABLE = 1 << 30
"""Places of a table at most."""

FULLEST = 15 / 16
"""Part of the largest table that may be taken."""

PLACES = 2
"""Places of a table for each state that there is room for, or more."""

# systems/_expand.py
LEAST_COPIED = 1 << 14
"""Entries that are copied to the host at least."""

LARGEST_PAIR_TABLE = 1 << 29
"""Pairs up to which a table is used; an entry has four bytes."""

ROOMS = {
    "cpu": (1 << 12, 1 << 16, 1 << 18, 1 << 20),
    "gpu": (1 << 17, 1 << 21, 1 << 23, 1 << 25),
}
"""Lengths of the lists, by backend, then powers of two: each is compiled once. On a GPU
short lists take as long as somewhat longer ones."""

# systems/_explore.py
KEPT = 32
"""Products that are remembered with what was compiled for them."""

# systems/_product.py
FEW_PROPOSITIONS = 16
"""Propositions of which all letters fit a small table."""
