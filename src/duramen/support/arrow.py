"""pyarrow and narwhals, imported at their first use, and questions about types of pyarrow.

`import duramen`, a forest and the help of the commands need neither, and importing pyarrow takes a
tenth of a second; the readers of files and tables use them in nearly every function.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["is_number", "is_text", "nw", "pa", "pa_csv", "pc", "pq", "without_dictionary"]


class _Lazy:
    """A module that is imported when a name of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _module(self) -> Any:
        return import_module(self._name)  # kept: a lookup of it takes longer than a check of a type

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._module, attribute)


if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq
else:
    nw = _Lazy("narwhals")
    pa, pc = _Lazy("pyarrow"), _Lazy("pyarrow.compute")
    pa_csv, pq = _Lazy("pyarrow.csv"), _Lazy("pyarrow.parquet")


def is_text(kind: Any) -> bool:
    """Return whether a type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_number(kind: Any) -> bool:
    """Return whether a type holds integers or floating-point numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def without_dictionary(column: Any) -> Any:
    """Return an array with its values in place, where it refers to a dictionary of them."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column
