"""The test of significance that the options of `duramen rank` ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from duramen.cli.checkpoint import writable
from duramen.cli.groups import Groups, read_groups
from duramen.cli.measures import MeasureName
from duramen.cli.significance import DEFAULT_TEST, METHODS, Method, SignificanceName


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


# Parameters of the functions that options are for, whichever method takes them.
_PARAMETERS = {
    "--distribution": "distribution",
    "--stop-after": "stop_after",
    "--rank-based": "rank_based",
    "--groups": "groups",
    "--group-score": "how",
    "--strata": "strata",
    "--blocks": "blocks",
}


@dataclass(frozen=True)
class Request:
    """The test that the user asked for.

    Parameters
    ----------
    name : SignificanceName
    permutations : int or None
        Rounds; None for the method's default.
    checkpoint : Path or None
        Where to keep what is done.
    choices : mapping
        Further parameters of the method, without its groups; strata and blocks by the names of
        their columns.
    groups : Groups or None
        The groups of features that it is about.
    default : bool
        Whether it is run because the user named no test.
    """

    name: SignificanceName
    permutations: int | None = None
    checkpoint: Path | None = None
    choices: Mapping[str, Any] = field(default_factory=dict)
    groups: Groups | None = None
    default: bool = False

    @property
    def method(self) -> Method:
        """What the method needs and costs."""
        return METHODS[self.name]

    def measure(self, names: Sequence[MeasureName]) -> MeasureName:
        """Return the measure that is tested: the first of these that can be, or the method's.

        The default test has a measure of its own, whatever is ranked by.
        """
        able = self.method.measures
        if self.default:
            return able[0]
        return next((name for name in names if name in able), able[0])

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
        words = [] if self.default else ["--significance", self.name.value]
        if self.permutations is not None:
            words += ["--permutations", str(self.permutations)]
        for option, parameter in _PARAMETERS.items():
            if parameter in self.choices:
                value = self.choices[parameter]
                words += [option] if value is True else [option, str(value)]
        return words if self.groups is None else [*words, "--groups", self.groups.file]


def requested(
    name: SignificanceName | None, asked: Asked, *, no_test: bool = False
) -> Request | None:
    """Return the test to run: the one that is asked for, or the default; None with `no_test`.

    Raises
    ------
    ValueError
        If options ask for what the method does not do, or for a test and for none.
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
    name = DEFAULT_TEST if name is None else name
    _check_taken(name, given)
    _check_together(name, asked)
    choices = {_PARAMETERS[option]: given[option] for option in given if option in _PARAMETERS}
    choices.pop("groups", None)
    plain = {key: one.value if isinstance(one, StrEnum) else one for key, one in choices.items()}
    return Request(
        name,
        asked.permutations,
        writable(asked.checkpoint),
        plain,
        None if asked.groups is None else read_groups(asked.groups),
        default,
    )


def _check_taken(name: SignificanceName, given: Mapping[str, Any]) -> None:
    """Check that the method has a use for each option."""
    method = METHODS[name]
    for option in given:
        parameter = _PARAMETERS.get(option)
        if parameter is None and not method.repeats:
            raise ValueError(f"{option} has no use: --significance {name.value} grows no forests")
        if parameter is not None and not method.takes(parameter):
            able = [other.value for other, one in METHODS.items() if one.takes(parameter)]
            raise ValueError(
                f"{option} has no use for --significance {name.value}; it is for {', '.join(able)}"
            )


def _check_together(name: SignificanceName, asked: Asked) -> None:
    """Check that options go together."""
    least = METHODS[name].least
    if asked.permutations is not None and asked.permutations < least:
        raise ValueError(
            f"--significance {name.value} needs --permutations {least} or more for an error "
            f"rate up to .05, got {asked.permutations}"
        )
    if asked.stop_after is not None and asked.distribution not in (None, Law.empirical):
        raise ValueError(
            f"--stop-after needs --distribution empirical, got {asked.distribution.value}: the "
            "values at a stop that depends on them have no such law"
        )
    if asked.group_score is not None and asked.groups is None:
        raise ValueError("--group-score needs --groups FILE")
