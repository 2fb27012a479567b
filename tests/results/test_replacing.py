"""A folder that takes the place of another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from duramen.support import files as replacing
from duramen.support.files import expanded


def test_a_folder_makes_way_for_another(tmp_path: Path) -> None:
    place, new = tmp_path / "out", tmp_path / "new"
    for folder in (place, new):
        folder.mkdir()
        (folder / "name").write_text(folder.name)
    old = replacing.put_in_place(new, place)
    assert old is not None
    assert [old] == replacing.unfinished(place, "old")
    assert (place / "name").read_text() == "new"
    assert (old / "name").read_text() == "out"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([old.name, "out"])


def test_a_home_that_is_not_known_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert expanded("~/t.csv") == Path("/home/ada/t.csv")
    with pytest.raises(FileNotFoundError, match=r"f: ~nouser/t\.csv: the home of ~nouser is not"):
        expanded("~nouser/t.csv", "f")
