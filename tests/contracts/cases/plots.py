"""Plots: what is drawn, as numbers and labels, not as pixels."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from tests.contracts.cases.context import analyzed, place
from tests.contracts.inputs import NAMES, classes, estimator, features, forest, table, uniform
from tests.contracts.registry import case

import duramen as dm
from duramen import importances, plots, significance


def drawn(figure: Any) -> Any:
    """The data of a figure: of each axes the bars, lines, images, points and tick labels."""
    figure = getattr(figure, "figure", figure)
    return [_axes(ax) for ax in figure.axes]


def _axes(ax: Any) -> Any:
    bars = [[bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height()] for bar in ax.patches]
    lines = [np.asarray(line.get_xydata(), dtype=float) for line in ax.lines]
    shown = [
        np.ma.filled(np.ma.asarray(image.get_array(), dtype=float), np.nan)
        for image in (*ax.images, *ax.collections)
        if image.get_array() is not None
    ]
    names = [label.get_text() for axis in (ax.xaxis, ax.yaxis) for label in axis.get_ticklabels()]
    return (bars, lines, shown, sorted({name for name in names if name in NAMES}), len(ax.texts))


def measured() -> Any:
    """Importances by degree."""
    return importances.mdi(forest(), by_degree=True)


@cache
def network() -> Any:
    """Links between three columns."""
    return dm.contexts.context_network(
        dm.encode(features()[:, :3], names=("a", "b", "c")),
        place(),
        estimator=dm.TotallyRandomizedTreesClassifier(4, splits="auto"),
        n_permutations=9,
        random_state=2,
    )


def comparison() -> Any:
    """Two measures side by side."""
    return importances.compare({"mdi": measured(), "frequency": importances.frequency(forest())})


@case("plots/waterfall", plots.waterfall, draw=plots.waterfall, row=3, k=2)
@case("plots/row_clusters", plots.row_clusters, draw=plots.row_clusters, k=3)
@case("plots/beeswarm", draw=plots.beeswarm, k=3)
@case("plots/beeswarm with values", draw=plots.beeswarm, X=features())
def _local(draw: Any, **options: Any) -> Any:
    local = importances.local_mdi(forest(), table())
    ax = draw(local, **options)
    places = [np.asarray(points.get_offsets(), dtype=float) for points in ax.collections]
    return drawn(ax), ax.get_xlabel(), places if draw is plots.beeswarm else None


@case("plots/interaction_matrix", k=4)
def _pairs(**options: Any) -> Any:
    ax = plots.interaction_matrix(importances.interactions(forest(), table()), **options)
    return drawn(ax), ax.get_xlabel()


@case("plots/interaction_network", n=5)
def _pair_network(**options: Any) -> Any:
    ax = plots.interaction_network(importances.interactions(forest(), table()), **options)
    return [np.asarray(line.get_xydata(), dtype=float) for line in ax.lines]


@case("plots/effect")
@case("plots/effect of a class", of=str(classes()[0]))
def _effect(**options: Any) -> Any:
    local = dm.effects.accumulated_local_effects(forest(), table(), NAMES[0])
    return drawn(plots.effect(local, **options))


@case("plots/against_target boxes", values=features()[:, 0])
@case("plots/against_target fractions", values=classes().astype(str)[::-1])
def _against_target(**options: Any) -> Any:
    return drawn(plots.against_target(target=classes().astype(str), **options))


@case("plots/ranking")
@case("plots/ranking with a threshold", k=3, threshold=0.05)
def _ranking(**options: Any) -> Any:
    return drawn(plots.ranking(measured(), **options))


@case("plots/manhattan", k=2)
@case("plots/manhattan with a threshold", threshold=0.05)
def _manhattan(**options: Any) -> Any:
    places = {"chromosome": ["X", "1", "1", "2", "X"], "position": [9, 2, 5, 1, 3]}
    ax = plots.manhattan(measured(), places, **options)
    points = [dots.get_offsets().data.round(9) for dots in ax.collections]
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    return (points, ticks, [text.get_text() for text in ax.texts], len(ax.lines))


@case("plots/direct_features")
def _direct_features() -> Any:
    result = significance.ConditionalSignificance(
        ("a", "b", "c", "d"),
        scores=np.array([3.0, 0.1, 2.0, 0.0]),
        p_values=np.array([0.001, 0.4, 0.004, 0.8]),
        method="conditional",
        null="The feature is independent of the target given all others.",
        association=np.array([0.001, 0.01, 0.002, 0.7]),
        explained_by=((), ("a",), (), ()),
    )
    clusters = [("a", "b"), ("c",)]
    return (
        drawn(plots.direct_features(result, clusters=clusters, k=2)),
        drawn(plots.direct_features(result)),
    )


@case("plots/by_degree")
def _by_degree() -> Any:
    return drawn(plots.by_degree(measured(), k=4, columns=3))


@case("plots/p_values")
def _p_values() -> Any:
    result = significance.altmann(estimator(), table(), classes(), n_permutations=9, random_state=1)
    return drawn(plots.p_values(result))


@case("plots/ranking of permuted importances")
def _ranking_of_permuted() -> Any:
    result = significance.permuted_importances(
        estimator(), table(), classes(), n_permutations=19, random_state=1
    )
    return drawn(plots.ranking(result, k=3))


@case("plots/rank_correlations")
@case("plots/rank_correlations, Kendall", correlation="kendall")
def _correlations(**options: Any) -> Any:
    return drawn(plots.rank_correlations(comparison(), **options))


@case("plots/parallel_ranks")
def _parallel() -> Any:
    return drawn(plots.parallel_ranks(comparison(), k=3, by="frequency"))


@case("plots/found_curves")
def _found() -> Any:
    return drawn(
        plots.found_curves({"keep": [0, 1, 2.5, 3], "drop": [0, 0.5, 1, 1.5]}, best="keep")
    )


@case("plots/oob_error")
def _oob() -> Any:
    return drawn(plots.oob_error([float("nan"), 0.5, 0.25, 0.2]))


@case("plots/context_effects")
def _effects() -> Any:
    return drawn(
        plots.context_effects(
            analyzed(dm.encode(features(), names=NAMES)), k=3, alpha=0.5, control="none"
        )
    )


@case("plots/context_links")
def _links() -> Any:
    return drawn(plots.context_links(network(), alpha=0.9, control="none"))


def scored() -> Any:
    """Scores of a small network."""
    weights = np.arange(25.0).reshape(5, 5) % 7
    np.fill_diagonal(weights, 0)
    return dm.Network(tuple(NAMES[:5]), weights), [(NAMES[0], NAMES[1]), (NAMES[3], NAMES[2])]


@case("plots/network_graph")
def _graph() -> Any:
    return drawn(plots.network_graph(scored()[0], n=4))


@case("plots/precision_recall", plots.precision_recall, draw=plots.precision_recall)
@case("plots/roc", plots.roc, draw=plots.roc)
def _curves(draw: Any) -> Any:
    result, gold = scored()
    return drawn(draw(result.score(gold)))


@case("plots/calcium_stages")
def _stages() -> Any:
    signal = uniform(60, 3, seed=4)
    return drawn(plots.calcium_stages(signal, neurons=[0, 2], frames=(10, 40), frame_time=20))


@case("plots/component_spectrum")
def _spectrum() -> Any:
    result = dm.networks.connectome.components(np.diag([3.0, 2.0, 1.0, 0.0]))
    named = {"a": result, "b": result}
    return drawn(plots.component_spectrum(named, quantity="singular_value_ratio"))
