"""Tuned numbers: what every call passes."""

SUITE = "calls"
AGAIN = {
    "PLAIN_UP_TO": "start",
    "PLAIN_SECONDS": "start",
    "LOAD_SECONDS": "start",
    "PLAIN_AT_ONCE_UP_TO": "start",
    "ARENA_COMPILED_FROM": "start",
    "LEVEL": "start",
}
SHOWN = {"PLAIN_UP_TO": ("start-amd-epyc",)}

# arena.py
ARENA_COMPILED_FROM = 1 << 20
"""Edges, of one arena or of all so far, from which a compiled loop pays, importing its
compiler included ..."""

ARENA_COMPILED_FROM_THEN_ON = 1 << 12
"""... and those of an array for which it is called from then on."""

# value.py
COPIED_IN_PIECES_FROM = 1 << 22
"""Bytes of an array from which several threads copy it: one waits for memory."""

# archive.py, io/_files.py, io/_sources.py, systems/_pieces.py
BYTES_AT_ONCE = 1 << 20
"""Bytes that are read at once, or copied, from a file or an archive."""

# fixpoint.py
FIRST_CHUNK = 64
"""Rounds of the first chunk that the host asks for; they double from there ..."""

CHUNK_SECONDS = 0.25
"""... as long as a chunk takes less than this."""

EDGES_OF_A_ROUND = 10
"""A host looks at two to the power of so many edges in the time that an accelerator
takes for a round of a search ..."""

FEWEST_ROUNDS = 64
"""... but so many rounds cost next to nothing, beside what has to be sent ..."""

MOST_ROUNDS = 1 << 14
"""... and after so many there are probably very many more."""

WRITTEN_OUT = 4, 3, 2, 1
"""How many steps of a loop without a test are written out: as many as divide it."""

READ_BY_NUMPY = 1 << 16
"""Entries in the host's memory up to which a fingerprint may be made by numpy ..."""

SELDOM = 64
"""... for so many games of one form. Then a program is compiled: it takes less time for
each, and some hundreds of games to make up for its compilation."""

SENT_WITH_EVERY_CHUNK = 1 << 17
"""Entries up to which an answer is sent to the host with every chunk."""

# host.py
LENT_AS_COPY_UP_TO = 1 << 14
"""Bytes of an array that are copied in less time than numpy takes to show them."""

FEWEST_PLACES = 1 << 17
"""Places that are worth another core."""

PATIENT_LOOKS = 128
"""How often a core looks whether others are done until it lets another thread have it:
some millionths of a second."""

PLAIN_UP_TO = 1 << 14
"""Edges up to which plain Python answers at once: sooner, for a game of so many, than
machine code is made, and about as soon as it is loaded (benchmark suite `start`)."""

PLAIN_SECONDS = 1.0
"""What a process may spend in plain Python: then a compiler would have paid ..."""

LOAD_SECONDS = 0.03
"""... or, where machine code is on the disk, to load it."""

PLAIN_AT_ONCE_UP_TO = 1 << 9
"""Edges up to which nobody asks at first whether it is there: that takes longer."""

ASK_SECONDS = 0.05
"""How often plain Python asks whether it is still wanted."""

WARNED_FROM = 1 << 14
"""Edges from which on a solve without numba is slow enough to say so."""

# machine.py
IDLE_CELLS = 1 << 23
"""Links that may be read for nothing between two tests, on an accelerator."""

# limits.py
GRACE_SECONDS = 1.0
"""How long what was told to stop may take to say what it has found."""

WATCH_SECONDS = 0.05
"""How often a caller that waits looks at the clock and at the memory."""

TELL_SECONDS = 0.1
"""How often a loop that ticks tells where it is."""

PATIENCE_SECONDS = 0.5
"""How long a phase may take before it is told of."""

OWN_BYTES = 1 << 27
"""What the process may take for itself within a limit of memory: the compiler of
machine code takes 100 MB when it is loaded and has compiled something."""

# memory.py
UNCHECKED = 1 << 18
"""Vertices and edges up to which nothing is asked: so much is there."""

# states.py
JOINED_UP_TO = 1 << 27
"""Entries whose fingerprint is one sum, which may take room for them and their places:
with a sum for each array, of which layouts have dozens, it takes longer to compile."""

# native/_machine.py
LEVEL = 1
"""How hard LLVM works: with more it takes twice as long, for code as fast as this."""
