"""Score and stability of rankings against the number of features, as in Figure 3 of Paul et al.

    python -m benchmarks.selectors.paul FOLDER [--sets shipp-dlbcl golub-leukemia] [--full]
        [--trees 1000] [--jobs 2] [--figure FILE]

FOLDER holds a folder for each data set, with ``data.parquet`` in it, the target in column ``y``.
Features are ranked by J_chi2, MDI and MDA of a random forest on 90 % of the rows; a random forest
of 500 trees on the first s features predicts the other rows. Printed are mean balanced accuracy,
Kuncheva's index, both against s, the numbers of features that are enough, and the time. 50 splits
by default, with ``--full`` the 200 of the paper.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq

import duramen as dm

SETS = ("shipp-dlbcl", "golub-leukemia")
MEASURES = {"J_chi2": "vote_change", "MDI": "mdi", "MDA": "mda"}
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def evaluated(
    folder: Path,
    resamples: int,
    trees: list[int],
    n_jobs: int,
    measures: dict[str, str] = MEASURES,
) -> dm.evaluation.SelectionEvaluation:
    table = pq.read_table(folder / "data.parquet")
    data = dm.learning_set(table.drop_columns(["y"]), table.column("y").to_pylist())
    forests = {count: dm.RandomForestClassifier(count) for count in trees}
    methods = {
        f"{name}, T = {count:,}": dm.evaluation.Ranking(measure, forests[count])
        for count in trees
        for name, measure in measures.items()
    }
    return dm.evaluate_selection(
        methods,
        data,
        n_features=SIZES,
        n_resamples=resamples,
        test_size=0.1,
        random_state=0,
        n_jobs=n_jobs,
        verbose=int(sys.stderr.isatty()),
    )


def printed(evaluation: dm.evaluation.SelectionEvaluation) -> None:
    names = list(dict.fromkeys(evaluation.methods))
    print("| features |" + "".join(f" {name}: BCR | KI |" for name in names))
    print("| --- |" + " --- | --- |" * len(names))
    mean = evaluation.mean()
    for place, size in enumerate(SIZES):
        cells = []
        for name in names:
            row = evaluation.rows(name)[place]
            cells.append(f" {mean[row]:.3f} | {evaluation.kuncheva[row]:.3f} |")
        print(f"| {size:,} |{''.join(cells)}")
    for name in names:
        enough = evaluation.enough(name)
        print(
            f"{name}: {enough.n_features} features are enough ({enough.confidence_level:.0%} "
            f"interval {enough.low} to {enough.high}), best {enough.best}; "
            f"{evaluation.seconds[name]:.2f} s a ranking"
        )


def drawn(results: dict[str, dm.evaluation.SelectionEvaluation], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.2 * len(results)), layout="constrained")
    panels = figure.subplots(len(results), 2, squeeze=False)
    for (name, panel), row in zip(results.items(), panels, strict=True):
        for what, ax in zip((None, "stability"), row, strict=True):
            dm.plots.selection_curves(panel, what, ax=ax).set_title(name, fontsize=10)
    figure.savefig(file)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.selectors.paul", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--trees", nargs="+", type=int, default=[1000])
    parser.add_argument("--resamples", type=int, default=50)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    results = {}
    start = time.perf_counter()
    for name in options.sets:
        resamples = 200 if options.full else options.resamples
        results[name] = evaluated(options.folder / name, resamples, options.trees, options.jobs)
        print(f"\n{name}, {resamples} splits\n")
        printed(results[name])
    if options.figure is not None:
        drawn(results, options.figure)
    used = time.process_time()
    print(f"\n{time.perf_counter() - start:.0f} s, {used:.0f} s of processors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
