"""Progress measures as a certificate: checked in one pass over the edges."""

from jaxgames import ops
from jaxgames.later import jnp
from jaxgames.parity._fixed import Fixed, verdict
from jaxgames.parity._verdict import Reason, Verdict
from jaxgames.verdict import NOWHERE

WORD_BITS = 31
"""Bits of a word that hold a value; the sign is not used."""

TOP = 2**WORD_BITS - 1
"""Most significant word of the measure above all others, which proves nothing."""


def measured(fixed: Fixed, measures) -> Verdict:
    """The verdict by the measures (pure).

    Priorities beyond the end of `measures.cut` compare what its last one does.
    """
    game, words, cut = fixed.game, measures.words, measures.cut
    bits = WORD_BITS * words.shape[1]
    in_order = jnp.all((cut >= 0) & (cut <= bits)) & jnp.all(cut[:, :-1] >= cut[:, 1:])

    mine = [
        jnp.where(
            fixed.winner == 1,
            ops.by_slot(game, words[1, index], 0),
            ops.by_slot(game, words[0, index], 0),
        )
        for index in range(words.shape[1])
    ]
    usable = mine[0] != TOP
    for word in mine:
        usable &= word >= 0

    priority = ops.edge_priority(game)
    side = ops.source(game, fixed.winner)
    compared = ops.edgewise(lambda p, a: _look_up(cut, p, a), priority, side)
    greater, equal = _compare(game, mine, compared)
    rises = ops.edgewise(
        lambda on, p, a, more, same: on & ~(more | (same & ((p & 1) == a))),
        fixed.kept, priority, side, greater, equal,
    )  # fmt: skip
    bad = ops.real(game) & (~usable | ops.out_any(game, rises))
    bad = ops.by_vertex(game, bad)
    found = jnp.any(bad)
    reason = jnp.where(found, Reason.MEASURE_RISES, Reason.OK)
    vertex = jnp.where(found, jnp.argmax(bad), NOWHERE)
    return verdict(
        fixed,
        jnp.where(in_order, reason, Reason.CUT_OUT_OF_ORDER),
        jnp.where(in_order, vertex, NOWHERE),
    )


def _look_up(cut, priority, player):
    """How many bits an edge of some priority compares, for the player who wins it."""
    length = cut.shape[1]
    index = jnp.minimum(priority.astype(jnp.int32), length - 1)
    return ops.look_up(cut.reshape(-1), jnp.where(player == 1, length, 0) + index)


def _compare(game, measure, compared) -> tuple[ops.Edges, ops.Edges]:
    """Along each edge: whether the leading bits fall, and whether they stay."""
    pieces = len(compared)
    greater, equal = (jnp.array(False),) * pieces, (jnp.array(True),) * pieces
    for index, word in enumerate(measure):

        def leading(value, bits, skipped=WORD_BITS * index):
            return value >> (WORD_BITS - jnp.clip(bits - skipped, 0, WORD_BITS))

        here = ops.edgewise(leading, ops.source(game, word), compared)
        there = ops.edgewise(leading, ops.target(game, word), compared)
        greater = ops.edgewise(
            lambda more, same, x, y: more | (same & (x > y)),
            greater, equal, here, there,
        )  # fmt: skip
        equal = ops.edgewise(lambda same, x, y: same & (x == y), equal, here, there)
    return greater, equal
