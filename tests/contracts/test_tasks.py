"""Code that depends on the task belongs to the classes of targets."""

import ast
from collections import Counter

import numpy as np
import pytest
from tests.contracts import sources

import duramen as dm
from duramen.data import NumberTarget, target
from duramen.data.target import TARGETS, encode_target
from duramen.significance.association import marginal_statistics

TASKS = {"classification", "regression", "survival"}

# Files that read the `task` that a user asks for, with the number of comparisons in them.
READERS = {"findings/table.py": 1, "findings/rows.py": 2, "reading/tables.py": 3}


def names_a_task(node: ast.AST) -> bool:
    """Tell whether a comparison has the name of a task on one of its sides."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    values = [each.value for side in sides for each in ast.walk(side) if type(each) is ast.Constant]
    return any(value in TASKS for value in values if isinstance(value, str))


def test_only_the_targets_are_asked_for_their_task() -> None:
    asked = Counter(file for file, node in sources.nodes(ast.Compare) if names_a_task(node))
    assert asked == READERS


class CountTarget(NumberTarget):
    """Numbers of events: whole, not negative; forests predict their square roots."""

    task = "counts"  # type: ignore[assignment]
    words = "counts"
    oob_error = "out-of-bag mean squared error of the square roots"

    @classmethod
    def of_array(cls, values, allow_one_class, function):
        if (values < 0).any() or (values % 1).any():
            raise ValueError(f"{function}: y must hold counts, whole numbers from 0.")
        return cls(np.sqrt(values.astype(np.float64)))

    @property
    def labels(self):
        return np.round(self.values**2)

    @property
    def description(self):
        return f"{int(self.labels.sum()):,} counts"


def test_a_new_target_is_a_class_and_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "TARGETS", (*TARGETS, CountTarget))
    X = np.arange(12.0).reshape(-1, 1)
    y = np.arange(12) ** 2
    data = dm.learning_set(X, y, task="counts")
    assert repr(data) == "LearningSet of 12 rows x 1 columns; target: 506 counts"
    assert data.task == "counts"
    assert data.y.tolist() == y.tolist()
    part = data.of_rows(np.arange(6)).permuted(np.arange(6)[::-1])
    assert type(part.target) is CountTarget
    assert part.y.tolist() == y[:6][::-1].tolist()
    statistics = marginal_statistics(data, lambda b: np.arange(12), 1)
    assert statistics.shape == (1, 1)
    assert statistics[0, 0] > 2
    assert dm.importances.catalogue["mdi"].suits(data.target)
    assert not dm.importances.catalogue["vote_change"].suits(data.target)
    with pytest.raises(ValueError, match=r"fit: y must hold counts, whole numbers from 0\."):
        encode_target([1, -1], "counts")
    with pytest.raises(ValueError, match=r"must be .*'survival' or 'counts', got 'ranks'"):
        dm.learning_set(X, y, task="ranks")
    # Forests, which know criteria of three tasks, refuse it until one has an estimator for it.
    with pytest.raises(ValueError, match="target of this learning set is counts, but regression"):
        dm.RandomForestRegressor(2).fit(data)
