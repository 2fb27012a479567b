"""Help of the commands: what it lists, and what it does not import."""

import subprocess
import sys

import pytest
from tests.cli.commands import duramen

COMMANDS = ["rank", "exact", "plan", "context", "pack", "select", "compare"]
# Each takes from 0.1 to 0.6 s to import.
HEAVY = {"sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "jinja2"}
CODE = """
import contextlib, io, sys
from duramen.cli import main
sys.argv = ["duramen", *sys.argv[1:], "--help"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(*sys.modules)
"""


@pytest.mark.parametrize("words", [[], *([name] for name in COMMANDS)])
def test_help_imports_nothing_that_is_slow(words):
    ended = subprocess.run(
        [sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=True
    )
    imported = set(ended.stdout.split())
    assert "duramen.cli.app" in imported
    assert imported & HEAVY == set()
    if words in ([], ["plan"]):  # that of pack lists the catalogue of file formats
        assert "numpy" not in imported


@pytest.mark.parametrize("name", [*COMMANDS, "network"])
def test_all_commands_have_what_they_share(name):
    shown = duramen(name, "--help").stdout
    assert all(f" {option}" in shown for option in ("--out", "--quiet", "--spreadsheet-s"))
