"""Options of reading a file: which of them its format takes, and which answer a finding.

Options are a mapping of parameters of `duramen.read` about a file, those of `READING`, without
defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from duramen.data.provenance import Finding, them
from duramen.data.text_numbers import NumbersInTextWarning, StrayValues
from duramen.findings.rows import DEPENDENT, ENTRY
from duramen.findings.table import IDENTIFIER, READ_AS_MISSING, left_out
from duramen.io import read_table
from duramen.io.formats import format_of, text_of
from duramen.io.formats.format import Request
from duramen.io.formats.text_file import TextFile
from duramen.support.arrow import pa
from duramen.support.checks import gathered_warnings, warn
from duramen.support.files import expanded
from duramen.support.text import quoted

_SHOWN, _LISTED = 3, 10
SIGNS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
"""Names of characters between fields."""

_OF_SOURCE = {
    "skip_rows": "remove the lines of samples before the one that names the columns",
    "member": "take the file of samples out of the archive",
}
"""Options of the source, and what helps if the annotations need them."""


def takes_words(file: Path | str) -> bool:
    """Tell by its name whether `na_values` apply to a file: text files and workbooks."""
    kind = format_of(file)
    return kind is not None and (kind.text or kind.sheets)


def check_options(options: Mapping[str, Any], *files: Path | str | None) -> None:
    """Check that options of text are given for text.

    Raises
    ------
    ValueError
        If an option has no effect on any of the files.
    """
    kinds = [kind for file in files if file is not None and (kind := format_of(file))]
    allowed = frozenset[str]().union(*(kind.options for kind in kinds))
    for name in options.keys() - allowed - {"as_text"}:
        if name == "sheet":
            raise ValueError("read: sheet is for workbooks, such as .xlsx files; leave it out")
        raise ValueError(
            f"read: {name} is for CSV and TSV files; the values of other files have types"
        )


def arguments_for(path: Path, options: Mapping[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Return the arguments of `read_table`, and findings about the first lines of a text."""
    kind, findings = format_of(path), list[Finding]()
    taken = {"as_text"} if kind is None else {"as_text", *kind.options}
    arguments = {name: value for name, value in options.items() if name in taken}
    if "separator" in arguments:
        arguments["separator"] = SIGNS.get(arguments["separator"], arguments["separator"])
    if kind is None or kind.read is None or not kind.separator:
        return arguments, findings
    asked = {name: value for name, value in arguments.items() if name != "as_text"}
    text = TextFile.of(expanded(path), kind.separator, Request("read", **asked))
    if "separator" not in arguments and text.delimiter != text.usual:
        arguments["separator"] = text.delimiter
        word = next(word for word, sign in SIGNS.items() if sign == text.delimiter)
        message = f"{path.name} is separated by {word}s, and was read accordingly"
        hint = f"separator={word!r} confirms that it is right"
        findings.append(Finding("separator", (), message, hint))
    if "decimal" not in arguments and (commas := text.decimal_commas):
        arguments["decimal"] = ","
        message = (
            f"numbers of {path.name} have decimal commas, such as "
            f"{', '.join(map(quoted, commas[:_SHOWN]))}, and were read with them"
        )
        hint = "decimal=',' confirms that it is right; decimal='.' leaves them as text"
        findings.append(Finding("decimal commas", (), message, hint))
    return arguments, findings


def table_of(
    path: Path, options: Mapping[str, Any], findings: list[Finding], function: str = "read"
) -> pa.Table:
    """Read a table; add findings about its text."""
    arguments, detected = arguments_for(path, options)
    with gathered_warnings() as gathered:
        table = read_table(path, **arguments, function=function)
    findings += [*detected, *of_numbers_in_text(gathered, path)]
    return table


def table_of_samples(
    samples: Path | str,
    options: Mapping[str, Any],
    findings: list[Finding],
    function: str = "read",
) -> pa.Table:
    """Read sample annotations, in UTF-8 or in the encoding of the table.

    Raises
    ------
    ValueError
        If they cannot be read; the message says so of them.
    """
    own = {name: value for name, value in options.items() if name not in _OF_SOURCE}
    path = expanded(Path(samples))
    try:
        if (text := text_of(path, Request("samples")) if path.is_file() else None) is not None:
            with text.opened() as stream:
                utf8 = b"\x00" not in stream.read().decode("utf-8").encode()
        else:
            utf8 = True
    except (OSError, EOFError, ValueError):
        utf8 = False
    if utf8:
        own.pop("encoding", None)
    try:
        return table_of(expanded(samples, function), own, findings, function)
    except ValueError as error:
        message, _, hint = str(error).partition(" Hint: ")
        for name, advice in _OF_SOURCE.items():
            if name in hint:
                hint = f"{name} does not apply to samples; {advice}"
        hint = f" Hint: {hint}" if hint else ""
        raise ValueError(f"{message}{hint} (of samples)") from None


# --- answers to findings ------------------------------------------------------------------------


def of_numbers_in_text(gathered: Iterable[Warning], path: Path) -> list[Finding]:
    """Return the findings about numbers in text among warnings; the others are passed on."""
    findings = []
    for warning in gathered:
        if not isinstance(warning, NumbersInTextWarning):
            warn(warning)
            continue
        for finding in warning.findings:
            name = finding.columns[0]
            hint = f"as_text={[name]!r} keeps the text"
            if finding.kind == "several units":
                hint = f"convert them to one unit; drop={[name]!r} leaves it out"
            elif finding.values and takes_words(path):
                words = list(finding.values[:_SHOWN])
                hint += f"; na_values={words!r} reads limits as missing"
            findings.append(replace(finding, hint=hint))
    return findings


def of_stray_values(
    strays: Sequence[StrayValues], file: str, *, target: bool = False
) -> list[Finding]:
    """Return findings about columns of text that are nearly numeric, with hints."""
    findings = []
    kind = format_of(file) if file else None
    words_apply = bool(file) and takes_words(file)
    for stray in strays[:_LISTED]:
        of_sheet = stray.commas and kind is not None and kind.sheets
        if not words_apply or not stray.values or of_sheet:
            advice = "convert it to numbers"
        elif stray.commas:
            advice = "decimal=',' reads decimal commas; commas between thousands have to go"
        else:
            gone = f" reads {them(stray.values)} as missing"
            gone = ", drop_missing_target=True leaves these rows out" if target else gone
            advice = f"na_values={list(stray.values[:_LISTED])!r}{gone}"
        confirms = "task='classification'" if target else f"categorical={[stray.name]!r}"
        message = f"{stray.describe()}; it is treated as categorical"
        hint = f"{advice}; {confirms} confirms that it is right"
        findings.append(Finding("stray values", (stray.name,), message, hint, values=stray.values))
    if rest := tuple(stray.name for stray in strays[_LISTED:]):
        more = f"{len(rest):,} more columns of text are nearly numbers: "
        message = f"{more}{', '.join(rest[:_LISTED])}{', ...' if len(rest) > _LISTED else ''}"
        findings.append(replace(findings[0], columns=rest, message=message, values=()))
    return findings


def answered(
    findings: Sequence[Finding], file: str, *, keep_identifiers: bool
) -> tuple[Finding, ...]:
    """Return findings with the parameters that answer them, or refuse the data.

    Of identifiers that are left out nothing else is said. Leaks and rows that depend on each other
    come first.

    Raises
    ------
    ValueError
        If something is refused; all other findings are its notes.
    """
    answers = []
    gone = frozenset(() if keep_identifiers else left_out(findings))
    for finding in findings:
        names, values, hint = finding.columns, list(finding.values), finding.hint
        if finding.kind == IDENTIFIER and not keep_identifiers:
            it = "it was" if len(names) == 1 else "they were"
            message, hint = f"{finding.message}: {it} left out", f"keeps {them(names)}"
            hint = f"keep_identifiers=True {hint}"
            answers.append(replace(finding, message=message, hint=hint, refused=False))
            continue
        if names and gone.issuperset(names):
            continue
        if file and values and takes_words(file):
            rows = "drop_missing_target=True leaves their rows out"
            numbers = any(word.lstrip("-").isdecimal() for word in values)
            if finding.kind == "rare class" and not numbers and len(values) <= _LISTED:
                hint = f"na_values={values!r}, {rows}"
            elif finding.kind == "code outside":
                hint = f"na_values={values[:1]!r}, {rows}, and reads {values[0]} as missing in all "
                hint += "columns"
            elif finding.kind == "missing code" and hint == READ_AS_MISSING:
                hint = f"na_values={values[:1]!r} reads it as missing"
            elif finding.kind == "date":
                hint = f"na_values={values[:_LISTED]!r} reads {them(values)} as missing"
        refused = finding.refused and not (keep_identifiers and finding.kind == "target identifier")
        answers.append(replace(finding, hint=hint, refused=refused))
    if refusals := [finding for finding in answers if finding.refused]:
        where = f"{file}: " if file else ""
        error = ValueError(f"read: {where}{'; '.join(map(str, refusals))}")
        for finding in answers:
            if not finding.refused:
                error.add_note(str(finding))
        raise error
    first = ("leak", ENTRY, *DEPENDENT)
    return tuple(sorted(answers, key=lambda finding: finding.kind not in first))
