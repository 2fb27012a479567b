"""Commands that are made from functions."""

from __future__ import annotations

from inspect import signature

import pytest
from tests.cli.commands import arguments, duramen

from duramen.cli.app import EXAMPLES
from duramen.cli.command import Output
from duramen.cli.parameters import option_names


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rank", "a.csv", "my y"), "got also 'my y'; the target is given by --target 'my y'"),
        (("select", "a.csv", "y"), "got also y; the target is given by --target y"),
        (("rank", "a.csv", "--target", "y", "--drop", "a", "b"), "got also b; write the option"),
        (("pack", "a.csv", "b.csv"), "FILE alone is given without an option, got also b.csv; "),
        (
            ("plan", "a", "--n-rows=9", "--n-features=9", "--memory=1MB", "--relevant=0:1"),
            "nothing is given without an option, got also a; write the option",
        ),
    ],
)
def test_a_word_without_an_option_says_what_is_meant(words: tuple[str, ...], message: str) -> None:
    refused = duramen(*words)
    assert refused.exit_code == 2
    assert message in " ".join(refused.stderr.split())


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_options_of_output_are_options_of_each_command(name: str) -> None:
    options = arguments(name)
    shared = {option_names(parameter)[0] for parameter in signature(Output).parameters}
    shared.remove("--scheduler")
    assert shared <= {word for option in options for word in option.names}
    assert all(option.parameter.help for option in options)
