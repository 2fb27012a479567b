"""Every choice of the command line has a record."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from tests.cli.commands import arguments
from tests.contracts.registry import cases
from tests.grid import one_test
from tests.record.cases import cases as recorded_cases
from tests.record.renames import new_words

import duramen as dm
from duramen.cli.app import COMMANDS
from duramen.cli.parameters import INSTALLED

# Options that say where and how to work, or are part of every case; and those that answer the look
# at the data, which tests/cli/test_first_hour.py gives.
OPTIONS_OF_ALL = {"--jobs", "--n-jobs", "--out", "--quiet", "--help"}
OPTIONS_OF_ALL |= {"--json", "--example", "--top"}  # tests/cli/test_scripts.py
OPTIONS_OF_ALL |= {"--scheduler"}  # tests/cli/test_clusters.py
OPTIONS_OF_ALL |= {"--explain-output"}  # of what is printed, tests/cli/test_show.py
OPTIONS_OF_ALL |= {"--missing"}  # recorded with exact
OPTIONS_OF_ALL |= {"--separator", "--sheet", "--keep-identifiers", "--drop-missing-target"}
OPTIONS_OF_ALL |= {"--date-order"}  # of dates as text
OPTIONS_OF_ALL |= {"--spreadsheet-safe", "--xlsx"}  # of every command, recorded with rank
# Options whose names have cases with another command.
ELSEWHERE = {("exact", "--task"), ("context", "--task")}  # of rank; these refuse survival
ELSEWHERE |= {("compare", "--methods")}  # selectors and measures
ELSEWHERE |= {(name, "--task") for name in ("compare", "select")}  # they refuse survival


def test_measures_of_the_significance_tests_have_cases() -> None:
    forest = dm.RandomForestClassifier(2)
    with pytest.raises(ValueError, match="measure must be one of") as refused:
        dm.significance.altmann(forest, [[0], [1], [0], [1]], [0, 1, 0, 1], measure="?!")
    named = re.findall(r"'(\w+)'", str(refused.value))
    assert "mda" in named
    assert [name for name in named if f"altmann/{name}" not in cases()] == []


@cache
def typed() -> dict[str, list[tuple[str, ...]]]:
    """Return the command lines of the recorded cases, by command."""
    lines: dict[str, list[tuple[str, ...]]] = {name: [] for name in COMMANDS}
    for case in recorded_cases().values():
        if case.words:
            lines[case.words[0]].append(tuple(new_words(case.words[1:], case.words[0])))
    return lines


@cache
def options(command: str) -> dict[str, Any]:
    """Return the options of a command by each of their names, but for those of every command."""
    return {
        name: argument
        for argument in arguments(command)
        if argument.names[0].startswith("--") and not OPTIONS_OF_ALL & {*argument.names}
        for name in argument.names
    }


def choices(command: str, option: str) -> tuple[str, ...]:
    """Return the values that an option can have."""
    return options(command)[option].get_choices(force=True) or ()


def defaulted(argument: Any) -> str | None:
    """Return the value of an option that is not given."""
    default = argument.field_info.default
    return None if default is None else str(getattr(default, "value", default))


@one_test
@pytest.mark.parametrize("command", COMMANDS)
def test_options_and_choices_have_cases(command: str) -> None:
    lines = typed()[command]
    assert lines
    left = []
    for option, argument in options(command).items():
        names = {*argument.names}
        if option != argument.names[0]:
            continue
        if not any(names & {*line} for line in lines):
            left.append(option)
        if argument.token_count()[0] == 0 or (command, option) in ELSEWHERE:
            continue
        used = {value for line in lines for name, value in pairwise(line) if name in names}
        if any("." in value for value in used):  # a class of an installed package
            used.add(INSTALLED)
        always = all(names & {*line} for line in lines)
        defaults = set() if always else {defaulted(argument)}
        missing = set(choices(command, option)) - used - defaults
        left += [f"{option} {value}" for value in sorted(missing)]
    assert left == []
