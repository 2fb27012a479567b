"""Analysis `plan`: advice on a search for relevant features when memory is limited."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duramen.analyses.execution import Execution, faults_of_ours
from duramen.io.store.reader import memory_bytes
from duramen.plots.curves import FOUND
from duramen.reports.facts import page
from duramen.reports.report import Chart, Plot, Prose, Report, Run, Table
from duramen.results.columns import Column, counted
from duramen.support.arrays import FloatArray
from duramen.support.checks import check_integer
from duramen.theory.subspaces.convergence import found_curve
from duramen.theory.subspaces.planning import Plan, search_plan

_READING = (
    "If memory does not hold all features, each tree is grown on some of them. The random "
    "subspace method draws new features for every tree (keep = 0); the sequential random "
    "subspace method keeps a fraction of the places for features that were found before, so that "
    "features that are relevant only together with these can be found.",
    "A feature of degree k has information about the target only given k other features. The "
    "probability that a tree holds it with its companions decreases steeply with k, unless these "
    "are kept.",
)
_CAVEATS = (
    "The model assumes that each tree tests every feature that it is given.",
    "The advice depends on the relevant features that were assumed: with more of them, or of "
    "higher degree, more trees are needed.",
    "Memory is counted for growing one tree at a time; each further thread needs as much again.",
)

# Curves are drawn for so many trees, and features of one kind, at most.
_MOST_TREES = 1_000_000
_MOST_FEATURES = 500


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PlanReport(Report):
    """Report of `duramen.plan`: number of trees and of features a tree, with the reasons.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    plan : Plan
        The advice, with the fractions compared.

    Examples
    --------
    >>> import duramen as dm
    >>> report = dm.plan(n_rows=1000, n_features=10_000, memory="1MB", relevant="0:5,1:3")
    >>> report.plan.subspace
    878
    """

    plan: Plan


def plan(
    *,
    n_rows: int,
    n_features: int,
    memory: int | str,
    relevant: int | str | Sequence[int | str] | Mapping[int, int],
    n_classes: int = 2,
    n_values: int = 256,
    risk: float = 0.05,
    keep: float | Sequence[float] = (0.0, 0.5, 1.0),
) -> PlanReport:
    r"""Plan the number of trees, and the number of features of each, to grow.

    For tables with more features than memory holds: prints the advice with its reasons.

    Parameters
    ----------
    n_rows : int
        Number of rows of the table.
    n_features : int
        Number of features of the table.
    memory : int or str
        Memory for growing a tree, such as 512MB or 2GiB; a number is in bytes.
    relevant : int, str, mapping or list
        Expected number of relevant features of each degree, the number of other features that they
        need, such as 0:10,1:5 or ``{0: 10, 1: 5}``; a number alone is for degree 0.
    n_classes : int
        Number of classes of the target; 1 for a numeric target.
    n_values : int
        Largest number of distinct values of a feature.
    risk : float
        Accepted probability, in (0, 1), that the trees do not find all relevant features.
    keep : float or list of float
        Fraction, in [0, 1], of the features of a tree that may be features found before; of several
        values, the one with the fewest trees is advised.

    Returns
    -------
    PlanReport
        Advice, reasons and limits; ``plan`` has the numbers.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or memory holds too few features to find one of the
        highest degree with its companions.

    Notes
    -----
    The number of trees bounds :math:`\ln(n_k L / \delta) / -\ln(1 - c_k)` for each of the L degrees
    k; see :func:`duramen.theory.search_plan`.

    Examples
    --------
    >>> import duramen as dm
    >>> report = dm.plan(n_rows=1000, n_features=10_000, memory="1MB", relevant={0: 5, 1: 3, 2: 1})
    >>> report.plan.subspace, report.plan.keep, report.plan.n_trees
    (878, 0.5, 166)
    """
    execution = Execution.of(plan, locals())
    check_integer("plan", "n_values", n_values, 2)
    with execution.step("plan"):
        advice = search_plan(
            n_rows=n_rows,
            n_features=n_features,
            memory=memory_bytes(memory, "plan", least=0),
            relevant=numbers_by_degree(relevant),
            bytes_per_value=1 if n_values <= 2**8 else 2 if n_values <= 2**16 else 4,
            n_classes=n_classes,
            risk=risk,
            keep=keep,
        )
    with faults_of_ours(), execution.step("curves"):
        curves = found_curves(advice)
    with faults_of_ours():
        results = advice.to_dict()
        asked = "n_rows", "n_features", "memory", "relevant", "bytes_per_value", "n_classes", "risk"
        settings = {name: results.pop(name) for name in asked}
        run = execution.record(
            {"n_rows": advice.n_rows, "n_features": advice.n_features},
            settings={**settings, "keep": [option.keep for option in advice.options]},
            results=results,
        )
        return _report(advice, run, curves)


def numbers_by_degree(relevant: Any) -> dict[int, int]:
    """Return the number of relevant features by degree, of ``relevant`` of :func:`plan`."""
    if isinstance(relevant, Mapping):
        return dict(relevant)
    entries = [relevant] if isinstance(relevant, int | str) else list(relevant)
    counts: dict[int, int] = {}
    for entry in (part for text in entries for part in str(text).split(",")):
        match = re.fullmatch(r"(?:(\d+):)?(\d+)", entry.strip())
        if match is None:
            raise ValueError(
                "plan: relevant must be numbers of features by degree, such as 10 or 0:10,1:5, got "
                f"{entry!r}"
            )
        degree = int(match[1] or 0)
        if degree in counts:
            raise ValueError(
                f"plan: relevant must name each degree once, got degree {degree} twice"
            )
        counts[degree] = int(match[2])
    return counts


def found_curves(advice: Plan) -> dict[str, dict[float, FloatArray]]:
    """Return, for a chain up to the highest degree and for degree 0, the features found by `keep`.

    Exact for 0 .. n_trees trees; empty where that is too much to draw.
    """
    if advice.n_trees > _MOST_TREES:
        return {}
    length, alone = max(advice.relevant) + 1, advice.relevant.get(0, 0)
    curves = {}
    scenarios: tuple[tuple[str, Any, int], ...] = (
        (f"a chain of {length} features", "chain", length if length > 1 else 0),
        (f"{counted(alone, 'feature')} of degree 0", "marginal", alone),
    )
    for what, scenario, number in scenarios:
        if 0 < number <= _MOST_FEATURES:
            curves[what] = {
                option.keep: found_curve(
                    scenario,
                    n_features=advice.n_features,
                    subspace=advice.subspace,
                    n_relevant=number,
                    keep=option.keep,
                    n_trees=advice.n_trees,
                )
                for option in advice.options
            }
    return curves


def _columns(advice: Plan) -> dict[str, Any]:
    """Return the columns of result.csv: a row for each fraction compared."""
    options = advice.options
    columns: dict[str, Any] = {
        "keep": [option.keep for option in options],
        "subspace": [advice.subspace] * len(options),
        "advised": [option.keep == advice.keep for option in options],
        "places_kept": [option.places for option in options],
    }
    for name in ("trees", "trees_to_find", "trees_to_see", "chain_trees", "marginal_trees"):
        columns[name] = [float(getattr(option, name)) for option in options]
    for i, degree in enumerate(advice.relevant):
        columns[f"chance_degree_{degree}"] = [option.chances[i][1] for option in options]
        columns[f"trees_degree_{degree}"] = [
            float(option.trees_by_degree[i][1]) for option in options
        ]
    return columns


def _report(advice: Plan, run: Run, curves: Mapping[str, Mapping[float, FloatArray]]) -> PlanReport:
    why, sample = (
        Prose(title, lines, points=True, caution=caution, brief=tuple(f"- {x}" for x in lines))
        for title, lines, caution in (
            ("Why", advice.reasons, False),
            (f"Effect of a sample of {advice.n_rows:,} rows", advice.cautions, True),
        )
    )
    charts = [_chart(what, by_fraction, advice.keep) for what, by_fraction in curves.items()]
    return page(
        PlanReport,
        run,
        facts={
            "trees, for infinitely many rows": f"{advice.n_trees:,}",
            "features a tree": f"{advice.subspace:,}",
            "of all features": f"{advice.n_features:,}",
            "fraction kept for features found": f"{advice.keep:g}",
        },
        sections=[why, _table(advice), *charts, sample],
        reading=_READING,
        cautions=_CAVEATS,
        kind="plan of a selection",
        title=advice_words(advice),
        table=_columns(advice),
        plan=advice,
        subject=(f"{advice_words(advice)}{_keep_words(advice)}", assumption_words(advice)),
    )


def _keep_words(advice: Plan) -> str:
    """Return what fraction of the places is for features found before."""
    if advice.subspace == advice.n_features:
        return ""
    if not advice.keep:
        return ", all of them drawn anew (keep = 0)"
    return (
        f", with features found before in up to {advice.keep:.0%} of the places "
        f"(keep = {advice.keep:g})"
    )


def advice_words(advice: Plan) -> str:
    """Return the advice in a sentence without a full stop."""
    if advice.subspace == advice.n_features:
        return f"Grow one forest on all {advice.n_features:,} features: memory holds them"
    trees = counted(advice.n_trees, "tree")
    return f"Grow at least {trees} on {advice.subspace:,} of {advice.n_features:,} features each"


def assumption_words(advice: Plan) -> str:
    """Return the assumption behind the number of trees in a sentence."""
    trees = "1 tree finds" if advice.n_trees == 1 else f"{advice.n_trees:,} trees find"
    return (
        f"{trees} all relevant features with probability {1.0 - advice.risk:g} if rows are "
        f"infinitely many; with {advice.n_rows:,} rows more trees are needed, and weak features "
        "may not be found at all."
    )


def trees_words(number: float) -> str:
    """Return a number of trees, with a decimal where it is a mean and small."""
    if number == math.inf:
        return "never"
    if number >= 1e9:
        return f"{number:.3g}"
    return f"{number:,.0f}" if number >= 1000 or number == int(number) else f"{number:,.1f}"


def _table(advice: Plan) -> Table:
    titles = {
        "trees": "trees",
        "to find all": "trees_to_find",
        "to see all": "trees_to_see",
        "expected: a chain": "chain_trees",
        "expected: all of degree 0": "marginal_trees",
    }
    numbers = {
        title: [trees_words(getattr(option, name)) for option in advice.options]
        for title, name in titles.items()
    }
    return Table(
        title="Fractions compared",
        columns=(
            Column("keep", [f"{option.keep:g}" for option in advice.options], "name"),
            *(Column(title, words) for title, words in numbers.items()),
        ),
        note="Numbers of trees needed to find all relevant features, and to see every feature at "
        f"least once, each with a risk of failure of {advice.risk:g}; and the expected numbers "
        "until a chain up to the highest degree is found, and until all features of degree 0 are "
        "found. The table is that in result.csv and result.parquet.",
        what="fractions",
        main=True,
    )


def _chart(what: str, by_fraction: Mapping[float, FloatArray], best: float) -> Chart:
    curves = {f"keep = {fraction:g}": curve for fraction, curve in by_fraction.items()}
    ends = ", ".join(f"{name} {curve[-1]:.3g}" for name, curve in curves.items())
    n_trees = len(next(iter(curves.values()))) - 1
    return Chart(
        title=f"Finding {what}",
        plot=Plot(FOUND, curves, {"best": f"keep = {best:g}"}),
        text="Line chart of the expected number of features found against the number of trees. "
        f"After {n_trees:,} trees: {ends}.",
        caption=f"Expected number of features found of {what}, exact for the model, were they the "
        "only relevant ones.",
    )
