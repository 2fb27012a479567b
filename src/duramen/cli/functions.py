"""Commands made from the signatures and docstrings of analyses."""

from __future__ import annotations

import collections.abc
import re
import shlex
import types
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import cyclopts

from duramen.cli.command import print_report, remove_partial, results_folder, write_results
from duramen.cli.console import ending_well, notes, option_of, time_estimates, user_errors
from duramen.cli.declaration import built, declared
from duramen.cli.ending import Clock
from duramen.cli.options import Printed

ALIASES = {"n_permutations": "--permutations", "random_state": "--seed", "n_jobs": "--jobs"}
"""Short names of options, beside those of the parameters."""

_WRITES = (
    "Prints the results, and writes result.csv, result.parquet, run.json and report.html to the "
    "folder --out."
)
_ROLE = re.compile(r":\w+:`~?([^`]*)`")  # a reference in a docstring


def command_of(analysis: Callable[..., Any]) -> Callable[..., None]:
    """Return the function of a command that calls an analysis and writes its report.

    Each parameter of the analysis is an option of its name, with its annotation, default and
    description; :class:`Printed` has the options that only commands have.
    """
    name = analysis.__name__
    outputs = [*declared(Printed, {"out": Path(f"duramen-{name}")})]
    headings = (cyclopts.Group(title, sort_key=i) for i, title in enumerate(("Options", "Results")))
    heading, results = headings
    hints, texts = get_type_hints(analysis), descriptions(analysis)
    parameters = [
        _option(parameter, hints[parameter.name], texts[parameter.name], heading)
        for parameter in signature(analysis).parameters.values()
    ]
    parameters += [option.as_parameter(hint, results) for option, hint in outputs]

    def command(**values: Any) -> None:
        output = built(Printed, {**{one.name: one.default for one, _ in outputs}, **values})
        arguments = {key: value for key, value in values.items() if key in hints}
        option_of.clear()
        option_of.update({key: _names(key)[0] for key in hints})
        with ending_well(name, output.out), time_estimates(output.quiet):
            perform(analysis, arguments, output)

    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    cast("Any", command).__signature__ = Signature(parameters)
    return command


def description(analysis: Callable[..., Any]) -> str:
    """Return what the help of a command says above its options."""
    before = str(getdoc(analysis)).split("\n\nParameters\n")[0]
    return "\n\n".join([*(_plain(part) for part in before.split("\n\n")), _WRITES])


def perform(analysis: Callable[..., Any], arguments: Mapping[str, Any], output: Printed) -> None:
    """Call an analysis, write its report to the folder of results, and show it."""
    from duramen.analyses.caller import CALLER, Caller

    name, clock = analysis.__name__, Clock()
    with ExitStack() as stack:
        with user_errors(name, output.quiet):
            output.check(name)
            folder = stack.enter_context(results_folder(output.out, name))
            called = CALLER.set(Caller(command_line(analysis, arguments), clock))
            stack.callback(CALLER.reset, called)
            report = analysis(**arguments)
        report = write_results(folder, report, clock, output, {})
    if remove_partial(output.out, name):
        left = f"results of an earlier {name} that was stopped were removed"
        notes([left], output.quiet)
    print_report(report, output)


def command_line(analysis: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Return the command line that does the same again."""
    words = ["duramen", analysis.__name__]
    for name, value in arguments.items():
        several = value if isinstance(value, tuple) else (value,)
        words += [word for one in several for word in (_names(name)[0], str(one))]
    return shlex.join(words)


def _names(parameter: str) -> tuple[str, ...]:
    """Return the names of the option that sets a parameter."""
    own = f"--{parameter.replace('_', '-')}"
    return (own, ALIASES[parameter]) if parameter in ALIASES else (own,)


def _option(parameter: Parameter, hint: Any, text: str, heading: cyclopts.Group) -> Parameter:
    """Return the parameter of a command that sets a parameter of an analysis."""
    kind = parsed_type(hint)
    flag = kind is bool
    return parameter.replace(
        kind=Parameter.KEYWORD_ONLY,
        annotation=Annotated[
            kind,
            cyclopts.Parameter(
                name=_names(parameter.name),
                help=text,
                negative=(),
                group=heading,
                metavar=None if flag else parameter.name.rpartition("_")[2].upper(),
                allow_leading_hyphen=not flag,
                allow_repeating=get_origin(kind) is not tuple or None,
            ),
        ],
    )


_WORDS = (str, int, float, bool, Path)


def parsed_type(hint: Any) -> Any:
    """Return the part of an annotation that words of a command line can be.

    A sequence is an option that is repeated. Arrays, mappings and the like are for Python only.
    """
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for part in parts:
        if get_origin(part) in (collections.abc.Sequence, collections.abc.Iterable, tuple):
            element = parsed_type(get_args(part)[0])
            return types.GenericAlias(tuple, (element, ...))
    simple = [part for part in parts if part in _WORDS or get_origin(part) is Literal]
    if str in simple:  # which the analysis reads
        simple = [part for part in simple if part is str or get_origin(part) is Literal]
    kind = Union[tuple(simple)] if simple else str  # noqa: UP007
    return kind | None if type(None) in parts else kind


@cache
def descriptions(function: Callable[..., Any]) -> dict[str, str]:
    """Return the descriptions of the parameters of a function, from its docstring."""
    from docstring_parser import parse_from_object
    from docstring_parser.common import DocstringStyle

    parsed = parse_from_object(function, style=DocstringStyle.NUMPYDOC)
    return {
        name.strip(): _plain(param.description or "")
        for param in parsed.params
        for name in param.arg_name.split(",")
    }


def _plain(text: str) -> str:
    """Return text of a docstring on one line, without its markup."""
    return " ".join(_ROLE.sub(r"\1", text).replace("`", "").split())
