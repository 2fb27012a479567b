"""GENIE3: a forest for each target; the importances of its inputs are the weights of links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen import checks, importances
from duramen.estimators.catalogue import FORESTS
from duramen.forests.prediction import estimate_out_of_bag
from duramen.importances.measure import Inputs
from duramen.jobs.replicates import Plan, replicate_seed, run_jobs
from duramen.networks.variables import Variables, variables_of
from duramen.results.network import Network
from duramen.results.notes import warn_of
from duramen.results.provenance import versions
from duramen.tables import EncodedTable, LearningSet

FloatArray = NDArray[np.float64]

_FUNCTION = "genie3"
NORMALIZATIONS = ("unit", "none", "sum", "explained")
GENES = ("columns", "rows")
_FEW = 5


@dataclass(frozen=True, eq=False)
class Growth:
    """Forest of a target, as the user gave it.

    Attributes
    ----------
    forest : str
        Name of its kind in the catalogue of forests.
    parameters : mapping
        Parameters of its estimators by name; None stands for the default of the kind.
    """

    forest: str
    parameters: Mapping[str, Any]

    def estimator(self, task: str, seed: int | None = None) -> Any:
        """Return the unfitted estimator for a task."""
        kind = next(one for one in FORESTS if one.name.replace("-", "_") == self.forest)
        known = kind.defaults
        given = {
            name: value
            for name, value in self.parameters.items()
            if value is not None or name == "max_features"
        }
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(
                f"{_FUNCTION}: {unknown[0]} is no parameter of forest={self.forest!r}. Parameters: "
                f"{', '.join(known)}."
            )
        if task == "classification":
            return kind.classifier(**given, criterion="entropy", random_state=seed)
        assert kind.regressor is not None
        return kind.regressor(**given, random_state=seed)


@dataclass(frozen=True, eq=False)
class TargetJob:
    """Weights of the links to one target.

    Attributes
    ----------
    variables : Variables
        All variables.
    growth : Growth
        Forest of a target.
    measure : str
        Importance measure.
    normalization : str
        One of `NORMALIZATIONS`.
    seed : int
        Seed of the network; that of a target follows from it and the target's index.
    """

    variables: Variables
    growth: Growth
    measure: str
    normalization: str
    seed: int

    def __call__(self, b: int, _: int) -> dict[str, NDArray[Any]]:
        """Return the weights of the sources of target b, 0 for itself."""
        j = int(self.variables.targets[b])
        weights = np.zeros(len(self.variables.sources))
        others = self.variables.sources != j
        if self.variables.table.constant()[j] or not others.any():
            return {"weights": weights}
        scale = self.normalization != "none"
        data = self.variables.learning_set(j, scale=scale, function=_FUNCTION)
        weights[others] = self._weights(data, replicate_seed(self.seed, j) % 2**32)
        return {"weights": weights}

    def _weights(self, data: LearningSet[EncodedTable], seed: int) -> FloatArray:
        estimator = self.growth.estimator(data.task, seed).fit(data)
        measure = importances.catalogue[self.measure]
        found = measure.compute(Inputs(estimator, data, seed))
        values: FloatArray = np.array(found.values)
        if self.normalization == "none":
            return values
        if data.target.codes is not None:
            values /= _uncertainty(data, found.unit)
        if self.normalization == "explained":
            values *= _explained(estimator, data)
        if self.normalization == "sum":
            total = np.abs(values).sum()
            return values / total if total > 0 else values
        return values


def _uncertainty(data: LearningSet[EncodedTable], unit: str) -> float:
    """Return what the classes of a target can lose at most: entropy in bits, or error rate."""
    fractions = np.bincount(data.target.values) / data.n_rows
    present = fractions[fractions > 0]
    if unit == "bits":
        return float(-(present * np.log2(present)).sum())
    return float(1.0 - present.max())


def _explained(estimator: Any, data: LearningSet[EncodedTable]) -> float:
    """Return the fraction of the target's variance, or errors, that unseen rows are spared."""
    estimate = estimate_out_of_bag(estimator.forest_, data.table, data.target.values, 1)
    seen = estimate.counts > 0
    means, truth = estimate.means()[seen], data.target.values[seen]
    if data.target.codes is None:
        lost = float(((means[:, 0] - truth) ** 2).sum())
        most = float(((truth - truth.mean()) ** 2).sum())
    else:
        lost = float((means.argmax(axis=1) != truth).sum())
        most = float(len(truth) - np.bincount(truth).max())
    return max(0.0, 1.0 - lost / most) if most > 0 else 0.0


def genie3(
    expression: Any,
    *,
    regulators: Any = None,
    targets: Any = None,
    names: Iterable[str] | None = None,
    kinds: Any = None,
    genes: str = "columns",
    forest: str = "random_forest",
    n_estimators: int = 1000,
    max_features: str | int | float | None = "sqrt",
    max_depth: int | None = None,
    min_samples_split: int | float | None = None,
    min_samples_leaf: int | float | None = None,
    stop_alpha: float | None = None,
    bootstrap: bool | None = None,
    measure: str = "mdi",
    normalization: str = "unit",
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Network:
    """Infer a network."""
    plan = Plan.checked(_FUNCTION, n_jobs, checkpoint, verbose, client)
    checks.check_choice(_FUNCTION, "genes", genes, GENES)
    checks.check_choice(_FUNCTION, "normalization", normalization, NORMALIZATIONS)
    checks.check_choice(
        _FUNCTION, "forest", forest, [one.name.replace("-", "_") for one in FORESTS if one.regressor]
    )
    variables = variables_of(
        expression,
        names=names,
        kinds=kinds,
        genes=genes,
        regulators=regulators,
        targets=targets,
        n_threads=plan.n_threads,
        function=_FUNCTION,
    )
    parameters = {
        "n_estimators": n_estimators,
        "max_features": max_features,
        "max_depth": max_depth,
        "min_samples_split": min_samples_split,
        "min_samples_leaf": min_samples_leaf,
        "stop_alpha": stop_alpha,
        "bootstrap": bootstrap,
    }
    growth = Growth(forest, parameters)
    seed = checks.draw_seed(random_state)
    job = TargetJob(variables, growth, measure, normalization, seed)
    identity = {
        "forest": forest,
        "parameters": parameters,
        "measure": measure,
        "normalization": normalization,
        "sources": variables.sources.tolist(),
        "targets": variables.targets.tolist(),
        "fingerprint": variables.table.fingerprint(),
    }
    found = run_jobs(
        job,
        len(variables.targets),
        seed=seed,
        identity=identity,
        plan=plan,
        function=_FUNCTION,
        unit="target",
    )
    p = variables.table.n_columns
    weights = np.zeros((p, p))
    for j, one in zip(variables.targets.tolist(), found, strict=True):
        weights[variables.sources, j] = one["weights"]
    sources, wanted = np.zeros((2, p), dtype=np.bool_)
    sources[variables.sources] = True
    wanted[variables.targets] = True
    notes = ()
    return Network(
        variables.table.names,
        weights,
        sources,
        wanted,
        measure=measure,
        notes=notes,
        metadata={**identity, "seed": seed, "versions": versions()} | {"sources": None, "targets": None},
    )
