"""The measures that `duramen rank` offers: how each is computed, and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duramen.tables import EncodedTable, LearningSet


class MeasureName(StrEnum):
    """Names of measures on the command line."""

    mdi = "mdi"
    mda = "mda"
    vote_change = "vote-change"
    conditional_mda = "conditional-mda"
    frequency = "frequency"
    minimal_depth = "minimal-depth"
    noising = "noising"
    holdout_mda = "holdout-mda"
    air = "air"
    sandri = "sandri"
    mcfs = "mcfs"

    @property
    def function(self) -> str:
        """Name of its function, and of the module that this is in."""
        return self.value.replace("-", "_")


@dataclass(frozen=True)
class Given:
    """What measures are computed from.

    Parameters
    ----------
    estimator : fitted estimator
        The forest.
    data : LearningSet
        What it was grown on.
    seed : int
        Seed of the measures that grow forests of their own.
    jobs : int
        Number of threads.
    verbose : bool
        Whether to show how far a measure is.
    """

    estimator: Any
    data: LearningSet[EncodedTable]
    seed: int
    jobs: int
    verbose: bool

    def unfitted(self) -> Any:
        """Return the estimator for those who grow it anew."""
        from sklearn.base import clone

        return clone(self.estimator).set_params(oob_score=False)

    def unrestricted(self) -> LearningSet[EncodedTable]:
        """Return the learning set without strata and blocks, which are for tests."""
        from duramen.tables import Exchangeability

        return self.data.with_exchangeability(Exchangeability(self.data.n_rows))


Compute = Callable[[Callable[..., Any], Given], Any]


def _of_splits(function: Callable[..., Any], given: Given) -> Any:
    return function(given.estimator, by_degree=True)


def _of_forest(function: Callable[..., Any], given: Given) -> Any:
    return function(given.estimator)


def _of_rows(function: Callable[..., Any], given: Given) -> Any:
    return function(given.estimator, given.data)


def _permuted(function: Callable[..., Any], given: Given) -> Any:
    return function(given.estimator, given.data, n_jobs=given.jobs, verbose=int(given.verbose))


def _grown_anew(function: Callable[..., Any], given: Given) -> Any:
    return function(given.unfitted(), given.unrestricted(), random_state=given.seed)


def _grown_on_parts(function: Callable[..., Any], given: Given) -> Any:
    choices = {"random_state": given.seed, "n_jobs": given.jobs}
    return function(given.unfitted(), given.data, **choices)


def _grown_on_subsets(function: Callable[..., Any], given: Given) -> Any:
    found = function(given.unrestricted(), random_state=given.seed, n_jobs=given.jobs)
    return found.importances


@dataclass(frozen=True)
class Measure:
    """How a measure is computed, and what it needs.

    Parameters
    ----------
    compute : callable
        Calls the function of the measure.
    classes : bool
        Whether the target must be classes.
    out_of_bag : bool
        Whether trees must leave rows out.
    """

    compute: Compute
    classes: bool = False
    out_of_bag: bool = False


MEASURES: dict[MeasureName, Measure] = {
    MeasureName.mdi: Measure(_of_splits),
    MeasureName.mda: Measure(_permuted, out_of_bag=True),
    MeasureName.vote_change: Measure(_permuted, classes=True, out_of_bag=True),
    MeasureName.conditional_mda: Measure(_permuted, out_of_bag=True),
    MeasureName.frequency: Measure(_of_splits),
    MeasureName.minimal_depth: Measure(_of_forest),
    MeasureName.noising: Measure(_of_rows, out_of_bag=True),
    MeasureName.holdout_mda: Measure(_grown_on_parts),
    MeasureName.air: Measure(_grown_anew),
    MeasureName.sandri: Measure(_grown_anew),
    MeasureName.mcfs: Measure(_grown_on_subsets, classes=True),
}

DEFAULT = (MeasureName.mdi, MeasureName.mda)
"""What is computed where the user names none; of these what the forest and its target allow."""
