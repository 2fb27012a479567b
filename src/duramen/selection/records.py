"""Records of selectors, and of what they tell of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import Any, Literal

from numpy.typing import NDArray

from duramen.catalogue import Entry
from duramen.data import Task

Goal = Literal["all-relevant", "minimal", "ranking"]

NEXT_STEP = (
    "duramen rank tests every feature, also by its association with the target by itself, and has "
    "more power for few rows."
)
"""What to try where no feature was found."""

CAUTIONS = (
    "A model of the selected features looks better than it is on the rows by which they were "
    "selected. Evaluate it on other rows.",
    "Neither selection nor importance is evidence of a causal effect.",
)
"""Cautions that hold for every selector."""


@dataclass(frozen=True, eq=False)
class Selector(Entry):
    """Record of a selector in :data:`duramen.selection.catalogue`.

    Attributes
    ----------
    name : str
        Name in Python; the option ``--method`` of ``duramen select`` has hyphens in it.
    estimator : type or str
        Class of the selector, a :class:`BaseSelector`; or "module:name" of a class that is
        imported when it is used.
    title : str
        Name in sentences and as the kind of a report.
    words : tuple of str
        Sentences that say what it means that a feature is selected.
    reference : str
        Source.
    goal : {"all-relevant", "minimal", "ranking"}
        Whether all relevant features are sought, a smallest set of features that predict, or the
        first ones of a ranking.
    parameters : mapping
        Parameters of the class that make it this selector.
    extra : str
        Extra of this package that the selector needs, if any.
    tasks : tuple of str
        Targets that it takes.
    """

    estimator: type[Any] | str
    title: str
    words: tuple[str, ...] = ()
    reference: str = ""
    goal: Goal = "all-relevant"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extra: str = ""
    tasks: tuple[Task, ...] = ("classification", "regression")

    @property
    def kind(self) -> type[Any]:
        """Class of the selector."""
        if not isinstance(self.estimator, str):
            return self.estimator
        module, _, name = self.estimator.partition(":")
        found: type[Any] = getattr(import_module(module), name)
        return found

    @property
    def exchanges(self) -> bool:
        """True if it permutes rows within the strata of a learning set."""
        return bool(getattr(self.kind, "exchanges", False))

    @property
    def exchanges_blocks(self) -> bool:
        """True if it permutes the blocks of a learning set."""
        return bool(getattr(self.kind, "exchanges_blocks", False))

    def takes(self, parameter: str) -> bool:
        """Tell whether the selector has a parameter."""
        return parameter in signature(self.kind).parameters

    def make(self, **parameters: Any) -> Any:
        """Return the selector, not fitted, with these parameters beside its own."""
        return self.kind(**{**self.parameters, **parameters})


@dataclass(frozen=True, eq=False)
class Detail:
    """Column of numbers or words about the features, for tables.

    Attributes
    ----------
    name : str
        Name in ``result.csv``.
    title : str
        Heading in tables.
    values : int64, float64 or str array of shape (p,), or (number of selected features,)
        In the order of the columns; or of the selected features, in the order of `selected_`.
    of_selected : bool
        Whether they are of the selected features alone.
    """

    name: str
    title: str
    values: NDArray[Any]
    of_selected: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Account:
    """Account of the run of a fitted selector, for the terminal, the record and the report.

    Attributes
    ----------
    run : str
        What was run, such as "40 trees of 15 features".
    step : str
        Noun for a step of the history.
    label : str
        Settings that the curve of the history stands for.
    facts : tuple of pairs of str
        Further figures at the head of a report, with their names.
    nothing : str
        Sentence for a run that selected nothing, without a full stop.
    next_step : str
        What to try then, in a sentence or two.
    details : tuple of Detail
        Columns of the table of features.
    reading : tuple of str
        Sentences on how to read the result; ``{unit}`` stands for the unit of the importances.
    cautions : tuple of str
        Sentences on what not to read into it.
    settings : mapping
        Settings, resolved.
    results : mapping
        Figures for the record.
    """

    run: str
    step: str = "step"
    label: str = "features found"
    facts: tuple[tuple[str, str], ...] = ()
    nothing: str = "No feature was found"
    next_step: str = NEXT_STEP
    details: tuple[Detail, ...] = ()
    reading: tuple[str, ...] = ()
    cautions: tuple[str, ...] = CAUTIONS
    settings: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)
