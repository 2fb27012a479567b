"""Selectors that find features in rounds: the knock-out strategy and artificial contrasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen.data import EncodedTable, NumberTarget
from duramen.data.recoding import with_probes
from duramen.forests import structure
from duramen.forests.forest import Forest
from duramen.forests.prediction import estimate_out_of_bag, leaves, rows_of
from duramen.forests.structure import decision_path
from duramen.importances.refit import for_task, seeded
from duramen.jobs.replicates import OBSERVED, Steps, replicate_seed
from duramen.results.summary import Column, counted
from duramen.selection.refitting import (
    Opening,
    RefittingSelector,
    beside_shadows,
    require_out_of_bag,
)
from duramen.significance.measured import Measured
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, TableLike


@dataclass(eq=False)
class Rounds:
    """Features found in rounds, each of which ends before the next begins.

    Attributes
    ----------
    found_in : int64 array of shape (p,)
        Round in which each feature was found; 0 for the others.
    most : int
        Number of rounds at most.
    importances : list of float64 arrays of shape (p,)
        Importances of each round.
    thresholds : list of float
        Importance that was to be exceeded in each round.
    p_values : list of float64 arrays of shape (p,)
        P-values of each round.
    """

    found_in: IntArray
    most: int
    importances: list[FloatArray] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    p_values: list[FloatArray] = field(default_factory=list)
    open: bool = True  # whether another round follows

    @property
    def left(self) -> IntArray:
        """Features that are not found."""
        return np.flatnonzero(self.found_in == 0)

    def add(
        self, importance: FloatArray, threshold: float, p_values: FloatArray, new: IntArray
    ) -> None:
        """Add a round; the last one finds nothing, or all that is left, or is the most-th."""
        self.importances.append(importance)
        self.thresholds.append(threshold)
        self.p_values.append(p_values)
        number = len(self.importances)
        self.found_in[new] = number
        self.open = len(new) > 0 and len(self.left) > 0 and number < self.most


class RoundsSelector(RefittingSelector):
    """Selector that finds features in rounds, with their account."""

    found_as: ClassVar[str]  # verb for a feature that is selected

    found_in_: IntArray
    p_values_: FloatArray
    n_rounds_: int

    def _take(
        self, opening: Opening, rounds: Rounds, p_values: FloatArray, **history: NDArray[Any]
    ) -> None:
        """Set the selected features, sorted by round and by importance within a round."""
        importance = np.array(rounds.importances)
        selected = np.flatnonzero(rounds.found_in)
        round_of = rounds.found_in[selected]
        history = {
            "n_selected": np.cumsum(np.bincount(round_of, minlength=len(importance) + 1)[1:]),
            "threshold": np.array(rounds.thresholds),
            "importance": importance,
            **history,
        }
        order = np.lexsort((-importance[round_of - 1, selected], round_of))
        self._adopt(opening.data, selected[order], history)
        self.found_in_ = rounds.found_in
        self.p_values_ = p_values
        self.n_rounds_ = len(importance)
        self._set_importances(opening.subject, importance[0])

    def _figures(self) -> dict[str, Any]:
        return {
            "run": counted(self.n_rounds_, "round"),
            "step": "round",
            "columns": (
                Column(f"{self.found_as} in round", name="round", numbers=self.found_in_),
                Column("p-value", name="p_value", numbers=self.p_values_),
            ),
            "results": {"rounds": self.n_rounds_},
        }


@dataclass(kw_only=True, eq=False, repr=False)
class KnockOut(RoundsSelector):
    r"""Knock-out strategy: relevant features in rounds, each without the features found before.

    In each round a forest grows on the features that are left, and one on each of S permuted
    targets. With :math:`s_j` the importance of feature j and :math:`s_{bk}` that of feature k after
    permutation b,

    .. math:: p_j = \frac{1 + \#\{b : \max_k s_{bk} \ge s_j\}}{S + 1}.

    Features with :math:`p_j` up to `alpha` are found, and leave. The search ends when a round finds
    nothing, when no feature is left, or after `max_rounds` (after Ganz et al. 2015, whose threshold
    of split frequencies, `duramen.significance.frequency_control`, permutations replace here).

    Parameters
    ----------
    estimator : estimator of duramen or any model, optional
        Parameters of the forests; it is cloned, not changed. Random forests by default; or any
        model with fit and predict, which is refitted in their place.
    n_estimators : int, optional
        Number of trees of a forest; by default those of `estimator`, 500 without one.
    measure : str or callable, default="scaled_mda"
        Importance measure of the forests, such as mdi or scaled_mda.

        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances.
        "scaled_mda" is MDA divided by its standard error over trees; "frequency", the fraction of
        splits, is that of the paper, and finds less where trees are fully grown, as most splits
        of these are between few rows.
    alpha : float, default=0.05
        Family-wise error rate of a round.
    n_permutations : int, default=99
        Number of permutations of the target in a round; at least 1 / `alpha` - 1.
    max_rounds : int, default=10
        Maximum number of rounds.
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
        Features found, by round, and by importance within a round.
    found_in_ : int64 array of shape (p,)
        Round in which each feature was found; 0 for the others.
    p_values_ : float64 array of shape (p,)
        p-value of each feature in the last round in which it took part.
    support_ : bool array of shape (p,)
        Whether each feature is found.
    ranking_ : int64 array of shape (p,)
        1 for the features found, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Of all p features, in the forest of the first round.
    history_ : dict of arrays
        ``"n_selected"``: number of features found after each round; ``"threshold"``: importance
        that was to be exceeded in the round; ``"importance"``, of shape (rounds, p): importances,
        NaN for features that were left out.
    n_rounds_ : int
        Number of rounds.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    If the target is independent of all features, the probability that any is found is at most
    `alpha`: the first round is a permutation test, and no other follows where it finds nothing.
    With relevant features, there is one more round after the last of them was found, with the same
    probability for features that are independent of target and of relevant features together.
    Features that are correlated with relevant ones are found too, sooner or later.

    A feature that is relevant only together with others that were found cannot be found without
    them: for exclusive ors, take few rounds, or `SequentialRandomSubspace`.

    References
    ----------
    M. Ganz, D. N. Greve, B. Fischl, E. Konukoglu (2015). Relevant feature set estimation with a
    knock-out strategy and random forests. NeuroImage 122.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(100, 8, n_relevant=2, random_state=0)
    >>> model = dm.KnockOut(n_estimators=50, n_permutations=19, random_state=0)
    >>> sorted(model.fit(data.X, data.y).selected_.tolist())
    [0, 1]
    """

    exchanges = True
    exchanges_groups = True
    of_models = True
    found_as = "found"

    measure: str | Callable[..., Any] = "scaled_mda"
    alpha: float = 0.05
    n_permutations: int = 99
    max_rounds: int = 10

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Find features, round after round.

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
            If a parameter, X or y is not as described, or the checkpoint is of another run.
        """
        owner = type(self).__name__
        alpha = checks.check_real(owner, "alpha", self.alpha, 0.0, 1.0, ends="()")
        permutations = checks.check_integer(owner, "n_permutations", self.n_permutations, 1)
        if (permutations + 1) * alpha < 1:
            raise checks.refuse(
                owner,
                "n_permutations",
                f"an int >= 1 / alpha - 1 = {1 / alpha - 1:.6g}",
                permutations,
                "no p-value of fewer permutations is as small as alpha",
            )
        most = checks.check_integer(owner, "max_rounds", self.max_rounds, 1)
        opening = self._open(X, y)
        data, subject = opening.data, opening.subject
        subject.exchangeability.require(permutations, owner, data.target.values)
        rounds = Rounds(np.zeros(data.n_columns, dtype=np.int64), most)

        def task(number: int, seed: int, left: IntArray) -> FloatArray:
            """Return importances of the remaining features, NaN for the others."""
            whole = subject.data
            table = whole.table.take_columns(left)
            among = replace(subject, data=whole.with_table(table, key=("left", left.tolist())))
            row = np.full(whole.n_columns, np.nan)
            if number % (permutations + 1) == 0:
                row[left] = among.scores(seed)
            else:
                row[left] = among.permuted_scores(number, seed)
            return row

        opening.follow(
            task,
            most * (permutations + 1),
            data.n_columns,
            knocked_out(rounds, permutations + 1, alpha),
            alpha=alpha,
            n_permutations=permutations,
        )
        self._take(opening, rounds, rounds.p_values[-1])
        return self


def knocked_out(rounds: Rounds, size: int, alpha: float) -> Steps[None]:
    """Yield the forests of the rounds: one on the target, and others on permuted ones.

    The p-values of a feature are those of the last round in which it took part.
    """
    p_values = np.ones(len(rounds.found_in))
    while rounds.open:
        left = rounds.left
        replicates = yield [(left,)] * size
        observed = replicates[0]
        largest = np.sort(replicates[1:, left].max(axis=1))
        reached = len(largest) - np.searchsorted(largest, observed[left], side="left")
        p_values = p_values.copy()
        p_values[left] = (1 + reached) / size
        # At most level (S + 1) - 1 of the largest may reach it.
        allowed = int(alpha * size + 1e-9) - 1
        threshold = float(largest[len(largest) - 1 - min(allowed, len(largest) - 1)])
        rounds.add(observed, threshold, p_values, left[p_values[left] <= alpha])


@dataclass(kw_only=True, eq=False, repr=False)
class ArtificialContrasts(RoundsSelector):
    r"""Artificial contrasts with ensembles (ACE): relevant features found in rounds on residuals.

    In each of R replicates a forest grows on the features and on contrasts: copies of them, each
    with its rows permuted independently. With :math:`s_{rj}` the importance of feature j in
    replicate r and :math:`v_r` a percentile of those of the contrasts, a feature is accepted if

    .. math:: s_{rj} - v_r > 0 \text{ by a one-sided paired t-test over } r = 1 \ldots R.

    The next round does the same with regression forests on what a forest of the accepted features
    leaves unexplained: a feature that strong ones hide shows in their residuals. The search ends
    when a round accepts nothing, or after `max_rounds`.

    Parameters
    ----------
    estimator : estimator of duramen, optional
        Parameters of the forests, whose trees leave rows out; it is cloned, not changed. Random
        forests by default.
    n_estimators : int, optional
        Number of trees of a forest; by default those of `estimator`, 500 without one.
    measure : str or callable, default="scaled_mda"
        Importance measure of the forests, such as mdi or scaled_mda.

        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances.
        "scaled_mda" is the permutation importance divided by its standard error over trees. By
        "mdi", the measure of the paper, noise features of many values hide relevant ones of few.
    n_permutations : int, default=20
        Number of forests of a round.
    alpha : float, default=0.05
        Level of the t-tests.
    percentile : float, default=100
        Percentile of the permuted copies that a feature must exceed; 100 is the best one.
    remove_masked : bool, default=False
        Drop accepted features that a more important one of the round masks.

        As the paper does: features whose splits agree with those of the other one more than splits
        of contrasts do. Of identical features one is then kept.
    max_rounds : int, default=10
        Maximum number of rounds.
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
        Accepted features, by round, and by importance within a round.
    found_in_ : int64 array of shape (p,)
        Round in which each feature was accepted; 0 for the others.
    p_values_ : float64 array of shape (p,)
        p-value of each feature in the round that accepted it, and in the last one of the others.
    support_ : bool array of shape (p,)
        Whether each feature is accepted.
    ranking_ : int64 array of shape (p,)
        1 for the accepted features, and 2, 3, ... for the others by importance.
    importances_ : Importances
        Mean over the replicates of the first round, of all p features.
    history_ : dict of arrays
        ``"n_selected"``: number of features accepted after each round; ``"threshold"``: mean of
        :math:`v_r` in it; ``"importance"`` and ``"p_value"``, of shape (rounds, p).
    n_rounds_ : int
        Number of rounds.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    *Residuals.* Those of numbers are y less its out-of-bag prediction; those of classes the
    indicator of a class less its out-of-bag probability, the residual of the log-odds. The paper
    adds up boosted ensembles of the newly accepted features; one forest of all accepted features
    stands for these here, whose out-of-bag residuals are not fitted to the rows.

    *Null hypothesis.* As in `Boruta`, replicates repeat contrasts, not rows: `alpha` does not bound
    the fraction of data sets without a relevant feature in which some feature is accepted, .01 to
    .035 of those measured, and a tenth by MDI.

    References
    ----------
    E. Tuv, A. Borisov, G. Runger, K. Torkkola (2009). Feature selection with ensembles, artificial
    variables, and redundancy elimination. Journal of Machine Learning Research 10.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(100, 8, n_relevant=2, random_state=0)
    >>> model = dm.ArtificialContrasts(n_estimators=50, random_state=0).fit(data.X, data.y)
    >>> sorted(model.selected_.tolist())
    [0, 1]
    """

    exchanges = True
    exchanges_groups = True
    found_as = "accepted"

    measure: str | Callable[..., Any] = "scaled_mda"
    n_permutations: int = 20
    alpha: float = 0.05
    percentile: float = 100.0
    remove_masked: bool = False
    max_rounds: int = 10

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Accept features, round after round.

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
            If a parameter, X or y is not as described, or the checkpoint is of another run.
        """
        owner = type(self).__name__
        replicates = checks.check_integer(owner, "n_permutations", self.n_permutations, 2)
        alpha = checks.check_real(owner, "alpha", self.alpha, 0.0, 1.0, ends="()")
        percentile = checks.check_real(owner, "percentile", self.percentile, 0.0, 100.0)
        checks.check_flag(owner, "remove_masked", self.remove_masked)
        most = checks.check_integer(owner, "max_rounds", self.max_rounds, 1)
        opening = self._open(X, y)
        subject = opening.subject
        require_out_of_bag(subject, owner)
        subject.exchangeability.require(1, owner)
        # The same measure of regression forests of the same kind.
        regression, template = subject, for_task(subject.template, NumberTarget(np.zeros(1)), owner)
        if template is not subject.template:
            regression = replace(subject, template=template.set_params(oob_score=False))
        p, seed = subject.data.n_columns, opening.seed
        rounds = Rounds(np.zeros(p, dtype=np.int64), most)

        def task(_: int, seed: int, residuals: FloatArray | None) -> FloatArray:
            """Return importances of all features, and a percentile of importances of contrasts.

            Later rounds explain residuals, one column after the other; importances are added up.
            """
            subjects = [subject]
            if residuals is not None:
                targets = [NumberTarget(np.ascontiguousarray(column)) for column in residuals.T]
                subjects = [
                    replace(
                        regression,
                        data=regression.data.with_target(target, key=("residuals", (seed, k))),
                    )
                    for k, target in enumerate(targets)
                ]
            parts = [beside_shadows(of, np.arange(p), seed, owner) for of in subjects]
            own, contrasts = (sum(part[k] for part in parts) for k in (0, 1))
            return np.append(own, np.percentile(contrasts, percentile))

        def steps() -> Steps[None]:
            while rounds.open:
                number, residuals = len(rounds.importances), None
                if number:
                    of_residuals = replicate_seed(seed, OBSERVED - 2 * number)
                    residuals = unexplained(subject, np.flatnonzero(rounds.found_in), of_residuals)
                rows = yield [(residuals,)] * replicates
                p_values = paired_p_values(rows[:, :-1], rows[:, -1])
                importance = rows[:, :-1].mean(axis=0)
                new = np.flatnonzero((p_values <= alpha) & (rounds.found_in == 0))
                new = new[np.argsort(-importance[new], kind="stable")]
                if self.remove_masked:
                    of_masking = replicate_seed(seed, OBSERVED - 2 * number - 3)
                    new = unmasked(subject, new, of_masking, replicates, alpha, percentile, owner)
                rounds.add(importance, float(rows[:, -1].mean()), p_values, new)

        opening.follow(
            task,
            most * replicates,
            p + 1,
            steps(),
            alpha=alpha,
            replicates_of_round=replicates,
            percentile=percentile,
            remove_masked=self.remove_masked,
        )
        p_values = np.array(rounds.p_values)
        last = np.where(rounds.found_in, rounds.found_in, len(p_values)) - 1
        self._take(opening, rounds, p_values[last, np.arange(p)], p_value=p_values)
        return self


MASKING_TREES = 20  # of a replicate of the masking


def paired_p_values(values: FloatArray, threshold: FloatArray) -> FloatArray:
    """Return one-sided p-values of t-tests of paired differences.

    Parameters
    ----------
    values : float64 array of shape (R, p)
    threshold : float64 array of shape (R,) or (R, p)

    Returns
    -------
    float64 array of shape (p,)
        0 or 1 where all differences are equal: whether they are above 0.
    """
    from scipy.stats import t

    n = len(values)
    differences = values - threshold.reshape(n, -1)
    mean, error = differences.mean(axis=0), differences.std(axis=0, ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        tested: FloatArray = t.sf(mean / error, n - 1)
    return np.where(error > 0, tested, np.where(mean > 0, 0.0, 1.0))


def unmasked(
    subject: Measured,
    features: IntArray,
    seed: int,
    n_permutations: int,
    alpha: float,
    percentile: float,
    owner: str,
) -> IntArray:
    """Return the features, by importance, that no feature returned before them masks.

    One feature masks another if its masking of it exceeds a percentile of the masking of contrasts
    by the paired test at level alpha, over replicates of a few trees each.
    """
    q, data = len(features), subject.data
    if q < 2:
        return features
    replicates = np.empty((n_permutations, 2 * q, 2 * q))
    for b in range(n_permutations):
        seed_b = replicate_seed(seed, b)
        random = np.random.default_rng(seed_b)
        own = data.table.take_columns(features)
        orders = [subject.exchangeability.permutation(random) for _ in features]
        table = with_probes(own, np.arange(q), orders, function=owner)
        template = seeded(subject.template, int(random.integers(2**32)))
        template.n_estimators = MASKING_TREES
        grown = template.fit(data.with_table(table, key=("masking", features.tolist(), seed_b)))
        replicates[b] = masking(grown.forest_, table)
    threshold = np.percentile(replicates[:, :q, q:], percentile, axis=2)
    chosen: list[int] = []
    for j in range(q):
        values = replicates[:, chosen, j]
        if not (paired_p_values(values, threshold[:, chosen]) <= alpha).any():
            chosen.append(j)
    return features[chosen]


def unexplained(subject: Measured, columns: IntArray, seed: int) -> FloatArray:
    """Return the out-of-bag residuals of a forest on some features.

    Numbers have the differences from their predictions, shape (n, 1). Classes have the residuals
    of the log-odds, the indicator of a class less its probability, shape (n, C); for two classes,
    whose residuals are opposite, those of the second, shape (n, 1). Rows in the bag of every tree
    count as predicted by the mean.
    """
    data = subject.data
    within = data.with_table(data.table.take_columns(columns), key=("columns", columns.tolist()))
    forest = seeded(subject.template, seed).fit(within).forest_
    deviations, _, _ = estimate_out_of_bag(forest, within.table, data.target)
    means = deviations + forest.origin
    values: FloatArray
    if data.target.codes is None:
        values = data.target.values[:, np.newaxis].astype(np.float64)
    else:
        values = np.eye(data.target.n_classes)[data.target.codes]
    residuals: FloatArray = values - np.where(np.isnan(means), values.mean(axis=0), means)
    return residuals[:, 1:] if residuals.shape[1] == 2 else residuals


FEWEST_ROWS = 10  # of a node whose surrogates count


def masking(forest: Forest, table: EncodedTable, n_threads: int = 1) -> FloatArray:
    r"""Measure how well splits on each feature can be replaced by splits on each other feature.

    With :math:`p(t) \Delta(t)` the decrease of impurity at a node t that splits on feature i, and
    :math:`\lambda_j(t)` the agreement of the best split of the node by feature j with it, in excess
    of that of the largest child alone,

    .. math:: M_{ij} = \frac{1}{T} \sum_{t : i(t) = i} p(t) \Delta(t) \lambda_j(t), \qquad
       \lambda_j = \max\Bigl(0, \frac{a_j - a_0}{1 - a_0}\Bigr)

    with :math:`a_j` the fraction of the rows that both splits put on the same side, and
    :math:`a_0` that in the largest child. The training rows count once each.

    Returns
    -------
    float64 array of shape (p, p)
    """
    paths, _ = decision_path(
        forest, leaves(forest, rows_of(forest, table, "", "masking"), n_threads)
    )
    members = paths.tocsc()
    members.sort_indices()
    rows_at = [members.indices[a:b] for a, b in pairwise(members.indptr)]
    counts, first = structure.child_counts(forest), structure.first_children(forest)
    gains = structure.decreases(forest) * forest.weight / forest.total_weight
    codes = np.stack([table.codes(j) for j in range(table.n_columns)], axis=1).astype(np.int64)
    ordered = [kind != "nominal" for kind in table.kinds]
    strengths = np.zeros((table.n_columns, table.n_columns))
    for node in np.flatnonzero(counts).tolist():
        rows = rows_at[node]
        if len(rows) < FEWEST_ROWS:
            continue
        sides = np.empty(len(rows), dtype=np.int64)
        for number in range(int(counts[node])):
            sides[np.searchsorted(rows, rows_at[first[node] + number])] = number
        agreed = [_agreement(codes[rows, j], sides, ordered[j]) for j in range(len(ordered))]
        strengths[forest.feature[node]] += gains[node] * np.array(agreed)
    return strengths / max(forest.n_trees, 1)


def _agreement(codes: IntArray, sides: IntArray, ordered: bool) -> float:
    """Return the agreement of the best split by these codes, in excess of the largest child's."""
    n, n_sides = len(sides), int(sides.max()) + 1
    largest = int(np.bincount(sides).max())
    if largest == n:
        return 0.0
    _, places = np.unique(codes, return_inverse=True)
    counts = np.bincount(places * n_sides + sides, minlength=(places.max() + 1) * n_sides)
    counts = counts.reshape(-1, n_sides)
    if ordered and n_sides == 2:
        below = np.cumsum(counts, axis=0)
        above = below[-1] - below
        best = max((below[:, 0] + above[:, 1]).max(), (below[:, 1] + above[:, 0]).max())
    else:
        best = counts.max(axis=1).sum()
    return max(0.0, float(best - largest) / (n - largest))
