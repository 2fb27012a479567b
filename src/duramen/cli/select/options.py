"""Options of `duramen select`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from duramen.analyses.defaults import MEMORY, SELECTOR, SUBSPACE
from duramen.cli.declaration import choice, group, option
from duramen.cli.numbers import MAX_FEATURES
from duramen.cli.options import Printed, Strata, Work
from duramen.cli.sampling import SampledInput
from duramen.cli.signals import Clustering

COMMAND = "select"
TREES, DEMO_TREES = 1000, 200
_SEARCH = "duramen.selection.sequential_random_subspace"


@dataclass(frozen=True, kw_only=True)
class TestParameters:
    """Parameters that only some tests of relevance have."""

    level: float | None = option(
        None,
        "False discovery rate of --relevance decoy and binomial, 0.05 by default; with other "
        "methods, the level of their tests.",
        metavar="R",
        min=0.0,
        max=1.0,
    )
    min_draws: int | None = option(
        None,
        "Number of trees that must be exceeded by those given a feature before it can be "
        "found (probe); 10 by default.",
        metavar="L",
        min=0,
    )
    confidence: float | None = option(
        None,
        "Fraction of the trees given a feature in which it must beat the probes (probe); "
        "0.95 by default.",
        metavar="B",
        min=0.0,
        max=1.0,
    )
    probes: int | None = option(
        None,
        "Number of probes in each tree (probe, binomial); 1 by default.",
        metavar="M",
        min=1,
        parameter="n_probes",
    )


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """Parameters of selectors that grow forests in rounds, or search for a set of features."""

    measure: str | None = option(
        None,
        "Importance measure of methods that grow forests in rounds, such as mdi or scaled-mda.",
        metavar="NAME",
    )
    correction: str | None = choice(
        None,
        "duramen.selection.boruta.rules:CORRECTIONS",
        "Correction for testing many features in many rounds, as in R's Boruta or boruta_py.",
    )
    percentile: float | None = option(
        None,
        "Percentile of the shadows that a feature must exceed; 100, the best one, by default.",
        metavar="P",
        min=0.0,
        max=100.0,
    )
    rounds: int | None = option(
        None,
        "Maximum number of rounds; 99 with --method boruta, else 10, by default.",
        metavar="R",
        min=1,
        parameter="max_rounds",
    )
    permutations: int | None = option(
        None,
        "Number of permutations of the target in a round; 99 by default.",
        metavar="S",
        min=1,
        parameter="n_permutations",
    )
    rough_fix: bool = option(False, "Decide tentative features by their median importances.")
    features: int | None = option(
        None,
        "Number of features that filters and sequential searches select; by default 10 for "
        "filters, the number with the best score for searches.",
        metavar="N",
        min=1,
        parameter="n_features",
    )


@dataclass(frozen=True, kw_only=True)
class Search:
    """Parameters of selectors; each takes those that it has."""

    subspace: str | None = option(
        None,
        f"Number of features given to each tree, or their fraction; by default {SUBSPACE}, or as "
        "many as memory holds if these are fewer.",
        metavar="Q",
        parameter="n_subspace_features",
    )
    memory: str | None = option(
        None,
        f"Memory for the columns of a tree, such as 2GiB; {MEMORY} by default.",
        metavar="SIZE",
        echo="never",
    )
    alpha: float = option(
        0.5,
        "Fraction of the features of a tree that may be features found before; 0 is the random "
        "subspace.",
        metavar="A",
        min=0.0,
        max=1.0,
    )
    trees: int | None = option(
        None,
        f"Maximum number of trees; {TREES} by default, {DEMO_TREES} with --demo.",
        metavar="T",
        min=1,
        parameter="n_estimators",
    )
    tree: str = choice(
        "extra", f"{_SEARCH}.trees:TREES", "Kind of trees: Extra-Trees, CART or totally randomized."
    )
    max_features: str = option(
        "auto", f"{MAX_FEATURES}; auto is all, with --tree random one.", metavar="K"
    )
    relevance: str = choice(
        "decoy",
        f"{_SEARCH}.relevance:TESTS",
        "Test of relevance: against the decoy of the feature (decoy), against random probes in "
        "most of its trees (probe) or in more of them than under the null hypothesis (binomial), "
        "or an importance above 0 (positive).",
    )
    test: TestParameters = group(TestParameters)
    sampling: str = choice(
        "hard",
        f"{_SEARCH}.drawing:SAMPLING",
        "Sampling: keep features found (hard), or draw features by their importance so far (soft).",
    )
    batch: int = option(
        1,
        "Number of trees grown at the same time; it changes the result.",
        metavar="B",
        min=1,
        parameter="batch_size",
    )
    patience: int | None = option(
        None,
        "Number of trees without a new feature after which the search ends, 0 for never; by "
        "default, the number that gives each feature to 10 trees on average, at least 200.",
        metavar="N",
        min=0,
    )
    by_round: Rounds = group(Rounds)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen select`."""

    input: SampledInput = group(SampledInput, "Data")
    method: str = choice(
        SELECTOR, "duramen.selection:catalogue", "Selector.", echo="changed", section="Search"
    )
    search: Search = group(Search, "Search")
    rows: Strata = group(Strata, "Permutations")
    signals: Clustering = group(Clustering, "Correlated features")
    work: Work = group(Work, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-select"))
    typed: frozenset[str] = frozenset()

    @property
    def trees(self) -> int:
        """Largest number of trees."""
        return self.search.trees or (DEMO_TREES if self.input.demo else TREES)
