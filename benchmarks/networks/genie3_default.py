"""Choice of the default of `genie3` on simulated networks.

The plan, written before any candidate was run on data with a gold standard (DREAM4):

1. Candidates: forests (random forest, Extra-Trees; K = sqrt, K = p / 3), leaves of at least 1 or 5
   rows, MDI of the training rows (as published) or of the rows out of the bag, which has mean 0 for
   a source that is irrelevant. Each with its weights as they are, and with the weights of a source
   multiplied by their variance over the targets: a regulator of many genes then ranks before a gene
   that is merely the best of many irrelevant ones (Slawek and Arodz 2013, ENNET). That regulators
   have very different numbers of targets is known of gene networks (Barabasi and Oltvai 2004).
2. Networks: `duramen.datasets.gene_network` of 100 genes and 100 samples, three seeds for each of
   eight settings: hubs (exponents 1.5 and none), noise (.05 and .1), and fractions of regulators
   (.3 and .7).
3. Rule: the candidate of the largest mean area under the precision-recall curve over all networks
   becomes the default; one that is within one standard error of it and differs less from the
   published settings goes before it. DREAM4 is then looked at once, with this default.

``python -m benchmarks.networks.genie3_default`` prints the table. With ``--indirect`` it compares
direct links with pairs that are two links apart and have none (thesis, section 8.2.2), for settings
that are said to reduce the weights of the latter, in eight networks.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from duramen.datasets import gene_network
from duramen.estimators import ExtraTreesRegressor, RandomForestRegressor
from duramen.networks import genie3

SETTINGS = list(product((1.5, None), (0.05, 0.1), (0.3, 0.7)))
FORESTS = {
    "random forest, K = sqrt": {"max_features": "sqrt", "measures": ("mdi", "mdi_oob")},
    "random forest, K = p / 3": {"max_features": 1 / 3, "measures": ("mdi", "mdi_oob")},
    "random forest, K = sqrt, leaves of 5": {
        "max_features": "sqrt",
        "min_samples_leaf": 5,
        "measures": ("mdi", "mdi_oob"),
    },
    "Extra-Trees, K = sqrt": {
        "kind": ExtraTreesRegressor,
        "max_features": "sqrt",
        "measures": ("mdi",),
    },
    "Extra-Trees, K = p / 3": {
        "kind": ExtraTreesRegressor,
        "max_features": 1 / 3,
        "measures": ("mdi",),
    },
    "Extra-Trees, K = sqrt, leaves of 5": {
        "kind": ExtraTreesRegressor,
        "max_features": "sqrt",
        "min_samples_leaf": 5,
        "measures": ("mdi",),
    },
}


# Settings of random forests with all others as by default, K = p / 3.
AGAINST_INDIRECT = {
    "K = p / 3": {},
    "K = p": {"max_features": None},
    "leaves of 5": {"min_samples_leaf": 5},
    "K = p, leaves of 5": {"max_features": None, "min_samples_leaf": 5},
    "depth 3": {"max_depth": 3},
    "K = p, depth 3": {"max_features": None, "max_depth": 3},
    "stop_alpha = .01": {"stop_alpha": 0.01},
    "K = p, stop_alpha = .01": {"max_features": None, "stop_alpha": 0.01},
}


def indirect(trees: int, seeds: int, jobs: int) -> None:
    """Print how well weights separate direct links from pairs at a distance of two links."""
    areas: dict[str, list[tuple[float, float]]] = {name: [] for name in AGAINST_INDIRECT}
    for (hubs, noise, regulators), seed in product(SETTINGS, range(seeds)):
        made = gene_network(hubs=hubs, noise=noise, regulators=regulators, random_state=seed)
        off = ~np.eye(len(made.names), dtype=np.bool_)
        links = made.links.astype(int)
        two_steps = (links @ links > 0) & ~made.links & ~made.links.T & off
        compared = made.links | two_steps
        for name, settings in AGAINST_INDIRECT.items():
            forest = RandomForestRegressor(trees, **{"max_features": 1 / 3, **settings})
            weights = genie3(
                made.expression, estimator=forest, random_state=seed, n_jobs=jobs
            ).weights
            areas[name].append(
                (
                    roc_auc_score(made.links[compared], weights[compared]),
                    average_precision_score(made.links[off], weights[off]),
                )
            )
    first = np.array(areas["K = p / 3"])
    print(
        "| setting | AUROC, direct against two steps | difference | AUPR, all pairs | difference |"
    )
    print("| --- | --- | --- | --- | --- |")
    for name, values in areas.items():
        cells = []
        for area, base in zip(np.array(values).T, first.T, strict=True):
            error = (area - base).std(ddof=1) / np.sqrt(len(area))
            cells += [f"{area.mean():.3f}", f"{(area - base).mean():+.3f} +- {error:.3f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def by_variance(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights multiplied by the variance of their row, without the diagonal."""
    p = len(weights)
    off = weights[~np.eye(p, dtype=np.bool_)].reshape(p, p - 1)
    scaled: NDArray[np.float64] = weights * off.var(axis=1)[:, None]
    return scaled


def main() -> None:
    """Print mean areas, and their standard errors over the networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--indirect", action="store_true", help="direct links against indirect ones"
    )
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.indirect:
        indirect(options.trees, 1, options.jobs)
        return
    areas: dict[str, list[tuple[float, float]]] = {}
    for (hubs, noise, regulators), seed in product(SETTINGS, range(options.seeds)):
        made = gene_network(hubs=hubs, noise=noise, regulators=regulators, random_state=seed)
        off = ~np.eye(len(made.names), dtype=np.bool_)
        for name, forest in FORESTS.items():
            settings = {"kind": RandomForestRegressor, **forest}
            kind, measures = settings.pop("kind"), settings.pop("measures")
            for measure in measures:
                network = genie3(
                    made.expression,
                    estimator=kind(options.trees, **settings),
                    measure=measure,
                    random_state=seed,
                    n_jobs=options.jobs,
                ).weights
                for scaling, weights in (("", network), (", by variance", by_variance(network))):
                    area = (
                        average_precision_score(made.links[off], weights[off]),
                        roc_auc_score(made.links[off], weights[off]),
                    )
                    areas.setdefault(f"{name}, {measure}{scaling}", []).append(area)
    print("| candidate | AUPR | with hubs | without | AUROC |\n| --- | --- | --- | --- | --- |")
    half = len(next(iter(areas.values()))) // 2
    for name, values in areas.items():
        both = np.array(values)
        error = both[:, 0].std(ddof=1) / np.sqrt(len(both))
        print(
            f"| {name} | {both[:, 0].mean():.4f} ± {error:.4f} | {both[:half, 0].mean():.4f} "
            f"| {both[half:, 0].mean():.4f} | {both[:, 1].mean():.4f} |"
        )


if __name__ == "__main__":
    main()
