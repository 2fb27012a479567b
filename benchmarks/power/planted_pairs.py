"""Planted pairs among 1,000 features: area under precision and recall, and processor time.

``python -m benchmarks.power.planted_pairs --out DIR`` compares `interaction_test` with Friedman's H
among the features of largest MDI, and with the pairs on common paths of forests. Each data set has
five pairs of one kind that interact, and five pairs of features with main effects alone, which are
stronger. All methods take one data set after the other, on one thread of one process; a run that
was killed goes on from DIR. Exit status 1 where the mean area is not above that of H, or the time
not below a tenth of that of H.

H of all pairs would take hours: it is computed for the 45 pairs of the ten features of largest MDI,
and its time is that of these pairs alone, in favor of H. ``--methods``, ``--kinds``, ``--tasks``
and ``--sets`` run a part.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

ROWS, FEATURES, PAIRS = 1000, 1000, 5
KINDS = ("xor", "product", "and-rule")
TASKS = ("regression", "classification")
TREES = 100
H_FEATURES = 10  # whose pairs have their H computed
H_ROWS = 100  # that effects are averaged over, as by default; the time grows with the square
BAR = 0.1


def problem(kind: str, task: str, seed: int) -> tuple[Any, Any, set[tuple[int, int]]]:
    """Return a table, a target and the pairs that interact."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(ROWS, FEATURES))
    columns = random.permutation(FEATURES)[: 4 * PAIRS].reshape(2 * PAIRS, 2)
    effects = np.zeros(ROWS)
    for a, b in columns[:PAIRS]:
        if kind == "xor":
            effects += np.sign(X[:, a] * X[:, b])
        elif kind == "product":
            effects += X[:, a] * X[:, b]
        else:
            cut = random.normal(scale=0.4, size=2)  # of the quantiles, .35 to .65 about
            effects += 3.0 * ((X[:, a] > cut[0]) & (X[:, b] > cut[1]))
    for a, b in columns[PAIRS:]:
        effects += 0.5 * (X[:, a] + X[:, b])
    effects -= np.median(effects)
    if task == "classification":
        y = (random.random(ROWS) < 1.0 / (1.0 + np.exp(-2.0 * effects))).astype(int)
    else:
        y = effects + 0.5 * effects.std() * random.normal(size=ROWS)
    return X, y, {(min(pair), max(pair)) for pair in columns[:PAIRS].tolist()}


def area(scores: dict[tuple[int, int], float], planted: set[tuple[int, int]]) -> float:
    """Return the average precision over all pairs; pairs without a score are last."""
    from sklearn.metrics import average_precision_score

    pairs = sorted(set(scores) | planted)
    values = [scores.get(pair, -1.0) for pair in pairs]
    n_others = FEATURES * (FEATURES - 1) // 2 - len(pairs)
    labels = [pair in planted for pair in pairs] + [False] * n_others
    return float(average_precision_score(labels, values + [-1.0] * n_others))


def of_matrix(values: Any) -> dict[tuple[int, int], float]:
    """Sizes of the entries of a sparse matrix, by pair."""
    entries = values.tocoo()
    return {
        (int(a), int(b)): abs(float(value))
        for a, b, value in zip(*entries.coords, entries.data, strict=True)
        if a < b
    }


def scan(data: Any, task: str) -> dict[tuple[int, int], float]:
    """Statistics of `interaction_test`, without p-values."""
    import duramen as dm

    return of_matrix(dm.significance.interaction_test(data, n_resamples=0, n_jobs=1).values)


def _forest(task: str, kind: str, **parameters: Any) -> Any:
    import duramen as dm

    suffix = "Classifier" if task == "classification" else "Regressor"
    return getattr(dm, kind + suffix)(TREES, random_state=0, n_jobs=1, **parameters)


def friedman(data: Any, task: str, max_rows: int = H_ROWS) -> dict[tuple[int, int], float]:
    """H, as the strength of interactions in predictions, of the pairs of the strongest features."""
    import duramen as dm

    forest = _forest(task, "RandomForest").fit(data)
    best = [int(name[1:]) for name in dm.importances.mdi(forest).top(H_FEATURES).names]
    result = dm.effects.interaction_strength(forest, data, best, max_rows=max_rows, n_jobs=1)
    return {
        (min(pair), max(pair)): float(strength)
        for names, strength in zip(result.pairs, result.strengths, strict=True)
        if (pair := (int(names[0][1:]), int(names[1][1:])))
    }


def on_paths(kind: str, **parameters: Any) -> Callable[[Any, str], dict[tuple[int, int], float]]:
    """Interactions of the pairs on common paths of forests of a kind; synergy alone."""

    def run(data: Any, task: str) -> dict[tuple[int, int], float]:
        import duramen as dm

        forest = _forest(task, kind, **parameters).fit(data)
        values = dm.importances.interactions(forest, sparse=True, n_jobs=1).values
        return of_matrix(values.multiply(values > 0))

    return run


OWN, FRIEDMAN = "interaction_test", "Friedman's H"
METHODS = {
    OWN: scan,
    FRIEDMAN: friedman,
    "Friedman's H, 25 rows": partial(friedman, max_rows=25),
    "paths, random forest": on_paths("RandomForest"),
    "paths, Extra-Trees, K = p, depth 4": on_paths("ExtraTrees", max_features=None, max_depth=4),
}


def task_of(combinations: Sequence[tuple[str, str]], methods: Sequence[str]) -> Callable[..., Any]:
    """Area and processor seconds of each method, on one data set of one target and kind."""

    def run(job: int, _: int) -> Any:
        import duramen as dm

        seed, place = divmod(job, len(combinations))
        task, kind = combinations[place]
        X, y, planted = problem(kind, task, seed)
        data, row = dm.learning_set(X, y), []
        for name in methods:
            start = time.process_time()
            scores = METHODS[name](data, task)
            seconds = time.process_time() - start
            row += [area(scores, planted), seconds]
        cells = (
            f"{name} {row[2 * k]:.2f}, {row[2 * k + 1]:.1f} s" for k, name in enumerate(methods)
        )
        print(f"{task}, {kind}, {seed}: {'; '.join(cells)}", file=sys.stderr, flush=True)
        return np.array(row)

    return run


def main() -> int:
    """Print areas and times; return 1 where a bar is missed."""
    from duramen.jobs.replicates import Plan, run_replicates

    parser = argparse.ArgumentParser(prog="benchmarks.power.planted_pairs", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", type=int, default=10, help="data sets of each kind")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    combinations = list(product(asked.tasks, asked.kinds))
    size = (asked.sets, len(combinations), len(asked.methods), 2)
    results = run_replicates(
        task_of(combinations, asked.methods),
        size[0] * size[1],
        2 * size[2],
        seed=0,
        identity={"combinations": combinations, "methods": asked.methods},
        plan=Plan(1, asked.out / "planted_pairs.npz"),
        function="planted_pairs",
    ).reshape(size)
    means, errors = results.mean(axis=0), results.std(axis=0, ddof=1) / np.sqrt(asked.sets)
    print(f"{asked.sets} data sets of {ROWS} x {FEATURES} each: mean area (standard error), s")
    print(f"| target | planted pairs | {' | '.join(asked.methods)} |")
    print("| --- " * (2 + size[2]) + "|")
    missed = False
    for (task, kind), mean, error in zip(combinations, means, errors, strict=True):
        cells = [
            f"{m:.2f} ({e:.2f}), {seconds:.1f} s"
            for (m, seconds), e in zip(mean, error[:, 0], strict=True)
        ]
        print(f"| {task} | {kind} | {' | '.join(cells)} |")
        of = dict(zip(asked.methods, mean, strict=True))
        if OWN in of and FRIEDMAN in of:
            (own, seconds), (other, seconds_of_h) = of[OWN], of[FRIEDMAN]
            missed |= bool(own <= other or seconds > BAR * seconds_of_h)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
