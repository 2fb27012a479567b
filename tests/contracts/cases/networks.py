"""Networks and their scores."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import jobs, mixed, uniform
from tests.contracts.registry import case

import duramen as dm

SMALL = {"estimator": dm.RandomForestRegressor(6, max_features="sqrt"), "random_state": 2}


def _expression() -> np.ndarray:
    return uniform(24, 5, seed=6)


@case("datasets/gene_network", random_state=1)
@case("datasets/gene_network, equal odds", hubs=None, random_state=1)
def _made(**options: Any) -> Any:
    made = dm.datasets.gene_network(12, 6, **options)
    # Powers and exponentials may differ in their last digits from one processor to another.
    return (made.expression.round(6), made.names, made.links, made.activating)


@case("datasets/load_dream4")
def _dream4() -> Any:
    values = uniform(10, 10, seed=9)
    names = [f"G{k}" for k in range(1, 11)]
    with tempfile.TemporaryDirectory() as folder:
        lines = ["\t".join(names), *("\t".join(map(repr, row)) for row in values.tolist())]
        file = Path(folder) / "insilico_size10_1_multifactorial.tsv"
        file.write_text("\n".join(lines) + "\n")
        file = Path(folder) / "DREAM4_GoldStandard_InSilico_Size10_multifactorial_1.tsv"
        file.write_text("G1\tG2\t1\nG2\tG1\t0\nG3\tG9\t1\n")
        made = dm.datasets.load_dream4(1, folder, size=10)
    return (made.expression, made.names, made.links)


@case("genie3/random forest")
@case(
    "genie3/extra-trees",
    estimator=dm.ExtraTreesRegressor(6, max_features="sqrt", min_samples_leaf=2),
)
@case("genie3/mda", measure="mda")
@case("genie3/out of bag", measure="mdi_oob", normalization="none")
@case("genie3/sum", normalization="sum", estimator=dm.RandomForestRegressor(6, max_features=None))
@case("genie3/regulators", regulators=["x1", "x3"], targets=[0, 1])
@case("genie3/variance of sources", source_scaling="variance")
@case("genie3/p-values", n_permutations=3)
@case("genie3/p-values of sources", n_permutations=3, null="source")
@case("genie3/mixed", expression=mixed(), targets=["count", "flag"])
@case("genie3/knocked out", experiment=dm.networks.Experiment(knocked_out=["x2"] * 4 + [None] * 20))
@case("genie3/time", experiment=dm.networks.Experiment(list(range(12)) * 2, [0] * 12 + [1] * 12))
@case(
    "genie3/last level",
    expression=np.floor(2 * uniform(40, 3, seed=8)).astype(int).astype(str),
    measure="last_level",
    estimator=dm.TotallyRandomizedTreesClassifier(6),
)
def _network(expression: Any = None, **options: Any) -> Any:
    network = dm.genie3(
        _expression() if expression is None else expression, n_jobs=jobs(), **{**SMALL, **options}
    )
    return (network.weights, network.p_values, network.names, network.sources, network.targets)


@case("Network/methods")
def _methods() -> Any:
    network = dm.genie3(_expression(), n_permutations=3, **SMALL)
    with tempfile.TemporaryDirectory() as folder:
        network.save(Path(folder) / "network.npz")
        again = dm.Network.load(Path(folder) / "network.npz")
        network.write_tsv(Path(folder) / "links.tsv", 4)
        lines = (Path(folder) / "links.tsv").read_text().splitlines()
        network.write_adjacencies(Path(folder) / "adjacencies.csv", 4)
        adjacencies = (Path(folder) / "adjacencies.csv").read_text().splitlines()
    assert adjacencies[0] == "TF,target,importance"
    assert [line.split(",")[:2] for line in adjacencies[1:]] == [
        line.split("\t")[:2] for line in lines
    ]
    graph = network.to_networkx(4)
    return (
        extracts.frame(network),
        network.top(3),
        network.q_values(),
        network.undirected().weights,
        [line.split("\t")[:2] for line in lines],
        sorted(graph.edges),
        again.equals(network),
    )


@case("Network/sparse")
def _sparse() -> Any:
    network = dm.genie3(_expression(), **SMALL)
    of_target, above = network.heaviest(per_target=2), network.heaviest(above=0.2)
    return (
        [result.weights.toarray() for result in (network.heaviest(4), of_target, above)],
        of_target.top(3),
        of_target.undirected().weights.toarray(),
        network.reweighted(np.zeros((5, 5)), measure="none").measure,
    )


@case("group_links")
@case("group_links/mean", how="mean", rest="own")
@case("group_links/max", how="max")
def _grouped(**options: Any) -> Any:
    groups = {"first": ["x0", "x1"], "last": ["x1", "x4"]}
    result = dm.networks.group_links(dm.genie3(_expression(), **SMALL), groups, **options)
    return (result.weights, result.names, result.sources, result.targets)


@case("Network/score")
def _scores() -> Any:
    network = dm.genie3(_expression(), **SMALL)
    gold = [("x0", "x1", 1), ("x2", "x3", 1), ("x4", "x0", 0), ("x1", "x4", 0)]
    scores = {
        pairs: network.score(gold, pairs=pairs) for pairs in ("candidates", "listed", "dream5")
    }
    overall = dm.networks.challenge_score(scores, n_random=1000)
    oriented = network.orientation(gold)
    return (
        [(score.auroc, score.aupr, score.early_precision) for score in scores.values()],
        [(score.true_positives, score.ranked) for score in scores.values()],
        overall.log10_p_auroc,
        (oriented.fraction, oriented.n_links, oriented.p_value),
    )


def _calcium() -> np.ndarray:
    """Fluorescence of six neurons, with bursts."""
    rises = (uniform(400, 6, seed=11) < 0.04) * 0.2
    rises[60::90] += 0.15
    level, frames = np.zeros(6), []
    for rise in rises:
        level = 0.95 * level + rise
        frames.append(level)
    return np.array(frames) + 0.01 * uniform(400, 6, seed=12)


def _rounded(values: Any) -> Any:
    # Products and decompositions of matrices differ in their last digits between processors.
    return np.round(values, 7)


@case("connectome/averaged")
@case("connectome/full", method="full")
@case("connectome/full, paper", method="full", weighting="w_star_paper", thresholds=[0.1, 0.12])
@case("connectome/masked", method="partial_correlation", directivity="masked")
@case("connectome/exact", method="partial_correlation", precision="exact")
@case("connectome/oas", method="partial_correlation", precision="oas")
@case("connectome/ledoit_wolf", filters={"f3": 1}, precision="ledoit_wolf")
@case("connectome/no weights", weighting="none", exponent=0.5, thresholds=0.1)
@case("connectome/pearson", method="pearson")
@case("connectome/transfer entropy", method="transfer_entropy", quiet_below=1.0)
@case("connectome/genie3", method="genie3", n_estimators=4, random_state=1)
def _connectome(**options: Any) -> Any:
    result = dm.connectome(_calcium(), n_jobs=jobs(), **options).network
    return (result.names, _rounded(result.weights), result.directed)


@case("connectome/filters")
def _filters() -> Any:
    dc = dm.networks.connectome
    x = _calcium()
    steps = dc.hard_threshold(dc.difference(dc.low_pass(x, "f2")), 0.1)
    last = dc.emphasize(dc.power(steps), tuned="f2")
    return [_rounded(values) for values in (steps.toarray(), last.toarray(), dc.low_pass(x, "f4"))]


@case("connectome/association")
def _association() -> Any:
    dc = dm.networks.connectome
    x = dc.hard_threshold(dc.difference(_calcium()), 0.1)
    spectrum = dc.components(x)
    result = (
        dc.covariance(x),
        dc.correlation(x),
        dc.partial_correlation(x),
        *(spectrum.explained_variance_ratio, spectrum.singular_value_ratio),
    )
    return [_rounded(values) for values in result]


@case("connectome/directions")
def _directions() -> Any:
    dc = dm.networks.connectome
    x = _calcium()
    rises = dc.hard_threshold(dc.difference(x), 0.1)
    counts = dc.precedence(rises, low=0.01, high=0.1)
    combined = dc.directed(dc.correlation(rises), counts)
    states = (rises.toarray() > 0).astype(int)
    entropy = dc.transfer_entropy(states, order=1, same_frame=False)
    general = dc.generalized_transfer_entropy(x, threshold=1.0, edges=[-1, 0, 0.1, 1])
    return (counts, _rounded(combined), _rounded(entropy), _rounded(general))


@case("networks/undirected_ceiling")
def _ceiling() -> Any:
    best = dm.networks.undirected_ceiling([("a", "b"), ("b", "a"), ("c", "a")], tuple("abcd"))
    return (best.auroc, best.aupr, best.n_true, best.n_pairs)
