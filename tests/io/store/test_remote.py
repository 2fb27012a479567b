"""Stores in other places, through fsspec."""

import pickle
import shutil
import sys
import uuid

import numpy as np
import pandas as pd
import pytest
from tests.io.store.stores import assert_same

import duramen as dm
from duramen import pack
from duramen.data import encode
from duramen.io import open_store
from duramen.io.store import layout
from duramen.io.store.reader import Place, RemoteFile

fsspec = pytest.importorskip("fsspec")


def table():
    """All kinds of columns, blocks of two widths, names, holes."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(300, 12)).round(1), columns=list("abcdefghijkl"))
    frame["wide"] = random.normal(size=300)
    frame["text"] = random.choice(["ä", "b", ""], 300)
    frame["hole"] = np.where(random.random(300) < 0.3, np.nan, 1.0)
    return frame


@pytest.fixture(params=["memory", "file", "simplecache"])
def elsewhere(request, tmp_path):
    """A store here, and the URL of a copy of it elsewhere."""
    store = pack(table(), tmp_path / "s", samples=pd.DataFrame({"y": range(300)}))
    if request.param == "file":
        shutil.copytree(tmp_path / "s", tmp_path / "copy.store")
        yield store, f"file://{tmp_path}/copy.store"
        return
    memory = fsspec.filesystem("memory")
    root = f"/{uuid.uuid4().hex}"
    memory.put(str(tmp_path / "s"), f"{root}/copy.store", recursive=True)
    chain = "simplecache::" if request.param == "simplecache" else ""
    yield store, f"{chain}memory:/{root}/copy.store"
    memory.rm(root, recursive=True)


@pytest.mark.smoke
def test_it_gives_what_the_store_gives(elsewhere):
    store, url = elsewhere
    remote = open_store(url)
    assert_same(remote, encode(table()))
    assert remote.fingerprint() == store.fingerprint()
    assert remote.samples.equals(store.samples)
    assert remote.find("text") == 13
    assert repr(remote) == repr(store).replace(" s of", " copy.store of")
    np.testing.assert_array_equal(remote.target("y")[1], np.arange(300))
    np.testing.assert_array_equal(remote.target("wide")[1], table()["wide"])


def test_it_is_pickled_as_its_place(elsewhere):
    _, url = elsewhere
    remote = open_store(url)
    assert str(remote.path).endswith(url.rpartition("::")[2].rpartition("://")[2])
    again = pickle.loads(pickle.dumps(remote))
    assert again.path == remote.path
    assert len(pickle.dumps(remote)) < 2000
    for other in (again, open_store(remote.path), open_store(url + "/")):
        assert (
            other.take_columns([3, 12]).fingerprint() == remote.take_columns([3, 12]).fingerprint()
        )


@pytest.mark.parametrize("elsewhere", ["memory"], indirect=True)
def test_only_what_is_asked_for_is_read(elsewhere, monkeypatch):
    _, url = elsewhere
    remote = open_store(url)
    fs = remote.path.fs
    original, calls = type(fs).cat_ranges, []

    def watched(self, paths, begins, ends, **options):
        calls.append((paths, begins, ends))
        return original(self, paths, begins, ends, **options)

    monkeypatch.setattr(type(fs), "cat_ranges", watched)
    remote.take_columns([2, 3, 7])
    codes = [call for call in calls if call[0][0].endswith(layout.CODES[0])]
    assert [(begins, ends) for _, begins, ends in codes] == [([600, 2100], [1200, 2400])]


@pytest.mark.parametrize("elsewhere", ["memory", "file"], indirect=True)
def test_damage_is_refused(elsewhere):
    _, url = elsewhere
    fs, path = fsspec.url_to_fs(url)
    good = fs.cat_file(f"{path}/codes.u1")
    remote = open_store(url)
    fs.pipe_file(f"{path}/codes.u1", good[:5] + b"\xff" + good[6:])
    with pytest.raises(ValueError, match=r"codes\.u1 is damaged: the codes of column 'a'"):
        remote.take_columns([0])
    fs.pipe_file(f"{path}/codes.u1", good[:350])
    with pytest.raises(ValueError, match="truncated while it was open"):
        remote.take_columns([0, 1])
    with pytest.raises(ValueError, match=r"codes\.u1 is damaged: it has 350 bytes, not"):
        open_store(url)
    fs.rm(f"{path}/codes.u1")
    with pytest.raises(FileNotFoundError):
        remote.take_columns([0])
    with pytest.raises(ValueError, match=r"copy\.store is damaged: codes\.u1 is not there"):
        open_store(url)


class Async:
    """A file system that gives errors back in place of bytes, as those of object storages do."""

    def info(self, path):
        return {"size": 10 if path == "x" else None}

    def unstrip_protocol(self, path):
        return f"far://{path}"

    def cat_ranges(self, paths, starts, ends, on_error):
        return [b"ab", PermissionError("no")]


def test_errors_of_object_storages_are_raised():
    file = RemoteFile(Place(Async(), "x"))
    with pytest.raises(PermissionError, match="no"):
        file.ranges([0, 5], [2, 3])
    with pytest.raises(ValueError, match="far://y has no known size"):
        RemoteFile(Place(Async(), "y"))


def test_what_cannot_be_opened(monkeypatch):
    with pytest.raises(
        FileNotFoundError, match=r"no column store at memory:/+nowhere\.store\. Hint"
    ):
        open_store("memory://nowhere.store")
    with pytest.raises(
        ValueError, match="open_store: odd://s cannot be opened: Protocol not known"
    ):
        open_store("odd://s")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install duramen\[distributed\]"):
        open_store("memory://s")


def test_a_path_of_this_machine_is_pickled_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    packed = pickle.dumps(dm.pack(np.eye(4), "s"))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert pickle.loads(packed).shape == (4, 4)
