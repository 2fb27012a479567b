"""Permuting columns among rows on their way down the trees, and what the trees lose by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.forests.forest import AnyForest, Forest
from duramen.forests.prediction import lent_rows
from duramen.importances.arguments import importances_of
from duramen.importances.measure import TreeSums
from duramen.importances.samples import Sample
from duramen.jobs.progress import progress_bar
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import IntArray

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

Progress = Callable[[int], None]

# Standard errors that count as none; fractions of a mean of squares that rounding makes.
_NO_ERROR = np.finfo(np.float64).eps
_ROUNDING = 1e-13


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
    """Losses of the trees of a forest by permutations of every column or group of them.

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
        forest: AnyForest,
        sample: Sample,
        permutations: Permutations,
        finish: Callable[[Losses], Any],
        *,
        score: str,
        by_class: bool = False,
        votes: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(forest, self._add_trees, lambda: finish(self))
        groups = permutations.feature_groups
        n_units = forest.n_features if groups is None else len(groups)
        width, c = 1 + (forest.n_values if by_class else 0), forest.n_values if votes else 0
        self._sample, self._permutations = sample, permutations
        self._counted = _kernel.Counted(
            score=list(SCORES).index(score), by_class=by_class, votes=votes
        )
        self.sum, self.squares = np.zeros((n_units, width)), np.zeros((n_units, width))
        self.n_trees = self.n_splits = 0
        self.votes = np.zeros((c, c), dtype=np.int64)
        self.changed_votes = np.zeros((n_units if votes else 0, c, c), dtype=np.int64)
        self._function = function
        self._report: Progress | None = None
        self._n_threads = checks.check_jobs(function, n_jobs)
        self._verbose = checks.check_verbosity(function, verbose)

    def _add_trees(self, trees: Forest) -> None:
        units, losses, n_trees, votes, changed_votes = _kernel.permutation_losses(
            *kernel_inputs(trees, self._sample),
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


def mean_losses(
    measure: str,
    forest: AnyForest,
    sample: Sample,
    permutations: Permutations,
    *,
    score: str,
    names: tuple[str, ...] | None = None,
    scaled: bool = False,
    by_class: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
    **choices: Any,
) -> Losses:
    """Return the sums, of no trees so far, of what the trees of a forest lose by permutations.

    The importances are the mean over the trees, with its standard error.
    """

    def finish(losses: Losses) -> Importances:
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
            **remembered(permutations, score, scaled, **choices),
        )

    return Losses(
        measure,
        forest,
        sample,
        permutations,
        finish,
        score=score,
        by_class=by_class,
        n_jobs=n_jobs,
        verbose=verbose,
    )


def remembered(
    permutations: Permutations, score: str, scaled: bool, **choices: Any
) -> dict[str, Any]:
    """Return the choices that the metadata of a permutation importance hold."""
    return {
        **choices,
        "scoring": score,
        "n_repeats": permutations.n_repeats,
        "scaled": scaled,
        "permutation_seed": permutations.seed,
    }


def kernel_inputs(
    forest: Forest, sample: Sample
) -> tuple[_kernel.Forest, _kernel.Rows, _kernel.Target, _kernel.Bag | None]:
    """Return a forest, rows with their target, and the bags that rows must be out of."""
    n_classes = 0 if forest.classes is None else forest.n_values
    target = forest.target_class.lent(sample.target, n_classes)
    out_of = forest.bags_of(sample.originals) if sample.out_of_bag else None
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
    if score in OF_PAIRS or votes == "ensemble":
        raise ValueError(
            f'{function}: n_repeats="all" needs a score that is a sum over the rows of each '
            f"tree; with scoring={score!r} and votes={votes!r} give a number of permutations."
        )
    return ALL
