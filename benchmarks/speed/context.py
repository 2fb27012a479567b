"""Context analysis, whole runs.

``python -m benchmarks.speed.context`` prints each measurement with its bar; exit status 1 where one
is missed.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.speed.bars import Bar, run

THREADS = 2


def primary_tumor() -> tuple[object, object]:
    """The 132 rows without missing values, as a data frame with the context, and the target."""
    import duramen as dm

    tumor = dm.datasets.load_primary_tumor()
    findings = tumor.X.to_pandas()
    complete = findings.notna().all(axis=1).to_numpy()
    return findings[complete], np.asarray(tumor.y)[complete]


def seconds_of_context(n_permutations: int) -> float:
    """1000 trees with p-values."""
    import duramen as dm

    findings, site = primary_tumor()
    start = time.perf_counter()
    dm.contexts.context_importances(
        findings, site, "sex", n_permutations=n_permutations, random_state=0, n_jobs=THREADS
    )
    return time.perf_counter() - start


def seconds_of_exact() -> float:
    """Return the time for infinitely many trees, without p-values."""
    import duramen as dm

    findings, site = primary_tumor()
    patients = dm.theory.FiniteDistribution.from_table(
        findings.drop(columns="sex"), site, context=findings["sex"]
    )
    start = time.perf_counter()
    dm.theory.population_context_importances(patients)
    return time.perf_counter() - start


BARS = [
    Bar(
        "primary tumor, 1000 trees, 1000 permutations of the context",
        lambda: seconds_of_context(1000),
        10,
    ),
    Bar("primary tumor, exact", seconds_of_exact, 5),
]


if __name__ == "__main__":
    sys.exit(run(BARS))
