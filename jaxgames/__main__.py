"""`python -m jaxgames` is the command `jaxgames`."""

import signal
import sys


def main() -> int:
    """Runs the command that the process was started for."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until the command listens, Ctrl-C ends it without Python's traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from jaxgames import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
