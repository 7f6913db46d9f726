"""Games, graphs and models in files, in the format that suffix or content tell.

| suffix | module | holds |
|---|---|---|
| `.pg`, `.gm`, `.pgsolver` | [`pgsolver`][jaxgames.io.pgsolver] | a parity game |
| `.energy`, `.eg` | [`energy`][jaxgames.io.energy] | an energy game |
| `.mpg` | [`mpg`][jaxgames.io.mpg] | an energy game |
| `.eparity` | [`eparity`][jaxgames.io.eparity] | an energy parity game |
| `.npz` | [`npz`][jaxgames.io.npz] | any arena, a system, or a product |
| `.kripke` | [`kripke`][jaxgames.io.kripke] | a system |
| `.mtx` | [`matrix_market`][jaxgames.io.matrix_market] | a graph |
| `.aut` | [`aut`][jaxgames.io.aut] | a labelled transition system |
| `.csv` | [`lts_csv`][jaxgames.io.lts_csv] | a labelled transition system |
| `.dot` | [`lts_dot`][jaxgames.io.lts_dot] | a labelled transition system |
| `.umb` | [`umb`][jaxgames.io.umb] | a Markov decision process |
| `.drn` | [`drn`][jaxgames.io.drn] | a Markov decision process |
| `.tra` | [`prism`][jaxgames.io.prism] | a Markov decision process |
| `.prism`, `.pm`, `.nm`, `.sm` | [`program`][jaxgames.io.program] | the same |
| `.hoa` | [`hoa`][jaxgames.io.hoa] | an automaton |
| `.never` | [`never`][jaxgames.io.never] | a Büchi automaton |
| `.ehoa` | [`ehoa`][jaxgames.io.ehoa] | a specification of a controller |
| `.tlsf` | [`tlsf`][jaxgames.io.tlsf] | a specification of a controller |
| `.aag`, `.aig` | [`aiger`][jaxgames.io.aiger] | a controller |
| `.txt` | [`scheduler`][jaxgames.io.scheduler] | a scheduler, by its module alone |

A second suffix has a file written compressed: `.gz`, `.bz2` or `.xz`; not for `.npz`.
Reading goes by what a file begins with, whatever its suffix.

Where the suffix says nothing, what the text begins with tells the format of a file that
is read; and `format=`, a suffix without its dot, says it whatever there is. A suffix
that is known is believed: content of another format is an error, never read by a guess.
What can be read once only, such as `/dev/stdin` or another pipe, is read like a file,
and kept meanwhile.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Unpack

from jaxgames import later
from jaxgames.arena import Arena, Condition
from jaxgames.io import _formats, _sources
from jaxgames.io._errors import FormatError as FormatError
from jaxgames.io._files import FilePath
from jaxgames.io._files import OutputError as OutputError
from jaxgames.io._formats import FORMATS as FORMATS
from jaxgames.io._limits import Limits as Limits
from jaxgames.io._limits import OversizeError as OversizeError
from jaxgames.io._limits import limited as limited
from jaxgames.limits import Bounds
from jaxgames.limits import limited as bounded
from jaxgames.quoting import quoted

if TYPE_CHECKING:
    from jaxgames.io import aiger as aiger
    from jaxgames.io import aut as aut
    from jaxgames.io import drn as drn
    from jaxgames.io import ehoa as ehoa
    from jaxgames.io import energy as energy
    from jaxgames.io import eparity as eparity
    from jaxgames.io import hoa as hoa
    from jaxgames.io import hoa_game as hoa_game
    from jaxgames.io import kripke as kripke
    from jaxgames.io import lts_csv as lts_csv
    from jaxgames.io import lts_dot as lts_dot
    from jaxgames.io import matrix_market as matrix_market
    from jaxgames.io import mpg as mpg
    from jaxgames.io import never as never
    from jaxgames.io import npz as npz
    from jaxgames.io import pgsolver as pgsolver
    from jaxgames.io import prism as prism
    from jaxgames.io import program as program
    from jaxgames.io import scheduler as scheduler
    from jaxgames.io import tlsf as tlsf
    from jaxgames.io import umb as umb
    from jaxgames.io.aut import LTS as LTS
    from jaxgames.io.pgsolver import load_solution as load_solution
    from jaxgames.io.pgsolver import save_solution as save_solution
    from jaxgames.ltl import Automaton
    from jaxgames.mdp import MDP
    from jaxgames.systems import System

__getattr__, __dir__ = later.exports(__name__)


@bounded()
def load(
    path: FilePath,
    *,
    condition: Condition = "max even",
    dead_ends: Literal["error", "lose", "allow"] | None = None,
    format: str | None = None,
    limits: Limits | None = None,
    **bounds: Unpack[Bounds],
) -> "Arena | MDP | LTS | System | Automaton":
    """Reads a game, a graph or a model from a file.

    Args:
        path: the file; also a pipe, such as `/dev/stdin`.
        condition: what the priorities in a game's text mean, for a text that does not
            say; the arena's are max even. See
            [`Arena.from_edges`][jaxgames.Arena.from_edges].
        dead_ends: what to do with a vertex of a game that has no successor, likewise;
            by default it is an error. In graphs they are allowed.
        format: which format the file has: a suffix without its dot, such as `"pg"`. By
            default the suffix says it, or where that says nothing the content.
        limits: what reading may take; by default as much as a file of that length can
            ask for in good faith, see [`Limits`][jaxgames.io.Limits].
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        What the format holds: an arena for games and graphs (`.pg`, `.energy`, `.npz`,
        ...), without the [`names`][jaxgames.io.names] of vertices, an
        [`MDP`][jaxgames.mdp.MDP] for `.umb`, `.drn`, `.tra` and `.prism`, an
        [`LTS`][jaxgames.io.LTS] for `.aut`, `.csv` and `.dot`, an
        [`Automaton`][jaxgames.ltl.Automaton] for `.hoa` and `.never`, an
        [`EmersonLei`][jaxgames.ltl.EmersonLei] automaton for a `.hoa` with `Fin`, a
        [`Specification`][jaxgames.synth.Specification] for `.ehoa` and `.tlsf`, a
        [`Controller`][jaxgames.synth.Controller] for `.aag` and `.aig`.

    Raises:
        FormatError: neither the suffix nor the content tells the format, or the file is
            not what it says; tells the file, the line or the member of the archive,
            what was expected and what was found, and of which format it seems to be.
        OversizeError: the file asks for more than the limits grant; a FormatError.
        ValueError: a condition or dead ends for a file that holds no game, or there
            is no such format.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> from jaxgames import Arena, io
        >>> path = pathlib.Path(tempfile.mkdtemp(), "game.pg.gz")
        >>> arena = Arena.from_edges([0, 1], [1, 1], owner=[0, 1], priority=[3, 2])
        >>> io.save(path, arena)
        >>> io.load(path)
        Arena(2 vertices, 2 edges, priority)
        >>> io.load(path.rename(path.with_name("game")))
        Arena(2 vertices, 2 edges, priority)
    """
    with limited(limits), _sources.kept():
        form, suffix = _formats.of(path, format)
        with _formats.hinting(path, suffix):
            return _loaded(form, suffix, path, condition, dead_ends)


def _loaded(
    form: ModuleType, suffix: str, path: FilePath, condition: Any, dead_ends: Any
) -> Any:
    if not hasattr(form, "HOLDS"):
        return form.load(path, condition=condition, dead_ends=dead_ends or "error")
    if condition != "max even" or dead_ends == "lose":
        raise ValueError(
            f"conditions and dead ends are for games, and {suffix} files hold none"
        )
    return form.load(path)


@bounded()
def save(
    path: FilePath,
    what: "Arena | MDP | LTS | System | Automaton",
    *,
    condition: Condition = "max even",
    names: Sequence[str | None] | None = None,
    format: str | None = None,
    **bounds: Unpack[Bounds],
) -> None:
    """Writes a game, a graph or a model to a file, all of it or nothing.

    Padding is left out.

    Args:
        path: the file.
        what: what to write.
        condition: what the priorities in a game's text shall mean.
        names: what a game's vertices are called, as from [`names`][jaxgames.io.names].
        format: which format it shall have: a suffix without its dot, such as `"pg"`; by
            default that of the file.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Raises:
        FormatError: the suffix is unknown.
        ValueError: the format cannot hold this, or there is none of that name.
        OSError: the file cannot be written.

    Warns:
        UserWarning: something is left out, such as names in formats without; says what.
    """
    form, suffix = _formats.of_output(path, format)
    named = sum(name is not None for name in names or ())
    more: dict[str, Any] = {"names": names} if named and hasattr(form, "names") else {}
    if named and not more:
        why = f"{suffix} files hold none, .pg and .mpg do"
        from jaxgames.io import _models

        _models.say_left_out(path, [f"the names of {named} vertices"], why)
    holds = getattr(form, "HOLDS", Arena)
    if not isinstance(what, (holds, *getattr(form, "HOLDS_TOO", ()))):
        raise ValueError(
            f"{suffix} files hold an object of class {holds.__name__}, got "
            f"{quoted(what)}"
        )
    if not hasattr(form, "HOLDS"):
        return form.save(path, what, condition=condition, **more)
    if condition != "max even":
        raise ValueError(f"conditions are for games, and {suffix} files hold none")
    return form.save(path, what)


@bounded()
def names(
    path: FilePath,
    arena: Arena | None = None,
    *,
    format: str | None = None,
    **bounds: Unpack[Bounds],
) -> list[str | None] | None:
    """Reads what the vertices of a game are called, which an arena does not hold.

    Args:
        path: the file.
        arena: the game in it, if `load` has read it.
        format: as for `load`.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A name for each vertex, or None for one without; None where the format has no
        names, which are all but `.pg` and `.mpg`.

    Raises:
        FormatError: nobody knows the format, or the file does not hold a game.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> from jaxgames import io
        >>> path = pathlib.Path(tempfile.mkdtemp(), "game.pg")
        >>> _ = path.write_text('parity 1; 0 3 0 0,1 "start"; 1 2 1 0;')
        >>> io.names(path)
        ['start', None]
        >>> io.save(path.with_suffix(".pg.gz"), io.load(path), names=io.names(path))
    """
    with _sources.kept():
        form, _ = _formats.of(path, format)
        return form.names(path, arena) if hasattr(form, "names") else None


@bounded()
def format_of(
    path: FilePath, *, format: str | None = None, **bounds: Unpack[Bounds]
) -> str:
    r"""Tells which format a file has, as `load` would read it.

    Args:
        path: the file.
        format: as for `load`; it is returned if there is such a format.
        bounds: `deadline`, `progress`, `memory`: see [`limits`][jaxgames.limits].

    Returns:
        A suffix without its dot, such as `"pg"`.

    Raises:
        FormatError: neither the suffix nor the content tells it.
        ValueError: there is no such format.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "vending")
        >>> _ = path.write_text('des (0, 1, 2)\n(0,"coin",1)\n')
        >>> format_of(path)
        'aut'
    """
    with _sources.kept():
        return _formats.of(path, format)[1][1:]
