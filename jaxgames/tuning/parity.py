"""Tuned numbers: parity games."""

SUITE = "parity"
AGAIN = {"SWEEPS": "batch", "TOPS": "batch", "COMPRESSED_BY_BITS_UP_TO": "batch"}
SHOWN = {"PROMOTION_BUDGET": ("parity-nvidia-h200",)}

# parity/_alternating.py
FIRST_BUDGET = 8
"""Rounds that the first attempt at a winning set may take."""

# parity/_attract.py
READS_LITTLE_FROM = 1 << 18
"""Slots from which sweeps read only the successors of vertices that may join, and a GPU
asks the host whether an attractor is complete."""

# parity/_problem.py
PATIENCE = 1 << 21
"""Steps of the host engine: far more than most games need that it begins at once."""

TOPS = (1, 3, 7, 15, 31, 126, 32766, 2**31 - 1)
"""Largest priorities that stacks are told apart by."""

SWEEPS = {"cpu": 4, "gpu": 1}
"""Sweeps of a round. In a batch the transition is computed for all games in each, so a
CPU makes few of them; with more sweeps finished attractors keep all others waiting."""

COMPRESSED_BY_BITS_UP_TO = 31
"""Priorities up to this are compressed by bits of a word, others by sorting."""

# parity/_shared.py
SHARE_SECONDS = 1.0
"""How often the device looks at what the host has decided."""

# parity/_verify.py
TRIMMED_UP_TO = 16
"""Distinct priorities up to which trimming is tried, where numba is not installed.

Trimming looks at them one after the other; the components are found for all at once.
"""

CHECKED_THERE_FROM = 1 << 21
"""Edges from which a game is checked on a GPU."""

# parity/_checked_there.py
FEW_INSIDE, ROUNDS = 1 << 16, 1 << 6
"""The host looks at so few edges inside of components, or after so many rounds."""

# parity/_tangles.py
ROWS_AT_ONCE = {"cpu": 1, "gpu": 1 << 30}
"""Rows of the pool of tangles, for each vertex, that are read at once, as far as there
are any. On a GPU a loop costs more than rows that are not used."""

WIDE_UP_TO = 1 << 18
"""Rows of members at most, where there is room for more than 8 for each vertex."""

# parity/_turns.py
PROMOTION_BUDGET = 1 << 16
"""Rounds that promotion may take in the first turn, in games of any size: far more than
games need that it is good for (docs: How to choose)."""

FIRST_TURN = 8
"""Rounds for each vertex that promotion may take in the first turn, and for as many
vertices more. It takes fewer on all games that it is good for."""

LATER_TURNS = (3.0, 4.0)
"""Rounds of tangle learning and of promotion in the second turn and in the third, as
multiples of the number of vertices to the power of 3/2. The families on which tangle
learning is polynomial take a tenth of that, or less."""

# parity/preprocess/_chains.py
GAIN = 64
"""Contraction goes on while one in so many vertices goes, which bounds its cost."""

# parity/preprocess/_contract.py
SHRUNK = 16
"""A game that needs less than this part of its room is moved to a smaller one."""

LEAST_ROOM = 1 << 10
"""Vertices, edges and priorities that there is always room for."""

# parity/host/_attract.py
LONG_ROW = 16
"""Rows with more edges remember where they were searched."""

POLL = 1024
"""Vertices between two looks at the stop flag."""

# parity/host/_quick.py
AHEAD = 8
"""Vertices of the queue by which memory is fetched before it is read."""

QUICK_WORK = 5
"""Work of the first attempt, for each vertex and edge of a game: vertices that it
attracts, and edges that lead to these. It is 1 to 2.5 on most games that few regions
win."""

EARLY, EARLY_ATTRACTS = 5, 4
"""It ends after such a part of its work where it has not attracted one of so many
vertices by then: what few regions win has large ones from the beginning."""

LOOKS = 2
"""Vertices that are looked at for the next region while an edge is."""

ALWAYS_FROM = 1 << 14
"""Edges from which there is an attempt at every game; in plain Python, which answers
about games of fewer, it takes longer than the engines where regions are many ..."""

FEW_PRIORITIES = 8
"""... so that there it is for those with priorities up to this ..."""

VERTICES_OF_ONE = 64
"""... or with so many vertices for each."""

# parity/host/_sweeps.py
FEW_HEADS = 64
"""Games are swept if they have so many vertices for each of those whose priority is the
best, or for each sink. That ends ..."""

LITTLE = 2
"""... if of so many vertices that are asked fewer than one joins ..."""

TRIED = 16
"""... when one of so many was asked."""

LONG_ROWS = 16
"""Edges of a vertex, on average, from which on loops are looked for first, if the
square of their number times this is no less than the vertices: then a few loops attract
a good part of them even by lot ..."""

LITTLE_OF_MANY = 16
"""... and fewer need join: a sweep costs little, beside what it may save."""

# parity/host/_rows.py
FAR_FROM = 1 << 10
"""Vertices from which on it is looked at whether edges lead far."""

SPLIT_FROM = 1 << 19
"""Vertices from which on edges that lead far are sorted in two steps, each of which
writes to few places at a time ..."""

EDGES_OF_RANGE = 3 << 15
"""... by one core for each so many edges ..."""

MOST_RANGES = 4
"""... and by so many at most: each has counters of its own. An edge leads far ..."""

FAR = 1 << 10
"""... if it leads to no vertex within this distance ..."""

PARTS = 100
"""... or within one of so many parts of all vertices, if that is less, of where ..."""

NEXT = 16
"""... so many edges next to it lead. Half of ..."""

LOOKED_AT = 64
"""... so many that are looked at have to."""

# parity/host/_promotion.py
BLOCK = 64
"""Vertices, in order of importance, that are skipped together."""

EDGES_OF_A_VERTEX = 4
"""Edges that are searched while a vertex is attracted or moved."""

OF_REGION = 24
"""Vertices that are attracted while promotion afresh begins a region, apart from what
it attracts to it: its regions may be small, and as many as vertices."""

# parity/host/_arranged.py
LEAST_PART = 64
"""Vertices of a part, at least, of a game that falls apart ..."""

MOST_PARTS = 64
"""... into so many at most."""

WHOLE = 0.9
"""Share of a game from which on a part is as good as all of it."""

# parity/host/_justified.py
SKIPPED = 64
"""Priorities that are skipped together where all of their claims have support."""

# parity/host/_legs.py
FEW = 6000
"""Vertices up to which tangle learning has longer turns, and promotion a short first
one ..."""

WORK_OF_FEW = 10
"""... with so much work for each vertex: vertices that it attracts or moves, and edges
that it searches in long rows. On games from model checking and synthesis, and on most
random ones, that is 1 to 10. It takes up to 20 of 300 vertices, and 50 of 3,000, where
games are sparse and have as many priorities as vertices: then tangle learning takes
two to three times as long, which is some milliseconds. Where games are
dense, four edges count as a vertex."""

FIRST_WORK = 128
"""The same where there are more vertices. On sparse games with as many priorities as
vertices it is up to some hundreds of 10,000, and some thousands of 100,000."""

WORK_OF_MANY = 24
"""The same where there are hardly more ..."""

MORE_WORK_FROM = 128
"""... and it grows by one for each so many vertices."""

LATER_WORK = 128
"""Work of which each engine has a share, for each vertex and edge, or for each vertex.
It doubles from round to round."""

WORK_OF_RECURSION = 3
"""Edges and vertices that Zielonka's recursion looks at in its only turn, for each edge
and vertex. It takes 1 to 2 where nothing is solved again, and so it does on most games
that it wins before all others."""

BEFORE_RECURSION = 1 / 4
"""Share of the first work of tangle learning that comes before that turn: it is enough
for most counters that promotion is slow on."""

FIRST_TANGLES = 170
"""As much has tangle learning alone where there are up to `FEW` vertices; where there
are more, five eighths of that work."""

FIRST_SHARES = 1 / 4, 7 / 4, 5, 0
"""As much of `LATER_WORK` have justifications, promotion, promotion afresh, and the one
with tangles in their first round where there are up to `FEW` vertices ..."""

LATER_SHARES = 1, 3 / 2, 3, 3 / 2
"""... and in their second ones. Promotion afresh has for each vertex what wins most
games that it is made for. The first two have what wins games that hang together so
that promotion, or who likes a priority, tells almost all: that takes milliseconds."""

WORK_BESIDE = 6 / 5, 2, 3, 6 / 5
"""The work of these that takes about as long as one of tangle learning."""

LONGER = 2
"""Times as long works each of these where there are up to `FEW` vertices: there tangle
learning has had a long turn, which wins most games that it is made for."""

LEAST_TURN = 80_000
"""Work of a turn of tangle learning over the number of vertices, at least, where
another engine works beside it ..."""

TURNS_GROW = 8
"""... and no more than one of so many parts of what it has done before: as long as that
an engine that has won has to wait for the other."""

TAKEN_OVER = 2
"""Tangles of promotion that tangle learning takes over after a turn, for each that it
has learned itself in that turn: if there are more, none."""

BESIDE_FROM = 60_000
"""Work, times the number of vertices, that is worth another thread."""

EDGES_OF_WORK = 4
"""Edges of a vertex, on average, that work is for at most: a dense part of a game reads
most of its edges once, and is no reason to search the rest of it for longer."""

FIRST_UP_TO = 1536
"""Vertices up to which tangle learning has all of `FIRST_TANGLES`. From there to `FEW`
it has no more in all: the next engines are a matter of milliseconds."""

OF_JUSTIFIED = 4
"""What that work is divided by for justifications where there are more vertices."""

LATER_MIXED = 3
"""Turn from which on promotion with tangles takes part where games have more than `FEW`
vertices. What it adds to the pool, others have to look at; where games have no more, it
takes part from the second round on."""

TIMES_AFRESH = 4
"""Work of promotion afresh there, for each vertex, over `LATER_WORK`, as long as ..."""

IN_CACHE = 29 << 7
"""... all of a game is in a cache, with so many vertices. From there on both get no
more in all; but promotion afresh an eighth for each vertex at least."""

ROWS = 4
"""Rows of a pool of tangles that has just been made, for each vertex."""

LEAST_ROWS = 256
"""Rows that it has at least."""
