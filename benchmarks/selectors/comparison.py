"""Selectors on pure noise, and on problems whose relevant features are known.

    python -m benchmarks.selectors.comparison null [--data-sets 200]
        [--methods boruta knock_out ...] [--kinds normal skewed ...]
    python -m benchmarks.selectors.comparison truth [--data-sets 5] [--methods ...]
        [--problems linear ...] [--rows N] [--subspace Q]

`null` runs the selectors of all relevant features, each as it is by default but for 50 trees a
forest (200 trees of 10 features in the random subspaces), on data sets of features and two classes
that have nothing to do with each other: 100 rows of normal features, or one of the other kinds of
noise. It prints the fraction of the data sets of which any feature is kept, with an interval of
probability 0.95 (Clopper and Pearson), and the number of features that are kept of a data set.
Normal features are 20 and 50, others 20; variants of the parameters are run on normal ones alone.
`benchmarks.selectors.boruta null` has the variants of Boruta.

`truth` runs all selectors of the catalogue, or those named, with 100 trees a forest (10 in
searches over sets, which have three folds and end at ten features, exhaustive ones at two; 500 of
10 features in random subspaces) and their other defaults, on data sets of each problem, whose
columns are in random order, and prints a table for each: precision, recall and F1 against all
relevant features; F1 against one of each group of features that tell the same, where a second one
of a group counts as a false one; AUPRC of the importances; size; stability (Nogueira et al.) over
the data sets; and processor seconds of a fit. The first F1 is for selectors of all relevant
features, the second for minimal ones. Markov boundaries are those of columns cut at their medians.
`--rows` and `--subspace` change the number of rows, and that of features in a random subspace.
"""

from __future__ import annotations

import argparse
import inspect
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

import duramen as dm
from duramen.selection import catalogue

N = 100
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "boruta": [{"n_estimators": 50}],
    "knock_out": [{"n_estimators": 50}],
    "artificial_contrasts": [
        {"n_estimators": 50},
        {"n_estimators": 50, "measure": "mdi"},
        {"n_estimators": 50, "alpha": 0.001},
        {"n_estimators": 50, "remove_masked": True},
    ],
    "sequential_random_subspace": [{"n_estimators": 200, "n_subspace_features": 10}],
}
FEATURES = {"normal": (20, 50)}

Noise = tuple[NDArray[np.float64], NDArray[Any]]


def normal(seed: int, p: int, n: int = N) -> Noise:
    """Return normal features, and two classes of equal size."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, p)), random.permutation(np.arange(n) % 2)


def few_rows(seed: int, p: int) -> Noise:
    """30 rows."""
    return normal(seed, p, 30)


def skewed(seed: int, p: int) -> Noise:
    """Features and a target of numbers, whose logarithms are normal with standard deviation 2."""
    X, _ = normal(seed, p + 1)
    return np.exp(2 * X[:, :-1]), np.exp(2 * X[:, -1])


def unbalanced(seed: int, p: int) -> Noise:
    """A tenth of the rows in the smaller class."""
    X, _ = normal(seed, p)
    return X, np.random.default_rng(seed).permutation((np.arange(N) < N // 10).astype(np.int64))


def mixed(seed: int, p: int) -> Noise:
    """Features of 2, 3, 20 and 100 values in turn."""
    X, y = normal(seed, p)
    for j in range(p):
        n_values = (2, 3, 20, N)[j % 4]
        X[:, j] = np.argsort(np.argsort(X[:, j])) * n_values // N
    return X, y


def correlated(seed: int, p: int) -> Noise:
    """Blocks of five features with correlations of .9."""
    X, y = normal(seed, p)
    common = np.repeat(X[:, ::5], 5, axis=1)[:, :p]
    own = np.random.default_rng(seed + 10**6).normal(size=X.shape)
    return np.sqrt(0.9) * common + np.sqrt(0.1) * own, y


NOISE: dict[str, Callable[[int, int], Noise]] = {
    problem.__name__: problem
    for problem in (normal, skewed, unbalanced, mixed, correlated, few_rows)
}


def sizes(name: str, settings: dict[str, Any], kind: str, p: int, data_sets: int) -> Iterator[int]:
    for seed in range(data_sets):
        model = catalogue[name].make(**settings, random_state=seed, n_jobs=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield int(model.fit(*NOISE[kind](seed, p)).support_.sum())


def null(methods: list[str], kinds: list[str], data_sets: int) -> None:
    print("| selector | parameters | noise | features | any kept | 0.95 interval | "
          "kept a data set | s |")  # fmt: skip
    print("| --- |" + " --- |" * 7)
    for kind in kinds:
        for name in methods:
            for variant in VARIANTS[name][: None if kind == "normal" else 1]:
                for p in FEATURES.get(kind, (20,)):
                    null_row(name, variant, kind, p, data_sets)


def null_row(name: str, settings: dict[str, Any], kind: str, p: int, data_sets: int) -> None:
    start = time.process_time()
    result = np.array(list(sizes(name, settings, kind, p, data_sets)))
    seconds = (time.process_time() - start) / data_sets
    k = int((result > 0).sum())
    low = beta.ppf(0.025, k, data_sets - k + 1) if k else 0.0
    high = beta.ppf(0.975, k + 1, data_sets - k) if k < data_sets else 1.0
    words = ", ".join(f"{key}={value}" for key, value in settings.items())
    print(
        f"| {catalogue[name].option} | {words} | {kind} | {p} | {k / data_sets:.3f} | "
        f"{low:.3f} to {high:.3f} | {result.mean():.2f} | {seconds:.2f} |",
        flush=True,
    )


Problem = tuple[NDArray[np.float64], NDArray[Any], list[list[int]]]
TREES, ROWS, COLUMNS = 100, 200, 30
# Searches over sets of features take a forest for every set and fold.
_SMALL = {"estimator": dm.RandomForestClassifier(10), "cv": 3}
SETTINGS: dict[str, dict[str, Any]] = {
    "forward_selection": {**_SMALL, "max_features": 10},
    "floating_selection": {**_SMALL, "max_features": 10},
    "adaptive_floating_selection": {**_SMALL, "max_features": 10},
    "exhaustive_selection": {**_SMALL, "max_features": 2},  # 465 sets
    "backward_selection": _SMALL,
    "sequential_random_subspace": {"n_estimators": 500, "n_subspace_features": 10},
}
# Further settings, shown in rows of their own.
FURTHER: dict[str, dict[str, dict[str, Any]]] = {
    "regularized_forest": {
        "proxy": {"penalize": "proxy"},
        "leaves of 10 %": {"estimator": dm.RandomForestClassifier(min_samples_leaf=0.1)},
    },
    "guided_regularized_forest": {
        "proxy": {"penalize": "proxy"},
        "leaves of 10 %": {"estimator": dm.RandomForestClassifier(min_samples_leaf=0.1)},
    },
}


def madelon(seed: int, n: int = ROWS) -> Problem:
    """A rule of four dimensions, with two linear combinations and two copies."""
    kinds = {"n_informative": 4, "n_redundant": 2, "n_repeated": 2, "n_probes": COLUMNS - 8}
    data = dm.datasets.madelon_like(2 * n, **kinds, random_state=seed)
    order = np.argsort([name not in (data.relevant or ()) for name in data.names], kind="stable")
    return data.X[:, order], data.y, [[j] for j in range(8)]


def linear(seed: int, n: int = ROWS) -> Problem:
    """The sign of a sum of five normal features, a tenth of the labels flipped."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, COLUMNS))
    y = (X[:, :5].sum(axis=1) > 0) ^ (random.random(n) < 0.1)
    return X, y.astype(int), [[j] for j in range(5)]


def xor(seed: int, n: int = ROWS) -> Problem:
    """The exclusive or of two bits among bits, a tenth of the labels flipped."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (n, COLUMNS)).astype(float)
    y = (X[:, 0] != X[:, 1]) ^ (random.random(n) < 0.1)
    return X, y.astype(int), [[0], [1]]


def blocks(seed: int, n: int = ROWS) -> Problem:
    """Six blocks of five features with correlations of .9; a feature of two blocks is relevant."""
    random = np.random.default_rng(seed)
    common = np.repeat(random.normal(size=(n, COLUMNS // 5)), 5, axis=1)
    X = np.sqrt(0.9) * common + np.sqrt(0.1) * random.normal(size=(n, COLUMNS))
    y = X[:, 0] + X[:, 5] + 0.5 * random.normal(size=n) > 0
    return X, y.astype(int), [list(range(5)), list(range(5, 10))]


def copies(seed: int, n: int = ROWS) -> Problem:
    """Three normal features that decide, each with two copies."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, COLUMNS))
    X[:, 3:9] = np.tile(X[:, :3], 2)
    y = X[:, :3].sum(axis=1) > 0
    return X, y.astype(int), [[j, j + 3, j + 6] for j in range(3)]


PROBLEMS = {problem.__name__: problem for problem in (madelon, linear, xor, blocks, copies)}


def halves(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cut columns of more than two values at their medians."""
    several = np.array([len(np.unique(x)) > 2 for x in X.T])
    return np.where(several, np.median(X, axis=0) < X, X).astype(np.float64)


def minimal_f1(chosen: NDArray[np.bool_], groups: list[list[int]]) -> float:
    """F1 where one feature of each group is to be selected."""
    hit = sum(chosen[group].any() for group in groups)
    return float(2 * hit / (chosen.sum() + len(groups)))


def row(name: str, problem: str, data_sets: int, n: int, own: dict[str, Any]) -> str:
    """Cells of a selector on a problem."""
    record = catalogue[name]
    parameters = inspect.signature(record.kind).parameters
    options = {
        "n_estimators": TREES,
        "random_state": 0,
        "n_jobs": 1,
        **SETTINGS.get(name, {}),
        **own,
    }
    options = {key: value for key, value in options.items() if key in parameters}
    selections, minimal, supports, seconds = [], [], [], 0.0
    for seed in range(data_sets):
        X, y, groups = PROBLEMS[problem](seed, n)
        X = halves(X) if name == "markov_boundary" else X
        order = np.random.default_rng(seed + 10**6).permutation(COLUMNS)  # no column is the first
        place = np.argsort(order)
        model = record.make(**options)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[:, order], y)
        seconds += time.process_time() - start
        relevant = np.zeros(X.shape[1], dtype=bool)
        relevant[[j for group in groups for j in group]] = True
        chosen = model.support_[place]
        ranking = model.importances_.values[place]
        selections.append(dm.selection.scores(chosen, relevant, ranking=ranking))
        minimal.append(minimal_f1(chosen, groups))
        supports.append(chosen)
    nogueira = dm.significance.stability(supports).nogueira if data_sets > 1 else np.nan
    shown = [
        np.nanmean([selection.precision for selection in selections])
        if any(map(np.any, supports))
        else np.nan,
        *(
            np.mean([getattr(selection, key) for selection in selections])
            for key in ("recall", "f1")
        ),
        np.mean(minimal),
        np.mean([selection.auprc for selection in selections]),
    ]
    cells = " | ".join("" if np.isnan(x) else f"{x:.2f}" for x in shown)
    size = np.mean([support.sum() for support in supports])
    stable = "" if np.isnan(nogueira) else f"{nogueira:.2f}"
    return f"{cells} | {size:.1f} | {stable} | {seconds / data_sets:.2f} |"


def truth(
    methods: list[str], problems: list[str], data_sets: int, n: int, subspace: int | None
) -> None:
    common = {} if subspace is None else {"n_subspace_features": subspace}
    for problem in problems:
        print(f"\n{problem}: {PROBLEMS[problem].__doc__}\n")
        print("| selector | goal | precision | recall | F1 | F1, minimal | AUPRC | features | "
              "stability | s |")  # fmt: skip
        print("| --- |" + " --- |" * 9, flush=True)
        for name in methods:
            record = catalogue[name]
            if "classification" not in record.tasks:
                continue
            for words, own in {"": common, **FURTHER.get(name, {})}.items():
                try:
                    cells = row(name, problem, data_sets, n, own)
                except (ImportError, ValueError, MemoryError) as error:
                    cells = f"{str(error).splitlines()[0]} |"
                shown = f"{record.option}, {words}" if words else record.option
                print(f"| {shown} | {record.goal} | {cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("null", "truth"))
    parser.add_argument("--data-sets", type=int)
    parser.add_argument("--methods", nargs="*", choices=[record.name for record in catalogue])
    parser.add_argument("--kinds", nargs="*", choices=list(NOISE), default=list(NOISE))
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--subspace", type=int)
    parser.add_argument("--problems", nargs="*", choices=list(PROBLEMS), default=list(PROBLEMS))
    arguments = parser.parse_args()
    if arguments.what == "null":
        null(arguments.methods or list(VARIANTS), arguments.kinds, arguments.data_sets or 200)
    else:
        methods = arguments.methods or [record.name for record in catalogue]
        truth(
            methods,
            arguments.problems,
            arguments.data_sets or 5,
            arguments.rows,
            arguments.subspace,
        )


if __name__ == "__main__":
    main()
