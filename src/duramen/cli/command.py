"""Course of a command: check, find, write, show."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from duramen.cli.console import notes, partial_folder, user_errors
from duramen.cli.ending import Clock, Stopped
from duramen.cli.options import Output
from duramen.cli.output import remove_partial, results_folder, write_results

if TYPE_CHECKING:
    from duramen.reports import Report


def perform(
    command: str,
    options: Any,
    check: Callable[[Any], Any],
    compute: Callable[[Any, Any, Clock], Any],
    report_of: Callable[[Any, Any, Any, Clock], Report],
) -> None:
    """Check the options, compute what they ask for, write the report to the folder, show it.

    `check` sees that the options go together; `compute` takes them, what the check returned, and a
    clock, and its errors are those of the user; `report_of` takes the same with the result of
    `compute` before the clock.

    Where a stop ended the work, the attribute ``stop`` of the result, what is finished is written:
    after Ctrl-C to the folder of results, after SIGTERM and SIGHUP to that of `partial_folder`, so
    that a job that is stopped does not replace results of an earlier run. A later run that ends by
    itself removes that folder.
    """
    clock, output = Clock(), options.output
    with ExitStack() as stack:
        with user_errors(command, output.quiet):
            output.check(command)
            checked = check(options)
            folder = stack.enter_context(results_folder(output.out, command))
            result = compute(options, checked, clock)
        report, stop = report_of(options, checked, result, clock), getattr(result, "stop", None)
        if isinstance(stop, Stopped):
            with results_folder(partial_folder(output.out), command) as partial:
                write_results(partial, report, clock, options)
            raise stop
        write_results(folder, report, clock, options)
    if stop is None and remove_partial(output.out, command):
        left = partial_folder(output.out).name
        notes([f"{left}, results of an earlier run that was stopped, was removed"], output.quiet)
    print_report(report, output)
    if stop is not None:
        raise stop


def print_report(report: Report, output: Output) -> None:
    """Print a report unless quiet."""
    if not output.quiet:
        from duramen.cli.show import show  # imports that take long

        show(report, output.top, output.out)
