"""Files and arrays that the recorded commands and calls read, equal on every machine.

A table of patients whose classes, numbers, counts and times depend on the dose, the marker and the
level; genes of 60 columns; fluorescence of six neurons. Files are written without the package.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

N = 60
FEATURES = ("dose", "marker", "level", "noise", "age", "sex", "stage")
NUMERIC = ("dose", "marker", "level", "noise")
SAMPLES = [f"S{i:02d}" for i in range(N)]


@cache
def uniform(n: int, p: int, seed: int) -> np.ndarray:
    """Return numbers between 0 and 1 with two decimals, so that there are ties."""
    draw = Random(seed).random  # the same stream in all versions of Python
    return np.array([[int(100 * draw()) / 100 for _ in range(p)] for _ in range(n)])


@cache
def patients() -> dict[str, list[Any]]:
    """Return the columns of the table of patients; None is a missing value."""
    u = uniform(N, 12, 1)
    dose, marker, level, noise = u[:, 0], u[:, 1], u[:, 2], u[:, 3]
    score = dose + (marker > 0.5) * level
    response = 2 * dose + np.where(marker > 0.5, level, -level) + 0.3 * u[:, 4]
    holes = u[:, 10] < 0.06
    return {
        "dose": dose.tolist(),
        "marker": [None if hole else x for x, hole in zip(marker.tolist(), holes, strict=True)],
        "level": level.tolist(),
        "noise": noise.tolist(),
        "age": (20 + 60 * u[:, 5]).astype(int).tolist(),
        "sex": [None if i in (7, 31) else "fm"[int(x < 0.5)] for i, x in enumerate(u[:, 6])],
        "stage": (1 + 4 * u[:, 7]).astype(int).tolist(),
        "site": [("north", "south", "west")[i % 3] for i in range(N)],
        "person": [f"p{i // 2:02d}" for i in range(N)],
        "hour": u[:, 8].tolist(),
        "grade": [("low", "mid", "high")[int(s > 0.5) + int(s > 0.95)] for s in score],
        "ill": [
            "ill" if s + 0.2 * v > 0.8 else "well" for s, v in zip(score, u[:, 4], strict=True)
        ],
        "response": [round(x, 3) for x in response.tolist()],
        "visits": (6 * score * u[:, 9]).astype(int).tolist(),
        "months": [round(x, 1) for x in (20 * (response - response.min()) + 0.5).tolist()],
        "died": (u[:, 11] < 0.67).astype(int).tolist(),
    }


def columns(*names: str) -> dict[str, list[Any]]:
    """Return the features of the patients, and further columns."""
    return {name: patients()[name] for name in (*FEATURES, *names)}


def cohort() -> dict[str, list[Any]]:
    """Return the features of the patients, months of inclusion and of death, and its cause."""
    table, u = columns("months", "died"), uniform(N, 2, 5)
    causes = np.where(u[:, 0] < 0.7, "disease", "accident")
    occurred = table.pop("died")
    cause = [str(c) if died else "alive" for c, died in zip(causes, occurred, strict=True)]
    included = [round(0.9 * m * v, 1) for m, v in zip(table["months"], u[:, 1], strict=True)]
    return {**table, "included": included, "cause": cause}


@cache
def values() -> np.ndarray:
    """Return the numeric features of the patients without missing values, of shape (N, 4)."""
    return uniform(N, 12, 1)[:, :4]


@cache
def few() -> dict[str, list[Any]]:
    """Return a table of few values, with two contexts, strata and groups."""
    x = (uniform(N, 4, 2) * 3).astype(int)
    y = np.array(["p", "q", "r"])[(x[:, 0] + x[:, 1] * (x[:, 2] > 1)) % 3]
    return {
        **{name: x[:, j].tolist() for j, name in enumerate("abcd")},
        "place": [("x", "y")[i % 2] for i in range(N)],
        "hour": uniform(N, 1, 5)[:, 0].tolist(),
        "batch": [i % 3 for i in range(N)],
        "person": [i // 2 for i in range(N)],
        "region": [("u", "v", "v")[i // 2 % 3] for i in range(N)],
        "y": y.tolist(),
    }


@cache
def genes() -> dict[str, list[Any]]:
    """Return sixty columns, of which three tell the two classes, and a number."""
    x = uniform(N, 60, 7)
    state = np.where(x[:, 0] + x[:, 1] > 1, "case", "control")
    return {
        **{f"g{j}": x[:, j].tolist() for j in range(60)},
        "state": state.tolist(),
        "dose": [round(v, 2) for v in (x[:, 0] + x[:, 1] * x[:, 2]).tolist()],
    }


@cache
def expression() -> np.ndarray:
    """Return the expression of six genes, of shape (30, 6), the second driven by the first."""
    x = uniform(30, 6, 6).copy()
    x[:, 1] = np.round((x[:, 0] + x[:, 1]) / 2, 3)
    return x


@cache
def fluorescence() -> np.ndarray:
    """Return the fluorescence of six neurons in 400 frames, with bursts."""
    rises = (uniform(400, 6, 11) < 0.04) * 0.2
    rises[60::90] += 0.15
    level, frames = np.zeros(6), []
    for rise in rises:
        level = 0.95 * level + rise
        frames.append(level)
    return np.round(np.array(frames) + 0.01 * uniform(400, 6, 12), 6)


def _text(columns: Mapping[str, Sequence[Any]], separator: str = ",", missing: str = "") -> str:
    """Return columns as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    rows = zip(*columns.values(), strict=True)
    writer.writerows([missing if x is None else x for x in row] for row in rows)
    return text.getvalue()


def _csv(columns: Mapping[str, Sequence[Any]]) -> Callable[[Path], None]:
    return lambda path: _put(path, _text(columns))


def _put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _decimal_commas(path: Path) -> None:
    _put(path, _text(columns("ill"), "\t", "?").replace(".", ","))


def _parquet(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table(columns("grade")), path)


def _workbook(path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["nothing"])
    sheet = book.create_sheet("patients")
    table = columns("ill")
    sheet.append(list(table))
    for row in zip(*table.values(), strict=True):
        sheet.append(row)
    book.save(path)


def _archive(path: Path) -> None:
    """Write an archive of two tables, one of them below a title and in Latin-1."""
    text = "Étude,2024\n" + _text(columns("grade")).replace("high", "élevé")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("old.csv", "a,b\n1,2\n")
        archive.writestr("new.csv", text.encode("latin-1"))


def _cells(path: Path) -> None:
    """Write a sparse AnnData file with a layer."""
    import anndata
    import pandas as pd
    from scipy import sparse

    counts = np.floor(6 * values() * (values() > 0.4)).astype("f4")
    cells = anndata.AnnData(
        X=sparse.csr_matrix(counts),
        obs=pd.DataFrame({"state": patients()["ill"]}, index=SAMPLES),
        var=pd.DataFrame(index=list(NUMERIC)),
        layers={"twice": sparse.csr_matrix(2 * counts)},
    )
    cells.write_h5ad(path)


def _genotypes(path: Path) -> None:
    """Write a PLINK file of 24 people and 8 variants, with its two companions."""
    n, p = 24, 8
    copies = (np.add.outer(np.arange(n) * 5, np.arange(p) * 3) + np.arange(n)[:, None] ** 2) % 4
    pairs = np.array([3, 2, 0, 1], dtype=np.uint8)[copies]  # the last is missing
    quads = pairs.T.reshape(p, -1, 4)
    packed = quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6
    path.write_bytes(b"\x6c\x1b\x01" + packed.astype(np.uint8).tobytes())
    _put(path.with_suffix(".bim"), "".join(f"1\trs{j}\t0\t{j + 1}\tA\tC\n" for j in range(p)))
    rows = (f"F{i} I{i} 0 0 {1 + i // 3 % 2} {1 + i % 2}\n" for i in range(n))
    _put(path.with_suffix(".fam"), "".join(rows))


def _annotations(names: Iterable[str], *, reverse: bool = True) -> Callable[[Path], None]:
    """Write the annotations of samples, in another order than that of the table."""
    rows = list(zip(names, patients()["ill"], patients()["age"], strict=True))
    order = rows[::-1] if reverse else rows
    table = dict(zip(("id", "state", "age"), map(list, zip(*order, strict=True)), strict=True))
    return _csv(table)


def _rows_are_genes(path: Path) -> None:
    lines = [f"{name}," + ",".join(map(str, values()[:, j])) for j, name in enumerate(NUMERIC)]
    _put(path, "\n".join([",".join(["gene", *SAMPLES]), *lines]) + "\n")


def _units(path: Path) -> None:
    rows = [f'"{1000 + 17 * i:,}",{i % 7 + 0.5} mg/l,{i % 7} mg' for i in range(N)]
    _put(path, "income,dose,remark\n" + "\n".join(rows) + "\n")


def _findings(path: Path) -> None:
    """Write a table with a row name, a constant, a code of missing values and a missing target."""
    table = columns()
    ages = [-999 if i in (3, 8) else age for i, age in enumerate(table["age"])]
    ill = [None if i < 4 else value for i, value in enumerate(patients()["ill"])]
    more = {"patient": SAMPLES, "clinic": ["A"] * N, "age": ages, "ill": ill}
    _put(path, _text({**table, **more}))


def _suite2p(path: Path) -> None:
    path.mkdir()
    for name in ("F", "Fneu"):
        np.save(path / f"{name}.npy", fluorescence().T.astype("f4"))


def _caiman(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file["estimates/C"] = fluorescence().T


def _array(values: np.ndarray) -> Callable[[Path], None]:
    return lambda path: np.save(path, np.ascontiguousarray(values))


NAMES = [f"g{j}" for j in range(6)]
NEURONS = [f"n{j}" for j in range(6)]
FILES: dict[str, Callable[[Path], None]] = {
    "grade.csv": _csv(columns("grade")),
    "ill.csv": _csv(columns("ill")),
    "response.csv": _csv(columns("response")),
    "visits.csv": _csv(columns("visits")),
    "survival.csv": _csv(columns("months", "died")),
    "cohort.csv": _csv(cohort()),
    "design.csv": _csv(columns("site", "person", "hour", "ill")),
    "patients.csv": _csv(patients()),
    "commas.tsv": _decimal_commas,
    "grade.parquet": _parquet,
    "book.xlsx": _workbook,
    "study.zip": _archive,
    "matrix.npy": _array(values()),
    "cells.h5ad": _cells,
    "g.bed": _genotypes,
    "named.csv": _csv({"id": SAMPLES, **{name: patients()[name] for name in NUMERIC}}),
    "rows.csv": _rows_are_genes,
    "samples.csv": _annotations(SAMPLES),
    "ordered.csv": _annotations(SAMPLES, reverse=False),
    "folded.csv": _annotations([name.lower() for name in SAMPLES]),
    "units.csv": _units,
    "findings.csv": _findings,
    "groups.csv": _csv(
        {"feature": [*FEATURES], "group": ["drug", "blood", "blood", "none", *["person"] * 3]}
    ),
    "few.csv": _csv(few()),
    "genes.csv": _csv(genes()),
    "numbers.csv": _csv(
        {**{f"x{j}": (uniform(N, 5, 7)[:, j] * 6).round().tolist() for j in range(5)},
         "y": genes()["state"]}
    ),
    "expression.csv": _csv(
        {**dict(zip(NAMES, expression().T.tolist(), strict=True)),
         "batch": expression()[:, 0].tolist()}
    ),
    "transposed.csv": _csv(
        {"gene": NAMES, **{f"s{i}": expression()[i].tolist() for i in range(30)}}
    ),
    "words.csv": _csv(
        {f"w{j}": np.where(expression()[:, j] > 0.5, "high", "low").tolist() for j in range(3)}
    ),
    "factors.txt": lambda path: _put(path, "G0\ng1\nZNF9\n"),
    "regulators.txt": lambda path: _put(path, "g0\ng1\ng2\n"),
    "gold.csv": _csv({"source": ["g0", "g1", "g2"], "target": ["g1", "g2", "g4"]}),
    "traces.csv": _csv(
        {"time": list(range(400)), **dict(zip(NEURONS, fluorescence().T.tolist(), strict=True))}
    ),
    "traces.npy": _array(fluorescence()),
    "neurons.npy": _array(fluorescence().T),
    "places.csv": _csv({"x": list(range(6)), "y": [0, 1] * 3}),
    "links.csv": _csv({"source": ["n0", "n3"], "target": ["n1", "n2"]}),
    "suite2p": _suite2p,
    "caiman.hdf5": _caiman,
    "empty.csv": lambda path: _put(path, "dose,ill\n"),
    "one-class.csv": _csv({**columns(), "ill": ["ill"] * N}),
}  # fmt: skip


def write(words: Iterable[str], folder: Path) -> None:
    """Write the files that words of a command line name."""
    for word in words:
        if word in FILES and not (folder / word).exists():
            FILES[word](folder / word)
