"""Defaults of presentation: threads, progress bars, and the size of printed results.

None of them changes a number of a result. `set_config` holds in every thread, also in the cells
that a notebook runs later; `config_context` holds in its own block of its own thread or task.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import EllipsisType
from typing import Any

SHORT_NAMES = {
    "n_estimators": "trees",
    "n_permutations": "permutations",
    "random_state": "seed",
    "n_jobs": "jobs",
}
"""Short names of options on the command line, by the parameter."""

_DEFAULTS: dict[str, Any] = {
    "display": "html",
    "max_rows": None,
    "n_jobs": None,
    "progress": "auto",
}
_WORDS = {"display": ("html", "text"), "progress": ("auto", "on", "off")}
_process = dict(_DEFAULTS)
_block: ContextVar[dict[str, Any]] = ContextVar("duramen_config")


def get_config() -> dict[str, Any]:
    """Return the options that hold here, by name; see `set_config`.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.get_config()["progress"]
    'auto'
    """
    return {**_process, **_block.get({})}


def set_config(
    *,
    display: str | EllipsisType = ...,
    max_rows: int | EllipsisType | None = ...,
    n_jobs: int | EllipsisType | None = ...,
    progress: str | EllipsisType = ...,
) -> None:
    """Set defaults of presentation for the whole process; other options stay unchanged.

    An option that an enclosing `config_context` sets keeps that value until its block ends.

    Parameters
    ----------
    display : {"html", "text"}
        Form of a result in a notebook: a table with bars (the default), or its text.
    max_rows : int >= 1 or None
        Rows of a result that are printed. None, the default: 10 of most results.
    n_jobs : int other than 0, or None
        Threads where a function or an estimator has ``n_jobs=None``; -1 means all processors.
        None, the default: 1, or what an enclosing `joblib.parallel_config` says.
    progress : {"auto", "on", "off"}
        Progress bars: as `verbose` says (the default), of all long calls, or none.

    Raises
    ------
    ValueError
        If a value is not allowed.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.set_config(max_rows=3)
    >>> dm.Importances(("a", "b", "c", "d"), [4, 3, 2, 1], "mdi", "bits")
    Importances: mdi of 4 features, in bits
       feature   bits
    1  a        4.000
    2  b        3.000
    3  c        2.000
    ... and 1 more
    >>> dm.set_config(max_rows=None)
    """
    values = {"display": display, "max_rows": max_rows, "n_jobs": n_jobs, "progress": progress}
    _process.update(_checked("set_config", values))


@contextmanager
def config_context(**options: Any) -> Iterator[None]:
    """Set options of `set_config` for the block of a ``with`` statement.

    Other threads, and other tasks of an event loop, keep theirs.

    Parameters
    ----------
    **options
        As for `set_config`.

    Raises
    ------
    TypeError
        If there is no option of a name.
    ValueError
        If a value is not allowed.

    Examples
    --------
    >>> import duramen as dm
    >>> with dm.config_context(n_jobs=2):
    ...     dm.get_config()["n_jobs"]
    2
    """
    unknown = [name for name in options if name not in _DEFAULTS]
    if unknown:
        raise TypeError(
            f"config_context: there is no option {unknown[0]!r}. Options: {', '.join(_DEFAULTS)}."
        )
    token = _block.set({**_block.get({}), **_checked("config_context", options)})
    try:
        yield
    finally:
        _block.reset(token)


def shows_progress(verbose: object) -> bool:
    """Tell whether a call with this `verbose` shows its progress."""
    chosen = get_config()["progress"]
    return bool(verbose) if chosen == "auto" else bool(chosen == "on")


def _checked(function: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are given, or raise the error for the first that is not allowed."""
    chosen = {name: value for name, value in values.items() if value is not ...}
    for name, value in chosen.items():
        if name in _WORDS:
            allowed = "one of " + ", ".join(map(repr, _WORDS[name]))
            valid = isinstance(value, str) and value in _WORDS[name]
        else:
            allowed = f"an int {'>= 1' if name == 'max_rows' else 'other than 0'}, or None"
            valid = value is None or (
                isinstance(value, int)
                and not isinstance(value, bool)
                and (value > 0 or (name == "n_jobs" and value < 0))
            )
        if not valid:
            raise ValueError(f"{function}: {name} must be {allowed}, got {value!r}.")
    return chosen
