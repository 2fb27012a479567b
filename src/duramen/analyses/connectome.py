"""Analysis `connectome`: which neurons are connected, from calcium fluorescence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike

from duramen.analyses.execution import Execution, faults_of_ours
from duramen.analyses.network import known_links, report_of_links, source_name
from duramen.data.memory import require_memory
from duramen.io import Recording, read_recording, read_table
from duramen.jobs.replicates import Plan
from duramen.networks.connectome.filters import blocks
from duramen.networks.connectome.methods import METHODS, Inputs
from duramen.reports.report import Report, Section
from duramen.results.network import Network
from duramen.results.network_scores import NetworkScores, undirected_ceiling
from duramen.results.result import checked_names
from duramen.results.summary import counted
from duramen.support import checks
from duramen.support.arrays import FloatArray, TableLike
from duramen.support.provenance import cited, fingerprint, references, versions
from duramen.support.text import joined, printable, quoted

# Fraction of the values that are peaks, from which on thresholds are in another unit than the
# recording; in cultures it is below .05.
_TOO_MANY = 0.25
_OF_METHOD = ("filters", "thresholds", "exponent", "weighting", "directivity")
_OF_ALL = ("precision", "n_components", "quiet_below", "n_estimators", "max_depth")
_READING = ("layout", "key", "neurons", "neuropil", "missing", "drop")  # parameters about a file


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ConnectomeReport(Report):
    """Report of `duramen.connectome`: the links between neurons.

    Attributes
    ----------
    run, table, notes, references
        As of every report of an analysis.
    network : Network
        Weights of the links, of shape (p, p), undirected for correlations without directivity. The
        diagonal is 0, where the thesis has the smallest weight: a neuron is no candidate for a link
        with itself.
    scores : NetworkScores or None
        Agreement with known links.
    ceiling : NetworkScores or None
        Agreement of the perfect undirected network with known links.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> calcium = 0.3 * np.cumsum(np.random.default_rng(0).random((300, 4)) < 0.1, axis=0)
    >>> report = dm.connectome(calcium, method="pearson", gold=[("N1", "N2")])
    >>> report.scores.n_true, report.ceiling.aupr
    (1, 0.5)
    """

    network: Network
    scores: NetworkScores | None
    ceiling: NetworkScores | None


def connectome(
    recording: TableLike | Recording,
    *,
    names: Sequence[str] | None = None,
    layout: Literal["auto", "table", "suite2p", "caiman"] = "auto",
    key: str | None = None,
    neurons: Literal["auto", "columns", "rows"] = "auto",
    neuropil: float | None = None,
    missing: Literal["refuse", "drop", "interpolate"] = "refuse",
    drop: Sequence[str] = (),
    positions: str | Path | ArrayLike | None = None,
    gold: str | Path | Any = None,
    method: Literal[
        "averaged", "full", "partial_correlation", "pearson", "transfer_entropy", "genie3"
    ] = "averaged",
    filters: Mapping[str, float] | None = None,
    thresholds: float | Sequence[float] | None = None,
    exponent: float | None = None,
    weighting: Literal["none", "w", "w_star", "w_star_paper"] | None = None,
    precision: Literal["auto", "exact", "pca", "ledoit_wolf", "oas"] = "auto",
    n_components: float = 0.8,
    directivity: Literal["none", "weighted", "masked"] | None = None,
    quiet_below: float = 0.25,
    n_estimators: int = 100,
    max_depth: int = 3,
    links: int = 100_000,
    random_state: int | np.random.RandomState | np.random.Generator | None = 0,
    n_jobs: int = -1,
    checkpoint: str | Path | None = None,
    verbose: int = 0,
) -> ConnectomeReport:
    r"""Infer the links between neurons from calcium fluorescence.

    Smooths and differences the fluorescence of each neuron, keeps its peaks, and weights links by
    the association of the processed signals.

    Parameters
    ----------
    recording : path, array, data frame or recording of shape (T, p)
        Fluorescence of neurons in frames. Formats: text, .npy, Parquet, Arrow, HDF5, the folder or
        F.npy of suite2p, or HDF5 of CaImAn. In Python also an array or a data frame, frames by
        neurons.
    names : list of str, optional
        Names of the neurons of an array.
    layout : {"auto", "table", "suite2p", "caiman"}
        Layout of the file.
    key : str, optional
        Array to read from an HDF5 file.
    neurons : {"auto", "columns", "rows"}
        Orientation of a table: neurons in columns, or in rows; auto is columns, unless these are
        more than five times as many as the rows.
    neuropil : float, optional
        Fraction of the neuropil to subtract, often .7; none by default. Only suite2p stores the
        neuropil signal.
    missing : {"refuse", "drop", "interpolate"}
        Treatment of frames with missing values.
    drop : list of str
        Neuron, or column of times, to leave out.
    positions : path or array-like of shape (p, 2), optional
        Table of the positions of the neurons. Its columns are x and y, and its rows follow the
        order of the neurons. Positions are drawn and do not change the weights.
    gold : path, table, graph, matrix or list of tuples, optional
        File of known links to score the network against. Its columns are source and target, as
        names or as numbers counted from 0, and, if there is a third, 1 for links and 0 for others.
    method : {"averaged", "full", "partial_correlation", "pearson", "transfer_entropy", "genie3"}
        Method of association; the notes describe each.
    filters : mapping of str to float, optional
        Weights of the low-pass filters "f1" to "f4", and "none" for none, in place of those of the
        method.
    thresholds : float or list of float, optional
        Threshold of the differences of fluorescence between frames, in the unit of the data, to
        average over. By default .100, .101, ..., .210 for averaged and full, .12 for others.
    exponent : float, optional
        Exponent of the filter r, in place of that of the method.
    weighting : {"none", "w", "w_star", "w_star_paper"}, optional
        Filter against activity of the whole network, in place of that of the method; w* in the form
        of the program or of the paper, see :func:`duramen.networks.connectome.emphasize`.
    precision : {"auto", "exact", "pca", "ledoit_wolf", "oas"}
        Estimator of the precision matrix; auto is pca, or oas if few frames have a signal, see
        :func:`duramen.networks.connectome.partial_correlation`.
    n_components : int or float
        Number, or fraction, of the principal components that pca keeps.
    directivity : {"none", "weighted", "masked"}, optional
        Formula that directs the links of a correlation, in place of that of the method, see
        :func:`duramen.networks.connectome.directed`.
    quiet_below : float
        Mean fluorescence below which a frame is used by transfer_entropy.
    n_estimators : int
        Number of trees for each neuron (genie3); the authors grew 10,000.
    max_depth : int
        Maximum depth of the trees (genie3).
    links : int
        Number of links in the results; the largest weights are kept.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int
        Number of threads, or -1 for all. The result does not depend on it.
    checkpoint : path, optional
        File that keeps the settings that are done; the same call continues from it.
    verbose : int
        Above 0: a progress bar.

    Returns
    -------
    ConnectomeReport
        Table of links, conclusion and notes; ``network``, ``scores``, ``ceiling``. Notes name
        neurons without a signal above the threshold; and say if so much is above it that the
        recording must have another unit, and if there are fewer frames than neurons.

    Raises
    ------
    ValueError, TypeError, OSError
        If an argument is not as described, a value is not finite, a covariance is singular, or a
        file cannot be read.
    MemoryError
        If the weights would not fit in memory.

    Notes
    -----
    The signal of each neuron is smoothed (f), differenced (g), cut off below a threshold (h), and
    weighted against activity of the whole network (w): :math:`w \circ h \circ g \circ f`. The
    default thresholds suit traces whose single spikes rise by about .1. The methods:

    ``"averaged"``
        Partial correlation of w h g f, averaged over f1 and f2 with weights 1 and .9 and the
        thresholds .100, .101, ..., .210.
    ``"full"``
        Partial correlation of w* r h g f, averaged over f1 to f4 with weights 1, .9, .01, .7 and
        the same thresholds; directed by the order of rises.
    ``"partial_correlation"``
        Partial correlation of w h g f1 with the threshold .12.
    ``"pearson"``
        Pearson correlation of w h g with the threshold .12.
    ``"transfer_entropy"``
        Generalized transfer entropy (Stetter et al. 2012).
    ``"genie3"``
        :func:`duramen.genie3` on h g f1 with the threshold .12.

    References
    ----------
    A. Sutera, A. Joly, V. François-Lavet, Z. A. Qiu, G. Louppe, D. Ernst, P. Geurts (2017). Simple
    connectome inference from partial correlation statistics in calcium imaging. In: Neural
    Connectomics Challenge, Springer. A. Sutera (2019), thesis, section 8.3, appendices 8.A to 8.C.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.signal import lfilter
    >>> import duramen as dm
    >>> spikes = np.random.default_rng(0).random((5000, 6)) < 0.02
    >>> spikes[1:, 1] |= spikes[:-1, 0]  # the first neuron excites the second one
    >>> calcium = lfilter([1.0], [1.0, -0.95], 0.2 * spikes, axis=0)
    >>> report = dm.connectome(calcium, method="partial_correlation")
    >>> report.network.top(1)[0][:2]
    ('N1', 'N2')
    """
    asked = dict(locals())
    execution = Execution.of(connectome, asked)
    checks.check_integer("connectome", "links", links, 1)
    names_of_methods = [entry.name for entry in METHODS]
    entry = METHODS[checks.check_choice("connectome", "method", method, names_of_methods)]
    # Settings of the method in place of its own, which are recorded if they are set.
    of_method = {name: asked[name] for name in _OF_METHOD if asked[name] is not None}
    if thresholds is not None:
        several = (thresholds,) if checks.is_real(thresholds) else thresholds
        of_method["thresholds"] = tuple(map(float, several))  # type: ignore[arg-type]
    of_all = {name: asked[name] for name in _OF_ALL}
    settings = replace(entry.settings, **of_all, **of_method)
    file = recording if isinstance(recording, str | Path) else None
    reading = {name: asked[name] for name in _READING}
    with execution.warnings_as_notes():
        if file is not None:
            recording = read_recording(file, **reading)
        for name, value in reading.items() if file is None else ():
            if value != signature(connectome).parameters[name].default:
                raise ValueError(
                    f"connectome: {name} is for files, and the recording is in memory; leave it out"
                )
        light = _recorded(recording, names)
        places = _positions(positions, len(light.names))
        known = known_links(gold, "connectome")
        if isinstance(gold, str | Path):
            known = _named(known, light.names)
    notes = []
    n_frames, p = light.fluorescence.shape
    settings.check(p)
    require_memory(
        32 * p * p, what=f"the weights of {p} x {p} links", function="connectome", hint="take fewer"
    )
    if n_frames < p:
        notes.append(
            f"there are fewer frames ({n_frames:,}) than neurons ({p:,}); if rows are neurons, "
            "transpose the recording"
        )
        execution.tell(*notes)  # before what may take long
    identity = {
        "method": entry.name,
        **vars(settings),
        "thresholds": list(settings.thresholds),
        "fingerprint": fingerprint(np.asarray(light.fluorescence)),
    }
    plan = Plan.checked("connectome", n_jobs, execution.checkpoint, execution.verbose)
    seed = execution.random_state
    with execution.work("infer"):
        result = entry.infer(Inputs(light.fluorescence, settings, identity, seed, plan))
    if (n_peaks := result.n_peaks) is not None:
        silent = [quoted(light.names[i]) for i in np.flatnonzero(n_peaks == 0).tolist()]
        if silent:
            have = "neuron has" if len(silent) == 1 else "neurons have"
            notes.append(
                f"{len(silent)} {have} no signal above the threshold, so that there is no evidence "
                f"for their links: {joined(silent, shown=5)}"
            )
        fraction = n_peaks.sum() / light.fluorescence.size
        if fraction > _TOO_MANY:
            notes.append(
                f"{fraction:.0%} of the differences between frames reach the threshold "
                f"{min(settings.thresholds):g}, so that noise counts as peaks; scale the "
                "recording, to dF/F for instance, or raise the thresholds"
            )
    execution.tell(*notes)
    inferred = Network(
        light.names,
        result.weights,
        directed=result.directed,
        measure=entry.measure,
        unit=entry.unit,
        notes=tuple(notes),
        metadata={**identity, "n_rows": n_frames, "seed": seed, "versions": versions()},
    )
    scores = ceiling = None
    results, more = {}, []
    if known is not None:
        with execution.step("score"):
            scores = inferred.score(known, pairs="directed")
            ceiling = undirected_ceiling(known, inferred.names)
        results = {"undirected_auroc": ceiling.auroc, "undirected_aupr": ceiling.aupr}
        line = (
            "The perfect undirected network, which has all known links in both directions, reaches "
            f"AUROC {ceiling.auroc:.3f}, AUPR {ceiling.aupr:.3f}."
        )
        more.append(Section("Best possible agreement", (line,), brief=(line,)))
    with faults_of_ours():
        name = "" if file is None else Path(file).name
        sources = " ".join(references(connectome))
        shape = f"{n_frames:,} frames x {counted(p, 'neuron')}"
        return report_of_links(
            ConnectomeReport,
            inferred,
            scores,
            execution,
            settings={
                **reading,
                "drop": [*drop],
                "positions": source_name(positions),
                "gold": source_name(gold),
                "method": method,
                **of_method,
                "thresholds": [*of_method.get("thresholds", ())],
                **of_all,
                "links": links,
            },
            of_data={"file": name},
            facts={
                "frames": f"{n_frames:,}",
                "neurons": f"{p:,}",
                "method": entry.title,
            },
            positions=places,
            results=results,
            more=more,
            methods=f"Links were weighted by the {cited(entry.title, entry.reference)}.",
            reading=[
                f"Links were weighted by the {entry.title} ({entry.reference}). "
                f"{entry.meaning} Weights rank links; they are not connection strengths."
            ],
            cautions=[
                *([] if inferred.directed else ["Links have no direction."]),
                "Neurons that were not recorded can drive two recorded ones, which are then "
                "associated without a link.",
                "Light scattered from neighboring neurons makes their signals alike.",
                "In bursts many neurons fire within a few frames; links cannot be distinguished in "
                "these frames.",
                *inferred.notes,
            ],
            kind="connectome",
            title=f"Connectome of {p:,} neurons",
            subject=(f"{f'{printable(name)}: ' if name else ''}{shape}; {inferred.measure}",),
            table=inferred.columns(min(links, inferred.n_candidates)),
            references=[
                *references(connectome),
                *([] if entry.reference.split()[0] in sources else [f"{entry.reference}."]),
            ],
            ceiling=ceiling,
        )


def _recorded(recording: Any, names: Sequence[str] | None) -> Recording:
    """Check a recording: an array, a data frame, or an object with `fluorescence` and `names`.

    Raises
    ------
    ValueError
        If it is not numbers in frames by neurons, all finite, or names do not fit.
    """
    own_names: Any = None
    if hasattr(recording, "fluorescence"):
        own_names, recording = getattr(recording, "names", None), recording.fluorescence
    elif hasattr(recording, "columns"):
        frame = nw.from_native(recording, eager_only=True)
        text = [name for name in frame.columns if not frame[name].dtype.is_numeric()]
        if text:
            raise checks.refuse(
                "connectome", "recording", "a table with numbers in all columns", text[0]
            )
        own_names, recording = frame.columns, frame.to_numpy()
    light = np.asanyarray(recording)
    if light.ndim != 2 or light.dtype.kind not in "fiu" or min(light.shape) < 2:
        came = f"{light.dtype} of shape {light.shape}"
        allowed = "numbers, at least 2 frames of 2 neurons"
        raise checks.refuse("connectome", "recording", allowed, came)
    for first, last in blocks(light):
        finite = np.isfinite(light[first:last])
        if not finite.all():
            t, i = (int(place) for place in np.argwhere(~finite)[0])
            raise ValueError(
                f"connectome: recording must be finite, got {quoted(light[first + t, i])} in "
                f"frame {first + t} of neuron {i}. Hint: leave out or fill such frames."
            )
    if names is None:
        names = [f"N{i + 1}" for i in range(light.shape[1])] if own_names is None else own_names
    checked = checked_names("connectome", "names", tuple(map(str, names)))
    if len(checked) != light.shape[1]:
        raise checks.refuse("connectome", "names", f"{light.shape[1]} names", len(checked))
    return Recording(light, checked)


def _positions(positions: Any, p: int) -> FloatArray | None:
    """Return the places of the neurons, in their order, of shape (p, 2).

    Raises
    ------
    ValueError
        If there are no columns x and y, or another number of rows.
    """
    if positions is None:
        return None
    if not isinstance(positions, str | Path):
        places = np.asarray(positions, dtype=np.float64)
        if places.shape != (p, 2):
            raise checks.refuse("connectome", "positions", f"of shape ({p}, 2)", places.shape)
        return places
    table = read_table(positions, function="connectome")
    if not {"x", "y"} <= set(table.column_names) or table.num_rows != p:
        raise ValueError(
            f"connectome: positions must have columns x and y and {p} rows, got "
            f"{', '.join(table.column_names)} and {counted(table.num_rows, 'row')} in "
            f"{Path(positions).name}"
        )
    return np.column_stack([table[name].to_numpy().astype(np.float64) for name in ("x", "y")])


def _named(links: list[tuple[Any, ...]], names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return links with names in place of numbers from 0 on, unless numbers are names."""
    places = {str(i): name for i, name in enumerate(names)}
    ends = {str(end) for row in links for end in row[:2]}
    if ends & set(names) or len(ends & set(places)) < len(ends) - 2:  # two words of a header
        return links
    return [(*(places.get(str(end), str(end)) for end in row[:2]), *row[2:]) for row in links]
