"""Numpy, imported so that its linear algebra starts no threads.

OpenBLAS starts one for each core as it is loaded. On 16 cores that takes two seconds of
CPU time, ten times what all else of a small solve takes. Commands multiply no large
matrices. What somebody has set stays as it is, and other programs are not told.
"""

import os

THREADS = "OPENBLAS_NUM_THREADS"

_given = os.environ.get(THREADS)
os.environ[THREADS] = _given or "1"
try:
    import numpy as numpy
finally:
    if _given is None:
        del os.environ[THREADS]
