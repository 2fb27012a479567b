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
_OF_PYTHON_ALONE = re.compile(r" In Python .*?\.(?=\s|$)")  # a sentence of a docstring
_ROLE = re.compile(r":\w+:`~?([^`]*)`")  # a reference in a docstring


@dataclass(frozen=True)
class Demo:
    """Data set that ships, or that is made, for ``--demo``."""

    name: str  # with its article
    instead: str = "FILE and --target"  # of these
    constant: str = ""  # its file and, with _CITATION, its citation in duramen.datasets.dataset
    reading: Mapping[str, Any] = field(default_factory=dict)  # arguments of `duramen.read`
    made: Callable[[], dict[str, Any]] | None = None  # returns data by the parameter


def _gene_network() -> dict[str, Any]:
    """Simulate the expression of 50 genes, with the links between them."""
    from duramen.datasets import gene_network
    from duramen.support.arrow import pa

    made = gene_network(n_samples=100, n_genes=50, random_state=0)
    return {
        "source": pa.table(dict(zip(made.names, made.expression.T, strict=True))),
        "gold": made.links,
    }


def _culture() -> dict[str, Any]:
    """Simulate a culture of 40 neurons, with their positions and links."""
    from duramen.datasets import calcium_culture, culture_wiring

    wiring = culture_wiring(40, n_links=160, random_state=0)
    made = calcium_culture(10_000, wiring=wiring, strength=20.0, random_state=0)
    return {"recording": made, "positions": made.positions, "gold": made.links}


DEMOS = {
    "compare": Demo("the leukemia set that ships with duramen", constant="LEUKEMIA"),
    "network": Demo("a simulated network of 50 genes", "FILE and --gold", made=_gene_network),
    "connectome": Demo(
        "a simulated culture of 40 neurons", "FILE, --positions and --gold", made=_culture
    ),
    # The papers leave the sex out of this set.
    "exact": Demo(
        "the primary tumor set that ships with duramen",
        constant="PRIMARY_TUMOR",
        reading={"drop": ("sex",), "missing": "drop"},
    ),
}
_FIXED: dict[str, dict[str, Any]] = {"exact": {"keep_identifiers": True}}
"""Arguments of `duramen.read` that a command does not leave to the user."""
_OF_TARGET = (
    *("target", "task", "event", "strata", "groups", "covariates", "sample_weight"),
    *("drop_missing_target", "positive"),
    *("samples", "samples_id", "samples_match", "samples_features"),
)
_UNUSED = {
    "compare": ("strata", "covariates", "event", "sample_weight", "positive"),
    "network": _OF_TARGET,
    "exact": ("strata", "groups", "covariates", "event", "max_rows", "positive"),
}
"""Parameters of `duramen.read` that have no effect on an analysis."""
_OF_PYTHON = ("citation", "names", "kinds", "n_jobs", "random_state")
"""Parameters of `duramen.read` without an option of their own."""
_PYTHON_ONLY = ("client", "verbose", "names", "kinds", "filters", "path")
"""Parameters of analyses without an option of their own; `path` is --out."""
_RUN = ("checkpoint", "random_state", "n_jobs")  # under a heading of their own in the help
_WORKERS = ("scheduler", "workers")  # options in place of the parameter `client`
_NOT_RECORDED = ("file", "n_jobs", "checkpoint", *_WORKERS)
_FILE = ("source", "recording")  # parameters that FILE is for
_DATA = (  # parameters of analyses under the heading of the data
    *("recording", "layout", "key", "neurons", "neuropil", "missing", "drop", "positions"),
    *("regulators", "targets", "gold"),
)


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
    unused = (*_OF_PYTHON, *_FIXED.get(name, {}), *_UNUSED.get(name, ()))
    groups = [
        cyclopts.Group(title, sort_key=i)
        for i, title in enumerate(("Data", "Analysis", "Run", "Results"))
    ]
    parameters = [
        _option(read, parameter, groups[0])
        for parameter in reading.values()
        if parameter.name not in unused
    ]
    parameters += [
        _option(analysis, parameter, groups[_heading(parameter.name)])
        for parameter in own.values()
        if parameter.name not in _PYTHON_ONLY
    ]
    if name in DEMOS:
        parameters.insert(1, _demo(DEMOS[name], groups[0]))
    place, outputs = Path(f"duramen-{name}"), dict(signature(Output).parameters)
    outputs["out"] = outputs["out"].replace(default=place)
    if "client" in own:
        workers = signature(Workers).parameters.values()
        parameters += [_option(Workers, parameter, groups[2]) for parameter in workers]
    parameters += [_option(Output, parameter, groups[3]) for parameter in outputs.values()]

    def command(*files: Any, **values: Any) -> None:
        given = {key: values.pop(key) for key in outputs if key in values}
        output = Output(**{"out": place, **given})
        values |= dict(zip(("recording" if "recording" in own else "source",), files, strict=False))
        option_of.clear()
        option_of.update({key: _names(key)[0] for key in (*reading, *own)})
        option_of.update(dict.fromkeys(_FILE, "FILE"))
        with ending_well(name, output.out), time_estimates(output.quiet):
            arguments = {key: values[key] for key in (*own, *_WORKERS, "demo") if key in values}
            asked = {key: values[key] for key in reading if key in values}
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
    return int(parameter not in (*_DATA, *signature(read).parameters))


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
    shown = {**(reading or {}), **arguments}
    shown["file"] = next((shown.pop(key) for key in _FILE if key in shown), None)
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
            source, arguments = _prepared(analysis, reading, arguments, stack)
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
                    data = (read(**_in_python(read, source)),)
            try:
                with warnings_as_notes(output.quiet):
                    report = analysis(*data, **_in_python(analysis, arguments))
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
    analysis: Callable[..., Any],
    reading: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    stack: ExitStack,
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the arguments of `duramen.read` and of the analysis, with a file or a demo as data.

    Raises
    ------
    ValueError
        If the user named no table or target, or one beside the demo.
    """
    name, taken = analysis.__name__, signature(analysis).parameters
    own, demo = dict(arguments), DEMOS.get(name)
    values = None if reading is None else {**_FIXED.get(name, {}), **reading}
    if own.pop("demo", False) and demo is not None:
        brought = {"source": None, "target": None} if demo.made is None else demo.made()
        for key in brought:
            if {**(values or {}), **own}.get(key) is not None:
                raise ValueError(f"--demo brings its own data; leave out {option_of[key]}")
        if demo.made is not None:
            own |= {key: brought[key] for key in brought if key in taken}
            if values is not None:
                values["source"] = brought["source"]
        elif values is not None:
            values = _of_set(demo, values, own.get("context"), stack)
        return values, own
    where = own if values is None else values
    file = next((key for key in _FILE if key in where or key in taken), None)
    if values is None and file is None:
        return None, own
    needed = "a FILE and --target NAME" if "y" in taken else "a FILE"
    file = file or "source"
    if where.get(file) is None:
        alone = "" if demo is None else f", or --demo for {demo.name}"
        raise ValueError(f"give {needed}{alone}")
    if where[file] == "":
        raise ValueError("FILE: the name is empty; name a file or a store")
    if "y" in taken and where.get("target") is None:
        raise ValueError(f"target is missing: which column of {where[file]} is the target?")
    where[file] = stack.enter_context(received({"file": where[file]}))["file"]
    return values, own


def _of_set(
    demo: Demo, reading: Mapping[str, Any], context: str | None, stack: ExitStack
) -> dict[str, Any]:
    """Return the arguments of `duramen.read` for a data set that ships."""
    from duramen.datasets import dataset

    path = stack.enter_context(dataset.bundled_file(getattr(dataset, demo.constant)))
    values, own = dict(reading), dict(demo.reading)
    drop = tuple(column for column in own.pop("drop", ()) if column != context)
    drop += values.pop("drop", ())
    values = {**own, **values, "drop": drop, "source": path, "target": "y"}
    values["citation"] = getattr(dataset, f"{demo.constant}_CITATION")
    return values


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
        file = stack.enter_context(received({"file": shown["file"]}))["file"]
        stack.callback(CALLER.reset, CALLER.set(caller))
        with warnings_as_notes(output.quiet):
            pack(**{**arguments, "source": file}, path=output.out, verbose=verbose)
    print_report(reports[0], output)


def files_of(analysis: Callable[..., Any]) -> dict[str, str]:
    """Return the options that name a file with data, by the parameter."""
    hints = {**_hints(read), **_hints(analysis)}
    named = [
        name
        for name, hint in hints.items()
        if Path in get_args(hint) and name not in (*_FILE, "checkpoint")
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
    flag, positional = bool in (kind, *get_args(kind)), parameter.name in _FILE
    default = None if positional else parameter.default
    text = _help(function, parameter.name, kind)
    metavar = "NAME" if text.startswith("Column") else parameter.name.rpartition("_")[2].upper()
    if hint is Path:
        metavar = "DIR"
    elif Path in get_args(hint):
        metavar = "FILE"
    if get_origin(kind) is Literal and isinstance(default, str):
        default = _typed(default)
    names = ("FILE",) if positional else _names(parameter.name)
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
    text = f"Use {demo.name}, in place of {demo.instead}."
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


def _in_python(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of options as a function takes them: the names of choices in Python."""
    hints, made = _hints(function), dict(values)
    for key, value in values.items():
        hint = hints.get(key)
        for kind in (hint, *get_args(hint)):
            if get_origin(kind) is Literal:
                choices = {_typed(choice): choice for choice in get_args(kind)}
                made[key] = choices.get(value, value) if isinstance(value, str) else value
    return made


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
