"""Application of all commands."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from inspect import Parameter, signature
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from cyclopts import (
    App,
    CycloptsError,
    Group,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)
from cyclopts.help import HelpEntry, HelpPanel

from duramen import __version__
from duramen.cli.console import complain
from duramen.cli.ending import INTERRUPTED, USER_ERROR
from duramen.cli.parameters import EVERYDAY, STANDARD_INPUT, first_sentence, option_names

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

_FILE = (files("duramen.cli") / "examples.txt").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^\[(\w+)\]\n(.*?)(?=^\[|\Z)", _FILE, re.MULTILINE | re.DOTALL))
"""Examples of the commands, which ``--example`` prints: shell lines with comments.

The first line of each runs as it stands; the others name files of the user.
"""
COMMANDS = tuple(EXAMPLES)
_TAKE_HYPHEN = ("--na-values", "--decimal", "--separator")
_COMMANDS, _ADVANCED = Group("Commands", sort_key=0), Group("Advanced", sort_key=1)
_HELP = Group("Help", sort_key=1000)
_ALL = "--help-all"
_IN_PYTHON = {
    "--kinds": "--categorical NAME treats a column of numbers as categorical",
    "--names": "the first line of a file names its columns",
}

_WIDEST = 22  # characters of an option that has its description on the same line
_SHORT = 36  # characters of choices that replace the placeholder of a value


def everyday_panel(
    command: str, console: Console, options: ConsoleOptions, panel: HelpPanel
) -> None:
    """Print the everyday options of a command, each by one name and its first sentence."""
    everyday = {option_names(parameter)[0] for parameter in EVERYDAY[command]}
    entries = [
        entry.copy(positive_names=entry.names[-1:], description=first_sentence(_plain(entry)))
        for entry in panel.entries
        if entry.positional_label or everyday & {*entry.names}
    ]
    commands = panel.format == "command"
    full_panel(console, options, panel if commands else panel.copy(entries=entries))


def full_panel(console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
    """Print all options of a section as a list of definitions."""
    if not panel.entries:
        return
    lines = [f"{panel.title}:"]
    for entry in panel.entries:
        choices, label, description = entry.choices or (), [*entry.display_labels], _plain(entry)
        beside = 0 < len("|".join(choices)) <= _SHORT
        if entry.metavar and not entry.positional_label:
            label[-1] += f" <{'|'.join(choices)}>" if beside else f" {entry.metavar}"
        if entry.default is not None:
            description += f" [default: {entry.default}]"
        if entry.required and not entry.positional_label:
            description += " [required]"
        wrapped = wrap(description, console.width - _WIDEST - 4, break_on_hyphens=False)
        first = "  " + ", ".join(label)
        if len(first) <= _WIDEST + 2 and wrapped:
            first = f"{first:<{_WIDEST + 4}}{wrapped.pop(0)}"
        lines += [first, *(" " * (_WIDEST + 4) + line for line in wrapped)]
        if choices and not beside:
            wrapped = wrap(", ".join(choices), console.width - 6, break_on_hyphens=False)
            lines += [f"      {line}" for line in wrapped]
    console.print("\n".join(lines), "", sep="\n", highlight=False, markup=False, soft_wrap=True)


def _plain(entry: HelpEntry) -> str:
    """Return the description of an option as text."""
    from rich.text import Text

    description = getattr(entry.description, "primary_renderable", entry.description)
    return description.plain if isinstance(description, Text) else str(description or "")


def analysis(name: str) -> Callable[..., Any]:
    """Return the public function that a command calls."""
    function: Callable[..., Any] = getattr(import_module(f"duramen.analyses.{name}"), name)
    return function


def _summary(name: str) -> str:
    """Return the first line of the help of a command, whose module is read, not imported."""
    spec = find_spec(f"duramen.analyses.{name}")
    assert spec is not None
    tree = ast.parse(Path(str(spec.origin)).read_text(encoding="utf-8"))
    (function,) = (
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name
    )
    return str(ast.get_docstring(function)).partition("\n")[0]


def __getattr__(name: str) -> App:
    """Import and return a command by its name."""
    if name not in EXAMPLES:
        raise AttributeError(name)
    from duramen.cli import functions  # imports of analyses, which the application need not

    function = functions.command_of(analysis(name))
    kinds = [parameter.kind for parameter in signature(function).parameters.values()]
    command = App(
        name=name,
        help=functions.description(analysis(name)),
        usage=f"Usage: duramen {name} [OPTIONS]{' FILE' * kinds.count(Parameter.POSITIONAL_ONLY)}",
        version_flags=(),
        help_format="plaintext",
        help_formatter=partial(everyday_panel, name),
        group_commands=_HELP,
        result_action="return_value",
    )
    command.default(function)

    @command.command(name=_ALL)
    def help_all() -> None:
        """List all options."""
        command.help_formatter = full_panel
        command.help_print([])

    @command.command(name="--example")
    def example() -> None:
        """Print examples."""
        print(EXAMPLES[name], end="")

    return command


def application(*, summaries: bool = False) -> App:
    """Return the application, whose commands are imported where they are needed.

    `summaries` imports all of them, for the help of the application.
    """
    app = App(
        name="duramen",
        help="Feature importances from ensembles of randomized trees.",
        usage="Usage: duramen COMMAND [OPTIONS] [FILE]",
        version=f"duramen {__version__}",
        help_format="plaintext",
        help_formatter=full_panel,
        group_commands=_COMMANDS,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for place, name in enumerate(COMMANDS):
        summary = _summary(name) if summaries else None
        group = _ADVANCED if name in ("exact", "plan") else _COMMANDS
        app.command(f"{__name__}:{name}", name=name, help=summary, group=group, sort_key=place)
    app.register_install_completion_command(group=_HELP)
    for flag in ("--help", "--version"):
        app[flag].group = (_HELP,)

    @app.command(name="--man", group=_HELP)
    def man() -> None:
        """Print the manual page of all commands, in the language of man."""
        print(manual(app), end="")

    return app


def run(words: Sequence[str]) -> None:
    """Parse a command line and run its command.

    Raises
    ------
    SystemExit
        With the code of a user's error if the command line is refused.
    """
    # A hyphen alone is the file of standard input, unless it is the value of one of these options.
    before = ["", *words]
    words = [
        STANDARD_INPUT if word == "-" and option not in _TAKE_HYPHEN else word
        for option, word in zip(before, words, strict=False)
    ]
    if _ALL in words:  # wherever it stands, as --help
        words = [words[0], _ALL]
    app = application(summaries=not words or words[0] in ("--help", "-h"))
    try:
        app(words, print_error=False, exit_on_error=False)
    except CycloptsError as error:
        command = " ".join(("duramen", *(error.command_chain or ())))
        message = " ".join(str(error).split())
        if isinstance(error, UnusedCliTokensError):
            message = _unexpected(error)
        elif isinstance(error, UnknownOptionError):
            message = _elsewhere(app, error) or message
        elif isinstance(error, UnknownCommandError):  # cyclopts lists no more than eight
            message = (
                f"{message.partition(' Available')[0]} The commands are {', '.join(COMMANDS)}."
            )
        complain(f"{command}: {message}")
        raise SystemExit(USER_ERROR) from None


def _elsewhere(app: App, error: UnknownOptionError) -> str:
    """Return the message about an option of other commands, or of Python; "" about others."""
    option = (error.token.keyword or error.token.value).partition("=")[0]
    if option in _IN_PYTHON:
        return f"Unknown option: {option}, which Python has; {_IN_PYTHON[option]}"
    having = [
        name
        for name in COMMANDS
        if any(option in taken.names for taken in app[name].assemble_argument_collection())
    ]
    if not having or option[:2] != "--":
        return ""
    have = "has" if len(having) == 1 else "have"
    return f"Unknown option: {option}, which {', '.join(having)} {have}"


def _unexpected(error: UnusedCliTokensError) -> str:
    """Return the message about words that stand without an option."""
    unused = error.unused_tokens or []
    came = shlex.join(unused)
    assert error.app is not None
    arguments = error.app.assemble_argument_collection()
    labels = [argument.name for argument in arguments if argument.index is not None]
    targets = [argument for argument in arguments if argument.name == "--target"]
    typed = any(word.partition("=")[0] == "--target" for word in error.root_input_tokens or ())
    if len(unused) == 1 and targets and not typed:
        hint = f"the target is given by --target {came}"
    else:
        hint = "write the option before each value, and a value with spaces in quotes"
    alone = f"{' '.join(labels)} alone is" if labels else "nothing is"
    return f"{alone} given without an option, got also {came}; {hint}"


# --- manual page ----------------------------------------------------------------------------------

EXIT_CODES = {
    "0": "The command succeeded, and the results are in the folder --out.",
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
    """Return text on one line, with the characters escaped that troff would interpret."""
    line = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line[:1] in (".", "'") else line
