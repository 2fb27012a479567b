"""Commands made from the signatures and docstrings of analyses."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from inspect import Signature, getdoc, signature
from pathlib import Path
from typing import Any, cast, get_args

import cyclopts

from duramen.analyses.caller import CALLER, Caller
from duramen.analyses.report import AnalysisInterrupted
from duramen.analyses.select import own_parameters, selector_classes
from duramen.cli.classes import SharedOption, shared_options
from duramen.cli.cluster import connected, connected_client
from duramen.cli.command import (
    print_report,
    remove_partial,
    results_folder,
    writable,
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
    typed_choices,
    user_errors,
    warnings_as_notes,
)
from duramen.cli.demos import DEMOS, FIXED, UNUSED
from duramen.cli.ending import Clock, Stopped, obey
from duramen.cli.output import Output, Workers
from duramen.cli.parameters import (
    FILE,
    choices_of,
    first_paragraphs,
    flag,
    hints,
    in_python,
    option,
    option_names,
    option_of_hint,
    plain,
)
from duramen.cli.standard_input import received
from duramen.reading.tables import read
from duramen.reports import Report
from duramen.support.files import naming

_WRITES = (
    "Prints the results, and writes result.csv, result.parquet, run.json and report.html to the "
    "folder --out."
)
_OF_READ = ("citation", "names", "kinds", "n_jobs", "random_state")
"""Parameters of `duramen.read` without an option of their own."""
_OF_PYTHON = ("client", "verbose", "names", "kinds", "filters", "path")
"""Parameters of analyses without an option of their own; `path` is --out."""
_HEADINGS = ("Data", "Analysis", "Parameters of the selector", "Run", "Results")
_RUN = ("checkpoint", "random_state", "n_jobs")
_DATA = (  # parameters of analyses under the heading of the data
    *("recording", "layout", "key", "neurons", "neuropil", "missing", "drop", "positions"),
    *("context", "regulators", "targets", "gold"),
)
_WORKERS = tuple(signature(Workers).parameters)  # options in place of the parameter `client`
_SHOWN = {"pack": {"top": 10}}
"""Defaults of `Output` that are those of a command alone."""
_NOT_RECORDED = ("file", "n_jobs", "checkpoint", "overwrite", *_WORKERS)


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
    own.pop("parameters", None)
    shared = {one.name: one for one in passed_on(analysis)}
    reading = dict(signature(read).parameters) if with_data else {}
    without = (*_OF_READ, *FIXED.get(name, {}), *UNUSED.get(name, ()), *own)
    groups = [cyclopts.Group(title, sort_key=i) for i, title in enumerate(_HEADINGS)]
    parameters = [
        option(read, parameter, groups[0])
        for parameter in reading.values()
        if parameter.name not in without
    ]
    for parameter in own.values():
        if parameter.name in _OF_PYTHON or (name, parameter.name) == ("context", "estimator"):
            continue
        of_data = parameter.name in (*_DATA, *signature(read).parameters)
        heading = 3 if parameter.name in _RUN else int(not of_data)
        names = choices(name, parameter.name)
        parameters.append(option(analysis, parameter, groups[heading], names))
    parameters += [
        option_of_hint(one.parameter, one.hint, one.text, groups[2]) for one in shared.values()
    ]
    if name in DEMOS:  # after FILE
        parameters.insert(1, _demo(name, groups[0]))
    place, outputs = Path(f"duramen-{name}"), dict(signature(Output).parameters)
    defaults = {"out": place, **_SHOWN.get(name, {})}
    outputs |= {key: outputs[key].replace(default=value) for key, value in defaults.items()}
    if "client" in own:
        workers = signature(Workers).parameters.values()
        parameters += [option(Workers, parameter, groups[3]) for parameter in workers]
    parameters += [option(Output, parameter, groups[4]) for parameter in outputs.values()]

    def command(*files: Any, **values: Any) -> None:
        given = {key: values.pop(key) for key in outputs if key in values}
        output = Output(**{**defaults, **given})
        file = next((key for key in FILE if key in own), "source")
        values |= dict(zip((file,), files, strict=False))
        option_of.clear()
        option_of.update({key: option_names(key)[0] for key in (*reading, *own, *shared)})
        option_of.update(dict.fromkeys(FILE, "FILE"))
        given_as = "--workers" if values.get("scheduler") is None else "--scheduler"
        option_of["client"] = given_as
        typed_choices.clear()
        typed_choices.update(choices_of(hints(read), hints(analysis)))
        with ending_well(name, output.out), time_estimates(output.quiet):
            if name == "pack":
                perform_packing(analysis, values, output)
            else:
                perform(analysis, values, output)

    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    cast("Any", command).__signature__ = Signature(parameters)
    return command


def _demo(name: str, group: cyclopts.Group) -> Any:
    """Return the option ``--demo`` of a command."""
    demo = DEMOS[name]
    *first, last = ("FILE" if key in FILE else option_names(key)[0] for key in demo.instead)
    return flag("demo", f"Use {demo.name}, in place of {', '.join(first)} and {last}.", group)


def passed_on(analysis: Callable[..., Any]) -> list[SharedOption]:
    """Return the options for the parameters that `select` passes on to the class of a selector."""
    if "parameters" not in signature(analysis).parameters:
        return []
    taken = {*signature(read).parameters, *signature(analysis).parameters, *own_parameters()}
    return shared_options(selector_classes(), taken, first_paragraphs)


def choices(command: str, parameter: str) -> tuple[str, ...]:
    """Return the names that an option takes, to which plug-ins may add some; empty for others."""
    if (command, parameter) == ("select", "selector"):
        return tuple(selector_classes())
    if command != "rank":
        return ()
    from duramen.estimators.catalogue import FORESTS
    from duramen.importances import catalogue as measures
    from duramen.significance import catalogue as tests

    names = {
        "estimator": (kind.name for kind in FORESTS),
        "measure": (measure.option for measure in measures),
        "test": ("auto", "none", *(test.option for test in tests)),
    }
    return tuple(names.get(parameter, ()))


def description(analysis: Callable[..., Any]) -> str:
    """Return what the help of a command says above its options."""
    before = str(getdoc(analysis)).split("\n\nParameters\n")[0]
    return "\n\n".join([*(plain(part) for part in before.split("\n\n")), _WRITES])


def perform(analysis: Callable[..., Any], values: Mapping[str, Any], output: Output) -> None:
    """Read the data, call an analysis, write its report to the folder of results, and show it.

    `values` has the arguments of `duramen.read`, of the analysis and of `Workers` that were given.
    Where a stop ended the work, what is finished is written: after Ctrl-C to the folder of results,
    after other signals to that of `partial_folder`, so that a job that is stopped does not replace
    results of an earlier run.
    """
    name, clock, taken = analysis.__name__, Clock(), signature(analysis).parameters
    files, shown = files_of(analysis), dict(values)
    shown["file"] = next((shown.pop(key) for key in FILE if key in shown), None)
    shown["spreadsheet_safe"] = output.spreadsheet_safe or None
    tell = None if output.quiet else note
    caller = Caller(
        command_line(name, shown, files), clock, tell, tell, obey, again="the same command"
    )
    workers = Workers(**{key: values[key] for key in _WORKERS if key in values})
    stop: KeyboardInterrupt | None = None
    with ExitStack() as stack:
        with user_errors(name, output.quiet):
            output.check(name)
            workers.check()
            given = _with_data(analysis, values, stack)
            if given.get("checkpoint") is not None:
                given["checkpoint"] = writable(Path(given["checkpoint"]))
            folder = stack.enter_context(results_folder(output.out, name))
            if "client" in taken:
                jobs = given.get("n_jobs", -1)
                cluster = connected(name, workers.scheduler, workers.workers, jobs, output.quiet)
                stack.enter_context(cluster)
                given["client"] = connected_client()
            if "verbose" in taken:
                given["verbose"] = int(not output.quiet and standard_error().is_terminal)
            stack.callback(CALLER.reset, CALLER.set(caller))
            data: tuple[Any, ...] = ()
            if "data" in taken:
                of_read = signature(read).parameters.keys() - (taken.keys() - {*_OF_READ})
                reading = {key: given[key] for key in of_read if key in given}
                with clock.step("read"), warnings_as_notes(output.quiet):
                    data = (read(**in_python(read, reading)),)
            passed = [one.name for one in passed_on(analysis)]
            arguments = {key: given[key] for key in (*taken, *passed) if key in given}
            try:
                with warnings_as_notes(output.quiet):
                    report = analysis(*data, **in_python(analysis, arguments))
            except AnalysisInterrupted as interrupted:
                report, stop = interrupted.report, interrupted.stop
        paths = _paths(files, shown)
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


def perform_packing(pack: Callable[..., Any], values: Mapping[str, Any], output: Output) -> None:
    """Pack a table into the folder of results, with the report in it, and show that."""
    clock, reports, files = Clock(), list[Report](), files_of(pack)
    shown = {**values, "file": values.get("source"), "source": None}
    shown["spreadsheet_safe"] = output.spreadsheet_safe or None

    def finish(folder: Path, report: Report) -> None:
        with naming(output.out, folder):
            reports.append(write_results(folder, report, clock, output, _paths(files, shown)))

    tell = None if output.quiet else note
    caller = Caller(
        command_line("pack", shown, files),
        clock,
        tell,
        tell,
        finish=finish,
        again="the same command",
    )
    verbose = int(not output.quiet and standard_error().is_terminal)
    with ExitStack() as stack, user_errors("pack", output.quiet):
        output.check("pack")
        given = _with_data(pack, values, stack)
        stack.callback(CALLER.reset, CALLER.set(caller))
        with warnings_as_notes(output.quiet):
            pack(**in_python(pack, given), path=output.out, verbose=verbose)
    print_report(reports[0], output)


def _with_data(
    analysis: Callable[..., Any], values: Mapping[str, Any], stack: ExitStack
) -> dict[str, Any]:
    """Return the arguments of `duramen.read` and of an analysis, with a file or a demo as data.

    Raises
    ------
    ValueError
        If the user named no table or target, or one beside the demo.
    """
    name, taken = analysis.__name__, signature(analysis).parameters
    given, demo = {**FIXED.get(name, {}), **values}, DEMOS.get(name)
    if given.pop("demo", False) and demo is not None:
        beside = [key for key in demo.instead if given.get(key) is not None]
        if beside:
            left = " and ".join("FILE" if key in FILE else option_names(key)[0] for key in beside)
            raise ValueError(f"--demo brings its own data; leave out {left}")
        brought, contexts = demo.data(stack), given.get("context") or ()
        contexts = (contexts,) if isinstance(contexts, str) else contexts
        drop = tuple(column for column in brought.pop("drop", ()) if column not in contexts)
        if name == "select" and given.get("selector") is not None:
            brought.pop("n_estimators")  # of the default selector
        if given.get("network"):  # of which each column is a target
            brought.pop("target", None)
        given = {**brought, **given}
        return {**given, "drop": (*drop, *given.get("drop", ()))} if drop else given
    file = next((key for key in FILE if key in taken), "source" if "data" in taken else None)
    if file is None:
        return given
    needed = "a FILE and --target NAME" if "y" in taken and not given.get("network") else "a FILE"
    if given.get(file) is None:
        alone = "" if demo is None else f", or --demo for {demo.name}"
        raise ValueError(f"give {needed}{alone}")
    if given[file] == "":
        raise ValueError("FILE: the name is empty; name a file or a store")
    if "target" in needed and given.get("target") is None:
        raise ValueError(f"target is missing: which column of {given[file]} is the target?")
    given[file] = stack.enter_context(received({"file": given[file]}))["file"]
    return given


def files_of(analysis: Callable[..., Any]) -> dict[str, str]:
    """Return the options that name a file with data, by the parameter."""
    shared = {one.name: one.hint for one in passed_on(analysis)}
    named = [
        name
        for name, hint in {**hints(read), **hints(analysis), **shared}.items()
        if Path in get_args(hint) and name not in (*FILE, "checkpoint")
    ]
    return {"file": "file", **{name: option_names(name)[0] for name in named}}


def _paths(files: Mapping[str, str], shown: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that options name, as they were given, by the option."""
    return {
        word: str(shown[key])
        for key, word in files.items()
        if shown.get(key) is not None and (key == "file" or Path(shown[key]).is_file())
    }


def command_line(name: str, arguments: Mapping[str, Any], files: Collection[str]) -> str:
    """Return the command line that does the same again, files by their name alone."""
    words = ["duramen", name]
    if (file := arguments.get("file")) is not None:
        words.append(file if "://" in str(file) else Path(file).name)
    for parameter, value in arguments.items():
        if parameter in _NOT_RECORDED or value is None:
            continue
        for one in value if isinstance(value, tuple) else (value,):
            word = option_names(parameter)[0]
            shown = Path(one).name if parameter in files else str(one)
            if one is False:
                words.append(f"--no-{word.removeprefix('--')}")
            else:
                words += [word] if one is True else [word, shown]
    return shlex.join(words)
