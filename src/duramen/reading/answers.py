"""Answers to findings: the parameters of `duramen.read` that settle them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from duramen.data.provenance import Finding
from duramen.data.text_numbers import StrayValues
from duramen.findings.table import (
    IDENTIFIER,
    READ_AS_MISSING,
    in_order,
    of_stray,
    without_identifiers,
)
from duramen.io.formats import format_of
from duramen.reading.text import takes_words

_SHOWN = 10
_TARGET = "target identifier"
_KEEPS = "keep_identifiers=True keeps {}"


def answered(
    findings: Iterable[Finding], file: str, *, keep_identifiers: bool, function: str = "read"
) -> tuple[Finding, ...]:
    """Return findings with the parameters that answer them, or refuse the data.

    Raises
    ------
    ValueError
        If something is refused; all other findings are its notes.
    """
    answers = []
    listed = findings if keep_identifiers else without_identifiers(findings, _KEEPS)
    for finding in listed:
        if finding.kind == IDENTIFIER and not keep_identifiers:
            answers.append(finding)
            continue
        values, hint = list(finding.values), finding.hint
        if file and values and takes_words(file):
            rows = "drop_missing_target=True leaves their rows out"
            numbers = any(word.lstrip("-").isdecimal() for word in values)
            if finding.kind == "rare class" and not numbers:
                hint = f"na_values={values!r}, {rows}"
            elif finding.kind == "code outside":
                hint = f"na_values={values[:1]!r}, {rows}, and reads {values[0]} as missing in all "
                hint += "columns"
            elif finding.kind == "missing code" and hint == READ_AS_MISSING:
                hint = f"na_values={values[:1]!r} reads it as missing"
        refused = finding.refused and not (keep_identifiers and finding.kind == _TARGET)
        answers.append(replace(finding, hint=hint, refused=refused))
    refused_ones = [finding for finding in answers if finding.refused]
    if refused_ones:
        where = f"{file}: " if file else ""
        error = ValueError(f"{function}: {where}{'; '.join(map(str, refused_ones))}")
        for finding in answers:
            if not finding.refused:
                error.add_note(str(finding))
        raise error
    return in_order(answers)


def of_stray_values(
    strays: Sequence[StrayValues], file: str, *, target: bool = False
) -> list[Finding]:
    """Return findings on columns of text that are nearly numbers, with what to do about them."""
    made = []
    kind = format_of(file) if file else None
    for stray in strays[:_SHOWN]:
        silence = "task='classification'" if target else f"categorical={[stray.name]!r}"
        if (
            not file
            or not takes_words(file)
            or not stray.values
            or (stray.commas and kind is not None and kind.sheets)
        ):
            advice = "convert it to numbers"
        elif stray.commas:
            advice = "decimal=',' reads decimal commas; commas between thousands have to go"
        else:
            words = f"na_values={list(stray.values[:_SHOWN])!r}"
            missing = f" reads {'it' if len(stray.values) == 1 else 'them'} as missing"
            gone = ", drop_missing_target=True leaves these rows out"
            advice = f"{words}{gone if target else missing}"
        made.append(replace(of_stray(stray), hint=f"{advice}; {silence} confirms that it is right"))
    rest = tuple(stray.name for stray in strays[_SHOWN:])
    if rest:
        more = f"{len(rest):,} more columns of text are nearly numbers: {', '.join(rest[:_SHOWN])}"
        message = f"{more}{', ...' if len(rest) > _SHOWN else ''}"
        made.append(replace(made[0], columns=rest, message=message, values=()))
    return made
