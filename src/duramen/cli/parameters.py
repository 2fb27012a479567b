"""Options made from the parameters of a function: their names, types, help and values."""

from __future__ import annotations

import collections.abc
import re
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import cyclopts

from duramen.io import formats

hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)
"""Annotations of a function or class by the parameter."""

ALIASES = {
    "n_estimators": "--trees",
    "n_permutations": "--permutations",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "quiet": "-q",
}
"""Short names of options, beside those of the parameters."""
FILE = ("source", "recording")
"""Parameters that FILE is for."""

_OF_PYTHON = re.compile(r" In Python .*?\.(?=\s|$)")  # a sentence of a docstring
_ROLE = re.compile(r":\w+:`~?([^`]*)`")  # a reference in a docstring
_WORDS = (str, int, float, bool, Path)


def option_names(parameter: str) -> tuple[str, ...]:
    """Return the names of the option that sets a parameter."""
    own = f"--{parameter.replace('_', '-')}"
    return (own, ALIASES[parameter]) if parameter in ALIASES else (own,)


def option(
    function: Callable[..., Any],
    parameter: Parameter,
    group: cyclopts.Group,
    choices: Sequence[str] = (),
) -> Parameter:
    """Return the parameter of a command that sets a parameter of a function.

    `choices` are the names that it takes, where the annotation does not have them.
    """
    text = descriptions(function)[parameter.name]
    if parameter.name == "source":
        uses = ("read", "groups", "columns") if function.__name__ == "read" else ("read", "groups")
        text = f"{text.partition(';')[0]}. Formats: {formats.listed(*uses)}."
    return option_of_hint(parameter, hints(function)[parameter.name], text, group, choices)


def option_of_hint(
    parameter: Parameter,
    hint: Any,
    text: str,
    group: cyclopts.Group,
    choices: Sequence[str] = (),
) -> Parameter:
    """Return the parameter of a command, of an annotation and the text of the help."""
    kind = parsed_type(hint)
    several = get_origin(kind) is tuple
    if choices:
        one = Literal[tuple(choices)]  # type: ignore[valid-type]
        kind = types.GenericAlias(tuple, (one, ...)) if several else one
    text = _OF_PYTHON.sub("", text)
    if several:
        text = f"{text.removesuffix('.')}; repeat for more."
    flag, positional = bool in (kind, *get_args(kind)), parameter.name in FILE
    default = None if positional else parameter.default
    if get_origin(kind) is Literal and isinstance(default, str):
        default = _typed(default)
    names = ("FILE",) if positional else option_names(parameter.name)
    metavar: str | None = parameter.name.rpartition("_")[2].upper()
    if flag:
        metavar = None
    elif Path in (hint, *get_args(hint)):
        metavar = "DIR" if hint is Path else "FILE"
    elif text.startswith("Column"):
        metavar = "NAME"
    converter: Any = None
    if hint is Path:
        converter = _folder
    elif {int, float} <= {*get_args(hint)} and not several:
        converter = _number_or_text
    return parameter.replace(
        kind=Parameter.POSITIONAL_ONLY if positional else Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            kind | None if positional else kind,
            cyclopts.Parameter(
                name=names,
                help=text,
                negative=f"--no-{names[0][2:]}" if flag and default is None else (),
                group=group,
                metavar=metavar,
                show_default=not isinstance(default, bool | tuple | None),
                show_choices=not {int, float} & {*get_args(kind)},
                allow_leading_hyphen=not flag and not positional,
                allow_repeating=None if several else True,
                converter=converter,
            ),
        ],
    )


def flag(name: str, text: str, group: cyclopts.Group) -> Parameter:
    """Return the parameter of a command for an option without a value."""
    settings = cyclopts.Parameter(
        name=option_names(name), help=text, negative=(), group=group, show_default=False
    )
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, settings]
    )


def _folder(_: Any, tokens: Sequence[cyclopts.Token]) -> Path:
    """Return the folder that an option names; an empty name would stand for the folder of work."""
    if tokens[0].value == "":
        raise ValueError("the name is empty; name a folder, such as . for this one")
    return Path(tokens[0].value)


def _number_or_text(_: Any, tokens: Sequence[cyclopts.Token]) -> int | float | str:
    """Return what an option that may be a count or a fraction stands for."""
    text = tokens[0].value
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text  # which the analysis refuses, if it is no name


def parsed_type(hint: Any) -> Any:
    """Return the part of an annotation that words of a command line can be.

    A sequence is an option that is repeated. Arrays, mappings and the like are for Python only.
    """
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for part in parts:
        if get_origin(part) in (collections.abc.Sequence, collections.abc.Iterable, tuple):
            element = parsed_type(get_args(part)[0])
            return types.GenericAlias(tuple, (element, ...))
    simple = [_as_typed(part) for part in parts if part in _WORDS or get_origin(part) is Literal]
    if str in simple:  # which the analysis reads
        simple = [part for part in simple if part is str or get_origin(part) is Literal]
    kind = Union[tuple(simple)] if simple else str  # noqa: UP007
    return kind | None if type(None) in parts else kind


def _as_typed(kind: Any) -> Any:
    """Return the choices of a Literal as they are typed; other types as they are."""
    if get_origin(kind) is not Literal:
        return kind
    return Literal[tuple(map(_typed, get_args(kind)))]


def _typed(choice: Any) -> Any:
    return choice.replace("_", "-") if isinstance(choice, str) else choice


def in_python(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of options as a function takes them: the names of choices in Python."""
    annotations, made = hints(function), dict(values)
    for key, value in values.items():
        hint = annotations.get(key)
        for kind in (hint, *get_args(hint)):
            if get_origin(kind) is Literal and isinstance(value, str):
                choices = {_typed(choice): choice for choice in get_args(kind)}
                made[key] = choices.get(value, value)
    return made


def choices_of(*annotations: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return the choices that are typed otherwise than in Python, by the parameter and the name."""
    return {
        (key, choice): _typed(choice)
        for hint in annotations
        for key, own in hint.items()
        for kind in (own, *get_args(own))
        if get_origin(kind) is Literal
        for choice in get_args(kind)
        if _typed(choice) != choice
    }


def descriptions(function: Callable[..., Any]) -> dict[str, str]:
    """Return the descriptions of the parameters of a function."""
    return {name: plain(text) for name, text in _described(function).items()}


def first_paragraphs(kind: Any) -> dict[str, str]:
    """Return the first paragraphs of the descriptions of the parameters of a class."""
    return {name: plain(text.partition("\n\n")[0]) for name, text in _described(kind).items()}


@cache
def _described(function: Any) -> dict[str, str]:
    """Return the descriptions of the parameters of a function or class, from its docstring."""
    from docstring_parser import parse_from_object
    from docstring_parser.common import DocstringStyle

    parsed = parse_from_object(function, style=DocstringStyle.NUMPYDOC)
    return {
        name.strip(): param.description or ""
        for param in parsed.params
        for name in param.arg_name.split(",")
    }


def plain(text: str) -> str:
    """Return text of a docstring on one line, without its markup."""
    return " ".join(_ROLE.sub(r"\1", text).replace("`", "").split())
