"""Manual page of the command line, made from the help of the commands."""

from __future__ import annotations

from collections.abc import Iterator

from cyclopts import App

from duramen import __version__
from duramen.cli.ending import INTERRUPTED, USER_ERROR

EXIT_CODES = {
    "0": "The command did what was asked, and the results are in the folder --out.",
    "1": "A fault of duramen: the traceback belongs into an issue. Nothing was written.",
    str(USER_ERROR): "An option, a file or its content is refused, memory ran out, or the system "
    "refuses something, such as space on a disk. One line on standard error says what to do.",
    str(INTERRUPTED): "Stopped by Ctrl-C; the line on standard error says whether the results so "
    "far are in the folder.",
    "143, 129, 152": "Stopped by SIGTERM, SIGHUP or SIGXCPU, the signal of a limit on processor "
    "time; results so far are in the folder with .partial after its name.",
}


def manual(app: App) -> str:
    """Return the manual page of the program as text for ``man``."""
    commands = app.resolved_commands()
    lines = [
        f'.TH DURAMEN 1 "" "duramen {__version__}" "User Commands"',
        ".SH NAME",
        _text(f"duramen - {app.help.rstrip('.')}"),
        ".SH SYNOPSIS",
        ".B duramen",
        _text("COMMAND [OPTIONS] [FILE]"),
        ".SH COMMANDS",
    ]
    named = {name: command for name, command in commands.items() if not name.startswith("-")}
    for name, command in named.items():
        lines += _entry(name, command.help.partition("\n\n")[0])
    for name, command in named.items():
        lines += _section(name, command)
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES.items():
        lines += _entry(code, meaning)
    return "\n".join(lines) + "\n"


def _section(name: str, command: App) -> Iterator[str]:
    """Yield the lines about a command: its description and its options, by heading."""
    yield f".SH {_text('duramen ' + name).upper()}"
    for paragraph in command.help.split("\n\n"):
        yield from (".PP", _text(paragraph))
    arguments = command.assemble_argument_collection()
    for group in arguments.groups:
        yield f".SS {_text(group.name)}"
        for argument in arguments.filter_by(group=group):
            settings = argument.parameter
            choices = argument.get_choices()
            takes = settings.metavar if settings.metavar and argument.index is None else ""
            label = " ".join(filter(None, (", ".join(argument.names), takes)))
            default = argument.field_info.default
            parts = [
                settings.help or "",
                f"Choices: {', '.join(choices)}." if choices else "",
                f"Default: {default}." if settings.show_default else "",
            ]
            yield from _entry(label, " ".join(filter(None, parts)))


def _entry(term: str, description: str) -> list[str]:
    """Return the lines of a term and its description."""
    return [".TP", rf"\fB{_text(term)}\fR", _text(description)]


def _text(text: str) -> str:
    """Return text on one line, without what the language of man would take for its own."""
    line = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line[:1] in (".", "'") else line
