"""Tuned numbers: files that are read and written."""

SUITE = "load"

# io/_formats.py
HEAD = 1 << 16
"""Bytes of a file that are looked at."""

# io/_hoa_loop.py
HOA_SLOWER = 64
"""How many times as long as by arrays it takes to read something token by token."""

HOA_BYTES = 1 << 20
"""Bytes that a core reads at once."""

# io/hoa_game.py
SHORT_HOA_BYTES = 128
"""Bytes of a body up to which it is read sooner token by token than by arrays."""

# io/_kripke_loop.py
KRIPKE_SLOWER = 16
"""How many times as long as by arrays it takes to read something token by token."""

KRIPKE_BYTES = 1 << 20
"""Bytes that a core reads at once."""

# io/_texts.py
ROWS_AT_ONCE = 1 << 16
"""Rows of a table that a core takes at once."""

# io/_whole.py
HEADER_BYTES = 1 << 18
"""Bytes at the start of a long text in which its header is looked for: a text with a
longer header is read token by token."""

# io/_lines.py
STRETCH_BYTES = 1 << 20
"""Bytes read at once."""

STRETCH_LINES = 1 << 16
"""Lines written at once."""

# io/_pieces.py
READY_BYTES, IMPORTED_BYTES, FOREIGN_BYTES = 1 << 18, 1 << 22, 1 << 24
"""Bytes of text from which machine code pays: when it is there, when its compiler is,
and when that would have to be imported."""

PACKED = 4
"""Bytes of text in one that is compressed, about."""

JOINED_BY_THREADS_FROM = 1 << 22
"""Bytes from which several threads join arrays."""

# io/_statements.py
BLOCK_BYTES = 1 << 18
"""Bytes read at once: the arrays made of them fit the caches."""

LONG_BLOCK_BYTES = 1 << 21
"""The same for machine code, which makes no others than it returns: of half as many
bytes sixteen cores wait a third longer for whoever cuts the file."""

BLOCK_STATEMENTS = 1 << 15
"""Statements written at once, for the same reason."""

# io/_weighted_write.py
STRETCH_ROWS = 1 << 15
"""Rows written at once."""

# io/drn.py
STATES_AT_ONCE = 1 << 14
"""States of a model whose lines are made at once."""

# cli/_games.py
LARGE_FILE = 1 << 26
"""Bytes of a file from which JAX is started while it is read: the host needs longer to
solve what is in it."""
