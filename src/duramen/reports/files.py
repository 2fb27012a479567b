"""Files of the results of an analysis."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from duramen.io import write_table
from duramen.support.arrow import pa

WORKBOOK = "result.xlsx"
OF_GROUPS = "result-groups.csv"


def write_tables(
    folder: Path,
    table: Mapping[str, Any],
    feature_groups: Mapping[str, Any] | None = None,
    *,
    spreadsheet_safe: bool,
    xlsx: bool = False,
) -> None:
    """Write result.csv and result.parquet, result.xlsx if asked for, and the table of groups."""
    columns = pa.table(dict(table))
    write_table(columns, folder / "result.csv", spreadsheet_safe=spreadsheet_safe)
    write_table(columns, folder / "result.parquet")
    if xlsx:
        write_table(columns, folder / WORKBOOK)
    if feature_groups is not None:
        of_groups = pa.table(dict(feature_groups))
        write_table(of_groups, folder / OF_GROUPS, spreadsheet_safe=spreadsheet_safe)
