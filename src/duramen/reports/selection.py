"""What a search in random subspaces found, as a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from duramen.reports.facts import about, thousands, unit_words
from duramen.reports.report import Chart, Column, Fact, FoundCurves, Prose, Report, Section, Table
from duramen.reports.run import Run
from duramen.results.text import fixed

if TYPE_CHECKING:
    from duramen.selection import SequentialRandomSubspace

_ROWS = 200
MOST_LISTED = 100_000
"""Up to so many features a result lists those that were not found, too."""

_CAVEATS = (
    "Features that tell the same stand in for each other: once one of them is found and kept, the "
    "others may add nothing and stay out. A smaller --max-features, or --alpha 0, finds more of "
    "them.",
    "That a feature was not found says little if few trees were given it, or few together with "
    "those that it needs: more trees (--trees) or larger ones (--memory, --subspace) may find it.",
    "Rows that chose the features flatter whatever is fitted to these features alone. Judge it on "
    "other rows.",
    "Neither being found nor importance says that a feature causes anything.",
)


@dataclass(frozen=True, eq=False)
class Selection:
    """What a search found, with a row a feature.

    Attributes
    ----------
    names : tuple of str
        The features found, in the order in which they were; after them, where there are no more
        than `MOST_LISTED` in all, the others by importance.
    n_found : int
        Number of those found.
    entered : int64 array of shape (n_found,)
        Number of trees when each was found.
    draws : int64 array of shape (rows,)
        Trees that were given each.
    wins : int64 array of shape (rows,) or None
        Those in which it was more important than all probes; None where there were none.
    importances : float64 array of shape (rows,)
        Mean decrease of impurity over all trees.
    unit : str
        Unit of the importances.
    sizes : int64 array of shape (T + 1,)
        Number of features found after 0, 1, ... T trees.
    mean_draws : float
        Trees that a feature was given to, on average over all p.
    metadata : mapping
        What is on record of the importances: settings of the trees, fingerprint of the data.
    """

    names: tuple[str, ...]
    n_found: int
    entered: NDArray[np.int64]
    draws: NDArray[np.int64]
    wins: NDArray[np.int64] | None
    importances: NDArray[np.float64]
    unit: str
    sizes: NDArray[np.int64]
    mean_draws: float
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, search: SequentialRandomSubspace, *, most: int = MOST_LISTED) -> Selection:
        """Take what is to be told from a search that is done.

        Parameters
        ----------
        search : SequentialRandomSubspace
            Fitted.
        most : int
            Up to so many features, those that were not found are listed too.
        """
        scores = search.importances_
        rows = search.selected_
        if len(scores) <= most:
            best = np.argsort(-scores.values, kind="stable")
            rows = np.concatenate([rows, best[~search.support_[best]]])
        return cls(
            names=tuple(scores.names[j] for j in rows.tolist()),
            n_found=len(search.selected_),
            entered=search.entered_,
            draws=search.draws_[rows],
            wins=None if search.relevance == "decoy" else search.wins_[rows],
            importances=scores.values[rows],
            unit=scores.unit,
            sizes=np.concatenate([[0], search.history_["n_selected"]]),
            mean_draws=float(search.draws_.mean()),
            metadata=scores.metadata,
        )

    @property
    def n_trees(self) -> int:
        """Number T of trees."""
        return len(self.sizes) - 1

    def columns(self) -> dict[str, Any]:
        """Everything, column by column, as in result.csv; `entered` is null where not found."""
        import pyarrow as pa

        rest = len(self.names) - self.n_found
        columns: dict[str, Any] = {
            "name": pa.array(self.names, pa.string()),
            "found": pa.array([True] * self.n_found + [False] * rest, pa.bool_()),
            "entered": pa.array(self.entered.tolist() + [None] * rest, pa.int64()),
            "draws": self.draws,
        }
        if self.wins is not None:
            columns["wins"] = self.wins
        return {**columns, "importance": self.importances}

    def table(self, most: int) -> list[tuple[Column, list[str]]]:
        """The first `most` features that were found, column by column as text."""
        n = min(most, self.n_found)
        columns: list[tuple[Column, list[str]]] = [
            (Column("feature", "name"), list(self.names[:n])),
            (Column("found at tree", "number"), [f"{k:,}" for k in self.entered[:n].tolist()]),
            (Column("given to trees", "number"), [f"{k:,}" for k in self.draws[:n].tolist()]),
        ]
        if self.wins is not None:
            wins = [f"{k:,}" for k in self.wins[:n].tolist()]
            columns.append((Column("beat the probes in", "number"), wins))
        importances = fixed(self.importances[:n], 5)
        return [*columns, (Column("importance", "number"), importances)]


def summarise_selection(selection: Selection, run: Run, *, n_rows: int = _ROWS) -> Report:
    """Gather what a report of a search says.

    Parameters
    ----------
    selection : Selection
        What was found.
    run : Run
        What was run; its settings hold those of the search by the names of its parameters.
    n_rows : int
        The most rows of the table.
    """
    sections: list[Section] = [_curve(selection, run)]
    if selection.n_found:
        sections.append(_table(selection, n_rows))
    else:
        sections.append(Prose("Features found", (found_words(selection) + ".",)))
    sections += [
        Prose("How to read it", (*_reading(selection, run), meaning_of_test(run))),
        Prose("What not to read into it", _CAVEATS, points=True, caution=True),
    ]
    return Report(
        kind="selection in random subspaces",
        title=f"Which features tell something about {run.target}",
        headline=(
            Fact("rows", thousands(run.n_rows)),
            Fact("features", thousands(run.n_features)),
            Fact("features found", f"{selection.n_found:,}"),
            Fact("trees", f"{selection.n_trees:,}"),
            Fact("features a tree", f"{run.settings['n_subspace_features']:,}"),
        ),
        sections=(*sections, *about(run)),
    )


def found_words(selection: Selection) -> str:
    """Say how many features were found, without a full stop."""
    n = selection.n_found
    if n:
        return f"{n:,} feature{'' if n == 1 else 's'} found"
    return (
        f"No feature was found; each was given to {selection.mean_draws:,.1f} of "
        f"{selection.n_trees:,} trees on average"
    )


def meaning_of_test(run: Run) -> str:
    """Say in a sentence what the test of a search means, and in another what it does not."""
    given = run.settings
    test = given["relevance"]
    if test == "decoy":
        return (
            "A feature is found when it gets more, beyond a copy of itself with permuted rows, "
            "than chance gives, going by how far other features fall short of their copies and by "
            f"a false discovery rate of {given['level']:g}. This is asked again and again while "
            "trees are added, which makes false finds more frequent than that. A feature that is "
            "correlated with a relevant one is associated with the target, as its copy is not, and "
            "may be found too, whether or not it adds anything."
        )
    probes, count = _probes(given["n_probes"])
    if test == "probe":
        return (
            f"A feature is found when, in {given['confidence']:.4g} or more of the trees that were "
            f"given it, and these are more than {given['min_draws']:,}, it is more important than "
            f"{probes}. A feature that is correlated with the target by chance in these rows, or "
            "with a relevant feature, is so in every tree, and may pass too."
        )
    return (
        f"A feature is found when it is more important than {probes} in more of its trees than "
        f"chance gives, 1 in {count + 1:,}, at a false discovery rate of {given['level']:g} over "
        "all features. The rate is one of trees, not of rows: a feature that is correlated with "
        "the target by chance in these rows, or with a relevant feature, is so in every tree, and "
        "may pass too."
    )


def _probes(count: int) -> tuple[str, int]:
    if count == 1:
        return "a probe, a column whose rows were permuted for that tree", count
    return f"all of {count:,} probes, columns whose rows were permuted for that tree", count


def _curve(selection: Selection, run: Run) -> Chart:
    last = selection.n_trees
    half = int(selection.sizes[last // 2])
    alpha = f"alpha = {run.settings['alpha']:g}"
    return Chart(
        title="Features found, tree by tree",
        plot=FoundCurves({alpha: selection.sizes.astype(np.float64)}, alpha),
        text="Line chart of the number of features found against the number of trees: "
        f"{half:,} after {last // 2:,} trees, {selection.n_found:,} after {last:,}.",
        caption="Number of features found after each tree. A line that is still rising at its end "
        "says that more trees would find more.",
    )


def _table(selection: Selection, n_rows: int) -> Table:
    shown = selection.table(n_rows)
    n = min(n_rows, selection.n_found)
    some = f"The first {n:,} of" if n < selection.n_found else "All"
    rest = len(selection.names) > selection.n_found
    return Table(
        title="Features found",
        columns=tuple(column for column, _ in shown),
        rows=tuple(zip(*(texts for _, texts in shown), strict=True)),
        note=f"{some} {selection.n_found:,} features found, in the order in which they were; "
        f"result.csv and result.parquet hold {'all features' if rest else 'all that were found'}.",
    )


def _reading(selection: Selection, run: Run) -> tuple[str, ...]:
    given = run.settings
    q, p = given["n_subspace_features"], run.n_features or 0
    kept = "features found before" if given["sampling"] == "hard" else "features by importance"
    share = given["alpha"]
    places = f"up to a share of {share:g} of them {kept}, the others drawn at random"
    return (
        f"Each tree is given {q:,} of the {p:,} features, "
        f"{places if share else 'drawn at random'}, so that no more than these have to be in "
        "memory at a time.",
        "The importance is the mean decrease of impurity over all trees, those included that were "
        f"not given the feature, in {unit_words(selection.unit)}. It ranks features that many "
        "trees were given before those that few were.",
    )
