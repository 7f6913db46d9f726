"""Builds a model from a PRISM source by Storm, in a process of its own.

    python -m benchmarks.storm SOURCE CONSTANTS FILE.npz

The constants are those of PRISM's command line, such as `K=2,N=1000`. Written are the
arrays of the model, under the names of `mdp.MDP`'s, and `build_s`, the seconds that
Storm took: from the source to the model in memory.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def build(source: Path, constants: str, target: Path) -> None:
    """Builds a model, and writes its arrays.

    Args:
        source: a file in the PRISM language.
        constants: values for its undefined constants.
        target: the file to write, replaced when all is written.

    Raises:
        ImportError: stormpy is not installed.
        RuntimeError: Storm does not take the source.
    """
    import stormpy

    from jaxgames.io import umb

    began = time.perf_counter()
    program = stormpy.io.parse_prism_program(str(source))
    program, _ = stormpy.io.instantiate_constants(program, constants)
    model = stormpy.build_model(program, options=stormpy.BuilderOptions())
    build_s = time.perf_counter() - began
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        file = Path(folder, "model.umb")
        options = stormpy.io.UmbExportOptions()
        options.compression = stormpy.io.CompressionMode.NO_COMPRESSION
        stormpy.io.export_to_umb(model, str(file), options=options)
        del model, program
        made = umb.load(file)
        whole = Path(folder, "model.npz")
        np.savez(
            whole,
            row_group_offsets=made.row_group_offsets,
            row_offsets=made.row_offsets,
            columns=made.columns,
            probs=made.probs,
            initial_states=made.initial,
            build_s=build_s,
        )
        whole.replace(target)


if __name__ == "__main__":
    build(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
