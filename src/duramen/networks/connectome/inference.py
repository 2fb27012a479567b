"""Connectome inference: from fluorescence to the weights of links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from duramen.data.memory import require_memory
from duramen.jobs.replicates import Plan
from duramen.networks.connectome.methods import METHODS, Inferred, Inputs, method_names
from duramen.networks.connectome.settings import FUNCTION, Recording, Settings
from duramen.networks.targets import template_of_targets
from duramen.results.fields import warn_of
from duramen.results.network import Network
from duramen.support import checks
from duramen.support.provenance import fingerprint, versions
from duramen.support.text import quoted

_FEW = 5
# Fraction of the values that are peaks, from which on thresholds are in another unit than the
# recording; in cultures it is below .05.
_TOO_MANY = 0.25


def connectome(
    fluorescence: Any,
    *,
    method: str = "averaged",
    names: Iterable[str] | None = None,
    filters: Mapping[str, float] | None = None,
    thresholds: Iterable[float] | float | None = None,
    exponent: float | None = None,
    weighting: str | None = None,
    precision: str = "auto",
    n_components: int | float = 0.8,
    directivity: str | None = None,
    quiet: float = 0.25,
    estimator: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Network:
    r"""Infer the links between neurons from calcium fluorescence.

    The signal of each neuron is smoothed, differenced, cut off below a threshold, and weighted
    against activity of the whole network (:math:`w \circ h \circ g \circ f`). Links are weighted by
    the association of the processed signals. The methods:

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

    Parameters
    ----------
    fluorescence : array, data frame or recording of shape (T, p)
        Fluorescence, frames by neurons; arrays may be mapped from a file. Thresholds are in its
        unit: the defaults suit traces whose single spikes rise by about .1.
    method : {"averaged", "full", "partial_correlation", "pearson", "transfer_entropy", "genie3"}
        Method. The parameters from `filters` to `directivity` replace its settings.
    names : iterable of str, optional
        Names of the neurons; N1, N2, ... or those of the columns by default.
    filters : mapping of str to float, optional
        Weights of the low-pass filters "f1" to "f4", and "none" for none.
    thresholds : float or iterable of float, optional
        Thresholds over which is averaged.
    exponent : float, optional
        Exponent of the filter r.
    weighting : {"none", "w", "w_star", "w_star_paper"}, optional
        Filter against activity of the whole network; w* in the form of the program or of the paper,
        see :func:`duramen.networks.connectome.emphasize`.
    precision : {"auto", "exact", "pca", "ledoit_wolf", "oas"}
        Estimator of the precision matrix, see
        :func:`duramen.networks.connectome.partial_correlation`.
    n_components : int or float
        Number, or fraction, of the components for "pca".
    directivity : {"none", "weighted", "masked"}, optional
        Formula that directs the links of a correlation, see
        :func:`duramen.networks.connectome.directed`.
    quiet : float
        Mean fluorescence below which transfer entropy keeps frames.
    estimator : estimator of duramen, optional
        Forest of each neuron, for "genie3", as for :func:`duramen.genie3`. By default
        ``RandomForestRegressor(100, max_features="sqrt", max_depth=3)``; the authors grew 10,000
        trees of depth 3.
    random_state : int, RandomState, Generator or None
        Seed, for "genie3".
    n_jobs : int, optional
        Number of threads; None for 1, -1 for all processors. The result does not depend on it.
    checkpoint : path, optional
        File that keeps the settings that are done; the same call continues from it.
    verbose : int
        Above 0: a progress bar with the time left.

    Returns
    -------
    Network
        Weights of shape (p, p), undirected for correlations without directivity. The diagonal is 0,
        where the thesis has the smallest weight: a neuron is no candidate for a link with itself.

    Raises
    ------
    ValueError
        If a parameter is not as described, a value is not finite, or a covariance is singular.
    MemoryError
        If the weights would not fit in memory.

    Warns
    -----
    UserWarning
        Naming neurons without a signal above the threshold; if so much is above it that the
        recording must have another unit; if there are fewer frames than neurons.

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
    >>> network = dm.connectome(calcium, method="partial_correlation")
    >>> network.top(1)[0][:2]
    ('N1', 'N2')
    """
    plan = Plan.checked(FUNCTION, n_jobs, checkpoint, verbose)
    chosen = METHODS[checks.check_choice(FUNCTION, "method", method, method_names())]
    recording = Recording.of(fluorescence, names)
    if thresholds is None:
        thresholds = chosen.thresholds
    elif checks.is_real(thresholds):
        thresholds = (thresholds,)  # type: ignore[assignment]
    settings = Settings(
        dict(chosen.filters if filters is None else filters),
        tuple(map(float, thresholds)),  # type: ignore[arg-type]
        chosen.exponent if exponent is None else exponent,
        chosen.weighting if weighting is None else weighting,
        precision,
        n_components,
        chosen.directivity if directivity is None else directivity,
        quiet,
        _template(estimator, chosen.name),
    )
    p = len(recording.names)
    settings.check(p)
    require_memory(
        32 * p * p, what=f"the weights of {p} x {p} links", function=FUNCTION, hint="take fewer"
    )
    identity = {
        "method": chosen.name,
        **settings.record(),
        "fingerprint": fingerprint(np.asarray(recording.frames)),
    }
    early = _of_shape(recording)
    warn_of(FUNCTION, early)  # before what may take long
    inferred = chosen.infer(Inputs(recording, settings, identity, random_state, plan))
    late = _of_peaks(recording, settings, inferred)
    more = {"n_rows": len(recording.frames), "seed": inferred.seed, "versions": versions()}
    warn_of(FUNCTION, late)
    return Network(
        recording.names,
        inferred.weights,
        directed=inferred.directed,
        measure=chosen.measure,
        unit=chosen.unit,
        notes=early + late,
        metadata={**identity, **more},
    )


def _template(estimator: Any, method: str) -> Any:
    """Return the estimator of the forests of GENIE3; other methods have no use for one."""
    if estimator is None:
        from duramen.estimators import RandomForestRegressor

        estimator = RandomForestRegressor(100, max_features="sqrt", max_depth=3)
    elif method != "genie3":
        raise ValueError(
            f"{FUNCTION}: estimator is for method='genie3', got method={method!r}. Hint: leave it "
            "out."
        )
    return template_of_targets(estimator, FUNCTION)


def _of_shape(recording: Recording) -> tuple[str, ...]:
    """Return a note on fewer frames than neurons."""
    frames, p = recording.frames.shape
    if frames >= p:
        return ()
    return (
        f"there are fewer frames ({frames:,}) than neurons ({p:,}); if rows are neurons, "
        "transpose the recording",
    )


def _of_peaks(recording: Recording, settings: Settings, inferred: Inferred) -> tuple[str, ...]:
    """Return notes on neurons without peaks, and on too many peaks."""
    if inferred.n_peaks is None:
        return ()
    notes = []
    silent = np.flatnonzero(inferred.n_peaks == 0)
    if len(silent):
        shown = ", ".join(quoted(recording.names[i]) for i in silent[:_FEW])
        more = f" and {len(silent) - _FEW} more" if len(silent) > _FEW else ""
        which = "neuron has" if len(silent) == 1 else "neurons have"
        notes.append(
            f"{len(silent)} {which} no signal above the threshold, so that there is no evidence "
            f"for their links: {shown}{more}"
        )
    fraction = inferred.n_peaks.sum() / recording.frames.size
    if fraction > _TOO_MANY:
        notes.append(
            f"{fraction:.0%} of the differences between frames reach the threshold "
            f"{min(settings.thresholds):g}, so that noise counts as peaks; scale the recording, "
            "to dF/F for instance, or raise the thresholds"
        )
    return tuple(notes)
