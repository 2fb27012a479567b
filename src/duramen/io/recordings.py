"""Recordings of fluorescence: from the files of imaging programs to frames by neurons."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen.io import files, formats
from duramen.io.formats.arrow import is_folder
from duramen.io.formats.format import explained
from duramen.io.formats.matrices import HEADER_ERRORS, open_hdf5
from duramen.support import checks
from duramen.support.arrow import pa, pa_csv
from duramen.support.checks import warn
from duramen.support.files import expanded
from duramen.support.text import first_line, quoted

_FUNCTION = "read_recording"
LAYOUTS = ("auto", "table", "suite2p", "caiman")
NEURONS = ("auto", "columns", "rows")
MISSING = ("refuse", "drop", "interpolate")
_HDF5 = (".h5", ".hdf5", ".hdf", ".h5ad")
_CAIMAN_TRACES = ("F_dff", "C")  # the first there is
_MANY_TIMES = 5  # neurons per frame, beyond which rows and columns may be exchanged
_FEWEST_FRAMES = 10  # in fewer, a neuron may increase from frame to frame
_BLOCK = 1 << 22  # cells looked at together for NaN
_MISSING = ["", "NA", "NaN", "nan", "NAN", "null", "-nan"]
_NUMBER = re.compile(
    r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(nan|inf|infinity)", re.IGNORECASE
)

FloatArray = NDArray[np.floating[Any]]


class Recording(NamedTuple):
    """Fluorescence of neurons.

    Attributes
    ----------
    fluorescence : float array of shape (n_frames, n)
        Fluorescence, frames by neurons.
    names : tuple of str
        Names of the n neurons.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.io import Recording
    >>> Recording(np.zeros((3, 2), dtype=np.float32), ("N1", "N2")).fluorescence.shape
    (3, 2)
    """

    fluorescence: FloatArray
    names: tuple[str, ...]


def read_recording(
    path: str | os.PathLike[str],
    *,
    layout: str = "auto",
    key: str | None = None,
    neurons: str = "auto",
    accepted_only: bool = True,
    neuropil: float | None = None,
    missing: str = "refuse",
    drop: Iterable[str] = (),
) -> Recording:
    """Read a recording of fluorescence.

    The layouts are

    * ``"table"``: text with a line of names (.csv, .tsv) or without (also .txt, .dat), .npy,
      Parquet (also a folder of files), Arrow, or HDF5 (.h5, .hdf5), with neurons as
      `neurons` says;
    * ``"suite2p"``: ``F.npy``, neurons by frames, with ``iscell.npy`` and ``Fneu.npy`` beside it;
    * ``"caiman"``: HDF5 of CaImAn, neurons by frames in ``estimates/F_dff``, else ``estimates/C``;
    * ``"auto"``: suite2p for a folder with ``F.npy`` and for an ``F.npy`` beside an ``iscell.npy``,
      CaImAn for HDF5 with a group ``estimates``, and a table for all else.

    Parameters
    ----------
    path : path
        File, or the folder of suite2p.
    layout : {"auto", "table", "suite2p", "caiman"}
        Layout of the file.
    key : str, optional
        Array in an HDF5 file, such as ``"estimates/S"``. By default the traces of CaImAn, or the
        only array of two dimensions.
    neurons : {"auto", "columns", "rows"}
        Whether the neurons of a table are its columns or its rows; "auto" is columns, and an error
        where these are more than five times as many as the rows. Rows of a table with names of
        columns may begin with the name of their neuron.
    accepted_only : bool
        Keep the neurons that suite2p takes for cells (``iscell.npy``), or that CaImAn has accepted
        (``estimates/idx_components``), where this is known.
    neuropil : float, optional
        Fraction of ``Fneu.npy`` of suite2p to subtract, often 0.7.
    missing : {"refuse", "drop", "interpolate"}
        Treatment of frames with NaN: an error, leaving out frames with any, or values in between
        those of the nearest frames before and after (at the ends: the nearest value).
    drop : iterable of str
        Names of neurons, or of columns that are none, such as times, to leave out.

    Returns
    -------
    Recording
        Frames by neurons in float32 or float64, and names: those of the file, else N1, N2, ...,
        by the places of the neurons in the file. An .npy file is mapped, not read, where nothing
        is left out, subtracted or filled in. A column of a table that increases from each frame to
        the next, as times do, is left out with a warning.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged or of another layout, holds no two-dimensional array of numbers, has
        many times more neurons than frames, or has NaN that is to be refused, in all frames, or in
        all values of a neuron.
    ModuleNotFoundError
        If HDF5 is to be read and h5py is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.io import read_recording
    >>> np.save("traces.npy", np.arange(6.0).reshape(2, 3))
    >>> read_recording("traces.npy", neurons="rows").fluorescence.shape
    (3, 2)
    """
    checks.check_choice(_FUNCTION, "layout", layout, LAYOUTS)
    checks.check_choice(_FUNCTION, "neurons", neurons, NEURONS)
    checks.check_choice(_FUNCTION, "missing", missing, MISSING)
    only = checks.check_flag(_FUNCTION, "accepted_only", accepted_only)
    if neuropil is not None:
        neuropil = checks.check_real(_FUNCTION, "neuropil", neuropil, 0)
    file, drop, names = expanded(path, _FUNCTION), list(drop), None
    parquet = layout in ("auto", "table") and is_folder(file)
    folder = file.is_dir() and not parquet
    file = file / "F.npy" if folder else file
    if not file.is_file() and not parquet:
        planes = sorted(path.parent.name for path in file.parent.glob("plane*/F.npy"))
        hint = f". Hint: give its folder {planes[0]}." if folder and planes else ""
        raise FileNotFoundError(f"{_FUNCTION}: there is no file {file}{hint}")
    suffix = file.suffix.lower()
    hdf5 = layout == "caiman" or suffix in _HDF5
    beside_cells = file.name == "F.npy" and (folder or file.with_name("iscell.npy").is_file())
    suite2p = layout == "suite2p" or (layout == "auto" and beside_cells)
    if neuropil is not None and not suite2p:
        raise checks.refuse(_FUNCTION, "neuropil", "None but for suite2p", neuropil)
    if key is not None and not hdf5:
        raise checks.refuse(_FUNCTION, "key", "None but for HDF5 files", key)
    accepted = None
    if suite2p:
        light, accepted = _suite2p(file, only, neuropil)
    elif hdf5:
        light, accepted = _hdf5(file, layout, key, only)
    elif suffix == ".npy":
        light = _npy(file)
    elif suffix in (".txt", ".dat", ".csv", ".tsv") and (matrix := _text(file)) is not None:
        light = matrix
    else:
        light, names, drop = _table(file, neurons, drop)
    frames, count = light.shape
    if accepted is None and neurons == "auto" and count > _MANY_TIMES * frames:
        raise ValueError(
            f"{_FUNCTION}: {file} has {frames:,} rows and {count:,} columns, which would be "
            f"{frames:,} frames of {count:,} neurons. Hint: neurons='rows' (--neurons rows) where "
            "neurons are rows; neurons='columns' (--neurons columns) confirms the columns."
        )
    if accepted is not None or neurons == "rows":
        light = light.T
    places = np.arange(light.shape[1]) if accepted is None else accepted
    names = tuple(f"N{i + 1}" for i in places) if names is None else names
    if drop:
        _check_dropped(drop, names, file)
    keep = [j for j, name in enumerate(names) if name not in drop]
    times = [] if suite2p else _times(light, keep)
    if times:
        listed = ", ".join(quoted(names[j]) for j in times)
        warn(
            f"{_FUNCTION}: {listed} of {file.name} increases from each frame to the next, as times "
            "do, and was left out."
        )
        keep = [j for j in keep if j not in set(times)]
    if len(keep) < len(names):
        light, names = light[:, keep], tuple(names[j] for j in keep)
    return _without_missing(Recording(light, names), missing, file)


def _times(light: FloatArray, columns: list[int]) -> list[int]:
    """Return columns that increase from frame to frame, as times do and no neuron does."""
    if len(light) < _FEWEST_FRAMES:
        return []
    few: Any = (np.diff(light[:_FEWEST_FRAMES], axis=0) > 0).all(axis=0)
    times = [j for j in columns if few[j] and (np.diff(light[:, j]) > 0).all()]
    return times if 2 * len(times) < len(columns) else []


def _check_dropped(drop: list[str], names: Iterable[str], file: Path) -> None:
    for name in set(drop) - set(names):
        raise checks.refuse(_FUNCTION, "drop", f"names of columns of {file}", name)
    if set(names) <= set(drop):
        raise checks.refuse(_FUNCTION, "drop", "less than all columns", len(drop))


def _npy(file: Path) -> FloatArray:
    """Map a matrix of an .npy file; numbers that are no floats are converted."""
    try:
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    except (*HEADER_ERRORS, OSError, OverflowError) as error:
        raise ValueError(
            f"{_FUNCTION}: {file} is no .npy file of numbers, or is damaged ({first_line(error)})"
        ) from None
    return _floats(array, file)


def _floats(array: NDArray[Any], file: Path) -> FloatArray:
    """Check a matrix of numbers, and return it in float32 or float64."""
    if array.ndim != 2 or array.dtype.kind not in "biuf" or 0 in array.shape:
        raise ValueError(
            f"{_FUNCTION}: {file} must hold a matrix of numbers, got shape {array.shape} and type "
            f"{array.dtype}"
        )
    if array.dtype in (np.float32, np.float64):
        return array
    return array.astype(np.float32 if array.dtype.itemsize <= 2 else np.float64)


def _accepted(array: FloatArray, keep: NDArray[Any], file: Path) -> tuple[FloatArray, NDArray[Any]]:
    """Return the accepted neurons of neurons by frames, and their places."""
    if len(keep) != len(array):
        raise ValueError(
            f"{_FUNCTION}: {file} has {len(array)} neurons, but the list of accepted neurons has "
            f"{len(keep)}"
        )
    if not keep.any():
        raise ValueError(
            f"{_FUNCTION}: {file} has no accepted neurons. Hint: accepted_only=False keeps all."
        )
    return array if keep.all() else array[keep], np.flatnonzero(keep)


def _suite2p(file: Path, only: bool, neuropil: float | None) -> tuple[FloatArray, NDArray[Any]]:
    """Read the accepted neurons of suite2p's F.npy, less neuropil."""
    array, cells, around = _npy(file), file.with_name("iscell.npy"), file.with_name("Fneu.npy")
    keep = np.ones(len(array), dtype=np.bool_)
    if only and cells.is_file():
        keep = _npy(cells)[:, 0] > 0
    light, places = _accepted(array, keep, file)
    if neuropil is None:
        return light, places
    if not around.is_file():
        raise FileNotFoundError(
            f"{_FUNCTION}: neuropil needs {around}, which does not exist. Hint: neuropil=None "
            "subtracts nothing."
        )
    other = _npy(around)
    if other.shape != array.shape:
        raise ValueError(
            f"{_FUNCTION}: {around} has shape {other.shape}, but {file} has {array.shape}"
        )
    return np.asarray(light - other.dtype.type(neuropil) * other[keep]), places


def _hdf5(
    file: Path, layout: str, key: str | None, only: bool
) -> tuple[FloatArray, NDArray[Any] | None]:
    """Read an array of an HDF5 file; of CaImAn's, the accepted neurons and their places."""
    with explained(file, _FUNCTION, "an HDF5"):
        content = open_hdf5(file, _FUNCTION)
        matrices: list[str] = content.reader.answer("matrices")
        caiman = layout == "caiman" or (layout == "auto" and "estimates" in content)
        wanted = [f"estimates/{name}" for name in _CAIMAN_TRACES] if caiman else matrices
        if key is not None:
            wanted = [key]
        elif not caiman and len(matrices) > 1:
            raise checks.refuse(_FUNCTION, "key", f"one of {', '.join(matrices)}", key)
        there = [name for name in wanted if name.strip("/") in matrices]
        if not there:
            raise ValueError(
                f"{_FUNCTION}: {file} must hold a matrix {' or '.join(wanted)}, got "
                f"{', '.join(matrices) or 'none'}. Hint: key names another."
            )
        array = _floats(content[there[0]][:], file)
        components: Any = content.get("estimates/idx_components") if caiman and only else None
        places = components[:] if getattr(components, "ndim", 0) == 1 else None
    if not caiman:
        return array, None
    if places is None:
        return array, np.arange(len(array))
    if places.size and not (places.min() >= 0 and places.max() < len(array)):
        raise ValueError(f"{_FUNCTION}: {file} lists accepted neurons that are not in it")
    return _accepted(array, np.isin(np.arange(len(array)), places), file)


def _text(file: Path) -> FloatArray | None:
    """Read text of numbers alone; None for a table, whose first line holds names.

    Numbers from 0 or 1 on, as pandas names columns, are names.
    """
    with open(file, encoding="utf-8", errors="replace") as lines:
        line = next(lines, "").strip()
    separator = next((sign for sign in (",", ";", "\t") if sign in line), None)
    words = [word.strip() for word in line.split(separator)]
    if file.suffix.lower() in (".csv", ".tsv"):
        numbers = all(_NUMBER.fullmatch(word) for word in words if word)
        counted = [[str(j) for j in range(first, first + len(words))] for first in (0, 1)]
        if not words or not words[0] or not numbers or (len(words) > 1 and words in counted):
            return None
    try:
        if separator is None:
            return _floats(np.loadtxt(file, ndmin=2, comments=None), file)
        names = [str(j) for j in range(len(words))]
        options = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.float64()), null_values=_MISSING
        )
        table = pa_csv.read_csv(
            file,
            read_options=pa_csv.ReadOptions(column_names=names, use_threads=False),
            parse_options=pa_csv.ParseOptions(delimiter=separator),
            convert_options=options,
        )
        return _floats(np.column_stack([column.to_numpy() for column in table.columns]), file)
    except ValueError as error:
        if str(error).startswith(f"{_FUNCTION}: "):
            raise
        raise ValueError(
            f"{_FUNCTION}: {file} must hold the same number of values in every line "
            f"({first_line(error)})"
        ) from None


def _table(
    file: Path, neurons: str, drop: list[str]
) -> tuple[FloatArray, tuple[str, ...] | None, list[str]]:
    """Read a table with named columns; return values, neurons' names, and neurons to drop.

    Columns that are left out need not hold numbers, nor does the first where neurons are rows.
    """
    formats.checked_file(file, _FUNCTION, "read")
    table = files.read_table(file, function=_FUNCTION)
    names: tuple[str, ...] | None = None
    if neurons == "rows":
        texts = table.column(0).to_pylist()
        if all(isinstance(text, str) for text in texts):
            names, table = tuple(texts), table.remove_column(0)
    else:
        if not table.column_names[0]:
            raise ValueError(
                f"{_FUNCTION}: the first column of {file} must have a name. Hint: neurons='rows' "
                "(--neurons rows) where rows begin with the name of their neuron; else leave out "
                "the index of the rows when the file is written."
            )
        if drop:
            _check_dropped(drop, table.column_names, file)
        table, drop = table.drop_columns(drop), []
        names = tuple(table.column_names)
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.to_numpy()
        if values.dtype.kind not in "biuf":
            raise ValueError(
                f"{_FUNCTION}: the column {quoted(name)} of {file} must hold numbers. Hint: "
                "neurons='rows' (--neurons rows) where rows begin with the name of their neuron; "
                "drop leaves columns out."
            )
        columns.append(values)
    return _floats(np.column_stack(columns), file), names, drop


def _without_missing(recording: Recording, missing: str, file: Path) -> Recording:
    """Refuse frames with NaN, leave them out, or fill them in."""
    light = recording.fluorescence
    step = max(1, _BLOCK // light.shape[1])
    gaps = np.concatenate(
        [~np.isfinite(light[k : k + step]).all(axis=1) for k in range(0, len(light), step)]
    )
    count = int(gaps.sum())
    if count == 0:
        return recording
    if missing == "refuse":
        raise ValueError(
            f"{_FUNCTION}: {file} must hold finite numbers, got NaN or infinity in {count} of "
            f"{len(light)} frames, the first one {int(np.argmax(gaps))}. Hint: missing='drop' or "
            "'interpolate'."
        )
    columns = zip(recording.names, light.T, strict=True)
    empty = [name for name, column in columns if not np.isfinite(column).any()]
    if empty or (missing == "drop" and count == len(light)):
        what = f"the neurons {', '.join(empty[:5])}" if empty else "any frame"
        raise ValueError(f"{_FUNCTION}: {file} must hold finite numbers for {what}, got only NaN")
    if missing == "drop":
        return Recording(np.ascontiguousarray(light[~gaps]), recording.names)
    filled, frames = np.array(light), np.arange(len(light))
    for j in np.flatnonzero(~np.isfinite(light[gaps]).all(axis=0)):
        present = np.isfinite(light[:, j])
        filled[~present, j] = np.interp(frames[~present], frames[present], light[present, j])
    return Recording(filled, recording.names)
