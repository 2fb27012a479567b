"""Advice on a selection under memory constraints as a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from duramen.plots.curves import FOUND
from duramen.reports.facts import about
from duramen.reports.report import Chart, Fact, Plot, Prose, Report, Run, Section, Table
from duramen.results.columns import Column
from duramen.support.arrays import FloatArray
from duramen.theory.subspaces import Plan

_READING = (
    "If memory does not hold all features, each tree is grown on some of them. The random "
    "subspace method draws new features for every tree (keep = 0); the sequential random "
    "subspace method keeps a fraction of the places for features that were found before, so that "
    "features that are relevant only together with these can be found.",
    "A feature of degree 0 has information about the target by itself; a feature of degree k has "
    "it only given k other features. The probability that a tree holds a feature together with "
    "its companions decreases steeply with the degree, unless these companions are kept.",
)
_CAVEATS = (
    "The model assumes that each tree tests every feature that it is given.",
    "The advice depends on the relevant features that were assumed: with more of them, or of "
    "higher degree, more trees are needed.",
    "Memory is counted for the codes of the features and for growing one tree at a time; each "
    "additional thread needs the same amount again.",
)


def summarize_plan(
    advice: Plan, run: Run, *, curves: Mapping[str, Mapping[float, FloatArray]]
) -> Report:
    """Summarize a plan as a report.

    Parameters
    ----------
    advice : Plan
        What is advised.
    run : Run
        What was asked.
    curves : mapping of str to mappings of float to ndarray of float64, shape (n_trees + 1,)
        By what is sought (such as "a chain of 3 features") and by fraction kept: the expected
        number of features found after 0, 1, 2, ... trees.
    """
    sections: list[Section] = [
        Prose("Why", advice.reasons, points=True, brief=_points(advice.reasons)),
        _table(advice),
        *(_chart(what, by_fraction, advice.keep) for what, by_fraction in curves.items()),
        Prose(
            f"Effect of a sample of {advice.n_rows:,} rows",
            advice.cautions,
            points=True,
            caution=True,
            brief=_points(advice.cautions),
        ),
        Prose("Interpretation", _READING),
        Prose("Limitations", _CAVEATS, points=True, caution=True),
    ]
    return Report(
        kind="plan of a selection",
        title=advice_words(advice),
        run=run,
        headline=(
            Fact("trees, for infinitely many rows", f"{advice.n_trees:,}"),
            Fact("features a tree", f"{advice.subspace:,}"),
            Fact("of all features", f"{advice.n_features:,}"),
            Fact("fraction kept for features found", f"{advice.keep:g}"),
        ),
        sections=(*sections, *about(run)),
        subject=(f"{advice_words(advice)}{_kept(advice)}", assumption_words(advice)),
    )


def _points(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"- {line}" for line in lines)


def _kept(advice: Plan) -> str:
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
    trees = f"{advice.n_trees:,} tree" + ("" if advice.n_trees == 1 else "s")
    return f"Grow at least {trees} on {advice.subspace:,} of {advice.n_features:,} features each"


def assumption_words(advice: Plan) -> str:
    """Return the assumption behind the number of trees in a sentence."""
    trees = "1 tree finds" if advice.n_trees == 1 else f"{advice.n_trees:,} trees find"
    return (
        f"{trees} all relevant features with probability {1.0 - advice.risk:g} if rows are "
        f"infinitely many; with {advice.n_rows:,} rows more trees are needed, and weak features "
        "may not be found at all."
    )


def fraction_words(fraction: float) -> str:
    """Return the name of a fraction kept."""
    return f"keep = {fraction:g}"


def trees_words(number: float) -> str:
    """Return a number of trees, with a decimal where it is a mean and small."""
    if number == math.inf:
        return "never"
    if number >= 1e9:
        return f"{number:.3g}"
    return f"{number:,.0f}" if number >= 1000 or number == int(number) else f"{number:,.1f}"


def _table(advice: Plan) -> Table:
    options = advice.options
    numbers = {
        "trees": [option.trees for option in options],
        "to find all": [option.trees_to_find for option in options],
        "to see all": [option.trees_to_see for option in options],
        "expected: a chain": [option.chain_trees for option in options],
        "expected: all of degree 0": [option.marginal_trees for option in options],
    }
    return Table(
        title="Fractions compared",
        columns=(
            Column("keep", [f"{option.keep:g}" for option in options], "name"),
            *(Column(title, list(map(trees_words, trees))) for title, trees in numbers.items()),
        ),
        note="Numbers of trees needed to find all relevant features, and to see every feature at "
        f"least once, each with a risk of failure of {advice.risk:g}; and the expected numbers "
        "until a chain up to the highest degree is found, and until all features of degree 0 are "
        "found. The table is that in result.csv and result.parquet.",
        what="fractions",
        main=True,
    )


def _chart(what: str, by_fraction: Mapping[float, FloatArray], best: float) -> Chart:
    curves = {fraction_words(fraction): curve for fraction, curve in by_fraction.items()}
    ends = ", ".join(f"{name} {curve[-1]:.3g}" for name, curve in curves.items())
    n_trees = len(next(iter(curves.values()))) - 1
    return Chart(
        title=f"Finding {what}",
        plot=Plot(FOUND, curves, {"best": fraction_words(best)}),
        text=f"Line chart of the expected number of features found against the number of trees. "
        f"After {n_trees:,} trees: {ends}.",
        caption=f"Expected number of features found of {what}, exact for the model, were they the "
        "only relevant ones.",
    )
