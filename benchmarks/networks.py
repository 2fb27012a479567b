"""Network inference on real and simulated data: accuracy, time and memory.

``python -m benchmarks.networks dream4 --data DIR`` scores the published settings of GENIE3 and the
default of `duramen.genie3` on the DREAM4 multifactorial networks of 100 genes, in
DIR (`duramen.datasets.load_dream4`), over several seeds.

``python -m benchmarks.networks speed`` times 1000 trees a target on 100 genes and 100 samples, and
a loop over scikit-learn's forests in the same run.

``python -m benchmarks.networks bsubtilis --data DIR`` infers the network of Bacillus subtilis, end
to end (``expression.parquet``, ``tfs.txt``, ``gold_edges.parquet``), with time and peak memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import duramen as dm

PUBLISHED = {"AUPR": (0.154, 0.155, 0.231), "AUROC": (0.745, 0.733, 0.775)}
PUBLISHED_SETTINGS: dict[str, Any] = {"measure": "mdi", "source_scaling": "none"}
# Chosen on simulated networks by the rule of benchmarks/network_default.py.
CHOSEN_SETTINGS: dict[str, Any] = {"max_features": 1 / 3, "source_scaling": "variance"}


def dream4(data: Path, seeds: int, jobs: int) -> None:
    """Print mean areas over seeds of published and default settings."""
    print("| network | settings | AUPR | AUROC | early precision | orientation |")
    print("| --- | --- | --- | --- | --- | --- |")
    for number in (1, 2, 3):
        made = dm.datasets.load_dream4(number, data)
        print(
            f"| {number} | as printed | {PUBLISHED['AUPR'][number - 1]:.3f} "
            f"| {PUBLISHED['AUROC'][number - 1]:.3f} | | |"
        )
        for name, settings in (("published", PUBLISHED_SETTINGS), ("chosen", CHOSEN_SETTINGS)):
            found = []
            for seed in range(seeds):
                network = dm.genie3(
                    made.expression, names=made.names, random_state=seed, n_jobs=jobs, **settings
                )
                one = network.score(made.links)
                right = network.orientation(made.links).fraction
                found.append((one.aupr, one.auroc, one.early_precision, right))
            mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
            cells = " | ".join(f"{m:.4f} ± {s:.4f}" for m, s in zip(mean, spread, strict=True))
            print(f"| {number} | {name} | {cells} |")


def speed(repeats: int, jobs: int) -> None:
    """Print the medians of interleaved runs of this package and of scikit-learn."""
    from sklearn.ensemble import RandomForestRegressor

    made = dm.datasets.gene_network(random_state=0).expression
    scaled = (made - made.mean(axis=0)) / made.std(axis=0)
    ours, theirs = [], []
    for seed in range(repeats):
        start = time.perf_counter()
        dm.genie3(made, n_jobs=jobs, random_state=seed, **PUBLISHED_SETTINGS)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        for j in range(10):  # a tenth of the targets
            forest = RandomForestRegressor(
                1000, max_features="sqrt", n_jobs=jobs, random_state=seed
            ).fit(np.delete(scaled, j, axis=1), scaled[:, j])
            np.mean([tree.tree_.compute_feature_importances(False) for tree in forest], axis=0)
        theirs.append(10 * (time.perf_counter() - start))
    mine, other = np.median(ours), np.median(theirs)
    print(f"duramen {mine:.2f} s; scikit-learn {other:.1f} s (from 10 targets): {other / mine:.1f}")


def bsubtilis(data: Path, jobs: int, trees: int) -> None:
    """Print time, memory and areas."""
    expression = pq.read_table(data / "expression.parquet").to_pandas()
    factors = (data / "tfs.txt").read_text().split()
    gold = list(zip(*pq.read_table(data / "gold_edges.parquet").to_pydict().values(), strict=True))
    for name, settings in (("published", PUBLISHED_SETTINGS), ("chosen", CHOSEN_SETTINGS)):
        start = time.perf_counter()
        network = dm.genie3(
            expression,
            genes="rows",
            regulators=factors,
            n_estimators=trees,
            n_jobs=jobs,
            random_state=0,
            verbose=1,
            **settings,
        )
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name}: {seconds:.0f} s, {peak:.0f} MB")
        for pairs in ("candidates", "dream5"):
            print(f"  {pairs}: {network.score(gold, pairs=pairs)}")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["dream4", "speed", "bsubtilis"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    if asked.what == "speed":
        speed(asked.repeats, asked.jobs)
    elif asked.data is None:
        parser.error(f"{asked.what} needs --data DIR")
    elif asked.what == "dream4":
        dream4(asked.data, asked.seeds, asked.jobs)
    else:
        bsubtilis(asked.data, asked.jobs, asked.trees)


if __name__ == "__main__":
    main()
