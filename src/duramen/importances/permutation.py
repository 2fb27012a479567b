"""Permuting columns among rows on their way down the trees: the call of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.memory import require_memory
from duramen.forests.forest import Forest
from duramen.forests.prediction import lent_rows
from duramen.importances.measure import Inputs, TreeSums
from duramen.importances.samples import Sample
from duramen.jobs.progress import progress_bar
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

# In the order of the kernel's enum Score.
SCORES = (
    "accuracy",
    "balanced_accuracy",
    "neg_log_loss",
    "roc_auc",
    "neg_mean_squared_error",
    "concordance",
)
# Defined on pairs of rows, which not every tree has: no sums over rows.
OF_PAIRS = ("roc_auc", "concordance")
UNITS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "neg_log_loss": "nats",
    "roc_auc": "area under the curve",
    "neg_mean_squared_error": "squared error",
    "concordance": "concordance",
}
ALL = "all"

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Permutations:
    """Settings of permutations of columns."""

    seed: int  # seed of the permutations
    # Permutations of every column in every tree; "all" for the mean over all there are.
    n_repeats: int | str = 1
    # Columns that are permuted together; None for every column by itself.
    feature_groups: list[IntArray] | None = None
    # (p, p): 1 where a permutation of column j is within cells of column k; None to test in every
    # tree.
    associated: NDArray[np.uint8] | None = None
    # Then k is in the cells where 1 - p of the chi-square test of the tree's bins exceeds it; None
    # for permutations among all the rows.
    level: float | None = None

    def for_kernel(self, repeat: int | None = None) -> _kernel.Permutations:
        """Return the permutations, or one of the repeats alone, as the kernel reads them."""
        every = self.n_repeats == ALL
        n_repeats = 1 if every or repeat is not None else int(self.n_repeats)
        offsets, columns = None, None
        if self.feature_groups is not None:
            offsets = np.cumsum([0, *map(len, self.feature_groups)], dtype=np.int64)
            columns = np.concatenate(self.feature_groups).astype(np.uint32)
        return _kernel.Permutations(
            seed=self.seed,
            first_repeat=repeat or 0,
            n_repeats=n_repeats,
            every=every,
            group_offsets=offsets,
            group_columns=columns,
            associated=self.associated,
            level=self.level,
        )


class Losses(TreeSums):
    """Losses of the trees of `inputs.estimator` by permutations of every column or group of them.

    Only rows whose path meets the column are sent on anew. The permutations depend on the seed,
    the tree and the column alone. `finish` computes the importances.

    Attributes
    ----------
    sum, squares : float64 arrays of shape (G, 1) or (G, 1 + C)
        Over the trees: of the loss of a tree, and of its square; then on the rows of each class.
    n_trees : int
        Trees that have rows to be scored.
    n_splits : int
        Splits of all trees so far.
    votes : int64 array of shape (C, C) or (0, 0)
        Rows of each class by the class that a tree votes for, over all trees.
    changed_votes : int64 array of shape (G, C, C) or (0, 0, 0)
        The same after the permutation, less before.
    """

    def __init__(
        self,
        function: str,
        inputs: Inputs,
        sample: Sample,
        permutations: Permutations,
        finish: Callable[[Losses], Any],
        *,
        score: str,
        by_class: bool = False,
        votes: bool = False,
    ) -> None:
        super().__init__(inputs.estimator)
        forest, groups = self.forest, permutations.feature_groups
        n_units = forest.n_features if groups is None else len(groups)
        width, c = 1 + (forest.n_values if by_class else 0), forest.n_values if votes else 0
        self._sample, self._permutations, self._finish = sample, permutations, finish
        self._counted = _kernel.Counted(score=SCORES.index(score), by_class=by_class, votes=votes)
        self.sum, self.squares = np.zeros((n_units, width)), np.zeros((n_units, width))
        self.n_trees = self.n_splits = 0
        self.votes = np.zeros((c, c), dtype=np.int64)
        self.changed_votes = np.zeros((n_units if votes else 0, c, c), dtype=np.int64)
        self._function, self._report = function, cast("Progress | None", None)
        self._n_threads = checks.check_jobs(function, inputs.n_jobs)
        self._verbose = checks.check_verbosity(function, inputs.verbose)

    def add(self, trees: Forest) -> None:
        """Add trees, which come after those before."""
        units, losses, n_trees, votes, changed_votes = _kernel.permutation_losses(
            *_kernel_inputs(trees, self._sample),
            self._permutations.for_kernel(),
            self._counted,
            self._n_threads,
            self._report,
        )
        # One after the other, in the order of the trees, however many are added at a time.
        np.add.at(self.sum, units, losses)
        np.add.at(self.squares, units, losses**2)
        self.n_trees += n_trees
        self.n_splits += int(np.count_nonzero(trees.feature >= 0))
        self.votes += votes
        self.changed_votes += changed_votes

    def importances(self) -> Any:
        """Return the importances, once all trees are added."""
        return self._finish(self)

    def over_all(self) -> Any:
        """Add the trees of the forest, with a bar if asked for, and return the importances."""
        with progress_bar(self.forest.n_trees, self._function, self._verbose) as report:
            done = 0
            for trees in self.forest.parts():
                if report is not None:
                    self._report = lambda count, done=done: report(done + count)
                self.add(trees)
                done += trees.n_trees
        self._report = None
        return self.importances()


@dataclass(frozen=True, eq=False)
class Ballots:
    """Votes of a forest as a whole on every row."""

    trees: NDArray[np.uint32]  # (n,): Trees that a row is sent down
    # (n, C): Trees that vote for each class; in regression, the sum of their predictions.
    votes: FloatArray
    changes: FloatArray  # (G, n, C): What a permutation of each group adds to `votes`


def permuted_ballots(
    forest: Forest,
    sample: Sample,
    permutations: Permutations,
    wanted: IntArray,
    repeat: int,
    *,
    n_threads: int = 1,
) -> Ballots:
    """Let the forest vote on permuted rows, one permutation of each of the `wanted` groups."""
    require_memory(
        8 * len(wanted) * sample.n_rows * forest.n_values * 2,
        what=f"the votes on {sample.n_rows} rows for {len(wanted)} features",
        function="mda",
        hint='use votes="tree"',
    )
    scale = 1.0 if forest.classes is not None else _whole_steps(forest)
    units = wanted.astype(np.uint32)
    trees, votes, changes = _kernel.permuted_ballots(
        *_kernel_inputs(forest, sample), permutations.for_kernel(repeat), units, scale, n_threads
    )
    return Ballots(trees, votes / scale, changes / scale)


def _kernel_inputs(
    forest: Forest, sample: Sample
) -> tuple[_kernel.Forest, _kernel.Rows, _kernel.Target, _kernel.Bag | None]:
    """Return a forest, rows with their target, and the bags that rows must be out of."""
    n_classes = 0 if forest.classes is None else forest.n_values
    target = forest.target_class.lent(sample.target, n_classes)
    out_of = forest.bags_of(sample.originals) if sample.out_of_bag else None
    return forest.kernel, lent_rows(forest, sample.rows), target, out_of


def _whole_steps(forest: Forest) -> float:
    """Steps per unit in which sums of predictions are whole numbers below 2**62.

    Whole numbers add up to the same in any order, and so for any number of threads.
    """
    reach = float(np.abs(forest.leaf_values).max(initial=0.0)) * forest.n_trees
    return 1.0 if reach == 0.0 else float(2.0 ** (61 - np.ceil(np.log2(reach))))
