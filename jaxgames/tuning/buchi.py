"""Tuned numbers: accepting cycles."""

SUITE = "ltl"

# buchi/_drive.py
FIRST_CELLS = 1 << 26
"""Links and vertices that the rounds before the first wait may read: that takes less
time than a meter has to wait between two chunks. A graph that cannot make the rounds of
a first chunk with these is a large one."""

MOST_ROUNDS = 1 << 12
"""Rounds before the first wait at most, however small the graph is."""

# buchi/_on_the_fly.py
FIRST = 1 << 10
"""Vertices of the first prefix that is searched."""

GROWTH = 2
"""Each prefix has at least as many times the vertices of the one before."""

# buchi/_sent.py
SENT_FROM = 1 << 24
"""Edges from which rows of numpy are checked on a GPU. Of fewer the host has answered
before the programs for that are compiled."""

# buchi/_stages.py
FEW_LINKS = 1 << 15
"""So few edges are searched on the host, where numba is: a sweep over them on the
device would take no less time than one over many."""

SHRUNK = 2
"""With less than this part of its edges left a graph moves to a smaller one."""

# buchi/_trim.py
WINDOW = {"cpu": 1 << 13, "gpu": 1 << 20}
"""Vertices of a window: fewer take no less time to visit."""

WHOLE = 4
"""So many windows at most are not worth the visits: they are one."""

LOOKS = {"cpu": 1, "gpu": 2}
"""Edges that a vertex looks at in a sweep."""

SWEEPS = {"cpu": 2, "gpu": 8}
"""Sweeps over the one window between two tests."""

SWEEPS_OF_MANY = {"cpu": 2, "gpu": 4}
"""The same where there are several windows."""

# buchi/host/_nested_dfs.py
POLL = 1 << 14
"""Vertices between two looks at whether to stop."""
