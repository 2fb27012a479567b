"""Conditional permutation importance: a feature permuted given those it is associated with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from duramen.data import EncodedTable
from duramen.importances.arguments import trees_of
from duramen.importances.measure import SCATTERS, Inputs, Measure, OfTrees, TreeSums, Words
from duramen.importances.measures.fitted.mda import loss_sums, repeats_of, score_of, seed_of
from duramen.importances.passes.association import association_p_values
from duramen.importances.passes.permutation import Condition, Permutations
from duramen.importances.samples import encode_like, sample_of
from duramen.results.importances import Importances
from duramen.support import checks

THRESHOLDS = {"permimp": 0.95, "party": 0.2}


def conditional_mda(
    forest: Any,
    X: Any = None,
    y: Any = None,
    *,
    association: str = "permimp",
    threshold: float | None = None,
    rows: str | None = "oob",
    scoring: str | None = None,
    n_repeats: int | str = 1,
    scaled: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Importances:
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
        A forest of this package.
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
    inputs = Inputs(forest, X, n_jobs=n_jobs, verbose=verbose)
    arguments = (association, threshold, rows, scoring, n_repeats, scaled, random_state)
    return cast(Importances, _sums(inputs, y, *arguments).over_all())


def _sums(
    inputs: Inputs,
    y: Any = None,
    association: str = "permimp",
    threshold: float | None = None,
    rows: str | None = "oob",
    scoring: str | None = None,
    n_repeats: int | str = 1,
    scaled: bool = False,
    random_state: Any = None,
) -> TreeSums:
    """Check the arguments of `conditional_mda`, and return the sums of no trees so far."""
    name, X = "conditional_mda", inputs.data
    grown = trees_of(inputs.estimator, name, survival=True)
    score = score_of(grown, scoring, name)
    checks.check_choice(name, "association", association, THRESHOLDS)
    checks.check_flag(name, "scaled", scaled)
    limit = THRESHOLDS[association] if threshold is None else threshold
    limit = checks.check_real(name, "threshold", limit, 0.0, 1.0)
    repeats = repeats_of(n_repeats, score, name)
    sample = sample_of(grown, X, y, rows, name)
    condition = Condition(None, limit)
    if association == "party":
        rows_at_hand = sample.rows
        table = rows_at_hand if isinstance(rows_at_hand, EncodedTable) else encode_like(grown, X)
        associated = 1.0 - association_p_values(table) > limit
        condition = Condition(associated.astype(np.uint8), limit)
    permutations = Permutations(seed_of(grown, random_state), repeats, condition=condition)
    choices = {
        "association": association,
        "threshold": limit,
        "rows": rows,
        "scoring": score,
        "n_repeats": repeats,
        "scaled": bool(scaled),
        "permutation_seed": permutations.seed,
    }
    asked = replace(inputs, estimator=grown)
    return loss_sums(name, asked, sample, permutations, score, choices)


CONDITIONAL_MDA = Measure(
    "conditional_mda",
    OfTrees(_sums),
    Words(
        "conditional MDA",
        "Conditional MDA is MDA with the feature permuted only among rows that agree on the "
        "features it is associated with, so that information that it shares with them does not "
        "count; in {unit}.",
        SCATTERS,
    ),
    reference="C. Strobl et al. (2008). Conditional variable importance for random forests. BMC "
    "Bioinformatics 9:307.",
    rows="out-of-bag",
    survival=True,
)
