"""Loops over arrays as machine code: a small part of Python, translated fast.

The sequential engines are plain loops: integers, arrays of them, tuples, and calls of
one another. For that much of Python a translator is small, and what it gives to LLVM is
far less than what a compiler for all of Python and NumPy gives. What an engine takes to
be compiled, and to be loaded from the disk, is measured by the benchmark suite `start`.

What it understands:

- integers, which are words of 64 bits, truth values, floats, None, and tuples of all
  these, named or not; a variable keeps its type;
- arrays that are contiguous, of any number of axes: items, rows, slices without a
  step, `len`, `shape`, `size`, `ndim`, `dtype`, `copy`, `reshape`, `fill`, `sum`, and
  new ones by `np.empty`, `zeros`, `ones`, `full`, `arange`, `empty_like`, `zeros_like`;
- `for` over ranges, arrays and tuples, `while`, `if`, `break`, `continue`, `return`;
- `min`, `max`, `abs`, `len`, `int`, `bool`, and types of NumPy as functions;
- functions of the same kind, which may not call themselves, and global constants;
- `prefetch`, which has an item of an array fetched that is read later.

A function that does anything else has no machine code. What is the same for
all calls with arguments of one kind, such as `x is None` or `x.ndim == 1`, is decided
when the function is translated, and only the branch that is taken has to make sense.

As with numba, sums wrap round at 64 bits, and no index is checked. A constant index and
the ends of a slice may be negative and count from the end. An index that is computed
may not: `check_indices` finds those that are. A division by zero raises, and so does a
lack of memory. New arrays live until their function ends, and those that it returns
until its caller ends.
"""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.native._ahead import prefetch as prefetch
    from jaxgames.native._arrays import check_indices as check_indices
    from jaxgames.native._crew import Crew as Crew
    from jaxgames.native._kept import is_any_kept as is_any_kept
    from jaxgames.native._machine import Program as Program
    from jaxgames.native._machine import can_translate as can_translate

__getattr__, __dir__ = later.exports(__name__)
