"""Stability selection with artificial features, a selector of sparse and reliable sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import EncodedTable
from duramen.data.recoding import with_knockoffs, with_probes
from duramen.jobs.replicates import OBSERVED, Steps, replicate_seed
from duramen.results.importances import Importances
from duramen.results.summary import Column
from duramen.selection.linear_models import linear_columns, standardized
from duramen.selection.refitting import RefittingSelector
from duramen.selection.selector import numbers_of
from duramen.significance.conditional_tests.knockoffs import EstimatedKnockoffs
from duramen.significance.measured import Measured
from duramen.significance.resampling import SamplingUnits, subsample_size, subsamples
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, TableLike

LEARNERS = ("forest", "lasso")
ARTIFICIAL = ("permuted", "knockoff")
N_TREES = 100  # of a draw


@dataclass(kw_only=True, eq=False, repr=False)
class StabilitySelection(RefittingSelector):
    r"""Stability selection with artificial features (Stabl): features that are selected again.

    The table is joined by an artificial copy of each feature, with permuted rows, or by a knockoff
    of it. In each of `n_draws` draws of a part of the rows, a learner selects its q best of these
    2p columns. With :math:`f_j` the fraction of the draws in which column j is selected, a
    threshold t has

    .. math:: \mathrm{FDP}_+(t) = \frac{1 + \#\{\text{artificial}: f_j \ge t\}}
        {\max(1, \#\{\text{features}: f_j \ge t\})},

    and the features with :math:`f_j \ge t` are selected at the t for which that is smallest, if it
    is at most `alpha`.

    Parameters
    ----------
    estimator : estimator of duramen or any model, optional
        Parameters of the forests of ``learner="forest"``; it is cloned, not changed. Random forests
        by default; or any model with fit and predict, which is refitted in their place.
    n_estimators : int, optional
        Number of trees of a forest; by default those of `estimator`, 100 without one.
    measure : str or callable, default="auto"
        Importance measure of the forests, such as mdi or scaled_mda.

        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto" is
        "mdi_oob" if trees leave rows out, else "mdi", by which noise features of many values are
        among the best in every draw.
    learner : {"forest", "lasso"}, default="forest"
        Method that selects in each draw of rows: forests or a lasso.

        The q largest importances above 0 of a forest, or the q features that enter the path of the
        lasso first, of standardized columns. The lasso sees lines only, with fewer rows.
    artificial : {"permuted", "knockoff"}, default="permuted"
        Artificial features: copies with permuted rows, or knockoffs.

        They are drawn once for all draws of rows.

        "permuted"
            The feature with its rows permuted: independent of the target and of all features.
        "knockoff"
            Second-order Gaussian knockoffs of normal scores, as in
            :func:`duramen.significance.knockoffs`: correlated with the other features as the
            feature is, and independent of the target given the features.
    n_draws : int, default=100
        Number of draws of rows.
    subsample : int or float, default=0.5
        Number of rows of a draw, or their fraction.

        Of groups of rows, if there are any. They are drawn without replacement, within classes.
    n_per_draw : int, optional
        Number of columns that each draw selects; by default the square root of twice the number of
        features, at least 2.
    alpha : float, default=0.25
        Largest estimated fraction of false features that a selection may have, else nothing is
        selected.

        The estimate :math:`\mathrm{FDP}_+` for m features is at least 1/m, so that at least 1 /
        `alpha` are selected if any; 1 is the rule of the paper, which nearly always selects
        something.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished work: an interrupted run resumes from it, to the same bytes.
    verbose : int, default=0
        Above 0: a progress bar with the time left.

    Attributes
    ----------
    selected_ : int64 array
        Selected features, by the fraction of the draws that selected them.
    frequency_ : float64 array of shape (p,)
        That fraction, :math:`f_j`.
    artificial_frequency_ : float64 array of shape (p,)
        That of the artificial feature of each feature.
    threshold_ : float
        Threshold t; infinite where nothing is selected.
    fdp_ : float
        :math:`\mathrm{FDP}_+(t)`, an estimate of the fraction of false features among the selected;
        NaN where nothing is selected.
    support_ : bool array of shape (p,)
        Whether each feature is selected.
    ranking_ : int64 array of shape (p,)
        1 for the selected features, and 2, 3, ... for the others by `frequency_`.
    importances_ : Importances
        `frequency_`, of all p features.
    history_ : dict of arrays
        ``"threshold"``: fractions at which the selection changes, descending; ``"fdp"`` and
        ``"n_selected"`` of each.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    *Null hypothesis.* Permuted copies are independent of the target and of each other, so that a
    false feature is one that is not associated with the target; a proxy of a relevant feature
    counts as relevant. Knockoffs of proxies are proxies too, so that a false feature is one that is
    independent of the target given all others, as far as their estimated distribution is right.
    Where no feature is relevant, features and copies come in random order, and something is
    selected with probability .07 at ``alpha=0.25``, .03 at .2 and .16 at 1/3 by MDI (the guide has
    more, also for what is false among features beside relevant ones).

    References
    ----------
    J. Hédou, I. Marić, G. Bellan et al. (2024). Discovery of sparse, reliable omic biomarkers with
    Stabl. Nature Biotechnology 42.

    E. Candes, Y. Fan, L. Janson, J. Lv (2018). Panning for gold: model-X knockoffs for high
    dimensional controlled variable selection. Journal of the Royal Statistical Society B 80.

    N. Meinshausen, P. Bühlmann (2010). Stability selection. Journal of the Royal Statistical
    Society B 72.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(100, 30))
    >>> y = X[:, :5].sum(axis=1) + random.normal(size=100)
    >>> model = dm.StabilitySelection(learner="lasso", random_state=0).fit(X, y)
    >>> sorted(model.selected_.tolist())
    [0, 1, 2, 3, 4]
    """

    exchanges = True
    exchanges_groups = True
    of_models = True

    measure: str | Callable[..., Any] = "auto"
    learner: Literal["forest", "lasso"] = "forest"
    artificial: Literal["permuted", "knockoff"] = "permuted"
    n_draws: int = 100
    subsample: int | float = 0.5
    n_per_draw: int | None = None
    alpha: float = 0.25

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : table of shape (n, p), or LearningSet
            The rows; a store is read into memory.
        y : array-like of shape (n,), optional
            Classes or numbers; None with a learning set.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described, the checkpoint is of another run, the lasso
            is to select among labels without an order, or rows with strata or groups are to have
            knockoffs.
        """
        owner = type(self).__name__
        learner = checks.check_choice(owner, "learner", self.learner, LEARNERS)
        artificial = checks.check_choice(owner, "artificial", self.artificial, ARTIFICIAL)
        n_draws = checks.check_integer(owner, "n_draws", self.n_draws, 2)
        alpha = checks.check_real(owner, "alpha", self.alpha, 0.0, 1.0, ends="(]")
        opening = self._open(X, y)
        subject, p = opening.subject, opening.data.n_columns
        if learner == "lasso":
            linear_columns(subject.data.table, owner)
        if self.estimator is None and self.n_estimators is None:
            subject.template.set_params(n_estimators=N_TREES)
        subject.exchangeability.require(1, owner)
        q = checks.check_optional_integer(owner, "n_per_draw", self.n_per_draw, 1)
        q = max(2, math.isqrt(2 * p)) if q is None else q
        random = np.random.default_rng(replicate_seed(opening.seed, OBSERVED))
        joined = with_artificial(subject, artificial, random, owner)
        units = SamplingUnits.of(subject.data)
        size = subsample_size(self.subsample, units.count, units.n_classes, owner, units=units.name)
        draw = units.rows(subsamples(units.labels, units.count, size))
        beside = subject.data.with_table(joined, key=(artificial, opening.seed))
        whole, response = replace(subject, data=beside), subject.data.target.responses()

        def task(_: int, seed: int) -> FloatArray:
            """Draw rows; return whether each column, or its artificial copy, is selected."""
            random = np.random.default_rng(seed)
            rows = draw(random)
            if learner == "lasso":
                values = numbers_of(joined.take_rows(rows))
                selected = first_of_path(values, response[rows], q)
            else:
                drawn = whole.of_rows(rows, key=seed)
                selected = largest(drawn.scores(int(random.integers(2**32))), q)
            return selected.astype(np.float64)

        def all_draws() -> Steps[None]:
            yield [()] * n_draws

        draws, _ = opening.follow(
            task,
            n_draws,
            2 * p,
            all_draws(),
            learner=learner,
            artificial=artificial,
            subsample=size,
            n_per_draw=q,
        )
        frequency = draws.mean(axis=0)
        own, of_artificial = frequency[:p], frequency[p:]
        thresholds = np.unique(own[own > 0])[::-1]
        n_selected = (own >= thresholds[:, np.newaxis]).sum(axis=1)
        n_artificial = (of_artificial >= thresholds[:, np.newaxis]).sum(axis=1)
        fdp = (1 + n_artificial) / n_selected
        # Thresholds descend: of equal estimates that of the largest selection is taken.
        best = len(fdp) - 1 - int(np.argmin(fdp[::-1])) if len(fdp) else None
        if best is not None and fdp[best] > alpha:
            best = None
        threshold = math.inf if best is None else float(thresholds[best])
        selected = np.flatnonzero(own >= threshold)
        history = {"threshold": thresholds, "fdp": fdp, "n_selected": n_selected}
        order = np.argsort(-own[selected], kind="stable")
        self._adopt(opening.data, selected[order], history)
        self.frequency_, self.artificial_frequency_ = own, of_artificial
        self.threshold_ = threshold
        self.fdp_ = math.nan if best is None else float(fdp[best])
        identity = opening.identity(
            learner=learner, artificial=artificial, n_draws=n_draws, n_per_draw=q
        )
        self.importances_ = Importances(
            subject.names, own, "selection frequency", "fraction of the draws", metadata=identity
        )
        return self

    def _figures(self) -> dict[str, Any]:
        count = len(self.selected_)
        own, other = self.frequency_, self.artificial_frequency_
        title = "that of its artificial feature"
        return {
            "run": f"{self.n_draws:,} draws of rows",
            "columns": (
                Column("fraction of the draws", name="frequency", numbers=own),
                Column(title, name="artificial_frequency", numbers=other),
            ),
            "results": {"threshold": self.threshold_, "fdp": self.fdp_} if count else {},
        }


def with_artificial(
    subject: Measured, artificial: str, random: np.random.Generator, owner: str
) -> EncodedTable:
    """Return the table with an artificial feature of each feature after the p features.

    Raises
    ------
    ValueError
        If rows with strata or groups are to have knockoffs.
    """
    table, columns = subject.data.table, np.arange(subject.data.n_columns)
    if artificial == "permuted":
        orders = [subject.exchangeability.permutation(random) for _ in columns]
        return with_probes(table, columns, orders, function=owner)
    if subject.exchangeability.restricted:
        raise ValueError(
            f"{owner}: artificial must be 'permuted' for rows with strata or groups, got "
            f"{artificial!r}."
        )
    donors = EstimatedKnockoffs.of(table, "gaussian").donors(random)
    return with_knockoffs(table, columns, donors, function=owner)


def first_of_path(values: FloatArray, response: FloatArray, q: int) -> BoolArray:
    """Return the q columns that enter the paths of the lasso first, by their penalties.

    Parameters
    ----------
    values : float64 array of shape (n, d)
        Columns, as :func:`standardized` takes them.
    response : float64 array of shape (n, c)
        What is explained, a path each.
    q : int
    """
    from sklearn.linear_model import lars_path

    scaled = standardized(values)
    entry = np.zeros(values.shape[1])  # penalty at which a column enters
    for column in (response - response.mean(axis=0)).T:
        if not column.any():
            continue
        penalties, _, coefficients = lars_path(
            scaled, column / np.linalg.norm(column), method="lasso", max_iter=q + 1
        )
        present = coefficients != 0
        # A column is inside from the step before the first at which it has a coefficient.
        first = np.where(present.any(axis=1), present.argmax(axis=1) - 1, -1)
        np.maximum(entry, np.where(first >= 0, penalties[first], 0.0), out=entry)
    return largest(entry, q)


def largest(values: FloatArray, q: int) -> BoolArray:
    """Mark the q largest values above 0; ties are broken without preference."""
    if np.count_nonzero(values > 0) <= q:
        return values > 0
    least = np.partition(values, -q)[-q]
    tied: BoolArray = values >= least
    return tied if np.count_nonzero(tied) <= q else values > least
