"""Büchi automata as never claims, as SPIN has them.

    never { /* !G(p -> F q) */
    T0_init:
      do
      :: (p && !q) -> goto accept_S1
      :: (true) -> goto T0_init
      od;
    accept_S1:
      if
      :: (!q) -> goto accept_S1
      fi;
    }

The first statement is the initial state, and a label that begins with `accept` makes a
state accepting. As SPIN sees it, a claim that comes to its end, or to an assertion that
fails, has found what should never be: it accepts whatever follows.

References:
    Holzmann, The SPIN Model Checker, 2003, and its manual pages *never* and *accept*,
    https://spinroot.com/spin/Man/never.html.
"""

import numpy as np

from jaxgames.io import _never
from jaxgames.io._files import FilePath, write_text
from jaxgames.io._tokens import read_text
from jaxgames.ltl import Automaton
from jaxgames.quoting import quoted

HOLDS = Automaton
"""What `load` returns and `save` takes."""


def load(path: FilePath) -> Automaton:
    """Reads a never claim.

    Understood are `if`, `do`, `goto`, `skip`, `break`, `else`, `false` and guards made
    of names, `!`, `&&`, `||` and constants; `atomic { (g) -> assert(!(g)) }`, which
    SPIN writes for a goal that is reached, leads to a state that accepts everything.

    Args:
        path: the file; decompressed if it ends in `.gz`, `.bz2` or `.xz`.

    Returns:
        An automaton with accepting states, one for each statement that can be reached,
        in their order; its propositions are in the order of their appearance.

    Raises:
        FormatError: the file is something else; tells the line and the column.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> from jaxgames import ltl
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.never")
        >>> save(path, ltl.translate("F G p"))
        >>> load(path)
        Automaton(2 states, 3 edges, 1 acceptance set, propositions p)
    """
    return _never.claim(path, read_text(path))


def loads(text: str) -> Automaton:
    """Reads a never claim from a text, as `load` from a file."""
    return _never.claim("<text>", text)


def save(path: FilePath, automaton: Automaton) -> None:
    """Writes an automaton as a never claim, as `dumps` does.

    Args:
        path: the file, replaced when all is written; compressed if it ends in `.gz`,
            `.bz2` or `.xz`.
        automaton: the automaton.

    Raises:
        ValueError: a proposition's name is none in Promela.
        OSError: the file cannot be written.
    """
    write_text(path, dumps(automaton))


def dumps(automaton: Automaton) -> str:
    """The text of an automaton as a never claim.

    Acceptance that is generalised or that of edges is turned into that of states; for
    several initial states there is one more, with the edges of all.

    Raises:
        ValueError: a proposition's name is none in Promela.

    Examples:
        >>> from jaxgames import ltl
        >>> print(dumps(ltl.translate("F G p")))
        never { /* F G p */
        T0_init:
          if
          :: (p) -> goto accept_S1
          :: (true) -> goto T0_init
          fi;
        accept_S1:
          if
          :: (p) -> goto accept_S1
          fi;
        }
        <BLANKLINE>
    """
    for name in automaton.propositions:
        if not _never.is_name(name):
            raise ValueError(
                f"proposition {quoted(name)} has no name of Promela: letters, digits "
                "and underscores, and not a word of the language"
            )
    automaton = automaton.degeneralise()
    accepting = automaton.accepting
    states = [q for q in range(automaton.num_states) if q not in automaton.initial]
    names = {q: f"{'accept' if accepting[q] else 'T0'}_S{q}" for q in states}
    starts = [int(q) for q in automaton.initial]
    if len(starts) == 1:
        names = {
            starts[0]: f"{'accept' if accepting[starts[0]] else 'T0'}_init"
        } | names
        rows = [(name, [q]) for q, name in names.items()]
    else:
        names |= {q: f"{'accept' if accepting[q] else 'T0'}_S{q}" for q in starts}
        rows = [("T0_init", starts), *((names[q], [q]) for q in sorted(names))]
    comment = automaton.name.replace("*/", "* /").replace("/*", "/ *")
    lines = [f"never {{ /* {comment} */" if comment else "never {"]
    for name, sources in rows:
        edges = [e for q in sources for e in np.flatnonzero(automaton.sources == q)]
        lines.append(f"{name}:")
        if not edges:
            lines.append("  false;")
            continue
        options = [
            f"  :: {_guard(automaton, int(e))} -> goto {names[int(r)]}"
            for e, r in zip(edges, automaton.targets[np.array(edges)], strict=True)
        ]
        lines += ["  if", *options, "  fi;"]
    return "\n".join([*lines, "}", ""])


def _guard(automaton: Automaton, edge: int) -> str:
    cubes = []
    for must, never in automaton.guard(edge):
        literals = [
            "!" * (never >> i & 1) + name
            for i, name in enumerate(automaton.propositions)
            if (must | never) >> i & 1
        ]
        cubes.append(" && ".join(literals) or "true")
    if len(cubes) == 1:
        return f"({cubes[0]})"
    return "(" + " || ".join(f"({cube})" for cube in cubes) + ")"
