"""Checkpoints of other data, settings, seeds, versions and commands, and of content made up.

They are refused, or not used; in no case do they enter the results of a run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.faults.batches import REFUSED
from tests.faults.commands import (
    COMMANDS,
    KEPT,
    OUT,
    TABLE,
    below,
    counted,
    differences,
    prepare,
    run_command,
    tree,
    uninterrupted,
    words_of,
)
from tests.faults.files.crafted_forests import alter_array

from duramen.results.archive import read_archive, write_archive

RESUMED = ("rank", "select", "context", "network", "connectome", "compare")
OTHERS = ("data", "columns", "seed", "version", "settings", "command", "content")
# An option that changes results, by the command.
SETTINGS = {
    "rank": ["--trees", "9"],
    "select": ["--n-subspace-features", "5"],
    "context": ["--trees", "9"],
    "network": ["--trees", "9"],
    "connectome": ["--method", "partial-correlation"],
    "compare": ["--trees", "9"],
}


@counted
def attempt(number: int, folder: Path) -> str:
    """Run a command that differs in one thing, and then the command with its checkpoint."""
    random = np.random.default_rng(number)
    command = RESUMED[number % len(RESUMED)]
    other = OTHERS[number // len(RESUMED) % len(OTHERS)]
    wanted = below(uninterrupted(command, False).left, OUT)
    prepare(folder, command, False)
    inside = _other_version if other == "version" else None
    first = _words(_next(command) if other == "command" else command)
    more = SETTINGS[command] if other == "settings" else ["--seed", "7"] if other == "seed" else []
    if other == "settings":
        first = [word for word in first if word not in ("--method", "pearson")]
    table = (folder / TABLE).read_text()
    if other in ("data", "columns"):
        (folder / TABLE).write_text(_changed(table, other, random))
    made = run_command([*first, *more, "--out", "first"], folder, inside=inside)
    if made.code or not (folder / KEPT).exists():
        return f"wrong: the first run failed: {made.stderr[-300:]} [{command}, {other}]"
    (folder / TABLE).write_text(table)
    if other == "content":
        _alter(folder / KEPT, random)
    before = (folder / KEPT).read_bytes()
    done = run_command([*_words(command), "--out", OUT], folder)
    if other == "content" and done.code >= 0:
        return REFUSED if done.code else "finished"  # who makes a digest fit may have any result
    fault = done.fault()
    if fault is None and other == "version" and not done.code:
        fault = "wrong: the checkpoint of another version is used"
    elif fault is None and done.code:
        fault = done.complaint(command, KEPT, "checkpoint")
        if (folder / OUT).exists() or (folder / KEPT).read_bytes() != before:
            fault = "wrong: a command that is refused has changed files"
    elif fault is None and below(tree(folder), OUT) != wanted:
        fault = f"wrong: other results: {differences(below(tree(folder), OUT) or {}, wanted or {})}"
    return f"{fault} [{command}, {other}]" if fault else REFUSED if done.code else "finished"


def _words(command: str) -> list[str]:
    """Return the words of a command with a checkpoint, without its folder."""
    own = [] if "--checkpoint" in COMMANDS[command] else ["--checkpoint", KEPT]
    return [*words_of(command)[:-2], *own]


def _next(command: str) -> str:
    return RESUMED[(RESUMED.index(command) + 1) % len(RESUMED)]


def _other_version() -> None:
    """Have the package be of another version, in a child."""
    import duramen
    from duramen.support import provenance

    usual: Callable[[str], str | None] = provenance._version

    @functools.cache
    def version(name: str) -> str | None:
        return "0.0.1" if name == "duramen" else usual(name)

    provenance._version = version
    duramen.__version__ = "0.0.1"


def _changed(table: str, what: str, random: np.random.Generator) -> str:
    """Return a table with another number in a row, or another name of a column."""
    if what == "columns":
        return table.replace('"x0"', '"z0"', 1)
    lines = table.splitlines()
    row = int(random.integers(1, len(lines)))
    fields = lines[row].split(",")
    fields[int(random.integers(3))] = "0.125"
    lines[row] = ",".join(fields)
    return "\n".join([*lines, ""])


def _alter(path: Path, random: np.random.Generator) -> None:
    """Alter an array under a digest that fits."""
    header, arrays = read_archive(path, what=None, newest=9, function="attempt")
    alter_array(arrays, random)
    write_archive(path, header, arrays)
