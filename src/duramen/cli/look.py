"""A look at the data before a run: findings with the options that answer them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from duramen.cli.reading import takes_words

if TYPE_CHECKING:
    from duramen.data import Finding

_FLAGS = 5  # columns that are named with an option each

# Kinds of findings that --keep-identifiers answers, and what answers those about a target.
_TARGET, _KEEPS = "target identifier", "--keep-identifiers keeps {}"
_ANSWERS = {
    "target missing": "--drop-missing-target leaves these rows out",
    "target date": "--target NAME names another column",
    "target identifier": "--target NAME names another column, --keep-identifiers allows this one",
    "one class": "--target NAME names another column",
    "many classes": "--task regression treats them as numbers",
    "whole numbers": "--task classification treats them as classes, --task regression confirms "
    "numbers",
    "classes of numbers": "--task regression or classification settles it",
}


def look(
    command: str,
    found: Iterable[Finding],
    file: str,
    *,
    keep_identifiers: bool = False,
    answers: dict[str, str] | None = None,
) -> tuple[Finding, ...]:
    """Return findings with options as hints, or refuse the data.

    Of identifiers, which the command leaves out unless they are meant, they say so.

    Parameters
    ----------
    command : str
        Name of the command.
    found : iterable of Finding
        What the library found in the table, its target and its file.
    file : str
        Name of the file.
    keep_identifiers : bool
        Whether identifiers are meant.
    answers : mapping, optional
        Hints of a command that has other options, by the kind of finding.

    Raises
    ------
    ValueError
        If something is refused; all other findings are its notes.
    """
    from duramen.findings.table import IDENTIFIER, in_order, without_identifiers

    told = []
    kept = found if keep_identifiers else without_identifiers(found, _KEEPS)
    for one in kept:
        if one.kind == IDENTIFIER and not keep_identifiers:
            told.append(one)
            continue
        hint = (answers or {}).get(one.kind) or _hint(one, file, command)
        refused = one.refused and not (keep_identifiers and one.kind == _TARGET)
        told.append(replace(one, hint=hint, refused=refused))
    refused_ones = [one for one in told if one.refused]
    if refused_ones:
        error = ValueError(f"duramen {command}: {file}: {'; '.join(map(str, refused_ones))}")
        for one in told:
            if not one.refused:
                error.add_note(str(one))
        raise error
    return in_order(told)


def nothing_left(gone: Iterable[str], target: str) -> str:
    """Return the error about identifiers beside which there is no column."""
    names = ", ".join(sorted(gone))
    return (
        f"no column is left besides the target {target} and columns that look like identifiers "
        f"({names}). Hint: --keep-identifiers keeps them"
    )


def _hint(one: Finding, file: str, command: str) -> str:
    """Return what to type."""
    from duramen.findings.table import READ_AS_MISSING

    if one.kind in _ANSWERS:
        return _ANSWERS[one.kind]
    if one.kind == "imbalance" and command == "rank":
        return "--class-weight balanced gives each class the same weight"
    if one.kind == "rare class" and takes_words(file) and not any(map(_number, one.values)):
        words = flags("--na", one.values)
        return f"{words} --drop-missing-target leaves their rows out"
    if one.kind == "labels merged":
        return f"--as-text {shlex.quote(one.columns[0])} keeps them apart"
    if one.kind == "code outside" and takes_words(file):
        return (
            f"--na {one.values[0]} --drop-missing-target leaves these rows out, and reads "
            f"{one.values[0]} as missing in all columns"
        )
    if one.kind == "missing code" and one.values and one.hint == READ_AS_MISSING:
        na = f"--na {shlex.quote(one.values[0])}"
        return f"{na} reads it as missing" if _is_file(file) else f"duramen pack FILE {na}"
    if one.kind not in _DROPPED:
        return one.hint
    them = "it" if len(one.columns) == 1 else "them"
    drop = f"{flags('--drop', one.columns)} leaves {them} out"
    if one.kind == "leak":
        return f"{drop}, if so"
    if one.kind == "date" and one.refused:
        return f"{drop}; or turn {them} into numbers, such as days since a date"
    return drop


_DROPPED = (
    *("identifier", "index", "row order", "date", "many values"),
    *("constant", "duplicate", "leak"),
)


def _is_file(file: str) -> bool:
    """Tell whether a name is that of a table in a file, whose words for missing values count."""
    from duramen.io.formats import format_of

    found = format_of(file)
    return found is not None and found.read is not None


def _number(word: str) -> bool:
    return word.lstrip("-").isdecimal()


def flags(option: str, names: Sequence[str]) -> str:
    """Return an option with each of a few names, or what to type for many."""
    if len(names) > _FLAGS:
        return f"{option} NAME, for each of them,"
    return " ".join(f"{option} {shlex.quote(name)}" for name in names)
