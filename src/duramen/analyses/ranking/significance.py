"""Significance test of a ranking: the test to run, its run, and its columns and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.groups import Members, spread, whole
from duramen.data import LearningSet
from duramen.importances import Inputs, Measure
from duramen.importances import catalogue as measures
from duramen.importances.comparison import Measured
from duramen.jobs.progress import estimates
from duramen.plots.importances import P_VALUES
from duramen.reports.facts import LEVEL, adjusted_words, as_importances
from duramen.reports.report import Chart, Part, Plot, Prose
from duramen.results.columns import Column, counted
from duramen.results.conditional_significance import DIRECT, ConditionalSignificance
from duramen.results.importances import Importances
from duramen.results.significance import (
    ALONE,
    CANDIDATE,
    CONFIRMED,
    JOINTLY,
    NOISE,
    WITH_OTHERS,
    AdjustedSignificance,
    ErrorRates,
    Significance,
)
from duramen.significance import SignificanceTest, catalogue
from duramen.significance.measured import automatic, estimate_cost
from duramen.support import checks
from duramen.support.text import joined
from duramen.support.warning import gathered_warnings

Tested: TypeAlias = Significance | ErrorRates

NO_TEST = "none"
LONG = 3.0
"""Seconds from which on the expected time of a step is announced."""
_TOO_LONG = 60.0  # of the default test, seconds after which a message says how to skip it
_MANY_PERMUTATIONS = 2000  # more permutations are not proposed
_RECORDED_ELSEWHERE = (
    *("method", "measure", "estimator", "parameters", "data", "versions", "features", "ranking"),
)
_FUNCTION = {"group_score": "how"}  # parameters of tests that have another name in `duramen.rank`


# --- the test to run --------------------------------------------------------------------------


def requested(
    asked: Any,
    n_permutations: int | None,
    choices: Mapping[str, Any],
    checkpoint: Any,
    beside: bool,
) -> tuple[SignificanceTest | None, dict[str, Any]]:
    """Return the test, or None for no test, and the arguments for it that the user chose.

    `choices` are parameters that few tests take; `beside` tells whether another step uses the
    checkpoint.

    Raises
    ------
    ValueError
        If there is no such test, or it has no use for a parameter.
    """
    checks.check_optional_integer("rank", "n_permutations", n_permutations, 1)
    used = {**choices, "n_permutations": n_permutations, "checkpoint": checkpoint}
    if beside:
        del used["checkpoint"]
    used = {name: value for name, value in used.items() if value is not None}
    if asked is False or asked == NO_TEST:
        for name in used:
            raise ValueError(f"rank: {name} has no effect with test={NO_TEST!r}; leave it out")
        return None, {}
    name = asked.replace("-", "_") if isinstance(asked, str) else asked
    allowed = ["auto", NO_TEST, *(test.name for test in catalogue)]
    name = checks.check_choice("rank", "test", name, allowed)
    test = next(test for test in catalogue if test.default or test.name == name)
    if name != "auto":
        test = catalogue[name]
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
    used.pop("checkpoint", None)
    names = {**_FUNCTION, "n_permutations": test.repeats}
    return test, {names.get(parameter, parameter): value for parameter, value in used.items()}


def _able(parameter: str) -> str:
    """Return the tests that take a parameter."""
    name = _FUNCTION.get(parameter, parameter)
    return ", ".join(test.name for test in catalogue if test.takes(name))


def check_exchanges(
    test: SignificanceTest, data: LearningSet[Any], *, beside: bool, direct: bool
) -> None:
    """Check that the test, or another step, has a use for strata and groups.

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
            raise ValueError(
                f"rank: {name} has no effect with test={test.name!r}; allowed with {_able(taken)}"
            )


def measure_to_test(
    test: SignificanceTest, chosen: Sequence[Measure], estimator: Any, *, default: bool
) -> Measure | None:
    """Return the measure that is tested: the first of these that suits the test, or of all.

    There is none for a test of the rows. The default test has a measure of its own, whatever is
    ranked by.
    """
    if default:
        return measures[automatic(estimator)]
    if test.of_rows:
        return None
    return next(measure for measure in chain(chosen, measures) if test.suits(measure))


# --- its run ----------------------------------------------------------------------------------


def forest_of(test: SignificanceTest, inputs: Inputs) -> Any:
    """Return the estimator that a test grows: the ranking's, with fewer trees if need be."""
    estimator = inputs.unfitted().estimator
    if test.most_trees is not None:
        most = test.most_trees(inputs.data.n_rows)
        estimator.set_params(n_estimators=min(most, estimator.n_estimators))
    return estimator


def announce(
    what: str, estimator: Any, inputs: Inputs, n_forests: int, execution: Execution, **options: Any
) -> None:
    """Show how long forests will take, if that is more than a few seconds.

    A `most` among the options says that they may be fewer, a `skip` how to do without them.
    """
    most, skip = options.pop("most", ""), options.pop("skip", "")
    if execution.announce is None:
        return
    cost = estimate_cost(estimator, inputs.data, None, n_forests, n_jobs=inputs.n_jobs, **options)
    if cost.seconds > LONG:
        skip = skip if cost.seconds > _TOO_LONG else ""
        execution.announce(f"{what}: {most}{cost}{skip}")


def run_test(
    test: SignificanceTest,
    chosen: Mapping[str, Any],
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
    chosen : mapping
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
    data = inputs.data
    permuting = (
        test.repeats in chosen
        or execution.checkpoint is not None
        or data.exchangeability.restricted
    )
    settings = inputs.estimator.growth_settings(*data.table.shape)
    arguments = {
        "measure": "auto" if default or measure is None else measure.name,
        **test.adapt(settings, permuting),
        **chosen,
        **({} if groups is None else {"feature_groups": groups}),
        "random_state": inputs.random_state,
        "n_jobs": inputs.n_jobs,
        "client": execution.client,
        "checkpoint": execution.checkpoint,
        "verbose": inputs.verbose,
    }
    arguments = {name: value for name, value in arguments.items() if test.takes(name)}
    if measure is not None and test.grows and arguments.get("null") != "binomial":
        n_tested = len(data.names) if groups is None else len(whole(groups, data.names))
        announce(
            f"{test.title} of {measure.title}",
            forest_of(test, inputs),
            inputs,
            test.forests(test.rounds(arguments.get(test.repeats)), n_tested),
            execution,
            measure=arguments.get("measure", measure.name),
            permuted=test.permutes,
            fraction=test.fraction,
            most="at most " if test.stops_early or "stop_after" in arguments else "",
            skip="; test='none' skips it" if default else "",
        )
    with gathered_warnings() as gathered, nullcontext() if measure is None else estimates(None):
        if test.grows:
            result = test.function(forest_of(test, inputs), data, **arguments)
        elif measure is not None:
            scores = measured.get(measure.name)
            result = test.function(None if scores is None else as_importances(scores))
        elif data.target.censored:
            raise ValueError(f"rank: test={test.name!r} is not defined for survival")
        else:
            taken = {*chosen, *(["client"] if execution.client is not None else [])}
            arguments = {name: value for name, value in arguments.items() if name in taken}
            result = test.function(data.table, data.y, **arguments)
    notes = [" ".join(str(warning).split()) for warning in gathered]
    notes += [*_too_few(result), *(f"{result.method}: {note}" for note in result.notes)]
    of_groups = None
    if groups is not None and isinstance(result, AdjustedSignificance):
        features = set(data.names)
        of_groups = result.of([name for name in result.names if name not in features])
        result = result.of(data.names)
        sure = of_groups.selected(LEVEL, "fwer")
        notes.append(
            f"{result.method}: groups were tested first, and {len(sure):,} of {len(of_groups):,} "
            f"are confirmed{_listed(sure)}; the features of a group are confirmed if they and "
            "their group are"
        )
    elif groups is not None:
        low = [name for name, rate in result if rate <= LEVEL]
        notes.append(
            f"{result.method}: the rates are those of {len(result):,} groups, ranked by the "
            f"{result.metadata['how']} of the importances of their features; {len(low):,} of the "
            f"groups have a rate up to {LEVEL:g}{_listed(low)}"
        )
        result = spread(result, groups, source)
    metadata = {**result.metadata, "measure": "" if measure is None else measure.name}
    return replace(result, notes=tuple(dict.fromkeys(notes)), metadata=metadata), of_groups


def _too_few(result: Any) -> list[str]:
    """Return a note where there are too few permutations for any feature to be selected."""
    rounds, p = result.metadata.get("n_permutations"), len(result)
    q_values = getattr(result, "q_values", None)
    if isinstance(result, AdjustedSignificance) or rounds is None or q_values is None:
        return []
    if (q_values <= LEVEL).any() or "fitted" in result.details or p <= LEVEL * (rounds + 1):
        return []
    default, needed = next(test for test in catalogue if test.default), round(p / LEVEL)
    more = f"n_permutations={needed} or " * (needed <= _MANY_PERMUTATIONS)
    return [
        f"{result.method}: {rounds:,} permutations are too few for a single feature, among {p:,}, "
        f"to have q up to {LEVEL:g}; use {more}test={default.name!r}"
    ]


def _listed(names: Sequence[str]) -> str:
    return f": {joined(names, shown=10)}" if names else ""


# --- its result -------------------------------------------------------------------------------


def test_of(result: Tested) -> SignificanceTest:
    """Return the record of the test."""
    return catalogue[result.method]


def title_of(result: Tested) -> str:
    """Return the title of the test and, where it can test several, that of the measure."""
    test, measure = test_of(result), result.metadata.get("measure")
    if not measure or sum(map(test.suits, measures)) <= 1:
        return test.title
    return f"{test.title} of {measures[measure].title}"


def limit_of(result: Tested) -> str:
    """Return the criterion of the selected features."""
    if isinstance(result, Significance):
        return f"q up to {LEVEL:g}"
    rate = test_of(result).rate
    return f"{'an' if rate[0] in 'aeiou' else 'a'} {rate} up to {LEVEL:g}"


def meaning_of(result: Tested) -> str:
    """Return the null hypothesis, or the meaning of the rates, in one sentence."""
    if isinstance(result, Significance):
        return f"Null hypothesis: {result.null}"
    return f"{test_of(result).rate.capitalize()}: {result.meaning}"


def verdicts_of(result: Tested | None) -> dict[str, str]:
    """Return the verdict on each feature; empty for a test without verdicts."""
    if not isinstance(result, AdjustedSignificance):
        return {}
    return dict(zip(result.names, result.verdicts(LEVEL), strict=True))


def statistics_beside(result: Tested) -> tuple[str, ...]:
    """Return the kinds of statistics that verdicts compare beside importances."""
    return tuple(kind for kind in ("marginal", "joint") if f"{kind}_statistic" in result.details)


def selected_by(result: Tested) -> tuple[str, ...]:
    """Return the features with a q-value or error rate up to `LEVEL`, the best first.

    Of a test with verdicts, these are the confirmed features and the candidates.
    """
    if isinstance(result, AdjustedSignificance):
        verdicts = verdicts_of(result)
        return tuple(result.names[j] for j in result.order() if verdicts[result.names[j]] != NOISE)
    if isinstance(result, Significance):
        return result.selected(LEVEL)
    return result.names[: int(np.count_nonzero(result.rates <= LEVEL))]


def counts_of(result: AdjustedSignificance) -> dict[str, int]:
    """Return the number of features with each verdict."""
    verdicts = result.verdicts(LEVEL)
    return {verdict: verdicts.count(verdict) for verdict in (CONFIRMED, CANDIDATE, NOISE)}


def settings_of(result: Tested) -> dict[str, Any]:
    """Return the settings of the test, for the record."""
    recorded = result.metadata.get(result.method, result.metadata)
    more = {name: value for name, value in recorded.items() if name not in _RECORDED_ELSEWHERE}
    if isinstance(result, AdjustedSignificance):
        more = {"n_estimators": int(recorded["parameters"]["n_estimators"]), **more}
    return {"method": result.method, "measure": result.metadata["measure"] or None, **more}


def figures_of(result: Tested) -> dict[str, Any]:
    """Return the null hypothesis and the numbers of selected features, for the record."""
    n, notes = len(selected_by(result)), {"notes": list(result.notes)}
    if isinstance(result, ErrorRates):
        rate = test_of(result).rate.replace(" ", "_")
        return {"meaning": result.meaning, f"features_with_{rate}_up_to_{LEVEL:g}": n, **notes}
    if not isinstance(result, AdjustedSignificance):
        return {"null": result.null, f"features_with_q_up_to_{LEVEL:g}": n, **notes}
    figures = {"null": result.null, "level": LEVEL, **counts_of(result), **notes}
    if beside := statistics_beside(result):
        evidence = result.evidence(LEVEL)
        words = (ALONE, *([JOINTLY] if "joint" in beside else []), WITH_OTHERS)
        figures["evidence"] = {word: evidence.count(word) for word in words}
    return figures


def facts_of(result: Tested) -> dict[str, str]:
    """Return counts of features for the head of a report by their names."""
    if not isinstance(result, AdjustedSignificance):
        return {f"with {limit_of(result)} by {title_of(result)}": f"{len(selected_by(result)):,}"}
    counts = counts_of(result)
    likely = "candidate" if counts[CANDIDATE] == 1 else "candidates"
    return {
        f"confirmed by {title_of(result)}": f"{counts[CONFIRMED]:,}",
        likely: f"{counts[CANDIDATE]:,}",
    }


# --- columns ----------------------------------------------------------------------------------

_NEGATIVE = " (importance < 0)"
_VERDICT = 12  # characters that a narrow terminal leaves to the verdict of a conditional test


def columns_of(result: Tested, names: Sequence[str]) -> list[Column]:
    """Return p and q, or the error rate, or the verdicts, of these features."""
    test = test_of(result)
    if isinstance(result, ErrorRates):
        places = result.places(names)
        rates, known = result.rates[places], places < result.n_known
        pairs = zip(rates.tolist(), known.tolist(), strict=True)
        cells = [f"{rate:.2g}" if here else f"> {LEVEL:g}" for rate, here in pairs]
        word = test.rate.replace(" ", "_")
        name = f"{test.name.removesuffix(f'_{word}')}_{word}"
        return [Column(test.rate, cells, name=name, numbers=rates)]
    taken = result.of(names)
    if isinstance(taken, AdjustedSignificance):
        words: dict[str, Sequence[str]] = {"verdict": taken.verdicts(LEVEL)}
        if statistics_beside(taken):
            words["evidence"] = _evidence(taken)
        return [
            *(Column(word, cells, "words", name=word) for word, cells in words.items()),
            Column("p adj.", digits=0, minor=1, name="p_adjusted", numbers=taken.p_adjusted),
            Column("FDR", digits=0, minor=1, name="fdr", numbers=taken.q_values),
        ]
    named = {"p": taken.p_values, "q": taken.q_values}
    columns = [
        Column(
            f"{letter}, {test.title}",
            digits=0,
            minor=int(letter == "p"),
            name=f"{test.name}_{letter}_value",
            numbers=numbers,
        )
        for letter, numbers in named.items()
    ]
    if isinstance(taken, ConditionalSignificance):
        verdict = Column(DIRECT, taken.verdicts(), "words", least=_VERDICT, name=DIRECT)
        columns.insert(0, verdict)
    return columns


def _evidence(result: AdjustedSignificance) -> list[str]:
    """Return the evidence, and which candidates by themselves have negative importances."""
    likely, evidence = np.array(result.verdicts(LEVEL)) == CANDIDATE, result.evidence(LEVEL)
    negative = likely & (np.array(evidence) == ALONE) & (result.scores < 0)
    return [
        word + _NEGATIVE if below else word for word, below in zip(evidence, negative, strict=True)
    ]


# --- sentences --------------------------------------------------------------------------------

_VERDICTS = (
    f"Features whose family-wise adjusted p-value (p adj., step-down max-T) is up to {LEVEL:g} "
    "are confirmed. Of the others, those with an estimated false discovery rate (FDR) up to "
    f"{LEVEL:g} and a p-value of their own up to {LEVEL:g} are candidates. The others are called "
    "noise, because they were not distinguished from noise; this is no evidence that a feature is "
    "irrelevant."
)
_EVIDENCE = (
    'The evidence of a confirmed feature is "alone" if its rank statistic confirms it, {jointly}'
    'and "with others" if only its importance in the forests of the test does, as that of features '
    "that act through interactions. The evidence of a candidate is its largest statistic."
)
_COMPARED = {
    "": "standardized importance",
    "marginal": "a rank statistic of the feature by itself",
    "joint": "its effect in a linear model of all features",
}


def compared_words(result: Tested) -> str:
    """Return the statistics that verdicts compare."""
    first, *others = [_COMPARED[kind] for kind in ("", *statistics_beside(result))]
    if len(others) < 2:
        return " and ".join([f"the larger of {first}", *others]) if others else first
    return f"the largest of {first}, {others[0]}, and {others[1]}"


def order_note(result: Tested, title: str) -> str:
    """Return how verdicts order a table, and what they compare; empty without verdicts."""
    if not isinstance(result, AdjustedSignificance):
        return ""
    alone = '; evidence "with others": only the importance reaches the threshold'
    return (
        f"Features are in the order of verdicts, then of {title}. Verdicts compare "
        f"{compared_words(result)}{alone if statistics_beside(result) else ''}."
    )


def count_words(result: Tested) -> str:
    """Return the number of selected features in a sentence."""
    of_all, title = counted(len(result), "feature"), title_of(result)
    if not isinstance(result, AdjustedSignificance):
        n = len(selected_by(result))
        return f"{n:,} of {of_all} {'has' if n == 1 else 'have'} {limit_of(result)} by {title}"
    counts = counts_of(result)
    sure, likely = counts[CONFIRMED], counts[CANDIDATE]
    if not sure + likely:
        return (
            f"None of {of_all} is confirmed (family-wise error rate {LEVEL:g}) or a candidate "
            f"(false discovery rate {LEVEL:g}) by {title}: none is distinguished from noise"
        )
    confirmed = (
        f"{f'{sure:,}' if sure else 'None'} of {of_all} {'are' if sure > 1 else 'is'} confirmed by "
        f"{title} (family-wise error rate {LEVEL:g})"
    )
    if not likely:
        return confirmed
    among = f"among all {sure + likely:,} " if sure + likely > 1 else ""
    return (
        f"{confirmed}, {_candidates(sure, likely)} (estimated false discovery rate {among}at most "
        f"{LEVEL:g})"
    )


def threshold_of(result: Tested | None, importances: Importances) -> float | None:
    """Return the smallest importance of the selected features; None if there is none.

    Verdicts compare test statistics: no importance divides them.
    """
    if result is None or isinstance(result, AdjustedSignificance):
        return None
    chosen = set(selected_by(result))
    return min((value for name, value in importances if name in chosen), default=None)


def line_words(result: Tested, importances: Importances, shown: Sequence[str] = ()) -> str:
    """Return the meaning of the line in a ranking, or the verdicts on the features shown there."""
    title = title_of(result)
    if isinstance(result, AdjustedSignificance):
        counts = list(map(verdicts_of(result).get, shown))
        sure, likely = counts.count(CONFIRMED), counts.count(CANDIDATE)
        words = [f"{sure or 'none'} {'are' if sure > 1 else 'is'} confirmed"]
        words += [_candidates(sure, likely)] if likely else []
        return f"Of these, {' and '.join(words)} by {title}."
    chosen, threshold = set(selected_by(result)), threshold_of(result, importances)
    if threshold is None:
        return f"No line: no feature has {limit_of(result)} by {title}."
    beyond = sum(value >= threshold and name not in chosen for name, value in importances)
    count = f"the {len(chosen):,} features" if len(chosen) > 1 else "the only feature"
    line = (
        f"Dashed: the smallest importance of {count} with {limit_of(result)} by "
        f"{test_of(result).title}."
    )
    more = f" {beyond:,} more features are beyond it, but do not meet this limit."
    return line + more * (beyond > 0)


def _candidates(sure: int, likely: int) -> str:
    more = f"{likely:,} more" if sure else f"{likely:,}"
    return f"{more} {'is a candidate' if likely == 1 else 'are candidates'}"


def sections_of(result: Tested) -> list[Part]:
    """Return the sections about a test: the histogram of its p-values, and its guarantee."""
    test, sections = test_of(result), list[Part]()
    title, promise = f"Significance by {test.title}", [test.promise.format(level=LEVEL)]
    if isinstance(result, Significance) and len(result):
        below, p = int(np.count_nonzero(result.p_values <= LEVEL)), len(result)
        sections.append(
            Chart(
                title,
                Plot(P_VALUES, result),
                f"Histogram of the p-values of {p:,} features; {below:,} are up to {LEVEL:g}.",
                f"{below:,} of {p:,} p-values are up to {LEVEL:g}. Dashed: the count expected in "
                f"each bar if all features were irrelevant and p-values uniform, {p / 20:.3g}.",
            )
        )
        title = "Result of the test"
    if isinstance(result, AdjustedSignificance):
        promise.append(_VERDICTS)
        if beside := statistics_beside(result):
            jointly = '"jointly" if that in a linear model of all features does, '
            promise.append(_EVIDENCE.format(jointly=jointly if "joint" in beside else ""))
    elif isinstance(result, Significance):
        promise.append(adjusted_words(result))
    lines = (
        f"{count_words(result)}{_listed(selected_by(result))}.",
        meaning_of(result),
        " ".join(promise),
        *([_grown(result)] if test.grows else []),
        *result.notes,
    )
    return [*sections, Prose(title, lines)]


def _grown(result: Tested) -> str:
    """Return a paragraph on the forests of the test."""
    if not isinstance(result, AdjustedSignificance):
        return (
            "The test grew its own forests, so that its scores differ from the importances shown "
            "by random variation between forests."
        )
    metadata, stages = result.metadata, int(max(result.details.get("stage", ()), default=1))
    several = (
        f" There were {stages} stages: in each after the first, the features confirmed before were "
        "permuted together with the target, and the others were tested again."
    )
    return (
        f"The test grew {metadata.get('n_forests', metadata.get('n_permutations', 0) + 1):,} "
        f"forests, with {metadata.get('parameters', {}).get('n_estimators', 'as many')} trees "
        f"each. It compares features by {compared_words(result)}, in units of their spread under "
        f"permuted labels.{several * (stages > 1)}"
    )
