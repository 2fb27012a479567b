"""A folder that takes the place of another one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from duramen.support import files as replacing
from duramen.support.files import expanded


def exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Put a folder in place of another; tell after each rename whether the place is there."""
    place, new = tmp_path / "out", tmp_path / "new"
    for folder in (place, new):
        folder.mkdir()
        (folder / "name").write_text(folder.name)
    rename, there = Path.rename, []

    def watched(self: Path, target: Path) -> Path:
        moved = rename(self, target)
        there.append(place.exists())
        return moved

    monkeypatch.setattr(Path, "rename", watched)
    old = replacing.put_in_place(new, place)
    assert old is not None
    assert [old] == replacing.unfinished(place, "old")
    assert (place / "name").read_text() == "new"
    assert (old / "name").read_text() == "out"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([old.name, "out"])
    return there


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="no exchange of two folders")
def test_a_place_is_never_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(exchange(tmp_path, monkeypatch))


def test_without_an_exchange_two_renames_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "_EXCHANGES", {})
    assert not all(exchange(tmp_path, monkeypatch))


def test_a_home_that_is_not_known_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert expanded("~/t.csv") == Path("/home/ada/t.csv")
    with pytest.raises(FileNotFoundError, match=r"f: ~nouser/t\.csv: the home of ~nouser is not"):
        expanded("~nouser/t.csv", "f")
