"""Checks of arguments, and warnings: ``owner: name must be ..., got .... Hint: ...``.

In every function ``owner`` is the public function or class that the user called, and ``name`` the
parameter, both for the error; the checked value is returned as a plain Python object.
"""

from __future__ import annotations

import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from duramen.configuration import SHORT_NAMES, get_config
from duramen.support.text import joined, quoted

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
MOST = int(np.iinfo(np.uint32).max)
MOST_THREADS = 256
_SHOWN = 8  # names that a message lists
_PACKAGE = __name__.partition(".")[0]
# Frames of these lie between functions of the package, as decorators and context managers do.
_BETWEEN = ("contextlib", "functools")


def refuse(owner: str, name: str, allowed: str, came: Any, hint: str = "") -> ValueError:
    """Return the error for a parameter: what is allowed, what came, and a hint."""
    tail = f" Hint: {hint}." if hint else ""
    return ValueError(f"{owner}: {name} must be {allowed}, got {quoted(came)}.{tail}")


def is_integer(value: Any) -> bool:
    """Tell whether a value is an integer and no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def is_real(value: Any) -> bool:
    """Tell whether a value is a real number and no boolean."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def check_integer(
    owner: str,
    name: str,
    value: Any,
    least: int,
    *,
    most: float = MOST,
    also: str = "",
    hint: str = "",
) -> int:
    """Check an integer in ``least``..``most``, which may be infinite.

    ``also`` names what else is allowed, for the error.
    """
    if not is_integer(value) or not least <= value <= most:
        large = most not in (MOST, math.inf) or (is_integer(value) and value > most)
        allowed = f"an int in {least}..{most}" if large else f"an int >= {least}"
        raise refuse(owner, name, allowed + also, value, hint)
    return int(value)


def check_optional_integer(owner: str, name: str, value: Any, least: int) -> int | None:
    """Check an integer of at least ``least``, or None for no limit."""
    if value is None:
        return None
    return check_integer(owner, name, value, least, also=" or None (no limit)")


def hints_on_keywords(*others: Callable[..., Any]) -> Callable[[FunctionT], FunctionT]:
    """Decorate a function: a keyword argument that it does not have raises TypeError with a hint.

    The hint names the parameter that is meant, or one of the `others` of duramen that has it.
    """

    def decorate(function: FunctionT) -> FunctionT:
        name = getattr(function, "__name__", "")
        unknown = re.compile(rf"{name}\(\) got an unexpected keyword argument '(\w+)'")

        @contextmanager
        def hinting() -> Iterator[None]:
            try:
                yield
            except TypeError as error:
                match = unknown.fullmatch(str(error))
                if match is None:
                    raise
                hint = keyword_hint(function, match[1], others)
                raise TypeError(f"{name}: there is no parameter {match[1]!r}. {hint}") from None

        return hinting()(function)

    return decorate


def keyword_hint(
    function: Callable[..., Any], keyword: str, others: Sequence[Callable[..., Any]]
) -> str:
    """Return a hint for a keyword argument that a function does not have."""
    name, own = function.__name__, list(signature(function).parameters)
    for other in others:
        if keyword in signature(other).parameters:
            read = f"duramen.{other.__name__}"
            return f"Hint: it is one of {read}: {name}({read}(..., {keyword}=...), ...)"
    word = keyword.removeprefix("n_")
    short = [parameter for parameter, title in SHORT_NAMES.items() if title == word]
    meant = [parameter for parameter in own if parameter in short]
    meant = meant or get_close_matches(keyword, own, n=1, cutoff=0.6)
    meant = meant or [parameter for parameter in own if parameter.startswith(keyword)]
    return f"Hint: did you mean {meant[0]}?" if meant else f"Hint: help(duramen.{name}) lists them"


def check_choice(owner: str, name: str, value: Any, allowed: Iterable[str]) -> str:
    """Check that a value is one of the allowed words."""
    options = tuple(allowed)
    if not isinstance(value, str) or value not in options:
        raise refuse(owner, name, "one of " + ", ".join(map(repr, options)), value)
    return value


def places_of(asked_for: Any, names: Sequence[str], owner: str, noun: str = "feature") -> list[int]:
    """Return the indices of features that are given by name, by index or by a mask.

    Parameters
    ----------
    asked_for : iterable of str and int, one of them alone, or bool array of shape (p,)
        Features, each of them once; their order is kept.
    names : sequence of str
        Names of all p features.
    owner, noun : str
        Function and parameter, and what the names are of, for errors.

    Raises
    ------
    TypeError
        If one is neither a name nor a whole number.
    ValueError
        If there are none, one comes twice, or one is no feature.
    """
    if isinstance(asked_for, np.ndarray) and asked_for.dtype == np.bool_:
        if asked_for.shape != (len(names),):
            raise ValueError(f"{owner} must have shape ({len(names)},), got {asked_for.shape}.")
        asked_for = np.flatnonzero(asked_for)
    several = isinstance(asked_for, Iterable) and not isinstance(asked_for, str)
    place = {name: j for j, name in enumerate(names)}
    places: dict[int, None] = {}
    unknown = []
    for member in asked_for if several else [asked_for]:
        if not isinstance(member, str) and not is_integer(member):
            raise TypeError(f"{owner} must hold names or indices of {noun}s, got {member!r}.")
        index = place.get(member, -1) if isinstance(member, str) else int(member)
        if index in places:
            raise ValueError(f"{owner} must hold each {noun} once, got {quoted(member)} twice.")
        if 0 <= index < len(names):
            places[index] = None
        else:
            unknown.append(member)
    if unknown:
        close = get_close_matches(str(unknown[0]), map(str, names), n=1, cutoff=0.75)
        hint = f" Hint: did you mean {close[0]!r}?" if close and len(unknown) == 1 else ""
        raise ValueError(
            f"{owner} holds {joined([*map(repr, unknown)], shown=_SHOWN)}, which is none of the "
            f"{len(names)} {noun}s ({joined([*map(repr, names)], shown=_SHOWN)}; 0 to "
            f"{len(names) - 1}).{hint}"
        )
    if not places:
        raise ValueError(f"{owner} must hold a {noun}, got none.")
    return list(places)


def group_of_each(
    groups: Mapping[str, Iterable[str]], owner: str, where: str = ""
) -> dict[str, str]:
    """Return the name of the group of each feature that is in one.

    Parameters
    ----------
    groups : mapping of str to iterable of str
        Features of each group.
    owner : str
        Function and parameter, for the error.
    where : str
        When groups must not overlap, if they otherwise may.

    Raises
    ------
    ValueError
        If a feature is in two groups.
    """
    of_feature: dict[str, str] = {}
    for name, features in groups.items():
        for feature in features:
            if of_feature.setdefault(feature, name) != name:
                raise ValueError(
                    f"{owner} must not overlap{where and f' {where}'}, but {quoted(feature)} is in "
                    f"{quoted(of_feature[feature])} and {quoted(name)}. Hint: keep it in one."
                )
    return of_feature


def check_flag(owner: str, name: str, value: Any) -> bool:
    """Check True or False."""
    if not isinstance(value, bool | np.bool_):
        raise refuse(owner, name, "True or False", value)
    return bool(value)


def check_count_or_fraction(owner: str, name: str, value: Any, total: int, least: int) -> int:
    """Resolve a number of rows given as a count, or as a fraction of ``total`` (rounded up)."""
    if is_integer(value) and least <= value <= MOST:
        return int(value)
    if not is_integer(value) and is_real(value) and 0 < value <= 1:
        return max(least, math.ceil(float(value) * total))
    raise refuse(owner, name, f"an int >= {least} or a float in (0, 1]", value)


def check_real(
    owner: str,
    name: str,
    value: Any,
    least: float,
    most: float = math.inf,
    *,
    ends: str = "[]",
    hint: str = "",
) -> float:
    """Check a finite number between ``least`` and ``most``.

    ``ends`` tells, in the notation of intervals, which of the two are allowed: "[]", "()", ...
    """
    real = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    above = real and (least < value or (ends[0] == "[" and value == least))
    below = above and (value < most or (ends[1] == "]" and value == most))
    if not below or not math.isfinite(value):
        sign = ">=" if ends[0] == "[" else ">"
        allowed = f"a number {sign} {least:g}" if least > -math.inf else "a finite number"
        if most < math.inf:
            allowed = f"a number in {ends[0]}{least:g}, {most:g}{ends[1]}"
        raise refuse(owner, name, allowed, value, hint)
    return float(value)


def extra_package(module: str, subject: str, extra: str, instead: str = "") -> Any:
    """Return a module of a package that an extra installs; `subject` needs it.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed, with the extra, and with what can be done instead.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0].replace("_", "-")
        raise ModuleNotFoundError(
            f"{subject} needs the package {package}; pip install duramen[{extra}]{instead}"
        ) from None


def check_jobs(owner: str, value: Any) -> int:
    """Resolve ``n_jobs`` to a number of threads, at most 256, as joblib does.

    None stands for the `n_jobs` of `set_config`.
    """
    value = get_config()["n_jobs"] if value is None else value
    if value is not None and (not is_integer(value) or value == 0):
        raise refuse(
            owner, "n_jobs", "an int other than 0, or None", value, "-1 means all processors"
        )
    import joblib

    try:
        return min(int(joblib.effective_n_jobs(value)), MOST_THREADS)
    except ValueError:
        name = "LOKY_MAX_CPU_COUNT"
        came = os.environ.get(name)
        raise refuse(owner, f"the environment variable {name}", "an int >= 1", came) from None


def check_verbosity(owner: str, value: Any) -> int:
    """Resolve ``verbose``: 0 or False for no output, anything above for a progress bar."""
    if isinstance(value, bool | np.bool_) or (is_integer(value) and value >= 0):
        return int(value)
    raise refuse(owner, "verbose", "an int >= 0 or a bool", value)


def check_seed(function: str, random_state: Any) -> int:
    """Return the 32-bit seed of an analysis, drawn from `random_state` unless it is an int."""
    if is_integer(random_state):
        return check_integer(function, "random_state", random_state, 0, most=MOST)
    return draw_seed(random_state) % (MOST + 1)


def draw_seed(random_state: Any) -> int:
    """Draw a 64-bit seed from ``random_state``; an int always gives the same seed.

    A generator is advanced by the draw; None draws from NumPy's global state, as in scikit-learn.
    """
    from sklearn.utils import check_random_state

    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64, endpoint=False))
    source = check_random_state(random_state)
    return int(source.randint(0, 2**64, dtype=np.uint64))


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package, however deep inside it this is called.

    The text begins with the name of the public function.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] != _PACKAGE and module not in _BETWEEN:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


# scikit-learn takes filters that one thread resets for those of a call by other means.
_OF_THREADS = "`sklearn.utils.parallel.delayed` should be used"


@contextmanager
def gathered_warnings() -> Iterator[list[Warning]]:
    """Gather the warnings of a block in place of showing them; each text once."""
    gathered: list[Warning] = []
    texts: set[str] = set()

    def gather(message: Warning, *_: Any) -> None:
        if f"{message}" not in texts and not f"{message}".startswith(_OF_THREADS):
            texts.add(f"{message}")
            gathered.append(message)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = gather  # type: ignore[assignment]
        yield gathered
