"""Simulated cultures of neurons with known wiring, seen through calcium imaging."""

from duramen.datasets.culture.bursts import NetworkBursts, network_bursts
from duramen.datasets.culture.chalearn import load_chalearn_topology
from duramen.datasets.culture.cultures import CalciumCulture, calcium_culture
from duramen.datasets.culture.imaging import CalciumImaging
from duramen.datasets.culture.neurons import NeuronModel, Spikes
from duramen.datasets.culture.wiring import Wiring, culture_wiring

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
