"""Data sets: exact problems, generators with known truth, and small real ones that ship."""

from duramen.datasets.culture.cultures import CalciumCulture, calcium_culture
from duramen.datasets.culture.neurons import (
    CalciumImaging,
    NetworkBursts,
    NeuronModel,
    Spikes,
    network_bursts,
)
from duramen.datasets.culture.wiring import Wiring, culture_wiring, load_chalearn_topology
from duramen.datasets.dataset import (
    Dataset,
    digits7,
    linear_sign,
    load_leukemia,
    load_primary_tumor,
    madelon_like,
    xor,
)
from duramen.datasets.gene_networks import GeneNetwork, gene_network, load_dream4

__all__ = [
    "CalciumCulture",
    "CalciumImaging",
    "Dataset",
    "GeneNetwork",
    "NetworkBursts",
    "NeuronModel",
    "Spikes",
    "Wiring",
    "calcium_culture",
    "culture_wiring",
    "digits7",
    "gene_network",
    "linear_sign",
    "load_chalearn_topology",
    "load_dream4",
    "load_leukemia",
    "load_primary_tumor",
    "madelon_like",
    "network_bursts",
    "xor",
]
