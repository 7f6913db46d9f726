"""Tuned numbers: equivalences."""

SUITE = "equivalence"

# equivalence/_build.py
FEW_POSITIONS = 3000
"""Positions up to which a game is built by Python before anything is compiled."""

FEW_STATES = 64
"""States up to which a game may have so few positions."""

# equivalence/_device.py
SIZES = {
    "cpu": ((1 << 11, 1 << 13, 1 << 8, 1 << 11, 15),),
    "gpu": (
        (1 << 14, 1 << 16, 1 << 12, 1 << 15, 15),
        (1 << 18, 1 << 20, 1 << 14, 1 << 17, 15),
    ),
}
"""What turns take at once, a `Sizes` each."""

MORE = 2
"""The larger of `SIZES`, where more than so many turns of the smaller wait."""

FIRST_ROOM = {"cpu": 1 << 14, "gpu": 1 << 22}
"""Positions that there is room for at the beginning, by backend."""

GROWTH = 8
"""Rooms grow by this factor."""

MOVES = 4
"""Moves that there is room for, for each position."""

MEMBERS = 4
"""Members of sets that there is room for, for each set."""

# equivalence/_found.py
MOST_LABEL_SETS = 1 << 13
"""Different sets of enabled labels up to which there is a table of all pairs."""

# equivalence/_problem.py
DEVICE_FROM = 1 << 17
"""Transitions from which on an accelerator is worth its calls: the host, which looks
only at what has changed, takes about as long for half as many.
"""

ALONE_SECONDS = 1e-7
"""Seconds for each transition that an accelerator has for itself before the host joins
in: about half of what the host needs."""

PLAIN_UP_TO = 300
"""Transitions up to which Python looks at them before anything is compiled."""

# equivalence/_room.py
SHARE = 0.8
"""Of the free memory, what a game may take."""

# equivalence/host/_build.py
MOST_FIRST = 1 << 24
"""Positions, apart from those that are asked for, for which there is at most."""

FIRST_SETS = 1 << 10
"""Sets, and questions about them, for which there is room at first."""

POSITIONS_A_PAIR, MOVES_A_POSITION = 15, 4
"""Positions for each pair that is asked for, and moves for each of these, for which
there is room at first.
"""
