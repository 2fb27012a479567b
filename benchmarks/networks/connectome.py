"""Connectome inference: speed, and accuracy on simulated cultures.

``python -m benchmarks.networks.connectome speed --data FILE`` times `duramen.connectome` on a
recording of frames by neurons (.npy; by default a made-up one with bursts, of --frames by
--neurons), and the dense computation with NumPy of a few settings in between. The time of the dense
computation of all settings is that of the few, multiplied.

``python -m benchmarks.networks.connectome table --topology DIR`` simulates cultures on the wiring
of the networks 1 and 2 of DIR (`benchmarks.networks.simulator.load_chalearn_topology`), on drawn
wiring of the same kind for 3 and 4, whose wiring is not public, and, with --variants, on wiring
that differs as the further networks of the challenge did; it prints AUROC and AUPRC of every method
beside those of the thesis (Tables 8.3.1 and 8.B.1). For methods that take long, --frames shortens
the recordings, --neurons makes networks 3 and 4 smaller, and --every k averages over each k-th
threshold.

``python -m benchmarks.networks.connectome nest --data DIR`` scores every method on a culture that
others simulated: on the spikes of its run of 100 s, seen through `duramen.datasets.CalciumImaging`,
and on the fluorescence of its run of 1 s, averaged to frames of 5 and of 20 ms.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from benchmarks.measuring import peak, timed
from benchmarks.networks.culture import VARIANTS, nest_culture, network, simulate
from duramen.networks.connectome import directed, low_pass, precedence
from duramen.networks.connectome.filters import peaks_of, process

FRAMES, NEURONS = 179_500, 1000
THRESHOLDS = np.arange(100, 211) / 1000

# Steps of Table 8.3.1: rows, and the arguments of `connectome`.
ONE = {"method": "partial_correlation", "precision": "exact"}
STEPS: dict[str, dict[str, Any] | None] = {
    "no filter": None,
    "h g f1": {**ONE, "weighting": "none"},
    "w h g f1": ONE,
    "+ PCA": {**ONE, "precision": "pca"},
    "averaged": {"method": "averaged"},
    "full": {"method": "full", "directivity": "none"},
    "full, directed": {"method": "full"},
    "Pearson": {"method": "pearson"},
    "Pearson on w* r h g": {
        "method": "pearson",
        "weighting": "w_star",
        "exponent": 0.9,
        "thresholds": 0.11,
    },
    "Pearson on h g": {"method": "pearson", "weighting": "none"},
    "GTE": {"method": "transfer_entropy"},
    "GENIE3": {"method": "genie3", "random_state": 0},
}
# AUROC and AUPRC as printed.
PRINTED: dict[str, dict[str, tuple[float, float]]] = {
    "normal-1": {
        "no filter": (0.777, 0.070),
        "h g f1": (0.923, 0.311),
        "w h g f1": (0.931, 0.326),
        "+ PCA": (0.932, 0.355),
        "averaged": (0.937, 0.391),
        "full": (0.943, 0.403),
        "full, directed": (0.944, 0.404),
        "Pearson": (0.886, 0.153),
        "GTE": (0.890, 0.171),
        "GENIE3": (0.892, 0.232),
    },
    "normal-2": {
        "no filter": (0.767, 0.064),
        "h g f1": (0.925, 0.315),
        "w h g f1": (0.929, 0.323),
        "+ PCA": (0.930, 0.353),
        "averaged": (0.935, 0.390),
        "full": (0.942, 0.404),
        "full, directed": (0.943, 0.405),
        "Pearson": (0.884, 0.145),
        "GTE": (0.893, 0.174),
        "GENIE3": (0.891, 0.221),
    },
    "normal-3": {
        "no filter": (0.772, 0.068),
        "h g f1": (0.923, 0.313),
        "w h g f1": (0.928, 0.319),
        "+ PCA": (0.928, 0.350),
        "averaged": (0.935, 0.385),
        "full": (0.942, 0.398),
        "full, directed": (0.942, 0.399),
        "Pearson": (0.891, 0.170),
        "GTE": (0.894, 0.197),
        "GENIE3": (0.887, 0.237),
    },
    "normal-4": {
        "no filter": (0.774, 0.072),
        "h g f1": (0.922, 0.304),
        "w h g f1": (0.926, 0.303),
        "+ PCA": (0.926, 0.333),
        "averaged": (0.931, 0.375),
        "full": (0.939, 0.388),
        "full, directed": (0.940, 0.389),
        "Pearson": (0.877, 0.132),
        "GTE": (0.873, 0.142),
        "GENIE3": (0.887, 0.215),
    },
    "lowcon": {
        "averaged": (0.947, 0.320),
        "full": (0.955, 0.334),
        "Pearson": (0.782, 0.074),
        "GTE": (0.846, 0.094),
        "GENIE3": (0.781, 0.128),
    },
    "highcon": {
        "averaged": (0.943, 0.429),
        "full": (0.944, 0.413),
        "Pearson": (0.920, 0.218),
        "GTE": (0.905, 0.211),
        "GENIE3": (0.924, 0.273),
    },
    "lowcc": {
        "averaged": (0.920, 0.262),
        "full": (0.925, 0.260),
        "Pearson": (0.846, 0.082),
        "GTE": (0.848, 0.081),
        "GENIE3": (0.879, 0.116),
    },
    "highcc": {
        "averaged": (0.942, 0.478),
        "full": (0.946, 0.486),
        "Pearson": (0.897, 0.165),
        "GTE": (0.899, 0.165),
        "GENIE3": (0.902, 0.309),
    },
    "highrate": {
        "averaged": (0.959, 0.443),
        "full": (0.961, 0.452),
        "Pearson": (0.898, 0.193),
        "GTE": (0.905, 0.210),
        "GENIE3": (0.886, 0.256),
    },
    "lownoise": {
        "averaged": (0.934, 0.412),
        "full": (0.941, 0.432),
        "Pearson": (0.873, 0.135),
        "GTE": (0.879, 0.144),
        "GENIE3": (0.890, 0.224),
    },
}


def made_up(n_frames: int, p: int, seed: int = 0) -> NDArray[np.float32]:
    """Return fluorescence with lone spikes and, every 6 s or so, a burst; there are no links."""
    rng = np.random.default_rng(seed)
    spikes = np.zeros((n_frames, p), dtype=np.float32)
    alone = int(n_frames * p * 0.001)
    spikes[rng.integers(0, n_frames, alone), rng.integers(0, p, alone)] = 1
    start = int(rng.exponential(300))
    while start < n_frames - 20:
        who = rng.permutation(p)[: int(rng.uniform(0.4, 1) * p)]
        for _ in range(3):
            spikes[start + rng.integers(0, 12, len(who)), who] += 1
        start += 20 + int(rng.exponential(300))
    level = np.zeros(p, dtype=np.float32)
    for frame in spikes:
        level = 0.98 * level + 0.3 * frame
        frame[:] = level / (level + 2.5) + 0.03 * rng.standard_normal(p, dtype=np.float32)
    return spikes


def dense(frames: NDArray[Any], name: str, threshold: float) -> NDArray[np.float64]:
    """Return the partial correlations of one setting, every array dense."""
    x = np.diff(low_pass(frames, name), axis=0, prepend=0)
    x[0] = 0
    x[x < threshold] = 0
    sums = x.sum(axis=1)
    active = sums > 0
    x += 1
    x[active] **= 1 + 1 / sums[active, None]
    changing = np.flatnonzero(x.std(axis=0) > 0)
    x -= x.mean(axis=0)
    covariance = (x.T @ x)[np.ix_(changing, changing)] / (len(x) - 1)
    values, vectors = np.linalg.eigh(covariance)
    others = len(values) - int(0.8 * len(values))
    values[:others] = values[:others].mean()
    inverse = (vectors / values) @ vectors.T
    scale = np.sqrt(np.diag(inverse))
    result = np.zeros((frames.shape[1],) * 2)
    result[np.ix_(changing, changing)] = -inverse / np.outer(scale, scale)
    np.fill_diagonal(result, 0)
    return result


def speed(frames: NDArray[Any], jobs: int, repeats: int) -> None:
    """Print times, memory, and the largest difference from the dense computation."""
    n_settings = 2 * len(THRESHOLDS)
    settings = [("f1", 0.1), ("f2", 0.12), ("f1", 0.15), ("f2", 0.21)][:repeats]
    averaged = memory(frames, jobs)  # first, as peaks of memory do not go down again
    dense_times, simple_times, differences = [], [], []
    for name, threshold in settings:
        seconds, expected = timed(partial(dense, frames, name, threshold))
        dense_times.append(seconds)
        options = {"method": "partial_correlation", "precision": "pca", "n_jobs": jobs}
        options |= {"filters": {name: 1}, "thresholds": threshold}
        seconds, report = timed(partial(dm.connectome, frames, **options))
        actual = report.network
        simple_times.append(seconds)
        differences.append(np.abs(actual.weights - expected).max())
        print(
            f"{name}, threshold {threshold}: dense {dense_times[-1]:.1f} s, connectome "
            f"{simple_times[-1]:.1f} s, largest difference {differences[-1]:.1e}",
            flush=True,
        )
    whole = n_settings * float(np.median(dense_times))
    print(
        f"dense, {n_settings} settings (extrapolated from {len(settings)}): {whole:.0f} s, peak "
        f"{peak():.0f} MB\naveraged {averaged:.1f} s (below 240?), one setting at most "
        f"{max(simple_times):.1f} s (below 15?), ratio {whole / averaged:.1f} (8 at least?), "
        f"largest difference {max(differences):.1e} (below 1e-6?)"
    )


def memory(frames: NDArray[Any], jobs: int) -> float:
    """Print time and peak memory of the averaged method; return the seconds."""
    seconds, _ = timed(lambda: dm.connectome(frames, n_jobs=jobs, precision="pca"))
    print(
        f"averaged, {2 * len(THRESHOLDS)} settings: {seconds:.1f} s, peak "
        f"{peak() / 2**20:.0f} MB with the recording of {frames.nbytes / 2**20:.0f} MB",
        flush=True,
    )
    return seconds


def inferred(frames: NDArray[Any], step: str, asked: argparse.Namespace) -> dm.Network:
    """Infer the network of a row of the table; few frames take a shrunk covariance."""
    settings = dict(STEPS[step] or {})
    if step in ("averaged", "full", "full, directed"):
        settings["thresholds"] = THRESHOLDS[:: asked.every]
    few = len(frames) < 10 * frames.shape[1]
    if few and "precision" in settings:
        settings["precision"] = "auto"
    if STEPS[step] is None:
        weights = dm.networks.connectome.partial_correlation(
            frames, precision="auto" if few else "exact"
        )
        names = tuple(f"N{i + 1}" for i in range(frames.shape[1]))
        return dm.Network(names, weights, directed=False)
    if settings.get("method") == "genie3":
        settings["n_estimators"] = asked.trees
    return dm.connectome(frames, n_jobs=asked.jobs, **settings).network


def with_directions(undirected: dm.Network, frames: NDArray[Any], jobs: int) -> dm.Network:
    """Add the order of rises to the full method without directions, as `connectome` does."""
    peaks = peaks_of(frames, "f2", 0.12, n_threads=jobs)
    signal = process(peaks, "f2", 0.12, 0.9, "none")
    weights = directed(undirected.weights, precedence(signal, n_jobs=jobs))
    return dm.Network(undirected.names, weights, directed=True)


def report(
    name: str, frames: NDArray[Any], links: NDArray[np.bool_], asked: argparse.Namespace
) -> None:
    """Print a line for each method on one culture."""
    best = dm.networks.undirected_ceiling(links, tuple(map(str, range(len(links)))))
    print(
        f"{name}: {links.sum()} links; perfect undirected network {best.auroc:.3f} {best.aupr:.3f}"
    )
    print("| culture | method | AUROC | AUPRC | printed AUROC | printed AUPRC | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    full = None
    for step in asked.steps:
        start = time.perf_counter()
        if step == "full, directed" and full is not None:
            result = with_directions(full, frames, asked.jobs)
        else:
            result = inferred(frames, step, asked)
        full = result if step == "full" else full
        seconds = time.perf_counter() - start
        score = result.score(links, pairs="directed")
        printed = PRINTED.get(name, {}).get(step)
        beside = f"{printed[0]:.3f} | {printed[1]:.3f}" if printed else " | "
        ours = f"{score.auroc:.4f} | {score.aupr:.4f}"
        print(f"| {name} | {step} | {ours} | {beside} | {seconds:.0f} |", flush=True)


def table(asked: argparse.Namespace) -> None:
    """Print the scores of every method on simulated cultures."""
    for i in asked.networks:
        made = network(i, asked.topology, asked.frames, asked.neurons)
        report(f"normal-{i}", made.fluorescence, made.links, asked)
    for k, variant in enumerate(VARIANTS):
        if variant in asked.variants:
            made = simulate(variant, 9 + k, asked.frames)
            report(variant, made.fluorescence, made.links, asked)


def nest(asked: argparse.Namespace) -> None:
    """Print the scores of every method on the culture that others simulated."""
    wiring, long, _, light = nest_culture(asked.data)
    links = wiring.matrix()
    imaging = dm.datasets.CalciumImaging()
    frames = imaging.record(long, wiring.positions, 5000, random_state=0)
    report("100 s, simulated imaging", frames, links, asked)
    for width in (10, 40):  # of .5 ms
        frames = light.reshape(-1, width, light.shape[1]).mean(axis=1)
        name = f"1 s, frames of {width / 2:g} ms"
        report(name, frames, links, asked)


def main() -> None:
    """Run the steps named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "memory", "table", "nest"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--neurons", type=int, default=NEURONS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--topology", type=Path)
    parser.add_argument("--networks", type=int, nargs="*", default=[1, 2, 3, 4])
    parser.add_argument("--variants", nargs="*", default=[])
    parser.add_argument("--steps", nargs="*", default=list(STEPS))
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--every", type=int, default=1)
    asked = parser.parse_args()
    if asked.what == "table":
        return table(asked)
    if asked.what == "nest":
        return nest(asked)
    if asked.data is None:
        frames = made_up(asked.frames, asked.neurons)
    else:
        frames = np.load(asked.data, mmap_mode="r")
    if asked.what == "speed":
        speed(frames, asked.jobs, asked.repeats)
    else:
        memory(frames, asked.jobs)


if __name__ == "__main__":
    main()
