"""Analysis `plan`: advice on a search for relevant features when memory is limited."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duramen.analyses.execution import Execution, faults_of_ours
from duramen.io.store.reader import memory_bytes
from duramen.reports.report import Report, Section, Table, page
from duramen.results.summary import Column, counted
from duramen.support.checks import check_integer
from duramen.support.provenance import cited, references
from duramen.theory.subspaces.planning import Plan, search_plan

_TREES = {  # numbers of trees of an option, with their titles
    "trees": "trees",
    "trees_to_find": "to find all",
    "trees_to_see": "to see all",
    "chain_trees": "expected: a chain",
    "marginal_trees": "expected: all of degree 0",
}
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
        Expected number of relevant features by degree, such as 0:10,1:5 or ``{0: 10, 1: 5}``; a
        number alone is for degree 0. The degree of a feature is the number of other features that
        it needs.
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
    with faults_of_ours():
        results, options = advice.to_dict(), advice.options
        asked = "n_rows", "n_features", "memory", "relevant", "bytes_per_value", "n_classes", "risk"
        settings = {name: results.pop(name) for name in asked}
        run = execution.record(
            {"n_rows": advice.n_rows, "n_features": advice.n_features},
            settings={**settings, "keep": [option.keep for option in options]},
            results=results,
        )
        of_all, sources = f"{advice.n_features:,}", references(search_plan)
        title = f"Grow one forest on all {of_all} features: memory holds them"
        if advice.subspace < advice.n_features:
            trees = counted(advice.n_trees, "tree")
            title = f"Grow at least {trees} on {advice.subspace:,} of {of_all} features each"
        columns: dict[str, Any] = {
            "keep": [option.keep for option in options],
            "subspace": [advice.subspace] * len(options),
            "advised": [option.keep == advice.keep for option in options],
            "places_kept": [option.places for option in options],
            **{name: [float(getattr(option, name)) for option in options] for name in _TREES},
        }
        for degree in advice.relevant:
            columns[f"chance_degree_{degree}"] = [option.chances[degree] for option in options]
            columns[f"trees_degree_{degree}"] = [
                float(option.trees_by_degree[degree]) for option in options
            ]
        why, sample = (
            Section(name, lines, points=True, caution=caution, brief=tuple(f"- {x}" for x in lines))
            for name, lines, caution in (
                ("Why", advice.reasons, False),
                (f"Effect of a sample of {advice.n_rows:,} rows", advice.cautions, True),
            )
        )
        table = Table(
            title="Fractions compared",
            columns=(
                Column("keep", [f"{option.keep:g}" for option in options], "name"),
                *(
                    Column(heading, [_number(trees) for trees in columns[name]])
                    for name, heading in _TREES.items()
                ),
            ),
            note="Numbers of trees needed to find all relevant features, and to see every feature "
            f"at least once, each with a risk of failure of {advice.risk:g}; and the expected "
            "numbers until a chain up to the highest degree is found, and until all features of "
            "degree 0 are found. The table is that in result.csv and result.parquet.",
            what="fractions",
            main=True,
        )
        return page(
            PlanReport,
            run,
            facts={
                "trees, for infinitely many rows": f"{advice.n_trees:,}",
                "features a tree": f"{advice.subspace:,}",
                "of all features": of_all,
                "fraction kept for features found": f"{advice.keep:g}",
            },
            sections=[why, table, sample],
            reading=_READING,
            cautions=_CAVEATS,
            kind="plan of a selection",
            title=title,
            table=columns,
            plan=advice,
            methods=cited(
                f"Trees were planned for {counted(sum(advice.relevant.values()), 'feature')} "
                f"assumed to be relevant among {of_all}: their number bounds the risk at "
                f"{advice.risk:g} that no tree on {advice.subspace:,} features, a fraction of up "
                f"to {advice.keep:g} of them kept from those found, holds one of these with its "
                "companions",
                *sources,
            )
            + ".",
            references=sources,
            conclusion=conclusion(advice),
        )


def conclusion(advice: Plan) -> str:
    """Describe the plan: trees, features of each tree, and the features they find."""
    n, p, risk = advice.n_trees, advice.n_features, 1.0 - advice.risk
    relevant = sum(advice.relevant.values())
    all_relevant = f"all {relevant:,} relevant features" if relevant > 1 else "the relevant feature"
    limit = (
        f"With {advice.n_rows:,} rows more trees are needed, and weak features may not be found at "
        "all."
    )
    finds = f"{'finds' if n == 1 else 'find'} {all_relevant} with a probability of {risk:g}"
    trees = counted(n, "tree")
    if advice.subspace >= p:
        return (
            f"Grow {trees} or more on all {counted(p, 'feature')}: memory holds "
            f"them. Of many rows, {'it' if n == 1 else 'they'} {finds}. {limit}"
        )
    drawn = "all of them drawn anew for each tree"
    if advice.keep:
        drawn = f"up to {advice.keep:.0%} of them kept from those found before"
    return (
        f"Grow at least {trees}, each on {advice.subspace:,} of {p:,} features, {drawn}. Of many "
        f"rows, {'it' if n == 1 else 'they'} {finds}. {limit}"
    )


def numbers_by_degree(relevant: Any) -> dict[int, int]:
    """Return the number of relevant features by degree, of ``relevant`` of :func:`plan`."""
    if isinstance(relevant, Mapping):
        return dict(relevant)
    entries = [relevant] if isinstance(relevant, int | str) else list(relevant)
    counts: dict[int, int] = {}
    for entry in (part for text in entries for part in str(text).split(",")):
        match = re.fullmatch(r"(?:(\d+):)?(\d+)", entry.strip())
        if match is None or int(match[1] or 0) in counts:
            raise ValueError(
                "plan: relevant must be numbers of features by degree, such as 10 or 0:10,1:5, "
                f"each degree once, got {entry!r}"
            )
        counts[int(match[1] or 0)] = int(match[2])
    return counts


def _number(trees: float) -> str:
    """Return a number of trees, with a decimal where it is a mean and small."""
    if trees == math.inf:
        return "never"
    if trees >= 1e9:
        return f"{trees:.3g}"
    return f"{trees:,.0f}" if trees >= 1000 or trees == int(trees) else f"{trees:,.1f}"
