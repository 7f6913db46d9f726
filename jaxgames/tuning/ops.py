"""Tuned numbers: layouts and reductions, and what is sent to devices."""

SUITE = "calls"
AGAIN = {"SLICE_FROM": "layouts", "SEND_PACKED_FROM": "devices"}
SHOWN = {"SLICE_FROM": ("layouts-amd-epyc", "layouts-nvidia-h200")}

# ops/_slices.py
SLICE_FROM = 1 << 15
"""Edges from which a concrete arena's rows are sorted into slices.

Slices are faster from far fewer edges on, but their shapes are the game's own, and each
compiles anew (docs: Design notes).
"""

SLICE_COST = 1 << 16
"""What one slice more costs, in edges: the launch of its kernels."""

LONG_ROW = 1 << 8
"""Wider slices have a multiple of as many columns, and are reduced in two stages."""

PRICE_BITS = 7
"""A slice more costs at least 2 to the minus so many of all edges: few slices, of which
as many are compiled, and other rows of their kind have the same."""

SLACK_BITS = 6
"""Shapes are rounded up where that adds about 2 to the minus so many of all cells."""

WIDE = 64
"""Up to this width slices are filled up to common sizes whatever it costs: a row more
of a wider one would cost as much as many edges."""

# ops/_blocks.py
BLOCK_PRICE_BITS = 6
"""A block more costs as much as 2 to the minus so many of all links."""

# ops/_prepare.py
LEAST_VERTICES, LEAST_EDGES = 64, 256
"""What a small arena is padded to at least: a round over so few takes no longer than
over one, and games of all smaller sizes share one program."""

# ops/_edge_kernels.py
BLOCK, WARPS = 512, 4
"""Edges of a block, and warps that share it."""

LONG_LIST = 1 << 22
"""Edges from which signatures are read as they are, and not as they were before the
sweep. On a long list that saves sweeps, and each is short. Else it costs some: where
numbers rise along edges, one sweep tells all vertices what is above, and none of them
tells those between what is below.
"""

PROGRAMS = 2112
"""Programs at most: as many as a large GPU runs at once."""

FRONT_BLOCK, FRONT_PROGRAMS = 128, 528
"""Vertices of a block of a front, and programs, half of them for each way."""

# ops/_groups.py
FEW_STEPS = 8
"""Steps of a search up to which they are one operation, and no loop."""

# ops/_links.py
PACK_FROM = 1 << 25
"""Targets from which booleans, and what has few bits, are packed before they are
gathered: as bytes so many do not fit into a GPU's cache."""

SEND_PACKED_FROM = 1 << 20
"""Values from which they are packed before they are sent to other devices."""

# ops/_parts.py
LEVEL_BITS = 2
"""Each level of rows has room for a quarter of the one before."""

FEWEST_CELLS = 1 << 10
"""Cells of a piece of the layout below which its rows are not told apart."""

# ops/_sliced_device.py
PIECE = 1 << 20
"""Bytes of a piece of an array, at least; what fills it up is a piece by itself."""

COUNTED_BY_TABLE = 1 << 10
"""Degrees that are looked up; larger ones are few, and searched for."""

# ops/_sliced_host.py
TILE = 1 << 9
"""Rows whose links are copied together, column by column: they stay in the cache."""

# ops/_transfers.py
PIECES_AT_A_TIME = 8
"""Transfers of one array at a time."""

IN_PIECES_FROM = 1 << 22
"""Bytes from which an array goes in pieces."""

WRITTEN_FROM = 1 << 20
"""Bytes from which results are written to the host by a program, which has to be
compiled; otherwise most of the time of a transfer is a wait. Smaller ones have come
with the last chunk of rounds: see `SENT_WITH_EVERY_CHUNK`."""

# generate/_on_device.py
SORTED_BY_COMPARING = 16
"""Rows up to this are sorted by comparing all with all."""
