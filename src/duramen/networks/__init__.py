"""Network inference: which variables, such as genes, regulate which."""

from duramen.networks.genie3 import genie3
from duramen.results.network import Network

__all__ = ["Network", "genie3"]
