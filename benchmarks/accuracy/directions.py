"""Directions of effects where they are known: proxies of monotone effects, and true turns.

``python -m benchmarks.accuracy.directions`` draws data sets of five relevant features and a proxy
of each, correlated with it by .5 to .95, and prints how often proxies and relevant features are
called non-monotone: where effects are monotone, of several forms, noise and targets, each such word
is an error; where effects turn, it is right. With ``--groups``, a second figure is that of the rule
that the test of a turn replaced: Kruskal and Wallis' test between five intervals. The last table is
of categories: how often the category that a result names as highest is not. The tables are those of
docs/explanation/experiments/directions.md. A run that was killed goes on from its checkpoints in
``--out``; one processor takes about half an hour. It ends with exit status 1 where an error rate is
above the 99 % band of .05.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from scipy import stats

import duramen as dm
from benchmarks.error_rates.rejections import short
from duramen.effects import Direction, describe_effects
from duramen.effects.association import between_categories
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray, IntArray

LEVEL = 0.05
CORRELATIONS = (0.5, 0.7, 0.8, 0.9, 0.95)
ROWS, TREES, EFFECT_ROWS = 300, 40, 100

Form = Callable[[FloatArray], FloatArray]
MONOTONE: dict[str, Form] = {
    "linear": lambda x: x,
    "exponential": lambda x: np.exp(1.2 * x),
    "step": lambda x: 2.0 * (x > 1.0),
    "saturating": lambda x: np.tanh(3.0 * x),
}
TURNING: dict[str, Form] = {
    "square": lambda x: x**2,
    "hump": lambda x: np.exp(-2.0 * x**2),
    "hump at .8": lambda x: np.exp(-2.0 * (x - 0.8) ** 2),
    "sine": lambda x: np.sin(2.0 * x),
}


@dataclass(frozen=True)
class Setting:
    """Form of the effects, noise, target and features of a data set."""

    form: str
    noise: str = "normal"
    target: str = "numbers"
    features: str = "normal"
    strength: float = 1.0  # standard deviation of each effect, that of the noise being 1
    relevant: int = len(CORRELATIONS)

    def draw(self, seed: int) -> tuple[Any, Any, str]:
        """Return the features, the relevant ones first, the target and the task."""
        random = np.random.default_rng(seed)
        shape = (ROWS, self.relevant)
        X, error = random.normal(size=shape), random.normal(size=shape)
        r = np.array(CORRELATIONS[-self.relevant :])
        proxies = r * X + np.sqrt(1.0 - r * r) * error
        form = {**MONOTONE, **TURNING}[self.form]
        reference = form(np.random.default_rng(0).normal(size=100_000))
        effects = (form(X) - reference.mean()) / reference.std()
        signal = self.strength * effects.sum(axis=1)
        table = np.hstack([X, proxies])
        y, task = _target(self.target, signal, X[:, -1], self.noise, random)
        return pd.DataFrame(_observed(table, self.features)), y, task


def _noise(kind: str, x: FloatArray, random: np.random.Generator) -> FloatArray:
    e = random.normal(size=len(x))
    if kind == "log-normal":
        return (np.exp(e) - np.exp(0.5)) / np.sqrt((np.e - 1.0) * np.e)
    spread = {"normal": np.ones_like(x), "spread": 0.2 + np.abs(x), "growing": np.exp(x / 2)}[kind]
    return e * spread


def _target(
    kind: str, signal: FloatArray, x: FloatArray, noise: str, random: np.random.Generator
) -> tuple[Any, str]:
    y = signal + _noise(noise, x, random)
    if kind == "numbers":
        return y, "regression"
    if kind == "survival":
        time, end = random.exponential(np.exp(-signal)), random.exponential(2.0, len(signal))
        return np.column_stack([np.minimum(time, end), time <= end]), "survival"
    cuts = {"two classes": [0.5], "10 % cases": [0.9], "three classes": [1 / 3, 2 / 3]}[kind]
    return np.searchsorted(np.quantile(y, cuts), y), "classification"


def _observed(table: FloatArray, kind: str) -> Any:
    """Return the features as they are observed: a monotone function of normal ones."""
    if kind == "log-normal":
        return np.exp(table * np.linspace(0.5, 2.0, table.shape[1]))
    if kind == "normal":
        return table
    return np.searchsorted([-1.0, 0.0, 0.5, 1.5], table)  # five levels of unequal size


ERRORS = [
    *(Setting("linear", noise) for noise in ("normal", "log-normal", "spread")),
    *(Setting("exponential", noise) for noise in ("log-normal", "spread")),
    *(Setting("step", noise) for noise in ("normal", "log-normal")),
    Setting("saturating", "spread"),
    Setting("linear", "growing"),
    Setting("linear", features="ordinal"),
    Setting("exponential", features="log-normal"),
    Setting("linear", target="two classes"),
    Setting("step", target="two classes"),
    Setting("linear", target="10 % cases"),
    Setting("linear", target="survival"),
    Setting("step", target="survival"),
]
TURNS = [
    *(Setting(form, strength=s, relevant=2) for form in TURNING for s in (0.4, 1.0)),
    Setting("square", "log-normal", strength=0.7, relevant=2),
    Setting("square", "spread", strength=0.7, relevant=2),
    Setting("square", features="ordinal", strength=0.7, relevant=2),
    Setting("square", target="two classes", relevant=2),
    Setting("square", target="three classes", relevant=2),
    Setting("square", target="survival", strength=0.7, relevant=2),
]


def forest_for(task: str, seed: int) -> Any:
    """Return the forest of a task."""
    kinds = {
        "regression": dm.RandomForestRegressor,
        "classification": dm.RandomForestClassifier,
        "survival": dm.RandomSurvivalForest,
    }
    return kinds[task](TREES, random_state=seed % 2**32, n_jobs=1)


def between_groups(
    codes: IntArray, y: FloatArray, *rows: IntArray | None, censored: bool
) -> list[float]:
    """Return the p-values of the former rule: twice the p-values of the test of five intervals."""
    groups = np.argsort(np.argsort(codes, kind="stable"), kind="stable") * 5 // len(codes)
    if len(np.unique(codes)) <= 5:
        groups = codes
    tests = (between_categories(groups, own, *rows, censored=censored) for own in y.T)
    return [2.0 * p_value for _, p_value in tests]


def directions(forest: Any, data: Any) -> tuple[Direction, ...]:
    """Return the directions of all features without interactions, which take most of the time."""
    names = list(data.table.names)
    with mock.patch("duramen.effects.direction._interactions", return_value={}):
        return describe_effects(forest, data, names, relevant=names, max_rows=EFFECT_ROWS, n_jobs=1)


def called(setting: Setting, groups: bool) -> Callable[[int, int], FloatArray]:
    """The task of a data set: 1 where a feature is called non-monotone, 2 for up and down."""

    def task(_: int, seed: int) -> FloatArray:
        X, y, kind = setting.draw(seed)
        data = dm.learning_set(X, y, task=kind)
        forest = forest_for(kind, seed).fit(data)
        described = [directions(forest, data)]
        if groups:
            with mock.patch("duramen.effects.direction.turn_p_value", between_groups):
                described.append(directions(forest, data))
        words = {"non-monotone": 1.0, "up": 2.0, "down": 2.0}
        return np.array([[words.get(d.kind, 0.0) for d in directions] for directions in described])

    return lambda b, seed: task(b, seed).ravel()


def outcomes(
    setting: Setting, data_sets: int, groups: bool, folder: Path | None = None
) -> FloatArray:
    """Return the directions reported for features, of shape (data sets, rules, features)."""
    rules, p = 1 + groups, 2 * setting.relevant
    name = f"{setting}-{groups}".replace(" ", "").replace("/", "")
    result = run_replicates(
        called(setting, groups),
        data_sets,
        rules * p,
        seed=1,
        identity={"setting": repr(setting), "groups": groups},
        plan=Plan(checkpoint=None if folder is None else folder / name),
        function="directions",
        unit="data set",
    )
    return np.asarray(result).reshape(data_sets, rules, p)


# --- categories ----------------------------------------------------------------------------------


def misnamed(r: float) -> Callable[[int, int], FloatArray]:
    """The task of a data set: whether a proxy is called highest at a category that is not.

    A nominal feature with four categories, whose second is the highest, and a proxy, which has the
    same category with probability r and another one else.
    """

    def task(_: int, seed: int) -> FloatArray:
        random = np.random.default_rng(seed)
        place = random.integers(0, 4, ROWS)
        other = np.where(random.random(ROWS) < r, place, random.integers(0, 4, ROWS))
        y = np.array([0.0, 1.5, 0.5, -0.5])[place] + random.normal(size=ROWS)
        letters = np.array(list("abcd"))
        X = pd.DataFrame({"place": letters[place], "proxy": letters[other]})
        X["other"] = random.normal(size=ROWS)
        data = dm.learning_set(X, y)
        result = directions(forest_for("regression", seed).fit(data), data)[:2]
        said = [d.partner if d.kind == "categories" else "" for d in result]
        return np.array([[d not in ("", "b"), d == "b"] for d in said], dtype=np.float64).ravel()

    return task


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.accuracy.directions", description=__doc__)
    parser.add_argument("--out", type=Path, default=None, help="folder of checkpoints")
    parser.add_argument("--data-sets", type=int, default=400)
    parser.add_argument("--groups", action="store_true", help="compare with the rule before")
    options = parser.parse_args(arguments)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    n, groups, folder = options.data_sets, options.groups, options.out
    band = float(stats.binom.ppf(0.995, n, LEVEL)) / n
    tail = [f"r = {r}" for r in CORRELATIONS] + ["relevant"]
    print(f"| effect | noise | target | features | {' | '.join(tail)} |\n|{' --- |' * 10}")
    failed = 0
    for setting in ERRORS:
        wrong = outcomes(setting, n, groups, folder) == 1.0
        k = setting.relevant
        rates = [*wrong[:, :, k:].mean(axis=0).T, wrong[:, :, :k].mean(axis=0).max(axis=1)]
        failed += any(rate[0] > band for rate in rates)
        cells = [", ".join(short(x) for x in rate) for rate in rates]
        said = (setting.form, setting.noise, setting.target, setting.features)
        print(f"| {' | '.join([*said, *cells])} |", flush=True)
    print(f"\n| effect | strength | noise | target | features | relevant |\n|{' --- |' * 6}")
    for setting in TURNS:
        right = outcomes(setting, n // 2, groups, folder)[:, :, : setting.relevant] == 1.0
        cell = ", ".join(short(x) for x in right.mean(axis=(0, 2)))
        said = (setting.form, f"{setting.strength:g}", setting.noise, setting.target)
        print(f"| {' | '.join([*said, setting.features, cell])} |", flush=True)
    print(f"\n| proxy | wrong | right | relevant, wrong | right |\n|{' --- |' * 5}")
    for r in CORRELATIONS:
        path = None if folder is None else folder / f"categories-{r}"
        plan = Plan(checkpoint=path)
        rates = run_replicates(
            misnamed(r), n, 4, seed=1, identity={"r": r}, plan=plan, function="categories"
        ).mean(axis=0)
        failed += max(rates[0], rates[2]) > band
        shown = [short(rates[i]) for i in (2, 3, 0, 1)]
        print(f"| {' | '.join([str(r), *shown])} |", flush=True)
    print(f"\n{failed} of the rows have a rate above {short(band)}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
