"""Commands on damaged files of all kinds, with the options that such files take.

Matrices whose rows are features beside the annotations of their samples, standard input, archives,
workbooks, AnnData, folders of Parquet, text in other encodings and below titles.
"""

from __future__ import annotations

import functools
import io
import os
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from tests.faults.batches import REFUSED
from tests.faults.commands import OUT, Ended, counted, differences, run_command, tree
from tests.faults.files import damaged_workbooks
from tests.faults.files.damaged_workbooks import WORDS as OF_WORKBOOKS
from tests.faults.files.fuzz_tables import WORDS as OF_TABLES
from tests.faults.fuzzing import altered

N = 30
SAMPLES = [f"S{i:02d}" for i in range(N)]
LAST = 2 * N // 3  # rows of the first of two files
WORDS = [*OF_TABLES, *OF_WORKBOOKS, b"S01", b"S99", b"s02", b"S.03", b"id", b"case", b"=y", b"~"]


def _frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    y = np.arange(N) % 2
    columns = {f"g{j}": random.normal(size=N).round(3) + (j == 0) * 2 * y for j in range(4)}
    return pd.DataFrame({**columns, "y": np.array(["case", "control"])[y]}, index=SAMPLES)


def _table() -> bytes:
    return _frame().to_csv(index_label="id").encode()


def _matrix() -> bytes:
    return _frame().drop(columns="y").T.to_csv(index_label="gene").encode()


def _annotations() -> bytes:
    frame = _frame()[["y"]].assign(age=range(20, 20 + N), sex=["f", "m"] * (N // 2))
    return frame[::-1].to_csv(index_label="id").encode()


def _geo() -> bytes:
    def line(name: str, values: list[str]) -> str:
        return "\t".join([name, *(f'"{value}"' for value in values)]) + "\n"

    frame = _frame()
    text = line("!Series_title", ["a"]) + line("!Sample_geo_accession", SAMPLES)
    text += line("!Sample_characteristics_ch1", [f"y: {value}" for value in frame["y"]])
    table = frame.drop(columns="y").T.to_csv(index_label="ID_REF", sep="\t")
    return f"{text}!series_matrix_table_begin\n{table}!series_matrix_table_end\n".encode()


def _parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file, row_group_size=12)
    return file.getvalue()


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", _table())
        archive.writestr("b.csv", "x,y\n1,2\n")
    return file.getvalue()


def _h5ad() -> bytes:
    import anndata
    import h5py

    frame = _frame()
    data = anndata.AnnData(frame.drop(columns="y").to_numpy(), obs=frame[["y"]])
    data.var_names = frame.columns[:-1].to_list()
    file = io.BytesIO()
    with h5py.File(file, "w") as content:
        anndata.io.write_elem(content, "/", data)
    return file.getvalue()


@dataclass(frozen=True)
class Case:
    """Files and the options that they take.

    Attributes
    ----------
    files : dict
        What makes the bytes of each file, by its name; the first one is FILE.
    options : str
        Options for FILE, besides the target.
    piped : bool
        Whether FILE comes by standard input.
    """

    files: dict[str, Callable[[], bytes]]
    options: str = ""
    piped: bool = False


CASES = (
    Case({"a.csv": _matrix, "s.csv": _annotations}, "--transpose --samples s.csv"),
    Case(
        {"a.parquet": lambda: _parquet(_frame().drop(columns="y").T.reset_index()),
         "s.csv": _annotations},
        "--transpose --samples s.csv --samples-feature age",
    ),
    Case(
        {"a.csv": _table, "s.csv": _annotations}, "--drop y --samples s.csv --samples-match fold"
    ),
    Case({"GSE1_series_matrix.txt": _geo}),
    Case({"a.csv": _table}, "", piped=True),
    Case({"a.parquet": lambda: _parquet(_frame())}, "", piped=True),
    Case({"a.zip": _zip}, "--member a.csv", piped=True),
    Case({"a.h5ad": _h5ad}),
    Case({"a.xlsx": lambda: damaged_workbooks.sound("xlsx")}, "--drop day --sheet Sheet"),
    Case({"a.xlsx": lambda: damaged_workbooks.sound("xlsx")}, "--drop day", piped=True),
    Case({"parts/a.parquet": lambda: _parquet(_frame()[:LAST]),
          "parts/b.parquet": lambda: _parquet(_frame()[LAST:])}),
    Case({"a.csv": lambda: _table().replace(b"case", b"fi\xe8vre")}, "--encoding latin-1"),
    Case({"a.csv": lambda: b"A title\n,,,\n" + _table()}, "--skip-rows 2"),
)  # fmt: skip
# What each command needs besides FILE; `pack` and `network` take no target.
COMMANDS = {
    "rank": "--target y --test none --trees 3 --jobs 1",
    "select": "--target y --selector mrmr --jobs 1",
    "context": "--target y --context g1 --n-bins 2 --trees 3 --permutations 2 --jobs 1",
    "exact": "--target y --drop g2 --drop g3 --bins 2 --jobs 1",
    "pack": "--jobs 1",
}
OF_CASES = ("--samples-feature age", "--drop y ", "--drop day")  # `pack` has no use for them


@functools.cache
def _sound(number: int) -> dict[str, bytes]:
    return {name: make() for name, make in CASES[number].files.items()}


@counted
def attempt(number: int, folder: Path) -> str:
    """Alter a file, and give it to a command."""
    random = np.random.default_rng(number)
    which = number % len(CASES)
    case, files = CASES[which], _sound(which)
    command = str(random.choice(list(COMMANDS)))
    damaged = str(random.choice(list(files)))
    (folder / "tmp").mkdir()
    (folder / "parts").mkdir()
    for name, data in files.items():
        changed = damaged_workbooks.changed if name.endswith(".xlsx") else _changed
        (folder / name).write_bytes(changed(random, data) if name == damaged else data)
    file = next(iter(files))
    place = file.partition("/")[0]
    options = case.options
    if command == "pack":
        for word in OF_CASES:
            options = options.replace(word, "")
    words = [command, "-" if case.piped else place, *COMMANDS[command].split(), *options.split()]
    before = tree(folder)
    ended = run_command(
        [*words, "--out", OUT], folder, inside=functools.partial(_prepared, folder, file, case)
    )
    fault = ended.fault() or _fault(command, ended, before, tree(folder))
    return f"{fault} {words}" if fault else "finished" if not ended.code else REFUSED


def _changed(random: np.random.Generator, data: bytes) -> bytes:
    return altered(random, [data], WORDS)


def _prepared(folder: Path, file: str, case: Case) -> None:
    """Set the folder of temporary files, and standard input, of the process of the command."""
    tempfile.tempdir = str(folder / "tmp")
    if case.piped:
        os.dup2(os.open(folder / file, os.O_RDONLY), 0)


def _fault(command: str, ended: Ended, before: dict[str, str], after: dict[str, str]) -> str | None:
    """Tell what is wrong with the end of a command, and with what it left."""
    left = differences({key: after[key] for key in after if key.partition("/")[0] != OUT}, before)
    if left:
        return f"leftovers: {left}"
    if not ended.code:
        return None if f"{OUT}/run.json" in after else "wrong: no results"
    if ended.code != 2:
        return f"wrong: exit {ended.code}: {ended.stderr[-300:]}"
    if OUT in after:
        return "leftovers: results of a command that failed"
    return ended.complaint(command)
