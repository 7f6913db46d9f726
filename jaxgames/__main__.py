"""`python -m jaxgames` is the command `jaxgames`."""

import sys

from jaxgames.cli import main

if __name__ == "__main__":
    sys.exit(main())
