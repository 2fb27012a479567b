"""Threshold of importances: the mean of the largest ones under permuted labels."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from duramen.jobs.replicates import ExecutionParameters
from duramen.results.columns import Column, hidden
from duramen.results.importances import Importances
from duramen.results.result import Result
from duramen.results.summary import Summary
from duramen.significance.measured import MeasureLike
from duramen.significance.permuted_labels import permuted_labels, reads_permuted
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed


@dataclass(frozen=True, eq=False, repr=False)
class MeanOfMaxima(Result):
    """Importances, and the largest ones of forests on permuted labels.

    Attributes
    ----------
    importances : Importances
        Importances on the data.
    maxima : ndarray of float64, shape (B,)
        Largest importance after each permutation.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.results.importances import Importances
    >>> from duramen.significance import MeanOfMaxima
    >>> found = Importances(("a", "b"), np.array([3.0, 1.0]), "mdi", "bits")
    >>> MeanOfMaxima(found, np.array([1.5, 2.5])).selected()
    ('a',)
    """

    importances: Importances
    maxima: FloatArray

    def __post_init__(self) -> None:
        self.maxima.setflags(write=False)

    def __len__(self) -> int:
        return len(self.importances)

    @property
    def threshold(self) -> float:
        """Mean of the maxima."""
        return float(self.maxima.mean())

    def selected(self) -> tuple[str, ...]:
        """Return the names of features above the threshold, the most important first."""
        order, values = self.importances.order(), self.importances.values
        return tuple(self.importances.names[j] for j in order if values[j] > self.threshold)

    def columns(self) -> dict[str, Any]:
        """Return the name, the importance and whether it is above the threshold, by name."""
        return {
            "name": list(self.importances.names),
            "importance": self.importances.values.copy(),
            "selected": self.importances.values > self.threshold,
        }

    def _summary(self, rows: int) -> Summary:
        chosen = self.selected()
        heading = (
            f"MeanOfMaxima: {len(chosen)} of {len(self)} features above {self.threshold:.4g}, the "
            f"mean of the largest importances of {len(self.maxima)} permutations"
        )
        values = np.array([self.importances[name] for name in chosen[:rows]])
        columns = [
            Column("feature", list(chosen[:rows]), kind="words"),
            Column("importance", fixed(values, 4), bars=values),
        ]
        return Summary((heading,), columns, hidden(len(chosen), len(values)))


@reads_permuted
def mean_of_maxima(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    measure: MeasureLike = "auto",
    n_permutations: int = 100,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> MeanOfMaxima:
    r"""Keep features above the mean of the largest importances under permuted labels.

    .. math:: Imp(X_j) > \frac1B \sum_b \max_k Imp^b(X_k)

    with :math:`Imp^b` the importances in a forest grown after the b-th permutation of the target
    (Rodenburg et al. 2008; thesis, section 4.5).

    Parameters
    ----------
    estimator : estimator of duramen, or PermutedImportances
        Parameters of the forests; it is cloned, not changed. Or the result of
        `permuted_importances`, in place of the data and of all other arguments that are about
        growing forests.
    X : table of shape (n, p), or LearningSet
        The rows; None with PermutedImportances.
    y : array-like of shape (n,), optional
        Classes or numbers; None with a learning set, and with PermutedImportances.
    measure : str or callable
        Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "auto" as
        in :func:`max_t`: "mdi_oob" if trees leave rows out, and trees of classes by entropy.
    n_permutations : int
        Number B of permutations.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only (docs/how-to/tests/strata.md).
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together (docs/how-to/tests/strata.md).
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File that keeps finished work: an interrupted run resumes from it, to the same bytes.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    MeanOfMaxima
        The importances, the maxima, their mean as `threshold`, and `selected()`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or the checkpoint is of another run.

    Notes
    -----
    The threshold controls no error rate. If no feature is associated with the target, the largest
    importance is drawn like the maxima, and exceeds their mean in nearly half of all data sets.
    Beside relevant features it is strict, since importances under permuted labels are larger than
    those of irrelevant features beside relevant ones. `max_t` compares with quantiles of the same
    maxima, from the same forests.

    References
    ----------
    W. Rodenburg et al. (2008). A framework to identify physiological responses in
    microarray-based gene expression studies. Physiological Genomics 33.

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> forest = dm.RandomForestClassifier(20, random_state=0)
    >>> result = dm.significance.mean_of_maxima(
    ...     forest, data.X, data.y, n_permutations=19, random_state=0)
    >>> result.selected()
    ('x0',)
    """
    name = "mean_of_maxima"
    execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
    permuted = permuted_labels(
        name, estimator, X, y, measure, n_permutations, execution, strata=strata, groups=groups
    )
    return MeanOfMaxima(permuted.importances, permuted.maxima)
