"""The command `duramen`: parse, call, write, exit code."""

import io
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):  # names of features need not fit the terminal
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        from duramen.cli.app import app

        app(prog_name="duramen")
    except KeyboardInterrupt:
        sys.stderr.write("duramen: interrupted\n")
        sys.exit(INTERRUPTED)
