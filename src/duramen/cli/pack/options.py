"""Options of `duramen pack`."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from duramen.cli.declaration import argument, group, option
from duramen.cli.options import Jobs, Output
from duramen.cli.reading import Annotations, Matrix, Reading

COMMAND = "pack"


@dataclass(frozen=True, kw_only=True)
class Table:
    """Table to pack."""

    matrix: Matrix = group(Matrix)
    annotations: Annotations = group(Annotations)
    reading: Reading = group(Reading)
    memory: str = option("512MB", "Memory to use, such as 512MB or 2GiB.", metavar="SIZE")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen pack`."""

    file: Path = argument(
        MISSING,
        "File with a table, in one of the formats below.",
        formats=("groups", "read"),
        metavar="FILE",
        section="Data",
    )
    table: Table = group(Table, "Data")
    overwrite: bool = option(
        False, "Replace the store in the folder --out.", echo="never", section="Results"
    )
    work: Jobs = group(Jobs, "Run")
    output: Output = group(Output, "Results", out=Path("duramen-pack"))
