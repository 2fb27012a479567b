"""Random probes ranked along with the features: the runs that the probe tests share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from duramen.data.recoding import with_probes, with_shadows
from duramen.results.significance import ErrorRates
from duramen.significance.refits import Refits
from duramen.support.arrays import FloatArray, IntArray


def probed(
    refits: Refits,
    n_permutations: int,
    n_probes: int | None,
    identity: dict[str, Any] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the importances of the p features, (B, p), and of the R probes beside them, (B, R).

    Each of `n_probes` probes is a copy of a column with its rows permuted, by a permutation of its
    own; which columns are copied is drawn at random, none twice before all were copied once. None:
    a copy of every column, all permuted alike, so that they keep their correlations. The candidates
    of the refits are settled.
    """
    subject, function = refits.subject, refits.function
    rows, table, p = subject.exchangeability, subject.data.table, subject.data.n_columns

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        if n_probes is None:
            beside = with_shadows(table, rows.permutation(random), function=function)
        else:
            rounds = [random.permutation(p) for _ in range(-(-n_probes // p))]
            orders = [rows.permutation(random) for _ in range(n_probes)]
            columns = np.concatenate(rounds)[:n_probes]
            beside = with_probes(table, columns, orders, function=function)
        data = subject.data.with_table(beside, key=("probes", n_probes, seed_b))
        return subject.scores(int(random.integers(2**32)), data=data)

    scores = refits.run(task, n_permutations, p + (p if n_probes is None else n_probes), identity)
    return scores[:, :p], scores[:, p:]


def count_reached(features: FloatArray, probes: FloatArray) -> IntArray:
    """Return how many probes, over all runs, are as important as each feature of their run."""
    reached = np.zeros(features.shape[1], dtype=np.int64)
    for of_features, of_probes in zip(features, np.sort(probes, axis=1), strict=True):
        reached += len(of_probes) - np.searchsorted(of_probes, of_features, side="left")
    return reached


def probe_rates(
    refits: Refits,
    features: FloatArray,
    probes: FloatArray,
    meaning: str,
    metadata: Mapping[str, Any],
    *,
    add_one: bool = False,
    **details: FloatArray,
) -> ErrorRates:
    """Return the fraction of the probes of all runs that reach each feature, the least first.

    With `add_one` the feature itself counts as one of them. Equal rates are in the order of the
    mean importances.
    """
    reached, importance = count_reached(features, probes), features.mean(axis=0)
    order = np.lexsort((-importance, reached))
    total = probes.size + add_one
    details = {"importance": importance, **details}
    return ErrorRates(
        names=tuple(refits.subject.names[j] for j in order),
        scores=(probes.size - reached[order]) / total,
        rates=(reached[order] + add_one) / total,
        method=refits.function,
        meaning=meaning + refits.subject.exchangeability.clause,
        details={name: column[order] for name, column in details.items()},
        metadata=metadata,
    )


def with_settled_candidates(refits: Refits, n_permutations: int) -> Refits:
    """Return refits of forests with as many candidates K a node as its own p columns have.

    Columns that are added leave K, and the size of subspaces, as they are: both are resolved for
    the p columns that the user gave, and drawn from all, as `duramen.importances.air` does. The
    rows must leave something to permute in `n_permutations` runs.
    """
    from sklearn.base import clone

    subject = refits.subject
    subject.exchangeability.require(n_permutations, refits.function)
    settled = subject.template.growth_settings(*subject.data.table.shape)
    resolved = {
        "max_features": settled.max_features,
        "n_subspace_features": settled.column_samples or None,
    }
    offered = subject.template.get_params()
    template = clone(subject.template)
    template.set_params(**{name: k for name, k in resolved.items() if name in offered})
    return replace(refits, subject=replace(subject, template=template))
