"""Mean decrease of accuracy (MDA), the permutation importance."""

from __future__ import annotations

from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen import _kernel
from duramen.data import SurvivalTarget
from duramen.data.memory import require_memory
from duramen.data.sources import names_of, table_like
from duramen.forests.boosting import is_boosted
from duramen.forests.forest import AnyForest, Forest, TreeStream
from duramen.forests.prediction import concordance, with_interval_codes
from duramen.forests.sklearn_models import is_readable
from duramen.importances.arguments import (
    Sample,
    forest_of,
    importances_of,
    matched,
    missing_rows,
    sample_of,
    trees_and_rows,
    trees_of,
)
from duramen.importances.measure import SCATTERS, Inputs, Measure, TreeSums
from duramen.importances.permutation import (
    ALL,
    SCORES,
    kernel_inputs,
    mean_losses,
    permutations,
    repeats_of,
    score_of,
    seed_of,
)
from duramen.io.groups import members_of
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike, refuse_masked
from duramen.support.provenance import versions


def mda(
    estimator: Any,
    X: TableLike | None = None,
    y: ArrayLike | None = None,
    *,
    rows: str | None = "oob",
    scoring: Any = None,
    votes: str = "tree",
    n_repeats: int | str | None = None,
    scaled: bool = False,
    by_class: bool = False,
    feature_groups: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Importances:
    r"""Compute the mean decrease of accuracy on unseen rows when a feature is permuted.

    .. math:: Imp(X_j) = \frac1T \sum_t d_{tj}, \qquad
       d_{tj} = \mathrm{score}(O_t) - \mathrm{score}(O_t \text{ with } x_j \text{ permuted})

    with O_t the out-of-bag rows of tree t (Breiman 2001; thesis, eqs. 4.3 to 4.5). A tree that
    does not use the feature loses nothing. Trees without out-of-bag rows are skipped, but T stays
    the number of all trees.

    Parameters
    ----------
    estimator : fitted estimator or Forest of duramen, or any fitted scikit-learn predictor
        A forest or decision tree of scikit-learn is measured as one of duramen. Another predictor
        is measured as a whole on the rows given (thesis, eq. 4.3), by
        :func:`sklearn.inspection.permutation_importance`; boosted trees of scikit-learn, LightGBM
        and XGBoost (:meth:`duramen.Forest.from_boosting`) by ``votes="predictor"``, which is
        faster, if `scoring` is a default.
    X : table of shape (n, p), or LearningSet
        The rows: the training table, in its order, with ``rows="oob"``.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set.
    rows : {"oob", None}
        "oob": each tree is measured on the rows out of its bag. None: every row of `X` goes down
        every tree; for rows that were held out. Ignored for other predictors, which are measured
        on all rows. The default differs from that of `mdi`, which needs no rows: on the rows that
        it was grown on a fully developed tree errs on none, so that its loss is no accuracy.
    scoring : str, optional
        "accuracy" (default for classes), "balanced_accuracy", "neg_log_loss" (natural logarithms;
        probabilities below 2e-16 count as that), "roc_auc" (each class against the rest, the mean
        over the classes; trees that lack a class, or hold no other, drop out of the mean over
        trees: Janitza et al. 2013), "neg_mean_squared_error" (default for numbers), or
        "concordance" (for survival: Harrell's, of the mortalities of the leaves; trees without a
        comparable pair of rows drop out of the mean over trees). For other predictors anything that
        scikit-learn takes.
    votes : {"tree", "ensemble", "predictor"}
        "tree": the mean loss of the trees. "ensemble": the loss of the majority vote (the mean
        prediction in regression and survival) of the trees for which a row is out of bag, as in
        Breiman (2001); rows in every bag are left out. "predictor": the loss of `predict` by a
        permutation common to all trees, as in :func:`sklearn.inspection.permutation_importance`;
        for classes or numbers, with ``rows=None``. The last two have the default `scoring` alone.
    n_repeats : int or "all", optional
        Permutations of each feature in each tree, by default 1 (5 for other predictors). "all":
        the mean over all permutations, computed exactly; for scores that are sums over rows and
        votes="tree".
    scaled : bool
        Whether to divide by the standard error over trees: z = raw / SE with SE^2 =
        (mean_t d_tj^2 - raw^2) / T, as R's randomForest does; raw stays as it is where SE is not
        above 2.2e-16. z grows with the square root of T: it is no test statistic.
    by_class : bool
        Whether to measure the rows of each class alone as well; for votes="tree".
    feature_groups : mapping, labels, path, ..., optional
        Columns (:func:`duramen.io.feature_groups` has the forms) that are permuted together
        with one shared permutation; the result then has one value a group. A column may be in
        several groups.
    random_state : int, RandomState, Generator or None
        Seed of the permutations. None: derived from the seed of the forest, so that the same
        forest gives the same numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    Importances
        ``measure="mda"``, positive where permuting hurts; negative values are chance. Unit: that
        of the score, or "1" when scaled. `standard_error` is that of the mean over trees (over
        repeats for the ensemble and for other predictors; None where there is one).

    Raises
    ------
    TypeError
        If `estimator` cannot predict.
    ValueError
        If the arguments do not go together, the forest has no out-of-bag rows, or the score is not
        defined for any tree.

    References
    ----------
    L. Breiman (2001). Random forests. Machine Learning 45. S. Janitza, C. Strobl,
    A.-L. Boulesteix (2013). An AUC-based permutation variable importance measure for random
    forests. BMC Bioinformatics 14:119.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    >>> result = dm.importances.mda(forest, data.X, data.y)
    >>> result.unit, result.top(2).names
    ('accuracy', ('x0', 'x1'))
    """
    if X is None:
        raise missing_rows("mda")
    whole = (votes, scaled, by_class, feature_groups) == ("tree", False, False, None)
    own = getattr(estimator, "forest_", estimator)
    ours = isinstance(own, Forest | TreeStream)
    boosted = own.link is not None if ours else is_boosted(estimator)
    if boosted and (ours or scoring in (None, "accuracy", "neg_mean_squared_error")):
        if votes == "ensemble":
            raise ValueError(
                'mda: votes must be "tree" or "predictor" for boosted trees, which have no votes, '
                'got "ensemble".'
            )
        ours, votes, rows = True, "predictor", None
        n_repeats = _REPEATS if n_repeats is None else n_repeats
    ours = ours or type(estimator).__module__.startswith("duramen.") or is_readable(estimator)
    if not ours and not isinstance(estimator, type) and hasattr(estimator, "predict"):
        if not whole:
            raise ValueError(
                "mda: votes, scaled, by_class and feature_groups are for forests of duramen; other "
                "models are measured as a whole."
            )
        return _of_predictor(estimator, X, y, scoring, n_repeats, random_state, n_jobs)
    forest, X = trees_and_rows(estimator, "mda", X, survival=True, boosted=True)
    score = score_of(forest, scoring, "mda")
    checks.check_choice("mda", "votes", votes, ("tree", "ensemble", "predictor"))
    checks.check_flag("mda", "scaled", scaled)
    checks.check_flag("mda", "by_class", by_class)
    repeats = repeats_of(n_repeats, score, "mda", votes)
    if by_class and forest.classes is None:
        raise ValueError("mda: by_class=True needs a forest that was grown on classes.")
    if votes == "predictor" and (rows is not None or score == "concordance"):
        raise ValueError(
            'mda: votes="predictor" is for classes or numbers with rows=None, where every row goes '
            f"down every tree, got rows={rows!r} for {forest.target_class.words}."
        )
    if rows is None and isinstance(forest, Forest):
        forest, X = with_interval_codes(forest, X, "mda")
    sample = sample_of(forest, X, y, rows, "mda")
    names, members = grouped(forest, feature_groups, "mda")
    seed = seed_of(forest, random_state)
    if votes != "tree":
        if scaled or by_class or score != forest.target_class.scores[0]:
            raise ValueError(
                f"mda: votes={votes!r} has the default scoring alone, and neither scaled=True nor "
                f"by_class=True, got scoring={score!r}, scaled={scaled}, by_class={by_class}."
            )
        grown = forest_of(forest, "mda", survival=True, boosted=True)
        n_threads = checks.check_jobs("mda", n_jobs)
        drops = _of_ensemble(grown, sample, seed, int(repeats), members, score, votes, n_threads)
        return importances_of(
            grown,
            "mda",
            drops.mean(axis=0),
            SCORES[score],
            drops.std(axis=0, ddof=1) / np.sqrt(len(drops)) if len(drops) > 1 else None,
            names=names,
            rows=rows,
            votes=votes,
            scoring=score,
            n_repeats=repeats,
            scaled=scaled,
            permutation_seed=seed,
        )
    sums = mean_losses(
        "mda",
        forest,
        sample,
        permutations(seed, repeats, feature_groups=members),
        score=score,
        names=names,
        scaled=scaled,
        by_class=by_class,
        n_jobs=n_jobs,
        verbose=verbose,
        rows=rows,
        votes=votes,
        n_repeats=repeats,
        permutation_seed=seed,
    )
    return cast(Importances, TreeSums(sums).importances())


def grouped(
    forest: AnyForest, feature_groups: Any, function: str
) -> tuple[tuple[str, ...], list[IntArray] | None]:
    """Return the names of the groups, and their columns; None for every column by itself."""
    if feature_groups is None:
        return forest.names, None
    members = members_of(feature_groups, forest.names, f"{function}: feature_groups")
    return tuple(members), [np.sort(columns) for columns in members.values()]


def _by_default(inputs: Inputs) -> TreeSums:
    """Return the sums of `mda` with its defaults."""
    forest = trees_of(inputs.estimator, "mda", inputs.data, survival=True)
    sums = mean_losses(
        "mda",
        forest,
        sample_of(forest, inputs.data, None, "oob", "mda"),
        permutations(forest.seed),
        score=forest.target_class.scores[0],
        n_jobs=inputs.n_jobs,
        verbose=inputs.verbose,
        rows="oob",
        votes="tree",
        n_repeats=1,
        permutation_seed=forest.seed,
    )
    return TreeSums(sums)


def _of_copies(inputs: Inputs, originals: NDArray[np.uint32]) -> Importances:
    """Compute MDA on rows that are copies, out of bag where no copy is inside."""
    forest = forest_of(inputs.estimator, "mda", inputs.data, survival=True)
    target = matched(forest, inputs.data.target, "mda")
    sample = Sample(inputs.data.table, target, out_of_bag=True, originals=originals)
    score = forest.target_class.scores[0]
    sums = mean_losses("mda", forest, sample, permutations(forest.seed), score=score)
    return cast(Importances, TreeSums(sums).importances())


MDA = Measure(
    "mda",
    _by_default,
    "MDA",
    "MDA, the mean decrease of accuracy, is the loss of a tree on its out-of-bag rows when "
    "the feature is permuted among them, averaged over the trees; in {unit}.",
    SCATTERS,
    reference="L. Breiman (2001). Random forests. Machine Learning 45.",
    rows="out-of-bag",
    survival=True,
    default=True,
    over_trees=True,
    of_copies=_of_copies,
)
SCALED_MDA = Measure(
    "scaled_mda",
    lambda inputs: mda(inputs.estimator, inputs.data, scaled=True, n_jobs=inputs.n_jobs),
    MDA.title,
    reference=MDA.reference,
    rows="out-of-bag",
)
"""MDA divided by its standard error over the trees: for selectors, beside the catalogue."""


# Permutations of each feature for predictors, as in scikit-learn.
_REPEATS = 5


# --- MDA of other predictors ----------------------------------------------------------------------


def _of_predictor(
    estimator: Any,
    X: Any,
    y: Any,
    scoring: Any,
    n_repeats: int | str | None,
    random_state: Any,
    n_jobs: int | None,
) -> Importances:
    """Measure a fitted predictor with scikit-learn's `permutation_importance`.

    The loss of the default score is 0/1 for classes and the squared error for numbers.
    """
    from sklearn.base import is_classifier
    from sklearn.inspection import permutation_importance

    if n_repeats == ALL:
        raise ValueError('mda: n_repeats="all" works with forests of duramen only; give a number.')
    n_repeats = _REPEATS if n_repeats is None else n_repeats
    repeats = checks.check_integer("mda", "n_repeats", n_repeats, 1)
    if scoring is None:
        scoring = "accuracy" if is_classifier(estimator) else "neg_mean_squared_error"
    seed = checks.draw_seed(random_state)
    table = table_like(X)
    permuted = permutation_importance(
        estimator,
        table,
        refuse_masked(y, "y", "mda"),
        scoring=scoring,
        n_repeats=repeats,
        random_state=seed % 2**32,
        n_jobs=n_jobs,
    )
    drops = np.asarray(permuted.importances)
    names = names_of(table) or [f"x{j}" for j in range(len(drops))]
    what = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return Importances(
        names=tuple(map(str, names)),
        values=drops.mean(axis=1),
        measure="mda",
        unit=f"score: {what}",
        standard_error=drops.std(axis=1, ddof=1) / np.sqrt(repeats) if repeats > 1 else None,
        metadata={
            "mda": {"scoring": str(what), "n_repeats": repeats, "permutation_seed": seed},
            "estimator": repr(estimator),
            "versions": versions(),
        },
    )


# --- MDA of a forest as a whole: its votes on every row before and after a permutation ------------

# Votes that are held in memory at a time: 128 MiB of int64.
_BLOCK = 16_000_000


def _of_ensemble(
    forest: Forest,
    sample: Sample,
    seed: int,
    repeats: int,
    groups: list[IntArray] | None,
    score: str,
    votes: str,
    n_threads: int,
) -> FloatArray:
    """Return the loss of the ensemble by each permutation of each group, shape (repeats, G)."""
    columns = np.unique(forest.feature[forest.feature >= 0])
    used = columns.astype(np.int64)
    if groups is not None:
        used = np.flatnonzero([np.isin(group, columns).any() for group in groups])
    size = len(sample.target) * forest.n_values
    at_once = max(1, min(repeats, _BLOCK // size))  # repeats for which rows go down the trees once
    size *= at_once
    step = max(1, _BLOCK // size)
    require_memory(
        8 * min(step, len(used)) * size,
        what=f"the votes on {len(sample.target)} rows for {min(step, len(used))} features",
        function="mda",
        hint='use votes="tree"',
    )
    # Whole numbers below 2**62 add up to the same in any order, and so for any number of threads.
    reach = float(np.abs(forest.leaf_values).max(initial=0.0)) * forest.n_trees
    by_vote = forest.classes is not None and votes == "ensemble"
    scale = 1.0 if by_vote or reach == 0.0 else float(2.0 ** (61 - np.ceil(np.log2(reach))))
    drops = np.zeros((repeats, forest.n_features if groups is None else len(groups)))
    blocks = product(range(0, repeats, at_once), range(0, len(used), step))
    for first, start in blocks:
        measured, some = used[start : start + step], range(first, min(repeats, first + at_once))
        donors = None
        if votes == "predictor":
            donors = np.empty((len(some) * len(measured), len(sample.target)), dtype=np.uint32)
            for i, (repeat, group) in enumerate(product(some, measured.tolist())):
                random = np.random.default_rng([seed, repeat, group])
                donors[i] = random.permutation(len(sample.target))
        # Of each row (n,) the trees that it is sent down, (n, C) those that vote for each class, or
        # the sums of their predictions, and (repeats, G, n, C) what permutations of each group add.
        trees, votes_of, changes = _kernel.permuted_ballots(
            *kernel_inputs(forest, sample),
            permutations(seed, len(some), first_repeat=first, feature_groups=groups, donors=donors),
            measured.astype(np.uint32),
            0.0 if by_vote else scale,
            n_threads,
        )
        seen: Any = trees > 0
        if not seen.any():
            raise ValueError("mda: no row is out of bag for any tree. Hint: grow more trees.")
        seen = slice(None) if seen.all() else seen
        target, n_trees = sample.target[seen], trees[seen][:, np.newaxis]
        ballots = votes_of[seen] / scale
        response = np.exp if forest.link == "log" else np.asarray
        before = _score(score, response(ballots / n_trees), target)
        for repeat, changed in zip(some, changes, strict=True):
            for group, change in zip(measured.tolist(), changed, strict=True):
                after = (ballots + change[seen] / scale) / n_trees  # equal counts stay so
                drops[repeat, group] = before - _score(score, response(after), target)
    return drops


def _score(score: str, predicted: FloatArray, target: NDArray[Any]) -> float:
    """Return the score of predictions (n, C), fractions of votes for classes."""
    if score == "concordance":
        return concordance(SurvivalTarget.of_codes(target), predicted[:, 0])
    if score == "neg_mean_squared_error":
        return float(-np.mean((predicted[:, 0] - target) ** 2))
    if predicted.shape[1] == 2:
        votes: NDArray[Any] = predicted[:, 1] > predicted[:, 0]  # faster than argmax
    else:
        votes = predicted.argmax(axis=1)
    return float(np.count_nonzero(votes == target) / len(target))
