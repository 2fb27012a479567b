"""Significance test that the options of `duramen rank` ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.checkpoint import writable
from duramen.cli.declaration import Declared, given, parameters, without_use
from duramen.cli.rank.groups import Groups
from duramen.cli.rank.options import Parameters, Test

if TYPE_CHECKING:
    from duramen.importances import Measure
    from duramen.significance import SignificanceTest


@dataclass(frozen=True)
class Request:
    """Significance test that the user asked for."""

    test: SignificanceTest
    permutations: int | None = None  # rounds; None for the test's default
    checkpoint: Path | None = None
    # Further parameters, without groups; strata and blocks are in the learning set.
    choices: Mapping[str, Any] = field(default_factory=dict)
    groups: Groups | None = None  # of features that it ranks in place of these
    default: bool = False  # whether the user named no test

    def measure(self, chosen: Sequence[Measure], estimator: Any) -> Measure | None:
        """Return the measure that is tested: the first of these that suits the test, or of all.

        There is none for a test of the rows. The default test has a measure of its own, whatever is
        ranked by.
        """
        from duramen.importances import catalogue
        from duramen.significance.measured import automatic

        if self.default:
            return catalogue[automatic(estimator)]
        if self.test.of_rows:
            return None
        return next(one for one in chain(chosen, catalogue) if self.test.suits(one))

    def n_tested(self, n_features: int) -> int:
        """Return how many features, or groups of them, there are."""
        return n_features if self.groups is None else self.groups.count(n_features)


def requested(
    asked: Test, checkpoint: Path | None, groups: Groups | None = None, *, resampled: bool = False
) -> Request | None:
    """Return the test to run: the one asked for, or the default; None with ``--no-test``.

    Tests that rank groups take these; others are of single features. `resampled` tells whether
    forests on parts of the rows are grown as well, which use blocks and the checkpoint.
    """
    from duramen.significance import catalogue

    named = [] if asked.significance is None else ["--significance"]
    set_options = [
        one
        for one, value in given(asked)
        if value not in (None, False, ()) and one.name not in _ALONE
        if not (resampled and one.name == "blocks")
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
    _check_together(test, asked, groups)
    choices = parameters(asked.parameters)
    return Request(
        test,
        asked.permutations,
        writable(checkpoint),
        {name: value for name, value in choices.items() if value not in (None, False)},
        groups if test.takes("groups") else None,
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


def _check_together(test: SignificanceTest, asked: Test, groups: Groups | None) -> None:
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
    if own.group_score is not None and groups is None:
        raise ValueError("--group-score needs --groups FILE")
