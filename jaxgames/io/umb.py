"""Markov decision processes as UMB files, the unified Markov binary format.

A file is a tar archive, compressed or not, of an index in JSON and of arrays as they
lie in memory: Storm, PRISM and others write and read it, and there is nothing to parse.

What is read are discrete-time models of one player or none: Markov decision processes,
Markov chains (one choice in each state) and transition systems without probabilities;
probabilities may be doubles, quotients, or intervals of them. What is kept of them:
initial states, atomic propositions of states (as labels), names of the choices'
actions, rewards of states, choices and branches, and the values of variables in the
states. A reward model without a name has the empty name here, and in the file the
identifier `default` and no alias. Whatever else is there is left out with a warning:
actions of branches, other annotations, other valuations, rewards that are intervals;
what the index says about authors and programs is left out without one. Models with
rates, observations or several players are refused.

References:
    UMB: unified Markov binary format, specification. https://pmc-tools.github.io/umb
"""

import io
import tarfile

from jaxgames.io import _models
from jaxgames.io._files import FilePath, writing
from jaxgames.io._umb_read import Archive
from jaxgames.io._umb_write import members
from jaxgames.mdp import MDP

HOLDS = MDP
"""What `load` returns and `save` takes."""


def load(path: FilePath) -> MDP:
    """Reads a model.

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


def save(path: FilePath, model: MDP) -> None:
    """Writes a model; padding is left out.

    Args:
        path: the file, replaced when all is written; compressed if it ends in
            `.umb.gz`, `.umb.xz` or `.umb.bz2`.
        model: what to write.

    Raises:
        ValueError: the model has no states, or a choice has several labels.
        OSError: the file cannot be written.
    """
    model = _models.without_padding(model)
    if not model.num_states:
        raise ValueError("UMB needs a state, there is none")
    with writing(path) as file, tarfile.open(fileobj=file, mode="w") as archive:
        for name, data in members(model).items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
