"""Annotations that know which of their columns name the rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

ROW_NAMES = b"duramen.row_names"  # of the schema's metadata: the columns that name the rows


def named_rows(samples: pa.Table, *columns: str) -> pa.Table:
    """Mark the columns of annotations that name the rows."""
    known = {k: v for k, v in (samples.schema.metadata or {}).items() if k != b"pandas"}
    return samples.replace_schema_metadata({**known, ROW_NAMES: json.dumps(columns).encode()})
