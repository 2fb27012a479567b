"""Data sets: exact problems, generators with known truth, and small real data."""

from duramen.datasets.cultures import (
    CalciumCulture,
    CalciumImaging,
    NeuronModel,
    Spikes,
    Wiring,
    calcium_culture,
    culture_wiring,
)
from duramen.datasets.dataset import (
    Dataset,
    GeneNetwork,
    digits7,
    gene_network,
    linear_sign,
    load_dream4,
    load_leukemia,
    load_primary_tumor,
    madelon_like,
    xor,
)

__all__ = [
    "CalciumCulture",
    "CalciumImaging",
    "Dataset",
    "GeneNetwork",
    "NeuronModel",
    "Spikes",
    "Wiring",
    "calcium_culture",
    "culture_wiring",
    "digits7",
    "gene_network",
    "linear_sign",
    "load_dream4",
    "load_leukemia",
    "load_primary_tumor",
    "madelon_like",
    "xor",
]
