"""Exact importances, relevance and Markov boundaries as a report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from duramen.plots.context import EFFECTS_IN_CONTEXT
from duramen.reports.facts import about, looked_at, subject, thousands, unit_words
from duramen.reports.features import importance_charts, rows_note
from duramen.reports.report import (
    DRAWN,
    HELD,
    OF_CONTEXTS,
    Chart,
    Fact,
    Group,
    Plot,
    Prose,
    Report,
    Run,
    Section,
    Table,
    joined,
)
from duramen.results.columns import Column, places
from duramen.results.context_importances import INDEPENDENT, ContextImportances
from duramen.results.importances import Importances
from duramen.support.text import fixed, printable
from duramen.theory.dependence.relevant_features import Relevance

_ROWS = 100
_CONTEXTS = 4  # whose effects are drawn
_BOUNDARIES = 20
_CONDITIONINGS = 3
_BRIEF, _MEMBERS = 3, 12  # boundaries in a terminal, and features of each
_DEGREES = 16

_CAVEATS = (
    "The numbers are exact for the distribution of these rows. Where the rows are a sample, they "
    "are the limits of a forest grown on it, sampling error included: with few rows, nearly "
    "every feature appears relevant. --level sets the information up to which a feature counts "
    "as irrelevant.",
    "Features with many distinct values separate rows even if they are irrelevant, and so have "
    "more importance and relevance than features with few values.",
    "Features that carry the same information share the importance: each of several copies has "
    "less than one alone would, and none of them is strongly relevant.",
    "Neither importance nor relevance is evidence of a causal effect.",
)


def summarize_exact(
    importances: Importances,
    run: Run,
    *,
    relevance: Sequence[Relevance],
    boundaries: Sequence[Sequence[str]] | None = None,
    effects: ContextImportances | None = None,
    left_out: Sequence[str] = (),
    notes: Sequence[str] = (),
    n_rows: int = _ROWS,
) -> Report:
    """Summarize exact importances and relevance as a report.

    Parameters
    ----------
    importances : Importances
        Importances of infinitely many trees.
    run : Run
        What was run; its results hold ``information`` and ``impurity``, what all features
        together say of the target and what there is to know.
    relevance : sequence of Relevance
        One a feature, in the order of the columns.
    boundaries : sequence of sequences of str, optional
        All Markov boundaries; None where they are not known.
    effects : ContextImportances, optional
        Effects of a context.
    left_out : sequence of str
        What was not computed, and why.
    notes : sequence of str
        Notes on the preparation of the data, such as rows that were left out.
    n_rows : int
        Number of features in the table.
    """
    sections: list[Section] = [*importance_charts(importances, columns=_DEGREES)]
    sections.append(_table(importances, relevance, n_rows))
    if boundaries is not None:
        sections.append(_boundaries(boundaries))
    if effects is not None:
        sections.append(_contexts(effects))
    if notes:
        sections.append(Prose("Data preparation", tuple(notes), points=True))
    if left_out:
        sections.append(Prose("Not computed", tuple(left_out), brief=tuple(left_out)))
    sections += [
        Prose("Interpretation", _reading(importances, run)),
        Prose("Limitations", _CAVEATS, points=True, caution=True),
    ]
    return Report(
        kind="exact importances and relevance",
        title=f"Exact importances of the features for {run.target}",
        run=run,
        headline=_headline(importances, run, relevance, boundaries),
        sections=(*looked_at(run), *sections, *about(run)),
        conclusion=population_words(run),
        subject=(*subject(run), *_information(importances, run)),
        further={} if effects is None else {OF_CONTEXTS: effects.columns()},
    )


def _contexts(effects: ContextImportances) -> Group:
    """Return what a context does to the importances: words, a table, and a figure a context."""
    name, unit = effects.context_name, unit_words(effects.unit)
    depends = (effects.kind != INDEPENDENT).any(axis=0)
    names = [effects.names[j] for j in effects.order() if depends[j]]
    line = (
        f"{len(names):,} of {len(effects):,} features depend on the context {printable(name)}"
        f"{': ' if names else ''}{joined(names, shown=_MEMBERS)}; the importance of the context "
        f"itself is {effects.relevance:.4f}"
    )
    words = Prose(
        "Result",
        (
            f"{line}.",
            f"Of a split, in {unit}: what it takes from the impurity on all rows, less what it "
            "takes on the rows of a context. Signed: mean over the nodes of the trees, below 0 if "
            "the feature tells more in the context (complementary), above 0 if it tells less "
            "(redundant). Absolute: mean of the sizes; 0 if no node depends on the context.",
        ),
        brief=(line,),
    )
    k = min(DRAWN, len(effects))
    charts = [
        Chart(
            title=f"{name} = {value}",
            plot=Plot(EFFECTS_IN_CONTEXT, effects, {"context": value, "k": k}),
            text=f"Signed and absolute effect of {name} = {value} on {k} features.",
            caption=f"Bars: signed effect of {name} = {value} in {unit}; dots: absolute effect; "
            "ticks: importance on all rows.",
        )
        for value in effects.contexts[:_CONTEXTS]
    ]
    return Group(f"Context {name}", (words, *charts, _effects_table(effects)), folded=False)


def _effects_table(effects: ContextImportances) -> Table:
    best = effects.order()[:_ROWS]
    cells = [(c, j) for j in best for c in range(len(effects.contexts))]
    rows, columns = (np.array(index) for index in zip(*cells, strict=True))
    return Table(
        "Effects of the context",
        (
            Column("feature", [effects.names[j] for j in columns], "name"),
            Column(effects.context_name, [effects.contexts[c] for c in rows], "words"),
            Column(effects.unit, fixed(effects.importances[columns], 4)),
            Column("absolute", fixed(effects.absolute[rows, columns], 4)),
            Column("signed", fixed(effects.signed[rows, columns], 4)),
            Column("kind", [str(kind) for kind in effects.kind[rows, columns]], "words"),
        ),
        f"{rows_note(len(best), len(effects))} result-contexts.csv has all.",
    )


def _information(importances: Importances, run: Run) -> list[str]:
    """Return what the features account for, and what the importances add up to."""
    what = f"{float(importances.values.sum()):.4f} in all"
    if _is_mda(importances):
        what = f"{loss_words(importances)} when permuted"
    return [
        f"All features together account for {run.results['information']:.4f} of "
        f"{run.results['impurity']:.4f} {impurity_words(importances)} of "
        f"{printable(run.target or '')}",
        f"Importances of {trees_words(run)}: {what}",
    ]


def population_words(run: Run) -> str:
    """Say that the rows are taken as the population."""
    return (
        f"The {thousands(run.n_rows)} rows are taken as the whole population, without sampling "
        "error: of a sample, nearly every feature is relevant, and most are strongly relevant "
        "where there are few rows. duramen rank tests features of a sample."
    )


def trees_words(run: Run) -> str:
    """Say which trees there are infinitely many of."""
    settings = run.settings
    K, depth = settings["max_features"], settings["max_depth"]
    deep = "" if depth is None else f" of depth {depth}"
    trees = f"totally randomized trees{deep}"
    if K > 1:
        trees = f"trees{deep} with the best of {K} candidates at a node"
    cut = "" if settings["cut"] == "random" else f", {settings['cut']} cuts"
    return f"infinitely many {trees}, {settings['splits']} splits{cut}{_limits_words(run)}"


def _limits_words(run: Run) -> str:
    """Return the limits of the nodes other than the depth; a record has those that are set."""
    words = ""
    if least := run.settings.get("min_samples_split"):
        words += f", nodes with fewer than {100 * least:g} % of the rows not split"
    if least := run.settings.get("min_impurity_decrease"):
        words += f", no split with a decrease of impurity below {least:g}"
    return words


def impurity_words(importances: Importances) -> str:
    """Return what is to be known of a target, or its impurity, in words."""
    criterion = importances.metadata["population"]["criterion"]
    return {"entropy": "bits", "gini": "Gini impurity", "variance": "variance"}[criterion]


def loss_words(importances: Importances) -> str:
    """Return what a mean decrease of accuracy is the increase of, with its value before."""
    loss = float(importances.metadata["loss"])
    name = "squared error" if importances.unit == "squared error" else "error rate"
    return f"increase of the {name} of {loss:.4f}"


def conditionings_words(relevance: Relevance, shown: int = _CONDITIONINGS) -> str:
    """Say given which others a feature is relevant: the first of its minimal conditionings."""
    sets = [" + ".join(names) if names else "nothing" for names in relevance.conditionings]
    if len(sets) > shown:
        return "; ".join(sets[:shown]) + f"; and {len(sets) - shown:,} more"
    return "; ".join(sets)


def _headline(
    importances: Importances,
    run: Run,
    relevance: Sequence[Relevance],
    boundaries: Sequence[Sequence[str]] | None,
) -> tuple[Fact, ...]:
    strong = sum(entry.relevance == "strong" for entry in relevance)
    weak = sum(entry.relevance == "weak" for entry in relevance)
    facts = [
        Fact("rows", thousands(run.n_rows)),
        Fact("features", thousands(run.n_features)),
        Fact(
            f"{impurity_words(importances)}, of {run.results['impurity']:.4f}",
            f"{run.results['information']:.4f}",
        ),
        Fact("strongly relevant", f"{strong:,}"),
        Fact("weakly relevant", f"{weak:,}"),
    ]
    if boundaries is not None:
        facts.append(Fact("Markov boundaries", f"{len(boundaries):,}"))
    return tuple(facts)


def _table(importances: Importances, relevance: Sequence[Relevance], n_rows: int) -> Table:
    best = importances.top(max(n_rows, HELD))
    of_name = {entry.name: entry for entry in relevance}
    ranked = [of_name[name] for name in best.names]
    columns = (
        places(len(best), "rank"),
        Column("feature", best.names, "name"),
        Column(
            "importance" if best.unit == "1" else best.unit, fixed(best.values, 5), bars=best.values
        ),
        Column("relevance", [entry.relevance for entry in ranked], "words"),
        Column("degree", ["" if entry.degree is None else str(entry.degree) for entry in ranked]),
        Column("relevant given", [conditionings_words(entry) for entry in ranked], "words"),
    )
    note = rows_note(min(n_rows, len(best)), len(importances))
    return Table(
        "Importance and relevance",
        columns,
        note,
        shown=n_rows,
        total=len(importances),
        main=True,
    )


def _boundaries(boundaries: Sequence[Sequence[str]]) -> Prose:
    lines = [
        joined(list(boundary), shown=len(boundary)) or "the empty set" for boundary in boundaries
    ]
    if len(lines) > _BOUNDARIES:
        lines[_BOUNDARIES:] = [f"and {len(lines) - _BOUNDARIES:,} more"]
    n = len(boundaries)
    brief = [f"{n:,} Markov boundar{'y' if n == 1 else 'ies'}:"]
    for boundary in boundaries[:_BRIEF]:
        names = joined([printable(name) for name in boundary], shown=_MEMBERS) or "the empty set"
        brief.append(f"  {len(boundary)}: {names}")
    if n > _BRIEF:
        brief.append(f"  and {n - _BRIEF:,} more in report.html and run.json")
    return Prose("Markov boundaries", tuple(lines), points=True, brief=tuple(brief))


def _reading(importances: Importances, run: Run) -> tuple[str, ...]:
    lines = list(
        _accuracy_words(importances, run) if _is_mda(importances) else _mdi_words(importances, run)
    )
    if importances.by_degree is not None:
        lines.append(
            "The heat map splits an importance up by interaction degree, the number of features "
            "conditioned on above a node; its caption explains it."
        )
    level = run.settings["level"]
    none = "no information" if not level else f"at most {level:g} bits"
    lines += [
        "A feature is relevant if it adds information about the target to some set of other "
        "features, strongly relevant if it adds information to all other features together, "
        "weakly relevant if it does so only for smaller sets, and irrelevant if it adds nothing "
        "to any set. Its degree is the size of the smallest set given which it is relevant; the "
        f"table names the minimal such sets, those without a part that suffices. Here {none} "
        "counts as nothing.",
        "A Markov boundary is a minimal set of features with all the information that the "
        "features have about the target. Every boundary contains the strongly relevant features; "
        "if copies can replace each other, there are several boundaries."
        + (" No level applies to boundaries." if level else ""),
    ]
    return tuple(lines)


def _is_mda(importances: Importances) -> bool:
    return "loss" in importances.metadata


def _mdi_words(importances: Importances, run: Run) -> tuple[str, ...]:
    unit = unit_words(importances.unit)
    return (
        f"The importances are those of {trees_words(run)}, grown on all rows: their mean decrease "
        f"of impurity in {unit}. They are computed, not estimated, and so depend neither on a "
        "seed nor on a number of trees.",
        _sum_words(importances, run),
    )


_SCORED = {
    "tree": "the mean over trees of what each loses",
    "ensemble": "what their vote loses, each tree permuting for itself",
    "predictor": "what their vote loses, all trees permuting alike",
}


def _accuracy_words(importances: Importances, run: Run) -> tuple[str, ...]:
    chosen = importances.metadata["population"]
    within = "all rows"
    if chosen["given"] is not None:
        within = "rows with equal values of the features associated with it"
    return (
        f"The importances are those of {trees_words(run)}, grown on all rows: the "
        f"{loss_words(importances)} on the same rows when a feature is permuted among {within}, "
        f"averaged over all permutations; {_SCORED[chosen['votes']]}. They are computed, not "
        "estimated, and so depend neither on a seed nor on a number of trees.",
        "An importance of 0 does not mean that a feature is irrelevant: trees that read another "
        "feature in its place lose nothing, and neither does a split that changes no vote.",
    )


def _sum_words(importances: Importances, run: Run) -> str:
    words = impurity_words(importances)
    total, all_there_is = float(importances.values.sum()), float(run.results["information"])
    said = f"all that the features together account for, {all_there_is:.4f} {words}"
    if run.settings["max_depth"] is None and not _limits_words(run):
        return f"They add up to {total:.4f}: {said}."
    return f"They add up to {total:.4f}. Full trees would make it {said}."
