"""Methods of connectome inference, one record each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from duramen.catalogue import Catalogue, Entry
from duramen.estimators.catalogue import random_forest
from duramen.jobs.replicates import Plan, run_jobs
from duramen.networks.connectome.correlations import (
    PRECISIONS,
    components_kept,
    correlation,
    partial_correlation,
)
from duramen.networks.connectome.direction import (
    RULES,
    directed,
    generalized_transfer_entropy,
    precedence,
)
from duramen.networks.connectome.filters import (
    LOW_PASS,
    NO_FILTER,
    WEIGHTINGS,
    Signal,
    peaks_of,
    process,
)
from duramen.networks.inference import genie3
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray

FUNCTION = "connectome"

_PER_JOB = 8  # thresholds, at least
_KEPT_BYTES = 1 << 28  # of the sums of all jobs, about

THRESHOLDS = tuple((np.arange(100, 211) / 1000).tolist())
_SINGLE = 0.12


@dataclass(frozen=True)
class Settings:
    """Filters and estimators of a method.

    Attributes
    ----------
    filters : mapping of str to float
        Weights of the low-pass filters, "none" for signals without one.
    thresholds : tuple of float
        Thresholds; the scores of all are averaged for each filter.
    exponent : float or None
        Exponent of r.
    weighting : {"none", "w", "w_star", "w_star_paper"}
        Filter against activity of the whole network.
    precision, n_components
        As for :func:`partial_correlation`.
    directivity : {"none", "weighted", "masked"}
        Formula that directs the links.
    quiet_below : float
        Mean fluorescence below which transfer entropy keeps frames.
    n_estimators, max_depth : int
        Number of trees for each neuron, and their maximum depth, of GENIE3.
    """

    filters: Mapping[str, float] = field(default_factory=lambda: {"f1": 1.0})
    thresholds: tuple[float, ...] = (_SINGLE,)
    exponent: float | None = None
    weighting: str = "none"
    precision: str = "auto"
    n_components: int | float = 0.8
    directivity: str = "none"
    quiet_below: float = 0.25
    n_estimators: int = 100
    max_depth: int = 3

    def check(self, n_neurons: int) -> None:
        """Raise ValueError if a setting is not allowed."""
        if not self.filters:
            raise checks.refuse(FUNCTION, "filters", "weights by name of filter", self.filters)
        for name, weight in self.filters.items():
            checks.check_choice(FUNCTION, "filters", name, (*LOW_PASS, NO_FILTER))
            checks.check_real(FUNCTION, f"filters[{name!r}]", weight, 0.0, ends="()")
        if not self.thresholds:
            raise checks.refuse(FUNCTION, "thresholds", "at least one number", self.thresholds)
        for threshold in self.thresholds:
            checks.check_real(FUNCTION, "thresholds", threshold, 0.0, ends="()")
        if self.exponent is not None:
            checks.check_real(FUNCTION, "exponent", self.exponent, 0.0, ends="()")
        checks.check_choice(FUNCTION, "weighting", self.weighting, WEIGHTINGS)
        checks.check_choice(FUNCTION, "precision", self.precision, PRECISIONS)
        checks.check_choice(FUNCTION, "directivity", self.directivity, ("none", *RULES))
        checks.check_real(FUNCTION, "quiet_below", self.quiet_below, -np.inf)
        checks.check_integer(FUNCTION, "n_estimators", self.n_estimators, 1)
        checks.check_integer(FUNCTION, "max_depth", self.max_depth, 1)
        components_kept(self.n_components, n_neurons)


class Inputs(NamedTuple):
    """Inputs of a method.

    Attributes
    ----------
    frames : array of shape (T, p)
        Fluorescence.
    settings : Settings
        Settings.
    identity : mapping
        What the result depends on, for a checkpoint.
    seed : int
        Seed.
    plan : Plan
        Threads, checkpoint, progress.
    """

    frames: NDArray[Any]
    settings: Settings
    identity: Mapping[str, Any]
    seed: int
    plan: Plan

    def peaks(self, name: str, threshold: float) -> Signal:
        """Return the peaks of a low-pass filter from a threshold on."""
        return peaks_of(self.frames, name, threshold, n_threads=self.plan.n_threads)


class Inferred(NamedTuple):
    """Result of a method.

    Attributes
    ----------
    weights : float64 array of shape (p, p)
        Weights, source by target; 0 on the diagonal.
    directed : bool
        Whether the directions differ.
    n_peaks : int array of shape (p,), or None
        Number of peaks of each neuron at the lowest threshold, of a method that has thresholds.
    """

    weights: FloatArray
    directed: bool
    n_peaks: IntArray | None


@dataclass(frozen=True, eq=False)
class Method(Entry):
    """Record of a method.

    Attributes
    ----------
    title : str
        What it is, as a noun phrase.
    infer : callable
        Takes `Inputs`, returns `Inferred`.
    measure, unit : str
        Name and unit of the weights.
    settings : Settings
        Its settings by default.
    meaning : str
        Sentence on the weights, for reports.
    reference : str
        Where it is described.
    """

    title: str
    infer: Callable[[Inputs], Inferred]
    measure: str
    meaning: str
    reference: str
    unit: str = "1"
    settings: Settings = field(default_factory=Settings)


def _associated(inputs: Inputs, associate: Callable[[Signal, Settings], FloatArray]) -> Inferred:
    """Average an association over filters, by their weights, and over thresholds; direct it.

    Each job runs its products on one thread, so that the result does not depend on the number of
    jobs at a time. Peaks are counted at the lowest threshold, of the filter with the most.
    """
    settings, plan, p = inputs.settings, inputs.plan, inputs.frames.shape[1]
    filters, thresholds = settings.filters, settings.thresholds
    peaks = {name: inputs.peaks(name, min(thresholds)) for name in filters}
    step = max(_PER_JOB, -(-len(filters) * len(thresholds) * 4 * p * p // _KEPT_BYTES))
    groups = [
        (name, thresholds[first : first + step])
        for name in filters
        for first in range(0, len(thresholds), step)
    ]

    def job(b: int, _: int) -> dict[str, NDArray[Any]]:
        """Return the sum of the weights of a job, the part above the diagonal."""
        name, some = groups[b]
        sum_of_job = np.zeros((p, p))
        for threshold in some:
            signal = process(peaks[name], name, threshold, settings.exponent, settings.weighting)
            sum_of_job += associate(signal, settings)
        return {"sum": sum_of_job[np.triu_indices(p, 1)]}

    sums = run_jobs(
        job,
        len(groups),
        seed=0,
        identity=inputs.identity,
        plan=plan,
        function=FUNCTION,
        unit="block of settings",
    )
    total, weight = np.zeros(p * (p - 1) // 2), 0.0
    for (name, some), of_group in zip(groups, sums, strict=True):
        total += filters[name] * of_group["sum"]
        weight += filters[name] * len(some)
    weights = np.zeros((p, p))
    weights[np.triu_indices(p, 1)] = total / weight
    weights = weights + weights.T
    n_peaks = np.max([np.bincount(x.indices, minlength=p) for x in peaks.values()], axis=0)
    if settings.directivity == "none":
        return Inferred(weights, False, n_peaks)
    # The order of the rises r h g f2 directs links.
    rises = process(inputs.peaks("f2", _SINGLE), "f2", _SINGLE, 0.9, "none")
    counts = precedence(rises, n_jobs=plan.n_threads)
    return Inferred(directed(weights, counts, rule=settings.directivity), True, n_peaks)


def _by_correlation(inputs: Inputs) -> Inferred:
    return _associated(inputs, lambda signal, _: correlation(signal))


def _by_partial_correlation(inputs: Inputs) -> Inferred:
    def associate(signal: Signal, settings: Settings) -> FloatArray:
        precision, n_components = settings.precision, settings.n_components
        return partial_correlation(signal, precision=precision, n_components=n_components)

    return _associated(inputs, associate)


def _by_transfer_entropy(inputs: Inputs) -> Inferred:
    plan = inputs.plan

    def job(_: int, __: int) -> dict[str, NDArray[Any]]:
        quiet_below = inputs.settings.quiet_below
        weights = generalized_transfer_entropy(
            inputs.frames, threshold=quiet_below, n_jobs=plan.n_threads
        )
        return {"weights": weights}

    results = run_jobs(
        job, 1, seed=0, identity=inputs.identity, plan=plan, function=FUNCTION, unit="network"
    )
    return Inferred(results[0]["weights"], True, None)


def _by_genie3(inputs: Inputs) -> Inferred:
    settings, plan = inputs.settings, inputs.plan
    name, threshold = next(iter(settings.filters)), settings.thresholds[0]
    peaks = inputs.peaks(name, threshold)
    signal = process(peaks, name, threshold, settings.exponent, settings.weighting)
    n_peaks = np.bincount(signal.indices, minlength=signal.shape[1])
    some, weights = np.flatnonzero(n_peaks), np.zeros((len(n_peaks), len(n_peaks)))
    if len(some) < 2:
        return Inferred(weights, True, n_peaks)
    forest = random_forest("regression", settings.n_estimators)
    network = genie3(
        signal.tocsc()[:, some],
        estimator=forest.set_params(max_features="sqrt", max_depth=settings.max_depth),
        random_state=inputs.seed,
        n_jobs=plan.n_threads,
        checkpoint=plan.checkpoint,
        verbose=plan.verbose,
    )
    weights[np.ix_(some, some)] = network.weights
    return Inferred(weights, True, n_peaks)


_PARTIAL_MEANING = (
    "The weight of a link is the partial correlation of two neurons' processed signals given all "
    "others; it has no direction."
)
_SUTERA = "Sutera et al. (2017), Simple connectome inference from partial correlation statistics"

METHODS: Catalogue[Method] = Catalogue(
    "method",
    (
        Method(
            "averaged",
            "partial correlation averaged over thresholds and low-pass filters",
            _by_partial_correlation,
            "partial correlation",
            _PARTIAL_MEANING,
            _SUTERA,
            settings=Settings({"f1": 1.0, "f2": 0.9}, THRESHOLDS, weighting="w"),
        ),
        Method(
            "full",
            "tuned average of the connectomics challenge, with directions",
            _by_partial_correlation,
            "partial correlation",
            "The weight of a link is the averaged partial correlation of two neurons' processed "
            "signals given all others, scaled to 0..1, with a small part for the direction in "
            "which rises follow each other.",
            _SUTERA,
            settings=Settings(
                {"f1": 1.0, "f2": 0.9, "f3": 0.01, "f4": 0.7},
                THRESHOLDS,
                exponent=0.9,
                weighting="w_star",
                directivity="weighted",
            ),
        ),
        Method(
            "partial_correlation",
            "partial correlation of one processed signal",
            _by_partial_correlation,
            "partial correlation",
            _PARTIAL_MEANING,
            _SUTERA,
            settings=Settings(weighting="w"),
        ),
        Method(
            "pearson",
            "Pearson correlation of one processed signal",
            _by_correlation,
            "correlation",
            "The weight of a link is the correlation of two neurons' processed signals; it has "
            "no direction, and indirect links also have a weight.",
            "thesis, section 8.3.5",
            settings=Settings({NO_FILTER: 1.0}, weighting="w"),
        ),
        Method(
            "transfer_entropy",
            "generalized transfer entropy of rises while the network is quiet",
            _by_transfer_entropy,
            "transfer entropy",
            "The weight of a link is the information, in bits, that the past of the source adds "
            "to that of the target about the next rise of the target, in frames without bursts.",
            "Stetter et al. (2012), Model-free reconstruction of excitatory neuronal connectivity "
            "from calcium imaging signals",
            unit="bit",
        ),
        Method(
            "genie3",
            "importances of random forests that predict each neuron from the others",
            _by_genie3,
            "mdi",
            "The weight of a link is the importance of the source in the forest that predicts the "
            "processed signal of the target.",
            "Huynh-Thu et al. (2010), Inferring regulatory networks from expression data using "
            "tree-based methods",
        ),
    ),
)
