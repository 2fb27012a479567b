"""Run of a significance test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution, Wording
from duramen.analyses.ranking.request import Request
from duramen.importances import Inputs, Measure
from duramen.reports.facts import LEVEL
from duramen.reports.significance import Verdict
from duramen.results.significance import AdjustedSignificance, Significance
from duramen.significance import SignificanceTest, catalogue
from duramen.significance.cost import Cost, estimate_cost
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


def run_test(
    request: Request, measure: Measure | None, scores: Any, inputs: Inputs, execution: Execution
) -> Verdict:
    """Test a measure, whose scores are those of the forest that was grown, or the rows."""
    test = request.test
    with gathered_warnings() as gathered:
        if measure is None and not test.grows:
            result = _of_rows(request, inputs, execution.wording, execution.client)
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
    notes = tuple(dict.fromkeys((*said, *_too_few(result, execution.wording), *noted)))
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


def _of_rows(request: Request, inputs: Inputs, wording: Wording, client: Any) -> Any:
    """Return the result of a test that is about the rows, not about a measure."""
    if inputs.data.target.censored:
        raise ValueError(f"{wording.test(request.test)} is not defined for survival")
    more = {"client": client} if client is not None and request.test.takes("client") else {}
    return request.test.function(inputs.data.table, inputs.data.y, **request.choices, **more)


def announce(request: Request, measure: Measure, inputs: Inputs, execution: Execution) -> None:
    """Say what the test will take, if that is more than a few seconds."""
    test, wording = request.test, execution.wording
    if execution.announce is None or not test.grows or (test.announces and inputs.verbose):
        return
    choices = _choices(request, measure, inputs, execution)
    if choices.get("null") == "binomial":
        return

    cost: Cost = estimate_cost(
        forest_of(test, inputs),
        inputs.data,
        None,
        test.forests(test.rounds(request.permutations), request.n_tested(inputs.data.n_columns)),
        measure=choices.get("measure", measure.name),
        permuted=test.permutes,
        fraction=test.fraction,
        n_jobs=inputs.n_jobs,
    )
    if cost.seconds > LONG:
        most = "at most " if test.announces or "stop_after" in request.choices else ""
        skip = (
            f"; {wording.no_test} skips it" if request.default and cost.seconds > _TOO_LONG else ""
        )
        tested = f"{wording.test_name(test)} of {wording.measure_name(measure)}"
        execution.announce(f"{tested}: {most}{cost}{skip}")


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
    if request.permutations is not None:
        choices[request.test.repeats] = request.permutations
    asked = request.permutations is not None or execution.checkpoint is not None
    permuting = asked or inputs.data.exchangeability.restricted
    name = "auto" if request.default or measure is None else measure.name
    measured = {"measure": name} if request.test.takes("measure") else {}
    settings = inputs.estimator.growth_settings(*inputs.data.table.shape)
    return {**measured, **request.test.adapt(settings, permuting), **choices}


def _too_few(result: Any, wording: Wording) -> list[str]:
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
    more = f"{wording.permutations.format(needed)} or " * (needed <= _MANY_PERMUTATIONS)
    return [
        f"{result.method}: with {rounds:,} permutations no p-value is below {least:.2g}, too "
        f"large for a single feature, among {p:,}, to have q up to {LEVEL:g}; use {more}"
        f"{wording.test(default)}, which can confirm single features with 19 permutations"
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
