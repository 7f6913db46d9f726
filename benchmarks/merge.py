"""Adds results files that were measured elsewhere, or in parts, to the ones here.

    python -m benchmarks.merge FILE ... [--into FOLDER]

A measurement that is there already is replaced, so files are to be named in the order
in which they were measured.
"""

import argparse
from pathlib import Path

from benchmarks import schema


def main(arguments: list[str] | None = None) -> None:
    """Merges the files named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--into", type=Path, default=schema.RESULTS, metavar="FOLDER")
    args = parser.parse_args(arguments)
    for file in args.files:
        newer = schema.Results.load(file)
        results = schema.Results.begin(newer, args.into)
        if results is not newer:
            results.absorb(newer)
        print(f"written: {results.save(args.into)}")


if __name__ == "__main__":
    main()
