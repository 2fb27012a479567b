import json
import zipfile

import numpy as np
import pytest
from tests.grid import one_test

from duramen import Importances


def example(**changes):
    options = {
        "names": ("a", "b", "c", "d"),
        "values": [0.1, 0.4, 0.1, 0.2],
        "measure": "mdi",
        "unit": "bits",
        "by_degree": [[0.1, 0.0], [0.3, 0.1], [0.0, 0.1], [0.2, 0.0]],
        "standard_error": [0.01, 0.02, 0.03, 0.04],
        "metadata": {"seed": 3, "settings": {"criterion": "entropy"}},
    }
    return Importances(**{**options, **changes})


def test_top_takes_everything_along():
    best = example().top(2)
    assert best.names == ("b", "d")
    assert best.values.tolist() == [0.4, 0.2]
    assert best.by_degree.tolist() == [[0.3, 0.1], [0.2, 0.0]]
    assert best.standard_error.tolist() == [0.02, 0.04]
    assert best.metadata["seed"] == 3
    assert len(example().top(99)) == 4
    assert len(example().top(0)) == 0
    with pytest.raises(ValueError, match="k must be an int >= 0, got -1"):
        example().top(-1)


def test_take_gives_features_new_names_and_as_many_copies():
    taken = example().take(np.array([3, 3, 0]), names=("x", "y", "z"))
    assert dict(taken) == {"x": 0.2, "y": 0.2, "z": 0.1}
    assert taken.by_degree.tolist() == [[0.2, 0.0], [0.2, 0.0], [0.1, 0.0]]
    assert taken.standard_error.tolist() == [0.04, 0.04, 0.01]
    assert example().take(np.array([3, 0])).names == ("d", "a")
    with pytest.raises(ValueError, match="'d' occurs twice"):
        example().take(np.array([3, 3]))


def test_normalized_scales_all_parts_and_leaves_the_original():
    result = example()
    scaled = result.normalized()
    assert scaled.values.sum() == pytest.approx(1.0, abs=1e-15)
    assert scaled.unit == "1"
    np.testing.assert_allclose(scaled.by_degree.sum(axis=1), scaled.values)
    np.testing.assert_allclose(scaled.standard_error, result.standard_error / 0.8)
    assert result.values.tolist() == [0.1, 0.4, 0.1, 0.2]


@pytest.mark.parametrize("values", [[0.0, 0.0], [-1.0, 0.5]])
def test_normalized_needs_a_positive_sum(values):
    with pytest.raises(ValueError, match="only a positive sum"):
        Importances(("a", "b"), values, "mdi", "bits").normalized()


def test_saved_file_holds_no_pickle(tmp_path):
    example().save(tmp_path / "r.npz")
    with zipfile.ZipFile(tmp_path / "r.npz") as archive:
        assert set(archive.namelist()) == {
            "json.npy",
            "values.npy",
            "by_degree.npy",
            "standard_error.npy",
        }
        assert all(b"descr': '|O" not in archive.read(name) for name in archive.namelist())


def test_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "r.npz"
    example().save(path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(KeyboardInterrupt):
        example(measure="other").save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.npz"]


@one_test
@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 broken"])
def test_load_refuses_what_is_no_result(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match=r"Importances\.load: .* not a file saved by duramen"):
        Importances.load(tmp_path / "x")


def test_load_refuses_other_things_and_later_versions(tmp_path):
    for header, message in [
        ({"what": "Forest", "format": 1}, "holds a Forest, not Importances"),
        ({"what": "Importances", "format": 99}, "upgrade"),
    ]:
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        np.savez(tmp_path / "x.npz", json=text)
        with pytest.raises(ValueError, match=message):
            Importances.load(tmp_path / "x.npz")
    with pytest.raises(FileNotFoundError):
        Importances.load(tmp_path / "none")


def test_to_frame_is_pandas_when_it_is_there():
    frame = example().to_frame()
    assert type(frame).__module__.startswith("pandas")
    assert list(frame.columns) == [
        *("name", "rank", "importance", "standard_error", "degree_0", "degree_1")
    ]
    assert frame["name"].tolist() == ["a", "b", "c", "d"]
    assert frame["rank"].tolist() == [3, 1, 4, 2]


@pytest.mark.parametrize(
    "absent, module", [(["pandas"], "polars"), (["pandas", "polars"], "pyarrow")]
)
def test_to_frame_falls_back(monkeypatch, absent, module):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in absent else find(name)
    )
    frame = example(standard_error=None, by_degree=None).to_frame()
    assert type(frame).__module__.partition(".")[0] == module
    assert frame.shape == (4, 3)
