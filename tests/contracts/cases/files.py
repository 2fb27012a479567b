"""Commands on files of all kinds: archives, other encodings, titles, rows that are features."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from tests.contracts.cases.commands import write_genes_in_order
from tests.contracts.cases.stores import write_samples
from tests.contracts.commands import command
from tests.contracts.inputs import classes, features

N = 40
NAMES = [f"S{i:02d}" for i in range(N)]
COLUMNS = "abcde"
# What a command needs besides FILE and the target.
NEEDED = {
    "rank": "--trees 5 --no-test",
    "select": "--method mrmr",
    "compare": "--resamples 2 --trees 4 --measure mdi --features 2",
    "exact": "--bins 2 --max-depth 2 --max-degree 1",
    "context": "--context a --context-bins 2 --trees 5 --permutations 4",
    "network": "--trees 5",
    "pack": "",
}


def write_archive(folder: Path) -> None:
    """Write an archive of two tables, below a title and in Latin-1."""
    rows = [f"{','.join(f'{x:.3f}' for x in row)},{y}" for row, y in zip(*_data(), strict=True)]
    text = "\n".join(["\u00c9tude,2024", f"{','.join(COLUMNS)},state", *rows])
    with zipfile.ZipFile(folder / "study.zip", "w") as archive:
        archive.writestr("old.csv", "a,b\n1,2\n")
        archive.writestr("new.csv", text.replace("top", "t\u00f4t").encode("latin-1"))


def write_matrix(folder: Path) -> None:
    """Write a matrix whose rows are features, with annotations of the samples."""
    X, _ = _data()
    lines = [f"{name},{','.join(f'{x:.3f}' for x in X[:, j])}" for j, name in enumerate(COLUMNS)]
    (folder / "genes.csv").write_text("\n".join([f"gene,{','.join(NAMES)}", *lines]) + "\n")
    write_samples(folder, [name.lower() for name in NAMES])


def write_layers(folder: Path) -> None:
    """Write an AnnData file with a layer."""
    import anndata
    import pandas as pd

    X, y = _data()
    rows = pd.DataFrame({"state": y}, index=NAMES)
    cells = anndata.AnnData(X, obs=rows, var=pd.DataFrame(index=list(COLUMNS)))
    cells.layers["signs"] = (X > 0).astype(float)
    cells.write_h5ad(folder / "cells.h5ad")


def _data() -> tuple[np.ndarray, np.ndarray]:
    return features()[:N], classes()[:N]


OF_ARCHIVE = "study.zip --member new.csv --encoding latin-1 --skip-rows 1"
OF_MATRIX = "genes.csv --transpose --samples samples.csv --samples-id id --samples-match fold"
for name, needed in NEEDED.items():
    target = "" if name in ("pack", "network") else "--target state"
    label = "--drop state" if name == "network" else target
    command("archive, encoding, title", f"{name} {OF_ARCHIVE} {label} {needed}", write_archive)
    if name == "network":
        continue
    command("rows are features", f"{name} {OF_MATRIX} {target} {needed}", write_matrix)
    command("layer", f"{name} cells.h5ad --layer signs {target} {needed}", write_layers)
command(
    "rows are features, by position",
    "exact genes.csv --transpose --samples samples.csv --samples-match position "
    "--samples-feature age "
    "--target state --bins 2 --max-degree 1",
    write_genes_in_order,
)
