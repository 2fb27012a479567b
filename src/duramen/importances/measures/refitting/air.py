"""Actual impurity reduction (AIR): MDI without its bias toward columns of many values."""

from __future__ import annotations

from typing import Any

from duramen.importances.arguments import metadata_of
from duramen.importances.measure import SCATTERS, Measure, Words
from duramen.importances.measures.refitting.shadowed import differences, shadowed_forest
from duramen.importances.refit import data_for, repeat_seeds, template_of
from duramen.results.importances import Importances
from duramen.support.checks import draw_seed


def air(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
) -> Importances:
    r"""Compute the actual impurity reduction: MDI of each column less that of its shadow.

    The rows of X are permuted once, all columns by the same permutation, and the p columns of
    this copy, the shadows, stand beside the p columns of X while a forest grows. With
    :math:`\tilde X_m` the shadow of :math:`X_m`, and the notation of `mdi`,

    .. math:: AIR(X_m) = \frac1T \sum_T \Bigl[ \sum_{t: v(t) = X_m} p(t) \, \Delta i(t)
        - \sum_{t: v(t) = \tilde X_m} p(t) \, \Delta i(t) \Bigr].

    A column of many values finds a good cut by chance more often than one of few, and so does its
    shadow: what both win by chance cancels out. Negative values are as likely as positive ones
    where a column is irrelevant.

    Parameters
    ----------
    estimator : estimator of duramen
        Parameters of the forests; it is cloned, not changed.
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only (docs/how-to/tests/strata.md).
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together (docs/how-to/tests/strata.md).
    random_state : int, RandomState, Generator or None
        Where permutation and forest come from; None takes the estimator's own.

    Returns
    -------
    Importances
        ``measure="air"``, in the criterion's unit, not normalized. `standard_error` is that of the
        mean difference over the trees (None for a single tree): how far a larger forest with the
        same permutation could be. It knows nothing of other permutations (`sandri` does) nor of
        other data.

    Raises
    ------
    TypeError
        If `estimator` is not an estimator of this package.
    ValueError
        If its parameters, `X` or `y` are not as they must be, or `strata` and `groups` leave
        nothing to exchange.
    MemoryError
        If the table does not fit twice into memory.

    Notes
    -----
    *Candidates.* K and the size of subspaces are resolved for p columns and drawn from the 2p, as
    in the authors' implementation. K = "all" thus means p of 2p columns at every node.

    *What is exact.* If y has nothing to do with X, and the rows are a random sample, columns and
    shadows can change places without anybody noticing: every value has mean 0 exactly, for any
    splits, criterion and K. With relevant columns around this holds nearly for those that are
    independent of them. A column that is correlated with a relevant one is not null in this sense
    and gets a positive value.

    *The price.* Half of the candidates are noise, which leaves fewer splits to the relevant
    columns: values are smaller than those of `mdi`. The forest that was grown is not returned, as
    it must not be used for predictions.

    References
    ----------
    S. Nembrini, I. R. König, M. N. Wright (2018). The revival of the Gini importance?
    Bioinformatics 34(21), section 2.2.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.importances.air(forest, data.X, data.y)
    >>> result.top(2).names
    ('x0', 'x1')
    """
    template = template_of(estimator, "air", survival=False)
    data = data_for(template, X, y, "air", allow_one_class=True, strata=strata, groups=groups)
    seed = draw_seed(template.random_state if random_state is None else random_state)
    data.exchangeability.require(1, "air")
    forest = shadowed_forest(template, data, repeat_seeds(seed, 1)[0], "air")
    tally = differences(forest)
    choices = {"estimator": type(template).__name__, **data.exchangeability.identity()}
    metadata = metadata_of(forest, "air", **choices)
    metadata["seed"] = seed
    metadata["fingerprint"] = data.fingerprint
    return Importances(
        names=data.names,
        values=tally.values(),
        measure="air",
        unit=forest.settings.unit,
        standard_error=tally.standard_error(),
        metadata=metadata,
    )


AIR = Measure(
    "air",
    lambda inputs: air(inputs.estimator, inputs.data, random_state=inputs.random_state),
    Words(
        "AIR",
        "AIR, the actual impurity reduction, is the MDI of the feature minus that of its shadow, "
        "a copy with permuted rows, in a new forest grown on both: what a feature gains by "
        "chance cancels out. It is given in {unit}.",
        SCATTERS,
    ),
    reference="S. Nembrini, I. R. König, M. N. Wright (2018). The revival of the Gini importance? "
    "Bioinformatics 34.",
    refits=True,
    permutes=True,
)
