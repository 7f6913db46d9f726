"""Tuned numbers: Markov decision processes."""

SUITE = "mdp"

# mdp/_cascade.py
ROOMS = (1 << 14, 1 << 19)
"""Branches that rounds have room for: all operations of a round take that many, so that
few are better done with little room."""

PATIENCE = 32
"""Rounds that are made, be they ever so small."""

PACE = 512
"""Rounds are slow if more than so many like them would read each branch."""

# mdp/_fates.py
NARROW = 8
"""A model is narrow if one in so many of its states has no fate, at most."""

# mdp/_interleaved.py
MOST_DOUBLINGS = 20
"""Outer steps after which the steps of removal double no more."""

LIGHT = 32
"""Rounds that read only what is next to the last deaths, for one that reads all."""

# mdp/_schedulers.py
TABLES = 256
"""How many of its members' tables a visiting scheduler keeps."""
