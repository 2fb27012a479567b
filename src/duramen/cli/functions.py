"""Commands made from the signatures and docstrings of analyses."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast, get_args

import cyclopts

from duramen.analyses.execution import CALLER, AnalysisInterrupted, Execution
from duramen.cli.command import (
    Output,
    connected,
    print_report,
    results_folder,
    writable,
    write_results,
)
from duramen.cli.console import (
    ending_well,
    note,
    option_of,
    partial_folder,
    standard_error,
    time_estimates,
    typed_choices,
    unseen,
    user_errors,
    warnings_as_notes,
)
from duramen.cli.ending import Stopped, obey, raise_lost_stop
from duramen.cli.parameters import (
    FILE,
    INSTALLED,
    STANDARD_INPUT,
    Described,
    in_python,
    option,
    option_names,
    parameters_of,
    parameters_of_classes,
    parsed_type,
    plain,
    shown_name,
)
from duramen.cli.parameters import typed_choices as typed_choices_of
from duramen.io import formats
from duramen.reading.tables import read
from duramen.reports import Report
from duramen.support.files import naming

# --- sources of the data: a file, standard input, or the data set of --demo -----------------------

_BLOCK = 1 << 20


_LEUKEMIA = "the leukemia set that ships with duramen"
_TUMOR = "the primary tumor set that ships with duramen"
_TABLE = ("source", "target")
DEMOS = {
    **dict.fromkeys(("rank", "select", "compare"), (_LEUKEMIA, _TABLE)),
    **dict.fromkeys(("context", "exact"), (_TUMOR, _TABLE)),
    "network": ("a simulated network of 50 genes", ("source", "gold")),
    "connectome": ("a simulated culture of 40 neurons", ("recording", "positions", "gold")),
}
"""Data set of ``--demo``, and the parameters that must not be given beside it, by command."""


def _demo_data(name: str, stack: ExitStack) -> dict[str, Any]:
    """Return arguments of `duramen.read` and of an analysis for the data set of ``--demo``."""
    from duramen import datasets
    from duramen.datasets import dataset
    from duramen.support.arrow import pa

    if name == "network":
        made = datasets.gene_network(n_samples=100, n_genes=50, random_state=0)
        columns = dict(zip(made.names, made.expression.T, strict=True))
        return {"source": pa.table(columns), "gold": made.links}
    if name == "connectome":
        wiring = datasets.culture_wiring(40, n_links=160, random_state=0)
        culture = datasets.calcium_culture(10_000, wiring=wiring, strength=20.0, random_state=0)
        return {"recording": culture, "positions": culture.positions, "gold": culture.links}
    file = "PRIMARY_TUMOR" if DEMOS[name][0] == _TUMOR else "LEUKEMIA"
    path = stack.enter_context(dataset.bundled_file(getattr(dataset, file)))
    citation = getattr(dataset, f"{file}_CITATION")
    data: dict[str, Any] = {"source": path, "target": "y", "citation": citation}
    more: dict[str, dict[str, Any]] = {
        "context": {"missing": "drop", "context": "sex"},
        "exact": {"missing": "drop", "drop": ("sex",)},  # which the papers leave out of this set
    }
    return {**data, **more.get(name, {})}


FIXED: dict[str, dict[str, Any]] = {"exact": {"keep_identifiers": True}}
"""Arguments of `duramen.read` that a command does not leave to the user."""
_OF_SURVIVAL = ("event", "event_of_interest", "entry")
_OF_TARGET = (
    *("target", "task", *_OF_SURVIVAL, "strata", "groups", "covariates", "sample_weight"),
    *("drop_missing_target", "positive"),
    *("samples", "samples_id", "samples_match", "samples_features"),
)
UNUSED = {
    "select": (*_OF_SURVIVAL, "sample_weight", "positive"),
    "compare": ("strata", "covariates", *_OF_SURVIVAL, "sample_weight", "positive"),
    "context": (*_OF_SURVIVAL, "positive", "sample_weight"),
    "network": _OF_TARGET,
    "exact": ("strata", "groups", "covariates", *_OF_SURVIVAL, "max_rows", "positive"),
}
"""Parameters of `duramen.read` that have no effect on an analysis."""


def with_data(
    name: str, taken: Mapping[str, Any], values: Mapping[str, Any], stack: ExitStack
) -> dict[str, Any]:
    """Return the arguments of `duramen.read` and of an analysis, with a file or a demo as data.

    `taken` has the parameters of the analysis.

    Raises
    ------
    ValueError
        If the user named no table or target, or one beside the demo.
    """
    arguments = {**FIXED.get(name, {}), **values}
    if arguments.pop("demo", False):
        beside = [shown_name(key) for key in DEMOS[name][1] if arguments.get(key) is not None]
        if beside:
            raise ValueError(f"--demo brings its own data; leave out {' and '.join(beside)}")
        data = _demo_data(name, stack)
        drop = (*data.pop("drop", ()), *arguments.pop("drop", ()))
        return {**data, **arguments, **({"drop": drop} if drop else {})}
    file = next((key for key in FILE if key in taken), "source" if "data" in taken else None)
    if file is None:
        return arguments
    targeted = "y" in taken
    source = arguments.get(file)
    if source is None:
        alone = f", or --demo for {DEMOS[name][0]}" if name in DEMOS else ""
        raise ValueError(f"give a FILE{' and --target NAME' if targeted else ''}{alone}")
    if source == "":
        raise ValueError("FILE: the name is empty; name a file or a store")
    if targeted and arguments.get("target") is None:
        raise ValueError(f"target is missing: which column of {source} is the target?")
    return {**arguments, file: _received(stack) if str(source) == STANDARD_INPUT else source}


def _received(stack: ExitStack) -> str:
    """Copy standard input to a file, which is removed with the stack.

    The ending of its name is that of the format which the first bytes tell.
    """
    stream = sys.stdin.buffer
    head = stream.read(_BLOCK)
    if not head:
        raise ValueError("FILE is -, standard input, and nothing came from there")
    folder = stack.enter_context(TemporaryDirectory(prefix="duramen-"))
    path = Path(folder) / f"standard-input{formats.suffix_of(head)}"
    with open(path, "wb") as copy:
        while head:
            copy.write(head)
            head = stream.read(_BLOCK)
    unseen.add(f"{folder}{os.sep}")
    return str(path)


# --- commands -------------------------------------------------------------------------------------

_OF_READ = ("citation", "names", "kinds", "n_jobs", "random_state")
"""Parameters of `duramen.read` without an option of their own."""
_OF_PYTHON = ("client", "verbose", "names", "kinds", "path")
"""Parameters of analyses without an option of their own; `path` is --out."""
_HEADINGS = ("Data", "Analysis", "Parameters of the selector", "Run", "Results")
_RUN = ("checkpoint", "random_state", "n_jobs")
_DATA = (  # parameters of analyses under the heading of the data
    *("recording", "layout", "key", "neurons", "neuropil", "missing", "drop", "positions"),
    *("context", "regulators", "targets", "genes_match", "gold"),
)
_NOT_RECORDED = (*FILE, "n_jobs", "checkpoint", "overwrite")


def command_of(analysis: Callable[..., Any]) -> Callable[..., None]:
    """Return the function of a command that calls an analysis and writes its report.

    Each parameter of the analysis is an option of its name, with its annotation, default and
    description, and so is each of :func:`duramen.read` if the analysis takes data;
    :class:`Output` has the options that only commands have.
    """
    name, taken = analysis.__name__, parameters_of(analysis)
    reading = parameters_of(read) if "data" in taken else {}
    shared, outputs = passed_on(analysis), parameters_of(Output)
    without = (*_OF_READ, *FIXED.get(name, {}), *UNUSED.get(name, ()), *taken)
    entries = {key: (described, 0) for key, described in reading.items() if key not in without}
    for key, described in taken.items():
        typed = parsed_type(described[0].annotation) is not None or choices(name, key)
        if key in FILE or (typed and key not in ("data", "y", *_OF_PYTHON)):
            of_data = key in (*_DATA, *signature(read).parameters)
            entries[key] = described, 3 if key in _RUN else int(not of_data)
    if "source" in entries:
        (parameter, text), heading = entries["source"]
        uses = ("read", "groups", *(["columns"] if reading else []))
        text = f"{text.partition(';')[0]}. Formats: {formats.listed(*uses)}."
        entries["source"] = (parameter, text), heading
    if name in DEMOS:  # after FILE
        title, instead = DEMOS[name]
        *first, last = map(shown_name, instead)
        text = f"Use {title}. Leave out {', '.join(first)} and {last}."
        demo = Parameter("demo", Parameter.KEYWORD_ONLY, default=False, annotation=bool)
        file = next(iter(entries))
        entries = {file: entries[file], "demo": ((demo, text), 0), **entries}
    entries |= {key: (described, 2) for key, described in shared.items()}
    out, text = outputs["out"]
    outputs["out"] = out.replace(default=Path(f"duramen-{name}")), text
    if "client" not in taken:
        del outputs["scheduler"]
    for key in sorted(outputs, key="scheduler".__ne__):
        entries[key] = outputs[key], 3 if key == "scheduler" else 4
    groups = [cyclopts.Group(title, sort_key=i) for i, title in enumerate(_HEADINGS)]
    parameters = [
        option(described, groups[heading], choices(name, key))
        for key, (described, heading) in entries.items()
    ]

    def command(*files: Any, **values: Any) -> None:
        out = values.pop("out", Path(f"duramen-{name}"))
        output = Output(out=out, **{key: values.pop(key) for key in outputs if key in values})
        file = next((key for key in FILE if key in taken), "source")
        values |= dict(zip((file,), files, strict=False))
        option_of.clear()
        option_of.update({key: shown_name(key) for key in (*reading, *taken, *shared, *FILE)})
        option_of["client"] = "--scheduler"
        typed_choices.clear()
        typed_choices.update(typed_choices_of(read, analysis))
        with ending_well(name, output.out), time_estimates(output.quiet):
            perform(analysis, values, output)

    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    cast("Any", command).__signature__ = Signature(parameters)
    return command


def passed_on(analysis: Callable[..., Any]) -> dict[str, Described]:
    """Return the parameters that `select` passes on to the class of a selector."""
    taken = signature(analysis).parameters
    if "parameters" not in taken:
        return {}
    from duramen.analyses.select import selector_classes, variant_parameters

    without = {*signature(read).parameters, *taken, *variant_parameters()}
    return parameters_of_classes(selector_classes(), without)


def choices(command: str, parameter: str) -> tuple[str, ...]:
    """Return the names that an option takes, to which plug-ins may add some; empty for others."""
    if (command, parameter) == ("select", "selector"):
        from duramen.analyses.select import selector_classes

        return tuple(selector_classes())
    if command != "rank":
        return ()
    from duramen.estimators.catalogue import FORESTS
    from duramen.importances import catalogue as measures
    from duramen.significance import catalogue as tests

    names = {
        "estimator": (*(kind.name for kind in FORESTS), INSTALLED),
        "measure": (measure.option for measure in measures),
        "test": ("auto", "none", *(test.option for test in tests)),
    }
    return tuple(names.get(parameter, ()))


def description(analysis: Callable[..., Any]) -> str:
    """Return the paragraphs of the help of a command above its options."""
    before = str(getdoc(analysis)).split("\n\nParameters\n")[0]
    return "\n\n".join(plain(part) for part in before.split("\n\n"))


def perform(analysis: Callable[..., Any], values: Mapping[str, Any], output: Output) -> None:
    """Read the data, call an analysis, write its report to the folder of results, and show it.

    `values` has the arguments of `duramen.read` and of the analysis that the user typed. Where a
    stop ended the work, what is finished is written: after Ctrl-C to the folder of results, after
    other signals to that of `partial_folder`, so that a job that is stopped does not replace
    results of an earlier run. `pack` makes the folder itself, with the report in it.
    """
    name, taken = analysis.__name__, signature(analysis).parameters
    files = files_of(analysis)
    typed = {**values, "spreadsheet_safe": output.spreadsheet_safe or None}
    paths = {
        word: str(typed[key])
        for key, word in files.items()
        if typed.get(key) is not None and (key in FILE or Path(typed[key]).is_file())
    }
    packed = list[Report]()

    def finish(folder: Path, report: Report) -> None:
        with naming(output.out, folder):
            packed.append(write_results(folder, report, caller, output, paths))

    tell = None if output.quiet else note
    line = command_line(name, typed, files)
    caller = Execution(
        line, tell, tell, obey, finish, before_step=raise_lost_stop, again="the same command"
    )
    stop: KeyboardInterrupt | None = None
    with ExitStack() as stack:
        with user_errors(name, output.quiet):
            output.check(name)
            arguments = with_data(name, taken, values, stack)
            if arguments.get("checkpoint") is not None:
                arguments["checkpoint"] = writable(Path(arguments["checkpoint"]))
            if "path" in taken:
                arguments["path"] = output.out
            else:
                folder = stack.enter_context(results_folder(output.out, name))
            if "client" in taken:
                cluster = connected(name, output.scheduler, output.quiet)
                arguments["client"] = stack.enter_context(cluster)
            if "verbose" in taken:
                arguments["verbose"] = int(not output.quiet and standard_error().is_terminal)
            stack.callback(CALLER.reset, CALLER.set(caller))
            data: tuple[Any, ...] = ()
            if "data" in taken:
                of_read = signature(read).parameters.keys() - (taken.keys() - {*_OF_READ})
                reading = {key: arguments[key] for key in of_read if key in arguments}
                with caller.step("read"), warnings_as_notes(output.quiet):
                    data = (read(**in_python(read, reading)),)
            of_analysis = (*taken, *passed_on(analysis))
            arguments = {key: arguments[key] for key in of_analysis if key in arguments}
            try:
                with warnings_as_notes(output.quiet):
                    report = analysis(*data, **in_python(analysis, arguments))
            except AnalysisInterrupted as interrupted:
                report, stop = interrupted.report, interrupted.stop
        if isinstance(stop, Stopped):
            with results_folder(partial_folder(output.out), name) as partial:
                write_results(partial, report, caller, output, paths)
            raise stop
        report = packed[0] if packed else write_results(folder, report, caller, output, paths)
    print_report(report, output)
    if stop is not None:
        raise stop


def files_of(analysis: Callable[..., Any]) -> dict[str, str]:
    """Return the options that name a file with data, by the parameter."""
    every = {**parameters_of(read), **parameters_of(analysis), **passed_on(analysis)}
    named = [
        name
        for name, (parameter, _) in every.items()
        if Path in get_args(parameter.annotation) and name not in (*FILE, "checkpoint")
    ]
    return {**dict.fromkeys(FILE, "file"), **{name: option_names(name)[0] for name in named}}


def command_line(name: str, arguments: Mapping[str, Any], files: Collection[str]) -> str:
    """Return the command line that repeats an analysis, with files by their name alone."""
    words = ["duramen", name]
    for file in (arguments[key] for key in FILE if arguments.get(key) is not None):
        words.append(file if "://" in str(file) else Path(file).name)
    for parameter, value in arguments.items():
        if parameter in _NOT_RECORDED or value is None:
            continue
        word = option_names(parameter)[0]
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, bool):
                words.append(word if one else f"--no-{word.removeprefix('--')}")
            else:
                words += [word, Path(one).name if parameter in files else str(one)]
    return shlex.join(words)
