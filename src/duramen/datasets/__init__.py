"""Data sets: exact problems, generators with known truth, and small real ones that ship."""

from duramen.datasets.bundled import load_leukemia, load_primary_tumor
from duramen.datasets.dataset import Dataset
from duramen.datasets.dream4 import load_dream4
from duramen.datasets.exact import digits7, xor
from duramen.datasets.gene_network import GeneNetwork, gene_network
from duramen.datasets.generated import linear_sign, madelon_like

__all__ = [
    "Dataset",
    "GeneNetwork",
    "digits7",
    "gene_network",
    "linear_sign",
    "load_dream4",
    "load_leukemia",
    "load_primary_tumor",
    "madelon_like",
    "xor",
]
