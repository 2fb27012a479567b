"""Parameters of an estimator as JSON can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from duramen.forests.storage import PLAIN


def plain_parameter(name: str, value: Any) -> Any:
    """Return a parameter as JSON can hold it, or what stands for one that JSON cannot hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PLAIN):
        return value
    if name == "random_state":
        return None
    if name == "oob_score":
        return True
    if isinstance(value, Mapping):
        pairs = [[plain_parameter(name, k), plain_parameter(name, v)] for k, v in value.items()]
        return {"pairs": pairs}
    return [plain_parameter(name, entry) for entry in value]


def parameter_from_plain(value: Any) -> Any:
    """Return the parameter that :func:`plain_parameter` made plain."""
    if isinstance(value, dict):
        return dict(value["pairs"])
    return value
