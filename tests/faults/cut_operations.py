"""Commands stopped, or refused by the system, right before an operation on files."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from tests.faults.aftermath import after_next_run, after_stop
from tests.faults.commands import (
    COMMANDS,
    counted,
    overwriting,
    prepare,
    run_command,
    tree,
    uninterrupted,
)
from tests.faults.commands import words_of as words
from tests.faults.operations import Cut

SIGNALS = ("SIGTERM", "SIGHUP", "SIGXCPU", "SIGINT", "SIGKILL", "twice")
ERRORS = ("EIO", "ENOSPC", "EACCES")


@functools.cache
def cuts(command: str) -> list[tuple[bool, Cut]]:
    """Return all cuts there are of a command, in an order of their own."""
    results = [
        (prior, Cut(at, how))
        for prior in (False, True)
        for at in range(uninterrupted(command, prior).operations)
        for how in (*SIGNALS, *ERRORS)
    ]
    order = np.random.default_rng(0).permutation(len(results))
    return [results[place] for place in order]


@counted
def attempt(number: int, folder: Path) -> str:
    """Cut a command short, look at what is left, and run it again."""
    command = list(COMMANDS)[number % len(COMMANDS)]
    all_cuts = cuts(command)
    prior, cut = all_cuts[number // len(COMMANDS) % len(all_cuts)]
    prepare(folder, command, prior)
    before, wanted = tree(folder), uninterrupted(command, prior).left
    ended = run_command(
        words(command, *overwriting(command, prior)), folder, inside=cut.inside(folder)
    )
    fault = after_stop(
        command, before, folder, wanted, ended, killed=cut.kills, failing=cut.is_error
    )
    fault = fault or after_next_run(command, folder, prior, wanted)
    if fault is not None:
        return f"{fault} [{command}, prior {prior}, {cut.how} at {cut.at}]"
    if cut.kills:
        return "killed"
    return "finished" if not ended.code else "refused" if cut.is_error else "stopped"
