"""Tests that read importances alone, without a forest or rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from duramen.data.exchangeability import EXCHANGEABLE
from duramen.importances import catalogue
from duramen.importances.arguments import check_importances
from duramen.results.fields import warn_of
from duramen.results.importances import Importances
from duramen.results.significance import Significance
from duramen.significance.significance_test import SignificanceTest
from duramen.support import checks
from duramen.support.arrays import FloatArray

NULL = (
    "The feature's importance is a draw from a distribution that is symmetric about 0 and the same "
    "for all features without influence."
)

# With fewer negative values, the null sample says little about its tail.
_ENOUGH = 100
_ON_UNSEEN_ROWS = ("held-out", "out-of-bag")
_SKEWED = (
    "{what} are not symmetric about 0 for irrelevant features: {why}. P-values are too small, "
    "increasingly so with more trees (in noise of 60 x 300 with 1000 trees, 9 in 100 are <= .05 "
    "and 5 to 7 in 100 <= .01). Hint: use holdout_mda or air"
)


def janitza(importances: Importances, *, add_one: bool = True) -> Significance:
    r"""Test importances that chance makes negative as often as positive.

    The null sample V holds all negative importances, their mirror images, and all zeros; with
    ``|V|`` the number of its members,

    .. math:: p_j = \frac{1 + \#\{v \in V : v \ge VI_j\}}{1 + |V|}.

    Parameters
    ----------
    importances : Importances
        Of :func:`duramen.importances.holdout_mda`, ``air`` or ``sandri``, of ``mdi`` on held-out
        or out-of-bag rows, or of another measure whose values are symmetric about 0 for features
        without influence.
    add_one : bool
        Count the value itself as a member of the null sample. False is the p-value of the paper,
        b / \|V\|, which is 0 beyond all of V: its q-value is then 0 too, and in pure noise of 1000
        features some feature had one in 48 % of data sets.

    Returns
    -------
    Significance
        ``scores`` are the importances.

    Raises
    ------
    TypeError
        If `importances` is none.
    ValueError
        If the measure is never negative, as MDI from the training counts, or no value is.

    Warns
    -----
    UserWarning
        If fewer than 100 values are negative; or the values are known to be skewed where a feature
        is irrelevant, so that p-values come out too small: those from out-of-bag rows, and `sandri`
        over several permutations.

    Notes
    -----
    If all features without influence have one distribution of importance, and that is symmetric
    about 0, then about a fraction alpha of them has p <= alpha, the more exactly the more negative
    values there are: with m of them, the smallest p is at most 1 / (2 m + 1). It is a statement
    about many features at once, not about one of a few. Symmetric are the values of
    ``holdout_mda``, of ``air``, where a feature and its shadow may change places, and of ``mdi``
    and ``mda`` on rows that no tree was grown on. No forest is grown.

    Without influence are features that are independent of the target. One that is correlated with a
    relevant feature depends on the target: a forest uses it in place of the other, its importance
    is above 0 in expectation, and it is taken far more often than alpha
    (docs/explanation/tests/proxies.md). `strata` have no place here, since no rows are permuted.
    Rows must be exchangeable, which copies, samples of one person and time series are not; give the
    `groups` of such rows to ``holdout_mda``.

    It does not hold where the distributions of features differ: p-values of columns with many
    values are too small and those of columns with few too large, while the fraction over all
    features stays about right. Nor does it hold where the distribution is skewed (see Warns). Of
    hold-out values with classes of 10 and 90 rows, 5.4 to 5.7 % of p-values are <= .05 and 1.8 to
    2.0 % <= .01.

    References
    ----------
    S. Janitza, E. Celik, A.-L. Boulesteix (2018). A computationally fast variable importance test
    for random forests for high-dimensional data. Advances in Data Analysis and Classification 12.
    S. Nembrini, I. R. König, M. N. Wright (2018). The revival of the Gini importance?
    Bioinformatics 34 (with AIR).

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(200, 300, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.janitza(dm.importances.air(forest, data.X, data.y))
    >>> result.top(1).names
    ('x0',)
    """
    check_importances("janitza", importances, "use dm.importances.holdout_mda(estimator, X, y).")
    checks.check_flag("janitza", "add_one", add_one)
    _refuse_asymmetric(importances)
    values = importances.values
    negative = values[values < 0]
    if not negative.size:
        raise ValueError(
            f"janitza: none of the {len(values)} importances is negative, so that there is no "
            "sample of the null distribution. Hint: give more features, grow more trees if most "
            "values are 0, or use altmann."
        )
    notes = [skewed] if (skewed := _skewed(importances)) is not None else []
    if negative.size < _ENOUGH:
        notes.append(
            f"only {negative.size} of {len(values)} importances are negative; with fewer than "
            f"{_ENOUGH}, p-values are coarse and uncertain. Hint: use altmann, which needs no "
            "negative importances"
        )
    warn_of("janitza", notes)
    null = np.concatenate([negative, -negative, np.zeros(np.count_nonzero(values == 0))])
    return Significance(
        names=importances.names,
        scores=values,
        p_values=upper_fractions(values, null, add_one=add_one),
        method="janitza",
        null=NULL + ("" if "groups" in _choices(importances) else EXCHANGEABLE),
        unit=importances.unit,
        metadata={
            **importances.metadata,
            "measure": importances.measure,
            "janitza": {
                "add_one": bool(add_one),
                "n_negative": int(negative.size),
                "n_zero": int(null.size - 2 * negative.size),
            },
        },
        notes=tuple(notes),
    )


def upper_fractions(values: FloatArray, sample: FloatArray, *, add_one: bool) -> FloatArray:
    """Return the fraction of a sample that is at least as large as each value; shape (p,).

    With `add_one` it is (b + 1) / (m + 1) instead of b / m.
    """
    ascending = np.sort(sample)
    reached = ascending.size - np.searchsorted(ascending, values, side="left")
    return np.asarray((reached + add_one) / (ascending.size + add_one))


def _refuse_asymmetric(importances: Importances) -> None:
    measure = importances.measure
    rows = _choices(importances).get("rows")
    if measure == "mdi" and rows not in _ON_UNSEEN_ROWS:
        raise ValueError(
            "janitza: these importances are MDI from the training counts, which the search for "
            "the best split biases above 0 for every feature, also with a correction; the few "
            "negative values, if any, do not mirror the positive ones. Hint: use air, or "
            'mdi(forest, X, y, rows="oob").'
        )
    if measure != "mdi" and measure in catalogue and not catalogue[measure].symmetric:
        raise ValueError(
            f"janitza: values of {measure} are not symmetric about 0 for irrelevant features, so "
            "that they contain no sample of the null distribution. Hint: use holdout_mda or air, "
            "or altmann for this measure."
        )


def _skewed(importances: Importances) -> str | None:
    """Return why the values reach farther above 0 than below, if they are known to do so."""
    measure, choices = importances.measure, _choices(importances)
    if choices.get("rows") in ("oob", "out-of-bag"):
        return _SKEWED.format(
            what=f"out-of-bag values of {measure}",
            why="the rows that one tree leaves out are training rows of other trees, so that an "
            "association by chance in the sample, in either direction, counts in favor of a "
            "feature",
        )
    if measure == "sandri" and choices.get("n_repeats") != 1:
        return _SKEWED.format(
            what="values of sandri over several permutations",
            why="the mean over the shadows hardly varies, which leaves the skewed distribution of "
            "MDI about its mean",
        )
    return None


def _choices(importances: Importances) -> Mapping[str, object]:
    choices = importances.metadata.get(importances.measure, {})
    return choices if isinstance(choices, Mapping) else {}


JANITZA = SignificanceTest(
    "janitza",
    janitza,
    "Janitza",
    "If the importances of all features without influence have one distribution, symmetric about "
    "0, a fraction of about alpha of these features has a p-value up to alpha. This is a "
    "statement about many features; it does not hold for a single one of a few. Features that "
    "are correlated with relevant ones do have importance, since trees use them in place of "
    "these, and are selected with them. If features differ in their numbers of values, the "
    "p-values of those with many values are too small.",
    reference="S. Janitza, E. Celik, A.-L. Boulesteix (2018). A computationally fast variable "
    "importance test for random forests for high-dimensional data. Advances in Data "
    "Analysis and Classification 12.",
    repeats="",
    forests=lambda rounds, p: 0,
    suits=lambda measure: measure.refits and measure.symmetric,
)


# --- importances in units of their standard error over trees --------------------------------------

NULL_OF_TREES = (
    "Infinitely many trees grown on these very rows would give the feature an importance of 0 or "
    "less."
)


def z_scores(importances: Importances) -> Significance:
    r"""Return z = value / standard error over the trees, and its upper normal tail.

    .. math:: z_j = \frac{v_j}{s_j / \sqrt T}

    with s_j the standard deviation over the T trees of what each gives to feature j (Breiman and
    Cutler, for the permutation importance).

    Parameters
    ----------
    importances : Importances
        A mean over trees with its `standard_error`, such as ``mda(forest, X, y)``, unscaled.

    Returns
    -------
    Significance
        `scores` are z; `details` hold "importance" and "standard_error". Where the standard error
        is 0, z is 0 and p is 1: nothing was tested.

    Raises
    ------
    TypeError
        If `importances` is no `Importances`.
    ValueError
        If they have no standard error over trees.

    Warns
    -----
    UserWarning
        Always, that z grows with the number of trees.

    Notes
    -----
    *These p-values are not for deciding which features are relevant.* The trees were grown on the
    same rows, and their standard error says how far another forest *on these rows* would be. With
    T trees z is about :math:`\sqrt T` times :math:`\mu_j / s_j`, where :math:`\mu_j` is what
    infinitely many trees would find. That is not 0 for an irrelevant feature that happens to go
    with the target in these rows: with trees enough it gets any p-value one likes, above or below.
    Strobl and Zeileis (2008) show it. The p-values are valid for the hypothesis that `null` names,
    and useful to see whether more trees would help. This hypothesis is about these rows and does
    not require exchangeable ones. Where rows are copies of each other, or samples of one person,
    out-of-bag importances of irrelevant features are above 0, and z is, too. For relevance use
    `altmann`, or `confidence_intervals`, whose standard errors are over data.

    References
    ----------
    L. Breiman, A. Cutler (2004). Random forests (manual). C. Strobl, A. Zeileis (2008). Danger:
    high power! Exploring the statistical properties of a test for random forest variable
    importance. COMPSTAT 2008.

    Examples
    --------
    >>> import warnings
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     result = dm.significance.z_scores(dm.importances.mda(forest, data.X, data.y))
    >>> result.top(1).names
    ('x0',)
    """
    from scipy.stats import norm

    check_importances("z_scores", importances, "z_scores(mda(forest, X, y)).")
    error = importances.standard_error
    if error is None or _over_repeats(importances):
        raise ValueError(
            f"z_scores: these importances ({importances.measure}) have no standard error over "
            'trees. Hint: use a forest of two trees or more, scaled=False and votes="tree".'
        )
    n_trees = importances.metadata.get("n_trees")
    of_trees = "" if n_trees is None else f" (here of {n_trees} trees)"
    notes = (
        f"z grows with the square root of the number of trees{of_trees}, for irrelevant features "
        "too; it measures how precisely the mean over trees is known, not whether a feature is "
        "relevant. For relevance, use altmann or confidence_intervals",
    )
    warn_of("z_scores", notes)
    tested = error > 0
    z = np.divide(importances.values, error, out=np.zeros(len(importances)), where=tested)
    return Significance(
        names=importances.names,
        scores=z,
        p_values=np.where(tested, norm.sf(z), 1.0),
        method="z_scores",
        null=NULL_OF_TREES,
        details={"importance": importances.values, "standard_error": error},
        metadata={"importances": dict(importances.metadata), "measure": importances.measure},
        notes=notes,
    )


def _over_repeats(importances: Importances) -> bool:
    """Tell whether the standard error is that over repeats of the whole forest or model."""
    return (
        (importances.measure in catalogue and catalogue[importances.measure].spread != "trees")
        or "model" in importances.metadata
        or _choices(importances).get("votes") == "ensemble"
    )
