"""Commands made from the signatures and docstrings of analyses."""

from __future__ import annotations

import collections.abc
import re
import shlex
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import cyclopts

from duramen.analyses.caller import CALLER, Caller
from duramen.analyses.report import AnalysisInterrupted
from duramen.cli.cluster import connected, connected_client
from duramen.cli.command import (
    print_report,
    remove_partial,
    results_folder,
    write_or_keep,
    write_results,
)
from duramen.cli.console import (
    ending_well,
    note,
    notes,
    option_of,
    partial_folder,
    standard_error,
    time_estimates,
    user_errors,
    warnings_as_notes,
)
from duramen.cli.declaration import received
from duramen.cli.ending import Clock, Stopped, obey
from duramen.cli.options import writable
from duramen.cli.output import Output, Workers
from duramen.io import formats
from duramen.reading.tables import read
from duramen.reports import Report
from duramen.support.files import naming

_hints = cache(get_type_hints)

ALIASES = {
    "n_estimators": "--trees",
    "n_permutations": "--permutations",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "quiet": "-q",
}
"""Short names of options, beside those of the parameters."""

_WRITES = (
    "Prints the results, and writes result.csv, result.parquet, run.json and report.html to the "
    "folder --out."
)
_OF_PYTHON_ALONE = re.compile(r" In Python also .*?\.(?=\s|$)")  # a sentence of a docstring
_ROLE = re.compile(r":\w+:`~?([^`]*)`")  # a reference in a docstring


@dataclass(frozen=True)
class Demo:
    """Data set that ships, for ``--demo``."""

    name: str
    constant: str  # its file and, with _CITATION, its citation in duramen.datasets.dataset
    reading: Mapping[str, Any] = field(default_factory=dict)  # arguments of `duramen.read`


DEMOS = {
    "compare": Demo("leukemia set", "LEUKEMIA"),
    # The papers leave the sex out of this set.
    "exact": Demo("primary tumor set", "PRIMARY_TUMOR", {"drop": ("sex",), "missing": "drop"}),
}
_FIXED: dict[str, dict[str, Any]] = {"exact": {"keep_identifiers": True}}
"""Arguments of `duramen.read` that a command does not leave to the user."""
_UNUSED = {
    "compare": ("strata", "covariates", "event", "sample_weight", "positive"),
    "exact": ("strata", "groups", "covariates", "event", "max_rows", "positive"),
}
"""Parameters of `duramen.read` that have no effect on an analysis."""
_OF_PYTHON = ("citation", "names", "kinds", "n_jobs", "random_state")
"""Parameters of `duramen.read` without an option of their own."""
_WITHOUT_OPTION = ("names", "kinds", "path", "client", "verbose")
"""Parameters of analyses without an option of their own; `path` is --out."""
_RUN = ("checkpoint", "random_state", "n_jobs")  # under a heading of their own in the help
_WORKERS = ("scheduler", "workers")  # options in place of the parameter `client`
_NOT_RECORDED = ("file", "source", "n_jobs", "checkpoint", *_WORKERS)


def command_of(analysis: Callable[..., Any]) -> Callable[..., None]:
    """Return the function of a command that calls an analysis and writes its report.

    Each parameter of the analysis is an option of its name, with its annotation, default and
    description, and so is each of :func:`duramen.read` if the analysis takes data;
    :class:`Output` and :class:`Workers` have the options that only commands have.
    """
    name = analysis.__name__
    own = dict(signature(analysis).parameters)
    with_data = own.pop("data", None) is not None
    own.pop("y", None)
    reading = dict(signature(read).parameters) if with_data else {}
    groups = [
        cyclopts.Group(title, sort_key=i)
        for i, title in enumerate(("Data", "Analysis", "Run", "Results"))
    ]
    parameters = [
        _option(read, parameter, groups[0])
        for parameter in reading.values()
        if parameter.name not in (*_OF_PYTHON, *_FIXED.get(name, {}), *_UNUSED.get(name, ()))
    ]
    if name in DEMOS:
        parameters.insert(2, _demo(DEMOS[name], groups[0]))
    parameters += [
        _option(analysis, parameter, groups[_heading(parameter.name)])
        for parameter in own.values()
        if parameter.name not in _WITHOUT_OPTION
    ]
    place, outputs = Path(f"duramen-{name}"), dict(signature(Output).parameters)
    outputs["out"] = outputs["out"].replace(default=place)
    if "client" in own:
        workers = signature(Workers).parameters.values()
        parameters += [_option(Workers, parameter, groups[2]) for parameter in workers]
    parameters += [_option(Output, parameter, groups[3]) for parameter in outputs.values()]

    def command(*files: Any, **values: Any) -> None:
        given = {key: values.pop(key) for key in outputs if key in values}
        output = Output(**{"out": place, **given})
        values |= dict(zip(("source",), files, strict=False))
        option_of.clear()
        option_of.update({key: _names(key)[0] for key in (*reading, *own)}, source="FILE")
        with ending_well(name, output.out), time_estimates(output.quiet):
            arguments = {key: values[key] for key in (*own, *_WORKERS) if key in values}
            asked = {key: values[key] for key in (*reading, "demo") if key in values}
            if name == "pack":
                perform_packing(analysis, arguments, output)
                return
            perform(analysis, asked if with_data else None, arguments, output)

    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    cast("Any", command).__signature__ = Signature(parameters)
    return command


def _heading(parameter: str) -> int:
    """Return the place of the heading under which the help has a parameter of an analysis."""
    if parameter in _RUN:
        return 2
    return int(parameter not in signature(read).parameters)


def description(analysis: Callable[..., Any]) -> str:
    """Return what the help of a command says above its options."""
    before = str(getdoc(analysis)).split("\n\nParameters\n")[0]
    return "\n\n".join([*(_plain(part) for part in before.split("\n\n")), _WRITES])


def perform(
    analysis: Callable[..., Any],
    reading: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    output: Output,
) -> None:
    """Read the data, call an analysis, write its report to the folder of results, and show it.

    `reading` has the arguments of `duramen.read`; None for an analysis without data. `arguments`
    has those of the analysis, with the options of workers in place of `client`. Where a stop ended
    the work, what is finished is written: after Ctrl-C to the folder of results, after other
    signals to that of `partial_folder`, so that a job that is stopped does not replace results of
    an earlier run.
    """
    name, clock, arguments = analysis.__name__, Clock(), dict(arguments)
    shown = {} if reading is None else {**reading, "file": reading.get("source")}
    shown |= arguments
    files = files_of(analysis)
    caller = Caller(
        command_line(name, {**shown, "spreadsheet_safe": output.spreadsheet_safe}, files),
        clock,
        None if output.quiet else note,
        None if output.quiet else note,
        obey,
    )
    cluster = Workers(**{key: arguments.pop(key) for key in _WORKERS if key in arguments})
    taken = signature(analysis).parameters
    if "verbose" in taken:
        arguments["verbose"] = int(not output.quiet and standard_error().is_terminal)
    stop: KeyboardInterrupt | None = None
    with ExitStack() as stack:
        with user_errors(name, output.quiet):
            output.check(name)
            cluster.check()
            source = None if reading is None else _prepared(name, reading, arguments, stack)
            if arguments.get("checkpoint") is not None:
                arguments["checkpoint"] = writable(Path(arguments["checkpoint"]))
            folder = stack.enter_context(results_folder(output.out, name))
            if "client" in taken:
                jobs = arguments.get("n_jobs", -1)
                stack.enter_context(
                    connected(name, cluster.scheduler, cluster.workers, jobs, output.quiet)
                )
                arguments["client"] = connected_client()
            called = CALLER.set(caller)
            stack.callback(CALLER.reset, called)
            data: tuple[Any, ...] = ()
            if source is not None:
                for parameter in ("n_jobs", "random_state"):
                    if parameter in arguments:
                        source[parameter] = arguments[parameter]
                with clock.step("read"), warnings_as_notes(output.quiet):
                    data = (read(**source),)
            try:
                with warnings_as_notes(output.quiet):
                    report = analysis(*data, **arguments)
            except AnalysisInterrupted as interrupted:
                report, stop = interrupted.report, interrupted.stop
        paths = {option: str(shown[key]) for key, option in files.items() if key in shown}
        if isinstance(stop, Stopped):
            with results_folder(partial_folder(output.out), name) as partial:
                write_results(partial, report, clock, output, paths)
            raise stop
        report = write_or_keep(folder, report, clock, output, paths)
    if stop is None and remove_partial(output.out, name):
        left = f"results of an earlier {name} that was stopped were removed"
        notes([left], output.quiet)
    print_report(report, output)
    if stop is not None:
        raise stop


def _prepared(
    name: str, reading: Mapping[str, Any], arguments: Mapping[str, Any], stack: ExitStack
) -> dict[str, Any]:
    """Return the arguments of `duramen.read`, with a file in place of standard input or a demo.

    Raises
    ------
    ValueError
        If the user named no table and target, or one beside the demo.
    """
    values = {**_FIXED.get(name, {}), **reading}
    demo, wants_demo = DEMOS.get(name), values.pop("demo", False)
    for word, parameter in (("FILE", "source"), ("--target", "target")):
        if wants_demo and values.get(parameter) is not None:
            raise ValueError(f"--demo brings its own data; leave out {word}")
    if wants_demo and demo is not None:
        from duramen.datasets import dataset

        path = stack.enter_context(dataset.bundled_file(getattr(dataset, demo.constant)))
        own, context = dict(demo.reading), arguments.get("context")
        drop = tuple(column for column in own.pop("drop", ()) if column != context)
        drop += values.pop("drop", ())
        values = {**own, **values, "drop": drop, "source": path, "target": "y"}
        values["citation"] = getattr(dataset, f"{demo.constant}_CITATION")
        return values
    if values.get("source") is None:
        alone = "" if demo is None else f", or --demo for the {demo.name}"
        raise ValueError(f"give a FILE and --target NAME{alone}")
    return _received(values, stack)


def _received(values: Mapping[str, Any], stack: ExitStack) -> dict[str, Any]:
    """Return arguments with a file in place of standard input."""
    if values["source"] == "":
        raise ValueError("FILE: the name is empty; name a file or a store")
    return {**values, "source": stack.enter_context(received({"file": values["source"]}))["file"]}


def perform_packing(pack: Callable[..., Any], arguments: Mapping[str, Any], output: Output) -> None:
    """Pack a table into the folder of results, with the report in it, and show that."""
    clock, reports = Clock(), list[Report]()
    files, shown = files_of(pack), {**arguments, "file": arguments.get("source")}
    paths = {option: str(shown[key]) for key, option in files.items() if shown.get(key) is not None}

    def finish(folder: Path, report: Report) -> None:
        with naming(output.out, folder):
            reports.append(write_results(folder, report, clock, output, paths))

    words = {**shown, "overwrite": None, "spreadsheet_safe": output.spreadsheet_safe}
    tell = None if output.quiet else note
    caller = Caller(command_line("pack", words, files), clock, tell, tell, finish=finish)
    verbose = int(not output.quiet and standard_error().is_terminal)
    with ExitStack() as stack, user_errors("pack", output.quiet):
        output.check("pack")
        if shown["file"] is None:
            raise ValueError("give a FILE")
        given = _received(arguments, stack)
        stack.callback(CALLER.reset, CALLER.set(caller))
        with warnings_as_notes(output.quiet):
            pack(**given, path=output.out, verbose=verbose)
    print_report(reports[0], output)


def files_of(analysis: Callable[..., Any]) -> dict[str, str]:
    """Return the options that name a file with data, by the parameter."""
    hints = {**_hints(read), **_hints(analysis)}
    named = [
        name
        for name, hint in hints.items()
        if Path in get_args(hint) and name not in ("source", "checkpoint")
    ]
    return {"file": "file", **{name: _names(name)[0] for name in named}}


def command_line(name: str, arguments: Mapping[str, Any], files: Collection[str]) -> str:
    """Return the command line that does the same again, files by their name alone."""
    words = ["duramen", name]
    if (file := arguments.get("file")) is not None:
        words.append(file if "://" in str(file) else Path(file).name)
    for parameter, value in arguments.items():
        if parameter in _NOT_RECORDED or value is False or value is None:
            continue
        several = value if isinstance(value, tuple) else (value,)
        for one in several:
            word = _names(parameter)[0]
            shown = Path(one).name if parameter in files else str(one)
            words += [word] if one is True else [word, shown]
    return shlex.join(words)


def _names(parameter: str) -> tuple[str, ...]:
    """Return the names of the option that sets a parameter."""
    own = f"--{parameter.replace('_', '-')}"
    return (own, ALIASES[parameter]) if parameter in ALIASES else (own,)


def _option(function: Callable[..., Any], parameter: Parameter, group: cyclopts.Group) -> Parameter:
    """Return the parameter of a command that sets a parameter of a function."""
    hint = _hints(function)[parameter.name]
    kind = parsed_type(hint)
    flag, positional = kind is bool, parameter.name == "source"
    default = None if positional else parameter.default
    text = _help(function, parameter.name, kind)
    metavar = "NAME" if text.startswith("Column") else parameter.name.rpartition("_")[2].upper()
    if hint is Path:
        metavar = "DIR"
    elif Path in get_args(hint):
        metavar = "FILE"
    return parameter.replace(
        kind=Parameter.POSITIONAL_ONLY if positional else Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            kind | None if positional else kind,
            cyclopts.Parameter(
                name=("FILE",) if positional else _names(parameter.name),
                help=text,
                negative=(),
                group=group,
                metavar=None if flag else metavar,
                show_default=not isinstance(default, bool | tuple | None),
                allow_leading_hyphen=not flag and not positional,
                allow_repeating=get_origin(kind) is not tuple or None,
                converter=_folder
                if hint is Path
                else _number_or_text
                if {int, float} <= {*get_args(hint)}
                else None,
            ),
        ],
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


def _help(function: Callable[..., Any], name: str, kind: Any) -> str:
    """Return the help of an option."""
    text = descriptions(function)[name]
    if name == "source":
        uses = ("read", "groups", "columns") if function is read else ("read", "groups")
        text = f"{text.partition(';')[0]}. Formats: {formats.listed(*uses)}."
    text = _OF_PYTHON_ALONE.sub("", text)
    return f"{text.removesuffix('.')}; repeat for more." if get_origin(kind) is tuple else text


def _demo(demo: Demo, group: cyclopts.Group) -> Parameter:
    """Return the parameter ``--demo`` of a command."""
    text = f"Use the {demo.name} that ships with duramen, in place of FILE and --target."
    settings = cyclopts.Parameter(
        name="--demo", help=text, negative=(), group=group, show_default=False
    )
    return Parameter(
        "demo", Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, settings]
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
