"""Recordings of fluorescence, of all layouts, with a few wrong bytes."""

from __future__ import annotations

import functools
import io
from pathlib import Path

import h5py
import numpy as np
from tests.faults.batches import READ
from tests.faults.fuzzing import altered

from duramen.io import read_recording

WORDS = [
    *(b"NaN", b"inf", b"-", b"1e999", b"\n", b"\t", b",", b"\x00", b"\xff" * 4, b"\xff" * 8),
    *(b"'shape': (", b"9" * 20, b"True", b"<f8", b"|O", b"<U9", b"\x93NUMPY", b"{", b")" * 9),
]


@functools.cache
def sound() -> dict[str, bytes]:
    """Files by their names; those of one folder belong together."""
    light = np.random.default_rng(0).normal(size=(6, 40)).astype(np.float32)
    files: dict[str, bytes] = {}

    def array(name: str, values: np.ndarray) -> None:
        file = io.BytesIO()
        np.save(file, values)
        files[name] = file.getvalue()

    def hdf5(name: str, arrays: dict[str, np.ndarray]) -> None:
        file = io.BytesIO()
        with h5py.File(file, "w") as content:
            for key, values in arrays.items():
                content[key] = values
        files[name] = file.getvalue()

    array("t.npy", light)
    array("suite2p/F.npy", light)
    array("suite2p/Fneu.npy", light / 2)
    array("suite2p/iscell.npy", np.ones((6, 2)))
    hdf5("t.h5", {"traces": light})
    hdf5("caiman.hdf5", {"estimates/C": light, "estimates/idx_components": np.arange(4)})
    lines = [" ".join(f"{value:.3f}" for value in frame) for frame in light.T]
    files["t.txt"] = "\n".join(lines).encode()
    files["t.dat"] = "\n".join(lines).replace(" ", "\t").encode()
    return files


def attempt(number: int, folder: Path) -> str:
    """Alter a file, and read the recording that it belongs to."""
    random = np.random.default_rng(number)
    name = list(sound())[number % len(sound())]
    for other, data in sound().items():
        path = folder / other
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(altered(random, [data], WORDS) if other == name else data)
    suite2p = name.startswith("suite2p")
    recording = read_recording(
        folder / ("suite2p" if suite2p else name),
        neurons="columns" if name.startswith("t.") else "rows",
        neuropil=0.7 if suite2p else None,
        missing=str(random.choice(["refuse", "drop", "interpolate"])),
    )
    np.asarray(recording.fluorescence).sum()
    return READ
