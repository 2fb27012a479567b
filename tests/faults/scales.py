"""Features, targets and weights of extreme size: the results of ordinary ones, or a clear error.

Features are whole numbers below `LEVELS` that were put through an increasing function which
float64 computes without ties, so that best cuts, ranks and permutations must not notice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.faults.batches import READ, REFUSED
from tests.faults.problems import unrefused

import duramen as dm

Floats = NDArray[np.float64]
LEVELS = 12

# Functions that multiply and shift without rounding, and leave place for midpoints: cuts, and with
# them where other rows go, do not notice.
LINEAR: dict[str, Callable[[Any], Any]] = {
    "denormal": lambda x: np.ldexp(x - 5.0, -1070),
    "least normal": lambda x: np.ldexp(x + 1.0, -1022),
    "greatest": lambda x: np.ldexp(x - 5.0, 1020),
    "far off": lambda x: x + 1e15,
    "far below": lambda x: x - 2.0**51,
    "neighbors": lambda x: 1 + np.ldexp(x, -45),
    "int64": lambda x: x.astype(np.int64) + 2**47,
    "uint64": lambda x: x.astype(np.uint64) + np.uint64(2**47),
    "int8": lambda x: (x * 20 - 120).astype(np.int8),
    "float32": lambda x: np.ldexp(x - 5.0, -147).astype(np.float32),
    "float16": lambda x: np.ldexp(x - 5.0, -22).astype(np.float16),
}
POWERS: dict[str, Callable[[Any], Any]] = {
    "tiny power": lambda x: np.ldexp(x, -1000),
    "huge power": lambda x: np.ldexp(x, 1000),
}
# Increasing functions of whole numbers in 0..LEVELS-1, without ties in float64.
INCREASING: dict[str, Callable[[Any], Any]] = {
    **LINEAR,
    **POWERS,
    "least of all": lambda x: np.ldexp(x - 5.0, -1074),
    "few digits": lambda x: (x - 5.0) * 1e-320,
    "tiny": lambda x: (x - 5.0) * 1e-300,
    "huge": lambda x: (x - 5.0) * 1e300,
    "whole range": lambda x: (x / (LEVELS - 1) * 2 - 1) * np.finfo(float).max,
    "nearest neighbors": lambda x: 1e300 * (1 + np.ldexp(x, -52)),
    "all magnitudes": lambda x: 10.0 ** (52.0 * x - 300),
    "both signs": lambda x: np.sign(x - 5.5) * 10.0 ** (100.0 * np.abs(x - 5.5) - 250),
    "greatest int64": lambda x: x.astype(np.int64) + (2**53 - LEVELS),
    "least float32": lambda x: np.ldexp(x - 5.0, -149).astype(np.float32),
}
# Those that are far from straight lines.
CURVED = ("all magnitudes", "both signs", "nearest neighbors")


@unrefused
def attempt(number: int, folder: Path) -> str:
    """Run one of the checks; warnings, of an overflow say, are errors."""
    check = CHECKS[number % len(CHECKS)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*in the bag of every tree")
        return check(np.random.default_rng(number), folder)


def table_of(random: np.random.Generator, n_rows: int = 0) -> tuple[Floats, Any, Floats]:
    """Four columns of whole numbers, and classes and numbers that depend on two of them."""
    n = n_rows or int(random.choice([30, 60, 90, 300]))
    X = random.integers(0, LEVELS, (n, 4)).astype(float)
    numbers = X[:, 0] + 0.5 * X[:, 1] + random.integers(-2, 3, n)
    return X, (numbers > np.median(numbers)).astype(int), numbers


def increased(random: np.random.Generator, X: Floats, names: Any) -> tuple[str, Any]:
    """Put all columns of X through an increasing function of these; its name, and the table."""
    name = str(random.choice(list(names)))
    result = INCREASING[name](X)
    for j in range(X.shape[1]):
        assert len(np.unique(result[:, j])) == len(np.unique(X[:, j])), name
    return name, result


def same_trees(first: Any, other: Any, what: str, *others: str) -> None:
    """Forests are equal but for their thresholds, in some arrays beside those of the nodes."""
    for array in ("offsets", "feature", "child", "split", "rows", "impurity", *others):
        result, wanted = getattr(other.forest_, array), getattr(first.forest_, array)
        np.testing.assert_array_equal(result, wanted, err_msg=f"{what}: {array}")


def finite(values: Any, what: str) -> Any:
    """Check that all numbers are finite, and return them."""
    assert np.isfinite(values).all(), what
    return values


# --- features ------------------------------------------------------------------------------------


def best_cuts(random: np.random.Generator, folder: Path) -> str:
    """Trees that cut where it is best do not notice an increasing function of the features.

    A cut lies midway between two values, so that rows which were not trained on may notice.
    """
    X, classes, numbers = table_of(random)
    family = str(random.choice(["RandomForest", "BaggedTrees", "RandomSubspace", "RandomPatches"]))
    task, y = (("Classifier", classes), ("Regressor", numbers))[int(random.integers(2))]
    splits = str(random.choice(["ordered", "multiway", "one-vs-rest", "any"]))
    bootstrap, seed = bool(random.random() < 0.5), random.integers(99)
    name, Z = increased(random, X, LINEAR if bootstrap else INCREASING)
    drawn = {"max_samples": None} if family == "RandomPatches" and not bootstrap else {}
    made = [
        getattr(dm, family + task)(
            4, **drawn, splits=splits, random_state=int(seed), bootstrap=bootstrap
        )
        for _ in range(2)
    ]
    first, other = made[0].fit(X, y), made[1].fit(Z, y)
    other.forest_.check()
    same_trees(first, other, name, *(("cut", "pool") if bootstrap else ()))
    np.testing.assert_array_equal(other.apply(Z), first.apply(X), err_msg=name)
    np.testing.assert_array_equal(other.predict(Z), first.predict(X), err_msg=name)
    other.save(folder / "f.npz")
    np.testing.assert_array_equal(type(other).load(folder / "f.npz").apply(Z), other.apply(Z))
    return READ


def random_cuts(random: np.random.Generator, folder: Path) -> str:
    """Random cuts lie between values, and do not notice powers of two nor, on average, shifts."""
    n_rows = int(random.choice([30, 100, 300]))
    X, classes, numbers = table_of(random, n_rows)
    family = str(random.choice(["ExtraTrees", "TotallyRandomizedTrees", "PERT"]))
    task, y = (("Classifier", classes), ("Regressor", numbers))[
        0 if family == "PERT" else int(random.integers(2))
    ]
    options = {} if family == "PERT" else {"splits": "ordered"}

    def estimator() -> Any:
        return getattr(dm, family + task)(60, random_state=0, **options)

    model = estimator().fit(X, y)
    power = int(random.choice([-100, -20, 20, 100]))
    doubled = estimator().fit(np.ldexp(X, power), y)
    same_trees(model, doubled, f"2**{power}", "cut")
    np.testing.assert_array_equal(
        doubled.forest_.threshold, np.ldexp(model.forest_.threshold, power)
    )
    name, Z = increased(random, X, INCREASING)
    other = estimator().fit(Z, y)
    other.forest_.check()
    finite(other.predict(Z), name)
    inner = other.forest_.feature >= 0
    finite(other.forest_.threshold[inner], name)
    if name not in CURVED:
        change = np.abs(other.feature_importances_ - model.feature_importances_)
        assert change.max() < 0.15, f"{name}: {change}"
    return READ


# Measures, tests and discretizations, as functions of the table and the classes.
MEASURES: dict[str, Callable[[Any, Any], Any]] = {
    "mda": lambda X, y: dm.importances.mda(_forest(X, y), X, y).values,
    "mdi": lambda X, y: dm.importances.mdi(_forest(X, y), X, y, rows="oob").values,
    "noising": lambda X, y: dm.importances.noising(_forest(X, y), X, y).values,
    "vote change": lambda X, y: dm.importances.vote_change(_forest(X, y), X, y).p_values,
    "minimal depth": lambda X, y: dm.importances.minimal_depth(_forest(X, y)).values,
    "permimp": lambda X, y: dm.importances.conditional_mda(_forest(X, y), X, y).values,
    "air": lambda X, y: dm.importances.air(_estimator(), X, y, random_state=0).values,
    "sandri": lambda X, y: (
        dm.importances.sandri(_estimator(), X, y, n_repeats=2, random_state=0).values
    ),
    "holdout": lambda X, y: dm.importances.holdout_mda(_estimator(), X, y, random_state=0).values,
    "mcfs": lambda X, y: (
        dm.importances.mcfs(X, y, n_subsets=6, n_splits=2, random_state=0).importances.values
    ),
    "altmann": lambda X, y: (
        dm.significance.altmann(_estimator(), X, y, n_permutations=4, random_state=0).p_values
    ),
    "one probe": lambda X, y: (
        dm.significance.one_probe(_estimator(), X, y, n_permutations=3, random_state=0).p_values
    ),
    "spearman": lambda X, y: _clusters(X, "spearman"),
    "context": lambda X, y: _context(X, y, np.arange(len(y)) % 3),
    "context of numbers": lambda X, y: _context(X[:, :3], y, X[:, 3], n_bins=3),
    "quantiles": lambda X, y: _intervals(X, "quantile"),
    "party": lambda X, y: (
        dm.importances.conditional_mda(_forest(X, y), X, y, association="party").values
    ),
    "pearson": lambda X, y: _clusters(X, "pearson"),
    "probe ranking": lambda X, y: dm.significance.probe_ranking(X, y, alpha=1).scores,
    "uniform": lambda X, y: _intervals(X, "uniform"),
}
# Those for which the order of the values is enough.
BY_RANK = ("spearman", "quantiles")


def _estimator() -> Any:
    return dm.RandomForestClassifier(4, random_state=0)


def _forest(X: Any, y: Any) -> Any:
    return _estimator().fit(X, y)


def _clusters(X: Any, correlation: Any) -> Any:
    result = dm.importances.representatives(
        np.column_stack([X, X[:, ::-1]]), n_clusters=3, correlation=correlation
    )
    return np.array([len(result), *map(hash, result.names)])


def _context(X: Any, y: Any, context: Any, **options: Any) -> Any:
    classifies = np.asarray(y).dtype.kind != "f"
    kind = dm.TotallyRandomizedTreesClassifier if classifies else dm.TotallyRandomizedTreesRegressor
    options = {"estimator": kind(4, splits="auto"), "n_permutations": 3, **options}
    return dm.contexts.context_importances(
        X, y, np.asarray(context), random_state=0, **options
    ).absolute


def _intervals(X: Any, method: Any) -> Any:
    made = dm.theory.discretize(X, method=method, n_bins=4)
    return np.array([made.codes(j) for j in range(4)])


def measures(random: np.random.Generator, folder: Path) -> str:
    """Measures, tests and discretizations of features of another scale."""
    X, y, _ = table_of(random, 60)
    measure = str(random.choice(list(MEASURES)))
    names = INCREASING if measure in BY_RANK else POWERS if "context" in measure else LINEAR
    name, Z = increased(random, X, names)
    wanted, result = MEASURES[measure](X, y), MEASURES[measure](Z, y)
    what = f"{measure} of {name}"
    finite(result, what)
    np.testing.assert_allclose(result, wanted, rtol=1e-6, atol=1e-9, err_msg=what)
    return READ


# --- targets and weights -------------------------------------------------------------------------


def weights(random: np.random.Generator, folder: Path) -> str:
    """Weights: only their ratios matter; huge beside tiny ones leave finite numbers."""
    X, classes, numbers = table_of(random)
    task, y = (("Classifier", classes), ("Regressor", numbers))[int(random.integers(2))]
    family = str(random.choice(["RandomForest", "ExtraTrees", "RandomPatches"]))
    estimator = getattr(dm, family + task)
    n_trees = 60 if family == "ExtraTrees" else 5
    options = random.integers(0, 4, len(y)).astype(float)
    options[0] = 3.0
    model = estimator(n_trees, random_state=0).fit(X, y, options)
    power = int(random.choice([-1060, -900, -300, -60, 60, 300, 1000]))
    other = estimator(n_trees, random_state=0).fit(X, y, np.ldexp(options, power))
    # Random cuts are drawn in another order where weights are whole numbers.
    slack = 0.15 if family == "ExtraTrees" else 1e-9
    np.testing.assert_allclose(other.feature_importances_, model.feature_importances_, atol=slack)
    if family != "ExtraTrees":
        np.testing.assert_array_equal(other.apply(X), model.apply(X))
    uneven = np.where(random.random(len(y)) < 0.5, 10.0 ** random.uniform(-300, 300), options)
    third = estimator(5, random_state=0).fit(X, y, uneven)
    third.forest_.check()
    finite(third.predict(X), "uneven weights")
    finite(third.feature_importances_, "uneven weights")
    for measure in (dm.importances.mdi, dm.importances.frequency):
        finite(measure(third).values, "uneven weights")
    return READ


# --- what is refused -----------------------------------------------------------------------------


def infinities(random: np.random.Generator, folder: Path) -> str:
    """Infinite features, targets and weights are refused by every function, by name."""
    X, classes, numbers = table_of(random, 40)
    fitted = _forest(X, classes)
    bad, row = X.copy(), int(random.integers(40))
    bad[row, 2] = float(random.choice([np.inf, -np.inf]))
    far = numbers.copy()
    far[row] = np.inf
    forest, regressor = dm.ExtraTreesClassifier(3), dm.ExtraTreesRegressor(3)
    calls: dict[str, Callable[[], Any]] = {
        "encode": lambda: dm.encode(bad),
        "fit": lambda: forest.fit(bad, classes),
        "predict": lambda: fitted.predict(bad),
        "apply": lambda: fitted.apply(bad),
        "mda": lambda: dm.importances.mda(fitted, bad, classes, rows=None),
        "mcfs": lambda: dm.importances.mcfs(bad, classes, n_subsets=3),
        "representatives": lambda: dm.importances.representatives(bad, n_clusters=2),
        "context": lambda: dm.contexts.context_importances(bad, classes, classes, n_permutations=0),
        "pack": lambda: dm.pack(bad, folder / "bad.store"),
        "target": lambda: regressor.fit(X, far),
        "target of the context": lambda: dm.contexts.context_importances(X, far, classes),
        "probe ranking": lambda: dm.significance.probe_ranking(X, far),
        "weights": lambda: forest.fit(X, classes, np.abs(far)),
        "bins": lambda: dm.theory.discretize(bad, n_bins=3),
        "context of numbers": lambda: dm.contexts.context_importances(X, classes, far),
    }
    for name, call in calls.items():
        try:
            call()
        except ValueError as error:
            text = str(error)
        else:
            text = "no error"
        assert "infin" in text, f"{name}: {text}"
    return REFUSED


CHECKS: tuple[Callable[[np.random.Generator, Path], str], ...] = (
    measures,
    best_cuts,
    measures,
    random_cuts,
    measures,
    weights,
    infinities,
)
