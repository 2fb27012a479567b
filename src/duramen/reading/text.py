"""Parameters of reading a file: which of them its format takes, what its first lines tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from duramen.data.provenance import Finding
from duramen.data.text_numbers import NumbersInTextWarning
from duramen.io import read_table
from duramen.io.formats import format_of, text_of
from duramen.io.formats.format import Format, Request
from duramen.io.formats.text_file import TextFile
from duramen.support.arrow import pa
from duramen.support.files import expanded
from duramen.support.text import quoted
from duramen.support.warning import gathered_warnings, warn

_SHOWN = 3
SIGNS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
"""Names of characters between fields."""

_OF_SOURCE = {
    "skip_rows": "remove the lines of samples before the one that names the columns",
    "member": "take the file of samples out of the archive",
}
"""Parameters that are for the source, and what helps where the annotations need them."""


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """Parameters of `duramen.read` about a file."""

    as_text: tuple[str, ...] = ()
    na_values: tuple[str, ...] = ()
    decimal: str | None = None
    separator: str | None = None
    encoding: str = "utf-8"
    skip_rows: int = 0
    member: str | None = None
    sheet: str | None = None

    def check(self, *files: Path | str | None) -> None:
        """Check that parameters of text are given for text.

        Raises
        ------
        ValueError
            If a parameter has no effect on any of the files.
        """
        kinds = [kind for file in files if file is not None and (kind := format_of(file))]
        words = any(kind.text or kind.sheets for kind in kinds)
        readable = any(kind.read is not None for kind in kinds)
        if self.sheet is not None and not any(kind.sheets for kind in kinds):
            raise ValueError("read: sheet is for workbooks, such as .xlsx files; leave it out")
        asked = {
            "na_values": bool(self.na_values) and not readable,
            "skip_rows": bool(self.skip_rows) and not words,
            "decimal": self.decimal is not None,
            "separator": self.separator is not None,
            "encoding": self.encoding != "utf-8",
            "member": self.member is not None,
        }
        for name, given in asked.items():
            if given and not any(kind.text for kind in kinds):
                raise ValueError(
                    f"read: {name} is for CSV and TSV files; the values of other files have types"
                )

    def table(self, path: Path, findings: list[Finding], function: str = "read") -> pa.Table:
        """Read a table; add what is found in its text."""
        arguments, detected = self.arguments(path)
        findings += detected
        with gathered_warnings() as gathered:
            table = read_table(path, **arguments, function=function)
        findings += self.found(gathered, path)
        return table

    def found(self, gathered: list[Warning], path: Path) -> list[Finding]:
        """Return the findings in text among warnings; the others are passed on."""
        findings = []
        for warning in gathered:
            if isinstance(warning, NumbersInTextWarning):
                findings += [self._with_answer(finding, path) for finding in warning.findings]
            else:
                warn(warning)
        return findings

    def arguments(self, path: Path) -> tuple[dict[str, Any], list[Finding]]:
        """Return the arguments of `read_table`, and what was detected in the first lines."""
        kind = format_of(path)
        arguments: dict[str, Any] = {"as_text": self.as_text}
        if kind is None or kind.read is None:
            return arguments, []
        arguments["na_values"] = self.na_values
        if not (kind.text or kind.sheets):
            return arguments, []
        arguments["skip_rows"] = self.skip_rows
        if kind.sheets:
            return {**arguments, "sheet": self.sheet}, []
        given = None if self.separator is None else SIGNS.get(self.separator, self.separator)
        detected, commas = self._detected(path, kind, given)
        arguments["encoding"] = self.encoding
        arguments["member"] = self.member
        arguments["separator"] = given or detected
        arguments["decimal"] = self.decimal or ("," if commas else ".")
        return arguments, _of_signs(path, detected, commas)

    def _detected(
        self, path: Path, kind: Format, separator: str | None
    ) -> tuple[str | None, tuple[str, ...]]:
        """Return an unusual separator and numbers with decimal commas, where nobody named them."""
        if not kind.separator:
            return None, ()
        request = Request(
            "read",
            encoding=self.encoding,
            separator=separator,
            skip_rows=self.skip_rows,
            member=self.member,
        )
        text = TextFile.of(expanded(path), kind.separator, request)
        usual = separator is not None or text.delimiter == text.usual
        return (
            None if usual else text.delimiter,
            text.decimal_commas if self.decimal is None else (),
        )

    def _with_answer(self, finding: Finding, path: Path) -> Finding:
        """Return a finding about text with the parameters that answer it."""
        (name, *_) = finding.columns
        if finding.kind == "several units":
            return replace(finding, hint=f"convert them to one unit; drop={[name]!r} leaves it out")
        hint = f"as_text={[name]!r} keeps the text"
        if finding.values and takes_words(path):
            words = list(finding.values[:_SHOWN])
            hint += f"; na_values={words!r} reads limits as missing"
        return replace(finding, hint=hint)

    def table_of_samples(
        self, samples: Path | str, findings: list[Finding], function: str = "read"
    ) -> pa.Table:
        """Read sample annotations, which may be in UTF-8 beside a table that is not.

        Raises
        ------
        ValueError
            If they cannot be read; the message says so of them.
        """
        encoding = "utf-8" if _is_utf8(Path(samples)) else self.encoding
        own = replace(self, skip_rows=0, member=None, encoding=encoding)
        try:
            return own.table(expanded(samples, function), findings, function)
        except ValueError as error:
            message, _, hint = str(error).partition(" Hint: ")
            for name, advice in _OF_SOURCE.items():
                if name in hint:
                    hint = f"{name} does not apply to samples; {advice}"
            hint = f" Hint: {hint}" if hint else ""
            raise ValueError(f"{message}{hint} (of samples)") from None


def _of_signs(path: Path, separator: str | None, commas: tuple[str, ...]) -> list[Finding]:
    """Tell of a separator and of decimal commas that were not asked for."""
    findings = []
    if separator is not None:
        word = next(word for word, sign in SIGNS.items() if sign == separator)
        message = f"{path.name} is separated by {word}s, and was read accordingly"
        hint = f"separator={word!r} confirms that it is right"
        findings.append(Finding("separator", (), message, hint))
    if commas:
        some = ", ".join(map(quoted, commas[:_SHOWN]))
        message = f"numbers of {path.name} have decimal commas, such as {some}, and were read as "
        hint = "decimal=',' confirms that it is right; decimal='.' leaves them as text"
        findings.append(Finding("decimal commas", (), f"{message}such", hint))
    return findings


def takes_words(file: Path | str) -> bool:
    """Tell whether `na_values` apply to a file, by its name: one of text, or a workbook."""
    kind = format_of(file)
    return kind is not None and (kind.text or kind.sheets)


def _is_utf8(path: Path) -> bool:
    """Tell whether a file of text is in UTF-8; others may be, for what is known of them."""
    place = expanded(path)
    try:
        text = text_of(place, Request("samples")) if place.is_file() else None
        if text is None:
            return True
        with text.opened() as stream:
            data: bytes = stream.read()
        return b"\x00" not in data.decode("utf-8").encode()
    except (OSError, EOFError, ValueError):
        return False
