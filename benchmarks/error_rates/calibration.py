"""Error rates of the tests if all features are irrelevant.

``python -m benchmarks.error_rates.calibration --out DIR`` draws data sets of three kinds of noise
and three shapes, tests each with every method at .05, and writes how often features were taken to
``DIR/calibration.csv`` and ``.png``. A run that was killed goes on from its checkpoints in DIR; 400
data sets in each of the nine cells take two processors about an hour and a half. With ``--draw CSV
...`` only the picture is drawn, and the tables of docs/explanation/tests/calibration.md are
printed.
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
from benchmarks.designs.nulls import KINDS, NULLS, SHAPES, data_set
from duramen import Significance
from duramen.data import EncodedTable
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

LEVEL = 0.05
TREES = 50
LARGE = 500  # trees where one forest is enough
RUNS = 19  # the fewest that a p-value of .05 can come from
# Numbers that are kept of a method and a data set: whether any feature is taken, the share that is,
# and whether the first are, each followed by itself: of the mixed columns, one of each kind.
WIDTH = 2 + KINDS

_NULL = "On average over learning sets, forests give the feature an importance of 0 or less."


# How the shapes are drawn.
MARKERS = list(zip(SHAPES, "o^s", strict=True))

Row = dict[str, Any]
Run = Callable[[EncodedTable, NDArray[Any], int, Path], Any]


@dataclass(frozen=True)
class Method:
    """A test, and the error rate that it controls."""

    name: str
    run: Run
    promise: str
    """"each" (a p-value a feature), "any" (family-wise), "fdr"; as for no feature, that is any."""


def forest(n_trees: int = TREES, **options: Any) -> Any:
    return dm.RandomForestClassifier(n_trees, **options)


# Their measure is MDI, as when the tables of the documentation were made; the default is MDI-oob.
BY_MDI = (
    "altmann",
    "conditional_error_rate",
    "fdr_curve",
    "forest_probe_ranking",
    "mean_rank_test",
    "multiple_probes",
    "one_probe",
)


def refitted(method: str, estimator: Any = None, **options: Any) -> Run:
    if method in BY_MDI:
        options = {"measure": "mdi", **options}

    def run(X: EncodedTable, y: NDArray[Any], seed: int, folder: Path) -> Any:
        call = getattr(dm.significance, method)
        return call(
            forest() if estimator is None else estimator, X, y, random_state=seed, **options
        )

    return run


def of_permuted(method: str, estimator: Any = None, **options: Any) -> Run:
    """Return a method on permuted labels; methods with equal forests share them."""

    def run(X: EncodedTable, y: NDArray[Any], seed: int, folder: Path) -> Any:
        shared = folder / f"{options.get('measure', 'mdi')}.npz"
        refit = refitted(method, estimator, n_permutations=RUNS, checkpoint=shared, **options)
        return refit(X, y, seed, folder)

    return run


def janitza(measure: str, n_trees: int = LARGE, **options: Any) -> Run:
    def run(X: EncodedTable, y: NDArray[Any], seed: int, folder: Path) -> Any:
        values = getattr(dm.importances, measure)(forest(n_trees), X, y, random_state=seed)
        return dm.significance.janitza(values, **options)

    return run


def vote_change(n_trees: int = LARGE) -> Run:
    def run(X: EncodedTable, y: NDArray[Any], seed: int, folder: Path) -> Any:
        return dm.importances.vote_change(forest(n_trees, random_state=seed).fit(X, y), X, y)

    return run


def single_candidate(n_trees: int = TREES) -> Run:
    def run(X: EncodedTable, y: NDArray[Any], seed: int, folder: Path) -> Any:
        model = dm.ExtraTreesClassifier(n_trees, max_features=1)
        return dm.significance.frequency_control(model, X, y, random_state=seed)

    return run


def intervals(estimator: Any = None, n_resamples: int = 30) -> Run:
    test = refitted("confidence_intervals", estimator, measure="mda", n_resamples=n_resamples)

    def run(*arguments: Any) -> Any:
        """P-values of single features; the replicates are too few to adjust them."""
        result = test(*arguments)
        return Significance(result.names, result.values, result.p_values, result.method, _NULL)

    return run


def forward(X: EncodedTable, y: NDArray[Any], seed: int, folder: Path) -> Any:
    return dm.significance.probe_ranking(X, y, n_probes=X.n_columns)


def methods(trees: int = TREES, large: int = LARGE) -> list[Method]:
    """Return all tests, for forests of `trees` trees or one forest of `large` trees."""
    small = forest(trees)
    permuted = {"n_permutations": RUNS}
    probed = {"n_permutations": RUNS}
    each = {
        "altmann, empirical": of_permuted("altmann", small),
        "altmann, normal": of_permuted("altmann", small, distribution="normal"),
        "altmann, gamma": of_permuted("altmann", small, distribution="gamma"),
        "altmann, mda": of_permuted("altmann", small, measure="mda"),
        "hapfelmeier": refitted(
            "hapfelmeier", small, measure="mdi", **permuted, features=range(KINDS)
        ),
        "janitza, holdout_mda": janitza("holdout_mda", large, add_one=False),
        "janitza, air": janitza("air", large, add_one=False),
        "one_probe": refitted("one_probe", small, **probed),
        "mean_rank_test": refitted("mean_rank_test", small, n_resamples=3, **permuted),
        "frequency_control, K=1": single_candidate(trees),
        "frequency_control, K=sqrt(p)": refitted("frequency_control", small, **permuted),
        "vote_change": vote_change(large),
        "confidence_intervals, mda": intervals(small),
    }
    any_at_all = {
        "conditional_error_rate": refitted("conditional_error_rate", small, **permuted),
        "multiple_probes": refitted("multiple_probes", small, **probed),
        "probe_ranking": forward,
    }
    fdr = {
        "fdr_curve": of_permuted("fdr_curve", small),
        "vote_change, q": vote_change(large),
        "janitza, air, q": janitza("air", large),
    }
    promises = {"each": each, "any": any_at_all, "fdr": fdr}
    return [Method(name, run, p) for p, tests in promises.items() for name, run in tests.items()]


METHODS = methods()


def taken(method: Method, result: Any) -> list[float]:
    """Return whether any feature is selected, the fraction, and whether the first ones are."""
    if method.promise != "each":
        return [float(len(result.selected(LEVEL)) > 0), *[np.nan] * (1 + KINDS)]
    below = result.p_values <= LEVEL
    first = [*map(float, below[:KINDS]), *[np.nan] * (KINDS - len(below))]
    return [float(below.any()), float(below.mean()), *first]


def outcomes(
    null: str, shape: tuple[int, int], methods: Sequence[Method]
) -> Callable[[int, int], FloatArray]:
    """Return the task of a data set: the selections of each method."""

    def task(_: int, seed: int) -> FloatArray:
        X, y = data_set(null, shape, seed)
        table = dm.encode(X)
        row: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            for method in methods:
                row += taken(method, method.run(table, y, seed % 2**32, Path(folder)))
        return np.array(row)

    return task


def rows(
    methods: Sequence[Method], outcomes: FloatArray, null: str, shape: tuple[int, int]
) -> list[Row]:
    """Return a row for each method: rates over the data sets, and a binomial band.

    A p-value a feature is judged by the worst of the features that are followed.
    """
    n = len(outcomes)
    table = []
    for k, method in enumerate(methods):
        some, fraction, *followed = outcomes.reshape(n, len(methods), WIDTH)[:, k].T
        each = method.promise == "each"
        rates = [float(hits.mean()) for hits in followed] if each else [float(some.mean())]
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
                **({"fraction": fraction.mean()} if each else {}),
            }
        )
    return table


def draw(table: Sequence[Row], path: Path) -> None:
    """Rates by method, one panel a null, with the band that they should lie in."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["method"] for row in table))
    nulls = list(dict.fromkeys(row["null"] for row in table))
    shapes = list(dict.fromkeys((row["rows"], row["features"]) for row in table))
    size = (2.2 + 2.8 * len(nulls), 1.1 + 0.27 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(nulls), squeeze=False, sharex=True, sharey=True).ravel()
    for panel, null in zip(panels, nulls, strict=True):
        here = [row for row in table if row["null"] == null]
        for row in here:
            at, low = names.index(row["method"]), row["band_low"]
            panel.barh(at, row["band_high"] - low, 1.0, low, color="#dbe9f4", lw=0)
        for (shape, marker), shift in zip(MARKERS, (-0.25, 0.0, 0.25), strict=True):
            if shape not in shapes:
                continue
            of_shape = [row for row in here if (row["rows"], row["features"]) == shape]
            at = [names.index(row["method"]) + shift for row in of_shape]
            rates = [row["rate"] for row in of_shape]
            colours = ["#222222" if row["within"] else "#c04000" for row in of_shape]
            panel.scatter(rates, at, s=16, c=colours, marker=marker, zorder=3, clip_on=False)
            panel.scatter([], [], s=16, c="#222222", marker=marker, label="{} x {}".format(*shape))
        panel.axvline(LEVEL, color="#0072b2", lw=0.8, zorder=2)
        panel.set_title(null, fontsize=9)
        panel.set_yticks(range(len(names)), names, fontsize=8)
        panel.tick_params(axis="x", labelsize=8)
        panel.set_xlim(-0.01, max(0.2, *(row["rate"] for row in table)) + 0.01)
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    panels[-1].legend(fontsize=8, loc="lower right", title="rows x features", title_fontsize=8)
    figure.supxlabel(
        "rate at .05: of the worst of the features that are followed, or of any", size=9
    )
    figure.savefig(path, dpi=120)


def markdown(table: Sequence[Row]) -> str:
    """Return the rates as tables of a page, by controlled error rate and by kind of column."""
    cells = list(dict.fromkeys((row["null"], row["rows"], row["features"]) for row in table))
    alike, different = [], []
    for cell in cells:
        (different if cell[0] == "mixed cardinality" else alike).append(cell)
    place = {(row["method"], row["null"], row["rows"], row["features"]): row for row in table}

    def lines(promises: Sequence[str], cells: Sequence[Any], shown: Callable[[Row], str]) -> str:
        names = dict.fromkeys(row["method"] for row in table if row["promise"] in promises)
        heads = ["method", *(f"{null}, {n} x {p}" for null, n, p in cells)]
        body = [[name, *(shown(place[(name, *cell)]) for cell in cells)] for name in names]
        ruled = [heads, ["---"] * len(heads), *body]
        return "\n".join(f"| {' | '.join(line)} |" for line in ruled)

    def worst(row: Row) -> str:
        return f"{short(row['rate'], row)} ({row['fraction']:.3f})".replace("0.", ".")

    def by_kind(row: Row) -> str:
        return " ".join(short(row[f"rate_{kind}"], row) for kind in range(KINDS))

    parts = [
        lines(["each"], alike, worst),
        lines(["each"], different, by_kind),
        lines(["any"], cells, lambda row: short(row["rate"], row)),
        lines(["fdr"], cells, lambda row: short(row["rate"], row)),
    ]
    return "\n\n".join(parts)


def short(rate: float, row: Row) -> str:
    """A rate as text, bold where it is above the band."""
    text = f"{rate:.3f}".replace("0.", ".")
    return f"**{text}**" if rate > row["band_high"] else text


def read(path: Path) -> list[Row]:
    """The rows of a file that was written here."""
    with path.open(newline="") as file:
        rows: list[Row] = list(csv.DictReader(file))
    for row in rows:
        for name, text in list(row.items()):
            if text == "":
                del row[name]
            elif name == "within":
                row[name] = text == "True"
            elif name in ("rows", "features", "data_sets"):
                row[name] = int(text)
            elif name not in ("null", "method", "promise"):
                row[name] = float(text)
    return rows


def write(table: Sequence[Row], path: Path) -> None:
    names = list(dict.fromkeys(name for row in table for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=names, restval="")
        writer.writeheader()
        writer.writerows(table)


def drawn(files: Sequence[Path], out: Path) -> int:
    """Draw and print the content of files; later files replace cells of earlier files."""
    latest = {
        (row["null"], row["rows"], row["features"], row["method"]): row
        for file in files
        for row in read(file)
    }
    cells = [(null, *shape) for shape in SHAPES for null in NULLS]
    table = [row for cell in cells for key, row in latest.items() if key[:3] == cell]
    out.mkdir(parents=True, exist_ok=True)
    draw(table, out / "calibration.png")
    print(markdown(table))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.error_rates.calibration", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data-sets", type=int, default=400)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--methods", nargs="*", help="names, or their beginnings")
    parser.add_argument("--cells", nargs="*", type=int, help="numbers of cells, from 0")
    parser.add_argument("--trees", type=int, default=TREES, help="of forests that are grown anew")
    parser.add_argument("--large", type=int, default=LARGE, help="trees where one forest is enough")
    parser.add_argument("--draw", type=Path, nargs="+", metavar="CSV", help="draw these, no more")
    options = parser.parse_args()
    if options.draw is not None:
        return drawn(options.draw, options.out)
    chosen = [
        method
        for method in methods(options.trees, options.large)
        if not options.methods or method.name.startswith(tuple(options.methods))
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    cells = [(null, shape) for shape in SHAPES for null in NULLS]
    table: list[Row] = []
    for number, (null, shape) in enumerate(cells):
        if options.cells and number not in options.cells:
            continue
        result = run_replicates(
            outcomes(null, shape, chosen),
            options.data_sets,
            WIDTH * len(chosen),
            seed=number,
            identity={
                "cell": f"{null} {shape}",
                "methods": [method.name for method in chosen],
                "trees": (options.trees, options.large),
            },
            plan=Plan(options.threads, options.out / f"cell{number}.npz", verbose=1),
            function="calibration",
        )
        table += rows(chosen, result, null, shape)
        write(table, options.out / "calibration.csv")
        draw(table, options.out / "calibration.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
