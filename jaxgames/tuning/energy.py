"""Tuned numbers: energy and mean-payoff games."""

SUITE = "energy"
AGAIN = {
    "SWEEPS": "batch",
    "MOST_EDGES": "batch",
    "SIDE_BY_SIDE": "batch",
    "APART": "devices",
    "APART_FROM": "devices",
}

# energy/_problem.py
PATIENCE, PATIENCE_INTERPRETED = 1 << 18, 1 << 11
"""Lifts of the host engine, a fraction of a second, before it takes a thread."""

SWEEPS = {"cpu": 1, "gpu": 6}
"""Sweeps of a round, see [`Lockstep`][jaxgames.energy._lockstep.Lockstep]."""

# energyparity/_problem.py
ROUNDS_TRACED = 1 << 20
"""Rounds of a traced energy parity game, where nothing else is said."""

# energyparity/_batch.py
SIDE_BY_SIDE = 1 << 17
"""Edges that energy parity games side by side have at most: a step of one that takes
many reads all of them."""

# energy/_fvi.py
ROUNDS = 1 << 12
"""Rounds of a loop after which the solver looks round, where nothing else is said."""

# energy/_bounds.py
FEWEST_BITS = 7
"""Bits that count steps from which on 32 bits are tried."""

# energy/_paths.py
LEVELS = (0, 1, 3)
"""How much smaller a copy of the rows that rise may be, in powers of four."""

APART = (5 / 8, 1 / 4, 1 / 64)
"""As much of a spread game has room for them: in the first turn about half of the rows
rise, in later ones few.
"""

APART_FROM = 1 << 20
"""Cells of a spread game from which its rows are told apart."""

# energy/host/_turns.py
POLL = 1 << 12
"""Vertices between two looks at whether to stop."""

# meanpayoff/_guess.py
AHEAD = 32
"""Steps that the first strategies look ahead."""

MOST_STRATEGIES, BOTH = 1000, 16
"""Strategies of which it is found out what they are worth, at most, and for how many of
them both players improve theirs at once: that is faster, but need not end.
"""

EDGES_AT_ONCE = 1 << 23
"""Edges that are looked at, of all strategies in turn, before it is looked whether time
is over or somebody interrupts: some tenths of a second.
"""

# meanpayoff/_batch.py
MOST_EDGES = 1 << 22
"""Edges that games side by side have at most, where there is more than one."""

# energy/_paths.py
LONG_LOOP, MANY = 64, 8
"""A loop that has made so many rounds is likely to make many more: from then on this
many are made between two looks whether it is over.
"""

# energy/_verify.py
CHECKED_THERE_FROM = 1 << 23
"""Edges from which an accelerator is the first to check a solution ..."""

ROUNDS_THERE = 1 << 11
"""... for so many rounds: then the host does."""
