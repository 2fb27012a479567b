"""Directions of effects where rows lie in strata, have covariates, or belong to groups.

``python -m benchmarks.error_rates.directions_dependent`` draws two kinds of data sets. In those of
the first table a feature goes up with the target within strata and down over all rows; it is called
up, down or neither. In those of the second no feature is associated with the target within strata,
or between groups; a direction of any feature, and any pair whose interaction is said to be
supported, is an error. With ``--without``, a second figure is that of the same data sets whose
strata and groups are not given. The tables are those of
docs/explanation/experiments/directions.md. A run that was killed goes on from its checkpoints in
``--out``; 200 data sets of all settings take about six minutes of a processor. It ends with exit
status 1 where a feature is called down in more data sets than the 99 % band of .01 allows, or an
error is more frequent than that of .05.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

import duramen as dm
from benchmarks.accuracy.directions import forest_for
from benchmarks.error_rates.rejections import short
from duramen.effects import describe_effects
from duramen.effects.interactions import interaction_p_value
from duramen.jobs.replicates import Plan, run_replicates
from duramen.significance import covariate_strata
from duramen.support.arrays import FloatArray

LEVEL = 0.05
PERSONS, VISITS = 40, 5
Random = np.random.Generator


class Rows(NamedTuple):
    """A table, its target, and strata or groups of its rows."""

    X: Any
    y: Any
    task: str
    rows: Mapping[str, Any]


# --- a feature that goes up within strata and down over all rows ----------------------------------


def _confounded(task: str, given: str) -> Callable[[Random], Rows]:
    """A marker with the effect 1.5 w, where w is its deviation from the mean of its center.

    Of 240 rows in two centers, of which the second has the larger markers and the lower target; or
    the same with a normal covariate in place of the center.
    """

    def draw(random: Random) -> Rows:
        w = random.normal(size=240)
        center = np.repeat([0, 1], 120)
        covariate = random.normal(size=240) if given == "number" else 2.0 * center - 1.0
        signal = 1.5 * w - 2.0 * covariate
        if task == "classification":
            y = np.where(signal + random.logistic(size=240) > 0, "ill", "well")
        elif task == "regression":
            y = signal + random.normal(size=240)
        else:
            time, end = random.exponential(np.exp(-signal)), random.exponential(3.0, 240)
            y = np.column_stack([np.minimum(time, end), time <= end])
        X = np.column_stack([w + 1.5 * covariate, random.normal(size=(240, 3))])
        if given == "strata":
            strata = center
        else:
            outcome = y if task != "survival" else y[:, 0]
            strata = covariate_strata(covariate, outcome)
        return Rows(pd.DataFrame(X).add_prefix("x"), y, task, {"strata": strata})

    return draw


def _categories(random: Random) -> Rows:
    """The category "up" is the highest within centers, and more frequent in the lower center."""
    center = np.repeat([0, 1], 120)
    up = random.random(240) < np.where(center, 0.8, 0.2)
    y = 1.5 * up - 4.0 * center + random.normal(size=240)
    X = pd.DataFrame({"x0": np.where(up, "up", "down"), "x1": random.normal(size=240)})
    return Rows(X, y, "regression", {"strata": center})


CONFOUNDED: dict[str, Callable[[Random], Rows]] = {
    "two classes, strata": _confounded("classification", "strata"),
    "two classes, covariate of two values": _confounded("classification", "category"),
    "two classes, covariate of numbers": _confounded("classification", "number"),
    "numbers, strata": _confounded("regression", "strata"),
    "numbers, covariate of numbers": _confounded("regression", "number"),
    "survival, strata": _confounded("survival", "strata"),
    "categories, strata": _categories,
}


# --- no association ------------------------------------------------------------------------------


def _of_persons(random: Random, person: NDArray[Any], p: int, within: float = 0.7) -> FloatArray:
    """Normal columns with the correlation `within` of the rows of a person."""
    shared = random.normal(size=(person.max() + 1, p))[person]
    return np.sqrt(within) * shared + np.sqrt(1 - within) * random.normal(size=(len(person), p))


def _features(random: Random, person: NDArray[Any]) -> pd.DataFrame:
    """Return three columns that are correlated within persons, and a category of the persons."""
    X = pd.DataFrame(_of_persons(random, person, 3)).add_prefix("x")
    X["ward"] = random.choice(["north", "south", "west"], person.max() + 1)[person]
    return X


def _groups(kind: str) -> Callable[[Random], Rows]:
    """Forty persons of five rows, or of two to six, with irrelevant features."""

    def draw(random: Random) -> Rows:
        sizes = random.integers(2, 7, PERSONS) if kind == "sizes" else VISITS
        person = np.repeat(np.arange(PERSONS), sizes)
        X, task = _features(random, person), "classification"
        shared = _of_persons(random, person, 1)[:, 0]
        if kind in ("class", "sizes"):
            y = random.permutation(np.arange(PERSONS) % 2)[person]
        elif kind == "rare class":
            y = random.permutation(np.arange(PERSONS) < 6)[person]
        elif kind == "class of rows":
            y = (shared > 0).astype(int)
        elif kind == "survival":
            time, end = random.exponential(np.exp(2 * shared)), random.exponential(3, len(person))
            y, task = np.column_stack([np.minimum(time, end), time <= end]), "survival"
        else:
            y, task = shared, "regression"
        if kind == "trend":  # of all persons in the course of their visits
            visit = np.arange(len(person)) % VISITS
            y = y + visit
            X[["x0", "x1", "x2"]] += np.outer(visit, [0.5, -0.5, 1.0])
        return Rows(X, y, task, {"groups": person})

    return draw


def _strata(kind: str) -> Callable[[Random], Rows]:
    """Features and target that depend on a center, or on a number, and not on each other."""

    def draw(random: Random) -> Rows:
        n = 200
        center = np.repeat([0.0, 1.0], 100)
        number = random.normal(size=n) if kind == "covariate" else 2 * center - 1
        X = pd.DataFrame(random.normal(size=(n, 3)) + number[:, None]).add_prefix("x")
        likely = random.random(n) < np.where(number > 0, 0.7, 0.2)
        X["ward"] = np.where(likely, "north", random.choice(["south", "west"], n))
        y: Any = (random.logistic(size=n) + 1.5 * number > 0).astype(int)
        task = "classification"
        if kind == "numbers":
            y, task = random.normal(size=n) * np.exp(0.5 * number) + number, "regression"
        elif kind == "survival":
            time, end = random.exponential(np.exp(-number)), random.exponential(3, n)
            y, task = np.column_stack([np.minimum(time, end), time <= end]), "survival"
        strata = covariate_strata(number, y) if kind == "covariate" else center
        return Rows(X, y, task, {"strata": strata})

    return draw


def _both(random: Random) -> Rows:
    """Forty persons of five rows in two centers, on which their status and features depend."""
    person = np.repeat(np.arange(PERSONS), VISITS)
    center = np.arange(PERSONS) % 2
    X = _features(random, person)
    X[["x0", "x1", "x2"]] += 2.0 * center[person, None]
    y = (random.random(PERSONS) < np.where(center, 0.75, 0.25))[person].astype(int)
    return Rows(X, y, "classification", {"groups": person, "strata": center[person]})


NULLS: dict[str, Callable[[Random], Rows]] = {
    "groups, class of the group": _groups("class"),
    "groups, 6 of 40 ill": _groups("rare class"),
    "groups of 2 to 6 rows, class of the group": _groups("sizes"),
    "groups, class of the row": _groups("class of rows"),
    "groups, numbers": _groups("numbers"),
    "groups, numbers, a trend in all groups": _groups("trend"),
    "groups, survival": _groups("survival"),
    "strata, two classes": _strata("classes"),
    "strata, numbers": _strata("numbers"),
    "strata, survival": _strata("survival"),
    "covariate of numbers, two classes": _strata("covariate"),
    "groups in strata, class of the group": _both,
}


def described(draw: Callable[[Random], Rows], restricted: bool = True) -> Callable[..., FloatArray]:
    """The task of a data set: 1 and -1 for up and down of x0, all directions, supported pairs."""

    def task(_: int, seed: int) -> FloatArray:
        X, y, kind, rows = draw(np.random.default_rng(seed))
        data = dm.learning_set(X, y, task=kind, **(rows if restricted else {}))
        forest = forest_for(kind, seed).fit(data)
        positive = "ill" if "ill" in np.asarray(y).ravel().tolist() else None
        tested = list[float]()

        def interaction(*arguments: Any) -> float:
            tested.append(interaction_p_value(*arguments))
            return tested[-1]

        with mock.patch("duramen.effects.direction.interaction_p_value", interaction):
            result = describe_effects(forest, data, data.names, pos_label=positive, n_jobs=1)
        first = result[0]
        up = first.kind == "up" or first.partner == "up"
        down = first.kind == "down" or first.partner == "down"
        directed = sum(direction.kind != "none" for direction in result)
        n_pairs = len(data.names) * (len(data.names) - 1) / 2
        supported = sum(p_value <= LEVEL / n_pairs for p_value in tested)
        return np.array([float(up) - float(down), directed, supported])

    return task


def outcomes(
    name: str, data_sets: int, restricted: bool = True, folder: Path | None = None
) -> FloatArray:
    """Return the outcome of `described` for each data set of a setting, shape (data sets, 3)."""
    draw = {**CONFOUNDED, **NULLS}[name]
    file = None if folder is None else folder / f"{name}-{restricted}".replace(" ", "-")
    result = run_replicates(
        described(draw, restricted),
        data_sets,
        3,
        seed=1,
        identity={"setting": name, "restricted": restricted},
        plan=Plan(checkpoint=file),
        function="directions_dependent",
        unit="data set",
    )
    return np.asarray(result)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.error_rates.directions_dependent", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=None, help="folder of checkpoints")
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--settings", nargs="+", choices=[*CONFOUNDED, *NULLS], metavar="NAME")
    parser.add_argument("--without", action="store_true", help="also without strata and groups")
    options = parser.parse_args(arguments)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    n, chosen, failed = options.data_sets, options.settings, 0
    most = {level: float(stats.binom.ppf(0.995, n, level)) / n for level in (0.01, LEVEL)}

    def rates(name: str) -> FloatArray:
        """Rates of up, down, neither, any direction and any pair, with strata or groups first."""
        results = [
            outcomes(name, n, restricted, options.out)
            for restricted in ((True, False) if options.without else (True,))
        ]
        signs = [[(result[:, 0] == sign).mean() for sign in (1, -1, 0)] for result in results]
        return np.hstack([signs, [(result[:, 1:] > 0).mean(axis=0) for result in results]])

    def row(name: str, shown: FloatArray) -> None:
        cells = [", ".join(map(short, column)) for column in shown.T]
        print(f"| {' | '.join([name, *cells])} |", flush=True)

    print(f"| target, given | up (right) | down (wrong) | neither |\n|{' --- |' * 4}")
    for name in CONFOUNDED:
        if chosen is None or name in chosen:
            shown = rates(name)[:, :3]
            failed += shown[0, 1] > most[0.01]
            row(name, shown)
    print(f"\n| given, target | any direction | any pair |\n|{' --- |' * 3}")
    for name in NULLS:
        if chosen is None or name in chosen:
            shown = rates(name)[:, 3:]
            failed += shown[0].max() > most[LEVEL]
            row(name, shown)
    print(f"\n{failed} rates are above the band")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
