"""The target: labels become class codes, numbers become float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from duramen import _kernel
from duramen.data.columns import of_decimals
from duramen.data.encoded import EncodedTable
from duramen.data.exactness import merged, refusal_of
from duramen.data.kernel_owner import KernelOwner
from duramen.data.survival import is_structured, survival_codes, survival_columns
from duramen.support.arrays import array_of, check_magnitude, unmasked
from duramen.support.text import quoted
from duramen.support.warning import warn

Task: TypeAlias = Literal["classification", "regression", "survival"]
OneColumnTask: TypeAlias = Literal["classification", "regression"]

FEW_VALUES = 20  # a whole-number target with at most so many distinct values is taken for classes


@dataclass(frozen=True, eq=False)
class Target(KernelOwner):
    """A checked target: class codes with their labels, numbers, or survival.

    Attributes
    ----------
    values : uint32 or float64 array of shape (n,)
        Class codes; finite numbers; or, of survival, twice the rank of the time, plus 1 where the
        event occurred then.
    classes : array of shape (C,) or None
        Sorted class labels; None otherwise.
    times : float64 array or None
        Sorted distinct times of survival; None otherwise.

    Examples
    --------
    >>> from duramen.data import encode_target
    >>> target = encode_target(["ill", "well", "ill"])
    >>> target.values.tolist(), target.classes.tolist(), target.class_sizes()
    ([0, 1, 0], ['ill', 'well'], {'ill': 2, 'well': 1})
    """

    values: NDArray[np.uint32] | NDArray[np.float64]
    classes: NDArray[Any] | None = None
    times: NDArray[np.float64] | None = None

    @property
    def task(self) -> Task:
        """Task of the target: "classification", "regression" or "survival"."""
        if self.times is not None:
            return "survival"
        return "regression" if self.classes is None else "classification"

    @property
    def n_classes(self) -> int:
        """Number C of classes; 0 without classes."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def n_values(self) -> int:
        """Numbers that a leaf keeps: one a class, or the mean."""
        return max(1, self.n_classes)

    @property
    def codes(self) -> NDArray[np.uint32] | None:
        """Class codes; None without classes."""
        return None if self.classes is None else self.values  # type: ignore[return-value]

    @cached_property
    def origin(self) -> float:
        """Lower median of numbers; 0 of classes and of survival.

        Forests work on numbers less their origin, and add it to predictions: an offset of all
        numbers moves it by as much, and changes nothing else, not in a single bit.
        """
        if self.task != "regression" or not len(self.values):
            return 0.0
        middle = (len(self.values) - 1) // 2
        return float(np.partition(self.values, middle)[middle])

    def less(self, origin: float) -> NDArray[np.uint32] | NDArray[np.float64]:
        """Return numbers less an origin; class codes and survival as they are."""
        if self.task != "regression":
            return self.values
        return np.subtract(self.values, origin, dtype=np.float64)

    @cached_property
    def kernel(self) -> _kernel.Target:
        """The target as it is lent to the kernel: numbers less their origin."""
        values: NDArray[Any] = np.ascontiguousarray(self.less(self.origin))
        return _kernel.Target(values, self.n_classes, 0 if self.times is None else len(self.times))

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Labels, numbers, or events and times, as they were given, of shape (n,)."""
        if self.times is not None:
            known = np.empty(len(self.values), dtype=[("event", np.bool_), ("time", np.float64)])
            known["event"], known["time"] = self.values % 2, self.times[self.values // 2]
            return known
        return self.values if self.classes is None else self.classes[self.values]

    def take(self, rows: NDArray[Any]) -> Target:
        """Return the target of some of the rows, given by index, with the classes that occur."""
        values = self.values[rows]
        if self.classes is None:
            return Target(values, times=self.times)
        present = np.bincount(values, minlength=self.n_classes) > 0
        if present.all():
            return Target(values, self.classes)
        rank = np.cumsum(present, dtype=np.uint32) - np.uint32(1)
        return Target(rank[values], self.classes[present])

    def centered(self, *, scale: bool = False) -> Target:
        """Return numbers with mean 0, divided by their deviation if asked to; others as they are.

        Numbers that are all equal are not divided.
        """
        if self.task != "regression":
            return self
        numbers: NDArray[np.float64] = np.subtract(self.values, self.origin, dtype=np.float64)
        numbers -= numbers.mean()
        spread = float(numbers.std())
        return Target(numbers / spread if scale and spread > 0 else numbers)

    def class_sizes(self) -> dict[str, int] | None:
        """Return the classes, as text, with their number of rows; None without classes."""
        if self.classes is None:
            return None
        counts = np.bincount(self.values, minlength=self.n_classes)
        return dict(zip(map(str, self.classes.tolist()), counts.tolist(), strict=True))


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
        :func:`duramen.data.survival.survival_columns` takes them.
    task : {"auto", "classification", "regression", "survival"}
        Whether y holds classes, numbers or survival; "auto" goes by :func:`infer_task`, and a
        structured array of two fields is survival.
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
    >>> from duramen.data import encode_target
    >>> encode_target([3, 1, 3]).task, encode_target([0.3, 0.1, 0.3]).task
    ('classification', 'regression')
    """
    if task == "survival" or (task == "auto" and is_structured(y)):
        times, events = survival_columns(y, function)
        codes, distinct = survival_codes(times, events, n_rows=n_rows, function=function)
        return Target(codes, times=distinct)
    values = target_array(y, n_rows=n_rows, function=function)
    if task == "auto":
        task = _inferred(values)
    if task == "classification":
        return _classes(values, allow_one_class, function)
    if task == "regression":
        return Target(_numbers(values, function))
    raise ValueError(
        f"{function}: task must be 'auto', 'classification', 'regression' or 'survival', got "
        f"{task!r}."
    )


def infer_task(y: Any, *, function: str = "infer_task") -> Task:
    """Return the task that a target looks like: classes or a quantity.

    Strings, categories and booleans are classes. Whole numbers in an integer type are classes where
    at most 20 distinct ones occur, else a quantity. Floating-point numbers are a quantity.

    Examples
    --------
    >>> from duramen.data import infer_task
    >>> infer_task(["a", "b"]), infer_task([1.5, 2.0]), infer_task(list(range(30)))
    ('classification', 'regression', 'regression')
    """
    return _inferred(target_array(y, function=function))


def _inferred(values: NDArray[Any]) -> Task:
    if values.dtype.kind in "iu":
        return "classification" if len(np.unique(values)) <= FEW_VALUES else "regression"
    return "regression" if values.dtype.kind == "f" else "classification"


def target_array(y: Any, *, n_rows: int | None = None, function: str = "fit") -> NDArray[Any]:
    """Return the target as a one-dimensional array without missing or infinite values.

    Numbers and booleans keep their type; strings come as arrays of objects or of NumPy strings.

    Examples
    --------
    >>> from duramen.data import target_array
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
    values = _to_numpy(y, function)
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
        raise ValueError(
            f"{function}: Found input variables with inconsistent numbers of samples: "
            f"[{n_rows}, {len(values)}]; X and y need one row each for every sample"
        )
    if len(values) == 0:
        raise ValueError(f"{function}: y is empty; a minimum of 1 sample is required")
    return _checked(values, function)


def _to_numpy(y: Any, function: str) -> NDArray[Any]:
    y = unmasked(y)
    package = type(y).__module__.partition(".")[0]
    if package == "pyarrow":
        y = _from_arrow(y, function)
    elif package in {"polars", "narwhals"} and hasattr(y, "to_numpy"):
        y = y.to_numpy()
    try:
        return array_of(y)
    except ValueError as error:
        raise ValueError(f"{function}: y is ragged; give one value a row ({error})") from None


def _from_arrow(y: Any, function: str) -> Any:
    import pyarrow as pa

    if not isinstance(y, (pa.Array, pa.ChunkedArray)):
        return y
    if pa.types.is_dictionary(y.type):
        y = y.cast(y.type.value_type)
    if pa.types.is_integer(y.type) or pa.types.is_floating(y.type):
        return np.asarray(y)
    if pa.types.is_decimal(y.type):
        return np.asarray(of_decimals(y, "y", function))
    if pa.types.is_boolean(y.type) and not y.null_count:
        return np.array(y.to_pylist(), dtype=bool)
    if pa.types.is_temporal(y.type):
        return np.asarray(y)
    if pa.types.is_string(y.type) or pa.types.is_large_string(y.type):
        return np.asarray(y.to_numpy(zero_copy_only=False), dtype=object)
    array = np.empty(len(y), dtype=object)
    array[:] = y.to_pylist()
    return array


def _checked(values: NDArray[Any], function: str) -> NDArray[Any]:
    kind = values.dtype.kind
    if kind == "c":
        raise ValueError(f"{function}: Complex data not supported: y is of type {values.dtype}")
    if kind in "mMVS":
        raise TypeError(
            f"{function}: y is of type {values.dtype}; it holds labels (strings, booleans, whole "
            "numbers) or numbers: convert it first"
        )
    if kind == "O":
        return _checked_objects(values, function)
    if kind == "f":
        if np.isnan(values).any():
            raise ValueError(_missing(function, int(np.isnan(values).argmax())))
        if np.isinf(values).any():
            raise ValueError(
                f"{function}: Input y contains infinity or a value too large for dtype('float64'), "
                f"first at row {int(np.isinf(values).argmax())}; drop such rows"
            )
    return values


def _checked_objects(values: NDArray[Any], function: str) -> NDArray[Any]:
    types = set(map(type, values.tolist()))
    if all(issubclass(t, str) for t in types):
        return values
    for row, value in enumerate(values):
        if value is None or type(value).__name__ in {"NAType", "NaTType"} or _is_nan(value):
            raise ValueError(_missing(function, row))
    if all(issubclass(t, (bool, np.bool_)) for t in types):
        return values.astype(bool)
    numbers = None
    try:
        if all(issubclass(t, (int, np.integer)) for t in types):
            return values.astype(np.int64)
        if not any(issubclass(t, (str, bytes)) for t in types):
            numbers = _checked(values.astype(np.float64), function)
    except OverflowError:
        raise ValueError(
            f"{function}: y holds integers beyond 2**63; subtract an offset, or pass labels as text"
        ) from None
    except (TypeError, ValueError):
        pass
    if numbers is not None:
        _refuse_merged(values, function)
        return numbers
    shown = ", ".join(sorted(t.__name__ for t in types))
    raise TypeError(
        f"{function}: y holds values of the types {shown}; all must be strings, or all numbers: "
        "argument must be a string or a number"
    )


def _refuse_merged(values: NDArray[Any], function: str) -> None:
    pair = merged(values)
    if pair is not None:
        raise refusal_of(pair, "y", function)


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _missing(function: str, row: int) -> str:
    return (
        f"{function}: Input y contains NaN or another missing value, first at row {row}; a target "
        "must have none: drop such rows from X and y"
    )


def _classes(values: NDArray[Any], allow_one_class: bool, function: str) -> Target:
    if values.dtype.kind == "f" and (values != np.floor(values)).any():
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(values)
    classes, codes = _ranked(values)
    if len(classes) == 1 and not allow_one_class:
        raise ValueError(
            f"{function}: y has one class only, {classes[0]!r}; at least two classes are needed: "
            "check that y is the target, and that the rows were not filtered by it"
        )
    return Target(codes.astype(np.uint32, copy=False), classes)


def _ranked(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted distinct values, and the rank of each value among them.

    As `numpy.unique`; text is hashed, which takes a tenth of the time of sorting all of it.
    """
    if values.dtype.kind not in "OU":
        return np.unique(values, return_inverse=True)
    texts = values.tolist()
    distinct = sorted(set(texts))
    rank = {text: code for code, text in enumerate(distinct)}
    codes = np.fromiter(map(rank.__getitem__, texts), dtype=np.uint32, count=len(texts))
    return np.array(distinct, dtype=values.dtype), codes


def _numbers(values: NDArray[Any], function: str) -> NDArray[np.float64]:
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        row, example = next(
            (row, v) for row, v in enumerate(values.tolist()) if not _reads_as_number(v)
        )
        raise ValueError(
            f"{function}: y holds {example!r} at row {row}, which is not a number; for labels use "
            "a classifier, or task='classification'"
        ) from None
    _checked(numbers, function)
    if values.dtype.kind in "iu" or values.dtype.itemsize > 8:
        _refuse_merged(values, function)
    check_magnitude(numbers, "y", function)
    return numbers


def _reads_as_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


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
    values = np.asarray(table.values(j))[table.codes(j)]
    task: Task = "regression" if table.kinds[j] == "numeric" else "classification"
    return encode_target(values, task, allow_one_class=True, function=function)


def refuse_missing(
    table: EncodedTable, targets: Sequence[int] | NDArray[np.int64], function: str
) -> None:
    """Raise where a column that is to be a target has missing values.

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
