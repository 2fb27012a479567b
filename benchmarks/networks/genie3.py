"""Network inference on real and simulated data: accuracy, time and memory.

``python -m benchmarks.networks.genie3 dream4 --data DIR`` scores the published settings of GENIE3,
the default of `duramen network`, and boosting with the settings of GRNBoost2 on the DREAM4
multifactorial networks of 100 genes, in DIR (`duramen.datasets.load_dream4`), over several seeds;
beside them GRNBoost2 and GENIE3 of arboreto and rustscenic, once, where they are installed.

``python -m benchmarks.networks.genie3 discoveries --data DIR`` compares the links with q <= 0.1 on
these networks with the true ones, and sorts those that are none by their place in the true network.

``python -m benchmarks.networks.genie3 speed`` times 1000 trees a target on 100 genes and 100
samples, beside a loop over scikit-learn's forests, the published Python program's way (forests of
scikit-learn, a process for each thread), and ranger where R is installed; rounds are interleaved.

``python -m benchmarks.networks.genie3 bsubtilis --data DIR`` runs `duramen network` on Bacillus
subtilis, end to end (``expression.parquet``, ``tfs.txt``, ``gold_edges.parquet``), with time and
peak memory.

``python -m benchmarks.networks.genie3 peers --data DIR`` compares its areas on some targets of
these data with those of scikit-learn's forests of the same settings, over several seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from joblib import Parallel, delayed
from numpy.typing import NDArray

import duramen as dm
from benchmarks.measuring import timed
from benchmarks.scale.cells import by_arboreto, by_rustscenic
from benchmarks.speed import ranger

FloatArray = NDArray[np.float64]

PUBLISHED = {"AUPR": (0.154, 0.155, 0.231), "AUROC": (0.745, 0.733, 0.775)}
PUBLISHED_SETTINGS: dict[str, Any] = {"measure": "mdi", "source_scaling": "none"}
# Chosen on simulated networks by the rule of benchmarks/networks/genie3_default.py.
CHOSEN_SETTINGS: dict[str, Any] = {
    "estimator": dm.RandomForestRegressor(1000, max_features=1 / 3),
    "source_scaling": "variance",
}
# Those of GRNBoost2.
BOOSTED_SETTINGS: dict[str, Any] = {"estimator": dm.networks.GradientBoosting()}
PEERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "rustscenic": (by_rustscenic, {}),
    "arboreto, GRNBoost2": (by_arboreto, {"kind": "GBM"}),
    "arboreto, GENIE3": (by_arboreto, {"kind": "RF"}),
}


def published(trees: int) -> dm.RandomForestRegressor:
    """Return the published forest with a number of trees."""
    return dm.RandomForestRegressor(trees, max_features="sqrt")


def dream4(data: Path, seeds: int, jobs: int) -> None:
    """Print mean areas over seeds of published and default settings."""
    print("| network | settings | AUPR | AUROC | early precision | orientation | by errors |")
    print("| --- " * 7 + "|")
    for number in (1, 2, 3):
        made = dm.datasets.load_dream4(number, data)
        print(
            f"| {number} | as printed | {PUBLISHED['AUPR'][number - 1]:.3f} "
            f"| {PUBLISHED['AUROC'][number - 1]:.3f} | | | |"
        )
        for name, settings in (
            ("published", PUBLISHED_SETTINGS),
            ("chosen", CHOSEN_SETTINGS),
            ("boosting", BOOSTED_SETTINGS),
        ):
            results = []
            for seed in range(seeds):
                network = dm.genie3(
                    made.expression, names=made.names, random_state=seed, n_jobs=jobs, **settings
                )
                scores = network.score(made.links)
                right = network.orientation(made.links).fraction
                oriented = dm.networks.reci(network, made.expression)
                by_errors = oriented.orientation(made.links).fraction
                results.append(
                    (scores.aupr, scores.auroc, scores.early_precision, right, by_errors)
                )
            mean, spread = np.mean(results, axis=0), np.std(results, axis=0)
            cells = " | ".join(f"{m:.4f} ± {s:.4f}" for m, s in zip(mean, spread, strict=True))
            print(f"| {number} | {name} | {cells} |")
        for name, (infer, options) in PEERS.items():
            try:
                weights = infer(made.expression, made.names, len(made.names), made.names, **options)
            except ModuleNotFoundError as error:
                print(f"{name} is not installed: {error.name}")
                continue
            scores = network.reweighted(weights).score(made.links)
            print(
                f"| {number} | {name} | {scores.aupr:.4f} | {scores.auroc:.4f} "
                f"| {scores.early_precision:.4f} | | |",
                flush=True,
            )


def discoveries(data: Path, trees: int, permutations: int, jobs: int) -> None:
    """Print the false discovery proportion at q = 0.1, and the kinds of false discoveries."""
    kinds = ("reverse", "path", "common ancestor", "other")
    print(f"| network | links | true | not true | proportion | of the null | {' | '.join(kinds)} |")
    print("| --- " * (6 + len(kinds)) + "|")
    for number in (1, 2, 3):
        made = dm.datasets.load_dream4(number, data)
        network = dm.genie3(
            made.expression,
            names=made.names,
            estimator=published(trees),
            n_permutations=permutations,
            null="pooled",  # some genes have the same value twice: "auto" would not pool
            random_state=0,
            n_jobs=jobs,
            **PUBLISHED_SETTINGS,
        )
        discovered = network.q_values() <= 0.1
        false = discovered & ~made.links
        kind = _kinds(made.links)
        none = ~made.links & ~np.eye(len(made.names), dtype=np.bool_)
        n, n_false = int(discovered.sum()), int(false.sum())
        cells = [
            f"{(kind[false] == k).sum() / max(1, n_false):.2f} ({(kind[none] == k).mean():.2f})"
            for k in range(len(kinds))
        ]
        print(
            f"| {number} | {n} | {n - n_false} | {n_false} | {n_false / max(1, n):.3f} "
            f"| {(kind[false] == len(kinds) - 1).sum() / max(1, n):.3f} | {' | '.join(cells)} |"
        )
    print(
        "In parentheses: fractions among all pairs that are no links. Of the null: without a path"
    )
    print("or a common ancestor the genes are independent; the proportion of such pairs.")


def _kinds(links: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Sort pairs: 0 reverse of a link, 1 on a path, 2 with a common ancestor, 3 none of these."""
    reach = links.copy()
    for _ in range(int(np.ceil(np.log2(len(links)))) + 1):
        reach |= (reach.astype(np.int64) @ reach) > 0
    common = (reach.T.astype(np.int64) @ reach) > 0
    kinds: NDArray[np.int64] = np.select([links.T, reach | reach.T, common], [0, 1, 2], 3)
    return kinds


def forest_scores(X: FloatArray, y: FloatArray, trees: int, seed: int, jobs: int) -> FloatArray:
    """Return the mean variance reductions of scikit-learn's forest for one target."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(trees, max_features="sqrt", n_jobs=jobs, random_state=seed)
    forest.fit(X, (y - y.mean()) / y.std())
    scores: FloatArray = np.mean(
        [tree.tree_.compute_feature_importances(normalize=False) for tree in forest], axis=0
    )
    return scores


def without(X: FloatArray, j: int) -> FloatArray:
    """Return all columns but one."""
    return np.delete(X, j, axis=1)


def speed(repeats: int, jobs: int, trees: int, targets: int) -> None:
    """Print the times of interleaved runs of this package and of others, and their ratios.

    scikit-learn and ranger grow the forests of the first `targets` of 100 genes; their times are
    scaled up to all.
    """
    made = dm.datasets.gene_network(random_state=0).expression
    up = float(made.shape[1] / targets)

    def ours(seed: int) -> float:
        settings = {"n_jobs": jobs, "random_state": seed, **PUBLISHED_SETTINGS}
        return timed(lambda: dm.genie3(made, estimator=published(trees), **settings))[0]

    def loop(seed: int) -> float:
        return (
            up
            * timed(
                lambda: [
                    forest_scores(without(made, j), made[:, j], trees, seed, jobs)
                    for j in range(targets)
                ]
            )[0]
        )

    pool: Any = Parallel(n_jobs=jobs)

    def program(seed: int) -> float:
        scored = delayed(forest_scores)
        return (
            up
            * timed(
                lambda: pool(
                    scored(without(made, j), made[:, j], trees, seed, 1) for j in range(targets)
                )
            )[0]
        )

    def with_ranger(seed: int) -> float:  # on one thread each, and as if threads cost nothing
        k = int(np.sqrt(made.shape[1] - 1))
        each = [
            ranger.seconds_of(without(made, j), made[:, j], "RF", k, trees, True, seed)
            for j in range(targets)
        ]
        return float(up * sum(each) / jobs)

    sides = {"duramen": ours, "scikit-learn loop": loop, "published program": program}
    if ranger.version() is not None:
        sides["ranger loop"] = with_ranger
    small = delayed(forest_scores)(made[:, :3], made[:, 0], 50, 0, 1)
    pool(small for _ in range(4 * jobs))  # processes are started, and import scikit-learn
    dm.genie3(made[:, :3], estimator=published(2))
    print(f"load {os.getloadavg()[0]:.1f}; {jobs} threads, {trees} trees a target")
    times: dict[str, list[float]] = {name: [] for name in sides}
    for seed in range(repeats):
        for name, run in sides.items():
            times[name].append(run(seed))
    mine = np.median(times["duramen"])
    for name, durations in times.items():
        each = ", ".join(f"{seconds:.2f}" for seconds in durations)
        middle = np.median(durations)
        print(f"{name}: {middle:.2f} s ({each}); {middle / mine:.1f} times duramen")
    print(f"of 56 s (published program) and 11 s (ranger): {56 / mine:.1f} and {11 / mine:.1f}")


def bsubtilis(data: Path, jobs: int, trees: int, checkpoint: Path | None) -> None:
    """Print time, peak memory and areas of `duramen network` on all genes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "duramen", "network", str(data / "expression.parquet")]
        command += ["--transpose", "--regulators", str(data / "tfs.txt")]
        command += ["--gold", str(data / "gold_edges.parquet"), "--trees", str(trees)]
        command += ["--max-features", "sqrt", "--source-scaling", "none"]
        command += ["--jobs", str(jobs), "--out", f"{folder}/out", "--quiet"]
        command += [] if checkpoint is None else ["--checkpoint", str(checkpoint)]
        start = time.perf_counter()
        process = subprocess.Popen(command)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if status:
            raise SystemExit(status)
        print(f"{seconds:.0f} s, of the processors {used.ru_utime + used.ru_stime:.0f} s")
        print(f"peak memory {used.ru_maxrss / 1024:.0f} MB")
        print(json.loads((Path(folder) / "out" / "run.json").read_text())["results"])


def peers(data: Path, jobs: int, trees: int, seeds: int, targets: int) -> None:
    """Print the areas of both packages on random targets with known links."""
    expression = pq.read_table(data / "expression.parquet").to_pandas().set_index("gene")
    names, values = list(expression.index), expression.to_numpy().T
    factors = (data / "tfs.txt").read_text().split()
    edges = pq.read_table(data / "gold_edges.parquet").to_pydict()
    gold = list(zip(edges["regulator"], edges["target"], strict=True))
    targets_in_gold = sorted(set(edges["target"]) & set(names))
    chosen = sorted(
        np.random.default_rng(0).choice(targets_in_gold, targets, replace=False).tolist()
    )
    place = {name: j for j, name in enumerate(names)}
    sources = sorted(place[name] for name in factors)
    areas: dict[str, list[tuple[float, float]]] = {"duramen": [], "scikit-learn": []}
    for seed in range(seeds):
        ours = dm.genie3(
            values,
            names=names,
            regulators=factors,
            targets=chosen,
            estimator=published(trees),
            n_jobs=jobs,
            random_state=seed,
            **PUBLISHED_SETTINGS,
        )
        weights = np.zeros(ours.weights.shape)
        for name in chosen:
            j = place[name]
            inputs = [i for i in sources if i != j]
            # Seeds of their own: with one for all targets their bootstrap samples are the same.
            own = seed * len(names) + j
            weights[inputs, j] = forest_scores(values[:, inputs], values[:, j], trees, own, jobs)
        for name, network in (("duramen", ours), ("scikit-learn", ours.reweighted(weights))):
            scores = network.score(gold)
            areas[name].append((scores.aupr, scores.auroc))
    print(f"{targets} targets, {trees} trees a target, {seeds} seeds; AUPR and AUROC")
    for name, area in areas.items():
        mean, spread = np.mean(area, axis=0), np.std(area, axis=0, ddof=1)
        print(name, " ".join(f"{m:.4f} ± {s:.4f}" for m, s in zip(mean, spread, strict=True)))


def main() -> None:
    """Run the steps named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = ["dream4", "discoveries", "speed", "bsubtilis", "peers"]
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--data", type=Path, help="folder of the data")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3, help="rounds of speed")
    parser.add_argument("--trees", type=int, default=1000, help="trees a target")
    parser.add_argument("--targets", type=int, default=10, help="targets of scikit-learn")
    parser.add_argument("--permutations", type=int, default=20, help="of each target")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--checkpoint", type=Path, help="of bsubtilis")
    asked = parser.parse_args()
    if asked.what == "speed":
        speed(asked.repeats, asked.jobs, asked.trees, asked.targets)
    elif asked.data is None:
        parser.error(f"{asked.what} needs --data DIR")
    elif asked.what == "dream4":
        dream4(asked.data, asked.seeds, asked.jobs)
    elif asked.what == "discoveries":
        discoveries(asked.data, asked.trees, asked.permutations, asked.jobs)
    elif asked.what == "bsubtilis":
        bsubtilis(asked.data, asked.jobs, asked.trees, asked.checkpoint)
    else:
        peers(asked.data, asked.jobs, asked.trees, asked.seeds, asked.targets)


if __name__ == "__main__":
    main()
