"""`duramen pack`: from any table to a column store."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duramen.cli.checkpoint import keeping
from duramen.cli.choices import FileFormats
from duramen.cli.clock import Clock
from duramen.cli.console import ending_well, note, standard_error, user_errors, warnings_as_notes
from duramen.cli.options import (
    CategoricalOption,
    DecimalOption,
    JobsOption,
    NaOption,
    QuietOption,
    SamplesByPositionOption,
    SamplesIdOption,
    SamplesOption,
    SpreadsheetSafeOption,
    spreadsheet_words,
)
from duramen.cli.output import write_results
from duramen.cli.reading import Reading, Samples, is_text, pairing_unwarned, repeated

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from duramen.reports import Run
    from duramen.tables import ColumnStore

COMMAND = "pack"


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    file: Path
    out: Path
    transpose: bool
    layer: str | None
    samples: Samples
    categorical: tuple[str, ...]
    reading: Reading
    memory: str
    overwrite: bool
    jobs: int
    spreadsheet_safe: bool
    quiet: bool


def pack(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="File with a table, in one of the formats below."),
        FileFormats(("groups", "read")),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the store, made by this command.")
    ] = Path("duramen-pack"),
    transpose: Annotated[
        bool,
        typer.Option(
            "--transpose",
            help="Rows of the file, such as genes, are columns of the table; the first column "
            "names them.",
        ),
    ] = False,
    layer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", show_default=False, help="Layer of an AnnData file, or raw; else X."
        ),
    ] = None,
    samples: SamplesOption = None,
    samples_id: SamplesIdOption = None,
    samples_by_position: SamplesByPositionOption = False,
    categorical: CategoricalOption = None,
    na: NaOption = None,
    decimal: DecimalOption = ".",
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory to use, such as 512MB or 2GiB.")
    ] = "512MB",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the store that DIR is already.")
    ] = False,
    jobs: JobsOption = -1,
    spreadsheet_safe: SpreadsheetSafeOption = False,
    quiet: QuietOption = False,
) -> None:
    """Pack a table into a column store."""
    options = Options(
        file=file,
        out=out,
        transpose=transpose,
        layer=layer,
        samples=Samples(samples, samples_id, samples_by_position),
        categorical=tuple(categorical or ()),
        reading=Reading(tuple(na or ()), decimal),
        memory=memory,
        overwrite=overwrite,
        jobs=jobs,
        spreadsheet_safe=spreadsheet_safe,
        quiet=quiet,
    )
    with ending_well(COMMAND, out):
        run_pack(options)


def run_pack(options: Options) -> None:
    """Pack, write, say."""
    from duramen.cli.show_pack import show_pack, summarise_pack
    from duramen.results.replacing import naming
    from duramen.tables import open_store

    clock, start = Clock(), time.perf_counter()
    found: list[pa.Table] = []

    def finishing(folder: Path) -> None:
        """Write the results into the store before it takes its place."""
        clock.seconds["pack"] = round(time.perf_counter() - start, 4)
        store = open_store(folder)
        table = store.to_table()
        run = _record(options, store, clock)
        columns = dict(zip(table.column_names, table.columns, strict=True))
        report = partial(summarise_pack, store, table, run)
        with naming(options.out, folder):
            write_results(folder, columns, run, report, clock, options.spreadsheet_safe)
        found.append(table)

    with user_errors(COMMAND):
        options.samples.check()
        options.reading.check(options.file, options.samples.file)
        store = _packed(options, finishing)
    if not options.quiet:
        show_pack(store, found[0], options.out)


def _packed(options: Options, finishing: Callable[[Path], None]) -> ColumnStore:
    from duramen.tables.store import packing
    from duramen.tables.store.part import PLAN, part_of

    part = part_of(options.out.expanduser())

    def unfinished() -> list[Path]:
        return [part] if (part / PLAN).is_file() else []

    if unfinished() and not options.quiet:
        note(f"looking at what an earlier run left in {part.name}")
    samples, text = options.samples, is_text(options.file)
    with (
        keeping(unfinished, options.quiet),
        warnings_as_notes(options.quiet),
        pairing_unwarned(),
    ):
        asked = packing.Options(
            kinds=dict.fromkeys(options.categorical, "nominal") or None,
            transpose=options.transpose,
            layer=options.layer,
            samples=None
            if samples.file is None
            else options.reading.read(samples.file, f"duramen {COMMAND}"),
            samples_id=samples.id,
            samples_by_position=samples.by_position,
            na_values=options.reading.na if text else (),
            decimal=options.reading.decimal if text else ".",
            memory=options.memory,
            overwrite=options.overwrite,
            n_jobs=options.jobs,
            verbose=not options.quiet and standard_error().is_terminal,
        )
        store = packing.pack_with(options.file, options.out, asked, finishing)
    if store.samples_pairing is not None and not options.quiet:
        note(store.samples_pairing)
    return store


def _record(options: Options, store: ColumnStore, clock: Clock) -> Run:
    from duramen.reports import Run
    from duramen.results.provenance import versions

    return Run(
        command=_command(options),
        file=options.file.name,
        n_rows=store.n_rows,
        n_features=store.n_columns,
        fingerprint=store.fingerprint(),
        settings={
            "transpose": options.transpose,
            "layer": options.layer,
            **options.samples.record(),
            "categorical": list(options.categorical),
            **options.reading.record(),
            "memory": options.memory,
        },
        versions=versions("pyarrow", "h5py"),
        timings=dict(clock.seconds),
    )


def _command(options: Options) -> str:
    """Return the command line that does the same again, whatever folder it is run in."""
    words = ["duramen", COMMAND, options.file.name]
    words += ["--transpose"] if options.transpose else []
    words += [] if options.layer is None else ["--layer", options.layer]
    words += options.samples.words()
    words += repeated("--categorical", options.categorical) + options.reading.words()
    words += spreadsheet_words(options.spreadsheet_safe)
    return shlex.join([*words, "--memory", options.memory])
