"""Tuned numbers: components, reachability and attractors."""

SUITE = "graph"

# graph/_compress.py
TRIMS = 2
"""How often a pass trims before it contracts."""

GAIN = 10
"""Passes go on as long as each takes out one in so many vertices, or edges."""

MOST_PASSES = 16
"""Passes at most: each keeps some arrays of the size of the graph for the way back."""

LEAST_ROOM = 1 << 10
"""Vertices and edges that there is always room for."""

LARGE_BITS = 20
"""Rooms beyond two to this power are powers of two, smaller ones of four."""

# graph/_front.py
FROM_CELLS = 1 << 22
"""Links from which a sweep over all of them takes longer than a round over a few."""

FRONT_SHARE, ROOMS = 1 << 7, (1 << 14, 1 << 18)
"""A round has room for one in so many links, within these bounds: all its operations
take as long as if there were so many.
"""

FRONT_ROUNDS, AT_ONCE = 32, 4
"""Rounds between two sweeps over all links: those also jump, so that what goes along a
chain step by step need not do so to its end. And rounds between two tests: on a GPU a
test takes a good part of the time of a round.
"""

# graph/_in_place.py
SEARCHES, TRIM_PASSES, SWEEPS = 2, 2, 4
"""Sweeps of a step."""

SPARSE, SHRINKS = 4, 5
"""Graphs with up to so many edges for each vertex are trimmed. That goes on while a
step leaves out more than one in 2^5 edges."""

SEARCH_FROM = 1 << 20
"""Edges from which a pivot is tried: of fewer a sweep costs next to nothing."""

SEARCH_GROWTH, PART, LONGEST = 3, 8, 32
"""A search goes on while what it found triples in a step or is this part of all, for
so many sweeps at most. Else the graph is deep: signatures jump.
"""

DEEP_FROM = 96
"""Sweeps of a turn with as many edges after which a graph is searched level by level:
what signatures with jumps have not ended by then may take thousands of them."""

PATIENCE, FEW = 64, 9
"""After so many steps that change little (less than one signature for each 2^9 edges)
ranks are scattered. Where numbers rise along a long cycle, what is below has nothing to
jump to. Else numbers are the better ranks: near ones are those of near places.
"""

# graph/_levels.py
STEPS_OF_LEVELS = 7
"""Four levels so many times between two tests: a prime, of which `fixpoint.repeat`
writes one out. The kernels of a step take a good part of a second to compile."""

SEARCH_SPREAD = 8
"""A search goes on while so many times all that it found is at least the square of its
levels. In a grid of streets what it found is some four times the square at first, and
half of it, or a third, at the end.
"""

WIDEST = 64
"""Edges of a vertex, of either kind: a front goes along them one after the other."""

# graph/_links.py
NARROW = 0.8
"""Share of vertices with one successor or one predecessor in a narrow graph."""

# graph/_problem.py
COMPRESS_FROM = 1 << 21
"""Vertices from which `"auto"` compresses a narrow graph at once; of fewer it ..."""

TRIES = 3
"""... first makes so many rounds without, besides one for each bit of V: with jumps
alone that is often enough, as on a path.
"""

LISTED_ROUNDS = 48
"""Rounds with a list of edges, of four sweeps each, after which a layout is made.
Models of protocols that are thousands of edges deep take hundreds of them, and less
time with a layout. Others take fewer."""

CLOSURE_UP_TO = 128
"""Vertices up to which the closure is taken: V rounds over V / 32 words a vertex."""

# graph/_solver.py
LARGE_CELLS = 1 << 26
"""Links from which a sweep takes long on any device: a test costs nothing beside it,
and it is worth knowing what need not be read.
"""

# graph/_turns.py
SHRUNK_SLICES = 4
"""Slices with less than this part of their links left become a list: that takes about
twice as long to read."""

SHRUNK_LIST = 2
"""A list with less than this part of its links left moves to a smaller one."""

STAY = 1 << 18
"""A list of so few links moves no more: the host takes longer to ask for that than many
sweeps over it take."""

TURN_SWEEPS, READ = 64, 1 << 28
"""Sweeps of a step at most, and links that they may read: a step without a turn costs a
copy of the links.
"""

# graph/host/_components.py
POLL = 1 << 14
"""Vertices between two looks at whether to stop."""
