"""Analysis `compare`: selectors and importance rankings on random splits of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.analyses.execution import AnalysisInterrupted, Execution
from duramen.estimators.catalogue import random_forest
from duramen.evaluation import EvaluationInterrupted, SelectionEvaluation, evaluate_selection
from duramen.evaluation.result import PairedTest, number, performances
from duramen.importances import catalogue as measures
from duramen.plots.curves import SELECTION_CURVES
from duramen.reading.tables import read
from duramen.reports.report import LEVEL, Report, Section, Table, page
from duramen.results.adjustment import adjusted
from duramen.results.summary import Column, counted
from duramen.selection import catalogue as selectors
from duramen.support import checks
from duramen.support.arrays import RandomState, TableLike
from duramen.support.provenance import references

ALL = "all-features"
"""Name of the method that selects all features."""
_ROWS = 200  # of a table on the page
_CAUTIONS = (
    "The score of a method that is chosen because its score is the best here is biased upward.",
    "Training sets share most of their rows: selections on independent samples agree less.",
    "A good score does not mean that all relevant features were selected, nor that the selected "
    "features are causes of the target.",
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparisonReport(Report):
    """Report of `duramen.compare`: score, number of features, stability and time of methods.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    evaluation : SelectionEvaluation
        Scores, sizes and selections in each split.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> report = dm.compare(
    ...     data.X, data.y, methods="mdi", n_features=[1, 2], n_resamples=4, n_estimators=20,
    ...     learner="logistic_regression")
    >>> report.to_frame()["n_features"].tolist()
    [1.0, 2.0]
    """

    evaluation: SelectionEvaluation


@checks.hints_on_keywords(read)
def compare(
    data: TableLike,
    y: ArrayLike | None = None,
    *,
    methods: str | Sequence[str] | Any = None,
    n_features: int | Sequence[int] | None = None,
    n_estimators: int = 500,
    learner: str | Any = "forest",
    score: str | Sequence[str] | None = None,
    n_resamples: int = 50,
    test_size: int | float = 0.1,
    random_state: RandomState = 0,
    n_jobs: int | None = -1,
    client: Any = None,
    checkpoint: str | Path | None = None,
    verbose: int = 0,
) -> ComparisonReport:
    """Compare selectors and importance rankings on random splits of the rows.

    Selects features on training rows, predicts the test rows from them, and tells score, number of
    features, stability and time of each method.

    Parameters
    ----------
    data : LearningSet, or a source as for :func:`duramen.read`
        Table and target.
    y : str or array-like of shape (n,), optional
        Target, where `data` is a table.
    methods : str or list of str, or selectors and the like, optional
        Selector, importance measure, or all-features; by default mdi, mda and all-features. A
        selector of duramen select has its defaults; a measure of duramen rank is evaluated with its
        first features. In Python also as for :func:`duramen.evaluate_selection`.
    n_features : int or list of int, optional
        Number of top features to keep; by default 1, 2, 5, 10, 20, 50, ...
        below the number of columns.
    n_estimators : int
        Number of trees of the forests that rank and predict.
    learner : str or estimator
        Learner that predicts from the features selected: forest, linear_svm, logistic_regression,
        ridge_regression or k_nearest_neighbors. In Python also an estimator.
    score : str or list of str, optional
        Score of the predictions: balanced_accuracy, auc or r2; by default balanced_accuracy for
        classes and r2 for numbers.
    n_resamples : int
        Number of random splits into training and test rows.
    test_size : int or float
        Number of test rows, or their fraction.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int
        Number of threads, or -1 for all. The result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that runs the splits; the result does not depend on it.
    checkpoint : path, optional
        File that saves the work done; the same call resumes a stopped run from it.
    verbose : int
        Above 0: progress bars.

    Returns
    -------
    ComparisonReport
        Conclusion, table and notes; `save` writes the files of the command.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or the table is refused.
    AnalysisInterrupted
        Ctrl-C once two splits are done; its attribute ``report`` has what is finished.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> report = dm.compare(
    ...     data.X, data.y, methods=["mdi", "all-features"], n_features=2, n_resamples=4,
    ...     n_estimators=20)
    >>> report.evaluation.methods
    ('mdi', 'all-features')
    """
    arguments = dict(locals())
    execution = Execution.of(compare, arguments)
    checks.check_integer("compare", "n_estimators", n_estimators, 1)
    data = read(data, y, random_state=execution.random_state, n_jobs=n_jobs).in_memory()
    if data.exchangeability.strata is not None:
        raise ValueError("compare: strata and covariates have no effect; leave them out")
    execution.tell(*data.provenance.remarks)
    forest = random_forest(data.task, n_estimators)
    asked = {name: arguments[name] for name in ("n_resamples", "test_size")} | {
        "methods": _methods(methods),
        "n_features": list(n_features) if isinstance(n_features, tuple) else n_features,
        "learner": learner.replace("-", "_") if isinstance(learner, str) else learner,
        "score": score,
    }
    if score is not None:
        names = [score] if isinstance(score, str) else score
        asked["score"] = [name.replace("-", "_") for name in names] or None
    stop: KeyboardInterrupt | None = None
    try:
        with execution.work("evaluate"):
            evaluation = evaluate_selection(
                X=data,
                estimator=forest,
                **execution.resources,
                **{**asked, "learner": forest if learner == "forest" else asked["learner"]},
            )
    except EvaluationInterrupted as error:
        cause, evaluation = error.__context__, error.result
        stop = cause if isinstance(cause, KeyboardInterrupt) else error
        execution.obey(stop)
        execution.tell(
            f"interrupted; the results are those after {evaluation.n_resamples:,} splits"
        )
    titles = {name: performances[name].title for name in evaluation.scores}
    first, title = next(iter(titles.items()))
    all_methods, means = list(dict.fromkeys(evaluation.methods)), evaluation.mean(first)
    rankings = [name for name in all_methods if len(evaluation.rows(name)) > 1]
    enough = {name: evaluation.enough(name) for name in rankings}
    pairs = [  # undefined if a score is defined in one split only
        (one, other, test)
        for one, other in combinations(all_methods, 2)
        if np.isfinite((test := evaluation.paired_test(one, other, first)).p_value)
    ]
    p_values = adjusted(np.array([test.p_value for *_, test in pairs]), "fwer")
    run = execution.record(
        data.facts(),
        settings={
            **asked,
            "n_estimators": n_estimators,
            "methods": all_methods,
            "learner": asked["learner"] if isinstance(learner, str) else type(learner).__name__,
            "n_train": evaluation.n_train,
            "n_test": evaluation.n_test,
            **data.provenance.settings,
            "notes": list(execution.remarks),
        },
        results={
            "splits": evaluation.n_resamples,
            "enough": {name: [one.n_features, one.low, one.high] for name, one in enough.items()},
            "differences": [
                {"methods": [one, other], **test._asdict(), "adjusted": float(p)}
                for (one, other, test), p in zip(pairs, p_values, strict=True)
            ],
        },
    )

    # --- curves and table ---
    n_splits = counted(evaluation.n_resamples, "split")
    curves = {name: evaluation.mean(name) for name in titles}
    if np.isfinite(evaluation.nogueira).any():
        curves["stability"] = evaluation.nogueira
    charts = []
    for what, curve in curves.items():
        heading = titles.get(what, what)
        top = int(np.nanargmax(curve)) if np.isfinite(curve).any() else 0
        chart = Section(
            f"{heading[0].upper()}{heading[1:]} against the number of features",
            caption=f"Mean {heading} over {evaluation.n_resamples:,} splits; bands and bars are "
            f"{evaluation.confidence_level:.0%} intervals.",
            figure=(SELECTION_CURVES, evaluation, {"what": what}),
            text=f"Line chart of {heading} against the number of features. The largest is "
            f"{number(curve[top])}, of {evaluation.methods[top]} with "
            f"{evaluation.n_features[top]:.4g} features.",
        )
        charts.append(chart)
    table = Table(
        "Scores of the methods",
        tuple(evaluation.overview()),
        "One row a method; of a ranking, the number of features that suffices. result.csv has all "
        "numbers of features.",
        shown=_ROWS,
        what="methods",
        main=True,
    )
    differences = Table(
        "Differences",
        (
            Column("methods", [f"{one} less {other}" for one, other, _ in pairs], "name"),
            Column(
                f"difference of {title}",
                [
                    f"{number(test.difference)} ({number(test.low)} to {number(test.high)})"
                    for *_, test in pairs
                ],
            ),
            Column("p-value", [f"{test.p_value:.2g}" for *_, test in pairs]),
            Column("adjusted", [f"{p:.2g}" for p in p_values]),
        ),
        "One row a pair of methods: mean difference in the same splits, its interval, the p-value "
        "of the corrected resampled t test, and the p-value by Holm over all pairs.",
        shown=_ROWS,
        what="pairs",
    )
    report = page(
        ComparisonReport,
        run,
        facts={
            "methods": str(len(all_methods)),
            "splits": f"{evaluation.n_resamples:,}",
            "score": title,
        },
        sections=[*charts, table, *([differences] if pairs else [])],
        methods=(
            f"Selections by {', '.join(all_methods)} were compared in "
            f"{counted(evaluation.n_resamples, 'random split')}: features were selected on "
            f"{evaluation.n_train:,} training rows "
            "(Ambroise and McLachlan 2002), and predictions from them by a "
            f"{run.settings['learner'].replace('_', ' ')} scored on {evaluation.n_test:,} test "
            f"rows by the {title}. Methods were compared by the corrected resampled t test "
            "(Nadeau and Bengio 2003), with p-values adjusted after Holm."
        ),
        references=references(evaluate_selection, SelectionEvaluation),
        reading=(
            "Each method selected features on the training rows, a learner was fitted to these "
            "features of the training rows, and its predictions of the test rows were scored. "
            "Intervals of scores, and tests of their differences, take into account that splits "
            "share rows (Nadeau and Bengio 2003).",
            "Stability is the agreement of the selections corrected for chance (Nogueira et al. "
            "2018). The number of features that is enough is the smallest whose mean score is "
            "within one standard error of the best (Breiman et al. 1984).",
        ),
        cautions=_CAUTIONS,
        model=[
            f"{n_splits} into {evaluation.n_train:,} training and {evaluation.n_test:,} test rows"
        ],
        kind="comparison",
        title=f"Selections of features for {run.target} compared",
        conclusion=conclusion(
            evaluation, [(*methods, p) for methods, p in zip(pairs, p_values, strict=True)], stop
        ),
        table=evaluation.columns(),
        evaluation=evaluation,
        notes=tuple(execution.remarks),
    )
    if stop is not None:
        raise AnalysisInterrupted(report, stop) from None
    return report


def conclusion(
    evaluation: SelectionEvaluation,
    pairs: Sequence[tuple[str, str, PairedTest, float]] = (),
    stop: KeyboardInterrupt | None = None,
) -> str:
    """Say which method predicts best, how sure that is, and how few features suffice.

    `pairs` are the tests of two methods each, with their adjusted p-values; `stop` has ended the
    comparison early.
    """
    score = next(iter(evaluation.scores))
    means, title = evaluation.mean(score), performances[score].title
    methods = list(dict.fromkeys(evaluation.methods))
    sentences = [f"The {title} is not defined in any of the splits."]
    if np.isfinite(means).any():
        row = int(np.nanargmax(means))
        best, n = evaluation.methods[row], evaluation.n_features[row]
        tops = {evaluation.methods[i] for i in np.flatnonzero(means == means[row]).tolist()}
        features = f"{n:,.4g} {'feature' if n == 1 else 'features'}"
        reached = f"mean {title} {number(means[row])} in rows not used to select"
        if len(methods) == 1:
            sentences = [f"With {features}, {best} predicts best: {reached}."]
        elif len(tops) > 1:
            equal = "All" if len(tops) == len(methods) else ", ".join(sorted(tops))
            sentences = [f"{equal} predict equally well: {reached}."]
        else:
            sentences = [f"{best} with {features} predicts best: {reached}."]
        worse = [
            second if first == best else first
            for first, second, test, p in pairs
            if p <= LEVEL and best in (first, second) and (test.difference > 0) == (first == best)
        ]
        if len(methods) > 1 and len(worse) == len(methods) - 1:
            others = "The other method is" if len(worse) == 1 else "All other methods are"
            sentences.append(f"{others} shown to predict worse.")
        elif worse:
            sentences.append(f"Shown to predict worse: {', '.join(worse)}.")
        elif len(methods) > 1:
            sentences.append("No method is shown to predict worse.")
    fewest = list[str]()
    for name in methods:
        if len(evaluation.rows(name)) > 1:
            one = evaluation.enough(name)
            between = f"{one.confidence_level:.0%} interval {one.low:,} to {one.high:,}"
            fewest.append(f"{one.n_features:,} by {name} ({between})")
    if fewest:
        sentences.append(
            f"Fewest features that reach about the best score of a ranking: {'; '.join(fewest)}."
        )
    if stop is not None:
        splits = counted(evaluation.n_resamples, "split")
        sentences.append(f"The comparison was stopped early, after {splits}.")
    return " ".join(sentences)


def _methods(asked: Any) -> Any:
    """Return the methods as `evaluate_selection` takes them, by their names."""
    if asked is None or (isinstance(asked, tuple) and not asked):
        return {"mdi": "mdi", "mda": "mda", ALL: None}
    names = [asked] if isinstance(asked, str) else asked
    if isinstance(names, Mapping) or not isinstance(names, Iterable):
        return asked
    names = list(names)
    if not all(isinstance(name, str) for name in names):
        return names
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"compare: methods must have different names, got {twice[0]} twice")
    allowed = [ALL, *(entry.option for entry in (*selectors, *measures))]
    names = [
        checks.check_choice("compare", "methods", name.replace("_", "-"), allowed) for name in names
    ]
    return {name: None if name == ALL else name.replace("-", "_") for name in names}
