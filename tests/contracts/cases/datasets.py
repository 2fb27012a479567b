"""Data sets."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from benchmarks.networks import simulator
from tests.contracts.registry import case

from duramen import datasets


@case("datasets/digits7", make=datasets.digits7)
@case("datasets/xor", make=datasets.xor)
@case(
    "datasets/linear_sign",
    make=datasets.linear_sign,
    n_samples=20,
    n_features=8,
    n_relevant=3,
    random_state=1,
)
@case(
    "datasets/madelon_like",
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


@case("datasets/load_leukemia")
def _leukemia() -> Any:
    result = datasets.load_leukemia()
    names = hashlib.sha256("\n".join(result.names).encode()).hexdigest()
    return (result.X[:, ::500], result.X.sum(axis=1), result.y.tolist(), names, result.n_features)


@case("datasets/load_primary_tumor")
def _tumor() -> Any:
    result = datasets.load_primary_tumor()
    columns = [[str(x) for x in result.X[name].to_pylist()] for name in result.names]
    return (columns, result.y.tolist(), result.names)


@case("datasets/calcium_culture", strength=14.0)
@case(
    "datasets/calcium_culture, models",
    strength=12.0,
    block_inhibition=False,
    warm_up=500.0,
    neurons=datasets.NeuronModel(step=1.0, delay=2.0, event_rate=1.0),
    imaging=datasets.CalciumImaging(noise=0.0, scattering_length=0.2, frame_time=40.0),
)
def _culture(**options: Any) -> Any:
    wiring = simulator.culture_wiring(12, random_state=np.random.default_rng(1).spawn(4)[0])
    made = datasets.calcium_culture(60, wiring=wiring, random_state=1, **options)
    light = made.fluorescence.astype(np.float64).round(5)
    return (light, made.spikes.neuron, made.spikes.time, made.weights.round(6), made.names)


@case("datasets/culture_wiring")
def _wiring() -> Any:
    made = datasets.culture_wiring(20, random_state=3)
    return (made.source, made.target, made.weight, made.positions, made.modules)
