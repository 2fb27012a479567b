"""Importance measures of grown forests, one a file."""

from duramen.importances.mdi import mdi
from duramen.results import Importances

__all__ = ["Importances", "mdi"]
