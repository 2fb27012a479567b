"""Messages of a command on standard error, and its end."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.text import Text

from duramen.catalogue import Catalogue
from duramen.cli.ending import (
    INTERRUPTED,
    USER_ERROR,
    Stopped,
    ignore_further_stops,
    lost_stops,
    out_of_memory,
)

unseen: set[str] = set()
"""Folders that the user does not know, which messages leave out of names."""
option_of: dict[str, str] = {}
"""Option of the command that sets a parameter of the library, by the parameter."""
typed_choices: dict[tuple[str, str], str] = {}
"""Choices that are typed otherwise than in Python, by the parameter and the name there."""
_VALUE = r"(?:'[^']*'|\"[^\"]*\"|\[[^\]]*\]|True|[A-Z]+\b|[\d.]+\b)"
_SETTING = re.compile(rf"\b([a-z_]+)=({_VALUE})(, (?=[a-z_]+={_VALUE}))?")
_NOMINAL = re.compile(rf"\bkinds=\{{({_VALUE}): 'nominal'\}}")
_TWICE = re.compile(r"(--[\w-]+)(?: \S+)? \((\1\b[^()]*)\)")  # an option after itself
_ABOUT = re.compile(r"must |\(--|holds |needs |is missing|is for |has no effect|does not |'")
_PARAMETER = re.compile(r"(?<![\w'-])[a-z]+(?:_[a-z]+)+(?![\w='(])")  # by its name in Python
_COMMAND = re.compile(r"duramen \w+")
_LONGEST = 4000  # characters of a line; a message may quote what a file holds


@contextmanager
def ending_well(command: str, out: Path) -> Iterator[None]:
    """End the command with a short word when it is stopped, or the system refuses something.

    Ctrl-C ends it with code 130, SIGTERM with 143, SIGHUP with 129 and SIGXCPU with 152, after what
    was begun is removed, or what is finished is written; what the system refuses, such as space on
    a disk, with code 2. The message says whether results are in `out`, or in the
    folder of partial results.
    """
    before = {place: _record_of(place) for place in (out, partial_folder(out))}

    def written() -> str:
        changed = [place for place, record in before.items() if _record_of(place) != record]
        if not changed:
            return "nothing was written"
        return f"the results {'are' if changed[0] == out else 'so far are'} in {changed[0]}"

    try:
        with lost_stops():
            yield
    except Stopped as stopped:
        ignore_further_stops()
        complain(f"duramen {command}: stopped by {stopped.signal.name}, {written()}")
        raise SystemExit(128 + stopped.signal) from None
    except KeyboardInterrupt:
        complain(f"duramen {command}: interrupted, {written()}")
        raise SystemExit(INTERRUPTED) from None
    except Exception as error:
        if not isinstance(error, OSError) and not out_of_memory(error):
            raise
        there = "" if _record_of(out) == before[out] else f"; the results are in {out}"
        _end(command, error, there)


def partial_folder(out: Path) -> Path:
    """Return the folder for the results of a command that a signal of `STOPS` ended."""
    named = out.name not in ("", "..")
    return out.with_name(f"{out.name}.partial") if named else out / "partial"


def _record_of(out: Path) -> tuple[int, int, int] | None:
    """Return an identity of the record in a folder, which changes when it is replaced."""
    from duramen.support.files import expanded

    try:
        status = (expanded(out) / "run.json").stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


def _end(command: str, error: Exception, more: str = "") -> NoReturn:
    """Print an error on one line and end the command."""
    empty = "out of memory" if isinstance(error, MemoryError) else type(error).__name__
    complaint = as_typed(" ".join(str(error).split()))
    if complaint in ("", "std::bad_alloc"):  # of the kernel
        complaint = empty
    expected = OSError | ValueError | TypeError | MemoryError
    if not isinstance(error, expected) and out_of_memory(error):
        complaint = f"out of memory ({type(error).__name__}: {complaint})"
    complain(f"duramen {command}: {complaint}{more}")
    raise SystemExit(USER_ERROR) from None


def _as_option(setting: re.Match[str]) -> str:
    """Return the option for the setting of a parameter that a message names."""
    option, value, comma = option_of.get(setting[1]), setting[2], setting[3] or ""
    if option is None:
        return setting[0]
    if value == "True":
        return option + comma[1:]
    try:
        literal = ast.literal_eval(value)
    except (ValueError, SyntaxError):  # a word such as NAME
        literal = value
    values = [str(one) for one in literal] if isinstance(literal, list) else [str(literal)]
    if values[1:] == ["..."]:
        return f"{option} NAME, for each of them,"
    words = [shlex.quote(typed_choices.get((setting[1], word), word)) for word in values]
    return " ".join(f"{option} {word}" for word in words) + comma[1:]


def as_typed(text: str) -> str:
    """Return a message of the library in the words of the command line.

    Functions and the command are not named, but for the measures and the like that an option
    names; the parameter that a message begins with becomes the option that sets it.
    """
    modules = [
        vars(module) for name, module in list(sys.modules.items()) if name.startswith("duramen")
    ]
    public = {name for module in modules for name in module.get("__all__", ())}
    catalogues = [module["catalogue"] for module in modules if "catalogue" in module]
    named = {entry.name for names in catalogues if isinstance(names, Catalogue) for entry in names}
    if "categorical" in option_of:
        text = _NOMINAL.sub(r"categorical=\1", text)
    text = _SETTING.sub(_as_option, text)
    text = _PARAMETER.sub(
        lambda name: (
            name[0].replace("_", "-") if name[0] in named else option_of.get(name[0], name[0])
        ),
        text,
    )
    parts: list[str] = []
    for part in text.split(": "):
        first, _, more = part.partition(" ")
        parameter, _, value = first.partition("=")
        if part in named:
            parts.append(part.replace("_", "-"))
        elif parameter in option_of and ("_" in parameter or value or _ABOUT.match(more)):
            words = [option_of[parameter], *filter("True".__ne__, [value.strip("'")]), more]
            parts.append(" ".join(filter(None, words)))
        elif part not in public and not _COMMAND.fullmatch(part):
            parts.append(part)
    return _TWICE.sub(r"\2", ": ".join(parts))


@contextmanager
def user_errors(command: str, quiet: bool = False) -> Iterator[None]:
    """Turn errors of the library about a user's input into one line and exit code 2.

    Only for steps that take the input in: anywhere else such an exception is a fault of ours, and
    its traceback is wanted. Notes of the exception are shown before it, unless quiet.
    """
    try:
        with lost_stops():
            yield
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and error.name is not None:
            raise  # of a module of ours; words on an extra that is not there have no name
        notes(getattr(error, "__notes__", ()), quiet)
        _end(command, error)


@contextmanager
def warnings_as_notes(quiet: bool) -> Iterator[None]:
    """Show the warnings of the library as plain lines on standard error."""
    from duramen.support.checks import gathered_warnings  # with numpy

    with gathered_warnings() as gathered:
        yield
    notes(map(str, gathered), quiet)


def notes(lines: Iterable[str], quiet: bool) -> None:
    """Show remarks on standard error, unless quiet."""
    for line in () if quiet else lines:
        note(line)


def note(text: str) -> None:
    """Show a remark on standard error."""
    words = " ".join(text.split()).replace("; the same call ", "; the same command ")
    complain(f"note: {as_typed(words)}")


@contextmanager
def time_estimates(quiet: bool) -> Iterator[None]:
    """Show time estimates of work without a progress bar, unless quiet."""
    from duramen.jobs.progress import estimates

    with estimates(None if quiet or standard_error().is_terminal else note):
        yield


def standard_error() -> Console:
    """Return a console on the present standard error."""
    return Console(stderr=True)


def complain(line: str) -> None:
    """Print a line on standard error."""
    from duramen.support.text import printable

    for folder in unseen:
        line = line.replace(folder, "")
    # Where nothing can be shown, as on a full disk, the results still count, and the exit code.
    with suppress(OSError, ValueError):
        standard_error().print(Text(printable(line, _LONGEST)), soft_wrap=True)
