"""Networks of cells: processor time of a target in GENIE3, arboreto and rustscenic.

``python -m benchmarks.scale.cells`` draws counts of cells by genes, 93 % of them zero, in which
each target depends on ten regulators, and infers the network by `genie3` on the sparse counts, by
the regression that arboreto runs for a target (GRNBoost2 and GENIE3, of its module `core`) on the
dense array that it needs, and by rustscenic, on one thread each. A method grows the forests of the
first targets only, but for rustscenic, whose targets are all genes. The average precision is that
of the links to these targets. Methods that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.scale.sparse import counts

N_LINKS = 10  # of a target


def cells(n_cells: int, n_regulators: int, n_targets: int) -> tuple[Any, Any]:
    """Draw counts of regulators and of targets that depend on them, in CSC, and the links."""
    random = np.random.default_rng(0)
    X = counts(n_cells, n_regulators, 0.07)
    scaled = np.log1p(X)
    links = np.zeros((n_regulators, n_targets), dtype=bool)
    targets = []
    common = np.flatnonzero(X.getnnz(axis=0) > 0.03 * n_cells)
    for j in range(n_targets):
        sources = random.choice(common, N_LINKS, replace=False)
        links[sources, j] = True
        level = scaled[:, sources] @ random.uniform(0.5, 1.5, N_LINKS)
        targets.append(random.poisson(0.15 * level + 0.02).astype(np.float32))
    return sparse.hstack([X, sparse.csc_matrix(np.column_stack(targets))], format="csc"), links


def by_duramen(
    X: Any, names: list[str], n_regulators: int, targets: list[str], **options: Any
) -> Any:
    """Return the weights of the links to some targets."""
    import duramen as dm

    forest = dm.RandomForestRegressor(options.pop("n_estimators"), **options)
    table = dm.encode(X, names=names)
    network = dm.genie3(
        table, regulators=names[:n_regulators], targets=targets, estimator=forest, random_state=0
    )
    weights = sparse.csc_array(network.weights)
    return weights[:n_regulators, [names.index(name) for name in targets]].toarray()


def by_arboreto(
    X: Any, names: list[str], n_regulators: int, targets: list[str], kind: str, **options: Any
) -> Any:
    """Return the weights of links by the regressions of arboreto."""
    core: Any = import_module("arboreto.core")
    settings = {**(core.SGBM_KWARGS if kind == "GBM" else core.RF_KWARGS), **options}
    dense = X.toarray() if sparse.issparse(X) else X
    weights = np.zeros((n_regulators, len(targets)))
    for j, target in enumerate(targets):
        y = dense[:, names.index(target)]
        links = core.infer_partial_network(
            kind, settings, dense[:, :n_regulators], names[:n_regulators], target, y
        )
        weights[[names.index(name) for name in links["TF"]], j] = links["importance"]
    return weights


def by_rustscenic(X: Any, names: list[str], n_regulators: int, targets: list[str]) -> Any:
    """Return the weights of links by rustscenic, whose targets are all genes."""
    grn: Any = import_module("rustscenic.grn")
    links = grn.infer((X, names), names[:n_regulators], verbose=False)
    weights = np.zeros((n_regulators, len(targets)))
    links = links[links["target"].isin(targets)]
    rows = [names.index(name) for name in links["TF"]]
    weights[rows, [targets.index(name) for name in links["target"]]] = links["importance"]
    return weights


def main() -> None:
    """Draw the counts, and run each method in turn."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.cells", description=__doc__)
    parser.add_argument("--cells", type=int, default=20000)
    parser.add_argument("--regulators", type=int, default=300)
    parser.add_argument("--targets", type=int, default=10)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--methods", default="", help="words, one of which a method must contain")
    asked = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = "1"
    from sklearn.metrics import average_precision_score

    X, links = cells(asked.cells, asked.regulators, asked.targets)
    names = [f"g{j}" for j in range(X.shape[1])]
    targets = names[asked.regulators :]
    forest = {"n_estimators": asked.trees, "max_features": "sqrt"}
    methods: dict[str, tuple[Callable[..., Any], dict[str, Any], int]] = {
        "duramen, all cells, depth 4": (
            by_duramen,
            {**forest, "max_depth": 4, "bootstrap": False},
            len(targets),
        ),
        "duramen, trees of depth 6": (by_duramen, {**forest, "max_depth": 6}, len(targets)),
        "duramen, leaves of 20": (by_duramen, {**forest, "min_samples_leaf": 20}, len(targets)),
        "duramen, as published": (by_duramen, forest, len(targets)),
        "rustscenic": (by_rustscenic, {}, len(names)),
        "arboreto, GRNBoost2": (by_arboreto, {"kind": "GBM"}, 3),
        "arboreto, GENIE3": (by_arboreto, {"kind": "RF", "n_estimators": asked.trees}, 1),
    }
    print(
        f"{X.shape[0]} cells, {asked.regulators} regulators, {X.nnz / np.prod(X.shape):.1%} entries"
    )
    print("                            processor s a target   average precision")
    for name, (infer, options, n_targets) in methods.items():
        if asked.methods and not any(word in name for word in asked.methods.split(",")):
            continue
        some = targets[:n_targets]
        start = time.process_time()
        try:
            weights = infer(X, names, asked.regulators, some, **options)
        except ModuleNotFoundError as error:
            print(f"{name:28}not installed: {error.name}")
            continue
        spent = (time.process_time() - start) / n_targets
        precision = average_precision_score(links[:, : len(some)].ravel(), weights.ravel())
        print(f"{name:28}{spent:12.2f}{precision:20.3f} ({len(some)} targets)", flush=True)


if __name__ == "__main__":
    main()
