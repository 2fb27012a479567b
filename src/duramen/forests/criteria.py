"""Catalogue of the impurity criteria of forests."""

from __future__ import annotations

from dataclasses import dataclass

from duramen.tables import Task


@dataclass(frozen=True)
class Criterion:
    """An impurity criterion.

    Attributes
    ----------
    name : str
        Its name in settings and on the command line.
    title : str
        Its name in a sentence.
    unit : str
        Unit of the impurities.
    task : {"classification", "regression"}
        What it measures: the impurity of classes, or of numbers.
    aliases : tuple of str
        The values of the parameter ``criterion`` of an estimator that select it.
    """

    name: str
    title: str
    unit: str
    task: Task
    aliases: tuple[str, ...]


# In the order of the kernel.
CRITERIA = (
    Criterion("gini", "Gini index", "gini", "classification", ("gini",)),
    Criterion("entropy", "Shannon entropy", "bits", "classification", ("entropy", "log_loss")),
    Criterion("variance", "variance", "variance", "regression", ("squared_error", "variance")),
)


def criterion_named(name: str) -> Criterion:
    """Return the criterion of a name."""
    return next(one for one in CRITERIA if one.name == name)


def aliases_for(task: Task) -> dict[str, str]:
    """Return the names of the criteria of a task, by their aliases in the estimators."""
    return {alias: one.name for one in CRITERIA if one.task == task for alias in one.aliases}
