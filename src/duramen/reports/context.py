"""Report of a context analysis: features, or links between variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.plots.context import EFFECTS_IN_CONTEXT, LINKS_IN_CONTEXT, link_limit
from duramen.reports.facts import about, looked_at, plain, subject, thousands, unit_words
from duramen.reports.report import (
    DRAWN,
    HELD,
    Chart,
    Fact,
    Plot,
    Prose,
    Report,
    Run,
    Section,
    Table,
)
from duramen.results.columns import Column, small
from duramen.results.context_importances import (
    EFFECTS,
    INDEPENDENT,
    ContextImportances,
    ContextNetwork,
    Control,
)
from duramen.results.fields import adjusted
from duramen.support.arrays import FloatArray
from duramen.support.text import fixed, printable

Cell = tuple[int, int, int]
"""Which analysis, context and feature."""

_NAME, _KIND = 16, len("complementary")  # characters that a narrow terminal leaves to words
_MINOR = {"importance": 3, "p": 2, "signed": 1}  # left out in this order
_ADJUSTED = {"fdr": "q", "fwer": "Holm's p", "none": "p"}


@dataclass(frozen=True)
class Level:
    """Level at which a feature counts as dependent on a context.

    Parameters
    ----------
    alpha : float
    control : {"fdr", "fwer", "none"}
        Error rate that it bounds.
    """

    alpha: float = 0.05
    control: Control = "fdr"

    @property
    def title(self) -> str:
        """Name of the adjusted p-values."""
        return _ADJUSTED[self.control]

    def __str__(self) -> str:
        return f"{self.title} <= {self.alpha:g}"


@dataclass(frozen=True, eq=False)
class Findings:
    """Effects of one context on features, or on links of a network."""

    # One, or one for each target of a network; p-values are adjusted over all together.
    analyses: tuple[ContextImportances, ...]
    level: Level  # what is said to depend on the context
    targets: tuple[str, ...] | None = None  # names of the targets of a network

    @classmethod
    def of(cls, result: ContextImportances | ContextNetwork, level: Level) -> Findings:
        """Return what was found at a level."""
        if isinstance(result, ContextNetwork):
            return cls(tuple(result.analyses.values()), level, tuple(result.analyses))
        return cls((result,), level)

    @property
    def context_name(self) -> str:
        """Name of the context."""
        return self.analyses[0].context_name

    @property
    def tested(self) -> bool:
        """True if there are p-values."""
        return self.analyses[0].absolute_p_values is not None

    @property
    def rule(self) -> str:
        """Criterion of dependence on the context, in a few words."""
        if self.tested:
            return str(self.level)
        return f"more than {self.analyses[0].tolerance:.0%} of the largest importance"

    @cached_property
    def adjusted(self) -> tuple[FloatArray, ...]:
        """Adjusted p-values of the absolute effects, an array of shape (C, p) an analysis."""
        return self._over_all("absolute", self.level.control)

    @cached_property
    def kinds(self) -> tuple[NDArray[np.str_], ...]:
        """Kinds of dependence, an array of shape (C, p) an analysis."""
        verdicts = [analysis.verdicts(self.level.alpha, "none") for analysis in self.analyses]
        if self.tested:
            for kinds, values in zip(verdicts, self.adjusted, strict=True):
                kinds[values > self.level.alpha] = INDEPENDENT
        return tuple(verdicts)

    @cached_property
    def dependent(self) -> list[Cell]:
        """Cells that depend on the context: features in their order, or the surest links first."""
        return [(a, c, j) for a, c, j in self.cells if self.kinds[a][c, j] != INDEPENDENT]

    @cached_property
    def cells(self) -> list[Cell]:
        """All that was looked at: features in their order, or the surest links first."""
        if self.targets is None:
            (analysis,) = self.analyses
            return [(0, c, int(j)) for j in analysis.order() for c in range(len(analysis.contexts))]
        every = [
            (a, c, j)
            for a, analysis in enumerate(self.analyses)
            for c, j in np.ndindex(len(analysis.contexts), len(analysis))
        ]
        size = -np.concatenate([analysis.absolute.ravel() for analysis in self.analyses])
        if not self.tested:
            return [every[i] for i in np.argsort(size, kind="stable")]
        p = np.concatenate([analysis.p_values().ravel() for analysis in self.analyses])
        return [every[i] for i in np.lexsort((size, p))]

    def count(self, context: int | None = None) -> int:
        """Return how many features, or links, depend on the context, or on one value of it."""
        return len({(a, j) for a, c, j in self.dependent if context in (None, c)})

    def values(self, what: str, cells: Sequence[Cell]) -> FloatArray:
        """Return some numbers of the analyses: an attribute of shape (C, p) or (p,)."""
        arrays = [np.asarray(getattr(analysis, what)) for analysis in self.analyses]
        return np.array(
            [arrays[a][c, j] if arrays[a].ndim > 1 else arrays[a][j] for a, c, j in cells]
        )

    def table(
        self, cells: Sequence[Cell], *, within: bool = True, context: str = "{value}"
    ) -> list[Column]:
        """Return the columns of a table whose rows are `cells`.

        With `within` it has the importance in the context, where that is known; `context` says how
        a context is named, with ``{name}`` and ``{value}`` for its name and value.
        """
        analyses, name = self.analyses, self.context_name
        feature = "feature" if self.targets is None else "source"
        names = [analyses[a].names[j] for a, _, j in cells]
        columns = [Column(feature, names, "name", least=_NAME)]
        if self.targets is not None:
            targets = [self.targets[a] for a, _, _ in cells]
            columns.append(Column("target", targets, "words", least=_NAME))
        labels = [context.format(name=name, value=analyses[a].contexts[c]) for a, c, _ in cells]
        title = "context" if "{name}" in context else name
        columns.append(Column(title, labels, "words", least=_NAME))
        shown = {"importance": "importances", "absolute": "absolute", "signed": "signed"}
        if within and analyses[0].within is not None:
            shown = {"importance": "importances", "within": "within", **shown}
        for title, what in shown.items():
            minor = _MINOR.get(title, 0)
            columns.append(Column(title, fixed(self.values(what, cells), 4), minor=minor))
        if self.tested:
            adjusted = self.level.control != "none"
            p_values = small(self.values("absolute_p_values", cells))
            columns.append(Column("p", p_values, minor=_MINOR["p"] if adjusted else 0))
            if adjusted:
                q = small(self.adjusted[a][c, j] for a, c, j in cells)
                columns.append(Column(self.level.title, q))
        kinds = [str(self.kinds[a][c, j]) for a, c, j in cells]
        return [*columns, Column("kind", kinds, "words", least=_KIND)]

    def columns(self) -> dict[str, Any]:
        """Return the columns of a file: a row for each feature, or link, and context.

        They are ``context_name``, then those of `ContextImportances.columns` with ``name`` as
        ``source`` and ``target`` for a network, q-values over all links, ``kind`` at the level,
        and, where it bounds the family-wise error rate, Holm's p-values as
        ``absolute_holm_p_value``. Rows are in the order of `cells`.
        """
        columns = _together([analysis.columns() for analysis in self.analyses])
        own = columns.pop("name")
        first: dict[str, Any] = {"context_name": [self.context_name] * len(own)}
        if self.targets is None:
            first["name"] = own
        else:
            sizes = [analysis.absolute.size for analysis in self.analyses]
            first["source"] = own
            first["target"] = np.repeat(np.array(self.targets, dtype=object), sizes)
        columns["kind"] = _flat(self.kinds)
        for effect in EFFECTS:
            if f"{effect}_q_value" in columns:
                columns[f"{effect}_q_value"] = _flat(self._over_all(effect, "fdr"))
        if self.tested and self.level.control == "fwer":
            columns["absolute_holm_p_value"] = _flat(self.adjusted)
        order = self._rows()
        return {name: np.asarray(values)[order] for name, values in (first | columns).items()}

    def _over_all(self, effect: str, control: Control) -> tuple[FloatArray, ...]:
        """Return the p-values of an effect, adjusted over all analyses together."""
        p_values = [analysis.p_values(effect) for analysis in self.analyses]
        flat = adjusted(_flat(p_values), control)
        ends = np.cumsum([values.size for values in p_values])[:-1]
        return tuple(
            part.reshape(values.shape)
            for part, values in zip(np.split(flat, ends), p_values, strict=True)
        )

    def _rows(self) -> NDArray[np.intp]:
        """Return the places of the cells among all rows of all analyses, as these list them."""
        starts = np.cumsum([0, *(analysis.absolute.size for analysis in self.analyses)])
        places = [starts[a] + c * len(self.analyses[a]) + j for a, c, j in self.cells]
        return np.array(places, dtype=np.intp)


def _flat(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([array.ravel() for array in arrays])


def _together(parts: Sequence[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """Return columns of equal names, one table under the other; text as objects."""
    return {name: np.concatenate([_column(part[name]) for part in parts]) for name in parts[0]}


def _column(values: Any) -> NDArray[Any]:
    return np.array(values, dtype=object) if isinstance(values, list) else np.asarray(values)


def stacked(findings: Sequence[Findings]) -> dict[str, Any]:
    """Return the columns of a file about several contexts, one under the other."""
    every = _together([part.columns() for part in findings])
    return {
        name: values.tolist() if values.dtype.kind in "OU" else values
        for name, values in every.items()
    }


_ROWS = 200
_CHARTS = 8
_FACTS = 4

_COUNTED = {"estimators": "trees", "permutations": "permutations"}
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
    by_name = (
        {results.context_name: results} if isinstance(results, ContextImportances) else results
    )
    if not by_name:
        raise ValueError("summarize_context: results must hold at least one context, got none.")
    chosen = level or Level()
    all_findings = [Findings.of(result, chosen) for result in by_name.values()]
    limits = [text for result in by_name.values() for text in result.notes]
    sections: list[Section] = []
    for findings in all_findings:
        sections += [
            own_relevance(findings),
            *_effect_charts(findings),
            _feature_table(findings, n_rows),
        ]
    target = run.target or "the target"
    return Report(
        kind="dependence on a context",
        title=f"Importances of the features for {target}, by {' and by '.join(by_name)}",
        run=run,
        headline=(*_headline(run), *_own_facts(all_findings)),
        sections=(
            *looked_at(run),
            *sections,
            *_dependent_table(all_findings, n_rows),
            *_closing(
                all_findings,
                notes,
                limits,
            ),
            *about(run),
        ),
        conclusion=" ".join(f"{found_words(findings)}." for findings in all_findings),
        subject=subject(run, *_model(run)),
        table=stacked(all_findings),
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
    findings = Findings.of(network, chosen)
    sections = [
        *_link_charts(network, findings),
        _link_table(findings, n_rows),
        _targets_table(findings),
        *_closing([findings], notes, network.notes),
    ]
    facts = [
        Fact(f"depend on {network.context_name} = {value}", f"{findings.count(c):,}")
        for c, value in enumerate(network.contexts)
    ]
    table = (
        f"{printable(run.file or '')}: {thousands(run.n_rows)} rows x "
        f"{thousands(run.n_features)} variables"
    )
    return Report(
        kind="links that depend on a context",
        title=f"Links that depend on {network.context_name}",
        run=run,
        headline=(*_headline(run), Fact("targets", f"{len(network.analyses):,}"), *facts[:_FACTS]),
        sections=(*looked_at(run), *sections, *about(run)),
        conclusion=f"{found_words(findings)}.",
        subject=(", ".join([table, *_model(run)]),),
        table=stacked([findings]),
    )


def _model(run: Run) -> list[str]:
    """Return the numbers of trees and permutations, as far as they are on record."""
    counts = {name: run.settings.get(f"n_{key}") for key, name in _COUNTED.items()}
    return [f"{count:,} {name}" for name, count in counts.items() if count is not None]


def relevance_words(findings: Findings) -> list[str]:
    """Say how relevant a context is itself, and what follows for the features."""
    (result,) = findings.analyses
    name, p = findings.context_name, result.relevance_p_value
    own = f"{name} itself has an importance of {result.relevance:.4g} {unit_words(result.unit)}"
    if p is None:
        return [f"{own}. No permutations were made, so its significance is not known."]
    own = f"{own} (p = {p:.2g})"
    if p >= 1 - findings.level.alpha and result.importances.max(initial=0) > 0:
        return [
            f"{own}: less than expected under the null hypothesis.",
            "A p-value near 1 is evidence against the null hypothesis as one near 0 is: rows may "
            "not be exchangeable, for instance where samples were matched or balanced for the "
            "context. Permute within the strata that were matched.",
        ]
    if p > findings.level.alpha:
        return [
            f"{own}: as expected under the null hypothesis.",
            "Features may depend on it all the same: an irrelevant context changes the importance "
            "of a feature whose distribution it shifts, and a relevant one can go unnoticed. The "
            "effects on the features have p-values of their own.",
        ]
    return [
        f"{own}: more than expected under the null hypothesis.",
        "The importances of features may depend on it, but need not: the context may be associated "
        "with the target by itself.",
    ]


def found_words(findings: Findings) -> str:
    """Say how many features, or links, depend on a context."""
    what = "feature" if findings.targets is None else "link"
    n = findings.count()
    some = f"{n:,} {what}s depend" if n > 1 else f"{'1' if n else 'No'} {what} depends"
    return f"{some} on {findings.context_name} ({findings.rule})"


def values_words(result: ContextImportances, n_rows: int | None) -> str:
    """Say how many rows each context has, and how a numeric one was divided."""
    parts = []
    for value, fraction in zip(result.contexts, result.fractions, strict=True):
        rows = f"{fraction:.0%}" if n_rows is None else f"{round(fraction * n_rows):,} rows"
        parts.append(f"{value} ({rows})")
    about_context = result.metadata.get("context", {})
    cuts, bandwidth = about_context.get("cuts"), about_context.get("bandwidth")
    divided = f" It is a number, cut at {plain(cuts)}." if cuts else ""
    if bandwidth is not None:
        divided = (
            " It is a number: rows count at each of these values by triangular kernel weights of "
            f"bandwidth {bandwidth:.3g}, as a fraction of the rows."
        )
    return f"Its values are {', '.join(parts)}.{divided}"


def own_relevance(findings: Findings) -> Prose:
    """Return the section about the context itself."""
    (result,) = findings.analyses
    rows = result.metadata.get("n_rows")
    lines = [*relevance_words(findings), values_words(result, rows), f"{found_words(findings)}."]
    title = f"The context {findings.context_name} itself"
    return Prose(title, tuple(lines), brief=tuple(relevance_words(findings)))


def _headline(run: Run) -> list[Fact]:
    facts = [Fact("rows", thousands(run.n_rows)), Fact("features", thousands(run.n_features))]
    for key, name in _COUNTED.items():
        if f"n_{key}" in run.settings:
            facts.append(Fact(name, f"{run.settings[f'n_{key}']:,}"))
    return facts


def _own_facts(all_findings: Sequence[Findings]) -> list[Fact]:
    facts = []
    for findings in all_findings:
        p = findings.analyses[0].relevance_p_value
        if p is not None:
            facts.append(Fact(f"p of {findings.context_name} itself", f"{p:.2g}"))
        facts.append(Fact(f"depend on {findings.context_name}", f"{findings.count():,}"))
    return facts


def _effect_charts(findings: Findings) -> list[Chart]:
    (result,) = findings.analyses
    if not len(result):
        return []
    return [_effect_chart(findings, c) for c in range(min(len(result.contexts), _CHARTS))]


def _effect_chart(findings: Findings, c: int) -> Chart:
    (result,), name = findings.analyses, findings.context_name
    value, k = result.contexts[c], min(DRAWN, len(result))
    options = {
        "context": value,
        "k": k,
        "alpha": findings.level.alpha,
        "control": findings.level.control,
    }
    depend = [
        f"{result.names[j]} {result.signed[c, j]:.3g}" for _, at, j in findings.dependent if at == c
    ]
    listed = ", ".join(depend[:5]) or "none"
    return Chart(
        title=f"{name} = {value}",
        plot=Plot(EFFECTS_IN_CONTEXT, result, options),
        text=f"Bars, dots and ticks: the signed and the absolute effect of {name} = "
        f"{value} and the importance of {k} features. Those that depend on it, with the signed "
        f"effect: {listed}.",
        caption=f"The {k} features that depend most on {name}, in "
        f"{unit_words(result.unit)}. Bar: signed effect, blue to the right if the feature is less "
        "informative in the context, orange to the left if it is more informative. Dot: absolute "
        f"effect, filled if the feature depends on the context ({findings.rule}). Tick: importance "
        "on all rows.",
    )


def _dependent_table(all_findings: Sequence[Findings], n_rows: int) -> list[Section]:
    """Return the table of what depends on the contexts, one context after the other."""
    label = "{value}" if len(all_findings) == 1 else "{name} = {value}"
    total, left, parts = (
        sum(len(findings.dependent) for findings in all_findings),
        max(n_rows, HELD),
        [],
    )
    if not total:
        return []
    for findings in all_findings:
        cells = findings.dependent[:left]
        left -= len(cells)
        parts.append(findings.table(cells, within=False, context=label))
    columns = tuple(
        replace(same[0], cells=[cell for part in same for cell in part.cells])
        for same in zip(*parts, strict=True)
    )
    names = " and ".join(findings.context_name for findings in all_findings)
    return [
        Table(
            f"Features that depend on {names}",
            columns,
            _note(total, n_rows, "rows"),
            shown=n_rows,
            total=total,
            what="rows",
            main=True,
        )
    ]


def _feature_table(findings: Findings, n_rows: int) -> Table:
    cells = findings.cells
    columns = tuple(findings.table(cells[:n_rows]))
    title = f"All features by {findings.context_name}"
    return Table(title, columns, _note(len(cells), n_rows, "rows"))


def _note(total: int, most: int, what: str) -> str:
    if total > most:
        return f"The first {most:,} of {total:,} {what}; result.csv and result.parquet hold all."
    return f"All {total:,} {what}; result.csv and result.parquet hold more columns."


def _link_charts(network: ContextNetwork, findings: Findings) -> list[Chart]:
    level, first = findings.level, findings.analyses[0]
    effects = ["absolute"] + ["plain"] * (first.plain_p_values is not None)
    shown = network.contexts[:_CHARTS]
    limit = link_limit(network, effects, shown, level.alpha, level.control)
    return [
        _link_chart(network, findings, effect, value, limit)
        for effect in effects
        for value in shown
    ]


def _link_chart(
    network: ContextNetwork, findings: Findings, effect: str, value: str, limit: float
) -> Chart:
    level, name = findings.level, network.context_name
    n = int(network.mask(effect, value, level.alpha, level.control).sum())
    color = "signed" if effect == "absolute" else effect
    options = {"context": value, "effect": effect, "limit": limit}
    options |= {"alpha": level.alpha, "control": level.control}
    suffix = "" if effect == "absolute" else f", {effect} effects"
    return Chart(
        title=f"Links in {name} = {value}{suffix}",
        plot=Plot(LINKS_IN_CONTEXT, network, options),
        text=f"Matrix of the {n} links whose {effect} effect of {name} = {value} is significant "
        "(the table and result.csv hold the numbers).",
        caption=f"{n:,} links whose {effect} effect of {name} = {value} is significant ({level}): "
        f"from the source of a column to the target of a row. Color: the {color} effect, blue if "
        "the source is less informative about the target in this context, orange if it is more "
        "informative; stronger colors mean larger effects. Empty: not significant. Gray: a "
        "variable with itself.",
    )


def _link_table(findings: Findings, n_rows: int) -> Table:
    cells = findings.dependent
    columns = tuple(findings.table(cells[: max(n_rows, HELD)], within=False))
    return Table(
        "Links that depend on the context",
        columns,
        f"{found_words(findings)}; an effect of at most "
        f"{findings.analyses[0].tolerance:.0%} of the largest importance for its target is none. "
        + _note(len(cells), n_rows, "of them by value of the context"),
        shown=n_rows,
        total=len(cells),
        what="rows",
        main=True,
    )


def _targets_table(findings: Findings) -> Table:
    relevance = np.array([result.relevance for result in findings.analyses])
    order = np.argsort(-relevance, kind="stable")
    counts = np.zeros(len(findings.analyses), dtype=np.intp)
    for a in {(a, j) for a, _, j in findings.dependent}:
        counts[a[0]] += 1
    targets, values = findings.targets or (), fixed(relevance, 4)
    p_values = [result.relevance_p_value for result in findings.analyses]
    return Table(
        title=f"Importance of {findings.context_name} itself for each target",
        columns=(
            Column("target", [targets[a] for a in order], "name"),
            Column("importance", [values[a] for a in order]),
            Column("p", ["" if (p := p_values[a]) is None else f"{p:.2g}" for a in order]),
            Column("links that depend on it", [str(counts[a]) for a in order]),
        ),
        note="Links to a target can depend on the context although the context itself is "
        "irrelevant to it. These p-values are not adjusted for their number.",
    )


def _closing(
    all_findings: Sequence[Findings], notes: Sequence[str], limits: Sequence[str]
) -> list[Section]:
    first = all_findings[0].analyses[0]
    splits = first.metadata.get("forest", {}).get("splits")
    ordered = [_ORDERED] if splits == "ordered" else []
    null = [_NULLS[first.permute]] if all_findings[0].tested else []
    caveats = (*limits, *ordered, *null, *_CAVEATS)
    sections = [Prose("Data preparation", tuple(notes), points=True)] if notes else []
    return [
        *sections,
        Prose("Interpretation", _reading(all_findings)),
        Prose("Limitations", caveats, points=True, caution=True),
    ]


def _reading(all_findings: Sequence[Findings]) -> tuple[str, ...]:
    findings, result = all_findings[0], all_findings[0].analyses[0]
    tolerance, unit = result.tolerance, unit_words(result.unit)
    empty = (
        "is left out"
        if result.empty == "skip"
        else "counts as one without information in the feature"
    )
    several = (
        "" if findings.targets is None else " Every variable in turn is the target of the others."
    )
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
        f"context, at {findings.rule}"
        + (
            f", or an effect of at most {tolerance:.0%} of the largest importance."
            if findings.tested
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
    return (*lines, *_testing(findings, len(all_findings)))


def _testing(findings: Findings, n_contexts: int) -> list[str]:
    if not findings.tested:
        return ["There are no p-values, because no permutations were made."]
    result, level = findings.analyses[0], findings.level
    n = sum(each.absolute.size for each in findings.analyses)
    each = " of one context" if n_contexts > 1 else ""
    what = "features" if findings.targets is None else "links"
    promise = {
        "fdr": f"q is p adjusted for all {n:,} {what} and values{each} (Benjamini and Hochberg): "
        f"of the effects with q up to {level.alpha:g}, at most {level.alpha:.0%} are "
        "expected to be false.",
        "fwer": f"p is adjusted for all {n:,} {what} and values{each} (Holm): the chance of any "
        f"false one among those up to {level.alpha:g} is at most {level.alpha:.0%}.",
        "none": f"p is not adjusted: of {n:,} {what} and values{each} that do not depend on the "
        f"context, {level.alpha * n:.0f} are expected to have p up to {level.alpha:g}.",
    }[level.control]
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
