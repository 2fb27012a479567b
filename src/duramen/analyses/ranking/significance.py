"""Significance test of a ranking: its choice, its run, its columns and its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.feature_groups import Members, spread, whole
from duramen.analyses.ranking.forest import MANY, sampled_if_many
from duramen.data import LearningSet
from duramen.data.target import proportions
from duramen.importances import Inputs, Measure
from duramen.importances import catalogue as measures
from duramen.importances.measure import Measured
from duramen.importances.refit import is_model
from duramen.jobs.progress import estimates
from duramen.plots.importances import P_VALUES
from duramen.reports.report import LEVEL, Section, adjusted_words, as_importances
from duramen.results.importances import Importances
from duramen.results.significance import (
    ALONE,
    CANDIDATE,
    CONFIRMED,
    DIRECT,
    JOINTLY,
    NOISE,
    WITH_OTHERS,
    AdjustedSignificance,
    ConditionalSignificance,
    ErrorRates,
    Significance,
)
from duramen.results.summary import Column, counted
from duramen.significance import SignificanceTest, catalogue
from duramen.significance.measured import estimate_cost
from duramen.support import checks
from duramen.support.checks import gathered_warnings
from duramen.support.text import joined

Tested: TypeAlias = Significance | ErrorRates

NO_TEST = "none"
LONG = 3.0
"""Seconds from which on the expected time of a step is announced."""
_TOO_LONG = 60.0  # of the default test, seconds after which a message says how to skip it
_MANY_PERMUTATIONS = 2000  # more permutations are not proposed
_VERDICT = 12  # characters that a narrow terminal leaves to the verdict of a conditional test
_VERDICTS = (
    f"Features with a family-wise adjusted p-value (p adj., step-down max-T) up to {LEVEL:g} are "
    "confirmed. Candidates are other features with a false discovery rate (FDR) and a p-value of "
    f"their own up to {LEVEL:g}. The rest is called noise: not distinguished from it. Evidence is "
    '"alone" if a rank statistic of the feature by itself decides, "jointly" if its effect in a '
    'linear model of all features does, "with others" if only its importance does.'
)


# --- the test to run --------------------------------------------------------------------------


def requested(
    asked: Any, n_permutations: int | None, distribution: str | None, checkpoint: Any
) -> tuple[SignificanceTest | None, dict[str, Any]]:
    """Return the test, or None for no test, and the arguments for it that the user chose.

    Raises
    ------
    ValueError
        If there is no such test, or it has no use for a parameter.
    """
    checks.check_optional_integer("rank", "n_permutations", n_permutations, 1)
    name = asked.replace("-", "_") if isinstance(asked, str) else asked
    names = ["auto", NO_TEST, *(test.name for test in catalogue)]
    name = checks.check_choice("rank", "test", NO_TEST if asked is False else name, names)
    test = next((t for t in catalogue if t.name == name or (name == "auto" and t.default)), None)
    arguments = dict[str, Any]()
    for parameter, value in (
        ("n_permutations", n_permutations),
        ("distribution", distribution),
        ("checkpoint", checkpoint),
    ):
        if value is None:
            continue
        repeats = parameter == "n_permutations"
        able = [
            other for other in catalogue if (other.repeats if repeats else other.takes(parameter))
        ]
        if test not in able:
            raise ValueError(
                f"rank: {parameter} has no effect with test={test.name if test else NO_TEST!r}; "
                f"allowed with {', '.join(other.name for other in able)}"
            )
        if test is not None and parameter != "checkpoint":
            arguments[test.repeats if repeats else parameter] = value
    if test is not None and n_permutations is not None and n_permutations < test.least:
        raise ValueError(
            f"rank: n_permutations must be {test.least} or more with test={test.name!r} for an "
            f"error rate up to .05, got {n_permutations}"
        )
    return test, arguments


def check_rows(
    test: SignificanceTest, data: LearningSet[Any], *, beside: bool, direct: bool
) -> None:
    """Check that the test takes the target, and that it, or another step, uses strata and groups.

    Raises
    ------
    ValueError
        If not.
    """
    rows, settings = data.exchangeability, data.provenance.settings
    strata = "covariates" if settings.get("covariates") and "strata" not in settings else "strata"
    for name, taken, labels, used in (
        (strata, "strata", rows.strata, direct),
        ("groups", "groups", rows.groups, beside),
    ):
        if labels is not None and not used and not test.takes(taken):
            able = ", ".join(other.name for other in catalogue if other.takes(taken))
            raise ValueError(
                f"rank: {name} has no effect with test={test.name!r}; allowed with {able}"
            )
    if test.of_rows and not test.takes("estimator") and data.target.censored:
        raise ValueError(f"rank: test={test.name!r} is not defined for survival")
    test.check(data)


# --- its run ----------------------------------------------------------------------------------


def announce(
    show: Callable[[str], None],
    what: str,
    estimator: Any,
    inputs: Inputs,
    n_forests: int,
    *,
    most: bool = False,
    skip: str = "",
    **options: Any,
) -> None:
    """Show the estimated time of the forests if it exceeds a few seconds.

    With `most` they may be fewer; `skip` says how to do without them.
    """
    cost = estimate_cost(estimator, inputs.data, None, n_forests, n_jobs=inputs.n_jobs, **options)
    if cost.seconds > LONG:
        skip = skip if cost.seconds > _TOO_LONG else ""
        show(f"{what}: {'at most ' * most}{cost}{skip}")


def run_test(
    test: SignificanceTest,
    arguments: Mapping[str, Any],
    measure: Measure | None,
    measured: Mapping[str, Measured],
    groups: Members | None,
    source: str,
    inputs: Inputs,
    execution: Execution,
    *,
    default: bool,
) -> tuple[Tested, AdjustedSignificance | None]:
    """Test a measure, or the rows.

    Parameters
    ----------
    test : SignificanceTest
        Test to run.
    arguments : mapping
        Arguments for it that the user chose.
    measure : Measure or None
        Measure to test; None for a test of the rows.
    measured : mapping of str to Importances or Significance
        Importances in the forest that was grown, for tests that grow none.
    groups : mapping of str to sequence of str, optional
        Groups of features to test, which are from `source`.
    inputs : Inputs
        Estimator, rows and seed.
    execution : Execution
        Cluster, checkpoint and messages.
    default : bool
        Whether the user named no test.

    Returns
    -------
    Significance or ErrorRates
        Result of the features; its notes hold the warnings, too.
    AdjustedSignificance or None
        Result of the groups that were tested before the features.
    """
    features, notes = inputs.data.names, list[str]()
    if default and inputs.data.n_rows > MANY:
        sample = sampled_if_many(inputs)
        notes.append(
            f"the significance test is of a random sample of {sample.data.n_rows:,} of the "
            f"{inputs.data.n_rows:,} rows{proportions(inputs.data.target)}, since it grows many "
            "forests; features with small effects may be found on all rows alone: "
            f"test={test.name!r} tests them on all"
        )
        inputs = sample
    data, grows, other = inputs.data, test.takes("estimator"), is_model(inputs.estimator)
    estimator: Any = inputs.estimator
    if grows and not other:
        estimator = inputs.unfitted().estimator
    if grows and not other and test.most_trees is not None:
        most = test.most_trees(data.n_rows)
        estimator.set_params(n_estimators=min(most, estimator.n_estimators))
    permuting = (
        test.repeats in arguments
        or execution.checkpoint is not None
        or data.exchangeability.restricted
    )
    adapted = {}
    if not other:
        adapted = test.adapt(inputs.estimator.growth_settings(*data.table.shape), permuting)
    every = {
        "measure": "auto" if default or measure is None else measure.name,
        **adapted,
        **arguments,
        "feature_groups": groups,
        **execution.resources,
    }
    accepted = {name: value for name, value in every.items() if test.takes(name)}
    many = grows and accepted.get("null") != "binomial"
    if execution.announce is not None and measure is not None and many:
        n_tested = len(features) if groups is None else len(whole(groups, features))
        announce(
            execution.announce,
            f"{test.title} of {measure.title}",
            estimator,
            inputs,
            test.forests(test.rounds(accepted.get(test.repeats)), n_tested),
            measure=accepted.get("measure", measure.name),
            permuted=test.permutes,
            fraction=test.fraction,
            most=test.stops_early,
            skip="; test='none' skips it" if default else "",
        )
    with gathered_warnings() as gathered, nullcontext() if measure is None else estimates(None):
        if grows:
            result = test.function(estimator, data, **accepted)
        elif measure is not None:
            result = test.function(as_importances(measured[measure.name]))
        else:
            result = test.function(data.table, data.y)
    notes += [" ".join(str(warning).split()) for warning in gathered]
    rounds, p = result.metadata.get("n_permutations"), len(result)
    if (
        type(result) is Significance
        and rounds is not None
        and p > LEVEL * (rounds + 1)
        and not ((result.q_values <= LEVEL).any() or "fitted" in result.details)
    ):
        needed = round(p / LEVEL)
        more = f"n_permutations={needed} or " * (needed <= _MANY_PERMUTATIONS)
        better = next(other.name for other in catalogue if other.default)
        notes.append(
            f"{result.method}: {rounds:,} permutations are too few for a single feature, among "
            f"{p:,}, to have q up to {LEVEL:g}; use {more}test={better!r}"
        )
    notes += [f"{result.method}: {note}" for note in result.notes]
    of_groups = None
    if groups is not None and isinstance(result, AdjustedSignificance):
        of_groups = result.of([name for name in result.names if name not in set(features)])
        result = result.of(features)
        names = of_groups.selected(LEVEL, "fwer")
        notes.append(
            f"{result.method}: groups were tested first, and {len(names):,} of {len(of_groups):,} "
            f"are confirmed{listed(names)}; the features of a group are confirmed if they and "
            "their group are"
        )
    elif groups is not None:
        names = tuple(name for name, rate in result if rate <= LEVEL)
        notes.append(
            f"{result.method}: the rates are those of {len(result):,} groups, ranked by the mean "
            f"of the importances of their features; {len(names):,} of the groups have a rate up "
            f"to {LEVEL:g}{listed(names)}"
        )
        result = spread(result, groups, source)
    metadata = {**result.metadata, "measure": "" if measure is None else measure.name}
    return replace(result, notes=tuple(dict.fromkeys(notes)), metadata=metadata), of_groups


def listed(names: Sequence[str]) -> str:
    """Return names after a colon; empty text if there are no names."""
    return f": {joined(names, shown=10)}" if names else ""


# --- its result -------------------------------------------------------------------------------


def selected_by(result: Tested | None) -> tuple[str, ...]:
    """Return the features with a q-value or error rate up to `LEVEL`, the best first.

    Of a test with verdicts, these are the confirmed features and the candidates.
    """
    if result is None:
        return ()
    if isinstance(result, AdjustedSignificance):
        verdicts = result.verdicts(LEVEL)
        return tuple(result.names[j] for j in result.order() if verdicts[j] != NOISE)
    if isinstance(result, Significance):
        return result.selected(LEVEL)
    return result.names[: int(np.count_nonzero(result.rates <= LEVEL))]


def record_of(result: Tested) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of the test and the numbers of selected features, for the record."""
    details = result.metadata.get(result.method, result.metadata)
    elsewhere = {"method", "measure", "estimator", "parameters", "data", "versions"}
    elsewhere |= {"features", "ranking"}
    settings = {"method": result.method, "measure": result.metadata["measure"] or None}
    settings |= {name: value for name, value in details.items() if name not in elsewhere}
    figures, rate = dict[str, Any](), "q"
    if isinstance(result, ErrorRates):
        figures["meaning"] = result.meaning
        rate = catalogue[result.method].rate.replace(" ", "_")
    else:
        figures["null"] = result.null
    if isinstance(result, AdjustedSignificance):
        if "n_estimators" in details["parameters"]:
            settings["n_estimators"] = int(details["parameters"]["n_estimators"])
        verdicts, evidence = result.verdicts(LEVEL), result.evidence(LEVEL)
        figures["level"] = LEVEL
        figures |= {word: verdicts.count(word) for word in (CONFIRMED, CANDIDATE, NOISE)}
        if "marginal_statistic" in result.details:
            jointly = [JOINTLY] if "joint_statistic" in result.details else []
            words = (ALONE, *jointly, WITH_OTHERS)
            figures["evidence"] = {word: evidence.count(word) for word in words}
    else:
        figures[f"features_with_{rate}_up_to_{LEVEL:g}"] = len(selected_by(result))
    return settings, {**figures, "notes": list(result.notes)}


def columns_of(result: Tested, names: Sequence[str]) -> list[Column]:
    """Return p and q, or the error rate, or the verdicts, of these features."""
    test = catalogue[result.method]
    if isinstance(result, ErrorRates):
        places = np.array(checks.places_of(names, result.names, "rank"), dtype=np.intp)
        rates, word = result.rates[places], test.rate.replace(" ", "_")
        cells = [
            f"{rate:.2g}" if place < result.n_known else f"> {LEVEL:g}"
            for rate, place in zip(rates.tolist(), places.tolist(), strict=True)
        ]
        name = f"{test.name.removesuffix(f'_{word}')}_{word}"
        return [Column(test.rate, cells, name=name, numbers=rates)]
    taken = result.of(names)
    if isinstance(taken, AdjustedSignificance):
        verdicts = taken.verdicts(LEVEL)
        columns = [Column("verdict", verdicts, "words", name="verdict")]
        if "marginal_statistic" in taken.details:
            rows = zip(verdicts, taken.evidence(LEVEL), taken.scores.tolist(), strict=True)
            cells = [
                word + " (importance < 0)" * ((verdict, word) == (CANDIDATE, ALONE) and score < 0)
                for verdict, word, score in rows
            ]
            columns.append(Column("evidence", cells, "words", name="evidence"))
        return [
            *columns,
            Column("p adj.", digits=0, minor=1, name="p_adjusted", numbers=taken.p_adjusted),
            Column("FDR", digits=0, minor=1, name="fdr", numbers=taken.q_values),
        ]
    columns = [
        Column(
            f"{letter}, {test.title}",
            digits=0,
            minor=int(letter == "p"),
            name=f"{test.name}_{letter}_value",
            numbers=numbers,
        )
        for letter, numbers in (("p", taken.p_values), ("q", taken.q_values))
    ]
    if isinstance(taken, ConditionalSignificance):
        verdict = Column(DIRECT, taken.verdicts(), "words", least=_VERDICT, name=DIRECT)
        columns.insert(0, verdict)
    return columns


# --- its words --------------------------------------------------------------------------------


def title_of(result: Tested) -> str:
    """Return the title of the test, with the measure if the test suits several measures."""
    test, measure = catalogue[result.method], result.metadata.get("measure")
    if not measure or sum(map(test.suits, measures)) <= 1:
        return test.title
    return f"{test.title} of {measures[measure].title}"


def limit_of(result: Tested) -> str:
    """Return the criterion of the selected features."""
    if isinstance(result, Significance):
        return f"q up to {LEVEL:g}"
    rate = catalogue[result.method].rate
    return f"{'an' if rate[0] in 'aeiou' else 'a'} {rate} up to {LEVEL:g}"


def finding(result: Tested, target: str) -> str:
    """Return sentences on the number of associated features and of possible false alarms."""
    p, chance, n = len(result), f"{LEVEL:.0%}", len(selected_by(result))
    of_all = f"{n:,} of {counted(p, 'feature')} {'is' if n == 1 else 'are'}"
    if n == p:
        of_all = f"All {p:,} features are" if p > 1 else "The only feature is"
    none = f"None of {counted(p, 'feature')} is" if p > 1 else "The only feature is not"
    if isinstance(result, ErrorRates):
        return f"{of_all} selected, with {limit_of(result)}." if n else f"{none} selected."
    if n == 0:
        return f"{none} distinguishable from noise."
    if not isinstance(result, AdjustedSignificance):
        return f"{of_all} associated with {target}; about {chance} of these may be false alarms."
    verdicts = result.verdicts(LEVEL)
    sure, likely = verdicts.count(CONFIRMED), verdicts.count(CANDIDATE)
    if not sure:
        promising = "One is" if likely == 1 else f"{likely:,} are"
        return (
            f"{none} reliably associated with {target}. {promising} promising: about {chance} of "
            "such features are false alarms."
        )
    if likely:
        of_all = f"{sure:,} of {counted(p, 'feature')} {'is' if sure == 1 else 'are'}"
    words = (
        f"{of_all} reliably associated with {target}: the chance that "
        f"{'it' if sure == 1 else 'even one of them'} is a false alarm is at most {chance}."
    )
    another = "One more is" if likely == 1 else f"Another {likely:,} are"
    among = f" {another} promising: of all {sure + likely:,}, about {chance} may be false alarms."
    return words + among * (likely > 0)


def manhattan(
    result: Tested | None, importances: Importances
) -> tuple[Any, str, float | None, str]:
    """Return the numbers that a Manhattan plot shows, their name, the line, and its meaning."""
    if not isinstance(result, AdjustedSignificance):
        return importances, "importance", None, ""
    sure, words = result.mask(LEVEL, "fwer"), f"confirmed by {title_of(result)}."
    n, least = np.count_nonzero(sure), float(result.statistics[sure].min(initial=np.inf))
    if n and (result.statistics[~sure] < least).all():  # which stages of one scale see to
        line = f" Dashed: the smallest of the {n:,} features {words}"
        return result, result.statistic_title, least, line
    return result, result.statistic_title, None, f" {n:,} features are {words}"


def sections_of(result: Tested) -> list[Section]:
    """Return the histogram of the p-values of a test, its guarantee and its notes."""
    test = catalogue[result.method]
    title, promise = f"Significance by {test.title}", test.promise.format(level=LEVEL)
    selected = selected_by(result)
    if isinstance(result, AdjustedSignificance):
        sure = result.verdicts(LEVEL).count(CONFIRMED)
        count = (
            f"{sure:,} confirmed (family-wise error rate {LEVEL:g}), {len(selected) - sure:,} "
            f"candidates (false discovery rate {LEVEL:g}){listed(selected)}."
        )
    else:
        count = f"{counted(len(selected), 'feature')} with {limit_of(result)}{listed(selected)}."
    if isinstance(result, ErrorRates):
        meaning = f"{test.rate.capitalize()}: {result.meaning}"
        return [Section(title, (count, meaning, promise, *result.notes))]
    words = _VERDICTS if isinstance(result, AdjustedSignificance) else adjusted_words(result)
    lines = count, f"Null hypothesis: {result.null}", promise, words, *result.notes
    below, p = int(np.count_nonzero(result.p_values <= LEVEL)), len(result)
    counts = f"{below:,} of {p:,} p-values are up to {LEVEL:g}."
    return [
        Section(
            title,
            caption=f"{counts} Dashed: the count expected in each bar if all features were "
            f"irrelevant and p-values uniform, {p / 20:.3g}.",
            figure=(P_VALUES, result, {}),
            text=f"Histogram of the p-values. {counts}",
        ),
        Section("Result of the test", lines),
    ]
