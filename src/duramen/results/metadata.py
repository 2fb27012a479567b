"""Metadata of a result: settings and provenance, as JSON can hold them, read-only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


def frozen_metadata(owner: str, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a read-only copy of `metadata` as it will be after saving and loading."""
    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(metadata), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{owner}: metadata must be valid JSON: {error}.") from None
    return MappingProxyType(copy)
