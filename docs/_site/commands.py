"""Pages of the reference for the commands: all options of each, made from the docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from duramen.cli.app import COMMANDS, application


def marked(text: str) -> str:
    """Return text as reStructuredText that shows it unchanged, with options as code."""
    plain = re.sub(r"([\\`*_|<>])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"``\1``", plain)


def row(argument: Any) -> list[str]:
    """Return the row of an option: its names, its meaning with its values, its default."""
    names = ", ".join(f"``{name}``" for name in argument.names)
    text = marked(argument.parameter.help or "")
    choices = argument.get_choices()
    if choices:
        text = f"{text} Values: {', '.join(f'``{choice}``' for choice in choices)}."
    default = argument.field_info.default
    shown = argument.parameter.show_default and default is not None
    return [f"   * - {names}", f"     - {text}", f"     - {f'``{default}``' if shown else ''}"]


def options(name: str) -> str:
    """Return the page of a command: a table of options for each group of its help."""
    groups: dict[str, list[Any]] = {}
    for argument in application()[name].assemble_argument_collection():
        groups.setdefault(argument.parameter.group[0].name, []).append(argument)
    title = f"duramen {name}"
    lines = [title, "=" * len(title), ""]
    lines += ["All options. Meanings and defaults are those of the parameters in Python.", ""]
    for group, arguments in groups.items():
        lines += [group, "-" * len(group), "", ".. list-table::", "   :widths: 25 60 15"]
        lines += ["   :header-rows: 1", "", "   * - option", "     - meaning", "     - default"]
        for argument in arguments:
            lines += row(argument)
        lines.append("")
    return "\n".join(lines)


def pages() -> Iterator[tuple[str, str]]:
    """Return the name and the text of the page of each command, and of their overview."""
    names = [str(name) for name in COMMANDS]
    for name in names:
        yield f"command-{name}", options(name)
    lines = ["Commands", "========", "", ".. toctree::", ""]
    yield "commands", "\n".join([*lines, *(f"   command-{name}" for name in names)]) + "\n"
