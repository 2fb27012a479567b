"""P-values of importances that chance makes negative as often as positive."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from duramen.data.exchangeability import EXCHANGEABLE
from duramen.importances import catalogue
from duramen.importances.arguments import check_importances
from duramen.results.importances import Importances
from duramen.results.result import warn_of
from duramen.results.significance import Significance
from duramen.significance.significance_test import SignificanceTest
from duramen.support import checks

NULL = (
    "The feature's importance is a draw from a distribution that is symmetric about 0 and the same "
    "for all features without influence."
)

# With fewer negative values, the null sample says little about its tail.
_ENOUGH = 100
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
    name = "janitza"
    check_importances(name, importances, "use dm.importances.holdout_mda(estimator, X, y).")
    checks.check_flag(name, "add_one", add_one)
    measure, values = importances.measure, importances.values
    choices = importances.metadata.get(measure, {})
    choices = choices if isinstance(choices, Mapping) else {}
    rows = choices.get("rows")
    trained = measure == "mdi" and rows not in ("held-out", "out-of-bag")
    if trained or (measure != "mdi" and measure in catalogue and not catalogue[measure].symmetric):
        counted = " from the training counts" if trained else ""
        raise ValueError(
            f"{name}: values of {measure}{counted} are not symmetric about 0 for irrelevant "
            "features, so that they contain no sample of the null distribution. Hint: use "
            'holdout_mda, air or mdi(forest, X, y, rows="oob"), or altmann for this measure.'
        )
    negative = values[values < 0]
    if not negative.size:
        raise ValueError(
            f"{name}: none of the {len(values)} importances is negative, so that there is no "
            "sample of the null distribution. Hint: give more features, grow more trees if most "
            "values are 0, or use altmann."
        )
    notes = list[str]()
    if rows in ("oob", "out-of-bag"):
        why = (
            "the rows that one tree leaves out are training rows of other trees, so that an "
            "association by chance in the sample, in either direction, counts in favor of a feature"
        )
        notes.append(_SKEWED.format(what=f"out-of-bag values of {measure}", why=why))
    elif measure == "sandri" and choices.get("n_repeats") != 1:
        why = (
            "the mean over the shadows hardly varies, which leaves the skewed distribution of MDI "
            "about its mean"
        )
        notes.append(_SKEWED.format(what="values of sandri over several permutations", why=why))
    if negative.size < _ENOUGH:
        notes.append(
            f"only {negative.size} of {len(values)} importances are negative; with fewer than "
            f"{_ENOUGH}, p-values are coarse and uncertain. Hint: use altmann, which needs no "
            "negative importances"
        )
    warn_of(name, notes)
    n_zero = np.count_nonzero(values == 0)
    null = np.sort(np.concatenate([negative, -negative, np.zeros(n_zero)]))
    reached = null.size - np.searchsorted(null, values, side="left")
    return Significance(
        names=importances.names,
        scores=values,
        p_values=(reached + add_one) / (null.size + add_one),
        method=name,
        null=NULL + ("" if "groups" in choices else EXCHANGEABLE),
        unit=importances.unit,
        metadata={
            **importances.metadata,
            "measure": measure,
            name: {
                "add_one": bool(add_one),
                "n_negative": int(negative.size),
                "n_zero": int(n_zero),
            },
        },
        notes=tuple(notes),
    )


JANITZA = SignificanceTest(
    "janitza",
    janitza,
    "Janitza",
    "If the importances of all features without influence have one distribution, symmetric about "
    "0, a fraction of about alpha of these many features has a p-value up to alpha. Features that "
    "are correlated with relevant ones do have importance, and are selected with them. If features "
    "differ in their numbers of values, the p-values of those with many values are too small.",
    reference="S. Janitza, E. Celik, A.-L. Boulesteix (2018). A computationally fast variable "
    "importance test for random forests for high-dimensional data. Advances in Data "
    "Analysis and Classification 12.",
    repeats="",
    forests=lambda rounds, p: 0,
    suits=lambda measure: measure.refits and measure.symmetric,
)
