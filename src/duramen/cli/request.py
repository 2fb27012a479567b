"""The test of significance that the options of `duramen rank` ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.cli.catalogues import PARAMETERS, measures, tests
from duramen.cli.checkpoint import writable
from duramen.cli.groups import Groups, read_groups

if TYPE_CHECKING:
    from duramen.importances import Measure
    from duramen.significance import SignificanceTest


class Law(StrEnum):
    """What p-values are tails of: the shares of permutations, or a law fitted to them."""

    empirical = "empirical"
    normal = "normal"
    lognormal = "lognormal"
    gamma = "gamma"


class GroupScore(StrEnum):
    """What the importance of a group is made of."""

    mean = "mean"
    sum = "sum"
    max = "max"


@dataclass(frozen=True)
class Asked:
    """What the user said about a test; None for what was not said.

    Parameters
    ----------
    permutations : int or None
        Rounds.
    checkpoint : Path or None
        Where to keep what is done.
    distribution : Law or None
        What p-values are tails of.
    stop_after : int or None
        Values as large as its own after which a feature is given up.
    rank_based : bool or None
        Whether error rates compare ranks.
    groups : Path or None
        File with the groups that error rates are of.
    group_score : GroupScore or None
        What the importance of a group is made of.
    strata, blocks : str or None
        Columns that tell which rows may be exchanged.
    """

    permutations: int | None = None
    checkpoint: Path | None = None
    distribution: Law | None = None
    stop_after: int | None = None
    rank_based: bool | None = None
    groups: Path | None = None
    group_score: GroupScore | None = None
    strata: str | None = None
    blocks: str | None = None

    def given(self) -> dict[str, Any]:
        """Return what was said, by the name of the option."""
        everything = {f"--{one.name.replace('_', '-')}": one.name for one in fields(self)}
        values = {option: getattr(self, name) for option, name in everything.items()}
        return {option: value for option, value in values.items() if value is not None}


@dataclass(frozen=True)
class Request:
    """The test that the user asked for.

    Parameters
    ----------
    test : SignificanceTest
    permutations : int or None
        Rounds; None for the test's default.
    checkpoint : Path or None
        Where to keep what is done.
    choices : mapping
        Further parameters of the test, without its groups; strata and blocks by the names of
        their columns.
    groups : Groups or None
        The groups of features that it is about.
    default : bool
        Whether it is run because the user named no test.
    """

    test: SignificanceTest
    permutations: int | None = None
    checkpoint: Path | None = None
    choices: Mapping[str, Any] = field(default_factory=dict)
    groups: Groups | None = None
    default: bool = False

    def measure(self, chosen: Sequence[Measure]) -> Measure:
        """Return the measure that is tested: the first of these that suits the test, or of all.

        The default test has a measure of its own, whatever is ranked by.
        """
        able: Sequence[Measure] = () if self.default else chosen
        return next(one for one in chain(able, measures()) if self.test.suits(one))

    def check(self, features: Sequence[str], target: str) -> None:
        """Check that these features can be tested so.

        Raises
        ------
        ValueError
            If groups name others.
        """
        if self.groups is not None:
            self.groups.check(features, target)

    def n_tested(self, n_features: int) -> int:
        """Return how many features, or groups of them, there are."""
        return n_features if self.groups is None else self.groups.count(n_features)

    def words(self) -> list[str]:
        """Return the options that ask for this test."""
        words = [] if self.default else ["--significance", self.test.option]
        if self.permutations is not None:
            words += ["--permutations", str(self.permutations)]
        for option, parameter in PARAMETERS.items():
            if parameter in self.choices:
                value = self.choices[parameter]
                words += [option] if value is True else [option, str(value)]
        return words if self.groups is None else [*words, "--groups", self.groups.file]


def requested(name: str | None, asked: Asked, *, no_test: bool = False) -> Request | None:
    """Return the test to run: the one that is asked for, or the default; None with `no_test`.

    Raises
    ------
    ValueError
        If options ask for what the test does not do, or for a test and for none.
    OSError
        If the checkpoint cannot be written where it shall be, or there is no file of groups.
    """
    given = asked.given()
    if no_test:
        named = {} if name is None else {"--significance": name}
        if refused := [*named, *given]:
            raise ValueError(f"{refused[0]} has no use with --no-test, which skips the test")
        return None
    default = name is None
    test = next(one for one in tests() if (one.default if default else one.option == name))
    _check_taken(test, given)
    _check_together(test, asked)
    choices = {PARAMETERS[option]: given[option] for option in given if option in PARAMETERS}
    choices.pop("groups", None)
    plain = {key: one.value if isinstance(one, StrEnum) else one for key, one in choices.items()}
    return Request(
        test,
        asked.permutations,
        writable(asked.checkpoint),
        plain,
        None if asked.groups is None else read_groups(asked.groups),
        default,
    )


def _check_taken(test: SignificanceTest, given: Mapping[str, Any]) -> None:
    """Check that the test has a use for each option."""
    for option in given:
        parameter = {**PARAMETERS, "--checkpoint": "checkpoint"}.get(option)
        if option not in PARAMETERS and not test.repeats:
            raise ValueError(f"{option} has no use: --significance {test.option} grows no forests")
        if parameter is not None and not test.takes(parameter):
            able = ", ".join(one.option for one in tests() if one.takes(parameter))
            raise ValueError(
                f"{option} has no use for --significance {test.option}; it is for {able}"
            )


def _check_together(test: SignificanceTest, asked: Asked) -> None:
    """Check that options go together."""
    if asked.permutations is not None and asked.permutations < test.least:
        raise ValueError(
            f"--significance {test.option} needs --permutations {test.least} or more for an error "
            f"rate up to .05, got {asked.permutations}"
        )
    if asked.stop_after is not None and asked.distribution not in (None, Law.empirical):
        raise ValueError(
            f"--stop-after needs --distribution empirical, got {asked.distribution.value}: the "
            "values at a stop that depends on them have no such law"
        )
    if asked.group_score is not None and asked.groups is None:
        raise ValueError("--group-score needs --groups FILE")
