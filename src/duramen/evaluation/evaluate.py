"""Evaluation of selectors and rankings: predictive score, size, stability and time."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, vstack

from duramen.data import Exchangeability
from duramen.data.learning_sets import unweighted_set
from duramen.estimators.catalogue import random_forest
from duramen.evaluation.learners import (
    N_TREES,
    Data,
    Part,
    described,
    learner_of,
    matrix_of,
    predictions,
    takes_matrix,
)
from duramen.evaluation.result import Performance, SelectionEvaluation, performances
from duramen.importances import Inputs, Measure
from duramen.importances import catalogue as measures
from duramen.importances.refit import check_task, qualified, seeded_parts, template_of
from duramen.jobs.replicates import Plan, replicate_seed, run_jobs
from duramen.results.significance import Significance
from duramen.selection import BaseSelector
from duramen.selection import catalogue as selectors
from duramen.significance.agreement import drawn_best, stability
from duramen.significance.measured import MeasureLike, of_function
from duramen.significance.resampling import Draw, SamplingUnits, subsamples
from duramen.support import checks
from duramen.support.arrays import Arrays, IntArray, RandomState, TableLike
from duramen.support.provenance import versions

_OWNER = "evaluate_selection"


@dataclass(frozen=True)
class Ranking:
    """Features ranked by an importance measure of a forest, for `evaluate_selection`.

    Parameters
    ----------
    measure : str or callable
        Name of a measure in `duramen.importances.catalogue`, or ``measure(forest, X, y)`` that
        returns importances.
    estimator : estimator of duramen, optional
        Parameters of the forest; by default the one that `evaluate_selection` is given. Rankings
        with one forest in common take the same grown forest.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.evaluation.Ranking("mda", dm.RandomForestClassifier(1000)).measure
    'mda'
    """

    measure: MeasureLike
    estimator: Any = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Method:
    """Method that selects features of training rows: a selector, a ranking, or all features."""

    name: str  # in tables
    cuts: tuple[int, ...]  # numbers of features that it selects; 0 where it decides itself
    identity: str  # description for checkpoints
    selector: Any = None
    dense: bool = False  # whether the selector takes a matrix of numbers
    measure: Measure | None = None  # of a ranking
    template: Any = None  # the forest of a ranking

    def select(
        self, part: Part, grown: dict[int, tuple[Any, float]], seed: int
    ) -> tuple[list[IntArray], float]:
        """Return the features for each cut, ascending, and the seconds that it took.

        Rankings of one template have the forest in common: `grown` holds it, and the seconds.
        """
        # A seed from the method's name does not depend on the other methods.
        sequence = np.random.SeedSequence(seed, spawn_key=(3, zlib.crc32(self.name.encode())))
        own = int(sequence.generate_state(1, np.uint64)[0])
        if self.selector is not None:
            model, data = seeded_parts(self.selector, own), part.data
            if not getattr(model, "exchanges_groups", False):  # it refuses groups
                data = data.with_exchangeability(Exchangeability(data.n_rows))
            fitted = (part.matrix, part.target) if self.dense else (data,)
            start = time.perf_counter()
            model.fit(*fitted)
            return [np.flatnonzero(model.get_support())], time.perf_counter() - start
        if self.measure is None:
            return [np.arange(part.data.n_columns)], 0.0
        forest, seconds = self.template, 0.0
        if not self.measure.refits:
            if id(forest) not in grown:
                start = time.perf_counter()
                made = seeded_parts(forest, seed).fit(part.data)
                grown[id(forest)] = made, time.perf_counter() - start
            forest, seconds = grown[id(forest)]
        start = time.perf_counter()
        importances = self.measure(Inputs(forest, part.data, own % 2**32, 1))
        seconds += time.perf_counter() - start
        scores = importances.scores if isinstance(importances, Significance) else importances.values
        # Lots decide between equal scores; they are the same for all cuts: selections are nested.
        best = [drawn_best(scores, k, np.random.default_rng(own)) for k in self.cuts]
        return [np.flatnonzero(columns) for columns in best], seconds


def _methods_of(methods: Any, estimator: Any, data: Data, n_features: Any) -> tuple[Method, ...]:
    """Return the methods that the user asks for.

    Raises
    ------
    TypeError, ValueError
        If one is not as `evaluate_selection` describes, or two have one name.
    """
    if isinstance(methods, Mapping):
        named = dict(methods)
        names = list(named)
    else:
        single = isinstance(methods, str | Ranking) or not isinstance(methods, Iterable)
        requests = [methods] if single else list(methods)
        names = []
        for request in requests:
            method = request.measure if isinstance(request, Ranking) else request
            if not isinstance(method, str):
                method = getattr(method, "__name__", type(method).__name__)
            names.append("all features" if request is None else method)
        named = dict(zip(names, requests, strict=True))
    if not named or len(named) < len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"{_OWNER}: methods must have different names, got {names}. Hint: a dict of methods by "
            "names."
        )
    p = data.n_columns
    if n_features is None:  # 1, 2, 5, 10, 20, 50, ... below p
        series = [step * 10**e for e in range(len(str(p))) for step in (1, 2, 5)]
        cuts = [k for k in series if k < p] or [1]
    else:
        cuts = [n_features] if checks.is_integer(n_features) else list(n_features)
        good = {k for k in cuts if checks.is_integer(k) and 1 <= k <= p}
        if not cuts or len(good) < len(cuts):
            allowed = f"different numbers in 1..{p}, the number of features"
            raise checks.refuse(_OWNER, "n_features", allowed, n_features)

    def template_for(forest: Any) -> Any:
        template = template_of(forest, _OWNER)
        check_task(template, data.target, _OWNER)
        return template.set_params(n_jobs=1, verbose=0)

    common = template_for(random_forest(data.task, N_TREES) if estimator is None else estimator)
    made = []
    for name, request in named.items():
        if request is None:
            made.append(Method(name=name, cuts=(p,), identity="all features"))
            continue
        if isinstance(request, str) and request in selectors:
            if data.task not in selectors[request].tasks:
                raise ValueError(
                    f"{_OWNER}: selector {request!r} is for classes, the target is numbers."
                )
            request = selectors[request].make()
        if hasattr(request, "get_support") and hasattr(request, "fit"):
            from sklearn.base import clone

            selector, dense = clone(request), not isinstance(request, BaseSelector)
            if not dense:
                working = {"n_jobs": 1, "client": None, "checkpoint": None, "verbose": 0}
                parameters = selector.get_params(deep=False)
                selector.set_params(**{key: working[key] for key in working if key in parameters})
            identity = described(selector)
            method = Method(name=name, cuts=(0,), identity=identity, selector=selector, dense=dense)
            made.append(method)
            continue
        ranking = Ranking(request) if isinstance(request, str) or callable(request) else request
        if not isinstance(ranking, Ranking):
            raise TypeError(
                f"{_OWNER}: methods must be selectors, names or functions of measures, or None for "
                f"all features, got {type(request).__name__}. Hint: "
                "dm.evaluation.Ranking('mdi', forest) ranks by a forest of its own."
            )
        if callable(ranking.measure):
            measure, of_measure = of_function(ranking.measure), qualified(ranking.measure)
        elif ranking.measure in measures:
            measure, of_measure = measures[ranking.measure], ranking.measure
        else:
            names_of_methods = ", ".join(entry.name for entry in (*selectors, *measures))
            raise checks.refuse(
                _OWNER, "methods", f"names among {names_of_methods}", ranking.measure
            )
        if not measure.suits(data.target):
            raise ValueError(
                f"{_OWNER}: measure {measure.name!r} needs a target of classes, got numbers."
            )
        template = common if ranking.estimator is None else template_for(ranking.estimator)
        identity = f"{of_measure} of {described(template)}"
        ascending = tuple(sorted(map(int, cuts)))
        method = Method(
            name=name, cuts=ascending, identity=identity, measure=measure, template=template
        )
        made.append(method)
    return tuple(made)


class EvaluationInterrupted(KeyboardInterrupt):
    """Ctrl-C during an evaluation.

    Attributes
    ----------
    result : SelectionEvaluation
        Of the splits that were done.
    """

    def __init__(self, result: SelectionEvaluation) -> None:
        super().__init__(f"{_OWNER}: interrupted after {result.n_resamples} splits")
        self.result = result


def evaluate_selection(
    methods: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    n_features: Any = None,
    estimator: Any = None,
    learner: Any = None,
    score: str | Sequence[str] | None = None,
    n_resamples: int = 50,
    test_size: int | float = 0.1,
    confidence_level: float = 0.95,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> SelectionEvaluation:
    """Evaluate selectors and rankings: predictive score, size, stability and time.

    The rows are split at random into training and test rows, B times. In each split every method
    selects features on the training rows, a learner is fitted to these features of the training
    rows, and its predictions of the test rows are scored. All methods have the same splits.

    Parameters
    ----------
    methods : selector, str, callable, Ranking, None, or a list or dict of such
        What is evaluated; a dict has their names.

        * A selector with `fit` and `get_support`: of this package, such as ``dm.Boruta()``, or of
          scikit-learn, which is given numbers.
        * Name in `duramen.selection.catalogue`: that selector with its defaults.
        * Name in `duramen.importances.catalogue`, or ``measure(forest, X, y)`` that returns
          importances: a ranking, cut at `n_features`; `duramen.evaluation.Ranking` has a forest of
          its own.
        * None: all features.
    X : table of shape (n, p), or LearningSet
        The rows; a store is read into memory.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    n_features : int or sequence of int, optional
        Numbers of features at which rankings are cut; 1, 2, 5, 10, 20, 50, ... below p by default.
    estimator : estimator of duramen, optional
        Forest of the rankings; by default a random forest of 500 trees.
    learner : str or estimator, optional
        What predicts: "forest" (the default: a random forest of 500 trees), "linear_svm",
        "logistic_regression", "ridge_regression", "k_nearest_neighbors" (of scikit-learn, on
        features scaled to unit variance, with the median of the training rows where a value is
        missing), or any estimator. Where no feature is selected, the
        class frequencies or the mean of the training rows are predicted.
    score : str or sequence of str, optional
        "balanced_accuracy" and "auc" (the mean of each class against the others) for classes,
        "r2" for numbers; by default the first of the task.
    n_resamples : int
        Number B of splits.
    test_size : int or float
        Test rows of a split, or their fraction; drawn within classes if there are any.
    confidence_level : float
        Probability with which intervals are to cover.
    groups : array-like of shape (n,), optional
        Label of the group of each row, such as the person or family. Groups are not divided, and
        `test_size` counts groups.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers. Random states of methods and of the learner are set from it, in
        each split anew.
    n_jobs : int, optional
        Threads; the result does not depend on it, apart from times.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished splits: an interrupted run resumes from it, to the same result.
    verbose : int
        Above 0: the time that all splits will take, once the first is done, and a progress bar
        with the time left.

    Returns
    -------
    SelectionEvaluation

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.
    EvaluationInterrupted
        A KeyboardInterrupt, with the result of the splits that were done, if these are two or more.

    Notes
    -----
    *What it estimates.* Scores are those of selecting *and* learning on `n_train` rows. A method
    that was chosen because it was the best of several here needs other rows for its score.

    *Stability* is that of selections on training sets that have most rows in common; the larger
    `test_size`, the less stable a method looks.

    References
    ----------
    C. Ambroise, G. J. McLachlan (2002). Selection bias in gene extraction on the basis of
    microarray gene-expression data. PNAS 99. J. Paul, M. Verleysen, P. Dupont (2013).
    Identification of statistically significant features from random forests. ECML workshop on
    Solving Complex Machine Learning Problems with Ensemble Methods.

    Examples
    --------
    >>> import duramen as dm
    >>> from sklearn.feature_selection import SelectKBest
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.evaluate_selection(
    ...     {"F test": SelectKBest(k=2), "all": None}, data.X, data.y, n_resamples=5,
    ...     learner="logistic_regression", random_state=0)
    >>> result.to_frame()["n_features"].to_list()
    [2.0, 6.0]
    """
    n = checks.check_integer(_OWNER, "n_resamples", n_resamples, 2)
    confidence_level = checks.check_real(
        _OWNER, "confidence_level", confidence_level, 0, 1, ends="()"
    )
    plan = Plan.checked(_OWNER, n_jobs, checkpoint, verbose, client)
    learning_set = unweighted_set(X, y, _OWNER, n_jobs=plan.n_threads, groups=groups)
    data: Data = learning_set.in_memory()
    if data.exchangeability.strata is not None:
        raise checks.refuse(
            _OWNER, "X", "a learning set without strata", "one with strata", "learning_set again"
        )
    chosen = _methods_of(methods, estimator, data, n_features)
    fitted, of_learner = learner_of(learner, data.target, _OWNER)
    scored = _performances(score, data)
    draw, (n_train, n_test) = _splits(data, test_size)
    seed = checks.draw_seed(random_state)
    matrix = None
    if takes_matrix(fitted) or any(entry.dense for entry in chosen):
        matrix = matrix_of(data, _OWNER)
    names = tuple(method.name for method in chosen for _ in method.cuts)
    cuts = np.array([cut for method in chosen for cut in method.cuts], dtype=np.int64)
    settings = {
        "method": _OWNER,
        "methods": {entry.name: entry.identity for entry in chosen},
        "n_features": cuts.tolist(),
        "learner": of_learner,
        "scores": [entry.name for entry in scored],
        "test_size": repr(test_size),
        "fingerprint": data.fingerprint,
        "versions": versions(),
        **data.exchangeability.identity(),
    }

    def split(b: int, seed: int) -> Arrays:
        """Return scores, sizes, the features selected, and the seconds of each method."""
        rows = draw(np.random.default_rng(seed))
        rest = np.setdiff1d(np.arange(data.n_rows), rows)
        train = Part.of(data, matrix, rows, (b, "train"))
        test = Part.of(data, matrix, rest, (b, "test"))
        grown: dict[int, tuple[Any, float]] = {}
        selected, seconds = [], []
        for method in chosen:
            features, taken = method.select(train, grown, replicate_seed(seed, 2))
            selected += features
            seconds.append(taken)
        learning = int(np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(1)[0])
        scores_of_columns: dict[bytes, list[float]] = {}  # methods may agree
        for columns in selected:
            key = columns.tobytes()
            if key not in scores_of_columns:
                predicted = predictions(fitted, train, test, columns, learning)
                scores_of_columns[key] = [one.compute(test.target, predicted) for one in scored]
        return {
            "scores": np.array([scores_of_columns[columns.tobytes()] for columns in selected]).T,
            "sizes": np.array([len(columns) for columns in selected], dtype=np.int64),
            "selected": np.concatenate(selected).astype(np.int64),
            "seconds": np.array(seconds),
        }

    def result(splits: list[Arrays]) -> SelectionEvaluation:
        sizes = np.array([one["sizes"] for one in splits])
        scores = np.array([one["scores"] for one in splits])
        seconds = np.mean([one["seconds"] for one in splits], axis=0).tolist()
        ends = np.cumsum(sizes, axis=1)
        agreed = []
        for r in range(len(names)):
            selected = np.zeros((len(splits), data.n_columns), dtype=np.bool_)
            for b, one in enumerate(splits):
                selected[b, one["selected"][ends[b, r] - sizes[b, r] : ends[b, r]]] = True
            agreed.append(stability(selected, confidence_level=confidence_level))
        columns = np.array([[one.kuncheva, one.nogueira, one.low, one.high] for one in agreed])
        by_method = dict(zip((method.name for method in chosen), seconds, strict=True))
        own = {"n_rows": data.n_rows, "seed": seed, "n_resamples": len(splits)}
        return SelectionEvaluation(
            methods=names,
            cuts=cuts,
            scores={one.name: scores[:, i] for i, one in enumerate(scored)},
            sizes=sizes,
            kuncheva=columns[:, 0],
            nogueira=columns[:, 1],
            stability_low=columns[:, 2],
            stability_high=columns[:, 3],
            frequency=csr_array(vstack([csr_array(one.frequency[None, :]) for one in agreed])),
            names=data.names,
            n_train=n_train,
            n_test=n_test,
            confidence_level=confidence_level,
            metadata={**settings, **own, "seconds": by_method},
        )

    def interrupted(splits: list[Arrays]) -> None:
        if len(splits) >= 2:
            raise EvaluationInterrupted(result(splits))

    results = run_jobs(
        split,
        n,
        seed=seed,
        identity=settings,
        plan=plan,
        function=_OWNER,
        unit="split",
        interrupted=interrupted,
    )
    return result(results)


def _performances(asked: str | Sequence[str] | None, data: Data) -> tuple[Performance, ...]:
    suited = [performance.name for performance in performances if performance.task == data.task]
    names = suited[:1] if asked is None else [asked] if isinstance(asked, str) else list(asked)
    if not names or len(set(names)) < len(names):
        raise checks.refuse(_OWNER, "score", f"different names among {', '.join(suited)}", asked)
    return tuple(performances[checks.check_choice(_OWNER, "score", name, suited)] for name in names)


def _splits(data: Data, test_size: Any) -> tuple[Draw, tuple[int, int]]:
    """Return the draw of training rows, and the rows of both parts; of groups, their means."""
    units = SamplingUnits.of(data)
    most = units.count - max(2, units.n_classes)
    size = 0
    if checks.is_integer(test_size):
        size = int(test_size)
    elif checks.is_real(test_size) and 0 < test_size < 1:
        size = max(1, round(float(test_size) * units.count))
    least = 1 if data.classes is not None else 2
    if not least <= size <= most:
        raise checks.refuse(
            _OWNER,
            "test_size",
            f"{least} to {most} of the {units.count} {units.name}, or a fraction",
            test_size,
        )
    draw = units.rows(subsamples(units.labels, units.count, units.count - size))
    n_test = round(size / units.count * data.n_rows)
    return draw, (data.n_rows - n_test, n_test)
