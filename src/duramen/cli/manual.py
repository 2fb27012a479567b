"""Manual page of the command line, made from the help of the commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from duramen import __version__
from duramen.cli.ending import INTERRUPTED, USER_ERROR

EXIT_CODES = {
    "0": "The command did what was asked, and the results are in the folder --out.",
    "1": "A fault of duramen: the traceback belongs into an issue. Nothing was written.",
    str(USER_ERROR): "An option, a file or its content is refused, memory ran out, or the system "
    "refuses something, such as space on a disk. One line on standard error says what to do.",
    str(INTERRUPTED): "Stopped by Ctrl-C; the line on standard error says whether the results so "
    "far are in the folder.",
    "143, 129": "Stopped by SIGTERM or SIGHUP; results so far are in the folder with .partial "
    "after its name.",
}


def manual(ctx: Any) -> str:
    """Return the manual page of the program as text for ``man``."""
    program = ctx.find_root().command
    lines = [
        f'.TH DURAMEN 1 "" "duramen {__version__}" "User Commands"',
        ".SH NAME",
        _text(f"duramen - {program.help.rstrip('.')}"),
        ".SH SYNOPSIS",
        ".B duramen",
        _text("COMMAND [OPTIONS] [FILE]"),
        ".SH COMMANDS",
    ]
    for command in program.commands.values():
        summary, *_ = command.help.split("\n\n")
        lines += _entry(command.name, summary)
    for command in program.commands.values():
        lines += _section(command, ctx)
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES.items():
        lines += _entry(code, meaning)
    return "\n".join(lines) + "\n"


def _section(command: Any, parent: Any) -> Iterator[str]:
    """Yield the lines about a command: its description, its options, the names they take."""
    context = type(parent)(command, info_name=command.name, parent=parent)
    yield f".SH {_text('duramen ' + command.name).upper()}"
    lists = command.name_lists()
    for paragraph in command.help.split("\n\n"):
        yield from (".PP", _text(paragraph))
    options: Mapping[str, Sequence[tuple[str, str]]] = command.sections(context)
    for heading, records in options.items():
        yield f".SS {_text(heading)}"
        for name, description in records:
            yield from _entry(name, description)
    for text in lists:
        yield from (".PP", _text(text))


def _entry(term: str, description: str) -> list[str]:
    """Return the lines of a term and its description."""
    return [".TP", rf"\fB{_text(term)}\fR", _text(description)]


def _text(text: str) -> str:
    """Return text on one line, without what the language of man would take for its own."""
    line = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line[:1] in (".", "'") else line
