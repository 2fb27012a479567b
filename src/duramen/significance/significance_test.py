"""Record of a significance test: its needs, cost and guarantees."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from duramen.catalogue import Entry
from duramen.importances import Measure


@dataclass(frozen=True, eq=False)
class SignificanceTest(Entry):
    """Record of a significance test in :data:`duramen.significance.catalogue`.

    Attributes
    ----------
    name : str
        Name in Python, also that of its function; the option ``--test`` has hyphens in it.
    function : callable
        Takes an estimator and a learning set; or importances, if it grows no forests; or a table
        and a target, if it is about neither.
    title : str
        Name in tables and sentences.
    promise : str
        What its numbers promise and when they do not; ``{level}`` stands for the level.
    reference : str
        Source.
    repeats : str
        Parameter for the number of forests, or rounds of them; "" for a test that grows none, or
        whose number is not chosen.
    forests : callable
        Greatest number of forests, from that number, 0 without such a parameter, and the number of
        features.
    least : int
        Least number of rounds with which anything can be significant at .05.
    suits : callable
        Whether it can test a :class:`duramen.importances.Measure`.
    of_rows : bool
        Whether it is about the table and the target alone, and suits no measure; it is given an
        estimator if it takes one.
    of_groups : bool
        Whether ``duramen rank`` has it test groups of features: in place of features, or before
        them.
    permutes : bool
        Whether nearly all of its forests are grown on a permuted target, which takes longer: their
        trees are deeper than those on the data as they are.
    fraction : float
        Fraction of the rows that its forests are grown on.
    stops_early : bool
        Whether it may end with fewer forests than `forests` says.
    most_trees : callable, optional
        Most trees of a forest that ``duramen rank`` has it grow, from the number of rows; None for
        those of the ranking.
    default : bool
        Whether ``duramen rank`` runs it where the user names no test.
    rate : str
        Name of its rates, of a test that gives `ErrorRates`.
    controls : bool
        Whether a small number is evidence of relevance for a feature among many.
    check : callable, optional
        Refuses a learning set that the test cannot handle; ``duramen rank`` calls it before a
        forest is grown.
    adapt : callable, optional
        Further arguments from the settings of growth, and whether anything asks for permutations.

    Examples
    --------
    >>> import duramen as dm
    >>> test = dm.significance.catalogue["max_t"]
    >>> test.option, test.rounds(), test.takes("strata")
    ('max-t', 99, True)
    """

    function: Callable[..., Any]
    title: str
    promise: str
    reference: str = ""
    repeats: str = "n_permutations"
    forests: Callable[[int, int], int] = lambda rounds, p: rounds + 1
    least: int = 1
    suits: Callable[[Measure], bool] = lambda measure: measure.testable
    of_rows: bool = False
    of_groups: bool = False
    permutes: bool = False
    fraction: float = 1.0
    stops_early: bool = False
    most_trees: Callable[[int], int] | None = None
    default: bool = False
    rate: str = "error rate"
    controls: bool = True
    check: Callable[[Any], None] = lambda data: None
    adapt: Callable[[Any, bool], dict[str, Any]] = lambda settings, permuting: {}

    @property
    def grows(self) -> bool:
        """True if the test grows forests of its own."""
        return self.takes("estimator")

    def takes(self, parameter: str) -> bool:
        """Tell whether the function has a parameter."""
        return parameter in inspect.signature(self.function).parameters

    def rounds(self, asked: int | None = None) -> int:
        """Return the number of rounds that is asked for, or the default of the function."""
        if asked is not None or not self.repeats:
            return asked or 0
        return int(inspect.signature(self.function).parameters[self.repeats].default)


HUYNH_THU = (
    "V. A. Huynh-Thu et al. (2012). Statistical interpretation of machine learning-based feature "
    "importance scores for biomarker discovery. Bioinformatics 28."
)
"""Source of several tests."""
