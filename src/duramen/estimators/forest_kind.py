"""Description of a kind of forest, as commands, documentation and tests use it."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

from duramen.estimators.base import ForestClassifier, ForestRegressor


@dataclass(frozen=True)
class ForestKind:
    """A kind of forest: its estimators, and its name on the command line.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title : str
        What it is, in one line.
    classifier, regressor : class or None
        Its estimators; None where it has no regressor.
    """

    name: str
    title: str
    classifier: type[ForestClassifier]
    regressor: type[ForestRegressor] | None

    @property
    def estimators(self) -> tuple[type[ForestClassifier | ForestRegressor], ...]:
        """The classes of its estimators."""
        return tuple(one for one in (self.classifier, self.regressor) if one is not None)

    @property
    def defaults(self) -> dict[str, Any]:
        """Defaults of the parameters of its classifier, by name."""
        given = signature(self.classifier.__init__).parameters.values()
        return {one.name: one.default for one in given if one.name != "self"}

    @property
    def samples_rows(self) -> bool:
        """True if its trees leave rows out by default, so that out-of-bag estimates exist."""
        return bool(self.defaults["bootstrap"] or self.defaults["max_samples"] is not None)
