"""Markov decision processes as UMB files, the unified Markov binary format.

A file is a tar archive, compressed or not, of an index in JSON and of arrays as they
lie in memory: Storm, PRISM and others write and read it, and there is nothing to parse.

What is read are Markov decision processes, Markov chains (one choice in each state) in
steps or in continuous time, transition systems without probabilities, and stochastic
games, which have several players and are a [`Game`][jaxgames.mdp.Game]; probabilities
may be doubles, quotients, or intervals of them, exit rates doubles or quotients. What
is kept of them: initial states, atomic propositions of states (as labels), names of the
choices' actions, rewards of states, choices and branches, and the values of variables
in the states. A reward model without a name has the empty name here, and in the file
the identifier `default` and no alias. Whatever else is there is left out with a
warning: actions of branches, other annotations, other valuations, rewards that are
intervals; what the index says about authors and programs is left out without one.
Markov automata, other models with choices in continuous time, and observations are
refused.

In a game each state has a player there: one without choices that is nobody's is written
as player 0's. Names of players are left out.

References:
    UMB: unified Markov binary format, specification. https://pmc-tools.github.io/umb
"""

import dataclasses
import io
import tarfile

from jaxgames.io import _models
from jaxgames.io._files import FilePath, writing
from jaxgames.io._umb_read import Archive
from jaxgames.io._umb_write import members
from jaxgames.mdp import MDP, Game

HOLDS = MDP
"""What `load` returns and `save` takes."""

HOLDS_TOO = (Game,)
"""What they return and take as well: stochastic games."""


def load(path: FilePath) -> MDP | Game:
    """Reads a model, or a stochastic game.

    Args:
        path: the file; a tar archive, plain or compressed by gzip, xz or bzip2.

    Returns:
        The model; `initial` is empty where the file says that no state is initial.

    Raises:
        FormatError: the file is something else, or holds a model of another type; tells
            the member of the archive.
        OSError: the file cannot be read.

    Examples:
        >>> import pathlib, tempfile
        >>> from jaxgames import mdp
        >>> path = pathlib.Path(tempfile.mkdtemp(), "small.umb")
        >>> save(path, mdp.MDP.from_arrays([0, 1], [0, 1], [0], [1], initial=[0]))
        >>> load(path)
        MDP(1 states, 1 choices, 1 branches)
    """
    return Archive(path).model()


def save(path: FilePath, model: MDP | Game) -> None:
    """Writes a model or a game; padding is left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in
            `.umb.gz`, `.umb.xz` or `.umb.bz2`.
        model: what to write.

    Raises:
        ValueError: the model has no states, or a choice has several labels.
        OSError: the file cannot be written.
    """
    if isinstance(model, Game):
        bare = _models.without_padding(model.model)
        model = dataclasses.replace(model, model=bare)
    else:
        bare = model = _models.without_padding(model)
    if isinstance(model, Game) and bare.exit_rates is not None:
        raise ValueError("a game in continuous time cannot be written")
    if not bare.num_states:
        raise ValueError("UMB needs at least one state, but there is none")
    with writing(path) as file, tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in members(model).items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
