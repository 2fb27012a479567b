"""Reports of tables with several rows of each person, in which no feature has an effect.

``python -m benchmarks.error_rates.groups`` ranks null data sets of 40 persons with five rows each,
with and without ``groups``, and prints for each of them how often the report says something false:
that the features together predict the target, a confirmed feature, a direction, a direct feature, a
pair of features that interact; beside the mean out-of-bag accuracy, or explained variance. Three
features have correlation .95 within persons. The class is one of the person, drawn with probability
1/2; the number is one of the person as well, or half of its variance is. Exit status 1 where, with
groups, a conclusion, a confirmation or a pair is above .05, or a direct feature above .1, by more
than chance, or the mean accuracy is not within .45 and .53.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm

N_PERSONS, N_ROWS, N_FEATURES = 40, 5, 3
PERSON = np.repeat(np.arange(N_PERSONS), N_ROWS)
TARGETS = ("class of the person", "number of the person", "number that varies in a person")
# What is false of a null data set, and how often it may be said.
RATES = {"predicts": 0.05, "confirmed": 0.05, "direction": None, "direct": 0.1, "pairs": 0.05}
ACCURACY = (0.45, 0.53)  # means; estimates of new persons are below 1/2 in balanced samples


def data_set(target: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return features and a target that have nothing to do with each other."""
    random = np.random.default_rng(seed)
    shared = random.normal(size=(N_PERSONS, N_FEATURES + 1))[PERSON]
    own = random.normal(size=shared.shape)
    X = np.sqrt(0.95) * shared[:, 1:] + np.sqrt(0.05) * own[:, 1:]
    if target == TARGETS[0]:
        return X, (random.random(N_PERSONS) < 0.5).astype(int)[PERSON]
    return X, shared[:, 0] + (own[:, 0] if target == TARGETS[2] else 0.0)


def said(target: str, seed: int, *, grouped: bool, trees: int, whole: bool) -> dict[str, float]:
    """Return the statements of a report: 1 for a false statement, NaN if it is absent."""
    X, y = data_set(target, seed)
    task = "classification" if target == TARGETS[0] else "regression"
    if task == "classification":
        estimator: Any = dm.RandomForestClassifier(trees, criterion="entropy")
    else:
        estimator = dm.RandomForestRegressor(trees, max_features="sqrt")
    groups = PERSON if grouped else None
    report = dm.rank(
        dm.learning_set(X, y, task=task, groups=groups),
        estimator=estimator,
        direct=whole,
        interactions=whole,
        random_state=seed,
        n_jobs=1,
    )
    results, directions = report.run.results, report.table["direction"]
    error, baseline = results["oob_error"], results["baseline_error"]
    quality = 1 - error if task == "classification" else 1 - error / baseline
    return {
        "accuracy": quality,
        "predicts": float(results["baseline_p_value"] <= 0.05),
        "confirmed": float(results["significance"]["confirmed"] > 0),
        "direction": float(np.mean([words != "no direction" for words in directions])),
        "direct": float(results["direct"]["direct"] > 0) if whole else np.nan,
        "pairs": float(len(results["interactions"]["supported"]) > 0) if whole else np.nan,
    }


def missed(means: dict[str, float], counts: dict[str, int], *, classes: bool) -> list[str]:
    """Return the bars that are missed with groups."""
    lines = []
    for name, level in RATES.items():
        n = counts[name]
        if level is not None and n and means[name] > level + 3 * np.sqrt(level * (1 - level) / n):
            lines.append(f"{name} in {means[name]:.3f} of {n} data sets")
    if classes and not ACCURACY[0] <= means["accuracy"] <= ACCURACY[1]:
        lines.append(f"mean accuracy {means['accuracy']:.3f}")
    return lines


def main() -> int:
    """Print the rates; return 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.error_rates.groups", description=__doc__)
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--whole", type=int, default=40, help="data sets with direct and pairs")
    parser.add_argument("--rows", type=int, default=40, help="data sets without groups")
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=list(TARGETS))
    asked = parser.parse_args()
    print(f"| target | rows | data sets | accuracy | {' | '.join(RATES)} | processor s |")
    print("| --- " * (len(RATES) + 5) + "|")
    lines: list[str] = []
    for target in asked.targets:
        for grouped, n in ((True, asked.data_sets), (False, asked.rows)):
            if not n:
                continue
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = [
                    said(target, s, grouped=grouped, trees=asked.trees, whole=s < asked.whole)
                    for s in range(n)
                ]
            values = {name: np.array([row[name] for row in rows]) for name in rows[0]}
            counts = {name: int(np.isfinite(column).sum()) for name, column in values.items()}
            means = {
                name: float(np.nanmean(column)) if counts[name] else float("nan")
                for name, column in values.items()
            }
            cells = " | ".join(f"{means[name]:.3f}" for name in ("accuracy", *RATES))
            seconds = time.process_time() - start
            kind = "groups" if grouped else "independent"
            print(f"| {target} | {kind} | {n} | {cells} | {seconds:.0f} |", flush=True)
            if grouped:
                found = missed(means, counts, classes=target == TARGETS[0])
                lines += [f"missed: {target}: {line}" for line in found]
    print("\n".join(lines))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
