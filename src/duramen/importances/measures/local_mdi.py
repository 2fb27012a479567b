"""Local importances: changes by the splits on the path of a row, by feature."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from duramen import _kernel
from duramen.data import LearningSet
from duramen.data.learning_sets import table_of
from duramen.forests.forest import Forest
from duramen.forests.growth import bag
from duramen.forests.prediction import Rows, lent_rows, rows_of
from duramen.forests.structure import Nodes
from duramen.importances.arguments import (
    encode_like,
    forest_of,
    lacking_bags,
    matched,
    metadata_of,
    missing_rows,
    require_grown_on,
)
from duramen.importances.measure import Inputs, Measure
from duramen.results.importances import Importances
from duramen.results.local_importances import LocalImportances
from duramen.support.arrays import FloatArray, TableLike
from duramen.support.checks import check_choice, check_flag, check_jobs, check_real

_FUNCTION = "local_mdi"
_OF = ("impurity", "class", "prediction")
_ROWS = (None, "oob", "in-bag")  # in the order of the kernel
_WIDE = 1000  # features beyond which values are sparse


def local_mdi(
    forest: Any,
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    of: Literal["impurity", "class", "prediction"] = "impurity",
    rows: str | None = None,
    prior_weight: float = 0.0,
    sparse: bool | None = None,
    n_jobs: int | None = None,
) -> LocalImportances:
    r"""Compute the importances of the features in single rows: local MDI.

    .. math:: Imp(X_m; x) = \frac1T \sum_T \sum_{t: v(t) = X_m,\, x \in t} i(t) - i(t_x)

    with the nodes t on the path of x that split on X_m, the child :math:`t_x` that x comes to, and
    the impurity i of the training rows at a node (Sutera et al. 2021, eq. 5). The mean over the
    training rows is MDI. In infinitely many totally randomized multiway trees it is the Shapley
    value of the game :math:`v(S; x) = H(Y) - H(Y | V_S = x_S)`
    (`duramen.theory.population_local_mdi`).

    Parameters
    ----------
    forest : fitted estimator or Forest
        A forest of this package or of scikit-learn, of classes or numbers; or, for
        ``of="prediction"`` and ``rows=None``, boosted trees.
    X : table of shape (n, p), or LearningSet
        Rows to explain, seen in training or not.
    y : array-like of shape (n,) or a single label, optional
        Class of each row, or one class for all of them; for `of` other than ``"impurity"`` in
        classification. ``of="prediction"`` takes the last of two classes by default.
    of : {"impurity", "class", "prediction"}
        What the splits change: the impurity of the node; the bits by which the class of the row is
        expected, :math:`\log_2 P(y|t_x) - \log_2 P(y|t)`; or what a tree predicts at the node, the
        probability of a class or the mean of a numeric target, after Saabas (2014). Of boosted
        trees, whose scores add up: the raw prediction, such as the log-odds of a class.
    rows : {None, "oob", "in-bag"}
        None: every row goes down every tree and all count the same. ``"oob"`` and ``"in-bag"``:
        `X` holds the training rows, in their order, and each goes down the trees that were grown
        without it, or with it; rows in the bag count as often as there, and by the weights of the
        learning set, which must be those that the forest was grown with. The mean of in-bag
        rows is MDI for any forest; that of all rows is if trees were grown on all rows without
        weights.
    prior_weight : float, default=0.0
        For ``of="class"``: weight of the class frequencies of the roots that is added to every
        node. Needed where a row comes to nodes without its class, whose logarithm is minus
        infinity.
    sparse : bool, optional
        Whether the values are a sparse matrix; by default beyond 1,000 features.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Returns
    -------
    LocalImportances
        In the criterion's unit, in bits for ``of="class"``, or in that of the predictions.

    Raises
    ------
    TypeError
        If `forest` is no such forest.
    ValueError
        If the arguments do not go together, rows do not fit the forest, the forest is of
        survival, or a row comes to nodes without its class and `prior_weight` is 0.

    References
    ----------
    A. Sutera, G. Louppe, V. A. Huynh-Thu, L. Wehenkel, P. Geurts (2021). From global to local MDI
    variable importances for random forests and when they are Shapley values. NeurIPS 34.

    Examples
    --------
    >>> import duramen as dm
    >>> X, y = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]], [0, 1, 1, 0]
    >>> forest = dm.TotallyRandomizedTreesClassifier(100, random_state=0).fit(X, y)
    >>> local = dm.importances.local_mdi(forest, X)
    >>> bool(abs(local.mean().values - dm.importances.mdi(forest).values).max() < 1e-12)
    True
    """
    check_choice(_FUNCTION, "of", of, _OF)
    grown = forest_of(forest, _FUNCTION, X, boosted=of == "prediction" and rows is None)
    if rows not in _ROWS:
        raise ValueError(f'{_FUNCTION}: rows must be None, "oob" or "in-bag", got {rows!r}.')
    if X is None:
        raise missing_rows(_FUNCTION)
    check_real(_FUNCTION, "prior_weight", prior_weight, 0.0)
    if prior_weight and of != "class":
        raise ValueError(f'{_FUNCTION}: prior_weight must be 0 unless of="class", got of={of!r}.')
    if of == "class" and grown.classes is None:
        raise ValueError(
            f'{_FUNCTION}: of must be "impurity" or "prediction" in regression, got "class".'
        )
    weights = None
    if rows is None:
        table: Rows = rows_of(grown, table_of(X), _FUNCTION, _FUNCTION)
    else:
        if rows == "oob" and not grown.settings.samples_rows:
            raise lacking_bags(_FUNCTION)
        table = encode_like(grown, X)
        require_grown_on(grown, X, table, _FUNCTION, rows)
        if rows == "in-bag":
            weights = X.weights if isinstance(X, LearningSet) else None
            own = np.ones(len(table)) if weights is None else weights
            drawn = np.array([bag(grown, tree) @ own for tree in range(grown.n_trees)])
            with np.errstate(divide="ignore"):
                power = np.log2(drawn / grown.weight[grown.offsets[:-1]])
            # Estimators may divide weights by a power of two.
            if not np.allclose(power, np.rint(power[0]), rtol=0.0, atol=1e-9):
                raise ValueError(
                    f"{_FUNCTION}: X must be a learning set with the weights that the forest was "
                    "grown with, the product of sample and class weights: those of these rows do "
                    "not add up to the weights of its roots. Hint: use rows=None."
                )
    classes = None  # of each row, where there is something to choose
    if grown.classes is not None and of != "impurity":
        if y is None and isinstance(X, LearningSet):
            classes = matched(grown, X.target, _FUNCTION).astype(np.uint32)
        elif y is None and of == "prediction" and len(grown.classes) == 2:
            classes = np.ones(len(table), dtype=np.uint32)
        elif y is None:
            raise ValueError(
                f"{_FUNCTION}: y must be the class of each row, or one class for all, for "
                f"of={of!r}, got None."
            )
        else:
            labels = np.full(len(table), y) if isinstance(y, str) or np.ndim(y) == 0 else y
            target = grown.target_class.encode(
                labels, n_rows=len(table), allow_one_class=True, function=_FUNCTION
            )
            classes = matched(grown, target, _FUNCTION).astype(np.uint32)
    wide = grown.n_features > _WIDE if sparse is None else check_flag(_FUNCTION, "sparse", sparse)
    weight, start, values, offsets, columns = _kernel.path_changes(
        grown.kernel,
        lent_rows(grown, table),
        _numbers(grown, of, prior_weight),
        classes,
        _kernel.PathWeights(grown.bags, _ROWS.index(rows), weights),
        wide,
        check_jobs(_FUNCTION, n_jobs),
    )
    total = float(weight.sum())
    if total == 0.0:
        hint = f"no row is {'out of' if rows == 'oob' else 'in'} the bag of a tree"
        raise ValueError(f"{_FUNCTION}: X must have rows to explain, got none: {hint}.")
    if not (np.isfinite(values).all() and np.isfinite(start).all()):
        raise ValueError(
            f"{_FUNCTION}: prior_weight must be above 0 for these rows: some come to nodes that "
            "hold no training row of their class, where log2 P(y) is minus infinity. Hint: "
            "prior_weight=1 adds the weight of one row, in the proportions of the roots."
        )
    matrix: Any = values
    if wide:
        from scipy.sparse import csr_array

        matrix = csr_array((values, columns, offsets), shape=(len(table), grown.n_features))
    output = "y" if grown.classes is None else "probability"
    if grown.link is not None:
        output = {"identity": "y", "log": "log y", "logit": "log-odds"}[grown.link]
    return LocalImportances(
        names=grown.names,
        values=matrix,
        measure="local mdi" if of == "impurity" else f"local mdi of the {of}",
        unit={"impurity": grown.settings.unit, "class": "bits"}.get(of, output),
        weights=weight / total,
        start=start,
        metadata=metadata_of(grown, _FUNCTION, of=of, rows=rows, prior_weight=float(prior_weight)),
    )


def _numbers(forest: Forest, of: str, prior_weight: float) -> FloatArray:
    """Return the number of every node whose changes are credited to features, shape (N, C)."""
    if of == "impurity":
        return np.ascontiguousarray(-forest.impurity[:, np.newaxis])
    nodes = Nodes(forest)
    weight = forest.weight[:, np.newaxis]
    means = nodes.summed_up(weight[nodes.leaves] * forest.leaf_values) / weight
    if of == "prediction":
        return np.ascontiguousarray(means + forest.origin)
    if prior_weight:
        prior = means[forest.offsets[:-1]].mean(axis=0)
        means = (weight * means + prior_weight * prior) / (weight + prior_weight)
    with np.errstate(divide="ignore"):
        return np.ascontiguousarray(np.log2(means))


def _mean_absolute(inputs: Inputs) -> Importances:
    """Return the mean absolute change of impurity on the paths of the rows."""
    local = local_mdi(inputs.estimator, inputs.data, n_jobs=inputs.n_jobs)
    return Importances(
        local.names, local.mean_absolute(), _FUNCTION, local.unit, metadata=local.metadata
    )


LOCAL_MDI = Measure(
    _FUNCTION,
    _mean_absolute,
    "mean absolute local MDI",
    "The mean absolute local MDI is the change of impurity by the splits on the feature on the "
    "path of a row, averaged over the trees, in absolute value, and averaged over the rows; in "
    "{unit}.",
    "As MDI, it is above 0 for every feature that is tried often enough, relevant or not, and "
    "larger for features with many distinct values.",
    reference="A. Sutera et al. (2021). From global to local MDI variable importances for random "
    "forests and when they are Shapley values. NeurIPS 34.",
    rows="training",
    zero_if_irrelevant=False,
    symmetric=False,
    favors_many_values=True,
)
