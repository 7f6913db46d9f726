"""Plants bugs in copies of the package, and shows which of them tests and fuzzer kill.

    python -m tests.planted_bugs [--only NAME,...] [--jobs N] [--seconds S]

Each bug is a few characters of one file. A copy of the checkout gets it, and is given
to the fuzzer (the checks of its slice that may see it) and to quick tests, each in
processes of their own with a time bound. Exit code 1 if a bug survives both.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent

PATIENCE = 6
"""How much longer a check may take that seemed not to end."""


class Bug(NamedTuple):
    """A text of a file that occurs once, and what is written in its place.

    Attributes:
        name: what it is called.
        kind: what sort of mistake it is.
        file: under `jaxgames`.
        old: the text.
        new: the other one.
        slice: of the fuzzer.
        checks: those that see the code; all if nothing is named.
        tests: of the slice, under `tests`.
    """

    name: str
    kind: str
    file: str
    old: str
    new: str
    slice: str
    checks: str
    tests: str


COMPARISON = "a comparison turned"
MASK = "a mask dropped"
STEP = "off by one"
FORGETS = "a verifier forgets a check"
TIE = "a tie broken another way"
ENDLESS = "it never ends"
WRONG = "a wrong term"

BUGS = [
    # ---- parity -------------------------------------------------------------------
    Bug(
        *("fpi-below", COMPARISON, "parity/_fpi.py"),
        *(
            "(priority < block) & (frozen < block)",
            "(priority <= block) & (frozen < block)",
        ),
        *("parity", "fpi", "parity/test_solvers.py"),
    ),
    Bug(
        *("fpi-endless", ENDLESS, "parity/_fpi.py"),
        *("return state.block == nothing(game)", "return state.block == 0"),
        *("parity", "fpi", "parity/test_solvers.py"),
    ),
    Bug(
        *("zielonka-joins", COMPARISON, "parity/_zielonka.py"),
        *("joins = play & (best == ", "joins = play & (best <= "),
        *("parity", "zielonka", "parity/test_solvers.py"),
    ),
    Bug(
        *("parity-verify-leaves", FORGETS, "parity/host/_verify.py"),
        *("wrong |= 32", "wrong |= 0"),
        *("parity", "verify", "parity/test_verify.py"),
    ),
    Bug(
        *("parity-trimming", FORGETS, "parity/_trimming.py"),
        *("fixed.winner != (following & 1)", "fixed.winner > (following & 1)"),
        *("parity", "verify", "parity/test_verify.py"),
    ),
    Bug(
        *("tangles-won", MASK, "parity/host/_learning.py"),
        *("box[v] = OUT  # somebody", "box[v] = box[v]  # somebody"),
        *("parity", "host.in_turn", "parity/test_host_engine.py"),
    ),
    Bug(
        *("justified-withdraws", FORGETS, "parity/host/_justified.py"),
        *("support[u] = False\n", "support[u] = support[u]\n"),
        *("parity", "host.justified", "parity/test_host_engine.py"),
    ),
    Bug(
        *("mixed-rises", FORGETS, "parity/host/_mixed.py"),
        *("else max(target, np.int64(box[w]))", "else target"),
        *("parity", "host.mixed", "parity/test_host_engine.py"),
    ),
    Bug(
        *("zielonka-outside", FORGETS, "parity/host/_zielonka.py"),
        *("if winner[u] != prey or taken[u] < subgame:", "if winner[u] != prey:"),
        *("parity", "host.zielonka", "parity/test_host_engine.py"),
    ),
    Bug(
        *("tangles-escapes", COMPARISON, "parity/host/_tangles.py"),
        *(
            "while left > 0 and boxes[out[k]] != box",
            "while left > 1 and boxes[out[k]] != box",
        ),
        *("parity", "host.tangles", "parity/test_host_engine.py"),
    ),
    Bug(
        *("succinct-leaves", STEP, "parity/reference/_succinct.py"),
        *("bits = (bits + 1).bit_length() - 1", "bits = bits.bit_length() - 1"),
        *("parity", "reference.succinct", "parity/test_textbooks.py"),
    ),
    # ---- energy -------------------------------------------------------------------
    Bug(
        *("vi-bound", STEP, "energy/_vi.py"),
        *("jnp.where(new > state.bound,", "jnp.where(new >= state.bound,"),
        *("energy", "vi", "energy/test_energy_solvers.py"),
    ),
    Bug(
        *("vi-endless", ENDLESS, "energy/_vi.py"),
        "        rose = new != own\n",
        "        rose = new == own\n",
        *("energy", "vi", "energy/test_energy_solvers.py"),
    ),
    Bug(
        *("counters-endless", ENDLESS, "energy/host/_counters.py"),
        "            if credit[u] >= _asks(lifted, in_weight[k], top):\n",
        "            if credit[u] > _asks(lifted, in_weight[k], top):\n",
        *("energy", "capacity", "energy/test_capacity.py"),
    ),
    Bug(
        *("energy-tie", TIE, "energy/host/_strategies.py"),
        "                strategy[v] = e\n                break\n",
        "                strategy[v] = e\n",
        *("energy", "vi", "energy/test_energy_solvers.py"),
    ),
    Bug(
        *("energy-verify-asks", FORGETS, "energy/host/_verify.py"),
        "((target == TOP) | (target - game.weight[edge] > credit))",
        "((target == TOP) | (target - game.weight[edge] > credit + 1))",
        *("energy", "verify", "energy/test_energy_verify.py"),
    ),
    Bug(
        *("energy-verify-forced", FORGETS, "energy/host/_verify.py"),
        "            if game.owner[u] or ways[u] == 0:\n",
        "            if game.owner[u] or ways[u] >= 0:\n",
        *("energy", "verify", "energy/test_energy_verify.py"),
    ),
    Bug(
        *("energy-verify-device", FORGETS, "energy/_proof.py"),
        "Reason.CREDIT_TOO_SMALL: ~lost & (needed > number),",
        "Reason.CREDIT_TOO_SMALL: ~lost & (needed > number + 1),",
        *("energy", "verify", "energy/test_energy_verify.py"),
    ),
    # ---- mean payoff --------------------------------------------------------------
    Bug(
        *("meanpayoff-verify-player", FORGETS, "meanpayoff/_certificate.py"),
        "((0, Reason.VALUE_TOO_LARGE), (1, Reason.VALUE_TOO_SMALL)):\n        free",
        "((0, Reason.VALUE_TOO_LARGE),):\n        free",
        *("meanpayoff", "verify", "meanpayoff/test_meanpayoff.py"),
    ),
    Bug(
        *("meanpayoff-better", COMPARISON, "meanpayoff/_certificate.py"),
        "np.where(arena.owner[src], rank[dst] < rank[src], rank[dst] > rank[src])",
        "np.where(arena.owner[src], rank[dst] < rank[src], rank[dst] < rank[src])",
        *("meanpayoff", "host,verify", "meanpayoff/test_meanpayoff.py"),
    ),
    Bug(
        *("meanpayoff-threshold", WRONG, "energy/_convert.py"),
        "(weight.astype(np.int64) - whole) * q - rest",
        "(weight.astype(np.int64) - whole) * q + rest",
        *("meanpayoff", "decide", "meanpayoff/test_meanpayoff.py"),
    ),
    # ---- several energies ---------------------------------------------------------
    Bug(
        *("fronts-equal", MASK, "multienergy/_antichains.py"),
        "beaten.append(below if j < i else below & ~packing.same(other, budget))",
        "beaten.append(below)",
        *("multienergy", "fronts", "multienergy/test_antichains.py"),
    ),
    Bug(
        *("bitmap-defends", WRONG, "multienergy/_bitmap.py"),
        "jnp.where(defends, all_of, some))",
        "jnp.where(defends, some, some))",
        *("multienergy", "bitmap", "multienergy/test_multienergy_solve.py"),
    ),
    Bug(
        *("multienergy-verify-won", FORGETS, "multienergy/host/_verify.py"),
        *("    if lost.any():\n", "    if lost.all():\n"),
        *("multienergy", "verify", "multienergy/test_multienergy_verify.py"),
    ),
    Bug(
        *("multienergy-verify-more", FORGETS, "multienergy/host/_verify.py"),
        *("    if more.any():\n", "    if more.all():\n"),
        *("multienergy", "verify", "multienergy/test_multienergy_verify.py"),
    ),
    # ---- graphs -------------------------------------------------------------------
    Bug(
        *("tarjan-low", WRONG, "graph/host/_components.py"),
        "low = min(low, np.int64(path[depth, 1]))",
        "low = np.int64(path[depth, 1])",
        *("scc", "host", "graph/test_graph_host.py"),
    ),
    Bug(
        *("max-id-mask", MASK, "graph/_max_id.py"),
        "jnp.minimum(state.below, ops.links_min(out, below, live_out)),",
        "jnp.minimum(state.below, ops.links_min(out, below)),",
        *("scc", "max_id", "graph/test_scc.py"),
    ),
    Bug(
        *("fb-trim-marks", WRONG, "graph/_fb_trim.py"),
        "found = (word != GONE) & (marks == _MARKS)",
        "found = (word != GONE) & (marks >= FORWARD)",
        *("scc", "fb_trim", "graph/test_scc.py"),
    ),
    Bug(
        *("scc-verify-reaching", FORGETS, "graph/host/_verify.py"),
        *("        inside & ~backward,\n", "        inside & ~forward,\n"),
        *("scc", "verify", "graph/test_graph_verify.py"),
    ),
    Bug(
        *("reach-mask", MASK, "graph/_reach.py"),
        "new = game.inside & ~state.mark & ops.links_any(game.links, state.mark)",
        "new = ~state.mark & ops.links_any(game.links, state.mark)",
        *("scc", "reachable", "graph/test_reachable.py"),
    ),
    Bug(
        *("attractor-tie", TIE, "graph/_attractor.py"),
        "lambda here, there: (there != here - 1).astype(jnp.int32)",
        "lambda here, there: (there >= here).astype(jnp.int32)",
        *("scc", "attractor", "graph/test_attractor.py"),
    ),
    Bug(
        *("attractor-endless", ENDLESS, "graph/_attractor.py"),
        "return State(jnp.where(new, rounds, state.rank), rounds, jnp.any(new))",
        "return State(jnp.where(new, rounds, state.rank), rounds, state.grows)",
        *("scc", "attractor", "graph/test_attractor.py"),
    ),
    Bug(
        *("trivial-loops", FORGETS, "graph/_kinds.py"),
        "return single & ~host.has_loop(arena, labels, edges, count)",
        "return single",
        *("scc", "kinds", "graph/test_condensation.py"),
    ),
    # ---- models -------------------------------------------------------------------
    Bug(
        *("mec-lost", COMPARISON, "mdp/host/_end_components.py"),
        "if left[s] < part.choice_ptr[s + 1] - part.choice_ptr[s]:",
        "if left[s] == part.choice_ptr[s + 1] - part.choice_ptr[s] - 2:",
        *("mec", "host", "mdp/test_mec_host.py"),
    ),
    Bug(
        *("basic-leaves", MASK, "mdp/_basic.py"),
        "live=state.live & ~leave(game, root),",
        "live=state.live,",
        *("mec", "basic", "mdp/test_mec.py"),
    ),
    Bug(
        *("interleaved-spoiled", MASK, "mdp/_interleaved.py"),
        "complete = (state.above == state.below) & ~ops.take(spoiled, state.above)",
        "complete = state.above == state.below",
        *("mec", "interleaved", "mdp/test_mec.py"),
    ),
    Bug(
        *("mec-verify-leaves", FORGETS, "mdp/host/_verify.py"),
        "blamed[np.minimum(owner[kept & ~stays], size - 1)] = True",
        "blamed[np.minimum(owner[kept & ~stays], size - 1)] = False",
        *("mec", "verify", "mdp/test_mec_verify.py"),
    ),
    Bug(
        *("reach-one", WRONG, "mdp/host/_pose.py"),
        "sure += weight * known[columns[branch]]",
        "sure += weight",
        *("reach", "bounds", "mdp/test_reach.py"),
    ),
    Bug(
        *("reach-slack", STEP, "mdp/_interval.py"),
        "upper = self._best(game, state.upper) * (1 + game.slack) + tiny",
        "upper = self._best(game, state.upper) * (1 - 1e-9)",
        *("reach", "bounds", "mdp/test_reach.py"),
    ),
    Bug(
        *("values-steps", STEP, "mdp/host/_values.py"),
        "more = (up * bounds.steps[state] + over) * grown",
        "more = up * grown",
        *("values", "host", "mdp/test_check.py"),
    ),
    Bug(
        *("values-discount", WRONG, "mdp/host/_pose.py"),
        "            leaves += lost * back\n",
        "            leaves += back\n",
        *("values", "host", "mdp/test_check.py"),
    ),
    Bug(
        *("pose-before", FORGETS, "mdp/host/_pose.py"),
        "total = before[part]",
        "total = 0",
        *("values", "host", "mdp/test_sequence.py"),
    ),
    Bug(
        *("sweep-leaves", WRONG, "mdp/host/_sweep.py"),
        "below, above = below / leaves, above / leaves",
        "below, above = below / 1.0, above / 1.0",
        *("values", "host", "mdp/test_sequence.py"),
    ),
    Bug(
        *("sweep-endless", COMPARISON, "mdp/host/_sweep.py"),
        "if best < 0 or (not least and endless >= 0):",
        "if best < 0:",
        *("values", "host", "mdp/test_sequence.py"),
    ),
    Bug(
        *("verify-values-nothing", FORGETS, "mdp/_verify_values.py"),
        "open_ & known.nothing & (lower > 0)",
        "open_ & known.nothing & (lower > 9)",
        *("values", "verify", "mdp/test_verify_values.py"),
    ),
    Bug(
        *("verify-average-drift", FORGETS, "mdp/_verify_average.py"),
        "wrong[own.states] |= short",
        "wrong[own.states] |= short & False",
        *("values", "verify", "mdp/test_verify_anew.py"),
    ),
    Bug(
        *("verify-game-away", FORGETS, "mdp/_stochastic_game.py"),
        "(open_ & away & (lower > 0))",
        "(open_ & away & (lower > 9))",
        *("values", "spoilt", "mdp/test_games.py"),
    ),
    Bug(
        *("verify-game-above", FORGETS, "mdp/_stochastic_game.py"),
        "small = claim.have(claim.breaks(upper, others & here, none, 1))",
        "small = claim.have(claim.breaks(upper, own & others & here, none, 1))",
        *("values", "spoilt", "mdp/test_games.py"),
    ),
    Bug(
        *("parity-game-lots", WRONG, "mdp/_parity_game.py"),
        "some = draws[priority[owner[draws]] <= even + 1]",
        "some = draws[priority[owner[draws]] <= even]",
        *("values", "parity", "mdp/test_parity_games.py"),
    ),
    Bug(
        *("parity-game-claims", WRONG, "mdp/_parity_game.py"),
        "claimed = add(len(some), True, even + 1)",
        "claimed = add(len(some), True, even)",
        *("values", "parity", "mdp/test_parity_games.py"),
    ),
    Bug(
        *("parity-game-shown", FORGETS, "mdp/_parity_game.py"),
        "claim = claim.with_bounds(bound, everywhere * 1.0).flipped()",
        "claim = claim.with_bounds(bound - 1.0, everywhere * 1.0).flipped()",
        *("values", "spoilt-parity", "mdp/test_parity_games.py"),
    ),
    Bug(
        *("front-far", FORGETS, "mdp/multi/_front.py"),
        "if found.value >= -Fraction(epsilon):",
        "if found.value >= -1:",
        *("values", "front", "mdp/test_pareto.py"),
    ),
    Bug(
        *("programs-together", WRONG, "mdp/program/_choices.py"),
        "one.probs[of_one] * other.probs[of_other],",
        "one.probs[of_one],",
        *("programs", "host", "mdp/test_program.py"),
    ),
    Bug(
        *("programs-stamp", MASK, "mdp/program/_explored.py"),
        "if stamp[there] >= first:",
        "if stamp[there] > first:",
        *("programs", "host", "mdp/test_program.py"),
    ),
    Bug(
        *("timed-rest", FORGETS, "mdp/_clock.py"),
        "        below, far = 0.0, rest * most * (1 + 1e-9)",
        "        below, far = 0.0, 0.0 * most",
        *("timed", "host", "mdp/test_timed.py"),
    ),
    Bug(
        *("timed-way", MASK, "mdp/_timed.py"),
        "np.where(left, x, float(missed)) for x in (found.lower, found.upper)",
        "np.where(True, x, float(missed)) for x in (found.lower, found.upper)",
        *("timed", "host", "mdp/test_timed.py"),
    ),
    Bug(
        *("robust-order", WRONG, "mdp/robust/_natures.py"),
        "branch = nat.order[place if least == 1 else first + last - 1 - place]",
        "branch = nat.order[place]",
        *("robust", "host", "mdp/test_robust.py"),
    ),
    Bug(
        *("robust-vanish", FORGETS, "mdp/robust/_graph.py"),
        "    return 1 - stays(nat, choice, near, 0)\n",
        "    return 1\n",
        *("robust", "host", "mdp/test_robust.py"),
    ),
    Bug(
        *("robust-average", FORGETS, "mdp/robust/_solve.py"),
        "asking = dataclasses.replace(asking, reward=np.zeros(len(asking.reward)))",
        "asking = dataclasses.replace(asking)",
        *("robust", "host", "mdp/test_robust.py"),
    ),
    Bug(
        *("game-steps", WRONG, "mdp/host/_steps.py"),
        "if here > most if maximises[state] else here < most:",
        "if here < most if maximises[state] else here > most:",
        *("values", "played", "mdp/test_played.py"),
    ),
    Bug(
        *("verify-robust-nothing", FORGETS, "mdp/robust/_verify.py"),
        "(nothing & (claim.lower > 0))",
        "(nothing & (claim.lower > 9))",
        *("robust", "verify", "mdp/test_robust.py"),
    ),
    Bug(
        *("verify-region-scheduler", FORGETS, "mdp/_verify_region.py"),
        "    own = claim.live & (silent | _taken(claim))",
        "    own = claim.live & silent",
        *("reach", "verify", "mdp/test_verify_region.py"),
    ),
    Bug(
        *("game-others", WRONG, "mdp/_stochastic_game.py"),
        """        high = self._values(taken(theirs, others, owner), "max", near)
        above =""",
        """        high = self._values(taken(theirs, others, owner), "min", near)
        above =""",
        *("values", "game", "mdp/test_games.py"),
    ),
    Bug(
        *("prob1-min", WRONG, "mdp/host/_prob01.py"),
        "        return Region(real & ~_some(zero, passed, *into))\n",
        "        return Region(real & ~zero)\n",
        *("reach", "host,bounds", "mdp/test_prob01.py"),
    ),
    # ---- accepting cycles, Büchi games, formulas ------------------------------------
    Bug(
        *("nested-dfs", FORGETS, "buchi/host/_nested_dfs.py"),
        "                    if colour[w] != RED:\n",
        "                    if colour[w] == BLUE:\n",
        *("cycles", "verify", "buchi/test_buchi_host.py"),
    ),
    Bug(
        *("owcty-marks", WRONG, "buchi/_owcty.py"),
        "jnp.where(state.marking, x | leads, leads)",
        "jnp.where(state.marking, leads, leads)",
        *("cycles", "owcty", "buchi/test_cycle.py"),
    ),
    Bug(
        *("lasso-last-edge", STEP, "buchi/host/_lasso.py"),
        *(
            "range(len(walk) - 1):\n        there",
            "range(len(walk) - 2):\n        there",
        ),
        *("cycles", "verify", "buchi/test_buchi_host.py"),
    ),
    Bug(
        *("buchi-foreign", COMPARISON, "buchi/_attractors.py"),
        "foreign = (game.owner != state.losing).astype(jnp.int8)",
        "foreign = (game.owner == state.losing).astype(jnp.int8)",
        *("buchi", "attractors", "buchi/test_buchi_game.py"),
    ),
    Bug(
        *("buchi-verify-cycle", FORGETS, "buchi/host/_verify.py"),
        "lost |= _on_cycle(arena, src, dst, allowed & (winner[src] == 1)) & accepting",
        "lost |= False",
        *("buchi", "verify", "buchi/test_buchi_game.py"),
    ),
    Bug(
        *("translate-marks", WRONG, "ltl/_tableau.py"),
        "{(r, every & ~put_off): letters for",
        "{(r, put_off): letters for",
        *("ltl", "translate", "ltl/test_ltl.py"),
    ),
    Bug(
        *("breakpoint-due", STEP, "ltl/_alternation.py"),
        "pair = (all_of, owing or all_of)",
        "pair = (all_of, owing)",
        *("ltl", "translate", "ltl/test_alternation.py"),
    ),
    Bug(
        *("alternation-pruned", FORGETS, "ltl/_graph.py"),
        "if not less & beyond and not fewer & beside:",
        "if not less & beyond:",
        *("ltl", "translate", "ltl/test_alternation.py"),
    ),
    # ---- fairness -----------------------------------------------------------------
    Bug(
        *("justice-enabled", WRONG, "systems/_fairness.py"),
        "return self.taken | ~self.enabled",
        "return self.taken | self.enabled",
        *("cycles", "verify", "buchi/test_fair.py"),
    ),
    Bug(
        *("compassion-pairs", WRONG, "systems/_fairness.py"),
        "both(either([fin(one), inf(other)])",
        "both(either([fin(other), inf(one)])",
        *("cycles", "verify", "buchi/test_fair.py"),
    ),
    Bug(
        *("fair-lasso-marks", STEP, "buchi/_fair.py"),
        "due = [m for m in due if not marked.sets[m, edges].any()]",
        "due = due[2:]",
        *("cycles", "verify", "buchi/test_fair.py"),
    ),
    # ---- controllers --------------------------------------------------------------
    Bug(
        *("choices-minimal", COMPARISON, "synth/_game.py"),
        "if all(other & ~choice for other in kept):",
        "if all(choice & ~other for other in kept):",
        *("synth", "verdict", "synth/test_synth.py"),
    ),
    Bug(
        *("machine-first", WRONG, "synth/_extract.py"),
        "            node, target = pairs[0]\n",
        "            node, target = pairs[-1][0], pairs[0][1]\n",
        *("synth", "machines", "synth/test_synth.py"),
    ),
    Bug(
        *("circuit-choice", WRONG, "synth/_gates.py"),
        "return self.both(test, high ^ 1) ^ 1",
        "return self.both(test, high ^ 1)",
        *("synth", "machines", "synth/test_synth.py"),
    ),
    Bug(
        *("synth-verify-pairs", FORGETS, "synth/_verify.py"),
        "        parts.append((pair + done, heads[which.reshape(-1)], edge))\n",
        "        parts.append((pair + done, pair + done, edge))\n",
        *("synth", "verify,machines", "synth/test_synth.py"),
    ),
    Bug(
        *("braces-green", STEP, "ltl/_braces.py"),
        "[2 * brace + 2 for brace in green]",
        "[2 * brace + 4 for brace in green]",
        *("synth", "deterministic", "ltl/test_deterministic.py"),
    ),
    Bug(
        *("obligation-colours", STEP, "ltl/_obligation.py"),
        "least - (least % 2 != odd) if on_cycle else least",
        "least",
        *("synth", "deterministic", "ltl/test_obligation.py"),
    ),
    Bug(
        *("progression-release", WRONG, "ltl/_progression.py"),
        "store.both(read[1], store.either(read[0], one))",
        "store.both(read[1], one)",
        *("synth", "deterministic", "ltl/test_obligation.py"),
    ),
    Bug(
        *("split-alternatives", WRONG, "synth/_split.py"),
        "return TRUE if core == TRUE else either([*rest, core])",
        "return core",
        *("synth", "parts", "synth/test_decomposition.py"),
    ),
    Bug(
        *("split-groups", FORGETS, "synth/_split.py"),
        "groups.append(names.union(*touched))",
        "groups.append(names)",
        *("synth", "parts", "synth/test_decomposition.py"),
    ),
    Bug(
        *("parts-side-by-side", STEP, "synth/_side_by_side.py"),
        "        latch += 2 * len(circuit.following)\n",
        "",
        *("synth", "parts", "synth/test_decomposition.py"),
    ),
    # ---- more than parity ---------------------------------------------------------
    Bug(
        *("tree-next-child", STEP, "zielonka_tree.py"),
        "after = below[(self.place[came] + 1) % len(below)]",
        "after = below[self.place[came]]",
        *("emersonlei", "host,verify", "emersonlei/test_emersonlei.py"),
    ),
    Bug(
        *("verify-machine", FORGETS, "emersonlei/host/_verify.py"),
        "    for player in (0, 1):\n        condition",
        "    for player in (0,):\n        condition",
        *("emersonlei", "verify", "emersonlei/test_emersonlei.py"),
    ),
    Bug(
        *("verify-energyparity-region", FORGETS, "energyparity/host/_verify.py"),
        "    _refuse(Reason.STRATEGY_LEAVES_REGION, leaves, vertex)\n",
        "    del leaves\n",
        *("energyparity", "verify", "energyparity/test_energyparity.py"),
    ),
    Bug(
        *("verify-upper", FORGETS, "discounted/host/_verify.py"),
        "        (1, upper, Reason.UPPER_NOT_SECURED),\n",
        "",
        *("discounted", "verify", "discounted/test_discounted.py"),
    ),
    # ---- equivalences -------------------------------------------------------------
    Bug(
        *("notion-traces", WRONG, "equivalence/_notions.py"),
        *('"traces": (3, 1, 0, 0, 0, 0)', '"traces": (1, 1, 0, 0, 0, 0)'),
        *("equivalence", "compare,spectrum", "equivalence/test_notions.py"),
    ),
    Bug(
        *("notion-revivals", WRONG, "equivalence/_notions.py"),
        *('"revivals": (3, 2, 1, 0, 1, 1)', '"revivals": (3, 2, 0, 0, 1, 1)'),
        *("equivalence", "compare,spectrum", "equivalence/test_notions.py"),
    ),
    Bug(
        *("game-negative", WRONG, "equivalence/_game.py"),
        '    (("min", 4), 0, 0, 0, 0, -1),\n',
        '    (("min", 4), 0, 0, 0, 0, 0),\n',
        *("equivalence", "compare,formulas", "equivalence/test_compare_processes.py"),
    ),
]


def misfit(bug: Bug, root: Path = ROOT) -> str | None:
    """Why a bug cannot be planted, or None."""
    path = root / "jaxgames" / bug.file
    count = path.read_text().count(bug.old) if path.is_file() and bug.old else 0
    if count == 1:
        return None
    return f"{bug.name}: its old text occurs {count} times in {bug.file}, not once"


def plant(bug: Bug, root: Path) -> None:
    """Writes a bug into a copy of the checkout."""
    path = root / "jaxgames" / bug.file
    path.write_text(path.read_text().replace(bug.old, bug.new))


def copied(folder: Path) -> Path:
    """A copy of the checkout, with machine code that was compiled there."""
    root = folder / "copy" / "checkout"
    root.mkdir(parents=True)
    for name in ("jaxgames", "tests", "benchmarks", "examples"):
        shutil.copytree(ROOT / name, root / name)
    for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md", "README.md"):
        shutil.copy2(ROOT / name, root / name)
    data = ROOT.parent / "shared"
    if data.is_dir():
        (root.parent / "shared").symlink_to(data)
    return root


def outcome(command: list[str], root: Path, seconds: float) -> str:
    """What became of a command: killed by it, survived, or out of time."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    process = subprocess.Popen(
        command,
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(seconds)
        # Others say that something could not be begun.
        return {0: "survived", 1: "killed"}.get(code, f"error {code}")
    except subprocess.TimeoutExpired:
        return "no end"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Found(NamedTuple):
    """What fuzzer and tests said of a bug."""

    bug: Bug
    fuzzer: str
    tests: str
    seconds: float

    @property
    def killed(self) -> bool:
        """Whether one of them saw it."""
        return "killed" in (self.fuzzer, self.tests)


def complaint(folder: Path) -> str:
    """What the fuzzer says in the file of a case that it has written."""
    files = list(folder.glob("fuzz-*.py"))
    return files[0].read_text().split('"""')[1] if files else "nothing"


def judge(bug: Bug, args: argparse.Namespace) -> Found:
    """Plants a bug, and runs both on it."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        root = copied(Path(folder))
        plant(bug, root)
        fuzz = [sys.executable, "-m", "jaxgames.testing", "--slices", bug.slice]
        fuzz += ["--solvers", bug.checks, "--seconds", f"{args.seconds:g}"]
        fuzz += ["--limit", f"{args.limit:g}", "--shrink", "0", "--output", folder]
        fuzzer = tests = "not run"
        if args.by != "tests":
            fuzzer = outcome(fuzz, root, args.seconds + args.grace)
            late = fuzzer == "killed" and "did not end" in complaint(Path(folder))
            if late and bug.kind != ENDLESS:
                # On a machine that has much to do, what ends may seem not to.
                fuzz += ["--limit", f"{PATIENCE * args.limit:g}"]
                fuzzer = outcome(fuzz, root, args.seconds + args.grace)
        if args.by != "fuzzer" and not (args.first and fuzzer == "killed"):
            test = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0"]
            test += ["-p", "no:cacheprovider", f"tests/{bug.tests}"]
            tests = outcome(test, root, args.seconds + args.grace)
    return Found(bug, fuzzer, tests, time.perf_counter() - began)


def main(argv: list[str] | None = None) -> int:
    """Runs the command; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.planted_bugs", description=__doc__, allow_abbrev=False
    )
    add = parser.add_argument
    add("--only", metavar="A,B", help="names of bugs, or of slices")
    add("--jobs", type=int, default=1, metavar="N", help="bugs at the same time")
    add("--seconds", type=float, default=60, help="for fuzzer and tests, each")
    add("--grace", type=float, default=120, help="more, to begin and to compile")
    add("--limit", type=float, default=5, help="of a check, see the fuzzer")
    add("--by", choices=["both", "fuzzer", "tests"], default="both")
    add("--first", action="store_true", help="no tests where the fuzzer has killed")
    add("--list", action="store_true", help="name all bugs")
    args = parser.parse_args(argv)
    wanted = None if args.only is None else set(args.only.split(","))
    bugs = [b for b in BUGS if wanted is None or wanted & {b.name, b.slice}]
    if args.list:
        for bug in bugs:
            print(f"{bug.name:<26}{bug.slice:<14}{bug.kind}")
        return 0
    misfits = [said for bug in bugs if (said := misfit(bug))]
    if misfits or not bugs:
        print("\n".join(misfits) or f"no bug is called {args.only}")
        return 2
    print(f"{'bug':<26}{'slice':<14}{'fuzzer':<10}{'tests':<10}seconds")
    with ThreadPoolExecutor(args.jobs) as pool:
        found = []
        for each in pool.map(lambda bug: judge(bug, args), bugs):
            found.append(each)
            row = f"{each.bug.name:<26}{each.bug.slice:<14}{each.fuzzer:<10}"
            print(f"{row}{each.tests:<10}{each.seconds:.0f}", flush=True)
    killed = sum(each.killed for each in found)
    by_fuzzer = sum(each.fuzzer == "killed" for each in found)
    by_tests = sum(each.tests == "killed" for each in found)
    print(
        f"{killed} of {len(found)} killed: "
        f"{by_fuzzer} by the fuzzer, {by_tests} by tests"
    )
    return 0 if killed == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
