"""Tuned numbers: models in PRISM's language, explored."""

SUITE = "mdp"

# mdp/program/_explored.py
BRANCHES_AT_ONCE = 1 << 19
"""Branches that are computed at once."""

FIRST_STATES = 1 << 6
"""States of the first piece; the following ones are each twice as large."""

INITIAL_AT_ONCE = 1 << 18
"""States for which it is looked at once whether they are initial."""

# mdp/program/_program.py
STATES_AT_ONCE = 1 << 18
"""States in which labels and rewards are evaluated at once."""
