"""Features that some systems lack are imported only where they are used."""

import ast
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.contracts.sources import nodes, trees

import duramen as dm

# Modules of Python that not every system has.
SYSTEMS = {"fcntl", "grp", "msvcrt", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
SYSTEMS |= {"winreg"}
# Functions that Windows lacks, and the files that look whether they are there.
FUNCTIONS = {
    "fork",
    "geteuid",
    "getuid",
    "killpg",
    "mkfifo",
    "pread",
    "preadv",
    "sched_getaffinity",
}
FUNCTIONS |= {"setsid", "statvfs", "sysconf", "uname", "SIGHUP", "SIGKILL", "SIGUSR1"}
CHECKED = {"data/memory.py": {"sysconf"}, "io/formats/reader_process.py": {"SIGKILL"}}


def top_level(tree: ast.Module) -> Iterator[str]:
    """Yield the names of modules that are imported whenever a file is."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_every_system_can_import_the_package() -> None:
    assert [file for file, tree in trees().items() if SYSTEMS & {*top_level(tree)}] == []
    used: dict[str, set[str]] = defaultdict(set)
    for file, node in nodes(ast.Attribute):
        if node.attr in FUNCTIONS:
            used[file].add(node.attr)
    assert used == CHECKED


def test_stores_are_made_where_open_files_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handles = Path("/proc/self/fd")
    if not handles.is_dir():
        pytest.skip("the system does not tell which files are open")
    unlink = Path.unlink

    def refuse_open(path: Path, missing_ok: bool = False) -> None:
        numbers = [handle.name for handle in handles.iterdir()]
        links = [os.readlink(handles / n) for n in numbers if (handles / n).is_symlink()]
        if str(path.resolve()) in links:
            raise PermissionError(13, "in use", str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse_open)
    store = dm.pack(np.arange(12).reshape(4, 3), tmp_path / "store")
    assert store.n_rows == 4
    assert [entry.name for entry in tmp_path.iterdir()] == ["store"]
    assert not list((tmp_path / "store").glob("*lock*"))
