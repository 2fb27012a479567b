"""Groups of features whose importance is measured as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from duramen.importances.comparison import Measured
from duramen.io.groups import members_of
from duramen.reports.facts import as_importances, further_columns, unit_words
from duramen.reports.report import Table, shown_columns
from duramen.results.columns import Column
from duramen.results.conditional_significance import DIRECT, ConditionalSignificance
from duramen.results.importances import Importances
from duramen.results.significance import AdjustedSignificance, ErrorRates
from duramen.support import checks
from duramen.support.text import fixed, joined, quoted

_ROWS, _MEMBERS, _SAID = 50, 6, 5

Members = Mapping[str, Sequence[str]]
"""Features of each group of several."""


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


def columns_of(
    importances: Importances,
    members: Members,
    single: Measured | None,
    tested: AdjustedSignificance | None,
    direct: ConditionalSignificance | None,
) -> list[Column]:
    """Return the columns of the table of groups, the most important first.

    Parameters
    ----------
    importances : Importances
        MDA of the groups, each permuted as a whole.
    members : mapping of str to sequence of str
        Features of each group.
    single : Importances, optional
        MDA of single features.
    tested, direct : Significance, optional
        Tests of the groups of several features; groups of one feature are in its table.
    """
    best = importances.top(len(importances))
    columns = [
        Column("group", best.names, "name", name="name"),
        Column("features", name="n_features", numbers=np.array([*map(len, _of(best, members))])),
        Column(f"MDA, {unit_words(best.unit)}", digits=4, name="importance", numbers=best.values),
        Column(name="rank", numbers=np.arange(1, len(best) + 1)),
        *further_columns(best),
    ]
    if (error := best.standard_error) is not None:
        title = "std. error"
        columns.append(Column(title, digits=2, minor=1, name="standard_error", numbers=error))
    if single is not None:
        alone = dict(as_importances(single))
        sums = np.array([sum(alone[name] for name in names) for names in _of(best, members)])
        title = "sum of single features"
        columns.append(Column(title, digits=4, minor=1, name="sum_of_features", numbers=sums))
    if tested is not None:
        verdicts = {"p adjusted": ("p_adjusted", tested.p_adjusted)}
        columns += _tests(best.names, "verdict", tested, verdicts)
    if direct is not None:
        numbers = {"p": direct.p_values, "q": direct.q_values}
        given_others = {
            f"{letter}, given the others": (f"conditional_{letter}_value", values)
            for letter, values in numbers.items()
        }
        columns += _tests(best.names, DIRECT, direct, given_others)
    lists = [joined(list(names), shown=_MEMBERS) for names in _of(best, members)]
    return [
        *columns,
        Column("members", lists, "words", minor=1),
        Column(cells=[";".join(names) for names in _of(best, members)], name="features"),
    ]


def _of(groups: Importances, members: Members) -> list[Sequence[str]]:
    return [members[name] for name in groups.names]


def _tests(
    names: Sequence[str],
    word: str,
    tested: AdjustedSignificance | ConditionalSignificance,
    numbers: Mapping[str, tuple[str, Any]],
) -> list[Column]:
    """Return the columns of a test; they are empty for groups that it is not of."""
    place = {name: i for i, name in enumerate(tested.names)}
    rows, verdicts = [place.get(name) for name in names], tested.verdicts()
    columns = [Column(word, ["" if i is None else verdicts[i] for i in rows], "words", name=word)]
    for title, (name, values) in numbers.items():
        known = np.array([np.nan if i is None else values[i] for i in rows])
        columns.append(
            Column(
                title,
                digits=0,
                minor=int(title[0] == "p" and word == DIRECT),
                name=name,
                numbers=np.ma.masked_invalid(known),
            )
        )
    return columns


def table_of(columns: Sequence[Column], importances: Importances, source: str) -> Table:
    """Return the section of a report."""
    count, best = len(importances), importances.top(_SAID)
    which = f"The first {_ROWS:,} of {count:,}" if count > _ROWS else f"All {count:,}"
    note = (
        f"{which} groups ({source}; a feature in no group is its own group), all in "
        "result-groups.csv. The MDA of a group is the loss of accuracy on out-of-bag rows when all "
        "of its features are permuted together, by the same permutation."
    )
    if any(column.name == "sum_of_features" for column in columns):
        note += (
            " If it exceeds the sum over its features permuted alone, these can replace each "
            "other; if it is smaller, several of them are needed for the same predictions."
        )
    cells = zip(best.names, fixed(best.values, 3), strict=True)
    line = (
        f"Groups by the MDA of permuting their features together ({source}): "
        f"{', '.join(f'{name} {cell}' for name, cell in cells)}"
    )
    if count > len(best):
        line += f", and {count - len(best):,} more in result-groups.csv"
    return Table("Groups of features", shown_columns(columns, _ROWS), note, brief=(line,))
