"""Interactions of all pairs of features, beside a ranking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.resampling import sampled_inputs
from duramen.data import EncodedTable, LearningSet
from duramen.importances import Inputs, interactions
from duramen.reports.pairs import AllPairs
from duramen.significance import interaction_test
from duramen.significance.pair_contrasts import check_rows

_MANY_FEATURES = 1000  # of more, features are cut at their medians alone


def check_pairs(data: LearningSet[Any]) -> None:
    """Check, before a forest is grown, that the interactions of the features can be tested.

    Raises
    ------
    ValueError
        If not.
    """
    if data.n_columns < 2:
        raise ValueError("rank: interactions needs two features, got one")
    try:
        check_rows(data)
    except ValueError as error:
        raise ValueError(f"rank: interactions=True: {error}") from None


def all_pairs(
    inputs: Inputs,
    estimator: Any,
    data: LearningSet[EncodedTable],
    execution: Execution,
    checkpoint: Path | None,
) -> AllPairs:
    """Test all pairs, and tell how the trees of a forest, fitted to `data`, use them together."""
    sample, notes = sampled_inputs(inputs), []
    if sample.data.n_rows < inputs.data.n_rows:
        notes.append(f"the test is of a random sample of {sample.data.n_rows:,} rows")
    wide = inputs.data.n_columns > _MANY_FEATURES
    if wide:
        notes.append(
            f"features are cut at their medians alone, as they are more than {_MANY_FEATURES:,}; "
            "dm.significance.interaction_test(n_cuts=3) cuts at quartiles"
        )
    tested = interaction_test(
        sample.data,
        n_cuts=1 if wide else 3,
        random_state=inputs.random_state,
        n_jobs=inputs.n_jobs,
        client=execution.client,
        checkpoint=checkpoint,
        verbose=inputs.verbose,
    )
    forest, multiway = estimator.forest_, estimator.forest_.settings.splits == "multiway"
    in_forest = (
        interactions(forest, data, n_jobs=inputs.n_jobs)
        if multiway
        else interactions(forest, sparse=True, n_jobs=inputs.n_jobs)
    )
    return AllPairs(tested, in_forest, tuple(notes))
