"""Command `duramen pack`: from any table to a column store."""

from __future__ import annotations

import time
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from duramen.cli.command import print_report, write_results
from duramen.cli.console import note, notes, standard_error, user_errors, warnings_as_notes
from duramen.cli.declaration import argument, command_line, given_paths, group, option, recorded
from duramen.cli.ending import Clock
from duramen.cli.options import Jobs, Output, keeping
from duramen.cli.reading import Annotations, Matrix, Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from duramen.data import Finding
    from duramen.io import ColumnStore
    from duramen.reports import Report, Run


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


def pack(options: Options) -> None:
    """Pack a table into a column store, a folder on disk.

    Example: duramen pack expression.csv --out expression.store

    Other commands then read only the columns that they need. Packing takes little memory, however
    large the file; a note says how much, and the room on disk, before it starts. The same command
    resumes a stopped run. Creates the folder --out, and writes result.csv, result.parquet, run.json
    and report.html to it.
    """
    from duramen.io import open_store
    from duramen.reports.pack import summarize_pack
    from duramen.support.files import naming

    table, output = options.table, options.output
    clock, start = Clock(), time.perf_counter()
    reports: list[Report] = []

    def finishing(folder: Path) -> None:
        """Write the results into the store before it takes its place."""
        clock.seconds["pack"] = round(time.perf_counter() - start, 4)
        store = open_store(folder)
        report = summarize_pack(store, store.to_table(), _record(options, store, clock))
        with naming(output.out, folder):
            reports.append(write_results(folder, report, clock, output, given_paths(options)))

    with user_errors(COMMAND):
        output.check(COMMAND)
        table.annotations.check()
        table.reading.options.check(options.file, table.annotations.samples)
        _packed(options, finishing)
    print_report(reports[0], output)


def _packed(options: Options, finishing: Callable[[Path], None]) -> ColumnStore:
    from duramen.findings.table import of_names
    from duramen.io.store import packing
    from duramen.io.store.writer import PLAN, part_of
    from duramen.support.files import expanded

    packed, output, annotations = options.table, options.output, options.table.annotations
    part = part_of(expanded(output.out))

    def unfinished() -> list[Path]:
        return [part] if (part / PLAN).is_file() else []

    if unfinished() and not output.quiet:
        note(f"checking what an earlier run left in {part.name}")
    with (
        keeping(unfinished, output.quiet),
        warnings_as_notes(output.quiet),
    ):
        findings: list[Finding] = []
        settings = packing.Packing(
            kinds=dict.fromkeys(packed.reading.categorical, "nominal") or None,
            transpose=packed.matrix.transpose,
            layer=packed.matrix.layer,
            samples=annotations.read(packed.reading, f"duramen {COMMAND}", findings),
            samples_id=annotations.samples_id,
            samples_match=annotations.samples_match,
            reading=packed.reading.options.arguments(expanded(options.file))[0],
            memory=packed.memory,
            overwrite=options.overwrite,
        )
        notes(map(str, findings), output.quiet)
        store = packing.pack_with(
            options.file,
            output.out,
            settings,
            n_jobs=options.work.jobs,
            verbose=not output.quiet and standard_error().is_terminal,
            finishing=finishing,
            announce=lambda size: notes([size], output.quiet),
        )
    paired = [] if store.samples_pairing is None else [store.samples_pairing]
    named = [] if packed.matrix.transpose else of_names(store)
    notes([*paired, *map(str, named)], output.quiet)
    return store


def _record(options: Options, store: ColumnStore, clock: Clock) -> Run:
    from duramen.reports import Run
    from duramen.support.provenance import versions

    return Run(
        command=command_line(COMMAND, options),
        file=options.file.name,
        n_rows=store.n_rows,
        n_features=store.n_columns,
        fingerprint=store.fingerprint(),
        settings=recorded(options.table),
        versions=versions("pyarrow", "h5py"),
        timings=dict(clock.seconds),
    )
