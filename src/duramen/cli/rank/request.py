"""Significance test that the options of `duramen rank` ask for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from duramen.analyses.ranking.groups import Groups
from duramen.analyses.ranking.request import Request
from duramen.cli.declaration import Declared, given, parameters, without_use
from duramen.cli.rank.options import Parameters, Test

if TYPE_CHECKING:
    from duramen.significance import SignificanceTest


def requested(
    asked: Test,
    checkpoint: Path | None,
    feature_groups: Groups | None = None,
    *,
    resampled: bool = False,
) -> Request | None:
    """Return the test to run: the one asked for, or the default; None with ``--no-test``.

    Tests that rank groups take these; others are of single features. `resampled` tells whether
    forests on parts of the rows are grown as well, which use groups and the checkpoint.
    """
    from duramen.significance import catalogue

    named = [] if asked.significance is None else ["--significance"]
    set_options = [
        one
        for one, value in given(asked)
        if value not in (None, False, ()) and one.name not in _ALONE
        if not (resampled and one.name == "groups")
    ]
    if asked.no_test:
        kept = [] if checkpoint is None or resampled else ["--checkpoint"]
        if refused := [*named, *(one.word for one in set_options), *kept]:
            raise without_use(refused, "with --no-test, which skips the test")
        return None
    test = next(
        one for one in catalogue if (one.name == asked.significance if named else one.default)
    )
    _check_taken(test, set_options, None if resampled else checkpoint)
    _check_together(test, asked, feature_groups)
    choices = parameters(asked.parameters)
    return Request(
        test,
        asked.permutations,
        {name: value for name, value in choices.items() if value not in (None, False)},
        feature_groups if test.takes("feature_groups") else None,
        not named,
    )


# Options that choose the test.
_ALONE = ("significance", "no_test")


def _check_taken(
    test: SignificanceTest, asked: Sequence[Declared], checkpoint: Path | None
) -> None:
    """Check that the test has a use for each option."""
    from duramen.significance import catalogue

    used = {one.word: "" if one.name == "permutations" else one.parameter for one in asked}
    used |= {} if checkpoint is None else {"--checkpoint": "checkpoint"}
    refused: dict[str, list[str]] = {}  # options by the reason
    for option, parameter in used.items():
        if option in ("--permutations", "--checkpoint") and not test.repeats:
            why = f"with --significance {test.option}, which grows no forests"
        elif parameter and not test.takes(parameter):
            able = ", ".join(one.option for one in catalogue if one.takes(parameter))
            why = f"with --significance {test.option}; allowed with {able}"
        else:
            continue
        refused.setdefault(why, []).append(option)
    if refused:
        raise ValueError("; ".join(str(without_use(*one[::-1])) for one in refused.items()))


def _check_together(test: SignificanceTest, asked: Test, feature_groups: Groups | None) -> None:
    """Check that options go together."""
    own: Parameters = asked.parameters
    if asked.permutations is not None and asked.permutations < test.least:
        raise ValueError(
            f"--significance {test.option} needs --permutations {test.least} or more for an error "
            f"rate up to .05, got {asked.permutations}"
        )
    if own.stop_after is not None and own.distribution not in (None, "empirical"):
        raise ValueError(
            f"--stop-after needs --distribution empirical, got {own.distribution}: an early stop "
            "depends on the permuted importances and changes their distribution"
        )
    if own.group_score is not None and feature_groups is None:
        raise ValueError("--group-score needs --feature-groups FILE")
