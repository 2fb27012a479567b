"""Random samples of the rows of tall tables, for the steps that take long."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duramen.analyses.ranking.measures import is_let_go
from duramen.data import EncodedTable, LearningSet
from duramen.data.target import proportions, sampled_rows
from duramen.importances import Inputs

# Rows from which on the default test is of a sample, and the rows of samples. A test grows about
# 100 forests, so that its time is about that of the ranking on 100 times as many rows.
MANY, FEW = 100_000, 20_000
DESCRIBING_TREES = 200  # that describe effects if those of the ranking were let go, at most


def sampled_if_many(inputs: Inputs) -> Inputs:
    """Return a random sample of many rows, in which classes keep their proportions."""
    if inputs.data.n_rows <= MANY:
        return inputs
    seed = inputs.random_state or 0
    rows = sampled_rows(inputs.data.target, FEW, seed)
    return replace(inputs, data=inputs.data.of_rows(rows, key=("sample", FEW, seed)))


def sample_note(data: LearningSet[Any], test: str) -> str:
    """Return a note on the sample of the rows that the default test is of."""
    return (
        f"the significance test is of a random sample of {FEW:,} of the {data.n_rows:,} rows"
        f"{proportions(data.target)}, since it grows many forests; features with small effects may "
        f"be found on all rows alone: test={test!r} tests them on all"
    )


def described(inputs: Inputs) -> tuple[Any, LearningSet[EncodedTable]]:
    """Return a fitted forest and its rows, by which effects are described.

    Where the trees of the ranking were let go, those of a sample of the rows.
    """
    if not is_let_go(inputs.estimator):
        return inputs.estimator, inputs.data
    data, estimator = sampled_if_many(inputs).data, inputs.unfitted().estimator
    estimator.set_params(n_estimators=min(DESCRIBING_TREES, estimator.n_estimators))
    return estimator.fit(data), data
