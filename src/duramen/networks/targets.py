"""Forest of a target: scores of its inputs, their null distribution, and predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen import importances
from duramen.data import EncodedTable, LearningSet, NumberTarget, Target
from duramen.data.learning_sets import learning_set_of
from duramen.data.target import column_target
from duramen.forests.forest import mean_decreases
from duramen.forests.gradient_boosting import GradientBoosting
from duramen.forests.growth import grow
from duramen.forests.memory import refuse_large_forest
from duramen.forests.settings import GrowthSettings, split_family
from duramen.importances.measure import Inputs
from duramen.importances.refit import for_task
from duramen.jobs.replicates import replicate_seed
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.text import quoted

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

LAST_LEVEL = "last_level"
_SEEDS = 2**32  # seeds of estimators lie below
_ABOVE = 1e-6  # keeps the logarithm of the smallest level finite


@dataclass(frozen=True, eq=False)
class Links:
    """Job of a target: the weights of the links from all sources to it, and their p-values.

    Attributes
    ----------
    table : EncodedTable
        n rows of p variables: the inputs.
    sources, targets : int64 arrays
        Indices of variables, ascending.
    responses : float64 array of shape (n, p) or None
        Numbers that the forests of the targets predict; None where each predicts the variable
        itself.
    usable : bool array of shape (n, p) or None
        Rows that tell of the regulation of a variable; None for all.
    template : estimator of duramen, or GradientBoosting
        Parameters of the forests; that of targets of the other task follows from it.
    measure, normalization, n_permutations, null
        As for :func:`duramen.genie3`.
    seed : int
        Seed of the network; that of a target follows from it and the target's index.
    function : str
        Function that the user called, for errors.
    """

    table: EncodedTable
    sources: IntArray
    targets: IntArray
    responses: FloatArray | None
    usable: BoolArray | None
    template: BaseForest | GradientBoosting
    measure: str
    normalization: str
    n_permutations: int
    null: str
    seed: int
    function: str
    # By task, numbers of rows and columns, and splits: checked for the first target of each.
    _settings: dict[tuple[str, int, int, str], GrowthSettings] = field(
        default_factory=dict, init=False
    )

    @cached_property
    def inputs(self) -> EncodedTable:
        """Table of the sources, shared by the targets that are not sources."""
        return self.table.take_columns(self.sources)

    def __call__(self, b: int, _: int) -> dict[str, NDArray[Any]]:
        """Return the weights, and p-values, of the sources for target number b.

        The weight of a source for itself is 0, and its p-value 1.
        """
        j = int(self.targets[b])
        others = self.sources != j
        weights, p_values = np.zeros(len(others)), np.ones(len(others) * bool(self.n_permutations))
        if not others.any():
            return {"weights": weights, "p_values": p_values}
        table = self.inputs if others.all() else self.inputs.take_columns(others)
        if self.responses is None:
            target: Target = column_target(self.table, j, self.function)
        else:
            target = NumberTarget.encode(self.responses[:, j], function=self.function)
        if self.usable is not None and not self.usable[:, j].all():
            rows = np.flatnonzero(self.usable[:, j])
            table, target = table.take_rows(rows), target.take(rows)
        target = target.centered(scale=self.normalization != "none")
        data = learning_set_of(table, target, self.function)
        if len(np.unique(data.target.values)) > 1:
            seed = replicate_seed(self.seed, j)
            scores, criterion = self._scores(data, seed)
            weights[others] = self._normalized(scores, data, criterion)
            if self.n_permutations:
                p_values[others] = self._p_values(scores, data, seed)
        return {"weights": weights, "p_values": p_values}

    def _scores(self, data: LearningSet[EncodedTable], seed: int) -> tuple[FloatArray, str]:
        """Grow the forest of a seed; return the importances of the inputs, and its criterion."""
        drawn = checks.draw_seed(seed % _SEEDS)
        if isinstance(self.template, GradientBoosting):
            if data.target.codes is not None:
                raise ValueError(
                    f"{self.function}: targets must be numbers for GradientBoosting, got "
                    "categories. Hint: name the targets that are numbers, or give a forest."
                )
            return self.template.importances(data, drawn), data.target.criterion
        family = self.template.splits
        if family == "auto":
            family = split_family(data.table)
        key = data.task, data.n_rows, data.n_columns, family
        if key not in self._settings:
            template = for_task(self.template, data.target, self.function)
            checked = template.growth_settings(data.n_rows, data.n_columns, data.table)
            refuse_large_forest(self.function, template.n_estimators, checked, data)
            self._settings[key] = checked
        settings = self._settings[key]
        forest = grow(data, settings, n_trees=self.template.n_estimators, seed=drawn)
        if self.measure == "mdi":
            return mean_decreases(forest).values, settings.criterion
        if self.measure == LAST_LEVEL:
            degrees, last = mean_decreases(forest, by_degree=True).by_degree, data.n_columns - 1
            has = degrees.shape[1] > last
            scores = np.array(degrees[:, last]) if has else np.zeros(data.n_columns)
            return scores, settings.criterion
        computed = importances.catalogue[self.measure](Inputs(forest, data, seed % _SEEDS))
        scores = np.array(getattr(computed, "values", computed), dtype=np.float64)
        return scores, settings.criterion

    def _normalized(
        self, scores: FloatArray, data: LearningSet[EncodedTable], criterion: str
    ) -> FloatArray:
        """Return scores as fractions of the target's uncertainty, or of their sum."""
        if self.normalization == "sum":
            total = float(np.abs(scores).sum())
            return scores / total if total > 0 else scores
        if self.normalization == "none" or data.target.codes is None:
            return scores  # numbers have unit variance, or are to be as they are
        fractions = np.bincount(data.target.codes) / data.n_rows
        present = fractions[fractions > 0]
        if not (self.measure.startswith("mdi") or self.measure == LAST_LEVEL):
            return scores / float(1.0 - present.max())
        if criterion == "gini":
            return scores / float(1.0 - (present**2).sum())
        return scores / float(-(present * np.log2(present)).sum())

    def _p_values(
        self, scores: FloatArray, data: LearningSet[EncodedTable], seed: int
    ) -> FloatArray:
        """Compare scores with scores for permuted targets, (1 + count) / (1 + number)."""
        least = np.zeros(len(scores), dtype=np.int64)
        pooled = self.null == "pooled"
        if self.null == "auto":  # trees treat numbers without ties alike
            table = data.table
            numeric = all(kind == "numeric" for kind in table.kinds)
            pooled = numeric and bool((table.n_codes() == table.n_rows).all())
        for b in range(self.n_permutations):
            seed_b = replicate_seed(seed, b)
            order = np.random.default_rng(seed_b).permutation(data.n_rows)
            null, _ = self._scores(data.permuted(order, key=(seed, b)), seed_b)
            if pooled:
                least += len(null) - np.sort(null).searchsorted(scores, side="left")
            else:
                least += null >= scores
        drawn = self.n_permutations * (len(scores) if pooled else 1)
        return np.asarray(((1 + least) / np.float64(1 + drawn)).astype(np.float64))


# --- time series: rates of change in place of levels (dynGENIE3) ----------------------------------

# The expression of gene j follows dx_j/dt = -alpha_j x_j + f_j(x), and a forest estimates f_j
# (Huynh-Thu and Geurts 2018).


def pairs_of(
    time: Any, series: Any, n: int, function: str
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the rows of each sample and of the next sample in its series.

    Parameters
    ----------
    time : array-like of shape (n,)
        Time of each sample; NaN for steady states.
    series : array-like of shape (n,) or None
        Label of the series of each sample; None for one series.
    n : int
        Number of samples.
    function : str
        Function that the user called, for errors.

    Returns
    -------
    now, following : int64 arrays of shape (m,)
        Samples, and the next ones in time; a steady state follows itself.
    elapsed : float64 array of shape (m,)
        Time between them; infinite for steady states.

    Raises
    ------
    ValueError
        If lengths differ, a series has the same time twice, or there is no pair.
    """
    times = np.asarray(time, dtype=np.float64)
    labels = np.zeros(n) if series is None else np.asarray(series)
    for what, array in (("time", times), ("series", labels)):
        if array.shape != (n,):
            raise checks.refuse(function, what, f"one entry per sample ({n})", array.shape)
    if np.isinf(times).any():
        raise checks.refuse(function, "time", "finite, or NaN for steady states", np.inf)
    steady = np.flatnonzero(np.isnan(times))
    now, following = [steady], [steady]
    for label, members in _members(labels, times):
        rows = members[np.argsort(times[members], kind="stable")]
        if (np.diff(times[rows]) == 0).any():
            raise ValueError(
                f"{function}: series {quoted(label)} has two samples at the same time. Hint: give "
                "each replicate its own label in series."
            )
        now.append(rows[:-1])
        following.append(rows[1:])
    first, second = np.concatenate(now), np.concatenate(following)
    if len(first) < 2:
        raise ValueError(
            f"{function}: time must give at least 2 pairs of samples that follow each other, got "
            f"{len(first)}."
        )
    elapsed = np.full(len(first), np.inf)
    elapsed[len(steady) :] = (times[second] - times[first])[len(steady) :]
    return first, second, elapsed


def decay_rates(
    values: FloatArray, time: Any, series: Any, decay: Any, function: str
) -> FloatArray:
    r"""Return the decay rate of each variable, shape (p,).

    Estimated, it is the largest over the series of

    .. math:: \frac{\ln(x_{max} - c) - \ln(x_{min} - c)}{|t_{max} - t_{min}|}

    with the largest and smallest level of the series, their times, and c just below the smallest
    level of the variable at all (Huynh-Thu and Geurts 2018).

    Parameters
    ----------
    values : float64 array of shape (n, p)
        Levels.
    time, series
        As for :func:`pairs_of`.
    decay : "estimate", number, or array-like of shape (p,)
        Decay rates that the user gave, in 1 / unit of time.
    function : str
        Function that the user called, for errors.
    """
    p = values.shape[1]
    if not isinstance(decay, str):
        rates = np.asarray(decay, dtype=np.float64)
        if rates.shape not in ((), (p,)) or not np.isfinite(rates).all() or (rates < 0).any():
            allowed = f'"estimate", a number >= 0, or {p} of them'
            raise checks.refuse(function, "decay", allowed, decay)
        return np.broadcast_to(rates, (p,))
    checks.check_choice(function, "decay", decay, ("estimate",))
    times = np.asarray(time, dtype=np.float64)
    labels = np.zeros(len(times)) if series is None else np.asarray(series)
    floor = values.min(axis=0) - _ABOVE
    rates_found = np.zeros(p)
    everyone = np.arange(p)
    for _, rows in _members(labels, times):
        levels = values[rows]
        high, low = levels.argmax(axis=0), levels.argmin(axis=0)
        between = np.abs(times[rows][high] - times[rows][low])
        fall = np.log(levels[high, everyone] - floor) - np.log(levels[low, everyone] - floor)
        moved = between > 0
        rates_found[moved] = np.maximum(rates_found[moved], fall[moved] / between[moved])
    return rates_found


def _members(labels: NDArray[Any], times: FloatArray) -> Iterator[tuple[Any, IntArray]]:
    """Yield the label of each series, and its rows with a time."""
    timed = ~np.isnan(times)
    for label in np.unique(labels[timed]):
        yield label, np.flatnonzero((labels == label) & timed)


def responses_of(
    values: FloatArray,
    now: IntArray,
    following: IntArray,
    elapsed: FloatArray,
    rates: FloatArray,
) -> FloatArray:
    r"""Return :math:`(x_j(t') - x_j(t)) / (t' - t) + \alpha_j x_j(t)`, shape (m, p).

    For steady states, whose change is 0, only the second term is left.
    """
    change = (values[following] - values[now]) / elapsed[:, None]
    return np.asarray(change + rates * values[now])
