"""Checking the parameters of the estimators, and resolving them to growth settings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from duramen.results.threads import startable

MOST = int(np.iinfo(np.uint32).max)
MOST_THREADS = 256


def refuse(owner: str, name: str, allowed: str, came: Any, hint: str = "") -> ValueError:
    """The error for a parameter: who, what is allowed, what came, and a hint."""
    tail = f"; {hint}" if hint else ""
    return ValueError(f"The {name!r} parameter of {owner} must be {allowed}. Got {came!r}{tail}.")


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def is_real(value: Any) -> bool:
    """Whether a value is a number and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_integer(
    owner: str, name: str, value: Any, least: int, *, most: int = MOST, hint: str = ""
) -> int:
    """Check a whole number in ``least``..``most``."""
    if not is_integer(value) or not least <= value <= most:
        allowed = f"an int >= {least}" if most == MOST else f"an int in {least}..{most}"
        raise refuse(owner, name, allowed, value, hint)
    return int(value)


def check_optional_integer(owner: str, name: str, value: Any, least: int) -> int | None:
    """Check a whole number, or None for no limit."""
    if value is None:
        return None
    if not is_integer(value) or not least <= value <= MOST:
        raise refuse(owner, name, f"an int >= {least} or None (no limit)", value)
    return int(value)


def check_choice(owner: str, name: str, value: Any, allowed: Iterable[str]) -> str:
    """Check one of a few words."""
    options = tuple(allowed)
    if not isinstance(value, str) or value not in options:
        raise refuse(owner, name, "one of " + ", ".join(map(repr, options)), value)
    return value


def check_flag(owner: str, name: str, value: Any) -> bool:
    """Check a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise refuse(owner, name, "True or False", value)
    return bool(value)


def check_count_or_share(owner: str, name: str, value: Any, total: int, least: int) -> int:
    """Resolve a number of rows given as a count, or as a share of ``total`` (rounded up)."""
    if is_integer(value) and least <= value <= MOST:
        return int(value)
    if not is_integer(value) and is_real(value) and 0 < value <= 1:
        return max(least, math.ceil(float(value) * total))
    raise refuse(owner, name, f"an int >= {least} or a float in (0, 1]", value)


def check_real(
    owner: str, name: str, value: Any, least: float, most: float = math.inf, hint: str = ""
) -> float:
    """Check a finite number in [least, most]."""
    if not is_real(value) or not math.isfinite(value) or not least <= value <= most:
        allowed = f"a number in [{least:g}, {most:g}]" if most < math.inf else f"at least {least:g}"
        raise refuse(owner, name, allowed, value, hint)
    return float(value)


def check_jobs(owner: str, value: Any) -> int:
    """Resolve ``n_jobs`` to a number of threads of Python, as joblib does.

    At most 256, and no more than the system lets the process start: a limit on processes or memory
    makes the work slower, and changes nothing else.
    """
    return startable(kernel_threads(owner, value))


def kernel_threads(owner: str, value: Any) -> int:
    """Resolve ``n_jobs`` for the kernel alone, which does without threads that cannot start."""
    from joblib import effective_n_jobs

    if value is not None and (not is_integer(value) or value == 0):
        raise refuse(
            owner, "n_jobs", "an int other than 0, or None", value, "-1 means all processors"
        )
    return min(int(effective_n_jobs(value)), MOST_THREADS)


def check_verbosity(owner: str, value: Any) -> int:
    """Resolve ``verbose``: False or 0 for silence, anything above for a progress bar."""
    if isinstance(value, bool | np.bool_) or (is_integer(value) and value >= 0):
        return int(value)
    raise refuse(owner, "verbose", "an int >= 0 or a bool", value)


def resolve_max_features(owner: str, value: Any, n_features: int, offered: int) -> int:
    """Number K of candidates at a node.

    Parameters
    ----------
    owner : str
        Class of the estimator, for messages.
    value : {"sqrt", "log2"}, int, float or None
        The parameter: int K; float the share of ``offered``; None all of them.
    n_features : int
        Columns p of the table.
    offered : int
        Columns that a tree may use: p, or the size of its subspace.
    """
    allowed = f"'sqrt', 'log2', None, an int in 1..{offered} or a float in (0, 1]"
    if value is None:
        return offered
    if isinstance(value, str):
        if value == "sqrt":
            return max(1, math.isqrt(offered))
        if value == "log2":
            return max(1, int(math.log2(offered)))
        raise refuse(owner, "max_features", allowed, value)
    if is_integer(value):
        if value > n_features:
            raise ValueError(
                f"{owner}: max_features={value} but X has {n_features} features; "
                f"give at most {n_features}, a share such as 0.5, or None for all"
            )
        if value > offered:
            raise ValueError(
                f"{owner}: max_features={value} but a tree sees {offered} of the {n_features} "
                "features (n_subspace_features); give at most that many, or None for all"
            )
        if value < 1:
            raise refuse(owner, "max_features", allowed, value)
        return int(value)
    if is_real(value) and 0 < value <= 1:
        return max(1, int(float(value) * offered))
    raise refuse(owner, "max_features", allowed, value)


def resolve_subspace(owner: str, value: Any, n_features: int) -> int:
    """Columns drawn for each tree; 0 when it is all of them."""
    if value is None:
        return 0
    drawn = 0
    if is_integer(value):
        if value > n_features:
            raise ValueError(
                f"{owner}: n_subspace_features={value} but X has {n_features} features; "
                f"give at most {n_features}, or a share such as 0.5"
            )
        drawn = int(value)
    elif is_real(value) and 0 < value <= 1:
        drawn = max(1, int(float(value) * n_features))
    if drawn < 1:
        raise refuse(
            owner, "n_subspace_features", f"an int in 1..{n_features} or a float in (0, 1]", value
        )
    return 0 if drawn == n_features else drawn


def resolve_max_samples(owner: str, value: Any, n_rows: int, bootstrap: bool) -> int:
    """Rows drawn for each tree; 0 when it is as many as there are."""
    if value is None:
        return 0
    most = MOST if bootstrap else n_rows
    drawn = 0
    if is_integer(value):
        if value > most:
            drawn_how = (
                f"a tree can hold no more than {MOST} rows; give at most {MOST}"
                if bootstrap
                else f"rows are drawn without replacement; give at most {n_rows}, or bootstrap=True"
            )
            raise ValueError(
                f"{owner}: max_samples={value} but X has {n_rows} rows, and {drawn_how}"
            )
        drawn = int(value)
    elif is_real(value) and 0 < value <= 1:
        drawn = max(1, round(float(value) * n_rows))
    if drawn < 1:
        raise refuse(owner, "max_samples", "None, an int >= 1 or a float in (0, 1]", value)
    return 0 if drawn == n_rows else drawn


def draw_seed(random_state: Any) -> int:
    """A 64-bit seed from ``random_state``: the same one every time for an int.

    Parameters
    ----------
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        A generator is advanced by the draw; None draws from NumPy's global state, as in
        scikit-learn.
    """
    from sklearn.utils import check_random_state

    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64, endpoint=False))
    source = check_random_state(random_state)
    return int(source.randint(0, 2**64, dtype=np.uint64))
