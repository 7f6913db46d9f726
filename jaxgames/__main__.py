"""`python -m jaxgames` is the command `jaxgames`."""

import sys

from jaxgames import starting


def main() -> int:
    """Runs the command that the process was started for."""
    starting.end_silently()  # where the command has another name
    from jaxgames import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
