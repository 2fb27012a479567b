"""Conditional permutation importance: a feature is permuted given associated features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import EncodedTable
from duramen.data.memory import require_memory
from duramen.importances.arguments import encode_like, sample_of, trees_and_rows
from duramen.importances.measure import SCATTERS, Measure, Sums, over_trees, sums_of
from duramen.importances.permutation import mean_losses, permutations, repeats_of, score_of, seed_of
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, RandomState, TableLike, of_unit_size

_ROUNDING = 1e-9  # of the largest singular value, below which one is 0
THRESHOLDS = {"permimp": 0.95, "party": 0.2}


@over_trees(Importances)
def conditional_mda(
    forest: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    association: str = "permimp",
    threshold: float | None = None,
    rows: str | None = "oob",
    scoring: str | None = None,
    n_repeats: int | str = 1,
    scaled: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Sums[Importances]:
    """Compute the mean decrease of accuracy, permuting each feature within cells of its associates.

    A feature that is merely correlated with a relevant one keeps what it has in common with it when
    both are permuted together cell by cell, so that it gets little importance (Strobl et al.
    2008). For feature j and tree t, the conditioning set holds the features that t splits on and
    that are associated with j. All cut points that t has on them cross into cells; x_j is permuted
    among the tree's rows of each cell. Without such a feature the permutation is the ordinary one
    of :func:`mda`, with the same random numbers.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn.
    X : table of shape (n, p), or LearningSet
        The training table, in its order; or, with ``rows=None``, rows that were held out.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    association : {"permimp", "party"}
        What makes k an associate of j. "permimp": in each tree, Pearson's chi-square test of the
        columns as binned by the cut points of the tree, on the rows that go down it (after Debeer
        and Strobl 2020). "party": one test for all the trees, on all rows of `X`, of the values
        (after Strobl et al. 2008; the test is that of Strasser and Weber).
    threshold : float, optional
        k is an associate where 1 - p is above it. By default .95 for "permimp", .2 for "party".
    rows, scoring, n_repeats, scaled, random_state, n_jobs, verbose
        As for :func:`mda`.

    Returns
    -------
    Importances
        ``measure="conditional_mda"``; unit and standard error as for :func:`mda`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`mda`, or if `association` or `threshold` is not as described.
    MemoryError
        If the p x p tests of "party" would not fit in memory.

    References
    ----------
    C. Strobl, A.-L. Boulesteix, T. Kneib, T. Augustin, A. Zeileis (2008). Conditional variable
    importance for random forests. BMC Bioinformatics 9:307. D. Debeer, C. Strobl (2020).
    Conditional permutation importance revisited. BMC Bioinformatics 21:307.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.conditional_mda(forest, data.X, data.y)
    >>> result.top(2).names
    ('x0', 'x1')
    """
    name = "conditional_mda"
    grown, X = trees_and_rows(forest, name, X, survival=True)
    score = score_of(grown, scoring, name)
    checks.check_choice(name, "association", association, THRESHOLDS)
    limit = THRESHOLDS[association] if threshold is None else threshold
    limit = checks.check_real(name, "threshold", limit, 0.0, 1.0)
    sample = sample_of(grown, X, y, rows, name)
    associated = None
    if association == "party":
        table = sample.rows if isinstance(sample.rows, EncodedTable) else encode_like(grown, X)
        associated = (1.0 - association_p_values(table) > limit).astype(np.uint8)
    seed, repeats = seed_of(grown, random_state), repeats_of(n_repeats, score, name)
    losses = mean_losses(
        name,
        grown,
        sample,
        permutations(seed, repeats, associated=associated, level=limit),
        score=score,
        scaled=checks.check_flag(name, "scaled", scaled),
        n_jobs=n_jobs,
        verbose=verbose,
        association=association,
        threshold=limit,
        rows=rows,
        n_repeats=repeats,
        permutation_seed=seed,
    )
    return (yield from losses)


CONDITIONAL_MDA = Measure(
    "conditional_mda",
    lambda inputs: sums_of(
        conditional_mda, inputs.estimator, inputs.data, n_jobs=inputs.n_jobs, verbose=inputs.verbose
    ),
    "conditional MDA",
    "Conditional MDA is MDA with the feature permuted only among rows that agree on the "
    "features it is associated with, so that information that it shares with them does not "
    "count; in {unit}.",
    SCATTERS,
    reference="C. Strobl et al. (2008). Conditional variable importance for random forests. BMC "
    "Bioinformatics 9:307.",
    rows="out-of-bag",
    survival=True,
    over_trees=True,
)


# --- tests of association between the columns of a table, pair by pair ----------------------------


def association_p_values(table: EncodedTable) -> FloatArray:
    r"""P-values of the independence of every pair of columns, of shape (p, p).

    The permutation test of Strasser and Weber (1999) in its quadratic form, by its asymptotic
    distribution: with columns as scores (numbers, ranks of ordinal values, indicators of
    categories) the statistic is (n - 1) times

    * r^2, one degree of freedom, for two columns of scores;
    * R^2 of the scores on the categories, m - 1 degrees of freedom, for scores and m categories;
    * Pearson's chi-square / n, (m - 1)(m' - 1) degrees of freedom, for two columns of categories.

    A row where either is missing is left out. The p-value is 1 where a column is constant on the
    rows left, and 0 on the diagonal.
    """
    p = table.n_columns
    require_memory(
        16 * p * p,
        what=f"tests of {p} x {p} pairs of columns",
        function="conditional_mda",
        hint='use association="permimp", which tests the columns of a tree alone',
    )
    result = np.ones((p, p))
    plain = [j for j in range(p) if table.kinds[j] != "nominal" and not table.missing[j]]
    if plain:
        result[np.ix_(plain, plain)] = _by_correlation(table, plain)
    rest = set(range(p)) - set(plain)
    for j in rest:
        for k in range(p):
            if k not in rest or k > j:
                result[j, k] = result[k, j] = _pair(table, j, k)
    np.fill_diagonal(result, 0.0)
    return result


def _scores(table: EncodedTable, j: int) -> FloatArray:
    codes = table.codes(j).astype(np.int64)
    if table.kinds[j] == "numeric":
        values = np.append(of_unit_size(table.values(j).astype(np.float64)), np.nan)
        numbers: FloatArray = values[codes]
        return numbers
    return codes.astype(np.float64)


def _centered(scores: FloatArray) -> FloatArray:
    """Return scores less their mean along the last axis, exactly 0 if all are equal."""
    steps = scores - scores[..., :1]
    return np.asarray(steps - steps.mean(axis=-1, keepdims=True))


def _by_correlation(table: EncodedTable, columns: list[int]) -> FloatArray:
    from scipy.special import erfc

    scores = _centered(np.array([_scores(table, j) for j in columns]))
    size = np.sqrt((scores**2).sum(axis=1, keepdims=True))
    scores = np.divide(scores, size, out=np.zeros_like(scores), where=size > 0)
    tails: FloatArray = scores @ scores.T
    # P(chi-square > x) = erfc(sqrt(x / 2)) for one degree of freedom.
    np.abs(tails, out=tails)
    tails *= np.sqrt((table.n_rows - 1) / 2)
    return erfc(tails, out=tails)


def _pair(table: EncodedTable, j: int, k: int) -> float:
    """Test two columns of any kind on the rows where both are known."""
    from scipy.special import chdtrc

    complete = np.ones(table.n_rows, dtype=np.bool_)
    for column in (j, k):
        complete &= table.codes(column) != len(table.values(column))
    if not complete.any():
        return 1.0
    bases = []  # orthonormal, of the centered scores or indicators
    for column in (j, k):
        if table.kinds[column] == "nominal":
            codes = table.codes(column)[complete]
            columns = (codes == np.unique(codes)[:, np.newaxis]).astype(np.float64)
        else:
            columns = _scores(table, column)[complete][np.newaxis]
        vectors, sizes, _ = np.linalg.svd(_centered(columns).T, full_matrices=False)
        bases.append(vectors[:, sizes > _ROUNDING * sizes[0]])
    freedom = bases[0].shape[1] * bases[1].shape[1]
    if not freedom:
        return 1.0
    fraction = float(np.square(bases[0].T @ bases[1]).sum())
    return float(chdtrc(freedom, (int(complete.sum()) - 1) * fraction))
