"""Course of a command: check, find, write, show."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from duramen.cli.clock import Clock
from duramen.cli.console import notes, partial_folder, user_errors
from duramen.cli.ending import Stopped
from duramen.cli.output import Outcome, remove_partial, results_folder, write_results


def perform(
    command: str,
    options: Any,
    check: Callable[[Any], Any],
    find: Callable[[Any, Any, Clock], Any],
    tell: Callable[[Any, Any, Any, Clock], Outcome],
) -> None:
    """Check the options, find what they ask for, write it to the folder of results, show it.

    `check` sees that the options go together; `find` takes them, what the check returned, and a
    clock, and its errors are those of the user; `tell` takes the same with the result of `find`
    before the clock.

    Where a stop ended the work, what is finished is written: after Ctrl-C to the folder of results,
    after SIGTERM and SIGHUP to that of `partial_folder`, so that a job that is stopped does not
    replace results of an earlier run. A later run that ends by itself removes that folder.
    """
    clock, output = Clock(), options.output
    with ExitStack() as stack:
        with user_errors(command, output.quiet):
            output.check(command)
            checked = check(options)
            folder = stack.enter_context(results_folder(output.out, command))
            found = find(options, checked, clock)
        outcome = tell(options, checked, found, clock)
        if isinstance(outcome.stop, Stopped):
            with results_folder(partial_folder(output.out), command) as partial:
                write_results(partial, outcome, clock, options)
            raise outcome.stop
        write_results(folder, outcome, clock, options)
    if outcome.stop is None and remove_partial(output.out, command):
        left = partial_folder(output.out).name
        notes([f"{left}, results of an earlier run that was stopped, was removed"], output.quiet)
    if outcome.show is not None and not output.quiet:
        outcome.show()
    if outcome.stop is not None:
        raise outcome.stop
