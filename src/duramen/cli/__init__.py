"""The command `duramen`: parse, call, write, exit code."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    try:
        from duramen.cli.app import app

        app(prog_name="duramen")
    except KeyboardInterrupt:
        sys.stderr.write("duramen: interrupted\n")
        sys.exit(INTERRUPTED)
