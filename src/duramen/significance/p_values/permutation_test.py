"""Permutation test for any importance that a user can compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, encode
from duramen.data.exchangeability import Exchangeability
from duramen.data.sources import names_of
from duramen.jobs.replicates import (
    OBSERVED,
    ExecutionParameters,
    Task,
    replicate_seed,
    run_replicates,
)
from duramen.results.fields import checked_names
from duramen.results.importances import Importances, PermutedImportances
from duramen.results.significance import Significance
from duramen.significance.measured import qualified
from duramen.significance.p_values.altmann import altmann
from duramen.significance.permuted_labels import reads_permuted
from duramen.significance.sequential import all_decided
from duramen.support import checks
from duramen.support.arrays import FloatArray, refuse_masked
from duramen.support.provenance import fingerprint, versions

Importance = Callable[[Any, NDArray[Any], int], Any]

NULL = "The target is independent of X: its values could be permuted among the rows in any order."


@reads_permuted
def permutation_test(
    importance: Importance | PermutedImportances,
    X: Any = None,
    y: Any = None,
    *,
    n_permutations: int = 100,
    stop_after: int | None = None,
    strata: Any = None,
    groups: Any = None,
    names: Sequence[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Significance:
    r"""Test any importance by computing it again with the target permuted.

    .. math:: p_j = \frac{1 + \#\{s : v_{sj} \ge v_j\}}{S + 1}

    with v_j what `importance` gives for feature j, and v_sj what it gives after the s-th of S
    permutations of the target: :func:`altmann` for functions instead of forests. If rows are
    exchangeable, P(p_j <= a) <= a under the complete null hypothesis that the target is independent
    of X, whatever the function does with X and y. A feature that is correlated with a relevant one
    depends on the target, and is found where the function sees it.

    Parameters
    ----------
    importance : callable
        ``importance(X, y, seed)`` returns p numbers, the larger the more important, or
        `Importances`. `X` is passed as it was given; `y` is an array; `seed`, in 0..2**32-1, is
        what all randomness of the function shall come from. With `n_jobs` it is called from
        several threads at a time, and must not change anything they share.
    X : any
        What `importance` takes. Of a table that has names, features take them.
    y : array-like of shape (n,) or (n, k)
        Target; its rows are permuted.
    n_permutations : int
        Number S of permutations.
    stop_after : int, optional
        h: stop the permutations once every feature has reached h values as large as its own; see
        :func:`altmann`.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only (docs/how-to/tests/strata.md).
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together (docs/how-to/tests/strata.md).
    names : sequence of str, optional
        Names of the p features. By default those of `Importances`, else of the columns of X, else
        ``x0``, ``x1``, ...
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it. They gain time where `importance` spends it
        outside of Python, as forests do.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.
    checkpoint : path, optional
        File in which finished permutations are kept; a run that was killed goes on from it, to the
        same bytes. It knows the run by the data, the seed, versions of packages and the *name* of
        the function (module and qualified name): after a change to what the function does, remove
        the file.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    Significance
        ``scores`` are what `importance` gives for the data as they are; `details` hold "null_mean"
        and "null_sd" of its values under permutation.

    Raises
    ------
    TypeError
        If `importance` cannot be called, or a checkpoint is wanted for data that cannot be
        recognized again.
    ValueError
        If `importance` does not return p finite numbers each time, an argument is not as
        described, or the checkpoint is of another run.

    Notes
    -----
    The cost is S + 1 calls of `importance`.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> def importance(X, y, seed):
    ...     return np.abs(np.corrcoef(X.T, y)[-1, :-1])
    >>> result = dm.significance.permutation_test(importance, data.X, data.y, random_state=0)
    >>> result.selected(0.1)
    ('x0', 'x1')
    """
    owner = "permutation_test"
    checks.check_optional_integer(owner, "stop_after", stop_after, 1)
    if isinstance(importance, PermutedImportances):
        permuted = importance
    else:
        n = checks.check_integer(owner, "n_permutations", n_permutations, 1)
        execution = ExecutionParameters(random_state, n_jobs, client, checkpoint, verbose)
        plan = execution.plan(owner)
        target = _target(y)
        rows = Exchangeability.checked(len(target), strata, groups, function=owner)
        subject = _Subject(importance, X, target, rows)
        rows.require(n, owner, subject.y)
        identity, seed = subject.identity(checkpoint), execution.seed()
        first = subject.call(subject.y.copy(), replicate_seed(seed, OBSERVED))
        observed = _values(first, "the data as they are")
        unit = first.unit if isinstance(first, Importances) else "1"
        names = _names(names, first, X, len(observed))
        null = run_replicates(
            subject.permuted(len(observed)),
            n,
            len(observed),
            seed=seed,
            identity=identity,
            plan=plan,
            function=owner,
            decided=None if stop_after is None else all_decided(observed, stop_after),
        )
        permuted = PermutedImportances(
            Importances(names, observed, identity["importance"], unit),
            null,
            rows.clause,
            metadata={**identity, "n_permutations": n, "seed": seed},
        )
    result = altmann(permuted, stop_after=stop_after)
    counts = {"n_computed": result.metadata["n_grown"], "stop_after": stop_after}
    return replace(
        result,
        method=owner,
        null=NULL + permuted.restrictions,
        metadata={**permuted.metadata, "method": owner, **counts},
    )


@dataclass(frozen=True)
class _Subject:
    """A user's function and what it is called with."""

    importance: Importance
    X: Any
    y: NDArray[Any]
    rows: Exchangeability

    def __post_init__(self) -> None:
        if not callable(self.importance):
            raise TypeError(
                "permutation_test: importance must be a function importance(X, y, seed), got "
                f"{self.importance!r}."
            )

    def identity(self, checkpoint: object) -> dict[str, Any]:
        """Return what the result depends on, beside the seed."""
        return {
            "method": "permutation_test",
            "importance": qualified(self.importance),
            "data": self.data(checkpoint),
            "versions": versions(),
            **self.rows.identity(),
        }

    def data(self, checkpoint: object) -> str | None:
        """Return a fingerprint of X and y, or None where there is none and none is needed."""
        y = self.y if self.y.dtype.kind in "biufc" else self.y.astype(str)
        try:
            return fingerprint(_fingerprint_of(self.X), y)
        except (TypeError, ValueError) as error:
            if checkpoint is None:
                return None
            raise TypeError(
                f"permutation_test: X, of type {type(self.X).__name__}, cannot be recognized by "
                f"its values, which a checkpoint needs ({error}). Hint: give an array or a data "
                "frame, or no checkpoint."
            ) from None

    def call(self, y: NDArray[Any], seed: int) -> Any:
        """Call the function."""
        return self.importance(self.X, y, seed % 2**32)

    def permuted(self, p: int) -> Task:
        """Return the task that permutes the target and computes p numbers."""

        def task(b: int, seed: int) -> FloatArray:
            random = np.random.default_rng(seed)
            y = self.y[self.rows.permutation(random, self.y)]
            return _values(self.call(y, int(random.integers(2**32))), f"permutation {b}", p)

        return task


def _values(result: Any, when: str, p: int | None = None) -> FloatArray:
    """Return the numbers in what the function returned, p of them if that is known."""
    if isinstance(result, Importances):
        result = result.values
    try:
        values = np.array(result, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty((0, 0))
    if values.ndim != 1 or not values.size or p not in (None, values.size):
        wanted = "p" if p is None else f"{p}, as for the data as they are,"
        raise ValueError(
            f"permutation_test: importance must return {wanted} numbers or Importances, got "
            f"{type(result).__name__} of shape {np.shape(result)} for {when}."
        )
    if not np.isfinite(values).all():
        raise ValueError(
            f"permutation_test: importance must return finite numbers, got NaN or infinity for "
            f"{when}."
        )
    return values


def _target(y: Any) -> NDArray[Any]:
    array = np.asarray(refuse_masked(y, "y", "permutation_test"))
    if array.ndim == 0 or not len(array):
        raise ValueError(
            f"permutation_test: y must have at least one row, got shape {array.shape}."
        )
    return array


def _fingerprint_of(X: Any) -> str:
    if isinstance(X, EncodedTable):
        return X.fingerprint()
    if isinstance(X, np.ndarray):
        return fingerprint(X)
    return encode(X).fingerprint()


def _names(names: Any, result: Any, X: Any, p: int) -> tuple[str, ...]:
    if names is not None:
        checked = checked_names("permutation_test", "names", names)
        if len(checked) != p:
            raise ValueError(
                f"permutation_test: names must be {p}, one per feature, got {len(checked)}."
            )
        return checked
    if isinstance(result, Importances):
        return result.names
    of_columns = X.names if isinstance(X, EncodedTable) else names_of(X)
    if of_columns is not None and len(of_columns) == p:
        return tuple(map(str, of_columns))
    return tuple(f"x{j}" for j in range(p))
