"""Significance test of a ranking: what is asked for, its run, its notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.groups import Groups
from duramen.data import LearningSet
from duramen.importances import Inputs, Measure
from duramen.importances import catalogue as measures
from duramen.reports.facts import LEVEL
from duramen.reports.significance import Verdict
from duramen.results.significance import AdjustedSignificance, Significance
from duramen.significance import SignificanceTest, catalogue
from duramen.significance.cost import Cost, estimate_cost
from duramen.significance.measured import automatic
from duramen.support import checks
from duramen.support.warning import gathered_warnings

_RECORDED_ELSEWHERE = (
    "method",
    "measure",
    "estimator",
    "parameters",
    "data",
    "versions",
    "features",
    "ranking",
)

# More permutations are not proposed.
_MANY_PERMUTATIONS = 2000
# A run that is expected to take longer, in seconds, is announced.
LONG = 3.0
# Of a test that nobody asked for, seconds after which it is said how to do without.
_TOO_LONG = 60.0


@dataclass(frozen=True)
class Request:
    """Significance test that the user asked for."""

    test: SignificanceTest
    n_permutations: int | None = None  # rounds; None for the test's default
    choices: Mapping[str, Any] = field(default_factory=dict)  # further parameters
    feature_groups: Groups | None = None  # of features that it tests in place of these
    default: bool = False  # whether the user named no test

    def with_groups(self, feature_groups: Groups | None, features: Sequence[str]) -> Request:
        """Return the request for these groups, if the test is of groups.

        The default test is of features alone where a group has the name of one.
        """
        named = set() if feature_groups is None else set(feature_groups.of_feature.values())
        unfit = not self.test.of_groups or (self.default and not named.isdisjoint(features))
        return replace(self, feature_groups=None if unfit else feature_groups)

    def measure(self, chosen: Sequence[Measure], estimator: Any) -> Measure | None:
        """Return the measure that is tested: the first of these that suits the test, or of all.

        There is none for a test of the rows. The default test has a measure of its own, whatever is
        ranked by.
        """
        if self.default:
            return measures[automatic(estimator)]
        if self.test.of_rows:
            return None
        return next(measure for measure in chain(chosen, measures) if self.test.suits(measure))

    def n_tested(self, n_features: int) -> int:
        """Return how many features, or groups of them, there are."""
        return n_features if self.feature_groups is None else self.feature_groups.count(n_features)


NO_TEST = "none"


def requested(
    asked: Any,
    n_permutations: int | None,
    choices: Mapping[str, Any],
    checkpoint: Any,
    beside: bool,
) -> Request | None:
    """Return the test that is asked for, or the default; None for no test.

    `choices` are parameters that few tests take; `beside` tells whether something else is computed
    that uses the checkpoint.

    Raises
    ------
    ValueError
        If there is no such test, or it has no use for a parameter.
    """
    checks.check_optional_integer("rank", "n_permutations", n_permutations, 1)
    given = {name: value for name, value in choices.items() if value is not None}
    used = {**given, "n_permutations": n_permutations, "checkpoint": None if beside else checkpoint}
    used = {name: value for name, value in used.items() if value is not None}
    if asked is False or asked == NO_TEST:
        for name in used:
            raise ValueError(f"rank: {name} has no effect with test={NO_TEST!r}; leave it out")
        return None
    name = asked.replace("-", "_") if isinstance(asked, str) else asked
    allowed = ["auto", NO_TEST, *(test.name for test in catalogue)]
    name = checks.check_choice("rank", "test", name, allowed)
    default = name == "auto"
    test = next(test for test in catalogue if test.default) if default else catalogue[name]
    for parameter in used:
        why = None
        if parameter == "n_permutations" and test.grows and not test.repeats:
            why = ", whose number of forests is fixed"
        elif parameter in ("n_permutations", "checkpoint") and not test.grows:
            why = ", which grows no forests"
        elif parameter != "n_permutations" and not test.takes(_FUNCTION.get(parameter, parameter)):
            why = f"; allowed with {_able(parameter)}"
        if why is not None:
            raise ValueError(f"rank: {parameter} has no effect with test={test.name!r}{why}")
    if n_permutations is not None and n_permutations < test.least:
        raise ValueError(
            f"rank: n_permutations must be {test.least} or more with test={test.name!r} for an "
            f"error rate up to .05, got {n_permutations}"
        )
    if "stop_after" in given and given.get("distribution", "empirical") != "empirical":
        raise ValueError(
            f"rank: stop_after needs distribution='empirical', got {given['distribution']}: an "
            "early stop depends on the permuted importances and changes their distribution"
        )
    given = {_FUNCTION.get(parameter, parameter): value for parameter, value in given.items()}
    return Request(test, n_permutations, given, default=default)


_FUNCTION = {"group_score": "how"}  # parameters of tests that have another name in `duramen.rank`


def _able(parameter: str) -> str:
    """Return the tests that take a parameter."""
    own = _FUNCTION.get(parameter, parameter)
    return ", ".join(test.name for test in catalogue if test.takes(own))


def check_exchanges(
    request: Request | None, data: LearningSet[Any], *, beside: bool, direct: bool
) -> None:
    """Check that the test, or what is computed beside it, has a use for strata and groups.

    Raises
    ------
    ValueError
        If not.
    """
    if request is None:
        return
    rows, test = data.exchangeability, request.test
    covariates = "strata" not in data.provenance.settings and data.provenance.settings.get(
        "covariates"
    )
    strata = "covariates" if covariates else "strata"
    for name, taken, labels, used in (
        (strata, "strata", rows.strata, direct),
        ("groups", "groups", rows.groups, beside),
    ):
        if labels is None or used or test.takes(taken):
            continue
        raise ValueError(
            f"rank: {name} has no effect with test={test.name!r}; allowed with {_able(taken)}"
        )


def run_test(
    request: Request, measure: Measure | None, scores: Any, inputs: Inputs, execution: Execution
) -> Verdict:
    """Test a measure, whose scores are those of the forest that was grown, or the rows."""
    test = request.test
    with gathered_warnings() as gathered:
        if measure is None and not test.grows:
            result = _of_rows(request, inputs, execution.client)
        elif not test.grows:
            result = test.function(scores)
        else:
            options = {
                **_choices(request, measure, inputs, execution),
                "random_state": inputs.random_state,
                "n_jobs": inputs.n_jobs,
                "client": execution.client,
                "checkpoint": execution.checkpoint,
                "verbose": inputs.verbose,
            }
            result = test.function(
                forest_of(test, inputs),
                inputs.data,
                **{name: value for name, value in options.items() if test.takes(name)},
            )
    said = [" ".join(str(warning).split()) for warning in gathered]
    noted = [f"{result.method}: {note}" for note in result.notes]  # some were warnings as well
    notes = tuple(dict.fromkeys((*said, *_too_few(result), *noted)))
    name = "" if measure is None else measure.name
    if request.feature_groups is None:
        return Verdict(result, name, notes)
    if isinstance(result, AdjustedSignificance):
        return _hierarchical(result, inputs.data.names, name, notes)
    notes = (*notes, _about_groups(result))
    return Verdict(request.feature_groups.spread(result), name, notes)


def _hierarchical(
    result: AdjustedSignificance, features: Sequence[str], measure: str, notes: tuple[str, ...]
) -> Verdict:
    """Return the verdicts of groups beside those of their members."""
    place = {name: i for i, name in enumerate(result.names)}
    groups = [name for name in result.names if name not in set(features)]
    of_groups = result.take(np.array([place[name] for name in groups], dtype=np.intp))
    chosen = of_groups.selected(LEVEL, "fwer")
    listed = f": {', '.join(chosen[:10])}{', ...' if len(chosen) > 10 else ''}" if chosen else ""
    note = (
        f"{result.method}: groups were tested first, and {len(chosen):,} of {len(groups):,} are "
        f"confirmed{listed}; the features of a group are confirmed if they and their group are"
    )
    of_features = result.take(np.array([place[name] for name in features], dtype=np.intp))
    return Verdict(of_features, measure, (*notes, note), of_groups)


def _of_rows(request: Request, inputs: Inputs, client: Any) -> Any:
    """Return the result of a test that is about the rows, not about a measure."""
    if inputs.data.target.censored:
        raise ValueError(f"rank: test={request.test.name!r} is not defined for survival")
    more = {"client": client} if client is not None and request.test.takes("client") else {}
    return request.test.function(inputs.data.table, inputs.data.y, **request.choices, **more)


def announce(request: Request, measure: Measure, inputs: Inputs, execution: Execution) -> None:
    """Say what the test will take, if that is more than a few seconds."""
    test = request.test
    if execution.announce is None or not test.grows or (test.announces and inputs.verbose):
        return
    choices = _choices(request, measure, inputs, execution)
    if choices.get("null") == "binomial":
        return

    cost: Cost = estimate_cost(
        forest_of(test, inputs),
        inputs.data,
        None,
        test.forests(test.rounds(request.n_permutations), request.n_tested(inputs.data.n_columns)),
        measure=choices.get("measure", measure.name),
        permuted=test.permutes,
        fraction=test.fraction,
        n_jobs=inputs.n_jobs,
    )
    if cost.seconds > LONG:
        most = "at most " if test.announces or "stop_after" in request.choices else ""
        skip = "; test='none' skips it" * (request.default and cost.seconds > _TOO_LONG)
        title = f"{test.title} of {measure.title}"
        execution.announce(f"{title}: {most}{cost}{skip}")


def forest_of(test: SignificanceTest, inputs: Inputs) -> Any:
    """Return the estimator that a test grows: the ranking's, with fewer trees if need be."""
    estimator = inputs.unfitted().estimator
    if test.most_trees is not None:
        trees = min(test.most_trees, estimator.n_estimators)
        estimator.set_params(n_estimators=trees)
    return estimator


def settings_of(tested: Verdict) -> dict[str, Any]:
    """Return what the test was told, for the record."""
    result = tested.result
    recorded = result.metadata.get(result.method, result.metadata)
    own = {name: value for name, value in recorded.items() if name not in _RECORDED_ELSEWHERE}
    if isinstance(result, AdjustedSignificance):
        own = {"n_estimators": int(recorded["parameters"]["n_estimators"]), **own}
    return {"method": result.method, "measure": tested.measure or None, **own}


def figures_of(tested: Verdict) -> dict[str, Any]:
    """Return what was tested and how many features are selected, for the record."""
    result, selected, notes = tested.result, len(tested.selected()), list(tested.notes)
    said: dict[str, Any]
    if isinstance(result, AdjustedSignificance):
        by_evidence = tested.n_by_evidence()
        evidence = {"evidence": by_evidence} if by_evidence else {}
        counts = {**tested.n_by_verdict(), **evidence}
        said = {"null": result.null, "level": LEVEL, **counts}
    elif isinstance(result, Significance):
        said = {"null": result.null, f"features_with_q_up_to_{LEVEL:g}": selected}
    else:
        rate = tested.test.rate.replace(" ", "_")
        said = {"meaning": result.meaning, f"features_with_{rate}_up_to_{LEVEL:g}": selected}
    return {**said, "notes": notes}


def _choices(
    request: Request, measure: Measure | None, inputs: Inputs, execution: Execution
) -> dict[str, Any]:
    """Return the arguments of the test beside the rows and the seed."""
    choices = dict(request.choices)
    if request.feature_groups is not None:
        choices["feature_groups"] = request.feature_groups.members()
    if request.n_permutations is not None:
        choices[request.test.repeats] = request.n_permutations
    asked = request.n_permutations is not None or execution.checkpoint is not None
    permuting = asked or inputs.data.exchangeability.restricted
    name = "auto" if request.default or measure is None else measure.name
    measured = {"measure": name} if request.test.takes("measure") else {}
    settings = inputs.estimator.growth_settings(*inputs.data.table.shape)
    return {**measured, **request.test.adapt(settings, permuting), **choices}


def _too_few(result: Any) -> list[str]:
    """Say so where there are too few permutations for any feature to be selected."""
    if isinstance(result, AdjustedSignificance):  # as likely for one of many features as of few
        return []
    rounds, p = result.metadata.get("n_permutations"), len(result)
    q_values = getattr(result, "q_values", None)
    if rounds is None or q_values is None or (q_values <= LEVEL).any():
        return []
    if "fitted" in result.details:
        return []
    if p <= LEVEL * (rounds + 1):
        return []
    default = next(test for test in catalogue if test.default)
    least, needed = 1 / (rounds + 1), round(p / LEVEL)
    more = f"n_permutations={needed} or " * (needed <= _MANY_PERMUTATIONS)
    return [
        f"{result.method}: with {rounds:,} permutations no p-value is below {least:.2g}, too "
        f"large for a single feature, among {p:,}, to have q up to {LEVEL:g}; use {more}"
        f"test={default.name!r}, which can confirm single features with 19 permutations"
    ]


def _about_groups(result: Any) -> str:
    """Say that error rates are of groups, and which of them are selected."""
    chosen = [name for name, rate in result if rate <= LEVEL]
    listed = f": {', '.join(chosen[:10])}{', ...' if len(chosen) > 10 else ''}" if chosen else ""
    return (
        f"{result.method}: the rates are those of {len(result):,} groups, ranked by the "
        f"{result.metadata['how']} of the importances of their features; each feature has the "
        f"rate of its group; {len(chosen):,} of the groups have a rate up to {LEVEL:g}{listed}"
    )
