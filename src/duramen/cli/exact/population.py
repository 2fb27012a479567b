"""Exact importances, relevance and Markov boundaries of a distribution."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duramen.cli.clock import Clock
from duramen.cli.console import note, standard_error
from duramen.cli.declaration import parameters
from duramen.cli.exact.options import Measured, Search, Splits

if TYPE_CHECKING:
    from duramen.results.importances import Importances
    from duramen.theory import FiniteDistribution
    from duramen.theory.dependence.relevant_features import Relevance

# By default as many conditionings are searched as take some seconds for a hundred rows.
_SETS = 2**18
# More Markov boundaries than these are counted, not listed.
_LISTED = 100
# A run on fewer features than these, or of fewer seconds, is not announced.
_FEW_FEATURES = 15
_SHORT = 2.0


@dataclass(frozen=True)
class Found:
    """Exact results about a distribution."""

    importances: Importances  # of infinitely many trees
    relevance: tuple[Relevance, ...]  # of each feature, in the order of the columns
    boundaries: list[tuple[str, ...]] | None  # all Markov boundaries, if there are not too many
    left_out: tuple[str, ...]  # results that were not computed, and why
    information: float  # decrease of the impurity of the target by all features together
    impurity: float  # of the target

    @property
    def is_mda(self) -> bool:
        """True for decreases of accuracy, False for those of impurity."""
        return "loss" in self.importances.metadata

    @property
    def searched_degree(self) -> int:
        """Size of the largest conditioning that was searched."""
        return self.relevance[0].searched_degree

    def counts(self) -> dict[str, int]:
        """Return the number of features of each kind of relevance."""
        found = Counter(one.relevance for one in self.relevance)
        return {kind: found[kind] for kind in ("strong", "weak", "irrelevant", "unknown")}

    def boundaries_record(self) -> dict[str, Any]:
        """Return the boundaries for the record of the run: their number, and the first of them."""
        if self.boundaries is None:
            return {"n_markov_boundaries": None, "markov_boundaries": None}
        return {
            "n_markov_boundaries": len(self.boundaries),
            "markov_boundaries": [list(one) for one in self.boundaries[:_LISTED]],
        }

    def columns(self) -> dict[str, Any]:
        """Return the table on disk by column: one row a feature, the most important first."""
        import pyarrow as pa

        order = self.importances.order()
        ranked = [self.relevance[j] for j in order]
        return {
            **self.importances.top(len(self.importances)).columns(),
            "relevance": [one.relevance for one in ranked],
            "degree": pa.array([one.degree for one in ranked], pa.int64()),  # some are missing
            "conditionings": [json.dumps(one.conditionings, ensure_ascii=False) for one in ranked],
            "strong_information": [one.strong_information for one in ranked],
            "largest_information": [one.largest_information for one in ranked],
        }


def find(
    dist: FiniteDistribution,
    criterion: Any,
    trees: Splits,
    measured: Measured,
    search: Search,
    *,
    jobs: int,
    quiet: bool,
    clock: Clock,
) -> Found:
    """Compute importances, relevance and boundaries.

    Raises
    ------
    ValueError
        If what was asked for is out of reach, with a hint at what is not.
    """
    from duramen.theory.dependence.boundaries import markov_boundaries
    from duramen.theory.dependence.relevant_features import feature_relevance

    everything = range(dist.n_features)
    information = dist.impurity_decrease(everything, criterion=criterion)
    with clock.step("importances"):
        if measured.measure == "mda":
            importances = _accuracy(dist, criterion, trees, measured, quiet)
        else:
            importances = _importances(dist, criterion, trees, search.max_hours, jobs, quiet)
    left_out = []
    searched = _searchable(dist.n_features) if search.max_degree is None else search.max_degree
    with clock.step("relevance"), _telling("looking for relevant features", quiet):
        relevance = feature_relevance(dist, level=search.level, max_degree=searched)
    if relevance[0].searched_degree < dist.n_features - 1:
        left_out.append(_not_searched(relevance))
    boundaries = None
    with clock.step("boundaries"), _telling("looking for Markov boundaries", quiet):
        try:
            boundaries = markov_boundaries(dist)
        except ValueError as error:  # too many of them: the table is fine, as was seen before
            left_out.append(f"Markov boundaries are not listed. {error}")
    return Found(
        importances=importances,
        relevance=relevance,
        boundaries=boundaries,
        left_out=tuple(left_out),
        information=information,
        impurity=dist.impurity(criterion=criterion),
    )


def _importances(
    dist: FiniteDistribution,
    criterion: str,
    trees: Splits,
    max_hours: float,
    jobs: int,
    quiet: bool,
) -> Importances:
    from duramen.theory.population.importances import population_importances

    if not quiet:
        _announce(dist, criterion, trees, jobs)
    with _progress_bar("importances", quiet) as progress:
        return population_importances(
            dist,
            **{**parameters(trees), "criterion": criterion},
            n_jobs=jobs,
            progress=progress,
            max_hours=max_hours,
        )


def _accuracy(
    dist: FiniteDistribution, criterion: str, trees: Splits, measured: Measured, quiet: bool
) -> Importances:
    from duramen.theory.population.accuracy import population_mda

    with _telling("permuting features", quiet):
        return population_mda(
            dist,
            max_features=trees.max_features,
            max_depth=trees.max_depth,
            criterion=criterion,
            votes=measured.votes,
            given=None if measured.given == "none" else measured.given,
        )


def _announce(dist: FiniteDistribution, criterion: str, trees: Splits, jobs: int) -> None:
    """Say how long it will take where that is long and can be estimated."""
    from duramen.theory.population.lattice import lattice_cost

    if trees.max_features > 1 or trees.splits != "multiway" or dist.n_features < _FEW_FEATURES:
        return
    cost = lattice_cost(dist, trees.max_depth, criterion=criterion, n_jobs=jobs)
    if cost.seconds > _SHORT:
        note(str(cost))


@contextmanager
def _progress_bar(what: str, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """Give a function that shows on a terminal what fraction of the work is done."""
    if quiet or not standard_error().is_terminal:
        yield None
        return
    from tqdm import tqdm

    layout = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    with tqdm(total=1.0, desc=what, bar_format=layout) as bar:

        def report(done: float) -> None:
            bar.update(done - bar.n)

        yield report
        report(1.0)


def _searchable(n_features: int) -> int:
    """Return the size of the largest conditionings that are searched unless the user says."""
    from duramen.theory.distributions.subsets import count_subsets

    degree = 0
    while degree < n_features - 1 and count_subsets(n_features, degree + 2) <= _SETS:
        degree += 1
    return degree


def _not_searched(relevance: Sequence[Relevance]) -> str:
    searched, most = relevance[0].searched_degree, len(relevance) - 1
    unknown = sum(one.relevance == "unknown" for one in relevance)
    left = (
        f"{unknown:,} features for which it was not found are called unknown"
        if unknown
        else ("larger sets of conditioning features are not listed")
    )
    return (
        f"Relevance was tested given up to {searched} other features, not up to {most}: "
        f"{left}. --max-degree sets the largest number."
    )


@contextmanager
def _telling(what: str, quiet: bool) -> Iterator[None]:
    """Say what is going on as long as it does, on a terminal."""
    console = standard_error()
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
