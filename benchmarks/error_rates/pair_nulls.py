"""False positives of the test of pairs in problems with only main effects.

``python -m benchmarks.error_rates.pair_nulls`` prints, for each setting, how often
`interaction_test` declares any pair at .05 (family-wise); exit status 1 where a rate is above the
99 % band of .05, which is the quantile of binomial counts. The settings have unbalanced classes,
curved and correlated main effects, skewed and heteroscedastic errors, labels, missing values and
rows of people. ``--designs`` takes older designs of 40 features in their place: in some, groups of
ten rows share a part of their features and an effect on the target; they are tested as groups, and
for comparison as independent rows. In designs "beside interactions" three pairs interact as well,
and only the other pairs count, many of which have a feature of one of the three. ``--sets`` is the
number of data sets of each, ``--first`` the seed of the first.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

ALPHA = 0.05
N_SETS = 400
ROWS, FEATURES, DRAWS, CUTS = 300, 40, 59, 2
GROUPS = np.arange(ROWS) // 10
INTERACTING = ((0, 5), (6, 7), (8, 9))  # of the designs that have interactions


def design(kind: str, seed: int) -> tuple[Any, Any]:
    """Return a table and a target that is additive in five features."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(ROWS, FEATURES))
    if "correlated" in kind:
        X = np.sqrt(0.5) * X + np.sqrt(0.5) * random.normal(size=(ROWS, 1))
    if "binary" in kind:
        X = (X > 0.5).astype(float)
    if "groups" in kind:
        X = np.sqrt(0.2) * X + np.sqrt(0.8) * random.normal(size=(ROWS, FEATURES))[GROUPS]
    effects = 1.5 * X[:, 0] + 1.5 * X[:, 1] + 0.5 * X[:, 2] - 0.5 * X[:, 3]
    effects = effects + 0.5 * np.abs(X[:, 4])
    if "interactions" in kind:
        for a, b in INTERACTING:
            effects = effects + 1.5 * np.sign(X[:, a] * X[:, b])
    if "groups" in kind:
        effects = effects + random.normal(size=ROWS)[GROUPS]
    if "classes" in kind:
        centered = effects - effects.mean()
        return X, (random.random(ROWS) < 1.0 / (1.0 + np.exp(-centered))).astype(int)
    if "skewed" in kind:
        return X, effects + random.exponential(size=ROWS) * (1.0 + np.abs(X[:, 0]))
    return X, effects + random.normal(size=ROWS)


def _normals(random: Any, n: int, p: int, correlation: float = 0.0) -> Any:
    common = random.normal(size=(n, 1)) if correlation else np.zeros((n, 1))
    return np.sqrt(1.0 - correlation) * random.normal(size=(n, p)) + np.sqrt(correlation) * common


def _classes(random: Any, *log_odds: Any) -> Any:
    """Draw classes by the log-odds of each against the first."""
    odds = np.exp(np.vstack([np.zeros(len(log_odds[0])), *log_odds]))
    below = np.cumsum(odds / odds.sum(axis=0), axis=0)
    return (random.random(odds.shape[1]) > below[:-1]).sum(axis=0)


def setting(kind: str, seed: int) -> tuple[Any, Any, dict[str, Any]]:
    """Return a table, a target without interactions, and options of the learning set."""
    random = np.random.default_rng(seed)
    options: dict[str, Any] = {}

    def normals(n: int, correlation: float = 0.0, p: int = 6) -> tuple[Any, Any]:
        X = _normals(random, n, p, correlation)
        return X, X.T

    match kind:
        case "logit 2a + 2b - 2, n 400" | "logit 2a + 2b - 2, n 1000":
            X, x = normals(int(kind.split()[-1]))
            y = _classes(random, 2 * x[0] + 2 * x[1] - 2)
        case "logit 3a + 3b - 3, n 400":
            X, x = normals(400)
            y = _classes(random, 3 * x[0] + 3 * x[1] - 3)
        case "logit 1.2a + 1.2b - 2.5, n 4000":
            X, x = normals(4000)
            y = _classes(random, 1.2 * x[0] + 1.2 * x[1] - 2.5)
        case "logit .8(a + b + c + d) - 2, r .5, n 2000":
            X, x = normals(2000, 0.5)
            y = _classes(random, 0.8 * x[:4].sum(axis=0) - 2)
        case "logit 1.5a + 1.5b - 4.5 (7 % ill), n 1000":
            X, x = normals(1000)
            y = _classes(random, 1.5 * x[0] + 1.5 * x[1] - 4.5)
        case "logit a^2 + b^2 - 3, r .5, n 1000":
            X, x = normals(1000, 0.5)
            y = _classes(random, x[0] ** 2 + x[1] ** 2 - 3)
        case "logit of steps, r .7, n 1000":
            X, x = normals(1000, 0.7)
            y = _classes(random, 3.0 * (x[0] > 0.3) + 3.0 * (x[1] > -0.2) - 4)
        case "three classes, r .5, n 800":
            X, x = normals(800, 0.5)
            y = _classes(random, 1.5 * x[0] + x[1] - 1, 1.5 * x[1] - x[2] - 2)
        case "logit, bits, r .5, n 500":
            X, x = normals(500, 0.5)
            X, x = (X > 0.5).astype(float), (x > 0.5)
            y = _classes(random, 2.0 * x[0] + 2.0 * x[1] + x[2] - 3)
        case "logit, nominal of 6 labels, n 800":
            X, x = normals(800)
            label = random.integers(0, 6, 800)
            x[1] += 0.4 * label
            x[0] = label
            options["kinds"] = {"x0": "nominal"}
            y = _classes(random, np.array([-2.0, 1, 0, 2, -1, 1])[label] + 1.5 * x[1] - 3)
        case "logit, 20 % missing, r .7, n 800":
            X, x = normals(800, 0.7)
            y = _classes(random, 1.5 * x[0] + 1.5 * x[1] - 1.5)
            X[random.random(800) < 0.2, 2] = np.nan
            missing = random.random(800) < 0.2
            y = np.where(missing, _classes(random, 1.5 * x[1] + 0.5), y)
            X[missing, 0] = np.nan
        case "logit 2a + 2b - 2 among 200, n 300":
            X, x = normals(300, p=200)
            y = _classes(random, 2 * x[0] + 2 * x[1] - 2)
        case "a^2 + noise, r .5, n 1000":
            X, x = normals(1000, 0.5)
            y = x[0] ** 2 + random.normal(size=1000)
        case "a^2 + noise, r .9, n 1500":
            X, x = normals(1500, 0.9)
            y = x[0] ** 2 + random.normal(size=1500)
        case "sin(2a) + |b| + noise, r .9, n 400":
            X, x = normals(400, 0.9)
            y = np.sin(2 * x[0]) + np.abs(x[1]) + 0.5 * random.normal(size=400)
        case "steps + noise, r .9, n 1000":
            X, x = normals(1000, 0.9)
            y = 2.0 * (x[0] > 0.3) + 2.0 * (x[1] > -0.4) + random.normal(size=1000)
        case "weak effects of all 8, r .7, n 1000":
            X, x = normals(1000, 0.7, 8)
            y = 0.15 * (x**2).sum(axis=0) + 0.15 * x.sum(axis=0) + random.normal(size=1000)
        case "2a + 2b + t(3) noise (1 + |a|), r .5, n 400":
            X, x = normals(400, 0.5)
            y = 2 * x[0] + 2 * x[1] + random.standard_t(3, 400) * (1 + np.abs(x[0]))
        case "log-normal features, exponential noise, r .5, n 400":
            X, x = normals(400, 0.5)
            y = np.exp(x[0]) + np.exp(x[1]) + 2.0 * random.exponential(size=400)
            X = np.exp(X)
        case "class of each of 40 people, 5 rows each, noise":
            people = np.arange(200) // 5
            X = _normals(random, 200, 6) + random.normal(size=(40, 6))[people]
            y = random.permutation(40)[people] % 2
            options["groups"] = people
        case "logit in 80 people, 5 rows each, r .5":
            people = np.arange(400) // 5
            X = 0.6 * _normals(random, 400, 6, 0.5) + 0.8 * _normals(random, 80, 6, 0.5)[people]
            effect = random.normal(size=80)[people]
            y = _classes(random, 1.5 * X[:, 0] + 1.5 * X[:, 1] - 1.5 + effect)
            options["groups"] = people
        case "a^2 in 80 people, 5 rows each, r .5":
            people = np.arange(400) // 5
            X = 0.6 * _normals(random, 400, 6, 0.5) + 0.8 * _normals(random, 80, 6, 0.5)[people]
            y = X[:, 0] ** 2 + X[:, 1] + random.normal(size=80)[people] + random.normal(size=400)
            options["groups"] = people
        case _:
            raise ValueError(kind)
    return X, y, options


SETTINGS = (
    "logit 2a + 2b - 2, n 400",
    "logit 2a + 2b - 2, n 1000",
    "logit 3a + 3b - 3, n 400",
    "logit 1.2a + 1.2b - 2.5, n 4000",
    "logit .8(a + b + c + d) - 2, r .5, n 2000",
    "logit 1.5a + 1.5b - 4.5 (7 % ill), n 1000",
    "logit a^2 + b^2 - 3, r .5, n 1000",
    "logit of steps, r .7, n 1000",
    "three classes, r .5, n 800",
    "logit, bits, r .5, n 500",
    "logit, nominal of 6 labels, n 800",
    "logit, 20 % missing, r .7, n 800",
    "logit 2a + 2b - 2 among 200, n 300",
    "a^2 + noise, r .5, n 1000",
    "a^2 + noise, r .9, n 1500",
    "sin(2a) + |b| + noise, r .9, n 400",
    "steps + noise, r .9, n 1000",
    "weak effects of all 8, r .7, n 1000",
    "2a + 2b + t(3) noise (1 + |a|), r .5, n 400",
    "log-normal features, exponential noise, r .5, n 400",
    "class of each of 40 people, 5 rows each, noise",
    "logit in 80 people, 5 rows each, r .5",
    "a^2 in 80 people, 5 rows each, r .5",
)

DESIGNS = (
    "numbers",
    "numbers, correlated",
    "numbers, binary features",
    "numbers, skewed and heteroscedastic",
    "classes",
    "classes, correlated",
    "classes, binary features",
    "numbers in groups",
    "classes in groups",
    "numbers in groups, as rows",
    "classes in groups, as rows",
    "numbers beside interactions",
    "classes beside interactions",
    "numbers in groups beside interactions",
    "classes in groups beside interactions",
    "numbers, correlated, beside interactions",
)
# Rows that are not independent as if they were, and pairs of features that follow those that
# interact: their rates are printed, and are above the level.
NOT_HELD = (
    "numbers in groups, as rows",
    "classes in groups, as rows",
    "numbers, correlated, beside interactions",
)


def false_pairs(pairs: Any, kind: str) -> tuple[int, int]:
    """Count the declared pairs that do not interact, and those that do."""
    frame = pairs.to_frame()
    declared = frame[frame["p_adjusted"] <= ALPHA]
    true = {(f"x{a}", f"x{b}") for a, b in INTERACTING if "interactions" in kind}
    pair = zip(declared["feature"], declared["other"], strict=True)
    n_true = sum(tuple(sorted(names)) in true for names in pair)
    return len(declared) - n_true, n_true


def data_set(kind: str, seed: int) -> Any:
    """Return the learning set of a setting or a design."""
    import duramen as dm

    if kind in SETTINGS:
        X, y, options = setting(kind, seed)
        return dm.learning_set(X, y, **options)
    grouped = "in groups" in kind and not kind.endswith("as rows")
    return dm.learning_set(*design(kind, seed), groups=GROUPS if grouped else None)


def main() -> int:
    """Print the rates; return 1 if a rate exceeds the level by more than chance."""
    from scipy.stats import binom

    import duramen as dm

    parser = argparse.ArgumentParser(prog="benchmarks.error_rates.pair_nulls", description=__doc__)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--designs", nargs="+", choices=DESIGNS)
    parser.add_argument("--sets", type=int, default=N_SETS, help="data sets of each setting")
    parser.add_argument("--first", type=int, default=0, help="seed of the first data set")
    asked = parser.parse_args()
    most = int(binom.ppf(0.99, asked.sets, ALPHA))
    print(f"{asked.sets} data sets each; at most {most / asked.sets:.3f} is by chance")
    print("| target | any false pair declared | interacting ones | processor s |")
    print("| --- | --- | --- | --- |")
    above = False
    for kind in asked.designs or asked.settings:
        draws, cuts = (39, 3) if kind in SETTINGS else (DRAWS, CUTS)
        start, any_false, power = time.process_time(), 0, 0
        for seed in range(asked.first, asked.first + asked.sets):
            pairs = dm.significance.interaction_test(
                data_set(kind, seed), n_cuts=cuts, n_resamples=draws, random_state=seed, n_jobs=1
            )
            false, true = false_pairs(pairs, kind)
            any_false, power = any_false + bool(false), power + true
        above |= any_false > most and kind not in NOT_HELD
        shown = "interactions" in kind
        fraction = f"{power / asked.sets / len(INTERACTING):.2f}" if shown else "-"
        seconds = time.process_time() - start
        rate = any_false / asked.sets
        print(f"| {kind} | {rate:.3f} | {fraction} | {seconds:.0f} |", flush=True)
    return int(above)


if __name__ == "__main__":
    sys.exit(main())
