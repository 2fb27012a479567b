"""Scores, sizes and stability of selections under resampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen.catalogue import Catalogue, Entry
from duramen.data import Task
from duramen.results.result import Result
from duramen.results.summary import Column, Summary, counted
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.text import duration

_BOOTSTRAPS = 2000


@dataclass(frozen=True, eq=False)
class Performance(Entry):
    """Record of a score of predictions, the larger the better.

    Attributes
    ----------
    name : str
        Name in Python; the option ``--score`` has hyphens in it.
    title : str
        Name in tables and on axes.
    task : {"classification", "regression"}
        Targets that it is for.
    compute : callable
        Takes the target of the test rows, class codes or numbers of shape (m,), and the
        predictions: of classes an array of shape (m, C), the largest of a row for the predicted
        class; else one of shape (m,). Returns the score, NaN where it is not defined.
    range : tuple of two floats
        Least and largest score there can be, at which intervals end.
    """

    title: str
    task: Task
    compute: Callable[[NDArray[np.generic], FloatArray], float]
    range: tuple[float, float] = (-math.inf, math.inf)


def balanced_accuracy(truth: NDArray[np.generic], predicted: FloatArray) -> float:
    """Return the mean over classes of the fraction of rows whose class is predicted."""
    hit = predicted.argmax(axis=1) == truth
    return float(np.mean([hit[truth == label].mean() for label in np.unique(truth)]))


def auc(truth: NDArray[np.generic], predicted: FloatArray) -> float:
    """Return the area under the ROC curve, as a mean over classes against the others."""
    from scipy.stats import rankdata

    areas = []
    columns = range(predicted.shape[1])
    for label in columns[1:] if len(columns) == 2 else columns:
        ranks, inside = rankdata(predicted[:, label]), truth == label
        n_in, n_out = int(inside.sum()), int((~inside).sum())
        if n_in and n_out:
            areas.append((ranks[inside].sum() - n_in * (n_in + 1) / 2) / (n_in * n_out))
    return float(np.mean(areas)) if areas else float("nan")


def r2(truth: NDArray[np.generic], predicted: FloatArray) -> float:
    """Return the coefficient of determination; NaN where all test rows have one target."""
    values = truth.astype(np.float64)
    total = float(((values - values.mean()) ** 2).sum())
    return 1 - float(((values - predicted) ** 2).sum()) / total if total else float("nan")


performances: Catalogue[Performance] = Catalogue(
    "score",
    (
        Performance(
            "balanced_accuracy",
            "balanced accuracy",
            "classification",
            balanced_accuracy,
            (0, 1),
        ),
        Performance("auc", "area under the ROC curve", "classification", auc, (0, 1)),
        Performance("r2", "R2", "regression", r2, (-math.inf, 1)),
    ),
)
"""Scores of predictions by name; the first of a task is its default."""


class PairedTest(NamedTuple):
    """Difference of the mean scores of two methods on the same splits.

    Attributes
    ----------
    difference : float
        Mean score of the first method less that of the second one.
    low, high : float
        Corrected interval of the difference.
    p_value : float
        Two-sided p-value of the corrected resampled t test.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.evaluate_selection(
    ...     {"mdi": "mdi", "all": None}, data.X, data.y, n_features=[1], n_resamples=10,
    ...     random_state=0, estimator=dm.RandomForestClassifier(20), learner="logistic_regression")
    >>> result.paired_test("mdi", "all").p_value < 0.05
    False
    """

    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class SelectionEvaluation(Result):
    r"""Predictive scores, sizes and stability of selections in B random splits of the rows.

    A row r = 1..R is a method: a selector, all features, or a ranking cut at one number of
    features.

    Attributes
    ----------
    methods : tuple of str
        Name of the method of each row, of length R.
    cuts : int64 array of shape (R,)
        Number of features that was asked for; 0 where the selector decides.
    scores : mapping of str to float64 array of shape (B, R)
        Scores on the test rows of each split; NaN where they are not defined.
    sizes : int64 array of shape (B, R)
        Numbers of features selected.
    kuncheva, nogueira : float64 arrays of shape (R,)
        Stability of the selections; see `duramen.significance.reproducibility`. NaN where it is not
        defined, such as for all features.
    stability_low, stability_high : float64 arrays of shape (R,)
        Interval of `nogueira`.
    frequency : sparse array of shape (R, p)
        Fraction of the splits in which each feature is selected.
    names : tuple of str
        Names of the p features.
    n_train, n_test : int
        Rows of a training and of a test set; of groups, their means, rounded.
    confidence_level : float
        Probability with which intervals are to cover.
    metadata : mapping
        Settings, seed, versions, fingerprint; ``"seconds"``: mean time of a selection by method.

    Notes
    -----
    *Intervals of scores.* Splits share rows, so that scores of different splits are correlated. The
    interval of a mean is :math:`\bar s \mp t\,\sigma \sqrt{1/B + n_{test}/n_{train}}`, with σ the
    standard deviation over the splits and t the quantile of Student's distribution with B - 1
    degrees of freedom (Nadeau and Bengio 2003), cut at the least and the largest value of the
    score, such as 0 and 1: as the mean lies between these, it is covered as often. It is for
    learning sets of `n_train` rows.

    *Tests of two methods.* `paired_test` divides the mean difference of their scores in the same
    splits by the standard error with this factor, σ being the standard deviation of the difference.
    A t test without it takes splits for independent, and finds differences where there are none.

    References
    ----------
    C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). Classification and regression trees,
    section 3.4.3.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.evaluate_selection(
    ...     "mdi", data.X, data.y, n_features=[1, 2], n_resamples=5, random_state=0,
    ...     estimator=dm.RandomForestClassifier(20), learner="logistic_regression")
    >>> result.cuts.tolist(), result.scores["balanced_accuracy"].shape
    ([1, 2], (5, 2))
    """

    methods: tuple[str, ...]
    cuts: IntArray
    scores: Mapping[str, FloatArray]
    sizes: IntArray
    kuncheva: FloatArray
    nogueira: FloatArray
    stability_low: FloatArray
    stability_high: FloatArray
    frequency: Any
    names: tuple[str, ...]
    n_train: int
    n_test: int
    confidence_level: float
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_resamples(self) -> int:
        """Number B of splits."""
        return len(self.sizes)

    @property
    def n_features(self) -> FloatArray:
        """Mean number of features of each row, of shape (R,)."""
        return np.asarray(self.sizes.mean(axis=0), dtype=np.float64)

    @property
    def seconds(self) -> Mapping[str, float]:
        """Mean seconds of a selection, by method."""
        by_method: Mapping[str, float] = self.metadata.get("seconds", {})
        return by_method

    def rows(self, method: str) -> IntArray:
        """Return the rows of a method, by increasing number of features.

        Raises
        ------
        ValueError
            If there is no such method.
        """
        places = np.flatnonzero([name == method for name in self.methods])
        if not len(places):
            names = ", ".join(map(repr, dict.fromkeys(self.methods)))
            raise ValueError(f"SelectionEvaluation: method must be one of {names}, got {method!r}.")
        return places

    def mean(self, score: str | None = None) -> FloatArray:
        """Return the mean score of each row over the splits where it is defined, shape (R,)."""
        return _nan_mean(self._scores(score))

    def interval(self, score: str | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the corrected interval of each mean score, of shape (R,) each."""
        from scipy import stats

        values = self._scores(score)
        counts = (~np.isnan(values)).sum(axis=0)
        mean = _nan_mean(values)
        square = _nan_mean((values - mean) ** 2) * counts / np.maximum(counts - 1, 1)
        factor = 1 / np.maximum(counts, 1) + self.n_test / self.n_train
        quantile = stats.t.ppf((1 + self.confidence_level) / 2, np.maximum(counts - 1, 1))
        reach = np.where(counts > 1, quantile * np.sqrt(square * factor), np.nan)
        name = self._score_name(score)
        ends = performances[name].range if name in performances else (None, None)
        return np.clip(mean - reach, *ends), np.clip(mean + reach, *ends)

    def paired_test(self, first: str, second: str, score: str | None = None) -> PairedTest:
        """Test whether two methods have the same mean score, by the splits that they share.

        Parameters
        ----------
        first, second : str
            Names of two methods; a ranking is cut at the number of features that is enough.
        score : str, optional
            Name of a score; by default the first one.

        Returns
        -------
        PairedTest
            NaN but for the difference where both scores are defined in fewer than two splits.

        Raises
        ------
        ValueError
            If there is no such method or score.
        """
        from scipy import stats

        values = self._scores(score)
        paired = values[:, self._row(first)] - values[:, self._row(second)]
        paired = paired[~np.isnan(paired)]
        if len(paired) < 2:
            return PairedTest(float(_nan_mean(paired)), math.nan, math.nan, math.nan)
        difference, free = float(paired.mean()), len(paired) - 1
        factor = 1 / len(paired) + self.n_test / self.n_train
        error = float(paired.std(ddof=1) * np.sqrt(factor))
        reach = error * float(stats.t.ppf((1 + self.confidence_level) / 2, free))
        if error:
            p_value = float(2 * stats.t.sf(abs(difference) / error, free))
        else:  # the same difference in every split
            p_value = float(difference == 0)
        return PairedTest(difference, difference - reach, difference + reach, p_value)

    def frequencies(self, method: str, n_features: int | None = None) -> FloatArray:
        """Return the fraction of the splits in which a method selects each feature, shape (p,).

        Parameters
        ----------
        method : str
            Name of the method.
        n_features : int, optional
            Number of features where a ranking is cut; the smallest by default.
        """
        rows = self.rows(method)
        if n_features is not None:
            rows = rows[self.cuts[rows] == n_features]
            if not len(rows):
                cuts = self.cuts[self.rows(method)].tolist()
                raise checks.refuse("frequencies", "n_features", f"one of {cuts}", n_features)
        frequencies_found: FloatArray = self.frequency[rows[:1]].toarray()[0]
        return frequencies_found

    def enough(self, method: str | None = None, score: str | None = None) -> EnoughFeatures:
        """Return the smallest number of features whose score is within one error of the best.

        Parameters
        ----------
        method : str, optional
            Name of a ranking; by default the first one.
        score : str, optional
            Name of a score; by default the first one.

        Returns
        -------
        EnoughFeatures
            Standard errors are those of Nadeau and Bengio, which take into account that splits
            share rows. The interval has the numbers that the rule returns in 2,000 samples of
            :math:`1/(1/B + n_{test}/n_{train})` splits, drawn with replacement, whose means scatter
            as the correction says.

        Raises
        ------
        ValueError
            If there is no such ranking or score, it was cut at one number only, or its score is
            defined in fewer than two splits.
        """
        names = [name for name, cut in zip(self.methods, self.cuts, strict=True) if cut]
        rankings = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if not rankings:
            raise ValueError(
                "enough: there must be a ranking that is evaluated at two or more numbers of "
                "features, got none. Hint: evaluate_selection('mdi', X, y)."
            )
        name = checks.check_choice(
            "enough", "method", rankings[0] if method is None else method, rankings
        )
        rows = self.rows(name)
        values, sizes = self._scores(score)[:, rows], self.cuts[rows]
        defined = values[~np.isnan(values).any(axis=1)]
        if len(defined) < 2:
            raise ValueError("enough: the score must be defined in at least two splits, got fewer.")
        factor = 1 / self.n_resamples + self.n_test / self.n_train
        enough, best, error = _rule(defined[None], factor)
        # Means of samples of 1 / factor splits scatter as the corrected standard error says.
        count = max(2, round(1 / factor))
        drawn = np.random.default_rng(0).integers(len(defined), size=(_BOOTSTRAPS, count))
        of_samples, _, _ = _rule(defined[drawn], 1 / count)
        probability = np.bincount(of_samples, minlength=len(sizes)) / _BOOTSTRAPS
        tail, reached, at = (1 - self.confidence_level) / 2, np.cumsum(probability), int(enough[0])
        low, high = np.searchsorted(reached, [tail, 1 - tail - 1e-12]).tolist()
        return EnoughFeatures(
            method=name,
            score=self._score_name(score),
            n_features=int(sizes[at]),
            low=int(sizes[min(low, at)]),
            high=int(sizes[max(min(high, len(sizes) - 1), at)]),
            confidence_level=self.confidence_level,
            best=int(sizes[best[0]]),
            standard_error=float(error[0]),
            sizes=sizes,
            means=_nan_mean(values),
            probability=probability,
        )

    def columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame` by name, one row a method and number of features.

        They are ``method``, ``n_features`` (mean size), for each score its mean and the ends of its
        interval, such as ``auc``, ``auc_low`` and ``auc_high``, ``kuncheva``, ``nogueira``,
        ``nogueira_low`` and ``nogueira_high``.
        """
        columns: dict[str, Any] = {"method": list(self.methods), "n_features": self.n_features}
        for name in self.scores:
            low, high = self.interval(name)
            columns |= {name: self.mean(name), f"{name}_low": low, f"{name}_high": high}
        return {
            **columns,
            "kuncheva": self.kuncheva.copy(),
            "nogueira": self.nogueira.copy(),
            "nogueira_low": self.stability_low.copy(),
            "nogueira_high": self.stability_high.copy(),
        }

    def overview(self) -> list[Column]:
        """Return the columns of a table of methods: of a ranking, the number that is enough."""
        rows = [self._row(name) for name in dict.fromkeys(self.methods)]
        columns = [
            Column("method", [self.methods[r] for r in rows], "name"),
            Column("features", [f"{self.n_features[r]:.4g}" for r in rows]),
        ]
        for name in self.scores:
            mean, (low, high) = self.mean(name), self.interval(name)
            texts = [f"{mean[r]:.3f} ({number(low[r])} to {number(high[r])})" for r in rows]
            columns.append(Column(performances[name].title, texts))
        columns.append(Column("stability", [number(self.nogueira[r]) for r in rows]))
        if self.seconds:
            times = [duration(self.seconds[self.methods[r]]) for r in rows]
            columns.append(Column("time", times))
        return columns

    def _row(self, method: str) -> int:
        """Return the row of a method; of a ranking, that with the number that is enough."""
        of_method = self.rows(method)
        values = self._scores(None)[:, of_method]
        if len(of_method) == 1 or self.n_resamples == 1 or np.isnan(values).any():
            return int(of_method[0])
        enough, _, _ = _rule(values[None], 1 / self.n_resamples + self.n_test / self.n_train)
        return int(of_method[enough[0]])

    def _summary(self, rows: int) -> Summary:
        columns = [column.take(rows) for column in self.overview()]
        heading = (
            f"SelectionEvaluation: {len(dict.fromkeys(self.methods))} methods in "
            f"{self.n_resamples} splits into {self.n_train} training and {self.n_test} test rows",
        )
        below = (
            "Of each ranking, the smallest number of features within one standard error of the "
            f"best; to_frame() has all {len(self.methods)} rows.",
        )
        return Summary(heading, columns, below)

    def _score_name(self, score: str | None) -> str:
        names = tuple(self.scores)
        return checks.check_choice(
            "SelectionEvaluation", "score", names[0] if score is None else score, names
        )

    def _scores(self, score: str | None) -> FloatArray:
        return self.scores[self._score_name(score)]


def number(value: float) -> str:
    """Return a number as text, nothing for NaN."""
    return "" if np.isnan(value) else f"{value:.3f}"


def _nan_mean(values: FloatArray) -> FloatArray:
    """Return the mean over the first axis without NaN; NaN if all values are NaN."""
    present = ~np.isnan(values)
    counts = present.sum(axis=0)
    total = np.where(present, values, 0.0).sum(axis=0)
    means: FloatArray = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
    return means


# --- number of features that is enough ------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class EnoughFeatures(Result):
    """Smallest number of features whose score is within one standard error of the best.

    Attributes
    ----------
    method, score : str
        Ranking and score.
    n_features : int
        The number of features.
    low, high : int
        Interval for it.
    confidence_level : float
        Probability with which it is to cover.
    best : int
        Number of features with the best mean score.
    standard_error : float
        That of the best mean score.
    sizes : int64 array of shape (K,)
        Numbers of features that were compared.
    means : float64 array of shape (K,)
        Mean score with each.
    probability : float64 array of shape (K,)
        Fraction of the bootstrap samples in which each number was enough.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.evaluate_selection(
    ...     "mdi", data.X, data.y, n_resamples=10, random_state=0,
    ...     estimator=dm.RandomForestClassifier(20), learner="logistic_regression")
    >>> result.enough().best
    2
    """

    method: str
    score: str
    n_features: int
    low: int
    high: int
    confidence_level: float
    best: int
    standard_error: float
    sizes: IntArray
    means: FloatArray
    probability: FloatArray

    _WHAT = "numbers of features"

    def table(self) -> list[Column]:
        """Return numbers of features, mean scores, and probabilities to be enough."""
        chance = self.probability
        return [
            Column("features", name="n_features", numbers=self.sizes),
            Column(self.score, digits=3, name="mean", numbers=self.means),
            Column("enough", digits=2, bars=chance, name="probability", numbers=chance),
        ]

    def _heading(self) -> tuple[str, ...]:
        return (
            f"EnoughFeatures: {counted(self.n_features, 'feature')} by {self.method} "
            f"({self.confidence_level:.0%} interval {self.low} to {self.high})",
            f"smallest number whose {self.score} is within one standard error, "
            f"{self.standard_error:.3g}, of the best, that of {self.best}",
        )


def _rule(scores: FloatArray, factor: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the sufficient number, the best number and its error in each of S samples."""
    means = scores.mean(axis=1)
    best = means.argmax(axis=1)
    rows = np.arange(len(scores))
    error = np.sqrt(factor * scores[rows, :, best].var(axis=1, ddof=1))
    bound = means[rows, best] - error
    return (means >= bound[:, None]).argmax(axis=1), best, error
