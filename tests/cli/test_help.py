"""Help of the commands: what it lists, and what it does not import."""

import json
import subprocess
import sys

import pytest
from tests.cli.commands import arguments, duramen

from duramen.cli.app import COMMANDS
from duramen.cli.parameters import EVERYDAY, EVERYDAY_OF_ALL, option_names

SCREEN = 45  # lines that a reader takes in at once, on a terminal of 80 columns
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


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen_and_has_the_everyday_options(command, monkeypatch):
    """Each option has one of its names, and `--help-all` is named for the rest."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = duramen(command, "--help").stdout.splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 80
    shown = {line.split()[0] for line in lines if line.startswith("  -")}
    taken = {name for option in arguments(command) for name in option.names}
    wanted = {option_names(name)[-1] for name in EVERYDAY[command]}
    assert shown == wanted & taken | {"--example", "--help-all"}
    assert wanted - taken <= {option_names(name)[-1] for name in EVERYDAY_OF_ALL}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_full_help_has_every_option_with_its_description(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = " ".join(duramen(command, "x.csv", "--help-all").stdout.split())
    for option in arguments(command):
        assert option.name in text
        assert " ".join(option.parameter.help.split()) in text
        assert all(choice in text for choice in option.get_choices() or ())


def test_choices_of_measures_and_tests_stand_below_their_options(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = duramen("rank", "--help").stdout.splitlines()
    for option, first in (("--measure", "mdi, mdi-oob"), ("--test", "auto, none, max-t")):
        (place,) = [i for i, line in enumerate(lines) if line.startswith(f"  {option} ")]
        assert lines[place + 1].startswith(f"      {first}")


def test_help_of_the_program_sets_advanced_commands_apart():
    text = duramen("--help").stdout
    commands, advanced = text.partition("Advanced:")[::2]
    advanced = advanced.partition("Help:")[0]
    named = {name for name in COMMANDS if f"\n  {name} " in advanced}
    assert named == {"exact", "plan"}
    assert all(f"\n  {name} " in commands for name in {*COMMANDS} - named)
