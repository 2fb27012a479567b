"""Places for results and checkpoints that cannot be written, which is found before any work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.faults import places
from tests.faults.commands import (
    COMMANDS,
    KEPT,
    OUT,
    TABLE,
    counted,
    differences,
    prepare,
    run_command,
    tree,
    uninterrupted,
)

Place = Callable[[str, Path], tuple[list[str], str]]


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


def _words(command: str, out: str = OUT, checkpoint: str = KEPT) -> list[str]:
    words = [checkpoint if word == KEPT else word for word in COMMANDS[command]]
    return [command, *words, "--out", out]


def _locked_parent(command: str, folder: Path) -> tuple[list[str], str]:
    (folder / "locked").mkdir(mode=0o555)
    return _words(command, "locked/out"), "locked"


def _locked_out(command: str, folder: Path) -> tuple[list[str], str]:
    (folder / OUT).mkdir(mode=0o555)
    return _words(command), OUT


def _locked_store(command: str, folder: Path) -> tuple[list[str], str]:
    prepare(folder, command, True)
    (folder / "locked").mkdir()
    (folder / OUT).rename(folder / "locked" / OUT)
    (folder / "locked").chmod(0o555)
    more = ["--overwrite"] if command == "pack" else []
    return [*_words(command, f"locked/{OUT}"), *more], "locked"


def _file(command: str, folder: Path) -> tuple[list[str], str]:
    (folder / OUT).write_text("mine")
    return _words(command), OUT


def _no_parent(command: str, folder: Path) -> tuple[list[str], str]:
    return _words(command, "no/where/out"), "no/where"


def _loop(command: str, folder: Path) -> tuple[list[str], str]:
    (folder / OUT).symlink_to(OUT)
    return _words(command), OUT


def _long(command: str, folder: Path) -> tuple[list[str], str]:
    return _words(command, "o" * 300), "ooo"


def _nearly_long(command: str, folder: Path) -> tuple[list[str], str]:
    return _words(command, "o" * 250), "ooo"


def _folder_of_result(command: str, folder: Path) -> tuple[list[str], str]:
    (folder / OUT / "result.csv").mkdir(parents=True)
    return _words(command), OUT


def _below_file(command: str, folder: Path) -> tuple[list[str], str]:
    return _words(command, f"{TABLE}/out"), TABLE


def _locked_checkpoint(command: str, folder: Path) -> tuple[list[str], str]:
    (folder / "locked").mkdir(mode=0o555)
    return _words(command, checkpoint=f"locked/{KEPT}"), "locked"


def _folder_checkpoint(command: str, folder: Path) -> tuple[list[str], str]:
    (folder / KEPT).mkdir()
    return _words(command), KEPT


def _no_checkpoint(command: str, folder: Path) -> tuple[list[str], str]:
    return _words(command, checkpoint=f"no/where/{KEPT}"), "no/where"


def _long_checkpoint(command: str, folder: Path) -> tuple[list[str], str]:
    return _words(command, checkpoint="k" * 300), "kkk"


def _read_only_out(command: str, folder: Path) -> tuple[list[str], str]:
    return _words(command, "disk/out"), "disk"


def _read_only_checkpoint(command: str, folder: Path) -> tuple[list[str], str]:
    return _words(command, checkpoint=f"disk/{KEPT}"), f"disk/{KEPT}"


PLACES: dict[str, Place] = {
    "out below a folder without permission": _locked_parent,
    "out without permission": _locked_out,
    "older results below a folder without permission": _locked_store,
    "out is a file": _file,
    "out below a folder that is not there": _no_parent,
    "out below a file": _below_file,
    "out is a link to itself": _loop,
    "out has a name that is too long": _long,
    "out has a name that is too long with more to it": _nearly_long,
    "out contains a folder called of a result's name": _folder_of_result,
    "checkpoint below a folder without permission": _locked_checkpoint,
    "checkpoint is a folder": _folder_checkpoint,
    "checkpoint below a folder that is not there": _no_checkpoint,
    "checkpoint has a name that is too long": _long_checkpoint,
    "read-only out": _read_only_out,
    "read-only checkpoint": _read_only_checkpoint,
}


def _on_disk(command: str, name: str, folder: Path, disk: Path) -> str:
    places.mount(disk, 64 << 20, read_only=True)
    return _refused(command, name, folder)


def _refused(command: str, name: str, folder: Path) -> str:
    """Run the command as an ordinary user; return "refused", or what is wrong."""
    if not (folder / TABLE).exists():
        prepare(folder, command, False)
    words, named = PLACES[name](command, folder)
    places.give_away(folder)
    before = tree(folder)
    ended = run_command(words, folder, inside=_watched)
    fault = ended.fault() or differences(tree(folder), before)
    if fault:
        return fault if fault == ended.fault() else f"leftovers: {fault}"
    if ended.code != 2:
        return f"wrong: exit status {ended.code}: {ended.stderr[-200:]}"
    if wrong := ended.complaint(command, named):
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
