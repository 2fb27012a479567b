"""Files that a stopped command may leave, and their treatment by the next command."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.faults.commands import (
    KEPT,
    OUT,
    RESULTS,
    Ended,
    Tree,
    below,
    differences,
    overwriting,
    run_command,
    tree,
    words_of,
)

# Beginnings of the message where a signal came, or memory ran out, before the command began or
# after its end.
_EARLY = ("duramen: interrupted", "duramen: stopped by SIG", "duramen: out of memory")
# Commands that write what is finished where a stop ends them, and their exit codes then.
_FINISHING, _STOPPED = ("rank", "select", "compare"), (130, 143, 129, 152)
PARTIAL = f"{OUT}.partial"
# What the next run may find and goes on from: a checkpoint.
_GOES_ON = (KEPT,)


def after_stop(
    command: str,
    before: Tree,
    folder: Path,
    wanted: Tree,
    ended: Ended,
    *,
    killed: bool,
    failing: bool = False,
    names: tuple[str, ...] = (),
) -> str | None:
    """Tell what is wrong with the end of a command that was stopped, and with what it left.

    Parameters
    ----------
    command : str
    before, wanted : dict
        The folder as it was, and as a command that nothing stops leaves it.
    folder : Path
    ended : Ended
    killed : bool
        Whether the process could not clean up, so that hidden files may be left.
    failing : bool
        Whether cleaning up may have failed, too, or have been stopped.
    names : tuple of str
        One of them has to be in the message.
    """
    if not killed and (fault := ended.fault()) is not None:
        return fault
    result = tree(folder)
    there, all_there = below(result, OUT) or {}, below(wanted, OUT) or {}
    whole = there == all_there
    results = all(there.get(name) == all_there[name] for name in RESULTS)
    if ended.code == 0 and not whole and not failing:
        return f"wrong: success without all results: {differences(result, wanted)}"
    if command in _FINISHING and ended.code in _STOPPED and "results " in ended.lines()[-1]:
        so_far = "results so far are in" in ended.lines()[-1]
        partial = set(RESULTS) <= set(below(result, PARTIAL) or {} if so_far else there)
        if not partial:
            return "wrong: results are not there, and it is said that they are"
        if not so_far or there == (below(before, OUT) or {}):
            return None
        return "wrong: a signal has replaced results"
    if not killed and ended.code:
        early = any(line.startswith(_EARLY) for line in ended.lines()) and len(ended.lines()) == 1
        if not early and (fault := ended.complaint(command, *names)):
            return fault
        last = ended.lines()[-1]
        if "nothing was written" in last and whole and below(before, OUT) != below(wanted, OUT):
            return f"wrong: results are there, and it is said: {last}"
        if "results are in" in last and not results:
            return f"wrong: results are not there, and it is said: {last}"
    if not (whole or below(result, OUT) == below(before, OUT)):
        torn = _torn(before, result, wanted)
        return torn if killed or failing else torn or f"leftovers: {differences(result, before)}"
    if killed or failing:
        return None
    visible = {key for key in result if not key.startswith(OUT)} - set(before)
    left = {key for key in visible if not key.startswith(_GOES_ON)}
    return f"leftovers: {sorted(left)}" if left else None


def _torn(before: Tree, actual: Tree, wanted: Tree) -> str | None:
    """Tell whether a kill left a mixture: allowed is nothing, with the old folder beside it."""
    old = [key for key in actual if re.fullmatch(rf"\.{OUT}\.[0-9a-f]{{8}}\.old", key)]
    results, there = below(wanted, OUT) or {}, below(actual, OUT)
    if len(old) != 1:
        return f"wrong: a mixture of results: {differences(actual, before)}"
    if there is not None and any(there.get(name) != results[name] for name in RESULTS):
        return f"wrong: a mixture of results: {differences(actual, before)}"
    beside = below(actual, old[0]) or {}
    if there is None:
        lost = differences(beside, below(before, OUT) or {})
    else:  # other files come along one by one
        merged = {**beside, **there}
        others = {
            key: result for key, result in (below(before, OUT) or {}).items() if key not in results
        }
        others |= {key: result for key, result in results.items() if key not in RESULTS}
        lost = differences({key: result for key, result in merged.items() if key in others}, others)
    return f"wrong: lost {lost}" if lost else None


def after_next_run(
    command: str,
    folder: Path,
    prior: bool,
    wanted: Tree,
    inside: Callable[[], object] | None = None,
) -> str | None:
    """Run the command again and tell what is wrong with the folder."""
    again = prior or (folder / OUT / "header.json").exists()
    done = run_command(words_of(command, *overwriting(command, again)), folder, inside=inside)
    if fault := done.fault():
        return f"{fault} (next run)"
    if done.code:
        return f"wrong: the next run fails: {done.stderr[-400:]}"
    result = tree(folder)
    more = {key for key in result if key not in wanted}
    if more:
        return f"leftovers: after the next run: {sorted(more)}"
    if result != wanted:
        return f"wrong: the next run left another result: {differences(result, wanted)}"
    return None
