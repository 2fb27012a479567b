"""Options of `duramen connectome`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from duramen.cli.declaration import argument, choice, group, option
from duramen.cli.options import Printed, Work

COMMAND = "connectome"


@dataclass(frozen=True, kw_only=True)
class Fluorescence:
    """Recording, positions of the neurons, and known links."""

    file: Path | None = argument(
        None,
        "Fluorescence of neurons in frames: text, .npy, Parquet, Arrow, HDF5, .h5ad, the folder or "
        "F.npy of suite2p, or HDF5 of CaImAn.",
        metavar="FILE",
    )
    layout: str = choice("auto", "duramen.io.recordings:LAYOUTS", "Layout of the file.")
    key: str | None = option(None, "Array to read from an HDF5 file.", metavar="NAME")
    neurons: str = choice(
        "auto",
        "duramen.io.recordings:NEURONS",
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
    missing: str = choice(
        "refuse", "duramen.io.recordings:MISSING", "Treatment of frames with missing values."
    )
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

    method: str = choice("averaged", "duramen.networks.connectome:METHODS", "Method.")
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
        "duramen.networks.connectome.correlations:PRECISIONS",
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
    links: int = option(
        100_000,
        "Number of links in the results, those of the largest weights.",
        metavar="N",
        min=1,
        section="Results",
    )
    work: Work = group(Work, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-connectome"))
