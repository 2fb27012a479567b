"""Checking the parameters of the estimators, and resolving them to growth settings."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

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


def startable(wanted: int) -> int:
    """Return how many of the threads that are wanted can work at a time, the calling one included.

    Parameters
    ----------
    wanted : int
        At least 1.
    """
    done = threading.Event()
    started: list[threading.Thread] = []
    try:
        for _ in range(wanted - 1):
            thread = threading.Thread(target=done.wait, daemon=True)
            thread.start()
            started.append(thread)
    except (RuntimeError, MemoryError):
        pass
    finally:
        done.set()
        for thread in started:
            thread.join()
    return len(started) + 1


def check_verbosity(owner: str, value: Any) -> int:
    """Resolve ``verbose``: False or 0 for silence, anything above for a progress bar."""
    if isinstance(value, bool | np.bool_) or (is_integer(value) and value >= 0):
        return int(value)
    raise refuse(owner, "verbose", "an int >= 0 or a bool", value)


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
