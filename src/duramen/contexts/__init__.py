"""Context analysis: importances of features that depend on a context."""

from duramen.contexts.importances import context_importances
from duramen.contexts.network import context_network

__all__ = ["context_importances", "context_network"]
