"""Tuned numbers: races, batches and what a host is asked."""

SUITE = "batch"

# drive/_costs.py
SAMPLE = 16
"""Questions that the host answers before anybody asks how long it takes."""

LOADING = 4
"""So many questions, those that took the longest, or half of them if they are few, are
not counted: a part of the engine that is called for the first time is loaded, or even
compiled."""

UNSURE = 2
"""What a device takes to compile is a guess, until it has compiled something in this
process: it has to be so many times as fast. A busy machine of two cores took 17 seconds
to compile what is taken for 6, where the host had all the answers in 5."""

# drive/_dense.py
PADDED = 4
"""Rows are made dense if they have at most so many cells for each edge."""

# drive/_each.py
LOOKED_AT = 64
"""Questions whose sizes tell how large all are."""

# drive/_many.py
BLOCK = 1 << 10
"""Games of a stack that come to the host together."""

# drive/_race.py
HEAD_START = 3e-9
"""Seconds for each edge that the device may have for itself before the host joins in: a
host that takes memory and reads the graph makes a device wait, and needs several times
as long for an edge.
"""

WAIT_SECONDS = 0.001
"""How often an engine that waits looks whether the race is over."""

AT_ONCE_SECONDS = 1.0
"""Time that must be left for what is begun in a caller's thread, and takes less."""

REPORT_SECONDS = 0.05
"""How often a race tells its meter where it stands."""

# drive/_rounds.py
SHRINK = 4
"""The next stack has room for the largest power of this that is at most half of the
present one: smaller steps save rounds, and cost compilations."""

CELLS_WORTH_IT = {"cpu": 1 << 13, "gpu": 1 << 19}
"""Cells of a stack below which a smaller one takes as long: launches do."""

# drive/_solve.py
START_AT_ONCE_FROM = 1 << 22
"""Edges from which JAX is started at once, where it is not there yet ..."""

START_SECONDS = 0.5
"""... and what the host has for fewer: starting an accelerator takes seconds."""

# drive/_stack.py
FEW_CELLS = 1 << 21
"""Cells of padded games that are solved sooner, whatever they are padded to, than
another size is compiled for."""

STEP = 4
"""Edges are padded to the number of vertices times a power of this."""
