"""Figure 2 of the SRS paper: found features among 50,000 features, 20 of them relevant.

``python -m benchmarks.srs.figure2 --out DIR`` searches problems like Madelon (2000 rows), one a
seed, with q = 250 and 2500 features a tree and alpha = 0, .5 and 1, by the tests "decoy" and
"probe" (L = 10, beta = .95), one Extra-Tree an iteration with all its features as candidates. It
prints the F1 of what was found against what is relevant, and draws its curves to
``DIR/figure2.png``. Results are kept in DIR and not computed again.
"""

from __future__ import annotations

import functools
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.srs import tasks

ROWS, FEATURES, RELEVANT = 2000, 50_000, 20
ITERATIONS = {250: 10_000, 2500: 1000}  # each feature is given to 50 trees, on average
ALPHAS = (0.0, 0.5, 1.0)
TESTS = ("decoy", "probe")


@functools.lru_cache(maxsize=1)
def problem(seed: int, features: int = FEATURES) -> tuple[Any, NDArray[Any], NDArray[np.bool_]]:
    data = dm.datasets.madelon_like(ROWS, n_probes=features - RELEVANT, random_state=seed)
    return dm.encode(data.X), data.y, np.isin(data.names, data.relevant)


def search(
    seed: int, q: int, alpha: float, test: str, iterations: int, features: int = FEATURES
) -> dict[str, Any]:
    X, y, relevant = problem(seed, features)
    start = time.perf_counter()
    model = dm.SequentialRandomSubspace(
        n_estimators=iterations,
        n_subspace_features=q,
        keep=alpha,
        relevance=test,
        random_state=seed,
    ).fit(X, y)
    return {
        "seconds": time.perf_counter() - start,
        "entered": model.entered_.tolist(),
        "relevant": relevant[model.selected_].tolist(),
    }


def f1_curve(result: dict[str, Any]) -> NDArray[np.float64]:
    """F1 after each iteration."""
    entered, relevant = np.array(result["entered"], dtype=int), np.array(result["relevant"], int)
    n_found = np.bincount(entered, minlength=result["iterations"] + 1)[1:].cumsum()
    true = np.bincount(entered, weights=relevant, minlength=result["iterations"] + 1)[1:].cumsum()
    curve: NDArray[np.float64] = 2 * true / (RELEVANT + n_found)
    return curve


def show(results: list[dict[str, Any]]) -> None:
    print("| seed | q | alpha | test | F1 at T/10 | T/4 | T/2 | T | found, relevant | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for result in sorted(results, key=lambda r: (r["seed"], r["q"], r["test"], r["alpha"])):
        curve, total = f1_curve(result), result["iterations"]
        at = " | ".join(f"{curve[total // part - 1]:.2f}" for part in (10, 4, 2, 1))
        text = f"{len(result['relevant'])}, {sum(result['relevant'])}"
        what = f"{result['seed']} | {result['q']} | {result['alpha']:g} | {result['test']}"
        print(f"| {what} | {at} | {text} | {result['seconds']:.0f} |")


def draw(results: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    seeds = sorted({result["seed"] for result in results})
    figure = Figure(figsize=(9, 0.6 + 3 * len(seeds)), layout="constrained")
    grid = figure.subplots(len(seeds), 2, sharey=True, squeeze=False)
    colours = dict(zip(ALPHAS, ("tab:gray", "tab:orange", "tab:green"), strict=True))
    for axes, (seed, q) in zip(grid.flat, product(seeds, ITERATIONS), strict=True):
        for result in results:
            if (result["seed"], result["q"]) == (seed, q):
                axes.plot(
                    np.arange(1, result["iterations"] + 1),
                    f1_curve(result),
                    color=colours[result["alpha"]],
                    linestyle="-" if result["test"] == "decoy" else ":",
                    label=f"alpha {result['alpha']:g}, {result['test']}",
                )
        axes.set(title=f"data set {seed}, q = {q} of {FEATURES:,}", ylim=(0, 1.02))
        axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize="small")
    for axes in grid[:, 0]:
        axes.set_ylabel("F1")
    for axes in grid[-1]:
        axes.set_xlabel("iterations")
    figure.savefig(path, dpi=130)


def main() -> int:
    parser = tasks.parser("figure2", __doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=(0, 1))
    options = parser.parse_args()
    wanted = [
        {"seed": seed, "q": q, "alpha": alpha, "test": test, "iterations": iterations}
        for seed in options.seeds
        for q, iterations in ITERATIONS.items()
        for test in TESTS
        for alpha in ALPHAS
    ]
    results = tasks.run(search, wanted, options.out / "figure2.jsonl", options.processes)
    show(results)
    draw(results, options.out / "figure2.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
