"""Forests with random probes among their columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from duramen.data.shadows import with_probes
from duramen.jobs.replicates import Task
from duramen.significance.measured import Measured
from duramen.significance.refits import Refits
from duramen.support.arrays import FloatArray


def with_settled_candidates(refits: Refits, n_runs: int) -> Refits:
    """Return refits of forests with as many candidates K a node as its own p columns have.

    Columns that are added leave K, and the size of subspaces, as they are: both are resolved for
    the p columns that the user gave, and drawn from all, as `duramen.importances.air` does. The
    rows must leave something to permute in `n_runs` runs.
    """
    subject = refits.subject
    subject.exchangeability.require(n_runs, refits.function)
    settled = subject.template.growth_settings(*subject.data.table.shape)
    resolved = {
        "max_features": settled.max_features,
        "n_subspace_features": settled.column_samples or None,
    }
    offered = subject.template.get_params()
    from sklearn.base import clone

    template = clone(subject.template)
    template.set_params(**{name: k for name, k in resolved.items() if name in offered})
    return replace(refits, subject=replace(subject, template=template))


def probe_task(subject: Measured, n_probes: int, function: str) -> Task:
    """Return the task of a run: importances of the p features, and of R probes beside them.

    Each probe is a copy of a column with its rows permuted, by a permutation of its own. Which
    columns are copied is drawn at random; none twice before all were copied once. The candidates of
    the subject are settled.
    """
    p = subject.data.n_columns

    def task(_: int, seed_b: int) -> FloatArray:
        random = np.random.default_rng(seed_b)
        rounds = [random.permutation(p) for _ in range(-(-n_probes // p))]
        orders = [subject.exchangeability.permutation(random) for _ in range(n_probes)]
        columns = np.concatenate(rounds)[:n_probes]
        table = with_probes(subject.data.table, columns, orders, function=function)
        data = subject.data.with_table(table, key=("probes", n_probes, seed_b))
        return subject.scores(int(random.integers(2**32)), data=data)

    return task
