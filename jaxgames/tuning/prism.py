"""Tuned numbers: models in PRISM's language, explored."""

SUITE = "mdp"

# mdp/program/_explored.py
BRANCHES_AT_ONCE = 1 << 19
"""Branches that are computed at once."""

FIRST_STATES = 1 << 6
"""States of the first piece; the following ones are each twice as large."""

PIECES_BY_NUMPY = 4
"""Pieces that numpy expands before the machine does: to write the code of a program
takes as long."""

COMMANDS_BEFORE_LOADING = 1024
"""Where the machine is not loaded yet, which takes longer: commands that numpy looks at
before, each once for a piece ..."""

STATES_BEFORE_LOADING = 1 << 14
"""... or so many states."""

MOST_LOOKS = 64
"""States that the machine leaves to numpy before it leaves it all that is left."""

FIRST_ROOM = 1 << 12
"""States that there is room for when the machine begins."""

INITIAL_AT_ONCE = 1 << 18
"""States for which it is looked at once whether they are initial."""

# mdp/program/_code.py
MOST_CASES = 256
"""Values of a variable for which there may be a table of what they rule out."""

FEWEST_BY_CASES = 2
"""What may happen, one after the other, that is worth a table."""

# mdp/program/_program.py
STATES_AT_ONCE = 1 << 18
"""States in which labels and rewards are evaluated at once."""

DEVICE_FROM = 1 << 21
"""States from which on a program is explored on a device, where one is apart."""

# mdp/program/_on_device.py
MOST_SUCCESSORS = 256
"""Successors that a device computes of each state at most."""

CELLS_AT_ONCE = 1 << 22
"""Probabilities that are computed at once."""

UNROLLED = 8
"""Branches that are compared with each other in one fused operation."""
