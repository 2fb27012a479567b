"""Importances in units of their standard error over trees; a score, not a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from duramen.importances import catalogue
from duramen.importances.arguments import check_importances
from duramen.results.fields import warn_of
from duramen.results.importances import Importances
from duramen.results.significance import Significance

NULL = (
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
        null=NULL,
        details={"importance": importances.values, "standard_error": error},
        metadata={"importances": dict(importances.metadata), "measure": importances.measure},
        notes=notes,
    )


def _over_repeats(importances: Importances) -> bool:
    """Tell whether the standard error is that over repeats of the whole forest or model."""
    choices: Any = importances.metadata.get(importances.measure, {})
    return (
        (importances.measure in catalogue and catalogue[importances.measure].spread != "trees")
        or "model" in importances.metadata
        or (isinstance(choices, Mapping) and choices.get("votes") == "ensemble")
    )
