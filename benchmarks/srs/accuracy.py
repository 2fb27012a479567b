"""Accuracy of SRS, random subspace and forests on real data: Tables 7.C.2, 7.C.3 of the thesis.

``python -m benchmarks.srs.accuracy --data DIR --out DIR`` halves each data set at random, grows
every ensemble on one half and tests it on the other; all ensembles meet the same halves. SRS has
one Extra-Tree an iteration, all of its q features candidates, and the test of the papers (one
probe, L = 10, beta = .95). It prints mean accuracies, and wins, draws and losses by paired t-tests
at .05. Results are kept in DIR.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.stats import ttest_rel

import duramen as dm
from benchmarks.srs import tasks

LEVEL = 0.05
Given = tuple[Any, NDArray[Any]]


def from_parquet(path: Path, rows: int | None = None) -> Given:
    columns = pq.read_table(path / "data.parquet").slice(0, rows)
    return columns.drop(["y"]), np.array(columns["y"].to_pylist())


def cells(path: Path) -> Given:
    import anndata

    table = anndata.read_h5ad(path / "pbmc68k_reduced.h5ad")
    return np.asarray(table.X, dtype=np.float64), table.obs["bulk_labels"].to_numpy(str)


SETS: dict[str, tuple[str, Callable[[Path], Given]]] = {
    "arcene": ("arcene", from_parquet),
    "arcene, 100 rows": ("arcene", functools.partial(from_parquet, rows=100)),  # of the thesis
    "madelon": ("madelon", functools.partial(from_parquet, rows=2000)),
    "colon": ("alon-colon", from_parquet),
    "leukemia": ("golub-leukemia", from_parquet),
    "srbct": ("khan-srbct", from_parquet),
    "dlbcl": ("shipp-dlbcl", from_parquet),
    "gbm": ("tcga-gbm-verhaak840", from_parquet),
    "pbmc": ("pbmc68k-h5ad", cells),
}
ALPHAS = (0.0, 0.5, 1.0)
# More iterations where a tree is given few features: each is given to 30, 50 and 100 trees. The
# thesis has 10,000 throughout.
ITERATIONS = {0.01: 3000, 0.05: 1000, 0.1: 1000}
TREES, CANDIDATES = 1000, (0.01, 0.1, 1.0)
METHODS = [f"SRS {q:g} {alpha:g}" for q in ITERATIONS for alpha in ALPHAS]
METHODS += [f"{kind} {K:g}" for kind in ("RF", "ET") for K in CANDIDATES]


@functools.lru_cache(maxsize=1)
def table(data: str, name: str) -> Given:
    folder, read = SETS.get(name, (name, from_parquet))
    X, y = read(Path(data) / folder)
    return dm.encode(X), y


def ensemble(
    method: str,
    p: int,
    seed: int,
    iterations: dict[float, int] = ITERATIONS,
    trees: int = TREES,
    n_jobs: int | None = None,
) -> Any:
    kind, *numbers = method.split()
    if kind == "SRS":
        q, alpha = map(float, numbers)
        return dm.SequentialRandomSubspace(
            n_estimators=iterations[q],
            n_subspace_features=max(1, round(q * p)),
            keep=alpha,
            relevance="probe",
            random_state=seed,
        )
    forest = {"RF": dm.RandomForestClassifier, "ET": dm.ExtraTreesClassifier}[kind]
    return forest(
        trees, max_features=max(1, round(float(numbers[0]) * p)), random_state=seed, n_jobs=n_jobs
    )


def accuracies(
    data: str,
    name: str,
    split: int,
    iterations: dict[float, int] = ITERATIONS,
    trees: int = TREES,
    n_jobs: int | None = None,
) -> dict[str, float]:
    X, y = table(data, name)
    rows = np.random.default_rng(split).permutation(len(y))
    half = len(y) // 2
    learn, test = rows[:half], rows[half:]
    learning, other = X.take_rows(learn), X.take_rows(test)
    right = {}
    for method in METHODS:
        fitted = ensemble(method, X.n_columns, split, iterations, trees, n_jobs).fit(
            learning, y[learn]
        )
        right[method] = float(np.mean(tasks.predicted(fitted, other) == y[test]))
    return right


def show(results: list[dict[str, Any]]) -> None:
    by_set: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        by_set.setdefault(result["name"], []).append(result)
    print("| set | splits | " + " | ".join(METHODS) + " |")
    print("| --- | --- |" + " --- |" * len(METHODS))
    for name in (name for name in SETS if name in by_set):
        means = [np.mean([first[method] for first in by_set[name]]) for method in METHODS]
        print(f"| {name} | {len(by_set[name])} | " + " | ".join(f"{x:.3f}" for x in means) + " |")
    for q in (0.1, 0.01):
        methods = [f"SRS {q:g} {alpha:g}" for alpha in ALPHAS] + ["ET 0.1", "ET 1"]
        print("\n| wins/draws/losses | " + " | ".join(methods) + " |")
        print("| --- |" + " --- |" * len(methods))
        for first in methods:
            cells = [versus(first, other, list(by_set.values())) for other in methods]
            print(f"| {first} | " + " | ".join(cells) + " |")


def versus(method: str, other: str, sets: list[list[dict[str, Any]]]) -> str:
    """Count the sets on which a method is better, not different, and worse."""
    if method == other:
        return ""
    counts = {1: 0, 0: 0, -1: 0}
    for group in sets:
        ours = np.array([split[method] for split in group])
        theirs = np.array([split[other] for split in group])
        differ = (ours != theirs).any() and ttest_rel(ours, theirs).pvalue < LEVEL
        counts[int(np.sign(ours.mean() - theirs.mean())) if differ else 0] += 1
    return f"{counts[1]}/{counts[0]}/{counts[-1]}"


def main() -> int:
    parser = tasks.parser("accuracy", __doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=50)
    options = parser.parse_args()
    wanted = [
        {"data": str(options.data), "name": name, "split": split}
        for split in range(options.splits)
        for name in SETS
    ]
    show(tasks.run(accuracies, wanted, options.out / "accuracy.jsonl", options.processes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
