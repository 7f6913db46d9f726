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

# mdp/_open.py
PATIENCE_WITH_VALUES = 20_000
"""Rounds after which a component of equations is stiff, and policies are improved."""

FEW_STATES = 100
"""States of a component whose equations are solved in less time than many rounds."""

PATIENCE_WITH_FEW = 60
"""Rounds after which a small component is stiff."""

IMPROVED_UP_TO = 100_000
"""States of a stiff component whose policies are improved by solving equations."""

EXACT_UP_TO = 50_000
"""Equations that may all be solved in rational arithmetic."""

# mdp/host/_values.py
CLOSER = 8
"""How many times smaller changes get before a certificate is tried again."""

STEADY = 0.1
"""By which share of what it lacks to one the ratio of changes may differ between two
rounds, so that values leap to where it leads."""

SETTLES = 6
"""Rounds between two leaps: what a leap has stirred up settles first."""

# mdp/_improve.py
DENSE_UP_TO = 500
"""States of a component whose equations are solved as a dense matrix."""

RATIONAL_UP_TO = 2_000
"""States of a stiff component that may be solved in rational arithmetic."""

# mdp/_verify_values.py
CHAIN_SOLVED_UP_TO = 2_000
"""States of a chain that verification solves in fractions."""

# mdp/_rational.py
RATIONAL_BITS = 20_000
"""Binary digits of a denominator: with longer ones it would take too long."""

# mdp/_average.py
PATIENCE_WITH_AVERAGES = 1_000_000
"""Rounds of averages at most, of one component."""

# mdp/_bounded.py
FRACTIONS_UP_TO = 1 << 17
"""Branches, counted once for each step, that are gone over in fractions."""

CHOICES_KEPT_UP_TO = 1 << 26
"""Choices, one for each step and state, that a scheduler with a clock may have."""
