"""Conditions under which intervals of importances cover less often than their level says."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from duramen.data import EncodedTable, LearningSet
from duramen.significance.resampling import SamplingUnits
from duramen.support.arrays import FloatArray

# What was measured (docs/explanation/tests/intervals.md): from so many rows on; up to so many,
# small subsamples were found to give too small standard errors; what other kinds covered; and for
# what targets.
_FEWEST_ROWS = 60
_ROWS_FOR_SMALL = 200
_COVERED = {"normal": ".86 to .98", "percentile": ".77 to .94"}
_UNCERTAIN = 0.3  # relative standard error of the variance of a target
_OF_ONE_ROW = 0.5  # fraction of the sum of squares of a target
_FEWEST_OF_CLASS = 15


@dataclass(frozen=True)
class Tails:
    """Tails of a target of numbers, to whose variance importances are proportional.

    Attributes
    ----------
    kurtosis : float
        Excess kurtosis, 0 for the normal distribution.
    largest : float
        Fraction of the sum of squares about the mean in the row that is farthest from it.
    first : float
        That in the hundredth of the rows that are farthest from it, at least one.
    skewness : float
        L-skewness, 0 for symmetric distributions, 1/3 for the exponential one, at most 1.
    error : float
        Relative standard error of the variance: the larger one of those that follow from the
        kurtosis and from the skewness. The kurtosis of a sample is far below that of a
        distribution with heavy tails: of a log-normal one (standard deviation 1) it gives .23 to
        .71 for 60 rows, and .15 to .45 for 500, where .48 is true. The L-skewness is nearly
        unbiased, and stands for the log-normal distribution that has it (Hosking and Wallis 1997).
    """

    kurtosis: float
    largest: float
    first: float
    skewness: float
    error: float

    @classmethod
    def of(cls, numbers: FloatArray) -> Tails:
        """Describe the tails of at least one number."""
        n = len(numbers)
        squares = np.sort(np.square(numbers - numbers.mean()))[::-1]
        total = float(squares.sum())
        if total <= 0:
            return cls(0.0, 0.0, 0.0, 0.0, 0.0)
        fourth = n * float(np.square(squares).sum()) / total**2
        skewness = l_skewness(numbers)
        return cls(
            kurtosis=fourth - 3.0,
            largest=float(squares[0]) / total,
            first=float(squares[: max(1, round(0.01 * n))].sum()) / total,
            skewness=skewness,
            error=math.sqrt(max(0.0, fourth - 1.0, log_normal_kurtosis(skewness) - 1.0) / n),
        )

    @property
    def words(self) -> str:
        """The tails as a note says them."""
        return (
            f"L-skewness {self.skewness:.2g}, excess kurtosis {self.kurtosis:.3g}, "
            f"{self.first:.0%} of the sum of squares in the hundredth of the rows with the largest "
            "deviations"
        )


def l_skewness(numbers: FloatArray) -> float:
    """Return the L-skewness of at least three numbers, from unbiased L-moments; 0 of fewer."""
    n = len(numbers)
    if n < 3:
        return 0.0
    place, ordered = np.arange(n), np.sort(numbers - numbers.mean())
    b1 = float(np.mean(place * ordered)) / (n - 1)
    b2 = float(np.mean(place * (place - 1.0) * ordered)) / ((n - 1) * (n - 2))
    return (6 * b2 - 6 * b1) / (2 * b1)


# Shape of the log-normal distribution as a rational function of the L-skewness (Hosking, Wallis).
_NUMERATOR = (2.0466534, -3.6544371, 1.8396733, -0.20360244)
_DENOMINATOR = (1.0, -2.0182173, 1.2420401, -0.21741801)
_LARGEST_SKEWNESS = 0.9  # the approximation ends at .94


def log_normal_kurtosis(skewness: float) -> float:
    """Return the fourth standardized moment of the log-normal distribution with an L-skewness."""
    t = min(abs(skewness), _LARGEST_SKEWNESS)
    powers = t ** np.arange(0, 8, 2)
    w = math.exp((t * float(powers @ _NUMERATOR) / float(powers @ _DENOMINATOR)) ** 2)
    return w**4 + 2 * w**3 + 3 * w**2 - 3


def tails_of(data: LearningSet[EncodedTable], unit: str, scale: str) -> Tails | None:
    """Return the tails of the target, or None where importances do not grow with its variance."""
    if data.target.criterion != "variance" or scale == "fraction" or unit == "1":
        return None
    return Tails.of(np.asarray(data.target.values, dtype=np.float64))


def check_tails(tails: Tails | None, function: str, hint: str) -> None:
    """Check that the variance of the target is not that of a single row.

    Raises
    ------
    ValueError
        If more than half of its sum of squares is in one row.
    """
    if tails is not None and tails.largest > _OF_ONE_ROW:
        raise ValueError(
            f"{function}: the importances of this target have no useful interval: one row has "
            f"{tails.largest:.0%} of the sum of squares of the target, more than "
            f"{_OF_ONE_ROW:.0%}, and importances are in proportion to that sum. Hint: {hint}, or "
            "a transformed target, such as its logarithm or ranks."
        )


def limits(
    units: SamplingUnits,
    size: int | None,
    method: str,
    kind: str,
    correction: bool,
    tails: Tails | None,
) -> tuple[str, ...]:
    """Return what is known of intervals that cover less often than they promise."""
    n, notes = units.count, []
    if n < _FEWEST_ROWS:
        notes.append(
            f"coverage was measured for {_FEWEST_ROWS} rows and more; with {n} {units.name} the "
            "coverage of the intervals may be below their level"
        )
    if size is None or not correction:
        notes.append(
            "coverage was measured for subsamples with correction=True; other standard errors may "
            "be too small"
        )
    elif size < n / 2 and n < _ROWS_FOR_SMALL:
        notes.append(
            f"subsamples of {size} of {n} {units.name} give standard errors that are too small "
            "for strong features, down to .57 of the true ones. Hint: use the default, 3/4 of "
            "them"
        )
    if kind in _COVERED and method == "subsampling":
        notes.append(
            f"95 % {kind} intervals covered the importance of relevant features in "
            f"{_COVERED[kind]} of data sets of 60 to 200 rows. Hint: kind='wilson'"
        )
    if tails is not None and tails.error > _UNCERTAIN:
        notes.append(
            f"the target has heavy tails ({tails.words}), so that its variance, and with it all "
            f"importances, have a relative standard error of {min(tails.error, 1):.2f} or more, "
            "which intervals underestimate: 95 % intervals covered the MDI of relevant features in "
            ".62 to .74 of data sets of 60 rows with a log-normal target, their MDA in .81 to "
            ".97. Hint: scale='fraction', or a transformed target"
        )
    if (smallest := units.smallest) is not None and smallest < _FEWEST_OF_CLASS:
        notes.append(
            f"the smallest class has {smallest} {units.name}: with a class of about 6 of 60 rows, "
            "95 % intervals covered the MDA of relevant features in .93 to 1 of data sets, and "
            "their MDI in .88 to .95. Hint: scale='fraction'"
        )
    return tuple(notes)
