"""Mean decrease of impurity (MDI), from training rows, or from rows that trees have not seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen import _kernel
from duramen.data import LearningSet
from duramen.forests.forest import AnyForest, Forest
from duramen.forests.growth import out_of_bag
from duramen.forests.patches import row_blocks
from duramen.forests.prediction import lent_rows
from duramen.forests.structure import Nodes, decreases
from duramen.importances.arguments import (
    importances_of,
    sample_of,
    trees_of,
)
from duramen.importances.measure import (
    SCATTERS,
    Measure,
    Sums,
    Tally,
    TreeSums,
    over_trees,
    sums_of,
)
from duramen.io import ColumnStore
from duramen.results.importances import Importances
from duramen.support.arrays import BoolArray, FloatArray, TableLike
from duramen.support.checks import check_choice

CORRECTIONS = ("expected", "miller-madow")


@over_trees(Importances)
def mdi(
    forest: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    rows: str | None = None,
    by_degree: bool = False,
    correction: str | None = None,
) -> Sums[Importances]:
    r"""Compute the mean decrease of impurity, in the criterion's unit, not normalized.

    .. math:: Imp(X_m) = \frac1T \sum_T \sum_{t: v(t) = X_m} p(t) \, \Delta i(t)

    with p(t) the fraction of the tree's rows at node t, v(t) the feature that it splits on and
    Δi(t) the decrease of impurity by its split (Breiman et al. 1984; Louppe et al. 2013, eq. 2).
    For fully developed trees on distinct rows it adds up to I(V;Y) of the sample.

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn.
    X : table of shape (n, p), optional
        Rows to measure the decreases on instead of the training counts: rows that were held out,
        or the training rows with ``rows="oob"``.
    y : array-like of shape (n,), optional
        Target of `X`.
    rows : {None, "oob"}
        None: every row of `X` is dropped through every tree. ``"oob"``: `X` and `y` are the
        training rows, in their order, and each is dropped through the trees that were grown
        without it. The default differs from that of `mda`, which needs rows that a tree did not
        see: MDI is defined on the training counts that the forest keeps, and needs no rows.
    by_degree : bool
        Whether to split the values up by the number of splits above the node.
    correction : {None, "expected", "miller-madow"}
        Bias to take away at every node; for ``criterion="entropy"`` and training counts only. See
        Notes.

    Returns
    -------
    Importances
        ``measure="mdi"``; `standard_error` is that of the mean over the trees (None for a single
        tree). It is the uncertainty by the number of trees, not by the sample.

    Raises
    ------
    TypeError
        If `forest` is no such forest.
    ValueError
        If the arguments do not go together, or `X` or `y` do not fit the forest.

    Notes
    -----
    *Corrections.* ``"expected"`` subtracts the mean of plug-in information between independent
    variables, (m_X - 1)(m_Y - 1) / (2 N ln 2) bits with m_X children, m_Y classes present and N
    distinct rows at the node; ``"miller-madow"`` subtracts (m_XY - m_X - m_Y + 1) / (2 N ln 2)
    with m_XY occupied cells. Both treat the split as given: that it was the best of many is not
    corrected for, so they are at home with totally randomized trees. Rows that a bootstrap draws
    several times make the true bias somewhat larger. Corrected values can be negative.

    *Survival.* Nodes have no impurity there: the value of a feature is the mean over the trees of
    the sum of the log-rank statistics (chi-square) of the splits on it, not weighted by the
    fraction of rows, which is its part of the goodness of split of the trees of LeBlanc and
    Crowley (1993). It is positive for irrelevant features too.

    *Held-out rows.* Gini and variance: sum_c (n_c / n) m_c . (Y_c - Y_t) over the children c of
    node t, with m the training means and Y those of the held-out rows, after Li et al. (2019) and
    Zhou and Hooker (2021); this is MDI when the rows are the training rows. Entropy: held-out
    information between child and class, less its exact mean when the classes are permuted within
    the node. Both have mean 0 for a feature that is irrelevant, so values can be negative, and
    they do not add up to I(V;Y).

    References
    ----------
    X. Li, Y. Wang, S. Basu, K. Kumbier, B. Yu (2019). A debiased MDI feature importance measure
    for random forests. NeurIPS 32. Z. Zhou, G. Hooker (2021). Unbiased measurement of feature
    importance in tree-based methods. ACM TKDD 15(2).

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.mdi(forest)
    >>> result.unit, result.top(2).names
    ('gini', ('x0', 'x1'))
    """
    grown = trees_of(forest, "mdi", X, survival=True)
    if X is not None or y is not None or rows is not None:
        if correction is not None:
            raise ValueError(
                "mdi: correction must be None with X and y: held-out rows have no such bias."
            )
        return (yield from _of_rows(grown, X, y, rows, by_degree))
    if correction is None:
        # Survival nodes have no impurity: the means are means of the scores of the splits.
        sums = _kernel.Decreases(grown.n_features, by_degree, grown.target_class.censored)
        while (run := (yield grown, None)) is not None:
            sums.add(run.kernel)
        values, errors, degrees = sums.means()
        if not degrees.shape[1]:  # no tree has a split
            degrees = np.zeros((grown.n_features, 1))
        error = errors if grown.n_trees > 1 else None
        means, choices = (values, error, degrees if by_degree else None), dict[str, Any]()
    else:
        check_choice("mdi", "correction", correction, CORRECTIONS)
        if grown.settings.criterion != "entropy":
            raise ValueError(
                f"mdi: correction={correction!r} is a correction of information in bits, but this "
                f"forest was grown with criterion={grown.settings.criterion!r}. Hint: fit with "
                'criterion="entropy".'
            )
        tally = Tally(grown.n_features, by_degree=by_degree)
        while (run := (yield grown, 0)) is not None:
            nodes = Nodes(run)
            excess = decreases(run) - _bias(run, nodes, correction)
            tally.add(nodes, nodes.fractions() * excess, n_trees=run.n_trees)
        means, choices = tally.means(), {"correction": correction}
    values, error, by = means
    unit = grown.settings.unit
    return importances_of(
        grown, "mdi", values, unit, error, by_degree=by, rows="training", **choices
    )


def _bias(run: Forest, nodes: Nodes, correction: str) -> FloatArray:
    """Return the bias of the information of every split of a run, by its children and classes."""
    classes = np.count_nonzero(nodes.summed_up(run.leaf_values > 0), axis=1).astype(np.int64)
    parents = nodes.inner.parents
    m_x, m_y = nodes.n_children[parents], classes[parents]
    if correction == "expected":
        cells = (m_x - 1) * (m_y - 1)
    else:
        cells = nodes.over_children(classes) - m_x - m_y + 1
    bias = np.zeros(run.n_nodes)
    bias[parents] = cells / (2 * np.log(2) * run.rows[parents])
    return bias


# --- MDI from rows that a tree was not grown from -------------------------------------------------
# The splits are the tree's, the evidence for them is not. A feature that has nothing to do with
# the target then gets 0 on average, however many cut points it offers, while MDI from the training
# rows rewards it for what the search fitted by chance.


def _of_rows(
    forest: AnyForest, X: Any, y: Any, rows: str | None, by_degree: bool, name: str = "mdi"
) -> Sums[Importances]:
    """Compute the decreases that rows show when they are dropped through the trees.

    The formulas are in :func:`mdi`. Li et al. (2019) have sum_c (n_c / n) m_c .
    Y_c - (n_t / n) m_t . Y_t, which a constant added to y makes noisier. A score in bits that mixes
    training and held-out frequencies would charge an irrelevant feature for the noise of its
    training frequencies. Where the classes of the rows at t have nothing to do with the children
    that they go to, any permutation of them is as likely, and all scores have mean 0 exactly. Trees
    that no row was dropped through do not count.

    Rows of a group depend on each other, and their classes cannot be permuted one by one: of each
    group that is out of the bag of a tree, a score in bits takes a row drawn at random, and is the
    mean over five such draws.
    """
    texts = isinstance(X, str) or isinstance(y, str)
    if texts or X is None or (y is None and not isinstance(X, LearningSet)):
        raise ValueError(
            "mdi: X and y must be rows and their target. Hint: forests do not keep their training "
            'rows; for out-of-bag rows pass them again, as in mdi(forest, X, y, rows="oob").'
        )
    if forest.target_class.censored:
        raise ValueError(
            "mdi: X and y must be None for survival, where MDI adds up log-rank statistics of the "
            "training rows. Hint: mda measures rows that were held out."
        )
    sample = sample_of(forest, X, y, rows, "mdi", blocks=True)
    tally = Tally(forest.n_features, by_degree=by_degree)
    in_bits = forest.settings.criterion == "entropy"
    while (run := (yield forest, len(sample.target))) is not None:
        nodes, k = Nodes(run), run.n_values
        draws: list[BoolArray | None] = [None]
        if run.groups is not None and in_bits and sample.out_of_bag:
            draws = list(_rows_of_groups(run, run.groups))
        # Rows at every leaf, for each draw of rows: those of each class, or how many and the sum of
        # their targets.
        classified, n_leaves = forest.classes is not None, len(nodes.leaves)
        dtype, width = (np.int64, k) if classified else (np.float64, 2)
        of_draws: list[NDArray[Any]] = [np.zeros((n_leaves, width), dtype) for _ in draws]
        blocks: Iterator[tuple[slice, Any]]
        if isinstance(sample.rows, ColumnStore):
            blocks = row_blocks(run, sample.rows)
            outside = out_of_bag(run) if sample.out_of_bag else None
            bags = None
        else:
            blocks = iter([(slice(0, len(sample.target)), lent_rows(run, sample.rows))])
            outside, bags = None, run.bags if sample.out_of_bag else None
        for block, table in blocks:
            end = _kernel.apply(run.kernel, table, 1, bags)
            row, tree = np.nonzero(end >= 0 if outside is None else outside[block])
            leaf = run.child[end[row, tree] + run.offsets[tree]] + run.leaf_offsets[tree]
            target = sample.target[block][row]
            for drawn, at_leaves in zip(draws, of_draws, strict=True):
                leaves, targets = leaf, target
                if drawn is not None:
                    of_draw = drawn[row + block.start, tree]
                    leaves, targets = leaf[of_draw], target[of_draw]
                if classified:
                    counts = np.bincount(leaves * k + targets, minlength=at_leaves.size)
                    at_leaves += counts.reshape(at_leaves.shape)
                else:
                    at_leaves[:, 0] += np.bincount(leaves, minlength=n_leaves)
                    np.add.at(at_leaves[:, 1], leaves, targets)  # in the order of the rows
        fractions = np.zeros(run.n_nodes)
        for at_leaves in of_draws:
            rows_of = at_leaves.sum(axis=1) if classified else at_leaves[:, 0]
            in_tree = np.add.reduceat(rows_of, run.leaf_offsets[:-1])
            if in_bits:
                gain = _kernel.excess_information(run.kernel, at_leaves)
            else:
                sums = at_leaves if classified else at_leaves[:, 1:]
                at_nodes = nodes.summed_up(np.column_stack([rows_of, sums]).astype(np.float64))
                gain = _covariance(run, nodes, at_nodes[:, 0], at_nodes[:, 1:])
            fractions += gain / np.maximum(in_tree, 1)[nodes.tree]
        n_trees = int(np.count_nonzero(in_tree))
        tally.add(nodes, fractions / len(draws), n_trees=n_trees)
    if not tally.n_trees:
        raise ValueError("mdi: no tree of this forest has out-of-bag rows. Hint: more trees.")
    values, error, by = tally.means()
    source = "out-of-bag" if sample.out_of_bag else "held-out"
    return importances_of(
        forest,
        name,
        values,
        forest.settings.unit,
        error,
        by_degree=by,
        rows=source,
        correction=None,
    )


_DRAWS = 5


def _rows_of_groups(run: Forest, groups: NDArray[np.uint32]) -> Iterator[BoolArray]:
    """Draw a training row of each group for each tree, (n, T), some times; all rows as often."""
    sizes = np.bincount(groups)
    rows, starts = np.argsort(groups, kind="stable"), np.cumsum(sizes) - sizes
    trees = range(run.first_tree, run.first_tree + run.n_trees)
    uniform = np.array([np.random.default_rng([run.seed, t]).random(len(sizes)) for t in trees])
    for k in range(_DRAWS):
        place = ((uniform + k / _DRAWS) % 1.0 * sizes).astype(np.int64)
        drawn = np.zeros((run.n_rows, run.n_trees), dtype=np.bool_)
        np.put_along_axis(drawn, rows[starts + place].T, True, axis=0)
        yield drawn


def _covariance(run: Forest, nodes: Nodes, rows: FloatArray, sums: FloatArray) -> FloatArray:
    """Return sum_c n_c m_c . (Y_c - Y_t) of every inner node."""
    mass = run.leaf_values * run.weight[nodes.leaves][:, np.newaxis]
    mean = nodes.summed_up(mass) / run.weight[:, np.newaxis]
    agreement = np.einsum("ij,ij->i", mean, sums)
    predicted = rows[:, np.newaxis] * mean
    parents = nodes.inner.parents
    seen = sums[parents] / np.maximum(rows[parents], 1.0)[:, np.newaxis]
    by_chance = np.einsum("ij,ij->i", nodes.over_children(predicted), seen)
    covariance = np.zeros(run.n_nodes)
    covariance[parents] = nodes.over_children(agreement) - by_chance
    return covariance


MDI = Measure(
    "mdi",
    lambda inputs: sums_of(mdi, inputs.estimator, by_degree=inputs.by_degree),
    "MDI",
    "MDI is the mean decrease of impurity: every split of every tree lowers the impurity of "
    "the target; these decreases are weighted by the fraction of rows that reach the split, "
    "added up by feature, and averaged over the trees. They are given in {unit} and are not "
    "scaled, so that they can be compared and added.",
    "MDI gives some importance to every feature that is tried often enough, relevant or not, "
    "since trees also fit noise. Features with many distinct values get more of it than "
    "those with few, and features with rare values less. MDI has no threshold above which a "
    "feature is relevant: that requires a test.",
    survival_reading="MDI is the sum of the log-rank statistics of the splits on a feature, "
    "averaged over the trees; such a statistic compares the survival of the two children.",
    reference="G. Louppe et al. (2013). Understanding variable importances in forests of "
    "randomized trees. NeurIPS 26.",
    survival=True,
    over_trees=True,
    zero_if_irrelevant=False,
    symmetric=False,
    favors_many_values=True,
    default=True,
)
MDI_OOB = Measure(
    "mdi_oob",
    lambda inputs: TreeSums(
        _of_rows(
            trees_of(inputs.estimator, "mdi", inputs.data, survival=True),
            inputs.data,
            None,
            "oob",
            inputs.by_degree,
            "mdi_oob",
        )
    ),
    "MDI-oob",
    "MDI-oob, the out-of-bag MDI, is the decrease of impurity by the splits on the feature, "
    "measured on the out-of-bag rows of each tree and averaged over trees; in {unit}.",
    SCATTERS,
    reference="X. Li et al. (2019). A debiased MDI feature importance measure for random forests. "
    "NeurIPS 32.",
    rows="out-of-bag",
    default=True,
    over_trees=True,
)
