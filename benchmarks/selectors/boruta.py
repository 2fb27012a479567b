"""Boruta: time compared with boruta_py, and confirmed noise features.

    python -m benchmarks.selectors.boruta speed [--seeds 2] [--rounds 99]
    python -m benchmarks.selectors.boruta null [--data-sets 200]

`speed` draws 2000 rows of 500 normal features, of which ten add up to two classes, and runs both
programs with equal rounds and forests: 500 trees a round of depth 5, K = sqrt, two threads; ours
with boruta_py's measure and correction, and with the defaults of `Boruta`. Wall and processor time
of the whole `fit` are printed, and what both confirmed; exit status 1 where a ratio of processor
times is below 8, or the defaults neither confirm the same features nor have the better F1 (with the
same rule the sets differ by chance, from one seed of the forests to the next). It needs boruta_py
(dependency group "bench").

`null` grows 50 trees a round on data sets of 100 rows, with features and two classes that have
nothing to do with each other, and counts those of which Boruta confirms any feature.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm

N, P, RELEVANT, TREES, DEPTH, THREADS = 2000, 500, 10, 500, 5, 2
BAR = 8.0


def problem(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, P))
    return X, (X[:, :RELEVANT].sum(axis=1) > 0).astype(np.int64)


def ours(X: Any, y: Any, rounds: int, seed: int, **rule: Any) -> tuple[Any, int]:
    forest = dm.RandomForestClassifier(TREES, max_depth=DEPTH)
    model = dm.Boruta(forest, max_rounds=rounds, random_state=seed, n_jobs=THREADS, **rule)
    model.fit(X, y)
    return model.support_, model.n_rounds_


def theirs(X: Any, y: Any, rounds: int, seed: int) -> tuple[Any, int]:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(max_depth=DEPTH, n_jobs=THREADS)
    model = BorutaPy(forest, n_estimators=TREES, max_iter=rounds + 1, random_state=seed).fit(X, y)
    return model.support_, len(model.importance_history_) - 1


PROGRAMS: dict[str, Callable[..., tuple[Any, int]]] = {
    "duramen, rule of boruta_py": partial(ours, measure="mdi", correction="two-step"),
    "duramen, defaults": ours,
    "boruta_py": theirs,
}


def timed(run: Callable[[], tuple[Any, int]]) -> tuple[Any, int, float, float]:
    wall, used = time.perf_counter(), time.process_time()
    support, rounds = run()
    return support, rounds, time.perf_counter() - wall, time.process_time() - used


def f1(support: NDArray[np.bool_]) -> float:
    hits = float(support[:RELEVANT].sum())
    return 2 * hits / (support.sum() + RELEVANT)


def speed(seeds: int, rounds: int) -> bool:
    print("| seed | program | rounds | wall, s | processor, s | confirmed | F1 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    fine = True
    for seed in range(seeds):
        X, y = problem(seed)
        ours(X[:200], y[:200], 2, 0)  # imports
        results = {}
        for name, program in PROGRAMS.items():
            support, done, wall, used = timed(partial(program, X, y, rounds, seed))
            results[name] = (used, f1(support), support)
            print(
                f"| {seed} | {name} | {done} | {wall:.1f} | {used:.1f} | {support.sum()} | "
                f"{f1(support):.3f} |",
                flush=True,
            )
        same, own, other = results.values()
        ratios = [other[0] / first[0] for first in (same, own)]
        print(f"ratios of processor times {ratios[0]:.1f}, {ratios[1]:.1f}")
        fine &= min(ratios) >= BAR and (np.array_equal(own[2], other[2]) or own[1] > other[1])
    return fine


def null(data_sets: int) -> bool:
    print("| correction | measure | features | any confirmed | confirmed a data set |")
    print("| --- | --- | --- | --- | --- |")
    for correction in ("bonferroni", "two-step"):
        for measure in ("scaled_mda", "mdi"):
            for p in (20, 50):
                sizes = [_confirmed(seed, p, correction, measure) for seed in range(data_sets)]
                any_ = np.mean(np.array(sizes) > 0)
                print(
                    f"| {correction} | {measure} | {p} | {any_:.3f} | {np.mean(sizes):.2f} |",
                    flush=True,
                )
    return True


def _confirmed(seed: int, p: int, correction: str, measure: str) -> int:
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(100, p)), random.permutation(np.arange(100) % 2)
    model = dm.Boruta(
        n_estimators=50, measure=measure, correction=correction, random_state=seed, n_jobs=1
    )
    return int(model.fit(X, y).support_.sum())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("speed", "null"))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=99)
    parser.add_argument("--data-sets", type=int, default=200)
    options = parser.parse_args()
    runs = {"speed": lambda: speed(options.seeds, options.rounds)}
    runs |= {"null": lambda: null(options.data_sets)}
    return 0 if runs[options.what]() else 1


if __name__ == "__main__":
    sys.exit(main())
