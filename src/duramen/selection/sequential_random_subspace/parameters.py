"""Parameters of a sequential random subspace search, checked and resolved."""

from __future__ import annotations

import numpy as np

from duramen.data import EncodedTable, Task
from duramen.forests import sampling
from duramen.forests.settings import CRITERION_NAMES, SPLITS, GrowthSettings
from duramen.io import ColumnStore
from duramen.io.store.budget import memory_bytes
from duramen.selection.selector import BaseSelector, Data
from duramen.selection.sequential_random_subspace.drawing import SAMPLING
from duramen.selection.sequential_random_subspace.memory import column_bytes, widest_within
from duramen.selection.sequential_random_subspace.relevance import (
    TESTS,
    DecoyTest,
    PositiveImportance,
    ProbeBinomial,
    ProbeShare,
    RelevanceTest,
    shadows_of_each,
)
from duramen.selection.sequential_random_subspace.search import Plan
from duramen.selection.sequential_random_subspace.trees import TREES
from duramen.support import checks
from duramen.support.arrays import IntArray
from duramen.theory.subspaces.chains import kept_places


class SearchParameters(BaseSelector):
    """Parameters of a search, as `SequentialRandomSubspace` describes them."""

    n_estimators: int
    n_subspace_features: int | float | None
    memory: int | str | None
    alpha: float
    tree: str
    max_features: str | int | float | None
    criterion: str | None
    splits: str
    max_depth: int | None
    min_samples_leaf: int | float
    relevance: str
    level: float
    min_draws: int
    confidence: float
    n_probes: int
    sampling: str
    batch_size: int
    patience: int | None
    entered_: IntArray
    draws_: IntArray
    wins_: IntArray
    n_estimators_: int
    n_subspace_features_: int
    n_shadows_: int

    def _task(self) -> Task | None:
        """Check the criterion; return what the target must be for it, or None for any."""
        if self.criterion is None:
            return None
        checks.check_choice(type(self).__name__, "criterion", self.criterion, CRITERION_NAMES)
        return "regression" if self.criterion == "variance" else "classification"

    def _test(self, data: Data) -> RelevanceTest:
        owner = type(self).__name__
        chosen = checks.check_choice(owner, "relevance", self.relevance, TESTS)
        n_probes = checks.check_integer(owner, "n_probes", self.n_probes, 1)
        level = checks.check_real(owner, "level", self.level, 0.0, 1.0)
        if chosen != "decoy" and data.exchangeability.strata is not None:
            raise ValueError(
                f"{owner}: relevance must be 'decoy' with strata, within which each feature is "
                f"compared with its own decoy, got {chosen!r}. Hint: leave out the strata, or "
                "relevance."
            )
        if chosen == "decoy":
            p = data.n_columns
            return DecoyTest(level, p if shadows_of_each(p) else None)
        if chosen == "positive":
            values = data.target.values
            return PositiveImportance(1.0 if data.classes is not None else float(np.var(values)))
        if chosen == "binomial":
            return ProbeBinomial(level, n_probes)
        draws = checks.check_integer(owner, "min_draws", self.min_draws, 0)
        confidence = checks.check_real(owner, "confidence", self.confidence, 0.0, 1.0)
        return ProbeShare(draws, confidence, n_probes)

    def _plan(self, source: EncodedTable | ColumnStore, n_shadows: int) -> Plan:
        owner = type(self).__name__
        batch = checks.check_integer(owner, "batch_size", self.batch_size, 1)
        alpha = checks.check_real(owner, "alpha", self.alpha, 0.0, 1.0)
        size = self._subspace(source, batch * (1 + n_shadows))
        patience = checks.check_optional_integer(owner, "patience", self.patience, 1)
        soft = checks.check_choice(owner, "sampling", self.sampling, SAMPLING) == "soft"
        return Plan(
            n_trees=checks.check_integer(owner, "n_estimators", self.n_estimators, 1),
            size=size,
            places=kept_places(size, alpha),
            soft=soft,
            batch=batch,
            patience=patience,
        )

    def _subspace(self, source: EncodedTable | ColumnStore, n_at_a_time: int) -> int:
        owner, p = type(self).__name__, source.n_columns
        if self.n_subspace_features is not None:
            if self.memory is not None:
                raise ValueError(
                    f"{owner}: memory and n_subspace_features both say how many features a tree "
                    "is given; give one of them."
                )
            return sampling.resolve_subspace(owner, self.n_subspace_features, p) or p
        if self.memory is None:
            return p
        budget = memory_bytes(self.memory, owner)
        size = widest_within(budget // n_at_a_time, source)
        if size < 1:
            least = n_at_a_time * int(column_bytes(source).max())
            raise ValueError(
                f"{owner}: memory={self.memory!r} is too small for the widest column, of "
                f"{source.n_rows} rows, in {n_at_a_time} trees at a time; at least {least} bytes "
                "are needed. Hint: raise it, or lower batch_size."
            )
        return size

    def _growth(
        self, criterion: str, source: EncodedTable | ColumnStore, offered: int
    ) -> GrowthSettings:
        owner = type(self).__name__
        tree = checks.check_choice(owner, "tree", self.tree, TREES)
        K = sampling.resolve_max_features(
            owner, self.max_features, max(source.n_columns, offered), offered
        )
        if tree == "random":
            if self.max_features not in (None, 1):
                raise ValueError(
                    f"{owner}: max_features must be None or 1 for totally randomized trees, got "
                    f"{self.max_features!r}."
                )
            K = 1
        return GrowthSettings(
            criterion=criterion,
            cut=TREES[tree],
            splits=checks.check_choice(owner, "splits", self.splits, SPLITS),
            max_features=K,
            max_depth=checks.check_optional_integer(owner, "max_depth", self.max_depth, 1),
            min_samples_leaf=checks.check_count_or_fraction(
                owner, "min_samples_leaf", self.min_samples_leaf, source.n_rows, 1
            ),
        )
