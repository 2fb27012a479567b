"""Parameters of reading a file: which of them its format takes, what its first lines tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from duramen.data.provenance import Finding
from duramen.data.text_numbers import NumbersInTextWarning
from duramen.io import read_table
from duramen.io.formats import format_of, text_of
from duramen.io.formats.format import Request
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
        allowed = frozenset[str]().union(*(kind.options for kind in kinds))
        for name in self.given().keys() - allowed - {"as_text"}:
            if name == "sheet":
                raise ValueError("read: sheet is for workbooks, such as .xlsx files; leave it out")
            raise ValueError(
                f"read: {name} is for CSV and TSV files; the values of other files have types"
            )

    def given(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults."""
        defaults = vars(FileOptions())
        return {name: value for name, value in vars(self).items() if value != defaults[name]}

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

    def arguments(self, path: Path) -> tuple[dict[str, Any], list[Finding]]:
        """Return the arguments of `read_table`, and what was detected in the first lines."""
        kind = format_of(path)
        taken = {"as_text"} if kind is None else {"as_text", *kind.options}
        arguments = {name: value for name, value in self.given().items() if name in taken}
        if self.separator is not None and "separator" in taken:
            arguments["separator"] = SIGNS.get(self.separator, self.separator)
        findings: list[Finding] = []
        if kind is None or kind.read is None or not kind.separator:
            return arguments, findings
        asked = {name: value for name, value in arguments.items() if name != "as_text"}
        text = TextFile.of(expanded(path), kind.separator, Request("read", **asked))
        if self.separator is None and text.delimiter != text.usual:
            arguments["separator"] = text.delimiter
            word = next(word for word, sign in SIGNS.items() if sign == text.delimiter)
            message = f"{path.name} is separated by {word}s, and was read accordingly"
            hint = f"separator={word!r} confirms that it is right"
            findings.append(Finding("separator", (), message, hint))
        if self.decimal is None and (commas := text.decimal_commas):
            arguments["decimal"] = ","
            message = (
                f"numbers of {path.name} have decimal commas, such as "
                f"{', '.join(map(quoted, commas[:_SHOWN]))}, and were read as such"
            )
            hint = "decimal=',' confirms that it is right; decimal='.' leaves them as text"
            findings.append(Finding("decimal commas", (), message, hint))
        return arguments, findings

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
