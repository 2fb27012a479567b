"""Places for results and checkpoints that cannot be written, which is found before any work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.faults import places
from tests.faults.commands import (
    COMMANDS,
    KEPT,
    OUT,
    TABLE,
    counted,
    differences,
    overwriting,
    prepare,
    run_command,
    tree,
    uninterrupted,
)


@counted
def attempt(number: int, folder: Path) -> str:
    """Name a place that cannot be written; nothing is read, and nothing changes."""
    result = cases()
    command, name = result[number % len(result)]
    uninterrupted(command, False)  # once, not in a child
    try:
        if name.startswith("read-only"):
            outcome = places.on_disk(folder, lambda disk: _on_disk(command, name, folder, disk))
        else:
            places.check_ordinary()
            outcome = _refused(command, name, folder)
    except places.UnavailableError as why:
        return f"skipped: {why}"
    return outcome if outcome == "refused" else f"{outcome} [{command}, {name}]"


def cases() -> list[tuple[str, str]]:
    """Return all pairs of a command and what is wrong with a place."""
    return [
        (command, name)
        for command, words in COMMANDS.items()
        for name in PLACES
        if "checkpoint" not in name or "--checkpoint" in words
    ]


def _locked(folder: Path) -> None:
    (folder / "locked").mkdir(mode=0o555)


def _locked_out(folder: Path) -> None:
    (folder / OUT).mkdir(mode=0o555)


def _locked_store(folder: Path) -> None:
    """Move the older results of a command below a folder without permission."""
    (folder / "locked").mkdir()
    (folder / OUT).rename(folder / "locked" / OUT)
    (folder / "locked").chmod(0o555)


def _nothing(_: Path) -> None:
    """Leave the folder as it is."""


@dataclass(frozen=True)
class Place:
    """Places of the results and of the checkpoint, one of which cannot be written.

    Attributes
    ----------
    named : str
        What the message names.
    out, checkpoint : str
    make : callable
        Makes what is in the way.
    prior : bool
        Whether there are older results.
    """

    named: str
    out: str = OUT
    checkpoint: str = KEPT
    make: Callable[[Path], object] = _nothing
    prior: bool = False


PLACES = {
    "out below a folder without permission": Place("locked", "locked/out", make=_locked),
    "out without permission": Place(OUT, make=_locked_out),
    "older results below a folder without permission": Place(
        "locked", f"locked/{OUT}", make=_locked_store, prior=True
    ),
    "out is a file": Place(OUT, make=lambda folder: (folder / OUT).write_text("mine")),
    "out below a folder that is not there": Place("no/where", "no/where/out"),
    "out below a file": Place(TABLE, f"{TABLE}/out"),
    "out is a link to itself": Place(OUT, make=lambda folder: (folder / OUT).symlink_to(OUT)),
    "out has a name that is too long": Place("ooo", "o" * 300),
    "out has a name that is too long with more to it": Place("ooo", "o" * 250),
    "out contains a folder called of a result's name": Place(
        OUT, make=lambda folder: (folder / OUT / "result.csv").mkdir(parents=True)
    ),
    "checkpoint below a folder without permission": Place(
        "locked", checkpoint=f"locked/{KEPT}", make=_locked
    ),
    "checkpoint is a folder": Place(KEPT, make=lambda folder: (folder / KEPT).mkdir()),
    "checkpoint below a folder that is not there": Place("no/where", checkpoint=f"no/where/{KEPT}"),
    "checkpoint has a name that is too long": Place("kkk", checkpoint="k" * 300),
    "read-only out": Place("disk", "disk/out"),
    "read-only checkpoint": Place(f"disk/{KEPT}", checkpoint=f"disk/{KEPT}"),
}


def _on_disk(command: str, name: str, folder: Path, disk: Path) -> str:
    places.mount(disk, 64 << 20, read_only=True)
    return _refused(command, name, folder)


def _refused(command: str, name: str, folder: Path) -> str:
    """Run the command as an ordinary user; return "refused", or what is wrong."""
    place = PLACES[name]
    prepare(folder, command, place.prior)
    place.make(folder)
    words = [place.checkpoint if word == KEPT else word for word in COMMANDS[command]]
    words = [command, *words, "--out", place.out, *overwriting(command, place.prior)]
    places.give_away(folder)
    before = tree(folder)
    ended = run_command(words, folder, inside=_watched)
    fault = ended.fault() or differences(tree(folder), before)
    if fault:
        return fault if fault == ended.fault() else f"leftovers: {fault}"
    if ended.code != 2:
        return f"wrong: exit status {ended.code}: {ended.stderr[-200:]}"
    if wrong := ended.complaint(command, place.named):
        return wrong
    return f"wrong: the table was read before: {ended.stderr[-200:]}" if ended.noted else "refused"


def _watched() -> Callable[[], str]:
    """Note in a child whether a table is read."""
    import duramen.io
    from duramen.io.store import packing

    read: list[str] = []
    for module, name in ((duramen.io, "read_table"), (packing, "open_input")):
        setattr(module, name, _noting(getattr(module, name), read))
    places.become_ordinary()
    return lambda: "".join(read)


def _noting(function: Callable[..., object], read: list[str]) -> Callable[..., object]:
    def noting(*arguments: object, **named: object) -> object:
        read.append("read ")
        return function(*arguments, **named)

    return noting
