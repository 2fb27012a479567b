"""Importances under permutation of the target, and the null hypothesis that they stand for."""

from __future__ import annotations

import numpy as np

from duramen.jobs.replicates import Plan, run_replicates
from duramen.significance.measured import FloatArray, Measured
from duramen.significance.sequential import all_decided

NULL = (
    "The target is independent of all features together: its values could be permuted among the "
    "rows in any order."
)
PROMISE = (
    "The p-values are exact under the complete null hypothesis that the target is independent of "
    "all features together. A small one tells that a feature is associated with the target, which "
    "features that are correlated with relevant ones are too, without adding to these. Of features "
    "that are independent of the target and of the relevant ones, p-values tend to be too large: "
    "relevant features take the splits that they would get by chance."
)


def permuted_scores(
    subject: Measured,
    n_permutations: int,
    seed: int,
    plan: Plan,
    function: str,
    *,
    observed: FloatArray | None = None,
    stop_after: int | None = None,
) -> FloatArray:
    """Return the scores of every feature after each permutation of the target, shape (b, p).

    With `stop_after`, b is less than `n_permutations` where all features are decided.
    """
    rows = subject.exchangeability
    rows.require(n_permutations, function, subject.data.target.values, stacklevel=4)

    def task(_: int, seed_b: int) -> FloatArray:
        return subject.permuted_scores(np.random.default_rng(seed_b), seed_b)

    return run_replicates(
        task,
        n_permutations,
        len(subject.names),
        seed=seed,
        identity=subject.identity("permuted labels", **rows.identity()),
        plan=plan,
        function=function,
        decided=None
        if stop_after is None or observed is None
        else all_decided(observed, stop_after),
    )
