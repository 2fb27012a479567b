"""A table whose names, labels and annotations try to reach a terminal, a page or a spreadsheet."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LONG = "long" * (1 << 18)  # a megabyte
NAMES = [
    "\x1b[2J\x1b]0;title\x07gene",
    "\u202eeneg\u2066\u200b",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=HYPERLINK(A1)",
    "@SUM(1)\r\n\u2028\x85tail",
    "[red]$x_1$[/red]",
    LONG,
]
TARGET = "<b>\x9b31m\u2067target"
CONTEXT = "+<i>\u202dcontext"
STRATA = "-\x1b[7mstrata"
ANNOTATION = "\u061c<u>\x1b[5mannotation"
KEY = "\u200f<key>"
CLASSES = ["=\x1b[31mill\u202e", "<script>well</script>"]
CONTEXTS = ["@\u2066north\x00", "<img src=y onerror=alert(2)>"]
N_ROWS = 60


def write_tables(folder: Path) -> None:
    """Write t.parquet, samples.parquet and groups.parquet, all hostile."""
    random = np.random.default_rng(0)
    columns = {name: np.arange(N_ROWS) % (k + 2) for k, name in enumerate(NAMES)}
    context = np.arange(N_ROWS) // 2 % 2
    y = columns[NAMES[0]] ^ context ^ (random.random(N_ROWS) < 0.1)
    rows = [f"{CLASSES[0]}{i}" for i in range(N_ROWS)]
    table = {
        **columns,
        CONTEXT: np.array(CONTEXTS)[context],
        STRATA: np.array(CONTEXTS)[np.arange(N_ROWS) // 3 % 2],
        TARGET: np.array(CLASSES)[y],
    }
    pq.write_table(pa.table(table), folder / "t.parquet")
    annotations = {KEY: rows, ANNOTATION: np.array(CLASSES)[y]}
    pq.write_table(pa.table({**columns, KEY: rows}), folder / "named.parquet")
    pq.write_table(pa.table(annotations), folder / "samples.parquet")
    groups = {"column": NAMES, "group": [f"{CLASSES[k % 2]}{k // 2}" for k in range(len(NAMES))]}
    pq.write_table(pa.table(groups), folder / "groups.parquet")


def raw_characters(text: str) -> set[str]:
    """Characters that move a cursor, turn the direction of text or cannot be seen."""
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return {c for c in text if c != "\n" and unicodedata.category(c) in kinds}
