"""Trees that were grown on different columns of one table, as a forest that predicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import Schema
from duramen.data.routing import routing_values
from duramen.data.sources import table_like
from duramen.forests.arrays import FAMILY_MASK, FIRST_HEAVIER, MISSING_FIRST, MULTIWAY, ORDERED
from duramen.forests.forest import Forest, joined
from duramen.forests.structure import decreases
from duramen.selection.sequential_random_subspace.search import Grower
from duramen.support.arrays import FloatArray, IntArray

PROBE = "(probe)"
_AT_A_TIME = 4096  # columns that are taken into memory for what is known of them


class Ensemble:
    """Trees of a search, put together when they are first asked for."""

    def __init__(self, trees: Sequence[Mapping[str, NDArray[Any]]], grower: Grower) -> None:
        self._trees, self._grower = trees, grower

    @cached_property
    def forest(self) -> tuple[Forest, IntArray]:
        """As `as_forest` gives."""
        return as_forest(joined(self._trees), self._grower)


def as_forest(arrays: Mapping[str, NDArray[Any]], grower: Grower) -> tuple[Forest, IntArray]:
    """Make a forest of trees whose features are numbered among all p columns, p for a probe.

    The forest is on the columns that some tree splits on, whose numbers among all p are returned
    with it, and one more for all probes, which new rows do not have. Splits on a probe send every
    row where most went that it was grown on.
    """
    feature = arrays["feature"]
    p = grower.data.n_columns
    columns = np.unique(feature[(feature >= 0) & (feature < p)]).astype(np.int64)
    place = np.searchsorted(columns, feature)
    numbered = np.where(feature < 0, -1, np.where(feature == p, len(columns), place))
    given: dict[str, Any] = {**arrays, "feature": numbered.astype(np.int32)}
    n_values = _probes_unknown(given, len(columns))
    forest = Forest(
        **given,
        settings=grower.settings,
        schema=_with_probe(_schema_of(grower.data.table, columns), n_values),
        classes=grower.data.classes,
        n_rows=grower.data.n_rows,
        total_weight=float(grower.data.n_rows),
        seed=grower.seed,
        fingerprint=grower.data.fingerprint,
        origin=grower.data.target.origin,
    )
    return forest, columns


def _probes_unknown(arrays: dict[str, NDArray[Any]], probe: int) -> int:
    """Rewrite the splits on probes so that they fit one column whose values are not known.

    Splits in two are made ordered, with missing values at the heavier child; those in several send
    values that they do not know there in any case. Returned is how many values the column needs:
    the codes that splits in several tell apart, or 1.
    """
    nodes = np.flatnonzero(arrays["feature"] == probe)
    several = (arrays["split"][nodes] & FAMILY_MASK) == MULTIWAY
    two = nodes[~several]
    heavier = arrays["split"][two] & FIRST_HEAVIER
    side = np.where(heavier, MISSING_FIRST, 0).astype(np.uint8)
    for name, values in (("split", ORDERED | heavier | side), ("cut", 0), ("threshold", 0.0)):
        arrays[name] = arrays[name].copy()
        arrays[name][two] = values
    tree = np.searchsorted(arrays["offsets"], nodes[several], side="right") - 1
    starts = arrays["pool_offsets"][tree] + arrays["cut"][nodes[several]]
    pool = arrays["pool"]
    last = [int(pool[start + 1 + int(pool[start])]) for start in starts.tolist()]  # they ascend
    return 1 + max(last, default=0)


def staged_totals(
    forest: Forest, columns: IntArray, n_features: int, ends: Sequence[int]
) -> Iterator[FloatArray]:
    """Sums over the first trees, up to each of these ends, of the importances of all p features."""
    node_ends = forest.offsets[list(ends)].tolist()
    shares = decreases(forest) * forest.weight / forest.total_weight
    place = np.append(columns, -1)[forest.feature]  # of a probe and of leaves -1
    total, start = np.zeros(n_features), 0
    for end in node_ends:
        some = np.flatnonzero(place[start:end] >= 0) + start
        total = total + np.bincount(place[some], weights=shares[some], minlength=n_features)
        start = end
        yield total


def rows_for(forest: Forest, columns: IntArray, X: Any, n_features: int, owner: str) -> Any:
    """Prepare new rows, tables of p columns, to be sent down: float64 array of shape (n, u + 1).

    Only the columns that the trees split on are read. A probe is missing in new rows.
    """
    X = table_like(X)
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise ValueError(
            f"{owner}.predict: X must be a table of shape (n, {n_features}), got "
            f"{type(X).__name__} of shape {shape}. Reshape your data: X.reshape(1, -1) makes a "
            "table of a single row."
        )
    if shape[1] != n_features:
        raise ValueError(
            f"X has {shape[1]} features, but {owner} is expecting {n_features} features as input"
        )
    if not len(columns):
        return np.full((shape[0], 1), np.nan)
    schema = forest.schema
    known = Schema(
        schema.names[:-1],
        schema.named,
        schema.kinds[:-1],
        schema.cut_values,
        schema.value_offsets[:-1],
        schema.labels,
        schema.missing[:-1],
    )
    values = routing_values(known, _taken(X, columns), estimator_name=owner, function="predict")
    return np.column_stack([values, np.full(len(values), np.nan)])


def _taken(X: Any, columns: IntArray) -> Any:
    if hasattr(X, "take_columns"):
        return X.take_columns(columns)
    if isinstance(X, np.ndarray) or hasattr(X, "tocsc"):
        return X[:, columns] if isinstance(X, np.ndarray) else X.tocsc()[:, columns]
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    return frame.select([frame.columns[j] for j in columns.tolist()]).to_native()


def _schema_of(source: Any, columns: IntArray) -> Schema:
    parts = [
        source.take_columns(columns[i : i + _AT_A_TIME]).schema
        for i in range(0, len(columns), _AT_A_TIME)
    ]
    if not parts:
        return Schema((), True, (), np.zeros(0), np.zeros(1, np.int64), {}, np.zeros(0, np.uint8))
    return _side_by_side(parts)


def _side_by_side(parts: Sequence[Schema]) -> Schema:
    starts = np.cumsum([0, *(part.n_columns for part in parts)]).tolist()
    sizes = [np.diff(part.value_offsets) for part in parts]
    return Schema(
        names=tuple(name for part in parts for name in part.names),
        named=parts[0].named,
        kinds=tuple(kind for part in parts for kind in part.kinds),
        cut_values=np.concatenate([part.cut_values for part in parts]),
        value_offsets=np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
        labels={
            start + j: labels
            for start, part in zip(starts, parts, strict=False)
            for j, labels in part.labels.items()
        },
        missing=np.concatenate([part.missing for part in parts]),
    )


def _with_probe(schema: Schema, n_values: int) -> Schema:
    """Add a numeric column of so many values that stands for all probes."""
    name = PROBE
    while name in schema.names:
        name += "'"
    return Schema(
        names=(*schema.names, name),
        named=schema.named,
        kinds=(*schema.kinds, "numeric"),
        cut_values=np.append(schema.cut_values, np.arange(float(n_values))),
        value_offsets=np.append(schema.value_offsets, schema.value_offsets[-1] + n_values),
        labels=schema.labels,
        missing=np.append(schema.missing, np.uint8(0)),
    )
