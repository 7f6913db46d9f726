"""Tuned numbers: Markov decision processes."""

SUITE = "mdp"

# mdp/_cascade.py
ROOMS = (1 << 14, 1 << 19)
"""Branches that rounds have room for: all operations of a round take that many, so that
few are better done with little room."""

PATIENCE = 32
"""Rounds that are made, be they ever so small."""

PACE = 512
"""Rounds are slow if more than so many like them would read each branch."""

# mdp/_fates.py
NARROW = 8
"""A model is narrow if one in so many of its states has no fate, at most."""

# mdp/_checks.py
ADDED_AT_ONCE = 1 << 9
"""Choices whose probabilities are copied, and then added up: they are near by still."""

# mdp/_interleaved.py
MOST_DOUBLINGS = 20
"""Outer steps after which the steps of removal double no more."""

LIGHT = 32
"""Rounds that read only what is next to the last deaths, for one that reads all."""

# mdp/host/_sequence.py
SEQUENCE_FROM = 1 << 14
"""Branches of a model from which it pays to look for an order of all states, so that
many questions are answered by a sweep in that order."""

SEQUENCE_UP_TO = 1 << 24
"""Branches from which nobody looks for it where there is an accelerator."""

KNOTTED_UP_TO = 0.25
"""Which share of the states may be on circles of several states: of more, searches
from the target, and an order of what is open alone, take less time."""

STATES_OF_A_PART = 256
"""States that one core looks at while others look at states that lead to none of these,
at most: to wait for other cores takes about as long."""

# mdp/_swept.py
TOGETHER_FROM = 1 << 14
"""States that are looked at by all cores, those of a band side by side ..."""

STATES_OF_A_CORE = 64
"""... by each so many, or more: all wait for the last one, for about as long."""

MOST_KNOTS = 64
"""Strongly connected sets of several states, in a model that is nearly without cycles,
each of which becomes a small model: of more, that takes longer than a look at all.
Several count once ..."""

NEAR = 512
"""... that have so few states between them: equations of these take less time than a
model of their own."""

# mdp/_schedulers.py
TABLES = 256
"""How many of its members' tables a visiting scheduler keeps."""

# mdp/_open.py
PATIENCE_WITH_VALUES = 20_000
"""Rounds after which a component of equations is stiff, and policies are improved."""

FEW_STATES = 100
"""States of a component whose equations are solved in less time than many rounds."""

PATIENCE_WITH_FEW = 60
"""Rounds after which a small component is stiff ..."""

LOOKS_AT_FEW = 60_000
"""... and more, until so many states were looked at: equations take as long."""

PATIENCE_WITH_NARROW = 400
"""Rounds after which a component that is large and narrow is stiff."""

IMPROVED_UP_TO = 100_000
"""States of a stiff component whose policies are improved by solving equations."""

EXACT_UP_TO = 50_000
"""Equations that may all be solved in rational arithmetic."""

# mdp/_values_problem.py
ALONE_SECONDS = 4e-7
"""Seconds for each branch that a device has for values before the host joins in, which
keeps it waiting ..."""

ALONE_AT_LEAST = 0.25
"""... and these, whatever there is to do: launches take as long ..."""

ALONE_ROUNDS = 200
"""... and rounds: where it makes more, the host, which takes one component after the
other, is often sooner."""

# mdp/_value_iteration.py
ROUNDS_WITHOUT_EQUATIONS = 32
"""Rounds of values, a look at bounds each, before equations are solved."""

MOST_PRODUCTS = 256
"""Pairs of products with a matrix in one round."""

READS_OF_EQUATIONS = {"cpu": 1 << 29, "gpu": 1 << 32}
"""Branches that these may read: a second or two, in which nobody can end it."""

MOST_EQUATIONS = 64
"""How often equations are solved: then rounds go on alone."""

GOAL_OF_EQUATIONS = 0.02
"""By which share of what is asked for values of fixed choices may be off."""

GOAL_OF_STEPS = 0.1
"""By how much of a step equations of steps may be off: a rough bound will do."""

# mdp/host/_values.py
FIRST_GOAL = 0.06
"""By which share of what is asked for values may be off, as far as one knows, when a
certificate is tried first: what is missing adds up over components."""

FIRST_GOAL_OF_FEW = 1e-7
"""The same for small components of an interval model, of which there may be very many:
rounds of few states cost next to nothing."""

CLOSER = 8
"""How many times smaller changes get before a certificate is tried again."""

TIED = 1e-4
"""By which share of the value a choice may be worse and count among the best: more than
what values are off by, so that weights are for all choices that matter."""

WEIGHED_TO = 0.25
"""By which share of the value weights may change in their last round: they need not be
near, only large enough."""

# mdp/host/_order.py
NEARLY_ORDERED = 1 / 16
"""Branches a state that lead to what comes later, with which an order will do: few
rounds are made, and a search would take longer."""

CLEARLY_FEWER = 0.9
"""By how many times as few branches lead to what comes later, a breadth-first search
replaces an order that a model came with or a depth-first search found."""

# mdp/host/_rounds.py
STEADY = 0.1
"""By which share of what it lacks to one the ratio of changes may differ between two
rounds, so that values leap to where it leads."""

SETTLES = 6
"""Rounds between two leaps: what a leap has stirred up settles first."""

FEWEST_FOLLOWED = 8
"""Rounds of one policy between two that look at all choices, after one in which some
choice was much better; twice as many after each in which none was ..."""

MOST_FOLLOWED = 128
"""... up to so many."""

FOLLOWED_TO = 0.01
"""... or fewer, if they soon change values by such a share of what the round of all
choices did: then others may be better."""

LARGE_GAIN = 0.3
"""By which share of a round's largest change a choice is much better than the policy's:
less is soon made up for, and does not call for another look."""

SMALL_GAIN = 0.01
"""By which share of the largest change of the last round of all choices another choice
may be better, and the policy stays."""

# mdp/_improve.py
DENSE_UP_TO = 500
"""States of a component whose equations are solved as a dense matrix."""

RATIONAL_UP_TO = 2_000
"""States of a stiff component that may be solved in rational arithmetic."""

LAST_LOOKS = 1 << 30
"""Looks at states of a stiff component that has bounds, which are not near enough: some
seconds. Then these are the answer."""

NARROW_FROM = 2_000
"""States of a component that is large ..."""

NARROW_UP_TO = 16
"""... and narrow if no branch goes by more places than so many, in the order of its
states: its equations take little time, however large it is."""

# mdp/_improved_exactly.py, mdp/multi/_exact.py
IMPROVED_EXACTLY_UP_TO = 400
"""States of a game, or of a component of a product, of which strategies are improved in
rational arithmetic where float64 does not do: some ten seconds, where each is connected
with any other and many strategies are tried, and most often a second or two."""

# mdp/_verify_values.py
CHAIN_SOLVED_UP_TO = 2_000
"""States of a chain that verification solves in fractions."""

# mdp/_verify_average.py
AVERAGES_CHECKED_IN = 60
"""Rounds in which potentials are looked for first: they do where all is mixed soon."""

# mdp/_rational.py
FEW_WAYS = 16
"""Ways through a state, those in times those out, with which it is left out of
equations in fractions: what has more is lifted ..."""

FEWEST_LIFTED = 24
"""... if so many states are left: fewer are sooner left out."""

RATIONAL_BITS = 80_000
"""Binary digits of a denominator: with longer ones it would take too long."""

# mdp/_average.py
PATIENCE_WITH_AVERAGES = 2_000_000
"""States looked at in rounds of averages before policies are improved."""

FEWEST_AVERAGES = 500
"""Rounds of averages, be a component ever so large; and those after its policies."""

ELIMINATED_FIRST_UP_TO = 2_000
"""States of a Markov chain that are left out one by one before equations are solved."""

AVERAGES_SOLVED_UP_TO = 300_000
"""States of a component whose averages are found by solving equations of policies."""

FORESEEN_AVERAGES = 20_000
"""Rounds of averages of a Markov chain that are made first, if so few seem to do."""

MOST_AVERAGES = 1_000_000
"""Rounds of averages at most, of one component whose policies did not do."""

# mdp/_average_policies.py
FACTORED_UP_TO = 100_000
"""States of a component whose equations whole factors may solve, which fill in."""

PRODUCTS_LEAVE = 0.01
"""The share of what is wanted that products may leave and still pay."""

# mdp/_by_products.py
LIFTED_BY = 1e-4
"""By what share a diagonal is larger so that it has factors at all."""

MOST_PRODUCTS_OF_AVERAGES = 250
"""Products with the matrix of a policy at most: five crowds of states that are left
once in 10^9 steps take 200 ..."""

PRODUCTS_ROOM = 2**28
"""... numbers of their vectors, which are all kept ..."""

PRODUCTS_AIM = 1e-6
"""... the share of what is wanted that may be left: it is begun anew for that."""

# mdp/_eliminated.py
ELIMINATED_IN = 500_000
"""Pairs of neighbours that are looked at while the states of a chain are left out; with
more, rounds are sooner for most."""

# mdp/_bounded.py
FRACTIONS_UP_TO = 1 << 17
"""Branches, counted once for each step, that are gone over in fractions."""

DIGITS_OF_FRACTIONS_UP_TO = 1 << 32
"""Binary digits that are multiplied so, at most: some seconds."""

READ_AT_ONCE = 1 << 24
"""Branches that steps read before somebody looks whether they are to end."""

CHOICES_KEPT_UP_TO = 1 << 26
"""Choices, one for each step and state, that a scheduler with a clock may have."""

# mdp/robust/_natures.py
INSERTED_UP_TO = 64
"""Branches of a choice that are sorted by inserting each where it belongs."""

# mdp/robust/_host.py
NATURE_SOLVED_UP_TO = 50_000
"""States of a component of an interval model whose averages linear equations give."""

PATIENCE_WITH_NATURE = 100_000
"""Rounds at most of a component of an interval model."""

LOOKS_WITH_NATURE = 60_000
"""States of a component of an interval model that are looked at before it is slow:
policies take as long, if it is small."""

# mdp/robust/_solve.py
WORK_OF_A_LOOK = 24.0
"""Operations of linear equations in the time of one state that is looked at: rounds of
slow components go on for as long as equations would take."""

WORK_WITH_NATURE = 2.0**34
"""Operations that the equations of one policy may take: some seconds."""

# mdp/robust/_improve.py
HUB_FROM = 64
"""Neighbours of a state that is left to the end of linear equations, since it makes
all of them neighbours ..."""

FEW_HUBS = 8
"""... of which there may be so many."""

# mdp/robust/_host.py
MENDED_IN = 1_000
"""Rounds in which bounds that miss their inequalities by rounding are moved."""

# mdp/robust/_solve.py
ANSWERS = 1_000
"""How often a strategy against nature, or nature's, is improved."""

# mdp/multi/_oracle.py
BATCHED_FROM = 1 << 16
"""Branches from which values for several weights are iterated in one program."""

ROUNDS_UNROLLED = 8
"""Rounds of all weights between two looks at whether anything has moved."""

# mdp/multi/_front.py
FACETS_UP_TO = 200
"""Directions that a front may take."""
# mdp/_sampled.py
LOOKS = 8
"""Rounds between two looks at what is known of samples."""

WRITTEN_OUT = 8
"""Branches or choices up to which sums and optima are written out one by one: one
kernel then does a round of a block."""

SAMPLED_ROUNDS = 1_000_000
"""Rounds of samples at most, where nothing else is said."""

SHARPENED = 2_000
"""Rounds in which bounds of samples sharpen each other, at most."""

# mdp/_budget.py
LEVELS_AT_ONCE = 1 << 21
"""Branches of levels of rewards that are solved as one problem."""

# mdp/_clock.py
TICKS_BETWEEN_LOOKS = 8
"""Ticks of a clock after which it is looked whether enough is known, at first."""

# mdp/_games_problem.py
SIDE_BY_SIDE = 1 << 17
"""States, choices and branches of stochastic games side by side, at most: each round of
one that takes many is one of all."""

# mdp/_game_traced.py
GAME_ROUNDS = 100_000
"""Rounds at most, since nobody can interrupt a compiled program."""

GAME_SWEEPS = 8
"""How often the equations are applied in a round, which ends with a deflation."""
