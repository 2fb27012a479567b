"""Results of the jobs that are done, in memory and on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from duramen.results.checkpoint import Checkpoint
from duramen.support.arrays import FloatArray

Arrays = dict[str, NDArray[Any]]
ResultT_contra = TypeVar("ResultT_contra", contravariant=True)
AllT_co = TypeVar("AllT_co", covariant=True)


class Results(Protocol[ResultT_contra, AllT_co]):
    """Results of jobs 0, 1, 2, ..."""

    def __len__(self) -> int:
        """Return the number of jobs that are done."""

    def add(self, result: ResultT_contra) -> None:
        """Append the result of the next job."""

    def first(self, count: int) -> AllT_co:
        """Return the results of the first jobs."""

    def to_arrays(self) -> Arrays:
        """Return all results as arrays for a checkpoint."""

    def take(self, arrays: Arrays) -> int:
        """Start from the results of a checkpoint; return how many it holds."""


class Rows:
    """Results of the same number of float64 values each.

    Parameters
    ----------
    n_jobs : int
        Number of jobs at most.
    width : int
        Values of a job.
    """

    kind = "replicates"

    def __init__(self, n_jobs: int, width: int) -> None:
        self._values = np.empty((n_jobs, width))
        self._done = 0

    def __len__(self) -> int:
        return self._done

    def add(self, result: FloatArray) -> None:
        """Append the values of the next job."""
        self._values[self._done] = result
        self._done += 1

    def first(self, count: int) -> FloatArray:
        """Return a view of the values of the first jobs, of shape (count, width)."""
        return self._values[:count]

    def to_arrays(self) -> Arrays:
        """Return all values as one array."""
        return {"values": self.first(self._done)}

    def take(self, arrays: Arrays) -> int:
        """Start from the values in a checkpoint, as far as there are jobs for them."""
        found = arrays["values"]
        if found.shape[1:] != self._values.shape[1:] or found.dtype != self._values.dtype:
            raise ValueError("the checkpoint holds replicates of another shape; delete it")
        self._done = min(len(found), len(self._values))
        self._values[: self._done] = found[: self._done]
        return len(found)


class Records:
    """Results of named arrays: the same names, types and dimensions for every job, any shapes."""

    kind = "jobs"

    def __init__(self, n_jobs: int) -> None:
        self._most = n_jobs
        self._done: list[Arrays] = []

    def __len__(self) -> int:
        return len(self._done)

    def add(self, result: Mapping[str, NDArray[Any]]) -> None:
        """Append the arrays of the next job, of the names, types and dimensions of the first."""
        arrays = {name: np.asarray(result[name]) for name in sorted(result)}
        if self._done and not _alike(arrays, self._done[0]):
            raise ValueError(
                f"job {len(self)} must return arrays as the first one, {_outline(self._done[0])}, "
                f"got {_outline(arrays)}."
            )
        self._done.append(arrays)

    def first(self, count: int) -> list[Arrays]:
        """Return the arrays of the first jobs; without a copy of the list where these are all."""
        return self._done if count == len(self._done) else self._done[:count]

    def to_arrays(self) -> Arrays:
        """Return the values of each name end to end, and their shapes."""
        joined: Arrays = {}
        for name in self._done[0]:
            parts = [arrays[name] for arrays in self._done]
            joined[f"{name}.values"] = np.concatenate([part.ravel() for part in parts])
            shapes = np.array([part.shape for part in parts], dtype=np.int64)
            joined[f"{name}.shapes"] = shapes.reshape(len(parts), -1)
        return joined

    def take(self, arrays: Arrays) -> int:
        """Start from the arrays in a checkpoint, as far as there are jobs for them."""
        parts = {}
        for name in sorted(key.removesuffix(".shapes") for key in arrays if key.endswith("shapes")):
            shapes = arrays[f"{name}.shapes"]
            ends = np.cumsum(shapes.prod(axis=1, dtype=np.int64))[:-1]
            split = np.split(arrays[f"{name}.values"], ends)
            parts[name] = [one.reshape(shape) for one, shape in zip(split, shapes, strict=True)]
        done = [dict(zip(parts, job, strict=True)) for job in zip(*parts.values(), strict=True)]
        self._done = done[: self._most]
        return len(done)


def _alike(arrays: Arrays, others: Arrays) -> bool:
    """Tell whether arrays have the same names, types and dimensions, quickly."""
    return arrays.keys() == others.keys() and all(
        array.dtype == others[name].dtype and array.ndim == others[name].ndim
        for name, array in arrays.items()
    )


def _outline(arrays: Arrays) -> dict[str, tuple[str, int]]:
    return {name: (str(array.dtype), array.ndim) for name, array in arrays.items()}


class Kept:
    """Results, and the file in which those that are done are kept."""

    def __init__(self, checkpoint: Checkpoint, results: Results[Any, Any]) -> None:
        self._checkpoint, self._results = checkpoint, results
        arrays = checkpoint.read()
        self._written = 0 if arrays is None else results.take(arrays)

    def write_now_and_then(self) -> None:
        """Write the file if the last time was long ago."""
        if self._checkpoint.due:
            self.write()

    def write(self) -> None:
        """Write the file, unless as many results are in it already."""
        if self._checkpoint.wanted and len(self._results) > self._written:
            self._checkpoint.write(self._results.to_arrays())
            self._written = len(self._results)
