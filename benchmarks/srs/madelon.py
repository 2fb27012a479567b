"""Madelon with more and more noise, by the protocol of Geurts' slides (2016).

``python -m benchmarks.srs.madelon --data DIR/madelon/data.parquet --out DIR`` splits 1500 rows into
1000 to learn from and 500 to test, fifty times. Beside the 20 relevant features there are the 480
irrelevant ones, or 5480: the others are irrelevant ones with their rows permuted. Trees are
Extra-Trees of q = 50 features, all of them candidates, without bootstrap. It prints means over the
splits of the area under the precision-recall curve (features ranked by mean decrease of impurity)
and of the accuracy, and draws both against iterations to ``DIR/madelon.png``. Results are kept in
DIR.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

import duramen as dm
from benchmarks.srs import tasks
from duramen.forests import prediction

RELEVANT = (28, 48, 64, 105, 128, 153, 241, 281, 318, 336)
RELEVANT += (338, 378, 433, 442, 451, 453, 455, 472, 475, 493)
ROWS, LEARN, SUBSPACE = 1500, 1000, 50
ITERATIONS = {5500: 10_000, 500: 4000}
ALPHAS = (0.0, 0.1, 0.5)
STAGES = 20


@functools.lru_cache(maxsize=1)
def table(path: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    columns = pq.read_table(path)
    y = columns["y"].to_numpy()
    X = np.column_stack([column.to_numpy() for column in columns.drop(["y"]).columns])
    return X.astype(np.float64), y


def problem(
    path: str, split: int, p: int
) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[np.bool_]]:
    """Return 1500 rows with p features, their classes, and which features are relevant."""
    X, y = table(path)
    random = np.random.default_rng(split)
    rows = random.permutation(len(y))[:ROWS]
    X, y = X[rows], y[rows]
    relevant = np.isin(np.arange(p), RELEVANT)
    noise = np.flatnonzero(~relevant[: X.shape[1]])
    drawn = random.choice(noise, p - X.shape[1])
    X = np.hstack([X, *(random.permutation(X[:, j])[:, None] for j in drawn)])
    return X, y, relevant


def search(path: str, split: int, p: int, alpha: float, iterations: int) -> dict[str, Any]:
    X, y, relevant = problem(path, split, p)
    model = dm.SequentialRandomSubspace(
        n_estimators=iterations,
        n_subspace_features=SUBSPACE,
        keep=alpha,
        # Without places for what was found the test decides nothing; the probe is cheaper.
        relevance="decoy" if alpha else "probe",
        random_state=split,
    ).fit(X[:LEARN], y[:LEARN])
    return staged(model, X, y, relevant, iterations // STAGES)


def staged(
    model: Any, X: NDArray[Any], y: NDArray[Any], relevant: NDArray[np.bool_], every: int
) -> dict[str, Any]:
    """Return area and accuracy of a fitted search after every `every` iterations."""
    forest, columns = model.forest_, model.forest_columns_
    test = tasks.rows_of(model, X[LEARN:])
    areas, accuracies = [], []
    for end in [*range(every, forest.n_trees, every), forest.n_trees]:
        trees, values = forest.part(0, end), np.zeros(X.shape[1])
        values[columns] = dm.importances.mdi(trees).values[:-1]
        areas.append(float(average_precision_score(relevant, values)))
        labels = model.classes_[prediction.predict(trees, test).argmax(axis=1)]
        accuracies.append(float(np.mean(labels == y[LEARN:])))
    return {
        "auprc": areas,
        "accuracy": accuracies,
        "found": len(model.selected_),
        "found relevant": int(relevant[model.selected_].sum()),
    }


def grouped(results: list[dict[str, Any]]) -> dict[tuple[int, float], list[dict[str, Any]]]:
    groups: dict[tuple[int, float], list[dict[str, Any]]] = {}
    for result in sorted(results, key=lambda r: (r["p"], r["alpha"], r["split"])):
        groups.setdefault((result["p"], result["alpha"]), []).append(result)
    return groups


def show(results: list[dict[str, Any]]) -> None:
    heads = ("features", "alpha", "iterations", "splits", "AUPRC at T/10, T/2, T")
    print(f"| {' | '.join(heads)} | accuracy | found |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (p, alpha), group in grouped(results).items():
        areas = np.array([run["auprc"] for run in group])
        error = areas[:, -1].std(ddof=1) / np.sqrt(len(group)) if len(group) > 1 else np.nan
        accuracy = np.mean([run["accuracy"][-1] for run in group])
        result = np.mean([[run["found"], run["found relevant"]] for run in group], axis=0)
        at = ", ".join(f"{areas[:, k].mean():.3f}" for k in (1, 9, 19))
        print(
            f"| {p} | {alpha:g} | {group[0]['iterations']} | {len(group)} | "
            f"{at} +- {error:.3f} | "
            f"{accuracy:.3f} | {result[0]:.1f}, {result[1]:.1f} relevant |"
        )


def draw(results: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.6), layout="constrained")
    panels = figure.subplots(2, 2, sharey="row", sharex="col")
    colours = dict(zip(ALPHAS, ("tab:gray", "tab:blue", "tab:orange"), strict=True))
    for (p, alpha), group in grouped(results).items():
        column = sorted(ITERATIONS).index(p)
        at = np.arange(1, STAGES + 1) * group[0]["iterations"] // STAGES
        for row, what in enumerate(("auprc", "accuracy")):
            means = np.mean([run[what] for run in group], axis=0)
            panels[row, column].plot(
                at,
                means,
                color=colours[alpha],
                label=f"alpha {alpha:g}",
            )
        panels[0, column].set_title(f"{p - 20} irrelevant features")
        panels[1, column].set_xlabel("iterations")
    panels[0, 0].set_ylabel("area under precision-recall")
    panels[1, 0].set_ylabel("accuracy")
    panels[0, 0].legend(frameon=False)
    for panel in panels.flat:
        panel.grid(alpha=0.3)
    figure.savefig(path, dpi=130)


def main() -> int:
    parser = tasks.parser("madelon", __doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--alphas", type=float, nargs="*", default=ALPHAS)
    parser.add_argument("--iterations", type=int, help="10,000 and 4000 by default")
    options = parser.parse_args()
    wanted = [
        {
            "path": str(options.data),
            "split": split,
            "p": p,
            "alpha": alpha,
            "iterations": options.iterations or number,
        }
        for p, number in ITERATIONS.items()
        for split in range(options.splits)
        for alpha in options.alphas
    ]
    results = tasks.run(search, wanted, options.out / "madelon.jsonl", options.processes)
    show(results)
    draw(results, options.out / "madelon.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
