"""Test of each feature given all others, beside a ranking."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.feature_groups import Members, of_several
from duramen.analyses.ranking.forest import sampled_if_many
from duramen.data import EncodedTable
from duramen.importances import Inputs, representatives
from duramen.plots.importances import DIRECT_FEATURES
from duramen.reports.report import DRAWN, Section
from duramen.results.significance import (
    DIRECT,
    LEVEL,
    SHARED,
    UNDECIDED,
    ConditionalSignificance,
)
from duramen.results.summary import counted
from duramen.significance.conditional_tests.conditional import CONDITIONAL, conditional
from duramen.support.text import joined

MANY_FOUND = 10
"""Features found; of more, some are likely to be associated with the target through others."""
_THRESHOLD = 0.7  # average correlation within the clusters that a report draws
_CLUSTERED = 200  # features that are clustered for it, at most
_SAID = 5  # names in a sentence


def correlated_groups(table: EncodedTable, threshold: float) -> Members:
    """Return clusters of correlated features, found without the target, as groups.

    A cluster is called after the member that correlates most with the others.
    """
    place = {name: j for j, name in enumerate(table.names)}
    members_of = representatives(table, threshold=threshold).members()
    clusters = {name: sorted(names, key=place.__getitem__) for name, names in members_of.items()}
    return of_several(clusters, prefix="cluster of ")


def test_given_others(
    inputs: Inputs, groups: Members | None, execution: Execution, checkpoint: Path | None
) -> tuple[ConditionalSignificance, ConditionalSignificance | None]:
    """Test each feature given all others; of groups first these, then their members.

    Returns the results of the features and of the groups.
    """
    sample, notes = sampled_if_many(inputs), list[str]()
    if sample is not inputs:
        notes.append(f"the test is of a random sample of {sample.data.n_rows:,} rows")
    estimator = sample.unfitted().estimator
    if CONDITIONAL.most_trees is not None:
        most = CONDITIONAL.most_trees(sample.data.n_rows)
        estimator.set_params(n_estimators=min(most, estimator.n_estimators))
    with execution.warnings_as_notes():
        warnings.filterwarnings("ignore", "conditional: ")  # the notes of the result, shown below
        result = conditional(
            estimator,
            sample.data,
            feature_groups=groups or None,
            members=bool(groups),
            **{**execution.resources, "checkpoint": checkpoint},
        )
    clusters = "with feature_groups='clusters', clusters=0.8"
    notes += result.notes
    execution.tell(
        *(f"direct=True: {note.replace('with feature_groups', clusters)}" for note in notes)
    )
    names = set(inputs.data.names)
    of_groups = result.of([name for name in result.names if name not in names]) if groups else None
    of_features = result.of(inputs.data.names)
    return replace(of_features, notes=tuple(notes)), of_groups


def clusters_of(
    result: ConditionalSignificance, table: EncodedTable
) -> tuple[tuple[str, ...], ...]:
    """Return clusters of correlated features among the direct and associated features.

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


def record_of(
    result: ConditionalSignificance, of_groups: ConditionalSignificance | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of the test and its counts of verdicts, for the record."""
    recorded = ("method", "test", "estimator", "sampler", "n_folds", "n_draws", "strata", "groups")
    settings = {name: result.metadata[name] for name in recorded if name in result.metadata}
    words = [verdict.split(" ")[0] for verdict in result.verdicts()]
    figures: dict[str, Any] = {
        "null": result.null,
        "level": LEVEL,
        "adjustment": result.adjustment,
        **{word: words.count(word) for word in (DIRECT, SHARED, UNDECIDED)},
        "diagnosis": result.metadata.get("diagnosis"),
        "notes": list(result.notes),
    }
    if of_groups is not None:
        figures["direct_groups"] = list(of_groups.selected(LEVEL))
    return settings, figures


def section_of(
    result: ConditionalSignificance,
    of_groups: ConditionalSignificance | None,
    clusters: Sequence[Sequence[str]],
) -> Section:
    """Return the section of a report: words and, if features are associated, the figure."""
    names = result.selected(LEVEL)
    line = (
        f"Given all others, {f'{len(names):,}' if names else 'none'} of {len(result):,} features "
        f"{'are' if len(names) > 1 else 'is'} shown to be direct (false discovery rate {LEVEL:g})"
    )
    line += f": {joined(names, shown=_SAID)}" if names else ""
    rate = "Storey, Taylor and Siegmund 2004"
    if of_groups is not None:
        direct = of_groups.selected(LEVEL)
        line += f"; {len(direct):,} of {counted(len(of_groups), 'group')}"
        line += f": {joined(direct, shown=_SAID)}" if direct else ""
        rate = "Yekutieli 2008; groups are tested first, then the members of direct ones"
    lines = [
        f"{line}.",
        "Direct: the target depends on the feature given all other features (q up to "
        f"{LEVEL:g}, {rate}). Shared with A, B: it is associated with the target, and most of the "
        "association goes through A and B. Undecided: neither is shown. No verdict says that a "
        "feature is noise: of two nearly equal features only both together can be direct.",
        f"Null hypothesis: {result.null}",
        *result.summary(0).heading[2:],
    ]
    sections = [Section("Result", (*lines, *result.notes), brief=(line,))]
    if clusters:
        sections.append(
            Section(
                "Correlated features, and which of them are direct",
                caption="Bars: -log10 of the q-value given all others, blue beyond the dashed "
                f"line, {LEVEL:g}; circles: of the association with the target. Shaded blocks: "
                "clusters of correlated features.",
                figure=(DIRECT_FEATURES, result, {"clusters": clusters, "k": DRAWN}),
                text="Bar chart of -log10 of the q-value of each feature given all others, "
                "correlated features together.",
            )
        )
    return Section("Direct or by proxy", sections=tuple(sections))
