"""The target: classes, numbers or survival times, each with its own class."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from duramen import _kernel
from duramen.data.case_words import CASE_LETTERS, CASES, CONTROLS, SIGNS
from duramen.data.encoded import EncodedTable
from duramen.data.schema import KernelOwner
from duramen.data.sources import of_decimals, refuse_merged
from duramen.data.survival import (
    event_indicators,
    martingale_residuals,
    risk_intervals,
    survival_columns,
)
from duramen.support.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    array_of,
    check_magnitude,
    is_missing,
    is_structured,
    unmasked,
)
from duramen.support.arrow import pa, without_dictionary
from duramen.support.checks import warn
from duramen.support.text import as_number, quoted

Task: TypeAlias = Literal["classification", "regression", "survival"]

MOST_CLASSES = 20  # distinct whole numbers that can be classes where the task is not given
FEW_CLASSES = 11  # fewer, such as ten digits, are classes whatever the number of rows
_FEWEST_COUNTS, _FEWEST_ROWS = 6, 5  # distinct counts; rows of two neighbors that are compared
_SKEWNESS, _STEPS = 0.3, 4.0  # least skewness of counts; most of the steps against their shape
_NO_TARGET = "the table was read without a target, which is needed here; give read target=NAME"


@dataclass(frozen=True, eq=False)
class Target(KernelOwner, ABC):
    """A checked target: class codes with their labels, numbers, or survival.

    Its class says what depends on the task, so that nothing else asks which task it is.

    Attributes
    ----------
    values : uint32, uint64 or float64 array of shape (n,)
        Class codes; finite numbers; or, of survival, twice the rank of the time, plus 1 where the
        event occurred then, and with left truncation, 2**32 times the rank of the first time after
        the entry (:func:`risk_intervals`).
    classes : array of shape (C,) or None
        Sorted class labels; None otherwise.
    times : float64 array or None
        Sorted distinct times of survival, with those of entry; None otherwise.
    n_classes : int
        Number C of classes; 0 without classes.
    n_values : int
        Numbers that a leaf keeps: one a class, or the mean.
    codes : uint32 array of shape (n,) or None
        Class codes; None without classes.
    origin : float
        Lower median of numbers; 0 of classes and of survival. Forests work on numbers less their
        origin, and add it to predictions: an offset of all numbers moves it by as much, and
        changes nothing else, not in a single bit.
    task : {"classification", "regression", "survival"}
        Task of the target.
    words : str
        What it holds, in messages.
    categorical : bool
        Whether it holds classes.
    censored : bool
        Whether some values are known as lower limits only, so that nodes have no impurity.
    default_positive : tuple of str
        Label of the one of two classes that directions of effects are about, and why where its
        word does not say so; both are empty of other targets.
    criterion : str
        Impurity criterion by which features are ranked.
    ranking_parameters : mapping
        Parameters of an estimator by which features are ranked, where they are not its defaults.
    min_samples_split, min_samples_leaf : int
        Defaults of the estimators.
    scores : tuple of str
        Scores of predictions that suit it, the default first.
    chance_score : float or None
        Default score of a prediction without features, where it is the same for all data.
    oob_error : str
        Name of the error of a forest out of bag.

    Examples
    --------
    >>> from duramen.data.target import encode_target
    >>> target = encode_target(["ill", "well", "ill"])
    >>> target.values.tolist(), target.classes.tolist(), target.class_sizes()
    ([0, 1, 0], ['ill', 'well'], {'ill': 2, 'well': 1})
    >>> target.task, target.scores[0], target.error_text(0.25)
    ('classification', 'accuracy', '25.0%')
    """

    values: NDArray[np.uint32] | NDArray[np.uint64] | FloatArray
    classes: NDArray[Any] | None = None
    times: FloatArray | None = None
    n_classes: int = field(init=False)
    n_values: int = field(init=False)
    codes: NDArray[np.uint32] | None = field(init=False)

    task: ClassVar[Task]
    words: ClassVar[str]
    categorical: ClassVar[bool] = False
    censored: ClassVar[bool] = False
    default_positive: ClassVar[tuple[str, str]] = "", ""
    criterion: ClassVar[str]
    ranking_parameters: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    min_samples_split: ClassVar[int] = 2
    min_samples_leaf: ClassVar[int] = 1
    scores: ClassVar[tuple[str, ...]]
    chance_score: ClassVar[float | None] = None
    oob_error: ClassVar[str]
    origin: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        n_classes = 0 if self.classes is None else len(self.classes)
        codes = self.values if self.categorical else None
        vars(self).update(n_classes=n_classes, n_values=max(1, n_classes), codes=codes)

    @classmethod
    def encode(
        cls,
        y: ArrayLike | None,
        *,
        n_rows: int | None = None,
        allow_one_class: bool = False,
        function: str = "fit",
    ) -> Self:
        """Check a target of this task, and encode it; parameters as of :func:`encode_target`."""
        values = y if cls.censored else target_array(y, n_rows=n_rows, function=function)
        target = cls.of_array(values, allow_one_class, function)
        if n_rows is not None and len(target.values) != n_rows:
            raise ValueError(_lengths(function, n_rows, len(target.values)))
        return target

    @classmethod
    @abstractmethod
    def of_array(cls, values: Any, allow_one_class: bool, function: str) -> Self:
        """Encode a target from :func:`target_array`, or a survival target from the user."""

    def less(self, origin: float) -> NDArray[np.uint32] | NDArray[np.uint64] | FloatArray:
        """Return numbers less an origin; class codes and survival as they are."""
        return self.values

    @classmethod
    def lent(cls, values: NDArray[Any], n_classes: int = 0) -> _kernel.Target:
        """Lend the kernel codes, or numbers less an origin."""
        n_times = int(risk_intervals(values)[1].max()) + 1 if cls.censored else 0
        return _kernel.Target(values, n_classes, n_times)

    @cached_property
    def kernel(self) -> _kernel.Target:
        """Target as an object of the kernel, with numbers less their origin."""
        n_times = 0 if self.times is None else len(self.times)  # also times of no row
        values: Any = np.ascontiguousarray(self.less(self.origin))
        return _kernel.Target(values, self.n_classes, n_times)

    @property
    def labels(self) -> NDArray[Any]:
        """Labels, numbers, or events and times, as they were given, of shape (n,)."""
        return self.values

    @property
    def description(self) -> str:
        """Description in the text of a learning set."""
        return self.words

    @property
    def strata(self) -> NDArray[np.intp]:
        """Groups of rows that keep their proportions in a sample, from 0; shape (n,)."""
        return np.zeros(len(self.values), dtype=np.intp)

    @abstractmethod
    def association_scores(self) -> FloatArray:
        """Return the scores by which association with a feature is tested, of shape (n, q)."""

    def responses(self) -> FloatArray:
        """Return the response of linear models, of shape (n, c).

        Numbers, indicators of classes (of the second of two), or martingale residuals.
        """
        scores = self.association_scores()
        return scores[:, 1:] if scores.shape[1] == 2 else scores

    def take(self, rows: NDArray[Any]) -> Self:
        """Return the target of some of the rows, given by index, with the classes that occur."""
        values: Any = self.values[rows]
        return type(self)(values, times=self.times)

    def centered(self, *, scale: bool = False) -> Self:
        """Return numbers with mean 0, divided by their deviation if asked to; others as they are.

        Numbers that are all equal are not divided.
        """
        return self

    def class_sizes(self) -> dict[str, int] | None:
        """Return the classes, as text, with their number of rows; None without classes."""
        return None

    @classmethod
    def error_text(cls, error: float) -> str:
        """Return an out-of-bag error as text."""
        return f"{error:.4g}"


class ClassTarget(Target):
    """Classes: codes of sorted labels (see :class:`Target`).

    Examples
    --------
    >>> from duramen.data import ClassTarget
    >>> target = ClassTarget.encode(["ill", "well", "ill"])
    >>> target.codes.tolist(), target.labels.tolist()
    ([0, 1, 0], ['ill', 'well', 'ill'])
    """

    task: ClassVar[Task] = "classification"
    words: ClassVar[str] = "classes"
    categorical: ClassVar[bool] = True
    criterion: ClassVar[str] = "entropy"
    ranking_parameters: ClassVar[Mapping[str, Any]] = MappingProxyType({"criterion": "entropy"})
    scores: ClassVar[tuple[str, ...]] = ("accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc")
    oob_error: ClassVar[str] = "out-of-bag error"

    values: NDArray[np.uint32]
    classes: NDArray[Any]

    @classmethod
    def of_array(cls, values: Any, allow_one_class: bool, function: str) -> Self:
        """Encode labels: whole numbers or text, of two classes unless `allow_one_class`."""
        if values.dtype.kind == "f" and (fractions := values != np.floor(values)).any():
            raise ValueError(
                f"{function}: classification needs labels or whole numbers, but y holds "
                f"{values[fractions][0]:g} (Unknown label type: continuous). Hint: "
                "task='regression' is for numbers; or divide them into classes first"
            )
        if values.dtype.kind in "OU":  # to hash text takes a tenth of the time of sorting all of it
            texts = values.tolist()
            distinct = sorted(set(texts))
            rank = {text: code for code, text in enumerate(distinct)}
            classes = np.array(distinct, dtype=values.dtype)
            codes = np.fromiter(map(rank.__getitem__, texts), np.uint32, len(texts))
        else:  # half the memory that `return_inverse` takes
            classes = np.unique(values)
            codes = np.searchsorted(classes, values).astype(np.uint32)
        if len(classes) == 1 and not allow_one_class:
            raise ValueError(
                f"{function}: y has one class only, {classes[0]!r}; at least two classes are "
                "needed: check that y is the target, and that the rows were not filtered by it"
            )
        return cls(codes, classes)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Labels, of shape (n,)."""
        return self.classes[self.values]

    @cached_property
    def default_positive(self) -> tuple[str, str]:  # type: ignore[override]
        """Class of cases, positives or events of two, by its word; else the rarer one, and why.

        Examples
        --------
        >>> from duramen.data import ClassTarget
        >>> ClassTarget.encode(["no", "yes", "yes"]).default_positive
        ('yes', '')
        >>> ClassTarget.encode(["A", "B", "A"]).default_positive
        ('B', 'the rarer class')
        """
        if self.n_classes != 2:
            return "", ""
        labels = [str(label) for label in self.classes.tolist()]
        folded = [label.casefold().strip() for label in labels]
        letter = CASE_LETTERS.get(frozenset(folded))
        signs = list[int]()  # 1 of cases, -1 of controls, 0 of neither
        for label, other in (folded, folded[::-1]):
            words = {label, *re.findall(r"[^\W\d_]+", label), SIGNS.get(label[-1:], "")}
            joint, opposite = (re.sub(r"[\W_]", "", text) for text in (label, other))
            denies = joint.removesuffix(opposite) in ("no", "non", "not", "un", "in")
            if letter is not None:
                signs.append(1 if label == letter else -1)
            elif denies and joint.endswith(opposite):
                signs.append(-2)
            elif words & CONTROLS:
                signs.append(-1)
            else:
                signs.append(int(bool(words & CASES)))
        if signs[0] != signs[1]:
            return labels[int(signs[1] > signs[0])], ""
        first, second = self.class_sizes().values()
        why = "the second class" if first == second else "the rarer class"
        return labels[int(second <= first)], why

    @property
    def description(self) -> str:
        """Classes, with their numbers of rows."""
        return ", ".join(f"{label}: {size}" for label, size in self.class_sizes().items())

    @property
    def strata(self) -> NDArray[np.intp]:
        """Classes."""
        return self.values.astype(np.intp)

    def association_scores(self) -> FloatArray:
        """Return an indicator of each class."""
        indicators: FloatArray = self.values[:, None] == np.arange(self.n_classes)
        return indicators.astype(np.float64)

    def take(self, rows: NDArray[Any]) -> Self:
        """Return some of the rows, given by index, with the classes that occur."""
        values = self.values[rows]
        present = np.bincount(values, minlength=self.n_classes) > 0
        if present.all():
            return type(self)(values, self.classes)
        rank = np.cumsum(present, dtype=np.uint32) - np.uint32(1)
        return type(self)(rank[values], self.classes[present])

    def class_sizes(self) -> dict[str, int]:
        """Return the classes, as text, with their number of rows."""
        counts = np.bincount(self.values, minlength=self.n_classes)
        return dict(zip(map(str, self.classes.tolist()), counts.tolist(), strict=True))

    @classmethod
    def error_text(cls, error: float) -> str:
        """Return a fraction of the rows as text."""
        return f"{error:.1%}"


class NumberTarget(Target):
    """Finite numbers (see :class:`Target`).

    Examples
    --------
    >>> from duramen.data import NumberTarget
    >>> target = NumberTarget.encode([4.0, 2.0, 9.0])
    >>> target.origin, target.less(target.origin).tolist()
    (4.0, [0.0, -2.0, 5.0])
    """

    task: ClassVar[Task] = "regression"
    words: ClassVar[str] = "numbers"
    criterion: ClassVar[str] = "variance"
    scores: ClassVar[tuple[str, ...]] = ("neg_mean_squared_error",)
    oob_error: ClassVar[str] = "out-of-bag mean squared error"

    values: FloatArray

    @classmethod
    def of_array(cls, values: Any, allow_one_class: bool, function: str) -> Self:
        """Convert numbers to float64, if that keeps them apart and their variance in range."""
        try:
            numbers = values.astype(np.float64)
        except (TypeError, ValueError):
            texts = enumerate(values.tolist())
            row, example = next((row, text) for row, text in texts if as_number(text) is None)
            raise ValueError(
                f"{function}: regression needs numbers, but y holds {example!r} at row {row}. "
                "Hint: task='classification' is for labels"
            ) from None
        _refuse_infinite(numbers, function)
        if values.dtype.kind in "iu" or values.dtype.itemsize > 8:
            refuse_merged(values, "y", function)
        check_magnitude(numbers, "y", function)
        return cls(numbers)

    @cached_property
    def origin(self) -> float:  # type: ignore[override]
        """Lower median."""
        middle = (len(self.values) - 1) // 2
        return float(np.partition(self.values, middle)[middle]) if len(self.values) else 0.0

    def less(self, origin: float) -> FloatArray:
        """Return the numbers less an origin."""
        return np.subtract(self.values, origin, dtype=np.float64)

    def association_scores(self) -> FloatArray:
        """Return mid-ranks."""
        _, codes = np.unique(self.values, return_inverse=True)
        return midranks(np.bincount(codes))[codes][:, None]

    def responses(self) -> FloatArray:
        """Return the numbers, of shape (n, 1)."""
        return np.asarray(self.values, dtype=np.float64)[:, None]

    def centered(self, *, scale: bool = False) -> Self:
        """Return the numbers with mean 0, divided by their deviation if asked to."""
        numbers = self.less(self.origin)
        numbers -= numbers.mean()
        spread = float(numbers.std())
        return type(self)(numbers / spread if scale and spread > 0 else numbers)


class NoTarget(Target):
    """No target: a table was read without one (see :class:`Target`); its values are zeros.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.read([[0.1, 2.0], [0.7, 1.0]]).task
    Traceback (most recent call last):
    ...
    ValueError: the table was read without a target, which is needed here; give read target=NAME
    """

    words: ClassVar[str] = "no target"
    description = "none"

    @property
    def task(self) -> Task:  # type: ignore[override]
        """Refuse the table: only a target has a task."""
        raise ValueError(_NO_TARGET)

    @classmethod
    def of_array(cls, values: Any, allow_one_class: bool, function: str) -> Self:
        """Return an empty target with a row for each value."""
        return cls(np.zeros(len(values)))

    @property
    def labels(self) -> NDArray[Any]:
        """Refuse the table."""
        raise ValueError(_NO_TARGET)

    def association_scores(self) -> FloatArray:
        """Refuse the table."""
        return self.labels


class SurvivalTarget(Target):
    """Times until an event, right-censored, and left-truncated with entries (see :class:`Target`).

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.data import SurvivalTarget
    >>> dtype = [("event", bool), ("time", float)]
    >>> y = np.array([(True, 2.5), (False, 4.0), (True, 4.0)], dtype=dtype)
    >>> target = SurvivalTarget.encode(y)
    >>> target.times.tolist(), target.events.tolist(), target.values.tolist()
    ([2.5, 4.0], [True, False, True], [1, 2, 3])
    """

    task: ClassVar[Task] = "survival"
    words: ClassVar[str] = "survival"
    censored: ClassVar[bool] = True
    criterion: ClassVar[str] = "log_rank"
    min_samples_split: ClassVar[int] = 6
    min_samples_leaf: ClassVar[int] = 3
    scores: ClassVar[tuple[str, ...]] = ("concordance",)
    chance_score: ClassVar[float] = 0.5
    oob_error: ClassVar[str] = "out-of-bag error (1 - concordance)"

    values: NDArray[np.uint32] | NDArray[np.uint64]
    times: FloatArray

    @classmethod
    def of_array(cls, values: Any, allow_one_class: bool, function: str) -> Self:
        """Check events and times, as :func:`survival_columns` takes them, and encode them."""
        return cls.of_columns(*survival_columns(values, function), function=function)

    @classmethod
    def of_columns(
        cls, times: Any, events: Any, entries: Any = None, *, function: str = "fit"
    ) -> Self:
        """Check times, events and entries, and encode them.

        Parameters
        ----------
        times : array-like of shape (n,)
            Time of the event, or of the end of the observation without it; finite, not negative.
        events : array-like of shape (n,)
            Whether the event occurred, as :func:`event_indicators` takes it.
        entries : array-like of shape (n,), optional
            Time after which each row was under observation, before its time; finite, not negative.
            By default all rows were from the start on.
        function : str
            The function that the user called, for errors.

        Raises
        ------
        ValueError
            If something is missing, negative or infinite, no event occurred, lengths differ, or an
            entry is not before its time.

        Examples
        --------
        >>> from duramen.data import SurvivalTarget
        >>> target = SurvivalTarget.of_columns([3, 5, 3], [True, False, False])
        >>> target.values.tolist(), target.times.tolist()
        ([1, 2, 0], [3.0, 5.0])
        """
        occurred = event_indicators(events, function=function, times=times)
        columns: list[FloatArray] = []
        by_name = {"times": times} | ({} if entries is None else {"entry": entries})
        for name, values in by_name.items():
            array = np.asarray(values)
            try:
                numbers = array.astype(np.float64)
            except (TypeError, ValueError):
                numbers = np.empty((0, 0))
            if numbers.ndim != 1 or not len(numbers):
                raise ValueError(
                    f"{function}: {name} must be numbers, one for each row, got an array of type "
                    f"{array.dtype} and shape {array.shape}"
                )
            if array.dtype.kind in "iuO" or array.dtype.itemsize > 8:
                refuse_merged(array, name, function)
            wrong = ~np.isfinite(numbers) | (numbers < 0)
            if wrong.any():
                row = int(np.argmax(wrong))
                raise ValueError(
                    f"{function}: {name} must be finite and not negative, got {numbers[row]} at "
                    f"row {row}; leave out rows where they are missing"
                )
            if len(numbers) != len(occurred):
                raise ValueError(_lengths(function, len(numbers), len(occurred)))
            columns.append(numbers)
        time = columns[0]
        if not occurred.any():
            raise ValueError(
                f"{function}: the event occurred in no row; survival needs some events"
            )
        check_magnitude(time, "y", function)
        late = columns[1] >= time if len(columns) > 1 else np.zeros(1, dtype=np.bool_)
        if late.any():
            row = int(np.argmax(late))
            raise ValueError(
                f"{function}: entry must be before the time in every row, got {columns[1][row]:g} "
                f"and {time[row]:g} at row {row}; number of such rows: {late.sum():,}. Hint: leave "
                "out rows that were not observed, or add half a unit to times of the day of entry."
            )
        if len(columns) == 1 or columns[1].max() < time.min():  # all are at risk from the start on
            distinct, ranks = np.unique(time, return_inverse=True)
            codes = 2 * ranks.reshape(-1).astype(np.uint32) + occurred.astype(np.uint32)
            return cls(codes, times=distinct)
        distinct, ranks = np.unique(np.concatenate(columns), return_inverse=True)
        last, entry = ranks.reshape(2, -1).astype(np.uint64)
        wide = ((entry + 1) << 32) + 2 * last + occurred
        return cls(np.asarray(wide, dtype=np.uint64), times=distinct)

    @classmethod
    def of_codes(cls, codes: NDArray[np.unsignedinteger]) -> Self:
        """Return the survival of codes, whose times are 0, 1, ..."""
        return cls(codes, times=np.arange(risk_intervals(codes)[1].max() + 1, dtype=np.float64))

    @property
    def truncated(self) -> bool:
        """Whether some rows enter after the first time."""
        return self.values.dtype == np.uint64

    @property
    def events(self) -> BoolArray:
        """Indicators of the event, of shape (n,)."""
        return np.asarray(self.values % 2 == 1)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Structured array of events, times and entries, of shape (n,)."""
        first, last, events = risk_intervals(self.values)
        fields: list[tuple[str, Any]] = [("event", np.bool_), ("time", np.float64)]
        pairs = np.empty(len(events), fields + [("entry", np.float64)] * self.truncated)
        pairs["event"], pairs["time"] = events, self.times[last]
        if self.truncated:
            pairs["entry"] = self.times[first - 1]
        return pairs

    @property
    def description(self) -> str:
        """Number of events."""
        after = " after entry" if self.truncated else ""
        return f"survival times{after}, {np.count_nonzero(self.events)} with the event"

    @property
    def strata(self) -> NDArray[np.intp]:
        """1 where the event occurred, else 0."""
        return self.events.astype(np.intp)

    def association_scores(self) -> FloatArray:
        """Return martingale residuals."""
        return martingale_residuals(self.values)[:, None]


TARGETS: tuple[type[Target], ...] = (ClassTarget, NumberTarget, SurvivalTarget)


def target_class(task: str, function: str = "target_class") -> type[Target]:
    """Return the class of the targets of a task.

    Raises
    ------
    ValueError
        If there is no such task.

    Examples
    --------
    >>> from duramen.data.target import target_class
    >>> target_class("regression").scores
    ('neg_mean_squared_error',)
    """
    for kind in TARGETS:
        if kind.task == task:
            return kind
    *names, last = [repr(kind.task) for kind in TARGETS]
    raise ValueError(
        f"{function}: task must be 'auto', {', '.join(names)} or {last}, got {task!r}."
    )


def encode_target(
    y: Any,
    task: Task | Literal["auto"] = "auto",
    *,
    n_rows: int | None = None,
    allow_one_class: bool = False,
    function: str = "fit",
) -> Target:
    """Check a target and encode it.

    Parameters
    ----------
    y : one-dimensional labels or numbers, shape (n,)
        A NumPy array, list, pandas or polars series, or Arrow array. A column of shape (n, 1) is
        flattened, with scikit-learn's DataConversionWarning. Of survival: events and times, as
        :func:`survival_columns` takes them.
    task : {"auto", "classification", "regression", "survival"}
        Whether y holds classes, numbers or survival; by "auto", text, categories and booleans are
        classes, numbers either classes or a quantity by :func:`are_classes`, and a structured array
        of two fields is survival.
    n_rows : int, optional
        Rows of X, which y must match.
    allow_one_class : bool
        Whether a classification target may have a single class.
    function : str
        The function that the user called, for errors.

    Returns
    -------
    Target
        For classification the sorted classes, in y's own type, and each row's class as uint32.

    Raises
    ------
    ValueError
        If y is missing or masked somewhere, infinite, of another length than X, not
        one-dimensional, of one class, or numbers that are no classes; in regression, if its
        variance is out of the range of float64: a number beyond 1e70 in size, or all numbers within
        1e-70 of each other without being equal.
    TypeError
        If y is of a type that is neither labels nor numbers, or of mixed types.

    Examples
    --------
    >>> from duramen.data.target import encode_target
    >>> encode_target([3, 1, 3]).task, encode_target([0.3, 0.1, 0.3]).task
    ('classification', 'regression')
    """
    if task != "auto" or is_structured(y):
        kind = SurvivalTarget if task == "auto" else target_class(task, function)
        return kind.encode(y, n_rows=n_rows, allow_one_class=allow_one_class, function=function)
    values = target_array(y, n_rows=n_rows, function=function)
    kind = ClassTarget
    if values.dtype.kind in "iuf" and not are_classes(*np.unique(values, return_counts=True)):
        kind = NumberTarget
    return kind.of_array(values, allow_one_class, function)


def are_classes(values: NDArray[Any], counts: NDArray[Any]) -> bool:
    """Tell whether numbers are classes, by their distinct values and the rows of each.

    Whole numbers are classes where at most 20 distinct ones occur. From 11 distinct ones on they
    are a quantity if they are more than half as many as the rows: most classes would have a single
    row. Counts are a quantity (:func:`are_counts`), and so are numbers of a floating type, but two
    whole ones, such as 0.0 and 1.0.

    Parameters
    ----------
    values : array of shape (m,)
        Distinct numbers, ascending.
    counts : array of shape (m,)
        Rows of each.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.data.target import are_classes
    >>> digits, visits = np.full(10, 20), np.array([30, 40, 35, 22, 12, 6, 3, 1, 1, 1])
    >>> are_classes(np.arange(10), digits), are_classes(np.arange(10), visits)
    (True, False)
    >>> are_classes(np.array([0.0, 1.0]), np.array([7, 9]))
    True
    """
    m, n = len(values), int(counts.sum())
    if values.dtype.kind == "f":
        return m == 2 and bool((values == np.floor(values)).all())
    if m > MOST_CLASSES or (m >= FEW_CLASSES and 2 * m > n):
        return False
    return not are_counts(values, counts)


def are_counts(values: NDArray[Any], counts: NDArray[Any]) -> bool:
    """Tell whether whole numbers are distributed as counts, such as numbers of visits.

    At least six distinct ones occur, 0 among them; the rows of each, zeros aside, rise to a most
    frequent number and fall after it (squares of other steps, over the variances of counts, add up
    to at most 4); and the skewness is above .3 and above its standard error. In simulations of 200
    rows, 99 % of Poisson counts of mean 2, 92 % of mean 3 and 5 % of seven classes of uniformly
    random frequencies were taken for counts.
    """
    n = int(counts.sum())
    if len(values) < _FEWEST_COUNTS or values[0] != 0:
        return False
    numbers = values.astype(np.float64)
    rows: IntArray = np.zeros(int(numbers[-1]) + 1, dtype=np.int64)
    rows[numbers.astype(np.int64)] = counts
    rows = rows[1:]
    against = np.where(np.arange(len(rows) - 1) < rows.argmax(), -np.diff(rows), np.diff(rows))
    both = rows[1:] + rows[:-1]
    steps = (against > 0) & (both >= _FEWEST_ROWS)
    if (against[steps] ** 2 / both[steps]).sum() > _STEPS:
        return False
    deviations = numbers - counts @ numbers / n
    skewness = (counts @ deviations**3 / n) / (counts @ deviations**2 / n) ** 1.5
    return bool(skewness > max(_SKEWNESS, np.sqrt(6 / n)))


def target_array(y: Any, *, n_rows: int | None = None, function: str = "fit") -> NDArray[Any]:
    """Return the target as a one-dimensional array without missing or infinite values.

    Numbers and booleans keep their type; strings come as arrays of objects or of NumPy strings.

    Examples
    --------
    >>> from duramen.data.target import target_array
    >>> target_array([True, False])
    array([ True, False])
    """
    if y is None:
        raise ValueError(
            f"{function} requires y to be passed, but the target y is None; give one label or "
            "number a row"
        )
    if hasattr(y, "tocsc"):
        raise TypeError(f"{function}: y is a sparse matrix; pass a dense one, y.toarray().ravel()")
    package = type(y).__module__.partition(".")[0]
    if package == "pyarrow" and isinstance(y, (pa.Array, pa.ChunkedArray)):
        y = without_dictionary(y)
        y = np.asarray(of_decimals(y, "y", function) if pa.types.is_decimal(y.type) else y)
    elif package in {"polars", "narwhals"} and hasattr(y, "to_numpy"):
        y = y.to_numpy()
    try:
        values = array_of(unmasked(y))
    except ValueError as error:
        raise ValueError(f"{function}: y is ragged; give one value a row ({error})") from None
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        values = values.ravel()
    if values.ndim != 1:
        raise ValueError(
            f"{function}: y should be a 1d array, got an array of shape {values.shape} instead; "
            "fit one target at a time"
        )
    if n_rows is not None and len(values) != n_rows:
        raise ValueError(_lengths(function, n_rows, len(values)))
    if len(values) == 0:
        raise ValueError(f"{function}: y is empty; a minimum of 1 sample is required")
    types = set(map(type, values.tolist())) if values.dtype == object else set()
    if not all(issubclass(t, str) for t in types):  # truth values or numbers of Python
        absent = [row for row, value in enumerate(values) if is_missing(value)]
        if absent:
            raise ValueError(_missing(function, absent[0]))
        exact: dict[type, tuple[type, ...]] = {
            bool: (bool, np.bool_),
            np.int64: (int, np.integer),
            float: (object,),
        }
        kind = next(kind for kind, of in exact.items() if all(issubclass(t, of) for t in types))
        try:
            if any(issubclass(t, (str, bytes)) for t in types):
                raise TypeError
            numbers: NDArray[Any] = values.astype(kind)
        except OverflowError:
            raise ValueError(
                f"{function}: y holds integers beyond 2**63; subtract an offset, or pass labels as "
                "text"
            ) from None
        except (TypeError, ValueError):
            shown = ", ".join(sorted(t.__name__ for t in types))
            raise TypeError(
                f"{function}: y holds values of the types {shown}; each entry of this argument "
                "must be a string or a number, and all of one kind"
            ) from None
        if kind is float:
            refuse_merged(values, "y", function)
        values = numbers
    if values.dtype.kind == "c":
        raise ValueError(f"{function}: Complex data not supported: y is of type {values.dtype}")
    if values.dtype.kind in "mMVS":
        raise TypeError(
            f"{function}: y is of type {values.dtype}; it holds labels (strings, booleans, whole "
            "numbers) or numbers: convert it first"
        )
    if values.dtype.kind == "f":
        _refuse_infinite(values, function)
    return values


def _refuse_infinite(numbers: NDArray[Any], function: str) -> None:
    if np.isnan(numbers).any():
        raise ValueError(_missing(function, int(np.isnan(numbers).argmax())))
    if np.isinf(numbers).any():
        raise ValueError(
            f"{function}: Input y contains infinity or a value too large for dtype('float64'), "
            f"first at row {int(np.isinf(numbers).argmax())}; drop such rows"
        )


def _lengths(function: str, *lengths: int) -> str:
    return (
        f"{function}: Found input variables with inconsistent numbers of samples: "
        f"{list(lengths)}; X and y, or times and events, need one row each for every sample"
    )


def _missing(function: str, row: int) -> str:
    return (
        f"{function}: Input y contains NaN or another missing value, first at row {row}; a target "
        "must have none: drop such rows from X and y"
    )


def midranks(counts: NDArray[np.integer]) -> FloatArray:
    """Return twice the centered midrank of each value, from the numbers of rows that have it.

    The values of a column are along the last axis.
    """
    before = np.cumsum(counts, axis=-1) - counts
    return np.asarray((2.0 * before + counts) - counts.sum(axis=-1, keepdims=True))


def column_target(table: EncodedTable, j: int, function: str) -> Target:
    """Return a column as a target: numbers where it is numeric, else classes.

    Parameters
    ----------
    table : EncodedTable
        n rows of p columns.
    j : int
        Index of a column without missing values.
    function : str
        Function that the user called, for errors.
    """
    kind: type[Target] = NumberTarget if table.kinds[j] == "numeric" else ClassTarget
    values = np.asarray(table.values(j))[table.codes(j)]
    return kind.encode(values, allow_one_class=True, function=function)


def refuse_missing(table: EncodedTable, targets: Sequence[int] | IntArray, function: str) -> None:
    """Raise ValueError if a column used as target has missing values.

    Raises
    ------
    ValueError
        Naming the first such column.
    """
    lacking = [j for j in targets if table.missing[j]]
    if lacking:
        raise ValueError(
            f"{function}: {quoted(table.names[lacking[0]])} must have no missing values as a "
            f"target; number of targets with missing values: {len(lacking)}. Hint: leave out the "
            "rows, fill the gaps, or name the complete columns as targets."
        )


def proportions(target: Target) -> str:
    """Return words on the proportions that a sample keeps; empty for numbers."""
    if target.classes is not None:
        return ", in which classes keep their proportions"
    return ", in which events keep their proportion" if target.censored else ""


def sampled_rows(target: Target, n: int, seed: int) -> NDArray[np.intp]:
    """Return the indices, ascending, of a random sample of the rows.

    Classes, or rows with and without the event, keep their proportions: each has its part of the
    rows rounded down, and those with the largest remainders one row more.
    """
    random = np.random.default_rng(seed)
    groups = target.strata
    sizes = np.bincount(groups)
    parts = sizes * n / len(groups)
    counts = parts.astype(np.intp)
    more = np.argsort(-(parts - counts), kind="stable")[: n - counts.sum()]
    counts[more] += 1
    order = np.argsort(groups, kind="stable")
    starts = np.cumsum(sizes) - sizes
    drawn = [
        order[start + random.choice(size, count, replace=False)]
        for start, size, count in zip(starts, sizes, counts, strict=True)
    ]
    return np.sort(np.concatenate(drawn))
