"""Options that stand once, as fields of a dataclass: parameters, command line, record."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

import pytest
from cyclopts import App
from tests.cli.commands import arguments, duramen

from duramen.cli.declaration import (
    argument,
    callback,
    choice,
    command_line,
    declared,
    group,
    option,
    parameters,
    recorded,
)
from duramen.cli.options import Output


def choices():
    from duramen.forests.criteria import CRITERIA

    return {"criterion": CRITERIA}


@dataclass(frozen=True, kw_only=True)
class Trees:
    trees: int = option(7, "Number of trees.", min=1, parameter="n_estimators")
    bootstrap: bool | None = option(None, "Draw rows.", "--bootstrap/--no-bootstrap")
    drop: tuple[str, ...] = option((), "Column to leave out.", record="dropped")


@dataclass(frozen=True, kw_only=True)
class Options:
    file: Path = argument(MISSING, "File.")
    growth: Trees = group(Trees, trees=9)
    criterion: str = choice("auto", choices, "Criterion.", before=("auto",), after=("of_mine",))
    sign: str = option(".", "Sign.", echo="changed")
    jobs: int = option(1, "Threads.", echo="never")
    fast: bool = option(False, "Be fast.")
    output: Output = group(Output, out=Path("there"))
    typed: frozenset[str] = frozenset()


def ran(*words: str) -> Options:
    """The options of a command that is given these words."""
    got: list[Options] = []

    def toy(options: Options) -> None:
        got.append(options)

    own = App(result_action="return_value")
    own.default(callback(toy))
    own(words, exit_on_error=False)
    return got[0]


def test_values_and_defaults() -> None:
    plain = ran("a.csv")
    assert plain == Options(
        file=Path("a.csv"), growth=Trees(trees=9), output=plain.output, typed=frozenset({"file"})
    )
    assert plain.output.out == Path("there")
    words = (
        "--trees",
        "3",
        "--drop",
        "a",
        "--drop",
        "b",
        "--no-bootstrap",
        "--criterion",
        "of-mine",
    )
    full = ran("a.csv", *words)
    assert full.growth == Trees(trees=3, drop=("a", "b"), bootstrap=False)
    assert full.criterion == "of_mine"
    assert full.typed == {"file", "trees", "drop", "bootstrap", "criterion"}


def test_command_line_does_the_same_again() -> None:
    words = ("--sign", ",", "--fast", "--jobs", "4", "--no-bootstrap", "--criterion", "of-mine")
    full = ran("folder/a.csv", "--trees", "3", "--drop", "a b", *words)
    line = command_line("toy", full)
    assert line == (
        "duramen toy a.csv --trees 3 --no-bootstrap --drop 'a b' --criterion of-mine --sign , "
        "--fast"
    )
    growth = ("--trees", "3", "--no-bootstrap", "--drop", "a b")
    again = ran("a.csv", *growth, "--criterion", "of-mine", "--sign", ",", "--fast")
    assert command_line("toy", again) == line
    assert command_line("toy", ran("a.csv"), trees=50, drop=("x",), criterion=None, jobs=2) == (
        "duramen toy a.csv --trees 50 --drop x --jobs 2"
    )


def test_record_and_parameters_have_names_of_their_own() -> None:
    growth = Trees(drop=("a",))
    assert recorded(growth) == {"n_estimators": 7, "bootstrap": None, "dropped": ["a"]}
    assert recorded(growth, trees=8)["n_estimators"] == 8
    assert parameters(growth) == {"n_estimators": 7, "bootstrap": None, "drop": ("a",)}
    assert "sign" not in recorded(Options(file=Path("b/a.csv")))
    assert recorded(Options(file=Path("b/a.csv"), sign=","))["file"] == "a.csv"


def test_choices_are_those_of_the_library() -> None:
    refused = duramen("rank", "--criterion", "gain")
    assert refused.exit_code == 2
    assert '"auto", "gini", "entropy", "variance".' in " ".join(refused.stderr.split())


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


@pytest.mark.parametrize("name", ["rank", "exact", "plan", "context", "pack", "select"])
def test_options_of_the_group_of_all_are_options_of_each_command(name: str) -> None:
    shared = {param.word for param, _ in declared(Output)}
    options = arguments(name)
    assert shared <= {word for option in options for word in option.names}
    assert all(option.parameter.help for option in options)
