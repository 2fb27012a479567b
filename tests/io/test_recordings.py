"""Recordings of fluorescence from files of all layouts."""

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from duramen.io import read_recording

LIGHT = np.random.default_rng(0).random((30, 4)).round(3)  # frames by neurons
NAMES = ("a", "b", "c", "d")


def write(folder, kind, light=LIGHT):
    """Write frames by neurons, and return the path."""
    path = folder / f"light{kind}"
    match kind:
        case ".npy":
            np.save(path, light)
        case ".txt":
            path.write_text("\n".join(", ".join(f"{x:.3f}" for x in row) for row in light) + "\n")
        case ".dat":
            np.savetxt(path, light)
        case ".tsv":
            path.write_text("\n".join("\t".join(map(str, row)) for row in light))
        case ".csv":
            pd.DataFrame(light, columns=NAMES).to_csv(path, index=False)
        case ".parquet":
            pq.write_table(pa.table(dict(zip(NAMES, light.T, strict=True))), path)
        case ".h5":
            with h5py.File(path, "w") as file:
                file["data/light"] = light
                file["data/times"] = np.arange(30.0)
    return path


@pytest.mark.smoke
@pytest.mark.parametrize("kind", [".npy", ".txt", ".dat", ".tsv", ".csv", ".parquet", ".h5"])
def test_frames_by_neurons_are_read_from(tmp_path, kind):
    result = read_recording(write(tmp_path, kind))
    assert np.array_equal(result.fluorescence, LIGHT)
    named = kind in (".csv", ".parquet")
    assert result.names == (NAMES if named else ("N1", "N2", "N3", "N4"))
    if kind == ".npy":
        assert isinstance(result.fluorescence, np.memmap)


@pytest.mark.parametrize("kind", [".npy", ".txt", ".csv", ".parquet"])
def test_columns_of_times_are_left_out(tmp_path, kind):
    light = np.column_stack([LIGHT[:, :3], np.arange(30) / 20])
    with pytest.warns(UserWarning, match=r"'(d|N4)' of light.* increases from each frame to the"):
        result = read_recording(write(tmp_path, kind, light))
    assert np.array_equal(result.fluorescence, LIGHT[:, :3])
    assert result.names == (NAMES[:3] if kind in (".csv", ".parquet") else ("N1", "N2", "N3"))


def test_neurons_that_are_many_times_the_frames_are_refused(tmp_path):
    path = write(tmp_path, ".npy", np.tile(LIGHT, (1, 38)))  # 30 x 152
    with pytest.raises(ValueError, match=r"30 rows and 152 columns, .* 30 frames of 152 neurons"):
        read_recording(path)
    assert read_recording(path, neurons="rows").fluorescence.shape == (152, 30)
    assert read_recording(path, neurons="columns").fluorescence.shape == (30, 152)
    assert read_recording(write(tmp_path, ".npy", np.tile(LIGHT, 37))).names[-1] == "N148"


@pytest.mark.parametrize("kind", [".npy", ".txt", ".dat", ".tsv", ".h5"])
def test_neurons_by_frames_are_read_from(tmp_path, kind):
    result = read_recording(write(tmp_path, kind, LIGHT.T), neurons="rows")
    assert np.array_equal(result.fluorescence, LIGHT)


def test_rows_may_begin_with_a_name(tmp_path):
    path = tmp_path / "light.csv"
    pd.DataFrame(LIGHT.T, index=NAMES).to_csv(path, index_label="neuron")
    result = read_recording(path, neurons="rows")
    assert np.array_equal(result.fluorescence, LIGHT)
    assert result.names == NAMES
    with pytest.raises(
        ValueError, match=r"column 'neuron' of .* must hold numbers\. Hint: neurons="
    ):
        read_recording(path)


def test_names_that_are_numbers_are_no_frame(tmp_path):
    path = tmp_path / "light.csv"
    pd.DataFrame(LIGHT).to_csv(path, index=False)
    result = read_recording(path)
    assert result.fluorescence.shape == (30, 4)
    assert result.names == ("0", "1", "2", "3")
    pd.DataFrame(LIGHT).to_csv(path)
    with pytest.raises(ValueError, match=r"the first column of .* must have a name"):
        read_recording(path)


@pytest.mark.parametrize(
    ("kind", "result"),
    [("f4", "f4"), ("f2", "f4"), ("i2", "f4"), ("u1", "f4"), ("i4", "f8"), (">f8", "f8")],
)
def test_numbers_of_other_types_are_converted(tmp_path, kind, result):
    np.save(tmp_path / "light.npy", (100 * LIGHT).astype(kind))
    actual = read_recording(tmp_path / "light.npy").fluorescence
    assert actual.dtype == np.dtype(result)
    assert np.array_equal(actual, (100 * LIGHT).astype(kind).astype(result))


def suite2p(folder, cells=True):
    np.save(folder / "F.npy", LIGHT.T.astype(np.float32))
    np.save(folder / "Fneu.npy", LIGHT.T.astype(np.float32) / 4)
    if cells:
        np.save(folder / "iscell.npy", np.array([[1, 0.9], [0, 0.1], [1, 0.8], [1, 0.6]]))
    return folder


@pytest.mark.smoke
@pytest.mark.parametrize("path", [".", "F.npy"])
def test_cells_of_suite2p(tmp_path, path):
    result = read_recording(suite2p(tmp_path) / path)
    assert np.array_equal(result.fluorescence, LIGHT[:, [0, 2, 3]].astype(np.float32))
    assert result.names == ("N1", "N3", "N4")
    every = read_recording(tmp_path / path, accepted_only=False)
    assert every.fluorescence.shape == (30, 4)
    less = read_recording(tmp_path / path, neuropil=0.8)
    assert less.fluorescence.dtype == np.float32
    assert less.fluorescence == pytest.approx(result.fluorescence * 0.8, rel=1e-6)


def test_suite2p_without_its_other_files(tmp_path):
    suite2p(tmp_path, cells=False)
    assert read_recording(tmp_path).fluorescence.shape == (30, 4)
    with pytest.raises(ValueError, match="4 frames of 30 neurons"):  # a table
        read_recording(tmp_path / "F.npy")
    table = read_recording(tmp_path / "F.npy", neurons="columns")
    assert table.fluorescence.shape == (4, 30)
    assert read_recording(tmp_path / "F.npy", layout="suite2p").fluorescence.shape == (30, 4)
    (tmp_path / "Fneu.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"neuropil needs .*Fneu\.npy"):
        read_recording(tmp_path, neuropil=0.7)
    np.save(tmp_path / "iscell.npy", np.zeros((4, 2)))
    with pytest.raises(ValueError, match="has no accepted neurons"):
        read_recording(tmp_path)
    np.save(tmp_path / "iscell.npy", np.ones((3, 2)))
    with pytest.raises(ValueError, match="has 4 neurons, but the list of accepted neurons has 3"):
        read_recording(tmp_path)


def caiman(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[f"estimates/{name}"] = array
    return path


def test_traces_of_caiman(tmp_path):
    path = caiman(tmp_path / "results.hdf5", C=LIGHT.T, F_dff=LIGHT.T + 1, A=np.ones((9, 4)))
    assert np.array_equal(read_recording(path).fluorescence, LIGHT + 1)
    assert np.array_equal(read_recording(path, key="estimates/C").fluorescence, LIGHT)
    path = caiman(path, C=LIGHT.T, F_dff="NoneType", idx_components=np.array([3, 1]))
    result = read_recording(path)
    assert np.array_equal(result.fluorescence, LIGHT[:, [1, 3]])
    assert result.names == ("N2", "N4")
    assert read_recording(path, accepted_only=False).fluorescence.shape == (30, 4)
    path = caiman(path, C=LIGHT.T, idx_components=np.array([4]))
    with pytest.raises(ValueError, match="lists accepted neurons that are not in it"):
        read_recording(path)


def test_array_of_hdf5_is_named(tmp_path):
    path = tmp_path / "two.h5"
    with h5py.File(path, "w") as file:
        file["one"], file["deep/two"] = LIGHT, LIGHT.T
    with pytest.raises(ValueError, match="key must be one of deep/two, one"):
        read_recording(path)
    result = read_recording(path, key="/deep/two", neurons="rows")
    assert np.array_equal(result.fluorescence, LIGHT)
    with pytest.raises(ValueError, match="must hold a matrix three, got deep/two, one"):
        read_recording(path, key="three")
    with pytest.raises(ValueError, match=r"must hold a matrix estimates/F_dff or estimates/C"):
        read_recording(path, layout="caiman")


def test_hdf5_that_leads_elsewhere_is_refused(tmp_path):
    write(tmp_path, ".h5")
    with h5py.File(tmp_path / "outer.h5", "w") as file:
        file["light"] = h5py.ExternalLink(tmp_path / "light.h5", "data/light")
    with pytest.raises(ValueError, match="is a link to another file"):
        read_recording(tmp_path / "outer.h5")


def test_frames_with_nan(tmp_path):
    light = LIGHT.copy()
    light[0, 1] = light[5, 0] = light[6, 0] = np.nan
    light[29, 2] = np.inf
    path = write(tmp_path, ".npy", light)
    with pytest.raises(ValueError, match="NaN or infinity in 4 of 30 frames, the first one 0"):
        read_recording(path)
    remaining = np.delete(LIGHT, [0, 5, 6, 29], axis=0)
    assert np.array_equal(read_recording(path, missing="drop").fluorescence, remaining)
    filled = read_recording(path, missing="interpolate").fluorescence
    step = (LIGHT[7, 0] - LIGHT[4, 0]) / 3
    assert filled[5:7, 0] == pytest.approx([LIGHT[4, 0] + step, LIGHT[4, 0] + 2 * step])
    assert filled[0, 1] == LIGHT[1, 1]
    assert filled[29, 2] == LIGHT[28, 2]
    same = np.isfinite(light)
    assert np.array_equal(filled[same], light[same])
    text = tmp_path / "light.txt"
    text.write_text("0.5, nan\n,1.5\nNA,2.5\n0.25,NaN\n")
    result = read_recording(text, missing="interpolate").fluorescence
    assert result[:, 0] == pytest.approx([0.5, 0.5 - 0.25 / 3, 0.5 - 0.5 / 3, 0.25])
    light[:, 3] = np.nan
    np.save(path, light)
    for missing in ("drop", "interpolate"):
        with pytest.raises(ValueError, match="finite numbers for the neurons N4, got only NaN"):
            read_recording(path, missing=missing)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.npy"):
        read_recording(tmp_path / "none.npy")
    with pytest.raises(FileNotFoundError, match=r"there is no file .*F\.npy"):
        read_recording(tmp_path)
    (tmp_path / "plane0").mkdir()
    np.save(tmp_path / "plane0" / "F.npy", np.ones((2, 3)))
    with pytest.raises(FileNotFoundError, match=r"F.npy. Hint: give its folder plane0"):
        read_recording(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "change", "message"),
    [
        ("light.npy", b"no", {}, "is no .npy file of numbers, or is damaged"),
        ("light.npy", np.zeros(3), {}, r"must hold a matrix of numbers, got shape \(3,\)"),
        ("light.npy", np.zeros((3, 2), "c16"), {}, "must hold a matrix of numbers"),
        ("light.npy", np.zeros((3, 2)), {"key": "x"}, "key must be None but for HDF5"),
        ("light.npy", np.zeros((3, 2)), {"neuropil": 0.7}, "neuropil must be None but for suite2p"),
        ("light.npy", np.zeros((3, 2)), {"layout": "matlab"}, "layout must be one of"),
        ("light.npy", np.zeros((3, 2)), {"missing": "zero"}, "missing must be one of"),
        ("light.npy", np.zeros((3, 2)), {"neurons": "both"}, "neurons must be one of"),
        ("light.h5", b"no", {}, "is not an HDF5 file, or is damaged"),
        ("light.txt", b"1,2\n3\n", {}, "must hold the same number of values in every line"),
        ("light.dat", b"1 2\n3\n", {}, "must hold the same number of values in every line"),
        ("light.csv", b"a,b\n3,x\n", {}, "the column 'b' of .* must hold numbers"),
        ("light.mat", b"x", {}, "the extension '.mat' of 'light.mat' is not known"),
    ],
)
def test_refuses(tmp_path, name, content, change, message):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content, allow_pickle=content.dtype == object)
    with pytest.raises(ValueError, match=message):
        read_recording(path, **change)


def test_columns_that_are_left_out_need_not_be_numbers(tmp_path):
    path = tmp_path / "traces.csv"
    path.write_text("a,note,b\n1,quiet,3\n2,burst,4\n")
    result = read_recording(path, drop=["note"])
    assert result.names == ("a", "b")
    assert result.fluorescence.tolist() == [[1, 3], [2, 4]]
    np.save(tmp_path / "traces.npy", np.arange(6.0).reshape(3, 2))
    assert read_recording(tmp_path / "traces.npy", drop=["N1"]).fluorescence.tolist() == [
        [1],
        [3],
        [5],
    ]
    path.write_text("name,f1,f2\na,1,2\nb,3,4\n")
    assert read_recording(path, neurons="rows", drop=["a"]).names == ("b",)
    with pytest.raises(ValueError, match=r"drop must be names of columns of .*'c'"):
        read_recording(path, neurons="rows", drop=["c"])
    with pytest.raises(ValueError, match="drop must be less than all columns"):
        read_recording(path, neurons="rows", drop=["a", "b"])
