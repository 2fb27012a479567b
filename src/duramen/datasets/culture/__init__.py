"""Simulated cultures of neurons with known wiring, seen through calcium imaging."""

from duramen.datasets.culture.cultures import CalciumCulture, calcium_culture
from duramen.datasets.culture.neurons import (
    CalciumImaging,
    NetworkBursts,
    NeuronModel,
    Spikes,
    network_bursts,
)
from duramen.datasets.culture.wiring import Wiring, culture_wiring, load_chalearn_topology

__all__ = [
    "CalciumCulture",
    "CalciumImaging",
    "NetworkBursts",
    "NeuronModel",
    "Spikes",
    "Wiring",
    "calcium_culture",
    "culture_wiring",
    "load_chalearn_topology",
    "network_bursts",
]
