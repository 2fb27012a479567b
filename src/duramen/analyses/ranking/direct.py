"""Test of each feature given all others, beside a ranking."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from duramen.analyses.execution import Execution
from duramen.analyses.ranking import significance
from duramen.analyses.ranking.groups import Members, of_several
from duramen.analyses.ranking.samples import sampled_if_many
from duramen.data import EncodedTable
from duramen.importances import Inputs, representatives
from duramen.plots.direct import DIRECT_FEATURES
from duramen.reports.report import DRAWN, Chart, Group, Plot, Prose, Section
from duramen.results.columns import Column, counted
from duramen.results.conditional_significance import (
    DIRECT,
    LEVEL,
    SHARED,
    UNDECIDED,
    ConditionalSignificance,
)
from duramen.significance.conditional_tests.conditional import CONDITIONAL, conditional
from duramen.support.text import joined

TITLE = "Direct or by proxy"
_MANY_FOUND = 10  # features; of more, some are likely to be associated through others
_THRESHOLD = 0.7  # average correlation within the clusters that a report draws
_CLUSTERED = 200  # features that are clustered for it, at most
_SAID = 5  # names in a sentence
_MEANINGS = (
    "Direct: the target depends on the feature given all other features, so that the others do not "
    "replace it (q up to {level:g}). {rate} a fraction of at most {level:g} is expected to be "
    "false, if the p-values are valid and nearly independent.",
    "Shared with A, B: the feature is associated with the target (false discovery rate {level:g}), "
    "but it is not shown to be direct; most of its association goes through A and B.",
    "Undecided: neither is shown. No verdict says that a feature is noise: of two nearly equal "
    "features only both together can be shown to be direct.",
)
_RATE = "Of the features called direct (Storey, Taylor and Siegmund 2004),"
_RATE_OF_TREE = (
    "Groups are tested first, then the members of direct groups. Of the groups and features called "
    "direct (Yekutieli 2008),"
)


def advised(result: Any, weights: Any, execution: Execution) -> Any:
    """Return the result of a test with a note that advises `direct` where it finds many."""
    n_found = len(significance.selected_by(result)) if significance.verdicts_of(result) else 0
    if n_found <= _MANY_FOUND or weights is not None:
        return result
    note = (
        f"{result.method}: {n_found:,} features are confirmed or candidates, and some of them may "
        "be associated with the target only through others. Hint: direct=True tests each feature "
        "given all others"
    )
    execution.tell(note)
    return replace(result, notes=(*result.notes, note))


def correlated_groups(table: EncodedTable, threshold: float) -> Members:
    """Return clusters of correlated features, found without the target, as groups.

    A cluster is called after the member that correlates most with the others.
    """
    clusters = representatives(table, threshold=threshold).members()
    return of_several(clusters, prefix="cluster of ")


def test_given_others(
    inputs: Inputs, groups: Members | None, execution: Execution, checkpoint: Path | None
) -> tuple[ConditionalSignificance, ConditionalSignificance | None]:
    """Test each feature given all others; of groups first these, then their members.

    Returns the results of the features and of the groups.
    """
    sample = sampled_if_many(inputs)
    notes = list[str]()
    if sample is not inputs:
        notes.append(f"the test is of a random sample of {sample.data.n_rows:,} rows")
    with execution.warnings_as_notes():
        warnings.filterwarnings("ignore", "conditional: ")  # the notes of the result, shown below
        result = conditional(
            significance.forest_of(CONDITIONAL, sample),
            sample.data,
            feature_groups=groups or None,
            members=bool(groups),
            random_state=inputs.random_state,
            n_jobs=inputs.n_jobs,
            client=execution.client,
            checkpoint=checkpoint,
            verbose=inputs.verbose,
        )
    clusters = "with feature_groups='clusters', clusters=0.8"
    notes += result.notes
    execution.notes(
        f"direct=True: {note.replace('with feature_groups', clusters)}" for note in notes
    )
    names = set(inputs.data.names)
    of_groups = result.of([name for name in result.names if name not in names]) if groups else None
    of_features = result.of(inputs.data.names)
    return replace(of_features, notes=tuple(notes)), of_groups


def clusters_of(
    result: ConditionalSignificance, table: EncodedTable
) -> tuple[tuple[str, ...], ...]:
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


def columns_of(result: ConditionalSignificance, names: Sequence[str]) -> list[Column]:
    """Return verdict, p and q of these features."""
    return [
        replace(column, title=column.title.replace(f", {CONDITIONAL.title}", f", {DIRECT}"))
        for column in significance.columns_of(result, names)
    ]


def counts_of(result: ConditionalSignificance) -> dict[str, int]:
    """Return how many features have each verdict."""
    words = [verdict.split(" ")[0] for verdict in result.verdicts()]
    return {word: words.count(word) for word in (DIRECT, SHARED, UNDECIDED)}


def settings_of(result: ConditionalSignificance) -> dict[str, Any]:
    """Return the settings of the test, for the record."""
    recorded = ("method", "test", "estimator", "sampler", "n_folds", "n_draws", "strata", "groups")
    return {name: result.metadata[name] for name in recorded if name in result.metadata}


def figures_of(
    result: ConditionalSignificance, of_groups: ConditionalSignificance | None
) -> dict[str, Any]:
    """Return the counts of verdicts and the fit of the draws, for the record."""
    return {
        "null": result.null,
        "level": LEVEL,
        "adjustment": result.adjustment,
        **counts_of(result),
        "diagnosis": result.metadata.get("diagnosis"),
        "notes": list(result.notes),
        **({} if of_groups is None else {"direct_groups": list(of_groups.selected(LEVEL))}),
    }


def line_of(result: ConditionalSignificance, of_groups: ConditionalSignificance | None) -> str:
    """Return the result in a sentence."""
    count, p = counts_of(result)[DIRECT], len(result)
    rate = f"false discovery rate {LEVEL:g}"
    groups, none = "", f"none of {p:,} features"
    if of_groups is not None:
        chosen, n_groups = of_groups.selected(LEVEL), counted(len(of_groups), "group")
        if not chosen and not count:
            none += f" and none of {n_groups}"
        else:
            listed = f": {joined(chosen, shown=_SAID)}" if chosen else ""
            groups = f"; {len(chosen):,} of {n_groups}{listed}"
    if not count:
        return (
            f"Given all others, {none} is shown to be direct ({rate}){groups}; this is no evidence "
            "that they are noise"
        )
    return (
        f"Given all others, {count:,} of {p:,} features {'is' if count == 1 else 'are'} direct "
        f"({rate}): {joined(result.selected(LEVEL), shown=_SAID)}{groups}"
    )


def section_of(
    result: ConditionalSignificance,
    of_groups: ConditionalSignificance | None,
    clusters: Sequence[Sequence[str]],
) -> Section:
    """Return the section of a report: words, the figure, and the clusters as a table."""
    rate = _RATE if of_groups is None else _RATE_OF_TREE
    meanings = [meaning.format(level=LEVEL, rate=rate) for meaning in _MEANINGS]
    if (diagnosis := result.metadata.get("diagnosis")) is not None:
        meanings.append(
            "A forest told draws of features given the others from the data with an area under the "
            f"ROC curve of {diagnosis['auc']:.2f} (95% interval {diagnosis['low']:.2f} to "
            f"{diagnosis['high']:.2f}); it is .5 or less where the draws are right."
        )
    words = Prose("Result", (f"{line_of(result, of_groups)}.", *meanings, *result.notes))
    if not clusters:
        return Group(TITLE, (words,), folded=False)
    return Group(TITLE, (words, _chart(result, clusters)), folded=False)


def _chart(result: ConditionalSignificance, clusters: Sequence[Sequence[str]]) -> Chart:
    found = set(result.selected(LEVEL))
    drawn = [name for members in clusters for name in members][:DRAWN]
    direct = [name for name in drawn if name in found]
    listed = f": {joined(direct, shown=DRAWN)}" if direct else ""
    return Chart(
        "Correlated features, and which of them are direct",
        Plot(DIRECT_FEATURES, result, {"clusters": clusters, "k": DRAWN}),
        "Bar chart of -log10 of the q-value of each feature given all others, correlated features "
        f"together. {len(direct):,} of the {len(drawn):,} features drawn are direct{listed}.",
        f"Bars: -log10 of the q-value given all others, blue beyond the dashed line, {LEVEL:g}; "
        "circles: of the association with the target. Shaded blocks: clusters of correlated "
        "features.",
    )
