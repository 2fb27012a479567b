"""Random tables, targets, weights and estimators: what the forests of the attempts are grown on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.faults.batches import ALLOWED, Attempt

from duramen import estimators

Cell = float | str | bool | None  # None is missing
UNSEEN = "never seen"

FAMILIES = (
    "RandomForest",
    "ExtraTrees",
    "TotallyRandomizedTrees",
    "BaggedTrees",
    "RandomSubspace",
    "RandomPatches",
    "PERT",
)
SPLITS = ("ordered", "multiway", "one-vs-rest", "any")


@dataclass(frozen=True)
class Column:
    """A column of Python values.

    Attributes
    ----------
    cells : list
        A number, a string, a bool or None (missing) for every row.
    kind : str
        "numeric", "ordinal" or "nominal".
    order : list of str or None
        Categories of an ordinal column of text, ascending.
    """

    cells: list[Cell]
    kind: str
    order: list[str] | None = None


def unrefused(attempt: Attempt) -> Attempt:
    """Wrap an attempt none of whose inputs may be refused, but for reasons that it knows itself."""

    def run(number: int, folder: Path) -> str:
        try:
            return attempt(number, folder)
        except ALLOWED as error:
            raise AssertionError(f"refused: {error}") from error

    return run


def frame_of(columns: dict[str, Column]) -> pd.DataFrame:
    """Columns as a data frame, of the types from which their kinds follow where types can say it.

    Numbers that are to be ordinal or nominal are left as numbers.
    """
    made: dict[str, Any] = {}
    for name, column in columns.items():
        if column.order is not None:
            made[name] = pd.Categorical(column.cells, [*column.order, UNSEEN], ordered=True)
        elif any(isinstance(cell, str) for cell in column.cells):
            made[name] = pd.Series(column.cells, dtype=object)
        elif None in column.cells:
            made[name] = np.array([np.nan if c is None else c for c in column.cells], dtype=float)
        else:
            made[name] = column.cells
    return pd.DataFrame(made)


def draw_columns(random: np.random.Generator, n_rows: int) -> dict[str, Column]:
    """Draw one to six columns, each of one of the sorts below or equal to an earlier one."""
    columns: dict[str, Column] = {}
    for j in range(int(random.integers(1, 7))):
        if columns and random.random() < 0.12:
            columns[f"c{j}"] = columns[str(random.choice(list(columns)))]
        else:
            columns[f"c{j}"] = SORTS[int(random.integers(len(SORTS)))](random, n_rows)
    return columns


def with_gaps(random: np.random.Generator, cells: list[Any]) -> list[Cell]:
    """Half of the time cells as they are, else some of them missing, rarely all."""
    fraction = random.choice([0.0, 0.0, 0.15, 0.6, 1.0], p=[0.25, 0.25, 0.3, 0.17, 0.03])
    return [None if random.random() < fraction else cell for cell in cells]


def _floats(random: np.random.Generator, n: int) -> Column:
    size = 10.0 ** float(random.choice([0, 0, 0, -300, 300, -315]))
    return Column(with_gaps(random, (random.normal(size=n) * size).tolist()), "numeric")


def _ties(random: np.random.Generator, n: int) -> Column:
    values = [0.0, -0.0, 1.0, float(np.nextafter(1, 2)), 2.5, 1e-308, -3.0, -1.7e308, 1.7e308]
    return Column(with_gaps(random, random.choice(values, n).tolist()), "numeric")


def _integers(random: np.random.Generator, n: int) -> Column:
    low, high = [(0, 2), (0, 3), (-3, 300), (2**53 - 9, 2**53 + 1)][int(random.integers(4))]
    kind = str(random.choice(["numeric", "numeric", "ordinal", "nominal"])) if high < 9 else ""
    return Column(with_gaps(random, random.integers(low, high, n).tolist()), kind or "numeric")


def _flags(random: np.random.Generator, n: int) -> Column:
    return Column((random.random(n) < 0.5).tolist(), "numeric")


def _text(random: np.random.Generator, n: int) -> Column:
    labels = np.array([f"l{i}" for i in range(int(random.choice([1, 2, 4, 9])))])
    return Column(with_gaps(random, random.choice(labels, n).tolist()), "nominal")


def _much_text(random: np.random.Generator, n: int) -> Column:
    labels = np.array([f"l{i}" for i in range(int(random.choice([32, 33, 70])))])
    return Column(with_gaps(random, random.choice(labels, n).tolist()), "nominal")


def _sizes(random: np.random.Generator, n: int) -> Column:
    order = ["S", "M", "L", "XL"]
    return Column(with_gaps(random, random.choice(order, n).tolist()), "ordinal", order)


def _constant(random: np.random.Generator, n: int) -> Column:
    return Column(with_gaps(random, [float(random.choice([0.0, 7.5, -1e300]))] * n), "numeric")


SORTS: tuple[Callable[[np.random.Generator, int], Column], ...] = (
    _floats,
    _floats,
    _ties,
    _integers,
    _integers,
    _flags,
    _text,
    _text,
    _much_text,
    _sizes,
    _constant,
)


def new_rows(
    random: np.random.Generator, columns: dict[str, Column], n_rows: int
) -> dict[str, Column]:
    """Rows like those of the columns, some cells of which are missing or were never seen."""
    made = {}
    for name, column in columns.items():
        present: list[Cell] = [cell for cell in column.cells if cell is not None] or [None]
        cells = [present[int(i)] for i in random.integers(len(present), size=n_rows)]
        for i in np.flatnonzero(random.random(n_rows) < 0.3):
            cell = cells[i]
            if isinstance(cell, str):
                cells[i] = UNSEEN
            elif cell is not None:
                cells[i] = float(cell) + float(random.choice([0.25, -0.5, 1e9, -1e300]))
        for i in np.flatnonzero(random.random(n_rows) < 0.2):
            cells[i] = None
        made[name] = Column(cells, column.kind, column.order)
    return made


def draw_weights(random: np.random.Generator, n_rows: int) -> list[float] | None:
    """No weights, or some of those below, at least one of them above 0."""
    values = [
        None,
        [0.0, 1.0, 2.0],
        [0.3, 1.7, 2.2],
        [1e-200, 3e-200],
        [1e250, 2e250],
        [0.0, 1e-9, 1.0, 1e9],
    ][int(random.choice(6, p=[0.4, 0.15, 0.15, 0.1, 0.1, 0.1]))]
    if values is None:
        return None
    weights = [float(weight) for weight in random.choice(values, n_rows)]
    weights[int(random.integers(n_rows))] = max(values)
    return weights


def draw_target(random: np.random.Generator, n_rows: int, *, classes: bool) -> list[Any]:
    """Class labels (ints, strings or bools), or numbers of ordinary, huge or equal size."""
    if classes:
        labels: list[Any] = [[0, 1], ["no", "yes"], [False, True], ["u", "v", "w"], [5]][
            int(random.choice(5, p=[0.3, 0.3, 0.1, 0.25, 0.05]))
        ]
        return [labels[int(i)] for i in random.integers(len(labels), size=n_rows)]
    how = int(random.integers(4))
    if how == 0:
        return random.integers(-2, 3, n_rows).tolist()
    if how == 1:
        return [3.5] * n_rows
    return (random.normal(size=n_rows) * [1.0, 1e60][how - 2] + [1e9, 0.0][how - 2]).tolist()


def draw_estimator(
    random: np.random.Generator, n_classes: int, target: list[Any], *, n_trees: int | None = None
) -> Any:
    """Draw an estimator of any family; `n_classes` 0 asks for numbers."""
    task = "Classifier" if n_classes else "Regressor"
    families = FAMILIES if n_classes else FAMILIES[:-1]
    kind = getattr(estimators, str(random.choice(families)) + task)

    def pick(*values: Any) -> Any:
        return values[int(random.integers(len(values)))]

    asked = {
        "n_estimators": n_trees or int(random.integers(1, 7)),
        "random_state": int(random.integers(2**31)),
        "n_jobs": pick(None, 2, 3),
        "max_depth": pick(None, None, None, 1, 3),
        "min_samples_leaf": pick(1, 1, 1, 2, 5),
        "min_samples_split": pick(2, 2, 6),
        "bootstrap": pick(True, False),
        "max_samples": pick(None, None, 0.6, 1),
        "n_subspace_features": pick(1, 0.5, 1.0),
        "splits": pick(*SPLITS),
        "max_features": pick(None, 1, 0.5, "sqrt", "log2"),
        "max_leaf_nodes": pick(None, None, None, None, 2, 4),
        "stop_alpha": pick(None, None, None, 0.3),
        "min_impurity_decrease": pick(0.0, 0.0, 0.0, 0.01),
        "count_constant_features": pick(True, False),
        "min_impurity_split": pick(0.0, 0.0, 0.0, 0.05),
        "ccp_alpha": pick(0.0, 0.0, 0.0, 0.02),
        "feature_first": pick(True, False),
    }
    if asked["splits"] != "multiway":
        asked["n_best_splits"] = pick(1, 1, 1, 3)
    if asked["stop_alpha"] is not None:
        asked["stop_permutations"] = pick(None, 9)
    if n_classes:
        by_class = {label: float(pick(0.0, 0.5, 1, 3)) + 0.25 for label in set(target)}
        asked["criterion"] = pick("gini", "entropy", "log_loss")
        asked["class_weight"] = pick(None, None, "balanced", "balanced_subsample", by_class)
    if kind.__name__.startswith("TotallyRandomizedTrees"):
        asked["max_features"] = 1  # more of them are Extra-Trees, with a warning
    parameters = kind().get_params()
    made = kind(**{name: value for name, value in asked.items() if name in parameters})
    n_drawn = made.get_params().get("max_samples")
    if "oob_score" in parameters and (made.bootstrap or n_drawn is not None):
        made.set_params(oob_score=True)
    return made
