"""Random probes ranked along with the features: the runs that the probe tests share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from duramen.data.shadows import with_probes, with_shadows
from duramen.jobs.replicates import ExecutionParameters
from duramen.results.error_rates import ErrorRates
from duramen.significance.measured import Measured, MeasureLike
from duramen.significance.refits import Refits
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ProbeTest:
    """Forests with probes among their columns, and the counts of probes that reach a feature."""

    refits: Refits
    n_runs: int  # number B of forests

    @classmethod
    def checked(
        cls,
        function: str,
        estimator: Any,
        X: Any,
        y: Any,
        measure: MeasureLike,
        n_runs: int,
        execution: ExecutionParameters,
        **rows: Any,
    ) -> Self:
        """Check what the user said; `rows` are strata and blocks, as for `measured`."""
        runs = checks.check_integer(function, "n_runs", n_runs, 1)
        refits = Refits.checked(function, estimator, X, y, measure, execution, **rows)
        refits.subject.exchangeability.require(runs, function)
        return cls(replace(refits, subject=_with_settled_candidates(refits.subject)), runs)

    @property
    def n_features(self) -> int:
        """Number p of features."""
        return len(self.refits.subject.names)

    def run(
        self, n_probes: int | None, identity: dict[str, Any] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the importances of the features, (B, p), and of the R probes beside them, (B, R).

        Each of `n_probes` probes is a copy of a column with its rows permuted, by a permutation of
        its own; which columns are copied is drawn at random, none twice before all were copied
        once. None: a copy of every column, all permuted alike, so that they keep their
        correlations.
        """
        subject, p, function = self.refits.subject, self.n_features, self.refits.function
        rows, table = subject.exchangeability, subject.data.table

        def task(_: int, seed_b: int) -> FloatArray:
            random = np.random.default_rng(seed_b)
            if n_probes is None:
                probed = with_shadows(table, rows.permutation(random), function=function)
            else:
                rounds = [random.permutation(p) for _ in range(-(-n_probes // p))]
                orders = [rows.permutation(random) for _ in range(n_probes)]
                columns = np.concatenate(rounds)[:n_probes]
                probed = with_probes(table, columns, orders, function=function)
            data = subject.data.with_table(probed, key=("probes", n_probes, seed_b))
            return subject.scores(int(random.integers(2**32)), data=data)

        width = p + (p if n_probes is None else n_probes)
        scores = self.refits.run(task, self.n_runs, width, identity)
        return scores[:, :p], scores[:, p:]

    def error_rates(
        self,
        features: FloatArray,
        probes: FloatArray,
        *,
        add_one: bool,
        meaning: str,
        details: Mapping[str, FloatArray],
        metadata: Mapping[str, Any],
    ) -> ErrorRates:
        """Return the fraction of the probes of all runs that reach each feature, the least first.

        With `add_one` the feature itself counts as one of them. Equal rates are in the order of
        the mean importances.
        """
        reached, importance = count_reached(features, probes), features.mean(axis=0)
        order = np.lexsort((-importance, reached))
        total = probes.size + add_one
        return ErrorRates(
            names=tuple(self.refits.subject.names[j] for j in order),
            scores=(probes.size - reached[order]) / total,
            rates=(reached[order] + add_one) / total,
            method=self.refits.function,
            meaning=meaning + self.refits.subject.exchangeability.clause,
            details={
                "importance": importance[order],
                **{name: column[order] for name, column in details.items()},
            },
            metadata=metadata,
        )


def count_reached(features: FloatArray, probes: FloatArray) -> IntArray:
    """Return how many probes, over all runs, are as important as each feature of their run."""
    reached = np.zeros(features.shape[1], dtype=np.int64)
    for of_features, of_probes in zip(features, np.sort(probes, axis=1), strict=True):
        reached += len(of_probes) - np.searchsorted(of_probes, of_features, side="left")
    return reached


def _with_settled_candidates(subject: Measured) -> Measured:
    """Return forests with as many candidates K a node as their own p columns have.

    Columns that are added leave K, and the size of subspaces, as they are: both are resolved for
    the p columns that the user gave, and drawn from all, as `duramen.importances.air` does.
    """
    from sklearn.base import clone

    settled = subject.template.growth_settings(*subject.data.table.shape)
    resolved = {
        "max_features": settled.max_features,
        "n_subspace_features": settled.column_samples or None,
    }
    offered = subject.template.get_params()
    template = clone(subject.template)
    template.set_params(**{name: k for name, k in resolved.items() if name in offered})
    return replace(subject, template=template)
