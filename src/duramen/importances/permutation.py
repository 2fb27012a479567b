"""Permutations of columns in the trees, and the losses of the trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.forests.forest import AnyForest, Forest
from duramen.forests.prediction import lent_rows
from duramen.importances.arguments import Sample, importances_of
from duramen.importances.measure import Sums
from duramen.jobs.progress import progress_bar
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

# Scores in the order of the kernel's enum Score, with the units of losses.
SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "neg_log_loss": "nats",
    "roc_auc": "area under the curve",
    "neg_mean_squared_error": "squared error",
    "concordance": "concordance",
}
# Defined on pairs of rows, which not every tree has: no sums over rows.
OF_PAIRS = ("roc_auc", "concordance")
ALL = "all"

# Standard errors that count as none; fractions of a mean of squares that rounding makes.
_NO_ERROR = np.finfo(np.float64).eps
_ROUNDING = 1e-13


def permutations(
    seed: int,
    n_repeats: int | str = 1,
    *,
    first_repeat: int = 0,
    feature_groups: Sequence[IntArray] | None = None,
    associated: NDArray[np.uint8] | None = None,
    level: float | None = None,
    donors: NDArray[np.uint32] | None = None,
) -> _kernel.Permutations:
    """Return permutations of columns as the kernel reads them.

    Parameters
    ----------
    seed : int
        Seed of the permutations.
    n_repeats : int or "all"
        Permutations of every column in every tree; "all" for the mean over all there are.
    first_repeat : int
        Number of the first of them.
    feature_groups : sequence of int arrays, optional
        Columns that are permuted together; by default every column by itself.
    associated : uint8 array of shape (p, p), optional
        1 where a permutation of column j is within cells of column k; by default tested in every
        tree.
    level : float, optional
        Then k is in the cells where 1 - p of the chi-square test of the tree's bins exceeds it; by
        default permutations are among all the rows.
    donors : uint32 array of shape (measured groups, n), optional
        For ballots without bags: the row that lends its values to each row in every tree, in place
        of permutations that are drawn for each tree.
    """
    offsets, columns = None, None
    if feature_groups is not None:
        offsets = np.cumsum([0, *map(len, feature_groups)], dtype=np.int64)
        columns = np.concatenate(feature_groups).astype(np.uint32)
    return _kernel.Permutations(
        seed=seed,
        first_repeat=first_repeat,
        n_repeats=1 if n_repeats == ALL else int(n_repeats),
        every=n_repeats == ALL,
        group_offsets=offsets,
        group_columns=columns,
        associated=associated,
        level=level,
        donors=donors,
    )


class Losses(NamedTuple):
    """Losses of the trees of a forest by permutations of every column or group of them.

    Attributes
    ----------
    sum, squares : float64 arrays of shape (G, 1) or (G, 1 + C)
        Over the trees: of the loss of a tree, and of its square; then on the rows of each class.
    n_trees : int
        Trees that have rows to be scored.
    n_splits : int
        Splits of all trees.
    votes : int64 array of shape (C, C) or (0, 0)
        Rows of each class by the class that a tree votes for, over all trees.
    changed_votes : int64 array of shape (G, C, C) or (0, 0, 0)
        The same after the permutation, less before.
    """

    sum: FloatArray
    squares: FloatArray
    n_trees: int
    n_splits: int
    votes: IntArray
    changed_votes: IntArray


def tree_losses(
    function: str,
    forest: AnyForest,
    sample: Sample,
    permuted: _kernel.Permutations,
    *,
    score: str,
    n_groups: int | None = None,
    by_class: bool = False,
    votes: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Sums[Losses]:
    """Add up the losses of trees by permutations of every column, or of `n_groups` groups.

    Only rows whose path meets the column are sent on anew. The permutations depend on the seed,
    the tree and the column alone.
    """
    n_groups = forest.n_features if n_groups is None else n_groups
    width, c = 1 + (forest.n_values if by_class else 0), forest.n_values if votes else 0
    total, squares = np.zeros((n_groups, width)), np.zeros((n_groups, width))
    ballots = np.zeros((c, c), dtype=np.int64)
    changes = np.zeros((n_groups if votes else 0, c, c), dtype=np.int64)
    n_trees = n_splits = done = 0
    counted = _kernel.Counted(score=list(SCORES).index(score), by_class=by_class, votes=votes)
    n_threads = checks.check_jobs(function, n_jobs)
    # Trees that come part by part have the bar of their growth.
    verbose = checks.check_verbosity(function, verbose) if isinstance(forest, Forest) else 0
    trees = yield forest, None
    with progress_bar(forest.n_trees, function, verbose) as report:
        while trees is not None:
            units, losses, n_scored, own_votes, own_changes = _kernel.permutation_losses(
                *kernel_inputs(trees, sample),
                permuted,
                counted,
                n_threads,
                None if report is None else partial(_tell, report, done),
            )
            # One after the other, in the order of the trees, however many are added at a time.
            np.add.at(total, units, losses)
            np.add.at(squares, units, losses**2)
            n_trees += n_scored
            n_splits += int(np.count_nonzero(trees.feature >= 0))
            ballots += own_votes
            changes += own_changes
            done += trees.n_trees
            trees = yield forest, None
    return Losses(total, squares, n_trees, n_splits, ballots, changes)


def _tell(report: Callable[[int], None], done: int, count: int) -> None:
    """Report the trees that are done; `done` trees precede the current run."""
    report(done + count)


def mean_losses(
    measure: str,
    forest: AnyForest,
    sample: Sample,
    permuted: _kernel.Permutations,
    *,
    score: str,
    names: tuple[str, ...] | None = None,
    scaled: bool = False,
    by_class: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
    **choices: Any,
) -> Sums[Importances]:
    """Compute the mean loss of the trees by permutations, and its standard error.

    `names` are those of the groups of columns that are permuted together; the metadata hold
    `choices`.
    """
    losses = yield from tree_losses(
        measure,
        forest,
        sample,
        permuted,
        score=score,
        n_groups=None if names is None else len(names),
        by_class=by_class,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    if losses.n_trees == 0:
        raise ValueError(
            f"{measure}: no tree of this forest has rows on which {score} is defined. Hint: "
            "grow more trees, or leave more rows out of each."
        )
    # Trees where the score is not defined drop out; trees without rows lose nothing.
    n_trees = losses.n_trees if score in OF_PAIRS else forest.n_trees
    values, squares = losses.sum / n_trees, losses.squares / n_trees
    variance = squares - values**2  # exactly 0 where all trees lose the same
    error = np.sqrt(np.where(variance <= _ROUNDING * squares, 0.0, variance) / n_trees)
    if scaled:
        values = values / np.where(error > _NO_ERROR, error, 1.0)
    return importances_of(
        forest,
        measure,
        values[:, 0],
        "1" if scaled else SCORES[score],
        None if scaled or n_trees < 2 else error[:, 0],
        names=names,
        by_class=values[:, 1:] if by_class else None,
        **choices,
        scoring=score,
        scaled=scaled,
    )


def kernel_inputs(
    forest: Forest, sample: Sample
) -> tuple[_kernel.Forest, _kernel.Rows, _kernel.Target, _kernel.Bag | None]:
    """Return a forest, rows with their target, and the bags that rows must be out of."""
    n_classes = 0 if forest.classes is None else forest.n_values
    target = forest.target_class.lent(sample.target, n_classes)
    out_of = forest.bags if sample.out_of_bag else None
    if sample.originals is not None:
        out_of = _kernel.Bag(
            row_samples=forest.settings.row_samples,
            bootstrap=forest.settings.bootstrap,
            seed=forest.seed,
            first_tree=forest.first_tree,
            originals=sample.originals,
            groups=forest.groups,
            drawn=forest.drawn,
        )
    return forest.kernel, lent_rows(forest, sample.rows), target, out_of


# --- arguments of the permutation importances -----------------------------------------------------


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
    if not isinstance(n_repeats, str):
        return checks.check_integer(function, "n_repeats", n_repeats, 1)
    if n_repeats != ALL:
        raise checks.refuse(function, "n_repeats", "an int >= 1 or 'all'", n_repeats)
    if score in OF_PAIRS or votes != "tree":
        raise ValueError(
            f'{function}: n_repeats="all" needs a score that is a sum over the rows of each '
            f"tree; with scoring={score!r} and votes={votes!r} give a number of permutations."
        )
    return ALL
