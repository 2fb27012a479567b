"""Command `duramen connectome`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import checkpoints
from duramen.cli.command import perform
from duramen.cli.commands.network import read_links, record_of, score_record
from duramen.cli.console import warnings_as_notes
from duramen.cli.declaration import argument, choice, group, option, parameters
from duramen.cli.ending import Clock
from duramen.cli.options import (
    Printed,
    Work,
    check_demo,
    estimator_of,
    keeping,
    links_option,
    writable,
)

if TYPE_CHECKING:
    from duramen.reports import Report
    from duramen.results.network import Network
    from duramen.results.network_scores import NetworkScores
    from duramen.support.arrays import FloatArray


COMMAND = "connectome"


def _choices() -> dict[str, Any]:
    """Names that options take, by their field."""
    from duramen.io.recordings import LAYOUTS, MISSING, NEURONS
    from duramen.networks.connectome import METHODS
    from duramen.networks.connectome.correlations import PRECISIONS

    return {
        "layout": LAYOUTS,
        "neurons": NEURONS,
        "missing": MISSING,
        "method": METHODS,
        "precision": PRECISIONS,
    }


@dataclass(frozen=True, kw_only=True)
class Fluorescence:
    """Recording, positions of the neurons, and known links."""

    file: Path | None = argument(
        None,
        "Fluorescence of neurons in frames: text, .npy, Parquet, Arrow, HDF5, .h5ad, the folder or "
        "F.npy of suite2p, or HDF5 of CaImAn.",
        metavar="FILE",
    )
    layout: str = choice("auto", _choices, "Layout of the file.")
    key: str | None = option(None, "Array to read from an HDF5 file.", metavar="NAME")
    neurons: str = choice(
        "auto",
        _choices,
        "Orientation of a table: neurons in columns, or in rows; auto is columns, unless these are "
        "more than five times as many as the rows.",
    )
    neuropil: float | None = option(
        None,
        "Fraction of the neuropil signal of suite2p to subtract, often .7; none is "
        "subtracted by default.",
        metavar="F",
        min=0.0,
    )
    missing: str = choice("refuse", _choices, "Treatment of frames with missing values.")
    positions: Path | None = option(
        None,
        "Table with the position of each neuron in columns x and y, in the order of the neurons. "
        "It is used to draw the network, not for the weights.",
        metavar="FILE",
    )
    gold: Path | None = option(
        None,
        "File of known links to score the network against: columns of source and target, as "
        "names or as numbers counted from 0, and, if there is a third, 1 for links and 0 for "
        "others.",
        metavar="FILE",
    )
    drop: tuple[str, ...] = option(
        (),
        "Neuron, or column of a table such as the time, to leave out; repeat for more.",
        metavar="NAME",
        record="dropped",
    )
    demo: bool = option(
        False, "Use a simulated culture of 40 neurons, in place of FILE, --positions and --gold."
    )


@dataclass(frozen=True, kw_only=True)
class Inference:
    """Method and its settings."""

    method: str = choice("averaged", _choices, "Method.")
    threshold: tuple[float, ...] = option(
        (),
        "Threshold of the differences of fluorescence between frames, in the unit of the data; "
        "repeat to average over several. By default .100, .101, ..., .210 for averaged and full, "
        ".12 for others.",
        metavar="T",
        parameter="thresholds",
    )
    precision: str = choice(
        "auto",
        _choices,
        "Estimator of the precision matrix; auto is pca, or oas if few frames have a signal.",
    )
    components: float = option(
        0.8,
        "Fraction of the principal components that pca keeps.",
        metavar="F",
        min=0.0,
        max=1.0,
        parameter="n_components",
    )
    quiet_below: float = option(
        0.25,
        "Mean fluorescence below which a frame is used by transfer-entropy.",
        metavar="C",
        parameter="quiet",
    )
    trees: int = option(
        100,
        "Number of trees for each neuron (genie3).",
        metavar="T",
        min=1,
        parameter="n_estimators",
    )
    max_depth: int = option(3, "Maximum depth of the trees (genie3).", metavar="D", min=1)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen connectome`."""

    input: Fluorescence = group(Fluorescence, "Data")
    inference: Inference = group(Inference, "Method")
    links: int = links_option()
    work: Work = group(Work, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-connectome"))


_CALLER = f"duramen {COMMAND}"


@dataclass(frozen=True, eq=False)
class Recorded:
    """Recording, positions and known links."""

    name: str  # of the file, in sentences
    fluorescence: Any  # as `connectome` takes it
    names: tuple[str, ...]  # of the neurons
    positions: FloatArray | None = None  # of shape (p, 2)
    gold: Any = None  # as `Network.score` takes it


def _read(options: Fluorescence) -> Recorded:
    """Read the recording, and positions and known links if they are given.

    Raises
    ------
    ValueError, OSError
        If a file cannot be read.
    """
    if options.demo:
        from duramen.datasets import calcium_culture, culture_wiring

        wiring = culture_wiring(40, n_links=160, random_state=0)
        made = calcium_culture(10_000, wiring=wiring, strength=20.0, random_state=0)
        return Recorded(
            "simulated culture", made.fluorescence, made.names, made.positions, made.links
        )
    assert options.file is not None
    fluorescence, names = _recording(options)
    positions = None if options.positions is None else _positions(options.positions, len(names))
    gold = None if options.gold is None else _named(read_links(options.gold, _CALLER), names)
    return Recorded(options.file.name, fluorescence, names, positions, gold)


def _recording(options: Fluorescence) -> tuple[Any, tuple[str, ...]]:
    """Return the recording and the names of its neurons."""
    from duramen.io import read_recording

    assert options.file is not None
    return read_recording(
        options.file,
        layout=options.layout,
        key=options.key,
        neurons=options.neurons,
        neuropil=options.neuropil,
        missing=options.missing,
        drop=options.drop,
    )


def _positions(path: Path, p: int) -> FloatArray:
    """Return the places of the neurons, in their order.

    Raises
    ------
    ValueError
        If there are no columns x and y, or another number of rows.
    """
    import numpy as np

    from duramen.io import read_table
    from duramen.results.columns import counted

    table = read_table(path, function=_CALLER)
    if not {"x", "y"} <= set(table.column_names) or table.num_rows != p:
        raise ValueError(
            f"--positions: {path.name} must have columns x and y and {p} rows, got "
            f"{', '.join(table.column_names)} and {counted(table.num_rows, 'row')}"
        )
    return np.column_stack([table[name].to_numpy().astype(np.float64) for name in ("x", "y")])


def _named(links: list[tuple[Any, ...]], names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return links with names in place of numbers from 0 on, unless numbers are names."""
    places = {str(i): name for i, name in enumerate(names)}
    ends = {str(end) for row in links for end in row[:2]}
    if ends & set(names) or len(ends & set(places)) < len(ends) - 2:  # two words of a header
        return links
    return [(*(places.get(str(end), str(end)) for end in row[:2]), *row[2:]) for row in links]


# Recording, network, its scores, and those of the perfect undirected network.
Result = tuple[Recorded, "Network", "NetworkScores | None", "NetworkScores | None"]


def connectome(options: Options) -> None:
    """Infer the links between neurons from calcium fluorescence.

    Example: duramen connectome F.npy

    Smooths and differences the fluorescence of each neuron, keeps its peaks, and weights links by
    the association of the processed signals. Prints the heaviest links, and their agreement
    with known ones, and writes result.csv, result.parquet, run.json and report.html to the folder
    --out.
    """
    perform(COMMAND, options, _check, _compute, _report)


def _check(options: Options) -> dict[str, Any]:
    """Return the parameters of `connectome` that the options stand for."""
    source = options.input
    inputs = {"FILE": source.file, "--positions": source.positions, "--gold": source.gold}
    check_demo(source.demo, inputs, "a FILE", "a simulated culture")
    writable(options.work.checkpoint)
    settings = parameters(options.inference)
    n_trees, depth = settings.pop("n_estimators"), settings.pop("max_depth")
    if settings["method"] == "genie3":
        settings["estimator"] = estimator_of(
            "random-forest",
            "regression",
            n_estimators=n_trees,
            max_depth=depth,
            max_features="sqrt",
        )
    return {**settings, "thresholds": settings["thresholds"] or None}


def _compute(options: Options, settings: dict[str, Any], clock: Clock) -> Result:
    """Read the recording, infer the network, and score it if links are known."""
    from duramen.networks import undirected_ceiling
    from duramen.networks.connectome import connectome as infer

    quiet = options.output.quiet
    with clock.step("read"), warnings_as_notes(quiet):
        recording = _read(options.input)
    with (
        keeping(lambda: checkpoints(options.work.checkpoint), quiet),
        clock.step("infer"),
        warnings_as_notes(quiet),
    ):
        work = options.work.parameters(quiet)
        network = infer(recording.fluorescence, names=recording.names, **settings, **work)
    if recording.gold is None:
        return recording, network, None, None
    with clock.step("score"):
        scores = network.score(recording.gold, pairs="directed")
        return recording, network, scores, undirected_ceiling(recording.gold, network.names)


def _report(
    options: Options,
    _: dict[str, Any],
    result: Result,
    clock: Clock,
) -> Report:
    """Return the report of the connectome, with the table of links."""
    from duramen.networks.connectome import connectome as infer
    from duramen.reports import summarize_connectome
    from duramen.support.provenance import references

    recording, network, scores, ceiling = result
    results = score_record(scores)
    if ceiling is not None:
        results |= {"undirected_auroc": ceiling.auroc, "undirected_aupr": ceiling.aupr}
    run = record_of(COMMAND, options, options.inference, recording.name, network, results, clock)
    report = summarize_connectome(
        network, run, scores=scores, ceiling=ceiling, positions=recording.positions
    )
    columns = network.columns(min(options.links, network.n_candidates))
    return replace(report, table=columns, references=references(infer))
