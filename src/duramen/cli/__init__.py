"""Command line `duramen`: parse, call, write, exit code."""

import gc
import io
import os
import sys
from typing import NoReturn

from duramen.cli.ending import (
    INTERRUPTED,
    USER_ERROR,
    Stopped,
    out_of_memory,
    stopped_by_signals,
)
from duramen.support.threads import addresses_left

_FEW_ADDRESSES = 1 << 30  # bytes


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):  # names of features need not fit the terminal
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    left = addresses_left()
    if left is not None and left < _FEW_ADDRESSES:
        # OpenBLAS takes memory for each of its threads as NumPy is imported, or ends the process.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Modules make many objects that stay; to look for garbage among them again and again takes a
    # tenth of the time of a short command.
    gc.set_threshold(100_000)
    try:
        with stopped_by_signals():
            from duramen.cli.app import run

            run(sys.argv[1:])
    except KeyboardInterrupt as stopped:
        _end(stopped)
    except SystemExit:
        # Python run with -m ends by SIGINT, whatever its code, if Ctrl-C came while it executed
        # text, as definitions of dataclasses do, and it executed none since.
        exec("")
        raise
    except Exception as error:
        if not out_of_memory(error):
            raise
        sys.stderr.write(f"duramen: out of memory ({type(error).__name__})\n")
        sys.exit(USER_ERROR)


def _end(stop: KeyboardInterrupt) -> NoReturn:
    """End the process where a signal came before a command began, or after it ended."""
    by_name = f"stopped by {stop.signal.name}" if isinstance(stop, Stopped) else "interrupted"
    sys.stderr.write(f"duramen: {by_name}\n")
    sys.exit(128 + stop.signal if isinstance(stop, Stopped) else INTERRUPTED)
