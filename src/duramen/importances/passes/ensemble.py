"""MDA of a forest as a whole: its votes on every row before and after a permutation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import SurvivalTarget
from duramen.forests.forest import Forest
from duramen.forests.prediction import concordance
from duramen.importances.arguments import class_names, metadata_of
from duramen.importances.passes.permutation import (
    UNITS,
    Ballots,
    Permutations,
    Progress,
    permuted_ballots,
)
from duramen.importances.samples import Sample
from duramen.results.importances import Importances
from duramen.support.arrays import FloatArray, IntArray

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
    after = (votes + ballots.changes[:, seen]) / trees  # equal counts stay equal shares
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


def _score(score: str, shares: FloatArray, target: NDArray[Any]) -> FloatArray:
    """Return the score of fractions of votes (G, n, C) on the classes of the rows, shape (G,)."""
    if score == "neg_log_loss":
        own = np.take_along_axis(shares, target[np.newaxis, :, np.newaxis].astype(np.int64), axis=2)
        means: FloatArray = np.log(np.maximum(own[:, :, 0], np.finfo(float).eps)).mean(axis=1)
        return means
    present = np.unique(target)
    if score == "roc_auc":
        if len(present) < 2:
            raise ValueError('mda: scoring="roc_auc" needs out-of-bag rows of two classes.')
        return np.asarray(np.mean([_areas(shares[:, :, k], target == k) for k in present], axis=0))
    hit = shares.argmax(axis=2) == target
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
