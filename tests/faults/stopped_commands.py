"""Commands that get a signal at a random moment."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
from tests.faults.aftermath import after_next_run, after_stop
from tests.faults.commands import (
    COMMANDS,
    STOPS,
    counted,
    overwriting,
    prepare,
    run_command,
    tree,
    uninterrupted,
)
from tests.faults.commands import words_of as words

SIGNALS = (*STOPS, signal.SIGINT, signal.SIGKILL)


@counted
def attempt(number: int, folder: Path) -> str:
    """Send a signal to a command, look at what is left, and run the command again."""
    random = np.random.default_rng(number)
    command = list(COMMANDS)[number % len(COMMANDS)]
    prior, sent = bool(random.integers(2)), SIGNALS[int(random.integers(len(SIGNALS)))]
    wanted, seconds = uninterrupted(command, prior).left, uninterrupted(command, prior).seconds
    delay = 0.002 + float(random.random()) * seconds
    signals = [(delay, sent)]
    if sent != signal.SIGKILL and random.random() < 0.25:  # an impatient user
        signals.append((delay + float(random.random()) * 0.02, sent))
    prepare(folder, command, prior)
    before = tree(folder)
    ended = run_command(
        words(command, *overwriting(command, prior)), folder, signals=tuple(signals)
    )
    killed = sent == signal.SIGKILL
    fault = after_stop(
        command, before, folder, wanted, ended, killed=killed, failing=len(signals) > 1
    )
    fault = fault or after_next_run(command, folder, prior, wanted)
    if fault is not None:
        return f"{fault} [{command}, prior {prior}, {sent.name} after {delay:.3f} s]"
    return "finished" if not ended.code else "killed" if killed else "stopped"
