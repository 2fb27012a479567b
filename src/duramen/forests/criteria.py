"""Catalogue of the impurity criteria of forests."""

from __future__ import annotations

from dataclasses import dataclass

from duramen.data import Task


@dataclass(frozen=True)
class Criterion:
    """An impurity criterion."""

    name: str
    title: str  # its name in a sentence
    unit: str  # of the impurities
    task: Task  # impurity of classes, of numbers, or score of splits of survival
    aliases: tuple[str, ...]  # values of an estimator's ``criterion`` that select it
    scored: bool = False  # True if a split has a score, and a node no impurity


# In the order of the kernel.
CRITERIA = (
    Criterion("gini", "Gini index", "gini", "classification", ("gini",)),
    Criterion("entropy", "Shannon entropy", "bits", "classification", ("entropy", "log_loss")),
    Criterion("variance", "variance", "variance", "regression", ("squared_error", "variance")),
    Criterion("log_rank", "log-rank statistic", "chi-square", "survival", ("log_rank",), True),
)


def criterion_named(name: str) -> Criterion:
    """Return the criterion of a name."""
    return next(criterion for criterion in CRITERIA if criterion.name == name)


def aliases_for(task: Task) -> dict[str, str]:
    """Return the names of the criteria of a task, by their aliases in the estimators."""
    return {
        alias: criterion.name
        for criterion in CRITERIA
        if criterion.task == task
        for alias in criterion.aliases
    }
