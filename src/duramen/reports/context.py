"""Report of a context analysis: features, or links between variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from duramen.plots.context import link_limit
from duramen.reports.contextual import Findings, Level
from duramen.reports.facts import about, looked_at, plain, thousands, unit_words
from duramen.reports.report import DRAWN, Chart, Column, Fact, Plot, Prose, Report, Section, Table
from duramen.reports.run import Run
from duramen.results.context_importances import ContextImportances
from duramen.support.text import fixed

if TYPE_CHECKING:
    from duramen.results.context_network import ContextNetwork

_ROWS = 200
_CHARTS = 8
_FACTS = 4

_NULLS = {
    "all": "The null hypothesis is also false if the context only shifts the class frequencies, "
    "or the distribution of features, while each feature is associated with the target in the "
    "same way in all contexts. If it shifts class frequencies, effects of noise features are "
    "found far too often: use conditional permutations instead.",
    "within_target": "The null hypothesis allows for a context that shifts the class "
    "frequencies, but it is global: if one feature depends on the context, or the context shifts "
    "the distribution of features, others are found too often. Conditional permutations allow "
    "for both.",
    "conditional": "The probabilities of the permutations come from a logistic regression of the "
    "context on the target, and on features and pairs of features that are associated with it "
    "given the target. A dependence that involves three features or more is not part of it, and "
    "can lead to false findings among other features.",
}
_CAVEATS = (
    "The signed effect is biased in small contexts: a node holds fewer rows of a context than of "
    "all contexts, and the decrease of impurity is larger on average on fewer rows. Without any "
    "dependence its mean is mostly below 0, the more so the smaller the context, but above 0 "
    "where trees are so deep that single rows of the context are left. Interpret its sign only "
    "where the absolute effect is significant.",
    'Power is low in contexts with few rows: "independent" means that no dependence was found, '
    "which is no evidence of independence.",
    "Dependence on a context is no evidence of a causal effect of the context.",
)
_ORDERED = (
    "The trees cut numeric columns in two at random points. The p-values are valid, but the "
    "effects have no closed form, and a dependence that no interval shows is missed. The exact "
    "theory holds for bins (--bins) with --splits multiway."
)


def summarize_context(
    results: Mapping[str, ContextImportances] | ContextImportances,
    run: Run,
    *,
    level: Level | None = None,
    notes: Sequence[str] = (),
    n_rows: int = _ROWS,
) -> Report:
    """Summarize a context analysis as a report.

    Parameters
    ----------
    results : ContextImportances, or mapping of str to ContextImportances
        One context, or several by name, of the same features and target.
    run : Run
        What was run.
    level : Level, optional
        When a feature is said to depend on a context; by default q <= 0.05. P-values are adjusted
        over the features and values of one context.
    notes : sequence of str
        Notes on the preparation of the data, such as rows that were left out.
    n_rows : int
        The most rows in the table of a context.

    Raises
    ------
    ValueError
        If there is no result.
    """
    given = {results.context_name: results} if isinstance(results, ContextImportances) else results
    if not given:
        raise ValueError("summarize_context: results must hold at least one context, got none.")
    chosen = level or Level()
    found = [Findings.of(one, chosen) for one in given.values()]
    sections: list[Section] = []
    for one in found:
        sections += [own_relevance(one), *_effect_charts(one), _feature_table(one, n_rows)]
    target = run.target or "the target"
    return Report(
        kind="dependence on a context",
        title=f"Importances of the features for {target}, by {' and by '.join(given)}",
        headline=(*_headline(run), *_own_facts(found)),
        sections=(
            *looked_at(run),
            *sections,
            *_closing(found, notes, [text for one in given.values() for text in one.notes]),
            *about(run),
        ),
        conclusion="; ".join(map(found_words, found)) + ".",
    )


def summarize_context_network(
    network: ContextNetwork,
    run: Run,
    *,
    level: Level | None = None,
    notes: Sequence[str] = (),
    n_rows: int = _ROWS,
) -> Report:
    """Summarize the links that depend on a context as a report.

    Parameters
    ----------
    network : ContextNetwork
        With p-values.
    run : Run
        What was run.
    level : Level, optional
        When a link is said to depend on the context; by default q <= 0.05, over all links and
        values of the context.
    notes : sequence of str
        Notes on the preparation of the data.
    n_rows : int
        The most rows in the table of links.

    Raises
    ------
    ValueError
        If there are no p-values.
    """
    chosen = level or Level()
    found = Findings.of(network, chosen)
    sections = [
        *_link_charts(network, found),
        _link_table(found, n_rows),
        _targets_table(found),
        *_closing([found], notes, network.notes),
    ]
    facts = [
        Fact(f"depend on {network.context_name} = {value}", f"{found.count(c):,}")
        for c, value in enumerate(network.contexts)
    ]
    return Report(
        kind="links that depend on a context",
        title=f"Links that depend on {network.context_name}",
        headline=(*_headline(run), Fact("targets", f"{len(network.analyses):,}"), *facts[:_FACTS]),
        sections=(*looked_at(run), *sections, *about(run)),
        conclusion=f"{found_words(found)}.",
    )


def relevance_words(one: Findings) -> list[str]:
    """Say how relevant a context is itself, and what follows for the features."""
    (result,) = one.analyses
    name, p = one.context_name, result.relevance_p_value
    own = f"{name} itself has an importance of {result.relevance:.4g} {unit_words(result.unit)}"
    if p is None:
        return [f"{own}. No permutations were made, so its significance is not known."]
    own = f"{own} (p = {p:.2g})"
    if p >= 1 - one.level.alpha and result.importances.max(initial=0) > 0:
        return [
            f"{own}: less than expected under the null hypothesis.",
            "A p-value near 1 is evidence against the null hypothesis as one near 0 is: rows may "
            "not be exchangeable, for instance where samples were matched or balanced for the "
            "context. Permute within the strata that were matched.",
        ]
    if p > one.level.alpha:
        return [
            f"{own}: as expected under the null hypothesis.",
            "No feature depends on a context that is irrelevant, alone and together with the "
            "features: any dependences listed below are best attributed to chance.",
        ]
    return [
        f"{own}: more than expected under the null hypothesis.",
        "The importances of features may depend on it, but need not: the context may be associated "
        "with the target by itself.",
    ]


def found_words(one: Findings) -> str:
    """Say how many features, or links, depend on a context."""
    what = "feature" if one.targets is None else "link"
    n = one.count()
    some = f"{n:,} {what}s depend" if n > 1 else f"{'1' if n else 'No'} {what} depends"
    return f"{some} on {one.context_name} ({one.rule})"


def values_words(result: ContextImportances, n_rows: int | None) -> str:
    """Say how many rows each context has, and where a numeric one was cut."""
    parts = []
    for value, share in zip(result.contexts, result.shares, strict=True):
        rows = f"{share:.0%}" if n_rows is None else f"{round(share * n_rows):,} rows"
        parts.append(f"{value} ({rows})")
    cuts = result.metadata.get("context", {}).get("cuts")
    cut = "" if not cuts else f" It is a number, cut at {plain(cuts)}."
    return f"Its values are {', '.join(parts)}.{cut}"


def own_relevance(one: Findings) -> Prose:
    """Return the section about the context itself."""
    (result,) = one.analyses
    rows = result.metadata.get("n_rows")
    lines = [*relevance_words(one), values_words(result, rows), f"{found_words(one)}."]
    return Prose(f"The context {one.context_name} itself", tuple(lines))


def _headline(run: Run) -> list[Fact]:
    facts = [Fact("rows", thousands(run.n_rows)), Fact("features", thousands(run.n_features))]
    for what, name in (("n_estimators", "trees"), ("n_permutations", "permutations")):
        if what in run.settings:
            facts.append(Fact(name, f"{run.settings[what]:,}"))
    return facts


def _own_facts(found: Sequence[Findings]) -> list[Fact]:
    facts = []
    for one in found:
        p = one.analyses[0].relevance_p_value
        if p is not None:
            facts.append(Fact(f"p of {one.context_name} itself", f"{p:.2g}"))
        facts.append(Fact(f"depend on {one.context_name}", f"{one.count():,}"))
    return facts


def _effect_charts(one: Findings) -> list[Chart]:
    (result,) = one.analyses
    if not len(result):
        return []
    return [_effect_chart(one, c) for c in range(min(len(result.contexts), _CHARTS))]


def _effect_chart(one: Findings, c: int) -> Chart:
    (result,) = one.analyses
    value, k = result.contexts[c], min(DRAWN, len(result))
    options = {"context": value, "k": k, "alpha": one.level.alpha, "control": one.level.control}
    depend = [
        f"{result.names[j]} {result.signed[c, j]:.3g}" for _, at, j in one.dependent if at == c
    ]
    listed = ", ".join(depend[:5]) or "none"
    return Chart(
        title=f"{one.context_name} = {value}",
        plot=Plot("effects_in_context", result, options),
        text=f"Bars, dots and ticks: the signed and the absolute effect of {one.context_name} = "
        f"{value} and the importance of {k} features. Those that depend on it, with the signed "
        f"effect: {listed}.",
        caption=f"The {k} features that depend most on {one.context_name}, in "
        f"{unit_words(result.unit)}. Bar: signed effect, blue to the right if the feature is less "
        "informative in the context, orange to the left if it is more informative. Dot: absolute "
        f"effect, filled if the feature depends on the context ({one.rule}). Tick: importance on "
        "all rows.",
    )


def _feature_table(one: Findings, n_rows: int) -> Table:
    cells = one.cells
    columns = one.table(cells[:n_rows])
    title = f"All features by {one.context_name}"
    return Table.of(title, columns, _note(len(cells), n_rows, "rows"))


def _note(total: int, most: int, what: str) -> str:
    if total > most:
        return f"The first {most:,} of {total:,} {what}; result.csv and result.parquet hold all."
    return f"All {total:,} {what}; result.csv and result.parquet hold more columns."


def _link_charts(network: ContextNetwork, one: Findings) -> list[Chart]:
    level, first = one.level, one.analyses[0]
    effects = ["absolute"] + ["plain"] * (first.plain_p_values is not None)
    shown = network.contexts[:_CHARTS]
    limit = link_limit(network, effects, shown, level.alpha, level.control)
    return [
        _link_chart(network, one, effect, value, limit) for effect in effects for value in shown
    ]


def _link_chart(
    network: ContextNetwork, one: Findings, effect: str, value: str, limit: float
) -> Chart:
    level, name = one.level, network.context_name
    n = int(network.mask(effect, value, level.alpha, level.control).sum())
    color = "signed" if effect == "absolute" else effect
    options = {"context": value, "effect": effect, "limit": limit}
    options |= {"alpha": level.alpha, "control": level.control}
    suffix = "" if effect == "absolute" else f", {effect} effects"
    return Chart(
        title=f"Links in {name} = {value}{suffix}",
        plot=Plot("links_in_context", network, options),
        text=f"Matrix of the {n} links whose {effect} effect of {name} = {value} is significant "
        "(the table and result.csv hold the numbers).",
        caption=f"{n:,} links whose {effect} effect of {name} = {value} is significant ({level}): "
        f"from the source of a column to the target of a row. Color: the {color} effect, blue if "
        "the source is less informative about the target in this context, orange if it is more "
        "informative; stronger colors mean larger effects. Empty: not significant. Gray: a "
        "variable with itself.",
    )


def _link_table(one: Findings, n_rows: int) -> Table:
    cells = one.dependent
    columns = one.table(cells[:n_rows], within=False)
    return Table.of(
        "Links that depend on the context",
        columns,
        f"{found_words(one)}; an effect of at most "
        f"{one.analyses[0].tolerance:.0%} of the largest importance for its target is none. "
        + _note(len(cells), n_rows, "of them by value of the context"),
    )


def _targets_table(one: Findings) -> Table:
    relevance = np.array([result.relevance for result in one.analyses])
    order = np.argsort(-relevance, kind="stable")
    counts = np.zeros(len(one.analyses), dtype=np.intp)
    for a in {(a, j) for a, _, j in one.dependent}:
        counts[a[0]] += 1
    targets, values = one.targets or (), fixed(relevance, 4)
    p_values = [result.relevance_p_value for result in one.analyses]
    return Table(
        title=f"Importance of {one.context_name} itself for each target",
        columns=(
            Column("target", "name"),
            Column("importance", "number"),
            Column("p", "number"),
            Column("links that depend on it", "number"),
        ),
        rows=tuple(
            (targets[a], values[a], "" if p_values[a] is None else f"{p_values[a]:.2g}", str(n))
            for a, n in ((a, counts[a]) for a in order)
        ),
        note="Where the context is irrelevant to a target, alone and together with the other "
        "variables, no link to it depends on the context. These p-values are not adjusted for "
        "their number.",
    )


def _closing(
    found: Sequence[Findings], notes: Sequence[str], limits: Sequence[str]
) -> list[Section]:
    first = found[0].analyses[0]
    splits = first.metadata.get("forest", {}).get("splits")
    ordered = [_ORDERED] if splits == "ordered" else []
    null = [_NULLS[first.permute]] if found[0].tested else []
    caveats = (*limits, *ordered, *null, *_CAVEATS)
    told = [Prose("Data preparation", tuple(notes), points=True)] if notes else []
    return [
        *told,
        Prose("Interpretation", _reading(found)),
        Prose("Limitations", caveats, points=True, caution=True),
    ]


def _reading(found: Sequence[Findings]) -> tuple[str, ...]:
    one, result = found[0], found[0].analyses[0]
    tolerance, unit = result.tolerance, unit_words(result.unit)
    empty = (
        "is left out"
        if result.empty == "skip"
        else "counts as one without information in the feature"
    )
    several = "" if one.targets is None else " Every variable in turn is the target of the others."
    lines = [
        f"Trees are grown on all rows, without the context.{several} The importance of a feature "
        f"is the mean decrease of impurity at the nodes that split on it, in {unit}. At each of "
        "these nodes the decrease over all rows is compared with that over the rows of one "
        "context. The absolute effect is the sum of the absolute differences; the signed effect "
        "is the sum of the differences, all rows minus context. A node without rows of the "
        f"context {empty}.",
        "Complementary: the feature is always more informative in that context. Redundant: it is "
        "always less informative. Irrelevant: it has no information there. Mixed: it is more "
        "informative at some nodes and less informative at others; the word after it names the "
        'stronger direction. "Always" means that the signed effect has at least '
        f"{1 - tolerance:.0%} of the size of the absolute one, nothing that at most "
        f"{tolerance:.0%} of the importance is left. Independent: not found to depend on the "
        f"context, at {one.rule}"
        + (
            f", or an effect of at most {tolerance:.0%} of the largest importance."
            if one.tested
            else "."
        ),
    ]
    if result.within is not None:
        lines.append(
            '"Within" is the importance in a forest that is grown only on the rows of the '
            "context. Importance minus within is the plain effect. It misses differences that "
            "average out, and it compares different trees; usually it is smaller than the "
            "absolute effect."
        )
    return (*lines, *_testing(one, len(found)))


def _testing(one: Findings, n_contexts: int) -> list[str]:
    if not one.tested:
        return ["There are no p-values, because no permutations were made."]
    result = one.analyses[0]
    n = sum(each.absolute.size for each in one.analyses)
    each = " of one context" if n_contexts > 1 else ""
    what = "features" if one.targets is None else "links"
    promise = {
        "fdr": f"q is p adjusted for all {n:,} {what} and values{each} (Benjamini and Hochberg): "
        f"of the effects with q up to {one.level.alpha:g}, at most {one.level.alpha:.0%} are "
        "expected to be false.",
        "fwer": f"p is adjusted for all {n:,} {what} and values{each} (Holm): the chance of any "
        f"false one among those up to {one.level.alpha:g} is at most {one.level.alpha:.0%}.",
        "none": f"p is not adjusted: of {n:,} {what} and values{each} that do not depend on the "
        f"context, {one.level.alpha * n:.0f} are expected to have p up to {one.level.alpha:g}.",
    }[one.level.control]
    rows = {
        "all": "among the rows",
        "within_target": "among the rows of the same class (of a numeric target, of the same bin)",
        "conditional": "among the rows of the same class (of a numeric target, of the same bin), "
        "with probabilities that allow for other features that depend on the context,",
    }[result.permute]
    return [
        f"p is that of this null hypothesis: {result.null} The values of the context were permuted "
        f"{rows} {result.n_permutations:,} times, on the same trees; p is the proportion of "
        "permutations with an effect as large, its own included; of effects with a sign, twice the "
        "smaller of the proportions as large and as small. The p-value of the context itself is "
        "from permutations among all rows. " + promise
    ]
