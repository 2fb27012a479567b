"""Leftovers of a killed command, altered before the next run, and planted files."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.faults.commands import (
    COMMANDS,
    KEPT,
    OUT,
    Tree,
    below,
    counted,
    differences,
    prepare,
    run_command,
    tree,
    uninterrupted,
    words_of,
)
from tests.faults.operations import Cut

# Commands that go on from what is left.
RESUMED = ("rank", "select", "context")
Plant = Callable[[Path, Path], None]


@functools.cache
def killed(command: str) -> list[Path]:
    """Return folders as kills at several moments leave them."""
    random = np.random.default_rng(0)
    places = []
    for at in random.choice(range(3, uninterrupted(command, False).operations), 4, replace=False):
        folder = Path(tempfile.mkdtemp(prefix="faults-"))
        prepare(folder, command, False)
        cut = Cut(int(at), "SIGKILL")
        run_command(words_of(command), folder, inside=cut.inside(folder))
        if not (folder / OUT).exists():
            places.append(folder)
    return places


@counted
def attempt(number: int, folder: Path) -> str:
    """Alter leftovers, or plant something, and run the command."""
    random = np.random.default_rng(number)
    precious = folder / "precious"
    precious.mkdir()
    (precious / "data.txt").write_text("mine")
    (precious / "run.json").write_text("mine")
    place = folder / "place"
    if number % 2:
        command = list(COMMANDS)[number // 2 % len(COMMANDS)]
        place.mkdir()
        prepare(place, command, bool(random.integers(2)) and command != "pack")
        change = _plant(command, place, precious, random)
    else:
        command = RESUMED[number // 2 % len(RESUMED)]
        shutil.copytree(random.choice(np.array(killed(command))), place, dirs_exist_ok=True)
        change = _alter(place, random)
    before = tree(folder)
    done = run_command(words_of(command), place)
    fault = _fault(command, folder, before, done.fault(), done.code)
    if fault is None and done.code:
        fault = done.complaint(command)
    return f"{fault} [{command}: {change}]" if fault else "refused" if done.code else "finished"


def _fault(command: str, folder: Path, before: Tree, fault: str | None, code: int) -> str | None:
    """Tell what is wrong after a run that met altered leftovers."""
    result = tree(folder)
    if fault is not None:
        return fault
    if below(result, "precious") != below(before, "precious"):
        return f"wrong: files of others changed: {differences(result, before)}"
    there, wanted = below(result, f"place/{OUT}"), below(uninterrupted(command, False).left, OUT)
    if code:
        if there == below(before, f"place/{OUT}"):
            return None
        return f"wrong: refused, and left {differences(result, before)}"
    results = {name: array for name, array in (there or {}).items() if name in (wanted or {})}
    return None if results == wanted else "wrong: other results"


def _alter(place: Path, random: np.random.Generator) -> str:
    """Alter what a killed run left."""
    files = [path for path in sorted(place.rglob("*")) if path.is_file() and path.suffix != ".csv"]
    if not files:
        return "nothing was left"
    path = files[int(random.integers(len(files)))]
    data, how = bytearray(path.read_bytes()), int(random.integers(9))
    if how == 0:
        path.unlink()
    elif how == 1:
        path.write_bytes(data[: int(random.integers(len(data) + 1))])
    elif how == 2:
        path.write_bytes(data + random.bytes(int(random.integers(1, 4096))))
    elif how == 3:
        path.write_bytes(b"")
    elif how == 4 and path.suffix == ".json":
        odd = ["[" * 10**5, "{}", "null", "[]", '{"n_rows": 1e400}', "\x00", '{"sizes": {}}']
        path.write_text(odd[int(random.integers(len(odd)))])
    elif data:
        for at in random.integers(len(data), size=int(random.integers(1, 4))):
            data[at] ^= int(random.integers(1, 256))
        path.write_bytes(data)
    return f"{path.relative_to(place)} altered ({how})"


def _plant(command: str, place: Path, precious: Path, random: np.random.Generator) -> str:
    """Put something of others where the command works."""
    names = [f".{OUT}.0123abcd.part", f".{OUT}.0123abcd.old", f".{OUT}.lock"]
    if "--checkpoint" in COMMANDS[command]:
        names += [f".{KEPT}.lock", f".{KEPT}.0123abcd.part", KEPT]
    name = names[int(random.integers(len(names)))]
    ways = list(PLANTS)
    way = ways[int(random.integers(len(ways)))]
    PLANTS[way](place / name, precious)
    return f"{name} is {way}"


def _inner_link(path: Path, precious: Path) -> None:
    path.mkdir()
    (path / "run.json").symlink_to(precious / "data.txt")
    (path / "codes.u1").symlink_to(precious / "data.txt")


def _copied(path: Path, precious: Path) -> None:
    shutil.copytree(precious, path)


PLANTS: dict[str, Plant] = {
    "a link to a folder": lambda path, precious: path.symlink_to(precious),
    "a link to a file": lambda path, precious: path.symlink_to(precious / "data.txt"),
    "a link to nothing": lambda path, precious: path.symlink_to(precious / "nothing"),
    "an empty folder": lambda path, precious: path.mkdir(),
    "a folder of others": _copied,
    "a folder with links": _inner_link,
    "a file": lambda path, precious: path.write_text("mine") and None,
    "an empty file": lambda path, precious: path.touch(),
    "a pipe": lambda path, precious: os.mkfifo(path),
}
