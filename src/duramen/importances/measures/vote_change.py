"""Change of the class votes when a feature is permuted: the chi-square index of importance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from duramen.data.memory import require_memory
from duramen.importances.arguments import class_names, metadata_of, sample_of, trees_and_rows
from duramen.importances.measure import Measure, Sums, over_trees, sums_of
from duramen.importances.permutation import permutations, seed_of, tree_losses
from duramen.results.significance import VoteChange
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike
from duramen.support.checks import warn

# Splits on a feature, on average, above which irrelevant features had small q-values in simulations
# (docs/explanation/theory/mda.md).
_MOST_SPLITS = 100


@over_trees(VoteChange)
def vote_change(
    forest: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    rows: str | None = "oob",
    df: str = "classes",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Sums[VoteChange]:
    r"""Compute the chi-square index of the change of the votes when a feature is permuted.

    .. math:: J_{\chi^2}(X_j) = \sum_{y, \hat y} \frac{(s_{y \hat y} - s'_{y \hat y})^2}
       {s_{y \hat y} + s'_{y \hat y}}

    with s the number of out-of-bag votes, over all the trees, of rows of class y for class ŷ, and
    s' the same after x_j is permuted among the out-of-bag rows of each tree (Paul et al. 2013,
    binary; here for any number of classes). Empty cells are left out. The permutations are those of
    :func:`mda` with the same seed.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn, grown on classes.
    X : table of shape (n, p), or LearningSet
        The training table, in its order; or, with ``rows=None``, rows that were held out.
    y : array-like of shape (n,), optional
        Classes; None with a learning set.
    rows : {"oob", None}
        As for :func:`mda`.
    df : {"classes", "pearson"}
        Degrees of freedom. A permutation changes no row's class, so that s and s' agree in the
        total of each class: C (C - 1) cells are free ("classes"). Pearson's count for a table
        whose margins are random is C^2 - 1 ("pearson"), which gives larger p-values.
    random_state : int, RandomState, Generator or None
        Seed of the permutations; None: derived from the seed of the forest.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    VoteChange
        ``scores`` are the indices, `p_values` their upper tails under the chi-square distribution,
        and `q_values` those of Benjamini and Hochberg. A feature that changes no vote has index 0
        and p-value 1. ``contingency(name)`` has the counts s and s' of a feature.

    Raises
    ------
    TypeError
        If `forest` is no such forest.
    ValueError
        If it was not grown on classes or has no out-of-bag rows, or all of them are of one class.

    Notes
    -----
    Votes are neither independent, since trees share rows, nor unpaired, since s and s' count the
    same rows. The p-value therefore depends on the number of trees T: it shrinks as T grows, also
    for features that are independent of the target. It is no test at a level: with few trees on
    each feature nothing has a small p-value, with many trees on each feature noise has. A warning
    is given where features have more than 100 splits on average. The result names T; compare
    p-values of forests of one size only, and use :func:`duramen.significance.max_t` for a test
    that holds for any number of trees.

    The null hypothesis is that votes do not depend on the feature. A feature that is correlated
    with a relevant one is used in its place and changes votes, whether or not it adds anything.

    References
    ----------
    J. Paul, M. Verleysen, P. Dupont (2013). Identification of statistically significant features
    from random forests. ECML workshop on Solving Complex Machine Learning Problems with Ensemble
    Methods.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.vote_change(forest, data.X, data.y)
    >>> result.top(1).names
    ('x0',)
    """
    name = "vote_change"
    grown, X = trees_and_rows(forest, name, X)
    if grown.classes is None:
        raise ValueError(
            "vote_change: needs a forest that was grown on classes, but this one was grown on "
            "numbers. Hint: mda measures both."
        )
    n_classes = len(grown.classes)
    require_memory(
        5 * 8 * grown.n_features * n_classes**2,
        what=f"votes of {n_classes} classes for each of {grown.n_features} features",
        function="vote_change",
        hint="join classes, or use mda",
    )
    checks.check_choice(name, "df", df, ("classes", "pearson"))
    sample = sample_of(grown, X, y, rows, name)
    seed = seed_of(grown, random_state)
    freedom = n_classes * (n_classes - 1) if df == "classes" else n_classes**2 - 1
    losses = yield from tree_losses(
        name,
        grown,
        sample,
        permutations(seed),
        score="accuracy",
        votes=True,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    if np.count_nonzero(losses.votes.sum(axis=1)) < 2:
        raise ValueError(
            "vote_change: rows of at least two classes must be out of bag of some tree. Hint: "
            "give a sample with all classes, or grow more trees."
        )
    splits = losses.n_splits / grown.n_features
    if splits > _MOST_SPLITS:
        warn(
            "vote_change: p-values shrink as trees are added, also those of irrelevant "
            f"features; with {grown.n_trees:,} trees and {splits:,.0f} splits on a feature on "
            "average, small p-values are no evidence of relevance. Hint: use "
            "duramen.significance.max_t, whose error rates hold for any number of trees.",
        )
    from scipy.stats import chi2

    index = vote_index(losses.votes, losses.changed_votes)
    source = "out-of-bag" if sample.out_of_bag else "the given"
    permuted = losses.votes + losses.changed_votes
    return VoteChange(
        names=grown.names,
        scores=index,
        p_values=chi2.sf(index, freedom),
        method=name,
        null=(
            f"The votes of the {grown.n_trees} trees on {source} rows, counted as if they were "
            "independent, have the same distribution whether the feature is permuted or not."
        ),
        metadata=metadata_of(
            grown, name, rows=rows, df=df, degrees_of_freedom=freedom, permutation_seed=seed
        ),
        classes=class_names(grown),
        votes=np.stack([np.broadcast_to(losses.votes, permuted.shape), permuted], axis=-1),
    )


def vote_index(votes: IntArray, changes: IntArray) -> FloatArray:
    """Return sum (s - s')^2 / (s + s') over the cells that are not empty, of shape (p,).

    `votes` are s, class by vote, of shape (C, C), and `changes` s' - s of every feature.
    """
    both = 2 * votes + changes
    terms = np.divide(
        changes.astype(np.float64) ** 2, both, out=np.zeros(both.shape), where=both > 0
    )
    index: FloatArray = terms.sum(axis=(1, 2))
    return index


VOTE_CHANGE = Measure(
    "vote_change",
    lambda inputs: sums_of(
        vote_change, inputs.estimator, inputs.data, n_jobs=inputs.n_jobs, verbose=inputs.verbose
    ),
    "J_chi2",
    "J_chi2 compares the votes of the trees on their out-of-bag rows, counted by class, with "
    "the votes after the feature is permuted: it is the chi-square index of the change.",
    "A feature that is not significant by J_chi2 can still be relevant.",
    p_values="The p-values depend on the number of trees, here {n_trees:,}: they shrink as "
    "trees are added, for relevant features and for irrelevant ones. With few trees per "
    "feature no p-value is small, with many trees those of noise features are; they do not "
    "control an error rate. Compare only p-values of forests of the same size. ",
    reference="J. Paul, M. Verleysen, P. Dupont (2013). Identification of statistically "
    "significant features from random forests. ECML workshop.",
    rows="out-of-bag",
    classes=True,
    over_trees=True,
    testable=False,
    zero_if_irrelevant=False,
    symmetric=False,
    favors_many_values=True,
)
