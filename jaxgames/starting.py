"""Ctrl-C while the command starts: it ends the process, and prints no traceback.

The package imports this module first. Before that, Python itself takes some hundredths
of a second to start, and prints a traceback in them.
"""

# What the module `signal` is made of; that one takes some milliseconds to import.
import _signal as signal  # type: ignore
import os
import sys


def is_command() -> bool:
    """Whether this process was started as `jaxgames`, or as `python -m jaxgames`."""
    began = getattr(sys, "orig_argv", ())[-len(sys.argv or [""]) :]
    if not began or sys.argv[0] not in ("-m", began[0]):
        return False  # somebody has changed the arguments
    name = os.path.basename(began[0]).removesuffix(".exe")
    return name in ("jaxgames", "-mjaxgames")


def end_silently() -> None:
    """Has Ctrl-C end the process at once, until somebody listens to it."""
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    except ValueError:  # only the main thread may say what a signal does
        pass
