"""Mean decrease of accuracy (MDA), the permutation importance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from duramen.data import SurvivalTarget
from duramen.data.sources import names_of, table_like
from duramen.forests.forest import AnyForest, Forest, TreeStream
from duramen.forests.prediction import concordance
from duramen.importances.arguments import (
    class_names,
    forest_of,
    matched,
    metadata_of,
    missing_rows,
    trees_of,
)
from duramen.importances.measure import SCATTERS, Inputs, Measure, OfTrees, TreeSums, Words
from duramen.importances.permutation import (
    ALL,
    OF_PAIRS,
    SCORES,
    UNITS,
    Ballots,
    Losses,
    Permutations,
    Progress,
    permuted_ballots,
)
from duramen.importances.samples import Sample, sample_of
from duramen.io.groups import members_of
from duramen.jobs.progress import progress_bar
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, refuse_masked
from duramen.support.provenance import versions

# Standard errors that count as none; fractions of a mean of squares that rounding makes.
_NO_ERROR = np.finfo(np.float64).eps
_ROUNDING = 1e-13


def mda(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    rows: str | None = "oob",
    scoring: Any = None,
    votes: str = "tree",
    n_repeats: int | str | None = None,
    scaled: bool = False,
    by_class: bool = False,
    feature_groups: Any = None,
    random_state: Any = None,
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
        A predictor that is no forest of this package is measured as a whole on the rows given
        (thesis, eq. 4.3), by :func:`sklearn.inspection.permutation_importance`.
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
    votes : {"tree", "ensemble"}
        "tree": the mean over trees of what each loses. "ensemble": what the majority vote (the mean
        prediction in regression and survival) of the trees that a row is out of bag of loses, as
        in Breiman (2001); rows in every bag are left out.
    n_repeats : int or "all", optional
        Permutations of each feature in each tree, by default 1 (5 for other predictors). "all":
        the mean over all permutations, computed exactly; for scores that are sums over rows and
        votes="tree".
    scaled : bool
        Whether to divide by the standard error over trees: z = raw / SE with SE^2 =
        (mean_t d_tj^2 - raw^2) / T, as R's randomForest does; raw stays as it is where SE is not
        above 2.2e-16. z grows with the square root of T: it is no test statistic.
    by_class : bool
        Whether to measure the rows of each class alone as well.
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
    if is_other_predictor(estimator):
        _refuse_for_predictors(votes, scaled, by_class, feature_groups)
        return predictor_mda(estimator, X, y, scoring, n_repeats, random_state, n_jobs)
    forest = trees_of(estimator, "mda", survival=True)
    score = score_of(forest, scoring, "mda")
    checks.check_choice("mda", "votes", votes, ("tree", "ensemble"))
    for name, flag in (("scaled", scaled), ("by_class", by_class)):
        checks.check_flag("mda", name, flag)
    repeats = repeats_of(n_repeats, score, "mda", votes)
    if by_class and forest.classes is None:
        raise ValueError("mda: by_class=True needs a forest that was grown on classes.")
    sample = sample_of(forest, X, y, rows, "mda")
    names, members = grouped(forest, feature_groups, "mda")
    permutations = Permutations(seed_of(forest, random_state), repeats, members)
    n_threads = checks.check_jobs("mda", n_jobs)
    quiet = checks.check_verbosity("mda", verbose)
    choices = _choices(permutations, score, rows=rows, votes=votes, scaled=scaled)
    if votes == "ensemble":
        if scaled:
            raise ValueError('mda: scaled=True divides by the spread over trees; use votes="tree".')
        whole = forest_of(estimator, "mda", survival=True)
        with progress_bar(whole.n_trees, "mda", quiet) as report:
            return ensemble_mda(
                whole, sample, permutations, names, score, by_class, n_threads, choices, report
            )
    inputs = Inputs(forest, X, n_jobs=n_threads, verbose=quiet)
    sums = loss_sums(
        "mda", inputs, sample, permutations, score, choices, names=names, by_class=by_class
    )
    return cast(Importances, sums.over_all())


def _choices(permutations: Permutations, score: str, **choices: Any) -> dict[str, Any]:
    """Return what an importance is to remember of the arguments."""
    return {
        "rows": choices["rows"],
        "scoring": score,
        "votes": choices["votes"],
        "n_repeats": permutations.n_repeats,
        "scaled": bool(choices["scaled"]),
        "permutation_seed": permutations.seed,
    }


def _of_trees(inputs: Inputs) -> TreeSums:
    """Return the sums of `mda` with its defaults."""
    forest = trees_of(inputs.estimator, "mda", survival=True)
    score = score_of(forest, None, "mda")
    sample = sample_of(forest, inputs.data, None, "oob", "mda")
    permutations = Permutations(forest.seed)
    choices = _choices(permutations, score, rows="oob", votes="tree", scaled=False)
    return loss_sums("mda", replace(inputs, estimator=forest), sample, permutations, score, choices)


def loss_sums(
    measure: str,
    inputs: Inputs,
    sample: Sample,
    permutations: Permutations,
    score: str,
    choices: Mapping[str, Any],
    *,
    names: tuple[str, ...] | None = None,
    by_class: bool = False,
) -> Losses:
    """Return the sums, of no trees so far, of what the trees of a forest lose by permutations.

    The importances are the mean over the trees, with its standard error.
    """
    forest, scaled = inputs.estimator, choices.get("scaled", False)

    def finish(losses: Losses) -> Importances:
        if losses.n_trees == 0:
            lacking = {
                "roc_auc": "holds rows of two classes",
                "concordance": "holds two rows whose order of events is known",
            }
            why = lacking.get(score, "has out-of-bag rows")
            raise ValueError(
                f"{measure}: no tree of this forest {why}, so there is nothing to measure. Hint: "
                "grow more trees, or leave more rows out of each."
            )
        # Trees where the score is not defined drop out; trees without rows lose nothing.
        n_trees = losses.n_trees if score in OF_PAIRS else forest.n_trees
        mean = losses.sum / n_trees
        error = _error(losses.squares / n_trees, mean, n_trees)
        values = mean
        if scaled:
            values = mean / np.where(error > _NO_ERROR, error, 1.0)
        return Importances(
            names=names or forest.names,
            values=values[:, 0],
            measure=measure,
            unit="1" if scaled else UNITS[score],
            standard_error=None if scaled or n_trees < 2 else error[:, 0],
            by_class=values[:, 1:] if by_class else None,
            classes=class_names(forest) if by_class else (),
            metadata=metadata_of(forest, measure, **choices),
        )

    return Losses(measure, inputs, sample, permutations, finish, score=score, by_class=by_class)


def _error(squares: FloatArray, mean: FloatArray, n_trees: int) -> FloatArray:
    """Return the standard error of the mean, exactly 0 where all trees lose the same."""
    variance = squares - mean**2
    alike = variance <= _ROUNDING * squares
    error: FloatArray = np.sqrt(np.where(alike, 0.0, variance) / n_trees)
    return error


def is_other_predictor(estimator: Any) -> bool:
    """Tell whether a model predicts, but is no forest of this package."""
    if isinstance(getattr(estimator, "forest_", estimator), Forest | TreeStream):
        return False
    if type(estimator).__module__.startswith("duramen.") or isinstance(estimator, type):
        return False
    return hasattr(estimator, "predict")


def score_of(forest: AnyForest, scoring: Any, function: str) -> str:
    """Return the score that is asked for, and that the task has."""
    target = forest.target_class
    if scoring is None:
        return target.scores[0]
    score = checks.check_choice(function, "scoring", scoring, SCORES)
    if score not in target.scores:
        raise ValueError(
            f"{function}: scoring={scoring!r} does not suit a forest that was grown on "
            f"{target.words}."
        )
    return score


def seed_of(forest: AnyForest, random_state: Any) -> int:
    """Return the seed of the permutations."""
    return forest.seed if random_state is None else checks.draw_seed(random_state)


def repeats_of(
    n_repeats: int | str | None, score: str, function: str, votes: str = "tree"
) -> int | str:
    """Return the number of permutations that is asked for, or "all" where the score allows it."""
    if n_repeats is None:
        return 1
    if isinstance(n_repeats, str) and n_repeats == ALL:
        if score in OF_PAIRS or votes == "ensemble":
            raise ValueError(
                f'{function}: n_repeats="all" needs a score that is a sum over the rows of each '
                f"tree; with scoring={score!r} and votes={votes!r} give a number of permutations."
            )
        return ALL
    if isinstance(n_repeats, str):
        raise checks.refuse(function, "n_repeats", "an int >= 1 or 'all'", n_repeats)
    return checks.check_integer(function, "n_repeats", n_repeats, 1)


def grouped(
    forest: AnyForest, feature_groups: Any, function: str
) -> tuple[tuple[str, ...], list[IntArray] | None]:
    """Return the names of the groups, and their columns; None for every column by itself."""
    if feature_groups is None:
        return forest.names, None
    members = members_of(feature_groups, forest.names, f"{function}: feature_groups")
    return tuple(members), [np.sort(columns) for columns in members.values()]


def _refuse_for_predictors(votes: str, scaled: bool, by_class: bool, feature_groups: Any) -> None:
    asked = {"votes": votes != "tree", "scaled": scaled, "by_class": by_class}
    for name, is_set in {**asked, "feature_groups": feature_groups is not None}.items():
        if is_set:
            raise ValueError(
                f"mda: {name} works with forests of duramen only; other models are measured as a "
                "whole."
            )


def _of_copies(inputs: Inputs, originals: NDArray[np.uint32]) -> Importances:
    """Compute MDA on rows that are copies, out of bag where no copy is inside."""
    forest = forest_of(inputs.estimator, "mda", survival=True)
    target = matched(forest, inputs.data.target, "mda")
    sample = Sample(inputs.data.table, target, out_of_bag=True, originals=originals)
    score = score_of(forest, None, "mda")
    losses = loss_sums(
        "mda", Inputs(forest, inputs.data), sample, Permutations(forest.seed), score, {}
    )
    losses.add(forest)
    return cast(Importances, losses.importances())


MDA = Measure(
    "mda",
    OfTrees(_of_trees),
    Words(
        "MDA",
        "MDA, the mean decrease of accuracy, is the loss of a tree on its out-of-bag rows when "
        "the feature is permuted among them, averaged over the trees; in {unit}.",
        SCATTERS,
    ),
    reference="L. Breiman (2001). Random forests. Machine Learning 45.",
    rows="out-of-bag",
    survival=True,
    default=True,
    of_copies=_of_copies,
)
SCALED_MDA = Measure(
    "scaled_mda",
    lambda inputs: mda(inputs.estimator, inputs.data, scaled=True, n_jobs=inputs.n_jobs),
    MDA.words,
    reference=MDA.reference,
    rows="out-of-bag",
)
"""MDA divided by its standard error over the trees: for selectors, beside the catalogue."""


def predictor_mda(
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
    repeats = 5 if n_repeats is None else checks.check_integer("mda", "n_repeats", n_repeats, 1)
    if scoring is None:
        scoring = "accuracy" if is_classifier(estimator) else "neg_mean_squared_error"
    seed = checks.draw_seed(random_state)
    table = table_like(X)
    y = refuse_masked(y, "y", "mda")
    permuted = permutation_importance(
        estimator,
        table,
        y,
        scoring=scoring,
        n_repeats=repeats,
        random_state=seed % 2**32,
        n_jobs=n_jobs,
    )
    drops = np.asarray(permuted.importances)
    names = names_of(table) or [f"x{j}" for j in range(len(drops))]
    error = drops.std(axis=1, ddof=1) / np.sqrt(repeats) if repeats > 1 else None
    what = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return Importances(
        names=tuple(map(str, names)),
        values=drops.mean(axis=1),
        measure="mda",
        unit=f"score: {what}",
        standard_error=error,
        metadata={
            "mda": {"scoring": str(what), "n_repeats": repeats, "permutation_seed": seed},
            "estimator": repr(estimator),
            "versions": versions(),
        },
    )


# --- mDA of a forest as a whole: its votes on every row before and after a permutation ------------


# Votes that are held in memory at a time: 64 MiB of float64.
_BLOCK = 8_000_000


def ensemble_mda(
    forest: Forest,
    sample: Sample,
    permutations: Permutations,
    names: tuple[str, ...],
    score: str,
    by_class: bool,
    n_threads: int,
    choices: Mapping[str, Any],
    progress: Progress | None = None,
) -> Importances:
    """Measure what the ensemble loses, as the mean over the repeats."""
    used = _used(forest, permutations)
    step = max(1, _BLOCK // (sample.n_rows * forest.n_values))
    width = 1 + (forest.n_values if by_class else 0)
    repeats = int(permutations.n_repeats)
    drops = np.zeros((repeats, len(names), width))
    for repeat in range(repeats):
        for start in range(0, len(used), step):
            wanted = used[start : start + step]
            ballots = permuted_ballots(
                forest, sample, permutations, wanted, repeat, n_threads=n_threads
            )
            drops[repeat, wanted] = _drops(ballots, sample, forest, score, by_class)
            if progress is not None:
                done = repeat + min(start + step, len(used)) / len(used)
                progress(int(forest.n_trees * done / repeats))
    mean = drops.mean(axis=0)
    error = drops[:, :, 0].std(axis=0, ddof=1) / np.sqrt(repeats) if repeats > 1 else None
    return Importances(
        names=names,
        values=mean[:, 0],
        measure="mda",
        unit=UNITS[score],
        standard_error=error,
        by_class=mean[:, 1:] if by_class else None,
        classes=class_names(forest) if by_class else (),
        metadata=metadata_of(forest, "mda", **choices),
    )


def _used(forest: Forest, permutations: Permutations) -> IntArray:
    """Return the groups that hold a column some tree splits on."""
    columns = np.zeros(forest.n_features, dtype=np.bool_)
    columns[forest.feature[forest.feature >= 0]] = True
    if permutations.feature_groups is None:
        return np.flatnonzero(columns)
    return np.flatnonzero([columns[group].any() for group in permutations.feature_groups])


def _drops(
    ballots: Ballots, sample: Sample, forest: Forest, score: str, by_class: bool
) -> FloatArray:
    """Return what each group costs, of shape (G, 1) or (G, 1 + C)."""
    seen = ballots.trees > 0
    if not seen.any():
        raise ValueError("mda: no row is out of bag for any tree. Hint: grow more trees.")
    target = sample.target[seen]
    trees = ballots.trees[seen][:, np.newaxis]
    votes = ballots.votes[seen]
    before = votes / trees
    after = (votes + ballots.changes[:, seen]) / trees  # equal counts stay equal fractions
    if score == "concordance":
        survival = SurvivalTarget.of_codes(target.astype(np.uint32))
        with_all = concordance(survival, before[:, 0])
        return with_all - np.array([[concordance(survival, a[:, 0])] for a in after])
    if forest.classes is None:
        return np.array([_squared_error(a[:, 0], target) for a in after])[:, np.newaxis] - (
            _squared_error(before[:, 0], target)
        )
    columns = [_score(score, after, target) - _score(score, before[np.newaxis], target)]
    if by_class:
        for k in range(forest.n_values):
            columns.append(_of_class(score, k, after, before, target))
    return -np.column_stack(columns)


def _squared_error(predicted: FloatArray, y: NDArray[Any]) -> float:
    return float(np.mean((predicted - y) ** 2))


def _of_class(
    score: str, k: int, after: FloatArray, before: FloatArray, target: NDArray[Any]
) -> FloatArray:
    rows = target == k
    if not rows.any() or (score == "roc_auc" and rows.all()):
        return np.zeros(len(after))
    if score == "roc_auc":
        return _areas(after[:, :, k], rows) - _areas(before[np.newaxis, :, k], rows)
    score = "accuracy" if score == "balanced_accuracy" else score
    return _score(score, after[:, rows], target[rows]) - _score(
        score, before[np.newaxis, rows], target[rows]
    )


def _score(score: str, fractions: FloatArray, target: NDArray[Any]) -> FloatArray:
    """Return the score of fractions of votes (G, n, C) on the classes of the rows, shape (G,)."""
    if score == "neg_log_loss":
        own = np.take_along_axis(
            fractions, target[np.newaxis, :, np.newaxis].astype(np.int64), axis=2
        )
        means: FloatArray = np.log(np.maximum(own[:, :, 0], np.finfo(float).eps)).mean(axis=1)
        return means
    present = np.unique(target)
    if score == "roc_auc":
        if len(present) < 2:
            raise ValueError('mda: scoring="roc_auc" needs out-of-bag rows of two classes.')
        return np.asarray(
            np.mean([_areas(fractions[:, :, k], target == k) for k in present], axis=0)
        )
    hit = fractions.argmax(axis=2) == target
    if score == "accuracy":
        return np.asarray(hit.mean(axis=1))
    return np.asarray(np.mean([hit[:, target == k].mean(axis=1) for k in present], axis=0))


def _areas(scores: FloatArray, inside: NDArray[np.bool_]) -> FloatArray:
    """Return the area under the ROC curve of every row of scores (G, n), ties counting 1/2."""
    from scipy.stats import rankdata

    ranks = rankdata(scores, axis=1)
    n_inside = int(inside.sum())
    pairs = n_inside * (inside.size - n_inside)
    first_places = ranks[:, inside].sum(axis=1) - n_inside * (n_inside + 1) / 2
    return np.asarray(first_places / pairs)
