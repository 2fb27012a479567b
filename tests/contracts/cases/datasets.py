"""Data sets."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.contracts.registry import case

from duramen import datasets


@case("datasets/digits7", datasets.digits7, datasets.Dataset, make=datasets.digits7)
@case("datasets/xor", datasets.xor, make=datasets.xor)
@case(
    "datasets/linear_sign",
    datasets.linear_sign,
    make=datasets.linear_sign,
    n_samples=20,
    n_features=8,
    n_relevant=3,
    random_state=1,
)
@case(
    "datasets/madelon_like",
    datasets.madelon_like,
    make=datasets.madelon_like,
    n_samples=30,
    n_informative=3,
    n_redundant=2,
    n_repeated=2,
    n_probes=3,
    random_state=1,
)
def _made(make: Any, **options: Any) -> Any:
    result = make(**options)
    return (np.asarray(result.X), result.y, result.names, result.relevant, result.n_rows)


@case("datasets/load_leukemia", datasets.load_leukemia)
def _leukemia() -> Any:
    result = datasets.load_leukemia()
    names = hashlib.sha256("\n".join(result.names).encode()).hexdigest()
    return (result.X[:, ::500], result.X.sum(axis=1), result.y.tolist(), names, result.n_features)


@case("datasets/load_primary_tumor", datasets.load_primary_tumor)
def _tumor() -> Any:
    result = datasets.load_primary_tumor()
    columns = [[str(x) for x in result.X[name].to_pylist()] for name in result.names]
    return (columns, result.y.tolist(), result.names)


@case(
    "datasets/calcium_culture",
    datasets.calcium_culture,
    datasets.CalciumCulture,
    datasets.Spikes,
    strength=14.0,
)
@case("datasets/calcium_culture, rate of bursts", datasets.calcium_culture, burst_rate=1.0)
@case(
    "datasets/calcium_culture, models",
    datasets.NeuronModel,
    datasets.CalciumImaging,
    strength=12.0,
    block_inhibition=False,
    warm_up=500.0,
    neurons=datasets.NeuronModel(step=1.0, delay=2.0, event_rate=1.0),
    imaging=datasets.CalciumImaging(noise=0.0, scattering_length=0.2, frame_time=40.0),
)
def _culture(**options: Any) -> Any:
    made = datasets.calcium_culture(60, n_neurons=12, random_state=1, **options)
    light = made.fluorescence.astype(np.float64).round(5)
    return (light, made.spikes.neuron, made.spikes.time, made.weights.round(6), made.names)


@case("datasets/culture_wiring", datasets.culture_wiring, datasets.Wiring, clustering=0.5)
@case(
    "datasets/culture_wiring, modules and lengths",
    datasets.culture_wiring,
    n_links=60,
    modules=2,
    between=0.1,
    length=0.4,
    degree_spread=0.3,
    weight_spread=0.2,
    inhibitory=0.5,
)
def _wiring(**options: Any) -> Any:
    made = datasets.culture_wiring(20, random_state=3, **options)
    return (made.source, made.target, made.weight.round(9), made.positions, made.modules)


@case("datasets/network_bursts", datasets.network_bursts, datasets.NetworkBursts)
def _bursts() -> Any:
    spikes = datasets.Spikes(np.array([0, 1, 2, 0, 2]), np.array([10.0, 20, 30, 400, 430]))
    result = datasets.network_bursts(spikes, 3, 1000.0, window=40.0, active=0.6)
    return (result.start, result.rate, result.intervals)


@case("datasets/load_chalearn_topology", datasets.load_chalearn_topology)
def _chalearn() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        network = Path(folder) / "normal-2"
        network.mkdir()
        links = {"source": [0, 2, 1], "target": [1, 0, 2], "weight": [1, 1, -1]}
        places = {"x": [0.1, 0.2, 0.3], "y": [0.5, 0.4, 0.0], "subset": [2, 2, 7]}
        pq.write_table(pa.table(links), network / "connections.parquet")
        pq.write_table(pa.table(places), network / "positions.parquet")
        made = datasets.load_chalearn_topology(2, folder)
    return (made.source, made.target, made.weight, made.positions, made.modules)
