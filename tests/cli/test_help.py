"""Help of the commands: what it lists, and what it does not import."""

import json
import subprocess
import sys

import pytest

# Each takes from 0.03 to 0.9 s to import.
HEAVY = {"numpy", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "jinja2", "narwhals"}
CODE = """
import contextlib, io, json, sys
from duramen.cli import main
sys.argv = ["duramen", *sys.argv[1:]]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(json.dumps(list(sys.modules)))
"""


@pytest.mark.smoke
@pytest.mark.parametrize(("command", "needed"), [([], set()), (["rank"], {"numpy"})])
def test_help_imports_nothing_that_is_slow(command, needed):
    """The analyses, from which commands are made, import the rest in the steps that need it."""
    words = [sys.executable, "-c", CODE, *command, "--help"]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    imported = set(json.loads(ended.stdout))
    assert "duramen.cli.app" in imported
    assert imported & HEAVY == needed
