"""Help of the commands: what it lists, and what it does not import."""

import json
import subprocess
import sys

import pytest
from tests.cli.commands import duramen

from duramen.cli.app import ANALYSES

COMMANDS = ["rank", "exact", "plan", "context", "pack", "select", "compare"]
# Each takes from 0.1 to 0.6 s to import.
HEAVY = {"sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "jinja2"}
CODE = """
import contextlib, io, json, sys
from duramen.cli import main
imported = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["duramen", *words, "--help"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    imported.append(list(sys.modules))
print(json.dumps(imported))
"""


@pytest.fixture(scope="module")
def imported():
    """What is imported after the help of one command after the other, in one process."""
    shown = [[], *([name] for name in COMMANDS if name not in ANALYSES)]
    ended = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(shown)], capture_output=True, text=True, check=True
    )
    modules = json.loads(ended.stdout)
    return {" ".join(words): set(names) for words, names in zip(shown, modules, strict=True)}


@pytest.mark.parametrize("words", ["", *(name for name in COMMANDS if name not in ANALYSES)])
def test_help_imports_nothing_that_is_slow(words, imported):
    """Commands that are made from functions import these."""
    assert "duramen.cli.app" in imported[words]
    assert imported[words] & HEAVY == set()
    if words == "":
        assert "numpy" not in imported[words]


@pytest.mark.smoke
@pytest.mark.parametrize("name", [*COMMANDS, "network"])
def test_all_commands_have_the_common_options(name):
    shown = duramen(name, "--help").stdout
    assert all(f" {option}" in shown for option in ("--out", "--quiet", "--spreadsheet-s"))
