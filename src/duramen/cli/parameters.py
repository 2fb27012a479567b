"""Options made from the parameters of functions and classes: names, types, help and values."""

from __future__ import annotations

import collections.abc
import re
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import cyclopts

from duramen.configuration import SHORT_NAMES

Described = tuple[Parameter, str]
"""Parameter with its annotation, and its description."""

hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)
"""Annotations of a function or class by the parameter."""

ALIASES = {**{name: f"--{short}" for name, short in SHORT_NAMES.items()}, "quiet": "-q"}
"""Short names of options, beside those of the parameters."""
EVERYDAY_OF_ALL = (
    *("demo", "target", "samples", "groups", "strata", "drop", "transpose"),
    *("n_estimators", "random_state", "n_jobs", "out", "json", "top"),
)
_OF_COMMAND = {
    "rank": ("measure", "test", "n_permutations", "direct", "explain"),
    "select": ("selector", "memory"),
    "compare": ("methods", "n_features", "n_resamples"),
    "context": ("context", "n_permutations"),
    "network": ("regulators", "targets", "gold", "measure", "n_permutations", "links"),
    "connectome": ("layout", "neuropil", "positions", "gold", "method", "links"),
    "exact": ("max_depth", "max_features", "splits"),
    "plan": ("n_rows", "n_features", "memory", "relevant", "risk", "keep"),
    "pack": ("memory", "overwrite"),
}
EVERYDAY = {command: (*EVERYDAY_OF_ALL, *names) for command, names in _OF_COMMAND.items()}
"""Parameters whose options ``--help`` lists, by command; ``--help-all`` lists all options."""
FILE = ("source", "recording")
"""Parameters that FILE is for."""
STANDARD_INPUT = "/dev/stdin"
INSTALLED = "package.Class"
"""Choice that stands for any class of an installed package, by its module and name."""

_OF_PYTHON = re.compile(r" In Python .*?\.(?=\s|$)")  # a sentence of a docstring
_ROLE = re.compile(r":\w+:`~?([^`]*)`")  # a reference in a docstring
_WORDS = (str, int, float, bool, Path)
_REPEATED = "; repeat for more."
_FEW = 5  # names of classes that stand beside an option, at most


def option_names(parameter: str) -> tuple[str, ...]:
    """Return the names of the option that sets a parameter."""
    name = f"--{parameter.replace('_', '-')}"
    return (name, ALIASES[parameter]) if parameter in ALIASES else (name,)


def shown_name(parameter: str) -> str:
    """Return the argument that sets a parameter on the command line: FILE or an option."""
    return "FILE" if parameter in FILE else option_names(parameter)[0]


def parameters_of(function: Callable[..., Any]) -> dict[str, Described]:
    """Return the parameters of a function or class, in their order, with their descriptions."""
    texts, annotations = _described(function), hints(function)
    return {
        name: (parameter.replace(annotation=annotations[name]), plain(texts[name]))
        for name, parameter in signature(function).parameters.items()
        if name in texts
    }


def option(described: Described, group: cyclopts.Group, choices: Sequence[str] = ()) -> Parameter:
    """Return the parameter of a command that sets a parameter of a function.

    `choices` are the names that it takes, where the annotation does not have them.
    """
    parameter, text = described
    hint, positional = parameter.annotation, parameter.name in FILE
    kind = parsed_type(hint) or str
    several = get_origin(kind) is tuple
    if choices:
        one = Literal[tuple(choices)]  # type: ignore[valid-type]
        kind = types.GenericAlias(tuple, (one, ...)) if several else one
    text = _OF_PYTHON.sub("", text)
    if several:
        text = f"{text.removesuffix('.')}{_REPEATED}"
    flag, default = bool in (kind, *get_args(kind)), None if positional else parameter.default
    if get_origin(kind) is Literal and isinstance(default, str):
        default = default.replace("_", "-")
    metavar: str | None = parameter.name.rpartition("_")[2].upper()
    if flag:
        metavar = None
    elif Path in (hint, *get_args(hint)):
        metavar = "DIR" if hint is Path else "FILE"
    elif int in (kinds := get_args(kind) or (kind,)) and str not in kinds:
        metavar = "N"
    elif text.startswith("Column"):
        metavar = "NAME"
    converter: Any = None
    if hint is Path:
        converter = _folder
    elif {int, float} <= {*get_args(hint)} and not several:
        converter = _number_or_text
    elif choices:
        converter = _choice
    names = ("FILE",) if positional else option_names(parameter.name)
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


def _folder(_: Any, tokens: Sequence[cyclopts.Token]) -> Path:
    """Return the folder that an option names; an empty name would stand for the folder of work."""
    if tokens[0].value == "":
        raise ValueError("the name is empty; name a folder, such as . for this one")
    return Path(tokens[0].value)


def _choice(hint: Any, tokens: Sequence[cyclopts.Token]) -> Any:
    """Return the names that an option takes, however they are written in results or in Python."""
    several = get_origin(hint) is tuple
    (one, *_) = get_args(hint) if several else (hint,)
    names = []
    for token in tokens:
        name = token.value.lower().replace("_", "-")
        if INSTALLED in get_args(one) and "." in token.value:
            name = token.value
        elif name not in get_args(one):
            raise cyclopts.CoercionError(token=token, target_type=one)
        names.append(name)
    return tuple(names) if several else names[0]


def _number_or_text(_: Any, tokens: Sequence[cyclopts.Token]) -> int | float | str:
    """Return the value of an option that takes a count, a fraction or a name."""
    text = tokens[0].value
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text  # which the analysis refuses, if it is no name


def parsed_type(hint: Any) -> Any:
    """Return the types of an annotation that a command line can express; None without any.

    A sequence is an option that is repeated. Arrays, mappings and the like are for Python only.
    """
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for part in parts:
        if get_origin(part) in (collections.abc.Sequence, collections.abc.Iterable, tuple):
            return types.GenericAlias(tuple, (parsed_type(get_args(part)[0]), ...))
    simple = [part for part in parts if part in _WORDS]
    for part in (part for part in parts if get_origin(part) is Literal):
        choices = (c.replace("_", "-") if isinstance(c, str) else c for c in get_args(part))
        simple.append(Literal[tuple(choices)])
    if str in simple:  # which the analysis reads
        simple = [part for part in simple if part is str or get_origin(part) is Literal]
    kind = Union[tuple(simple)] if simple else None  # noqa: UP007
    return kind | None if kind and type(None) in parts else kind


def typed_choices(*functions: Callable[..., Any]) -> dict[tuple[str, str], str]:
    """Return the choices that are typed otherwise than in Python, by the parameter and the name."""
    return {
        (name, choice): choice.replace("_", "-")
        for function in functions
        for name, hint in hints(function).items()
        for kind in (hint, *get_args(hint))
        if get_origin(kind) is Literal
        for choice in get_args(kind)
        if "_" in str(choice)
    }


def in_python(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of options as a function takes them: the names of choices in Python."""
    names = {(name, typed): choice for (name, choice), typed in typed_choices(function).items()}
    return {
        name: names.get((name, value), value) if isinstance(value, str) else value
        for name, value in values.items()
    }


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


def first_sentence(text: str) -> str:
    """Return the help of an option up to its first full stop or semicolon."""
    first = re.split(r"[.;] |\.$", text)[0]
    return f"{first}{_REPEATED if text.endswith(_REPEATED) else '.'}"


# --- parameters of several classes, one of which an analysis uses by its name ---------------------


def parameters_of_classes(
    classes: Mapping[str, Any], without: Collection[str]
) -> dict[str, Described]:
    """Return the parameters of classes by their names, but for some, each with all descriptions.

    An analysis with ``**parameters`` passes them on to the class, which has the default of a
    parameter that is not set.
    """
    texts: dict[str, dict[str, list[str]]] = {}
    kinds: dict[str, list[Any]] = {}
    for class_name, kind in classes.items():
        annotations, described = hints(kind), _described(kind)
        for name, parameter in signature(kind).parameters.items():
            if name in without or parsed_type(annotations[name]) is None:
                continue
            kinds.setdefault(name, []).append(annotations[name])
            text = plain(described[name].partition("\n\n")[0]).removesuffix(".")
            default = parameter.default
            if not isinstance(default, bool | None) and "default" not in text:
                default = f"{default:g}" if isinstance(default, float) else default
                text = f"{text}; {default} by default"
            texts.setdefault(name, {}).setdefault(text, []).append(class_name)
    parameters = {}
    for name, by_text in texts.items():
        hint: Any = Union[tuple(kinds[name])]  # noqa: UP007
        default = False if hint is bool else None
        made = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        of_all = len(by_text) == 1 and sum(map(len, by_text.values())) > _FEW
        parts = [
            text if of_all else f"{text} ({', '.join(names)})" for text, names in by_text.items()
        ]
        parameters[name] = made, f"{'. '.join(parts)}."
    return parameters
