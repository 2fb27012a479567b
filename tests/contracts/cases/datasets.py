"""Data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.networks import simulator
from tests.contracts.registry import case

from duramen import datasets


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
    weights = np.zeros((12, 12))
    weights[made.wiring.source, made.wiring.target] = made.wiring.weight.round(6)
    return (light, made.spikes.neuron, made.spikes.time, weights, made.names)


@case("datasets/culture_wiring")
def _wiring() -> Any:
    made = datasets.culture_wiring(20, random_state=3)
    return (made.source, made.target, made.weight, made.positions, made.modules)
