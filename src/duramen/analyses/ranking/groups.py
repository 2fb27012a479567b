"""Groups of features whose importance is measured as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from duramen.importances.measure import Measured
from duramen.io.groups import CLUSTERS, DISTANCE, members_of
from duramen.reports.facts import as_importances, unit_words
from duramen.reports.report import Table, shown_columns
from duramen.results.importances import Importances
from duramen.results.significance import (
    DIRECT,
    AdjustedSignificance,
    ConditionalSignificance,
    ErrorRates,
)
from duramen.results.summary import Column
from duramen.support import checks
from duramen.support.text import fixed, joined, quoted

_ROWS, _MEMBERS, _SAID = 50, 6, 5

Members = Mapping[str, Sequence[str]]
"""Features of each group of several."""


def check_arguments(
    clusters: float | None, distance: int, representatives: float | None, feature_groups: Any
) -> None:
    """Check the arguments of `duramen.rank` that group features.

    Raises
    ------
    ValueError
        If one way to group features excludes another, or a correlation is none.
    """
    for name, value in (("clusters", clusters), ("representatives", representatives)):
        if value is not None:
            checks.check_real("rank", name, value, 0, 1, ends="(]")
    checks.check_integer("rank", "distance", distance, 0)
    if representatives is not None and (clusters is not None or feature_groups is not None):
        other = "clusters=R" if clusters is not None else "feature_groups=FILE"
        raise ValueError(
            f"rank: {other} and representatives=R both group features; give one of them"
        )
    if distance != DISTANCE and clusters is None and feature_groups is None:
        raise ValueError("rank: distance has no effect without clusters=R or feature_groups=FILE")
    if isinstance(feature_groups, str) and feature_groups == CLUSTERS and clusters is None:
        raise ValueError(
            f"rank: feature_groups={CLUSTERS!r} needs clusters=R, such as clusters=0.8. Hint: for "
            f"a file of that name, feature_groups='./{CLUSTERS}'"
        )


def groups_of(feature_groups: Any, features: Sequence[str], distance: int) -> Members:
    """Return the features of each group; blocks of variants have a largest width.

    Raises
    ------
    ValueError, TypeError
        If they are no groups of these features, overlap, or one is called as a feature in none.
    """
    owner = "rank: feature_groups"
    if isinstance(feature_groups, str | PathLike):
        owner = f"{owner}={str(feature_groups)!r}"
    places = members_of(feature_groups, features, owner, distance=distance)
    members = {name: [features[j] for j in dict.fromkeys(group)] for name, group in places.items()}
    alone = set(features).difference(checks.group_of_each(members, owner))
    for name, group in members.items():
        if group and name in alone:
            raise ValueError(
                f"{owner}: {quoted(name)} is the name of a group and of a column that is in no "
                "group; give the column a group, or the group another name"
            )
    return {name: group for name, group in members.items() if group}


def of_several(members: Members, prefix: str = "") -> Members:
    """Return the clusters of several features as groups, called as the clusters after a prefix."""
    return {prefix + name: group for name, group in members.items() if len(group) > 1}


def whole(groups: Members, features: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the features of each group, and after them each feature in none by itself."""
    grouped = {name for group in groups.values() for name in group}
    return {**groups, **{name: [name] for name in features if name not in grouped}}


def spread(rates: ErrorRates, groups: Members, source: str) -> ErrorRates:
    """Return error rates of groups as those of features, each with what its group has."""
    of_group = [groups.get(name, [name]) for name in rates.names]
    index = [place for place, names in enumerate(of_group) for _ in names]
    return replace(
        rates,
        names=tuple(feature for names in of_group for feature in names),
        scores=rates.scores[index],
        rates=rates.rates[index],
        n_known=sum(map(len, of_group[: rates.n_known])),
        details={what: column[index] for what, column in rates.details.items()},
        metadata={**rates.metadata, "feature_groups": source, "n_groups": len(rates)},
    )


def table_of(
    importances: Importances,
    members: Members,
    source: str,
    single: Measured | None,
    tested: AdjustedSignificance | None,
    direct: ConditionalSignificance | None,
) -> tuple[Table, dict[str, Any]]:
    """Return the table of groups for a page and its columns for a file, by importance.

    Parameters
    ----------
    importances : Importances
        MDA of the groups, each permuted as a whole.
    members : mapping of str to sequence of str
        Features of each group.
    source : str
        Name of the file of groups.
    single : Importances, optional
        MDA of single features.
    tested, direct : Significance, optional
        Tests of the groups of several features; groups of one feature are in its table.
    """
    best = importances.top(len(importances))
    lists = [list(members[name]) for name in best.names]
    columns = [
        Column("group", best.names, "name", name="name"),
        Column("features", name="n_features", numbers=np.array(list(map(len, lists)))),
        Column(f"MDA, {unit_words(best.unit)}", digits=4, name="importance", numbers=best.values),
        Column(name="rank", numbers=np.arange(1, len(best) + 1)),
        *(column for column in best.table() if not column.title),
    ]
    if best.standard_error is not None:
        errors = best.standard_error
        title = "std. error"
        columns.append(Column(title, digits=2, minor=1, name="standard_error", numbers=errors))
    replaceable = ""
    if single is not None:
        alone = dict(as_importances(single))
        sums = np.array([sum(alone[name] for name in names) for names in lists])
        title = "sum of single features"
        columns.append(Column(title, digits=4, minor=1, name="sum_of_features", numbers=sums))
        replaceable = (
            " If it exceeds the sum over its features permuted alone, these can replace each other."
        )
    tests = list[tuple[str, Any, list[tuple[str, str, Any, int]]]]()
    if tested is not None:
        tests.append(("verdict", tested, [("p adjusted", "p_adjusted", tested.p_adjusted, 0)]))
    if direct is not None:
        p = "p, given the others", "conditional_p_value", direct.p_values, 1
        q = "q, given the others", "conditional_q_value", direct.q_values, 0
        tests.append((DIRECT, direct, [p, q]))
    for word, test, numbers in tests:
        place = {group: i for i, group in enumerate(test.names)}
        rows, verdicts = [place.get(group) for group in best.names], test.verdicts()
        cells = ["" if i is None else verdicts[i] for i in rows]
        columns.append(Column(word, cells, "words", name=word))
        for title, name, values, minor in numbers:
            known = np.ma.masked_invalid([np.nan if i is None else values[i] for i in rows])
            columns.append(Column(title, digits=0, minor=minor, name=name, numbers=known))
    shown = [joined(names, shown=_MEMBERS) for names in lists]
    columns.append(Column("members", shown, "words", minor=1))
    columns.append(Column(cells=[";".join(names) for names in lists], name="features"))
    count, first = len(best), best.take(np.arange(min(_SAID, len(best))))
    pairs = zip(first.names, fixed(first.values, 3), strict=True)
    more = f", and {count - _SAID:,} more in result-groups.csv" * (count > _SAID)
    said = ", ".join(f"{name} {cell}" for name, cell in pairs)
    table = Table(
        "Groups of features",
        shown_columns(columns, _ROWS),
        f"{f'The first {_ROWS:,} of' if count > _ROWS else 'All'} {count:,} groups ({source}; a "
        "feature in no group is its own group), all in result-groups.csv. The MDA of a group is "
        "the loss of accuracy on out-of-bag rows when all of its features are permuted together."
        f"{replaceable}",
        brief=(f"Groups by the MDA of permuting their features together ({source}): {said}{more}",),
    )
    return table, {column.name: column.values for column in columns if column.name}
