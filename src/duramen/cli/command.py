"""Course of a command: check, find, write, show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duramen.cli.clock import Clock
from duramen.cli.console import ending_well, user_errors
from duramen.cli.output import results_folder, write_results

if TYPE_CHECKING:
    from duramen.reports import Report, Run


@dataclass(frozen=True)
class Command:
    """Command of the command line.

    Parameters
    ----------
    name : str
        Name.
    help : str
        Help, a summary first.
    options : type
        Dataclass of its options, with the group ``output``.
    run : callable
        Takes the options and does the work.
    """

    name: str
    help: str
    options: type[Any]
    run: Callable[[Any], None]

    def __call__(self, options: Any) -> None:
        """Run the command; end it well where it is stopped."""
        with ending_well(self.name, options.output.out):
            self.run(options)


@dataclass(frozen=True)
class Outcome:
    """Results of a command.

    Parameters
    ----------
    columns : mapping
        Table of results, column by column.
    run : Run
        Record.
    report : callable
        Gathers the report.
    show : callable
        Prints the results in the terminal.
    """

    columns: Mapping[str, Any]
    run: Run
    report: Callable[[], Report]
    show: Callable[[], None]


def perform(
    command: str,
    options: Any,
    check: Callable[[Any], Any],
    find: Callable[[Any, Any, Clock], Any],
    tell: Callable[[Any, Any, Any, Clock], Outcome],
) -> None:
    """Check the options, find what they ask for, write it to the folder of results, show it.

    Parameters
    ----------
    command : str
        Name of the command.
    options : dataclass
        Options.
    check : callable
        Takes the options and checks that they go together.
    find : callable
        Takes the options, what the check returned, and a clock. Its errors are those of the user.
    tell : callable
        Takes the same with the result of `find` before the clock.
    """
    clock, output = Clock(), options.output
    with ExitStack() as stack:
        with user_errors(command):
            checked = check(options)
            folder = stack.enter_context(results_folder(output.out, command))
            found = find(options, checked, clock)
        outcome = tell(options, checked, found, clock)
        write_results(
            folder, outcome.columns, outcome.run, outcome.report, clock, output.spreadsheet_safe
        )
    if not output.quiet:
        outcome.show()
