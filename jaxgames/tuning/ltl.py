"""Tuned numbers: formulas and automata."""

SUITE = "ltl"

# ltl/_letters.py
TABLES_UP_TO = 12
"""Propositions up to which a set of letters is a truth table."""

# ltl/_parity_automaton.py
CHECK_TABLES_UP_TO = 14
"""Likewise, where sets are made once, to see whether an automaton is deterministic."""

# ltl/_graph.py
SIMULATED_UP_TO = 1 << 12
"""States times edges of an automaton in which simulations are looked for."""

SEARCHED_PLAINLY_UP_TO = 1 << 9
"""States of an automaton whose components are found without machine code."""

# ltl/_braces.py
STEPS_A_STATE = 1 << 8
"""Steps of states of a Büchi automaton, each under some letters, that are taken to
determinise it, for each state that there may be: half a million take a second."""

STEPS_ALWAYS = 1 << 18
"""Such steps that may be taken in any case."""

# ltl/_translate.py
TRIED_BOTH_WAYS_UP_TO = 64
"""States of an automaton for which another way is tried as well."""

# ltl/_fewer.py
UNITED_TOO_FROM = 1 << 6
"""States of an automaton of which two are made: of like states that are united before
it gets fewer colours, and of such that are not."""

UNITED_FIRST_FROM = 1 << 9
"""States of an automaton whose like states are united before it gets fewer colours:
less work, and for large automata mostly fewer states in the end."""

# ltl/_deterministic.py
FIRST_STATES = 64
"""States that each way is allowed at first; then eight times as many, and so on."""

ROOM_TO_SHRINK = 1 << 9
"""States that other ways are always allowed, where one has made an automaton with
fewer: what they make may shrink."""

TREE_NODES = 16
"""Nodes of a Zielonka tree for each state that an automaton may have."""

# synth/_on_the_fly.py
MADE_FIRST = 1 << 6
"""States of an automaton that is made before anything else is tried."""

EXPLORED_BEYOND = 1 << 10
"""States of an automaton beyond which it is explored as far as is needed."""

EXPLORED_FIRST = 1 << 11
"""States that are explored before an automaton is made at all, where its letters are
decision diagrams: more of them say that exploring is no shortcut."""

EXPLORED_ROUNDS = 4
"""How often more is explored before the whole automaton is made."""

# synth/_counting.py
COUNTED_STATES = 1 << 9
"""States of a Büchi automaton on whose runs marks are counted, while it is made."""

COUNTED_UP_TO = 15
"""Marks on a run that are allowed at most."""

COUNTED_CLASSES = 1 << 14
"""Cases in which letters are told apart for all states together."""

COUNTED_STEPS = (1 << 23, 1 << 26, 1 << 29)
"""Numbers that are handled for each number of marks, before others get more."""

COUNTED_FIRST = 2
"""How many of these steps are taken before an automaton is made that may be large."""

# synth/_many.py
FORMULAS_A_PROCESS = 128
"""Formulas for which another process pays: it takes a third of a second to begin."""

AT_A_TIME = 32
"""Formulas that a process is given at once."""

# synth/_verify.py
FEW_STATES = 1 << 8
"""States of an automaton of a part of a conjunction that is tried before the whole."""

WHOLE_STATES = 1 << 6
"""States of an automaton of a whole conjunction that is tried before parts of it. With
four times as many some take minutes, since their guards are large."""

ROWS = 1 << 20
"""Pairs of cubes, one of a machine and one of an automaton, compared at once."""

# synth/_gates.py
RENUMBERED_UP_TO = 1 << 21
"""States of a machine times gates up to which other numbers of states are tried."""

# synth/_circuit_states.py
CIRCUIT_TABLES_UP_TO = 12
"""Inputs up to which the gates of a circuit are evaluated for all letters."""

CIRCUIT_BITS = 1 << 29
"""Bits of gates that are evaluated at once: gates, letters and states multiplied."""

# synth/_reactivity.py
PART_STATES = 1 << 6
"""States of an automaton of a part of a formula whose game is one of functions."""

REACTIVE_FROM = 4
"""Parts of a formula from which on its game may be one of functions."""

REACTIVE_NODES = 1 << 18
"""Nodes of decision diagrams for such a game: others are solved in another way."""

REACTIVE_MACHINE_NODES = 1 << 20
"""The same with those of its machine: once it is solved, more is worth while."""

REACTIVE_STATES = 1 << 10
"""States of a machine that is made of functions."""
