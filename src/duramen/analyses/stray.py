"""Columns of text that are nearly numbers, gathered while tables are encoded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from duramen.support.warning import warn

if TYPE_CHECKING:
    from duramen.data.stray import StrayValues


@contextmanager
def stray_columns() -> Iterator[list[StrayValues]]:
    """Gather the columns that are warned of as nearly numbers, in place of the warnings."""
    from duramen.data import StrayValuesWarning

    stray: list[StrayValues] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield stray
    for warning in caught:
        if isinstance(warning.message, StrayValuesWarning):
            stray += warning.message.columns
        else:
            warn(warning.message)
