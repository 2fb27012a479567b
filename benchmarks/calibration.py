"""Whether the tests hold what they promise where no feature says anything.

``python -m benchmarks.calibration --out DIR`` draws data sets of three kinds of noise and three
shapes, tests each with every method at .05, and writes how often features were taken to
``DIR/calibration.csv`` and ``.png``. A run that was killed goes on from its checkpoints in DIR; 400
data sets in each of the nine cells take two processors about an hour.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import duramen as dm
from duramen.significance.replicates import Plan, run_replicates

LEVEL = 0.05
SHAPES = [(100, 1000), (500, 120), (72, 2000)]
TREES = 50
RUNS = 19  # the fewest that a p-value of .05 can come from
WIDTH = 6  # numbers that are kept of a method and a data set
KINDS = 4  # features that are followed each by itself: of the mixed columns, one of each kind

Float = NDArray[np.float64]


def pure(n: int, p: int, random: np.random.Generator) -> Float:
    """Independent normal columns."""
    return random.normal(size=(n, p))


def correlated(n: int, p: int, random: np.random.Generator) -> Float:
    """Blocks of ten columns with correlation .9."""
    shared = np.repeat(random.normal(size=(n, -(-p // 10))), 10, axis=1)[:, :p]
    return np.sqrt(0.9) * shared + np.sqrt(0.1) * random.normal(size=(n, p))


def mixed(n: int, p: int, random: np.random.Generator) -> Float:
    """Columns of 2, 4, 20 and as many values as rows, in turn."""
    X = random.normal(size=(n, p))
    for first, n_values in enumerate((2, 4, 20)):
        X[:, first::4] = random.integers(0, n_values, X[:, first::4].shape)
    return X


NULLS = {"pure noise": pure, "correlated noise": correlated, "mixed cardinality": mixed}


@dataclass(frozen=True)
class Method:
    """A test, and what it promises."""

    name: str
    run: Callable[[Float, NDArray[Any], int, Path], Any]
    promise: str
    """"each" (a p-value a feature), "any" (family-wise), "fdr"; as for no feature, that is any."""


def forest(n_trees: int = TREES, **options: Any) -> Any:
    return dm.RandomForestClassifier(n_trees, **options)


def of_permuted(method: str, **options: Any) -> Callable[..., Any]:
    """A method of forests on permuted labels; those with the same forests grow them once."""

    def run(X: Float, y: NDArray[Any], seed: int, folder: Path) -> Any:
        call = getattr(dm.significance, method)
        shared = folder / f"{options.get('measure', 'mdi')}.npz"
        return call(
            forest(), X, y, n_permutations=RUNS, random_state=seed, checkpoint=shared, **options
        )

    return run


def refitted(method: str, **options: Any) -> Callable[..., Any]:
    def run(X: Float, y: NDArray[Any], seed: int, folder: Path) -> Any:
        return getattr(dm.significance, method)(forest(), X, y, random_state=seed, **options)

    return run


def janitza(measure: str, **options: Any) -> Callable[..., Any]:
    def run(X: Float, y: NDArray[Any], seed: int, folder: Path) -> Any:
        values = getattr(dm.importances, measure)(forest(500), X, y, random_state=seed)
        return dm.significance.janitza(values, **options)

    return run


def vote_change(X: Float, y: NDArray[Any], seed: int, folder: Path) -> Any:
    return dm.importances.vote_change(forest(500, random_state=seed).fit(X, y), X, y)


def z_scores(X: Float, y: NDArray[Any], seed: int, folder: Path) -> Any:
    values = dm.importances.mda(forest(500, random_state=seed).fit(X, y), X, y)
    return dm.significance.z_scores(values)


def single_candidate(X: Float, y: NDArray[Any], seed: int, folder: Path) -> Any:
    grown = dm.ExtraTreesClassifier(TREES, max_features=1, random_state=seed).fit(X, y)
    return dm.significance.frequency_control(grown)


def intervals(X: Float, y: NDArray[Any], seed: int, folder: Path) -> Any:
    return dm.significance.confidence_intervals(
        forest(), X, y, measure="mda", n_replicates=30, random_state=seed
    ).significance()


def forward(X: Float, y: NDArray[Any], seed: int, folder: Path) -> Any:
    return dm.significance.probe_ranking(X, y, n_probes=X.shape[1])


METHODS = [
    Method("altmann, empirical", of_permuted("altmann"), "each"),
    Method("altmann, normal", of_permuted("altmann", distribution="normal"), "each"),
    Method("altmann, gamma", of_permuted("altmann", distribution="gamma"), "each"),
    Method("altmann, mda", of_permuted("altmann", measure="mda"), "each"),
    Method(
        "hapfelmeier", refitted("hapfelmeier", n_permutations=RUNS, features=range(KINDS)), "each"
    ),
    Method("janitza, holdout_mda", janitza("holdout_mda"), "each"),
    Method("janitza, air", janitza("air"), "each"),
    Method("one_probe", refitted("one_probe", n_runs=RUNS, add_one=True), "each"),
    Method(
        "mean_rank_test",
        refitted("mean_rank_test", n_runs=3, n_permutations=RUNS),
        "each",
    ),
    Method("frequency_control, K=1", single_candidate, "each"),
    Method(
        "frequency_control, K=sqrt(p)",
        refitted("frequency_control", n_permutations=RUNS),
        "each",
    ),
    Method("vote_change", vote_change, "each"),
    Method("z_scores, mda", z_scores, "each"),
    Method("confidence_intervals, mda", intervals, "each"),
    Method(
        "conditional_error_rate",
        refitted("conditional_error_rate", n_permutations=RUNS),
        "any",
    ),
    Method("multiple_probes", refitted("multiple_probes", n_runs=RUNS, add_one=True), "any"),
    Method("probe_ranking", forward, "any"),
    Method("fdr_curve", of_permuted("fdr_curve"), "fdr"),
    Method("vote_change, q", vote_change, "fdr"),
    Method("janitza, air, add_one, q", janitza("air", add_one=True), "fdr"),
]


def taken(method: Method, result: Any) -> list[float]:
    """Whether any feature is taken, the share that is, and whether the first ones are."""
    if method.promise == "each":
        below = result.p_values <= LEVEL
        return [float(below.any()), float(below.mean()), *map(float, below[:KINDS])]
    return [float(len(result.selected(LEVEL)) > 0), *[np.nan] * (1 + KINDS)]


def outcomes(
    null: Callable[..., Float], shape: tuple[int, int], methods: Sequence[Method]
) -> Callable[[int, int], Float]:
    """The task of one data set: what each method takes of it."""

    def task(_: int, seed: int) -> Float:
        random = np.random.default_rng(seed)
        X, y = null(*shape, random), random.permutation(np.arange(shape[0]) % 2)
        row: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            for method in methods:
                row += taken(method, method.run(X, y, seed % 2**32, Path(folder)))
        return np.array(row)

    return task


def rows(
    methods: Sequence[Method], found: Float, null: str, shape: tuple[int, int]
) -> list[dict[str, Any]]:
    """One row a method: rates over the data sets, and the band of a binomial count.

    A p-value a feature is judged by the worst of the features that are followed.
    """
    n = len(found)
    table = []
    for k, method in enumerate(methods):
        some, share, *followed = found.reshape(n, len(methods), WIDTH)[:, k].T
        each = method.promise == "each"
        rates = [float(one.mean()) for one in followed] if each else [float(some.mean())]
        low, high = stats.binom.interval(1 - 0.01 / len(rates), n, LEVEL)
        table.append(
            {
                "null": null,
                "rows": shape[0],
                "features": shape[1],
                "method": method.name,
                "promise": method.promise,
                "data_sets": n,
                "rate": max(rates),
                "band_low": low / n,
                "band_high": high / n,
                "within": max(rates) <= high / n,
                **{f"rate_{i}": rate for i, rate in enumerate(rates)},
                **({"share": share.mean()} if each else {}),
            }
        )
    return table


def draw(table: list[dict[str, Any]], path: Path) -> None:
    """Rates by method, one panel a null and shape, with the band that they should lie in."""
    from matplotlib.figure import Figure

    cells = list(dict.fromkeys((row["null"], row["rows"], row["features"]) for row in table))
    names = list(dict.fromkeys(row["method"] for row in table))
    across = min(3, len(cells))
    down = -(-len(cells) // across)
    figure = Figure(figsize=(2.2 + 2.6 * across, 0.6 + down * (0.6 + 0.2 * len(names))))
    panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    for panel in panels[len(cells) :]:
        panel.set_visible(False)
    for panel, cell in zip(panels, cells, strict=False):
        here = [row for row in table if (row["null"], row["rows"], row["features"]) == cell]
        panel.axvspan(here[0]["band_low"], here[0]["band_high"], color="#0072b2", alpha=0.15, lw=0)
        panel.axvline(LEVEL, color="#0072b2", lw=0.8)
        for row in here:
            inside = row["rate"] <= row["band_high"]
            panel.plot(
                row["rate"],
                names.index(row["method"]),
                "o" if inside else "s",
                color="#333333" if inside else "#b04a00",
                ms=4,
            )
        panel.set_title(f"{cell[0]}, {cell[1]} x {cell[2]}", fontsize=8)
        panel.set_yticks(range(len(names)), names, fontsize=7)
        panel.tick_params(axis="x", labelsize=7)
        panel.set_xlim(-0.01, 0.4)
    panels[0].invert_yaxis()
    figure.supxlabel("share of data sets in which it is taken at .05", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.calibration", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=400)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--methods", nargs="*", help="names, or their beginnings")
    parser.add_argument("--cells", nargs="*", type=int, help="numbers of cells, from 0")
    options = parser.parse_args()
    chosen = [
        m for m in METHODS if not options.methods or m.name.startswith(tuple(options.methods))
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    cells = [(null, shape) for shape in SHAPES for null in NULLS]
    table: list[dict[str, Any]] = []
    for number, (null, shape) in enumerate(cells):
        if options.cells and number not in options.cells:
            continue
        found = run_replicates(
            outcomes(NULLS[null], shape, chosen),
            options.data_sets,
            WIDTH * len(chosen),
            seed=number,
            identity={"cell": f"{null} {shape}", "methods": [m.name for m in chosen]},
            plan=Plan(options.threads, options.out / f"cell{number}.npz", verbose=1),
            function="calibration",
        )
        table += rows(chosen, found, null, shape)
        with (options.out / "calibration.csv").open("w", newline="") as file:
            names = list(dict.fromkeys(name for row in table for name in row))
            writer = csv.DictWriter(file, fieldnames=names, restval="")
            writer.writeheader()
            writer.writerows(table)
        draw(table, options.out / "calibration.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
