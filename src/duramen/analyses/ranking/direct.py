"""Test of each feature given all others, beside a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.groups import Groups
from duramen.analyses.ranking.resampling import MANY, sampled_inputs
from duramen.analyses.ranking.significance import forest_of
from duramen.data import EncodedTable, LearningSet
from duramen.importances import Inputs, representatives
from duramen.jobs.replicates import ExecutionParameters
from duramen.reports.direct import Directness
from duramen.reports.significance import Verdict
from duramen.results.conditional_significance import LEVEL, ConditionalSignificance
from duramen.significance import catalogue
from duramen.significance.conditional_tests.conditional import (
    Choices,
    ConditionalTest,
)

_MANY_FOUND = 10  # features; of more, some are likely to be associated through others
_THRESHOLD = 0.7  # average correlation within the clusters that a report draws
_CLUSTERED = 200  # features that are clustered for it, at most


def with_advice(tested: Verdict, data: LearningSet[EncodedTable], execution: Execution) -> Verdict:
    """Advise the test in the notes of verdicts where many features are found."""
    n_found = len(tested.selected()) if tested.verdicts() else 0
    if n_found <= _MANY_FOUND or data.weights is not None:
        return tested
    note = (
        f"{tested.test.name}: {n_found:,} features are confirmed or candidates, and some of them "
        f"may be associated with the target only through others. Hint: direct=True "
        "tests each feature given all others"
    )
    execution.notes([note])
    return replace(tested, notes=(*tested.notes, note))


def correlated_groups(table: EncodedTable, threshold: float) -> Groups:
    """Return clusters of correlated features, found without the target, as groups.

    A cluster is called after the member that correlates most with the others.
    """
    clusters = representatives(table, threshold=threshold).members()
    return Groups.of_clusters(clusters, prefix="cluster of ")


def directness(
    inputs: Inputs, feature_groups: Groups | None, execution: Execution, checkpoint: Path | None
) -> Directness:
    """Test each feature given all others; of groups first these, then their members."""
    notes: list[str] = []
    if inputs.data.n_rows > MANY:
        inputs = sampled_inputs(inputs)
        notes.append(f"the test is of a random sample of {inputs.data.n_rows:,} rows")
    grouped = feature_groups is not None and bool(feature_groups.of_feature)
    parameters = ExecutionParameters(
        inputs.random_state, inputs.n_jobs, execution.client, checkpoint, inputs.verbose
    )
    with execution.warnings_as_notes():
        test = ConditionalTest.of(
            forest_of(catalogue["conditional"], inputs),
            inputs.data,
            None,
            Choices(),
            parameters,
            feature_groups=feature_groups.members() if grouped and feature_groups else None,
            members=grouped,
        )
        _tell((*notes, *test.notes), execution)
        result = test.run()
    of_features = result.take(_places(result, inputs.data.names))
    of_groups = None
    if grouped:
        groups = [name for name in result.names if name not in set(inputs.data.names)]
        of_groups = result.take(_places(result, groups))
    _tell([note for note in result.notes if note not in test.notes], execution)
    return Directness(
        of_features,
        of_groups,
        {} if feature_groups is None else feature_groups.members(),
        _clusters(inputs.data.table, of_features),
        (*notes, *result.notes),
    )


def _tell(notes: Sequence[str], execution: Execution) -> None:
    """Show notes of the test, with the parameters of `duramen.rank`."""
    clusters = "with feature_groups='clusters', clusters=0.8"
    execution.notes(
        f"direct=True: {note.replace('with feature_groups', clusters)}" for note in notes
    )


def _places(result: ConditionalSignificance, names: Any) -> Any:
    place = {name: i for i, name in enumerate(result.names)}
    return np.array([place[name] for name in names], dtype=np.intp)


def _clusters(table: EncodedTable, result: ConditionalSignificance) -> tuple[tuple[str, ...], ...]:
    """Return clusters of correlated features, of those that are direct or associated.

    The first cluster has the feature of the smallest p-value, which is its first member.
    """
    associated = (result.association <= LEVEL) | result.mask(LEVEL)
    order = [int(j) for j in result.order() if associated[j]][:_CLUSTERED]
    if len(order) < 2:
        return tuple((result.names[j],) for j in order)
    correlated = representatives(table.take_columns(np.array(order)), threshold=_THRESHOLD)
    members: dict[int, list[str]] = {}
    for j, label in zip(order, correlated.labels.tolist(), strict=True):
        members.setdefault(label, []).append(result.names[j])
    return tuple(map(tuple, members.values()))
