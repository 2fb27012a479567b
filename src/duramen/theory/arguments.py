"""Checks of arguments of the functions of the theory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def refuse(function: str, name: str, allowed: str, came: Any, hint: str = "") -> ValueError:
    """Return the error for a parameter: what is allowed, what came, and a hint."""
    tail = f" Hint: {hint}" if hint else ""
    return ValueError(f"{function}: {name} must be {allowed}, got {came!r}.{tail}")


def whole(
    function: str, name: str, value: Any, least: int, most: float = math.inf, hint: str = ""
) -> int:
    """Check a whole number in ``least``..``most``."""
    allowed = f"an int >= {least}" if most == math.inf else f"an int in {least}..{most}"
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
        raise refuse(function, name, allowed, value, hint)
    number = int(value)
    if not least <= number <= most:
        raise refuse(function, name, allowed, value, hint)
    return number


def real(
    function: str,
    name: str,
    value: Any,
    least: float = -math.inf,
    most: float = math.inf,
    *,
    open_ends: bool = False,
    hint: str = "",
) -> float:
    """Check a finite number in [`least`, `most`], or strictly between them with `open_ends`."""
    left, right = "()" if open_ends else "[]"
    allowed = f"a number in {left}{least:g}, {most:g}{right}"
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        raise refuse(function, name, allowed, value, hint)
    number = float(value)
    inside = least < number < most if open_ends else least <= number <= most
    if not inside or not math.isfinite(number):
        raise refuse(function, name, allowed, value, hint)
    return number


def check_choice(function: str, name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a value that is not among the allowed strings."""
    if value not in allowed:
        raise refuse(function, name, "one of " + ", ".join(map(repr, allowed)), value)
