"""Data frames of whatever library the user has."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any, Literal


def native_frame(columns: Mapping[str, Any]) -> Any:
    """Return a frame of pandas, polars or pyarrow, the first that is installed."""
    import narwhals.stable.v2 as nw

    return nw.from_dict(dict(columns), backend=_backend()).to_native()


def _backend() -> Literal["pandas", "polars", "pyarrow"]:
    if importlib.util.find_spec("pandas") is not None:
        return "pandas"
    return "pyarrow" if importlib.util.find_spec("polars") is None else "polars"
