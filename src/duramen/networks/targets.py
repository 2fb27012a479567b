"""Forest of a target: the scores of its inputs, and their null distribution."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen import importances
from duramen.data import EncodedTable, LearningSet, NumberTarget, Target
from duramen.data.learning_sets import learning_set_of
from duramen.data.target import column_target
from duramen.estimators.catalogue import FORESTS, OF_THE_TREES
from duramen.forests.forest import mean_decreases
from duramen.forests.growth import grow
from duramen.forests.memory import refuse_large_forest
from duramen.forests.settings import GrowthSettings, split_family
from duramen.importances.measure import Inputs
from duramen.importances.refit import for_task, growing
from duramen.jobs.replicates import replicate_seed
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from duramen.estimators.base import BaseForest

LAST_LEVEL = "last_level"
NORMALIZATIONS = ("unit", "sum", "none")
NULLS = ("auto", "pooled", "source")
SOURCE_SCALINGS = ("none", "variance")
_SEEDS = 2**32  # seeds of estimators lie below


def template_of_targets(estimator: Any, function: str) -> BaseForest:
    """Return the estimator of the forests of numeric targets, or of classes; by default GENIE3's.

    Raises
    ------
    TypeError, ValueError
        If it is no forest that predicts numbers and classes, or has parameters without effect.
    """
    kinds = [kind for kind in FORESTS if kind.regressor is not None]
    if estimator is None:
        estimator = kinds[0].regressor(1000, max_features="sqrt")
    classes = [name for kind in kinds for name in (kind.classifier, kind.regressor)]
    return growing(
        estimator,
        function,
        [name.__name__ for name in classes],
        {"n_estimators", *OF_THE_TREES},
    )


def settings_of(template: BaseForest) -> dict[str, Any]:
    """Return the kind of an estimator, and its parameters that are not at their defaults."""
    kind = next(kind for kind in FORESTS if type(template) in kind.estimators)
    defaults, shown = type(template)().get_params(), ("n_estimators", "max_features")
    return {
        "forest": kind.name.replace("-", "_"),
        "parameters": {
            name: value
            for name, value in template.get_params().items()
            if name in shown or (name in OF_THE_TREES and value != defaults[name])
        },
    }


@dataclass(frozen=True)
class Scoring:
    """Parameters of `genie3` on the score of a link.

    Attributes
    ----------
    measure : str
        Name of a measure of fitted forests that can be tested, or "last_level".
    normalization : {"unit", "sum", "none"}
        Scale of the scores.
    source_scaling : {"none", "variance"}
        Scale of the weights of a source.
    n_permutations : int
        Number of permutations of the target for p-values; 0 for none.
    null : {"auto", "pooled", "source"}
        Scores that a link is compared with.
    """

    measure: str
    normalization: str
    source_scaling: str
    n_permutations: int
    null: str

    def check(self, function: str) -> None:
        """Raise where a choice is unknown or a number out of range."""
        fitted = [
            measure.name
            for measure in importances.catalogue
            if measure.testable and not measure.refits and not measure.classes
        ]
        checks.check_choice(function, "measure", self.measure, (*fitted, LAST_LEVEL))
        checks.check_choice(function, "normalization", self.normalization, NORMALIZATIONS)
        checks.check_choice(function, "source_scaling", self.source_scaling, SOURCE_SCALINGS)
        checks.check_choice(function, "null", self.null, NULLS)
        checks.check_integer(function, "n_permutations", self.n_permutations, 0)


@dataclass(frozen=True, eq=False)
class Variables:
    """Encoded variables, and which of them may be the source or the target of a link.

    Attributes
    ----------
    table : EncodedTable
        n rows of p variables: the inputs.
    sources, targets : int64 arrays
        Indices of variables, ascending.
    responses : float64 array of shape (n, p) or None
        Numbers that the forests of the targets predict; None where each predicts the variable
        itself.
    usable : bool array of shape (n, p) or None
        Rows that tell of the regulation of a variable; None for all.
    """

    table: EncodedTable
    sources: IntArray
    targets: IntArray
    responses: FloatArray | None = None
    usable: BoolArray | None = None

    @cached_property
    def inputs(self) -> EncodedTable:
        """Table of the sources, shared by the targets that are none of them."""
        return self.table.take_columns(self.sources)

    def learning_set(self, j: int, *, scale: bool, function: str) -> LearningSet[EncodedTable]:
        """Return the inputs of a target with the target: classes, or numbers with mean 0.

        Parameters
        ----------
        j : int
            Index of the target.
        scale : bool
            Whether numbers are divided by their standard deviation (ddof 0), unless it is 0.
        function : str
            Function that the user called, for errors.
        """
        others = self.sources != j
        table = self.inputs if others.all() else self.inputs.take_columns(others)
        if self.responses is None:
            target: Target = column_target(self.table, j, function)
        else:
            target = NumberTarget.encode(self.responses[:, j], function=function)
        if self.usable is not None and not self.usable[:, j].all():
            rows = np.flatnonzero(self.usable[:, j])
            table, target = table.take_rows(rows), target.take(rows)
        return learning_set_of(table, target.centered(scale=scale), function)


@dataclass(frozen=True, eq=False)
class TargetForest:
    """Scores of the inputs of one target, as a job.

    Attributes
    ----------
    variables : Variables
        All variables.
    template : estimator of duramen
        Parameters of the forests; that of targets of the other task follows from it.
    scoring : Scoring
        Measure, scale and permutations of the scores.
    seed : int
        Seed of the network; that of a target follows from it and the target's index.
    function : str
        Function that the user called, for errors.
    """

    variables: Variables
    template: BaseForest
    scoring: Scoring
    seed: int
    function: str
    # By task and numbers of rows and columns: parameters and memory are checked once for each.
    _settings: dict[tuple[str, int, int, str], GrowthSettings] = field(
        default_factory=dict, init=False
    )

    def __call__(self, b: int, _: int) -> dict[str, NDArray[Any]]:
        """Return the weights, and p-values, of the sources for target number b.

        The weight of a source for itself is 0, and its p-value 1.
        """
        j = int(self.variables.targets[b])
        others = self.variables.sources != j
        weights = np.zeros(len(others))
        p_values = np.ones(len(others) if self.scoring.n_permutations else 0)
        data = None
        if others.any():
            scale = self.scoring.normalization != "none"
            data = self.variables.learning_set(j, scale=scale, function=self.function)
        if data is not None and len(np.unique(data.target.values)) > 1:
            seed = replicate_seed(self.seed, j)
            scores = self._scores(data, seed)
            weights[others] = self._normalized(scores, data)
            if self.scoring.n_permutations:
                p_values[others] = self._p_values(scores, data, seed)
        return {"weights": weights, "p_values": p_values}

    def _shape(self, data: LearningSet[EncodedTable]) -> tuple[str, int, int, str]:
        """Return what the settings of growth depend on."""
        family = self.template.splits
        if family == "auto":
            family = split_family(data.table)
        return data.task, data.n_rows, data.n_columns, family

    def _settings_for(self, data: LearningSet[EncodedTable], seed: int) -> GrowthSettings:
        """Return the settings of growth, checked where a learning set is the first of its shape."""
        key = self._shape(data)
        if key not in self._settings:
            template = for_task(self.template, data.target, self.function)
            settings = template.growth_settings(data.n_rows, data.n_columns, data.table)
            refuse_large_forest(self.function, template.n_estimators, settings, data)
            self._settings[key] = settings
        return self._settings[key]

    def _scores(self, data: LearningSet[EncodedTable], seed: int) -> FloatArray:
        """Grow the forest of a seed, and return the importances of the inputs."""
        drawn = checks.draw_seed(seed % _SEEDS)
        settings = self._settings_for(data, drawn)
        forest = grow(data, settings, n_trees=self.template.n_estimators, seed=drawn)
        if self.scoring.measure == "mdi":
            return mean_decreases(forest).values
        if self.scoring.measure == LAST_LEVEL:
            degrees = mean_decreases(forest, by_degree=True).by_degree
            last = data.n_columns - 1
            has = degrees.shape[1] > last
            return np.array(degrees[:, last]) if has else np.zeros(data.n_columns)
        measure = importances.catalogue[self.scoring.measure]
        computed = measure(Inputs(forest, data, seed % _SEEDS))
        return np.asarray(np.array(getattr(computed, "values", computed), dtype=np.float64))

    def _normalized(self, scores: FloatArray, data: LearningSet[EncodedTable]) -> FloatArray:
        """Return scores as fractions of the target's uncertainty, or of their sum."""
        if self.scoring.normalization == "sum":
            total = float(np.abs(scores).sum())
            return scores / total if total > 0 else scores
        if self.scoring.normalization == "none" or data.target.codes is None:
            return scores  # numbers have unit variance, or are to be as they are
        fractions = np.bincount(data.target.codes) / data.n_rows
        present = fractions[fractions > 0]
        if not (self.scoring.measure.startswith("mdi") or self.scoring.measure == LAST_LEVEL):
            return scores / float(1.0 - present.max())
        if self._settings[self._shape(data)].criterion == "gini":
            return scores / float(1.0 - (present**2).sum())
        return scores / float(-(present * np.log2(present)).sum())

    def _p_values(
        self, scores: FloatArray, data: LearningSet[EncodedTable], seed: int
    ) -> FloatArray:
        """Compare scores with those for permuted targets, (1 + count) / (1 + number)."""
        least = np.zeros(len(scores), dtype=np.int64)
        pooled = self.scoring.null == "pooled"
        if self.scoring.null == "auto":  # trees treat numbers without ties alike
            table = data.table
            numeric = all(kind == "numeric" for kind in table.kinds)
            pooled = numeric and bool((table.n_codes() == table.n_rows).all())
        for b in range(self.scoring.n_permutations):
            seed_b = replicate_seed(seed, b)
            order = np.random.default_rng(seed_b).permutation(data.n_rows)
            null = self._scores(data.permuted(order, key=(seed, b)), seed_b)
            if pooled:
                least += len(null) - np.sort(null).searchsorted(scores, side="left")
            else:
                least += null >= scores
        drawn = self.scoring.n_permutations * (len(scores) if pooled else 1)
        return np.asarray(((1 + least) / np.float64(1 + drawn)).astype(np.float64))
